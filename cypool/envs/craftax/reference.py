"""craftax itself as environments of Gymnasium's: the other side of `cypool.testing.check_parity`.

Each environment is stepped by itself: `jax.vmap` of nine or more of Classic makes other worlds with jaxlib 0.10.2.
"""
from __future__ import annotations

import contextlib
import functools
import importlib
import io
import os
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv
from numpy.typing import NDArray

from cypool.envs.craftax.specs import ACHIEVEMENTS
from cypool.spec import EnvSpec
from cypool.util.packages import require_version

VERSION, JAX_VERSION = "1.6.1", "0.10.2"
INSTALL = f'pip install "cypool[craftax]" jax=={JAX_VERSION}'
_STATIC = {"Craftax-Classic": ("max_zombies", "max_cows", "max_growing_plants", "max_skeletons", "max_arrows"),
           "Craftax": ("max_melee_mobs", "max_passive_mobs", "max_growing_plants", "max_ranged_mobs",
                       "max_mob_projectiles", "max_player_projectiles")}


@functools.cache
def package_env(game: str, obs_type: str, auto_reset: bool, static: tuple[int, ...]) -> Any:
    """Returns an environment of the package, whose functions JAX compiles once."""
    folder = "craftax_classic" if game == "Craftax-Classic" else "craftax"
    # the package prints, and writes textures into its folder
    with contextlib.redirect_stdout(io.StringIO()):
        module = importlib.import_module(f"craftax.{folder}.envs.craftax_{obs_type}_env")
        name = "CraftaxClassic" if game == "Craftax-Classic" else "Craftax"
        kind = "Symbolic" if obs_type == "symbolic" else "Pixels"
        cls = getattr(module, f"{name}{kind}Env{'' if auto_reset else 'NoAutoReset'}")
        params = cls.default_static_params().replace(**dict(zip(_STATIC[game], static, strict=True)))
        return cls(params)


def static_of(options: Mapping[str, Any]) -> tuple[str, tuple[int, ...]]:
    """Returns which game options are of, and the package's static parameters among them."""
    game = "Craftax-Classic" if "zombie_health" in options else "Craftax"
    return game, tuple(options[name] for name in _STATIC[game])


class Reference(gymnasium.Env[Any, Any]):
    """One of the package's environments, with the key of a user who splits it for each call.

    Args:
        spec: Ours.
        index: Which one it is in its pool.
        limit: Truncates episodes after this number of steps.
    """

    def __init__(self, spec: EnvSpec, index: int, limit: int | None):
        import jax

        self.split = jax.jit(jax.random.split)
        options = dict(spec.options)
        self.game, static = static_of(options)
        self.obs_type, self.auto_reset = options.pop("obs_type"), options.pop("auto_reset")
        self.given, self.index, self.limit = options.pop("key"), index, limit
        self.env = package_env(self.game, self.obs_type, self.auto_reset, static)
        # of an end, which the package's automatic reset does not show
        self.ending = package_env(self.game, self.obs_type, False, static)
        self.params = self.env.default_params.replace(
            **{name: value for name, value in options.items() if name not in _STATIC[self.game]})
        self.observation_space = spec.spaces[0] if spec.spaces else _box(spec)
        self.action_space = gymnasium.spaces.Discrete(self.env.num_actions)
        self.key: Any = None
        self.state: Any = None
        self.following: Any = None

    def take(self) -> Any:
        """Returns the key of the next call."""
        self.key, taken = self.split(self.key)
        return taken

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode; with a seed, the first one of an environment with this seed, or with the given key."""
        import jax

        if seed is not None:
            self.key, self.following = jax.random.PRNGKey(seed), None
            if self.given is not None:
                key = np.array(self.given, np.uint32)
                self.key = jax.random.split(jax.numpy.asarray(key), self.index + 1)[self.index]
        obs, self.state = self.following or self.env.reset(self.take(), self.params)
        self.following, self.steps = None, 0
        return np.asarray(obs), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Steps, and makes an array of the achievements."""
        key, before = self.take(), self.state
        obs, self.state, reward, done, found = self.env.step(key, before, int(action), self.params)
        self.steps += 1
        if self.auto_reset and done:
            self.following = obs, self.state
            obs, self.state, *_ = self.ending.step(self.split(key)[0], before, int(action), self.params)
        achievements = [found[f"Achievements/{name}"] for name in ACHIEVEMENTS[self.game]]
        info = {name: np.float32(value) for name, value in found.items() if name in ("discount", "score")}
        info["achievements"] = np.array(achievements, np.float32)
        return np.asarray(obs), float(reward), bool(done), self.steps == self.limit, info


