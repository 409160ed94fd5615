"""Folders of runs: one for each run, used by one process at a time; a new run never overwrites another."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from artus_agents.saved import CARD, WEIGHTS, read_card
from artus_env.engine.basics.writing import alone_in, write_atomically
from artus_training.learn.checkpoints import CheckpointError
from artus_training.learn.opponents import OpponentError
from artus_training.learn.ppo.settings import Settings as PpoSettings
from artus_training.learn.sb3.settings import Settings as Sb3Settings
from artus_training.learn.settings import changes, settings_from_dict, settings_to_dict
from artus_training.usage import UsageError


class RunError(ValueError):
    """A run that can't start or continue now. The message names its folder."""


@contextmanager
def stopped_in_one_line() -> Iterator[None]:
    """Turn errors of trainings that can't start or continue into messages of one line, for commands."""
    try:
        yield
    except (RunError, CheckpointError, OpponentError, FloatingPointError) as error:
        raise UsageError(str(error)) from error


@contextmanager
def alone_in_run(folder: Path) -> Iterator[None]:
    """Keep other processes out of a run's folder. The lock is a file next to the folder, `.NAME.lock`, so that a new
    folder stays empty for `begin_run`.

    Raises:
        RunError: If another process uses the folder.
        OSError: If the folder can't be created or written to.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(alone_in(folder, "training there", folder.parent / f".{folder.name}.lock"))
        except ValueError as error:
            raise RunError(str(error)) from None
        yield


def begin_run(folder: Path, other: str = "--name NAME") -> None:
    """Check that the folder of a new run is empty.

    Args:
        folder: The run's folder.
        other: The option that chooses another folder, for the message.

    Raises:
        RunError: If the folder holds a run.
        OSError: If the folder can't be read.
    """
    if any(folder.iterdir()):
        raise RunError(f"{folder} holds a run already: --resume goes on with it, {other} begins another one beside it")


Run = TypeVar("Run", PpoSettings, Sb3Settings)


def finished(run: Run) -> bool:
    """Whether a training with exactly these settings has been finished."""
    if not run.agent.exists():
        return False
    saved = settings_from_dict(read_card(run.agent).get("settings", {}), run.agent, type(run)())
    return not changes(settings_to_dict(saved), settings_to_dict(run))


def going_on(run: Run) -> Run:
    """The settings of the training, with `resume` if it has a checkpoint."""
    return dataclasses.replace(run, resume=run.checkpoint.exists())


def saved_steps(agent: Path) -> int | None:
    """Number of steps of a saved agent's training; None if there is no complete agent."""
    try:
        return read_card(agent).get("steps")
    except ValueError:
        return None


def keep_agent(agent: Path, steps: int) -> None:
    """Copy the agent of an earlier end of the run to `agent-STEPS`, before a resumed run overwrites it.

    Args:
        agent: The file with the weights.
        steps: Steps of the agent that will be saved.
    """
    before = saved_steps(agent)
    kept = agent.with_name(f"{agent.stem}-{before}{WEIGHTS}")
    if before not in (None, steps) and not kept.with_suffix(CARD).exists():
        for suffix in (WEIGHTS, CARD):
            write_atomically(kept.with_suffix(suffix), agent.with_suffix(suffix).read_bytes())
