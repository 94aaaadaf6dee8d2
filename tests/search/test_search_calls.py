"""Tree searches in the hands of users: calls at once, copies, signals, and environments that went somewhere else."""
import copy
import functools
import pickle
import threading

import numpy as np
import pytest
from engine.threads import at_once
from interrupting import moments
from receiving import started
from waiting import LIMIT

import cypool
from cypool.tools.compile import load
from cypool.util.arguments import check_array, check_float, check_int

pytestmark = pytest.mark.families("board", "classic_control", "toy_text")

CONNECT_FOUR, ROW = "board/connect_four-v0", np.zeros(2)


def made(id=CONNECT_FOUR, num_envs=2, num_threads=0, **options):
    return started(cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=3,
                               **{"autoreset_mode": "Disabled", **options}))


def same(result, other):
    return [a.tobytes() for a in result] == [a.tobytes() for a in other]


def evaluate_exactly(obs, mask):
    """Returns values that depend on each row alone."""
    rows = obs.reshape(len(obs), -1)
    return None, (rows @ np.arange(rows.shape[1], dtype=np.float32) % 64 - 32) / 64


@functools.cache
def register_environments():
    """Registers one that truncates its episodes itself, and one whose chance has a stream of its own."""
    module = load("""
from cypool.env cimport Env, Slot, import_cypool, obs_row
from cypool.spec import Array, Discrete, EnvSpec

import_cypool()

cdef class Cut(Env):
    cdef int count

    @staticmethod
    def describe(owns: bool = False):
        return EnvSpec(observation=Array((1,), "float32"), action=Discrete(2), options={"owns": owns},
                       has_own_chance=owns)

    def __init__(self, spec, env_id):
        pass

    cdef int reset(self) except -1 nogil:
        self.count = 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.count += 1
        self.reward, self.truncated = 1, self.count % 3 == 0
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        obs_row[float](out, 0)[0] = self.count
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        self.count = (<Cut>other).count
        return 0
""")
    cypool.register("test/Cut-v0", f"{module.__name__}:Cut")


@functools.cache
def policies():
    """Returns a C function whose logits of actions that are not legal are its first parameter."""
    return load("""
from cypool.env cimport import_cypool
from cypool.policies cimport Decision

import_cypool()

cdef api int masked(Decision* d) noexcept nogil:
    cdef const float* obs = <const float*>d.obs[0]
    cdef const char* mask = <const char*>d.info[0]
    cdef float* out = <float*>d.action
    cdef int k
    for k in range(7):
        out[k] = obs[k] + k * 0.25 if mask[k] else (<const float*>d.parameters)[0]
    out[7] = 0
    return 0
""").__pyx_capi__


# ---- one call at a time, of one search

def test_calls_of_another_thread_and_of_the_evaluator_are_refused():
    env, inside, goes_on, seen = made(), threading.Event(), threading.Event(), []
    search = cypool.TreeSearch(env, simulations=8)
    calls = [lambda: search.run("constant"), lambda: search.run("rollout"), search.begin, search.recv, search.result,
             lambda: search.send(None, np.zeros(2)), lambda: search.advance([0, 0]), search.close,
             lambda: search.num_nodes]

    def refused():
        for call in calls:
            with pytest.raises(RuntimeError, match="^another call is using the search"):
                call()
            seen.append(call)

    def evaluate(obs, mask):
        if not inside.is_set():
            refused()
            inside.set()
            assert goes_on.wait(LIMIT)
        return None, np.zeros(len(obs))

    def ask():
        assert inside.wait(LIMIT)
        try:
            refused()
        finally:
            goes_on.set()

    at_once(ask, lambda: seen.append(search.run(evaluate)))
    assert len(seen) == 2 * len(calls) + 1
    assert same(seen[-1], search.run(lambda obs, mask: (None, np.zeros(len(obs)))))


def test_searches_from_two_threads_leave_right_trees():
    env = made(num_envs=3, num_threads=2)
    search = cypool.TreeSearch(env, simulations=300)

    def run():
        for _ in range(60):
            try:
                assert (search.run("constant").visits.sum(axis=1) == 300).all()
                search.advance([0, 1, 2])
            except (RuntimeError, ValueError) as error:
                assert "another call is using" in str(error) or "expected the actions of the last step" in str(error)

    at_once(run, run)
    assert same(search.run("constant"), cypool.TreeSearch(env, simulations=300).run("constant"))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_of_a_search_are_refused(copied):
    with pytest.raises(TypeError, match="^a TreeSearch cannot be pickled or copied"):
        copied(cypool.TreeSearch(made()))


