"""Checkpoints: text and numbers in one file with a checksum. They contain no code, and their content isn't trusted.

    artus checkpoint 2
    {"settings": ..., "steps": ...}
    tensors as safetensors
    checksum of everything before it

The checksum (CRC-32) detects damage. A file can also be forged with a correct checksum, so its shapes, types and
ranges are checked before compiled loops use them, which check nothing.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from artus_env import Batch
from artus_env.engine.basics.reading import decode
from artus_env.engine.basics.writing import write_atomically
from artus_env.engine.play.kernels import over_one

FIRST_LINE = b"artus checkpoint 2\n"
SEAL = 8
"""Length in bytes of the checksum at the end of the file, as hexadecimal digits."""
ABOUT, TENSORS = "artus.json", "artus.safetensors"
"""Names of our files in an SB3 archive."""
Tensors = dict[str, torch.Tensor]
T = TypeVar("T")


class CheckpointError(ValueError):
    """A checkpoint that can't be used. The message names the file and the problem."""


# --- files ---


def save_checkpoint(path: Path, about: Mapping[str, Any], tensors: Tensors) -> None:
    """Write a checkpoint atomically.

    Args:
        path: The file.
        about: Data that JSON can represent.
        tensors: Tensors by name.

    Raises:
        FloatingPointError: If a number isn't finite; the existing checkpoint is kept.
        OSError: If the file can't be written; an existing one is kept.
    """
    _write_sealed(path, FIRST_LINE, json.dumps(about).encode(), b"\n", _packed(tensors))


def read_checkpoint(path: Path, wanted: type[T]) -> tuple[T, Tensors]:
    """Read a checkpoint whose checksum is correct; the caller must check that its content makes sense.

    Args:
        path: The file.
        wanted: A dataclass with the required keys of the JSON part.

    Raises:
        CheckpointError: If the file is missing, damaged or something else.
    """
    content = _read_sealed(path, FIRST_LINE)
    about, _, tensors = content[len(FIRST_LINE) :].partition(b"\n")
    return _unpacked(path, about, tensors, wanted)


def add_to_archive(path: Path, archive: io.BytesIO, about: Mapping[str, Any], tensors: Tensors) -> None:
    """Like `save_checkpoint`, but within an SB3 archive, which `MaskablePPO.load` can still read."""
    with zipfile.ZipFile(archive, "a") as parts:
        parts.writestr(ABOUT, json.dumps(about, indent=1))
        parts.writestr(TENSORS, _packed(tensors))
        parts.comment = bytes(SEAL)  # the last bytes of the file: room for the checksum
    _write_sealed(path, archive.getvalue()[:-SEAL])


def read_archive(path: Path, wanted: type[T]) -> tuple[T, Tensors]:
    """`read_checkpoint` for an archive. SB3's own files in it are never read: they could contain code."""
    content = _read_sealed(path, b"PK")
    try:
        with zipfile.ZipFile(io.BytesIO(content + bytes(SEAL))) as archive:
            parts = [archive.getinfo(name) for name in (ABOUT, TENSORS)]
            if any(part.compress_type != zipfile.ZIP_STORED for part in parts):  # they could expand to any size
                raise CheckpointError(f"{path} is no checkpoint of this training: its parts are compressed")
            about, tensors = map(archive.read, parts)
    except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise CheckpointError(
            f"{path} is no checkpoint of this training: {' '.join(str(error).split())[:200]}"
        ) from error
    return _unpacked(path, about, tensors, wanted)


def _write_sealed(path: Path, *parts: bytes) -> None:
    write_atomically(path, b"".join((*parts, seal(*parts))))


def _read_sealed(path: Path, start: bytes) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise CheckpointError(f"{path} doesn't exist: there is nothing to resume") from None
    except OSError as error:
        raise CheckpointError(f"{path} can't be read: {error.strerror}") from error
    content, there = content[:-SEAL], content[-SEAL:]
    if not content.startswith(start):
        raise CheckpointError(
            f"{path} is damaged or no checkpoint that this version can read; leave --resume out to begin a new run"
        )
    if there != seal(content):
        raise CheckpointError(f"{path} is damaged or of an earlier version: its checksum doesn't match")
    return content


def seal(*parts: bytes) -> bytes:
    """The checksum of the parts, one after the other."""
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return b"%08x" % checksum


def _packed(tensors: Tensors) -> bytes:
    if wrong := not_finite(tensors):
        raise FloatingPointError(f"{wrong} has numbers that are not finite: the training has diverged")
    return save({name: value.detach().cpu().contiguous() for name, value in tensors.items()})


