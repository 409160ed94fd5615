"""The trainer: plays games with the network, also against opponents, and learns from all decisions of its seats."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch

from artus_agents.network import Network
from artus_agents.neural import NeuralAgent, draw_actions, infer, write_action_features
from artus_agents.saved import save_agent
from artus_env import Batch
from artus_env.agents import Agent, choose_actions
from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.compiling.threads import run_shares, scratch, shares
from artus_env.engine.contract.rng import following_keys, key_bits, seed_stream
from artus_training.arena.evaluate import Evaluation, evaluate
from artus_training.arena.lineup import line_up
from artus_training.learn.cards import card, command
from artus_training.learn.opponents import Opponent, end_round
from artus_training.learn.ppo.gradient import (
    Choices,
    Policy,
    policy_gradient,
    policy_gradient_torch,
)
from artus_training.learn.ppo.ranks import ALONE, Ranks
from artus_training.learn.ppo.rollout import Decisions, Rollout
from artus_training.learn.ppo.seating import LEARNER, seat_opponents, shared
from artus_training.learn.ppo.settings import PAST, Settings, preset
from artus_training.learn.runs import keep_agent
from artus_training.learn.settings import settings_to_dict
from artus_training.learn.start import find_start
from artus_training.progress import Show, pieces, unseen

PROGRAM = "artus train"
GROUP = 16
"""Decisions are shuffled in blocks of 16 adjacent rows, which are faster to read; adjacent rows are of different
games."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_WEIGHTS, _DEALS, _DRAWS, _OPPONENTS, _MINIBATCHES = range(40, 45)  # purposes of the seed streams


class VariantGames(NamedTuple):
    """The games of one variant, and their columns in all buffers."""

    batch: Batch
    columns: slice


def deal_variants(settings: Settings, num_games: int, first: int = 0) -> list[VariantGames]:
    """Deal games, the same number for each variant of a training.

    Args:
        settings: Settings of the training.
        num_games: Number of games.
        first: Number of the first game; it selects the deals.
    """
    s, count = settings, len(settings.variants)
    bounds = [num_games * i // count for i in range(count + 1)]
    seeds = seed_stream(s.seed, count, _DEALS, first * count)
    return [
        VariantGames(
            Batch(
                high - low,
                rules=rules,
                num_players=num_players,
                seed=int(seed),
                reward=s.reward,
                threads=s.threads or None,
                game=s.game,
            ),
            slice(low, high),
        )
        for (rules, num_players), low, high, seed in zip(s.variants, bounds, bounds[1:], seeds, strict=False)
    ]


def several_actions(legal: np.ndarray) -> np.ndarray:
    """Whether each of n games has more than one legal action: shape (n, words), uint64 -> (n,), bool."""
    without_lowest = legal & (legal - np.uint64(1))
    return without_lowest.any(axis=1) | ((legal != 0).sum(axis=1) > 1)


def keep_freed_memory() -> None:
    """Make the C library keep memory freed by tensors, up to 1 GB. Only glibc is known to need that.

    Otherwise it returns about 30 MB to the system in each gradient step and requests them again page by page. That
    takes 25 % of the time of an update in bfloat16, and less than 10 % in float32.
    """
    with suppress(TypeError, AttributeError):  # other systems, other C libraries
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, 2**25)
        mallopt(M_TRIM_THRESHOLD, 2**30)


