"""The Atari games, against plain ale_py and cv2, and against Gymnasium's AtariPreprocessing: all equal."""

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import ale_py
import cv2
import gymnasium
import numpy as np
import pytest
from ale_py.vector_env import AtariVectorEnv
from family_tests import refuses
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
from markers import EXHAUSTIVE, exhaustive, often_slow, slow
from receiving import started
from waiting import attempts

import cypool
from cypool.envs.atari import atari, roms

ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
gymnasium.register_envs(ale_py)

ROMS = Path(ale_py.__file__).parent / "roms"
ALL_TASKS = sorted({path.stem for path in ROMS.glob("*.bin")} - set(roms.TWO_PLAYERS))


def id_of(task):
    return "".join(part.capitalize() for part in task.split("_")) + "-v5"


def columns(batch):
    """Everything a pool hands out, as one dict of arrays."""
    obs, reward, terminated, truncated, info = batch
    return {"obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated} | {
        f"info {key}": value for key, value in info.items()
    }


def after_reset(reset):
    """The result of `reset`, in the form of `step`."""
    obs, info = reset
    return obs, np.zeros(len(obs)), np.zeros(len(obs), bool), np.zeros(len(obs), bool), info


def history(pool, actions, **reset):
    """The columns of a synchronous pool's reset and of its steps, stacked."""
    batches = [columns(after_reset(pool.reset(**reset)))] + [columns(pool.step(row)) for row in actions]
    return {key: np.stack([batch[key] for batch in batches]) for key in batches[0]}


def assert_equal(got, want, where=""):
    assert got.keys() == want.keys()
    for key in got:
        assert np.array_equal(got[key], want[key]), f"{key} {where}"


def episode_actions(num_actions, shape, seed=0):
    return np.random.default_rng(seed).integers(num_actions, size=shape)


@dataclass
class Reference:
    """One environment on plain ale_py, cv2 and numpy, as EnvPool defines it. The defaults are EnvPool's."""

    task: str
    seed: int
    preset: None = None
    stack_num: int = 4
    frame_skip: int = 4
    noop_max: int = 30
    episodic_life: bool = False
    zero_discount_on_life_loss: bool = False
    reward_clip: bool = False
    use_fire_reset: bool = True
    img_height: int = 84
    img_width: int = 84
    gray_scale: bool = True
    channels_last: bool = False
    repeat_action_probability: float = 0.0
    full_action_space: bool = False
    continuous: bool = False
    continuous_action_threshold: float = 0.5
    mode: int = -1
    difficulty: int = -1
    lives: bool = True
    raw_reward: bool = True
    game_over: bool = True
    ram: bool = False
    frame_numbers: bool = False
    max_num_frames_per_episode: None = None
    obs_type: str = "image"
    use_inter_area_resize: bool = True
    max_episode_steps: int = 27_000

    def __post_init__(self):
        self.ale = ale_py.ALEInterface()
        self.ale.setFloat("repeat_action_probability", self.repeat_action_probability)
        self.ale.setInt("random_seed", self.seed)
        self.ale.loadROM(ROMS / f"{self.task}.bin")
        if self.mode >= 0:
            self.ale.setMode(self.mode)
        if self.difficulty >= 0:
            self.ale.setDifficulty(self.difficulty)
        self.actions = self.ale.getMinimalActionSet()
        if self.full_action_space:
            self.actions = self.ale.getLegalActionSet()
        self.fire = self.use_fire_reset and ale_py.Action.FIRE in self.actions
        if self.full_action_space == "all":
            self.actions = [ale_py.Action(number) for number in range(18)]
        # RandomState(int) is std::mt19937(int)
        self.random = np.random.RandomState(self.seed)
        self.needs_reset = self.lost_life = False
        self.game_step = 0
        # number of resets of each kind
        self.counts = Counter()

    def draw_noops(self):
        # Lemire's method
        n = self.noop_max
        product = self.random_word() * n
        while product % 2**32 < 2**32 % n:
            product = self.random_word() * n
        return product // 2**32

    def random_word(self):
        return int.from_bytes(self.random.bytes(4), "little")

    def screen(self):
        return self.ale.getScreenGrayscale() if self.gray_scale else self.ale.getScreenRGB()

    def planes(self, screen):
        if self.obs_type != "image":
            return [self.ale.getRAM() if self.obs_type == "ram" else self.screen()]
        how = cv2.INTER_AREA if self.use_inter_area_resize else cv2.INTER_LINEAR
        small = cv2.resize(screen, (self.img_width, self.img_height), interpolation=how)
        return [small] if self.gray_scale or self.channels_last else list(np.moveaxis(small, 2, 0))

    def reset(self, forced=True):
        noops = 0
        if self.noop_max > 0:
            noops = self.draw_noops() + 1 - self.fire
        # after a lost life the game continues
        time_is_over = self.game_step >= self.max_episode_steps
        was_reset = forced or not self.lost_life or self.ale.game_over() or time_is_over
        self.counts["forced" if forced else "new game" if was_reset else "new life"] += 1
        if was_reset:
            self.ale.reset_game()
            self.game_step = 0
        for _ in range(noops):
            self.ale.act(ale_py.Action.NOOP)
            if self.ale.game_over():
                self.ale.reset_game()
                self.counts["ended in no-ops"] += 1
                was_reset = True
        if self.fire:
            self.ale.act(ale_py.Action.FIRE)
        planes = self.planes(self.screen())
        self.stack = planes * self.stack_num if was_reset else self.stack[len(planes) :] + planes
        self.needs_reset = self.lost_life = False
        self.lives_left = self.ale.lives()
        return self.row(0.0, 0.0, False, False)

    def step(self, action):
        """Also resets, if the episode is over."""
        if self.needs_reset:
            return self.reset(forced=False)
        score, before = 0.0, None
        for k in range(self.frame_skip):
            if k > 0 and k == self.frame_skip - 1:
                before = self.screen()
            score += self.ale.act(self.actions[action])
            if self.ale.game_over() and self.obs_type == "image":
                break
        # the last two frames, but the last alone if the game ended before
        planes = self.planes(self.screen() if before is None else np.maximum(before, self.screen()))
        self.stack = self.stack[len(planes) :] + planes
        self.game_step += 1
        self.lost_life = self.episodic_life and 0 < self.ale.lives() < self.lives_left
        self.lives_left = self.ale.lives()
        terminated = self.ale.game_over() or self.lost_life
        truncated = self.game_step >= self.max_episode_steps
        self.needs_reset = terminated or truncated
        return self.row(np.sign(score) if self.reward_clip else score, score, terminated, truncated)

    def row(self, reward, score, terminated, truncated):
        more = {"info ram": self.ale.getRAM()} if self.ram else {}
        if self.frame_numbers:
            more["info frame_number"] = self.ale.getFrameNumber()
            more["info episode_frame_number"] = self.ale.getEpisodeFrameNumber()
        single = self.obs_type != "image" and self.stack_num == 1
        return more | {
            "obs": self.stack[0] if single else np.stack(self.stack), "reward": reward,
            "terminated": terminated, "truncated": truncated,
            "info elapsed_step": self.game_step, "info lives": self.lives_left, "info reward": np.float32(score),
            "info terminated": self.ale.game_over(),
        }


