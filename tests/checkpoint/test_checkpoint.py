"""Checkpoints: a run that was interrupted continues bit for bit; bad files and other parts change nothing."""
import copy
import ctypes
from pathlib import Path

import numpy as np
import pytest
from checkpoint.runs import Run, TorchRun
from receiving import started

import cypool
from cypool import checkpoint as module
from cypool.state import State

TESTS = Path(__file__).parents[1]
BUFFERS = [{}, {"n_step": 3, "options": [("autoreset_mode", "SameStep")]}, {"alpha": 0.6}, {"sequence_length": 4}]


def interrupted(run, path, begun):
    """Saves a run after some steps, and returns its digests after a thousand more."""
    run.begin()
    run.steps(begun)
    run.save(path)
    return run.steps(1000), run.end()


@pytest.mark.parametrize("begun", [3, 500])
@pytest.mark.parametrize("buffer", BUFFERS, ids=str)
def test_interrupted_run_has_the_same_bits(tmp_path, buffer, begun):
    wanted = interrupted(Run(**buffer), tmp_path / "run", begun)
    again = Run(**buffer)
    if begun > 3:
        # what it was before does not matter
        again.begin()
        again.steps(77)
        again.history.close()
    again.load(tmp_path / "run")
    assert (again.steps(1000), again.end()) == wanted


