"""The robotic warehouse: rware's bits; ids; the order of sets; rules at the edge; pictures; states; options."""
import importlib.util

import family_tests
import gymnasium
import numpy as np
import pytest
from envs.rware.play import BASE, VARIANTS, players
from markers import often_slow
from pool_arguments import MODES
from receiving import started, stepped
from state_edits import edited, number_in

import cypool
from cypool.envs.rware.rware import order_of_set
from cypool.testing import check_parity

needs_rware = pytest.mark.skipif(importlib.util.find_spec("rware") is None, reason="needs rware")
FORWARD, LOAD = 1, 4
UP, DOWN, LEFT, RIGHT = range(4)
# columns 0 to 4
LAYOUT = ".....\n.x.x.\n..g.."


def made(id=BASE, **options):
    return started(cypool.make(id, **{"num_envs": 1, "num_threads": 0, "seed": 3, **options}))


def placed(*agents, **options):
    """Returns an environment whose agents are at columns and rows, with directions."""
    env = made(n_agents=len(agents), layout=LAYOUT, request_queue_size=1, **options)
    numbers = {f"agent[{k}].{name}": value for k, agent in enumerate(agents)
               for name, value in zip(("x", "y", "direction"), agent, strict=True)}
    env.load(edited(env.save(), {**numbers, "request[0]": 1}))
    return env


def positions(env):
    state, count = env.save(), env.env_spec.num_agents
    return [tuple(number_in(state, f"agent[{k}].{name}") for name in "xy") for k in range(count)]


@needs_rware
@pytest.mark.parametrize("id, options", often_slow(VARIANTS, 5))
def test_parity(id, options):
    with players(1):
        for mode, num_steps in zip(MODES, (70, 40, 40), strict=True):
            check_parity(id, num_envs=1, num_steps=num_steps, seeds=[5], num_threads=0, autoreset_mode=mode,
                         **{"max_steps": 30, **options})


@needs_rware
def test_ids_mean_what_rware_registers():
    import rware  # registers them

    known = [spec for spec in gymnasium.registry.values() if str(spec.entry_point).startswith(rware.__name__)]
    assert len(known) >= 228
    for theirs in known[::5]:
        if theirs.kwargs["shelf_rows"] == 1 and theirs.kwargs["request_queue_size"] > 31:
            # more requests than shelves, of which rware fails in a reset
            continue
        ours, wanted = cypool.make_spec(theirs.id).options, dict(theirs.kwargs)
        wanted["reward_type"] = wanted["reward_type"].name.lower()
        assert {name: ours[name] for name in wanted} == wanted


@needs_rware
def test_requests_have_the_order_of_rwares_queue():
    from cypool.envs.rware.reference import make_env

    # only a state shows it
    env = made(n_agents=2, layout=".....\n.x.x.\n.x.x.\n..g..", request_queue_size=3, max_steps=None)
    theirs = make_env(env.env_spec)
    theirs.reset(seed=3)
    random, queues = np.random.default_rng(0), set()
    for step in range(2000):
        actions = random.integers(1, 5, 2)
        env.step(actions[None])
        theirs.step(actions.tolist())
        if step % 20 == 0:
            state = env.save()
            queues.add(queue := tuple(number_in(state, f"request[{k}]") for k in range(3)))
            assert queue == tuple(shelf.id for shelf in theirs.request_queue)
    assert len(queues) > 5


def test_cells_have_the_order_of_a_set():
    random = np.random.default_rng(0)
    for _ in range(500):
        size = random.integers(1, 200)
        cells = list(zip(random.integers(0, 120, size).tolist(), random.integers(0, 120, size).tolist(), strict=True))
        theirs = set()
        for cell in cells:
            theirs.add(cell)
        assert order_of_set(cells) == list(theirs)


@pytest.mark.parametrize("id, message", [
    ("rware-tiny-101ag-v2", "n_agents: expected 1 to 100, got 101"),
    ("rware-1x2-8h-2ag-1req-global-v2", "shelf_columns: expected an odd number, got 2"),
    ("rware-1x1-8h-2ag-1req-global-v2", "shelf_rows, shelf_columns and column_height: expected a layout with "),
    ("rware-1x3-1h-2ag-4req-global-v2", "request_queue_size: expected at most 3, one less than the number of"),
    ("rware-tiny-16ag-easy-v2", "request_queue_size: expected at most 31, one less than the number of shelves"),
    ("rware-99s-tiny-2ag-v2", "sensor_range: expected 0 to 20, got 99")])
def test_ids_without_an_environment_are_refused(id, message):
    with pytest.raises(ValueError, match=message):
        cypool.make(id)


def test_agents_do_not_change_places():
    env = placed((0, 0, RIGHT), (1, 0, LEFT))
    env.step([[FORWARD, FORWARD]])
    assert positions(env) == [(0, 0), (1, 0)]


def test_circle_of_four_turns():
    env = placed((0, 0, RIGHT), (1, 0, DOWN), (1, 1, LEFT), (0, 1, UP))
    env.step([[FORWARD] * 4])
    assert positions(env) == [(1, 0), (1, 1), (0, 1), (0, 0)]


def test_longer_chain_goes_first():
    env = placed((2, 1, UP), (1, 0, RIGHT), (0, 0, RIGHT))
    env.step([[FORWARD] * 3])
    assert positions(env) == [(2, 1), (2, 0), (1, 0)]


@pytest.mark.parametrize("reward_type, wanted", [
    ("individual", [1, 0]), ("global", [1, 1]), ("two_stage", [0.5, 0])])
