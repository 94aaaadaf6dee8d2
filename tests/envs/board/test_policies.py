"""Policies of rollouts where only some actions are legal."""
import numpy as np
import pytest
from comparing import assert_same
from pool_arguments import MODES
from receiving import started

import cypool

ID = "board/connect_four-v0"


def made(id=ID, **options):
    return started(cypool.make(id, **{"num_envs": 5, "num_threads": 2, "seed": 3, **options}))


def network(spec, output, value=True):
    random = np.random.default_rng(0)
    inputs, outputs = int(np.prod(spec.observation.shape)), spec.action.n
    layers = [random.normal(size=(outputs, inputs)) * 3], [random.normal(size=outputs)]
    values = ([random.normal(size=(1, inputs))], [[0.5]]) if value else None
    return cypool.MLP(spec, *layers, output=output, value=values, seed=4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("view", ["mover", "single"])
@pytest.mark.parametrize("output", ["argmax", "categorical", "random"])
@pytest.mark.parametrize("num_envs", [1, 40])
def test_policy_chooses_legal_actions(mode, view, output, num_envs):
    env = made(view=view, autoreset_mode=mode, num_envs=num_envs)
    _, info = env.reset()
    policy = cypool.RandomPolicy(env.env_spec) if output == "random" else network(env.env_spec, output)
    rollout = env.rollout(60, policy=policy)
    masks = rollout.action_mask
    assert_same(masks[0], info["action_mask"]), assert_same(masks[1:], rollout.info["action_mask"][:-1])
    chosen = np.take_along_axis(masks, rollout.action[..., None], 2)[..., 0]
    going = masks.any(2)
    assert chosen[going].all() and going.any() and rollout.terminated.any()


@pytest.mark.parametrize("output", ["argmax", "categorical", "random"])
def test_rollout_is_the_loop_of_steps(output):
    env, other = made(), made()
    spec = env.env_spec
    first, second = (cypool.RandomPolicy(spec, seed=4) if output == "random" else network(spec, output)
                     for _ in range(2))
    rollout = env.rollout(50, policy=first)
    obs, info = other.reset(seed=3)
    for t in range(50):
        actions = second(obs, info["action_mask"])
        assert actions.tolist() == rollout.action[t].tolist()
        obs, _, _, _, info = other.step(actions)
        assert obs.tobytes() == rollout.next_obs[t].tobytes()


def test_log_prob_is_that_of_the_legal_actions():
    env = made()
    mlp = network(env.env_spec, "categorical")
    obs, info = env.reset()
    for _ in range(6):
        obs, _, _, _, info = env.step([2] * 5)
    choice, logits = mlp.choose(obs, info["action_mask"]), []
    assert not info["action_mask"][:, 2].any() and (choice.action != 2).all()
    random = np.random.default_rng(0)
    weights, biases = random.normal(size=(7, 126)) * 3, random.normal(size=7)
    logits = np.where(info["action_mask"], obs.reshape(5, -1) @ weights.T + biases, -np.inf)
    wanted = logits - logits.max(1, keepdims=True)
    wanted -= np.log(np.exp(wanted).sum(1, keepdims=True))
    np.testing.assert_allclose(choice.log_prob, wanted[np.arange(5), choice.action], atol=1e-4)


def test_random_policy_draws_each_legal_action_of_each_agent():
    env = made(view="players", num_envs=300)
    policy = cypool.RandomPolicy(env.env_spec, seed=1)
    rollout = env.rollout(40, policy=policy)
    masks = rollout.obs["action_mask"]
    chosen = np.take_along_axis(masks, rollout.action[..., None], 3)[..., 0]
    assert (chosen == masks.any(3)).all()
    counts = np.bincount(rollout.action[0, :, 0], minlength=7)
    assert (abs(counts - 300 / 7) < 30).all()
    assert policy(rollout.last_obs).shape == (300, 2)


def test_random_policy_without_masks_draws_all_actions():
    env = started(cypool.make("CartPole-v1", num_envs=50, seed=0))
    rollout = env.rollout(20, policy=cypool.RandomPolicy(env.env_spec))
    assert 0.4 < rollout.action.mean() < 0.6


@pytest.mark.parametrize("mode", MODES)
def test_python_policy_gets_the_mask(mode):
    env, seen = made(autoreset_mode=mode), []

    def policy(obs, action_mask):
        seen.append(action_mask.copy())
        return action_mask.argmax(1)

    rollout = env.rollout(30, policy=policy)
    assert len(seen) >= 7
    assert all((mask.argmax(1) == action).all() for mask, action in zip(seen, rollout.action, strict=False)
               if mask.any(1).all())


def test_wrong_masks_are_refused():
    env = made()
    obs, info = env.reset()
    for policy in (network(env.env_spec, "argmax"), cypool.RandomPolicy(env.env_spec)):
        for wrong in (None, info["action_mask"][:, :6], info["action_mask"].astype(float), info["action_mask"][:4]):
            with pytest.raises((TypeError, ValueError), match="action_mask: expected"):
                policy(obs, wrong)
    cartpole = cypool.make("CartPole-v1")
    mlp = cypool.MLP(cartpole.env_spec, [np.zeros((2, 4))], [np.zeros(2)])
    with pytest.raises(ValueError, match="action_mask: expected None .all actions are legal"):
        mlp(cartpole.reset()[0], np.ones((1, 2), np.int8))
    with pytest.raises(ValueError, match="policy: expected a RandomPolicy for Discrete"):
        env.rollout(3, policy=cypool.RandomPolicy(made(view="players").env_spec))
    with pytest.raises(ValueError, match="spec: expected a Discrete action space"):
        cypool.RandomPolicy(cypool.make_spec("Pendulum-v1"))


@pytest.mark.parametrize("output", ["argmax", "categorical", "random"])
def test_policy_chooses_legal_actions_next_to_hooks_in_python(output):
    env = made(reward_hook=lambda batch: batch.reward * 2)
    _, info = env.reset()
    policy = cypool.RandomPolicy(env.env_spec) if output == "random" else network(env.env_spec, output)
    rollout = env.rollout(40, policy=policy)
    masks = rollout.action_mask
    assert np.take_along_axis(masks, rollout.action[..., None], 2)[..., 0][masks.any(2)].all()
    assert set(rollout.reward[rollout.terminated].tolist()) <= {0, 2}
