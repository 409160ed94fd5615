"""Run a training with MaskablePPO from its start, or from its checkpoint, to its end."""

from __future__ import annotations

import dataclasses
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from artus_agents.network import Network
from artus_agents.neural import NeuralAgent
from artus_agents.saved import save_agent
from artus_training.arena.evaluate import Evaluation, evaluate
from artus_training.learn.cards import PACKAGES, card, command, point
from artus_training.learn.checkpoints import CheckpointError, read_archive
from artus_training.learn.figures import evaluation_due, figures_text, in_short, print_strength, wins_text
from artus_training.learn.opponents import OpponentError, end_round
from artus_training.learn.runs import alone_in_run, begin_run, keep_agent, saved_steps
from artus_training.learn.sb3.checkpoint import Progress, load_checkpoint, save_checkpoint
from artus_training.learn.sb3.policy import MaskedPolicy, ScaledMlp, begin_with, to_network
from artus_training.learn.sb3.settings import FIXED, Settings
from artus_training.learn.sb3.vec_env import SelfPlayVecEnv
from artus_training.learn.settings import check_resumed, settings_from_dict, settings_to_dict
from artus_training.learn.start import Start, find_start
from artus_training.progress import Show, TrainingBar, interrupt_as_flag, pieces, progress, unseen

PROGRAM = "artus train-sb3"


@dataclass
class Run:
    """A training and its progress."""

    settings: Settings
    model: MaskablePPO
    steps: int = 0
    """Decisions learnt from."""
    seconds: float = 0.0
    """Training time, evaluations not counted."""
    curve: list[dict[str, Any]] = field(default_factory=list)
    """Learning curve (see `cards.point`)."""
    changes: list[dict[str, Any]] = field(default_factory=list)
    """Settings that were changed in resumed runs (see `cards.card`)."""
    start: str = ""
    """Hash of the initial weights (see `start.Start`); empty: they were random."""

    @property
    def env(self) -> SelfPlayVecEnv:
        env = self.model.env
        assert isinstance(env, SelfPlayVecEnv)
        return env

    @property
    def part(self) -> float:
        """Share of the training that is done, 0..1."""
        return min(1.0, max(self.steps / self.settings.steps, self.part_of_minutes(self.seconds)))

    def part_of_minutes(self, seconds: float) -> float:
        """Used share of the time limit, 0..1; 0 without a limit."""
        minutes = self.settings.minutes
        return min(1.0, seconds / 60 / minutes) if minutes else 0.0

    def card(self, strength: list[Evaluation]) -> dict[str, Any]:
        """The agent's card."""
        s = self.settings
        return card(
            s.game, [(s.rules, s.num_players)], command=command(PROGRAM, s, Settings()), settings=settings_to_dict(s),
            steps=self.steps, seconds=self.seconds, threads=s.threads, curve=self.curve, strength=strength,
            changes=self.changes, start=self.start, packages=(*PACKAGES, "stable-baselines3", "sb3-contrib"),
        )  # fmt: skip

    def evaluate(self, games: int, show: Show = unseen) -> list[Evaluation]:
        """Play the agent against each opponent."""
        s = self.settings
        agent = NeuralAgent(self.network())
        return [
            evaluate(
                [agent, opponent],
                rules=s.rules,
                num_players=s.num_players,
                games=games,
                seed=s.seed + 1,
                game=s.game,
                progress=piece,
            )
            for opponent, piece in zip(s.evaluation_opponents, pieces(show, len(s.evaluation_opponents)), strict=True)
        ]

    def network(self) -> Network:
        """A copy of the current policy as a network of this project."""
        return to_network(self.model, self.settings.num_players, self.settings.definition.max_players)

    def snapshot(self) -> NeuralAgent:
        """A copy of the current policy as an agent that draws its actions."""
        return NeuralAgent(self.network(), sample=True)

    def save(self) -> None:
        """Write the checkpoint."""
        about = {
            "settings": settings_to_dict(self.settings), "steps": self.steps, "seconds": self.seconds,
            "curve": self.curve,
            "changes": self.changes, "start": self.start,
        }  # fmt: skip
        save_checkpoint(self.settings.checkpoint, self.model, about, self.env.snapshots())

    def load(self) -> None:
        """Continue from the checkpoint, with new deals.

        Raises:
            CheckpointError: If the checkpoint is missing, damaged or doesn't fit; nothing has changed then.
        """
        s = self.settings
        try:
            about, _ = read_archive(s.checkpoint, Progress)
            changed = check_resumed(
                settings_from_dict(about.settings, s.checkpoint, Settings()), s, s.checkpoint, *FIXED
            )
        except CheckpointError:
            raise
        except ValueError as error:
            raise CheckpointError(str(error)) from error
        about, snapshots = load_checkpoint(s.checkpoint, self.model, self.network())
        self.steps, self.seconds = about.steps, about.seconds
        self.curve, self.changes = [dataclasses.asdict(point) for point in about.curve], about.changes
        self.start = about.start
        if changed:
            self.changes.append({"steps": self.steps, "settings": changed})
        self.env.set_snapshots(snapshots)
        self.env.seed(s.seed + self.steps)

    def save_agent(self, strength: list[Evaluation]) -> None:
        """Write the agent with its card."""
        keep_agent(self.settings.agent, self.steps)
        save_agent(self.settings.agent, self.network(), self.card(strength))


