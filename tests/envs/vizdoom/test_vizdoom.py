"""Doom: against ViZDoom's own Gymnasium wrapper and a model of EnvPool's rules; and with wrong arguments."""
import pickle
from contextlib import suppress
from pathlib import Path

import cv2
import gymnasium
import numpy as np
import pytest
import vizdoom.gymnasium_wrapper
from comparing import assert_same
from envs.vizdoom.play import players
from family_tests import refuses
from gymnasium.vector import AutoresetMode
from markers import exhaustive, slow
from receiving import started

import cypool
from cypool.envs.vizdoom import assets, names
from cypool.envs.vizdoom.specs import INFO, REWARDS, WEAPON_REWARDS, combined_actions
from cypool.registration.registry import resolve
from cypool.testing import check_parity

SCENARIOS = Path(vizdoom.scenarios_path)


@pytest.mark.parametrize("mode, num_threads", [
    (AutoresetMode.SAME_STEP, 2), *slow((AutoresetMode.NEXT_STEP, 5), (AutoresetMode.DISABLED, 0)),
    *exhaustive((AutoresetMode.NEXT_STEP, 0), (AutoresetMode.NEXT_STEP, 1), (AutoresetMode.DISABLED, 2))])
def test_equals_the_wrapper(mode, num_threads):
    with players(0):
        parity = check_parity("VizdoomBasic-v1", num_envs=3, num_steps=80, seeds=(1, 20), autoreset_mode=mode,
                              num_threads=num_threads, frame_skip=4)
    assert parity.num_episodes > 3 and not parity.has_streams


# all kinds of actions and buffers; deaths, exits and time limits within a step
@pytest.mark.parametrize("id, frame_skip, config, least", [
    ("VizdoomBasic-MultiBinary-v1", 1, {"screen_resolution": "RES_160X120", "screen_format": "GRAY8"}, 0),
    ("VizdoomBasic-v1", 3, {"depth_buffer_enabled": True, "labels_buffer_enabled": True, "render_hud": True,
                            "automap_buffer_enabled": True, "screen_format": vizdoom.ScreenFormat.RGB24}, 1),
    *slow(
        ("VizdoomDeadlyCorridor-v1", 7, {}, 2),
        ("VizdoomDefendCenter-v1", 12, {"available_game_variables": ["POSITION_X", "ANGLE", "USER1"]}, 1),
        ("VizdoomMyWayHome-v1", 60, {"available_buttons": ["MOVE_FORWARD", "TURN_LEFT_RIGHT_DELTA"]}, 1),
        ("VizdoomFreedoom2MAP01-S3-v0", 5, {"audio_buffer_enabled": False}, 0),
        ("VizdoomHealthGathering-v1", 30, {}, 2),
        ("VizdoomPredictPosition-v1", 9, {}, 2),
        ("VizdoomTakeCover-v1", 10, {}, 2),
        ("VizdoomDefendLine-v1", 30, {}, 1),
        ("VizdoomHealthGatheringSupreme-MultiBinary-v1", 35, {"screen_resolution": "RES_160X120"}, 2),
        ("VizdoomDeathmatch-v1", 4, {}, 0),
        ("VizdoomDeathmatch-MultiBinary-v1", 2, {"automap_buffer_enabled": True, "screen_format": "GRAY8"}, 0))])
def test_equals_the_wrapper_in(id, frame_skip, config, least):
    with players(0):
        parity = check_parity(id, num_envs=2, num_steps=60, seeds=(3, 20), frame_skip=frame_skip, config=config)
    assert parity.num_episodes >= least


def test_ids_are_those_of_the_wrapper():
    theirs = {id for id in gymnasium.registry if id.startswith("Vizdoom")}
    ours = {id for id in cypool.list_all_envs() if id.startswith("Vizdoom")}
    assert theirs | {"VizdoomCustom-v1"} == ours and len(theirs) > 700


def test_a_picture_shows_the_screen():
    with cypool.make("VizdoomBasic-v1", num_envs=2, seed=1) as env:
        obs, _ = env.reset()
        assert np.array_equal(env.render(), obs["screen"])
    with cypool.make("Basic-v1", img_height=240, img_width=320, stack_num=1) as env:
        obs, _ = env.reset()
        assert np.array_equal(env.render()[0], obs[0].transpose(1, 2, 0))


