"""Lazy views over the official accessors, generated from a layout.

1. A view holds a ``flatbuffers.table.Table``, and reads a field when it is asked for, by the calls that flatc's Python
   code makes. What it gives is read as in `zcser.flat.official.read`, without copies.
2. All tables of one message share one memoryview. To release a view is to release that: every read through any of them
   fails from then on, and the message is let go, while arrays and slices that were handed out keep it.
3. Whatever exception an unverified message provokes is a `DecodeError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from zcser.core.errors import DecodeError, ReleasedViewError
from zcser.core.view import MapView, RecordView, SequenceView, View, record_view_class, released
from zcser.flat.layout import Form, Layout, Missing, Slot, element_form
from zcser.flat.official.calls import Reader, Runtime
from zcser.flat.official.read import ReadGenerator, vtable_place
from zcser.schema.model import List, Map, Ref, Str, Type, strip_optional

__all__ = ["compile_reader"]

Opener = Callable[[Any], Any]
"""Table to view, or to the value of a root that has no parts."""


def compile_reader(layout: Layout, runtime: Runtime, *, codec: str) -> tuple[Reader, Opener]:
    """The reader of a layout's root, and what opens a view of it."""
    eager = ReadGenerator(layout, runtime)
    lazy = _LazyGenerator(eager, codec)
    reader, opener = eager.function(layout.schema.root), lazy.later("opener", lazy.opener)
    namespace = eager.compile()
    lazy.make_classes(namespace)
    return namespace[reader], namespace[opener]


def unreadable(table: Any, error: Exception, codec: str) -> ReleasedViewError | DecodeError:
    """The error that an exception of the official reader, or of a user's class, means."""
    try:
        len(table.Bytes)
    except ValueError:
        return released()
    return DecodeError(f"the message cannot be read: {error}", codec=codec)


class _Part(View):
    """What all views of a message share."""

    __slots__ = ("_zc_table",)
    _zc_codec: ClassVar[str]
    _zc_table: Any

    def _zc_fail(self, error: Exception) -> ReleasedViewError | DecodeError:
        return unreadable(self._zc_table, error, self._zc_codec)

    def _zc_release(self) -> None:
        self._zc_table.Bytes.release()

    def _zc_retained(self) -> int:
        try:
            return len(self._zc_table.Bytes)
        except ValueError:
            return 0  # released


class _TableView(_Part, RecordView):
    """A record. Subclasses have ``_zc_read``, and the places of the fields that may be absent."""

    __slots__ = ()
    _zc_read: ClassVar[Reader]
    _zc_places: ClassVar[Mapping[str, int]]

    def __init__(self, table: Any) -> None:
        self._zc_table = table

    def _zc_value(self) -> Any:
        try:
            return type(self)._zc_read(self._zc_table, True)
        except Exception as error:
            raise self._zc_fail(error) from error

    def _zc_present(self, name: str) -> bool:
        place = self._zc_places.get(name)
        try:
            return place is None or bool(self._zc_table.Offset(place))
        except Exception as error:
            raise self._zc_fail(error) from error


class _Vector(_Part):
    """A vector: the table and slot that lead to it, where it starts, and how many items it has."""

    __slots__ = ("_zc_length", "_zc_offset", "_zc_start")
    _zc_read: ClassVar[Callable[[Any, int, bool], Any]]

    def __init__(self, table: Any, offset: int) -> None:
        self._zc_table = table
        self._zc_offset = offset
        self._zc_start: int = table.Vector(offset)
        self._zc_length: int = table.VectorLen(offset)

    def __len__(self) -> int:
        try:
            len(self._zc_table.Bytes)
        except ValueError:
            raise released() from None
        return self._zc_length

    def _zc_value(self) -> Any:
        try:
            return type(self)._zc_read(self._zc_table, self._zc_offset, True)
        except Exception as error:
            raise self._zc_fail(error) from error


class _ListView(_Vector, SequenceView):
    """A list. Subclasses have the width of an item, and what reads the item at a place."""

    __slots__ = ()
    _zc_width: ClassVar[int]
    _zc_at: ClassVar[Callable[[Any, int], Any]]

    def _zc_item(self, index: int) -> Any:
        try:
            return type(self)._zc_at(self._zc_table, self._zc_start + index * self._zc_width)
        except Exception as error:
            raise self._zc_fail(error) from error


class _ScalarsView(_ListView):
    """A list of scalars, which is read as a whole where it is gone through."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._zc_value())


class _EntriesView(_Vector, MapView):
    """A map. Subclasses have the keys' class, and what reads the key and the value of an entry at a place."""

    __slots__ = ()
    _zc_class: ClassVar[type]
    _zc_key: ClassVar[Callable[[Any, int], Any]]
    _zc_at: ClassVar[Callable[[Any, int], Any]]

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self._zc_key_at(index)

    def _zc_key_at(self, index: int) -> Any:
        try:
            return type(self)._zc_key(self._zc_table, self._zc_start + 4 * index)
        except Exception as error:
            raise self._zc_fail(error) from error

    def __getitem__(self, key: Any) -> Any:
        low, high = 0, len(self)
        if isinstance(key, self._zc_class):
            while low < high:
                middle = (low + high) // 2
                found = self._zc_key_at(middle)
                if found == key:
                    try:
                        return type(self)._zc_at(self._zc_table, self._zc_start + 4 * middle)
                    except Exception as error:
                        raise self._zc_fail(error) from error
                low, high = (middle + 1, high) if found < key else (low, middle)
        raise KeyError(key)


