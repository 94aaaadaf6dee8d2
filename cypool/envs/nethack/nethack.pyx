# distutils: extra_compile_args = -O2
"""NetHack: the NetHack Learning Environment."""
import numpy as np

from cypool.envs.nethack import options as specs
from cypool.envs.nethack.library import checked, find
from cypool.envs.nethack.options import INFOS, KEYS
from cypool.envs.nethack.tiles import drawn
from cypool.state import WithMemory
from cypool.util.arguments import shown

cimport numpy as cnp
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot
from cypool.envs.shared.rules.rules_env cimport Options, options_of
from cypool.random cimport integers

cnp.import_array()


cdef extern from "cypool/envs/nethack/game.h" namespace "cypool::nethack" nogil:
    void open_library(const string& file, const string& texts) except +
    cbool is_open()
    int64_t wall_clock()

    cdef cppclass Start:
        Start()
        uint64_t core, disp, lgen
        cbool has_lgen
        int64_t clock, frozen
        string record

    cdef cppclass Saved:
        pass

    cdef cppclass Game:
        Game(const Options& options) except +
        double reward
        cbool truncated
        void check() except +
        cbool is_over()
        int end_status()
        cbool is_ascended()
        int how_done()
        int64_t last_turn()
        int64_t last_depth()
        const Start& start()
        const vector[uint8_t]& actions()
        void observe(const int* keys, void** rows, int count) except +
        Start next_start()
        cbool begin(const Start& start) except +
        void step(int action) except +
        shared_ptr[Saved] save() except +
        void load(const Saved& saved) except +
        void copy(const Game& other) except +
        cbool replay(const Start& start, const vector[uint8_t]& actions) except +
        uint64_t* variable(const string& name)

cdef enum:
    # where NetHack does not come to a command: when it begins on something that it asks a name for
    MOST_TRIES = 10
    # the years 2000 to 2029
    FIRST_CLOCK = 946684800
    LAST_CLOCK = 1893456000
cdef enum:
    END_STATUS, IS_ASCENDED, HOW_DONE, TURNS, DEPTH
cdef enum:
    DRAWN, FIXED, REAL


cdef class Memory:
    """A game's memory, for `load` in the same process. Other code can only create empty instances."""
    cdef shared_ptr[Saved] saved
    cdef object options, values

    cdef bint stands_for(self, object options, object values):
        return self.saved.get() != NULL and self.options == options and self.values == tuple(values)


