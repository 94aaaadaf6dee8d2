"""Pictures, drawn by highway-env."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypool.envs.highway.ids import ENVPOOL
from cypool.envs.highway.observations import parts_of
from cypool.envs.highway.specs import config_of
from cypool.envs.shared.pixels.pictures import drawing
from cypool.util.packages import require_version

VERSION = "1.12.1"
MOST_PAINTERS = 8  # that are kept


def need_highway_env(what: str) -> None:
    """Raises an ImportError unless highway-env is installed in the version that our environments match."""
    require_version(f"{what} needs", "highway-env", (VERSION,), 'pip install "cypool[highway]"')


class Painter:
    """A highway-env environment that draws the given bodies on its own roads.

    Args:
        id: Its id.
        config: The config.
        view: Overrides keys of the config for pictures.
    """

    def __init__(self, id: str, config: dict[str, Any], view: dict[str, Any]):
        import gymnasium
        import highway_env  # noqa: F401
        from highway_env.envs.common.graphics import EnvViewer

        # that there is a newer version
        with warnings.catch_warnings(action="ignore"):
            made: Any = gymnasium.make(ENVPOOL.get(id, id), disable_env_checker=True)
        self.env = made.unwrapped
        # nothing that takes long to place: only the roads are drawn
        few = {"vehicles_count": 0, "initial_vehicle_count": 0, "other_vehicles": 0}
        self.env.config.update(config | {name: few[name] for name in few.keys() & config.keys()})
        # of other observations, pictures show nothing
        self.has_lidar = config["observation"]["type"] == "LidarObservation"
        if not self.has_lidar:
            self.env.config["observation"] = {"type": "Kinematics"}
        self.env.render_mode = "rgb_array"
        self.env.reset(seed=0)
        self.viewer = EnvViewer(self.env, {**self.env.config, **view})

    def draw(self, bodies: list[Any], is_parking: bool, agent: int) -> NDArray[np.uint8]:
        """Returns a picture of vehicles and objects, centered on an agent's vehicle."""
        from highway_env.vehicle.behavior import IDMVehicle
        from highway_env.vehicle.controller import MDPVehicle
        from highway_env.vehicle.dynamics import BicycleVehicle
        from highway_env.vehicle.graphics import VehicleGraphics
        from highway_env.vehicle.kinematics import Vehicle
        from highway_env.vehicle.objects import Landmark, Obstacle

        kinds = (Vehicle, BicycleVehicle, MDPVehicle, IDMVehicle, Obstacle, Landmark)
        road = self.env.road
        road.vehicles, road.objects, agents = [], [], {}
        for number, place, heading, speed, steering, acceleration, crashed, hit, length, width, own in bodies:
            body: Any = kinds[number](None, place, heading, speed)
            body.crashed, body.hit = crashed, hit
            if number < 4:
                body.action = {"steering": steering, "acceleration": acceleration}
                road.vehicles.append(body)
            else:
                body.LENGTH, body.WIDTH = length, width
                road.objects.append(body)
            if own >= 0:
                agents[own] = body
                if is_parking:
                    body.color = VehicleGraphics.EGO_COLOR
        self.env.controlled_vehicles = [agents[each] for each in sorted(agents)]
        self.viewer.observer_vehicle = agents[agent]
        if self.has_lidar:
            self.env.observation_type.observe()
        self.viewer.display()
        return np.ascontiguousarray(self.viewer.get_image())


_painters: dict[str, Painter] = {}


def draw_scene(id: str, task: str, options: dict[str, Any], bodies: list[Any], agent: int = 0,
               view: dict[str, Any] | None = None) -> NDArray[np.uint8]:
    """Draws a scene with highway-env's own code.

    Args:
        id: The environment's id.
        task: Its class.
        options: Its options.
        bodies: For each vehicle or object: kind, position, heading, speed, steering, acceleration, whether it crashed
            or was hit, length, width and agent.
        agent: The agent whose vehicle is in the middle.
        view: Overrides keys of the config.

    Returns:
        uint8, (height, width, 3).

    Raises:
        ImportError: highway-env is not installed, or has a different version.
    """
    need_highway_env("render")
    config = config_of(options)
    key = f"{id} {config!r} {view!r}"
    with drawing():
        if key not in _painters:
            if len(_painters) == MOST_PAINTERS:
                del _painters[next(iter(_painters))]
            _painters[key] = Painter(id, config, view or {})
        return _painters[key].draw(bodies, task == "Parking", agent)


def observed_picture(id: str, task: str, options: dict[str, Any], bodies: list[Any], agent: int,
                     part: int) -> NDArray[np.uint8]:
    """Draws a part of an agent's observation; the other arguments are those of `draw_scene`."""
    if options["from_pixels"]:
        return draw_scene(id, task, options, bodies)
    own = parts_of(options["observation"])[part]
    width, height = own["observation_shape"]
    picture = draw_scene(id, task, options, bodies, agent, {
        "screen_width": width, "screen_height": height, "scaling": own["scaling"] or options["scaling"],
        "centering_position": own["centering_position"] or options["centering_position"]})
    gray: NDArray[np.uint8] = np.dot(np.moveaxis(picture, 0, 1), own["weights"]).clip(0, 255).astype(np.uint8)
    return np.ascontiguousarray(gray)
