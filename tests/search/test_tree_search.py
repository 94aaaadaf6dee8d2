"""Tree search: the visits of a tree in plain Python, forced wins, and errors of users."""
import functools
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from engine.threads import at_once
from interrupting import moments
from markers import exhaustive
from plain_tree import Game, PlainTree
from receiving import started
from waiting import run_program

import cypool
from cypool.tools.compile import load

pytestmark = pytest.mark.families("board", "classic_control", "minigrid")

THREADS = [0, 1, 2, 3]
CONNECT_FOUR = "board/connect_four-v0"


def evaluator(spec, seed=5):
    """Returns a network whose answer for a row does not depend on other rows."""
    size = int(np.prod(spec.observation.shape))
    weights = np.random.default_rng(seed).normal(size=(spec.action.n + 1, size)) / np.sqrt(size)

    def evaluate(obs, mask):
        # sums of one row after another
        rows = np.array([[(row * w).sum() for w in weights] for row in obs.reshape(len(obs), -1).astype(np.float64)])
        return (3 * rows[:, :-1]).astype(np.float32), np.tanh(rows[:, -1]).astype(np.float32)

    return evaluate


def scattered(id, num_envs, seed, num_threads=1, most=25, **options):
    """Returns a pool whose environments are in the middle of their episodes."""
    env = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=seed, autoreset_mode="Disabled", **options)
    env.reset()
    env.action_space.seed(seed)
    random = np.random.default_rng(seed)
    left = random.integers(0, most, num_envs)
    for t in range(most):
        before = env.save()
        ids = np.flatnonzero(left > t)
        if len(ids) == 0:
            break
        _, _, terminated, truncated, _ = env.step(env.sample_legal()[ids], ids)
        back = ids[terminated | truncated]
        if len(back):
            # one step before the end
            env.load(cypool.State(back.tolist(), [before.rows[i] for i in back]))
            left[back] = 0
    return env


def noise_of(env, algorithm, alpha, seed):
    rng, shape = np.random.default_rng(seed), (env.num_envs, env.env_spec.action.n)
    drawn = rng.gumbel(size=shape) if algorithm == "gumbel" else rng.standard_gamma(alpha, shape)
    return drawn.astype(np.float32)


@pytest.mark.parametrize("num_positions", [2, *exhaustive(25)])
@pytest.mark.parametrize("algorithm", ["puct", "gumbel"])
@pytest.mark.parametrize(("leaves", "noisy", "num_threads"), [(1, False, 1), (1, True, 2), (4, False, 3), (8, True, 0)])
@pytest.mark.parametrize(("id", "num_players", "more"), [
    (CONNECT_FOUR, 2, {}),
    ("board/tic_tac_toe-v0", 2, {"unvisited": "parent", "discount": 0.9}),
    ("board/backgammon-v0", 2, {"virtual_loss": 0.0}),
    ("board/2048-v0", 1, {"normalize": True, "discount": 0.97}),
])
def test_visits_equal_those_of_plain_python(id, num_players, more, leaves, noisy, num_threads, algorithm,
                                            num_positions):
    env = scattered(id, num_positions, leaves, num_threads, most=8 if "tic" in id else 25)
    noise, given = None, None
    if noisy:
        noise, given = noise_of(env, algorithm, 0.3, 7), True if algorithm == "gumbel" else (0.3, 0.25)
    evaluate = evaluator(env.env_spec)
    search = cypool.TreeSearch(env, simulations=60, leaves=leaves, algorithm=algorithm, noise=given, seed=7,
                               chance="foresee", considered=5, **more)
    result = search.run(evaluate)
    for k in range(env.num_envs):
        game = Game(id, cypool.State([0], [env.save([k]).rows[0]]))
        tree = PlainTree(game, evaluate, num_players, None if noise is None else noise[k], simulations=60,
                         leaves=leaves, algorithm=algorithm, considered=5, **more).run()
        assert tree.visits(env.env_spec.action.n).tolist() == result.visits[k].tolist()
        assert tree.action() == result.action[k]
        assert tree.root.total / tree.root.visits == result.value[k]


@pytest.mark.parametrize("id", [CONNECT_FOUR, "board/othello-v0", "CartPole-v1", "MiniGrid-DoorKey-5x5-v0"])
def test_results_do_not_depend_on_threads(id):
    seen = set()
    for num_threads in (0, 1, 2, 3, 7):
        env = scattered(id, 20, 3, num_threads)
        result = cypool.TreeSearch(env, simulations=40, leaves=3, seed=4).run("rollout")
        seen.add(b"".join(array.tobytes() for array in result))
        env.close()
    assert len(seen) == 1