def test_attributes_that_memory_depends_on_cannot_be_assigned():
    env = made()
    search = cypool.TreeSearch(env, leaves=32, simulations=40)
    for name, value in [("leaves", 1), ("env", made()), ("num_nodes", 3)]:
        with pytest.raises(AttributeError, match=name):
            setattr(search, name, value)
    assert search.leaves == 32 and search.env is env
    search.simulations = 4
    assert (search.run().visits.sum(axis=1) == 4).all()
    search.simulations = "many"
    with pytest.raises(TypeError, match="^simulations: expected an int, got 'many'"):
        search.run()


def test_a_closed_search_says_so():
    search = cypool.TreeSearch(made(), simulations=4)
    search.run()
    search.close()
    search.close()
    for name, call in [("begin", search.run), ("result", search.result), ("advance", lambda: search.advance([0, 0]))]:
        with pytest.raises(RuntimeError, match=f"^{name}: the search is closed"):
            call()


# ---- trees, and where the environments are

def played(search, env, actions):
    """Searches, steps and advances."""
    search.run(evaluate_exactly)
    env.step(actions)
    search.advance(actions)


def position_elsewhere(env, how):
    """Moves environments elsewhere without a word to the search."""
    if how == "reset":
        env.reset()
    elif how == "step":
        env.step([5, 5])
    elif how == "copy":
        env.step([2], [0])
        env.copy(0, 1)
    else:
        other = made()
        for action in ([1, 2], [6, 6])[:2 if how == "load" else 1]:
            other.step(action)
        env.load(other.save())


@pytest.mark.parametrize("how", ["reset", "step", "copy", "load", "load of as many steps"])
@pytest.mark.parametrize("algorithm", ["puct", "gumbel"])
def test_a_search_from_elsewhere_begins_anew(how, algorithm):
    env = made()
    search = cypool.TreeSearch(env, simulations=60, algorithm=algorithm)
    played(search, env, [3, 3])
    position_elsewhere(env, how)
    fresh = cypool.TreeSearch(env, simulations=60, algorithm=algorithm)
    assert same(search.run(evaluate_exactly), fresh.run(evaluate_exactly))


def test_a_tree_is_kept_where_its_environment_comes_back():
    env = made()
    search = cypool.TreeSearch(env, simulations=60)
    played(search, env, [3, 3])
    kept, state = search.result(), env.save()
    env.step([0, 1])
    env.load(state)
    search.begin()
    assert kept.visits.any() and same(search.result(), kept)


def test_a_tree_follows_several_steps():
    env = made()
    search = cypool.TreeSearch(env, simulations=200)
    first = search.run("constant")
    env.step(first.action)
    search.advance(first.action)
    replies = search.result()
    env.step(replies.action)
    search.advance(replies.action)
    assert (search.result().visits.sum(axis=1) == replies.visits.max(axis=1) - 1).all()
    env.step([6], [1])
    search.advance([6], [1])
    assert search.result().visits[0].tolist() != search.result().visits[1].tolist()
    assert (search.run("constant").visits.sum(axis=1) == 200).all()


def test_advance_in_an_episode_that_the_search_has_not_seen_drops_the_trees():
    env = made()
    for _ in range(3):
        env.step([3, 3])
    search = cypool.TreeSearch(env, simulations=60)
    search.run("constant")
    env.reset()
    for _ in range(5):
        env.step([2, 2])
        search.advance([2, 2])
        assert search.result().visits.sum() == 0


@pytest.mark.parametrize("num_threads", [0, 2])
@pytest.mark.parametrize("how", ["twice", "another action", "no step", "two steps", "one environment"])
def test_advance_of_another_step_is_refused_and_the_search_begins_anew(how, num_threads):
    env = made(num_threads=num_threads)
    env.step([6, 6])
    search = cypool.TreeSearch(env, simulations=60)
    search.run("constant")
    if how == "twice":
        env.step([3, 3])
        search.advance([3, 3])
    elif how == "one environment":
        env.step([3], [1])
    elif how != "no step":
        env.step([3, 3])
    if how == "two steps":
        env.step([3, 3])
    wrong = "2 for env 0" if how == "another action" else "3 for env 0"
    with pytest.raises(ValueError, match=f"^actions: expected the actions of the last step.* got {wrong}$"):
        search.advance([2, 2] if how == "another action" else [3, 3])
    # the one that has made the step was advanced
    assert search.result().visits[0].sum() == 0
    assert (search.result().visits[1].sum() > 0) == (how == "one environment")
    result, fresh = search.run("constant"), cypool.TreeSearch(env, simulations=60).run("constant")
    assert result.visits[0].tolist() == fresh.visits[0].tolist()
    assert how == "one environment" or same(result, fresh)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_trees_of_episodes_that_begin_are_dropped(mode):
    env = made("board/tic_tac_toe-v0", autoreset_mode=mode)
    search = cypool.TreeSearch(env, simulations=30)
    ended = followed = 0
    for _ in range(20):
        # which ends some game
        actions = search.run("constant").action
        _, _, terminated, truncated, _ = env.step(actions)
        search.advance(actions)
        kept = search.result().visits.sum(axis=1)
        assert (kept[terminated] == 0).all()
        ended, followed = ended + terminated.sum(), followed + kept.any()
    assert ended and followed