def test_notifications_are_text():
    config = {"scenario_config_file": "basic_notifications.cfg", "frame_skip": 4}
    with cypool.make("VizdoomBasicNotifications-v1", num_envs=1, seed=3, frame_skip=4) as env:
        wrapper = gymnasium.make("VizdoomBasicNotifications-v1", frame_skip=4)
        obs, _ = env.reset()
        want, _ = wrapper.reset(seed=3)
        texts = 0
        for t in range(60):
            assert obs["notifications"][0].tobytes().rstrip(b"\0").decode() == want["notifications"], config
            texts += bool(want["notifications"])
            obs, _, terminated, *_ = env.step([t % 4])
            want, *_ = wrapper.step(t % 4)
            if terminated:
                break
        wrapper.close()
    assert texts


def test_audio():
    with cypool.make("VizdoomBasicAudio-v1", frame_skip=4) as env:
        # 4 tics of 44,100 samples a second; a machine without a sound card may refuse
        assert env.single_observation_space["audio"].shape == (5040, 2)
        with suppress(cypool.EnvError):
            obs, _ = env.reset()
            assert obs["audio"].dtype == np.int16


class Model:
    """One game with EnvPool's rules, on vizdoom's Python module, a tic at a time."""

    def __init__(self, path, seed, *, img_height=84, img_width=84, stack_num=4, frame_skip=4, weapon_duration=5,
                 use_inter_area_resize=True, reward_config=REWARDS, selected_weapon_reward_config=WEAPON_REWARDS,
                 screen_resolution=None, max_episode_steps=525):
        self.size, self.stack_num, self.frame_skip = (img_width, img_height), stack_num, frame_skip
        self.how = cv2.INTER_AREA if use_inter_area_resize else cv2.INTER_LINEAR
        self.duration, self.weapons = weapon_duration, selected_weapon_reward_config
        self.game = vizdoom.DoomGame()
        self.game.load_config(str(path))
        self.game.set_window_visible(False)
        self.game.set_mode(vizdoom.Mode.PLAYER)
        self.game.set_doom_map("map01")
        self.game.set_render_screen_flashes(False)
        width, height = self.game.get_screen_width(), self.game.get_screen_height()
        self.middle = None
        if screen_resolution:
            self.game.set_screen_resolution(getattr(vizdoom.ScreenResolution, screen_resolution))
        elif width < 320:
            self.game.set_screen_resolution(vizdoom.ScreenResolution.RES_320X240)
            self.middle = width, height
        self.game.set_episode_timeout((max_episode_steps + 1) * frame_skip)
        for name in INFO:
            self.game.add_available_game_variable(getattr(vizdoom.GameVariable, name))
        self.names = [variable.name for variable in self.game.get_available_game_variables()]
        self.rates = [[np.float64(np.float32(rate)) for rate in reward_config.get(name, (0, 0))] for name in self.names]
        self.game.set_seed(seed)
        self.started = False

    def reset(self):
        if self.started:
            self.game.new_episode()
        else:
            self.game.init()
        self.started = True
        state = self.game.get_state()
        self.now = dict(zip(self.names, state.game_variables, strict=True))
        self.base = {name: self.now[name] for name in ("HITCOUNT", "DAMAGECOUNT", "DEATHCOUNT")}
        for name, value in self.base.items():
            self.now[name] -= value
        self.weapon, self.held = -1, 0
        self.reward_of(dict(self.now))
        self.frames = [self.frame_of(state)] * self.stack_num
        return np.concatenate(self.frames), self.info()

    def step(self, action):
        self.game.make_action(list(action), self.frame_skip)
        reward, state = 0.0, self.game.get_state()
        if state is not None:
            before, self.now = self.now, dict(zip(self.names, state.game_variables, strict=True))
            for name, value in self.base.items():
                self.now[name] -= value
            reward = self.reward_of(before)
            self.frames = [*self.frames[1:], self.frame_of(state)]
        return np.concatenate(self.frames), reward, self.game.is_episode_finished(), self.info()

    def frame_of(self, state):
        planes = state.screen_buffer if state.screen_buffer.ndim == 3 else state.screen_buffer[None]
        if self.middle:
            planes = [cv2.resize(plane, self.middle, interpolation=self.how) for plane in planes]
        return np.stack([cv2.resize(plane, self.size, interpolation=self.how) for plane in planes])

    def reward_of(self, before):
        total = np.float32(0)
        for name, (gain, loss) in zip(self.names, self.rates, strict=True):
            if name == "HEALTH":
                if before[name] < 0 and self.now[name] < 0:
                    before[name] = self.now[name] = 100
                elif self.now[name] < 0:
                    self.now[name] = before[name]
                elif before[name] < 0:
                    before[name] = self.now[name]
            change = self.now[name] - before[name]
            change = min(change, {"DAMAGECOUNT": 200, "HITCOUNT": 5}.get(name, change))
            total = total + np.float32(change * gain) if change >= 0 else total - np.float32(change * loss)
        weapon = int(self.now["SELECTED_WEAPON"])
        self.held = self.held + 1 if weapon == self.weapon else 1
        self.weapon = weapon
        if weapon >= 0 and self.held >= self.duration and self.now["SELECTED_WEAPON_AMMO"] > 0:
            total = np.float32(total + np.float64(np.float32(self.weapons.get(weapon, 0))))
        return float(total)

    def info(self):
        return [self.now[name] for name in INFO]


