# Doom as EnvPool has it.
import itertools
import os
from collections.abc import Mapping

import numpy as np

from cypool.util.arguments import check_bool, check_float, check_int, shown
from cypool.envs.vizdoom import assets
from cypool.envs.vizdoom.names import BUTTONS, FIRST_DELTA, VARIABLES
from cypool.envs.vizdoom.options import (
    MAX_SEED, check_text, check_word, common_info, common_options, is_alone, lines_of, player_arguments,
    spec_of_players)
from cypool.spec import Array, Discrete

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libcpp.memory cimport make_unique, unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot
from cypool.envs.common.frame_stack cimport FrameStack
from cypool.envs.common.resize cimport Resize
from cypool.random cimport integers

cdef extern from "<string>" namespace "std" nogil:
    string to_string(int value)

cdef int DAMAGECOUNT = VARIABLES.index("DAMAGECOUNT")
cdef int DEATHCOUNT = VARIABLES.index("DEATHCOUNT")
cdef int HEALTH = VARIABLES.index("HEALTH")
cdef int HITCOUNT = VARIABLES.index("HITCOUNT")
cdef int SELECTED_WEAPON = VARIABLES.index("SELECTED_WEAPON")
cdef int SELECTED_WEAPON_AMMO = VARIABLES.index("SELECTED_WEAPON_AMMO")

# what EnvPool rewards by default: a gain, and a loss
REWARDS = {
    "FRAGCOUNT": (1, -1.5), "KILLCOUNT": (1, 0), "DEATHCOUNT": (-0.75, 0.75), "HITCOUNT": (0.01, -0.01),
    "DAMAGECOUNT": (0.003, -0.003), "HEALTH": (0.005, -0.003), "ARMOR": (0.005, -0.001),
    **{f"WEAPON{k}": (0.02, -0.01) if k < 3 else (0.1, -0.05) if k < 6 else (0.2, -0.1) for k in range(8)},
    **{f"AMMO{k}": (0.0002, -0.0001) if k < 3 else (0.001, -0.0005) if k < 6 else (0.002, -0.001) for k in range(8)}}
WEAPON_REWARDS = {k: 0.0002 if k < 3 else 0.001 if k < 6 else 0.002 for k in range(8)}
# EnvPool draws nothing narrower, but makes what it has drawn as small as the config says
NARROW = 320
# what a config may ask for, and takes the engine's time, but is not observed here
UNSEEN = ("depth_buffer_enabled", "labels_buffer_enabled", "automap_buffer_enabled", "audio_buffer_enabled",
          "notifications_buffer_enabled", "objects_info_enabled", "sectors_info_enabled")
# the infos that EnvPool reports
INFO = (*(f"AMMO{k}" for k in range(2, 8)), "ARMOR", "DAMAGECOUNT", "DEATHCOUNT", "FRAGCOUNT", "HEALTH", "HITCOUNT",
        "KILLCOUNT", "SELECTED_WEAPON", "SELECTED_WEAPON_AMMO", "USER2")
# of these EnvPool presses one of a pair at most
PAIRS = ("MOVE_RIGHT", "MOVE_BACKWARD", "TURN_RIGHT", "LOOK_UP", "MOVE_UP", "SELECT_NEXT_WEAPON", "SELECT_NEXT_ITEM")
WEAPONS = range(BUTTONS.index("SELECT_WEAPON1"), BUTTONS.index("SELECT_WEAPON0") + 1)


def combined_actions(buttons, force_speed, deltas):
    """Returns what EnvPool makes of buttons as one choice: an array of a row of their values for each.

    At most one weapon is selected, and one of two opposite buttons pressed.

    Args:
        buttons: Names.
        force_speed: SPEED is always pressed.
        deltas: {name: (count, low, high)}: this number of evenly spaced values of a button that takes a number.
    """
    groups, taken = [], set()
    for number, name in enumerate(BUTTONS):
        if name not in buttons or name in taken:
            continue
        if number >= FIRST_DELTA:
            count, low, high = deltas.get(name, (0, 0, 0))
            if count > 1:
                space = np.float32(np.float32(high) - np.float32(low)) / np.float32(count - 1)
                values = np.cumsum(np.array([low, *[space] * (count - 1)], np.float32), dtype=np.float32)
                groups.append([{name: float(value)} for value in values])
        elif number in WEAPONS:
            together = [BUTTONS[k] for k in WEAPONS if BUTTONS[k] in buttons]
            taken.update(together)
            groups.append([{}, *({each: 1.0} for each in together)])
        elif name in PAIRS and BUTTONS[number + 1] in buttons:
            taken.add(BUTTONS[number + 1])
            groups.append([{}, {name: 1.0}, {BUTTONS[number + 1]: 1.0}])
        elif name == "SPEED" and force_speed:
            groups.append([{name: 1.0}])
        else:
            groups.append([{}, {name: 1.0}])
    rows = []
    for choice in itertools.product(*groups):
        pressed = {name: value for part in choice for name, value in part.items()}
        rows.append([pressed.get(name, 0.0) for name in buttons])
    return np.array(rows)


