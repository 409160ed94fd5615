"""A training from its beginning, or from its checkpoint, to its end."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from functools import partial

from torch.utils.tensorboard import SummaryWriter

from artus_agents.saved import read_card
from artus_training.arena.columns import filled, table
from artus_training.arena.evaluate import Evaluation
from artus_training.arena.names import one_line_name
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
from artus_training.lines import progress
from artus_training.progress import TrainingBar, interrupt_as_flag

SAVING_PART = 0.1
"""A checkpoint is written after so much training that the last one took at most this part of it: with many games that
is not every round."""


def warm_up(settings: Settings, ranks: Ranks = ALONE) -> None:
    """Play and learn for a moment, so that loops are compiled and threads started before the clock runs."""
    trainer = Trainer(dataclasses.replace(settings, num_steps=8), ranks)
    trainer.collect()
    trainer.update()


def train(settings: Settings, ranks: Ranks = ALONE) -> bool:
    """Train an agent and save it.

    Args:
        settings: The same in all processes.
        ranks: The processes that share the training. Rank 0 alone touches files.

    Returns:
        Whether the training came to its end; otherwise Ctrl-C stopped it, and `resume` goes on with it.

    Raises:
        ValueError: If a setting can't be.
        RunError: If another process is training in the run's folder, or a new run would lie where there is one.
        CheckpointError: If the checkpoint to resume is missing, damaged or doesn't fit.
        OpponentError: If an opponent gives all its games up.
        RankError: If another process has ended.
        FloatingPointError: If the network has diverged.
        OSError: If a file can't be written. Like after the two before, `resume` goes on from the last checkpoint.
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
                save(trainer)  # from now on `resume` means this run
            if not learn_to_the_end(trainer, interrupted):
                return False
        ranks.leave()
        if not ranks.first:
            return True
        if saved_steps(settings.agent) != trainer.steps:  # else it is there, with what was measured of it
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
    """Round after round, with checkpoints, evaluations and figures; whether it came to the end, or Ctrl-C stopped
    it."""
    settings, ranks = trainer.settings, trainer.ranks
    with ExitStack() as stack:
        bar = stack.enter_context(TrainingBar(ranks.first))
        resumed_at = trainer.steps if settings.resume else None
        log = stack.enter_context(log_of(settings.folder, resumed_at)) if ranks.first else None
        task = bar.add_task(settings.folder.name, total=1.0, completed=trainer.part, wins="")
        saving = unsaved = 0.0  # seconds: what the last checkpoint took, and of training since
        while trainer.part < 1 and not ranks.each(interrupted.is_set()).any():
            start, before = time.monotonic(), trainer.part
            trainer.collect()
            rolled = time.monotonic()
            figures = trainer.update()
            end = time.monotonic()
            spent, saving = ranks.each(end - start, saving)[0].tolist()  # by rank 0's clock: all save at the same time
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
    """Log the figures of a round and, where that is due, evaluate the agent for the curve. Returns what came of it.

    Args:
        before: How much of the training was done when the round began, 0..1.
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
    """Train one agent after the other and print a table of how strong they are.

    Returns:
        Whether all have reached the goals of their presets; None if Ctrl-C stopped it.
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
    print("", *table(rows, names=[1], numbers=(2, 3, 4)), "", sep="\n")
    print(*filled(["margin: mean of its points minus those of the others. goal: wins that it should reach."]), sep="\n")
    return good