@pytest.mark.parametrize("id, path, steps, options", [
    ("Basic-v1", "basic.cfg", 150, {}),
    *slow(("HealthGathering-v1", "health_gathering.cfg", 150, {"frame_skip": 9, "stack_num": 2, "img_width": 100}),
          ("DefendTheCenter-v1", "defend_the_center.cfg", 150, {"screen_resolution": "RES_160X120", "frame_skip": 6})),
    ("Deathmatch-v1", "deathmatch.cfg", 60, {"use_inter_area_resize": False, "weapon_duration": 2,
                                             "reward_config": {"POSITION_X": (1, 1), "HEALTH": (0.5, -0.3)},
                                             "selected_weapon_reward_config": {2: 0.25}}),
    *slow(("VizdoomCustom-v1", "learning.cfg", 60, {"img_height": 60, "frame_skip": 40, "max_episode_steps": 50}))])
def test_equals_the_model_of_envpool(id, path, steps, options):
    given = {"cfg_path": str(SCENARIOS / path)} if id == "VizdoomCustom-v1" else {}
    with cypool.make(id, num_envs=2, seed=[7, 11], **options, **given) as env:
        models = [Model(SCENARIOS / path, seed, **options) for seed in (7, 11)]
        obs, info = env.reset()
        over = [False, False]
        for i, model in enumerate(models):
            want, variables = model.reset()
            assert np.array_equal(obs[i], want) and [info[name][i] for name in INFO] == variables
        rng = np.random.default_rng(0)
        ended = 0
        for t in range(steps):
            actions = rng.integers(0, 2, env.action_space.shape).astype(float)
            obs, reward, terminated, truncated, info = env.step(actions)
            for i, model in enumerate(models):
                if over[i]:
                    want, variables = model.reset()
                    gain, end = 0.0, False
                else:
                    want, gain, end, variables = model.step(actions[i])
                assert np.array_equal(obs[i], want), f"env {i}, step {t}"
                assert (reward[i], terminated[i]) == (gain, end), f"env {i}, step {t}"
                assert [info[name][i] for name in INFO] == variables, f"env {i}, step {t}"
                over[i] = terminated[i] or truncated[i]
                ended += over[i]
        for model in models:
            model.game.close()
    assert ended > 1 or id == "Deathmatch-v1"


@pytest.mark.parametrize("options", [{"use_inter_area_resize": False, "img_height": 144, "img_width": 77}, *slow(
    {}, {"screen_resolution": "RES_256X144", "img_height": 144, "img_width": 256})])
def test_a_narrow_config_is_drawn_larger_as_envpool_does(tmp_path, options):
    path = tmp_path / "narrow.cfg"
    path.write_text((SCENARIOS / "deadly_corridor.cfg").read_text() + "\nscreen_resolution = RES_256X144\n"
                    "render_screen_flashes = true\n")
    wad = SCENARIOS / "deadly_corridor.wad"
    (tmp_path / wad.name).symlink_to(wad)
    with cypool.make("VizdoomCustom-v1", cfg_path=str(path), wad_path=str(wad), seed=[5], stack_num=1, frame_skip=9,
                     **options) as env:
        model = Model(path, 5, stack_num=1, frame_skip=9, **options)
        assert np.array_equal(env.reset()[0][0], model.reset()[0])
        for t in range(12):
            actions = np.eye(7)[[t % 7]]
            obs, reward, terminated, *_ = env.step(actions)
            want, gain, end, _ = model.step(actions[0])
            assert np.array_equal(obs[0], want) and (reward[0], terminated[0]) == (gain, end), t
            if end:
                break
        model.game.close()
    with pytest.raises(ValueError, match="^img_width: expected 1 to 256"):
        cypool.make_spec("VizdoomCustom-v1", cfg_path=str(path), img_width=257)


