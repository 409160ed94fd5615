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
"""What takes the place of something sound."""
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
def deeply() -> Iterator[None]:
    """Let Python follow brackets deeper than what reads them ever will."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def as_json(value: Any) -> bytes:
    """A value as JSON, however deep; what JSON doesn't have as Python writes it (`NaN`)."""
    with deeply():
        return json.dumps(value).encode()


def places(value: Any) -> list[tuple[Any, Any]]:
    """All (container, key) of a nested value."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        container = waiting.pop()
        if isinstance(container, (dict, list)):
            inside = list(container.items()) if isinstance(container, dict) else list(enumerate(container))
            found += [(container, key) for key, _ in inside]
            waiting += [part for _, part in inside]
    return found


def mutated(value: Any, rng: Random) -> Any:
    """A copy of a nested value with one or a few faults; sometimes, as it may turn out, with none."""
    with deeply():
        value = deepcopy(value)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            spots = places(value)
            if not spots or rng.random() < 0.01:
                return odd(rng)
            container, key = rng.choice(spots)
            _damage(container, key, spots, rng)
        return value


def _damage(container: Any, key: Any, spots: list[tuple[Any, Any]], rng: Random) -> None:
    kind = rng.randrange(8)
    here = container[key]
    if kind == 0:
        del container[key]
    elif kind == 1:
        container[key] = odd(rng)
    elif kind == 2:  # what is sound elsewhere
        other, there = rng.choice(spots)
        container[key] = deepcopy(other[there])
    elif kind == 3:
        other, there = rng.choice(spots)
        container[key], other[there] = deepcopy(other[there]), deepcopy(here)
    elif kind == 4 and isinstance(container, dict):
        container[rng.choice(("", "x", "seed", "\x00", "__class__"))] = odd(rng)
    elif kind == 4:
        container.insert(rng.randrange(len(container) + 1), deepcopy(here))
    elif isinstance(here, bool):
        container[key] = not here
    elif isinstance(here, int):
        container[key] = here + rng.choice((-1, 1, 1, 2, 100))
    elif isinstance(here, float):
        container[key] = here * rng.choice((-1, 0, 1e30, math.nan))
    elif isinstance(here, str) and here:
        at = rng.randrange(len(here))
        container[key] = here[:at] + rng.choice(("", " ", "9", "é", "\n", here)) + here[at + 1 :]
    else:
        container[key] = odd(rng)


def odd(rng: Random) -> Any:
    """Something that hardly anybody expects."""
    if rng.random() < 0.05:
        deep: Any = 0
        for _ in range(rng.choice((50, 900, 3000))):
            deep = [deep] if rng.random() < 0.5 else {"a": deep}
        return deep
    return deepcopy(rng.choice(ODD))


def mutated_bytes(content: bytes, rng: Random) -> bytes:
    """Content with one or a few faults."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            del data[at : at + rng.choice((1, 8, 500))]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.choice((1, 8, 500)))
        elif kind == 3:
            data[at:at] = data[at : at + rng.choice((1, 20, 2000))]
        elif at < len(data):
            if kind == 4:
                data[at] ^= 1 << rng.randrange(8)
            elif kind == 5:
                data[at] = rng.choice(b'0123456789"[]{},:\x00\xff\n ')
            else:
                data[at : at + 8] = rng.choice((bytes(8), b"\xff" * 8))
    return bytes(data)


def mutated_tensor(tensor: torch.Tensor, rng: Random) -> torch.Tensor:
    """A tensor of another shape or type, or with numbers that should not be there."""
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
        wrong = (
            rng.choice((math.nan, math.inf, 1e38, -1.0))
            if damaged.is_floating_point()
            else rng.choice((-1, 127, 100, 1))
        )
        flat[rng.randrange(len(flat))] = wrong
    return damaged
