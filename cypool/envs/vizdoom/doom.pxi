# Doom: ViZDoom's engine, as a base for the interfaces it is known by.
import functools
import os

import numpy as np

from cypool.envs.vizdoom import assets
from cypool.envs.vizdoom.config import Config
from cypool.envs.vizdoom.names import BUTTONS, FORMATS, VARIABLES
from cypool.envs.vizdoom.specs import is_alone

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

cimport cypool.envs.vizdoom.match as library
from cypool.env cimport STEP_ALONE, Env, Rows, Slot

ctypedef vector[PyObject*] EnvList

cdef enum:
    ATTEMPTS = 3                 # to start an engine, before it is an error


def _end_engines():
    with nogil:
        library.end_engines()


assets.before_leaving.append(_end_engines)


def probe(path, text):
    """Returns the result of a config, as a `Config`.

    Args:
        path: A config file, or "".
        text: Lines in the same format, appended to the file's.

    Raises:
        ValueError: The library does not understand a line.
    """
    cdef library.Settings settings
    cdef library.Facts facts
    settings.config_path = os.fsencode(path)
    settings.config = text.encode()
    facts = library.probe(settings)
    if not facts.remarks.empty():
        raise ValueError(f"config: {(<bytes>facts.remarks.c_str()).decode(errors='replace').strip()}")
    return _config_of(facts)


@functools.lru_cache
def _read_config(path, text, changed):
    config = probe(path, text)
    if not config.buttons:
        raise ValueError(f"config: expected at least one button in available_buttons, got none in {path or text!r}")
    return config


def read_config(path, text):
    """Returns the result of `probe`, which has buttons."""
    # each environment reads it again
    return _read_config(path, text, os.stat(path).st_mtime_ns if path else 0)


cdef object _config_of(library.Facts facts):
    return Config([BUTTONS[k] for k in facts.buttons], [VARIABLES[k] for k in facts.variables], facts.width,
                  facts.height, facts.channels, FORMATS[facts.format], facts.depth, facts.labels, facts.automap,
                  facts.audio, facts.notifications, facts.samples_per_tic, facts.audio_tics,
                  os.fsdecode(facts.iwad), os.fsdecode(facts.wad), facts.map.decode())


