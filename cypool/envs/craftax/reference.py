"""craftax itself as Gymnasium environments: the other side of `cypool.testing.check_parity`.

Environments are stepped one by one: with jaxlib 0.10.2, `jax.vmap` over nine or more of Classic makes different worlds.
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
_MOBS = {"Craftax-Classic": "zombies cows skeletons", "Craftax": "melee_mobs passive_mobs ranged_mobs"}
_SHOTS = {"Craftax-Classic": [("arrows", "arrow_directions")],
          "Craftax": [("mob_projectiles", "mob_projectile_directions"),
                      ("player_projectiles", "player_projectile_directions")]}
_ITEMS = {"Craftax-Classic": "wood stone coal iron diamond sapling wood_pickaxe stone_pickaxe iron_pickaxe wood_sword "
                             "stone_sword iron_sword",
          "Craftax": "wood stone coal iron diamond sapphire ruby sapling torches arrows books pickaxe sword bow"}


@functools.cache
def package_env(game: str, obs_type: str, auto_reset: bool, static: tuple[int, ...]) -> Any:
    """Returns one of the package's environments, whose functions JAX compiles once."""
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
    """Returns the game that options belong to, and the options that are static parameters in the package."""
    game = "Craftax-Classic" if "zombie_health" in options else "Craftax"
    return game, tuple(options[name] for name in _STATIC[game])


class Reference(gymnasium.Env[Any, Any]):
    """One of the package's environments, with a key that is split for each call, as a user would.

    Args:
        spec: The spec of ours.
        index: Its index in the pool.
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
        options["fractal_noise_angles"] = tuple(
            None if angles is None else np.array(angles, np.float32) for angles in options["fractal_noise_angles"])
        self.params = self.env.default_params.replace(
            **{name: value for name, value in options.items() if name not in _STATIC[self.game]})
        seen: Any = spec.observation
        self.observation_space = gymnasium.spaces.Box(seen.low, seen.high, seen.shape, np.float32)
        self.action_space = gymnasium.spaces.Discrete(self.env.num_actions)
        self.key: Any = None
        self.state: Any = None
        self.following: Any = None

    def take(self) -> Any:
        """Returns the key of the next call."""
        self.key, taken = self.split(self.key)
        return taken

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode; with a seed, the first episode of an environment with this seed or with the given key."""
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
        """Steps, and returns the achievements as an array."""
        key, before = self.take(), self.state
        obs, self.state, reward, done, found = self.env.step(key, before, int(action), self.params)
        self.steps += 1
        if self.auto_reset and done:
            self.following = obs, self.state
            obs, self.state, *_ = self.ending.step(self.split(key)[0], before, int(action), self.params)
        achievements = [found[f"Achievements/{name}"] for name in ACHIEVEMENTS[self.game]]
        info = {"achievements": np.array(achievements, np.float32), **{
            name: np.float32(found[name]) for name in ("discount", "score") if name in found}}
        return np.asarray(obs), float(reward), bool(done), self.steps == self.limit, info


class References(SyncVectorEnv):
    """A batch of these environments."""

    # no Generators: see `streams`
    np_random: Any = None

    def streams(self, rows: list[Any]) -> list[tuple[str, str]]:
        """Returns whether the whole saved state of each environment equals the package's."""
        envs: Any = self.envs
        return [("the package's state", compared(row["own"][0], env)) for row, env in zip(rows, envs, strict=True)]


def compared(saved: bytes, env: Reference) -> str:
    """Returns "the package's state", or where a saved state differs from it."""
    theirs = packed(env, saved)
    first = next((k for k, (a, b) in enumerate(zip(saved, theirs, strict=False)) if a != b), len(theirs))
    return "the package's state" if saved == theirs else f"one that differs at byte {first}"