def test_delivery_is_rewarded(reward_type, wanted):
    env = placed((1, 1, RIGHT), (4, 0, UP), reward_type=reward_type)
    env.step([[LOAD, 0]])
    env.step([[FORWARD, 0]])
    env.step([[3, 0]])
    *_, info = env.step([[FORWARD, 0]])
    assert info["agents"]["agent"]["reward"].tolist() == [wanted]
    assert number_in(env.save(), "request[0]") == 2


@pytest.mark.parametrize("truncate", [False, True])
def test_last_step_terminates_or_truncates(truncate):
    env = made(max_steps=1, truncate=truncate)
    *_, terminated, truncated, _ = env.step([[0, 0]])
    assert (terminated[0], truncated[0]) == (not truncate, truncate)


def test_picture_shows_agents_shelves_and_goals():
    picture = placed((0, 0, UP)).render()[0]
    assert picture.shape == (73, 121, 3)
    assert len({tuple(picture[y, x]) for y, x in ((18, 12), (30, 30), (30, 78), (50, 50), (50, 2))}) == 5


test_states_continue = family_tests.continues([(BASE, mode, {}) for mode in MODES] + [
    (BASE, "NextStep", {"n_agents": 9, "msg_bits": 2}), ("rware-imgdict-Nd-small-4ag-easy-v2", "NextStep", {})],
    before=7, after=60, max_steps=20)


def test_edited_states_are_harmless():
    for options in ({"n_agents": 9, "msg_bits": 1},
                    {"n_agents": 5, "reward_type": "two_stage", "observation_type": "image_dict"}):
        family_tests.assert_edits_are_harmless(lambda options=options: stepped(made(**options), 5), 60, 4)


def test_states_that_break_rules_are_refused():
    env = placed((0, 0, UP), (4, 0, UP))
    state = env.save()
    for numbers, message in (
            ({"agent[1].x": 0}, r"agent\[0\]: expected a cell without another agent"),
            ({"shelf[1].x": 1}, r"shelf\[0\]: expected a cell without another shelf"),
            ({"shelf[1].x": 2}, r"shelf\[1\]: expected a cell off the highways, because no agent carries it"),
            ({"agent[0].carries": 1}, r"agent\[0\].carries: expected a shelf that is where the agent is, or 0, got 1")):
        with pytest.raises(ValueError, match=message):
            env.load(edited(state, numbers))
    env = made()
    with pytest.raises(ValueError, match="request: expected different shelves"):
        env.load(edited(env.save(), {"request[0]": 3, "request[1]": 3}))


test_states_of_other_forms_are_refused = family_tests.refuses_other_forms(made)

test_render_without_a_reset_is_refused = family_tests.draws_after_a_reset(made)


test_bad_options_are_refused = family_tests.refuses([
    ({"shelf_columns": 4}, ValueError, "shelf_columns: expected an odd number, got 4"),
    ({"column_height": 0}, ValueError, "column_height: expected 1 to 100, got 0"),
    ({"shelf_rows": 100, "column_height": 100}, ValueError, ".* and column_height: expected at most 10000 cells, got"),
    ({"shelf_columns": 1}, ValueError, "shelf_rows, shelf_columns and .*: expected a layout with at least one shelf"),
    ({"layout": "gx", "n_agents": 3}, ValueError, r"n_agents: expected at most 2 \(the number of cells\), got 3"),
    ({"layout": "g."}, ValueError, "layout: expected a layout with at least one shelf"),
    ({"layout": "gx\nx"}, ValueError, "layout: expected equal-length lines of 'x', '.' and at least one 'g'"),
    ({"layout": "xx"}, ValueError, "layout: expected equal-length lines"),
    ({"layout": "gxy"}, ValueError, "layout: expected equal-length lines"),
    ({"layout": 5}, TypeError, "layout: expected a str, got 5"),
    ({"layout": "gxx", "request_queue_size": 1, "normalised_coordinates": True}, ValueError,
     "normalised_coordinates: expected False with a single row or column, got True"),
    ({"column_height": 1, "request_queue_size": 6}, ValueError, "request_queue_size: expected at most 3, .*, got 6"),
    ({"request_queue_size": 32}, ValueError, "request_queue_size: expected at most 31, one less"),
    ({"reward_type": "mine"}, ValueError, "reward_type: expected one of 'global', 'individual', 'two_stage', got"),
    ({"observation_type": "dict"}, ValueError, "observation_type: expected one of"),
    ({"image_observation_layers": []}, ValueError, "image_observation_layers: expected one or more unique layers"),
    ({"image_observation_layers": ["goals", 3]}, ValueError, r"image_observation_layers\[1\]: expected one of"),
    ({"image_observation_layers": ["agent_load"], "observation_type": "image"}, ValueError,
     "image_observation_layers: expected a square grid for agent_direction and agent_load"),
    ({"msg_bits": 17}, ValueError, "msg_bits: expected 0 to 16, got 17"),
    ({"max_inactivity_steps": 0}, ValueError, "max_inactivity_steps: expected 1 to"),
    ({"max_steps": 0}, ValueError, "max_steps: expected 1 to"),
    ({"agents": 5}, ValueError, "agents: not an option")], BASE)


def test_most_of_everything_is_stepped():
    stepped(made(n_agents=100, msg_bits=16, sensor_range=20), 2)
    stepped(made(n_agents=100, layout="\n".join(["x" * 99 + "g"] * 100), request_queue_size=9_899), 2)


test_nothing_is_imported = family_tests.imports_nothing(
    [(BASE, {}, True)], ["rware", "networkx", "pyglet", "pettingzoo"])

test_parallel_env_passes_the_test_of_pettingzoo = family_tests.pettingzoo_accepts(BASE)

test_tuples_are_those_of_rware = family_tests.equals_tuples(BASE, "rware")
