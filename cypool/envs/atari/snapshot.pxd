"""The whole state of an emulator: ALE's state, and the parts that it leaves out.

`ALEInterface.cloneState` saves neither the last actions, which sticky actions repeat, nor the picture, of which some
games draw only parts in a frame, nor which of its tables the video chip is at, nor the random stream that fills the
memory at a reset. Of cartridges in slices (Montezuma's Revenge) it does not bring back which of them are in, of
Pitfall II only part of a fraction; and the rules of seven games do not save all they remember. With these, a restored
emulator continues exactly as the saved one.
"""
from libcpp.string cimport string

from cypool.envs.atari.libale cimport ALEInterface

cdef extern from "cypool/envs/atari/snapshot.h":
    bint frame_goes_on "cypool::frame_goes_on"(ALEInterface& game) noexcept nogil
    string take_snapshot "cypool::take_snapshot"(ALEInterface& game) except +
    void restore_checked "cypool::restore_checked"(ALEInterface& game, const string& snapshot,
                                                   const string& own) except +
    void restore_snapshot "cypool::restore_snapshot"(ALEInterface& game, const string& snapshot) except +
    void copy_emulator "cypool::copy_emulator"(ALEInterface& to, ALEInterface& source) except + nogil