def make_model(settings: Settings, start: Start | None = None) -> MaskablePPO:
    """Make an untrained model with its environment, whose pool holds one snapshot of the model.

    Args:
        settings: Settings of the training.
        start: Initial weights; None: random ones.
    """
    definition = settings.definition
    scale = definition.observation_scale(definition.standard)
    env = SelfPlayVecEnv(
        settings.num_envs,
        rules=settings.rules,
        num_players=settings.num_players,
        reward=settings.reward,
        opponents=settings.fractions(),
        pool_size=settings.pool_size,
        seed=settings.seed,
        game=settings.game,
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
            "net_arch": [],  # policy and value have no hidden layers besides the shared ones
            "features_extractor_class": ScaledMlp,
            "features_extractor_kwargs": {
                "scale": scale,
                "sizes": settings.hidden,
                "players": definition.max_players,
            },
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        seed=settings.seed,
        device="cpu",  # a GPU doesn't help networks of this size, which take many small steps
    )
    if start:
        begin_with(model, start.weights)
    env.add_snapshot(Run(settings, model).snapshot())
    return model


def train(settings: Settings) -> bool:
    """Train an agent and save it.

    Returns:
        Whether the training was finished; False if Ctrl-C stopped it, then `resume` continues it.

    Raises:
        ValueError: If a setting is invalid.
        RunError: If another process is training in the run's folder, or the folder of a new run holds one already.
        CheckpointError: If the checkpoint to resume is missing, damaged or doesn't fit.
        OpponentError: If an opponent gives all its games up; `resume` continues from there.
        FloatingPointError: If the network has diverged; `resume` continues from the last checkpoint.
        OSError: If a file can't be written; `resume` continues from the last checkpoint.
    """
    settings.check()
    with alone_in_run(settings.folder):
        if not settings.resume:
            begin_run(settings.folder)
        start = find_start(settings, settings.shape(action_features=False))
        run = Run(settings, make_model(settings, start), start=start.hash if start else "")
        with interrupt_as_flag() as interrupted:
            if settings.resume:
                run.load()
            else:
                run.save()  # from now on `resume` continues this run
            try:
                with TrainingBar() as bar:
                    run.model.learn(
                        max(0, settings.steps - run.steps),
                        callback=TrainingCallback(run, bar, interrupted),
                        reset_num_timesteps=not settings.resume,
                        tb_log_name="run",
                    )
            except OpponentError:
                run.save()
                raise
        run.save()
        if run.part < 1:
            print(
                f"stopped after {run.steps:,} of {settings.steps:,} steps; --resume goes on from {settings.checkpoint}"
            )
            return False
        if saved_steps(settings.agent) != run.steps:  # else it is saved already, with its evaluations
            run.save_agent([])
        rate = run.steps / run.seconds
        print(f"{settings.agent}: {run.steps:,} steps in {run.seconds / 60:.1f} min, {rate:,.0f} a second")
        if settings.games:
            with progress(f"{settings.folder.name}: evaluation") as show:
                strength = run.evaluate(settings.games, show)
            print_strength(strength, settings.folder.name)
            run.save_agent(strength)
    return True