def check_map_of(name, value, known, count, kind):
    """Returns an option that maps known names to `count` numbers each (1: a number) as a plain dict."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: expected a dict, got {shown(value)}")
    plain = {}
    for key, numbers in value.items():
        given = (numbers,) if count == 1 else numbers
        if key not in known:
            raise ValueError(f"{name}: expected {kind}, got {shown(key)}")
        if not isinstance(given, tuple | list) or len(given) != count:
            raise ValueError(f"{name}: expected {count} numbers for {key!r}, got {shown(numbers)}")
        checked = tuple(check_float(name, number, -1e30, 1e30) for number in given)
        plain[key] = checked[0] if count == 1 else checked
    return plain


def check_engine(vzd_path):
    """Returns the engine's path, "" for the installed one."""
    vzd_path = check_text("vzd_path", vzd_path)
    if vzd_path and not os.path.isfile(vzd_path):
        raise ValueError(f"vzd_path: expected the engine's program, got {shown(vzd_path)}")
    return vzd_path


def check_deltas(deltas):
    """Returns {button: (count, low, high)} as a plain dict; none for None."""
    deltas = check_map_of("delta_button_config", {} if deltas is None else deltas, BUTTONS[FIRST_DELTA:], 3,
                          "buttons that take a number")
    return {name: (check_int("delta_button_config", int(count), 0, 1000), low, high)
            for name, (count, low, high) in deltas.items()}


def read_planes(path, text):
    """Returns the facts of a config, whose screen has to come in planes."""
    facts = read_config(path, text)
    if facts.format not in ("CRCGCB", "CBCGCR", "GRAY8", "DOOM_256_COLORS8"):
        raise ValueError(f"cfg_path: expected a screen_format of planes, CRCGCB or GRAY8, got {facts.format}")
    return facts


def action_spec(options, buttons):
    """Returns the spec of a player's actions: a value for each button, or one choice of combinations."""
    if not options["use_combined_action"]:
        return Array((len(buttons),), np.float64)
    return Discrete(len(combined_actions(buttons, options["force_speed"], options["delta_button_config"])))


