"""The ids of Craftax, as the package names them."""
from cypool.envs.family import Family
from cypool.registration.registry import register

# as in the package's own windows
_CLASSIC_KEYS = {"q": 0, "a": 1, "d": 2, "w": 3, "s": 4, "left": 1, "right": 2, "up": 3, "down": 4, "space": 5,
                 "tab": 6, "e": 7, "t": 8, "f": 9, "p": 10, "1": 11, "2": 12, "3": 13, "4": 14, "5": 15, "6": 16}

FAMILY = Family(
    name="craftax",
    title="Craftax",
    description="open-world survival games from a JAX package, with its keys and episodes",
    licence="craftax, with its textures: MIT",
    extra="craftax",
    reference="craftax 1.6.1, JAX 0.10.2",
    reference_package="craftax",
    fidelity="everything except the last bits of pixels while the player sleeps, in Classic with automatic reset",
    smoke_ids=("Craftax-Classic-Symbolic-v1", "Craftax-Symbolic-v1"),
    # "r" starts a new episode
    keys={"CraftaxClassic": _CLASSIC_KEYS,
          "*": _CLASSIC_KEYS | {
              "4": 20, "5": 14, "6": 15, "7": 16, "8": 21, "9": 7, "e": 17, ".": 18, ",": 19, "y": 22, "u": 23, "i": 24,
              "o": 25, "g": 26, "h": 27, "j": 28, "z": 29, "x": 30, "c": 31, "v": 32, "b": 33, "n": 34, "m": 35,
              "k": 36, "l": 37, "[": 38, "]": 39, "-": 40, "=": 41, ";": 42}})

for _game, _class in (("Craftax", "Craftax"), ("Craftax-Classic", "CraftaxClassic")):
    for _name, _obs_type in (("Symbolic", "symbolic"), ("Pixels", "pixels")):
        for _reset in ("", "-AutoReset"):
            register(f"{_game}-{_name}{_reset}-v1", f"cypool.envs.craftax.craftax:{_class}",
                     reference="cypool.envs.craftax.reference:make_reference", obs_type=_obs_type,
                     auto_reset=_reset != "")
