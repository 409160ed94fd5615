"""Proximal policy optimisation (PPO) by self-play, on many games at once. Read it from top to bottom.

This module has the settings, the advantages, the `loss`, and the trainer, which collects decisions and learns from them
in turn. One network plays all seats. Other modules have the code of all trainers (`settings`; `runs`: files,
evaluations, resuming), the buffers (`rollout`), opponents and earlier selves (`opponents`), the network
(`artus_agents.network`), several processes (`ranks`), and checkpoints (`state`).
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from artus_agents.network import Network, Output, Shape, fast_bfloat16
from artus_agents.neural import draw_actions, infer, write_action_features
from artus_agents.policy import SCALE
from artus_env import Batch
from artus_env.agents import choose_actions
from artus_env.engine.basics.reading import shown
from artus_env.engine.compiling.jit import jit
from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.contract.rng import following_keys, key_bits, seed_stream
from artus_env.engine.play.rewards import mode_index
from artus_training.learn.checkpoints import Progress, Tensors
from artus_training.learn.opponents import LEARNER, Opponents, end_round, share_rewards
from artus_training.learn.ranks import ALONE, Ranks
from artus_training.learn.rollout import Decisions, Minibatch, Rollout, shuffled
from artus_training.learn.runs import Training
from artus_training.learn.settings import AtLeast0, Fraction, TrainingSettings
from artus_training.learn.state import load_games, load_tensors, tensors_of

_WEIGHTS, _DEALS, _DRAWS, _OPPONENTS, _MINIBATCHES = range(40, 45)  # purposes of the seed streams


# --- settings of this trainer alone ---


@dataclass
class Settings(TrainingSettings):
    """Settings of `artus train`."""

    TRAINER = "ppo"
    FIXED = (*TrainingSettings.FIXED, "also", "action_features", "num_games")

    also: tuple[str, ...] = ()
    """More variants for the same network, RULES-PLAYERS each; all have the same number of games."""
    final_reward: str = ""
    """The reward in the last part of the training (see `final_part`); empty: the same as before."""
    final_part: Fraction = 0.5
    """Share of the training after which `final_reward` is used: 0..1."""
    opponent_seats: AtLeast0 = 0
    """Seats of an opponent in each of its games; 0: from one to all but one, in turn."""
    together: bool = False
    """Pay each learning seat of a game the mean of the rewards of all its learning seats."""
    action_features: bool = True
    """Give the policy features of each legal action, if the game has them."""
    forced: bool = True
    """Also learn from decisions with a single legal action. Only the values learn from them; in games with many of
    them, training is faster without."""
    device: Literal["cpu", "cuda"] = "cpu"
    """The network's device: `cpu` or `cuda`."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """The network's number type; auto: bfloat16 if the processor has instructions for it."""

    def __post_init__(self) -> None:
        """See `TrainingSettings`."""
        super().__post_init__()
        self.final_reward = self.final_reward and self.same_in_all_games(self.final_reward)

    @property
    def variants(self) -> list[tuple[str, int]]:
        """All variants of the training. Raises a ValueError if one of `also` isn't RULES-PLAYERS."""
        other_variants = []
        for text in self.also:
            rules, _, players = text.rpartition("-")
            if not players.isdigit():
                raise ValueError(f"also takes RULES-PLAYERS such as {self.rules}-{self.num_players}, got {shown(text)}")
            other_variants.append((rules, int(players)))
        return [(self.rules, self.num_players), *other_variants]

    @property
    def bfloat16(self) -> bool:
        """Whether the network computes in bfloat16."""
        if self.precision == "auto":
            return torch.cuda.is_bf16_supported() if self.device == "cuda" else fast_bfloat16()
        return self.precision == "bfloat16"

    def shape(self) -> Shape:
        """Shape of the trained network."""
        return Shape.of(self.definition, self.definition.standard, tuple(self.hidden), self.action_features)

    def bytes_a_decision(self) -> int:
        """Bytes of one decision in a rollout."""
        shape = self.shape()
        action_bytes = 8 * self.definition.mask_words + shape.num_actions * shape.num_action_features
        return shape.observation_size + action_bytes + 12 * shape.players + 32

    def check(self, ranks: int = 1) -> None:
        """See `TrainingSettings.check`."""
        super().check(ranks)
        if len(set(self.variants)) < len(self.variants):
            raise ValueError(f"a variant is named twice: {self.variants}")
        if self.num_games < len(self.variants) * ranks:
            unit = "variant" if ranks == 1 else f"variant in each of the {ranks} ranks"
            raise ValueError(f"num_games must be at least one for each {unit}, got {self.num_games}")
        if self.num_games % ranks:
            raise ValueError(f"num_games must be a multiple of the {ranks} ranks, got {self.num_games}")
        if self.opponent_seats >= (fewest := min(players for _, players in self.variants)):
            raise ValueError(f"opponent_seats must be less than {fewest}, got {self.opponent_seats}")
        mode_index(self.final_reward or self.reward, self.definition.score)
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device cuda: torch finds no such device here")