cdef class NetHack(Env):
    """NetHack with a task: a new dungeon in each episode, hundreds of kinds of objects and monsters, and one life.

    Runs nle 1.3.0's library without its Python code: with the same seeds, clock and actions, results are bit-identical.
    Unlike NLE, cypool draws episodes from the environment's random stream.

    Observation: A dict with the keys in `observation_keys`: NLE's observations, with NLE's dtypes.
    Action: The index of a key in `actions`; by default, 86 commands for "nethack", 121 for "challenge" and 23 for other
        tasks.
    Reward: For "nethack", "score" and "challenge", the increase in NetHack's score; for "gold", "eat" and "scout", the
        increase in gold, nutrition or seen cells; otherwise, 1 for success. All tasks except "nethack" include the step
        penalty.
    Terminated: When the game is over, the task is done, or the episode is aborted, which NLE does not report as
        truncated.
    Truncated: In the challenge, also set if an odd `no_progress_timeout` is reached, as in NLE.
    Info: `end_status` int32: aborted (-1), running (0), death or another end of the game (1), task done (2).
        `is_ascended` bool. If requested: `how_done` int32, NetHack's code for how the game ended; `turns` int64;
        `depth` int64.
    """
    describe = staticmethod(specs.nethack)

    cdef Game* game
    cdef int[17] keys
    cdef int[5] infos
    cdef int num_keys, num_infos
    # how the next episode begins: as asked for all episodes, and for this one
    cdef Start asked, once
    cdef bint has_seeds, has_seeds_once, has_clock_once
    cdef int clock, clock_once

    def __init__(self, spec, env_id):
        chosen = spec.options
        library, texts = checked(find(chosen["nle_path"]))
        if not is_open():
            open_library(library, texts)
        names = list(KEYS)
        self.num_keys = len(chosen["observation_keys"])
        for k, key in enumerate(chosen["observation_keys"]):
            self.keys[k] = names.index(key)
        self.num_infos = len(chosen["infos"])
        for k, name in enumerate(chosen["infos"]):
            self.infos[k] = list(INFOS).index(name)
        self.has_seeds = chosen["nle_seeds"] is not None
        if self.has_seeds:
            put_seeds(&self.asked, chosen["nle_seeds"])
        self.clock = put_clock(&self.asked, chosen["clock"])
        self.game = new Game(options_of(specs.settings_of(chosen)))

    def __dealloc__(self):
        del self.game

    cdef int take_reset_options(self, dict options) except -1:
        seeds, clock = specs.seeds_and_clock(options)
        # without any, those of before are taken back
        self.has_seeds_once, self.has_clock_once = seeds is not None, clock is not None
        if seeds is not None:
            put_seeds(&self.once, seeds)
        if clock is not None:
            self.clock_once = put_clock(&self.once, clock)
        return 0

    cdef int reset(self) except -1 nogil:
        cdef Start start = self.game.next_start()
        cdef Start* given = &self.once if self.has_seeds_once else &self.asked
        cdef bint has_seeds = self.has_seeds_once or self.has_seeds
        cdef int clock = self.clock_once if self.has_clock_once else self.clock
        cdef int64_t at = self.once.clock if self.has_clock_once else self.asked.clock
        self.has_seeds_once = self.has_clock_once = False
        for _ in range(MOST_TRIES):
            if has_seeds:
                start.core, start.disp, start.lgen, start.has_lgen = given.core, given.disp, given.lgen, given.has_lgen
            else:
                start.core = <uint64_t>integers(self.rng, 0, INT64_MAX)
                start.disp = <uint64_t>integers(self.rng, 0, INT64_MAX)
            if clock == DRAWN:
                start.clock = integers(self.rng, FIRST_CLOCK, LAST_CLOCK)
            else:
                start.clock = wall_clock() if clock == REAL else at
            if self.game.begin(start):
                return 0
        raise RuntimeError("NetHack: the game never reaches its first command: try other options or seeds")

    cdef int step(self, const void* action) except -1 nogil:
        self.game.check()
        self.game.step(<int>(<const int64_t*>action)[0])
        self.reward = self.game.reward
        self.terminated = self.game.is_over()
        self.truncated = self.game.truncated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef int k
        self.game.observe(self.keys, out.obs, self.num_keys)
        for k in range(self.num_infos):
            if self.infos[k] == END_STATUS:
                (<int32_t*>out.info[k])[0] = self.game.end_status()
            elif self.infos[k] == IS_ASCENDED:
                (<uint8_t*>out.info[k])[0] = self.game.is_ascended()
            elif self.infos[k] == HOW_DONE:
                (<int32_t*>out.info[k])[0] = self.game.how_done()
            elif self.infos[k] == TURNS:
                (<int64_t*>out.info[k])[0] = self.game.last_turn()
            else:
                (<int64_t*>out.info[k])[0] = self.game.last_depth()
        return 0

    cdef object save(self):
        self.game.check()
        cdef Start start = self.game.start()
        cdef Memory memory = Memory()
        values = (start.core, start.disp, start.lgen, bool(start.has_lgen), start.clock, start.frozen, start.record,
                  PyBytes_FromStringAndSize(<const char*>self.game.actions().data(), self.game.actions().size()))
        memory.saved = self.game.save()
        memory.options, memory.values = self.spec.options, values
        saved = WithMemory(values)
        saved.memory = memory
        return saved

    cdef int load(self, object state) except -1:
        cdef Start start
        cdef vector[uint8_t] played
        cdef cbool fits
        known = getattr(state, "memory", None)
        if type(known) is Memory and (<Memory>known).stands_for(self.spec.options, state):
            self.game.load((<Memory>known).saved.get()[0])
            return 0
        start.core, start.disp, start.lgen, start.has_lgen, start.clock, start.frozen, record, actions = (
            specs.check_saved(state, self.spec.options))
        start.record, played = record, actions
        try:
            with nogil:
                fits = self.game.replay(start, played)
        except RuntimeError as error:
            raise ValueError(f"state: expected a game in progress, got one that fails: {error}") from error
        if not fits:
            raise ValueError("state[7]: expected the actions of one episode, got actions after its end")
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        (<NetHack>other).game.check()
        self.game.copy((<NetHack>other).game[0])
        return 0

    cdef object render(self):
        name = "chars" if self.spec.render_mode == "ansi" else "glyphs"
        cdef int key = list(KEYS).index(name)
        cells = np.empty(KEYS[name].shape, KEYS[name].dtype)
        cdef void* row = cnp.PyArray_DATA(cells)
        self.game.observe(&key, &row, 1)
        if name == "chars":
            return "\n".join(line.tobytes().decode("latin-1") for line in cells)
        return drawn(cells, find(self.spec.options["nle_path"]))

    def overwrite(self, name, word):
        """Overwrites a variable of the game, as a bug might.

        For tests.

        Args:
            name: The variable.
            word: Its first eight bytes, or another variable, whose address is written.

        Returns:
            The seeds and clock before.
        """
        cdef uint64_t* at = self.variable(name)
        cdef uint64_t before = at[0]
        at[0] = <uint64_t>self.variable(word) if isinstance(word, str) else <uint64_t>word
        return before

    cdef uint64_t* variable(self, object name) except NULL:
        cdef uint64_t* at = self.game.variable(name.encode())
        if at == NULL:
            raise ValueError(f"name: expected a variable of NetHack's library, got {shown(name)}")
        return at


cdef int put_seeds(Start* start, object seeds) except -1:
    core, disp, lgen = seeds
    start.core, start.disp, start.lgen, start.has_lgen = core, disp, lgen or 0, lgen is not None
    return 0


cdef int put_clock(Start* start, object clock) except -1:
    """Sets the clock if it is given as a number; returns the kind of clock."""
    if clock is None:
        return DRAWN
    if clock == "real":
        return REAL
    start.clock = clock
    return FIXED