@pytest.mark.parametrize("place", ["wads/mine.wad", *slow("mine.wad")])
def test_a_scenario_of_the_user(place, tmp_path):
    (tmp_path / "own" / "wads").mkdir(parents=True)
    (tmp_path / "own" / place).write_bytes((SCENARIOS / "basic.wad").read_bytes())
    path = tmp_path / "own" / "mine.cfg"
    path.write_text((SCENARIOS / "basic.cfg").read_text().replace("basic.wad", place))
    for id, name, known in (("VizdoomCustom-v1", "cfg_path", "Basic-v1"),
                            ("VizdoomBasic-v1", "scenario_config_file", "VizdoomBasic-v1")):
        with cypool.make(known, seed=3) as env:
            want, _ = env.reset()
        for given in (str(path), path, "own/mine.cfg", "own/mine"):
            with cypool.make(id, seed=3, **{name: given}) as env:
                obs, _ = env.reset()
                assert np.array_equal(*(each["screen"] if isinstance(each, dict) else each for each in (obs, want)))


def test_what_is_not_observed_is_not_asked_of_the_engine():
    # a machine without a sound card may have no audio
    with cypool.make("BasicAudio-v1", seed=4) as env, cypool.make("Basic-v1", seed=4) as same:
        assert env.reset()[0].shape == same.reset()[0].shape
        assert not env.step([[0, 0, 1]])[3].any()


def test_combined_actions():
    buttons = ["MOVE_LEFT", "ATTACK", "MOVE_RIGHT", "SELECT_WEAPON2", "SPEED", "SELECT_WEAPON1"]
    rows = combined_actions(buttons, True, {})
    assert len(rows) == 2 * 3 * 3 and (rows[:, 4] == 1).all() and rows[0].tolist() == [0, 0, 0, 0, 1, 0]
    # the order of buttons is the library's: ATTACK turns last, weapons first
    assert rows[1].tolist() == [0, 0, 0, 0, 1, 1] and rows[2].tolist() == [0, 0, 0, 1, 1, 0]
    assert rows[3].tolist() == [0, 0, 1, 0, 1, 0] and rows[9].tolist() == [0, 1, 0, 0, 1, 0]
    deltas = combined_actions(["TURN_LEFT_RIGHT_DELTA"], False, {"TURN_LEFT_RIGHT_DELTA": (3, -1, 1)})
    assert deltas.tolist() == [[-1], [0], [1]]
    table = combined_actions(["TURN_LEFT", "TURN_RIGHT", "MOVE_FORWARD"], False, {})
    combined = cypool.make("HealthGathering-v1", seed=4, use_combined_action=True)
    free = cypool.make("HealthGathering-v1", seed=4)
    assert combined.single_action_space.n == len(table) == 6
    combined.reset()
    free.reset()
    for t in range(12):
        for a, b in zip(combined.step([t % 6])[:3], free.step([table[t % 6]])[:3], strict=True):
            assert a.tobytes() == b.tobytes()


def test_episodes_are_recorded(tmp_path):
    folder = tmp_path / ("a folder with a long name and spaces in it, as they are, " * 3)
    with started(cypool.make("Basic-v1", lmp_save_dir=str(folder), max_episode_steps=5)) as env:
        for _ in range(20):
            env.step(np.zeros((1, 3)))
    assert {"env_0_1.lmp", "env_0_2.lmp"} <= {path.name for path in folder.iterdir()}


def test_scenarios_of_envpool_need_its_assets():
    try:
        path = assets.find_config("cfg_path", "D1_basic")
    except ValueError as error:
        assert "D1_basic" in str(error)
        with pytest.raises(ValueError, match="^cfg_path: expected a file, or the name of a scenario"):
            cypool.make("D1Basic-v1")
    else:
        # 160x120 in its config: EnvPool draws it larger
        with cypool.make("D1Basic-v1") as env:
            assert env.reset()[0].shape == (1, 4, 84, 84) and path.endswith("D1_basic.cfg")
            assert env.render()[0].shape == (240, 320, 3)


