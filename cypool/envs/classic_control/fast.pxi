# Classic control in single precision, many environments at a time: the option `precision="fast"`.
import numpy as np

from cypool.envs.classic_control import specs
from cypool.envs.common.pictures import draw
from cypool.state import check_state

from libc.stdint cimport uint8_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr

from cypool.env cimport Env, Rows, Slot
from cypool.random cimport Rng

cdef extern from "cypool/envs/classic_control/fast.h" namespace "cypool" nogil:
    cdef cppclass Batch:              # the states of many environments of one game, side by side
        void reset(uint32_t index, const Rng* rng) noexcept
        void step(uint32_t index, const void* action, double* reward, uint8_t* terminated) noexcept
        void observe(uint32_t index, void* obs) noexcept
        void step_rows(const Rows& rows) noexcept
        void get(uint32_t index, float* state) noexcept
        void set(uint32_t index, const float* state) noexcept

    shared_ptr[Batch] make_batch[Game](const Game& game, uint32_t size) except +

    cdef cppclass CartPoleGame "cypool::FastCartPole":
        cbool sutton_barto
    cdef cppclass MountainCarGame "cypool::FastMountainCar":
        float goal_velocity
    cdef cppclass MountainCarContinuousGame "cypool::FastMountainCarContinuous":
        float goal_velocity
    cdef cppclass PendulumGame "cypool::FastPendulum":
        float g
        cbool limit_first
    cdef cppclass AcrobotGame "cypool::FastAcrobot":
        pass


cdef class Fast(Env):
    """A game whose state is stored next to those of the other environments of its pool.

    The rules are the game's, but in single precision and with a sine and a cosine of our own: an episode differs from
    the reference's after some steps, the statistics of many do not. A subclass says which game it is.
    """
    cdef shared_ptr[Batch] batch
    cdef uint32_t index              # in the batch

    cdef shared_ptr[Batch] new_batch(self, uint32_t size) except *:
        raise NotImplementedError("new_batch")

    def __init__(self, spec, env_id):
        # a separate batch, unless all environments are alike
        self.batch = self.new_batch(1)

    cdef bint prepare_pool(self, list envs) except -1:
        cdef Fast env
        cdef uint32_t k
        if any(type(each) is not type(self) or each.spec.options != self.spec.options for each in envs):
            return False
        cdef shared_ptr[Batch] batch = self.new_batch(len(envs))
        for k in range(<uint32_t>len(envs)):
            env = envs[k]
            env.batch, env.index = batch, k
        return True

    cdef int reset(self) except -1 nogil:
        self.batch.get().reset(self.index, self.rng)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef uint8_t terminated
        self.batch.get().step(self.index, action, &self.reward, &terminated)
        self.terminated = terminated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        self.batch.get().observe(self.index, out.obs[0])
        return 0

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        self.batch.get().step_rows(rows[0])
        return 0

    cdef object save(self):
        cdef float[4] state = [0, 0, 0, 0]
        self.batch.get().get(self.index, state)
        return tuple(state)

    cdef int load(self, object state) except -1:
        cdef float[4] taken = check_state(state, *[(-1e6, 1e6)] * 4)
        self.batch.get().set(self.index, taken)
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        cdef float[4] state
        (<Fast>other).batch.get().get((<Fast>other).index, state)
        self.batch.get().set(self.index, state)
        return 0


cdef class FastCartPole(Fast):
    """`CartPole` in single precision."""
    cdef object render(self):
        return draw("gymnasium.envs.classic_control.cartpole:CartPoleEnv", {}, {"state": self.save()})

    cdef shared_ptr[Batch] new_batch(self, uint32_t size) except *:
        cdef CartPoleGame game
        game.sutton_barto = self.spec.options["sutton_barto_reward"]
        return make_batch[CartPoleGame](game, size)


cdef class FastMountainCar(Fast):
    """`MountainCar` in single precision."""
    cdef object render(self):
        return draw("gymnasium.envs.classic_control.mountain_car:MountainCarEnv", {}, {"state": self.save()[:2]})

    cdef shared_ptr[Batch] new_batch(self, uint32_t size) except *:
        cdef MountainCarGame game
        game.goal_velocity = self.spec.options["goal_velocity"]
        return make_batch[MountainCarGame](game, size)


cdef class FastMountainCarContinuous(Fast):
    """`MountainCarContinuous` in single precision."""
    cdef object render(self):
        return draw("gymnasium.envs.classic_control.continuous_mountain_car:Continuous_MountainCarEnv", {},
                    {"state": np.array(self.save()[:2], np.float32)})

    cdef shared_ptr[Batch] new_batch(self, uint32_t size) except *:
        cdef MountainCarContinuousGame game
        game.goal_velocity = self.spec.options["goal_velocity"]
        return make_batch[MountainCarContinuousGame](game, size)


cdef class FastPendulum(Fast):
    """`Pendulum` in single precision; pictures do not show the torque."""
    cdef object render(self):
        return draw("gymnasium.envs.classic_control.pendulum:PendulumEnv", {},
                    {"state": self.save()[:2], "last_u": None})

    cdef shared_ptr[Batch] new_batch(self, uint32_t size) except *:
        cdef PendulumGame game
        game.g = self.spec.options["g"]
        game.limit_first = self.spec.options["version"] == 1
        return make_batch[PendulumGame](game, size)


cdef class FastAcrobot(Fast):
    """`Acrobot` in single precision."""
    cdef object render(self):
        return draw("gymnasium.envs.classic_control.acrobot:AcrobotEnv", {}, {"state": np.array(self.save())})

    cdef shared_ptr[Batch] new_batch(self, uint32_t size) except *:
        cdef AcrobotGame game
        return make_batch[AcrobotGame](game, size)


for _fast in (FastCartPole, FastMountainCar, FastMountainCarContinuous, FastPendulum, FastAcrobot):
    specs.compiled[_fast.__name__] = _fast