def packed(env: Reference, saved: bytes, whole: bool = False) -> bytes:
    """Returns the package's state in the form that our environment saves; `saved` has the parts that the package lacks.

    Args:
        env: The package's.
        saved: The state of ours.
        whole: Whether it has all floors instead of only those that the player has reached.
    """
    state, is_full = env.state, env.game == "Craftax"
    found = _bytes_of([(True, "u1"), (env.key, "<u4")])
    # where the stream stands, the key of the next world, and who made this one; of Craftax the key of floors, too
    found += saved[len(found):len(found) + 18 + 8 * is_full]
    for level in range(len(state.map) if is_full else 1):
        is_made = whole or not is_full or saved[len(found)] != 0
        found += _bytes_of([(is_made, "u1")] if is_full else [])
        found += _bytes_of(_floor_parts(state, level, is_full) if is_made else [])
    items = state.inventory
    parts = [
        *_parts(state, "player_position player_direction", "<i4"), (state.player_health, "<f4"),
        *_parts(state, "player_food player_drink player_energy", "<i4"), (state.is_sleeping, "u1"),
        *_parts(state, "player_recover player_hunger player_thirst player_fatigue", "<f4"),
        *_parts(items, _ITEMS[env.game], "<i4"),
        _records((state.growing_plants_positions, "<i4"), (state.growing_plants_age, "<i4"),
                 (state.growing_plants_mask, "u1")),
        (state.achievements, "u1"), (state.state_rng, "<u4"), (state.timestep, "<i4")]
    if is_full:
        parts += [
            *_parts(state, "player_level player_mana", "<i4"), (state.is_resting, "u1"),
            (state.player_recover_mana, "<f4"),
            *_parts(state, "player_xp player_dexterity player_strength player_intelligence", "<i4"),
            (items.armour, "<i4"), (state.armour_enchantments, "<i4"), (items.potions, "<i4"),
            (state.potion_mapping, "<i4"), (state.learned_spells, "u1"),
            *_parts(state, "sword_enchantment bow_enchantment boss_progress boss_timesteps_to_spawn_this_round",
                    "<i4")]
    return found + _bytes_of(parts)


def _parts(state: Any, names: str, dtype: str) -> list[tuple[Any, str]]:
    return [(getattr(state, name), dtype) for name in names.split()]


def _bytes_of(parts: list[tuple[Any, str]]) -> bytes:
    return b"".join(np.asarray(value).astype(dtype).tobytes() for value, dtype in parts)


def _records(*columns: tuple[Any, str]) -> tuple[NDArray[np.uint8], str]:
    """Returns the bytes of items, one column for each number."""
    count = len(np.asarray(columns[0][0]))
    return np.concatenate([np.ascontiguousarray(np.asarray(value).astype(dtype)).reshape(count, -1).view(np.uint8)
                           for value, dtype in columns], 1), "u1"


def _floor_parts(state: Any, level: int, is_full: bool) -> list[tuple[Any, str]]:
    def own(value: Any) -> Any:
        return np.asarray(value)[level] if is_full else np.asarray(value)

    game = "Craftax" if is_full else "Craftax-Classic"
    blocks = own(state.map)
    taken = np.zeros((len(blocks), 64), bool)
    taken[:, :len(blocks)] = own(state.mob_map)
    parts: list[tuple[Any, str]] = [(blocks + 37 * own(state.item_map) if is_full else blocks, "u1"),
                                    (np.packbits(taken, axis=1, bitorder="little"), "u1")]
    if is_full and level in (2, 5, 7, 8):
        # where all is lit, it stays so
        parts.append((state.light_map[level], "<f4"))
    for name in _MOBS[game].split():
        each = getattr(state, name)
        types = own(each.type_id) if is_full else np.zeros(len(each.mask))
        parts.append(_records((own(each.position), "<i4"), (own(each.health), "<f4" if is_full else "<i4"),
                              (own(each.attack_cooldown), "<i4"), (types, "u1"), (own(each.mask), "u1")))
    for name, steps in _SHOTS[game]:
        each = getattr(state, name)
        types = own(each.type_id) if is_full else np.zeros(len(each.mask))
        parts.append(_records((own(each.position), "<i4"), (own(getattr(state, steps)), "<i4"), (types, "u1"),
                              (own(each.mask), "u1")))
    if is_full:
        parts += [(own(each), "<i4") for each in (state.down_ladders, state.up_ladders, state.monsters_killed)]
        parts.append((own(state.chests_opened), "u1"))
    return parts


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns the package's environments in a `SyncVectorEnv`, and their name and version."""
    require_version("check_parity needs", "craftax", (VERSION,), INSTALL)
    require_version("check_parity needs", "jax", (JAX_VERSION,), INSTALL)
    # compiling a step takes half a minute
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    limit = options.get("max_episode_steps")
    theirs = References([functools.partial(Reference, ours.env_spec, index, limit) for index in range(ours.num_envs)],
                        autoreset_mode=ours.metadata["autoreset_mode"])
    return theirs, f"craftax {VERSION}, one environment per call, jitted by JAX {JAX_VERSION}"
