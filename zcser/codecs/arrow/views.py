"""Views over a record batch.

1. A place of a schema is one array in a message, whatever the number of rows: a view is the place's number of a row, or of
   the first and last, and the message that holds the arrays. Releasing the message lets go of all of them.
2. What a place's array holds is checked against the schema when it is read. That its type fits was checked before.
3. Children are opened by index: an item of a list is found without looking at those before it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, cast

import pyarrow as pa
from pyarrow import types

from zcser.arrow.read import Readers
from zcser.arrow.types import NULL, VALUE, is_wrapped
from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.core.view import MapView, RecordView, SequenceView, View, record_view_class, released
from zcser.schema.model import Field, List, Map, Optional, Record, Ref, Schema, Type, Union, walk
from zcser.tree.explain import explain
from zcser.tree.form import Form
from zcser.tree.read import tree_readers

__all__ = ["Message", "Parts", "Views"]

Open = Callable[["Message", int], Any]


class Message:
    """The arrays of one message, found as they are asked for."""

    __slots__ = ("arrays", "size_bytes")

    def __init__(self, rows: pa.StructArray, root: Place, size_bytes: int) -> None:
        self.arrays: dict[Place, pa.Array] | None = {root: rows}
        self.size_bytes = size_bytes

    def end(self) -> None:
        """Let go of the message."""
        self.arrays = None
        self.size_bytes = 0


class Place:
    """Where an array is found: in the array of the place above."""

    __slots__ = ("above", "child")

    def __init__(self, above: Place | None, child: Callable[[pa.Array], pa.Array]) -> None:
        self.above = above
        self.child = child

    def array(self, message: Message) -> pa.Array:
        """The array of a message."""
        arrays = message.arrays
        if arrays is None:
            raise released()
        found = arrays.get(self)
        if found is None:
            assert self.above is not None  # the root's array stands there from the beginning  # noqa: S101
            found = arrays[self] = self.child(self.above.array(message))
        return found


class _Lazy(View):
    """What the three shapes share: the message, and where in the place's array they stand."""

    __slots__ = ()
    _zc_message: Message
    _zc_row: int
    _zc_read: Callable[[Message, int], Any]

    def _zc_value(self) -> Any:
        return self._zc_read(self._zc_message, self._zc_row)

    def _zc_release(self) -> None:
        self._zc_message.end()

    def _zc_retained(self) -> int:
        return self._zc_message.size_bytes

    def _zc_alive(self) -> Message:
        if self._zc_message.arrays is None:
            raise released()
        return self._zc_message


class _RecordView(RecordView, _Lazy):
    __slots__ = ("_zc_message", "_zc_row")
    _zc_is_there: dict[str, Callable[[Message, int], bool]]

    def __init__(self, message: Message, row: int) -> None:
        self._zc_message = message
        self._zc_row = row

    def _zc_present(self, name: str) -> bool:
        there = self._zc_is_there.get(name)
        return there is None or there(self._zc_message, self._zc_row)


class _SequenceView(SequenceView, _Lazy):
    __slots__ = ("_zc_message", "_zc_row", "_zc_size", "_zc_start")
    _zc_open: Open

    def __init__(self, message: Message, row: int, start: int, end: int) -> None:
        self._zc_message = message
        self._zc_row = row
        self._zc_start = start
        self._zc_size = end - start

    def __len__(self) -> int:
        self._zc_alive()
        return self._zc_size

    def _zc_item(self, index: int) -> Any:
        return self._zc_open(self._zc_message, self._zc_start + index)


class _MapView(MapView, _Lazy):
    __slots__ = ("_zc_message", "_zc_places", "_zc_row")
    _zc_open: Open

    def __init__(self, message: Message, row: int, places: dict[Any, int]) -> None:
        self._zc_message = message
        self._zc_row = row
        self._zc_places = places

    def __getitem__(self, key: Any) -> Any:
        return self._zc_open(self._zc_alive(), self._zc_places[key])

    def __contains__(self, key: object) -> bool:
        self._zc_alive()
        return key in self._zc_places

    def __iter__(self) -> Iterator[Any]:
        self._zc_alive()
        return iter(self._zc_places)

    def __len__(self) -> int:
        self._zc_alive()
        return len(self._zc_places)


