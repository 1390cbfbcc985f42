"""Layouts from a format of the standard library's ``struct``, with names for its fields.

1. An entry of the format is a field: ``4I`` is one array of four, ``4s`` is bytes; ``IIII`` is four fields. ``x`` is
   padding, and so is an entry whose name begins with an underscore. ``0q`` aligns what comes next, and has no name.
2. Byte order, sizes and alignment are those of the format's first character. ``@``, which is meant where there is none,
   is this machine's own, and no form for other machines to read.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator, Sequence

from zcser.core.errors import SchemaError
from zcser.header.records.model import Array, ByteOrder, Bytes, Field, Part, Scalar, Struct, tuple_class

__all__ = ["scalar_of", "struct_of_format"]

_ENTRY = re.compile(r"(\d*)([a-zA-Z?])")
_SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
_WHY = {
    "p": "a Pascal string has no fixed length; use s",
    "P": "a pointer means nothing outside of its process; use N for its number",
}


def struct_of_format(format_: str, names: str | Sequence[str], *, name: str) -> Struct:
    """The layout of a format.

    Raises
    ------
    SchemaError
        ``struct`` does not take the format, a record cannot have one of its entries, or the names are not as many.
    """
    try:
        size = struct.calcsize(format_)
    except struct.error as error:
        raise SchemaError(f"{format_!r} is no format of struct: {error}", path=name) from None
    parts = list(_parts(format_, name))
    wanted = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    if len(wanted) != len(parts):
        raise SchemaError(
            f"{format_!r} has {len(parts)} fields (an entry with a count is one), and there are {len(wanted)} names",
            path=name,
        )
    fields = tuple(
        Field(own, part, offset) for own, (offset, part) in zip(wanted, parts, strict=True) if not own.startswith("_")
    )
    alignment = max((field.part.alignment for field in fields), default=1) if _order(format_) == "@" else 1
    return Struct(name, fields, size, alignment, tuple_class(name, [field.name for field in fields]))


def scalar_of(code: str, size: int, byteorder: ByteOrder) -> Scalar | None:
    """The scalar of a letter of ``struct``, ``ctypes`` or ``array`` whose size in bytes is known; None of other letters."""
    if code in {"?", "c"} and size == 1:
        return Scalar(code, byteorder)
    if code in {"e", "f", "d"} and size == {"e": 2, "f": 4, "d": 8}[code]:
        return Scalar(code, byteorder)
    if code.lower() in set("bhilqn") and size in _SIGNED:
        return Scalar(_SIGNED[size] if code.islower() else _SIGNED[size].upper(), byteorder)
    return None


def _order(format_: str) -> str:
    return format_[0] if format_[:1] in set("@=<>!") else "@"


def _parts(format_: str, name: str) -> Iterator[tuple[int, Part]]:
    order = _order(format_)
    native: ByteOrder = "little" if sys.byteorder == "little" else "big"
    byteorder: ByteOrder = {"<": "little", ">": "big", "!": "big"}.get(order, native)  # type: ignore[assignment]
    entries = "".join(format_.removeprefix(order).split())
    for entry in _ENTRY.finditer(entries):
        digits, code = entry.groups()
        count = int(digits or 1)
        # A count of 0 has struct itself align the end of what stands before.
        offset = struct.calcsize(f"{order}{entries[: entry.start()]}0{code}")
        if code == "s":
            yield offset, Bytes(count)
        elif code != "x" and count != 0:
            scalar = scalar_of(code, struct.calcsize(order + code), byteorder)
            if scalar is None:
                raise SchemaError(_WHY.get(code, f"a record has no {code!r}"), path=name)
            yield offset, scalar if count == 1 else Array(scalar, (count,))
