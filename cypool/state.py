"""The saved state of environments."""
import numpy as np


class State:
    """What `env.save()` returns: the state of some environments, one in each row. Pickles.

    `len(state)` is the number of rows. `state[rows]` holds some of them, with an index, a slice or a sequence of
    integers as in NumPy; a row may be named several times: `state[[0] * 8]` is for eight ways on from the first.

    Attributes:
        env_id: int32, (k,): the environments the rows were saved from.
        over: bool, (k,): whether the next step starts a new episode.
        rows: What the engine knows of each.
    """

    def __init__(self, env_id, rows):
        self.env_id = np.asarray(env_id, np.int32)
        self.rows = rows

    @property
    def over(self):
        return np.array([row["over"] for row in self.rows], np.bool_)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, rows):
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        return State(self.env_id[chosen], [self.rows[k] for k in chosen])

    def __repr__(self):
        return f"State(env_id={self.env_id.tolist()})"
