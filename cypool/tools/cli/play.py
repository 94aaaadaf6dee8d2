"""`cypool play`: plays an environment in a window, by hand, at random or by a policy; or writes a video or picture."""
from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Collection
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from cypool.tools.cli.console import Parser, Refusal, number, options_of
from cypool.tools.terminal import Progress, has_colours, in_half_blocks, is_terminal

WINDOW = 640  # pixels that the longer side of a small picture gets
STILL = 40  # steps before a picture is taken
TURNS = 2  # steps per second of a text, where the environment names none


def declare(parser: Parser) -> None:
    """Adds the arguments of the verb."""
    parser.add_id()
    parser.add("--record", type=Path, metavar="FILE",
               help="write a video instead (.mp4, .gif or .png); needs no display")
    parser.add("--png", type=Path, metavar="FILE",
               help=f"save one image after --steps steps (default: {STILL}); needs no display")
    parser.add("--num-envs", type=number(int, 1), metavar="N",
               help="number of environments shown by --record or --png (default: 1)")
    parser.add("--random", action="store_true", help="watch a policy of random actions")
    parser.add("--policy", metavar="MODULE:FUNCTION",
               help="watch a policy: a function that maps a batch of observations to actions")
    parser.add("--steps", type=number(int, 1), metavar="N",
               help="stop after this number of steps (default for a video: 300)")
    parser.add("--fps", type=float, metavar="N", help="steps per second (default: the environment's own)")
    parser.add("--seed", type=number(int, 0), metavar="N", help="random seed for the environment")
    parser.add_options()


def run(id: str, record: Path | None, png: Path | None, num_envs: int | None, random: bool, policy: str | None,
        steps: int | None, fps: float | None, seed: int | None, option: list[str]) -> None:
    """Play an environment with the keyboard, watch a policy, or record a video or an image.

    Escape quits, R starts a new episode. In turn-based environments, each key is a step. NetHack and board games are
    played in the terminal; in board games, you play against -o opponent=..., or both sides with -o view=mover. Without
    a display, --random and --policy show the environment in the terminal, as text if it has a text form, otherwise as
    colored blocks.
    """
    if random and policy:
        raise Refusal("--policy: cannot be combined with --random")
    if fps is not None and not 0.01 <= fps <= 1000:
        raise Refusal(f"--fps: expected 0.01 to 1000, got {fps:g}")
    if record and png:
        raise Refusal("--png: cannot be combined with --record")
    if num_envs is not None and not (record or png):
        raise Refusal("--num-envs: only valid with --record or --png")
    import cypool
    from cypool.envs import family_of
    from cypool.registration.registry import entry_of, make_spec
    from cypool.tools.video import check_film

    if record is not None:
        check_film("--record", record)
    if png is not None and png.suffix != ".png":
        raise Refusal(f"--png: expected a name that ends in .png, got {str(png)!r}")
    options, family = options_of(option), family_of(entry_of(id).entry_point)
    is_watched, has_display = random or policy, any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"))
    in_terminal = family.terminal if family and not (record or png) and not (is_watched and has_display) else ""
    if in_terminal and not is_watched and "view" not in options:
        spec = make_spec(id, **options)
        # not where there is one player
        if spec.options.get("view") == "mover" and "current_player" in spec.info:
            options["view"] = "single"
    wants_text = is_watched and not (has_display or record or png or in_terminal or "render_mode" in options)
    with _make(id, bool(wants_text), num_envs=num_envs, num_threads=0, seed=seed, **options) as env:
        if seed is not None:
            env.action_space.seed(seed)
        chosen = _load(policy) if policy else None
        watched = chosen or ((lambda _: env.sample_legal()) if random else None)
        if in_terminal:
            _play_in_terminal(env, in_terminal, steps, watched, fps or env.metadata.get("render_fps", TURNS))
            return
        fps = fps or env.metadata.get("render_fps", 30)
        if env.render_mode == "ansi" and watched and not (record or png):
            _watch_in_terminal(env, watched, fps, steps)
            return
        if env.render_mode != "rgb_array":
            raise Refusal(f"{id} cannot be rendered with render_mode {env.render_mode!r}")
        if record is not None:
            with Progress(f"recording {record}"):
                rewards = cypool.record(env, record, actions=chosen, num_steps=steps or 300, fps=fps)
            print(f"{record}: {len(rewards)} steps, rewards {rewards.sum():g}")
            return
        if png is not None:
            _write_picture(env, png, watched or (lambda _: env.sample_legal()), STILL if steps is None else steps)
            return
        if has_display:
            _play_in_window(env, id, watched, fps, steps)
        elif watched and is_terminal() and has_colours():
            _watch_in_terminal(env, watched, fps, steps)
        else:
            raise Refusal(f"no display for a window; use cypool play {id} --record video.mp4, or --random or --policy "
                          "in a terminal with colors")