@pytest.mark.parametrize("algorithm", ["puct", "gumbel"])
def test_forced_wins_are_found(algorithm):
    env = started(cypool.make(CONNECT_FOUR, num_envs=2, num_threads=1, autoreset_mode="Disabled"))
    # three in a column; and a pair at the bottom, which a third stone makes a threat on both sides
    for env_id, moves in enumerate([(3, 0, 3, 0, 3, 1), (2, 2, 3, 3)]):
        for move in moves:
            env.step([move], [env_id])
    result = cypool.TreeSearch(env, simulations=400, algorithm=algorithm).run("constant")
    assert result.action[0] == 3 and result.action[1] in (1, 4)
    assert np.nanargmax(result.q[0]) == 3 and result.q[0][3] == 1
    assert np.allclose(result.policy.sum(axis=1), 1)


@pytest.mark.parametrize("algorithm", ["puct", "gumbel"])
def test_advance_keeps_the_visits_below_the_action(algorithm):
    env = started(cypool.make(CONNECT_FOUR, num_envs=3, num_threads=2, autoreset_mode="Disabled"))
    evaluate = evaluator(env.env_spec)
    search = cypool.TreeSearch(env, simulations=100, algorithm=algorithm)
    first = search.run(evaluate)
    env.step(first.action)
    search.advance(first.action)
    kept = search.result()
    assert (kept.visits.sum(axis=1) == first.visits[np.arange(3), first.action] - 1).all()
    assert (kept.action == kept.visits.argmax(axis=1)).all()
    assert (search.run(evaluate).visits.sum(axis=1) == 100).all()
    # without advance, a search begins with empty trees
    assert (search.run(evaluate).visits.sum(axis=1) == 100).all()
    env.reset()
    search.advance(first.action)
    assert (search.result().visits == 0).all()


def perceptron(spec, with_value=True):
    random = np.random.default_rng(0)
    sizes = [int(np.prod(spec.observation.shape)), 24]

    def layers(outputs):
        shapes = [(sizes[1], sizes[0]), (outputs, sizes[1])]
        weights = [(random.normal(size=shape) / np.sqrt(shape[1])).astype(np.float32) for shape in shapes]
        return weights, [np.zeros(len(each), np.float32) for each in weights]

    return cypool.MLP(spec, *layers(spec.action.n), output="categorical", value=layers(1) if with_value else None)


@pytest.mark.parametrize("id", [CONNECT_FOUR, "board/2048-v0", "CartPole-v1"])
@pytest.mark.parametrize(("num_threads", "leaves", "num_envs"), [(0, 1, 4), (1, 17, 4), (2, 3, 21), (3, 1, 75)])
def test_networks_on_the_threads_have_the_visits_of_a_function(id, num_threads, leaves, num_envs):
    env = scattered(id, num_envs, 2, num_threads)
    network = perceptron(env.env_spec)

    def evaluate(obs, mask):
        call, values = network._evaluator(len(obs))
        logits = np.zeros((len(obs), env.env_spec.action.n), np.float32)
        call.choose(np.ascontiguousarray(obs), None, logits, 0, len(obs))
        return logits, values

    wanted = cypool.TreeSearch(env, simulations=70, leaves=leaves, noise=(0.3, 0.25)).run(evaluate)
    search = cypool.TreeSearch(env, simulations=70, leaves=leaves, noise=(0.3, 0.25))
    result = search.run(network)
    assert [a.tobytes() for a in result] == [a.tobytes() for a in wanted]
    assert result.value.any()
    assert search.run("constant").visits.sum() == search.run(network).visits.sum() == wanted.visits.sum()


