"""The lazy views of the engine in pure Python; `zcser.flat.pure.view` derives a class from one of these for each part.

1. A view is a box with the buffer, a position, and what its vtable says. It reads a field when it is asked for.
2. All views of one message share the box. To release a view is to empty it: every read through any of them fails from
   then on, and the message is let go, while arrays and slices that were handed out keep it.
3. Every access is safe in memory, whatever the bytes are: reads are bounded by the buffer, positions are never negative,
   and a slice shorter than asked for is refused. Whatever exception a message provokes is a `DecodeError`.
4. A list of numbers gives numpy an array over the message by ``__array__``. It has no buffer protocol of its own, which
   classes in Python can have from 3.12 on only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from zcser.core.errors import DecodeError, ReleasedViewError
from zcser.core.view import MapView, RecordView, SequenceView, View, released
from zcser.flat.checks import Fault
from zcser.flat.inline import code_of
from zcser.flat.program import Node, Op
from zcser.flat.pure.read_state import array_source, text_of
from zcser.flat.segments import Segments

__all__ = [
    "Box", "EntriesView", "KeyedView", "ListView", "NestedBox", "NumbersView", "OneofView", "OneofsView", "Part",
    "ScalarsView", "SegmentBox", "StructView", "TableView", "Vector", "failure", "scalars_base", "segment_box",
    "value_at_home", "whole_of",
]  # fmt: skip


class SegmentBox:
    """The box of a segment other than the first, for a vector that stands there."""

    __slots__ = ("number", "whole")

    def __init__(self, whole: list[Any], number: int) -> None:
        self.whole = whole
        self.number = number

    def __getitem__(self, index: int) -> Any:
        if index:
            return text_of
        return None if self.whole[0] is None else self.whole[2].buffers[self.number]


class NestedBox:
    """The box of a message that lies in another one: what it holds is taken from that one's box at each read."""

    __slots__ = ("source", "start", "stop")
    source: list[Any] | SegmentBox
    start: int
    stop: int

    def __init__(self, box: Box, start: int, stop: int) -> None:
        place, self.source = (box.start, box.source) if isinstance(box, NestedBox) else (0, box)
        self.start = place + start
        self.stop = place + stop

    def __getitem__(self, index: int) -> Any:
        if index == 1:
            return text_of
        buffer = self.source[0]
        found = None if buffer is None else memoryview(buffer)[self.start : self.stop]
        return Segments([found]) if index else found


Box: TypeAlias = list[Any] | SegmentBox | NestedBox
"""The buffer, None once it was released; what decodes its UTF-8; and of a message in segments, which it is the first of,
all of them."""


def whole_of(box: Box) -> list[Any]:
    """The box of the whole message."""
    if isinstance(box, NestedBox):
        box = box.source
    return box.whole if isinstance(box, SegmentBox) else box


def segment_box(box: Box, number: int) -> Box:
    """The box of a segment; nested messages have one."""
    return SegmentBox(whole_of(box), number) if number else box


class Part(View):
    """What all views of a message share. Subclasses have the codec's name, and what reads the whole with copies."""

    __slots__ = ("_zc_box", "_zc_pos")
    _zc_codec: ClassVar[str | None]
    _zc_whole: ClassVar[Callable[..., Any]]
    _zc_box: Box
    _zc_pos: int

    def _zc_fail(self, error: Exception) -> ReleasedViewError | DecodeError:
        return failure(self._zc_box, error, self._zc_codec)

    def _zc_value(self) -> Any:
        try:
            return type(self)._zc_whole(self._zc_box, self._zc_pos)
        except Exception as error:
            raise self._zc_fail(error) from error

    def _zc_release(self) -> None:
        box = whole_of(self._zc_box)
        box[0] = None
        del box[2:]

    def _zc_retained(self) -> int:
        buffer, _, *segments = whole_of(self._zc_box)
        if buffer is None:
            return 0
        return segments[0].total if segments else len(buffer)


def failure(box: Box, error: Exception, codec: str | None) -> ReleasedViewError | DecodeError:
    """The error that an exception of a read, or of a user's class, means."""
    if box[0] is None:
        return released()
    offset = error.offset if isinstance(error, Fault) else None
    return DecodeError(f"the message cannot be read: {error}", codec=codec, offset=offset)


class TableView(Part, RecordView):
    """A record. Subclasses have where the vtable's form holds the fields that may be absent."""

    __slots__ = ("_zc_form",)
    _zc_places: ClassVar[Mapping[str, int]]
    _zc_form: tuple[Any, ...]

    def _zc_present(self, name: str) -> bool:
        if self._zc_box[0] is None:
            raise released()
        place = self._zc_places.get(name)
        return place is None or bool(self._zc_form[place])


class StructView(Part, RecordView):
    """A struct."""

    __slots__ = ()

    def _zc_present(self, name: str) -> bool:  # noqa: ARG002 - a struct has all its fields
        if self._zc_box[0] is None:
            raise released()
        return True


class OneofView(Part, RecordView):
    """A union: a record of the one option that is there. Subclasses have the options' numbers."""

    __slots__ = ("_zc_kind",)
    _zc_numbers: ClassVar[Mapping[str, int]]
    _zc_kind: int

    def _zc_present(self, name: str) -> bool:
        if self._zc_box[0] is None:
            raise released()
        return self._zc_numbers[name] == self._zc_kind

    def _zc_value(self) -> Any:
        try:
            return type(self)._zc_whole(self._zc_box, self._zc_pos, self._zc_kind)
        except Exception as error:
            raise self._zc_fail(error) from error


