"""Self-play PPO: all seats of all games learn at once, as fast as the network can be trained.

    artus train --rules advanced --num-players 4
    artus train --rules advanced --num-players 4 --resume

Reads from top to bottom: settings, how good each decision was, the gradient of the loss, the trainer, the command.
Ctrl-C saves and stops; `--resume` goes on as if nothing had been. Without it a new run begins, and an earlier one of
the same name is moved aside, to a name with a number. `tensorboard --logdir runs` shows the curves.
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
import threading
import time
import tomllib
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numba
import numpy as np
import torch
import tyro
from msgspec import Meta
from rich import box
from rich.console import Console
from rich.table import Table as TextTable
from torch.utils.tensorboard import SummaryWriter

from artus_agents.network import Network, Shape, fast_bfloat16
from artus_agents.neural import NeuralAgent, draw_actions, infer, write_outlook
from artus_agents.outlook import OUTLOOKS, SCALE, legal_logits, softmax
from artus_agents.saved import Count, Point, read_card, save_agent
from artus_env import DEFAULT_GAME, NUM_ACTIONS, OBSERVATION_SIZE, Batch
from artus_env.engine.agents import Agent, choose_actions
from artus_env.engine.games import find_game
from artus_env.engine.jit import borrow, jit, jit_parallel
from artus_env.engine.reading import shown
from artus_env.engine.rewards import mode_index
from artus_env.engine.rng import following_keys, key_bits, seed_stream
from artus_env.engine.workers import available_cores, run_shares, scratch, shares
from artus_env.games.artus.actions import MASK_WORDS
from artus_env.games.artus.components import MAX_PLAYERS
from artus_env.games.artus.observation import observation_scale, turns_after
from artus_training.arena.evaluate import MOST_GAMES, Evaluation, evaluate, line_up
from artus_training.learn.cards import card, command, point
from artus_training.learn.checkpoints import (
    CheckpointError,
    Tensors,
    as_tensor,
    checked_games,
    load_optimizer,
    named,
    optimizer_tensors,
    read_checkpoint,
    restore,
    save_checkpoint,
    take,
)
from artus_training.learn.opponents import Opponent, end_round
from artus_training.learn.runs import alone_in_run, begin_run, keep_agent, saved_steps, stopped_in_one_line
from artus_training.learn.settings import (
    MOST_THREADS,
    UNTOLD,
    PpoSettings,
    check_memory,
    check_resumed,
    settings_from_dict,
    settings_to_dict,
    without_programs,
)
from artus_training.progress import interrupt_as_flag, progress_bar
from artus_training.usage import UsageError

PROGRAM = "artus train"
PAST = "past"
"""The opponent that stands for the pool of earlier selves."""
LEARNER = -1
BYTES_A_DECISION = OBSERVATION_SIZE + NUM_ACTIONS * OUTLOOKS + 8 * MASK_WORDS + 80
"""In the buffers of a rollout."""
FIXED = ("rules", "num_players", "also", "seed", "hidden", "outlook", "num_games")
"""Settings that a resumed run can't change: network and games were made with them."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_WEIGHTS, _DEALS, _DRAWS, _OPPONENTS, _MINIBATCHES = range(40, 45)  # purposes of the seed streams


# --- settings
# ------------------------------------------------------------------------------------------------------------


