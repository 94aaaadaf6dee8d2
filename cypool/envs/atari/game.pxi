# Atari 2600: ALE's emulator, with EnvPool's preprocessing, options and defaults.
import functools
import zlib

import numpy as np

from cypool.util.arguments import check_choice, shown
from cypool.envs.atari import roms, specs
from cypool.envs.atari.presets import PRESETS
from cypool.options import describes
from cypool.state import check_state, check_stream, unpack

cimport cython
from libc.limits cimport INT_MAX
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from libcpp.memory cimport make_unique, unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot
from cypool.envs.atari cimport libale as ale
from cypool.envs.shared.pixels.frame_stack cimport FrameStack
from cypool.envs.shared.numerics.numpy_math cimport cosf, sinf
from cypool.random cimport integers

cdef extern from "<random>" namespace "std" nogil:
    cdef cppclass mt19937:
        void seed(uint32_t seed) noexcept

cdef extern from "cypool/envs/atari/draw.h" namespace "cypool" nogil:
    uint32_t draw_below(mt19937& random, uint32_t bound) noexcept
    string text_of(const mt19937& random) except +
    void from_text(mt19937& random, const string& text) except +

cdef extern from "cypool/envs/atari/start.h" namespace "cypool":
    cdef cppclass Start:
        Start() except +
    void start_game(ale.ALEInterface& game, const string& path, const string& md5, int seed, int mode, int difficulty,
                    Start& start) except + nogil

cdef extern from "cypool/envs/atari/snapshot.h" namespace "cypool":
    bint frame_goes_on(ale.ALEInterface& game) noexcept nogil
    string take_snapshot(ale.ALEInterface& game) except +
    void restore_checked(ale.ALEInterface& game, const string& snapshot, const string& own) except +
    void copy_emulator(ale.ALEInterface& to, ale.ALEInterface& source) except + nogil

cdef extern from "cypool/envs/atari/ale_helpers.h":
    const bint fast_emulator "cypool_fast_emulator"
    int best_simd "cypool_best_simd"()
    void tell_simd "cypool_use_simd"(int simd)

cdef enum:
    RAM_BYTES = 128
    MAX_SNAPSHOT = 1 << 20       # bytes; it is about 150,000

# the kind of an observation
cdef enum ObsType:
    IMAGE
    SCREEN
    RAM

# positions of the joystick: down, not, up; and in each of these left, not, right
cdef ale.Action[3][3] MOVES
MOVES[0][:] = [ale.PLAYER_A_DOWNLEFT, ale.PLAYER_A_DOWN, ale.PLAYER_A_DOWNRIGHT]
MOVES[1][:] = [ale.PLAYER_A_LEFT, ale.PLAYER_A_NOOP, ale.PLAYER_A_RIGHT]
MOVES[2][:] = [ale.PLAYER_A_UPLEFT, ale.PLAYER_A_UP, ale.PLAYER_A_UPRIGHT]

# both are filled by name: the options that a game reads while it is played, see specs.py,
cdef struct Settings:
    uint32_t noop_max
    bint episodic_life, reward_clip, continuous
    float continuous_action_threshold, repeat_action_probability
    int mode, difficulty
    bint lives, raw_reward, game_over, ram, frame_numbers, zero_discount_on_life_loss

# and behaviour of the preset's package that has no option, see presets.py
cdef struct PackageQuirks:
    bint hashes_seeds, fires_first, begins_black, ends_at_once, follows_lives, emulator_limits, repeats_image
    bint limit_hides_end
    int rows

# the result of a step in the emulator
cdef struct Played:
    int frames
    double score
    bint ended                           # before the last frame of the step, or with it
    bint lost                            # a life; only reported where that ends the episode
    const uint8_t* previous              # the last screen but one of the step; NULL: there is none

# which parts of the emulator run: "fast", or "reference" where all are ALE's own (docs/explanation/emulator.md)
EMULATOR = "fast" if fast_emulator else "reference"


