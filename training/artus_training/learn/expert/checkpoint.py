"""A training on disk: all that its next rounds depend on, the games of the window among it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Annotated, Any

import torch
from msgspec import Meta
from safetensors.torch import save

from artus_agents.saved import Count, Hash, Point
from artus_training.learn.checkpoints import (
    CheckpointError,
    Tensors,
    as_tensor,
    load_optimizer,
    named,
    optimizer_tensors,
    save_checkpoint,
    take,
)
from artus_training.learn.expert.games import Decisions, Games, no_decisions
from artus_training.learn.expert.selfplay import unpacked
from artus_training.learn.expert.settings import FIXED, MOST_ROUNDS, saved_settings
from artus_training.learn.expert.trainer import Trainer
from artus_training.learn.settings import check_resumed, settings_to_dict


@dataclass
class Kept:
    """Some games of the window; see `games.Games`."""

    version: Count
    first: Count
    num_games: Count
    steps: Count
    decisions: Count
    legal: Count
    """Legal actions of these decisions in all."""


@dataclass
class Progress:
    """How far a training has come, as its checkpoint says it."""

    settings: dict[str, Any]
    version: Annotated[int, Meta(ge=0, le=MOST_ROUNDS)]
    steps: Count
    seconds: Annotated[float, Meta(ge=0)]
    dropped: Count
    made_of: Hash
    games: list[Kept]
    versions: list[Count]
    """Those whose weights are kept for actors."""
    start: str = ""
    curve: list[Point] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)


def save_training(trainer: Trainer) -> None:
    """Write the checkpoint of a training.

    Raises:
        FloatingPointError: If the network has diverged. The checkpoint before stands.
        OSError: If it can't be written. Likewise.
    """
    t, shape = trainer, trainer.network.shape
    tensors = named("network", t.network.state_dict())
    tensors |= named("optimizer", optimizer_tensors(t.optimizer))
    tensors |= named("anchor", unpacked(t.anchor, shape).state_dict())
    for version, weights in t.versions.items():
        tensors |= named(f"versions.{version}", unpacked(weights, shape).state_dict())
    games = []
    for index, each in enumerate(t.games):
        of = each.decisions
        tensors |= named(f"games.{index}", {name: as_tensor(part) for name, part in of._asdict().items()})
        games.append(Kept(each.version, each.first, each.num_games, each.steps, of.size, len(of.action)))
    about = {
        "settings": settings_to_dict(t.settings), "version": t.version, "steps": t.steps, "seconds": t.seconds,
        "dropped": t.dropped, "made_of": t.made_of, "games": [vars(each) for each in games],
        "versions": list(t.versions), "start": t.start, "curve": t.curve, "changes": t.changes,
    }  # fmt: skip
    save_checkpoint(t.settings.checkpoint, about, tensors)


def load_training(trainer: Trainer, about: Progress, tensors: Tensors) -> None:
    """Put a checkpoint (see `read_checkpoint`) into a trainer that has not been used yet.

    Games that other code has played, such as that of another version of this package, are dropped with a line that says
    so: they may be others than those that would be played now.

    Raises:
        CheckpointError: If it doesn't fit the trainer's settings; the trainer must not be used then.
    """
    t, s = trainer, trainer.settings
    try:
        before = saved_settings(about.settings, s.checkpoint)
        changed = check_resumed(before, s, s.checkpoint, *FIXED)
    except ValueError as error:
        raise CheckpointError(str(error)) from error
    try:
        like = t.network.state_dict()
        t.network.load_state_dict(take(tensors, "network", like))
        load_optimizer(t.optimizer, tensors, "optimizer")
        t.anchor = save(take(tensors, "anchor", like))
        t.versions = {version: save(take(tensors, f"versions.{version}", like)) for version in about.versions}
        t.version = about.version
        if missing := {t.version_of(t.version), t.version} - t.versions.keys():
            raise ValueError(f"it lacks version {min(missing)} of the weights")
        games = [_games(t, about.made_of, each, tensors, f"games.{index}") for index, each in enumerate(about.games)]
    except (ValueError, RuntimeError, TypeError, OverflowError) as error:
        raise CheckpointError(f"{s.checkpoint} doesn't fit: {' '.join(str(error).split())}") from error
    t.steps, t.seconds, t.dropped, t.start = about.steps, about.seconds, about.dropped, about.start
    t.curve, t.changes = [dataclasses.asdict(point) for point in about.curve], about.changes
    if changed:
        t.changes.append({"steps": t.steps, "settings": changed})
    if about.made_of == t.made_of:
        t.take(games)
    elif games:
        lost = sum(each.num_games for each in games)
        t.dropped += lost
        print(f"{s.checkpoint} goes on without its {lost} games: they were played by other code ({about.made_of})")


def _games(trainer: Trainer, made_of: str, kept: Kept, tensors: Tensors, prefix: str) -> Games:
    """Some games of a checkpoint.

    Raises:
        ValueError: If compiled loops can't take them.
    """
    if kept.version > trainer.version:
        raise ValueError(f"it has games of version {kept.version}, which there is not yet")
    none, rows, entries = no_decisions(trainer.network.shape), kept.decisions, kept.legal
    sizes = {"first": rows + 1, "action": entries, "action_features": entries, "policy": entries}
    like = {
        name: torch.empty((sizes.get(name, rows), *part.shape[1:]), dtype=as_tensor(part).dtype, device="meta")
        for name, part in none._asdict().items()
    }
    found = take(tensors, prefix, like)
    if found["searched"].numpy().max(initial=0) > 1:
        raise ValueError("searched must be 0 or 1")
    arrays = {name: part.numpy().view(getattr(none, name).dtype) for name, part in found.items()}
    decisions = Decisions(**arrays)
    decisions.check(trainer.network.shape)
    return Games(made_of, kept.version, kept.first, kept.num_games, kept.steps, decisions)
