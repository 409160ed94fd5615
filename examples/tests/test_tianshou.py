"""Tianshou: rewards on another seat's move never reach a seat's returns; through Gymnasium they do."""

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Dict
from tianshou.algorithm import Reinforce
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOnPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv

from artus_env import artus_v0


class LegalAtRandom(torch.nn.Module):
    """A network whose logits are equal for all legal actions."""

    def __init__(self):
        super().__init__()
        self.logit = torch.nn.Parameter(torch.zeros(1))

    def forward(self, obs, state=None, info=None):
        mask = torch.as_tensor(np.asarray(obs.mask), dtype=torch.bool)
        return torch.where(mask, self.logit, -1e9), state


def reinforce(action_space):
    policy = ProbabilisticActorPolicy(
        actor=LegalAtRandom(),
        dist_fn=lambda logits: torch.distributions.Categorical(logits=logits),
        action_space=action_space,
        action_scaling=False,
    )
    return Reinforce(policy=policy, gamma=1.0, optim=AdamOptimizerFactory(lr=1e-3))


def collected(algorithm, make, episodes=8):
    """Collect whole games. Returns the preprocessed batch from which the algorithm learns, and the buffer."""
    np.random.seed(0)
    torch.manual_seed(0)
    buffer = VectorReplayBuffer(4000, 1)
    collector = Collector(algorithm.policy, DummyVectorEnv([make]), buffer)
    collector.reset(gym_reset_kwargs={"seed": 0})
    collector.collect(n_episode=episodes)
    batch, indices = buffer.sample(0)  # everything
    return algorithm._preprocess_batch(batch, buffer, indices), buffer


def test_through_pettingzoo_a_seat_learns_nothing_of_games_that_end_on_the_move_of_another():
    """Worse, its last decision isn't marked as the end, so it is credited with rewards of later games."""
    env = PettingZooEnv(artus_v0.env())
    algorithm = MultiAgentOnPolicyAlgorithm(algorithms=[reinforce(env.action_space) for _ in env.agents], env=env)
    learned, buffer = collected(algorithm, lambda: env)
    ends = np.flatnonzero(buffer.done[: len(buffer)])
    losses = wrong_returns = 0
    for player, agent in enumerate(env.env.possible_agents):
        own_rows = np.flatnonzero(buffer.obs.agent_id[: len(buffer)] == agent)
        own_rewards = dict(zip(own_rows, learned[agent].rew, strict=True))
        returns = dict(zip(own_rows, learned[agent].returns, strict=True))
        for end in ends[buffer.obs.agent_id[ends] != agent]:
            last = own_rows[own_rows < end].max()
            losses += buffer.rew[end, player] == -1  # Tianshou got the reward
            assert own_rewards[last] == 0  # but the seat didn't
            wrong_returns += returns[last] > 0 > buffer.rew[end, player]
    assert losses
    assert wrong_returns, "a seat that lost is told that it won"


class Masked(gymnasium.ObservationWrapper):
    """Observation and mask as Tianshou's policies want them."""

    def __init__(self, env):
        super().__init__(env)
        mask = gymnasium.spaces.MultiBinary(int(env.action_space.n))
        self.observation_space = Dict({"obs": env.observation_space, "mask": mask})

    def observation(self, observation):
        return {"obs": observation, "mask": self.env.unwrapped.action_masks()}


def test_through_gymnasium_the_loss_arrives_at_every_decision():
    env = Masked(gymnasium.make("artus_env:Artus-v0", opponents="random"))
    learned, buffer = collected(reinforce(env.action_space), lambda: env)
    ends = np.flatnonzero(buffer.done[: len(buffer)])
    assert set(learned.rew[ends]) == {-1, 1}
    first = 0
    for end in ends:
        assert learned.returns[first : end + 1] == pytest.approx(learned.rew[end])
        first = end + 1