def test_chance_of_the_environment_is_followed():
    env = made("board/2048-v0", num_envs=8)
    for chance in ("resample", "foresee"):
        search = cypool.TreeSearch(env, simulations=60, chance=chance)
        for _ in range(6):
            action = search.run("constant").action
            env.step(action)
            # a tile is drawn
            search.advance(action)


def test_environments_without_save_begin_anew():
    register_environments()
    env = made("test/Cut-v0")
    search = cypool.TreeSearch(env, simulations=10)
    played(search, env, [0, 1])
    assert search.result().visits.sum() == 0 and search.run(evaluate_exactly).visits.sum() == 20


@pytest.mark.parametrize(("given", "match"), [
    ((np.full(2, 2**63, np.uint64),), "^actions: expected 0 to 6, got 9223372036854775808"),
    (([7, 0],), "^actions: expected 0 to 6, got 7"), (([0, -1],), "^actions: expected 0 to 6, got -1"),
    (([0, 0], [0]), r"^actions: expected integers of shape \(1,\)"),
    (([0, 0], [0, 0]), "^env_id: expected distinct ids in"), (([0], [2]), "^env_id: expected distinct ids in"),
])
def test_wrong_arguments_of_advance_are_named(given, match):
    search = cypool.TreeSearch(made(), simulations=4)
    search.run()
    with pytest.raises(ValueError, match=match):
        search.advance(*given)


# ---- signals

@pytest.mark.parametrize(("id", "options", "call"), [
    ("FrozenLake-v1", {"desc": ["SFF", "FFF"], "max_episode_steps": 2 * 10**9}, "run('rollout')"),
    (CONNECT_FOUR, {}, "run('rollout', num_games=10**6)"),
    ("board/tic_tac_toe-v0", {}, "run('constant')"),
    ("board/tic_tac_toe-v0", {}, "run(lambda obs, mask: (None, [0.0] * len(obs)))"),
])
@pytest.mark.parametrize("num_threads", [0, 2])
def test_ctrl_c_ends_searches_that_would_take_for_ever(run_forked, id, options, call, num_threads):
    assert run_forked(f"""
import faulthandler, signal
import cypool

def interrupt(*_):
    raise KeyboardInterrupt("on purpose")

faulthandler.dump_traceback_later(60, exit=True)
env = cypool.make({id!r}, num_envs=2, num_threads={num_threads}, autoreset_mode="Disabled", **{options})
env.reset()
search = cypool.TreeSearch(env, simulations=2**31 - 1, max_nodes=1000)
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    search.{call}
except KeyboardInterrupt as error:
    print(error)
search.simulations = 9
print(search.run("constant").visits.sum())
""", check=True).stdout.split("\n")[:2] == ["on purpose", "18"]


def test_long_searches_have_the_same_results_wherever_their_steps_end():
    seen = []
    for num_threads in (0, 1, 3):
        env = made(num_envs=3, num_threads=num_threads)
        # these take several steps of the trees, each of which ends where the clock says
        seen.append([cypool.TreeSearch(env, simulations=9, chance="foresee").run("rollout", num_games=12_000),
                     cypool.TreeSearch(env, simulations=100_000, max_nodes=20_000).run("constant")])
    assert all(same(a, b) for other in seen[1:] for a, b in zip(seen[0], other, strict=True))
    env = made("board/tic_tac_toe-v0")
    for action in (0, 3, 1, 4):
        env.step([action] * 2)
    result = cypool.TreeSearch(env, simulations=400_000, leaves=3).run(lambda obs, mask: (None, np.zeros(len(obs))))
    assert (result.visits.sum(axis=1) == 400_000).all() and (result.action == 2).all()


@pytest.mark.parametrize("num_threads", [0, 2])
def test_leaves_of_a_tree_wait_while_the_step_of_another_one_is_continued(num_threads):
    env = made("board/tic_tac_toe-v0", num_threads=num_threads)
    # one square is left in the first game, whose simulations all end; the second one has leaves
    for env_id, moves in enumerate([(0, 1, 2, 3, 5, 4, 6, 8), (0, 1, 2, 3, 5)]):
        for move in moves:
            env.step([move], [env_id])
    result = cypool.TreeSearch(env, simulations=2_000_000).run(evaluate_exactly)
    alone = made("board/tic_tac_toe-v0", num_envs=1)
    alone.load(env.save([1]), [0])
    wanted = cypool.TreeSearch(alone, simulations=2_000_000).run(evaluate_exactly)
    assert result.visits[0].tolist() == [0] * 7 + [2_000_000, 0]
    assert [part[1].tobytes() for part in result] == [part[0].tobytes() for part in wanted]