def _make(id: str, wants_text: bool, **arguments: Any) -> Any:
    """Creates a pool; its environments are rendered as text if that is wanted and supported."""
    import cypool

    env = cypool.make(id, **arguments)
    if wants_text and "ansi" in env.env_spec.render_modes:
        env.close()
        env = cypool.make(id, render_mode="ansi", **arguments)
    return env


def _load(policy: str) -> Callable[[Any], Any]:
    module, colon, name = policy.partition(":")
    # a file in the current folder, as with python -m
    import sys

    sys.path.insert(0, os.getcwd())
    try:
        found = getattr(importlib.import_module(module), name, None) if colon and module else None
    except ImportError as error:
        raise Refusal(f"--policy: expected MODULE:FUNCTION, got {policy!r}: {error}") from error
    finally:
        sys.path.remove(os.getcwd())
    if not callable(found):
        raise Refusal(f"--policy: expected MODULE:FUNCTION, got {policy!r}")
    function: Callable[[Any], Any] = found
    return function


def _play_in_terminal(env: Any, function: str, steps: int | None, watched: Callable[[Any], Any] | None,
                      fps: float) -> None:
    import sys
    import time

    if watched is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refusal("no terminal to read keys from; use --random or --policy")

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def choose(obs: Any) -> Any:
        time.sleep(1 / fps)
        return watched(obs) if watched else None

    done, total = resolve_name(function)(env, write, 0, steps, watched and choose)
    print(f"{done} steps, rewards {total:g}")


def _write_picture(env: Any, file: Path, act: Callable[[Any], Any], steps: int) -> None:
    """Writes a picture of all environments after a number of steps."""
    from cypool.tools.video import tiled

    try:
        from PIL import Image
    except ImportError:
        raise Refusal('saving images requires Pillow: pip install "cypool[video]"') from None
    obs, _ = env.reset()
    for _ in range(steps):
        obs, *_ = env.step(act(obs))
    picture = tiled(env.render())
    Image.fromarray(picture).save(file)
    print(f"{file}: {picture.shape[1]} x {picture.shape[0]} pixels after {steps} steps")


def _watch_in_terminal(env: Any, watched: Callable[[Any], Any], fps: float, steps: int | None) -> None:
    """Shows texts, or pictures in colored blocks, until Ctrl-C, or for a number of steps."""
    import time

    done, total, is_redrawn = 0, 0.0, has_colours() and is_terminal()
    obs, _ = env.reset()
    try:
        print("\x1b[2J" * is_redrawn, end="")
        while steps is None or done < steps:
            shown = env.render()[0]
            if not isinstance(shown, str):
                shown = _in_blocks(shown)
            line = f"{done} steps, rewards {total:g}; Ctrl-C quits"
            if is_redrawn:
                # a line may end where the terminal does, so what was there is cleared before it
                lines = [f"\x1b[K{each}" for each in (*shown.rstrip("\n").split("\n"), line)]
                print("\x1b[H" + "\n".join(lines) + "\x1b[J", end="", flush=True)
            else:
                print(f"{shown}\n{line}", flush=True)
            time.sleep(1 / fps)
            obs, reward, _, _, _ = env.step(watched(obs))
            done += 1
            total += float(reward[0])
    except KeyboardInterrupt:
        pass
    print(f"\n{done} steps, rewards {total:g}")


