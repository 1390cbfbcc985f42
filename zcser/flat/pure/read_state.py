"""What generated readers share and call: the state of a message, its words and text, the arrays made of it.

Nothing here says in words what is wrong with a message: whoever meets an exception asks the verifier.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from zcser.core.buffers import frozen_copy
from zcser.core.dtypes import NAMES, dtype_numbered, number_of
from zcser.core.options import Limits
from zcser.flat.checks import tensor_check
from zcser.flat.verify import AMPLIFICATION
from zcser.schema.model import Tensor

__all__ = ["ABSENT", "LACKING", "array_reader", "array_source", "nested_state", "refuse", "state_of", "text_of"]

ABSENT = object()
"""Stands for a field that is absent, until its dict is made."""

LACKING = object()
"""Stands for a scalar whose default is to be made."""


def refuse() -> NoReturn:
    """Refuse the message; the verifier says why."""
    raise ValueError("it contradicts the schema, or leads outside itself")


def state_of(buffer: Any, limits: Limits, size: int | None = None) -> list[Any]:
    """What the functions share about a message: elements and bytes left, its 32-bit words, and what decodes UTF-8.

    Of a message of `size` bytes, if that is not the buffer's.
    """
    return _state(
        buffer, limits.elements, AMPLIFICATION[0] + AMPLIFICATION[1] * (len(buffer) if size is None else size)
    )


def nested_state(buffer: Any, state: list[Any]) -> list[Any]:
    """The same of a nested message, which has as many elements and bytes left as the one around it."""
    return _state(buffer, state[0], state[1])


def _state(buffer: Any, elements: int, left: int) -> list[Any]:
    size = len(buffer)
    words: Any = memoryview(buffer)
    if size & 3:
        words = words[: size & -4]
    return [
        elements,
        left,
        words.cast("I") if sys.byteorder == "little" else _SwappedWords(words),
        bytes.decode if buffer.__class__ is bytes else text_of,
    ]


class _SwappedWords:
    """The words of a message where those of the machine are big-endian."""

    def __init__(self, buffer: memoryview) -> None:
        self.words = np.frombuffer(buffer, "<u4")

    def __getitem__(self, index: int | slice) -> Any:
        return self.words[index] if isinstance(index, slice) else int(self.words[index])


def text_of(buffer: memoryview) -> str:
    """Decode UTF-8."""
    return str(buffer, "utf-8")


def array_source(buffer: Any) -> Any:
    """What an array over a buffer is to be made of.

    numpy keeps the object below a memoryview, not the view: a bytearray could then shrink under the array.
    """
    return buffer if buffer.__class__ is bytes else np.frombuffer(buffer, np.uint8)


def array_reader(type_: Tensor) -> Callable[..., npt.NDArray[Any]]:
    """What checks and makes an array of a buffer, dtype number, shape, position and size in bytes."""
    check = tensor_check(type_)
    allowed = range(len(NAMES)) if type_.dtype is None else (number_of(type_.dtype),)
    is_free = type_.shape is None

    def read(  # noqa: PLR0917 - called by generated code
        buffer: Any, number: int, shape: tuple[int, ...], start: int, size: int, copy: bool
    ) -> npt.NDArray[Any]:
        dtype = dtype_numbered(number)
        # Extents that are positive and account for the bytes need no further look.
        if not (
            is_free
            and number in allowed
            and math.prod(shape) * dtype.itemsize == size
            and (not shape or min(shape) > 0)
        ):
            check(number, shape, size, start)
        if copy:
            return np.ndarray(shape, dtype, buffer, start).copy()
        array: npt.NDArray[Any] = np.ndarray(shape, dtype, array_source(buffer), start)
        return array if array.flags.aligned else frozen_copy(array)

    return read