cdef class Doom(Env):
    """A match: the common part of both interfaces.

    `reset`, which runs on the pool's threads, starts the engine, and restarts it after a fault.
    """
    cdef library.Match* match            # owned
    cdef readonly size_t num_players
    cdef size_t num_buttons
    cdef uint32_t frame_skip
    cdef size_t action_bytes
    cdef vector[double] values           # of the buttons, a row for each player
    cdef vector[double] player_rewards
    cdef bint restarted                  # the last call found an engine that had failed
    cdef bint reports_pid
    cdef object config                   # Config
    cdef shared_ptr[EnvList] pool        # all games of it, so that one can request the steps of others

    def __init__(self, spec, env_id, config_path, text, arguments, bint pipelined):
        """Makes the match.

        Args:
            config_path, text: The config file, and lines appended to it.
            arguments: The arguments of each player's engine.
            pipelined: Whether all tics of a step may be requested at once if there are no other players.
        """
        cdef library.Settings settings
        options = spec.options
        folder, names = assets.engine_dir()
        self.config = read_config(config_path, text)
        settings.config_path = os.fsencode(config_path)
        settings.config = text.encode()
        settings.engine = os.fsencode(options.get("vzd_path") or assets.package() / "vizdoom")
        settings.iwad = os.fsencode(options["iwad_path"])
        settings.wad = os.fsencode(options["wad_path"])
        for words in arguments:
            settings.arguments.push_back(words.encode())
        settings.num_bots = options["num_bots"]
        settings.alone = is_alone(options)
        settings.pipelined = pipelined and settings.alone
        settings.patience = options["engine_timeout"]
        settings.circumstances.folder = os.fsencode(folder)
        settings.circumstances.names = names
        del self.match
        self.match = new library.Match(settings)
        # it has read the file again, and sizes are not checked later
        now = type(self).describe(**options)
        played = _config_of(self.match.facts())._replace(iwad=self.config.iwad, wad=self.config.wad)
        if (now.observation, now.action, now.info) != (spec.observation, spec.action, spec.info) or (
                played != self.config):
            raise ValueError(f"config: {config_path} has changed since its spec was made")
        self.num_players = self.match.num_players()
        self.num_buttons = len(self.config.buttons)
        self.frame_skip = options["frame_skip"]
        self.action_bytes = spec.action_bytes
        self.reports_pid = options["engine_pid"]
        self.values.resize(self.num_players * self.num_buttons)
        self.player_rewards.resize(self.num_players)

    def __dealloc__(self):
        del self.match

    # starts an episode; if an engine fails, with new ones
    cdef int begin(self, bint seeded, uint32_t seed, const string& recording) except -1 nogil:
        cdef int _k
        self.restarted = False
        for _k in range(ATTEMPTS):
            if self.match.reset(seeded, seed, recording):
                return 0
            self.restarted = True
        with gil:
            raise RuntimeError(f"ViZDoom's engine failed {ATTEMPTS} times: "
                               f"{(<bytes>self.match.failure().c_str()).decode(errors='replace')}")

    # has `values` pressed for `frame_skip` tics; False if an engine failed, which truncates the episode
    cdef bint play(self) noexcept nogil:
        self.restarted = not self.match.step(self.values.data(), self.num_buttons, self.frame_skip)
        self.truncated = self.restarted
        return not self.restarted

    cdef void press(self, const void* action) noexcept nogil:        # turns an action into `values`
        pass

    cdef bint prepare_pool(self, list envs) except -1:
        cdef Doom env
        cdef shared_ptr[EnvList] pool = make_shared[EnvList]()
        if any(type(each) is not type(self) or (<Doom>each).match.num_requests(1) == 0 for each in envs):
            return False
        for env in envs:
            pool.get().push_back(<PyObject*>env)
            env.pool = pool
        return True

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        # their engines work at once, while the thread waits for one after the other
        cdef unsigned turn
        cdef PyObject* env
        cdef uint32_t k
        for turn in range(self.match.num_requests(self.frame_skip)):
            for k in range(rows.count):
                rows.terminated[k] = STEP_ALONE
                env = self.pool.get()[0][rows.ids[k]]
                if (<Doom>env).needs_reset or (<Doom>env).observe_only:
                    continue
                if turn == 0:
                    (<Doom>env).press(rows.actions + rows.ids[k] * self.action_bytes)
                (<Doom>env).match.request((<Doom>env).values.data(), self.num_buttons, self.frame_skip)
        return 0

    cdef object save(self):
        raise NotImplementedError("save: ViZDoom's engine is a separate process whose state cannot be saved")

    cdef int load(self, object state) except -1:
        raise NotImplementedError("load: ViZDoom's engine is a separate process whose state cannot be restored")

    cdef int copy_from(self, Env other) except -1 nogil:
        raise NotImplementedError("copy: ViZDoom's engine is a separate process whose state cannot be saved")

    cdef object render(self):
        if not self.match.running() or self.match.over():
            return np.zeros((self.config.height, self.num_players * self.config.width, 3), np.uint8)
        return np.concatenate([self.picture(k) for k in range(self.num_players)], axis=1)

    def picture(self, size_t player):
        """Returns the screen of a player, uint8 (height, width, 3)."""
        cdef const uint8_t* screen = self.match.player(player).buffer(library.SCREEN)
        size = self.config.height * self.config.width * self.config.channels
        return self.config.picture(np.frombuffer(screen[:size], np.uint8))

    cdef void give_rewards(self) noexcept nogil:         # for the engine, where players are several agents
        if self.agents != NULL:
            memcpy(self.agents.reward, self.player_rewards.data(), self.num_players * sizeof(double))

    cdef void write_infos(self, const Slot* out, size_t first) noexcept nogil:       # the last ones, of both interfaces
        cdef bint running = self.match.running()
        cdef size_t k
        (<uint8_t*>out.info[first])[0] = self.restarted
        if self.num_players > 1:
            memcpy(out.info[first + 1], self.player_rewards.data(), self.num_players * sizeof(double))
            for k in range(self.num_players):
                (<uint8_t*>out.info[first + 2])[k] = running and self.match.player(k).dead()
            first += 2
        if self.reports_pid:
            for k in range(self.num_players):
                (<int32_t*>out.info[first + 1])[k] = self.match.player(k).pid() if running else 0