def _box(spec: EnvSpec) -> gymnasium.spaces.Box:
    (_, own), = spec.observations
    return gymnasium.spaces.Box(own.low, own.high, own.shape, own.dtype.type)


class References(SyncVectorEnv):
    """A batch of these."""

    # no Generators: see `streams`
    np_random: Any = None

    def streams(self, rows: list[Any]) -> list[tuple[str, str]]:
        """Returns whether the whole state of each environment, as it is saved, is the package's."""
        envs: Any = self.envs
        return [("the package's state", compared(row["own"][0], env)) for row, env in zip(rows, envs, strict=True)]


def compared(saved: bytes, env: Reference) -> str:
    """Returns "the package's state", or where a saved one differs from it."""
    theirs = packed(env, saved)
    if saved == theirs:
        return "the package's state"
    first = next((k for k, (a, b) in enumerate(zip(saved, theirs, strict=False)) if a != b), len(theirs))
    return f"one that differs at byte {first}"


def packed(env: Reference, saved: bytes, whole: bool = False) -> bytes:
    """Returns how our environment saves the state of the package's; `saved` has what the package does not.

    Args:
        env: The package's.
        saved: The state of ours.
        whole: Whether it has all floors, and not only those that the player has come to.
    """
    state = env.state
    head = _bytes_of([(True, "u1"), (env.key, "<u4")])
    # where the engine's stream stands, and the key of the next world
    head += saved[len(head):len(head) + 17]
    if env.game == "Craftax-Classic":
        return head + _bytes_of(_classic_parts(state))
    head += saved[len(head):len(head) + 8]
    for level in range(len(state.map)):
        is_made = whole or saved[len(head)] != 0
        head += _bytes_of([(is_made, "u1"), *(_floor_parts(state, level) if is_made else [])])
    return head + _bytes_of(_full_parts(state))


def _bytes_of(parts: list[tuple[Any, str]]) -> bytes:
    return b"".join(np.asarray(value).astype(dtype).tobytes() for value, dtype in parts)


def _records(*columns: tuple[Any, str]) -> tuple[NDArray[np.uint8], str]:
    """Returns the bytes of items, whose numbers are the columns."""
    count = len(np.asarray(columns[0][0]))
    return np.concatenate([np.ascontiguousarray(np.asarray(value).astype(dtype)).reshape(count, -1).view(np.uint8)
                           for value, dtype in columns], 1), "u1"


def _ints(*values: Any) -> list[tuple[Any, str]]:
    return [(value, "<i4") for value in values]


def _floats(*values: Any) -> list[tuple[Any, str]]:
    return [(value, "<f4") for value in values]


def _plants(state: Any) -> tuple[NDArray[np.uint8], str]:
    return _records((state.growing_plants_positions, "<i4"), (state.growing_plants_age, "<i4"),
                    (state.growing_plants_mask, "u1"))


def _ending(state: Any) -> list[tuple[Any, str]]:
    return [(state.achievements, "u1"), (state.state_rng, "<u4"), (state.timestep, "<i4")]


