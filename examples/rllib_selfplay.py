"""PPO with RLlib (new API stack), self-play with masks: `python examples/rllib_selfplay.py --game artus --minutes 5`.

One policy learns from all seats. RLlib's own wrapper for PettingZoo doesn't fit RLlib's module for masks: it uses
another key for observations, and returns an empty mask for every seat at the end of a game.
"""

import argparse
import os
import time

import numpy as np
import torch
from gymnasium.spaces import Box, Dict

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage statistics
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from artus_env import environments
from artus_training.arena.evaluate import evaluate

POLICY = "shared"


class SelfPlay(MultiAgentEnv):
    """The AEC environment for RLlib: each step returns the next seat's observation and the rewards of all seats."""

    def __init__(self, config):
        super().__init__()
        self.env = environments.env(**config)
        self.scale = self.env.definition.observation_scale(self.env.components)
        self.agents = self.possible_agents = self.env.possible_agents
        actions = self.env.action_space(self.agents[0])
        space = Dict(  # keys and floats that RLlib's module expects
            {
                "observations": Box(-np.inf, np.inf, self.scale.shape, np.float32),
                "action_mask": Box(0, 1, (int(actions.n),), np.float32),
            }
        )
        self.observation_spaces = dict.fromkeys(self.agents, space)
        self.action_spaces = dict.fromkeys(self.agents, actions)

    def _observe(self):
        """The observation of the seat to move. The other seats get none, so no seat gets an empty mask."""
        observed, agent = self.env.last()[0], self.env.agent_selection
        observations = observed["observation"] * self.scale
        return {agent: {"observations": observations, "action_mask": observed["action_mask"].astype(np.float32)}}

    def reset(self, *, seed=None, options=None):
        self.env.reset(seed=seed)
        return self._observe(), {}

    def step(self, actions):
        self.env.step(int(actions[self.env.agent_selection]))
        over = self.env.terminations[self.env.agent_selection]
        # RLlib adds rewards on other seats' moves to the seat's open decision: so return all rewards in every step. At
        # the end of the game it uses the last observation again; an observation with an all-zero mask would make its
        # module for masks draw uniformly among illegal actions.
        return {} if over else self._observe(), dict(self.env.rewards), {"__all__": over}, {"__all__": False}, {}


def make_config(game, reward="points", seed=0):
    model = DefaultModelConfig(fcnet_hiddens=[128, 128], fcnet_activation="relu")
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=model)
    return (
        PPOConfig()
        .environment(SelfPlay, env_config={"game": game, "reward": reward})
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda agent, episode, **rest: POLICY)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: module}))
        # This process samples the games; `num_env_runners=4` would start four others.
        .env_runners(num_env_runners=0, batch_mode="complete_episodes")
        .training(
            train_batch_size_per_learner=1000, minibatch_size=250, num_epochs=4,
            lr=1e-3, gamma=0.95, lambda_=0.9, entropy_coeff=0.01,
        )
        .debugging(seed=seed, log_level="ERROR")
    )  # fmt: skip


class Agent:
    """The policy as an agent: takes the likeliest legal action."""

    def __init__(self, module, scale):
        self.module, self.scale = module, scale

    def act(self, view):
        observations = torch.from_numpy(view.observation * self.scale)
        batch = {"obs": {"observations": observations, "action_mask": torch.from_numpy(view.mask).float()}}
        with torch.no_grad():
            return self.module.forward_inference(batch)["action_dist_inputs"].argmax(-1).numpy()


def train(config, minutes, updates=None):
    """Train for some minutes or updates. Returns the policy as an agent and the report of each update."""
    algorithm = config.build_algo()
    started, reports = time.monotonic(), []
    while time.monotonic() - started < 60 * minutes and len(reports) != updates:
        reports.append(algorithm.train())
        steps, losses = reports[-1]["num_env_steps_sampled_lifetime"], reports[-1]["learners"][POLICY]
        speed = steps / (time.monotonic() - started)
        print(f"{steps:,.0f} steps, {speed:.0f} steps/s with learning, loss {losses['total_loss']:+.3f}", flush=True)
    agent = Agent(algorithm.get_module(POLICY), SelfPlay(config.env_config).scale)
    algorithm.stop()
    return agent, reports


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--game", default="artus", help="artus, royal, quest or any other that is installed")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long it trains")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)  # small networks are slower with more threads
    ray.init("local", include_dashboard=False, log_to_driver=False)
    agent, _ = train(make_config(options.game, seed=options.seed), options.minutes)
    result = evaluate([agent, "random"], game=options.game, games=400)
    low, high = result.interval
    print(f"won {result.win_rate:.1%} of {result.games} games against random (95 %: {low:.1%} to {high:.1%})")


if __name__ == "__main__":
    main()
