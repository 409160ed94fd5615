"""The life cycle of a training, the same for PPO and Stable-Baselines3.

Lock the run's folder, begin or resume, play and learn round by round with checkpoints, evaluations and figures, stop
after Ctrl-C, and at the end save the agent with its card and measure it.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch.utils.tensorboard import SummaryWriter

from artus_agents.network import Network
from artus_agents.neural import NeuralAgent
from artus_agents.saved import CARD, WEIGHTS, read_card, save_agent
from artus_env.engine.basics.wording import counted
from artus_env.engine.basics.writing import alone_in, write_atomically
from artus_training.arena.evaluate import Evaluation, evaluate
from artus_training.learn.cards import PACKAGES, card, command
from artus_training.learn.checkpoints import Progress, Tensors, read_checkpoint, save_checkpoint
from artus_training.learn.figures import (
    add_point,
    evaluation_due,
    figures_text,
    in_short,
    log_of,
    print_strength,
    wins_text,
    write_figures,
)
from artus_training.learn.ranks import ALONE, Ranks
from artus_training.learn.settings import (
    TrainingSettings,
    changes,
    check_resumed,
    settings_from_dict,
    settings_to_dict,
    with_preset,
)
from artus_training.learn.start import Start, find_start
from artus_training.progress import Show, TrainingBar, interrupt_as_flag, progress, progress_of_pieces, show_nothing
from artus_training.usage import UsageError

SAVING_PART = 0.1
"""Fraction of the training time that saving checkpoints may take. So with many games not every round is saved."""
S = TypeVar("S", bound=TrainingSettings)


class Training(ABC, Generic[S]):
    """A training in progress.

    Args:
        settings: The settings. A checkpoint isn't loaded automatically (see `load`).
        ranks: The processes that share the training. Only rank 0 reads and writes files.
    """

    PROGRAM: ClassVar[str]
    """The command that runs it."""
    PACKAGES: ClassVar[tuple[str, ...]] = PACKAGES
    """Packages whose versions its cards record."""

    def __init__(self, settings: S, ranks: Ranks = ALONE) -> None:
        settings.check(ranks.size)
        self.settings = settings
        self.ranks = ranks
        self.steps = 0
        self.updates = 0
        self.seconds = 0.0
        """Training time, evaluations not counted."""
        self.curve: list[dict[str, Any]] = []
        """Learning curve (see `cards.point`)."""
        self.changes: list[dict[str, Any]] = []
        """Settings that were changed in resumed runs (see `cards.card`)."""
        self.start = ""
        """Hash of the initial weights (see `start.Start`); empty: they were random."""

    @abstractmethod
    def play_and_learn(self) -> dict[str, float]:
        """Play one round, learn from it, and count its steps and updates. Returns figures for the log."""

    @abstractmethod
    def trained(self) -> Network:
        """The current network, which may share memory with the training."""

    @abstractmethod
    def tensors(self) -> Tensors:
        """All tensors of a checkpoint; in ranks other than 0 they may be missing."""

    @abstractmethod
    def load_tensors(self, saved: Progress, tensors: Tensors, changed: dict[str, list[Any]]) -> None:
        """Load the content of a checkpoint.

        Args:
            saved: Settings and progress at that time.
            tensors: The tensors of the checkpoint.
            changed: Settings that have changed since: the old and the new value of each (see `settings.changes`).

        Raises:
            ValueError: If something is missing or doesn't fit; this object must not be used then.
        """

    @property
    @abstractmethod
    def earlier_selves(self) -> int:
        """Number of earlier selves in the pool."""

    @classmethod
    def warm_up(cls, settings: S, ranks: Ranks = ALONE) -> None:
        """Compile and start what the first round needs, before time is measured."""

    @property
    def progress(self) -> float:
        """Fraction of the training that is done, 0..1."""
        s = self.settings
        return min(1.0, max(self.steps / s.steps, self.seconds / 60 / s.minutes if s.minutes else 0))

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update: it falls linearly to 2 % of its initial value."""
        return self.settings.learning_rate * max(1 - self.progress, 0.02)

    def initial_weights(self) -> Start | None:
        """The weights that the settings ask for; None: random ones, or with `resume` those of the checkpoint."""
        start = self.ranks.from_first(partial(find_start, self.settings, self.settings.shape()))
        self.start = start.hash if start else ""
        return start

    def agent(self) -> NeuralAgent:
        """An agent that plays the policy's likeliest actions."""
        return NeuralAgent(self.trained())

    def evaluate(self, opponents: Sequence[str], games: int, show: Show = show_nothing) -> list[Evaluation]:
        """Play the agent against each opponent, in every variant."""
        s, agent = self.settings, self.agent()
        pairs = list(itertools.product(s.variants, opponents))
        return [
            evaluate(
                [agent, opponent], rules=rules, num_players=num_players, games=games, seed=s.seed + 1, game=s.game,
                progress=piece,
            )
            for ((rules, num_players), opponent), piece in zip(pairs, progress_of_pieces(show, len(pairs)), strict=True)
        ]  # fmt: skip

    def save(self) -> None:
        """Write the checkpoint, in rank 0.

        Raises:
            UsageError: If the network has diverged; the previous checkpoint is kept.
            OSError: If it can't be written; the previous checkpoint is kept.
        """
        tensors = self.tensors()
        if self.ranks.first:
            saved = {
                "settings": settings_to_dict(self.settings), "steps": self.steps, "updates": self.updates,
                "seconds": self.seconds, "pool": self.earlier_selves, "ranks": self.ranks.size, "curve": self.curve,
                "changes": self.changes, "start": self.start,
            }  # fmt: skip
            save_checkpoint(self.settings.checkpoint, saved, tensors)

    def load(self) -> None:
        """Continue from the checkpoint of the settings' folder.

        Raises:
            UsageError: If it is missing, damaged or doesn't fit; this object must not be used then.
        """
        s, ranks = self.settings, self.ranks
        saved, tensors = ranks.from_first(partial(read_checkpoint, s.checkpoint))
        try:
            old_settings = settings_from_dict(saved.settings, s.checkpoint, type(s)())
            changed = check_resumed(old_settings, s, s.checkpoint, print_changes=ranks.first)
        except ValueError as error:
            raise UsageError(str(error)) from error
        if saved.ranks != ranks.size:
            changed["ranks"] = [saved.ranks, ranks.size]
        try:
            self.load_tensors(saved, tensors, changed)
        except (ValueError, RuntimeError, TypeError, OverflowError) as error:
            raise UsageError(f"{s.checkpoint} doesn't fit: {' '.join(str(error).split())}") from error
        self.steps, self.updates, self.seconds = saved.steps, saved.updates, saved.seconds
        self.curve, self.changes = [dataclasses.asdict(point) for point in saved.curve], saved.changes
        self.start = saved.start
        if "ranks" in changed and ranks.first:
            print(
                f"{s.checkpoint} goes on with {counted(ranks.size, 'rank')} instead of {saved.ranks}: network, "
                "optimizer, earlier selves and counters are kept, all games begin anew"
            )
        if changed:
            self.changes.append({"steps": self.steps, "settings": changed})

    def save_agent(self, strength: Sequence[Evaluation] = ()) -> None:
        """Write the agent with its card."""
        s = self.settings
        default = with_preset(type(s)(game=s.game, rules=s.rules, num_players=s.num_players))
        agent_card = card(
            s.game, s.variants, settings=settings_to_dict(s),
            command=command(self.ranks.program(self.PROGRAM), s, default), steps=self.steps, seconds=self.seconds,
            curve=self.curve, strength=strength, bfloat16=s.bfloat16, threads=s.threads, ranks=self.ranks.size,
            changes=self.changes, start=self.start, packages=self.PACKAGES,
        )  # fmt: skip
        keep_agent(s.agent, self.steps)
        save_agent(s.agent, self.trained(), agent_card, torch.bfloat16 if s.bfloat16 else torch.float32)


