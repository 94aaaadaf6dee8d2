"""Python environments in worker processes or threads: the pool's side."""
include "worker_processes.pxi"
include "worker_threads.pxi"
include "backend.pxi"
