"""Files of the installed metaworld, which is not imported because that takes almost a second."""
from __future__ import annotations

from cypool.envs.metaworld import INSTALL
from cypool.util.packages import file_of

# of each model nq, nv, nu, nbody and nsensordata
SIZES = {file: (*sizes, 0) for sizes, files in {
    (10, 10, 2, 35): "dial",
    (10, 10, 2, 36): "button_press_topdown button_press door_pull handle_press_sideways handle_press lever_pull",
    (10, 10, 2, 37): "door_lock drawer faucet window_horizontal",
    (10, 10, 2, 38): "button_press_topdown_wall button_press_wall",
    (11, 11, 2, 37): "plate_slide plate_slide_sideway",
    (16, 15, 2, 33): "table_with_hole",
    (16, 15, 2, 34): "pick_place_v3 push_v3 push_back_v3 reach_v3",
    (16, 15, 2, 35): "pick_place_wall_v3 pick_out_of_hole push_wall_v3 reach_wall_v3 sweep_v3",
    (16, 15, 2, 36): "assembly_peg peg_insertion_side shelf_placing",
    (16, 15, 2, 37): "box peg_unplug_side soccer",
    (16, 15, 2, 39): "basketball bin_picking",
    (17, 16, 2, 38): "hammer",
    (17, 16, 2, 39): "coffee",
    (18, 17, 2, 37): "stick_obj",
}.items() for file in files.split()}


def model_path(file: str) -> str:
    """Returns the path of a task's model.

    Raises:
        ImportError: The package has no such file.
    """
    return file_of("Meta-World's tasks", "metaworld", f"assets/sawyer_xyz/sawyer_{file}.xml", INSTALL)
