"""Ids by pattern: the parts of an id that matches become options."""
import gymnasium
import pytest

import cypool
from cypool.registration import registry

CATCH = "cypool.envs.toy_text.toy_text:Catch"


def parse(height, width=None):
    if height == "1":
        raise ValueError(f"id: expected at least 2 rows, got {height}")
    return {"height": int(height), "width": int(width or height), "max_episode_steps": 3 * int(height)}


@pytest.fixture
def pattern(request):
    """Registers Catch-<height>[x<width>]-v7 in a namespace of the test."""
    namespace = request.node.name.partition("[")[0]
    cypool.register_pattern(rf"{namespace}/Catch-(?P<height>\d+)(x(?P<width>\d+))?-v7", parse, entry_point=CATCH,
                            examples=[f"{namespace}/Catch-4x3-v7", f"{namespace}/Catch-6-v7"])
    yield namespace
    for id in [id for id in registry._entries if id.startswith(namespace)]:
        del registry._entries[id]
    registry._patterns.pop()
    registry._matched.clear()


@pytest.mark.parametrize("name, shape, limit", [("4x3", (4, 3), 12), ("6", (6, 6), 18), ("70x12", (70, 12), 210)])
def test_id_that_matches_is_made_with_parsed_options(pattern, name, shape, limit):
    env = cypool.make(f"{pattern}/Catch-{name}-v7", env_type="gymnasium", num_envs=2)
    assert env.reset(seed=1)[0].shape == (2, *shape)
    assert env.env_spec.max_episode_steps == limit and env.env_spec.id == f"{pattern}/Catch-{name}-v7"


def test_examples_are_listed_and_suggested(pattern):
    assert f"{pattern}/Catch-4x3-v7" in cypool.list_all_envs()
    assert f"{pattern}/Catch-70x12-v7" not in cypool.list_all_envs()
    with pytest.raises(ValueError, match=f"did you mean {pattern}/Catch-"):
        cypool.make(f"{pattern}/Ketch-4x3-v7")


def test_options_given_win_over_parsed_ones(pattern):
    spec = cypool.make_spec(f"{pattern}/Catch-70x12-v7", width=9, max_episode_steps=5)
    assert spec.options == {"height": 70, "width": 9} and spec.max_episode_steps == 5


def test_id_that_the_parser_refuses_is_its_error(pattern):
    with pytest.raises(ValueError, match="id: expected at least 2 rows, got 1"):
        cypool.make(f"{pattern}/Catch-1-v7")


def test_gymnasium_makes_examples_and_ids_that_were_described(pattern):
    env = gymnasium.make(f"{pattern}/Catch-4x3-v7")
    assert env.reset(seed=1)[0].shape == (4, 3)
    cypool.make_spec(f"{pattern}/Catch-70x12-v7")
    assert gymnasium.make(f"{pattern}/Catch-70x12-v7").reset(seed=1)[0].shape == (70, 12)


def test_matched_ids_are_remembered_up_to_a_limit(pattern, monkeypatch):
    monkeypatch.setattr(registry, "_MOST_MATCHED", 3)
    for height in range(2, 12):
        assert cypool.make_spec(f"{pattern}/Catch-{height}x5-v7").options["height"] == height
        assert len(registry._matched) <= 3


@pytest.mark.parametrize("arguments, error, message", [
    ({"pattern": "("}, ValueError, "pattern: expected a regular expression, got '\\('"),
    ({"pattern": 3}, ValueError, "pattern: expected a regular expression, got 3"),
    ({"parse": "module:function"}, TypeError, "parse: expected a function, got 'module:function'"),
    ({"parse": lambda: [1]}, TypeError, "parse: expected a function that returns a dict of options, got \\[1\\]"),
    ({"entry_point": "Catch"}, ValueError, "entry_point: expected 'module:Class', got 'Catch'"),
    ({"reference": 1}, ValueError, "reference: expected"),
    ({"examples": ["bad/Other-v0"]}, ValueError, "examples: expected ids that match 'bad/.*', got 'bad/Other-v0'"),
    ({"examples": [7]}, ValueError, "examples: expected ids that match"),
    ({"examples": "bad/Catch-v0"}, TypeError, "examples: expected ids that match the pattern, got 'bad/Catch-v0'")])
def test_bad_arguments_are_refused(arguments, error, message):
    given = {"pattern": "bad/Catch-v0", "parse": dict, "entry_point": CATCH, "examples": ["bad/Catch-v0"], **arguments}
    before = len(registry._patterns)
    with pytest.raises(error, match=message):
        cypool.register_pattern(given.pop("pattern"), given.pop("parse"), **given)
    assert len(registry._patterns) == before and "bad/Catch-v0" not in cypool.list_all_envs()