@pytest.mark.parametrize("check", [
    lambda: check_int("n", 40, 1, 400), lambda: check_float("x", 0.5, 0, 1), lambda: check_array("a", ROW, "numbers"),
    lambda: check_array("a", [0, 1, 2], "integers"), lambda: check_array("a", (0.5, 1.5), "numbers")])
def test_an_exception_of_a_signal_handler_is_not_taken_for_a_wrong_argument(check):
    class Alarm(Exception):
        pass

    assert len(list(moments(check, raises=Alarm))) > 10


# ---- values

def test_random_games_end_where_an_environment_truncates_its_episode():
    register_environments()
    result = cypool.TreeSearch(made("test/Cut-v0"), simulations=50, max_nodes=2).run("rollout", num_games=3)
    assert np.nanmax(result.q) == result.value[0] == 3


def test_chance_with_a_stream_of_its_own_is_not_drawn_again():
    register_environments()
    env = made("test/Cut-v0", owns=True)
    with pytest.raises(ValueError, match="^chance: expected 'foresee' for test/Cut-v0 .it draws"):
        cypool.TreeSearch(env)
    assert cypool.TreeSearch(env, chance="foresee", simulations=9).run().visits.sum() == 18


@pytest.mark.parametrize(("algorithm", "noise"), [("puct", (0.3, 0.25)), ("gumbel", True)])
def test_noise_does_not_depend_on_the_number_of_environments(algorithm, noise):
    seen = []
    for num_envs in (2, 5):
        search = cypool.TreeSearch(made(num_envs=num_envs), simulations=30, algorithm=algorithm, noise=noise)
        seen.append([search.run("constant").visits[:2].tolist() for _ in range(3)])
    assert seen[0] == seen[1] and seen[0][0] != seen[0][1] != seen[0][2]


def full_column(num_envs=2):
    """Returns a pool where the first column is full."""
    env = made(num_envs=num_envs)
    for _ in range(6):
        env.step([0] * num_envs)
    return env


@pytest.mark.parametrize("wrong", [0, -np.inf, np.inf, np.nan])
def test_logits_of_illegal_actions_are_ignored(wrong):
    env = full_column()

    def evaluate(obs, mask):
        rows = obs.reshape(len(obs), -1)[:, :7] + np.arange(7, dtype=np.float32) * np.float32(0.25)
        return np.where(mask, rows, np.float32(wrong)), np.zeros(len(obs))

    wanted = cypool.TreeSearch(env, simulations=60).run(lambda obs, mask: (
        np.where(mask, evaluate(obs, mask)[0], 0), np.zeros(len(obs))))
    assert same(cypool.TreeSearch(env, simulations=60).run(evaluate), wanted)
    function = cypool.Policy(policies()["masked"], parameters=np.full(1, wrong, np.float32))
    assert same(cypool.TreeSearch(env, simulations=60).run(function), wanted)
    assert (wanted.visits[:, 0] == 0).all()


def test_logits_of_legal_actions_are_checked():
    env = full_column()
    search = cypool.TreeSearch(env, simulations=60)
    with pytest.raises(ValueError, match="^logits: expected numbers, or -inf, got nan"):
        search.run(lambda obs, mask: (np.full((len(obs), 7), np.nan), np.zeros(len(obs))))

    def forges(obs, mask):
        mask[:] = 0
        return np.full((len(obs), 7), np.nan), np.zeros(len(obs))

    with pytest.raises(cypool.EnvError, match="logits of legal actions"):
        search.run(forges)


@pytest.mark.parametrize(("call", "error", "match"), [
    (lambda search: search.run(5), ValueError, "^evaluate: expected a C function .* got 5, which is not an address"),
    (lambda search: search.run(len, num_games="x"), TypeError, "^num_games: expected an int, got 'x'"),
    (lambda search: search.run().sample(rng=5), TypeError, "^rng: expected a numpy.random.Generator or None, got 5"),
])
def test_wrong_arguments_are_named(call, error, match):
    with pytest.raises(error, match=match):
        call(cypool.TreeSearch(made(), simulations=4))


def test_a_sample_without_chance_is_a_copy():
    result = cypool.TreeSearch(made(), simulations=4).run()
    drawn = result.sample(0)
    drawn += 1
    assert (result.action != drawn).all()
