"""An observation in blocks: what its features mean, their bounds and their scale, said once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Feature:
    """A block of `size` features with the same meaning and scale."""

    name: str
    size: int
    low: int
    high: int
    scale: float  # multiply by it for small floats, most of them within -1..1
    meaning: str

    @property
    def scaled_range(self) -> str:
        """The bounds of the feature times its scale, as text."""
        return "..".join(f"{bound * self.scale:.3g}" for bound in (self.low, self.high))


def flags(name: str, size: int, meaning: str) -> Feature:
    """A block of zeros and ones."""
    return Feature(name, size, 0, 1, 1.0, meaning)


def scale_of(layout: Iterable[Feature]) -> np.ndarray:
    """Factors for small floats, see `Feature.scaled_range`: shape (F,), float32."""
    return np.concatenate([np.full(block.size, block.scale, np.float32) for block in layout])


def bounds_of(layout: Iterable[Feature]) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest value of each feature, 0 always among them: shapes (F,), int8, read-only."""
    blocks = list(layout)
    low = np.concatenate([np.full(block.size, min(block.low, 0), np.int8) for block in blocks])
    high = np.concatenate([np.full(block.size, block.high, np.int8) for block in blocks])
    low.flags.writeable = high.flags.writeable = False
    return low, high


def starts_of(layout: Iterable[Feature]) -> dict[str, int]:
    """Where each block begins, by its name."""
    starts, end = {}, 0
    for block in layout:
        starts[block.name] = end
        end += block.size
    return starts
