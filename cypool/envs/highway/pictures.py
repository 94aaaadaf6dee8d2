"""Pictures, drawn by highway-env."""
from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypool.envs.highway.specs import config_of
from cypool.util.packages import need

VERSION = "1.12.1"
MOST_PAINTERS = 8  # that are kept
# two pools may draw at once
_lock = threading.Lock()


def need_highway_env(what: str) -> None:
    """Checks that the highway-env is installed that our environments equal.

    Raises:
        ImportError: It is missing, or of another version.
    """
    need(f"{what} needs", "highway-env", (VERSION,), 'pip install "cypool[highway]"')


class Painter:
    """An environment of highway-env, which draws the bodies that it is given on its own roads.

    Args:
        id: Its id.
        config: Its config.
    """

    def __init__(self, id: str, config: dict[str, Any]):
        import gymnasium
        import highway_env  # noqa: F401
        from highway_env.envs.common.graphics import EnvViewer

        with warnings.catch_warnings():
            # that there is a newer version
            warnings.simplefilter("ignore")
            made: Any = gymnasium.make(id, disable_env_checker=True)
        self.env = made.unwrapped
        # nothing that takes long to place: only the roads are drawn
        few = {"vehicles_count": 0, "initial_vehicle_count": 0, "other_vehicles": 0}
        self.env.config.update(config | {name: few[name] for name in few.keys() & config.keys()})
        self.env.render_mode = "rgb_array"
        self.env.reset(seed=0)
        self.viewer = EnvViewer(self.env)

    def draw(self, bodies: list[Any], is_parking: bool) -> NDArray[np.uint8]:
        """Returns a picture of vehicles and objects."""
        from highway_env.vehicle.behavior import IDMVehicle
        from highway_env.vehicle.controller import MDPVehicle
        from highway_env.vehicle.dynamics import BicycleVehicle
        from highway_env.vehicle.graphics import VehicleGraphics
        from highway_env.vehicle.kinematics import Vehicle
        from highway_env.vehicle.objects import Landmark, Obstacle

        kinds = (Vehicle, BicycleVehicle, MDPVehicle, IDMVehicle, Obstacle, Landmark)
        road = self.env.road
        road.vehicles, road.objects, agents = [], [], {}
        for number, place, heading, speed, steering, acceleration, crashed, hit, length, width, agent in bodies:
            body: Any = kinds[number](None, place, heading, speed)
            body.crashed, body.hit = crashed, hit
            if number < 4:
                body.action = {"steering": steering, "acceleration": acceleration}
                road.vehicles.append(body)
            else:
                body.LENGTH, body.WIDTH = length, width
                road.objects.append(body)
            if agent >= 0:
                agents[agent] = body
                if is_parking:
                    body.color = VehicleGraphics.EGO_COLOR
        self.env.controlled_vehicles = [agents[agent] for agent in sorted(agents)]
        self.viewer.display()
        return np.ascontiguousarray(self.viewer.get_image())


_painters: dict[str, Painter] = {}


def draw_scene(id: str, task: str, options: dict[str, Any], bodies: list[Any]) -> NDArray[np.uint8]:
    """Draws a scene with highway-env's own code.

    Args:
        id: Of the environment.
        task: Its class.
        options: Its options.
        bodies: Vehicles and objects: kind, place, heading, speed, steering, acceleration, whether it crashed or was
            hit, length, width and agent of each.

    Returns:
        uint8, (height, width, 3).

    Raises:
        ImportError: highway-env is not installed, or of another version.
    """
    need_highway_env("render")
    config = config_of(options)
    key = f"{id} {config!r}"
    with _lock:
        if key not in _painters:
            if len(_painters) == MOST_PAINTERS:
                del _painters[next(iter(_painters))]
            _painters[key] = Painter(id, config)
        return _painters[key].draw(bodies, task == "Parking")
