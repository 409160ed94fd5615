"""Definition of a whole number for all inputs: players, seats, actions, counts and seeds.

A boolean isn't one, though Python and NumPy would accept it as 0 or 1: in place of a number it is always a mistake.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from artus_env.engine.basics.reading import shown


def is_whole(value: Any) -> bool:
    """Whether a value is a single whole number of Python or NumPy."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def are_whole(values: Any) -> bool:
    """Whether an array of any library, a list or a single number contains only whole numbers."""
    if np.asarray(values).dtype.kind not in "iu":
        return False
    # In a list that also contains numbers, NumPy converts booleans to numbers.
    return hasattr(values, "__array__") or not any(
        isinstance(value, (bool, np.bool_)) for value in np.asarray(values, object).flat
    )


def whole_number(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a whole number within bounds as an int.

    Raises:
        ValueError: If it isn't a whole number or is out of bounds; the message begins with `name`.
    """
    if not is_whole(value):
        raise ValueError(f"{name} must be a whole number, got {shown(value)}")
    if value < low or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{name} must be {bounds}, got {shown(value)}")
    return int(value)


def action_number(action: Any) -> int:
    """Return a single action as an int: a whole number of any library, or an array without dimensions.

    Raises:
        TypeError: If it isn't a whole number.
    """
    try:
        if not isinstance(action, bool) and "bool" not in str(getattr(action, "dtype", "")):
            return operator.index(action)
    except TypeError:
        pass
    raise TypeError(f"an action is a whole number, got {shown(action)}")


def action_numbers(actions: Any, count: int) -> np.ndarray:
    """Return the actions of `count` games as an array: shape (count,), any integer type.

    Raises:
        TypeError: If they aren't whole numbers.
        ValueError: If there are more or fewer than `count`.
    """
    try:
        numbers = np.asarray(actions)
    except ValueError:  # lists of different lengths
        raise TypeError(f"actions must be {count} whole numbers, got {shown(actions)}") from None
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise TypeError(f"actions must be {count} whole numbers, got {numbers.dtype} of shape {numbers.shape}")
    if numbers.shape != (count,):
        raise ValueError(f"actions must be {count} whole numbers, got {numbers.dtype} of shape {numbers.shape}")
    if numbers is not actions and not are_whole(actions):  # arrays, the common case, need no second check
        raise TypeError(f"actions must be {count} whole numbers, got {shown(actions)}")
    return numbers
