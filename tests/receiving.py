"""Receiving from pools."""


def receive_pending(pool):
    """Receives until no environment is in flight; returns the batches."""
    batches = []
    while pool._pool.num_pending:
        batches.append(pool.recv())
    return batches


def started(pool):
    """Resets all environments of a pool, none of which is in flight afterwards; returns the pool."""
    pool.reset()
    receive_pending(pool)
    return pool
