# Doom as ViZDoom's own Gymnasium wrapper has it.
from itertools import chain

import numpy as np

from cypool.envs.vizdoom import specs
from cypool.envs.vizdoom.config import wrapper_lines
from cypool.envs.vizdoom.names import PARTS
from cypool.options import describes

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Slot
from cypool.random cimport integers


@describes(**specs.WRAPPER_OPTIONS)
def describe_gymnasium(options):
    return specs.gymnasium_doom(options, read_config)


cdef class GymnasiumDoom(Doom):
    """Doom with the observations, actions and rewards of `VizdoomEnv`, the Gymnasium wrapper of ViZDoom 1.3.2.

    Observations are dicts: the screen, and depth, labels, automap, audio, notifications and game variables if the
    config enables them. Each reset draws the seed of the episode. With several players, observations and actions have a
    leading dimension for the players; the reward is the sum of the players' rewards, which `info["player_reward"]`
    lists.
    """
    describe = staticmethod(describe_gymnasium)

    cdef vector[library.Source] sources
    cdef vector[size_t] sizes            # of a player's part, in bytes
    cdef size_t num_delta
    cdef size_t num_binary
    cdef vector[uint8_t] button_map      # buttons of each choice; empty: buttons are free
    cdef bint timeout_truncates

    def __init__(self, spec, env_id):
        options = spec.options
        path = options["scenario_config_file"]
        super().__init__(spec, env_id, path, wrapper_lines(path, options, read_config),
                         specs.player_arguments(options), False)
        for name, part in spec.observations:
            self.sources.push_back(<library.Source><int>PARTS.index(name))
            self.sizes.push_back(part.dtype.itemsize * int(np.prod(part.shape)) // self.num_players)
        self.num_delta = self.config.num_deltas
        self.num_binary = self.num_buttons - self.num_delta
        self.button_map = list(chain.from_iterable(specs.choices_of(self.num_binary, options["max_buttons_pressed"])))
        self.timeout_truncates = options["treat_episode_timeout_as_truncation"]

    cdef int reset(self) except -1 nogil:
        self.begin(True, <uint32_t>integers(self.rng, 0, 1LL << 32), string())
        self.player_rewards.assign(self.num_players, 0)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef double reward = 0
        cdef size_t k
        self.press(action)
        self.player_rewards.assign(self.num_players, 0)
        if not self.play():
            return 0
        for k in range(self.num_players):
            self.player_rewards[k] = self.match.player(k).last_reward()
            reward += self.player_rewards[k]
        self.give_rewards()
        self.reward = reward
        self.terminated = self.match.over()
        self.truncated = self.timeout_truncates and self.match.player(0).timed_out()
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
        cdef bint seen = self.match.running() and not self.match.over()
        cdef uint8_t* target
        for part in range(self.sources.size()):
            for k in range(self.num_players):
                target = <uint8_t*>out.obs[part] + k * self.sizes[part]
                if seen:
                    self.match.player(k).write(self.sources[part], target, self.sizes[part])
                else:
                    memset(target, 0, self.sizes[part])
        self.write_infos(out, 0)
        return 0