# --- advantages ---


@jit
def estimate_advantages(rollout, gamma, gae_lambda):
    """Estimate the advantages and returns of a rollout, seat by seat, by generalised advantage estimation.

    A seat's trajectory is the sequence of its own decisions. All rewards of a seat between two of its decisions, also
    for moves of other players, are credited to the earlier decision; the bootstrap is the value at the later decision,
    or 0 if the game has ended. A decision whose seat hasn't moved again yet is not ready: it is carried over to the
    next rollout, so that each decision is used exactly once.

    Writes `advantage`, `returns`, `ready`, `pending` and `carried_reward` of the rollout. `gamma` is the discount.
    """
    num_steps, num_games, seats = rollout.reward.shape
    # For each seat: value, return and advantage of its next decision (the loop goes backwards in time), the rewards
    # before that decision, and whether it, or the end of the game, is in this rollout.
    next_value, next_return, next_advantage = np.zeros(seats), np.zeros(seats), np.zeros(seats)
    reward_sum, outcome_known = np.zeros(seats), np.zeros(seats, np.bool_)
    for n in range(num_games):
        players = rollout.num_players[n]
        reward_sum[:] = 0
        outcome_known[:] = False
        rollout.pending[:, n] = -1
        pending_reward = np.zeros(seats)
        for t in range(num_steps - 1, -1, -1):
            if rollout.done[t, n]:
                outcome_known[:] = True
                next_value[:], next_return[:], next_advantage[:], reward_sum[:] = 0, 0, 0, 0
            for seat in range(players):
                reward_sum[seat] += rollout.reward[t, n, seat]
            rollout.ready[seats + t, n] = False
            if not rollout.learns[t, n]:
                continue
            mover, row = int(rollout.player[t, n]), seats + t
            value = rollout.value[row, n, 0]
            rollout.returns[row, n] = np.nan
            if outcome_known[mover]:
                delta = reward_sum[mover] + gamma * next_value[mover] - value
                next_advantage[mover] = delta + gamma * gae_lambda * next_advantage[mover]
                next_return[mover] = next_advantage[mover] + value
                rollout.advantage[row, n] = next_advantage[mover]
                rollout.returns[row, n, 0] = next_return[mover]
                rollout.ready[row, n] = True
                for seat in range(players):
                    if seat != mover and outcome_known[seat]:
                        other_return = reward_sum[seat] + gamma * next_return[seat]
                        rollout.returns[row, n, (seat - mover + players) % players] = other_return
            else:
                rollout.pending[mover, n] = row
                pending_reward[mover] = reward_sum[mover]
                next_advantage[mover] = 0
                next_return[mover] = value
            next_value[mover] = value
            reward_sum[mover] = 0
            outcome_known[mover] = True
        for seat in range(players):  # the carried-over decisions are the first of their seats
            rollout.ready[seat, n] = False
            if rollout.carried[seat, n]:
                total_reward = rollout.carried_reward[seat, n] + reward_sum[seat]
                value = rollout.value[seat, n, 0]
                rollout.returns[seat, n] = np.nan
                if outcome_known[seat]:
                    delta = total_reward + gamma * next_value[seat] - value
                    rollout.advantage[seat, n] = delta + gamma * gae_lambda * next_advantage[seat]
                    rollout.returns[seat, n, 0] = rollout.advantage[seat, n] + value
                    rollout.ready[seat, n] = True
                else:
                    rollout.pending[seat, n] = seat
                    pending_reward[seat] = total_reward
            rollout.carried_reward[seat, n] = pending_reward[seat]


