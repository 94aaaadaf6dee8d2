# distutils: extra_compile_args = -O2
# distutils: language = c++
"""The last few frames of an environment, or of each of its players."""
from libc.string cimport memcpy, memset


cdef class FrameStack:
    """Rings of frames that advance together; all zero at first.

    Args:
        num_frames: Number of frames in a ring.
        frame_bytes: Size of a frame.
        num_stacks: Number of rings.
    """

    def __init__(self, int num_frames, size_t frame_bytes, size_t num_stacks=1):
        self.num_frames = num_frames
        self.frame_bytes = frame_bytes
        self.num_stacks = num_stacks
        self.frames.resize(num_stacks * num_frames * frame_bytes)

    cdef void advance(self) noexcept nogil:
        self.newest = (self.newest + 1) % self.num_frames

    cdef uint8_t* newest_frame(self, size_t stack) noexcept nogil:
        return self.frames.data() + (stack * self.num_frames + self.newest) * self.frame_bytes

    cdef uint8_t* push(self) noexcept nogil:
        self.advance()
        return self.newest_frame(0)

    cdef const uint8_t* frame(self, size_t stack, int k) noexcept nogil:
        cdef size_t at = stack * self.num_frames + (self.newest + 1 + k) % self.num_frames
        return self.frames.data() + at * self.frame_bytes

    cdef void fill(self, size_t stack) noexcept nogil:
        cdef uint8_t* ring = self.frames.data() + stack * self.num_frames * self.frame_bytes
        cdef int k
        for k in range(self.num_frames):
            if k != self.newest:
                memcpy(ring + k * self.frame_bytes, self.newest_frame(stack), self.frame_bytes)

    cdef void repeat(self) noexcept nogil:
        cdef const uint8_t* newest = self.newest_frame(0)
        cdef uint8_t* frame = self.push()
        if frame != newest:
            memcpy(frame, newest, self.frame_bytes)

    cdef void clear(self) noexcept nogil:
        memset(self.frames.data(), 0, self.frames.size())

    cdef void write(self, size_t stack, void* out) noexcept nogil:
        cdef size_t size = self.num_frames * self.frame_bytes
        cdef const uint8_t* ring = self.frames.data() + stack * size
        cdef size_t oldest = <size_t>((self.newest + 1) % self.num_frames) * self.frame_bytes
        memcpy(out, ring + oldest, size - oldest)
        memcpy(<uint8_t*>out + size - oldest, ring, oldest)

    cdef bytes save(self):
        return (<char*>self.frames.data())[:self.frames.size()]

    cdef int load(self, bytes frames, int newest) except -1:
        if <size_t>len(frames) != self.frames.size() or not 0 <= newest < self.num_frames:
            raise ValueError("state: expected a state from an environment with the same options")
        memcpy(self.frames.data(), <const uint8_t*>frames, self.frames.size())
        self.newest = newest
        return 0

    cdef void copy_from(self, FrameStack other) noexcept nogil:
        memcpy(self.frames.data(), other.frames.data(), self.frames.size())
        self.newest = other.newest