def assert_follows_reference(task, options, steps, seed=7, num_envs=2, reset_at=()):
    """Steps both; returns the reference's `counts`."""
    pool = cypool.make(id_of(task), num_envs=num_envs, seed=seed, **options)
    references = [Reference(task, seed + i, **options) for i in range(num_envs)]
    for k, actions in enumerate(episode_actions(pool.single_action_space.n, (steps, num_envs))):
        if k == 0 or k in reset_at:
            got = columns(after_reset(pool.reset()))
            rows = [reference.reset() for reference in references]
        else:
            got = columns(pool.step(actions))
            rows = [reference.step(action) for reference, action in zip(references, actions, strict=True)]
        want = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
        assert_equal(got, want | {"info env_id": np.arange(num_envs)}, f"at step {k}")
    return sum((reference.counts for reference in references), Counter())


# episodes as Gymnasium has them


@pytest.mark.parametrize("sticky", [0.25, *slow(0.0)])
@pytest.mark.parametrize("task", ["breakout", *slow("ms_pacman"), *exhaustive("pong", "space_invaders", "seaquest")])
def test_whole_episodes_are_those_of_gymnasium(task, sticky):
    seed = 1  # one whose ALE seed is not negative
    ale_seed = int(np.random.SeedSequence(seed).generate_state(2)[1].astype(np.int32))
    assert ale_seed >= 0
    options = {"noop_max": 1, "use_fire_reset": False, "repeat_action_probability": sticky}
    env = gymnasium.make(
        f"ALE/{id_of(task)}", frameskip=1, obs_type="grayscale", repeat_action_probability=sticky,
        disable_env_checker=True)
    env = FrameStackObservation(AtariPreprocessing(env, noop_max=1), 4)
    pool = cypool.make(id_of(task), seed=[ale_seed], **options)
    reference = Reference(task, ale_seed, **options)
    assert pool.single_action_space == env.action_space
    rng = np.random.default_rng(0)
    num_ended = steps_after = 0
    row = reference.reset()
    want = env.reset(seed=seed)[0], 0.0, False, False
    got = columns(after_reset(pool.reset()))
    # the random stream continues over resets, so where there is one more of them; pong's episodes are long
    num_episodes = 2 if sticky and task != "pong" else 1
    while steps_after < 50:
        assert_equal({key: got[key][0] for key in row}, row)
        if not row["terminated"]:
            # gymnasium's observation of a game that has ended shows frames of the step before
            assert np.array_equal(got["obs"][0], want[0])
        assert (got["reward"][0], got["terminated"][0], got["truncated"][0]) == want[1:]
        action = rng.integers(env.action_space.n)
        num_ended += row["terminated"]
        steps_after += num_ended >= num_episodes
        want = (env.reset()[0], 0.0, False, False) if row["terminated"] else env.step(action)[:4]
        row = reference.step(action)
        got = columns(pool.step([action]))


def test_colour_with_channels_last_is_that_of_gymnasium_and_ale():
    options = {"noop_max": 0, "use_fire_reset": False, "gray_scale": False, "channels_last": True}
    seed = 1
    ale_seed = int(np.random.SeedSequence(seed).generate_state(2)[1].astype(np.int32))
    env = gymnasium.make("ALE/Seaquest-v5", frameskip=1, repeat_action_probability=0.25, disable_env_checker=True)
    env = FrameStackObservation(AtariPreprocessing(env, noop_max=0, grayscale_obs=False), 4)
    ale = AtariVectorEnv("seaquest", 1, noop_max=0, use_fire_reset=False, grayscale=False, reward_clipping=False,
                         repeat_action_probability=0.25)
    pool = cypool.make("Seaquest-v5", seed=[ale_seed], repeat_action_probability=0.25, **options)
    assert pool.single_observation_space == env.observation_space == ale.single_observation_space
    assert np.array_equal(pool.reset()[0][0], env.reset(seed=seed)[0])
    ale.reset(seed=ale_seed)
    for k, action in enumerate(episode_actions(18, 60)):
        got = pool.step([action])[0]
        assert np.array_equal(got[0], env.step(action)[0])
        ales = ale.step(np.array([action]))[0]
        # its stack begins with black frames
        assert k < 3 or np.array_equal(got, ales)


# episodes as EnvPool defines them