# --- the loss ---


def logprobs(output: Output, batch: Minibatch) -> torch.Tensor:
    """Log-probabilities of all legal actions of a minibatch: shape (L,), float32."""
    num_actions = output.logits.shape[1]
    logits = output.logits.reshape(-1).index_select(0, batch.decision * num_actions + batch.legal)
    if batch.action_features.shape[1]:
        gates = output.gates.index_select(0, batch.decision)
        logits = logits + float(SCALE) * (batch.action_features.float() * gates).sum(1)
    # Relative to the chosen action, which has some probability: so no exponential is too large.
    chosen = logits.detach().index_select(0, batch.action)
    exp_sum = sums((logits - chosen.index_select(0, batch.decision)).exp(), batch)
    return logits - (chosen + exp_sum.log()).index_select(0, batch.decision)


def sums(values: torch.Tensor, batch: Minibatch) -> torch.Tensor:
    """Sums over the legal actions of each decision: shape (L,) -> (B,)."""
    return values.new_zeros(len(batch.observation)).index_add(0, batch.decision, values)


def loss(network: Network, batch: Minibatch, s: Settings) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """PPO's loss, which is the mean over a minibatch, and figures for the log, which are sums over its decisions."""
    with torch.autocast(batch.observation.device.type, torch.bfloat16, enabled=s.bfloat16):
        output = network(batch.observation)
    output = network.split(output.float())
    logprob = logprobs(output, batch)
    entropy = -sums(logprob.exp() * logprob, batch)
    log_ratio = logprob.index_select(0, batch.action) - batch.old_logprob
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - s.clip, 1 + s.clip)
    policy_gain = torch.minimum(ratio * batch.advantage, clipped * batch.advantage)
    value_error = torch.nan_to_num(output.values - batch.returns)
    value_loss = value_error.square() / batch.variance
    losses = -policy_gain - s.entropy * entropy + s.value_weight * value_loss.sum(1)
    figures = {
        "entropy": entropy, "approx_kl": ratio - 1 - log_ratio, "clip_fraction": (ratio != clipped).float(),
        "value_loss": value_loss[:, 0],
    }  # fmt: skip
    return losses.sum() / max(1, len(losses)), {name: figure.detach().sum() for name, figure in figures.items()}


# --- the trainer ---


class VariantGames(NamedTuple):
    """The games of one variant, and their columns in the rollout."""

    batch: Batch
    columns: slice