# one sends for all tics at once, one for each alone, one for a step's only one
@pytest.mark.parametrize("id, frame_skip", [("HealthGathering-v1", 10), *slow(
    ("HealthGathering-v1", 40), ("VizdoomHealthGathering-v1", 10), ("VizdoomHealthGathering-v1", 1))])
def test_results_do_not_depend_on_threads_or_other_environments(id, frame_skip):
    def play(**how):
        with cypool.make(id, seed=2, frame_skip=frame_skip, max_episode_steps=12, **how) as env:
            rows = [screen(env.reset()[0])[1]]
            actions = np.zeros((env.num_envs, *env.single_action_space.shape), env.single_action_space.dtype)
            for t in range(30):
                obs, reward, *_ = env.step(actions + t % 2)
                rows.append(screen(obs)[1])
                rewards.append(reward[1])
            return np.stack(rows)

    def screen(obs):
        return obs["screen"] if isinstance(obs, dict) else obs

    rewards = []

    # alone, by a thread that asks several engines at once, and among more threads than there are CPUs
    want = play(num_envs=2, num_threads=2)
    earned = rewards.copy()
    for num_envs, num_threads in ((2, 1), (5, 0), (5, 5)):
        rewards.clear()
        assert np.array_equal(want, play(num_envs=num_envs, num_threads=num_threads)) and rewards == earned


def test_asynchronous():
    with cypool.make("VizdoomBasic-v1", num_envs=4, batch_size=2, seed=0) as env:
        env.async_reset()
        seen = set()
        while seen != {0, 1, 2, 3}:
            obs, *_, info = env.recv()
            assert len(obs["screen"]) == 2
            seen.update(info["env_id"].tolist())
            env.send(np.zeros(2, int), info["env_id"])


@pytest.mark.parametrize(("id", "options", "batch_size", "threads_per_cpu"), [
    ("VizdoomBasic-v1", {"num_bots": 1}, 64, 4), ("Basic-v1", {}, 32, 4), ("Basic-v1", {}, 64, 1),
    *slow(("Basic-v1", {"num_bots": 1}, 64, 4), ("VizdoomBasic-v1", {}, 64, 1))])
def test_threads_wait_more_than_they_work_where_each_waits_for_one_engine(id, options, batch_size, threads_per_cpu):
    with cypool.make("CartPole-v1", num_envs=64) as env:
        cpus = env.num_threads
    with cypool.make(id, num_envs=64, batch_size=batch_size, **options) as env:
        assert env.num_threads == min(batch_size, threads_per_cpu * cpus)


test_wrong_options = refuses([
    ("VizdoomBasic-v1", {"scenario_config_file": "none.cfg"}, "scenario_config_file: expected a file"),
    ("VizdoomBasic-v1", {"scenario_config_file": 5}, "scenario_config_file: expected a path"),
    ("VizdoomBasic-v1", {"wad_path": "none.wad"}, "wad_path: expected a WAD file"),
    ("VizdoomDoomE1M1-S1-v0", {}, "iwad_path: expected a WAD file"),
    ("VizdoomBasic-v1", {"config": {"available_buttons": ["JUMPS"]}}, "config: .*jumps"),
    ("VizdoomBasic-v1", {"config": {"available_buttons": []}}, "config: expected at least one button|config: "),
    ("VizdoomBasic-v1", {"config": {"living_rewards": 3}}, "config: .*living_rewards"),
    ("VizdoomBasic-v1", {"config": {"living_reward": object()}}, "config: expected names with numbers"),
    ("VizdoomBasic-v1", {"config": 3}, "config: expected a dict"),
    ("VizdoomBasic-v1", {"doom_map": "map77"}, "doom_map: expected a map in"),
    ("VizdoomBasic-v1", {"doom_skill": 6}, "doom_skill: expected 1 to 5"),
    ("VizdoomBasic-v1", {"frame_skip": 0}, "frame_skip: expected 1 to"),
    ("VizdoomBasic-v1", {"num_players": 17}, "num_players: expected 1 to 16"),
    ("VizdoomBasic-v1", {"max_buttons_pressed": -1}, "max_buttons_pressed: expected 0 to"),
    ("VizdoomCustom-v1", {}, "cfg_path: expected a file"),
    ("Basic-v1", {"img_width": 400}, "img_width: expected 1 to 320"),
    ("Basic-v1", {"map_id": "map02;quit"}, "map_id: expected a map in"),
    ("Basic-v1", {"reward_config": {"WEALTH": (1, 1)}}, "reward_config: expected game variables, got 'WEALTH'"),
    ("Basic-v1", {"reward_config": {"HEALTH": 1}}, "reward_config: expected 2 numbers"),
    ("Basic-v1", {"delta_button_config": {"ATTACK": (2, 0, 1)}}, "delta_button_config: expected buttons that take"),
    ("Basic-v1", {"vzd_path": "/none"}, "vzd_path: expected the engine's executable"),
    ("Basic-v1", {"screen_resolution": "RES_1X1"}, "screen_resolution: expected a ViZDoom resolution, .*got .RES_1X1"),
    ("Basic-v1", {"screen_resolution": ""}, "screen_resolution: expected a name without spaces, got ''"),
    ("Basic-v1", {"map_id": ""}, "map_id: expected a name without spaces, got ''"),
    ("VizdoomBasic-v1", {"doom_map": "map01\nliving_reward = 9"}, "doom_map: expected a name without spaces, got"),
    ("VizdoomBasic-v1", {"config": {"\ud800": 3}}, "config: expected valid text without null characters, got "),
    ("VizdoomBasic-v1", {"scenario_config_file": "x" * 10_000}, "scenario_config_file: expected a file, or the name"),
    ("VizdoomBasic-v1", {"wad_path": "x" * 10_000}, "wad_path: expected a WAD file, got 'xxx"),
])