@pytest.mark.parametrize("name", ["Run", pytest.param("TorchRun", marks=pytest.mark.large_packages)])
def test_run_continues_in_another_process(run_python, tmp_path, name):
    wanted = interrupted({"Run": Run, "TorchRun": TorchRun}[name](), tmp_path / "run", 200)
    done = run_python(f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from checkpoint import runs
run = runs.{name}()
run.load({str(tmp_path / "run")!r})
print(run.steps(1000), run.end())
""", check=True)
    assert tuple(done.stdout.split()) == wanted


def test_transition_in_flight_is_kept(tmp_path):
    def made():
        env = cypool.make("CartPole-v1", num_envs=4, seed=0)
        return env, cypool.ReplayBuffer(env, 10_000)

    env, buffer = made()
    buffer.reset()
    actions = np.random.default_rng(0).integers(0, 2, (90, 4))
    for action in actions[:60]:
        buffer.step(action)
    cypool.save_checkpoint(tmp_path / "run", env=env, buffer=buffer)
    env_again, again = made()
    cypool.load_checkpoint(tmp_path / "run", env=env_again, buffer=again)
    saved = len(again)
    for action in actions[60:]:
        for each in (buffer, again):
            each.step(action)
    assert (again.indices() == buffer.indices()).all()
    # a call of the pool itself is a gap: the next step stores none
    cypool.load_checkpoint(tmp_path / "run", env=env_again, buffer=again)
    env_again.step(actions[0])
    again.step(actions[1])
    assert len(again) == saved


def frames(path=None, **kwargs):
    env = cypool.make("walker/Frames-v0", num_envs=3, num_threads=0, seed=5, size=1, autoreset_mode="SameStep")
    return cypool.ReplayBuffer(env, 300, seed=0, path=path, **kwargs)


def sampled(batch):
    return b"".join(np.asarray(array).tobytes() for part in (batch.obs, batch.next_obs) if part is not None
                    for array in (part.values() if isinstance(part, dict) else [part])) + batch.index.tobytes()


def played(buffer, num_steps):
    for t in range(num_steps):
        rows = np.arange(t, t + 3)
        push = np.stack([rows % 50, -(rows % 50)], 1).astype(np.float32)
        buffer.step({"what": np.where(rows % 11 == 0, 6, 0), "push": push})


@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize("kwargs", [{}, {"sequence_length": 4}, {"n_sampled_goal": 3}, {"alpha": 0.5, "n_step": 2}])
def test_buffer_without_its_pool_continues_behind_a_gap(walker, tmp_path, kwargs, in_file):
    paths = [tmp_path / name if in_file else None for name in ("one", "two")]
    for begun in (2, 40, 250):
        with frames(paths[0], **kwargs) as one, frames(paths[1], **kwargs) as two:
            one.reset(seed=5)
            played(one, begun)
            cypool.save_checkpoint(tmp_path / "run", buffer=one)
            # a gap
            one.env.reset()
            two.reset()
            played(two, 120)
            cypool.load_checkpoint(tmp_path / "run", buffer=two)
            if len(one):
                assert [sampled(one.sample(8)) for _ in range(30)] == [sampled(two.sample(8)) for _ in range(30)]
            index = one.indices()
            assert (two.indices() == index).all()
            if kwargs.get("alpha"):
                assert (one.priorities(index) == two.priorities(index)).all()
            played(two, 200)
        for path in filter(None, paths):
            path.unlink()


@pytest.mark.parametrize("id, kwargs", [
    pytest.param("Pong-v5", {}, marks=pytest.mark.families("atari")),
    pytest.param("Pong-v5", {"sequence_length": 4}, marks=pytest.mark.families("atari")),
    pytest.param("PointMaze_UMaze-v3", {"n_sampled_goal": 4}, marks=pytest.mark.families("robotics"))], ids=str)
def test_buffers_of_stacks_and_goals_continue(tmp_path, id, kwargs):
    def made():
        env = cypool.make(id, num_envs=2, seed=0, max_episode_steps=30)
        return env, cypool.ReplayBuffer(env, 300, seed=1, **kwargs)

    def play(buffer, num_steps):
        seen = []
        for _ in range(num_steps):
            buffer.step(buffer.env.action_space.sample())
            if len(buffer):
                seen.append(sampled(buffer.sample(8)))
        return seen

    (env, buffer), (env_again, again) = made(), made()
    env.action_space.seed(0)
    buffer.reset()
    for begun in (20, 45, 200):
        play(buffer, begun)
        cypool.save_checkpoint(tmp_path / "run", env=env, buffer=buffer)
        wanted = play(buffer, 100)
        cypool.load_checkpoint(tmp_path / "run", env=env_again, buffer=again)
        assert play(again, 100) == wanted


def test_steps_of_a_caller_continue(tmp_path):
    obs = np.random.default_rng(0).normal(size=(20, 4, 4)).astype(np.float32)

    def add(buffer, t):
        flags = np.zeros(4, bool)
        buffer.add(obs[t], np.zeros(4, int), np.ones(4), obs[t + 1], flags, flags)

    one, two = (cypool.ReplayBuffer(cypool.make("CartPole-v1", num_envs=4), 100) for _ in "12")
    for t in range(9):
        add(one, t)
    cypool.save_checkpoint(tmp_path / "run", buffer=one)
    cypool.load_checkpoint(tmp_path / "run", buffer=two)
    for t in range(9, 19):
        add(one, t)
        add(two, t)
    assert (one.indices() == two.indices()).all() and len(one) == 4 * 19


def test_policies_do_not_draw_the_same_again(tmp_path):
    env = cypool.make("CartPole-v1", num_envs=4, seed=0)
    obs, _ = env.reset()
    spec, rng = env.env_spec, np.random.default_rng(0)

    def made(seed):
        mlp = cypool.MLP(spec, [rng.normal(size=(2, 4))], [np.zeros(2)], output="categorical", seed=seed,
                         value=([rng.normal(size=(1, 4))], [np.zeros(1)]))
        return {"mlp": mlp, "random": cypool.RandomPolicy(spec, seed=seed)}

    policies, others = made(3), made(4)
    for policy in policies.values():
        env.rollout(7, policy=policy)
    cypool.save_checkpoint(tmp_path / "run", **policies)
    cypool.load_checkpoint(tmp_path / "run", **others)
    wanted, got = ([each["mlp"].choose(obs) for _ in range(20)] for each in (policies, others))
    for one, two in zip(wanted, got, strict=True):
        for name in ("action", "log_prob", "value"):
            assert (getattr(one, name) == getattr(two, name)).all()
    wanted, got = ([each["random"](obs).tolist() for _ in range(20)] for each in (policies, others))
    assert wanted == got


def test_state_of_a_policy_in_c_is_kept(tmp_path):
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(cypool.policies.Decision))(lambda decision: 0)
    one, two = (cypool.Policy(function, state=np.full((4, 2), value)) for value in (1.5, 0.0))
    cypool.save_checkpoint(tmp_path / "run", policy=one)
    cypool.load_checkpoint(tmp_path / "run", policy=two)
    assert (two.state == 1.5).all()
    for other in (None, np.zeros((4, 3)), np.zeros((4, 2), np.float32)):
        policy = cypool.Policy(function, state=other)
        with pytest.raises(ValueError, match=r"^policy: state: expected float64 of shape \(4, 2\), got "):
            cypool.load_checkpoint(tmp_path / "run", policy=policy)


@pytest.mark.parametrize("options", [{"batch_size": 2}, {"autoreset_mode": "Disabled"}, {"env_type": "dm"}], ids=str)
def test_pools_of_other_kinds_continue(tmp_path, options):
    def made():
        return cypool.make("CartPole-v1", num_envs=4, seed=0, **options)

    def step_all(env):
        if env.is_async:
            env.send([0, 1, 0, 1], env.all_env_ids)
            env.recv(), env.recv()
        else:
            env.step([0, 1, 0, 1])

    one, two = made(), made()
    one.reset(), one.is_async and one.recv()
    for _ in range(5):
        step_all(one)
    cypool.save_checkpoint(tmp_path / "run", env=one)
    cypool.load_checkpoint(tmp_path / "run", env=two)
    for _ in range(3):
        step_all(one), step_all(two)
    for left, right in zip(one.save().rows, two.save().rows, strict=True):
        assert {**left, "episode_ns": 0} == {**right, "episode_ns": 0}


def test_rollouts_of_a_normalized_pool_continue(tmp_path):
    def made():
        env = cypool.make("Pendulum-v1", num_envs=3, seed=1, normalize_obs=True, normalize_reward=True)
        layers = np.random.default_rng(0).standard_normal((1, 3)), np.zeros(1)
        return env, cypool.MLP(env.env_spec, [layers[0]], [layers[1]], output="gaussian", log_std=np.zeros(1))

    def digest(made):
        return [array.tobytes() for array in (made.obs, made.last_obs, made.action, made.reward)]

    env, policy = made()
    env.reset()
    env.rollout(150, policy=policy)
    cypool.save_checkpoint(tmp_path / "run", env=env, policy=policy)
    with env.hold_statistics(), pytest.raises(RuntimeError, match="checkpoint cannot be saved within hold_statistics"):
        cypool.save_checkpoint(tmp_path / "other", env=env)
    shown = env.rollout(1, policy=policy).obs[0].copy()
    wanted = [digest(env.rollout(150, policy=policy)) for _ in range(3)]
    again, policy = made()
    obs, _ = cypool.load_checkpoint(tmp_path / "run", env=again, policy=policy)["env"]
    np.testing.assert_array_equal(obs, shown)
    np.testing.assert_array_equal(again.rollout(1, policy=policy).obs[0], shown)
    assert [digest(again.rollout(150, policy=policy)) for _ in range(3)] == wanted


def test_history_that_was_put_back_continues_there(tmp_path):
    def made():
        return cypool.make("CartPole-v1", num_envs=3, seed=0)

    env, actions = made(), np.random.default_rng(0).integers(0, 2, (60, 3))
    env.reset()
    history = cypool.history(env, every=8)
    for action in actions[:20]:
        env.step(action)
    env.rollout(actions[20:40])
    for step in (40, 31, 17, 0):
        history.seek(step)
        cypool.save_checkpoint(tmp_path / "run", env=env, history=history)
        again = made()
        theirs = cypool.load_checkpoint(tmp_path / "run", env=again)["history"]
        assert (len(theirs), theirs.position) == (40, step)
        # to the end, and back
        assert (theirs.seek(40)[0] == history.seek(40)[0]).all()
        assert (theirs.seek(step)[0] == history.seek(step)[0]).all()
        for action in actions[40:50]:
            again.step(action)
        assert len(theirs) == step + 10


VALUES = {"number": 3, "large": -2**200, "part": 1.5, "nan": float("nan"), "none": None, "flag": True, "text": "ü\0",
          "bytes": b"\0\1", "array": np.arange(12, dtype=np.int16).reshape(3, 4)[:, ::2], "scalar": np.array(2.5),
          "empty": np.zeros((0, 3), np.float32), "texts": np.array(["a", "bc"]), "big": np.arange(3, dtype=">i8"),
          "transposed": np.arange(6.0).reshape(2, 3).T, "complex": np.array([1j]), "strided": np.arange(9)[::3],
          "rows": np.arange(24).reshape(4, 3, 2)[:, :2], "float32": np.float32(0.5),
          "nested": {"a": (1, [2, {"b": np.zeros(2, bool)}]), 4: {}, (1, 2): b""},
          "stream": np.random.RandomState(3).get_state(), "path": "a part may have this name"}


def test_plain_values_come_back(tmp_path):
    cypool.save_checkpoint(tmp_path / "run", **VALUES)
    saved = cypool.load_checkpoint(tmp_path / "run")
    assert saved.keys() == VALUES.keys()

    def check(one, two):
        if isinstance(one, np.ndarray):
            assert one.dtype == two.dtype and one.shape == two.shape and (one == two).all() and two.flags.writeable
        elif isinstance(one, (tuple, list)):
            assert type(one) is type(two) and len(one) == len(two)
            for left, right in zip(one, two, strict=True):
                check(left, right)
        elif isinstance(one, dict):
            assert list(one) == list(two)
            for key in one:
                check(one[key], two[key])
        else:
            assert one == two or (one != one and two != two)

    check(VALUES, saved)


@pytest.mark.large_packages
def test_tensors_come_back(tmp_path):
    import torch

    values = [torch.arange(6).reshape(2, 3).T, torch.tensor(1.5, requires_grad=True), torch.zeros(0, 2),
              torch.ones(3, dtype=torch.bfloat16), torch.tensor([True]), torch.get_rng_state()]
    cypool.save_checkpoint(tmp_path / "run", values=values)
    for one, two in zip(values, cypool.load_checkpoint(tmp_path / "run")["values"], strict=True):
        assert one.dtype == two.dtype and one.shape == two.shape and torch.equal(one, two)


@pytest.mark.large_packages
def test_pool_with_tensors_returns_them(tmp_path):
    import torch

    env, again = (cypool.make("CartPole-v1", num_envs=2, seed=0).torch() for _ in "12")
    env.reset()
    obs, *_ = env.step(torch.tensor([0, 1]))
    cypool.save_checkpoint(tmp_path / "run", env=env)
    assert torch.equal(cypool.load_checkpoint(tmp_path / "run", env=again)["env"][0], obs)


@pytest.mark.large_packages
def test_module_that_does_not_fit_changes_nothing(tmp_path):
    from torch import nn, optim

    def made(*sizes):
        network = nn.Sequential(*(nn.Linear(n, n) for n in sizes))
        return {"optimizer": optim.Adam(network.parameters()), "network": network}

    env = started(cypool.make("CartPole-v1", num_envs=2, seed=0))
    cypool.save_checkpoint(tmp_path / "run", env=env, **made(3, 4))
    env.step([0, 1])
    parts = made(3, 5)
    before, state = copy.deepcopy(parts["network"].state_dict()), env.save()
    with pytest.raises(ValueError, match="^network: RuntimeError: Error.* in loading state_dict"):
        cypool.load_checkpoint(tmp_path / "run", env=env, **parts)
    assert all((before[name] == tensor).all() for name, tensor in parts["network"].state_dict().items())
    assert state.rows == env.save().rows


# ---- what is refused

@pytest.fixture
def run(tmp_path):
    """A run, a checkpoint of another one, and a function that checks that nothing has changed."""
    other = Run()
    other.begin()
    other.steps(60)
    other.save(tmp_path / "good")
    run = Run()
    run.begin()
    run.steps(50)
    run.history.close()

    def contents(with_gaps=True):
        cypool.save_checkpoint(tmp_path / "now", **run.parts())
        parts = module._read(str(tmp_path / "now"))
        for name in ("env", "normalized"):
            own = parts[name][1]
            state = State.from_bytes(own["state"])
            own["state"] = [{**row, "episode_ns": 0} for row in state.rows]
            for moments in filter(None, own.get("statistics", {}).values()):
                moments.update({key: np.asarray(value).tolist() for key, value in moments.items()})
        if not with_gaps:
            del parts["buffer"][1]["own"]["writers"]
        return repr(parts)

    before = {with_gaps: contents(with_gaps) for with_gaps in (True, False)}

    def refused(data, message, with_gaps=True, **parts):
        path = tmp_path / "bad"
        path.write_bytes(data)
        with pytest.raises((TypeError, ValueError), match=message):
            cypool.load_checkpoint(path, **{**run.parts(), **parts})
        assert contents(with_gaps) == before[with_gaps]

    run.good, run.refused = (tmp_path / "good").read_bytes(), refused
    run.path = tmp_path / "good"
    yield run
    # and it works
    run.load(tmp_path / "good")
    assert run.steps(20) == other.steps(20)


def test_damaged_files_change_nothing(run):
    size, rng = len(run.good), np.random.default_rng(0)
    for end in [0, 1, 19, 20, 40, 59, 60, 61, size // 2, size - 1, *rng.integers(0, size, 10)]:
        run.refused(run.good[:end], "^path: .*expected a checkpoint written by save_checkpoint")
    for at in [0, 18, 20, 51, 52, 59, 60, size - 1, *rng.integers(0, size, 20)]:
        data = bytearray(run.good)
        data[at] ^= 1 << rng.integers(8)
        run.refused(bytes(data), "^path: .*expected a checkpoint written by save_checkpoint")
    run.refused(run.good + b"x", "a damaged one")
    run.refused(run.env.save().to_bytes(), "got a state, which cypool.load_state reads$")
    run.refused(run.good.replace(b"point 1", b"point 9", 1), "one of format 9, written by a different version .*")
    run.refused(b"PK\3\4", r"save_checkpoint\(\), got b'PK")
    with pytest.raises(OSError):
        cypool.load_checkpoint(run.path / "nothing", **run.parts())
    with pytest.raises(FileNotFoundError, match="path: .*a checkpoint written by save_checkpoint.*, got no file:"):
        cypool.load_checkpoint(run.path.with_name("nothing"), **run.parts())


def edited(run, change):
    """Returns a file with the right checksum whose parts `change` was called with."""
    parts = module._read(str(run.path))
    change(parts)
    path = run.path.with_name("edited")
    module._write(str(path), parts)
    return path.read_bytes()


def with_rows(parts, name, **changes):
    """Changes the first row of the state of a pool."""
    own = parts[name][1]
    state = State.from_bytes(own["state"])
    state.rows[0] = {**state.rows[0], **changes}
    own["state"] = state.to_bytes()


def test_another_version_is_refused(run, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(module, "version", lambda: "0.0.1")
        cypool.save_checkpoint(run.path.with_name("old"), **run.parts())
    run.refused(run.path.with_name("old").read_bytes(), "expected a checkpoint from cypool .*, got one from '0.0.1'$")


@pytest.mark.parametrize("name", ["env", "normalized"])
def test_state_that_an_environment_refuses_is_taken_back(run, name):
    data = edited(run, lambda parts: with_rows(parts, name, own=("x",)))
    run.refused(data, f"^{name}: state: expected rows returned by save", with_gaps=False)


def test_strange_contents_change_nothing(run):
    def set_to(name, key, value):
        return lambda parts: parts[name][1].__setitem__(key, value)

    def in_arrays(key, change):
        return lambda parts: change(parts["buffer"][1]["own"]["arrays"][key])

    own = "buffer: expected"
    for change, message in [
            (lambda parts: with_rows(parts, "env", elapsed_step=-1), "env: .*elapsed_step"),
            (lambda parts: with_rows(parts, "env", rng=None), "env: .*rng"),
            (set_to("env", "state", b"x"), "env: data: expected a state"),
            (set_to("env", "seeds", [0]), "env: expected a pool with 4"),
            (set_to("env", "seeds", ["a"] * 4), "env: seeds: expected an int"),
            (set_to("env", "streams", [None]), "env: expected 1 random streams"),
            (set_to("env", "streams", [{}, {"a": 1}]), "env: streams: expected the state of PCG64"),
            (set_to("normalized", "statistics", {}), "normalized: statistics: expected"),
            (set_to("normalized", "returns", np.zeros(4)), "normalized: expected 3 returns"),
            (set_to("normalized", "gamma", float("nan")), "normalized: gamma"),
            (set_to("policy", "own", {}), "policy: KeyError"),
            (set_to("policy", "class", "Policy"), "policy: expected a policy of class 'Policy', got"),
            (set_to("rng", "state", {}), "rng: state: expected the state of PCG64"),
            (in_arrays("written", lambda array: array.fill(2**40)), own),
            (in_arrays("written", lambda array: array.fill(-1)), own),
            (in_arrays("begun", lambda array: array.fill(2**62)), own),
            (in_arrays("obs0", lambda array: array.fill(1)), own), (in_arrays("flags", lambda a: a.fill(255)), own),
            (lambda parts: parts["buffer"][1]["own"]["writers"].fill(3), own),
            (lambda parts: parts["buffer"][1]["own"].update(writers=np.zeros(3, np.uint8)), "buffer: expected"),
            (lambda parts: parts["buffer"][1]["own"].update(led_to=[np.zeros(3)]), own),
            (lambda parts: parts["buffer"][1]["own"].update(sampler=None), "buffer: sampler"),
            (lambda parts: parts["buffer"][1]["own"].pop("settings"), "buffer: KeyError"),
            (lambda parts: parts["buffer"][1]["own"]["arrays"].pop("reward"), own),
            (lambda parts: parts["buffer"][1].update(pool="nobody"), "buffer: KeyError"),
            (set_to("history", "pool", "weights"), "history: KeyError"),
            (lambda parts: parts["history"][1]["own"].update(position=61), "history: position"),
            (lambda parts: parts["history"][1]["own"].update(behind=(9, 0, None)), "history: segment"),
            (lambda parts: parts["history"][1]["own"].update(sums=b""), "history: state: damaged"),
            (lambda parts: parts.update(other=("part", 3)), "parts: expected"),
            (lambda parts: parts.update(env=("value", 3)), "parts: expected"),
            (lambda parts: parts.update(env=("state_dict", {})), "env: expected a state_dict")]:
        run.refused(edited(run, change), f"^{message}")


def test_parts_of_other_kinds_are_refused(run):
    more = cypool.make("CartPole-v1", num_envs=5)
    other_id = cypool.make("Acrobot-v1", num_envs=4)
    longer = cypool.make("CartPole-v1", num_envs=4, sutton_barto_reward=True)
    short = cypool.make("CartPole-v1", num_envs=4, max_episode_steps=7)
    same_step = cypool.make("CartPole-v1", num_envs=4, autoreset_mode="SameStep")
    spec = run.env.env_spec

    def buffer(env=run.env, capacity=600, **kwargs):
        return cypool.ReplayBuffer(env, capacity, **kwargs)

    layers = [np.zeros((2, 4))], [np.zeros(2)]
    own = cypool.make("CartPole-v1", num_envs=4)
    for message, parts in [
            ("buffer: expected a buffer for the pool env", {"env": own}),
            ("env: expected a pool with 4 environments, got one with 5", {"env": more}),
            ("env: .*expected a state of Acrobot-v1 with", {"env": other_id, "buffer": buffer(other_id)}),
            ("env: .*expected a state of CartPole-v1 with", {"env": longer, "buffer": buffer(longer)}),
            ("normalized: expected a pool with 3 environments, got one with 4", {"normalized": own}),
            ("env: expected a pool with max_episode_steps=500, got one with 7",
             {"env": short, "buffer": buffer(short)}),
            ("env: expected a pool with autoreset_mode='NextStep', got one with 'SameStep'",
             {"env": same_step, "buffer": buffer(same_step)}),
            ("normalized: expected a pool with normalize_obs=True, got one with False",
             {"normalized": cypool.make("Pendulum-v1", num_envs=3, normalize_reward=True)}),
            ("buffer: expected a buffer with rows 150, got one with rows 160", {"buffer": buffer(capacity=640)}),
            ("buffer: .* n_step 1, got one with n_step 2", {"buffer": buffer(n_step=2)}),
            ("buffer: .* alpha 0.0, got one with priorities True, alpha 0.5", {"buffer": buffer(alpha=0.5)}),
            ("buffer: .* gamma 0.99, got one with gamma 0.9", {"buffer": buffer(gamma=0.9)}),
            ("buffer: expected a replay buffer, as in the file, got 3", {"buffer": 3}),
            ("policy: expected a policy with output 'categorical', got one with 'argmax'",
             {"policy": cypool.MLP(spec, *layers)}),
            ("policy: .*value: expected None, as when the MLP was created|policy: value: expected a value",
             {"policy": cypool.MLP(spec, *layers, output="categorical", value=([np.zeros((1, 4))], [np.zeros(1)]))}),
            ("policy: weights: expected 6 inputs", {"policy": cypool.MLP(
                other_id.env_spec, [np.zeros((3, 6))], [np.zeros(3)], output="categorical")}),
            ("policy: expected a policy of class 'MLP', got", {"policy": cypool.RandomPolicy(spec)}),
            ("rng: .*expected the state of Philox", {"rng": np.random.Generator(np.random.Philox(0))}),
            ("rng: expected a NumPy Generator, as in the file, got 7", {"rng": 7}),
            ("parts: expected env .a pool., .*got .*, extra$", {"extra": 3}),
            ("parts: expected .*got .*weights$", {"weights": np.zeros(2)}),
            ("normalized: expected a separate pool, got the same as env", {"normalized": run.env})]:
        run.refused(run.good, f"^{message}", **parts)
    with pytest.raises(ValueError, match="^parts: expected env .a pool.*, as in the file, got env$"):
        cypool.load_checkpoint(run.path, env=run.env)


def test_pool_in_flight_or_with_a_history_is_refused(run):
    run.env.send([0] * 4)
    with pytest.raises(RuntimeError, match="^env: .*in flight"):
        cypool.load_checkpoint(run.path, **run.parts())
    with pytest.raises(RuntimeError, match="^env: .*in flight"):
        cypool.save_checkpoint(run.path, **run.parts())
    run.env.recv()
    with cypool.history(run.env):
        with pytest.raises(RuntimeError, match="^history: env: the pool already has a history: close that history"):
            cypool.load_checkpoint(run.path, **run.parts())


def test_parts_that_cannot_be_saved_leave_the_old_file(run):
    fresh = cypool.make("CartPole-v1", num_envs=2)
    hosted = started(cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=0))
    for error, message, parts in [
            (TypeError, "what: expected a pool, a history, .* got <object", {"what": object()}),
            (TypeError, "what: expected a pool", {"what": [1, {"a": len}]}),
            (TypeError, "what: expected a pool", {"what": np.array([None])}),
            (ValueError, "what: .*MemoryError", {"what": np.broadcast_to(np.float32(0), (10**14, 1))}),
            (ValueError, "again: expected a separate pool, got the same as env", {"env": run.env, "again": run.env}),
            (RuntimeError, "env: .*never reset|env: .*reset", {"env": fresh}),
            (ValueError, "env: state: expected plain data", {"env": hosted}),
            (ValueError, "history: expected the history's pool among the parts", {"history": cypool.history(run.env)})]:
        with pytest.raises(error, match=f"^{message}"):
            cypool.save_checkpoint(run.path, **parts)
    with pytest.raises(TypeError, match="^path: expected"):
        cypool.save_checkpoint(3)
    with pytest.raises(OSError):
        cypool.save_checkpoint(run.path / "none", a=1)
    parts = {}
    parts["parts"] = parts
    with pytest.raises(ValueError, match="^parts: RecursionError"):
        cypool.save_checkpoint(run.path, **parts)
    assert run.path.read_bytes() == run.good
    assert sorted(path.name for path in run.path.parent.iterdir()) == ["good", "now"]


@pytest.mark.parametrize("save", ["cypool.save_checkpoint(path, env=env)", "history.save(path)",
                                  "env.save().save(path)"])
def test_disk_that_is_full_leaves_the_old_file(run_forked, tmp_path, save):
    assert run_forked(f"""
import os, resource, signal
import numpy as np
import cypool
folder = {str(tmp_path)!r}
path = os.path.join(folder, "run")
env = cypool.make("CartPole-v1", num_envs=256)
env.reset(seed=0)
history = cypool.history(env, every=1)
{save}
before = open(path, "rb").read()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2**12, 2**12))
for _ in range(100):
    env.step(np.zeros(256, np.int64))
try:
    {save}
except OSError as error:
    print(error.errno != 0, open(path, "rb").read() == before, os.listdir(folder))
""", check=True).stdout.split("\n")[0] == "True True ['run']"
