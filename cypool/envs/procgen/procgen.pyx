# distutils: extra_compile_args = -O2
"""Procgen: sixteen games with random levels."""
import os

import numpy as np

from cypool.envs.procgen import specs
from cypool.envs.procgen.games import MAX_LEVEL
from cypool.envs.procgen.library import checked, find
from cypool.util.arguments import check_int, check_reset_options

cimport numpy as cnp
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot
from cypool.envs.shared.rules.rules_env cimport Options, options_of

cnp.import_array()


cdef extern from "cypool/envs/procgen/engine.h" namespace "cypool::procgen" nogil:
    enum:
        RENDERED_SIDE

    void open_library(const char* path, const char* pictures) except +
    uint32_t stream_of(uint32_t seed, int number)

    cdef cppclass Stream "std::mt19937":
        pass
    void read_stream(const Stream& stream, uint32_t* words, uint64_t* position)
    void write_stream(Stream& stream, const uint32_t* words, uint64_t position)

    cdef cppclass Saved:
        Stream levels
        int level, prev_level, last_move
        cbool complete
        vector[uint8_t] actions

    cdef cppclass Game:
        Game(const Options& options, uint32_t stream) except +
        void step(int action) except +
        void reset(int wanted) except +
        void draw(uint8_t* picture, cbool planes) except +
        void render(uint8_t* picture) except +
        Saved save() except +
        cbool load(const Saved& saved) except +
        cbool is_lost()
        float reward()
        int level()
        int prev_level()
        cbool complete()
        cbool terminated, truncated

cdef enum:
    STREAM_WORDS = 624


cdef class Procgen(Env):
    """One of sixteen games with random levels: train on some levels, and test on others.

    Runs procgen 0.10.7's library: the same seed and actions give bit-identical results. Unlike procgen, cypool
    returns an episode's last observation.

    Observation: uint8 (64, 64, 3): an image; (3, 64, 64) with `channel_first`.
    Action: One of 15 combinations of keys: left and down (0), left (1), left and up (2), down (3), none (4), up (5),
        right and down (6), right (7), right and up (8), D (9), A (10), W (11), S (12), Q (13), E (14).
    Reward: The game's reward.
    Terminated: When a level is completed or lost.
    Truncated: At the game's own step limit.
    Info: `level_seed` int32: the level. `prev_level_seed` int32: the level of the previous step, which differs at the
        start of an episode. `prev_level_complete` uint8: whether that step completed the level.
    """
    describe = staticmethod(specs.procgen)

    cdef Game* game
    cdef Options settings
    cdef uint32_t stream
    cdef bint is_seeded, channel_first, batch_seeds
    cdef int wanted                      # the level of the next reset; -1: one of the stream

    def __init__(self, spec, env_id):
        chosen = spec.options
        path, pictures = checked(find(chosen["procgen_path"]))
        open_library(os.fsencode(path), os.fsencode(pictures))
        self.settings = options_of(specs.settings_of(chosen))
        self.channel_first, self.batch_seeds = chosen["channel_first"], chosen["batch_seeds"]
        self.wanted = -1

    def __dealloc__(self):
        del self.game

    cdef int seed(self, object seed) except -1:
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0] >> 1)
        number = self.env_id if self.batch_seeds else 0
        self.stream = stream_of((seed - number) & 0xffffffff, number)
        self.is_seeded = True
        return 0

    cdef int start(self) except -1 nogil:
        # an earlier seed may leave something in a game
        del self.game
        self.game = NULL
        self.game = new Game(self.settings, self.stream)
        self.is_seeded = False
        return 0

    cdef int check(self) except -1 nogil:
        # a reset may have failed
        if self.game == NULL:
            raise RuntimeError(f"env {self.env_id}: expected a successful reset first")
        return 0

    cdef int reset(self) except -1 nogil:
        cdef int wanted = self.wanted
        self.wanted = -1
        if self.game == NULL or self.is_seeded or self.game.is_lost():
            self.start()
            if wanted < 0:
                return 0
        self.game.reset(wanted)
        return 0

    cdef int take_reset_options(self, dict options) except -1:
        check_reset_options(options, ("level_seed",))
        level = options.get("level_seed")
        self.wanted = -1 if level is None else check_int("level_seed", level, 0, MAX_LEVEL)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.check()
        self.game.step(<int>(<const int64_t*>action)[0])
        self.reward = self.game.reward()
        self.terminated = self.game.terminated
        self.truncated = self.game.truncated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        self.check()
        self.game.draw(<uint8_t*>out.obs[0], self.channel_first)
        (<int32_t*>out.info[0])[0] = self.game.level()
        (<int32_t*>out.info[1])[0] = self.game.prev_level()
        (<uint8_t*>out.info[2])[0] = self.game.complete()
        return 0

    cdef object save(self):
        self.check()
        cdef Saved saved = self.game.save()
        cdef uint32_t[STREAM_WORDS] words
        cdef uint64_t position
        read_stream(saved.levels, words, &position)
        return (PyBytes_FromStringAndSize(<char*>words, sizeof(words)), int(position), saved.level, saved.prev_level,
                saved.last_move, bool(saved.complete),
                PyBytes_FromStringAndSize(<char*>saved.actions.data(), saved.actions.size()))

    cdef int load(self, object state) except -1:
        cdef Saved saved
        words, position, saved.level, saved.prev_level, saved.last_move, saved.complete, actions = (
            specs.check_saved(state, self.spec.options))
        write_stream(saved.levels, <const uint32_t*><const char*>words, position)
        saved.actions.resize(len(actions))
        memcpy(saved.actions.data(), <const char*>actions, len(actions))
        with nogil:
            self.take(saved)
        return 0

    cdef int take(self, const Saved& saved) except -1 nogil:
        if self.game == NULL or self.game.is_lost():
            self.start()
        self.is_seeded = False
        if not self.game.load(saved):
            raise ValueError("state[6]: expected the actions of one level, got actions after its end")
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        (<Procgen>other).check()
        return self.take((<Procgen>other).game.save())

    cdef object render(self):
        self.check()
        image = np.empty((RENDERED_SIDE, RENDERED_SIDE, 3), np.uint8)
        self.game.render(<uint8_t*>cnp.PyArray_DATA(image))
        return image