@pytest.mark.parametrize("name", ["wad_path", "iwad_path"])
def test_files_that_are_no_wads(name, tmp_path):
    path = tmp_path / "some.wad"
    basic = (SCENARIOS / "basic.wad").read_bytes()
    for content in (b"", b"PWAD", b"no WAD, but a text", b"PWAD" + b"\xff" * 8, basic[:-1]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"^{name}: expected a WAD file, got .*, which is damaged or"):
            cypool.make_spec("Basic-v1", **{name: str(path)})


def test_a_folder_that_cannot_be_made(tmp_path):
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(ValueError, match="^lmp_save_dir: expected a folder that exists or can be created, got"):
        cypool.make("Basic-v1", lmp_save_dir=str(path))


def test_a_config_with_unknown_buttons_or_none(tmp_path):
    for text, message in (("available_buttons = { JUMPS ATTACK }", "config: .*jumps"),
                          ("screen_resolution = RES_320X240", "config: expected at least one button in"),
                          ("\1\2 no config", "config: .*Syntax error")):
        (tmp_path / "some.cfg").write_text(text)
        for id, name in (("VizdoomCustom-v1", "cfg_path"), ("VizdoomBasic-v1", "scenario_config_file")):
            with pytest.raises(ValueError, match=f"(?s)^{message}"):
                cypool.make_spec(id, **{name: "some.cfg"})


@pytest.mark.parametrize(("id", "name"), [("VizdoomCustom-v1", "cfg_path"),
                                          ("VizdoomBasic-v1", "scenario_config_file")])
def test_a_config_that_changes_after_it_was_described(id, name, tmp_path):
    """Rows are made for a screen and buttons: with larger ones, engines would write behind their ends."""
    small = (SCENARIOS / "basic.cfg").read_text().replace("RGB24", "CRCGCB")
    large = small.replace("RES_320X240", "RES_640X480").replace("MOVE_LEFT", "MOVE_LEFT TURN_LEFT")
    assert large.count("RES_640X480") == 1 < len(large) - len(small)
    path = tmp_path / "own.cfg"
    path.write_text(small)
    options = {name: str(path), "wad_path": str(SCENARIOS / "basic.wad")}
    cls, spec = resolve(id, None, options)
    path.write_text(large)
    with pytest.raises(ValueError, match="^config: .*own.cfg has changed since its spec was made"):
        cls(spec, 0)
    path.write_text(small)
    with cypool.make(id, seed=0, **options) as env:
        path.write_text(large)
        with pytest.raises(cypool.EnvError, match="the config has changed since its spec was made"):
            env.reset()
        path.write_text(small)
        env.reset()