def train(trainer_type: type[Training[S]], settings: S, ranks: Ranks = ALONE) -> bool:
    """Train an agent and save it.

    Args:
        trainer_type: The class of the trainer.
        settings: Its settings, the same in all processes.
        ranks: The processes that share the training.

    Returns:
        Whether the training was finished. False: Ctrl-C stopped it, and `resume` continues it.

    Raises:
        ValueError: If a setting is invalid.
        UsageError: If another process is training in the run's folder, the folder of a new run holds one already, the
            checkpoint to resume is missing, damaged or doesn't fit, an opponent gives up all its games, another process
            has ended, or the network has diverged. Except for the first three, `resume` continues from the last
            checkpoint.
        OSError: If a file can't be written; `resume` continues from the last checkpoint.
    """
    settings.check(ranks.size)
    with alone_in_run(settings.folder) if ranks.first else nullcontext():
        if not settings.resume:
            ranks.from_first(partial(begin_run, settings.folder))
        trainer_type.warm_up(settings, ranks)
        training = trainer_type(settings, ranks)
        with interrupt_as_flag() as interrupted:
            if settings.resume:
                training.load()
            else:
                training.save()  # from now on `resume` continues this run
            if not learn_to_the_end(training, interrupted):
                return False
        ranks.leave()
        if not ranks.first:
            return True
        if saved_steps(settings.agent) != training.steps:  # else it is saved already, with its evaluations
            training.save_agent()
        minutes, rate = training.seconds / 60, training.steps / training.seconds
        print(f"{settings.agent}: {training.steps:,} steps in {minutes:.1f} min, {rate:,.0f} a second")
        if settings.final_games:
            strength = []
            for opponent in settings.final_opponents:
                with progress(f"{settings.folder.name} against {opponent}") as show:
                    results = training.evaluate([opponent], settings.final_games, show)
                for result in results:
                    print_strength([result], settings.folder.name)
                    strength.append(result)
            training.save_agent(strength)
    return True


