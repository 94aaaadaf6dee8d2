# The part of an observation that comes from the screen.
# distutils: language = c++
import functools

from libc.stdint cimport uint8_t
from libc.string cimport memcpy
from libcpp.memory cimport make_unique, unique_ptr
from libcpp.vector cimport vector

from cypool.envs.shared.pixels.resize cimport Resize

cdef enum:
    MAX_SCREEN = 250 * 160


@functools.lru_cache(maxsize=32)
def picture_of(height, width, gray, rgb, out_size, by_area, channels_last):
    """Returns the `Picture` for these constructor arguments: the same object each time."""
    return Picture(height, width, gray, rgb, out_size, by_area, channels_last)


cdef class Picture:
    """Turns screens of palette indices into frames. Immutable once made, so all envs with the same settings share one.

    Args:
        height, width: Size of a screen.
        gray: The gray of each palette index, 256 bytes; None: frames are in color.
        rgb: Red, green and blue of each palette index, three times 256 bytes.
        out_size: (height, width) of a reduced frame; None: whole screens are shown.
        by_area: Whether to resize like OpenCV's INTER_AREA instead of INTER_LINEAR.
        channels_last: Whether the colors of a reduced frame's pixel are stored next to each other.
    """
    cdef readonly size_t frame_bytes
    cdef readonly size_t num_planes      # 1, or 3 in colour
    cdef size_t screen_bytes
    cdef size_t plane_bytes
    cdef bint interleaved                # the planes of a reduced frame, pixel by pixel
    cdef vector[PaletteMax] palettes     # one per plane: gray, or red, green and blue
    cdef unique_ptr[Resize] resize
    cdef uint8_t[4 * 256] colours        # of each palette index its red, green, blue, and a byte that is not used

    def __init__(self, int height, int width, bytes gray, bytes rgb, out_size, bint by_area, bint channels_last):
        cdef const uint8_t* table = gray if gray is not None else rgb
        cdef const uint8_t* colours = rgb
        cdef int out_height, out_width, i, k
        if height * width > MAX_SCREEN:
            raise ValueError(f"height * width: expected at most {<int>MAX_SCREEN}, got {height * width}")
        self.num_planes = 1 if gray is not None else 3
        for k in range(<int>self.num_planes):
            self.palettes.push_back(PaletteMax(table + 256 * k))
        for i in range(256):
            for k in range(3):
                self.colours[4 * i + k] = colours[256 * k + i]
        self.screen_bytes = self.plane_bytes = <size_t>height * width
        if out_size is not None:
            out_height, out_width = out_size
            self.plane_bytes = <size_t>out_height * out_width
            self.resize = make_unique[Resize](by_area, height, width, out_height, out_width)
        self.frame_bytes = self.num_planes * self.plane_bytes
        self.interleaved = channels_last and self.num_planes == 3

    cdef void shrink(self, const uint8_t* a, const uint8_t* b, uint8_t* frame, uint8_t* pooled) noexcept nogil:
        """Reduces the maximum of two screens; also stores it in `pooled`, a screen for each plane, unless NULL."""
        cdef uint8_t[MAX_SCREEN] scratch
        cdef uint8_t* plane = scratch
        cdef size_t k
        for k in range(self.num_planes):
            if pooled != NULL:
                plane = pooled + k * self.screen_bytes
            self.palettes[k].pool(a, b, self.screen_bytes, plane)
            self._reduce(plane, frame, k)

    cdef void merge(self, const uint8_t* screen, uint8_t* frame, uint8_t* pooled) noexcept nogil:
        """Reduces the maximum of `pooled` and a screen, likewise."""
        cdef uint8_t[MAX_SCREEN] scratch
        cdef uint8_t* plane
        cdef size_t i, k
        for k in range(self.num_planes):
            plane = pooled + k * self.screen_bytes
            self.palettes[k].pool(screen, screen, self.screen_bytes, scratch)
            for i in range(self.screen_bytes):
                plane[i] = max(plane[i], scratch[i])
            self._reduce(plane, frame, k)

    cdef void _reduce(self, const uint8_t* plane, uint8_t* frame, size_t k) noexcept nogil:
        cdef uint8_t[MAX_SCREEN] scratch
        cdef uint8_t* reduced = scratch
        cdef size_t i
        if not self.interleaved:
            reduced = frame + k * self.plane_bytes
        self.resize.get().run(plane, reduced)
        if self.interleaved:
            for i in range(self.plane_bytes):
                frame[3 * i + k] = reduced[i]

    cdef void copy(self, const uint8_t* screen, uint8_t* frame) noexcept nogil:
        """Writes a whole screen."""
        cdef size_t i, last = self.screen_bytes - 1
        if self.num_planes == 1:
            self.palettes[0].pool(screen, screen, self.screen_bytes, frame)
            return
        # four bytes at once, of which the next pixel overwrites the last
        for i in range(last):
            memcpy(frame + 3 * i, self.colours + 4 * screen[i], 4)
        memcpy(frame + 3 * last, self.colours + 4 * screen[last], 3)