def test_a_config_is_read_while_others_write_to_the_error_stream(run_forked):
    """The message has nothing that other threads write to std::cerr meanwhile, and that is not lost."""
    done = run_forked("""
import ctypes
import threading
from cypool.envs.vizdoom.vizdoom import probe
library = ctypes.CDLL("libstdc++.so.6")
write = library._ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc
write.argtypes, write.restype = (ctypes.c_void_p, ctypes.c_char_p), ctypes.c_void_p
cerr = ctypes.addressof(ctypes.c_char.in_dll(library, "_ZSt4cerr"))
written, stop = [0], threading.Event()
def speak():
    while not stop.is_set():
        write(cerr, b"another\\n" * 1000)
        written[0] += 1000
thread = threading.Thread(target=speak)
thread.start()
for k in range(300):
    try:
        probe("", f"available_buttons = {{ JUMPS{k} }}\\n")
    except ValueError as error:
        assert "another" not in str(error) and f"jumps{k}" in str(error)
    else:
        raise AssertionError(k)
stop.set()
thread.join()
print(written[0])
""")
    assert done.returncode == 0 and done.stderr == "another\n" * int(done.stdout), done.stderr[-500:]


def test_recordings_have_links_of_their_own(tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setattr(assets, "engine_dir", lambda: (str(own), None))
    names = [assets.record_into(str(tmp_path / f"to{k}")) for k in range(3)]
    # the number of files does not say which names are taken
    (own / names[0]).unlink()
    names.append(assets.record_into(str(tmp_path / "to3")))
    assert len(set(names)) == 4 and (own / names[3]).resolve() == tmp_path / "to3"


def test_actions_are_checked():
    with cypool.make("VizdoomDeathmatch-v1", num_envs=2) as env:
        with pytest.raises(TypeError, match="^actions: expected a dict with keys binary, continuous"):
            env.step([0, 0])
        with pytest.raises(TypeError, match="^actions: expected a dict with keys binary, continuous"):
            env.step({"binary": [0, 0]})
        with pytest.raises(ValueError, match="^actions: expected the same number of rows for each part, got binary 1"):
            env.step({"binary": [0], "continuous": np.zeros((2, 3))})
        with pytest.raises(ValueError, match=r"^actions: expected integers in \[0, 18\)"):
            env.step({"binary": [0, 18], "continuous": np.zeros((2, 3))})


def test_games_cannot_be_saved_but_copied():
    with cypool.make("VizdoomBasic-v1", num_envs=2, seed=3, config={"screen_resolution": "RES_160X120"}) as env:
        obs, _ = env.reset()
        with pytest.raises(NotImplementedError, match="^save: ViZDoom's engine is a separate process"):
            env.save()
        with pickle.loads(pickle.dumps(env)) as again:
            assert_same(again.reset()[0], obs)


def test_without_the_engine_only_make_fails(run_python, tmp_path):
    done = run_python("""
import sys
sys.modules["vizdoom"] = None
import cypool
assert "VizdoomBasic-v1" in cypool.list_all_envs()
for id in ("VizdoomBasic-v1", "Basic-v1"):
    try:
        cypool.make(id)
    except ImportError as error:
        print(error)
""")
    assert done.stdout.splitlines() == [
        "ViZDoom's environments need its engine, vizdoom 1.3.2: pip install \"cypool[vizdoom]\""] * 2
    other = tmp_path / "vizdoom"
    other.mkdir()
    (other / "__init__.py").touch()
    (tmp_path / "vizdoom-1.2.4.dist-info").mkdir()
    (tmp_path / "vizdoom-1.2.4.dist-info" / "METADATA").write_text("Name: vizdoom\nVersion: 1.2.4\n")
    done = run_python(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import cypool; cypool.make('Basic-v1')")
    assert "ImportError: ViZDoom's environments need its engine" in done.stderr
    assert "version 1.2.4 is installed" in done.stderr


def test_names_are_the_librarys():
    for own, theirs in ((names.BUTTONS, vizdoom.Button), (names.VARIABLES, vizdoom.GameVariable),
                        (names.FORMATS, vizdoom.ScreenFormat)):
        assert [getattr(theirs, name).value for name in own] == list(range(len(own)))


def test_the_longest_limit_is_one_of_vizdooms():
    with started(cypool.make("Basic-v1", num_envs=1, seed=0, max_episode_steps=2**31 - 2)) as env:
        env.step(env.action_space.sample())