class _LazyGenerator(ReadGenerator):
    """Writes a function per field, where its base writes one per table; leaves are read by the same expressions."""

    def __init__(self, eager: ReadGenerator, codec: str) -> None:
        super().__init__(eager.layout, eager.runtime)
        # One module of code: views read their whole value by the eager functions.
        self.eager, self.codec = eager, codec
        self.source, self.waiting, self.names = eager.source, eager.waiting, eager.names
        self.classes: list[tuple[str, Callable[[dict[str, Any]], type]]] = []

    def opener(self, name: str) -> None:
        with self.source.block(f"def {name}(t):"):
            self.source.line(f"return {self.alone(self.layout.schema.root, 't')}")

    def make_classes(self, namespace: dict[str, Any]) -> None:
        """Make the view classes out of the functions in a namespace, and add them to it."""
        for name, make in self.classes:
            namespace[name] = make(namespace)

    def missing(self, slot: Slot, type_: Type) -> str:
        return "None" if slot.missing is Missing.ABSENT else super().missing(slot, type_)

    def alone(self, type_: Type, table: str) -> str:
        if isinstance(type_, Ref):
            return f"{self.function(type_)}({table})"
        return f"{self.function(type_)}({table}, False)"

    def expression(self, type_: Type) -> str:
        match type_:
            case List():
                return f"{self.list_class(type_)}(t, o)"
            case Map():
                return f"{self.map_class(type_)}(t, o)"
        return super().expression(type_)

    def record(self, name: str, type_: Ref) -> None:
        """The class of a record; its functions are written here, itself it is made later."""
        table = self.layout.records[type_.name]
        slots = {slot.field.name: slot for slot in table.slots if slot.field}
        getters = {field: self.later("get", self.getter(slot)) for field, slot in slots.items()}
        places = {field: vtable_place(slot.index) for field, slot in slots.items() if slot.missing is Missing.ABSENT}
        read = self.eager.function(type_)

        def make(namespace: dict[str, Any]) -> type:
            base = type(
                "RecordView",
                (_TableView,),
                {
                    "__slots__": (),
                    "_zc_read": staticmethod(namespace[read]),
                    "_zc_places": places,
                    "_zc_codec": self.codec,
                },
            )
            declared = {item.name: namespace[getters[item.name]] for item in self.layout.schema.resolve(type_).fields}
            return record_view_class(base, type_.name, declared)

        self.classes.append((name, make))

    def getter(self, slot: Slot) -> Callable[[str], None]:
        type_ = strip_optional(slot.field.type)[0] if slot.field else slot.type

        def write(name: str) -> None:
            with self.source.block(f"def {name}(view):"):
                with self.source.block("try:"):
                    self.source.line("t = view._zc_table; c = False")
                    self.slot(slot, type_, "x")
                    self.source.line("return x")
                with self.source.block("except Exception as error:"):
                    self.source.line("raise view._zc_fail(error) from error")

        return write

    def list_class(self, type_: List) -> str:
        form, item = element_form(type_), type_.item
        number = self.layout.number(item) if form is Form.SCALAR else None
        read = self.eager.later("list", lambda name: self.eager.list(name, type_))

        def write(name: str) -> None:
            with self.source.block(f"def {name}(t, y):"):
                if number is not None:
                    found = self.scalar(item, f"t.Get({self.flags(number)}, y)")
                elif form is Form.STRING:
                    found = "str(t.String(y), 'utf-8')"
                else:
                    found = self.alone(item, "Table(t.Bytes, t.Indirect(y))")
                self.source.line(f"return {found}")

        at = self.later("item", write)
        base, width = (_ScalarsView, number.size) if number is not None else (_ListView, 4)
        return self.vector_class("ListView", base, {"_zc_read": read, "_zc_at": at}, {"_zc_width": width})

    def map_class(self, type_: Map) -> str:
        key, value = self.layout.entries[type_].slots
        read = self.eager.later("map", lambda name: self.eager.map(name, type_))

        def part(slot: Slot, inner: Type) -> Callable[[str], None]:
            def write(name: str) -> None:
                with self.source.block(f"def {name}(t, y):"):
                    self.source.line("t = Table(t.Bytes, t.Indirect(y)); c = False")
                    self.slot(slot, inner, "x")
                    self.source.line("return x")

            return write

        functions = {
            "_zc_read": read,
            "_zc_key": self.later("key", part(key, type_.key)),
            "_zc_at": self.later("item", part(value, strip_optional(type_.value)[0])),
        }
        return self.vector_class(
            "MapView", _EntriesView, functions, {"_zc_class": str if isinstance(type_.key, Str) else int}
        )

    def vector_class(self, label: str, base: type, functions: dict[str, str], constants: dict[str, Any]) -> str:
        """The name of a class made of generated functions, and of constants."""
        name = f"{label}{next(self.names)}"

        def make(namespace: dict[str, Any]) -> type:
            bound = {attribute: staticmethod(namespace[function]) for attribute, function in functions.items()}
            return type(label, (base,), {"__slots__": (), "_zc_codec": self.codec, **bound, **constants})

        self.classes.append((name, make))
        return name
