"""The part of `fuzz_api.py` that plays turn-based games with any options, and checks all of their rows.

A call may succeed or raise an exception that names an option or argument, within a few seconds and limited memory. Then
the documented rules apply: an unfinished match has a legal action for the player to move; a finished match has none,
and nobody moves; rewards are the players'; after a match ends, the next one begins.
"""
import resource
import time
from pathlib import Path

import numpy as np

import cypool
from cypool.envs import family_of
from cypool.registration.registry import entry_of, resolve

SLOWEST = 90  # seconds for a call: trials of options may take a third of it
MEMORY = 8 * 2**30  # more for a case
MODES = ["NextStep", "SameStep", "Disabled"]
VIEW = {"view": ["mover", "players", "single", "single", None], "seat": [0, 1, 2, "random", "alternate"],
        "opponent": ["random", "random", "tree_search"], "simulations": [1, 2, 15], "illegal": ["error", "lose"],
        "tensor": ["auto", "observation", "information_state"], "chance_stream": ["np_random", "random_state"]}
# by the type of the default; some games say None for 0
USUAL = {bool: [True, False], int: [0, 1, 2, 3, 4, 5, 8, 10], float: [0, 0.5, 1, -2.5, 100.0],
         str: ["1", "1;1", "2;3", "", "x"], type(None): [1, 2, 3, 5, "1"]}
# games that are soon over
SMALL = {bool: [True, False], int: [1, 2, 2, 3], float: [0, 1], str: ["1", "1;1"], type(None): [1, 2]}
EDGES = {bool: [0, 1], int: [0, -1, -3, 20, 100, 1000, 2**31 - 1, 2**31, -2**31, 2**63],
         float: [1e308, -1e308, float("nan"), float("inf"), 1e-300], str: ["a" * 1000, "\0", "-1", "é"]}
ANYTHING = [None, 1, -1, 1.5, True, "x", "", [], {}, (), b"x", np.int64(1), np.array(1), np.array([0, 1]), np.nan,
            object(), 10**400, "random", -2]


