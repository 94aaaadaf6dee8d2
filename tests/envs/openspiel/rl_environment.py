"""Games next to OpenSpiel's `rl_environment`, which draws chance with the same stream."""
import functools

import numpy as np

import cypool

# in their steps they draw, or have no discrete actions, or solve each deal, for minutes
REFUSED = {"negotiation", "stones_and_gems", "crossword", "bridge_uncontested_bidding"}


@functools.cache
def kinds():
    """Returns the games that OpenSpiel can make without parameters, and that have tensors: name -> dynamics."""
    import pyspiel

    found = {}
    for each in pyspiel.registered_games():
        dynamics = str(each.dynamics).rpartition(".")[2].lower()
        has_tensor = each.provides_observation_tensor or each.provides_information_state_tensor
        if each.default_loadable and has_tensor and dynamics != "mean_field" and each.short_name not in REFUSED:
            found[each.short_name] = dynamics
    return found


def assert_equal(short_name, num_steps, seed, **parameters):
    """Plays random actions; compares all tensors, masks, players, rewards and ends in two views; returns the ends."""
    from open_spiel.python import rl_environment

    sampler = rl_environment.ChanceEventSampler(seed)
    theirs = rl_environment.Environment(short_name, chance_event_sampler=sampler, **parameters)
    num_players, num_actions = theirs.num_players, theirs.action_spec()["num_actions"]
    together = not theirs.is_turn_based
    common = {"num_envs": 1, "num_threads": 0, "seed": seed, "chance_stream": "random_state", **parameters}
    views = (["players"] if num_players > 1 or together else []) + ([] if together else ["mover"])
    pools = {view: cypool.make(f"openspiel/{short_name}-v0", view=view, **common) for view in views}
    random = np.random.default_rng(seed)
    where = short_name, parameters, seed
    expected, batches, ends = theirs.reset(), {view: pool.reset() for view, pool in pools.items()}, 0
    for step in range(num_steps):
        seen = expected.observations
        current = -1 if expected.last() else seen["current_player"]
        masks = np.zeros((num_players, num_actions), np.int8)
        for player, legal in enumerate(seen["legal_actions"]):
            if current in (player, -2):
                masks[player, legal] = 1
        for view, batch in batches.items():
            assert_batch(view, batch, seen["info_state"], masks, current, expected, (*where, step))
        if not together:
            # after an end, no action is read
            mover = max(current, 0)
            chosen = [int(random.choice(seen["legal_actions"][mover])) if current >= 0 else 0]
            given = np.zeros(num_players, np.int64)
            given[mover] = chosen[0]
        else:
            chosen = given = [int(random.choice(legal)) if legal else 0 for legal in seen["legal_actions"]]
        expected = theirs.step(chosen)
        ends += expected.last()
        batches = {view: pool.step([given] if view == "players" else [chosen[0]]) for view, pool in pools.items()}
    for pool in pools.values():
        pool.close()
    return ends


def assert_batch(view, batch, tensors, masks, current, expected, where):
    obs, info = batch[0], batch[-1]
    rewards = expected.rewards
    if view == "players":
        assert obs["observation"][0].tobytes() == np.array(tensors, np.float32).tobytes(), where
        assert obs["action_mask"][0].tobytes() == masks.tobytes(), where
        assert rewards is None or info["agents"]["player"]["reward"][0].tolist() == rewards, where
    else:
        # at an end it is that of the last mover, whom OpenSpiel does not name
        assert current < 0 or obs[0].tobytes() == np.array(tensors[current], np.float32).tobytes(), where
        assert info["action_mask"][0].tobytes() == masks[max(current, 0)].tobytes(), where
        assert rewards is None or len(rewards) == 1 or info["rewards"][0].tolist() == rewards, where
        assert rewards is None or len(rewards) > 1 or batch[1].tolist() == rewards, where
    if len(tensors) > 1:
        assert info["current_player"][0] == current, where
    if rewards is not None:
        assert bool(batch[2][0]) == expected.last(), where
