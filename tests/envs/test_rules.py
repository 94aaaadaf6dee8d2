"""`RulesEnv`: the numbers of a state by name."""
import pytest

from cypool.envs.shared.rules.rules_env import nested


@pytest.mark.parametrize("numbers, expected", [
    ([("time", 3), ("at.x", 1.5), ("at.y", 2)], {"time": 3, "at": {"x": 1.5, "y": 2}}),
    ([("player[0].x", 1), ("player[1].x", 2)], {"player": [{"x": 1}, {"x": 2}]}),
    ([("food.size", 0)], {"food": []}), ([("food.size", 1), ("food[0]", 7)], {"food": [7]}),
    ([("a[0].b[0]", 1), ("a[0].b[1]", 2)], {"a": [{"b": [1, 2]}]})])
def test_numbers_of_a_state_are_nested_by_their_paths(numbers, expected):
    assert nested(numbers) == expected
