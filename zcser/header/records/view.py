"""What views of records share, whichever engine reads them, and how a field is read and written away from a fast path.

1. A field reads as `zcser.core.view` has it, but that arrays of any items are numpy arrays over the buffer, structured
   where the items are records. Arrays and memoryviews hold the buffer by themselves.
2. Other than a codec's views, those of a writable buffer are written through: ``view.field = value``. Bytes are written
   by assignment too; their memoryview is read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from zcser.core.errors import EncodeError
from zcser.core.view import RecordView
from zcser.header.records.model import Array, Bytes, Field, Scalar, Struct
from zcser.header.records.place import read_only
from zcser.header.records.write import pack_field

__all__ = ["Read", "Setter", "WritableView", "Write", "read_of", "write_of"]

Read = Callable[[memoryview, int], Any]
"""Reads the part that stands at an offset."""

Write = Callable[[memoryview, int, Any], None]
"""Writes the part that stands at an offset."""

Setter = Callable[[Any, Any], None]


class WritableView(RecordView):
    """A record whose fields are set by attribute or by name."""

    __slots__ = ()
    _zc_setters: ClassVar[Mapping[str, Setter]] = {}

    def _zc_present(self, name: str) -> bool:
        return name in self._zc_getters

    def __setitem__(self, name: str, value: Any) -> None:
        try:
            setter = self._zc_setters[name]
        except (KeyError, TypeError):
            raise KeyError(f"{name!r} is not a field of {self._zc_record}: {', '.join(self._zc_setters)}") from None
        setter(self, value)


def read_of(part: Scalar | Bytes | Array) -> Read:
    """How a view reads bytes and arrays, and unpacks what C leaves to Python."""
    size = part.size
    if not isinstance(part, Array):
        return lambda memory, at: memory[at : at + size].toreadonly()
    item, shape = part.whole
    dtype = item.dtype

    # np.ndarray(shape, dtype, memory) would let go of the memoryview, and with it of the buffer.
    def array(memory: memoryview, at: int) -> npt.NDArray[Any]:
        return np.frombuffer(memory[at : at + size], dtype).reshape(shape)

    def empty(_memory: memoryview, _at: int) -> npt.NDArray[Any]:
        return np.empty(shape, dtype)

    return array if size else empty


def write_of(record: Struct, field: Field) -> Write:
    """How a field is written, or refused with its name."""

    def write(memory: memoryview, at: int, value: Any) -> None:
        if memory.readonly:
            raise read_only(record, field)
        data = pack_field(record, field, value)
        try:
            memory[at : at + len(data)] = data
        except ValueError as error:
            # What packs the value is the user's, and may release the view.
            raise EncodeError(f"{record.name}.{field.name} cannot be written: {error}") from error

    return write
