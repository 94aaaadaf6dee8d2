"""The four tasks of Fetch."""
from __future__ import annotations

from typing import NamedTuple


class Task(NamedTuple):
    """The numbers in which the tasks differ.

    Attributes:
        file: The model.
        slide: Position of the robot's base.
        thing: The pose of the object; () if there is none.
        block_gripper: Whether the gripper stays closed.
        in_the_air: Whether a goal may be in the air.
        extra_height: Extra height of the gripper at the start of an episode.
        offset: Forward offset of the goal.
        obj_range, target_range: Maximum distances of object and goal from the gripper, along each axis.
    """

    file: str
    slide: float
    thing: tuple[float, ...] = ()
    block_gripper: bool = True
    in_the_air: bool = True
    extra_height: float = 0.0
    offset: float = 0.0
    obj_range: float = 0.15
    target_range: float = 0.15


TASKS = {
    "reach": Task("reach.xml", 0.4049, extra_height=0.2),
    "push": Task("push.xml", 0.405, (1.25, 0.53, 0.4, 1.0, 0.0, 0.0, 0.0), in_the_air=False),
    "slide": Task("slide.xml", 0.05, (1.7, 1.1, 0.41, 1.0, 0.0, 0.0, 0.0), in_the_air=False, extra_height=-0.02,
                  offset=0.4, obj_range=0.1, target_range=0.3),
    "pick_and_place": Task("pick_and_place.xml", 0.405, (1.25, 0.53, 0.4, 1.0, 0.0, 0.0, 0.0), block_gripper=False,
                           extra_height=0.2),
}
