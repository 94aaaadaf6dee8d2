"""How much memory malloc has given out."""
import ctypes

libc = ctypes.CDLL(None)
# glibc before 2.33 has only the one whose numbers end at 2 GB, which is enough here
wide = hasattr(libc, "mallinfo2")
mallinfo = libc.mallinfo2 if wide else libc.mallinfo


class Heap(ctypes.Structure):
    """The result."""

    _fields_ = [(name, ctypes.c_size_t if wide else ctypes.c_int) for name in (
        "arena", "ordblks", "smblks", "hblks", "mapped", "usmblks", "fsmblks", "used", "free", "keepcost")]


mallinfo.restype = Heap


def heap_bytes():
    """Bytes from malloc that are in use, of the main thread and of large blocks.

    Resident memory would say less: threads and the gaps between blocks change it by megabytes.
    """
    heap = mallinfo()
    return heap.used + heap.mapped
