"""Parts as bytes, every value held to what its place can hold: `pack_part`.

1. Nothing wraps, is cut or padded: an int has its range, a float32 or float16 its greatest number (what it holds is
   rounded to the nearest), bytes and arrays their exact size, a bool is a bool.
2. The whole part is packed before the first byte of it is written.
"""

from __future__ import annotations

import reprlib
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zcser.core.errors import EncodeError
from zcser.core.paths import pointer
from zcser.header.records.model import Array, Bytes, Field, Part, Scalar, Struct
from zcser.header.records.read import compound_of

__all__ = ["pack_field", "pack_part", "packer_of"]

Steps = tuple[str | int, ...]


class _Misfit(Exception):  # noqa: N818 - never leaves the module, which makes an EncodeError of it
    def __init__(self, reason: str, steps: Steps) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps = steps


def pack_part(part: Part, value: Any) -> bytes:
    """The bytes of a part's value, padding as zeros.

    Raises
    ------
    EncodeError
        The value, or a part of it, does not fit; the error has the path.
    """
    try:
        return _pack(part, value, ())
    except _Misfit as misfit:
        raise EncodeError(misfit.reason, path=pointer(misfit.steps)) from misfit.__cause__


def packer_of(record: Struct) -> Callable[[Any], bytes]:
    """`pack_part` of a record: one compound pack of ``struct`` where that means the same."""
    whole = compound_of(record)
    parts = [field.part for field in record.fields]
    if (
        whole is None
        or list(record.fields) != record.by_offset()
        or any(isinstance(part, Array | Struct) for part in parts)
    ):
        return lambda value: pack_part(record, value)
    pack, count = whole.pack, len(parts)
    own = tuple if issubclass(record.cls, tuple) else record.cls
    names = None if own is tuple else [field.name for field in record.fields]
    # struct cuts and pads bytes, and takes the truth of anything.
    sized = [(number, part.size) for number, part in enumerate(parts) if isinstance(part, Bytes)]
    bools = [number for number, part in enumerate(parts) if isinstance(part, Scalar) and part.code == "?"]

    def packer(value: Any) -> bytes:
        if isinstance(value, own):
            try:
                fields: Any = value if names is None else [getattr(value, name) for name in names]
                if len(fields) == count and _are_exact(fields, sized, bools):
                    return pack(*fields)
            except Exception:  # noqa: BLE001, S110 - what does not fit is found and said below
                pass
        return pack_part(record, value)

    return packer


def _are_exact(fields: Sequence[Any], sized: Sequence[tuple[int, int]], bools: Sequence[int]) -> bool:
    for number, size in sized:
        if fields[number].__class__ is not bytes or len(fields[number]) != size:
            return False
    return all(fields[number].__class__ is bool for number in bools)


def pack_field(record: Struct, field: Field, value: Any) -> bytes:
    """The bytes of one field's value; the path of an error begins at the record."""
    try:
        return _pack(field.part, value, (field.name,))
    except _Misfit as misfit:
        reason = f"{record.name}.{field.name}: {misfit.reason}"
        raise EncodeError(reason, path=pointer(misfit.steps)) from misfit.__cause__


def _pack(part: Part, value: Any, steps: Steps) -> bytes:
    match part:
        case Scalar():
            return _scalar(part, value, steps)
        case Bytes(size=size):
            if not isinstance(value, bytes | bytearray | memoryview) or memoryview(value).nbytes != size:
                raise _Misfit(f"bytes of length {size} are needed, not {_brief(value)}", steps)
            return bytes(value)
        case Array():
            return _array(part, part.shape, value, steps)
        case Struct():
            return _record(part, value, steps)


def _scalar(part: Scalar, value: Any, steps: Steps) -> bytes:
    if part.code != "?" or isinstance(value, bool | np.bool_):
        try:
            return struct.pack(part.format, value)
        except Exception as error:
            raise _Misfit(f"{_what(part)} is needed, not {_brief(value)}", steps) from error
    raise _Misfit(f"{_what(part)} is needed, not {_brief(value)}", steps)


def _what(part: Scalar) -> str:
    match part.code:
        case "?":
            return "True or False"
        case "c":
            return "bytes of length 1"
        case "e" | "f" | "d":
            return f"a float that fits float{part.size * 8}"
    bits = part.size * 8
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if part.code.islower() else (0, (1 << bits) - 1)
    return f"an int from {low} to {high}"


def _array(part: Array, shape: tuple[int, ...], value: Any, steps: Steps) -> bytes:
    if isinstance(value, np.ndarray):
        item, inner = part.whole
        wanted = shape + inner[len(part.shape) :]
        if value.shape != wanted:
            raise _Misfit(f"an array of shape {wanted} is needed, not {value.shape}", steps)
        if isinstance(item, Scalar) and item.code != "c" and np.can_cast(value.dtype, item.dtype, "safe"):
            return value.astype(item.dtype).tobytes()
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != shape[0]:
        length = f", of length {len(value)}" if isinstance(value, Sequence) else ""
        raise _Misfit(f"a sequence of {shape[0]} items is needed, not {_brief(value)}{length}", steps)
    inner = shape[1:]
    return b"".join(
        [
            _array(part, inner, item, (*steps, index)) if inner else _pack(part.item, item, (*steps, index))
            for index, item in enumerate(value)
        ]
    )


def _record(part: Struct, value: Any, steps: Steps) -> bytes:
    if issubclass(part.cls, tuple):
        if not isinstance(value, tuple) or len(value) != len(part.fields):
            names = ", ".join(field.name for field in part.fields)
            raise _Misfit(f"a tuple of {part.name}'s fields ({names}) is needed, not {_brief(value)}", steps)
        values: Sequence[Any] = value
    else:
        if not isinstance(value, part.cls):
            raise _Misfit(f"a {part.name} is needed, not {_brief(value)}", steps)
        values = [getattr(value, field.name) for field in part.fields]
    out = bytearray(part.size)
    for field, own in zip(part.fields, values, strict=True):
        out[field.offset : field.end] = _pack(field.part, own, (*steps, field.name))
    return bytes(out)


def _brief(value: Any) -> str:
    return reprlib.repr(value)
