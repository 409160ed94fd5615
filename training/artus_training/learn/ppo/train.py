"""Run a training from its start, or from its checkpoint, to its end."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from functools import partial

from torch.utils.tensorboard import SummaryWriter

from artus_agents.saved import read_card
from artus_training.arena.evaluate import Evaluation
from artus_training.learn.checkpoints import read_checkpoint
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
from artus_training.learn.ppo.checkpoint import Progress, load, save
from artus_training.learn.ppo.ranks import ALONE, Ranks
from artus_training.learn.ppo.settings import Settings, goals
from artus_training.learn.ppo.trainer import Trainer
from artus_training.learn.runs import alone_in_run, begin_run, saved_steps
from artus_training.progress import TrainingBar, interrupt_as_flag, progress
from artus_training.tables import as_text, one_line_name, table

SAVING_PART = 0.1
"""Share of the training time that saving checkpoints may take: with many games not every round is saved."""


def warm_up(settings: Settings, ranks: Ranks = ALONE) -> None:
    """Play and learn for a moment, so that loops are compiled and threads are started before time is measured."""
    trainer = Trainer(dataclasses.replace(settings, num_steps=8), ranks)
    trainer.collect()
    trainer.update()


def train(settings: Settings, ranks: Ranks = ALONE) -> bool:
    """Train an agent and save it.

    Args:
        settings: The settings, the same in all processes.
        ranks: The processes that share the training. Only rank 0 reads and writes files.

    Returns:
        Whether the training was finished; False if Ctrl-C stopped it, then `resume` continues it.

    Raises:
        ValueError: If a setting is invalid.
        RunError: If another process is training in the run's folder, or the folder of a new run holds one already.
        CheckpointError: If the checkpoint to resume is missing, damaged or doesn't fit.
        OpponentError: If an opponent gives all its games up.
        RankError: If another process has ended; `resume` continues from the last checkpoint.
        FloatingPointError: If the network has diverged; `resume` continues from the last checkpoint.
        OSError: If a file can't be written; `resume` continues from the last checkpoint.
    """
    settings.check(ranks.size)
    with alone_in_run(settings.folder) if ranks.first else nullcontext():
        if not settings.resume:
            ranks.from_first(partial(begin_run, settings.folder))
        warm_up(settings, ranks)
        trainer = Trainer(settings, ranks)
        with interrupt_as_flag() as interrupted:
            if settings.resume:
                load(trainer, *ranks.from_first(partial(read_checkpoint, settings.checkpoint, Progress)))
            else:
                save(trainer)  # from now on `resume` continues this run
            if not learn_to_the_end(trainer, interrupted):
                return False
        ranks.leave()
        if not ranks.first:
            return True
        if saved_steps(settings.agent) != trainer.steps:  # else it is saved already, with its evaluations
            trainer.save_agent()
        minutes, rate = trainer.seconds / 60, trainer.steps / trainer.seconds
        print(f"{settings.agent}: {trainer.steps:,} steps in {minutes:.1f} min, {rate:,.0f} a second")
        if settings.final_games:
            strength = []
            for opponent in settings.final_opponents:
                with progress(f"{settings.folder.name} against {opponent}") as show:
                    results = trainer.evaluate([opponent], settings.final_games, show)
                for result in results:
                    print_strength([result], settings.folder.name)
                    strength.append(result)
            trainer.save_agent(strength)
    return True


def learn_to_the_end(trainer: Trainer, interrupted: threading.Event) -> bool:
    """Train round by round, with checkpoints, evaluations and figures. Returns whether the training was finished; False
    if Ctrl-C stopped it."""
    settings, ranks = trainer.settings, trainer.ranks
    with ExitStack() as stack:
        bar = stack.enter_context(TrainingBar(ranks.first))
        resumed_at = trainer.steps if settings.resume else None
        log = stack.enter_context(log_of(settings.folder, resumed_at)) if ranks.first else None
        task = bar.add_task(settings.folder.name, total=1.0, completed=trainer.part, wins="")
        saving = unsaved = 0.0  # seconds for the last checkpoint, and of training since then
        while trainer.part < 1 and not ranks.each(interrupted.is_set()).any():
            start, before = time.monotonic(), trainer.part
            trainer.collect()
            rolled = time.monotonic()
            figures = trainer.update()
            end = time.monotonic()
            spent, saving = ranks.each(end - start, saving)[0].tolist()  # of rank 0: all must save in the same round
            trainer.seconds += spent if unsaved else spent + saving
            unsaved += spent
            figures |= {"steps_per_second": settings.num_steps * settings.num_games / (end - start)}
            figures |= {"rollout_part": (rolled - start) / (end - start)}
            if log and (results := write_down(trainer, figures, log, before)):
                wins = wins_text(results)
                bar.update(task, wins=wins)
                bar.line(f"{settings.folder.name} after {in_short(trainer.steps)} decisions: won against {wins}")
            bar.update(task, completed=trainer.part)
            bar.say(figures_text(trainer.steps, figures))
            if saving <= SAVING_PART * unsaved:
                start = time.monotonic()
                save(trainer)
                saving, unsaved = time.monotonic() - start, 0.0
        if unsaved:
            save(trainer)
    if trainer.part < 1 and ranks.first:
        print(
            f"stopped after {trainer.steps:,} of {settings.steps:,} steps; --resume goes on from {settings.checkpoint}"
        )
    return trainer.part >= 1


def write_down(trainer: Trainer, figures: dict[str, float], log: SummaryWriter, before: float) -> list[Evaluation]:
    """Log the figures of a round; if an evaluation is due, add it to the curve. Returns the evaluations.

    Args:
        before: Share of the training done before the round, 0..1.
    """
    settings = trainer.settings
    write_figures(log, figures, trainer.steps)
    fifth = evaluation_due(before, trainer.part)
    due = settings.evaluate_every and (fifth or trainer.updates % settings.evaluate_every == 0)
    if not due and trainer.part < 1:
        return []
    results = trainer.evaluate(settings.evaluation_opponents, settings.games) if settings.evaluate_every else []
    add_point(log, trainer.curve, trainer.steps, trainer.seconds, results)
    return results


def train_all(settings: Sequence[Settings]) -> bool | None:
    """Train one agent after the other, and print a table of their win rates.

    Returns:
        Whether all agents reached the goals of their presets; None if Ctrl-C stopped a training.
    """
    rows = [("agent", "against", "wins (95 %)", "margin", "goal")]
    good = True
    for each in settings:
        if not train(each):
            return None
        wanted = goals(each.definition, each.rules, each.num_players)
        for result in read_card(each.agent)["strength"]:
            low, high = result["wins_95"]
            goal = wanted.get(result["against"], 0.0)
            reached = result["wins"] >= goal
            good &= reached
            rows.append(
                (
                    f"{each.rules}, {each.num_players} players", one_line_name(result["against"]),
                    f"{result['wins']:.1%} ({100 * low:.1f}..{100 * high:.1f})", f"{result['margin']:+.1f}",
                    f"{goal:.0%} {'ok' if reached else 'missed'}" if goal else "",
                )
            )  # fmt: skip
    legend = "margin: mean of its points minus those of the others. goal: wins that it should reach."
    print(as_text("", table(rows, numbers=(2, 3, 4)), "", legend))
    return good
