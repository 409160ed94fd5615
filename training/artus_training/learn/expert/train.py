"""A training from its beginning, or from its checkpoint, to its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from torch.utils.tensorboard import SummaryWriter

from artus_training.arena.evaluate import Evaluation
from artus_training.arena.units import Runner, kept
from artus_training.learn.checkpoints import read_checkpoint
from artus_training.learn.expert.checkpoint import Progress, load_training, save_training
from artus_training.learn.expert.games import Games
from artus_training.learn.expert.selfplay import SelfPlay, Unit
from artus_training.learn.expert.settings import Settings
from artus_training.learn.expert.trainer import Trainer
from artus_training.learn.figures import add_point, log_of, print_strength, wins_text, write_figures
from artus_training.learn.runs import alone_in_run, begin_run, saved_steps
from artus_training.lines import progress
from artus_training.progress import TrainingBar, interrupt_as_flag


def train(settings: Settings) -> bool:
    """Train an agent and save it.

    Returns:
        Whether the training came to its end; otherwise Ctrl-C stopped it, and `resume` goes on with it.

    Raises:
        ValueError: If a setting can't be, or another process is training in the run's folder.
        CheckpointError: If the checkpoint to resume is missing, damaged or doesn't fit.
        ClusterError: If there is no such cluster.
        UnitError: If some games have ended one process after the other.
        FloatingPointError: If the network has diverged.
        OSError: If a file can't be written. Like after the two before, `resume` goes on from the last checkpoint.
    """
    settings.check()
    with alone_in_run(settings.folder):
        if not settings.resume:
            begin_run(settings.folder)
        warm_up(settings)
        trainer = Trainer(settings)
        with interrupt_as_flag() as interrupted:
            if settings.resume:
                load_training(trainer, *read_checkpoint(settings.checkpoint, Progress))
            else:
                save_training(trainer)  # from now on `resume` means this run
            if not learn_to_the_end(trainer, interrupted):
                return False
        if saved_steps(settings.agent) != trainer.steps:  # else it is there, with what was measured of it
            trainer.save_agent()
        print(
            f"{settings.agent}: {trainer.version:,} rounds with {trainer.steps:,} decisions in "
            f"{trainer.seconds / 60:.1f} min; {trainer.dropped:,} games were dropped as their weights grew too old"
        )
        if settings.final_games:
            with progress(f"{settings.folder.name}: evaluation") as show:
                strength = trainer.evaluate(settings.final_opponents, settings.final_games, show)
            print_strength(strength, settings.folder.name)
            trainer.save_agent(strength)
    return True


def warm_up(settings: Settings) -> None:
    """Play a game and learn from it, so that loops are compiled before the clock runs."""
    trainer = Trainer(settings)
    trainer.round([trainer.work(0)(trainer.units(0)[0]._replace(num_games=1))])


def learn_to_the_end(trainer: Trainer, interrupted: threading.Event) -> bool:
    """Round after round, with checkpoints, evaluations and figures; whether it came to the end, or Ctrl-C stopped
    it."""
    s = trainer.settings
    with (
        TrainingBar() as bar,
        log_of(s.folder, trainer.steps if s.resume else None) as log,
        kept(s.workers, s.ray) as run,
        rounds_of(trainer, run, interrupted) as play,
    ):
        task = bar.add_task(s.folder.name, total=1.0, completed=trainer.part(), wins="")

        def show(done: float) -> None:
            bar.update(task, completed=trainer.part(done))

        saving = 0.0
        while trainer.part() < 1:
            start = time.monotonic()
            games = play(show)
            if interrupted.is_set():
                break
            played = time.monotonic()
            figures = trainer.round(games)
            end = time.monotonic()
            trainer.seconds += end - start + saving
            figures |= {"waiting_part": (played - start) / (end - start), "dropped_in_all": trainer.dropped}
            bar.say(figures_text(trainer.steps, figures))
            if results := write_down(trainer, figures, log):
                bar.update(task, wins=wins_text(results))
            start = time.monotonic()
            save_training(trainer)
            saving = time.monotonic() - start
            show(0)
    if trainer.part() < 1:
        print(f"stopped after {trainer.version:,} of {s.rounds:,} rounds; --resume goes on from {s.checkpoint}")
    return trainer.part() >= 1


def figures_text(steps: int, figures: dict[str, float]) -> str:
    """What a round came to, in less than 80 letters."""
    said = {"fresh_searched_kl": "KL to the search", "predicted_gain": "predicted gain"}
    return ", ".join(
        [f"{steps:,} decisions", *(f"{name} {figures[key]:.3g}" for key, name in said.items() if key in figures)]
    )


Show = Callable[[float], None]
"""Is told what part of a round has been played."""


@contextmanager
def rounds_of(trainer: Trainer, run: Runner, interrupted: threading.Event) -> Iterator[Callable[[Show], list[Games]]]:
    """A function that gives the games of the next round, or any part of them if Ctrl-C has come meanwhile. Where actors
    are to be ahead of the learner, others begin the round behind it at once."""
    s, enough = trainer.settings, threading.Event()

    def play(work: SelfPlay, units: list[Unit], show: Show) -> list[Games]:
        found: list[Games] = []
        for _, games in run(work, units):
            found.append(games)
            show(len(found) / len(units))
            if interrupted.is_set() or enough.is_set():
                break
        return found

    begun: dict[int, Future[list[Games]]] = {}
    with ThreadPoolExecutor(1) as beside:

        def following(show: Show) -> list[Games]:
            number = trainer.version
            if number in begun:
                games = begun.pop(number).result()
            else:
                games = play(trainer.work(number), trainer.units(number), show)
            if s.ahead and (s.workers > 1 or s.ray is not None) and number + 1 < s.rounds:
                number += 1
                begun[number] = beside.submit(play, trainer.work(number), trainer.units(number), show)
            return games

        try:
            yield following
        finally:
            enough.set()


def write_down(trainer: Trainer, figures: dict[str, float], log: SummaryWriter) -> list[Evaluation]:
    """Log the figures of a round and, where that is due, evaluate the agent for the curve. Returns what came of it."""
    s = trainer.settings
    write_figures(log, figures, trainer.steps)
    if not s.evaluate_every or (trainer.version % s.evaluate_every and trainer.part() < 1):
        return []
    results = trainer.evaluate(s.evaluation_opponents, s.games)
    add_point(log, trainer.curve, trainer.steps, trainer.seconds, results)
    return results
