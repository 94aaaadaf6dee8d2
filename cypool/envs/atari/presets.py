"""The packages that are followed: which defaults they have that differ."""

# steps of an episode at most, where frames are not counted
MAX_EPISODE_STEPS = 27_000

_OURS = {
    "reward_clip": False, "use_fire_reset": True, "repeat_action_probability": 0.0, "channels_last": False,
    "raw_reward": True, "game_over": True, "ram": False, "frame_numbers": False, "max_num_frames_per_episode": None,
}
# of ale_py and its environments
_ALE = {
    "channels_last": True, "raw_reward": False, "game_over": False, "frame_numbers": True,
    "max_num_frames_per_episode": 108_000,
}
# how a game is begun, ended and shown differs too: see Atari
PRESETS = {
    None: _OURS,
    "envpool": {**_OURS, "ram": True},
    "ale": {**_OURS, **_ALE, "reward_clip": True},
    "gymnasium": {**_OURS, **_ALE, "use_fire_reset": False, "repeat_action_probability": 0.25},
}