def _unpacked(path: Path, about: bytes, packed: bytes, wanted: type[T]) -> tuple[T, Tensors]:
    try:
        said, tensors = decode(about, wanted), load(packed)
    except (ValueError, SafetensorError, KeyError) as error:
        raise CheckpointError(
            f"{path} is no checkpoint of this training: {' '.join(str(error).split())[:200]}"
        ) from error
    if wrong := not_finite(tensors):
        raise CheckpointError(f"{path}: {wrong} has numbers that are not finite")
    return said, tensors


def not_finite(tensors: Tensors) -> str:
    """The name of the first tensor with a number that isn't finite; empty if there is none."""
    floats = (name for name, value in tensors.items() if value.dtype in (torch.float32, torch.float64))
    return next((name for name in floats if not np.isfinite(tensors[name].detach().cpu().numpy()).all()), "")


# --- content ---


def named(prefix: str, tensors: Mapping[str, torch.Tensor]) -> Tensors:
    """Add a prefix to the names of tensors."""
    return {f"{prefix}.{name}": value for name, value in tensors.items()}


def take(tensors: Tensors, prefix: str, like: Mapping[str, torch.Tensor]) -> Tensors:
    """Return the tensors whose names have a prefix (see `named`), without it.

    Raises:
        ValueError: If one is missing, or its shape or type differs from that in `like`.
    """
    for name, value in like.items():
        found = tensors.get(f"{prefix}.{name}")
        if found is None or found.shape != value.shape or found.dtype != value.dtype:
            what = "nothing" if found is None else f"{found.dtype} of shape {tuple(found.shape)}"
            raise ValueError(f"{prefix}.{name} must be {value.dtype} of shape {tuple(value.shape)}, got {what}")
    return {name: tensors[f"{prefix}.{name}"] for name in like}


def as_tensor(array: np.ndarray) -> torch.Tensor:
    """Copy an array as one of the saved types: signed integers, floats and bytes."""
    return torch.from_numpy(array.view(_saved_dtype(array.dtype)).copy())


def restore(array: np.ndarray, tensors: Tensors, prefix: str, name: str) -> None:
    """Overwrite an array with the tensor that `as_tensor` made of it.

    Raises:
        ValueError: If the tensor is missing, has another shape or type, or isn't 0 or 1 for a bool array.
    """
    saved = np.empty(array.shape, array.dtype).view(_saved_dtype(array.dtype))
    saved = take(tensors, prefix, {name: torch.from_numpy(saved)})[name].numpy()
    if array.dtype.kind == "b" and saved.max() > 1:  # bool arrays are used as indices
        raise ValueError(f"{name} must be 0 or 1")
    array[...] = saved.view(array.dtype)


def _saved_dtype(dtype: np.dtype) -> np.dtype:
    if dtype.kind == "u":
        return np.dtype(f"i{dtype.itemsize}")
    return np.dtype(np.uint8) if dtype.kind in "bV" else dtype


def optimizer_tensors(optimizer: torch.optim.Adam) -> Tensors:
    """Adam's state: three tensors for each parameter, none before the first step."""
    state = optimizer.state_dict()["state"]
    return {f"{index}.{name}": value for index, of in state.items() for name, value in of.items()}


def load_optimizer(optimizer: torch.optim.Adam, tensors: Tensors, prefix: str) -> None:
    """Load the state from `optimizer_tensors` into an optimizer, which keeps its own settings.

    Raises:
        ValueError: If a shape or type differs: the optimizer's loops would write out of bounds.
    """
    state: dict[int, Any] = {}
    whole = optimizer.state_dict()
    if any(name.startswith(f"{prefix}.") for name in tensors):
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        for index, parameter in enumerate(parameters):
            like = {f"{index}.step": torch.empty((), device="meta")}
            like |= {f"{index}.{name}": parameter for name in ("exp_avg", "exp_avg_sq")}
            found = take(tensors, prefix, like)
            if found[f"{index}.step"] < 1 or (found[f"{index}.exp_avg_sq"] < 0).any():
                raise ValueError(f"{prefix}.{index} can't be: it has negative numbers")
            state[index] = {name.partition(".")[2]: value for name, value in found.items()}
    optimizer.load_state_dict(whole | {"state": state})


def checked_games(batch: Batch, states: np.ndarray) -> np.ndarray:
    """Return valid states of this variant from the states in a file.

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