class GameCalls:
    """Makes and plays games.

    Args:
        case: A `Case`, whose random numbers, log and findings are used.
        ids: Lists of game ids.
    """

    def __init__(self, case, ids):
        self.case, self.r, self.ids = case, case.r, ids

    def run(self):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
        for _ in range(4):
            self.game()

    def attempt(self, text, call, names=()):
        began = time.monotonic()
        result = self.case.attempt(text, call, names)
        if time.monotonic() - began > SLOWEST:
            self.case.find(text, TimeoutError(f"{time.monotonic() - began:.0f} s"))
        return result

    def drawn(self, id):
        """Returns options of a game: usual ones, but sometimes one is an edge value or has another type."""
        r, options = self.r, {}
        defaults = {name: value for name, value in cypool.make_spec(id).options.items() if name != "short_name"}
        share, values = r.choice([(0, USUAL), (0.4, USUAL), (0.9, SMALL), (0.9, SMALL)])
        for name, default in defaults.items():
            if name in VIEW:
                if r.random() < 0.6:
                    options[name] = r.choice(VIEW[name])
            elif r.random() < share:
                options[name] = r.choice([default, *values.get(type(default), [])])
        if r.random() < 0.4:
            own = [name for name in defaults if name not in VIEW]
            name = r.choice(own if own and r.random() < 0.7 else list(defaults))
            declared = getattr(resolve(id, None, {})[0].describe, "declared", {})
            edges = list(declared[name].edges) if name in declared else []
            # a million simulations are right, and take long
            edges = [] if name == "simulations" else edges or EDGES.get(type(defaults[name]), [])
            options[name] = r.choice(edges if edges and r.random() < 0.7 else ANYTHING)
        return options

    def game(self):
        r, id = self.r, self.r.choice(self.r.choice(self.ids))
        options = self.drawn(id)
        given = {"num_envs": r.choice([1, 2, 3, 8]), "num_threads": r.choice([0, 0, 1, 2]), "seed": r.randrange(1000),
                 "autoreset_mode": r.choice(MODES)}
        if r.random() < 0.4:
            given["max_episode_steps"] = r.choice([1, 2, 3, 5, 10, 40, 2**31 - 2])
        own = [{}] * given["num_envs"]
        if r.random() < 0.2:
            differ = r.sample(["seat", "opponent", "simulations", "illegal", "view"], 2)
            given["env_options"] = own = [{name: r.choice(VIEW[name]) for name in differ} for _ in own]
        names = {"id", "env_options", *options, *(name for each in own for name in each)}
        well, pool = self.attempt(f"make({id!r}, **{given | options})",
                                  lambda: cypool.make(id, **given, **options), names)
        if well:
            # an opponent that searches among thousands of actions is right, and takes minutes
            if pool.env_spec.one_action.n <= 1000 or not any(
                    each.get("opponent") == "tree_search" for each in (options, *own)):
                self.play(pool, given["autoreset_mode"])
            pool.close()
        if r.random() < 0.15:
            self.attempt(f"aec_env({id!r}, **{options})", lambda: self.play_in_turn(cypool.aec_env(id, **options)),
                         names | {"view", "opponent"})

    def play(self, pool, mode):
        r = self.r
        rows = Rows(pool, mode)
        if not self.batch("reset()", rows, pool.reset):
            return
        for _ in range(r.choice([3, 20, 60])):
            if mode == "Disabled" and rows.ended.any() and not self.batch(
                    "reset(ended)", rows, lambda: pool.reset(options={"reset_mask": rows.ended}), rows.ended):
                return
            kind = r.random()
            actions = pool.sample_legal()
            if kind < 0.1:
                actions[r.randrange(len(actions))] = r.randrange(pool.env_spec.one_action.n)
            if kind < 0.02:
                value = r.choice(ANYTHING)
                self.attempt(f"step({value!r:.50})", lambda value=value: pool.step(value), ["action"])
                # one of them may be right
                if not self.batch("reset()", rows, pool.reset):
                    return
            elif kind < 0.1 and rows.refuse(actions):
                before = games_of(pool)
                well, _ = self.attempt(f"step({actions.tolist()})", lambda actions=actions: pool.step(actions),
                                       ["actions: expected a legal action"])
                self.expect(not well, f"an error about {actions.tolist()}, not among {rows.masks.tolist()}")
                self.expect(games_of(pool) == before, f"no step with {actions.tolist()}")
            elif kind < 0.14:
                self.attempt("load(save())", lambda: pool.load(pool.save()))
            elif kind < 0.16:
                policy = cypool.RandomPolicy(pool.env_spec)
                self.attempt("rollout(5)", lambda policy=policy: pool.rollout(5, policy=policy))
                if not self.batch("reset()", rows, pool.reset):
                    return
            elif not self.batch(f"step({actions.tolist()})", rows, lambda actions=actions: pool.step(actions)):
                return

    def batch(self, text, rows, call, reset=None):
        """Makes a valid call and checks its rows; returns whether there are any."""
        well, batch = False, None

        def caught():
            try:
                return call()
            except Exception as error:
                # games may throw, and some players never move
                family = family_of(entry_of(rows.pool.env_spec.id).entry_point)
                if isinstance(error, cypool.EnvError) and any(
                        words in str(error) for words in (family.title, "seat: expected")):
                    return None
                raise AssertionError(f"{type(error).__name__}: {error}") from error

        well, batch = self.attempt(text, caught)
        if not well or batch is None:
            return False
        for wrong in rows.look(batch, reset):
            self.expect(False, f"{text}: {wrong}")
        return True

    def expect(self, is_so, what):
        if not is_so:
            self.case.find(what, AssertionError("expected"))

    def play_in_turn(self, env):
        env.reset(seed=self.r.randrange(100))
        for agent in env.agent_iter(60):
            observation, _, termination, truncation, _ = env.last()
            legal = np.flatnonzero(observation["action_mask"])
            over = termination or truncation
            self.expect(over or len(legal), f"{agent} may choose")
            env.step(None if over else int(self.r.choice(legal.tolist())))
        env.close()


def games_of(pool):
    return [row["own"] for row in pool.save().rows]