OPTION_SETS = {
    "defaults": ("pong", {}),
    "no fire": ("breakout", {"use_fire_reset": False}),
    "a game without fire": ("freeway", {}),
    "no noops": ("space_invaders", {"noop_max": 0}),
    "one noop": ("space_invaders", {"noop_max": 1}),
    "clipped": ("ms_pacman", {"reward_clip": True}),
    "negative rewards clipped": ("tennis", {"reward_clip": True}),
    "sticky": ("seaquest", {"repeat_action_probability": 0.25}),
    "always sticky": ("seaquest", {"repeat_action_probability": 1}),
    "one frame": ("pong", {"stack_num": 1}),
    "three frames": ("seaquest", {"stack_num": 3}),
    "no skip": ("breakout", {"frame_skip": 1}),
    "skip 2": ("ms_pacman", {"frame_skip": 2}),
    "skip 5": ("ms_pacman", {"frame_skip": 5}),
    "larger": ("seaquest", {"img_height": 96, "img_width": 96}),
    "flat": ("enduro", {"img_height": 80, "img_width": 105}),
    "full size": ("enduro", {"img_height": 210, "img_width": 160}),
    "colour": ("seaquest", {"gray_scale": False}),
    "colour, three small frames": ("qbert", {"gray_scale": False, "stack_num": 3, "img_height": 61}),
    "colour last": ("seaquest", {"gray_scale": False, "channels_last": True}),
    "colour last, three small frames": (
        "qbert", {"gray_scale": False, "channels_last": True, "stack_num": 3, "img_width": 61}),
    "colour last, linear": (
        "pacman", {"gray_scale": False, "channels_last": True, "use_inter_area_resize": False, "stack_num": 1}),
    "gray has no channels": ("pong", {"channels_last": True}),
    "all actions": ("breakout", {"full_action_space": True}),
    "all actions of a game without fire": ("ms_pacman", {"full_action_space": True}),
    "those that are not legal too": ("skiing", {"full_action_space": "all", "repeat_action_probability": 0.25}),
    # one whose colours carry PAL's colour-loss bit
    "pal": ("air_raid", {}),
    "pal in colour": ("air_raid", {"gray_scale": False, "episodic_life": True}),
    "pal, full size": ("pacman", {"img_height": 250, "img_width": 160}),
    "time limit": ("pong", {"max_episode_steps": 40}),
    "linear": ("breakout", {"use_inter_area_resize": False}),
    "linear, in colour": ("seaquest", {"use_inter_area_resize": False, "gray_scale": False, "img_height": 61}),
    "linear, pal": ("air_raid", {"use_inter_area_resize": False, "img_width": 100}),
    "linear, halved": ("enduro", {"use_inter_area_resize": False, "img_height": 105, "img_width": 80}),
    "memory in info": ("seaquest", {"ram": True, "repeat_action_probability": 0.25}),
    "frame numbers in info": ("ms_pacman", {"frame_numbers": True, "frame_skip": 3}),
    "both in info": ("pong", {"ram": True, "frame_numbers": True, "max_episode_steps": 33}),
    "memory": ("pong", {"obs_type": "ram"}),
    "memory alone": ("seaquest", {"obs_type": "ram", "stack_num": 1, "repeat_action_probability": 0.25}),
    "screen": ("qbert", {"obs_type": "screen", "gray_scale": False, "stack_num": 1}),
    "screens": ("breakout", {"obs_type": "screen", "gray_scale": False, "stack_num": 3, "frame_skip": 1}),
    "gray screen": ("pong", {"obs_type": "screen", "stack_num": 1}),
    "gray screens, pal": ("air_raid", {"obs_type": "screen", "stack_num": 2}),
    "screen, pal": ("pacman", {"obs_type": "screen", "stack_num": 1, "gray_scale": False}),
    "mode": ("space_invaders", {"mode": 9}),
    "difficulty": ("breakout", {"difficulty": 1}),
    "mode and difficulty": ("freeway", {"mode": 3, "difficulty": 1, "repeat_action_probability": 0.25}),
}


# those that a quick run leaves out, as others try the same options one by one
SLOW_SETS = ("one noop", "negative rewards clipped", "always sticky", "three frames", "skip 2", "larger", "flat",
             "colour, three small frames", "colour last, three small frames", "gray has no channels",
             "all actions of a game without fire", "pal in colour", "linear, in colour", "linear, halved",
             "frame numbers in info", "memory alone", "screens", "gray screens, pal", "mode", "difficulty", "skip 5",
             "full size", "colour last", "pal, full size", "linear, pal", "memory in info", "screen, pal")


@pytest.mark.parametrize(("task", "options", "num_envs"), [
    *(pytest.param(*case, 1, id=name, marks=EXHAUSTIVE * (name in SLOW_SETS)) for name, case in OPTION_SETS.items()),
    *(pytest.param(*values, 2, id=f"{name}-2", marks=EXHAUSTIVE if k % 2 else pytest.mark.slow)
      for k, (name, values) in enumerate(OPTION_SETS.items())),
])
def test_options_are_those_of_the_reference(task, options, num_envs):
    assert_follows_reference(task, options, 70, num_envs=num_envs, reset_at=(45, 46))


@pytest.mark.parametrize("options", [
    *slow({"reward_clip": True}, {"stack_num": 3, "repeat_action_probability": 0.25, "use_fire_reset": False}),
    # lives and games end in the middle of a step
    {"frame_skip": 12, "gray_scale": False, "stack_num": 2, "noop_max": 0},
    *slow({"frame_skip": 12, "obs_type": "ram", "ram": True, "frame_numbers": True, "repeat_action_probability": 0.25},
          {"frame_skip": 12, "obs_type": "screen", "gray_scale": False, "stack_num": 1,
           "repeat_action_probability": 0.25}, {"frame_skip": 12, "use_inter_area_resize": False}),
], ids=str)
@pytest.mark.parametrize("task", ["breakout", *exhaustive("ms_pacman")])
def test_episodes_that_end_with_a_life_continue_the_game(task, options):
    steps = 280 if "frame_skip" in options else 500
    counts = assert_follows_reference(task, {"episodic_life": True} | options, steps)
    assert counts["new life"] > 3 and counts["new game"] > 0


