"""All or nothing: takes back what an error or an interrupt has left half done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


class Undo:
    """For `with`, as often as needed: when the block raises, all is as it was when it began.

    Args:
        arrays: Their contents come back. They are contiguous.
        derive: Called in the end, for arrays that follow from the others.

    Attributes:
        owners: Their attributes come back. The block may set new values, but must not change the old ones in place,
            apart from the arrays.
    """

    def __init__(
        self, arrays: Iterable[np.ndarray], owners: tuple[Any, ...] = (), derive: Callable[[], None] | None = None
    ) -> None:
        # As bytes: that takes half the time, and records would be copied field by field.
        self._arrays = [array.reshape(-1).view(np.uint8).data for array in arrays]
        self._kept = [memoryview(bytearray(array.nbytes)) for array in self._arrays]
        self._attributes: list[dict[str, Any]] = []
        self._derive = derive
        self.owners = owners

    def __enter__(self) -> None:
        for array, kept in zip(self._arrays, self._kept, strict=True):
            kept[:] = array
        self._attributes = [vars(owner).copy() for owner in self.owners]

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None:
            return
        for array, kept in zip(self._arrays, self._kept, strict=True):
            array[:] = kept
        for owner, attributes in zip(self.owners, self._attributes, strict=True):
            vars(owner).update(attributes)
        if self._derive:
            self._derive()
