"""MaskablePPO of sb3-contrib on the same games, for comparison with `artus train`."""

from __future__ import annotations

import copy
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from artus_agents.network import Network, Shape
from artus_agents.neural import NeuralAgent
from artus_env.engine.basics.writing import write_atomically
from artus_env.engine.compiling.quotas import available_cores
from artus_training.learn.cards import PACKAGES
from artus_training.learn.checkpoints import (
    Progress,
    Tensors,
    load_optimizer,
    optimizer_tensors,
    with_prefix,
    without_prefix,
)
from artus_training.learn.opponents import end_round
from artus_training.learn.ranks import ALONE, Ranks
from artus_training.learn.runs import Training
from artus_training.learn.sb3_env import SelfPlayVecEnv
from artus_training.learn.sb3_policy import MaskedPolicy, ScaledMlp, begin_with, to_network
from artus_training.learn.settings import TrainingSettings

PRESET = Path(__file__).parent / "sb3.toml"
MODEL = "model.zip"
"""File of a run that `MaskablePPO.load` reads."""
FIGURES = ("approx_kl", "clip_fraction", "explained_variance", "value_loss")
"""Figures that have the same names in SB3 and in `ppo`."""


@dataclass
class Settings(TrainingSettings):
    """Settings of `artus train-sb3`; their defaults are in `sb3.toml`."""

    TRAINER = "sb3"

    def preset_file(self) -> Path:
        """The file with the settings that aren't given: `preset`, or the defaults of this trainer."""
        return self.preset or PRESET

    def shape(self) -> Shape:
        """Shape of the trained network, which gets no action features."""
        return Shape.of(self.definition, self.definition.standard, tuple(self.hidden), action_features=False)

    def bytes_a_decision(self) -> int:
        """Bytes of a decision in SB3's buffer."""
        return 4 * (self.shape().observation_size + self.shape().num_actions) + 80

    def check(self, ranks: int = 1) -> None:
        """See `TrainingSettings.check`."""
        super().check(ranks)
        if self.seed >= 2**32:  # the limit of NumPy's global generator, which SB3 seeds
            raise ValueError(f"seed must be in 0..{2**32 - 1}, got {self.seed}")


class Rate:
    """The learning rate. It is a class so that SB3 can save it."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, steps_left: float) -> float:
        """The learning rate; SB3 passes the fraction of the steps that is left, which isn't used."""
        return self.value


class Trainer(Training[Settings]):
    """A training with MaskablePPO. A checkpoint has its weights, optimizer and earlier selves; a resumed training
    begins with new games."""

    PROGRAM = "artus train-sb3"
    PACKAGES = (*PACKAGES, "stable-baselines3", "sb3-contrib")

    def __init__(self, settings: Settings, ranks: Ranks = ALONE) -> None:
        super().__init__(settings, ranks)
        s, definition = settings, settings.definition
        self.env = SelfPlayVecEnv(
            s.num_games, rules=s.rules, num_players=s.num_players, reward=s.reward, opponents=s.fractions(),
            pool_size=s.pool_size, seed=s.seed, game=s.game,
        )  # fmt: skip
        self.model = MaskablePPO(
            MaskedPolicy, self.env, learning_rate=Rate(s.learning_rate), n_steps=s.num_steps, batch_size=s.batch_size,
            n_epochs=s.epochs, gamma=s.gamma, gae_lambda=s.gae_lambda, ent_coef=s.entropy, vf_coef=s.value_weight,
            clip_range=s.clip, max_grad_norm=s.max_grad_norm, seed=s.seed,
            policy_kwargs={
                "net_arch": [],  # policy and value have no hidden layers besides the shared ones
                "features_extractor_class": ScaledMlp,
                "features_extractor_kwargs": {
                    "scale": definition.observation_scale(definition.standard), "sizes": s.hidden,
                    "players": definition.max_players,
                },
                "optimizer_kwargs": {"eps": 1e-5, "fused": True},
            },
            device="cpu",  # a GPU doesn't help networks of this size, which take many small steps
        )  # fmt: skip
        self.model.set_logger(Logger(None, []))  # the figures are logged by `runs`, like those of `ppo`
        if start := self.initial_weights():
            begin_with(self.model, start.weights)
        self.env.add_snapshot(self.snapshot())

    def play_and_learn(self) -> dict[str, float]:
        """Play one rollout, and learn from it. Returns figures for the log."""
        s, model = self.settings, self.model
        torch.set_num_threads(s.threads or available_cores())  # an evaluation may have changed the number
        rate = model.learning_rate
        assert isinstance(rate, Rate)
        rate.value = self.learning_rate
        model.learn(s.num_games * s.num_steps, log_interval=10**9, reset_num_timesteps=False)
        given_up = end_round(self.env.fixed)
        self.steps += s.num_games * s.num_steps
        self.updates += 1
        if self.updates % s.snapshot_every == 0:
            self.env.add_snapshot(self.snapshot())
        recorded = model.logger.name_to_value
        figures = {name: float(recorded[f"train/{name}"]) for name in FIGURES if f"train/{name}" in recorded}
        if "train/entropy_loss" in recorded:
            figures["entropy"] = -float(recorded["train/entropy_loss"])
        figures |= {f"wins_{kind}": float(np.mean(results)) for kind, results in self.env.results.items() if results}
        return figures | {"learning_rate": rate.value, "given_up": given_up}

    def trained(self) -> Network:
        """A copy of the current policy as a network of this project."""
        return to_network(self.model, self.settings.num_players, self.settings.definition.max_players)

    def snapshot(self) -> NeuralAgent:
        """A copy of the current policy as an agent that draws its actions."""
        return NeuralAgent(self.trained(), sample=True)

    def save_agent(self, *strength: Any) -> None:
        """Write the model in SB3's format, then the agent with its card: a run whose agent has a card counts as
        saved."""
        model = io.BytesIO()
        self.model.save(model, exclude=["_last_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer"])
        write_atomically(self.settings.folder / MODEL, model.getvalue())
        super().save_agent(*strength)

    def tensors(self) -> Tensors:
        """Weights, optimizer and earlier selves."""
        policy = self.model.policy
        weights = {name: value.clone() for name, value in policy.state_dict().items()}  # some have several names
        tensors = with_prefix("policy", weights) | with_prefix("optimizer", optimizer_tensors(adam(policy)))
        for index, agent in enumerate(self.env.snapshots()):
            tensors |= with_prefix(f"pool.{index}", agent.network.state_dict())
        return tensors

    def load_tensors(self, saved: Progress, tensors: Tensors, changed: dict[str, list[Any]]) -> None:
        """Load weights, optimizer and earlier selves, and deal new games."""
        policy, template = self.model.policy, self.trained()
        policy.load_state_dict(without_prefix(tensors, "policy", policy.state_dict()))
        load_optimizer(adam(policy), tensors, "optimizer")
        selves = []
        for index in range(saved.pool):
            network = copy.deepcopy(template)
            network.load_state_dict(without_prefix(tensors, f"pool.{index}", template.state_dict()))
            selves.append(NeuralAgent(network, sample=True))
        self.env.set_snapshots(selves)
        self.env.seed(self.settings.seed + saved.steps)
        self.model.num_timesteps = saved.steps

    @property
    def earlier_selves(self) -> int:
        """Number of earlier selves in the pool."""
        return len(self.env.snapshots())


def adam(policy: Any) -> torch.optim.Adam:
    """The optimizer of a policy."""
    assert isinstance(policy.optimizer, torch.optim.Adam)
    return policy.optimizer