@pytest.mark.parametrize("max_episode_steps", [1, 70, *slow(2)])
def test_time_limit_counts_all_lives_of_a_game(max_episode_steps):
    options = {"episodic_life": True, "max_episode_steps": max_episode_steps, "frame_skip": 8}
    steps = 280 if max_episode_steps == 70 else 40
    counts = assert_follows_reference("breakout", options, steps, reset_at=(30,))
    assert counts["new game"] > 5
    assert (counts["new life"] > 5) == (max_episode_steps == 70)


@pytest.mark.parametrize("task", ["pong", *slow("freeway", "breakout", "tennis", "space_invaders")])
def test_modes_and_difficulties_are_those_of_ale(task):
    ale = ale_py.ALEInterface()
    ale.loadROM(ROMS / f"{task}.bin")
    own = {"mode": ale.getAvailableModes(), "difficulty": ale.getAvailableDifficulties()}
    facts = atari.game_facts(task)
    assert {"mode": facts.modes, "difficulty": facts.difficulties} == own
    seen = set()
    for name, values in own.items():
        for value in values[:12]:
            assert_follows_reference(task, {name: value, "noop_max": 1}, 12, num_envs=1, reset_at=(6,))
            pool = cypool.make(id_of(task), seed=0, noop_max=1, **{name: value})
            # the game itself shows it, in its memory or on its screen
            seen.add(history(pool, np.full((30, 1), 1))["obs"].tobytes())
            pool.close()
        for value in (-2, max(values) + 1, 2**31 - 1):
            with pytest.raises(ValueError, match=f"^{name}: expected one of {values[0]}.*, got {value}$"):
                cypool.make(id_of(task), **{name: value})
    assert len(seen) > 1


# a paddle; a joystick; one without fire
@pytest.mark.parametrize(("task", "threshold"), [
    ("breakout", 0.5), ("skiing", 0.5),
    *slow(("breakout", 0), ("seaquest", 0), ("seaquest", 0.5), ("skiing", 0),
          *((task, threshold) for task in ("breakout", "seaquest", "skiing") for threshold in (0.2, 1)))])
def test_continuous_actions_are_those_of_gymnasium(task, threshold):
    kinds = {"continuous": True, "continuous_action_threshold": threshold}
    env = gymnasium.make(f"ALE/{id_of(task)}", disable_env_checker=True, **kinds)
    assert_follows_gymnasium(env, f"ALE/{id_of(task)}", 200, **kinds)


def test_continuous_actions_are_those_of_ales_vector_env():
    rng = np.random.default_rng(0)
    theirs = AtariVectorEnv("breakout", 4, continuous=True, noop_max=0, use_fire_reset=True, reward_clipping=False)
    ours = cypool.make("Breakout-v5", num_envs=4, continuous=True, noop_max=0)
    assert ours.single_action_space == theirs.single_action_space
    want, got = theirs.reset(seed=3)[0], ours.reset(seed=3)[0]
    assert np.array_equal(got[:, 3], want[:, 3])
    ages, num_ended = np.zeros(4, int), 0
    for _ in range(300):
        actions = joystick(rng, 0.5, (4,))
        want, got = theirs.step(actions), ours.step(actions)
        # at a reset its stack begins with black frames; at an end it shows an older one
        ages = np.where(want[2], -1, ages + 1)
        num_ended += want[2].sum()
        assert np.array_equal(got[0][ages > 3], want[0][ages > 3])
        for theirs_, ours_ in zip(want[1:4], got[1:4], strict=True):
            assert np.array_equal(ours_, theirs_)
    assert num_ended > 3


def joystick(rng, threshold, shape=()):
    """Positions of the joystick, half of them such as are very near the threshold, if there are."""
    space = rng.uniform([0, -np.pi, 0], [1, np.pi, 1], (*shape, 3)).astype(np.float32)
    with np.errstate(divide="ignore"):
        near = np.float32(threshold) / np.abs(rng.choice([np.cos, np.sin])(space[..., 1]))
    near = np.nextafter(near, rng.choice([0, 2], shape).astype(np.float32))
    space[..., 0] = np.where((near <= 1) & (rng.random(shape) < 0.5), near, space[..., 0])
    return space


def assert_follows_gymnasium(env, id, steps, **options):
    """Steps both, and closes the environment."""
    pool = cypool.make(id, seed=1, ram=True, **options)
    assert pool.single_observation_space == env.observation_space and pool.single_action_space == env.action_space
    rng = np.random.default_rng(0)
    want = env.reset(seed=1)
    got = pool.reset()
    want, got = (want[0], 0.0, False, False, want[1]), (got[0], [0.0], [False], [False], got[1])
    num_ended = 0
    for _ in range(steps):
        assert np.array_equal(got[0][0], want[0])
        assert (got[1][0], got[2][0], got[3][0]) == want[1:4]
        for key in "lives", "frame_number", "episode_frame_number":
            assert got[4][key][0] == want[4][key]
        assert np.array_equal(got[4]["ram"][0], env.unwrapped.ale.getRAM())
        if options.get("continuous"):
            action = joystick(rng, options["continuous_action_threshold"])
        else:
            action = rng.integers(env.action_space.n)
        over = want[2] or want[3]
        num_ended += over
        if over:
            obs, info = env.reset()
            want = obs, 0.0, False, False, info
        else:
            want = env.step(action)
        got = pool.step(action[None] if action.shape else [action])
    assert "Breakout" not in id or num_ended > 1 or options.get("continuous")


@pytest.mark.parametrize("options", [
    {"obs_type": "ram"}, {"obs_type": "screen", "gray_scale": False, "stack_num": 1}, {"ram": True},
    {"use_inter_area_resize": False, "frame_numbers": True},
], ids=str)
@pytest.mark.parametrize("num_threads", [2, *slow(0, 1, 5)])
def test_states_and_threads_of_the_other_observations(options, num_threads):
    options = options | {"num_envs": 5, "episodic_life": True, "repeat_action_probability": 0.25, "frame_skip": 8}
    actions = episode_actions(4, (80, 5))
    alone = cypool.make("Breakout-v5", num_threads=0, seed=3, **options)
    want = history(alone, actions)
    alone.close()
    pool = cypool.make("Breakout-v5", num_threads=num_threads, seed=3, **options)
    assert_equal(history(pool, actions[:40]), {key: rows[:41] for key, rows in want.items()})
    other = started(cypool.make("Breakout-v5", num_threads=num_threads, seed=4, **options))
    got = columns(after_reset(other.load(pool.save())))
    for key in got:
        if key.startswith("info") or key == "obs":
            assert np.array_equal(got[key], want[key][40]), key
    for k in range(40, 80):
        assert_equal(columns(other.step(actions[k])), {key: rows[k + 1] for key, rows in want.items()}, f"at {k}")