@functools.cache
def register_faulty():
    """Registers an environment that fails in some, in their third step or observation."""
    module = load("""
from libc.math cimport NAN
from cypool.env cimport Env, Slot, import_cypool, obs_row
from cypool.spec import Array, Discrete, EnvSpec

import_cypool()

cdef class Faulty(Env):
    cdef int count, fault

    @staticmethod
    def describe(fails: bool = True):
        return EnvSpec(observation=Array((3,), "float32"), action=Discrete(2), max_episode_steps=50,
                       options={"fails": fails})

    def __init__(self, spec, env_id):
        self.fault = env_id % 8 if spec.options["fails"] else 0

    cdef int reset(self) except -1 nogil:
        self.count = 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.count += 1
        if self.fault == 3 and self.count == 3:
            with gil:
                raise LookupError("step")
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef float* obs = obs_row[float](out, 0)
        if self.fault == 4 and self.count == 3:
            with gil:
                raise LookupError("observe")
        obs[0], obs[1] = self.count, NAN if self.fault == 5 and self.count == 3 else 1
        obs[2] = self.env_id
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        self.count = (<Faulty>other).count
        return 0
""")
    cypool.register("test/Faulty-v0", f"{module.__name__}:Faulty")


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("leaves", [1, 3])
def test_trees_that_fail_next_to_others_raise_their_own_errors(num_threads, leaves):
    register_faulty()
    searches = []
    for fails in (True, False):
        env = started(cypool.make("test/Faulty-v0", num_envs=70, num_threads=num_threads, fails=fails))
        searches.append(cypool.TreeSearch(env, simulations=12, leaves=leaves))
    network = perceptron(env.env_spec)
    for _ in range(2):
        with pytest.raises(cypool.EnvError) as caught:
            searches[0].run(network)
        causes = {env_id: (type(cause), str(cause)) for env_id, cause in caught.value.causes.items()}
        kinds = {3: (LookupError, "step"), 4: (LookupError, "observe"),
                 5: (ValueError, "evaluate: expected finite values, got nan")}
        assert causes == {i: kinds[i % 8] for i in range(70) if i % 8 in kinds}
        healthy = [i for i in range(70) if i % 8 not in kinds]
        wanted = searches[1].run(network)
        for seen, part in zip(searches[0].result(), wanted, strict=True):
            assert seen[healthy].tobytes() == part[healthy].tobytes()


def test_error_of_a_long_search_has_the_causes_of_all_trees():
    register_faulty()
    env = started(cypool.make("test/Faulty-v0", num_envs=70, num_threads=0, fails=True))
    # it looks for signals many times before it comes to the last tree
    search = cypool.TreeSearch(env, simulations=10_000)
    with pytest.raises(cypool.EnvError) as caught:
        search.run("constant")
    assert sorted(caught.value.causes) == [i for i in range(70) if i % 8 == 3]
    assert {(type(cause), str(cause)) for cause in caught.value.causes.values()} == {(LookupError, "step")}
    others = [i for i in range(70) if i % 8 != 3]
    assert (search.result().visits[others].sum(axis=1) == 10_000).all()


@functools.cache
def functions():
    """Returns C functions: one that evaluates, one that fails, and one with a value that is no number."""
    return load("""
from libc.math cimport NAN
from cypool.env cimport import_cypool
from cypool.policies cimport Decision

import_cypool()

cdef api int linear(Decision* d) noexcept nogil:
    cdef const float* obs = <const float*>d.obs[0]
    cdef const float* weights = <const float*>d.parameters
    cdef float* out = <float*>d.action
    cdef int k
    for k in range(7):
        out[k] = obs[k] + weights[k]
    out[7] = obs[21] * 0.5 - obs[3] * 0.25
    return 0

cdef api int failing(Decision* d) noexcept nogil:
    return 7

cdef api int without_number(Decision* d) noexcept nogil:
    (<float*>d.action)[7] = NAN
    return 0
""").__pyx_capi__


@pytest.mark.parametrize(("num_threads", "leaves"), [(0, 1), (2, 3)])
def test_c_functions_have_the_visits_of_a_function_in_python(num_threads, leaves):
    env = scattered(CONNECT_FOUR, 4, 2, num_threads)
    weights = np.linspace(0, 1, 7, dtype=np.float32)

    def evaluate(obs, mask):
        rows = obs.reshape(len(obs), -1)
        return rows[:, :7] + weights, rows[:, 21] * np.float32(0.5) - rows[:, 3] * np.float32(0.25)

    wanted = cypool.TreeSearch(env, simulations=70, leaves=leaves).run(evaluate)
    function = cypool.Policy(functions()["linear"], parameters=weights)
    result = cypool.TreeSearch(env, simulations=70, leaves=leaves).run(function)
    assert [a.tobytes() for a in result] == [a.tobytes() for a in wanted]


def test_c_functions_that_fail_end_the_search():
    env = started(cypool.make(CONNECT_FOUR, num_envs=2, num_threads=0))
    search = cypool.TreeSearch(env, simulations=10)
    rejected(cypool.EnvError, "the C function returned 7", lambda: search.run(functions()["failing"]))
    rejected(cypool.EnvError, "expected finite values, got nan", lambda: search.run(functions()["without_number"]))
    with_state = cypool.Policy(functions()["failing"], state=np.zeros(2))
    for wrong in (5, None, with_state, cypool.RandomPolicy(env.env_spec)):
        rejected((TypeError, ValueError), "^evaluate: expected a C function", lambda wrong=wrong: search.run(wrong))
    assert search.run("constant").visits.sum() == 20


