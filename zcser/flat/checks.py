"""What generated verifiers call: the faults of a message, the checks of vtables and tensors.

1. A `Fault` never leaves `zcser.flat`: `zcser.flat.verify` makes a `VerifyError` or `TruncatedError` of it.
2. What is wrong is sorted out here, off the fast path: generated code only finds that something is.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from zcser.core.dtypes import dtype_name, dtype_numbered
from zcser.flat.inline import Leaf, code_of
from zcser.schema.arrays import shape_fits
from zcser.schema.model import Tensor

__all__ = [
    "MOST_DIMENSIONS",
    "SMALLEST",
    "Fault",
    "Vtables",
    "bad_long",
    "bad_string",
    "bad_table",
    "bad_vector",
    "check_identifier",
    "check_prefix",
    "enum_check",
    "located",
    "overspent",
    "tensor_check",
]

MOST_DIMENSIONS = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
"""Of a numpy array."""

SMALLEST = 12
"""Bytes of the smallest message: the root's offset, a table without fields, its vtable."""

_KNOWN_VTABLES = 64
"""Vtables of one table that are remembered between messages. A writer makes a handful; hostile ones find a full cache."""


class Fault(Exception):  # noqa: N818 - never leaves this package
    """What is wrong with a message, and where.

    Attributes
    ----------
    reason, offset
        In words, and in bytes from the start.
    cut
        Whether the message would go on past the end of the buffer.
    steps
        The path to the place, from the inside out.
    """

    def __init__(self, reason: str, offset: int, *, cut: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset
        self.cut = cut
        self.steps: list[str | int] = []


def located(error: Exception, position: int, names: Sequence[str | int | None], field: int, item: int) -> Fault:
    """The fault that an exception in a table means, with the steps that this table adds to the path."""
    if isinstance(error, Fault):
        fault = error
    elif isinstance(error, UnicodeDecodeError):
        fault = Fault(f"a string is not UTF-8: {error.reason}", position)
    else:  # struct.error and IndexError, of a read past the end
        fault = Fault("an offset leads past the end", position, cut=True)
    if item >= 0:
        fault.steps.append(item)
    if field >= 0 and (name := names[field]) is not None:
        fault.steps.append(name)
    return fault


def bad_table(end: int, position: int, size: int, mask: int, rest: int) -> NoReturn:
    """Say what is wrong with the place of a table."""
    if position & mask != rest:
        raise Fault(f"a table at byte {position} is not aligned", position)
    raise Fault(f"a table of {size} bytes leads past the end at {end}", position, cut=True)


def bad_vector(end: int, offset: int, position: int, stop: int) -> NoReturn:
    """Say what is wrong with a vector."""
    if not offset:
        raise Fault("an offset is 0", position)
    if position & 3:
        raise Fault(f"a vector at byte {position} is not aligned", position)
    raise Fault(f"a vector up to byte {stop} leads past the end at {end}", position, cut=True)


def bad_long(end: int, offset: int, position: int, count: int) -> NoReturn:
    """Say what is wrong with a vector whose length has 8 bytes."""
    if not offset:
        raise Fault("an offset is 0", position)
    if position & 7:
        raise Fault(f"a vector at byte {position} is not aligned", position)
    raise Fault(f"a vector of {count} items leads past the end at {end}", position, cut=True)


def bad_string(end: int, offset: int, position: int, stop: int) -> NoReturn:
    """Say what is wrong with a string."""
    if offset and not position & 3 and stop < end:
        raise Fault("a string has no terminator", stop)
    bad_vector(end, offset, position, stop + 1)


def overspent(left: Sequence[int], position: int) -> NoReturn:
    """Say which bound was passed."""
    if left[0] < 0:
        raise Fault("the message has more elements than limits.elements", position)
    raise Fault("the message shows the same bytes again and again", position)


def check_prefix(buffer: bytes | memoryview, end: int) -> None:
    """Check the size before a message of `end` bytes."""
    (size,) = struct.unpack_from("<I", buffer)
    if size != end - 4:
        raise Fault(f"the size prefix says {size} bytes, but {end - 4} follow it", 0, cut=size > end - 4)


def check_identifier(buffer: bytes | memoryview, at: int, identifier: bytes) -> None:
    """Check the file identifier of a message."""
    found = bytes(buffer[at : at + 4])
    if found != identifier:
        raise Fault(f"the file identifier is {found!r}, not {identifier!r}", at)


class Vtables:
    """The vtables of one table: checked, and reduced to what the generated code asks of them.

    Parameters
    ----------
    number, count
        Of this table, and how many there are: they make the key of a vtable seen in a message.
    slots
        (index, size in bytes, alignment, whether the code asks for its offset) of each.
    refuse_unknown
        Refuse a vtable with a slot that is not among them.
    """

    def __init__(
        self, number: int, count: int, slots: Sequence[tuple[int, int, int, bool]], *, refuse_unknown: bool
    ) -> None:
        self.number = number
        self.count = count
        self.slots = slots
        self.refuse_unknown = refuse_unknown
        self.known: dict[bytes, tuple[Any, ...]] = {}
        self._usual = 0
        # What lies beyond the slots is looked at only where it would be refused; a long vtable costs no more than a short.
        self.reach = 1 << 16 if refuse_unknown else max((6 + 2 * slot[0] for slot in slots), default=4)

    def __call__(
        self, buffer: bytes | memoryview, end: int, start: int, seen: dict[int, tuple[Any, ...]]
    ) -> tuple[Any, ...]:
        """Check the vtable at `start`, and enter it among those seen; what `at` gives."""
        found = seen[start * self.count + self.number] = self.at(buffer, end, start)
        return found

    def at(self, buffer: bytes | memoryview, end: int, start: int) -> tuple[Any, ...]:
        """Check the vtable at `start`.

        Returns
        -------
        tuple
            Size of its tables at least; a mask and what a table's position must be under it; the offsets asked for.
        """
        if start < 0 or start & 1:
            raise Fault(f"a vtable would start at byte {start}", max(start, 0))
        # A vtable begins with its size: what equals a whole one that was checked needs no further look.
        raw = bytes(buffer[start : start + self._usual])
        found = self.known.get(raw)
        if found is not None:
            return found
        if start + 4 > end:
            raise Fault("a vtable leads past the end", start, cut=True)
        size = buffer[start] | buffer[start + 1] << 8
        if size < 4 or size & 1:
            raise Fault(f"a vtable has {size} bytes", start)
        if start + size > end:
            raise Fault(f"a vtable of {size} bytes leads past the end", start, cut=True)
        self._usual = size if size <= self.reach else 0
        raw = bytes(buffer[start : start + min(size, self.reach)])
        # One that was cut down stands under a key that no whole one has: its end must be looked at each time.
        key = raw if size <= self.reach else raw + b"+"
        found = self.known.get(key)
        if found is None:
            found = self._parse(raw, start)
            if len(self.known) < _KNOWN_VTABLES:
                self.known[key] = found
        return found

    def _parse(self, raw: bytes, start: int) -> tuple[Any, ...]:
        _, inline, *offsets = struct.unpack(f"<{len(raw) // 2}H", raw)
        if inline < 4:
            raise Fault(f"a table has {inline} bytes", start + 2)
        asked, known, mask, rest, is_torn = [], set(), 3, 0, False
        for index, size, align, wanted in self.slots:
            offset = offsets[index] if index < len(offsets) else 0
            known.add(index)
            if wanted:
                asked.append(offset)
            if not offset:
                continue
            place = start + 4 + 2 * index
            if offset < 4:
                raise Fault(f"slot {index} lies outside its table", place)
            # The official Python builder before 25.12.19 has tables of several sizes share a vtable with the size of one.
            inline = max(inline, offset + size)
            if offset % min(align, 4):
                raise Fault(f"slot {index} is not aligned to {align} bytes", place)
            if align > 4:
                # Tables begin where the slots that were met want it; the one aligned to most says it for all.
                wants = -offset % align
                is_torn = is_torn or bool((wants ^ rest) & (align - 1) & mask)
                if align - 1 > mask:
                    mask, rest = align - 1, wants
        if is_torn:
            raise Fault("slots of 8 bytes and more are not aligned to each other", start)
        if self.refuse_unknown and any(offset and index not in known for index, offset in enumerate(offsets)):
            raise Fault("a field is not in the schema, and unknown_fields is 'refuse'", start)
        return (inline, mask, rest, *asked)


def tensor_check(type_: Tensor) -> Callable[[int, tuple[int, ...], int, int], None]:
    """A check of a tensor's dtype number, shape, size in bytes, and position."""

    def check(number: int, shape: tuple[int, ...], size: int, position: int) -> None:
        try:
            dtype = dtype_numbered(number)
        except LookupError as error:
            raise Fault(str(error), position) from None
        if type_.dtype is not None and dtype_name(dtype) != type_.dtype:
            raise Fault(f"{type_} is needed, not dtype {dtype_name(dtype)}", position)
        if shape and min(shape) < 0:
            raise Fault(f"a tensor has a negative extent: {list(shape)}", position)
        if not shape_fits(type_, shape):
            raise Fault(f"{type_} is needed, not shape {list(shape)}", position)
        if math.prod(shape) * dtype.itemsize != size:
            raise Fault(f"shape {list(shape)} of {dtype_name(dtype)} does not take {size} bytes", position)
        if math.prod(extent for extent in shape if extent) * dtype.itemsize > 2**63 - 1:
            # Only where an extent is 0; numpy refuses such a shape all the same.
            raise Fault(f"shape {list(shape)} is larger than an array can be", position)

    return check


def enum_check(leaves: Sequence[Leaf], size: int) -> Callable[[bytes | memoryview, int, int, int, bool], None]:
    """A check of the enums in structs of `size` bytes: of `count` of them, items of a vector or one alone.

    They are at `start` of a buffer, and at `place` in the message.
    """
    known = [(leaf, f"<{code_of(leaf.node)}", frozenset(dict(leaf.node.values))) for leaf in leaves]

    def check(buffer: bytes | memoryview, start: int, count: int, place: int, is_vector: bool) -> None:
        wrong = []
        for order, (leaf, code, members) in enumerate(known):
            numbers = np.ndarray(count, code, buffer, start + leaf.offset, size).tolist()
            if not members.issuperset(numbers):
                index = next(index for index, number in enumerate(numbers) if number not in members)
                wrong.append((index, order, numbers[index]))
        if wrong:
            index, order, number = min(wrong)
            leaf = known[order][0]
            fault = Fault(f"{number} is no member of the enum", place + size * index + leaf.offset)
            fault.steps += [*reversed(leaf.steps), *([index] if is_vector else [])]
            raise fault

    return check