class Rows:
    """Checks the rows of a pool, one batch after another.

    Attributes:
        ended: Which environments wait for a reset.
    """

    def __init__(self, pool, mode):
        self.pool, self.mode, self.spec = pool, mode, pool.env_spec
        options = [each.spec.options for each in pool._pool.environments()]
        self.views, self.seats = ([each.get(name) for each in options] for name in ("view", "seat"))
        self.loses = np.array([each["illegal"] == "lose" for each in options])
        self.by_agent = bool(self.spec.agents)
        self.ended = np.zeros(pool.num_envs, bool)
        self.masks = self.players = None

    def refuse(self, actions):
        """Whether an action is illegal and this is an error."""
        for row in np.flatnonzero(~self.ended & ~self.loses):
            mask, player, action = self.masks[row], self.players[row], actions[row]
            acting = range(len(mask)) if player == -2 else [player]
            if any(mask[k].any() and not mask[k, action[k]] for k in acting) if self.by_agent else not mask[action]:
                return True
        return False

    def look(self, batch, reset=None):
        """Yields the faults in a batch of all environments; `reset` says which ones the call has reset."""
        obs, info = batch[0], batch[-1]
        masks = obs["action_mask"] if self.by_agent else info["action_mask"]
        count = len(masks)
        none = np.zeros(count, bool)
        reward, terminated, truncated = batch[1:4] if len(batch) == 5 else (none, none, none)
        players = info.get("current_player", np.where(terminated & (self.mode != "SameStep"), -1, 0))
        before, ended = self.players, terminated | truncated
        if reset is not None:
            # others repeat their last row
            terminated = self.was_terminated & ~reset
            ended = self.ended & ~reset
        next_shown = ended if self.mode == "SameStep" else none
        for row in range(count):
            yield from self.look_at(row, masks[row], players[row], terminated[row] and not next_shown[row])
        if len(batch) == 5:
            yield from self.look_at_rewards(info, reward, next_shown, players, before)
            limit = self.spec.max_episode_steps
            if limit is not None and self.mode != "SameStep" and (truncated != (info["elapsed_step"] >= limit)).any():
                yield f"truncated at the limit, got {truncated} at {info['elapsed_step']}"
            for row in np.flatnonzero(next_shown):
                final, over = info["final_info"], terminated[row]
                mask = (info["final_obs"][row] if self.by_agent else final)["action_mask"]
                mask = mask if self.by_agent else mask[row]
                if mask.any() == over:
                    yield f"a mask at the end, got {mask} in row {row}"
        self.masks, self.players, self.was_terminated = masks.copy(), players.copy(), terminated.copy()
        self.ended = ended & (self.mode != "SameStep")
        parts = obs.values() if isinstance(obs, dict) else [obs]
        if not all(np.isfinite(part).all() for part in parts):
            yield "observations that are finite"

    def look_at(self, row, mask, player, is_over):
        view, seat = self.views[row], self.seats[row]
        if not np.isin(mask, (0, 1)).all():
            yield f"a mask of 0 and 1, got {mask} in row {row}"
        if is_over:
            if mask.any() or player != -1:
                yield f"no legal action and no player at an end, got {mask} and {player} in row {row}"
        elif player == -2 and self.by_agent:
            if not mask.any():
                yield f"a legal action, got none in row {row}"
        elif player < 0:
            yield f"a player, got {player} in row {row}"
        elif self.by_agent:
            if not mask[player].any() or np.delete(mask, player, 0).any():
                yield f"legal actions of player {player} only, got {mask} in row {row}"
        elif not mask.any():
            yield f"a legal action, got none in row {row}"
        if view == "single" and not is_over and isinstance(seat, int) and player != seat:
            yield f"player {seat}, got {player} in row {row}"

    def look_at_rewards(self, info, reward, next_shown, players, before):
        first = (info["elapsed_step"] == 0) & ~next_shown
        if reward[first].any():
            yield f"no reward where a match begins, got {reward}"
        if self.by_agent:
            (columns,) = info["agents"].values()
            if not np.allclose(columns["reward"].sum(1), reward):
                yield f"the sum of the players' rewards, got {reward}"
        elif "rewards" in info:
            for row in np.flatnonzero(~first):
                rewards = (info["final_info"] if next_shown[row] else info)["rewards"][row]
                if rewards[before[row]] != reward[row]:
                    yield f"the reward of player {before[row]} of {rewards}, got {reward[row]} in row {row}"
