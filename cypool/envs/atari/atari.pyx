"""Atari 2600: ALE's emulator, with EnvPool's preprocessing, options and defaults."""
import functools
import zlib
from collections import namedtuple

import numpy as np

from cypool.arguments import check_bool, check_choice, check_float, check_int
from cypool.envs.atari import roms
from cypool.spec import Array, Discrete, EnvSpec

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from libcpp.memory cimport make_unique, unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot
from cypool.envs.atari cimport libale as ale
from cypool.envs.atari.image cimport AreaShrink, LinearShrink, PaletteMax
from cypool.envs.atari.snapshot cimport restore_snapshot, take_snapshot

cdef extern from "cypool/draw.h" namespace "cypool" nogil:
    uint32_t draw_below(mt19937& random, uint32_t bound) noexcept

cdef extern from "<random>" namespace "std" nogil:
    cdef cppclass mt19937:
        void seed(uint32_t seed) noexcept

cdef extern from *:
    """
    #include <sstream>
    namespace cypool {
    inline std::string text_of(const std::mt19937& random) { std::ostringstream out; out << random; return out.str(); }
    inline void from_text(std::mt19937& random, const std::string& text) {
        std::istringstream in(text);
        if (!(in >> random)) throw std::invalid_argument("state: not one of this game");
    }
    }  // namespace cypool
    """
    string text_of "cypool::text_of"(const mt19937& random) except +
    void from_text "cypool::from_text"(mt19937& random, const string& text) except +

cdef enum:
    MAX_SEED = 0x7FFFFFFF        # ALE takes a non-negative int
    RAM_BYTES = 128

# what an observation shows
cdef enum ObsType:
    IMAGE
    SCREEN
    RAM

# a global of ALE's: set once, before there are threads
ale.set_log_level(ale.LogError)


# what is known of a game before it is played; rom and md5 are bytes
Facts = namedtuple("Facts", "rom, md5, num_minimal, num_legal, height, width, modes, difficulties")


@functools.lru_cache(maxsize=None)
def game_facts(task):
    """Returns the `Facts` of a game.

    Raises:
        ValueError: `task` is no game, or its ROM is missing or not the one ALE knows.
    """
    path = roms.rom_path(task)
    cdef string rom = str(path).encode()
    if <bytes>ale.rom_name(rom) != task.encode():
        raise ValueError(f"task: {path} is not the ROM of {task!r} that ALE knows: reinstall ale-py")
    cdef string md5 = ale.rom_md5(rom)
    cdef unique_ptr[ale.ALEInterface] game = make_unique[ale.ALEInterface]()
    ale.load_rom(game.get()[0], rom, md5)
    screen = &game.get().getScreen()
    return Facts(rom, md5, game.get().getMinimalActionSet().size(), game.get().getLegalActionSet().size(),
                 screen.height(), screen.width(), sorted(game.get().getAvailableModes()),
                 sorted(game.get().getAvailableDifficulties()))


def check_switch(name, value, task, available):
    """Returns `value` as an int if it is -1 or one of `available`; raises as `check_int` does."""
    value = check_int(name, value, -2**31, 2**31 - 1)
    if value != -1 and value not in available:
        raise ValueError(f"{name}: expected one of {', '.join(map(str, available))}, or -1, the default of {task!r}, "
                         f"got {value}")
    return value


def observation_shape(options, facts):
    """Returns the shape of an observation of a game with these `Facts`."""
    stack, gray = options["stack_num"], options["gray_scale"]
    if options["obs_type"] == "image":
        return (stack if gray else 3 * stack, options["img_height"], options["img_width"])
    frame = (RAM_BYTES,)
    if options["obs_type"] == "screen":
        frame = (facts.height, facts.width) if gray else (facts.height, facts.width, 3)
    return frame if stack == 1 else (stack, *frame)