@dataclass
class LinearDecay:
    """A learning rate that falls linearly from `start` to 2 % of it. A class, so that it can be pickled by name."""

    start: float
    time_left: float = 1.0
    """Share of the time limit that is left; falls from 1 to 0."""

    def __call__(self, steps_left: float) -> float:
        """The learning rate when `steps_left`, which falls from 1 to 0, is the share of the steps that is left."""
        return self.start * max(min(steps_left, self.time_left), 0.02)


class TrainingCallback(BaseCallback):
    """Everything except learning: the clock, snapshots, evaluations, checkpoints, figures for the bar and TensorBoard,
    and the end of the training.

    A round is a rollout and the update that learns from it. SB3 has no callback for the end of an update, so a round is
    counted when the next rollout or the end of the training begins. A rollout interrupted by Ctrl-C isn't counted.
    """

    model: MaskablePPO

    def __init__(self, run: Run, bar: TrainingBar, interrupted: threading.Event) -> None:
        super().__init__()
        self.run = run
        self.bar = bar
        self.interrupted = interrupted
        self.updates = 0
        self.collected = run.steps  # in complete rollouts
        self.round_start = self.saved = time.monotonic()

    def _on_training_start(self) -> None:
        self.task = self.bar.add_task(self.run.settings.folder.name, total=1.0, completed=self.run.part, wins="")

    def _on_rollout_start(self) -> None:
        self._end_round()
        torch.set_num_threads(self.run.settings.threads)  # an evaluation may have changed it
        self.round_start = time.monotonic()

    def _on_step(self) -> bool:
        return not self.interrupted.is_set() and self.run.part < 1

    def _on_rollout_end(self) -> None:
        self.logger.record("train/given_up", end_round(self.run.env.fixed))
        self.updates += 1
        self.collected = self.model.num_timesteps
        if self.updates % self.run.settings.snapshot_every == 0:
            self.run.env.add_snapshot(self.run.snapshot())
        for kind, results in self.run.env.results.items():
            if results:
                self.logger.record(f"rollout/wins_{kind}", float(np.mean(results)))
        seconds = self.run.seconds + time.monotonic() - self.round_start
        decay = self.model.learning_rate
        assert isinstance(decay, LinearDecay)
        decay.time_left = 1 - self.run.part_of_minutes(seconds)

    def _on_training_end(self) -> None:
        self._end_round()
        self.model.num_timesteps = self.run.steps

    def _end_round(self) -> None:
        """Count a finished round, if there is one, and do evaluations and checkpoints that are due."""
        run, s = self.run, self.run.settings
        if run.steps == self.collected:
            return
        before, part, steps = run.seconds, run.part, run.steps
        run.seconds += time.monotonic() - self.round_start
        run.steps = self.collected
        self.bar.update(self.task, completed=run.part)
        self.bar.say(figures_text(run.steps, self._figures((run.steps - steps) / (run.seconds - before))))
        every = 60 * s.evaluate_every
        if every and (evaluation_due(part, run.part) or before // every < run.seconds // every):
            results = run.evaluate(s.evaluation_games)
            run.curve.append(point(run.steps, run.seconds, results))
            for name, rate in run.curve[-1]["wins"].items():
                self.logger.record(f"wins/{name}", rate)
            wins = wins_text(results)
            self.bar.update(self.task, wins=wins)
            self.bar.line(f"{s.folder.name} after {in_short(run.steps)} decisions: won against {wins}")
        if time.monotonic() - self.saved > 60 * s.checkpoint_minutes:
            run.save()
            self.saved = time.monotonic()

    def _figures(self, steps_per_second: float) -> dict[str, float]:
        """SB3's figures of the last update, under the names that our trainer uses."""
        recorded = self.logger.name_to_value  # a defaultdict: reading a missing name would add it
        names = ("approx_kl", "explained_variance", "entropy_loss")
        figures = {name: recorded[f"train/{name}"] for name in names if f"train/{name}" in recorded}
        if "entropy_loss" in figures:
            figures["entropy"] = -figures.pop("entropy_loss")
        return {"steps_per_second": steps_per_second, **figures}