class Parts:
    """For each type of a schema, its value from a tree; the same for all messages, whatever their Arrow schema."""

    def __init__(self, schema: Schema, form: Form, options: Options, codec: str) -> None:
        self.schema = schema
        self.form = form
        self.options = options
        self.codec = codec
        places = [schema.root, *(item.type for record in schema.records for item in record.fields)]
        self.refs = {record.name: Ref(record.name) for record in schema.records}
        self.types = [*(part for place in places for part in walk(place)), *self.refs.values()]
        # By identity: two enums may be equal and have different classes.
        self.readers = {
            copy: dict(
                zip(
                    map(id, self.types),
                    tree_readers(schema, form, options, self.types, copy=copy, lifts=True),
                    strict=True,
                )
            )
            for copy in (True, False)
        }

    def reader(self, type_: Type, *, copy: bool) -> Callable[[Any, Callable[[], Any]], Any]:
        """From a tree, and a function that makes the same tree again, to the value; a `DecodeError` where it does not fit."""
        read = self.readers[copy][id(type_)]

        def checked(tree: Any, again: Callable[[], Any]) -> Any:
            try:
                return read(tree, ())
            except Exception as error:
                # Reading has changed the tree, so that the words need another.
                raise self.fault(type_, again(), error) from error

        return checked

    def fault(self, type_: Type, tree: Any, error: Exception | None = None) -> DecodeError:
        """Why a tree does not fit."""
        found = explain(Schema(type_, self.schema.records), self.form, self.options, tree, self.codec)
        return found or DecodeError(f"a record refused its fields: {error}", codec=self.codec)