@dataclass
class Settings(PpoSettings):
    """What to train, and how. Each variant has a preset; what is given on the command line wins over it."""

    also: tuple[str, ...] = ()
    """More variants for the same network, e.g. `advanced-2 advanced-4`; the games are shared among all of them."""
    steps: int = 16_000_000
    """Decisions in all."""
    minutes: float = 0.0
    """Stop after so many minutes of training, evaluations not counted; 0: only `steps` count. How far the learning rate
    has fallen then depends on the machine; for results that can be repeated give `steps` alone."""
    preset: Path | None = None
    """A TOML file with settings, instead of the variant's own preset."""
    seed: int = 0
    """Of weights, deals, draws and minibatches. With one thread the same seed gives the same agent."""

    final_reward: Literal["win", "margin", "prestige"] | None = None
    """What it is paid for from `final_part` of the training on; None: the same."""
    final_part: float = 0.5
    """When `final_reward` begins: 0..1."""
    opponents: tuple[str, ...] = ("past=0.1",)
    """Agents and their share of the games, in which they hold one or more seats; `past` is the pool of earlier selves.
    All other seats learn."""

    outlook: bool = True
    """Tell the policy what each legal action leads to."""

    num_games: int = 2048
    """Games at a time."""
    num_steps: int = 32
    """Decisions in each game between two updates."""
    batch_size: int = 4096
    """Decisions in one gradient step."""
    value_weight: float = 0.5
    """Weight of the value loss, measured in variances of the returns."""

    device: str = "cpu"
    """Where the network computes: `cpu` or `cuda`."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """What the network computes in; auto: bfloat16 where the processor has instructions for it."""
    threads: int = 0
    """Torch threads; 0: one a core."""

    evaluate_every: int = 40
    """Updates from one evaluation to the next; 0: none."""
    judges: tuple[str, ...] = ("greedy", "lookahead")
    """Whom to play in evaluations."""
    games: int = 400
    """Games against each judge during training."""
    final_judges: tuple[str, ...] = ("random", "greedy", "lookahead")
    """Whom to play at the end."""
    final_games: int = 1000
    """Games against each of them; 0: none."""

    @property
    def variants(self) -> list[tuple[str, int]]:
        """All variants that the network is for.

        Raises:
            ValueError: If one of `also` isn't RULES-PLAYERS.
        """
        more = []
        for text in self.also:
            rules, _, players = text.rpartition("-")
            if not players.isdigit():
                raise ValueError(f"also takes RULES-PLAYERS such as advanced-3, got {shown(text)}")
            more.append((rules, int(players)))
        return [(self.rules, self.num_players), *more]

    @property
    def folder(self) -> Path:
        """Of this run: `runs/ppo-` and all its variants."""
        return self.runs / "ppo-{}".format("+".join(f"{rules}-{players}" for rules, players in self.variants))

    @property
    def agent(self) -> Path:
        """The trained agent; its card lies beside it."""
        return self.folder / "agent.safetensors"

    @property
    def checkpoint(self) -> Path:
        """Where `resume` goes on."""
        return self.folder / "checkpoint.pt"

    @property
    def bfloat16(self) -> bool:
        """Whether the network computes in bfloat16."""
        if self.precision == "auto":
            return torch.cuda.is_bf16_supported() if self.device == "cuda" else fast_bfloat16()
        return self.precision == "bfloat16"

    def shares(self) -> dict[str, float]:
        """`opponents` as a table.

        Raises:
            ValueError: If one isn't NAME=SHARE, or the shares are more than all games.
        """
        shares = super().shares()
        if any(not 0 <= share <= 1 for share in shares.values()) or sum(shares.values()) > 1:
            raise ValueError(
                f"the shares of opponents must be 0..1, in all at most 1, got {shown(' '.join(self.opponents))}"
            )
        return shares

    def check(self) -> None:
        """Raise a ValueError naming the first setting that can't be."""
        for rules, num_players in self.variants:
            find_game(DEFAULT_GAME).check_variant(rules, num_players)
        if len(set(self.variants)) < len(self.variants):
            raise ValueError(f"a variant is named twice: {self.variants}")
        if self.num_games < len(self.variants):
            raise ValueError(f"num_games must be at least one for each variant, got {shown(self.num_games)}")
        self.check_at_least(1, "steps", "pool_size", "snapshot_every", "num_games", "batch_size", "epochs")
        self.check_at_least(8, "num_steps")  # fewer might bring no decision whose seat moves again
        self.check_at_least(1, "games", most=MOST_GAMES)
        self.check_at_least(0, "final_games", most=MOST_GAMES)
        self.check_at_least(0, "threads", most=MOST_THREADS)
        check_memory("num_games", self.num_games, self.num_steps, BYTES_A_DECISION)
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must be in 0..{2**63 - 1}, got {shown(self.seed)}")
        self.check_at_least(0, "minutes", "learning_rate", "entropy", "evaluate_every", "value_weight")
        for name in ("gamma", "gae_lambda", "final_part"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in 0..1, got {shown(getattr(self, name))}")
        for name in ("clip", "max_grad_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be more than 0, got {shown(getattr(self, name))}")
        self.check_hidden()
        for mode in (self.reward, self.final_reward or self.reward):
            mode_index(mode, "prestige")
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise ValueError(f"precision must be auto, float32 or bfloat16, got {shown(self.precision)}")
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device must be cpu or cuda, got {shown(self.device)}")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device cuda: torch finds no such device here")
        for rules, num_players in self.variants:
            for agent in (*(name for name in self.shares() if name != PAST), *self.judges, *self.final_judges):
                line_up([agent, agent], rules, num_players)


# --- how good each decision was
# ------------------------------------------------------------------------------------------


@jit
def estimate(
    num_players, mover, learns, reward, done, value, carried_reward, carried, gamma, gae_lambda,
    advantage, target, ready, pending,
):  # fmt: skip
    """Generalised advantage estimation, seat by seat: a seat's trajectory is the sequence of its own decisions.

    What a seat is paid between two of its decisions, whoever moves, belongs to the first of them; the bootstrap is what
    it thought at the second, or 0 when the game has ended. A decision whose seat has not moved again yet is not ready:
    it is carried over to the next rollout, so that each decision is used once and none is cut off.

    Rows 0..P-1 are decisions carried over, row p that of seat p; row P+t is step t. Shapes: T steps, N games, P =
    MAX_PLAYERS.

    Args:
        num_players: shape (N,), int64.
        mover: Whose decision it is, shape (T, N), int8.
        learns: Whether it is to be learnt from, shape (T, N), bool.
        reward: shape (T, N, P), float32.
        done: shape (T, N), bool.
        value: For the mover and those after them, shape (P + T, N, P), float32.
        carried_reward: What the carried decisions have been paid so far, shape (P, N), float64; overwritten by that of
            the decisions which are pending now.
        carried: Whether there is one, shape (P, N), bool.
        gamma, gae_lambda: As in the settings.
        advantage: Result, shape (P + T, N), float32.
        target: What each value should have been, shape (P + T, N, P), float32; NaN where that isn't known.
        ready: Result: whether a row can be learnt from, shape (P + T, N), bool.
        pending: Result: the row of each seat's decision to carry over, -1: none; shape (P, N), int64.
    """
    steps, games, seats = reward.shape
    ahead_value, ahead_return, ahead_advantage = np.zeros(seats), np.zeros(seats), np.zeros(seats)
    paid, known = np.zeros(seats), np.zeros(seats, np.bool_)
    for n in range(games):
        players = num_players[n]
        paid[:] = 0
        known[:] = False
        pending[:, n] = -1
        still_open = np.zeros(seats)
        for t in range(steps - 1, -1, -1):
            row = seats + t
            if done[t, n]:
                known[:] = True
                ahead_value[:], ahead_return[:], ahead_advantage[:], paid[:] = 0, 0, 0, 0
            for seat in range(players):
                paid[seat] += reward[t, n, seat]
            ready[row, n] = False
            if not learns[t, n]:
                continue
            me = int(mover[t, n])
            own = value[row, n, 0]
            target[row, n] = np.nan
            if known[me]:
                delta = paid[me] + gamma * ahead_value[me] - own
                ahead_advantage[me] = delta + gamma * gae_lambda * ahead_advantage[me]
                ahead_return[me] = ahead_advantage[me] + own
                advantage[row, n] = ahead_advantage[me]
                target[row, n, 0] = ahead_return[me]
                ready[row, n] = True
                for seat in range(players):
                    if seat != me and known[seat]:
                        target[row, n, turns_after(me, seat, players)] = paid[seat] + gamma * ahead_return[seat]
            else:
                pending[me, n] = row
                still_open[me] = paid[me]
                ahead_advantage[me] = 0
                ahead_return[me] = own
            ahead_value[me] = own
            paid[me] = 0
            known[me] = True
        for seat in range(players):
            ready[seat, n] = False
            if carried[seat, n]:
                total = carried_reward[seat, n] + paid[seat]
                own = value[seat, n, 0]
                target[seat, n] = np.nan
                if known[seat]:
                    delta = total + gamma * ahead_value[seat] - own
                    advantage[seat, n] = delta + gamma * gae_lambda * ahead_advantage[seat]
                    target[seat, n, 0] = advantage[seat, n] + own
                    ready[seat, n] = True
                else:
                    pending[seat, n] = seat
                    still_open[seat] = total
            carried_reward[seat, n] = still_open[seat]


