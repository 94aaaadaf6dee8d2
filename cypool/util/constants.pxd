# numbers that several modules have to agree on, or would have to repeat

cdef enum:
    ALIGNMENT = 64               # bytes: a cache line, and more than any vector instruction wants
    SLICE_NS = 100_000_000       # how long to wait or work at a time before looking for signals
