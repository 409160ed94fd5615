"""Checkpoints: a safetensors file, whose metadata hold text and a checksum. They contain no code.

The checksum (CRC-32) detects damage. A file can also be forged with a correct checksum, so its shapes, types and
ranges are checked before compiled loops use them, which check nothing.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from msgspec import Meta
from safetensors import SafetensorError
from safetensors.torch import load, save

from artus_agents.saved import Count, Point
from artus_env import Batch
from artus_env.engine.basics.reading import decode
from artus_env.engine.basics.writing import write_atomically
from artus_env.engine.play.kernels import over_one
from artus_training.usage import UsageError

Tensors = dict[str, torch.Tensor]


@dataclass
class Progress:
    """Settings and progress of a training in its checkpoint."""

    settings: dict[str, Any]
    steps: Count
    updates: Count
    seconds: Annotated[float, Meta(ge=0)]
    pool: Count
    """Number of earlier selves in the pool."""
    ranks: Annotated[int, Meta(ge=1)] = 1
    """Processes that shared the training."""
    curve: list[Point] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    start: str = ""
    """Hash of the initial weights (see `start.Start`); empty: they were random."""


# --- files ---


def save_checkpoint(path: Path, progress: Mapping[str, Any], tensors: Tensors) -> None:
    """Write a checkpoint atomically.

    Args:
        path: The file.
        progress: The fields of `Progress`, in JSON types.
        tensors: Tensors by name.

    Raises:
        UsageError: If a number isn't finite, because the training has diverged; the existing checkpoint is kept.
        OSError: If the file can't be written; an existing one is kept.
    """
    if bad_name := not_finite(tensors):
        raise UsageError(f"{bad_name} has numbers that are not finite: the training has diverged; {path} is kept")
    tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    text = json.dumps(progress)
    write_atomically(path, save(tensors, {"artus": text, "checksum": checksum(text, tensors)}))


def read_checkpoint(path: Path) -> tuple[Progress, Tensors]:
    """Read a checkpoint, and check its checksum; the caller must check that its content makes sense.

    Returns:
        Settings and progress of the training, and the tensors by name.

    Raises:
        UsageError: If the file is missing, damaged or no checkpoint.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{path} doesn't exist: there is nothing to resume") from None
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from error
    try:
        tensors = load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        text, expected = header["__metadata__"]["artus"], header["__metadata__"]["checksum"]
        progress = decode(text.encode(), Progress)
    except (ValueError, SafetensorError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"{path} is damaged or no checkpoint of this version: {reason}") from error
    if expected != checksum(text, tensors):
        raise UsageError(f"{path} is damaged: its checksum doesn't match")
    if bad_name := not_finite(tensors):
        raise UsageError(f"{path}: {bad_name} has numbers that are not finite")
    return progress, tensors


def checksum(text: str, tensors: Tensors) -> str:
    """The checksum of a checkpoint's content."""
    names = sorted(tensors)
    shapes = [[name, str(tensors[name].dtype), list(tensors[name].shape)] for name in names]
    crc = zlib.crc32(json.dumps([text, shapes]).encode())
    for name in names:
        crc = zlib.crc32(tensors[name].contiguous().reshape(-1).view(torch.uint8).numpy().data, crc)
    return f"{crc:08x}"


def not_finite(tensors: Tensors) -> str:
    """The name of the first tensor with a number that isn't finite; empty if there is none."""
    floats = (name for name, value in tensors.items() if value.dtype in (torch.float32, torch.float64))
    return next((name for name in floats if not torch.isfinite(tensors[name]).all()), "")


# --- content ---


def with_prefix(prefix: str, tensors: Mapping[str, torch.Tensor]) -> Tensors:
    """Add a prefix to the names of tensors."""
    return {f"{prefix}.{name}": value for name, value in tensors.items()}