class Trainer:
    """The state of a training; `collect` and then `update` are one round.

    Args:
        settings: See `Settings`. A checkpoint isn't loaded automatically (see `checkpoint.load`).
        ranks: The processes that share the training; `num_games` and `batch_size` are divided among them.
    """

    def __init__(self, settings: Settings, ranks: Ranks = ALONE) -> None:
        settings.check(ranks.size)
        keep_freed_memory()
        self.settings = s = settings
        self.ranks = ranks
        self.num_games = s.num_games // ranks.size
        self.threads = s.threads or available_cores()
        torch.set_num_threads(self.threads)
        self.device = ranks.device(s.device)
        self.bfloat16 = s.bfloat16

        torch.manual_seed(int(seed_stream(s.seed, 1, _WEIGHTS)[0] >> np.uint64(1)))
        shape, scale = s.shape(s.action_features), s.definition.observation_scale(s.definition.standard)
        self.network = Network(shape, scale, s.definition.action_feature_gates).to(self.device)
        self.start = ""
        """Hash of the initial weights (see `start.Start`); empty: they were random."""
        if start := ranks.from_first(partial(find_start, s, shape)):
            self.network.load_state_dict(start.weights)
            self.start = start.hash
        ranks.copy_first(self.network.parameters())
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=s.learning_rate, eps=1e-5, fused=True)
        self.begin_games()

        # Numbers of opponents: first the indices of `self.fixed_agents`; the next number is an earlier self.
        fixed = {name: fraction for name, fraction in s.fractions().items() if fraction and name != PAST}
        self.past_fraction = s.fractions().get(PAST, 0.0)
        self.opponent_fractions = [*fixed.values(), self.past_fraction]
        self.fixed_agents: list[Agent] = [
            Opponent(name, line_up([name, name], *s.variants[0], game=s.game)[0]) for name in fixed
        ]
        self.pool: list[dict[str, torch.Tensor]] = []
        self.holders = np.full((self.num_games, shape.players), LEARNER)
        if self.past_fraction:
            self.past = Network(shape).to(self.device)
            if self.bfloat16:
                self.past.bfloat16()  # so that calls don't convert weights
            self._remember()
        self.seat_all_opponents()

        num_players = np.concatenate([np.full(len(of.batch), of.batch.num_players) for of in self.variants])
        self.rollout = Rollout(num_players, s.num_steps, shape, s.definition.mask_words)

        self.steps = 0
        self.updates = 0
        self.seconds = 0.0
        """Training time, evaluations not counted."""
        self.curve: list[dict[str, Any]] = []
        """Learning curve (see `cards.point`)."""
        self.changes: list[dict[str, Any]] = []
        """Settings that were changed in resumed runs (see `cards.card`)."""

    def begin_games(self, updates: int = 0) -> None:
        """Deal all games, with other seeds for each rank and for each number of updates so far."""
        s = self.settings
        first = updates * s.num_games + self.ranks.rank * self.num_games
        self.variants = deal_variants(s, self.num_games, first)
        self.order = torch.Generator()
        self.order.manual_seed(int(seed_stream(s.seed, 1, _MINIBATCHES, first)[0] >> np.uint64(1)))
        self.draws = seed_stream(s.seed, self.num_games, _DRAWS, first)
        self.opponent_keys = seed_stream(s.seed, self.num_games, _OPPONENTS, first)

    @property
    def part(self) -> float:
        """Share of the training that is done, 0..1."""
        s = self.settings
        return min(1.0, max(self.steps / s.steps, self.seconds / 60 / s.minutes if s.minutes else 0))

    def agent(self) -> NeuralAgent:
        """An agent that plays the policy's likeliest actions. It shares the network, so training changes it."""
        return NeuralAgent(self.network)

    # --- playing ---

    def collect(self) -> None:
        """Play `num_steps` decisions in every game, and estimate their advantages.

        Raises:
            OpponentError: If an opponent gives all its games up.
        """
        s = self.settings
        torch.set_num_threads(self.threads)  # an opponent may have changed it
        if s.final_reward and self.part >= s.final_part:
            for of in self.variants:
                of.batch.reward_mode = s.final_reward
        if self.past_fraction:  # one earlier self per round, so that one call of a network is enough for all its games
            self.past.load_state_dict(self.pool[self.updates % len(self.pool)])
        with self._autocast():  # converts the weights once for all steps
            for t in range(s.num_steps):
                self._play(t)
        self.rollout.estimate(s.gamma, s.gae_lambda)
        self.given_up = end_round(self.fixed_agents)
        self.steps += s.num_steps * s.num_games

    def _play(self, t: int) -> None:
        """Play step t of a rollout."""
        rollout, row = self.rollout, self.rollout.seats + t
        for batch, columns in self.variants:
            rollout.observation[row, columns] = batch.observation
            rollout.legal[row, columns] = batch.legal_bits
            rollout.mover[t, columns] = batch.player
            if self.network.shape.num_action_features:
                action_features = rollout.action_features[row, columns]
                write_action_features(batch.tables, batch.states, batch.legal_bits, action_features, batch.threads)
        movers = np.take_along_axis(self.holders, rollout.mover[t, :, None].astype(np.int64), axis=1)[:, 0]
        rollout.learns[t] = movers == LEARNER
        bits = key_bits(self.draws)
        self.draws = following_keys(self.draws)
        self._choose(self.network, row, rollout.learns[t], bits)
        if self.past_fraction:
            self._choose(self.past, row, movers == len(self.fixed_agents), bits)
        if not self.settings.forced:
            rollout.learns[t] &= several_actions(rollout.legal[row])
        for variant in self.variants:
            batch, columns = variant
            others = np.flatnonzero((movers[columns] != LEARNER) & (movers[columns] < len(self.fixed_agents)))
            if len(others):
                holders, keys = self.holders[columns], self.opponent_keys[columns]
                rollout.action[row, columns][others] = choose_actions(batch, self.fixed_agents, holders, keys, others)
            reward, done = batch.step(rollout.action[row, columns])
            if self.settings.together:
                reward = shared(reward, self.holders[columns, : batch.num_players] == LEARNER)
            rollout.reward[t, columns, : batch.num_players] = reward
            rollout.done[t, columns] = done
            self.seat_opponents(variant, np.flatnonzero(done))

    def _choose(self, network: Network, row: int, moves: np.ndarray, bits: np.ndarray) -> None:
        """Write a network's actions, with values and log-probabilities, for the games in which it moves.

        Args:
            network: The network of the learner or of an earlier self.
            row: Row of the rollout.
            moves: Whether the network moves in each game, shape (N,), bool.
            bits: 64 random bits for each game, shape (N,), uint64.
        """
        rollout = self.rollout
        games = slice(None) if moves.all() else np.flatnonzero(moves)  # a slice copies nothing
        if not (observation := rollout.observation[row, games]).size:
            return
        output = infer(network, observation, self.bfloat16)
        rollout.value[row, games] = output.values.numpy()
        rollout.action[row, games], rollout.log_prob[row, games] = draw_actions(
            output, rollout.legal[row, games], rollout.action_features[row, games], bits[games], True, self.threads
        )

    # --- opponents ---

    def seat_all_opponents(self) -> None:
        """Put opponents into all games, without regard to their seats so far."""
        self.holders[:] = LEARNER
        for variant in self.variants:
            self.seat_opponents(variant, np.arange(len(variant.batch)), first_time=True)

    def seat_opponents(self, variant: VariantGames, which: np.ndarray, first_time: bool = False) -> None:
        """Call `seating.seat_opponents` for games of one variant."""
        holders = self.holders[variant.columns]
        seats = self.settings.opponent_seats
        seat_opponents(holders, variant.batch.num_players, self.opponent_fractions, which, first_time, seats)

    def _remember(self) -> None:
        """Add a copy of the network to the pool; if the pool is full, it replaces the oldest one."""
        self.pool.append({name: value.detach().cpu().clone() for name, value in self.network.state_dict().items()})
        del self.pool[: -self.settings.pool_size]

    # --- learning ---

    def update(self) -> dict[str, float]:
        """Learn from the collected decisions. Returns figures for the log."""
        rows = np.flatnonzero(self.rollout.ready.reshape(-1))
        with np.errstate(over="ignore", invalid="ignore"):  # saving detects a diverged network
            figures = self._go_over(rows)
        self.rollout.carry_over()
        self.updates += 1
        if self.past_fraction and self.updates % self.settings.snapshot_every == 0:
            self._remember()
        return figures | {"given_up": self.ranks.each(self.given_up).sum()}

    def _go_over(self, rows: np.ndarray) -> dict[str, float]:
        """Run all epochs of an update, with these rows, shape (R,), int64, and those of the other ranks."""
        s, rollout, ranks = self.settings, self.rollout, self.ranks
        counts = ranks.each(len(rows))[:, 0].astype(int).tolist()
        if not (total := sum(counts)):
            return {}  # in short rollouts perhaps all decisions are carried over
        data = rollout.decisions(self.device, ranks)
        variance = float(ranks.mean_and_variance(rollout.target[..., 0][rollout.ready])[1]) + 1e-8
        explained = 1 - float(ranks.mean_and_variance(rollout.advantage[rollout.ready])[1]) / variance
        rate = s.learning_rate * max(1 - self.part, 0.02)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        sums, learnt, value_loss = np.zeros(3), 0, 0.0
        bounds = [*range(0, total, s.batch_size), total]
        for _ in range(s.epochs):
            groups = torch.randperm(-(-len(rows) // GROUP), generator=self.order)
            order = (groups[:, None] * GROUP + torch.arange(GROUP)).reshape(-1)
            order = torch.from_numpy(rows)[order[order < len(rows)]]
            for low, high in itertools.pairwise(bounds):
                if high - low < s.batch_size / 2 < total / 2:
                    continue  # the rest of an epoch is too small for a step
                parts = [slice(low * count // total, high * count // total) for count in counts]
                size = sum(part.stop - part.start for part in parts)
                in_order = order[parts[ranks.rank]].sort().values  # faster to read
                part_sums, square_error = self.learn(data, in_order.to(self.device), variance, size)
                sums += part_sums
                learnt += size
                value_loss += square_error
        ranks.copy_first(self.network.parameters())  # different processors round differently
        means = ranks.each(*sums, value_loss).sum(axis=0) / learnt
        entropy, divergence, clipped, value_loss = means.tolist()
        return {
            "entropy": entropy, "approx_kl": divergence, "clip_fraction": clipped, "learning_rate": rate,
            "explained_variance": explained, "value_loss": value_loss / variance,
        }  # fmt: skip

    def learn(self, data: Decisions, rows: torch.Tensor, variance: float, count: int) -> tuple[np.ndarray, float]:
        """Do one gradient step.

        Args:
            data: All collected decisions, with normalised advantages.
            rows: Rows to learn from, shape (B,), int64.
            variance: Variance of the returns, the unit of the value loss.
            count: Number of decisions of all ranks in this step.

        Returns:
            Sums over the decisions: entropy, KL divergence and number of clipped ones, shape (3,); and the squared
            error of the mover's values.
        """
        s = self.settings
        with self._autocast():
            said = self.network(data.observation.index_select(0, rows))
        by = torch.empty(said.shape, device=self.device)
        output, gradient = self.network.split(said.detach().float()), self.network.split(by)
        by[:, sum(part.shape[1] for part in gradient) :] = 0  # unused outputs
        error = torch.nan_to_num(output.values - data.target.index_select(0, rows))
        gradient.values[:] = error * (2 * s.value_weight / (variance * count))
        policy, by_policy = Policy(output.logits, output.gates), Policy(gradient.logits, gradient.gates)
        if self.device.type == "cpu":
            sums = self._policy_gradient(policy, rows, data.choices, count, by_policy)
        else:
            chosen = Choices(*(part.index_select(0, rows) for part in data.choices))
            made, parts = policy_gradient_torch(policy, chosen, count, s.clip, s.entropy)
            gradient.logits[:], gradient.gates[:] = made
            sums = parts.cpu().double().numpy()
        self.optimizer.zero_grad()
        said.backward(by.to(said.dtype))
        self.ranks.add(weights.grad for weights in self.network.parameters() if weights.grad is not None)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), s.max_grad_norm)
        self.optimizer.step()
        return sums, float(error[:, 0].square().sum())

    def _policy_gradient(
        self, policy: Policy, rows: torch.Tensor, choices: Choices, count: int, gradient: Policy
    ) -> np.ndarray:
        """Write the gradient of the policy's loss, on several threads. Returns the sums, shape (3,)."""
        arrays = Choices(*(part.numpy() for part in choices))
        arrays = arrays._replace(legal=arrays.legal.view(np.uint64))
        bounds = shares(len(rows), self.threads)
        sums = scratch(len(bounds) - 1, 3, np.float64)
        sums[:] = 0
        arguments = (
            Policy(*(part.numpy() for part in policy)), rows.numpy(), arrays, count, self.settings.clip,
            self.settings.entropy, Policy(*(part.numpy() for part in gradient)), sums,
        )  # fmt: skip
        run_shares(policy_gradient, arguments, bounds)
        return sums.sum(axis=0)[:3]

    def _autocast(self) -> torch.autocast:
        """Context in which the network computes in bfloat16, if the settings choose that."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.bfloat16)

    # --- results ---

    def evaluate(self, opponents: Sequence[str], games: int, show: Show = unseen) -> list[Evaluation]:
        """Play the agent against each opponent, in every variant."""
        pairs = list(itertools.product(self.settings.variants, opponents))
        return [
            evaluate(
                [self.agent(), opponent],
                rules=rules,
                num_players=num_players,
                games=games,
                seed=self.settings.seed + 1,
                game=self.settings.game,
                progress=piece,
            )
            for ((rules, num_players), opponent), piece in zip(pairs, pieces(show, len(pairs)), strict=True)
        ]

    def save_agent(self, strength: Sequence[Evaluation] = ()) -> None:
        """Write the agent with its card."""
        s = self.settings
        about = card(
            s.game, s.variants, settings=settings_to_dict(s),
            command=command(self.ranks.program(PROGRAM), s, preset(s.rules, s.num_players, game=s.game)),
            steps=self.steps, seconds=self.seconds, curve=self.curve, strength=strength, bfloat16=self.bfloat16,
            threads=self.threads, ranks=self.ranks.size, changes=self.changes,
            start=self.start,
        )  # fmt: skip
        keep_agent(s.agent, self.steps)
        save_agent(s.agent, self.network, about, torch.bfloat16 if self.bfloat16 else torch.float32)