def _in_blocks(picture: Any) -> str:
    """Returns a picture in colored blocks that leaves a line of the terminal free."""
    import shutil

    size = shutil.get_terminal_size()
    # two rows of pixels a line
    columns = min(size.columns, 2 * max(1, size.lines - 2) * picture.shape[1] // picture.shape[0])
    return in_half_blocks(picture, max(1, columns))


def _play_in_window(env: Any, id: str, watched: Callable[[Any], Any] | None, fps: float, steps: int | None) -> None:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    # else SDL shows pictures with a context of OpenGL, and this thread's is for drawing the environment
    os.environ["SDL_FRAMEBUFFER_ACCELERATION"] = "0"
    try:
        import pygame
    except ImportError:
        raise Refusal('a window requires pygame: pip install "cypool[render]"; or use --record video.mp4') from None
    import numpy as np

    from cypool.registration.registry import entry_of
    from cypool.tools.keyboard import action_of_keys, waits_for_keys

    entry_point = entry_of(id).entry_point
    waits = False
    choose: Callable[[Any, Collection[str]], Any]
    if watched:
        choose = lambda obs, _: watched(obs)  # noqa: E731
    else:
        of_keys, keys = action_of_keys(env.env_spec, entry_point)
        choose = lambda _, held: np.asarray([of_keys(held)])  # noqa: E731
        waits = waits_for_keys(entry_point)
        print(f"Keys: {keys}; R: new episode, Escape: quit")
    try:
        pygame.display.init()
        score, done = _loop(pygame, env, id, choose, waits, fps, steps)
    except pygame.error as error:
        raise Refusal(f"cannot open a window: {error}; use cypool play {id} --record video.mp4") from None
    finally:
        pygame.display.quit()
    print(f"{done} steps, rewards {score:g}")


def _loop(pygame: Any, env: Any, id: str, choose: Callable[[Any, Collection[str]], Any], waits: bool, fps: float,
          steps: int | None) -> tuple[float, int]:
    """Shows and steps until the player quits; returns the sum of rewards and the number of steps."""
    held: set[str] = set()
    total, episode, done = 0.0, 0.0, 0
    clock, screen = pygame.time.Clock(), None
    obs, _ = env.reset()
    while steps is None or done < steps:
        picture = env.render()[0]
        height, width = picture.shape[:2]
        if screen is None:
            scale = max(1, round(WINDOW / max(height, width)))
            screen = pygame.display.set_mode((width * scale, height * scale))
        image = pygame.image.frombuffer(picture.tobytes(), (width, height), "RGB")
        screen.blit(pygame.transform.scale(image, screen.get_size()), (0, 0))
        pygame.display.flip()
        pygame.display.set_caption(f"{id}: {episode:g}")
        pressed = set()
        for event in pygame.event.get():
            if event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and event.key == pygame.K_ESCAPE):
                return total, done
            if event.type == pygame.KEYDOWN:
                pressed.add(pygame.key.name(event.key))
            elif event.type == pygame.KEYUP:
                held.discard(pygame.key.name(event.key))
        if "r" in pressed:
            obs, _ = env.reset()
            episode = 0.0
        held |= pressed
        if not waits or pressed - {"r"}:
            # a key that was released at once counts as well
            obs, reward, terminated, truncated, _ = env.step(choose(obs, pressed if waits else held | pressed))
            done += 1
            total += float(reward[0])
            episode += float(reward[0])
            if terminated[0] or truncated[0]:
                print(f"episode over: {episode:g}")
                episode = 0.0
        clock.tick(fps)
    return total, done
