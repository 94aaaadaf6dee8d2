"""The ids of Doom: ViZDoom's scenarios, the levels of the games, and EnvPool's names."""
from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="vizdoom",
    title="Doom",
    description="ViZDoom's scenarios and the levels of the Doom games, for one or more players",
    licence="ViZDoom: MIT; its engine: ZDoom's license",
    package="vizdoom",
    extra="vizdoom",
    reference="the Gymnasium wrapper of vizdoom 1.3.2; EnvPool 1.2.5",
    fidelity="everything for one player; for EnvPool's ids, everything except the textures of EnvPool's Freedoom",
    smoke_ids=("VizdoomBasic-v1",),
    peers={"GymnasiumDoom": ("async-vector",), "EnvPoolDoom": ("envpool",)},
    peer_options={"frame_skip": 4},
    gymnasium_module="vizdoom.gymnasium_wrapper")

_DOOM = "cypool.envs.vizdoom.vizdoom"
_GYMNASIUM, _ENVPOOL = f"{_DOOM}:GymnasiumDoom", f"{_DOOM}:EnvPoolDoom"
_REFERENCE = "cypool.envs.vizdoom.reference:make_reference"
# whether the engine is installed is asked when one is made
for _name, _config in (
        ("Basic", "basic"), ("BasicAudio", "basic_audio"), ("BasicNotifications", "basic_notifications"),
        ("DeadlyCorridor", "deadly_corridor"), ("DefendCenter", "defend_the_center"),
        ("DefendLine", "defend_the_line"), ("HealthGathering", "health_gathering"), ("MyWayHome", "my_way_home"),
        ("PredictPosition", "predict_position"), ("TakeCover", "take_cover"), ("Deathmatch", "deathmatch"),
        ("HealthGatheringSupreme", "health_gathering_supreme")):
    for _suffix, _buttons in (("", 1), ("-MultiBinary", 0)):
        # texts of notifications have another space here
        _reference = None if _name == "BasicNotifications" else _REFERENCE
        register(f"Vizdoom{_name}{_suffix}-v1", _GYMNASIUM, reference=_reference,
                 scenario_config_file=f"{_config}.cfg", max_buttons_pressed=_buttons)
_episodes = [f"E{episode}M{level}" for episode in range(1, 5) for level in range(1, 10)]
_levels = [f"MAP{level:02}" for level in range(1, 33)]
for _name, _maps in (("Doom", _episodes), ("Doom2", _levels), ("Freedoom1", _episodes), ("Freedoom2", _levels)):
    for _map in _maps:
        for _skill in range(1, 6):
            register(f"Vizdoom{_name}{_map}-S{_skill}-v0", _GYMNASIUM, reference=_REFERENCE, max_buttons_pressed=0,
                     scenario_config_file=f"{_name.lower()}.cfg", doom_map=_map, doom_skill=_skill)
# EnvPool's ids; the D scenarios come with its package of assets, if that is installed
for _name in ("basic", "basic_audio", "basic_notifications", "cig", "D1_basic", "D2_navigation", "D3_battle",
              "D4_battle2", "deadly_corridor", "deathmatch", "defend_the_center", "defend_the_line",
              "health_gathering", "health_gathering_supreme", "multi_duel", "my_way_home", "predict_position",
              "rocket_basic", "simpler_basic", "take_cover"):
    # these have starts for deathmatch only
    _arguments = {"game_args": "-deathmatch"} if _name in ("cig", "multi_duel") else {}
    register("".join(part.capitalize() for part in _name.split("_")) + "-v1", _ENVPOOL,
             max_episode_steps=525, cfg_path=_name, **_arguments)
register("VizdoomCustom-v1", _ENVPOOL, max_episode_steps=525)