class Vector(Part):
    """A vector: ``_zc_pos`` is where its items begin."""

    __slots__ = ("_zc_length",)
    _zc_length: int

    def __len__(self) -> int:
        if self._zc_box[0] is None:
            raise released()
        return self._zc_length


def value_at_home(view: Any) -> Any:
    """The value of a vector that may stand in another segment than its length, which leads to it."""
    box, at = view._zc_home
    try:
        return type(view)._zc_whole(box, at)
    except Exception as error:
        raise view._zc_fail(error) from error


class ListView(Vector, SequenceView):
    """A list. Subclasses have the width of an item, and what reads the item at a place."""

    __slots__ = ()
    _zc_width: ClassVar[int]
    _zc_at: Callable[..., Any]

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if index.__class__ is int and 0 <= index < self._zc_length:
            return self._zc_item(index)
        return SequenceView.__getitem__(self, index)

    def _zc_item(self, index: int) -> Any:
        try:
            return self._zc_at(self._zc_box, self._zc_pos + index * self._zc_width)
        except Exception as error:
            raise self._zc_fail(error) from error


class KeyedView(ListView):
    """A list of records, to be sorted by one field. Subclasses have its class, and what reads that of the item at a place."""

    __slots__ = ()
    _zc_class: ClassVar[type | tuple[type, ...]]
    _zc_key: Callable[[Box, int], Any]

    def _zc_lookup(self, key: Any) -> Any:
        """The item with a key, by binary search; None where there is none."""
        low, high = 0, len(self)
        if not isinstance(key, self._zc_class):
            return None
        while low < high:
            middle = (low + high) // 2
            try:
                found = self._zc_key(self._zc_box, self._zc_pos + middle * self._zc_width)
            except Exception as error:
                raise self._zc_fail(error) from error
            if found == key:
                return self._zc_item(middle)
            low, high = (middle + 1, high) if found < key else (low, middle)
        return None


class OneofsView(ListView):
    """A list of unions, some of which may be None. Their numbers begin at ``_zc_kinds``."""

    __slots__ = ("_zc_kinds",)
    _zc_kinds: int

    def _zc_item(self, index: int) -> Any:
        try:
            return type(self)._zc_at(self._zc_box, self._zc_pos + 4 * index, self._zc_kinds + index)
        except Exception as error:
            raise self._zc_fail(error) from error

    def _zc_value(self) -> Any:
        try:
            return type(self)._zc_whole(self._zc_box, self._zc_kinds, self._zc_pos)
        except Exception as error:
            raise self._zc_fail(error) from error


class ScalarsView(ListView):
    """A list of scalars, which is read as a whole where it is gone through."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._zc_value())


class NumbersView(ScalarsView):
    """A list of numbers. Subclasses have the dtype of its items on the wire."""

    __slots__ = ()
    _zc_dtype: ClassVar[np.dtype[Any]]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """An array of shape ``(len(self),)``.

        Parameters
        ----------
        dtype
            Of the result; None: that of the items on the wire.
        copy
            As in ``numpy.array``. False: a `ValueError` where another dtype needs a copy.

        Notes
        -----
        Copies: none where neither argument asks for one and the address fits the dtype; the array is then read-only.
        Lifetime: it keeps the message alive, also after the view was released.
        """
        buffer = self._zc_box[0]
        if buffer is None:
            raise released()
        array: npt.NDArray[Any] = np.ndarray(self._zc_length, self._zc_dtype, array_source(buffer), self._zc_pos)
        if dtype is not None and np.dtype(dtype) != self._zc_dtype:
            if copy is False:
                raise ValueError(f"a list of {self._zc_dtype} cannot be an array of {np.dtype(dtype)} without a copy")
            return array.astype(dtype)
        if copy is False and not array.flags.aligned:
            raise ValueError(f"the items lie at an address that is no multiple of {array.itemsize}, and copy=False")
        return array.copy() if copy or not array.flags.aligned else array


class EntriesView(Vector, MapView):
    """A map. Subclasses have the keys' class, and what reads the key and the value of an entry at a place."""

    __slots__ = ()
    _zc_class: ClassVar[type]
    _zc_key: Callable[[Box, int], Any]
    _zc_at: Callable[[Box, int], Any]

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self._zc_read(self._zc_key, index)

    def _zc_read(self, read: Callable[[Box, int], Any], index: int) -> Any:
        try:
            return read(self._zc_box, self._zc_pos + 4 * index)
        except Exception as error:
            raise self._zc_fail(error) from error

    def __getitem__(self, key: Any) -> Any:
        low, high = 0, len(self)
        if isinstance(key, self._zc_class):
            while low < high:
                middle = (low + high) // 2
                found = self._zc_read(self._zc_key, middle)
                if found == key:
                    return self._zc_read(self._zc_at, middle)
                low, high = (middle + 1, high) if found < key else (low, middle)
        raise KeyError(key)


def scalars_base(item: Node) -> tuple[type, dict[str, Any]]:
    """The class that the view of a list of scalars derives from, and what it declares of its own."""
    if item.op in {Op.NULL, Op.ENUM}:
        return ScalarsView, {"_zc_width": item.size}
    code = code_of(item)
    return NumbersView, {"_zc_width": item.size, "_zc_dtype": np.dtype(code if code == "?" else f"<{code}")}