def test_networks_that_do_not_fit_are_refused():
    env = started(cypool.make(CONNECT_FOUR, num_envs=2, num_threads=0))
    search = cypool.TreeSearch(env, simulations=10)
    rejected(ValueError, "value=", lambda: search.run(perceptron(env.env_spec, False)))
    rejected(ValueError, "expected an MLP for", lambda: search.run(perceptron(cypool.make_spec("CartPole-v1"))))
    assert (search.run("constant").visits.sum(axis=1) == 10).all()


def test_episodes_that_are_over_have_zeros():
    env = started(cypool.make("board/tic_tac_toe-v0", num_envs=2, num_threads=0, autoreset_mode="Disabled"))
    for move in (0, 3, 1, 4, 2):
        env.step([move], [1])
    for evaluate in ("constant", "rollout", evaluator(env.env_spec)):
        result = cypool.TreeSearch(env, simulations=50).run(evaluate)
        assert result.visits[0].sum() == 50 and (result.visits[1] == 0).all() and result.value[1] == 0
        assert result.action[1] == 0 and np.isnan(result.q[1]).all()


def test_parts_equal_run_and_the_pool_may_be_stepped_meanwhile():
    env = scattered(CONNECT_FOUR, 5, 1)
    evaluate = evaluator(env.env_spec)
    wanted = cypool.TreeSearch(env, simulations=30, leaves=2).run(evaluate)
    search = cypool.TreeSearch(env, simulations=30, leaves=2)
    search.begin()
    while (leaves := search.recv()) is not None:
        assert len(leaves.obs) == len(leaves.action_mask) == len(leaves.player) == len(leaves.env_id)
        assert leaves.action_mask.dtype == np.int8 and leaves.player.dtype == leaves.env_id.dtype == np.int32
        env.reset()
        search.send(*evaluate(leaves.obs, leaves.action_mask))
    assert [a.tobytes() for a in search.result()] == [a.tobytes() for a in wanted]


def test_sample_draws_actions_that_were_visited():
    env = started(cypool.make(CONNECT_FOUR, num_envs=4, num_threads=0))
    result = cypool.TreeSearch(env, simulations=20).run("rollout")
    rng = np.random.default_rng(0)
    drawn = np.array([result.sample(1.0, rng) for _ in range(200)])
    shares = np.array([[(drawn[:, k] == a).mean() for a in range(7)] for k in range(4)])
    assert abs(shares - result.policy).max() < 0.12
    assert (result.sample(0) == result.action).all()


@pytest.mark.parametrize("seat", [0, 1])
def test_search_wins_against_random_moves(seat):
    env = started(cypool.make(CONNECT_FOUR, num_envs=16, num_threads=1, autoreset_mode="Disabled"))
    env.action_space.seed(seat)
    search, returns = cypool.TreeSearch(env, simulations=60, seed=seat), np.zeros((16, 2))
    over = np.zeros(16, bool)
    for move in range(42):
        ids = np.flatnonzero(~over)
        if len(ids) == 0:
            break
        actions = search.run("rollout").action if move % 2 == seat else env.sample_legal()
        _, _, terminated, _, info = env.step(actions[ids], ids)
        returns[ids] += info["rewards"]
        over[ids] = terminated
    assert over.all() and (returns[:, seat] == 1).sum() >= 14, returns


@pytest.mark.slow
def test_the_example_plans_better_with_trees_than_with_sequences(tmp_path):
    example = Path(__file__).parents[2] / "examples" / "tree_planning.py"
    done = run_program(sys.executable, example, check=True, cwd=tmp_path, timeout=600)
    trees, sequences = (list(map(int, line.split(", "))) for line in re.findall(r"returns ([\d, ]+);", done.stdout))
    assert min(trees) == 500 > sum(sequences) / 3


def test_trees_that_are_full_grow_no_more():
    env = started(cypool.make(CONNECT_FOUR, num_envs=2, num_threads=0))
    for evaluate in ("constant", "rollout", evaluator(env.env_spec)):
        search = cypool.TreeSearch(env, simulations=200, max_nodes=20, leaves=4)
        assert (search.run(evaluate).visits.sum(axis=1) == 200).all() and search.num_nodes <= 40