def learn_to_the_end(training: Training[Any], interrupted: threading.Event) -> bool:
    """Train round by round, with checkpoints, evaluations and figures. Returns whether the training was finished; False
    if Ctrl-C stopped it."""
    settings, ranks = training.settings, training.ranks
    name = settings.folder.name
    with ExitStack() as stack:
        bar = stack.enter_context(TrainingBar(ranks.first))
        resumed_at = training.steps if settings.resume else None
        log = stack.enter_context(log_of(settings.folder, resumed_at)) if ranks.first else None
        task = bar.add_task(name, total=1.0, completed=training.progress, wins="")
        saving_seconds = unsaved_seconds = 0.0  # for the last checkpoint, and of training since then
        while training.progress < 1 and not ranks.gather_numbers(interrupted.is_set()).any():
            start_time, progress_before, steps_before = time.monotonic(), training.progress, training.steps
            figures = training.play_and_learn()
            round_seconds = time.monotonic() - start_time
            times = ranks.gather_numbers(round_seconds, saving_seconds)
            seconds, saving_seconds = times[0].tolist()  # of rank 0, so that all ranks save in the same round
            training.seconds += seconds if unsaved_seconds else seconds + saving_seconds
            unsaved_seconds += seconds
            figures["steps_per_second"] = (training.steps - steps_before) / round_seconds
            if log and (results := write_down(training, figures, log, progress_before)):
                wins = wins_text(results)
                bar.update(task, wins=wins)
                bar.line(f"{name} after {in_short(training.steps)} decisions: won against {wins}")
            bar.update(task, completed=training.progress)
            bar.show_figures(figures_text(training.steps, figures))
            if saving_seconds <= SAVING_PART * unsaved_seconds:
                start_time = time.monotonic()
                training.save()
                saving_seconds, unsaved_seconds = time.monotonic() - start_time, 0.0
        if unsaved_seconds:
            training.save()
    if training.progress < 1 and ranks.first:
        print(
            f"stopped after {training.steps:,} of {settings.steps:,} steps; --resume goes on from {settings.checkpoint}"
        )
    return training.progress >= 1


def write_down(
    training: Training[Any], figures: dict[str, float], log: SummaryWriter, progress_before: float
) -> list[Evaluation]:
    """Log the figures of a round; if an evaluation is due, add it to the curve. Returns the evaluations.

    Args:
        progress_before: Fraction of the training that was done before the round, 0..1.
    """
    s = training.settings
    write_figures(log, figures, training.steps)
    part_finished = evaluation_due(progress_before, training.progress)
    evaluation_needed = s.evaluate_every and (part_finished or training.updates % s.evaluate_every == 0)
    if not evaluation_needed and training.progress < 1:
        return []
    results = training.evaluate(s.evaluation_opponents, s.games) if s.evaluate_every else []
    add_point(log, training.curve, training.steps, training.seconds, results)
    return results


# --- folders ---


@contextmanager
def alone_in_run(folder: Path) -> Iterator[None]:
    """Keep other processes out of a run's folder. The lock is a file next to the folder, `.NAME.lock`, so that a new
    folder stays empty for `begin_run`.

    Raises:
        UsageError: If another process uses the folder.
        OSError: If the folder can't be created or written to.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(alone_in(folder, "training there", folder.parent / f".{folder.name}.lock"))
        except ValueError as error:
            raise UsageError(str(error)) from None
        yield


def begin_run(folder: Path, option: str = "--name NAME") -> None:
    """Check that the folder of a new run is empty.

    Args:
        folder: The run's folder.
        option: The option that chooses another folder, for the message.

    Raises:
        UsageError: If the folder holds a run.
        OSError: If the folder can't be read.
    """
    if any(folder.iterdir()):
        raise UsageError(
            f"{folder} holds a run already: --resume goes on with it, {option} begins another one beside it"
        )


def finished(run: TrainingSettings) -> bool:
    """Whether a training with exactly these settings has been finished."""
    if not run.agent.exists():
        return False
    saved = settings_from_dict(read_card(run.agent).get("settings", {}), run.agent, type(run)())
    return not changes(settings_to_dict(saved), settings_to_dict(run))


def with_resume(run: S) -> S:
    """The settings of a run, with `resume` if the run has a checkpoint."""
    return dataclasses.replace(run, resume=run.checkpoint.exists())


def saved_steps(agent: Path) -> int | None:
    """Number of steps of a saved agent's training; None if there is no complete agent."""
    try:
        return read_card(agent).get("steps")
    except ValueError:
        return None


def keep_agent(agent: Path, steps: int) -> None:
    """Copy the agent that the run saved when it ended before to `agent-STEPS`; the resumed run overwrites the original.

    Args:
        agent: The file with the weights.
        steps: Steps of the agent that will be saved.
    """
    old_steps = saved_steps(agent)
    copy = agent.with_name(f"{agent.stem}-{old_steps}{WEIGHTS}")
    if old_steps not in (None, steps) and not copy.with_suffix(CARD).exists():
        for suffix in (WEIGHTS, CARD):
            write_atomically(copy.with_suffix(suffix), agent.with_suffix(suffix).read_bytes())