class Views:
    """The view classes of one Arrow schema: a class for each place that is a record, a list or a map."""

    def __init__(self, parts: Parts, readers: Readers, arrow: pa.StructType) -> None:
        self.parts = parts
        self.readers = readers
        columns = readers.columns
        self.root = Place(None, lambda rows: rows)
        root = columns.schema.root
        self.open: Callable[[Message], Any]
        if columns.many:
            row = self.record(columns.record, self.parts.refs[columns.record.name], arrow, self.root)
            read = self.whole_rows(root, arrow)
            cls = self.shape(_SequenceView, read, row)
            length = root.length if isinstance(root, List) else None
            self.open = lambda message: self.rows(message, cls, length)
        elif columns.bare:
            place = Place(self.root, lambda rows: rows.field(0))
            value = self.of(root, arrow.field(0).type, place)
            self.open = lambda message: value(message, 0)
        else:
            record = self.record(columns.record, root, arrow, self.root)
            self.open = lambda message: record(message, 0)

    def rows(self, message: Message, cls: type[_SequenceView], length: int | None) -> View:
        """The view of all rows."""
        count = len(self.root.array(message))
        if length is not None and count != length:
            raise self.parts.fault(self.readers.schema.root, [None] * count)
        return cls(message, 0, 0, count)

    def whole_rows(self, root: Type, arrow: pa.StructType) -> Callable[[Message, int], Any]:
        """All rows as a value."""
        read, finish = self.readers.rows(arrow), self.parts.reader(root, copy=True)

        def whole(message: Message, _row: int) -> Any:
            rows = self.root.array(message)
            return finish(read(rows), lambda: read(rows))

        return whole

    def value(self, type_: Type, arrow: pa.DataType, place: Place, *, copy: bool) -> Open:
        """One row of a place as a value."""
        read, finish = self.readers.of(type_, arrow, ()), self.parts.reader(type_, copy=copy)

        def value(message: Message, row: int) -> Any:
            one = place.array(message).slice(row, 1)
            return finish(read(one)[0], lambda: read(one)[0])

        return value

    def of(self, type_: Type, arrow: pa.DataType, place: Place) -> Open:
        """What a view gives for a row of a place."""
        match type_:
            case Optional(item):
                some = self.of(item, arrow, place)
                there = _is_there(arrow, place)
                return lambda message, row: some(message, row) if there(message, row) else None
            case Union():
                return self.union(type_, arrow, place)
            case List():
                return self.list(type_, arrow, place)
            case Map():
                return self.map(type_, arrow, place)
            case Ref(name):
                return self.record(self.parts.schema.record(name), type_, arrow, place)
        return self.value(type_, arrow, place, copy=False)

    def shape(self, base: type[_Lazy], read: Callable[[Message, int], Any], open_: Open) -> Any:
        """A view class of a list or map."""
        namespace = {"__slots__": (), "_zc_read": staticmethod(read), "_zc_open": staticmethod(open_)}
        return type(base.__name__.lstrip("_"), (base,), namespace)

    def unless_null(self, type_: Type, arrow: pa.DataType, place: Place, open_: Open) -> Open:
        """Refuse a null where none may be."""
        there = _is_there(arrow, place)

        def open_checked(message: Message, row: int) -> Any:
            if not there(message, row):
                raise self.parts.fault(type_, None)
            return open_(message, row)

        return open_checked

    def list(self, type_: List, arrow: pa.DataType, place: Place) -> Open:
        """The view of a list."""
        items = Place(place, lambda lists: lists.values)
        whole = self.value(type_, arrow, place, copy=True)
        cls = self.shape(_SequenceView, whole, self.of(type_.item, arrow.value_type, items))
        size = arrow.list_size if types.is_fixed_size_list(arrow) else None
        length = type_.length

        def open_list(message: Message, row: int) -> Any:
            if size is not None:
                start, end = row * size, (row + 1) * size
            else:
                start, end = place.array(message).offsets.slice(row, 2).to_pylist()
            if length is not None and end - start != length:
                raise self.parts.fault(type_, [None] * (end - start))
            return cls(message, row, start, end)

        return self.unless_null(type_, arrow, place, open_list)

    def map(self, type_: Map, arrow: pa.MapType, place: Place) -> Open:
        """The view of a map."""
        keys = Place(place, lambda maps: maps.keys)
        values = Place(place, lambda maps: maps.items)
        read, finish = self.readers.of(type_.key, arrow.key_type, ()), self.parts.reader(type_.key, copy=True)
        whole = self.value(type_, arrow, place, copy=True)
        cls = self.shape(_MapView, whole, self.of(type_.value, arrow.item_type, values))

        def open_map(message: Message, row: int) -> Any:
            start, end = place.array(message).offsets.slice(row, 2).to_pylist()
            found = read(keys.array(message).slice(start, end - start))
            # A key is no container: reading has not changed it.
            checked = [finish(key, functools.partial(_same, key)) for key in found]
            return cls(message, row, dict(zip(checked, itertools.count(start), strict=False)))

        return self.unless_null(type_, arrow, place, open_map)

    def union(self, type_: Union, arrow: pa.DenseUnionType, place: Place) -> Open:
        """What a view gives for the option that stands in a row."""
        options = dict(zip(type_.names, type_.options, strict=True))
        openers: dict[int, Open] = {}
        for number, (code, child) in enumerate(zip(arrow.type_codes, arrow, strict=True)):
            if not _is_null_child(child):
                below = Place(place, _child(number))
                openers[code] = self.of(options[child.name], child.type, below)

        def open_union(message: Message, row: int) -> Any:
            array = place.array(message)
            opener = openers.get(array.type_codes[row].as_py())
            if opener is None:
                raise self.parts.fault(type_, None)
            return opener(message, array.offsets[row].as_py())

        return open_union

    def record(self, record: Record, type_: Type, arrow: pa.StructType, place: Place) -> Open:
        """The view of a record."""
        getters: dict[str, Callable[[Any], Any]] = {}
        is_there: dict[str, Callable[[Message, int], bool]] = {}
        for item in record.fields:
            at = self.readers.index(item, record, arrow, ())
            getters[item.name], there = self.field(item, at, arrow, place)
            if item.may_be_absent:
                is_there[item.name] = there
        namespace = {
            "__slots__": (),
            "_zc_is_there": is_there,
            "_zc_read": staticmethod(self.value(type_, arrow, place, copy=True)),
        }
        base = cast("type[_RecordView]", type("RecordView", (_RecordView,), namespace))
        cls: Any = record_view_class(base, record.name, getters)
        return self.unless_null(type_, arrow, place, cls)

    def field(
        self, item: Field, at: int | None, arrow: pa.StructType, place: Place
    ) -> tuple[Callable[[Any], Any], Callable[[Message, int], bool]]:
        """How a field is read from a view of its record, and whether it is there."""
        absent = (lambda _: item.make_default()) if item.has_default else (lambda _: None)
        if at is None:
            return absent, lambda _message, _row: False
        column = Place(place, lambda rows: rows.field(at))
        column_type = arrow.field(at).type
        there = _is_there(column_type, column)
        if is_wrapped(item):
            inner_at = column_type.get_field_index(VALUE)
            inner = Place(column, lambda wrapper: wrapper.field(inner_at))
            open_ = self.of(item.type, column_type.field(inner_at).type, inner)
        else:
            open_ = self.of(item.type, column_type, column)
        if item.required:
            return lambda view: open_(view._zc_message, view._zc_row), there

        def get(view: Any) -> Any:
            message, row = view._zc_message, view._zc_row
            return open_(message, row) if there(message, row) else absent(view)

        return get, there


def _child(number: int) -> Callable[[pa.Array], pa.Array]:
    return lambda array: array.field(number)


def _same(tree: Any) -> Any:
    return tree


def _is_null_child(child: pa.Field) -> bool:
    return bool(types.is_null(child.type) and child.name == NULL)


def _is_there(arrow: pa.DataType, place: Place) -> Callable[[Message, int], bool]:
    """Whether a row of a place is not null."""
    if types.is_union(arrow):
        nulls = {code for code, child in zip(arrow.type_codes, arrow, strict=True) if _is_null_child(child)}
        return lambda message, row: place.array(message).type_codes[row].as_py() not in nulls
    if types.is_null(arrow):
        return lambda _message, _row: False

    def is_there(message: Message, row: int) -> bool:
        array = place.array(message)
        return not array.null_count or bool(array[row].is_valid)

    return is_there
