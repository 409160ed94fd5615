"""RLlib: every seat's rewards arrive, no empty mask reaches its module for masks, and it learns."""

import math

import numpy as np
import pytest
import ray
import torch
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

import rllib_selfplay
from artus_env import artus_v0
from artus_training.arena.evaluate import evaluate

games = pytest.mark.parametrize("name", ["artus", "royal", "quest"])


def sampled(name, episodes, reward="win"):
    """Whole games as RLlib's sampler hands them to the learner."""
    runner = MultiAgentEnvRunner(config=rllib_selfplay.make_config(name, reward))
    sampled_episodes = runner.sample(num_episodes=episodes)
    runner.stop()
    return sampled_episodes


def test_the_losers_minus_one_arrives():
    """Also in games that end on the winner's move: the loser's last decision gets it, and is marked as the end."""
    elsewhere = 0
    for episode in sampled("artus", 8):
        ends = {}
        for agent, agent_episode in episode.agent_episodes.items():
            *before, ends[agent] = agent_episode.get_rewards().tolist()
            assert not any(before)
            assert agent_episode.is_terminated
        assert sorted(ends.values()) in ([-1, 1], [0, 0])
        mover = next(agent for step in (-1, -2) for agent in episode.get_actions(step))
        elsewhere += ends[mover] == 1
    assert elsewhere


@games
def test_masks_are_never_empty_and_actions_legal(name):
    for episode in sampled(name, 1):
        for agent_episode in episode.agent_episodes.values():
            masks = agent_episode.get_observations()["action_mask"]
            assert masks.any(axis=1).all()
            assert masks[np.arange(len(agent_episode)), agent_episode.get_actions()].all()


def test_why_an_empty_mask_must_not_get_there():
    """RLlib's module for masks turns it into equal logits for all actions, whatever the policy prefers."""
    runner = MultiAgentEnvRunner(config=rllib_selfplay.make_config("artus"))
    module, env = runner.module[rllib_selfplay.POLICY], rllib_selfplay.SelfPlay({"game": "artus"})
    (observation,) = env.reset(seed=1)[0].values()
    empty = {"observations": torch.from_numpy(observation["observations"])[None], "action_mask": torch.zeros(1, 339)}
    logits = module.forward_exploration({"obs": empty})["action_dist_inputs"]
    assert len(logits.unique()) == 1
    runner.stop()


def test_why_not_rllibs_own_wrapper():
    """At the end of a game it returns an empty mask for each seat."""
    env = PettingZooEnv(artus_v0.env())
    observations, _ = env.reset(seed=0)
    over = {"__all__": False}
    while not over["__all__"]:
        ((agent, observation),) = observations.items()
        observations, rewards, over, _, _ = env.step({agent: int(observation["action_mask"].argmax())})
    assert sorted(rewards.values()) == [-1, 1]
    assert [observation["action_mask"].any() for observation in observations.values()] == [False, False]


def test_it_learns_and_plays_on():
    ray.init("local", include_dashboard=False, log_to_driver=False)
    try:
        config = rllib_selfplay.make_config("artus").training(train_batch_size_per_learner=250, num_epochs=1)
        agent, reports = rllib_selfplay.train(config, minutes=10, updates=2)
    finally:
        ray.shutdown()
    assert all(math.isfinite(report["learners"][rllib_selfplay.POLICY]["total_loss"]) for report in reports)
    assert evaluate([agent, "random"], games=4).forfeits == 0
