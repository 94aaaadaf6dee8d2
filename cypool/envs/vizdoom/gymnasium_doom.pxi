# Doom as ViZDoom's own Gymnasium wrapper has it.
import itertools
from collections.abc import Mapping

import numpy as np

from cypool.util.arguments import check_bool, check_int, shown
from cypool.envs.vizdoom import assets
from cypool.envs.vizdoom.names import BUTTONS, FIRST_DELTA, VARIABLES
from cypool.envs.vizdoom.options import (
    check_text, check_word, common_info, common_options, is_alone, lines_of, player_arguments,
    spec_of_players)
from cypool.spec import Array, Discrete, MultiBinary

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Slot
from cypool.random cimport integers

cdef enum:
    TEXT_BYTES = 32_768          # of notifications, at most


cdef class GymnasiumDoom(Doom):
    """Observations, actions and rewards of ViZDoom's own Gymnasium wrapper, `VizdoomEnv` of version 1.3.2.

    Observations are dicts: the screen, and of depth, labels, automap, audio, notifications and game variables those
    that the config has. Each reset draws the seed of the episode. A match of several players has them in a first
    dimension of observations and actions; the reward is the sum of theirs, which `info["player_reward"]` lists.
    """
    cdef vector[Source] sources
    cdef vector[size_t] sizes            # of a player's part, in bytes
    cdef vector[int] variables
    cdef size_t num_delta
    cdef size_t num_binary
    cdef vector[uint8_t] button_map      # buttons of each choice; empty: buttons are free
    cdef bint timeout_truncates

    @staticmethod
    def describe(scenario_config_file="basic.cfg", frame_skip=1, max_buttons_pressed=0,
                 treat_episode_timeout_as_truncation=True, config=None, doom_map=None, doom_skill=None, wad_path=None,
                 iwad_path=None, game_args="", num_players=1, num_bots=0, engine_timeout=60.0,
                 engine_pid=False):
        """Describes the game as ViZDoom's wrapper makes it with these options.

        Args:
            scenario_config_file: A config: a path, or the name of one that comes with vizdoom.
            frame_skip: Tics that a step lasts.
            max_buttons_pressed: How many buttons can be pressed at once, as one choice of all such combinations; 0:
                all, each for itself. Buttons that take a number are apart, in a dict with the others if there are.
            treat_episode_timeout_as_truncation: Whether the game's own time limit truncates; it terminates anyway.
            config: A dict of config keys and values, instead of those in the file.
            doom_map, doom_skill: The map and the difficulty, 1 to 5, instead of the config's.
            wad_path, iwad_path: The scenario's WAD and the game's data instead of the config's.
            game_args: Further arguments of the engine.
            num_players: Players of the match; more than one play deathmatch.
            num_bots: Additional players that the game controls.
            engine_timeout: Seconds that a step or a reset may take; then the engine is killed.
            engine_pid: Infos contain the process id of the engine, which differs each time.
        """
        config = {} if config is None else check_config(config)
        if doom_map is not None:
            config["doom_map"] = check_word("doom_map", doom_map)
        if doom_skill is not None:
            config["doom_skill"] = check_int("doom_skill", doom_skill, 1, 5)
        path = assets.find_config("scenario_config_file", scenario_config_file)
        options = common_options(read_config(path, lines_of(config)), wad_path, iwad_path, frame_skip, game_args,
                                 num_players, num_bots, engine_timeout, engine_pid)
        pressed = check_int("max_buttons_pressed", max_buttons_pressed, 0, len(BUTTONS))
        options |= {
            "scenario_config_file": path,
            "max_buttons_pressed": pressed,
            "treat_episode_timeout_as_truncation": check_bool("treat_episode_timeout_as_truncation",
                                                              treat_episode_timeout_as_truncation),
            "config": config,
            "doom_map": doom_map,
            "doom_skill": doom_skill,
        }
        facts = read_config(path, wrapper_lines(path, options))
        size = (facts.height, facts.width)
        parts = {"screen": Array((*size, facts.channels), np.uint8)}
        for name in ("depth", "labels"):
            if getattr(facts, name):
                parts[name] = Array((*size, 1), np.uint8)
        if facts.automap:
            parts["automap"] = Array((*size, facts.channels), np.uint8)
        if facts.audio:
            parts["audio"] = Array((facts.samples_per_tic * facts.audio_tics, 2), np.int16)
        if facts.notifications:
            parts["notifications"] = Array((TEXT_BYTES,), np.uint8)
        if facts.variables:
            limit = np.finfo(np.float32).max
            parts["gamevariables"] = Array((len(facts.variables),), np.float32, -limit, limit)
        return spec_of_players(
            options["num_players"], parts, wrapper_action(facts, pressed),
            info=common_info(options),
            render_fps=35,
            threads_per_cpu=4,
            sync_threads_per_cpu=1 if is_alone(options) else 4,
            options=options,
        )

    def __init__(self, spec, env_id):
        options = spec.options
        path = options["scenario_config_file"]
        super().__init__(spec, env_id, path, wrapper_lines(path, options),
                         player_arguments(options["num_players"], options["num_bots"], options["game_args"]), False)
        kinds = {"screen": SCREEN, "depth": DEPTH, "labels": LABELS, "automap": AUTOMAP, "audio": AUDIO,
                 "notifications": NOTIFICATIONS, "gamevariables": VARIABLES_}
        for name, part in spec.observations:
            self.sources.push_back(kinds[name])
            self.sizes.push_back(part.dtype.itemsize * int(np.prod(part.shape)) // self.num_players)
        for name in self.config.variables:
            self.variables.push_back(VARIABLES.index(name))
        self.num_delta = sum(BUTTONS.index(name) >= FIRST_DELTA for name in self.config.buttons)
        self.num_binary = self.num_buttons - self.num_delta
        for choice in choices_of(self.num_binary, options["max_buttons_pressed"]):
            for pressed in choice:
                self.button_map.push_back(pressed)
        self.timeout_truncates = options["treat_episode_timeout_as_truncation"]

    cdef int reset(self) except -1 nogil:
        cdef size_t k
        self.begin(True, <uint32_t>integers(self.rng, 0, 1LL << 32), string())
        for k in range(self.num_players):
            self.player_rewards[k] = 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef double reward = 0
        cdef size_t k
        self.press(action)
        for k in range(self.num_players):
            self.player_rewards[k] = 0
        if not self.play():
            return 0
        for k in range(self.num_players):
            self.player_rewards[k] = self.last_reward(k)
            reward += self.player_rewards[k]
        self.give_rewards()
        self.reward = reward
        self.terminated = self.finished()
        self.truncated = self.timeout_truncates and self.timed_out()
        return 0

    cdef void press(self, const void* taken) noexcept nogil:
        # buttons that take a number come first
        cdef const char* action = <const char*>taken
        cdef size_t k, player
        cdef int64_t choice
        cdef float number
        cdef double* values
        for player in range(self.num_players):
            values = self.values.data() + player * self.num_buttons + self.num_delta
            if self.button_map.size() > 0:
                memcpy(&choice, action, sizeof(int64_t))
                action += sizeof(int64_t)
                for k in range(self.num_binary):
                    values[k] = self.button_map[<size_t>choice * self.num_binary + k]
            else:
                for k in range(self.num_binary):
                    values[k] = action[k]
                action += self.num_binary
        for player in range(self.num_players):
            values = self.values.data() + player * self.num_buttons
            for k in range(self.num_delta):
                memcpy(&number, action, sizeof(float))
                action += sizeof(float)
                values[k] = number

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef size_t part, k
        cdef bint seen = self.running() and not self.finished()
        cdef uint8_t* target
        for part in range(self.sources.size()):
            for k in range(self.num_players):
                target = <uint8_t*>out.obs[part] + k * self.sizes[part]
                if seen:
                    self.copy(k, self.sources[part], target, self.sizes[part])
                else:
                    memset(target, 0, self.sizes[part])
        self.write_infos(out, 0)
        return 0

    cdef void copy(self, size_t player, Source source, uint8_t* target, size_t size) noexcept nogil:
        """Writes one part of what a player sees: straight from the memory that the engine wrote it to."""
        cdef const uint8_t* seen = NULL
        cdef size_t k
        if source == VARIABLES_:
            for k in range(self.variables.size()):
                (<float*>target)[k] = <float>self.variable(player, self.variables[k])
            return
        if source == NOTIFICATIONS:
            self.notifications(player, target, size)
            return
        seen = self.buffer(player, source)
        if seen != NULL:
            memcpy(target, seen, size)
        else:
            memset(target, 0, size)


def wrapper_lines(path, options):
    """Returns the lines of config that ViZDoom's wrapper comes to, behind those of the file."""
    config = options["config"]
    text = lines_of(config)
    facts = read_config(path, text)
    deltas = [name for name in facts.buttons if BUTTONS.index(name) >= FIRST_DELTA]
    others = [name for name in facts.buttons if name not in deltas]
    forced = {"window_visible": False, "mode": "PLAYER", "available_buttons": [*deltas, *others]}
    for key in ("audio_buffer_size", "notifications_buffer_size"):
        if key not in config:
            forced[key] = options["frame_skip"]
    if facts.format not in ("RGB24", "GRAY8"):
        forced["screen_format"] = "RGB24"
    return text + lines_of(forced)


def choices_of(num_binary, pressed):
    """Returns what can be chosen of buttons, each a tuple of 0 and 1; nothing if they are free."""
    if not num_binary or not pressed:
        return []
    return [choice for choice in itertools.product((0, 1), repeat=num_binary) if sum(choice) <= pressed]


def wrapper_action(facts, pressed):
    """Describes the actions of a player, as ViZDoom's wrapper has them."""
    num_delta = sum(BUTTONS.index(name) >= FIRST_DELTA for name in facts.buttons)
    num_binary = len(facts.buttons) - num_delta
    limit = np.finfo(np.float32).max
    continuous = Array((num_delta,), np.float32, -limit, limit) if num_delta else None
    binary = None
    if num_binary:
        choices = choices_of(num_binary, pressed)
        if not choices:
            binary = MultiBinary((num_binary,))
        else:
            binary = Discrete(len(choices))
    if binary and continuous:
        return {"binary": binary, "continuous": continuous}
    return binary or continuous


def check_config(config):
    """Returns the option `config` as a plain dict, values that are enums of vizdoom's as their names.

    Raises:
        TypeError, ValueError: It is not one, or has keys or values that no line can hold.
    """
    if not isinstance(config, Mapping):
        raise TypeError(f"config: expected a dict of config keys and values, got {shown(config)}")
    plain = {}
    for key, value in config.items():
        values = value if isinstance(value, list | tuple) else [value]
        values = [each if isinstance(each, bool | int | float | str) else getattr(each, "name", None)
                  for each in values]
        texts = [str(each) for each in (key, *values)]
        if not isinstance(key, str) or None in values or any("\n" in text or "{" in text for text in texts):
            raise ValueError(f"config: expected names with numbers, strings, bools or lists of them, got "
                             f"{shown(key)}: {shown(value)}")
        for text in texts:
            check_text("config", text)
        plain[key] = values if isinstance(value, list | tuple) else values[0]
    return plain