def test_a_saved_state_keeps_mode_and_difficulty():
    options = {"mode": 3, "difficulty": 1, "seed": 5, "noop_max": 10, "max_episode_steps": 30}
    pool = cypool.make("Freeway-v5", **options)
    other = cypool.make("Freeway-v5", **options | {"seed": 6})
    actions = episode_actions(pool.single_action_space.n, (70, 1))
    history(pool, actions[:20])
    other.load(pool.save())
    for action in actions:
        assert_equal(columns(other.step(action)), columns(pool.step(action)))


def test_reset_after_a_lost_life_starts_a_new_game():
    pool = cypool.make("Breakout-v5", seed=0, episodic_life=True)
    _, info = pool.reset()
    lives = info["lives"][0]
    for _ in range(2):
        for _ in attempts():
            _, _, terminated, _, info = pool.step([0])
            if terminated:
                break
        assert info["lives"][0] == lives - 1 and info["terminated"][0] == 0
        _, info = pool.reset()
        assert info["lives"][0] == lives and info["elapsed_step"][0] == 0


def test_game_that_ends_during_noops_starts_anew():
    # without a shot the game is over after 600 frames
    options = {"noop_max": 2000, "frame_skip": 60, "episodic_life": True}
    counts = assert_follows_reference("assault", options, 60)
    assert counts["ended in no-ops"] > 1 and counts["new life"] > 1


def test_noop_draws_are_those_of_envpool():
    # as EnvPool 1.2.5 does for noop_max 30 and these seeds
    draws = [16, 12, 13, 16, 29, 6, 26, 2]
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(ROMS / "enduro.bin")
    frames = []
    for noops in range(30):
        ale.reset_game()
        for _ in range(noops):
            ale.act(ale_py.Action.NOOP)
        ale.act(ale_py.Action.FIRE)
        frames.append(
            cv2.resize(ale.getScreenGrayscale(), (84, 84), interpolation=cv2.INTER_AREA).tobytes())
    # each number of no-ops leads to a different frame in this game
    assert len(set(frames)) == 30
    pool = cypool.make("Enduro-v5", num_envs=8, seed=0)
    obs, _ = pool.reset()
    assert [frames.index(stack[3].tobytes()) for stack in obs] == draws


# all games


def test_ids_are_those_of_the_installed_roms():
    assert len(ALL_TASKS) == 104
    ids = cypool.list_all_envs()
    ale_ids = {id for id in gymnasium.registry if id.startswith("ALE/")}
    assert {id for id in ids if id.startswith("ALE/")} == ale_ids
    # Gymnasium has these for some games only
    for kind in ("-v0", "-v4", "NoFrameskip-v0", "NoFrameskip-v4"):
        assert {f"{id[4:-3]}{kind}" for id in ale_ids} <= set(ids)
    assert {id for id in ids if id.endswith("-v5") and "task" in cypool.make_spec(id).options} - ale_ids == set(
        map(id_of, ALL_TASKS))


@pytest.mark.parametrize("task", ALL_TASKS)
def test_every_game_runs(task):
    pool = cypool.make(id_of(task), seed=3, full_action_space=True)
    assert pool.env_spec.options["task"] == task
    obs, _ = pool.reset()
    for action in range(pool.single_action_space.n):
        assert obs in pool.observation_space
        obs, reward, _, _, _ = pool.step([action])
        assert np.isfinite(reward[0])
    # by now there is something to see
    assert len(np.unique(obs)) > 1


@pytest.mark.parametrize("task", often_slow(ALL_TASKS, 24, ("montezuma_revenge", "pitfall2", "tutankham")))
def test_every_game_begins_and_goes_on_from_a_state_the_same(task):
    options = {"num_threads": 0, "full_action_space": "all", "repeat_action_probability": 0.25, "ram": True,
               "obs_type": "screen", "stack_num": 1, "frame_numbers": True}
    atari.start_of.cache_clear()
    # the first of them emulates the game's beginning, the others take it from there
    pool = cypool.make(id_of(task), num_envs=3, seed=[5, 5, 6], **options)
    reference = Reference(task, 5, **{name: options[name] for name in options if name != "num_threads"})
    actions = episode_actions(18, 60)
    got = columns(after_reset(pool.reset()))
    row = reference.reset()
    for action in actions[:30]:
        for key in row:
            assert np.array_equal(got[key][0], row[key]) and np.array_equal(got[key][1], row[key]), key
        got, row = columns(pool.step([action, action, 17 - action])), reference.step(action)
    state = pool.save()
    pool.load(state[[0]], [2])
    assert pool.save([2]).rows[0]["own"] == state.rows[0]["own"]
    for action in actions[30:]:
        got, row = columns(pool.step([action] * 3)), reference.step(action)
        for key in row:
            assert all(np.array_equal(got[key][i], row[key]) for i in range(3)), key


@pytest.mark.parametrize(("tasks", "batch_size", "num_threads"), [
    (roms.ATARI_26[::4], 7, 0), *exhaustive((roms.ATARI_26, 26, 0)), *slow((roms.ATARI_26, 5, 2)),
    *exhaustive((roms.ATARI_57, 57, 5))],
    ids=["7", "26", "26, asynchronous", "57"])
