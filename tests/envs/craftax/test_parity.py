"""Craftax is craftax: ids, options and modes with random actions, and all rules from states that chance has changed."""
import importlib

import pytest
from family_tests import equals
from markers import exhaustive

from cypool.envs.craftax import specs

pytestmark = pytest.mark.large_packages
pytest.importorskip("craftax")
from envs.craftax.play import CHANGES, CLASSIC, FULL, OPTIONS, Duel, play  # noqa: E402

from cypool.envs.craftax.reference import package_env, static_of  # noqa: E402

# each set of static parameters is compiled for a minute
QUICK = [case for case in OPTIONS
         if "AutoReset" not in case[0] and not {"max_zombies", "max_melee_mobs"} & set(case[1])]

test_parity = equals([*QUICK, *exhaustive(*(case for case in OPTIONS if case not in QUICK))], num_envs=2, num_steps=150,
                     seeds=[3], num_threads=0)
# pixels are compiled for some minutes
test_parity_of_pixels = equals(exhaustive("Craftax-Classic-Pixels-v1", "Craftax-Pixels-v1", (
    "Craftax-Pixels-AutoReset-v1", {"max_timesteps": 50})), num_envs=2, num_steps=150, seeds=[3], num_threads=0)
test_parity_in_other_modes = equals([(CLASSIC, {"autoreset_mode": mode}) for mode in ("SameStep", "Disabled")], least=2,
                                    num_envs=3, num_steps=150, seeds=[4], num_threads=2, max_timesteps=60)


@pytest.mark.parametrize("id, num_changes, least", [
    (CLASSIC, 25, {"wounds": 20, "ends": 5}), (FULL, 25, {"wounds": 20, "ends": 5}),
    *exhaustive((CLASSIC, 400, {"wounds": 300, "ends": 100}), (FULL, 400, {"wounds": 300, "ends": 100}))])
def test_changed_states_continue_as_in_the_package(id, num_changes, least):
    counts = play(Duel(id, 1), CHANGES[id], num_changes, 12)
    assert all(counts[name] >= count for name, count in least.items())


@pytest.mark.parametrize("seeds", [range(4), *exhaustive(range(4, 60))])
def test_floors_are_those_of_the_package(seeds):
    for seed in seeds:
        duel = Duel(FULL, seed, god_mode=True)
        for action in [18] * 8 + [2] * 40:
            duel.step(action)  # descends, and leaves the map on the right
    Duel(CLASSIC, 3, key=(123, 4_000_009_905))  # the last bit of the noise decides a cell


def test_achievements_have_the_names_and_order_of_the_package():
    for game, folder in (("Craftax-Classic", "craftax_classic"), ("Craftax", "craftax")):
        enum = importlib.import_module(f"craftax.{folder}.constants").Achievement
        names = [each.name.lower() for each in sorted(enum, key=lambda each: each.value)]
        assert list(specs.ACHIEVEMENTS[game]) == names


def test_options_are_the_parameters_of_the_package():
    for game, describe in (("Craftax-Classic", specs.classic), ("Craftax", specs.full)):
        env = package_env(game, "symbolic", False, static_of(describe().options)[1])
        known = {**vars(env.default_params), **vars(env.default_static_params())}
        options = {name: value for name, value in describe().options.items() if name not in specs._FLOW}
        assert options == {name: value for name, value in known.items() if name not in ("map_size", "num_levels")}