def without_prefix(tensors: Tensors, prefix: str, templates: Mapping[str, torch.Tensor]) -> Tensors:
    """Return the tensors whose names have a prefix (see `with_prefix`), by their names without the prefix.

    Raises:
        ValueError: If one is missing, or its shape or type differs from that of the tensor in `templates`.
    """
    for name, value in templates.items():
        found = tensors.get(f"{prefix}.{name}")
        if found is None or found.shape != value.shape or found.dtype != value.dtype:
            actual = "nothing" if found is None else f"{found.dtype} of shape {tuple(found.shape)}"
            raise ValueError(f"{prefix}.{name} must be {value.dtype} of shape {tuple(value.shape)}, got {actual}")
    return {name: tensors[f"{prefix}.{name}"] for name in templates}


def as_tensor(array: np.ndarray) -> torch.Tensor:
    """Copy an array as one of the saved types: signed integers, floats and bytes."""
    return torch.from_numpy(array.view(_saved_dtype(array.dtype)).copy())


def restore(array: np.ndarray, tensors: Tensors, prefix: str, name: str) -> None:
    """Overwrite an array with the tensor that `as_tensor` made of it.

    Raises:
        ValueError: If the tensor is missing, has another shape or type, or isn't 0 or 1 for a bool array.
    """
    saved = np.empty(array.shape, array.dtype).view(_saved_dtype(array.dtype))
    saved = without_prefix(tensors, prefix, {name: torch.from_numpy(saved)})[name].numpy()
    if array.dtype.kind == "b" and saved.max() > 1:  # bool arrays are used as indices
        raise ValueError(f"{name} must be 0 or 1")
    array[...] = saved.view(array.dtype)


def _saved_dtype(dtype: np.dtype) -> np.dtype:
    if dtype.kind == "u":
        return np.dtype(f"i{dtype.itemsize}")
    return np.dtype(np.uint8) if dtype.kind in "bV" else dtype


def optimizer_tensors(optimizer: torch.optim.Adam) -> Tensors:
    """Adam's state by INDEX.NAME: three tensors for each parameter; no tensors before the first step."""
    state = optimizer.state_dict()["state"]
    return {f"{index}.{name}": value for index, values in state.items() for name, value in values.items()}


def load_optimizer(optimizer: torch.optim.Adam, tensors: Tensors, prefix: str) -> None:
    """Load the state from `optimizer_tensors` into an optimizer, which keeps its own settings.

    Raises:
        ValueError: If a shape or type differs: the optimizer's loops would write out of bounds.
    """
    state: dict[int, Any] = {}
    state_dict = optimizer.state_dict()
    if any(name.startswith(f"{prefix}.") for name in tensors):
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        for index, parameter in enumerate(parameters):
            templates = {f"{index}.step": torch.empty((), device="meta")}
            templates |= {f"{index}.{name}": parameter for name in ("exp_avg", "exp_avg_sq")}
            found = without_prefix(tensors, prefix, templates)
            if found[f"{index}.step"] < 1 or (found[f"{index}.exp_avg_sq"] < 0).any():
                raise ValueError(f"{prefix}.{index} is invalid: it has negative numbers")
            state[index] = {name.partition(".")[2]: value for name, value in found.items()}
    optimizer.load_state_dict(state_dict | {"state": state})


def checked_games(batch: Batch, states: np.ndarray) -> np.ndarray:
    """Check game states that were read from a file, and return them rebuilt by the rules.

    Raises:
        ValueError: If a state is no possible position of this variant, or its game is over.
    """
    rules, players = batch.definition.rules.index(batch.rules), batch.num_players
    checked = np.empty_like(states)
    for game, state in enumerate(states):
        try:
            if int(state["num_players"]) != players or int(state["rule_set"]) != rules:
                raise ValueError("it is of another variant")
            position = batch.definition.to_dict(state, batch.components)
            checked[game] = batch.definition.from_dict(position, batch.components)[0]
        except (ValueError, IndexError, KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"game {game} is no possible position: {error}") from error
        if over_one(batch.tables, checked[game : game + 1]):
            raise ValueError(f"game {game} is over")
    return checked