# the vector instructions that emulators can draw with on this CPU, the most last
SIMD = ["none", "avx2", "avx512"][:best_simd() + 1]


def use_simd(name):
    """Makes emulators draw with these instructions, one of `SIMD`. The pixels stay the same. For tests.

    Call it only while no environment is running.
    """
    tell_simd(SIMD.index(check_choice("name", name, SIMD)))


# a global of ALE's: set once, before there are threads
ale.set_log_level(ale.LogError)


@functools.lru_cache(maxsize=None)
def game_facts(task):
    """Returns the `Facts` of a game.

    Raises:
        ValueError: `task` is not a game, or its ROM is missing or not the one that ALE knows.
    """
    path = roms.rom_path(task)
    cdef string rom = str(path).encode()
    if <bytes>ale.rom_name(rom) != task.encode():
        raise ValueError(f"task: {path} is not the ROM that ALE expects for {task!r}: reinstall ale-py")
    cdef string md5 = ale.rom_md5(rom)
    cdef unique_ptr[ale.ALEInterface] game = make_unique[ale.ALEInterface]()
    ale.load_rom(game.get()[0], rom, md5)
    screen = &game.get().getScreen()
    cdef uint8_t[256] gray
    cdef uint8_t[3 * 256] rgb
    ale.color_tables(game.get()[0], gray, rgb)
    cdef ale.Action action
    minimal = [<int>action for action in game.get().getMinimalActionSet()]
    legal = [<int>action for action in game.get().getLegalActionSet()]
    return specs.Facts(rom, md5, minimal, legal, screen.height(), screen.width(),
                       sorted(game.get().getAvailableModes()), sorted(game.get().getAvailableDifficulties()),
                       <bytes>gray[:256], <bytes>rgb[:3 * 256])


@describes(**specs.OPTIONS)
def describe_game(options):
    return specs.atari(options, game_facts(options["task"]))


cdef class SharedStart:
    """How a game begins, shared by all envs that play it."""
    cdef Start start
    cdef string example                  # a state of it, with which others are compared; in critical sections only


@functools.lru_cache(maxsize=None)
def start_of(task, mode, difficulty):
    """Returns the `SharedStart` for these options of an env: the same object each time."""
    return SharedStart()


def state_of(text):
    """Converts the text of a random stream to the state of a NumPy bit generator that draws the same numbers."""
    try:
        *key, place = map(int, text.split())
    except ValueError as error:
        raise ValueError(f"noops: expected the state of an MT19937, got {shown(text)}") from error
    return {"bit_generator": "MT19937", "state": {"key": key, "pos": place}}


