"""Receiving from pools."""


def receive_pending(pool):
    """Receives until no environment is in flight."""
    while pool._pool.num_pending:
        pool.recv()


def started(pool):
    """Resets all environments of a pool, none of which is in flight afterwards; returns the pool."""
    pool.reset()
    receive_pending(pool)
    return pool
