"""The learner: which games it takes from actors, and what it learns from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from artus_agents.network import Network
from artus_agents.neural import NeuralAgent, infer
from artus_agents.saved import save_agent
from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.contract.rng import seed_stream
from artus_training.arena.evaluate import Evaluation, evaluate
from artus_training.learn.cards import card, command
from artus_training.learn.expert.games import Decisions, Games, joined
from artus_training.learn.expert.gradient import Targets, cross_entropy_gradient
from artus_training.learn.expert.selfplay import SelfPlay, Unit, packed, unpacked
from artus_training.learn.expert.settings import START, Settings, preset
from artus_training.learn.runs import keep_agent
from artus_training.learn.settings import settings_to_dict
from artus_training.learn.start import find_start
from artus_training.lines import Show, pieces, unseen

PROGRAM = "artus train-expert"
MEASURED_AT_ONCE = 4096
"""Decisions that the network is asked about at a time when nothing is learnt."""
_WEIGHTS, _MINIBATCHES = range(64, 66)  # purposes of the seed streams, behind those of self-play


class Trainer:
    """A training by expert iteration. Version v of the weights is what v rounds have made of them.

    Args:
        settings: What to train.

    Raises:
        ValueError: If the agent that it begins with doesn't fit.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = s = settings
        self.threads = s.threads or available_cores()
        torch.set_num_threads(self.threads)
        torch.manual_seed(int(seed_stream(s.seed, 1, _WEIGHTS)[0] >> np.uint64(1)))
        definition = s.definition
        self.network = Network(
            s.shape(), definition.observation_scale(definition.standard), definition.action_feature_gates
        )
        self.start = ""
        """Hash of the weights that the training began with; empty: they were drawn."""
        if start := find_start(s, s.shape(), reward=s.reward):
            self.network.load_state_dict(start.weights)
            self.start = start.hash
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=s.learning_rate, eps=1e-5, fused=True)
        self.anchor = packed(self.network)
        """The policy to stay near to where nothing is searched."""
        self.versions = {0: self.anchor}
        """The weights that actors may still be told to play with."""
        self.version = 0
        self.games: list[Games] = []
        """What is learnt from: games of the last versions, the oldest first."""
        self.made_of = self.work(0).made_of
        self.dropped = 0
        """Games that were dropped in all."""
        self.steps = 0
        """Decisions in the games of all rounds."""
        self.seconds = 0.0
        """Of training, evaluations not counted."""
        self.curve: list[dict[str, Any]] = []
        """What evaluations came to (see `cards.point`)."""
        self.changes: list[dict[str, Any]] = []
        """Settings that were changed on the way (see `cards.card`)."""

    def part(self, rounds: float = 0.0) -> float:
        """How much of the training is done, 0..1, when so much of the next round is."""
        s = self.settings
        return min(1.0, max((self.version + rounds) / s.rounds, self.seconds / 60 / s.minutes if s.minutes else 0))

    # --- actors ---

    def version_of(self, number: int) -> int:
        """Of the weights that a round is played with."""
        return max(0, number - self.settings.ahead)

    def work(self, number: int) -> SelfPlay:
        """What plays a round; its weights must be there."""
        version = self.version_of(number)
        return SelfPlay(self.settings.self_play(), version, self.versions[version], self.anchor)

    def units(self, number: int) -> list[Unit]:
        """The units of a round. No two rounds have games of the same numbers."""
        s, version = self.settings, self.version_of(number)
        first, end = number * s.num_games, (number + 1) * s.num_games
        return [
            Unit(self.made_of, version, low, min(s.unit_games, end - low)) for low in range(first, end, s.unit_games)
        ]

    # --- learning ---

    def take(self, games: Sequence[Games]) -> int:
        """Take games from actors, and drop those of weights that are too old. Returns how many games were dropped.

        Raises:
            ValueError: If some were made by other settings or other code, or with weights that there are not yet.
        """
        for each in games:
            if each.made_of != self.made_of or each.version > self.version:
                raise ValueError(
                    f"games {each.first}..{each.first + each.num_games - 1} are of another training: made of "
                    f"{each.made_of}, version {each.version}, and not of {self.made_of}, version {self.version} at most"
                )
        every, oldest = [*self.games, *games], self.version + 1 - self.settings.window
        self.games = [each for each in every if each.version >= oldest]
        dropped = sum(each.num_games for each in every if each.version < oldest)
        self.dropped += dropped
        return dropped

    def round(self, games: Sequence[Games]) -> dict[str, float]:
        """Take the games of the next round, and learn from those of the window. Returns figures for the log."""
        torch.set_num_threads(self.threads)  # Numba changes it when its threads start
        fresh = [each.decisions for each in games]
        figures = {"dropped": float(self.take(games)), "games": float(sum(each.num_games for each in self.games))}
        figures |= self.measure(joined(fresh))
        with np.errstate(over="ignore", invalid="ignore"):  # a network that has diverged is found when it's to be saved
            figures |= self.learn(joined([each.decisions for each in self.games])) if self.games else {}
        self.steps += sum(each.steps for each in games)
        self.version += 1
        self.versions[self.version] = packed(self.network)
        for version in [old for old in self.versions if old < self.version_of(self.version)]:
            del self.versions[version]
        return figures

    def measure(self, decisions: Decisions) -> dict[str, float]:
        """What the network says of decisions that it hasn't learnt from yet: how far its policy is from that of the
        search, and how often both like the same action best; and by how much the search thinks that it plays better,
        which is more than it does."""
        targets, sums = targets_of(decisions), np.zeros((2, 3))
        for low in range(0, decisions.size, MEASURED_AT_ONCE):
            rows = np.arange(low, min(low + MEASURED_AT_ONCE, decisions.size))
            output = infer(self.network, decisions.observation[rows])
            logits, gates = output.logits.numpy(), output.gates.numpy()
            nothing = np.zeros(len(rows), np.float32)
            cross_entropy_gradient(
                logits, gates, rows, targets, nothing, np.empty_like(logits), np.empty_like(gates), sums
            )
        figures = named("fresh", sums)
        if decisions.searched.any():
            figures["predicted_gain"] = float(decisions.gain[decisions.searched].mean(dtype=np.float64))
        return figures

    def learn(self, decisions: Decisions) -> dict[str, float]:
        """Go over decisions, each as often as the settings say."""
        s, count = self.settings, decisions.size
        if not count:
            return {}
        targets, observation = targets_of(decisions), torch.from_numpy(decisions.observation)
        values = torch.from_numpy(decisions.values.astype(np.float32))
        weights = np.where(decisions.searched, 1, s.anchor_weight).astype(np.float32)
        order = torch.Generator()
        order.manual_seed(int(seed_stream(s.seed, 1, _MINIBATCHES, self.version)[0] >> np.uint64(1)))
        rate = s.learning_rate * max(1 - self.part(), 0.02)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        sums, square_error, learnt = np.zeros((2, 3)), 0.0, 0
        for _ in range(s.epochs):
            for rows in torch.randperm(count, generator=order).split(s.batch_size):
                if len(rows) < s.batch_size / 2 < count / 2:
                    continue  # the rest of an epoch, too few for a step of this size
                in_order = rows.sort().values  # memory is read faster so
                square_error += self.step(observation, targets, weights, values, in_order, sums)
                learnt += len(rows)
        return named("window", sums) | {"value_error": square_error / learnt, "learning_rate": rate}

    def step(
        self, observation: torch.Tensor, targets: Targets, weights: np.ndarray, values: torch.Tensor,
        rows: torch.Tensor, sums: np.ndarray,
    ) -> float:  # fmt: skip
        """One gradient step.

        Args:
            observation, targets, weights, values: Of all decisions.
            rows: Which of them to learn from, shape (B,), int64.
            sums: See `cross_entropy_gradient`.

        Returns:
            The sum of the squared errors of the own values.
        """
        said = self.network(observation[rows])
        by = torch.zeros(said.shape)
        output, gradient = self.network.split(said.detach()), self.network.split(by)
        error = torch.nan_to_num(output.values - values[rows])
        gradient.values[:] = error * (2 * self.settings.value_weight / len(rows))
        chosen = rows.numpy()
        cross_entropy_gradient(
            output.logits.numpy(), output.gates.numpy(), chosen, targets, weights[chosen] / np.float32(len(rows)),
            gradient.logits.numpy(), gradient.gates.numpy(), sums,
        )  # fmt: skip
        self.optimizer.zero_grad()
        said.backward(by)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.max_grad_norm)
        self.optimizer.step()
        return float(error[:, 0].square().sum())

    # --- what came of it ---

    def agent(self) -> NeuralAgent:
        """The policy as it plays: the likeliest action. It changes as the training goes on."""
        return NeuralAgent(self.network)

    def evaluate(self, opponents: Sequence[str], games: int, show: Show = unseen) -> list[Evaluation]:
        """Play the agent against each opponent. No search takes part."""
        s = self.settings
        results = []
        for name, piece in zip(opponents, pieces(show, len(opponents)), strict=True):
            opponent = NeuralAgent(unpacked(self.anchor, s.shape())) if name == START else name
            result = evaluate(
                [self.agent(), opponent], rules=s.rules, num_players=s.num_players, games=games, seed=s.seed + 1,
                game=s.game, progress=piece,
            )  # fmt: skip
            results.append(replace(result, agents=("trained", *[name] * (s.num_players - 1))))
        return results

    def save_agent(self, strength: Sequence[Evaluation] = ()) -> None:
        """Write the agent with its card."""
        s = self.settings
        about = card(
            s.game, [(s.rules, s.num_players)], settings=settings_to_dict(s) | {"reward": s.reward},
            command=command(PROGRAM, s, preset(s.rules, s.num_players, game=s.game)), steps=self.steps,
            seconds=self.seconds, curve=self.curve, strength=strength, bfloat16=s.bfloat16, threads=self.threads,
            changes=self.changes, start=self.start,
        )  # fmt: skip
        keep_agent(s.agent, self.steps)
        save_agent(s.agent, self.network, about, torch.bfloat16 if s.bfloat16 else torch.float32)


def targets_of(decisions: Decisions) -> Targets:
    """What the loss of the policy needs of decisions."""
    return Targets(
        decisions.first,
        decisions.action,
        decisions.action_features,
        decisions.policy.astype(np.float32),
        decisions.searched,
    )


def named(prefix: str, sums: np.ndarray) -> dict[str, float]:
    """Means from the sums of `cross_entropy_gradient`, as far as there is something to take the mean of."""
    figures = {}
    for kind, (count, divergence, agreements) in zip(("anchored", "searched"), sums.tolist(), strict=True):
        if count:
            figures[f"{prefix}_{kind}_kl"] = divergence / count
            figures[f"{prefix}_{kind}_agreement"] = agreements / count
    return figures
