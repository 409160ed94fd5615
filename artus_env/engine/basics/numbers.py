"""What counts as a whole number when somebody hands one in: the same for players, seats, actions, counts and seeds.

A boolean is none, though Python and NumPy would take it for 0 or 1: where a number is wanted it is always a mistake.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from artus_env.engine.basics.reading import shown


def is_whole(value: Any) -> bool:
    """Whether it is one whole number, Python's or NumPy's."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def are_whole(given: Any) -> bool:
    """Whether an array of any library, a list or a single number holds whole numbers alone."""
    if np.asarray(given).dtype.kind not in "iu":
        return False
    # NumPy makes numbers of the booleans in a list that has numbers, too.
    return hasattr(given, "__array__") or not any(
        isinstance(value, (bool, np.bool_)) for value in np.asarray(given, object).flat
    )


def whole_number(name: str, value: Any, low: int, high: int | None = None) -> int:
    """A whole number that is in its bounds, as an int.

    Raises:
        ValueError: If it isn't; the message names it and the bounds.
    """
    if not is_whole(value):
        raise ValueError(f"{name} must be a whole number, got {shown(value)}")
    if value < low or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{name} must be {bounds}, got {shown(value)}")
    return int(value)


def action_number(action: Any) -> int:
    """A single action as an int: a whole number of any library, also an array without dimensions.

    Raises:
        TypeError: If it is no whole number.
    """
    try:
        if not isinstance(action, bool) and "bool" not in str(getattr(action, "dtype", "")):
            return operator.index(action)
    except TypeError:
        pass
    raise TypeError(f"an action is a whole number, got {shown(action)}")


def action_numbers(actions: Any, count: int) -> np.ndarray:
    """Actions of `count` games as an array: shape (count,), whole numbers of any type.

    Raises:
        TypeError: If they are no whole numbers.
        ValueError: If there are more or fewer.
    """
    try:
        numbers = np.asarray(actions)
    except ValueError:  # lists of several lengths
        raise TypeError(f"actions must be {count} whole numbers, got {shown(actions)}") from None
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise TypeError(f"actions must be {count} whole numbers, got {numbers.dtype} of shape {numbers.shape}")
    if numbers.shape != (count,):
        raise ValueError(f"actions must be {count} whole numbers, got {numbers.dtype} of shape {numbers.shape}")
    if numbers is not actions and not are_whole(actions):  # arrays, the common case, are done
        raise TypeError(f"actions must be {count} whole numbers, got {shown(actions)}")
    return numbers