# --- the gradient of the policy's loss
# -----------------------------------------------------------------------------------
#
# loss = mean(-min(ratio * advantage, clipped ratio * advantage) - entropy weight * entropy). Its gradient by the logits
# is known in closed form, so that autograd has to go through the network only. Of 339 actions some 20 are legal: on the
# CPU a compiled loop that touches only those is ten times as fast as whole rows in torch.


@jit
def policy_gradient(
    logits, gates, rows, legal, out, actions, old_log_probs, advantages, clip, entropy_weight, by_logits,
    by_gates, sums,
    low, high, share=0,
):  # fmt: skip
    """Write the gradient of the loss by logits (B, A) and gates (B, K), and add to `sums`: entropy, KL, clipped
    decisions.

    Decision i of the minibatch is decision `rows[i]` of those collected: copying them out first would take as long as
    this.

    Args:
        logits, gates: As in `artus_agents.outlook.choose`, of B decisions.
        rows: shape (B,), int64.
        legal, out, actions, old_log_probs, advantages: Of all decisions collected.
        by_logits, by_gates: Results for decisions low..high-1.
        sums: shape (shares, 3 or more), float64; row `share` is added to.
    """
    logits, gates, legal, out = borrow(logits), borrow(gates), borrow(legal), borrow(out)
    by_logits, by_gates = borrow(by_logits), borrow(by_gates)
    ids = np.empty(logits.shape[1], np.int64)
    values = np.empty(logits.shape[1], np.float32)
    probs = np.empty(logits.shape[1], np.float32)
    part = np.float32(1 / len(logits))
    for i in range(low, high):
        row = rows[i]
        count = legal_logits(logits[i], gates[i], legal[row], out[row], ids, values)
        probs[:count] = values[:count]
        log_total = softmax(probs, count)
        entropy = np.float32(0)
        chosen = 0
        for j in range(count):
            values[j] -= log_total  # log-probability
            entropy -= probs[j] * values[j]
            if ids[j] == actions[row]:
                chosen = j
        log_ratio = values[chosen] - old_log_probs[row]
        ratio = np.float32(math.exp(log_ratio))
        advantage = advantages[row]
        moves = ratio < 1 + clip if advantage > 0 else ratio > 1 - clip
        weight = advantage * ratio * part if moves else np.float32(0)
        sums[share, 0] += entropy
        sums[share, 1] += ratio - 1 - log_ratio
        sums[share, 2] += not moves
        by_logits[i] = 0
        by_gates[i] = 0
        for j in range(count):
            gradient = probs[j] * (weight + entropy_weight * part * (values[j] + entropy))
            if j == chosen:
                gradient -= weight
            by_logits[i, ids[j]] = gradient
            for k in range(by_gates.shape[1]):
                by_gates[i, k] += SCALE * gradient * out[row, ids[j], k]


@jit_parallel
def policy_gradient_shares(
    logits, gates, rows, legal, out, actions, old_log_probs, advantages, clip, entropy_weight, by_logits,
    by_gates, sums,
    bounds,
):  # fmt: skip
    for share in numba.prange(len(bounds) - 1):
        policy_gradient(logits, gates, rows, legal, out, actions, old_log_probs, advantages, clip, entropy_weight,
                        by_logits, by_gates, sums, bounds[share], bounds[share + 1], share)  # fmt: skip