cdef class EnvPoolDoom(Doom):
    """Observations, actions and rewards of EnvPool 1.2.5: small stacked images, and changes of game variables.

    A step that ends the episode has reward 0 and shows what the one before did, as the game shows nothing any more.
    A match of several players has them in a first dimension of observations, actions and infos.
    """
    cdef size_t channels
    cdef size_t plane_bytes              # of the screen
    cdef size_t out_bytes                # of the small image
    cdef FrameStack frames               # a ring for each player
    cdef unique_ptr[Resize] to_config    # to the config's screen; NULL: the engine draws it as large as that
    cdef unique_ptr[Resize] to_image
    cdef vector[uint8_t] config_plane    # between the two
    cdef vector[double] choices          # buttons of each combined action; empty: buttons are free
    cdef vector[int] variables
    cdef vector[int] info_variables      # which of them info has
    cdef vector[double] now              # values of variables, of each player
    cdef vector[double] before
    cdef vector[double] base             # what counters began the episode with
    cdef vector[double] gain             # reward of one more
    cdef vector[double] loss             # ... of one less, negated
    cdef vector[double] weapon_reward
    cdef vector[int] weapon              # of each player
    cdef vector[int] weapon_steps
    cdef int weapon_duration
    cdef bint episodic_life
    cdef bint life_lost
    cdef int game_step                   # steps since the game began, not the life
    cdef bint reseed
    cdef uint32_t new_seed
    cdef string recording                # folder, and how names begin; empty: none
    cdef int episode

    @staticmethod
    def describe(cfg_path="", img_height=84, img_width=84, stack_num=4, frame_skip=4, lmp_save_dir="",
                 episodic_life=False, force_speed=False, use_combined_action=False, use_inter_area_resize=True,
                 weapon_duration=5, reward_config=REWARDS, selected_weapon_reward_config=WEAPON_REWARDS,
                 delta_button_config=None, wad_path="", vzd_path="", iwad_path="", game_args="", map_id="map01",
                 screen_resolution=None, num_players=1, num_bots=0, engine_timeout=60.0,
                 engine_pid=False):
        """Describes the game as EnvPool makes it with these options.

        Args:
            cfg_path: A config: a path, or the name of one that comes with vizdoom, or with EnvPool's assets.
            img_height, img_width: Size of an observation, not larger than the config's screen.
            stack_num: How many frames are observed together.
            frame_skip: Tics that a step lasts.
            lmp_save_dir: A folder for recordings of all episodes but the first; "": none.
            episodic_life: An episode ends with a life, also where the game continues.
            force_speed: SPEED is always pressed, in combined actions.
            use_combined_action: One choice of all sensible combinations of buttons, else a value for each button.
            use_inter_area_resize: Images are reduced by OpenCV's INTER_AREA, else INTER_LINEAR.
            weapon_duration: Steps for which a weapon has to be held before it is rewarded.
            reward_config: {variable: (gain, loss)}: the reward is the gain times an increase, or minus the loss times
                a decrease.
            selected_weapon_reward_config: {weapon: reward} of each step with that weapon in hand, and ammunition.
            delta_button_config: {button: (count, low, high)}: `count` values of it, in combined actions.
            wad_path, iwad_path: The scenario's WAD and the game's data instead of the config's.
            vzd_path: The engine, if it is not the installed one; it has to be of the same version.
            game_args: Further arguments of the engine.
            map_id: The map.
            screen_resolution: What the engine draws, such as "RES_160X120"; None: what the config says, but if that is
                narrower than 320 columns then 320x240, made so small, as EnvPool does. Smaller is faster, and other
                pixels.
            num_players: Players of the match; more than one play deathmatch.
            num_bots: Additional players that the game controls.
            engine_timeout: Seconds that a step or a reset may take; then the engine is killed.
            engine_pid: Infos contain the process id of the engine, which differs each time.
        """
        path = assets.find_config("cfg_path", cfg_path)
        map_id = check_word("map_id", map_id)
        if screen_resolution is not None:
            screen_resolution = check_resolution(path, screen_resolution)
        text = frames_lines(path, map_id, screen_resolution)
        facts = read_planes(path, text)
        height, width = image_size(path, facts, screen_resolution)
        options = common_options(facts, wad_path, iwad_path, frame_skip, game_args, num_players, num_bots,
                                 engine_timeout, engine_pid, "map_id")
        vzd_path = check_engine(vzd_path)
        lmp_save_dir = check_text("lmp_save_dir", lmp_save_dir)
        options |= {
            "cfg_path": path,
            "img_height": check_int("img_height", img_height, 1, height),
            "img_width": check_int("img_width", img_width, 1, width),
            "stack_num": check_int("stack_num", stack_num, 1, 256),
            "lmp_save_dir": os.path.abspath(lmp_save_dir) if lmp_save_dir else "",
            "episodic_life": check_bool("episodic_life", episodic_life),
            "force_speed": check_bool("force_speed", force_speed),
            "use_combined_action": check_bool("use_combined_action", use_combined_action),
            "use_inter_area_resize": check_bool("use_inter_area_resize", use_inter_area_resize),
            "weapon_duration": check_int("weapon_duration", weapon_duration, 0, 2**31 - 1),
            "reward_config": check_map_of("reward_config", reward_config, VARIABLES, 2, "game variables"),
            "selected_weapon_reward_config": check_map_of(
                "selected_weapon_reward_config", selected_weapon_reward_config, range(8), 1, "weapons, 0 to 7"),
            "delta_button_config": check_deltas(delta_button_config),
            "vzd_path": vzd_path,
            "map_id": map_id,
            "screen_resolution": screen_resolution,
        }
        count = options["num_players"]
        lead = (count,) if count > 1 else ()
        return spec_of_players(
            count,
            Array((options["stack_num"] * facts.channels, options["img_height"], options["img_width"]), np.uint8,
                  stack=(0, options["stack_num"])),
            action_spec(options, facts.buttons),
            info={name: Array(lead, np.float64) for name in INFO} | common_info(options),
            max_seed=MAX_SEED,
            render_fps=max(35 // options["frame_skip"], 1),
            threads_per_cpu=4,
            sync_threads_per_cpu=1 if is_alone(options) else 4,
            options=options,
        )

    def __init__(self, spec, env_id):
        options = spec.options
        cdef size_t k
        text = frames_lines(options["cfg_path"], options["map_id"], options["screen_resolution"])
        if spec.max_episode_steps is not None:
            # of ViZDoom's type, whatever the limit is
            timeout = min((spec.max_episode_steps + 1) * options["frame_skip"], 2**31 - 1)
            text += lines_of({"episode_timeout": timeout})
        super().__init__(spec, env_id, options["cfg_path"], text,
                         player_arguments(options["num_players"], options["num_bots"], options["game_args"]), True)
        facts = self.config
        self.channels = facts.channels
        self.plane_bytes = facts.height * facts.width
        self.out_bytes = options["img_height"] * options["img_width"]
        self.frames = FrameStack(options["stack_num"], self.channels * self.out_bytes, self.num_players)
        cdef bint by_area = options["use_inter_area_resize"]
        cdef int drawn_height = facts.height, drawn_width = facts.width, height, width
        cdef int out_height = options["img_height"], out_width = options["img_width"]
        height, width = image_size(options["cfg_path"], facts, options["screen_resolution"])
        if height != drawn_height or width != drawn_width:
            self.to_config = make_unique[Resize](by_area, drawn_height, drawn_width, height, width)
            self.config_plane.resize(height * width)
        self.to_image = make_unique[Resize](by_area, height, width, out_height, out_width)
        if options["use_combined_action"]:
            table = combined_actions(facts.buttons, options["force_speed"], options["delta_button_config"])
            for value in table.ravel().tolist():
                self.choices.push_back(value)
        names = list(dict.fromkeys([*facts.variables, *INFO]))
        for name in names:
            gain, loss = options["reward_config"].get(name, (0, 0))
            self.variables.push_back(VARIABLES.index(name))
            # as EnvPool has them: floats
            self.gain.push_back(np.float32(gain))
            self.loss.push_back(np.float32(loss))
        for name in INFO:
            self.info_variables.push_back(names.index(name))
        k = self.num_players * self.variables.size()
        self.now.resize(k)
        self.before.resize(k)
        self.base.resize(k)
        self.weapon.resize(self.num_players)
        self.weapon_steps.resize(self.num_players)
        for weapon in range(10):
            self.weapon_reward.push_back(np.float32(options["selected_weapon_reward_config"].get(weapon, 0)))
        self.weapon_duration = options["weapon_duration"]
        self.episodic_life = options["episodic_life"]
        if options["lmp_save_dir"]:
            self.recording = f"{assets.record_into(options['lmp_save_dir'])}/env_{env_id}_".encode()

    cdef int seed(self, object seed) except -1:
        Env.seed(self, seed)
        self.new_seed = seed
        self.reseed = True
        return 0

    cdef int reset(self) except -1 nogil:
        cdef bint goes_on = (self.life_lost and not self.reset_requested and self.running()
                             and not self.finished() and self.game_step < self.max_episode_steps)
        cdef bint failed = False
        cdef string path
        cdef size_t k
        self.life_lost = False
        if goes_on:
            self.game_step += 1
            self.elapsed_step = self.game_step
            for k in range(self.values.size()):
                # no conditional expression: Cython would keep the address of a temporary 0
                self.values[k] = 0
                if self.choices.size() > 0:
                    self.values[k] = self.choices[k % self.num_buttons]
            goes_on = self.play()
            failed = not goes_on
            self.truncated = False
        if not goes_on:
            self.game_step = 0
            self.elapsed_step = 0
            # for an engine that is started again, which must not repeat what the last one played
            if not self.reseed:
                self.new_seed = <uint32_t>integers(self.rng, 0, 1LL << 32)
            if self.recording.size() > 0 and self.episode > 0:
                path = self.recording + to_string(self.episode) + string(b".lmp")
            self.begin(self.reseed, self.new_seed, path)
            self.restarted = self.restarted or failed
            self.reseed = False
            self.episode += 1
        for k in range(self.num_players):
            self.player_rewards[k] = 0
            self.read_player(k, True)
        return 0

    cdef void press(self, const void* action) noexcept nogil:
        cdef size_t player, k
        cdef const double* given = <const double*>action
        for player in range(self.num_players):
            if self.choices.size() > 0:
                given = self.choices.data() + <size_t>(<const int64_t*>action)[player] * self.num_buttons
            for k in range(self.num_buttons):
                self.values[player * self.num_buttons + k] = given[k]
            given += self.num_buttons

    cdef int step(self, const void* action) except -1 nogil:
        cdef size_t player, k
        cdef double reward = 0
        self.press(action)
        for k in range(self.num_players):
            self.player_rewards[k] = 0
        if not self.play():
            return 0
        self.game_step = self.elapsed_step
        self.terminated = self.finished()
        if not self.terminated:
            self.frames.advance()
        for player in range(self.num_players):
            if self.episodic_life and self.dead(player):
                self.terminated = self.life_lost = True
            if not self.finished():
                self.player_rewards[player] = self.read_player(player, False)
                reward += self.player_rewards[player]
        self.give_rewards()
        self.reward = reward
        return 0

    cdef float read_player(self, size_t player, bint first) noexcept nogil:
        """Takes a player's screen and variables; returns the reward of what changed."""
        cdef size_t count = self.variables.size(), k
        cdef double* now = self.now.data() + player * count
        cdef double* before = self.before.data() + player * count
        cdef double* base = self.base.data() + player * count
        cdef float reward = 0
        cdef double delta
        cdef int variable, weapon = -1, ammunition = 0
        for k in range(count):
            variable = self.variables[k]
            before[k] = now[k]
            now[k] = self.variable(player, variable)
            if first:
                before[k] = now[k]
            # these continue from episode to episode
            if variable == HITCOUNT or variable == DAMAGECOUNT or variable == DEATHCOUNT:
                if first:
                    base[k] = now[k]
                    before[k] = 0
                now[k] -= base[k]
        if first:
            self.weapon[player] = -1
            self.weapon_steps[player] = 0
        for k in range(count):
            variable = self.variables[k]
            delta = now[k] - before[k]
            if variable == DAMAGECOUNT and delta >= 200:
                delta = 200
            elif variable == HITCOUNT and delta >= 5:
                delta = 5
            elif variable == SELECTED_WEAPON:
                weapon = <int>now[k]
            elif variable == SELECTED_WEAPON_AMMO:
                ammunition = <int>now[k]
            elif variable == HEALTH:
                # the game may report -999900
                if before[k] < 0 and now[k] < 0:
                    before[k] = now[k] = 100
                elif now[k] < 0:
                    now[k] = before[k]
                elif before[k] < 0:
                    before[k] = now[k]
                delta = now[k] - before[k]
            if delta >= 0:
                reward += <float>(delta * self.gain[k])
            else:
                reward -= <float>(delta * self.loss[k])
        if weapon == self.weapon[player]:
            self.weapon_steps[player] += 1
        else:
            self.weapon[player] = weapon
            self.weapon_steps[player] = 1
        if weapon >= 0 and self.weapon_steps[player] >= self.weapon_duration and ammunition > 0:
            reward = <float>(reward + self.weapon_reward[weapon])
        self.push(player, first)
        return reward

    cdef void push(self, size_t player, bint first) noexcept nogil:
        """Shrinks a player's screen to the newest frame; at the first one of an episode to all."""
        cdef const uint8_t* screen = self.buffer(player, SCREEN)
        cdef uint8_t* target = self.frames.newest_frame(player)
        cdef const uint8_t* plane
        cdef size_t k
        for k in range(self.channels):
            plane = screen + k * self.plane_bytes
            if self.to_config.get() != NULL:
                self.to_config.get().run(plane, self.config_plane.data())
                plane = self.config_plane.data()
            self.to_image.get().run(plane, target + k * self.out_bytes)
        if first:
            self.frames.fill(player)

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef size_t size = self.frames.num_frames * self.frames.frame_bytes, player, k
        for player in range(self.num_players):
            self.frames.write(player, <uint8_t*>out.obs[0] + player * size)
            for k in range(self.info_variables.size()):
                (<double*>out.info[k])[player] = self.now[player * self.variables.size() + self.info_variables[k]]
        self.write_infos(out, self.info_variables.size())
        return 0


def check_resolution(path, value):
    """Returns `value` if it is the name of a resolution that ViZDoom has, else raises a ValueError or TypeError."""
    name = check_word("screen_resolution", value)
    # a file that is wrong by itself is reported as such
    read_config(path)
    try:
        read_config(path, lines_of({"screen_resolution": name}))
    except ValueError:
        raise ValueError(f"screen_resolution: expected one that ViZDoom has, such as 'RES_160X120', got {shown(name)}"
                         ) from None
    return name


def frames_lines(path, map_id, screen_resolution):
    """Returns the lines of config that EnvPool comes to, behind those of the file."""
    forced = {"window_visible": False, "mode": "PLAYER", "doom_map": map_id}
    # EnvPool's engine is an older one, which has no flashes
    for name in ("render_screen_flashes", *UNSEEN):
        forced[name] = False
    if screen_resolution is not None:
        forced["screen_resolution"] = screen_resolution
    elif read_config(path).width < NARROW:
        forced["screen_resolution"] = "RES_320X240"
    return lines_of(forced)


def image_size(path, facts, screen_resolution):
    """Returns height and width of the image that observations are made from; the engine may draw a larger one."""
    if screen_resolution is None:
        asked = read_config(path)
        if asked.width < NARROW:
            return asked.height, asked.width
    return facts.height, facts.width