def test_a_pool_of_many_games(tasks, batch_size, num_threads):
    num_envs, num_steps = len(tasks), 12
    options = {"full_action_space": "all", "repeat_action_probability": 0.25}
    pool = cypool.make("Pong-v5", num_envs=num_envs, batch_size=batch_size, num_threads=num_threads, seed=40,
                       env_options=[{"task": task} for task in tasks], **options)
    assert pool.single_action_space.n == 18
    actions = episode_actions(18, (num_steps, num_envs))
    references = [Reference(task, 40 + i, **options) for i, task in enumerate(tasks)]
    num_rows = np.zeros(num_envs, int)
    pool.async_reset()
    while num_rows.sum() < num_envs * num_steps:
        got = columns(pool.recv())
        ids = got.pop("info env_id")
        rows = [references[i].step(actions[num_rows[i], i]) if num_rows[i] else references[i].reset() for i in ids]
        assert_equal(got, {key: np.stack([row[key] for row in rows]) for key in rows[0]})
        num_rows[ids] += 1
        going_on = ids[num_rows[ids] < num_steps]
        if going_on.size:
            pool.send(actions[num_rows[going_on], going_on], going_on)


def test_lists_of_games():
    assert len(set(roms.ATARI_26)) == 26 and len(set(roms.ATARI_57)) == 57
    assert set(roms.ATARI_26) < set(roms.ATARI_57) < set(roms.TASKS)


def test_games_that_differ_in_their_actions_do_not_share_a_pool():
    tasks = [{"task": "pong"}, {"task": "skiing"}]
    for options in {}, {"full_action_space": True}:
        with pytest.raises(ValueError, match="^env_options: expected the same action in all environments"):
            cypool.make("Pong-v5", num_envs=2, env_options=tasks, **options)


def test_defaults_are_those_of_envpool():
    spec = cypool.make_spec("Pong-v5")
    reference = Reference("pong", 0)
    assert spec.options == {option: getattr(reference, option) for option in spec.options}
    assert spec.max_episode_steps == reference.max_episode_steps
    assert (spec.observation.shape, spec.observation.dtype, spec.action.n) == ((4, 84, 84), np.uint8, 6)


# the same episodes, whichever thread steps them

# lives end soon enough for many resets
STICKY_BREAKOUT = {"num_envs": 5, "repeat_action_probability": 0.25, "episodic_life": True, "seed": 11}


@pytest.fixture(scope="module")
def breakout():
    actions = episode_actions(4, (200, 5))
    pool = cypool.make("Breakout-v5", num_threads=0, **STICKY_BREAKOUT)
    rows = history(pool, actions)
    assert rows["terminated"].sum(axis=0).min() > 2
    return SimpleNamespace(actions=actions, rows=rows)


@pytest.mark.parametrize("num_threads", [1, 2, 7])
def test_threads_change_nothing(breakout, num_threads):
    pool = cypool.make("Breakout-v5", num_threads=num_threads, **STICKY_BREAKOUT)
    assert_equal(history(pool, breakout.actions), breakout.rows)


@pytest.mark.parametrize(("batch_size", "num_threads"), [(1, 0), (1, 7), (3, 1), (3, 2)])
def test_asynchronous_episodes_are_the_synchronous_ones(breakout, batch_size, num_threads):
    pool = cypool.make("Breakout-v5", batch_size=batch_size, num_threads=num_threads, **STICKY_BREAKOUT)
    num_steps, num_envs = breakout.actions.shape
    num_rows = np.zeros(num_envs, int)
    pool.async_reset()
    while num_rows.sum() < num_rows.size * (num_steps + 1):
        batch = columns(pool.recv())
        ids = batch["info env_id"]
        assert_equal(batch, {key: rows[num_rows[ids], ids] for key, rows in breakout.rows.items()})
        going_on = ids[num_rows[ids] < num_steps]
        if going_on.size:
            pool.send(breakout.actions[num_rows[going_on], going_on], going_on)
        num_rows[ids] += 1
    assert (num_rows == num_steps + 1).all()


def test_a_seed_gives_the_same_episodes_on_a_new_and_on_a_used_pool(breakout):
    pool = cypool.make("Breakout-v5", **STICKY_BREAKOUT | {"seed": 5})
    other = history(pool, breakout.actions[:50])
    # in the middle of games, some of them at a lost life
    again = history(pool, breakout.actions, seed=11)
    assert_equal(again, breakout.rows)
    assert_equal(history(pool, breakout.actions, seed=[11, 12, 13, 14, 15]), breakout.rows)
    assert_equal(history(pool, breakout.actions[:50], seed=5), other)


def test_seeds_differ(breakout):
    # envs with the same actions and other seeds: no two alike
    pool = cypool.make("Breakout-v5", **STICKY_BREAKOUT | {"noop_max": 1})
    obs = history(pool, np.repeat(breakout.actions[:, :1], 5, axis=1))["obs"]
    assert len({obs[:, i].tobytes() for i in range(5)}) == 5


def test_a_seed_of_none_leaves_the_random_stream_where_it_is(breakout):
    first, second = breakout.actions[:60], breakout.actions[60:120]
    pools = [cypool.make("Breakout-v5", **STICKY_BREAKOUT) for _ in range(2)]
    for pool in pools:
        history(pool, first)
    want = history(pools[0], second)
    got = history(pools[1], second, seed=[None, None, 99, None, None])
    for i in range(5):
        same = np.array_equal(got["obs"][:, i], want["obs"][:, i])
        assert same == (i != 2)
    # a reset does not restart the stream
    assert not np.array_equal(want["obs"], history(pools[0], second, seed=11)["obs"])


def test_batches_stay_as_they_were():
    pool = cypool.make("Breakout-v5", num_envs=2, seed=0)
    batch = pool.reset()[0]
    copy = batch.copy()
    for _ in range(20):
        pool.step([1, 1])
    assert np.array_equal(batch, copy)


# bad input


