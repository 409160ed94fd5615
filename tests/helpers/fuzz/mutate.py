"""Damage to JSON values, to bytes and to tensors, drawn from a `random.Random`."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from random import Random
from typing import Any

import torch

ODD = (
    None, True, False, 0, 1, -1, 2, 7, 28, 2**31, 2**53, 2**63, 2**64, -(2**63) - 1, 10**30, 1.0, 0.5, -0.0,
    1e300, math.inf,
    math.nan, "", "0", "x", "x" * 5000,
    "\u202e\x1b[31m", "{{data}}", "</script>", "../../etc", "program:false", [], [[]], {},
    {"": 0}, [0] * 500,
)  # fmt: skip
"""Values that replace valid ones."""
DTYPES = (
    torch.float32,
    torch.float64,
    torch.bfloat16,
    torch.int8,
    torch.int64,
    torch.uint8,
    torch.bool,
    torch.float8_e4m3fn,
)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise Python's recursion limit, for values that are nested deeper than any reader accepts."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def as_json(value: Any) -> bytes:
    """A value of any depth as JSON; numbers that JSON doesn't have are written as Python does (`NaN`)."""
    with deep_recursion():
        return json.dumps(value).encode()


def places(value: Any) -> list[tuple[Any, Any]]:
    """The container and key of every part of a nested value."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        container = waiting.pop()
        if isinstance(container, (dict, list)):
            entries = list(container.items()) if isinstance(container, dict) else list(enumerate(container))
            found += [(container, key) for key, _ in entries]
            waiting += [part for _, part in entries]
    return found


def mutated(value: Any, rng: Random) -> Any:
    """A copy of a nested value with one or a few changes, which may cancel out."""
    with deep_recursion():
        value = deepcopy(value)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            spots = places(value)
            if not spots or rng.random() < 0.01:
                return odd_value(rng)
            container, key = rng.choice(spots)
            _damage(container, key, spots, rng)
        return value


def _damage(container: Any, key: Any, spots: list[tuple[Any, Any]], rng: Random) -> None:
    """Change, remove, add or exchange the part at a key of a container, in place."""
    kind = rng.randrange(8)
    part = container[key]
    if kind == 0:
        del container[key]
    elif kind == 1:
        container[key] = odd_value(rng)
    elif kind == 2:  # a part from another place
        other_container, other_key = rng.choice(spots)
        container[key] = deepcopy(other_container[other_key])
    elif kind == 3:
        other_container, other_key = rng.choice(spots)
        container[key], other_container[other_key] = deepcopy(other_container[other_key]), deepcopy(part)
    elif kind == 4 and isinstance(container, dict):
        container[rng.choice(("", "x", "seed", "\x00", "__class__"))] = odd_value(rng)
    elif kind == 4:
        container.insert(rng.randrange(len(container) + 1), deepcopy(part))
    elif isinstance(part, bool):
        container[key] = not part
    elif isinstance(part, int):
        container[key] = part + rng.choice((-1, 1, 1, 2, 100))
    elif isinstance(part, float):
        container[key] = part * rng.choice((-1, 0, 1e30, math.nan))
    elif isinstance(part, str) and part:
        index = rng.randrange(len(part))
        container[key] = part[:index] + rng.choice(("", " ", "9", "é", "\n", part)) + part[index + 1 :]
    else:
        container[key] = odd_value(rng)


def odd_value(rng: Random) -> Any:
    """A value that readers hardly expect."""
    if rng.random() < 0.05:
        deep: Any = 0
        for _ in range(rng.choice((50, 900, 3000))):
            deep = [deep] if rng.random() < 0.5 else {"a": deep}
        return deep
    return deepcopy(rng.choice(ODD))


def mutated_bytes(content: bytes, rng: Random) -> bytes:
    """A copy of bytes with one or a few changes."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        index = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0:
            del data[index:]
        elif kind == 1:
            del data[index : index + rng.choice((1, 8, 500))]
        elif kind == 2:
            data[index:index] = rng.randbytes(rng.choice((1, 8, 500)))
        elif kind == 3:
            data[index:index] = data[index : index + rng.choice((1, 20, 2000))]
        elif index < len(data):
            if kind == 4:
                data[index] ^= 1 << rng.randrange(8)
            elif kind == 5:
                data[index] = rng.choice(b'0123456789"[]{},:\x00\xff\n ')
            else:
                data[index : index + 8] = rng.choice((bytes(8), b"\xff" * 8))
    return bytes(data)


def mutated_tensor(tensor: torch.Tensor, rng: Random) -> torch.Tensor:
    """A tensor of another shape or type, or with an invalid number."""
    kind = rng.randrange(6)
    if kind == 0:
        return tensor.to(rng.choice(DTYPES))
    if kind == 1:
        return tensor.reshape(-1)[: rng.randrange(tensor.numel() + 1)].clone()
    if kind == 2:
        return tensor[None].clone()
    if kind == 3:
        return torch.cat([tensor.reshape(-1), tensor.reshape(-1)])
    damaged = tensor.clone()
    if damaged.numel():
        flat = damaged.view(-1)
        bad_number = (
            rng.choice((math.nan, math.inf, 1e38, -1.0))
            if damaged.is_floating_point()
            else rng.choice((-1, 127, 100, 1))
        )
        flat[rng.randrange(len(flat))] = bad_number
    return damaged
