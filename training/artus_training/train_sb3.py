"""Train an agent with MaskablePPO of sb3-contrib, by self-play and against simple opponents.

    artus train --rules advanced --num-players 4
    artus train --rules advanced --num-players 4 --resume

Ctrl-C saves and stops; `--resume` goes on from there. `tensorboard --logdir runs` shows the curves.
"""

from __future__ import annotations

import dataclasses
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import tyro
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from artus_agents.neural import ABOUT, variant
from artus_env import Batch
from artus_env.artus.observation import observation_scale
from artus_training.cli import UsageError
from artus_training.evaluate import Evaluation, evaluate, line_up
from artus_training.policy import (
    CheckpointError,
    MaskedPolicy,
    ScaledMlp,
    load_checkpoint,
    read_checkpoint,
    save_model,
    snapshot,
)
from artus_training.vec_env import SELF, SelfPlayVecEnv

GOALS = {"random": 0.99, "greedy": 0.60}
"""What part of its games an agent for two players should win after training with the settings below."""


@dataclass
class Settings:
    """What to train, and how."""

    rules: Literal["beginner", "advanced"] = "beginner"
    """Rule set."""
    num_players: int = 2
    """Players at the table, 2..4."""
    steps: int = 2_500_000
    """Decisions of the learner in all."""
    resume: bool = False
    """Go on from the checkpoint in the run's folder, with its settings unless others are given."""
    runs: Path = Path("runs")
    """Where runs are kept; this one in a folder named after its variant. What an earlier run left there is replaced."""
    seed: int = 0
    """Of weights, deals, opponents and exploration."""

    reward: Literal["win", "margin", "prestige"] = "prestige"
    """What the learner is paid for. `prestige` tells good from bad moves at once and learns faster than `win`."""
    opponents: tuple[str, ...] = ("random=0.05", "greedy=0.5", "self=0.45")
    """Agents and their share of the games; `self` is the pool of earlier versions."""
    pool_size: int = 4
    """Earlier versions kept as opponents."""
    snapshot_every: int = 20
    """Updates from one new version in the pool to the next."""

    num_envs: int = 512
    """Games at a time."""
    num_steps: int = 16
    """Decisions in each game between two updates."""
    batch_size: int = 512
    """Decisions in one gradient step."""
    epochs: int = 2
    """How often an update goes over its decisions."""
    learning_rate: float = 1e-3
    """At the start; it falls linearly to nothing."""
    gamma: float = 1.0
    """Discount of rewards to come. A point counts alike whenever it is made."""
    gae_lambda: float = 0.9
    """Weight of far against near advantages: 1 is unbiased, less is less noisy."""
    entropy: float = 0.005
    """Bonus for staying undecided."""
    hidden: tuple[int, ...] = (256, 256)
    """Width of the hidden layers, which policy and value share."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    clip: float = 0.2
    """How far an update may change the probability of a decision."""
    max_grad_norm: float = 0.5
    """Longest gradient."""

    threads: int = 1
    """Torch threads. Two pay a little where nobody else wants the cores; where somebody does, they wait for each other and
    training takes up to eight times as long."""
    checkpoint_minutes: float = 1.0
    """Time between checkpoints."""
    games: int = 1000
    """Games against each of random and greedy at the end; 0: none."""

    @property
    def folder(self) -> Path:
        return self.runs / f"{self.rules}-{self.num_players}"

    @property
    def agent(self) -> Path:
        """The trained agent."""
        return self.folder / "agent.zip"

    @property
    def checkpoint(self) -> Path:
        """Where `resume` goes on."""
        return self.folder / "checkpoint.zip"

    def check(self) -> None:
        """Raise a ValueError naming the first setting that can't be."""
        Batch.definition.check_variant(self.rules, self.num_players)
        for name in ("steps", "pool_size", "snapshot_every", "num_envs", "num_steps", "batch_size", "epochs", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("seed", "games", "learning_rate", "checkpoint_minutes"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden needs the widths of one or more layers, got {self.hidden}")
        for opponent in self.shares():
            if opponent != SELF:
                line_up([opponent, opponent], self.rules, self.num_players)

    def shares(self) -> dict[str, float]:
        """`opponents` as a table.

        Raises:
            ValueError: If one isn't NAME=SHARE.
        """
        try:
            return {name: float(share) for name, _, share in (text.rpartition("=") for text in self.opponents)}
        except ValueError:
            raise ValueError(f"opponents are NAME=SHARE, got {' '.join(self.opponents)}") from None

    @property
    def variant(self) -> dict[str, Any]:
        """The games that an agent is made for."""
        return variant(self.rules, self.num_players, Batch.definition.standard)

    def about(self, timesteps: int) -> dict[str, Any]:
        """What is saved with an agent."""
        return self.variant | {"timesteps": timesteps, "settings": dataclasses.asdict(self) | {"runs": str(self.runs)}}


def train(settings: Settings) -> bool:
    """Train an agent and save it.

    Returns:
        Whether the training came to its end; otherwise Ctrl-C stopped it, and `resume` goes on with it.

    Raises:
        ValueError: If a setting can't be.
        CheckpointError: If the checkpoint to resume is missing, damaged or doesn't fit.
    """
    torch.set_num_threads(settings.threads)
    env = SelfPlayVecEnv(
        settings.num_envs,
        rules=settings.rules,
        num_players=settings.num_players,
        reward=settings.reward,
        opponents=settings.shares(),
        pool_size=settings.pool_size,
        seed=settings.seed,
    )
    model = MaskablePPO(
        MaskedPolicy,
        env,
        learning_rate=LinearDecay(settings.learning_rate),
        n_steps=settings.num_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        ent_coef=settings.entropy,
        vf_coef=settings.value_weight,
        clip_range=settings.clip,
        max_grad_norm=settings.max_grad_norm,
        tensorboard_log=str(settings.folder / "tensorboard"),
        policy_kwargs={
            "net_arch": [],  # no layers of their own for policy and value, behind the shared ones
            "features_extractor_class": ScaledMlp,
            "features_extractor_kwargs": {"scale": observation_scale(), "sizes": settings.hidden},
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        seed=settings.seed,
        device="cpu",  # networks of this size gain nothing from a GPU: the time goes into many small steps
    )
    if settings.resume:
        snapshots = load_checkpoint(settings.checkpoint, model, settings.variant)
        env.seed(settings.seed + model.num_timesteps)  # other deals than those already played
    else:
        snapshots = [snapshot(model)]
    for agent in snapshots[-settings.pool_size :]:
        env.add_snapshot(agent)

    with interrupt_as_flag() as interrupted, progress_bar() as bar:
        model.learn(
            max(0, settings.steps - model.num_timesteps),
            callback=TrainingCallback(settings, env, bar, interrupted),
            reset_num_timesteps=not settings.resume,
            tb_log_name="run",
        )
    about = settings.about(model.num_timesteps)
    save_model(settings.checkpoint, model, about, env.snapshots())
    if interrupted.is_set():
        print(f"stopped after {model.num_timesteps:,} of {settings.steps:,} steps; --resume goes on from {settings.checkpoint}")
        return False
    save_model(settings.agent, model, about)
    print(f"{settings.agent}: trained for {model.num_timesteps:,} steps")
    return True


@dataclass(frozen=True)
class LinearDecay:
    """A learning rate that falls linearly from `start` to a fiftieth of it. A class, so that it can be pickled by name."""

    start: float

    def __call__(self, remaining: float) -> float:
        """`remaining` falls from 1 to 0."""
        return self.start * max(remaining, 0.02)


class TrainingCallback(BaseCallback):
    """All that happens beside learning: snapshots, checkpoints, figures for the bar and TensorBoard, and the end."""

    model: MaskablePPO

    def __init__(self, settings: Settings, env: SelfPlayVecEnv, bar: Progress, interrupted: threading.Event) -> None:
        super().__init__()
        self.settings = settings
        self.env = env
        self.bar = bar
        self.interrupted = interrupted
        self.updates = 0
        self.saved = time.monotonic()

    def _on_training_start(self) -> None:
        description = f"{self.settings.rules}, {self.settings.num_players} players"
        done = self.model.num_timesteps
        self.task = self.bar.add_task(description, total=self.settings.steps, completed=done, wins="")

    def _on_rollout_start(self) -> None:
        if time.monotonic() - self.saved > 60 * self.settings.checkpoint_minutes:
            about = self.settings.about(self.model.num_timesteps)
            save_model(self.settings.checkpoint, self.model, about, self.env.snapshots())
            self.saved = time.monotonic()

    def _on_step(self) -> bool:
        self.bar.update(self.task, completed=self.model.num_timesteps)
        return not self.interrupted.is_set()

    def _on_rollout_end(self) -> None:
        self.updates += 1
        if self.updates % self.settings.snapshot_every == 0:
            self.env.add_snapshot(snapshot(self.model))
        wins = {kind: float(np.mean(results)) for kind, results in self.env.results.items() if results}
        for kind, rate in wins.items():
            self.logger.record(f"wins/{kind}", rate)
        self.bar.update(self.task, wins=", ".join(f"{kind} {rate:.0%}" for kind, rate in wins.items()))


def progress_bar() -> Progress:
    """A bar with the time left and how often the learner has beaten whom of late; nothing where nobody watches."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("left  {task.fields[wins]}", table_column=Column(no_wrap=True)),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def interrupt_as_flag() -> Iterator[threading.Event]:
    """While this lasts Ctrl-C sets the flag, so that nothing is left half done; a second one interrupts at once."""
    flag = threading.Event()

    def handle(*_: Any) -> None:
        flag.set()
        signal.signal(signal.SIGINT, previous)

    if threading.current_thread() is not threading.main_thread():
        yield flag  # signals are the main thread's
        return
    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, previous)


def show_strength(settings: Settings) -> list[Evaluation]:
    """Play the trained agent against random and greedy, and print the results."""
    agent = str(settings.agent)
    results = [
        evaluate([agent, opponent], rules=settings.rules, num_players=settings.num_players, games=settings.games)
        for opponent in GOALS
    ]
    for result in results:
        print(result)
    return results


def parse(arguments: list[str]) -> Settings:
    """Settings from the command line; with `--resume` those that aren't given come from the checkpoint."""
    settings = tyro.cli(Settings, args=arguments, prog="artus train", description=__doc__)
    if settings.resume:
        about = read_checkpoint(settings.checkpoint, settings.variant)[ABOUT]
        try:
            saved = about["settings"]
            for name in ("opponents", "hidden"):
                saved[name] = tuple(saved[name])
            default = Settings(**saved | {"resume": True, "runs": settings.runs})
        except (KeyError, TypeError) as error:
            raise CheckpointError(f"{settings.checkpoint} is no checkpoint of this training: {error!r}") from error
        settings = tyro.cli(Settings, args=arguments, prog="artus train", default=default)
    return settings


def main(arguments: list[str]) -> int:
    """The command `artus train`."""
    try:
        settings = parse(arguments)
        settings.check()
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    try:
        finished = train(settings)
    except CheckpointError as error:
        raise UsageError(str(error)) from error
    if not finished:
        return 130
    if settings.games:
        show_strength(settings)
    return 0


def main_all(arguments: list[str]) -> int:
    """Train beginner and advanced agents for two players, one after the other, and show how strong they are.

    Takes five to ten minutes. Exit code 1 if an agent has missed its goal.
    """
    tyro.cli(lambda: None, args=arguments, prog="artus train-all", description=main_all.__doc__)
    results: list[Evaluation] = []
    for rules in ("beginner", "advanced"):
        settings = Settings(rules=rules)
        if not train(settings):
            return 130
        results += show_strength(settings)
    table = Table("agent", "against", "wins", "95 %", "margin", "goal", title=f"{settings.games} games each", box=box.SIMPLE)
    missed = 0
    for result in results:
        low, high = result.interval
        goal = GOALS[result.agents[1]]
        missed += result.win_rate < goal
        table.add_row(
            *result.agents, f"{result.win_rate:.1%}", f"{100 * low:.1f}..{100 * high:.1f}", f"{result.margin:+.1f}",
            f"{goal:.0%} {'missed' if result.win_rate < goal else 'ok'}",
        )  # fmt: skip
    Console().print(table)
    return 1 if missed else 0