cdef class Atari(Env):
    """An Atari game; each step repeats the action for `frame_skip` frames.

    Follows EnvPool's Atari: the same options and defaults, seeds, resets and rewards; but the whole screen
    of the games that have 250 rows, of which EnvPool shows 210. The emulator is ALE's own, compiled
    unchanged but for its colour averaging, which is left out.

    Observation: uint8 (stack_num, img_height, img_width), the last frames, the newest last; with three
        planes (red, green, blue) for each frame if not `gray_scale`. Each is the maximum of the last two
        frames of a step, then reduced. After a reset all frames of the stack are the first one.
        With `obs_type` "screen" uint8 (height, width), or (height, width, 3) if not `gray_scale`: the whole
        screen at the end of a step. With "ram" uint8 (128,), the console's memory. With stack_num > 1
        these too are stacked, in a first dimension of that size.
    Reward: The game's score gained, summed over the step; its sign if `reward_clip`.
    Terminated: The game is over; with `episodic_life` also when a life is lost.
    Info: `lives` int32; `reward` float32, never clipped; `terminated` int32, 1 if the game is over. With `ram`
        also `ram` uint8 (128,); with `frame_numbers` also `frame_number`, since the emulator was seeded,
        and `episode_frame_number`, since the game began: int32.

    When a game ends before the last frame of a step, the observation shows the frame it ended with.
    """
    # of one frame
    cdef size_t screen_bytes             # palette indices as ALE draws them
    cdef size_t plane_bytes              # one reduced plane
    cdef size_t frame_bytes              # what the stack holds of it
    cdef int num_planes                  # 1, or 3 in colour
    cdef ObsType obs_type
    cdef bint ram, frame_numbers
    cdef int stack_num, frame_skip
    cdef int kept                        # of a step, the frame whose screen is kept for the maximum; -1: none
    cdef uint32_t noop_max
    cdef bint episodic_life, reward_clip, use_fire_reset, full_action_space, gray_scale
    cdef float repeat_action_probability
    cdef int mode, difficulty            # -1: left as ALE has them
    cdef string rom, rom_md5
    cdef unique_ptr[ale.ALEInterface] game
    cdef vector[ale.Action] actions
    cdef bint has_fire
    cdef vector[PaletteMax] palettes     # one per plane
    cdef unique_ptr[AreaShrink] area
    cdef unique_ptr[LinearShrink] linear  # instead of it
    cdef uint8_t[4 * 256] colours        # of each palette index its red, green, blue, and a byte that is not used
    cdef vector[uint8_t] previous        # the screen before the last one
    cdef vector[uint8_t] pooled          # the maximum of both, one plane
    cdef vector[uint8_t] frames          # stack_num reduced frames, a ring
    cdef int newest                      # index of the last frame in the ring
    cdef mt19937 noops                   # draws the number of no-ops of a reset
    cdef int ale_seed
    cdef bint reseed                     # the next reset loads the ROM, which is how ALE takes a seed
    cdef int lives
    cdef bint game_over
    cdef bint life_lost                  # the episode ended with a life, the game goes on
    cdef int game_step                   # steps since the game began, over several lives
    cdef float score                     # of the last step, unclipped

    @staticmethod
    def describe(task="pong", stack_num=4, frame_skip=4, noop_max=30, episodic_life=False, reward_clip=False,
                 use_fire_reset=True, img_height=84, img_width=84, gray_scale=True,
                 repeat_action_probability=0.0, full_action_space=False, mode=-1, difficulty=-1, ram=False,
                 frame_numbers=False, obs_type="image", use_inter_area_resize=True):
        """Returns the spec.

        Args:
            task: The game, as its ROM is called.
            stack_num: Frames of an observation.
            frame_skip: Frames of a step.
            noop_max: A reset does 1 to `noop_max` frames without action, or one less before pressing fire;
                0: none.
            episodic_life: An episode ends with a life; the next one continues the game.
            reward_clip: Rewards are -1, 0 or 1.
            use_fire_reset: A reset ends with pressing fire, in games that have it.
            img_height, img_width: Size of an observation, not larger than the screen.
            gray_scale: Gray, else colour.
            repeat_action_probability: Chance at each frame that the console sees the last action again.
            full_action_space: All actions that are legal, 18 in most games, else those the game uses.
            mode, difficulty: Which of the game's modes, and how its difficulty switches are set, as ALE numbers
                them; -1: the default.
            ram: Whether info has the console's memory.
            frame_numbers: Whether info has the numbers of frames.
            obs_type: What is observed: "image", the reduced screen; "screen", all of it; or "ram", the memory. The
                options of the picture are without effect where it is not shown.
            use_inter_area_resize: Images are reduced by OpenCV's INTER_AREA, else INTER_LINEAR.
        """
        if not isinstance(task, str):
            raise TypeError(f"task: expected a str, got {task!r}")
        task = str(task)
        facts = game_facts(task)
        options = {
            "task": task,
            "stack_num": check_int("stack_num", stack_num, 1, 256),
            "frame_skip": check_int("frame_skip", frame_skip, 1, 10_000),
            "noop_max": check_int("noop_max", noop_max, 0, 100_000),
            "episodic_life": check_bool("episodic_life", episodic_life),
            "reward_clip": check_bool("reward_clip", reward_clip),
            "use_fire_reset": check_bool("use_fire_reset", use_fire_reset),
            "img_height": check_int("img_height", img_height, 1, facts.height),
            "img_width": check_int("img_width", img_width, 1, facts.width),
            "gray_scale": check_bool("gray_scale", gray_scale),
            "repeat_action_probability": check_float("repeat_action_probability", repeat_action_probability, 0, 1),
            "full_action_space": check_bool("full_action_space", full_action_space),
            "mode": check_switch("mode", mode, task, facts.modes),
            "difficulty": check_switch("difficulty", difficulty, task, facts.difficulties),
            "ram": check_bool("ram", ram),
            "frame_numbers": check_bool("frame_numbers", frame_numbers),
            "obs_type": check_choice("obs_type", obs_type, ("image", "screen", "ram")),
            "use_inter_area_resize": check_bool("use_inter_area_resize", use_inter_area_resize),
        }
        info = {"lives": Array((), np.int32), "reward": Array((), np.float32), "terminated": Array((), np.int32)}
        if options["ram"]:
            info["ram"] = Array((RAM_BYTES,), np.uint8)
        if options["frame_numbers"]:
            info |= {name: Array((), np.int32, 0) for name in ("frame_number", "episode_frame_number")}
        return EnvSpec(
            observation=Array(observation_shape(options, facts), np.uint8),
            action=Discrete(facts.num_legal if options["full_action_space"] else facts.num_minimal),
            info=info,
            max_seed=MAX_SEED,
            render_fps=max(60 // options["frame_skip"], 1),
            options=options,
        )

    def __init__(self, spec, env_id):
        options = spec.options
        facts = game_facts(options["task"])
        cdef int out_height = options["img_height"], out_width = options["img_width"]
        self.rom = facts.rom
        self.rom_md5 = facts.md5
        self.stack_num = options["stack_num"]
        self.frame_skip = options["frame_skip"]
        self.noop_max = options["noop_max"]
        self.episodic_life = options["episodic_life"]
        self.reward_clip = options["reward_clip"]
        self.use_fire_reset = options["use_fire_reset"]
        self.full_action_space = options["full_action_space"]
        self.gray_scale = options["gray_scale"]
        self.repeat_action_probability = options["repeat_action_probability"]
        self.mode = options["mode"]
        self.difficulty = options["difficulty"]
        self.obs_type = {"image": IMAGE, "screen": SCREEN, "ram": RAM}[options["obs_type"]]
        self.ram = options["ram"]
        self.frame_numbers = options["frame_numbers"]
        self.num_planes = 1 if self.gray_scale else 3
        self.screen_bytes = facts.height * facts.width
        self.plane_bytes = <size_t>out_height * out_width
        self.kept = -1
        if self.obs_type == IMAGE:
            # of a skip of one there is only one frame to see
            self.kept = max(self.frame_skip - 2, -1)
            self.frame_bytes = self.num_planes * self.plane_bytes
            self.previous.resize(self.screen_bytes)
            self.pooled.resize(self.screen_bytes)
            if options["use_inter_area_resize"]:
                self.area = make_unique[AreaShrink](<int>facts.height, <int>facts.width, out_height, out_width)
            else:
                self.linear = make_unique[LinearShrink](<int>facts.height, <int>facts.width, out_height, out_width)
        else:
            self.frame_bytes = self.num_planes * self.screen_bytes if self.obs_type == SCREEN else RAM_BYTES
        self.frames.resize(self.stack_num * self.frame_bytes)

    cdef int seed(self, object seed) except -1:
        self.ale_seed = seed
        # loading takes milliseconds: left to the threads
        self.reseed = True
        return 0

    cdef int reset(self) except -1 nogil:
        cdef uint32_t _k, count = 0
        cdef bint whole
        if self.reseed:
            self._load()
        # after a lost life the game goes on, unless the user wants a new one or its time is over
        whole = (not self.life_lost or self.forced or self.game_step >= self.max_episode_steps
                 or self.game.get().game_over())
        # the draw comes before the game's own reset, as in EnvPool
        if self.noop_max > 0:
            count = draw_below(self.noops, self.noop_max) + 1 - self.has_fire
        if whole:
            self.game.get().reset_game()
            self.game_step = 0
        for _k in range(count):
            self.game.get().act(ale.PLAYER_A_NOOP)
            if self.game.get().game_over():
                self.game.get().reset_game()
                whole = True
        if self.has_fire:
            self.game.get().act(ale.PLAYER_A_FIRE)
        self.elapsed_step = self.game_step
        self.life_lost = False
        self.lives = self.game.get().lives()
        self.game_over = self.game.get().game_over()
        self.score = 0
        self._push(self.game.get().getScreen().getArray())
        if whole:
            self._fill_stack()
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef ale.Action act = self.actions[(<const int64_t*>action)[0]]
        cdef ale.ALEInterface* game = self.game.get()
        cdef const uint8_t* screen = game.getScreen().getArray()
        cdef const uint8_t* previous = screen
        cdef int k = 0, lives
        cdef double score = 0
        for k in range(self.frame_skip):
            score += game.act(act)
            if game.game_over():
                self.terminated = self.game_over = True
                # ALE stands still from now on, but goes on drawing numbers for sticky actions; EnvPool stops
                # here, Gymnasium's AtariEnv, whose observations the other types are, does not
                if self.obs_type == IMAGE:
                    break
            if k == self.kept:
                memcpy(self.previous.data(), screen, self.screen_bytes)
        # after an early end there is only one frame to see
        if self.kept >= 0 and k + 1 == self.frame_skip:
            previous = self.previous.data()
        self._push(previous)
        lives = game.lives()
        self.life_lost = 0 < lives < self.lives
        if self.episodic_life and self.life_lost:
            self.terminated = True
        self.lives = lives
        self.score = <float>score
        self.raw_reward = score
        self.reward = (score > 0) - (score < 0) if self.reward_clip else score
        self.game_step = self.elapsed_step
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef size_t oldest = <size_t>((self.newest + 1) % self.stack_num) * self.frame_bytes
        cdef size_t tail = self.frames.size() - oldest
        memcpy(out.obs[0], self.frames.data() + oldest, tail)
        memcpy(<uint8_t*>out.obs[0] + tail, self.frames.data(), oldest)
        (<int32_t*>out.info[0])[0] = self.lives
        (<float*>out.info[1])[0] = self.score
        (<int32_t*>out.info[2])[0] = self.game_over
        if self.ram or self.frame_numbers:
            self._tell(out)
        return 0

    cdef void _tell(self, const Slot* out) noexcept nogil:
        """Writes the infos that are optional; zeros as long as no reset has succeeded."""
        cdef ale.ALEInterface* game = self.game.get()
        if self.ram:
            if game == NULL:
                memset(out.info[3], 0, RAM_BYTES)
            else:
                memcpy(out.info[3], game.getRAM().array(), RAM_BYTES)
        if self.frame_numbers:
            (<int32_t*>out.info[3 + self.ram])[0] = 0 if game == NULL else game.getFrameNumber()
            (<int32_t*>out.info[4 + self.ram])[0] = 0 if game == NULL else game.getEpisodeFrameNumber()

    cdef object save(self):
        if self.game.get() == NULL:
            raise RuntimeError(f"env {self.env_id} has nothing to save: reset it first")
        # of the emulator 70 kB, the screens; of the frames 28: together they shrink to some 3
        game = <bytes>take_snapshot(self.game.get()[0])
        frames = self.frames.data()[:self.frames.size()]
        return (zlib.compress(game + frames, 1), len(game), <bytes>text_of(self.noops), self.ale_seed,
                self.reseed, self.newest, self.lives, self.game_over, self.life_lost, self.game_step, self.score)

    cdef int load(self, object state) except -1:
        (packed, size, noops, self.ale_seed, reseed, newest, self.lives, self.game_over, self.life_lost,
         self.game_step, self.score) = state
        cdef bytes unpacked
        try:
            unpacked = zlib.decompress(packed)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        if len(unpacked) - size != self.frames.size() or not 0 <= newest < self.stack_num:
            raise ValueError("state: expected one of an environment with the same options")
        if self.game.get() == NULL:
            self._load()
        restore_snapshot(self.game.get()[0], unpacked[:size])
        memcpy(self.frames.data(), <const char*>unpacked + <size_t>size, self.frames.size())
        from_text(self.noops, noops)
        self.newest = newest
        # a seed that waits for a reset still does
        self.reseed = reseed
        return 0

    cdef object render(self):
        cdef uint8_t[3 * 256] table
        if self.game.get() == NULL:
            raise RuntimeError(f"env {self.env_id} has nothing to show: reset it first")
        screen = &self.game.get().getScreen()
        ale.rgb_tables(self.game.get()[0], table)
        colours = np.frombuffer(<bytes>table[:3 * 256], np.uint8).reshape(3, 256)
        indices = np.frombuffer(<bytes>screen.getArray()[:self.screen_bytes], np.uint8)
        return np.ascontiguousarray(colours[:, indices].T).reshape(screen.height(), screen.width(), 3)

    cdef int _load(self) except -1 nogil:
        """Makes the emulator anew with its seed."""
        cdef uint8_t[3 * 256] table
        cdef int i, k
        cdef unique_ptr[ale.ALEInterface] game = make_unique[ale.ALEInterface]()
        game.get().setFloat(b"repeat_action_probability", self.repeat_action_probability)
        game.get().setInt(b"random_seed", self.ale_seed)
        ale.load_rom(game.get()[0], self.rom, self.rom_md5)
        if self.mode >= 0:
            game.get().setMode(self.mode)
        if self.difficulty >= 0:
            game.get().setDifficulty(self.difficulty)
        self.game.swap(game)
        self.noops.seed(self.ale_seed)
        if self.full_action_space:
            self.actions = self.game.get().getLegalActionSet()
        else:
            self.actions = self.game.get().getMinimalActionSet()
        self.has_fire = False
        for k in range(<int>self.actions.size()):
            if self.actions[k] == ale.PLAYER_A_FIRE:
                self.has_fire = self.use_fire_reset
        if self.gray_scale:
            ale.gray_table(self.game.get()[0], table)
        else:
            ale.rgb_tables(self.game.get()[0], table)
        self.palettes.clear()
        for k in range(self.num_planes):
            self.palettes.push_back(PaletteMax(table + 256 * k))
            for i in range(256):
                self.colours[4 * i + k] = table[256 * k + i]
        self.life_lost = False
        self.reseed = False
        return 0

    cdef void _push(self, const uint8_t* previous) noexcept nogil:
        """Puts what is to be seen behind the other frames; of an image the maximum of this and the previous screen."""
        cdef const uint8_t* screen = self.game.get().getScreen().getArray()
        cdef uint8_t* target
        cdef int k
        self.newest = (self.newest + 1) % self.stack_num
        target = self.frames.data() + self.newest * self.frame_bytes
        if self.obs_type != IMAGE:
            self._copy(screen, target)
            return
        for k in range(self.num_planes):
            self.palettes[k].pool(previous, screen, self.screen_bytes, self.pooled.data())
            if self.area.get() != NULL:
                self.area.get().shrink(self.pooled.data(), target + k * self.plane_bytes)
            else:
                self.linear.get().shrink(self.pooled.data(), target + k * self.plane_bytes)

    cdef void _copy(self, const uint8_t* screen, uint8_t* target) noexcept nogil:
        """Writes the memory, or the screen in its colours."""
        cdef size_t i, last = self.screen_bytes - 1
        if self.obs_type == RAM:
            memcpy(target, self.game.get().getRAM().array(), RAM_BYTES)
        elif self.gray_scale:
            self.palettes[0].pool(screen, screen, self.screen_bytes, target)
        else:
            # four bytes at once, of which the next pixel overwrites the last
            for i in range(last):
                memcpy(target + 3 * i, self.colours + 4 * screen[i], 4)
            memcpy(target + 3 * last, self.colours + 4 * screen[last], 3)

    cdef void _fill_stack(self) noexcept nogil:
        """Makes all frames the newest one."""
        cdef const uint8_t* newest = self.frames.data() + self.newest * self.frame_bytes
        cdef int k
        for k in range(self.stack_num):
            if k != self.newest:
                memcpy(self.frames.data() + k * self.frame_bytes, newest, self.frame_bytes)