class Trainer(Training[Settings]):
    """The state of a training; `collect` and then `update` are one round.

    Args:
        settings: See `Settings`.
        ranks: The processes that share the training; `num_games` and `batch_size` are divided among them.
    """

    PROGRAM = "artus train"

    def __init__(self, settings: Settings, ranks: Ranks = ALONE) -> None:
        super().__init__(settings, ranks)
        keep_freed_memory()
        s = settings
        self.num_games = s.num_games // ranks.size
        self.threads = s.threads or available_cores()
        torch.set_num_threads(self.threads)
        self.device = ranks.device(s.device)
        torch.manual_seed(int(seed_stream(s.seed, 1, _WEIGHTS)[0] >> np.uint64(1)))
        shape, scale = s.shape(), s.definition.observation_scale(s.definition.standard)
        self.network = Network(shape, scale, s.definition.action_feature_gates).to(self.device)
        if start := self.initial_weights():  # None with `resume`: then `load_tensors` overwrites the weights
            self.network.load_state_dict(start.weights)
        ranks.share_weights(self.network)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=s.learning_rate, eps=1e-5, fused=True)
        self.begin_games()
        variants = [(games.batch.num_players, games.columns) for games in self.variants]
        self.opponents = Opponents(s, self.network, variants, s.opponent_seats, s.bfloat16)
        num_players = np.concatenate([np.full(len(games.batch), games.batch.num_players) for games in self.variants])
        self.rollout = Rollout.of(num_players, s.num_steps, shape, s.definition.mask_words)

    def begin_games(self, updates: int = 0) -> None:
        """Deal all games, the same number of each variant, with other seeds for each rank and number of updates."""
        s, count = self.settings, len(self.settings.variants)
        first = updates * s.num_games + self.ranks.rank * self.num_games
        bounds = [self.num_games * i // count for i in range(count + 1)]
        self.variants = [
            VariantGames(
                Batch(high - low, rules=rules, num_players=num_players, seed=int(seed), reward=s.reward,
                      threads=s.threads or None, game=s.game),
                slice(low, high),
            )
            for (rules, num_players), low, high, seed in zip(
                s.variants, bounds, bounds[1:], seed_stream(s.seed, count, _DEALS, first * count), strict=False
            )
        ]  # fmt: skip
        self.minibatch_generator = torch.Generator()
        self.minibatch_generator.manual_seed(int(seed_stream(s.seed, 1, _MINIBATCHES, first)[0] >> np.uint64(1)))
        self.draw_keys = seed_stream(s.seed, self.num_games, _DRAWS, first)
        self.opponent_keys = seed_stream(s.seed, self.num_games, _OPPONENTS, first)

    def play_and_learn(self) -> dict[str, float]:
        """Play and learn in one round. Returns figures for the log."""
        self.collect()
        return self.update()

    def collect(self) -> None:
        """Play `num_steps` decisions in every game, and estimate their advantages.

        Raises:
            UsageError: If an opponent gives up all its games.
        """
        s = self.settings
        self.ranks.copy_first(self.network)
        torch.set_num_threads(self.threads)  # an opponent may have changed the number
        if s.final_reward and self.progress >= s.final_part:
            for games in self.variants:
                games.batch.reward_mode = s.final_reward
        earlier_self = self.opponents.earlier_self(self.updates)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=s.bfloat16):  # converts the weights only once
            for t in range(s.num_steps):
                self._play(t, earlier_self)
        estimate_advantages(self.rollout, s.gamma, s.gae_lambda)
        self._normalise()
        self.given_up = end_round(self.opponents.agents)
        self.steps += s.num_steps * s.num_games

    def _normalise(self) -> None:
        """Normalise the advantages over the decisions of all ranks; they also fix the number of minibatches."""
        s, rollout = self.settings, self.rollout
        advantage = rollout.advantage[rollout.ready]
        total, mean, variance = self.ranks.statistics(advantage)
        self.returns_variance = self.ranks.statistics(rollout.returns[rollout.ready, 0])[2] + 1e-8
        self.explained_variance = 1 - variance / self.returns_variance
        self.num_minibatches = max(1, round(total / s.batch_size)) if total else 0
        rollout.advantage[rollout.ready] = (advantage - mean) / (variance**0.5 + 1e-8)

    def _play(self, t: int, earlier_self: Network | None) -> None:
        """Play step t of a rollout."""
        rollout, row, opponents = self.rollout, self.rollout.reward.shape[2] + t, self.opponents
        for batch, columns in self.variants:
            rollout.observation[row, columns] = batch.observation
            rollout.legal[row, columns] = batch.legal_bits
            rollout.player[t, columns] = batch.player
            if self.network.shape.num_action_features:
                features = rollout.action_features[row, columns]
                write_action_features(batch.tables, batch.states, batch.legal_bits, features, batch.threads)
        movers = np.take_along_axis(opponents.seats, rollout.player[t, :, None].astype(np.int64), axis=1)[:, 0]
        rollout.learns[t] = movers == LEARNER
        random_bits = key_bits(self.draw_keys)
        self.draw_keys = following_keys(self.draw_keys)
        self._choose(self.network, row, rollout.learns[t], random_bits)
        if earlier_self is not None:
            self._choose(earlier_self, row, movers == opponents.past, random_bits)
        if not self.settings.forced:
            rollout.learns[t] &= np.bitwise_count(rollout.legal[row]).sum(axis=1) > 1
        for index, (batch, columns) in enumerate(self.variants):
            agent_games = np.flatnonzero((movers[columns] != LEARNER) & (movers[columns] != opponents.past))
            if len(agent_games):
                seats, keys = opponents.seats[columns], self.opponent_keys[columns]
                rollout.action[row, columns][agent_games] = choose_actions(
                    batch, opponents.agents, seats, keys, agent_games
                )
            reward, done = batch.step(rollout.action[row, columns])
            if self.settings.together:
                reward = share_rewards(reward, opponents.seats[columns, : batch.num_players] == LEARNER)
            rollout.reward[t, columns, : batch.num_players] = reward
            rollout.done[t, columns] = done
            opponents.take_seats(index, np.flatnonzero(done))

    def _choose(self, network: Network, row: int, to_move: np.ndarray, bits: np.ndarray) -> None:
        """Draw a network's actions where it is `to_move`, shape (N,), bool, and write them into a row of the rollout.
        `bits` are 64 random ones for each game."""
        rollout = self.rollout
        games = slice(None) if to_move.all() else np.flatnonzero(to_move)  # a slice copies nothing
        if (observation := rollout.observation[row, games]).size:
            output = infer(network, observation, self.settings.bfloat16)
            rollout.value[row, games] = output.values.numpy()
            rollout.action[row, games], rollout.logprob[row, games] = draw_actions(
                output, rollout.legal[row, games], rollout.action_features[row, games], bits[games], True, self.threads
            )

    def update(self) -> dict[str, float]:
        """Learn from all decisions of the rollout that are ready. Returns figures for the log."""
        s, rollout = self.settings, self.rollout
        decisions = Decisions(rollout, self.returns_variance, self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate
        ready = np.flatnonzero(rollout.ready)
        figures: dict[str, Any] = {}
        for _ in range(s.epochs if self.num_minibatches else 0):  # 0: all decisions are carried over
            for rows in self._minibatches(shuffled(ready, self.minibatch_generator)):
                minibatch = decisions.minibatch(rows.sort().values)  # sorted: faster to read
                mean_loss, batch_figures = loss(self.network, minibatch, s)
                self.optimizer.zero_grad()
                mean_loss.backward()
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), s.max_grad_norm)
                self.optimizer.step()
                figures = {name: figures.get(name, 0.0) + figure for name, figure in batch_figures.items()}
        rollout.carry_over()
        self.updates += 1
        self.opponents.remember(self.network, self.updates)
        if not self.num_minibatches:
            return {"given_up": self.given_up}
        figures = {name: float(figure) / max(1, s.epochs * len(ready)) for name, figure in figures.items()}
        figures |= {"learning_rate": self.learning_rate, "explained_variance": self.explained_variance}
        return figures | {"given_up": self.given_up}

    def _minibatches(self, rows: torch.Tensor) -> list[torch.Tensor]:
        """Split rows into as many minibatches as the other ranks have; the last one has all remaining rows."""
        size = self.settings.batch_size // self.ranks.size
        return list(torch.tensor_split(rows, [size * i for i in range(1, self.num_minibatches)]))

    # --- for the life cycle of a training (see `runs.Training`) ---

    def trained(self) -> Network:
        """The network itself, so that training changes it."""
        return self.network

    def tensors(self) -> Tensors:
        """All that a resumed training needs, see `state.tensors_of`."""
        return tensors_of(self)

    def load_tensors(self, saved: Progress, tensors: Tensors, changed: dict[str, list[Any]]) -> None:
        """See `state.load_tensors` and `state.load_games`. With another number of ranks all games are dealt again."""
        load_tensors(self, tensors, saved.pool)
        if "ranks" in changed:
            self.begin_games(saved.updates)
        else:
            load_games(self, tensors)
        if "opponents" in changed:
            self.opponents.take_all_seats()

    @property
    def earlier_selves(self) -> int:
        """Number of earlier selves in the pool."""
        return len(self.opponents.pool)

    @classmethod
    def warm_up(cls, settings: Settings, ranks: Ranks = ALONE) -> None:
        """Play and learn for a moment, so that loops are compiled and threads are started before time is measured."""
        cls(replace(settings, num_steps=8), ranks).play_and_learn()


def keep_freed_memory() -> None:
    """Make the C library keep memory freed by tensors, up to 1 GB. Only glibc is known to need that.

    Otherwise it returns about 30 MB to the system in each gradient step and requests them again page by page. That
    takes 25 % of the time of an update in bfloat16, and less than 10 % in float32.
    """
    with suppress(TypeError, AttributeError):  # other systems, other C libraries
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(-3, 2**25)  # M_MMAP_THRESHOLD of mallopt(3)
        mallopt(-1, 2**30)  # M_TRIM_THRESHOLD