@pytest.mark.parametrize("leaves", [1, 8])
def test_sums_of_a_large_tree_are_right_when_it_is_full_and_advanced(leaves):
    env = started(cypool.make(CONNECT_FOUR, num_envs=1, num_threads=0, autoreset_mode="Disabled"))
    with cypool.TreeSearch(env, simulations=150_000, max_nodes=100_000, leaves=leaves) as search:
        result = search.run("constant")
        assert search.num_nodes == 100_000 and result.visits.sum() == 150_000
        # the value of the root itself is 0
        assert np.isclose(result.value[0] * 150_001, (result.q * result.visits).sum())
        env.step(result.action)
        search.advance(result.action)
        kept = search.result()
        assert search.num_nodes < 100_000 and kept.visits.sum() == result.visits.max() - 1
        assert np.isclose(kept.value[0], -result.q.max(where=result.visits == result.visits.max(), initial=-2))
        again = search.run("constant")
        assert search.num_nodes == 100_000 and again.visits.sum() == 150_000


def rejected(error, match, call):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize(("given", "match"), [
    ({"simulations": 0}, "^simulations"), ({"leaves": 0}, "^leaves"), ({"leaves": 1.5}, "^leaves"),
    ({"algorithm": "ucb"}, "^algorithm"), ({"discount": 1.1}, "^discount"), ({"discount": float("nan")}, "^discount"),
    ({"noise": 0.3}, "^noise"), ({"noise": (0.3,)}, "^noise"), ({"noise": (0, 0.25)}, "^noise"),
    ({"noise": (1, 2)}, "^noise"), ({"algorithm": "gumbel", "noise": (1, 1)}, "^noise"), ({"seed": -1}, "^seed"),
    ({"c_init": -1}, "^c_init"), ({"c_base": 0}, "^c_base"), ({"unvisited": "child"}, "^unvisited"),
    ({"virtual_loss": -1}, "^virtual_loss"), ({"normalize": 1}, "^normalize"), ({"considered": 0}, "^considered"),
    ({"c_visit": "a"}, "^c_visit"), ({"c_scale": None}, "^c_scale"), ({"chance": "none"}, "^chance"),
    ({"max_nodes": 0}, "^max_nodes"), ({"allow_hidden": 1}, "^allow_hidden"),
])
def test_arguments_that_are_wrong_are_named(given, match):
    env = cypool.make(CONNECT_FOUR, num_envs=2, num_threads=0)
    rejected((TypeError, ValueError), match, lambda: cypool.TreeSearch(env, **given))


def test_pools_that_cannot_be_searched_are_refused():
    rejected(TypeError, "^env: expected a pool", lambda: cypool.TreeSearch("Pong"))
    rejected(ValueError, "^env: .*Discrete", lambda: cypool.TreeSearch(cypool.make("Pendulum-v1")))
    rejected(ValueError, "^env: .*synchronous",
             lambda: cypool.TreeSearch(cypool.make("CartPole-v1", num_envs=2, batch_size=1)))
    rejected(ValueError, "^env: .*Discrete", lambda: cypool.TreeSearch(cypool.make(CONNECT_FOUR, view="players")))
    rejected(ValueError, "^env: .*mover", lambda: cypool.TreeSearch(cypool.make(CONNECT_FOUR, view="single")))
    rejected(ValueError, "^env: .*no tasks or Python", lambda: cypool.TreeSearch(cypool.make("gymnasium:CartPole-v1")))
    hooked = cypool.make("CartPole-v1", reward_hook=lambda batch: batch.reward)
    rejected(ValueError, "^env: .*hooks", lambda: cypool.TreeSearch(hooked))
    never_reset = cypool.TreeSearch(cypool.make(CONNECT_FOUR, num_threads=0))
    rejected(RuntimeError, "^begin: .*reset", never_reset.begin)


