"""Calls of pools that tests begin with."""


def receive_pending(pool):
    """Receives until no environment is in flight."""
    while pool._pool.num_pending:
        pool.recv()


def started(pool):
    """Resets all environments of a pool, none of which is in flight afterwards; returns the pool."""
    pool.reset()
    receive_pending(pool)
    return pool


def stepped(pool, num_steps):
    """Steps a pool with random actions, the same each time; returns the pool."""
    pool.action_space.seed(0)
    for _ in range(num_steps):
        pool.step(pool.action_space.sample())
    return pool