cdef class Atari(Env):
    """An Atari game; each step repeats the action for `frame_skip` frames.

    Follows EnvPool's Atari: the same options and defaults, seeds, resets and rewards. However, games with 250 rows show
    the full screen, while EnvPool shows only 210 rows. The emulator is ALE's, without color averaging and with
    bit-identical replacements for the processor and video chip.

    Observation: uint8 (stack_num, img_height, img_width), the latest frames, newest last; without `gray_scale`, three
        planes (red, green, blue) for each frame, or, with `channels_last`, (stack_num, img_height, img_width, 3). Each
        image is the maximum of a step's last two frames, resized. After a reset, the stack repeats the first frame.
        With `obs_type` "screen", the full screen at the end of a step: uint8 (height, width), or (height, width, 3)
        without `gray_scale`. With "ram", the console's memory: uint8 (128,). With stack_num > 1, screens and memory are
        also stacked, along an extra first dimension.
    Action: One of the game's actions; with `continuous`, float32 (radius, angle, fire), where an angle of 0 points
        right and pi / 2 points up. Paddles turn faster with a larger radius.
    Reward: The score gained in the step; with `reward_clip`, its sign.
    Terminated: When the game is over; with `episodic_life`, also when a life is lost.
    Info: `lives` int32; with `raw_reward`, `reward` float32, never clipped; with `game_over`, `terminated` int32, 1 if
        the game is over; with `ram`, `ram` uint8 (128,); with `frame_numbers`, `frame_number` (since the emulator was
        seeded) and `episode_frame_number` (since the game began), int32; with `zero_discount_on_life_loss`, `discount`
        float32.

    If a game ends before the last frame of a step, the observation shows the game's final frame.

    A `preset` imitates another package in all these respects, including its bugs in observing a game's last step:

    * "envpool": EnvPool 1.2.5, which shows 210 rows. If a game ends before the second-to-last frame of a step, the
      observation repeats the previous step's image. An episode that ends in the last step of the time limit is reported
      only as truncated.
    * "ale": `ale_py`'s AtariVectorEnv 0.12. Resets press fire before the no-ops, and the stack begins with black
      frames. An episode ends at the exact frame in which a life is lost or the limit is reached, and always begins with
      a new game. If it ends at the last frame of a step, the maximum uses the previous step's image instead of that
      frame; if it ends earlier, the previous step's image is repeated.
    * "gymnasium": Gymnasium's `AtariPreprocessing` and `FrameStackObservation`, or, unless `obs_type` is "image", its
      `AtariEnv`. Seeds and no-ops come from NumPy generators, as in Gymnasium; episodes end as with "ale", but the
      limit counts all frames since the game began.
    """
    describe = staticmethod(describe_game)

    cdef size_t screen_bytes             # palette indices as ALE draws them
    cdef ObsType obs_type
    cdef Settings settings
    cdef PackageQuirks quirks
    cdef int64_t last_frame              # of an episode that ends within a step, by the number of its frames
    cdef int least_skip, most_skip       # frames of a step
    cdef int emulator_limit              # of an episode's frames, for the emulator to count
    cdef SharedStart start
    cdef bint fresh                      # the game has been loaded, and its first reset done
    cdef string rom, rom_md5
    cdef unique_ptr[ale.ALEInterface] game
    cdef vector[ale.Action] actions
    cdef bint has_fire                   # and resets press it
    cdef Picture picture
    cdef FrameStack frames
    cdef vector[uint8_t] previous        # the screen before the last one, where the emulator does not keep it
    cdef vector[uint8_t] pooled          # the maximum that was shown last, not reduced; kept by some presets only
    cdef mt19937 noops                   # draws the number of no-ops of a reset
    cdef int ale_seed
    cdef int64_t seeded_noops            # the number that the seed draws first
    cdef bint reseed                     # the next reset loads the ROM, which is how ALE takes a seed
    cdef int lives
    cdef bint game_over
    cdef bint life_lost                  # the next episode continues the game
    cdef int64_t num_frames              # since the last reset
    cdef int game_step                   # steps since the game began, over several lives
    cdef float score                     # of the last step, unclipped
    cdef float discount

    def __init__(self, spec, env_id):
        options = spec.options
        facts = game_facts(options["task"])
        skip = options["frame_skip"]
        self.rom = facts.rom
        self.rom_md5 = facts.md5
        self.settings = options
        self.quirks = PRESETS[options["preset"]].quirks._asdict()
        self.least_skip, self.most_skip = (skip, skip) if isinstance(skip, int) else (skip[0], skip[1] - 1)
        limit = options["max_num_frames_per_episode"]
        self.emulator_limit = limit if limit and self.quirks.emulator_limits else INT_MAX
        self.last_frame = limit if limit and not self.quirks.emulator_limits else INT64_MAX
        actions = specs.action_set(options, facts)
        for action in actions:
            self.actions.push_back(<ale.Action><int>action)
        fire = <int>ale.PLAYER_A_FIRE
        self.has_fire = options["use_fire_reset"] and fire in actions and fire in facts.legal
        self.start = start_of(options["task"], options["mode"], options["difficulty"])
        self.obs_type = {"image": IMAGE, "screen": SCREEN, "ram": RAM}[options["obs_type"]]
        rows = specs.shown_rows(options["preset"], facts)
        self.screen_bytes = rows * facts.width
        out_size = (options["img_height"], options["img_width"]) if self.obs_type == IMAGE else None
        self.picture = picture_of(rows, facts.width, facts.gray if options["gray_scale"] else None, facts.rgb,
                                  out_size, options["use_inter_area_resize"], options["channels_last"])
        self.frames = FrameStack(options["stack_num"],
                                 RAM_BYTES if self.obs_type == RAM else self.picture.frame_bytes)
        if self.obs_type == IMAGE:
            # of a skip of one there is only one frame to see
            if self.most_skip > 1:
                self.previous.resize(self.screen_bytes)
            if self.quirks.ends_at_once:
                self.pooled.resize(self.picture.num_planes * self.screen_bytes)

    cdef int seed(self, object seed) except -1:
        if self.quirks.hashes_seeds:
            stream, ale_seed = np.random.SeedSequence(seed).generate_state(2)
            Env.seed(self, int(stream))
            self.ale_seed = ale_seed.astype(np.int32)
            if self.settings.noop_max > 0:
                draws = np.random.Generator(np.random.PCG64(int(stream)))
                self.seeded_noops = draws.integers(1, self.settings.noop_max + 1)
        else:
            self.ale_seed = seed
            if self.most_skip > self.least_skip:
                Env.seed(self, seed)
        # loading takes milliseconds: left to the threads
        self.reseed = True
        return 0

    cdef int reset(self) except -1 nogil:
        cdef int64_t _k, count
        cdef bint whole, ended = False, seeded = self.reseed
        if seeded:
            self._load()
        # after a lost life the game continues, unless the user wants a new one or its time is over
        whole = (not self.life_lost or self.reset_requested or self.game_step >= self.max_episode_steps
                 or self.game.get().game_over())
        # the draw comes before the game's own reset, as in EnvPool
        count = self._draw_noops(seeded)
        if whole:
            self._new_game()
            self.game_step = 0
        if self.has_fire and self.quirks.fires_first:
            self.game.get().act(ale.PLAYER_A_FIRE)
        for _k in range(count):
            self.game.get().act(ale.PLAYER_A_NOOP)
            if self.game.get().game_over():
                if seeded and self.quirks.hashes_seeds:
                    self._load()
                self._new_game()
                ended = True
        if self.has_fire and not self.quirks.fires_first:
            self.game.get().act(ale.PLAYER_A_FIRE)
        if seeded and self.quirks.hashes_seeds and self.settings.noop_max > 0 and not ended:
            # each reset that it repeats restarts the stream: only now is it known that the number was drawn
            integers(self.rng, 1, <int64_t>self.settings.noop_max + 1)
        self.elapsed_step = self.game_step
        self.num_frames = 0
        self.life_lost = False
        self.lives = self.game.get().lives()
        self.game_over = self.game.get().game_over(False)
        self.score = 0
        self.discount = 1
        if self.quirks.begins_black:
            self.frames.clear()
        self._push(ale.current_screen(self.game.get()[0]))
        if (whole or ended) and not self.quirks.begins_black:
            self.frames.fill(0)
        return 0

    cdef int64_t _draw_noops(self, bint seeded) noexcept nogil:
        """Returns the number of no-op frames in a reset."""
        if self.settings.noop_max == 0:
            return 0
        if self.quirks.hashes_seeds:
            return self.seeded_noops if seeded else integers(self.rng, 1, <int64_t>self.settings.noop_max + 1)
        cdef int64_t drawn = draw_below(self.noops, self.settings.noop_max)
        if self.quirks.fires_first:
            return max(drawn - self.has_fire, 0)
        return drawn + 1 - self.has_fire

    cdef int step(self, const void* action) except -1 nogil:
        cdef int skip = self.least_skip, before = self.lives
        cdef Played played
        if self.most_skip > skip:
            skip = <int>integers(self.rng, skip, self.most_skip + 1)
        self._play(action, skip, &played)
        self._show(played.frames, skip, played.ended, played.previous)
        self._note_end(played.lost, before)
        self.score = <float>played.score
        self.raw_reward = played.score
        self.reward = (played.score > 0) - (played.score < 0) if self.settings.reward_clip else played.score
        self.game_step = self.elapsed_step
        return 0

    @cython.final
    cdef inline int _play(self, const void* action, int skip, Played* played) except -1 nogil:
        """Makes the emulator draw the frames of a step until the episode ends."""
        cdef float strength = 1
        cdef ale.Action act
        cdef ale.ALEInterface* game = self.game.get()
        cdef int k = 0
        cdef double score = 0
        cdef bint ended = False, lost = False
        cdef const uint8_t* previous = NULL
        if self.settings.continuous:
            act = self._joystick(<const float*>action)
            strength = (<const float*>action)[0]
        else:
            act = self.actions[(<const int64_t*>action)[0]]
        for k in range(skip):
            score += game.act(act, strength)
            self.num_frames += 1
            if self.quirks.ends_at_once and self.settings.episodic_life:
                lost = self._life_lost(lost)
            if game.game_over() or lost or self.num_frames >= self.last_frame:
                ended = True
                # ALE stands still once a game is over, but keeps drawing numbers for sticky actions; Gymnasium's
                # AtariEnv, whose observations the other types are, continues with that
                if self.obs_type == IMAGE:
                    break
            if k == skip - 2 and self.obs_type == IMAGE:
                previous = ale.current_screen(game[0])
                if frame_goes_on(game[0]):
                    memcpy(self.previous.data(), previous, self.screen_bytes)
                    previous = self.previous.data()
        played.frames, played.score, played.ended, played.lost = k + 1, score, ended, lost
        played.previous = previous
        return 0

    @cython.final
    cdef inline bint _life_lost(self, bint lost) except -1 nogil:
        """Returns whether this frame ends an episode that ends when a life is lost."""
        cdef int lives = self.game.get().lives()
        if not self.quirks.follows_lives:
            return 0 < lives < self.lives
        lost = lost or lives < self.lives
        self.lives = lives
        return lost

    @cython.final
    cdef inline int _note_end(self, bint lost, int before) except -1 nogil:
        """Sets the lives, and how the step ended the episode."""
        cdef ale.ALEInterface* game = self.game.get()
        self.lives = game.lives()
        self.game_over = game.game_over(False)
        if not self.quirks.ends_at_once:
            lost = self.life_lost = 0 < self.lives < before
        self.terminated = self.game_over or (self.settings.episodic_life and lost)
        self.discount = not (self.terminated or self.lives < before)
        if self.quirks.emulator_limits:
            self.truncated = game.game_truncated()
        else:
            self.truncated = self.num_frames >= self.last_frame and not self.terminated
        if self.quirks.limit_hides_end:
            self.discount = self.lives == before and not self.terminated
            if self.elapsed_step >= self.max_episode_steps:
                self.terminated = False
                self.discount = 0
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef ale.ALEInterface* game = self.game.get()
        cdef int k = 0                   # the next info
        self.frames.write(0, out.obs[0])
        if self.settings.lives:
            (<int32_t*>out.info[k])[0] = self.lives
            k += 1
        if self.settings.raw_reward:
            (<float*>out.info[k])[0] = self.score
            k += 1
        if self.settings.game_over:
            (<int32_t*>out.info[k])[0] = self.game_over
            k += 1
        # zeros as long as no reset has succeeded
        if self.settings.ram:
            if game == NULL:
                memset(out.info[k], 0, RAM_BYTES)
            else:
                memcpy(out.info[k], game.getRAM().array(), RAM_BYTES)
            k += 1
        if self.settings.frame_numbers:
            (<int32_t*>out.info[k])[0] = 0 if game == NULL else game.getFrameNumber()
            (<int32_t*>out.info[k + 1])[0] = 0 if game == NULL else game.getEpisodeFrameNumber()
            k += 2
        if self.settings.zero_discount_on_life_loss:
            (<float*>out.info[k])[0] = self.discount
        return 0

    cdef object save(self):
        if self.game.get() == NULL:
            raise RuntimeError(f"env {self.env_id} has nothing to save: reset it first")
        # of the emulator 70 kB, the screens; of the frames 28: together they shrink to about 3
        game = <bytes>take_snapshot(self.game.get()[0])
        pooled = <bytes>self.pooled.data()[:self.pooled.size()]
        return (zlib.compress(game + self.frames.save() + pooled, 1), len(game), <bytes>text_of(self.noops),
                self.ale_seed, self.seeded_noops, self.reseed, self.frames.newest, self.lives, self.game_over,
                self.life_lost, self.game_step, self.num_frames, self.score, self.discount)

    cdef int load(self, object state) except -1:
        cdef bytes unpacked, pooled
        cdef Py_ssize_t size, end
        cdef mt19937 noops
        cdef bint is_new = self.game.get() == NULL
        int32 = -2**31, 2**31 - 1
        (packed, size, text, ale_seed, seeded_noops, reseed, newest, lives, game_over, life_lost, game_step, num_frames,
         score, discount) = check_state(
            state, bytes, (0, MAX_SNAPSHOT), bytes, int32, (0, self.settings.noop_max), bool,
            (0, self.frames.num_frames - 1), int32, bool, bool, (0, 2**31 - 1), (0, 2**62), float, float)
        check_stream("noops", state_of(text), np.random.MT19937)
        from_text(noops, text)
        end = size + <Py_ssize_t>self.frames.frames.size()
        unpacked = unpack(packed, end + self.pooled.size())
        if len(unpacked) != end + <Py_ssize_t>self.pooled.size():
            raise ValueError("state: expected a state from an environment with the same options")
        try:
            if is_new:
                self._load()
            with cython.critical_section(self.start):
                if self.start.example.empty():
                    self.start.example = take_snapshot(self.game.get()[0])
            # the last that may fail
            restore_checked(self.game.get()[0], unpacked[:size], self.start.example)
        except BaseException:
            if is_new:
                self.game.reset()
                self.reseed = True
            raise
        self.frames.load(unpacked[size:end], newest)
        pooled = unpacked[end:]
        memcpy(self.pooled.data(), <const char*>pooled, self.pooled.size())
        self.fresh = False
        self.noops = noops
        self.ale_seed, self.seeded_noops = ale_seed, seeded_noops
        # a seed that waits for a reset still does
        self.reseed = reseed
        self.lives, self.game_over, self.life_lost = lives, game_over, life_lost
        self.game_step, self.num_frames, self.score, self.discount = game_step, num_frames, score, discount
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        if (<Atari>other).game.get() == NULL:
            raise RuntimeError("copy: the source environment has no state to copy: reset it first")
        if self.game.get() == NULL:
            self._load()
        copy_emulator(self.game.get()[0], (<Atari>other).game.get()[0])
        self.frames.copy_from((<Atari>other).frames)
        memcpy(self.pooled.data(), (<Atari>other).pooled.data(), self.pooled.size())
        self.fresh = False
        self.noops = (<Atari>other).noops
        self.ale_seed, self.seeded_noops = (<Atari>other).ale_seed, (<Atari>other).seeded_noops
        self.reseed = (<Atari>other).reseed
        self.lives, self.game_over = (<Atari>other).lives, (<Atari>other).game_over
        self.life_lost, self.game_step = (<Atari>other).life_lost, (<Atari>other).game_step
        self.num_frames, self.score = (<Atari>other).num_frames, (<Atari>other).score
        self.discount = (<Atari>other).discount
        return 0

    cdef object render(self):
        if self.game.get() == NULL:
            raise RuntimeError(f"env {self.env_id} has nothing to show: reset it first")
        screen = &self.game.get().getScreen()
        colours = np.frombuffer(game_facts(self.spec.options["task"]).rgb, np.uint8).reshape(3, 256)
        pixels = ale.current_screen(self.game.get()[0])
        indices = np.frombuffer(<bytes>pixels[:screen.height() * screen.width()], np.uint8)
        return np.ascontiguousarray(colours[:, indices].T).reshape(screen.height(), screen.width(), 3)

    cdef int _load(self) except -1 nogil:
        """Makes a new emulator with its seed, and resets it for the first time."""
        cdef unique_ptr[ale.ALEInterface] game = make_unique[ale.ALEInterface]()
        game.get().setFloat(b"repeat_action_probability", self.settings.repeat_action_probability)
        if self.quirks.emulator_limits:
            game.get().setInt(b"max_num_frames_per_episode", self.emulator_limit)
        start_game(game.get()[0], self.rom, self.rom_md5, self.ale_seed, self.settings.mode, self.settings.difficulty,
                   self.start.start)
        self.game.swap(game)
        self.fresh = True
        self.noops.seed(self.ale_seed)
        self.life_lost = False
        self.reseed = False
        return 0

    cdef int _new_game(self) except -1 nogil:
        """Resets the game unless that has already been done."""
        if not self.fresh:
            self.game.get().reset_game()
        self.fresh = False
        return 0

    cdef ale.Action _joystick(self, const float* action) noexcept nogil:
        """Converts radius, angle and fire to an action as ale_py's AtariEnv does."""
        cdef float threshold = self.settings.continuous_action_threshold
        # in single precision and with NumPy's sine: so does ale_py
        cdef float x = action[0] * cosf(action[1]), y = action[0] * sinf(action[1])
        cdef int across = 1 - (x < -threshold) + (x > threshold)
        cdef int along = 1 - (y < -threshold) + (y > threshold)
        cdef ale.Action move = MOVES[along][across]
        if not action[2] > threshold:
            return move
        if move == ale.PLAYER_A_NOOP:
            return ale.PLAYER_A_FIRE
        return <ale.Action>(<int>move + <int>ale.PLAYER_A_UPFIRE - <int>ale.PLAYER_A_UP)

    cdef void _show(self, int played, int skip, bint ended, const uint8_t* previous) noexcept nogil:
        """Appends the picture after `played` of `skip` frames of a step to the stacked frames.

        previous: The screen before the last one, if all were played.
        """
        cdef bint whole = played == skip and skip > 1
        cdef bint missed = (ended and not whole if self.quirks.ends_at_once
                            else self.quirks.repeats_image and played < skip - 1)
        if self.obs_type == IMAGE and missed:
            self.frames.repeat()
        elif not self.pooled.empty() and ended:
            self.picture.merge(previous, self.frames.push(), self.pooled.data())
        else:
            self._push(previous if whole else ale.current_screen(self.game.get()[0]))

    cdef void _push(self, const uint8_t* previous) noexcept nogil:
        """Appends this frame to the others; for an image, the maximum of the previous screen and this one."""
        cdef ale.ALEInterface* game = self.game.get()
        cdef const uint8_t* screen = ale.current_screen(game[0])
        cdef uint8_t* frame = self.frames.push()
        if self.obs_type == IMAGE:
            self.picture.shrink(previous, screen, frame, self.pooled.data() if not self.pooled.empty() else NULL)
        elif self.obs_type == SCREEN:
            self.picture.copy(screen, frame)
        else:
            memcpy(frame, game.getRAM().array(), RAM_BYTES)