def test_answers_that_are_wrong_leave_the_search_waiting():
    env = started(cypool.make(CONNECT_FOUR, num_envs=2, num_threads=0))
    search = cypool.TreeSearch(env, simulations=10)
    rejected(RuntimeError, "^recv", search.recv)
    rejected(RuntimeError, "^send", lambda: search.send(None, [0, 0]))
    search.begin()
    search.recv()
    good = np.zeros((2, 7), np.float32)
    for logits, values, error, match in [
        (good, [0], ValueError, "^values: expected shape"), (good, [0, np.nan], ValueError, "^values: .*nan"),
        (good, ["a", "b"], TypeError, "^values"), (good[:1], [0, 0], ValueError, "^logits: expected shape"),
        (good + np.nan, [0, 0], ValueError, "^logits: .*nan"), (good + np.inf, [0, 0], ValueError, "^logits: .*inf"),
        (good > 0, [0, 0], TypeError, "^logits"),
    ]:
        rejected(error, match, lambda logits=logits, values=values: search.send(logits, values))
    search.send(good - np.inf, [0, 0])
    rejected(RuntimeError, "^send", lambda: search.send(good, [0, 0]))
    while search.recv() is not None:
        search.send(None, np.zeros(2))
    assert (search.result().visits.sum(axis=1) == 10).all()
    rejected(TypeError, "^evaluate", lambda: search.run(lambda obs, mask: None))
    rejected(ValueError, "^evaluate", lambda: search.run(lambda obs, mask: (1, 2, 3)))
    rejected(ValueError, "^evaluate", lambda: search.run("network"))
    rejected(ValueError, "^num_games", lambda: search.run("rollout", num_games=0))
    rejected(ValueError, "^actions", lambda: search.advance([1]))
    rejected(ValueError, "^actions", lambda: search.advance([0.5, 1]))


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, MemoryError])
def test_an_evaluator_that_raises_ends_its_search_only(error):
    env = started(cypool.make(CONNECT_FOUR, num_envs=3, num_threads=2))
    evaluate, calls = evaluator(env.env_spec), []

    def failing(obs, mask):
        calls.append(1)
        if len(calls) == 5:
            raise error("on purpose")
        return evaluate(obs, mask)

    search = cypool.TreeSearch(env, simulations=20)
    wanted = cypool.TreeSearch(env, simulations=20).run(evaluate)
    rejected(error, "on purpose", lambda: search.run(failing))
    rejected(RuntimeError, "^recv", search.recv)
    assert [a.tobytes() for a in search.run(evaluate)] == [a.tobytes() for a in wanted]


def test_advance_with_leaves_that_wait():
    env = started(cypool.make(CONNECT_FOUR, num_envs=1, num_threads=0))
    evaluate = evaluator(env.env_spec)
    search = cypool.TreeSearch(env, simulations=60, leaves=4, virtual_loss=0.0)
    search.begin()
    for _ in range(12):
        leaves = search.recv()
        search.send(*evaluate(leaves.obs, leaves.action_mask))
    before = search.result()
    search.recv()
    env.step(before.action)
    search.advance(before.action)
    # only what is behind the action has come back, and the rest begins as if nothing had waited
    rest = search.run(evaluate)
    assert rest.visits.sum() == 60
    assert search.run(evaluate).visits.sum() == 60


def test_interrupted_at_any_moment_a_search_begins_again():
    env = started(cypool.make(CONNECT_FOUR, num_envs=2, num_threads=2))
    evaluate = evaluator(env.env_spec)
    search = cypool.TreeSearch(env, simulations=4)
    wanted = [a.tobytes() for a in search.run(evaluate)]
    for call in (search.begin, lambda: search.run("constant")):
        for error in moments(call, every=3):
            assert error is None or [a.tobytes() for a in search.run(evaluate)] == wanted


def test_closing_pools_and_searches():
    env = started(cypool.make(CONNECT_FOUR, num_envs=3, num_threads=2))
    with cypool.TreeSearch(env, simulations=20) as search:
        search.begin()
        search.recv()
    search.close()
    rejected(RuntimeError, "^begin: .*closed", search.begin)
    search = cypool.TreeSearch(env, simulations=20)
    search.begin()
    search.recv()
    env.close()
    rejected(cypool.ClosedError, "closed", lambda: search.send(None, np.zeros(3)))
    rejected(cypool.ClosedError, "closed", search.begin)
    assert search.result().visits.shape == (3, 7)
    rejected(cypool.ClosedError, "closed", lambda: cypool.TreeSearch(env))


def test_another_thread_may_search_the_same_pool():
    env = started(cypool.make(CONNECT_FOUR, num_envs=3, num_threads=2))
    wanted = cypool.TreeSearch(env, simulations=200).run("rollout")
    results = []

    def search():
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                results.append(cypool.TreeSearch(env, simulations=200).run("rollout"))
                return
            except RuntimeError as error:
                # the pool was in a call of the other thread
                assert "another call is using" in str(error)

    at_once(search, search)
    assert len(results) == 2 and all(result.visits.tobytes() == wanted.visits.tobytes() for result in results)
