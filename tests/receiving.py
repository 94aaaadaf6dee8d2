"""Receiving from pools."""


def receive_pending(pool):
    """Receives until no environment is in flight; returns the batches."""
    batches = []
    while pool._pool.num_pending:
        batches.append(pool.recv())
    return batches


def started(pool):
    """Returns the pool, all of whose environments are reset and none is in flight."""
    pool.async_reset()
    receive_pending(pool)
    return pool
