"""Where runs lie: a folder for each of them, one process at a time, and no run takes the place of another."""

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
    """A run that can't begin or go on now. The message names its folder."""


@contextmanager
def stopped_in_one_line() -> Iterator[None]:
    """For commands that train: what ends a training that can't begin or go on says why in one line."""
    try:
        yield
    except (RunError, CheckpointError, OpponentError, FloatingPointError) as error:
        raise UsageError(str(error)) from error


@contextmanager
def alone_in_run(folder: Path) -> Iterator[None]:
    """Keep other processes out of a run's folder. The lock lies beside it, `.NAME.lock`: in the folder it would be the
    first trace of a run.

    Raises:
        RunError: If another process is in it.
        OSError: If the folder can't be made or written to.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(alone_in(folder, "training there", folder.parent / f".{folder.name}.lock"))
        except ValueError as error:
            raise RunError(str(error)) from None
        yield


def begin_run(folder: Path, other: str = "--name NAME") -> None:
    """See that the folder of a new run holds none yet.

    Args:
        folder: Of the run.
        other: The option that gives it another folder, for the message.

    Raises:
        RunError: If it holds one.
        OSError: If it can't be read.
    """
    if any(folder.iterdir()):
        raise RunError(f"{folder} holds a run already: --resume goes on with it, {other} begins another one beside it")


Run = TypeVar("Run", PpoSettings, Sb3Settings)


def finished(run: Run) -> bool:
    """Whether this very training has been run to its end."""
    if not run.agent.exists():
        return False
    saved = settings_from_dict(read_card(run.agent).get("settings", {}), run.agent, type(run)())
    return not changes(settings_to_dict(saved), settings_to_dict(run))


def going_on(run: Run) -> Run:
    """The training, going on from its checkpoint if there is one."""
    return dataclasses.replace(run, resume=run.checkpoint.exists())


def saved_steps(agent: Path) -> int | None:
    """How many steps a saved agent has learnt; None if there is none, or half of one."""
    try:
        return read_card(agent).get("steps")
    except ValueError:
        return None


def keep_agent(agent: Path, steps: int) -> None:
    """Before a run that was resumed saves its agent: copy the one that it had ended with, to `agent-STEPS`.

    Args:
        agent: Of the weights.
        steps: Of the agent that will be saved.
    """
    before = saved_steps(agent)
    kept = agent.with_name(f"{agent.stem}-{before}{WEIGHTS}")
    if before not in (None, steps) and not kept.with_suffix(CARD).exists():
        for suffix in (WEIGHTS, CARD):
            write_atomically(kept.with_suffix(suffix), agent.with_suffix(suffix).read_bytes())
