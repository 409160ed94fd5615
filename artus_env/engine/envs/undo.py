"""All or nothing: undo changes after an error or an interrupt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


class Undo:
    """Reusable context manager: an error in the block restores the state at its beginning.

    Args:
        arrays: Arrays whose contents are restored. They are contiguous.
        derive: Called at the end, to recompute arrays that follow from the others.

    Attributes:
        owners: Objects whose attributes are restored. The block may set new values, but must not change the old ones in
            place, apart from the arrays.
    """

    def __init__(
        self, arrays: Iterable[np.ndarray], owners: tuple[Any, ...] = (), derive: Callable[[], None] | None = None
    ) -> None:
        # As bytes, in half the time: records would be copied field by field.
        self._arrays = [array.reshape(-1).view(np.uint8).data for array in arrays]
        self._copies = [memoryview(bytearray(array.nbytes)) for array in self._arrays]
        self._attributes: list[dict[str, Any]] = []
        self._derive = derive
        self.owners = owners

    def __enter__(self) -> None:
        for array, copy in zip(self._arrays, self._copies, strict=True):
            copy[:] = array
        self._attributes = [vars(owner).copy() for owner in self.owners]

    def __exit__(self, error_type: type[BaseException] | None, error: object, trace: object) -> None:
        if error_type is None:
            return
        for array, copy in zip(self._arrays, self._copies, strict=True):
            array[:] = copy
        for owner, attributes in zip(self.owners, self._attributes, strict=True):
            vars(owner).update(attributes)
        if self._derive:
            self._derive()
