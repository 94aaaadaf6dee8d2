"""DOC."""
include "wrapper.pxi"
include "guarded.pxi"
include "hooked.pxi"