test_bad_arguments_are_named = refuses([
    ({"task": "nope"}, ValueError, "task: .*'nope'"),
    *(({"task": task}, ValueError, f"task: '{task}' needs two players") for task in roms.TWO_PLAYERS),
    ({"task": "../roms/pong"}, ValueError, "task: "),
    ({"task": 3}, TypeError, "task: "),
    ({"task": ["pong"]}, TypeError, "task: "),
    ({"img_height": 0}, ValueError, "img_height: expected 1 to 210, got 0"),
    ({"img_width": 0}, ValueError, "img_width: expected 1 to 160, got 0"),
    ({"img_height": -84}, ValueError, "img_height: expected 1 to 210, got -84"),
    ({"img_height": 300}, ValueError, "img_height: expected 1 to 210, got 300"),
    ({"img_height": 2**64}, ValueError, "img_height: "),
    ({"img_height": 84.0}, TypeError, "img_height: "),
    ({"img_width": 161}, ValueError, "img_width: expected 1 to 160, got 161"),
    ({"img_width": None}, TypeError, "img_width: "),
    ({"stack_num": 0}, ValueError, "stack_num: "),
    ({"stack_num": True}, TypeError, "stack_num: "),
    ({"noop_max": -1}, ValueError, "noop_max: "),
    ({"frame_skip": 0}, ValueError, "frame_skip: "),
    ({"frame_skip": -4}, ValueError, "frame_skip: .* got -4"),
    ({"frame_skip": "4"}, TypeError, "frame_skip: "),
    ({"repeat_action_probability": 1.5}, ValueError, "repeat_action_probability: "),
    ({"repeat_action_probability": -0.1}, ValueError, "repeat_action_probability: "),
    ({"repeat_action_probability": float("nan")}, ValueError, "repeat_action_probability: "),
    ({"repeat_action_probability": "x"}, TypeError, "repeat_action_probability: "),
    ({"gray_scale": 1}, TypeError, "gray_scale: "),
    ({"channels_last": 1}, TypeError, "channels_last: "),
    ({"continuous": 1}, TypeError, "continuous: "),
    ({"continuous_action_threshold": -0.1}, ValueError, "continuous_action_threshold: "),
    ({"continuous_action_threshold": 1.5}, ValueError, "continuous_action_threshold: "),
    ({"continuous_action_threshold": None}, TypeError, "continuous_action_threshold: "),
    ({"episodic_life": None}, TypeError, "episodic_life: "),
    ({"reward_clip": "no"}, TypeError, "reward_clip: "),
    ({"use_fire_reset": 0}, TypeError, "use_fire_reset: "),
    ({"full_action_space": np.ones(2, bool)}, TypeError, "full_action_space: "),
    ({"full_action_space": "some"}, TypeError, "full_action_space: "),
    ({"mode": 2}, ValueError, "mode: expected one of 0, 1, or -1 .the default of 'pong'., got 2"),
    ({"mode": None}, TypeError, "mode: "),
    ({"mode": 1.0}, TypeError, "mode: "),
    ({"mode": 2**40}, ValueError, "mode: "),
    ({"difficulty": 4}, ValueError, "difficulty: expected one of 0, 1, 2, 3, or -1 .*, got 4"),
    ({"difficulty": True}, TypeError, "difficulty: "),
    ({"ram": 1}, TypeError, "ram: "),
    ({"frame_numbers": 0}, TypeError, "frame_numbers: "),
    ({"obs_type": "rgb"}, ValueError, "obs_type: expected one of 'image', 'screen', 'ram', got 'rgb'"),
    ({"obs_type": 1}, ValueError, "obs_type: "),
    ({"use_inter_area_resize": "no"}, TypeError, "use_inter_area_resize: "),
    ({"grey_scale": True}, ValueError, "grey_scale: .*gray_scale"),
    ({"max_episode_steps": 0}, ValueError, "max_episode_steps: "),
    ({"seed": 2**31}, ValueError, "seed: .*2147483648"),
    ({"seed": 2**31 - 1, "num_envs": 2}, ValueError, "seed: .*for every env"),
    ({"seed": -1}, ValueError, "seed: "),
    ({"seed": 1.0}, TypeError, "seed: "),
], "Pong-v5")


@pytest.mark.parametrize("id", ["Nope-v5", "Pong-v3", "Combat-v5", "ALE/Combat-v5", "ALE/Pong-v4"])
def test_unknown_ids_are_refused(id):
    with pytest.raises(ValueError, match=f"^id: .*'{id}'"):
        cypool.make(id)


def test_largest_seed_is_taken():
    pool = cypool.make("Pong-v5", seed=2**31 - 1, repeat_action_probability=0.25)
    reference = Reference("pong", 2**31 - 1, repeat_action_probability=0.25)
    obs, _ = pool.reset()
    assert np.array_equal(obs[0], reference.reset()["obs"])
    with pytest.raises(ValueError, match=r"^seed: "):
        pool.reset(seed=2**31)
    # the pool continues as if nothing had been asked
    for action in range(6):
        assert np.array_equal(pool.step([action])[0][0], reference.step(action)["obs"])


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int64])
def test_numbers_of_numpy_are_as_good_as_ints(kind):
    options = {"img_height": kind(90), "img_width": kind(84), "stack_num": kind(100), "gray_scale": np.False_}
    pool = cypool.make("Seaquest-v5", seed=0, repeat_action_probability=np.float32(0.25), **options)
    want = cypool.make(
        "Seaquest-v5", seed=0, repeat_action_probability=0.25, img_height=90, stack_num=100, gray_scale=False)
    actions = episode_actions(18, (5, 1))
    assert pool.single_observation_space.shape == (300, 90, 84)
    assert_equal(history(pool, actions), history(want, actions))


@pytest.fixture
def rom_folder(monkeypatch, tmp_path):
    """The folder where cypool now looks for ROMs; empty."""
    monkeypatch.setattr("cypool.envs.atari.roms.folder_of", lambda name: str(tmp_path))
    atari.game_facts.cache_clear()
    yield tmp_path / "roms"
    atari.game_facts.cache_clear()