def _classic_parts(state: Any) -> list[tuple[Any, str]]:
    items = state.inventory
    return [
        (state.map, "u1"), (state.mob_map, "u1"),
        *_ints(state.player_position, state.player_direction, state.player_health, state.player_food,
               state.player_drink, state.player_energy), (state.is_sleeping, "u1"),
        *_floats(state.player_recover, state.player_hunger, state.player_thirst, state.player_fatigue),
        *_ints(items.wood, items.stone, items.coal, items.iron, items.diamond, items.sapling, items.wood_pickaxe,
               items.stone_pickaxe, items.iron_pickaxe, items.wood_sword, items.stone_sword, items.iron_sword),
        *(_records((each.position, "<i4"), (each.health, "<i4"), (each.attack_cooldown, "<i4"), (each.mask, "u1"))
          for each in (state.zombies, state.cows, state.skeletons)),
        _records((state.arrows.position, "<i4"), (state.arrow_directions, "<i4"), (state.arrows.mask, "u1")),
        _plants(state), *_ending(state)]


def _floor_parts(state: Any, level: int) -> list[tuple[Any, str]]:
    taken = np.zeros((len(state.map[level]), 64), bool)
    taken[:, :taken.shape[0]] = state.mob_map[level]
    lights = np.asarray(state.light_map[level])
    mobs = [_records((each.position[level], "<i4"), (each.health[level], "<f4"), (each.attack_cooldown[level], "<i4"),
                     (each.type_id[level], "u1"), (each.mask[level], "u1"))
            for each in (state.melee_mobs, state.passive_mobs, state.ranged_mobs)]
    shots = [_records((each.position[level], "<i4"), (steps[level], "<i4"), (each.type_id[level], "u1"),
                      (each.mask[level], "u1"))
             for each, steps in ((state.mob_projectiles, state.mob_projectile_directions),
                                 (state.player_projectiles, state.player_projectile_directions))]
    return [(np.stack([state.map[level], state.item_map[level]], -1), "u1"),
            (np.packbits(taken, axis=1, bitorder="little"), "u1"),
            # where all is lit, it stays so
            (lights if level in (2, 5, 7, 8) else [], "<f4"),
            *_ints(state.down_ladders[level], state.up_ladders[level]), *mobs, *shots,
            (state.monsters_killed[level], "<i4"), (state.chests_opened[level], "u1")]


def _full_parts(state: Any) -> list[tuple[Any, str]]:
    items = state.inventory
    return [
        *_ints(state.player_position, state.player_level, state.player_direction), *_floats(state.player_health),
        *_ints(state.player_food, state.player_drink, state.player_energy, state.player_mana),
        (state.is_sleeping, "u1"), (state.is_resting, "u1"),
        *_floats(state.player_recover, state.player_hunger, state.player_thirst, state.player_fatigue,
                 state.player_recover_mana),
        *_ints(state.player_xp, state.player_dexterity, state.player_strength, state.player_intelligence, items.wood,
               items.stone, items.coal, items.iron, items.diamond, items.sapphire, items.ruby, items.sapling,
               items.torches, items.arrows, items.books, items.pickaxe, items.sword, items.bow, items.armour,
               state.armour_enchantments, items.potions, state.potion_mapping), (state.learned_spells, "u1"),
        *_ints(state.sword_enchantment, state.bow_enchantment), _plants(state),
        *_ints(state.boss_progress, state.boss_timesteps_to_spawn_this_round), *_ending(state)]


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns the package's environments in a `SyncVectorEnv`, and their name and version."""
    require_version("check_parity needs", "craftax", (VERSION,), INSTALL)
    require_version("check_parity needs", "jax", (JAX_VERSION,), INSTALL)
    # compiling a step takes half a minute
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    limit = options.get("max_episode_steps")
    theirs = References([functools.partial(Reference, ours.env_spec, index, limit) for index in range(ours.num_envs)],
                        autoreset_mode=ours.metadata["autoreset_mode"])
    return theirs, f"craftax {VERSION}, one environment a call, jitted by JAX {JAX_VERSION}"