def policy_gradient_torch(
    logits: torch.Tensor, gates: torch.Tensor, decisions: Sequence[torch.Tensor], clip: float, entropy_weight: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """`policy_gradient` in torch, for other devices: gradients by logits (B, A) and gates (B, K), and the three sums.

    `decisions` are legal (int64 here, with the same bits), out, actions, old_log_probs and advantages.
    """
    legal, out, actions, old_log_probs, advantages = decisions
    size, num_actions = logits.shape
    index = torch.arange(num_actions, device=logits.device)
    mask = (legal[:, index // 64] >> (index % 64)) & 1 == 1
    if gates.shape[1]:
        outlooks = (
            float(SCALE) * torch.where(mask[:, :, None], out, 0).float()
        )  # at illegal actions stands what was left over
        logits = logits + (outlooks * gates[:, None, :]).sum(2)
    log_probs = torch.log_softmax(logits.masked_fill(~mask, -1e9), dim=1)
    probs = log_probs.exp()
    entropy = -(probs * log_probs).sum(1, keepdim=True)
    log_ratio = log_probs.gather(1, actions[:, None])[:, 0] - old_log_probs
    ratio = log_ratio.exp()
    moves = torch.where(advantages > 0, ratio < 1 + clip, ratio > 1 - clip)
    weight = torch.where(moves, advantages * ratio, 0)[:, None] / size
    by_logits = probs * (weight + entropy_weight / size * (log_probs + entropy))
    by_logits.scatter_add_(1, actions[:, None], -weight)
    by_gates = (by_logits[:, :, None] * outlooks).sum(1) if gates.shape[1] else torch.zeros_like(gates)
    sums = torch.stack([entropy.sum(), (ratio - 1 - log_ratio).sum(), (~moves).sum()])
    return by_logits, by_gates, sums


# --- the trainer
# ---------------------------------------------------------------------------------------------------------


GROUP = 16
"""So many neighbours in memory stay together when decisions are shuffled: they are read faster so, and are other
games."""


class Decisions(NamedTuple):
    """What was collected, a row for each of R decisions."""

    observation: torch.Tensor
    """shape (R, F), int8."""
    legal: torch.Tensor
    """Bits of the legal actions, shape (R, MASK_WORDS), int64."""
    outlook: torch.Tensor
    """shape (R, A, OUTLOOKS), int8; without outlook (R, 1, 0)."""
    action: torch.Tensor
    """shape (R,), int64."""
    log_prob: torch.Tensor
    """When it was drawn, shape (R,), float32."""
    advantage: torch.Tensor
    """shape (R,), float32."""
    target: torch.Tensor
    """Of the values, shape (R, MAX_PLAYERS), float32; NaN where it isn't known."""


@dataclass(frozen=True)
class Table:
    """The games of one variant: a part of the columns of all buffers."""

    batch: Batch
    games: slice


def keep_freed_memory() -> None:
    """Have the C library keep what tensors give back, up to a gigabyte. Only glibc is known to need that.

    It would return some 30 MB to the system in each gradient step and get them back page by page, which takes a quarter
    of the time of an update in bfloat16, and less than a tenth in float32.
    """
    with suppress(TypeError, AttributeError):  # other systems, other C libraries
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, 2**25)
        mallopt(M_TRIM_THRESHOLD, 2**30)


class Trainer:
    """Everything that a training is made of; `update` after `collect` is one round.

    Args:
        settings: See `Settings`. A checkpoint has to be loaded on purpose (`load`).
    """

    def __init__(self, settings: Settings) -> None:
        settings.check()
        keep_freed_memory()
        self.settings = s = settings
        self.threads = s.threads or available_cores()
        torch.set_num_threads(self.threads)
        self.device = torch.device(s.device)
        self.bfloat16 = s.bfloat16
        variants, games = s.variants, s.num_games
        bounds = [games * i // len(variants) for i in range(len(variants) + 1)]
        seeds = seed_stream(s.seed, len(variants), _DEALS)
        self.tables = [
            Table(
                Batch(
                    high - low,
                    rules=rules,
                    num_players=num_players,
                    seed=int(seed),
                    reward=s.reward,
                    threads=s.threads or None,
                ),
                slice(low, high),
            )
            for (rules, num_players), low, high, seed in zip(variants, bounds, bounds[1:], seeds, strict=False)
        ]
        first = self.tables[0].batch
        self.num_players = np.concatenate([np.full(len(t.batch), t.batch.num_players) for t in self.tables])

        torch.manual_seed(int(seed_stream(s.seed, 1, _WEIGHTS)[0] >> np.uint64(1)))
        shape = Shape(first.observation_size, first.num_actions, tuple(s.hidden), s.outlook)
        self.network = Network(shape, observation_scale()).to(self.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=s.learning_rate, eps=1e-5, fused=True)
        self.order = torch.Generator().manual_seed(int(seed_stream(s.seed, 1, _MINIBATCHES)[0] >> np.uint64(1)))
        self.draws = seed_stream(s.seed, games, _DRAWS)
        self.opponent_keys = seed_stream(s.seed, games, _OPPONENTS)

        # Who sits where: LEARNER, an index into `self.fixed_agents`, or one more than those: an earlier self. Games
        # against opponents come first at each table.
        self.fixed = [(name, share) for name, share in s.shares().items() if share and name != PAST]
        self.past_share = s.shares().get(PAST, 0.0)
        self.fixed_agents: list[Agent] = [
            Opponent(name, line_up([name, name], *variants[0])[0]) for name, _ in self.fixed
        ]
        self.pool: list[dict[str, torch.Tensor]] = []
        self.seats = np.full((games, MAX_PLAYERS), LEARNER)
        if self.past_share:
            self.past = Network(shape)
            if self.bfloat16:
                self.past.bfloat16()  # so that no call has to convert weights
            self._remember()
        for table in self.tables:
            self._seat_opponents(table, np.arange(len(table.batch)), first_time=True)

        rows = MAX_PLAYERS + s.num_steps
        outlooks = (first.num_actions, OUTLOOKS) if s.outlook else (1, 0)
        self.observation = np.zeros((rows, games, first.observation_size), np.int8)
        self.legal = np.zeros((rows, games, MASK_WORDS), np.uint64)
        self.outlook = np.zeros((rows, games, *outlooks), np.int8)
        self.action = np.zeros((rows, games), np.int64)
        self.log_prob = np.zeros((rows, games), np.float32)
        self.value = np.zeros((rows, games, MAX_PLAYERS), np.float32)
        self.mover = np.zeros((s.num_steps, games), np.int8)
        self.learns = np.zeros((s.num_steps, games), np.bool_)
        self.reward = np.zeros((s.num_steps, games, MAX_PLAYERS), np.float32)
        self.done = np.zeros((s.num_steps, games), np.bool_)
        self.advantage = np.zeros((rows, games), np.float32)
        self.target = np.zeros((rows, games, MAX_PLAYERS), np.float32)
        self.ready = np.zeros((rows, games), np.bool_)
        self.carried = np.zeros((MAX_PLAYERS, games), np.bool_)
        self.carried_reward = np.zeros((MAX_PLAYERS, games))

        self.steps = 0
        self.updates = 0
        self.seconds = 0.0
        """Of training, evaluations not counted."""
        self.curve: list[dict[str, Any]] = []
        """What evaluations came to: steps, seconds, wins by variant and judge."""
        self.changes: list[dict[str, Any]] = []
        """Settings that were changed on the way (see `cards.card`)."""

    @property
    def part(self) -> float:
        """How much of the training is done, 0..1."""
        s = self.settings
        return min(1.0, max(self.steps / s.steps, self.seconds / 60 / s.minutes if s.minutes else 0))

    def agent(self) -> NeuralAgent:
        """The policy as it plays: the likeliest action. It changes as the training goes on."""
        return NeuralAgent(self.network)

    def collect(self) -> None:
        """Play `num_steps` decisions in every game and estimate how good they were.

        Raises:
            OpponentError: If an opponent gives all its games up.
        """
        s = self.settings
        torch.set_num_threads(
            self.threads
        )  # Numba's threads share OpenMP's setting with torch, and change it when they start
        if s.final_reward and self.part >= s.final_part:
            for table in self.tables:
                table.batch.reward_mode = s.final_reward
        if self.past_share:  # one earlier self a round: one call of a network serves all its games
            self.past.load_state_dict(self.pool[self.updates % len(self.pool)])
        with torch.autocast(
            self.device.type, torch.bfloat16, enabled=self.bfloat16
        ):  # converts the weights once for all
            for t in range(s.num_steps):
                self._play(t)
        pending = np.empty((MAX_PLAYERS, s.num_games), np.int64)
        estimate(
            self.num_players, self.mover, self.learns, self.reward, self.done, self.value, self.carried_reward,
            self.carried,
            s.gamma, s.gae_lambda, self.advantage, self.target, self.ready, pending,
        )  # fmt: skip
        self.pending = pending
        self.given_up = end_round(self.fixed_agents)
        self.steps += s.num_steps * s.num_games

    def _play(self, t: int) -> None:
        """Step t of a rollout."""
        s = self.settings
        row = MAX_PLAYERS + t
        for table in self.tables:
            batch, games = table.batch, table.games
            self.observation[row, games] = batch.observation
            self.legal[row, games] = batch.legal_bits
            self.mover[t, games] = batch.player
            if s.outlook:
                write_outlook(batch.tables, batch.states, batch.legal_bits, self.outlook[row, games], batch.threads)
        output = infer(self.network, self.observation[row], self.bfloat16)
        self.value[row] = output.values.numpy()
        bits = key_bits(self.draws)
        self.draws = following_keys(self.draws)
        self.action[row], self.log_prob[row] = draw_actions(
            output, self.legal[row], self.outlook[row], bits, True, self.threads
        )
        sitting = np.take_along_axis(self.seats, self.mover[t, :, None].astype(np.int64), axis=1)[:, 0]
        self.learns[t] = sitting == LEARNER
        past = np.flatnonzero(sitting == len(self.fixed))
        if len(past):  # they see what has been written down for the learner
            output = infer(self.past, self.observation[row, past], self.bfloat16)
            self.action[row, past], _ = draw_actions(
                output, self.legal[row, past], self.outlook[row, past], bits[past], True
            )
        for table in self.tables:
            batch, games = table.batch, table.games
            others = np.flatnonzero((sitting[games] != LEARNER) & (sitting[games] < len(self.fixed)))
            if len(others):
                seats = self.seats[games]
                self.action[row, games][others] = choose_actions(
                    batch, self.fixed_agents, seats, self.opponent_keys[games], others
                )
            reward, done = batch.step(self.action[row, games])
            self.reward[t, games, : batch.num_players] = reward
            self.done[t, games] = done
            self._seat_opponents(table, np.flatnonzero(done))

    def decisions(self) -> Decisions:
        """What was collected, the advantages normalised over those that can be learnt from."""
        ready = self.advantage[self.ready]
        advantage = (self.advantage - ready.mean()) / (ready.std() + 1e-8)
        return Decisions(
            *(
                torch.from_numpy(part.reshape(self.ready.size, *part.shape[2:])).to(self.device)
                for part in (
                    self.observation, self.legal.view(np.int64), self.outlook, self.action, self.log_prob, advantage,
                    self.target,
                )
            )
        )  # fmt: skip

    def update(self) -> dict[str, float]:
        """Learn from what was collected. Returns figures for the log."""
        s = self.settings
        rows = np.flatnonzero(self.ready.reshape(-1))
        data = self.decisions()
        variance = float(self.target[..., 0][self.ready].var()) + 1e-8
        explained = 1 - float(self.advantage[self.ready].var()) / variance
        rate = s.learning_rate * max(1 - self.part, 0.02)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        sums, learnt, value_loss = np.zeros(3), 0, 0.0
        for _ in range(s.epochs):
            groups = torch.randperm(-(-len(rows) // GROUP), generator=self.order)
            order = (groups[:, None] * GROUP + torch.arange(GROUP)).reshape(-1)
            order = torch.from_numpy(rows)[order[order < len(rows)]]
            for chosen in order.split(s.batch_size):
                if len(chosen) < s.batch_size / 2 < len(rows) / 2:
                    continue  # the rest of an epoch, too few for a step of this size
                in_order = chosen.sort().values  # memory is read faster so
                part_sums, square_error = self.learn(data, in_order.to(self.device), variance)
                sums += part_sums
                learnt += len(chosen)
                value_loss += square_error
        self._carry_over()
        self.updates += 1
        if self.past_share and self.updates % s.snapshot_every == 0:
            self._remember()
        entropy, divergence, clipped = (sums / learnt).tolist()
        return {
            "entropy": entropy, "approx_kl": divergence, "clip_fraction": clipped, "learning_rate": rate,
            "explained_variance": explained, "value_loss": value_loss / learnt / variance, "given_up": self.given_up,
        }  # fmt: skip

    def learn(self, data: Decisions, rows: torch.Tensor, variance: float) -> tuple[np.ndarray, float]:
        """One gradient step.

        Args:
            data: All decisions collected, advantages normalised.
            rows: Which of them to learn from, shape (B,), int64.
            variance: Of the returns: the value loss is measured in it.

        Returns:
            Sums over the decisions: entropy, KL and clipped ones, shape (3,); and the squared error of the own values.
        """
        s = self.settings
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bfloat16):
            said = self.network(data.observation.index_select(0, rows))
        by = torch.empty(said.shape, device=self.device)
        output, gradient = self.network.split(said.detach().float()), self.network.split(by)
        by[:, sum(part.shape[1] for part in gradient) :] = 0  # outputs that are never used
        error = torch.nan_to_num(output.values - data.target.index_select(0, rows))
        gradient.values[:] = error * (2 * s.value_weight / (variance * len(error)))
        if self.device.type == "cpu":
            bounds = shares(len(rows), self.threads)
            sums = scratch(len(bounds) - 1, 3, np.float64)
            sums[:] = 0
            run_shares(
                policy_gradient, policy_gradient_shares,
                (
                    output.logits.numpy(), output.gates.numpy(), rows.numpy(), data.legal.numpy().view(np.uint64),
                    data.outlook.numpy(), data.action.numpy(), data.log_prob.numpy(), data.advantage.numpy(),
                    s.clip, s.entropy, gradient.logits.numpy(), gradient.gates.numpy(), sums,
                ),
                bounds,
            )  # fmt: skip
            sums = sums.sum(axis=0)[:3]
        else:
            chosen = [part.index_select(0, rows) for part in data[1:6]]
            gradient.logits[:], gradient.gates[:], parts = policy_gradient_torch(*output[:2], chosen, s.clip, s.entropy)
            sums = parts.cpu().double().numpy()
        self.optimizer.zero_grad()
        said.backward(by.to(said.dtype))
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), s.max_grad_norm)
        self.optimizer.step()
        return sums, float(error[:, 0].square().sum())

    def _carry_over(self) -> None:
        """Move the decisions whose outcome isn't known yet to the first rows."""
        seats, games = np.nonzero(self.pending >= 0)
        rows = self.pending[seats, games]
        for part in (self.observation, self.legal, self.outlook, self.action, self.log_prob, self.value):
            part[seats, games] = part[rows, games]
        self.carried = self.pending >= 0

    # --- opponents ---

    def _remember(self) -> None:
        """Put the network as it is into the pool, in the place of the oldest."""
        self.pool.append({name: value.detach().cpu().clone() for name, value in self.network.state_dict().items()})
        del self.pool[: -self.settings.pool_size]

    def _seat_opponents(self, table: Table, which: np.ndarray, first_time: bool = False) -> None:
        """Put opponents into games that have just been dealt: from one to all seats but one. Each time they move on by
        one."""
        batch, seats = table.batch, self.seats[table.games]
        players = batch.num_players
        low = 0.0
        for index, share in [*enumerate(share for _, share in self.fixed), (len(self.fixed), self.past_share)]:
            first, last = round(low * len(batch)), round((low + share) * len(batch))
            low += share
            for game in which[(which >= first) & (which < last)]:
                theirs = seats[game, :players] != LEARNER
                start = game if first_time else int(np.argmax(theirs & ~np.roll(theirs, 1))) + 1
                seats[game, :players] = LEARNER
                seats[game, (start + np.arange(1 + game // players % (players - 1))) % players] = index

    # --- evaluation ---

    def evaluate(self, judges: Sequence[str], games: int) -> list[Evaluation]:
        """Play the agent against each judge, in every variant."""
        return [
            evaluate(
                [self.agent(), judge], rules=rules, num_players=num_players, games=games, seed=self.settings.seed + 1
            )
            for rules, num_players in self.settings.variants
            for judge in judges
        ]

    # --- files ---

    def save(self) -> None:
        """Write the checkpoint: all that the next rounds depend on.

        Raises:
            FloatingPointError: If the network has diverged. The checkpoint before stands.
            OSError: If it can't be written. Likewise.
        """
        tensors = named("network", self.network.state_dict()) | named("optimizer", optimizer_tensors(self.optimizer))
        for index, weights in enumerate(self.pool):
            tensors |= named(f"pool.{index}", weights)
        buffers = {name: as_tensor(part) for name, part in self._buffers().items()}
        tensors |= named("buffers", buffers | {"order": self.order.get_state()})
        about = {
            "settings": settings_to_dict(self.settings), "steps": self.steps, "updates": self.updates,
            "seconds": self.seconds,
            "pool": len(self.pool), "curve": self.curve, "changes": self.changes,
        }  # fmt: skip
        save_checkpoint(self.settings.checkpoint, about, tensors)

    def load(self, about: Progress, tensors: Tensors) -> None:
        """Go on from a checkpoint (see `read_checkpoint`).

        Raises:
            CheckpointError: If it doesn't fit these settings; this trainer must not be used then.
        """
        s = self.settings
        try:
            before = settings_from_dict(about.settings, s.checkpoint, Settings())
            changed = check_resumed(before, s, s.checkpoint, *FIXED)
        except ValueError as error:
            raise CheckpointError(str(error)) from error
        try:
            self.network.load_state_dict(take(tensors, "network", self.network.state_dict()))
            load_optimizer(self.optimizer, tensors, "optimizer")
            like = {name: value.cpu() for name, value in self.network.state_dict().items()}
            self.pool = [take(tensors, f"pool.{index}", like) for index in range(about.pool)] or self.pool
            self.order.set_state(take(tensors, "buffers", {"order": self.order.get_state()})["order"])
            for name, part in self._buffers().items():
                restore(part, tensors, name)
            self._check_buffers()
            for table in self.tables:
                table.batch.states[:] = checked_games(table.batch, table.batch.states)
                table.batch.refresh()
                if before.opponents != s.opponents:
                    self.seats[table.games] = LEARNER
                    self._seat_opponents(table, np.arange(len(table.batch)), first_time=True)
        except (ValueError, RuntimeError, TypeError) as error:
            raise CheckpointError(f"{s.checkpoint} doesn't fit: {' '.join(str(error).split())}") from error
        self.steps, self.updates, self.seconds = about.steps, about.updates, about.seconds
        self.curve, self.changes = [dataclasses.asdict(point) for point in about.curve], about.changes
        if changed:
            self.changes.append({"steps": self.steps, "settings": changed})

    def _buffers(self) -> dict[str, np.ndarray]:
        """All arrays that live on from one round to the next, by name."""
        rows = ("observation", "legal", "outlook", "action", "log_prob", "value", "carried", "carried_reward")
        buffers = {name: getattr(self, name)[:MAX_PLAYERS] for name in rows}
        buffers |= {name: getattr(self, name) for name in ("draws", "opponent_keys", "seats")}
        for index, table in enumerate(self.tables):
            buffers |= {f"states.{index}": table.batch.states, f"seeds.{index}": table.batch.seeds}
        return buffers

    def _check_buffers(self) -> None:
        """Raise a ValueError if compiled loops can't take what a checkpoint has put into the buffers."""
        legal, action = self.legal[:MAX_PLAYERS], self.action[:MAX_PLAYERS]
        bits = np.unpackbits(legal.copy().view(np.uint8), axis=-1, bitorder="little")
        if bits[..., NUM_ACTIONS:].any() or ((action < 0) | (action >= NUM_ACTIONS)).any():
            raise ValueError("it has actions that there are not")
        if not np.take_along_axis(bits, action[..., None], axis=-1)[self.carried].all():
            raise ValueError("it has decisions for illegal actions")
        if ((self.seats < LEARNER) | (self.seats > len(self.fixed))).any():
            raise ValueError("it has opponents that there are not")

    def save_agent(self, strength: Sequence[Evaluation] = ()) -> None:
        """Write the agent with its card."""
        s = self.settings
        about = card(
            s.variants, settings=settings_to_dict(s),
            command=command(PROGRAM, s, preset(s.rules, s.num_players)),
            steps=self.steps, seconds=self.seconds, curve=self.curve, strength=strength, bfloat16=self.bfloat16,
            threads=self.threads, changes=self.changes,
        )  # fmt: skip
        keep_agent(s.agent, self.steps)
        save_agent(s.agent, self.network, about, torch.bfloat16 if self.bfloat16 else torch.float32)


@dataclass
class Progress:
    """How far a training has come, as its checkpoint says it."""

    settings: dict[str, Any]
    steps: Count
    updates: Count
    seconds: Annotated[float, Meta(ge=0)]
    pool: Count
    """Number of earlier selves."""
    curve: list[Point] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)


def preset(rules: str, num_players: int, path: Path | None = None, told: Settings | None = None) -> Settings:
    """The settings that a variant is trained with unless others are given, or those of a TOML file.

    Args:
        rules, num_players: The variant.
        path: The file.
        told: See `without_programs`.

    Raises:
        ValueError: If the file is missing or no such thing.
    """
    Batch.definition.check_variant(rules, num_players)
    source = Path(str(path or files("artus_training.learn.ppo") / "presets" / f"{rules}-{num_players}.toml"))
    try:
        given = tomllib.loads(source.read_text())
    except OSError as error:
        raise ValueError(f"preset {source}: {error.strerror}") from error
    except RecursionError:
        raise ValueError(f"preset {source}: brackets are nested too deep") from None
    except ValueError as error:  # no TOML, no text, or a number of too many digits
        raise ValueError(f"preset {source}: {error}") from error
    settings = settings_from_dict(given, source, Settings(rules=rules, num_players=num_players, preset=path))  # type: ignore[arg-type]
    return without_programs(settings, source, told)


# --- the command
# ---------------------------------------------------------------------------------------------------------


def warm_up(settings: Settings) -> None:
    """Play and learn for a moment, so that loops are compiled and threads started before the clock runs."""
    trainer = Trainer(dataclasses.replace(settings, num_steps=8))
    trainer.collect()
    trainer.update()


def train(settings: Settings) -> bool:
    """Train an agent and save it.

    Returns:
        Whether the training came to its end; otherwise Ctrl-C stopped it, and `resume` goes on with it.

    Raises:
        ValueError: If a setting can't be, or another process is training in the run's folder.
        CheckpointError: If the checkpoint to resume is missing, damaged or doesn't fit.
        OpponentError: If an opponent gives all its games up.
        FloatingPointError: If the network has diverged.
        OSError: If a file can't be written. Like after the two before, `resume` goes on from the last checkpoint.
    """
    settings.check()
    with alone_in_run(settings.folder):
        warm_up(settings)
        trainer = Trainer(settings)
        with interrupt_as_flag() as interrupted:
            if settings.resume:
                trainer.load(*read_checkpoint(settings.checkpoint, Progress))
            else:
                begin_run(settings.folder)
                trainer.save()  # from now on `resume` means this run
            if not learn_to_the_end(trainer, interrupted):
                return False
        if saved_steps(settings.agent) != trainer.steps:  # else it is there, with what was measured of it
            trainer.save_agent()
        minutes, rate = trainer.seconds / 60, trainer.steps / trainer.seconds
        print(f"{settings.agent}: {trainer.steps:,} steps in {minutes:.1f} min, {rate:,.0f} a second")
        if settings.final_games:
            strength = []
            for judge in settings.final_judges:
                for result in trainer.evaluate([judge], settings.final_games):
                    print(result)
                    strength.append(result)
            trainer.save_agent(strength)
    return True


def learn_to_the_end(trainer: Trainer, interrupted: threading.Event) -> bool:
    """Round after round, with checkpoints, evaluations and figures; whether it came to the end, or Ctrl-C stopped
    it."""
    settings = trainer.settings
    description = " + ".join(f"{rules} {players}" for rules, players in settings.variants)
    log = SummaryWriter(str(settings.folder / "tensorboard"), purge_step=trainer.steps if settings.resume else None)
    with closing(log), progress_bar() as bar:
        task = bar.add_task(description, total=1.0, wins="")
        saving = 0.0
        while trainer.part < 1 and not interrupted.is_set():
            start = time.monotonic()
            trainer.collect()
            rolled = time.monotonic()
            figures = trainer.update()
            end = time.monotonic()
            trainer.seconds += end - start + saving
            figures |= {"steps_per_second": settings.num_steps * settings.num_games / (end - start)}
            figures |= {"rollout_part": (rolled - start) / (end - start)}
            for name, value in figures.items():
                log.add_scalar(f"train/{name}", value, trainer.steps)
            due = settings.evaluate_every and trainer.updates % settings.evaluate_every == 0
            if due or trainer.part >= 1:
                results = trainer.evaluate(settings.judges, settings.games) if settings.evaluate_every else []
                trainer.curve.append(point(trainer.steps, trainer.seconds, results))
                for name, value in trainer.curve[-1]["wins"].items():
                    log.add_scalar(f"wins/{name}", value, trainer.steps)
                shown = [f"{e.agents[1]} {e.win_rate:.0%}" for e in results]
                bar.update(task, wins=", ".join(shown))
            start = time.monotonic()
            trainer.save()
            saving = time.monotonic() - start
            bar.update(task, completed=trainer.part)
    if trainer.part < 1:
        print(
            f"stopped after {trainer.steps:,} of {settings.steps:,} steps; --resume goes on from {settings.checkpoint}"
        )
    return trainer.part >= 1


def parse(arguments: list[str]) -> Settings:
    """Settings from the command line; those that aren't given come from the preset, with `--resume` from the
    checkpoint."""
    asked = [word for word in arguments if word not in ("-h", "--help")]  # help comes below, with the preset's defaults
    nobody = Settings(opponents=UNTOLD, judges=UNTOLD, final_judges=UNTOLD)
    told = tyro.cli(Settings, args=asked, prog=PROGRAM, default=nobody)
    default = preset(told.rules, told.num_players, told.preset, told)
    given = tyro.cli(Settings, args=asked, prog=PROGRAM, default=default)  # the preset may say which variant
    if given.resume:
        about, _ = read_checkpoint(given.checkpoint, Progress)
        default = without_programs(
            settings_from_dict(about.settings, given.checkpoint, Settings()), given.checkpoint, told
        )
        default = dataclasses.replace(default, resume=True, runs=given.runs)
        if default.folder != given.folder:
            raise CheckpointError(f"{given.checkpoint} belongs in {default.folder}")
    return tyro.cli(Settings, args=arguments, prog=PROGRAM, description=__doc__, default=default)


GOALS = {"random": 0.99, "greedy": 0.90, "lookahead": 0.60}
"""What part of its games an agent of `train_all` should win."""
SHORT = 4_000_000
"""Steps of each training of `train_all`."""


def train_all(settings: Sequence[Settings]) -> bool | None:
    """Train one agent after the other and print a table of how strong they are.

    Returns:
        Whether all have reached their goals; None if Ctrl-C stopped it.
    """
    table = TextTable("agent", "against", "wins", "95 %", "margin", "goal", title="trained agents", box=box.SIMPLE)
    good = True
    for each in settings:
        if not train(each):
            return None
        for result in read_card(each.agent)["strength"]:
            low, high = result["wins_95"]
            goal = GOALS[result["against"]]
            reached = result["wins"] >= goal
            good &= reached
            table.add_row(
                f"{each.rules}, {each.num_players} players", result["against"], f"{result['wins']:.1%}",
                f"{100 * low:.1f}..{100 * high:.1f}", f"{result['margin']:+.1f}",
                f"{goal:.0%} {'ok' if reached else 'missed'}",
            )  # fmt: skip
    Console().print(table)
    return good


def main_all(arguments: list[str]) -> int:
    """Train beginner and advanced agents for two players, one after the other, and show how strong they are.

    Takes about three minutes. Exit code 1 if an agent has missed its goal.
    """
    tyro.cli(lambda: None, args=arguments, prog="artus train-all", description=main_all.__doc__)
    with stopped_in_one_line():
        good = train_all([dataclasses.replace(preset(rules, 2), steps=SHORT) for rules in ("beginner", "advanced")])
    return 130 if good is None else int(not good)


def main(arguments: list[str]) -> int:
    """The command `artus train`."""
    try:
        settings = parse(arguments)
        settings.check()
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    with stopped_in_one_line():
        return 0 if train(settings) else 130