def test_missing_rom_is_named(rom_folder):
    with pytest.raises(ValueError, match=r"^task: .*pong\.bin"):
        cypool.make("Pong-v5")
    # a folder is no ROM either
    (rom_folder / "pong.bin").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"^task: .*pong\.bin"):
        cypool.make("Pong-v5")


@pytest.mark.parametrize("content", [
    b"", b"\0", bytes(4096), (ROMS / "pong.bin").read_bytes()[:-1], (ROMS / "breakout.bin").read_bytes(),
    (ROMS / "combat.bin").read_bytes(),
], ids=["empty", "one byte", "zeros", "cut off", "another game", "for two players"])
def test_rom_with_other_content_is_refused(rom_folder, content):
    rom_folder.mkdir()
    (rom_folder / "pong.bin").write_bytes(content)
    with pytest.raises(ValueError, match=r"^task: .*pong\.bin.*'pong'"):
        cypool.make("Pong-v5")


def test_missing_ale_py_is_named(monkeypatch):
    monkeypatch.setattr("cypool.envs.atari.roms.folder_of", lambda name: None)
    atari.game_facts.cache_clear()
    with pytest.raises(ValueError, match=r"^task: .*ale-py"):
        cypool.make("Pong-v5")
    atari.game_facts.cache_clear()


# ALE likes to end the process, so others have to watch


@pytest.mark.parametrize("change", ["gone", "cut off", "overwritten"])
def test_rom_that_changes_after_make_raises_and_can_come_back(run_python, tmp_path, change):
    assert run_python(f"""
import os, shutil, sys
import numpy as np
import cypool
import cypool.envs.atari.roms

true_rom, rom = {str(ROMS / "pong.bin")!r}, {str(tmp_path / "roms" / "pong.bin")!r}
os.mkdir(os.path.dirname(rom))
shutil.copy(true_rom, rom)
cypool.envs.atari.roms.folder_of = lambda name: {str(tmp_path)!r}
pool = cypool.make("Pong-v5", num_envs=3, num_threads=2, seed=0)
if {change!r} == "gone":
    os.remove(rom)
else:
    with open(rom, "wb") as file:
        file.write(b"x" * {100 if change == "cut off" else 2048})
for _ in range(2):
    try:
        pool.reset()
        sys.exit("no error")
    except cypool.EnvError as error:
        assert sorted(error.causes) == [0, 1, 2], error.causes
        assert "ROM" in str(error), error
        assert error.batch[0].sum() == 0
shutil.copy(true_rom, rom)
obs, _ = pool.reset()
assert np.array_equal(obs, cypool.make("Pong-v5", num_envs=3, seed=0).reset()[0])
print("fine")
""", check=True).stdout == "fine\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc as Linux has it")
@pytest.mark.parametrize("id", ["Pong-v5", *slow("Breakout-v5", "Pitfall2-v5")])
def test_memory_of_an_environment(run_python, id):
    done = run_python(f"""
import cypool, psutil

def play(num_envs):
    env = cypool.make({id!r}, num_envs=num_envs, num_threads=2, seed=0)
    env.reset()
    for _ in range(10):
        env.step([0] * num_envs)
    return env

few = play(4)
before = psutil.Process().memory_info().rss
many = play(64)
print((psutil.Process().memory_info().rss - before) / 64 / 1e6)
""")
    # megabytes, and that of the batches
    assert 0.1 < float(done.stdout) < 0.6, done.stderr


# imports modules, in an order; "global" makes the symbols of the next one global
TWO_EMULATORS = """
import hashlib, os, sys

for word in {order}:
    sys.setdlopenflags(os.RTLD_NOW)
    if word.startswith("global_"):
        sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
    if word.endswith("cypool"):
        import cypool
        from cypool.envs.atari import atari
    else:
        import ale_py
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
ours, theirs = hashlib.sha256(), hashlib.sha256()
pool = cypool.make("Breakout-v5", num_envs=3, num_threads=2, seed=1, repeat_action_probability=0.25)
if "ale_py" in sys.modules:
    game = ale_py.ALEInterface()
    game.setInt("random_seed", 1)
    game.loadROM(ale_py.roms.get_rom_path("breakout"))
ours.update(pool.reset()[0].tobytes())
for k in range(100):
    if "ale_py" in sys.modules:
        game.act(game.getMinimalActionSet()[k % 4])
        theirs.update(game.getScreenGrayscale().tobytes() + game.getScreenRGB().tobytes())
    ours.update(pool.step([k % 4, k % 3, k % 2])[0].tobytes())
print(ours.hexdigest(), theirs.hexdigest())
"""


def test_the_emulator_of_ale_py_in_the_same_process_changes_nothing(run_python):
    orders = [["cypool"], ["ale_py", "cypool"], ["cypool", "ale_py"], ["global_ale_py", "cypool"],
              ["global_cypool", "ale_py"]]
    with ThreadPoolExecutor(2) as threads:
        done = list(threads.map(run_python, [TWO_EMULATORS.format(order=order) for order in orders]))
    assert not any(each.returncode for each in done), done
    digests = [each.stdout.split() for each in done]
    assert len({ours for ours, _ in digests}) == 1, digests
    # the first had no emulator of ale_py
    assert len({theirs for _, theirs in digests[1:]}) == 1, digests


def test_chance_of_sticky_actions_is_of_their_own_stream():
    for id, options, sticky in [("ALE/Pong-v5", {}, True), ("ALE/Pong-v5", {"repeat_action_probability": 0.0}, False),
                                ("Pong-v5", {}, False), ("PongNoFrameskip-v0", {}, True)]:
        assert cypool.make_spec(id, **options).has_own_chance == sticky
    env = started(cypool.make("ALE/Pong-v5", num_envs=2, num_threads=0))
    with pytest.raises(ValueError, match="^chance: expected 'foresee'"):
        cypool.TreeSearch(env)
    search = cypool.TreeSearch(env, simulations=4, chance="foresee")
    for _ in range(3):
        action = search.run("constant").action
        env.step(action)
        search.advance(action)
