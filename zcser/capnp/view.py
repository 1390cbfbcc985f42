"""Lazy views over the library's dynamic readers, generated from a layout.

1. A view holds a reader of its part, and reads a field when it is asked for. What it gives is read as in
   `zcser.capnp.read`, without copies.
2. The library charges a message for every word that is read, again each time, which bounds what a few bytes cost whose
   pointers lead to the same place again and again. Whoever looks at one message often must not come to that limit: a view
   that does has the whole message read once, as decode would, and goes on without a limit if that is well. `to_value`
   always goes to its part from a fresh reader that may read what the message has.
3. All views of one message share a `Message`. To release one is to take the readers of all: nothing holds the message
   then but what was handed out of it.
4. Whatever exception a message provokes is a `DecodeError`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, cast

from zcser.capnp.layout import Layout, Missing, Slot, Struct
from zcser.capnp.read import Reader, ReadGenerator, Reading, too_many
from zcser.capnp.tensors import Memory
from zcser.capnp.write import Fields
from zcser.core.errors import DecodeError, ReleasedViewError
from zcser.core.options import Limits
from zcser.core.view import MapView, RecordView, SequenceView, View, record_view_class, released
from zcser.schema.model import List, Map, Ref, Type, strip_optional

__all__ = ["OFTEN", "ONCE", "Message", "Opener", "compile_reader"]

ONCE = 1
OFTEN = 16
"""How many times its size may be read of a message by one reader: by `decode`, and by views before all of it was read."""

_EXHAUSTED = "traversal limit"
"""In the library's words when that is over."""

_BITS = 8
"""Of a byte; an item of a list takes one at least."""


class Message:
    """What all views of a message share.

    Parameters
    ----------
    flat
        The whole message, read-only.
    open_
        Makes a reader of the root of a message, of which so many times its size may be read; None: without a limit.
    read
        Reads the whole root.
    limits
        Of the codec.
    fail
        Makes the error of an exception.

    Attributes
    ----------
    parts
        Every view of the message that lives; each has a reader, which holds the message.
    """

    __slots__ = ("_open", "_read", "_sound", "fail", "limits", "memory", "parts", "reading", "released", "size")

    def __init__(
        self,
        flat: memoryview,
        open_: Callable[[memoryview, int | None], Any],
        read: Reader,
        limits: Limits,
        fail: Callable[[Exception], DecodeError],
    ) -> None:
        self.memory: Memory | None = Memory(flat)
        self.reading: Reading | None = Reading(self.memory, 0)
        self.size = len(flat)
        self.limits = limits
        self.fail = fail
        self.released = False
        self.parts: weakref.WeakSet[_Part] = weakref.WeakSet()
        self._open = open_
        self._read = read
        self._sound = False

    def root(self, times: int | None) -> Any:
        """A reader of the root."""
        if self.memory is None:
            raise released()
        return self._open(self.memory.flat, times)

    def prove(self) -> None:
        """Read the whole message, unless that was done already; whatever is wrong with it raises."""
        if not self._sound:
            self._read(self.root(ONCE), Reading(self.memory, self.limits.elements), 0)
            self._sound = True

    @property
    def most_items(self) -> int:
        """What a list may have; structs that have no size on the wire could be any number."""
        return min(self.limits.elements, self.size * _BITS)

    def release(self) -> None:
        """Let go of the memory."""
        self.released = True
        self.memory = self.reading = None
        for part in list(self.parts):
            part._zc_reader = None


Opener = Callable[[Message, int | None], Any]
"""Message, and how many times its size may be read, to the view of its root, or to its value that has no parts."""


def compile_reader(layout: Layout, fields: Fields, limits: Limits) -> tuple[Reader, Opener]:
    """The reader of a layout's root, and what opens a view of it."""
    eager = ReadGenerator(layout, fields, limits)
    lazy = _LazyGenerator(eager, limits)
    reader, opener = eager.root(), lazy.root_name
    namespace = eager.compile()
    lazy.make_classes(namespace)
    return namespace[reader], namespace[opener]


class _Part(View):
    """A part of a message: its reader, and how it was found: at a key of the part above."""

    __slots__ = ("_zc_above", "_zc_key", "_zc_message", "_zc_reader")
    _zc_read: ClassVar[Reader]
    _zc_open: ClassVar[Opener]

    def __init__(self, reader: Any, message: Message, above: Any, key: Any) -> None:
        self._zc_reader = reader
        self._zc_message = message
        self._zc_above = above
        self._zc_key = key
        message.parts.add(self)

    def _zc_fail(self, error: Exception) -> ReleasedViewError | DecodeError:
        return released() if self._zc_message.released else self._zc_message.fail(error)

    def _zc_retry(self, error: Exception, read: Callable[..., Any], *arguments: Any) -> Any:
        """What a read gives that failed, if it failed for having read so much before."""
        if self._zc_reader is None or _EXHAUSTED not in str(error):
            raise self._zc_fail(error) from error
        try:
            self._zc_message.prove()
            self._zc_reader = self._zc_again(None)._zc_reader
            return read(*arguments)
        except Exception as fault:
            raise self._zc_fail(fault) from fault

    def _zc_again(self, times: int | None) -> Any:
        """The same part, of a fresh reader."""
        if self._zc_above is None:
            return type(self)._zc_open(self._zc_message, times)
        return self._zc_above._zc_again(times)._zc_child(self._zc_key)

    def _zc_child(self, key: Any) -> Any:
        raise NotImplementedError

    def _zc_value(self) -> Any:
        try:
            again = self._zc_again(ONCE)
            return type(self)._zc_read(again._zc_reader, Reading(None, self._zc_message.limits.elements), 0)
        except Exception as error:
            raise self._zc_fail(error) from error

    def _zc_release(self) -> None:
        self._zc_message.release()

    def _zc_retained(self) -> int:
        return 0 if self._zc_message.released else self._zc_message.size


class _StructView(_Part, RecordView):
    """A record. Subclasses have what says whether a field is there that may be absent."""

    __slots__ = ()
    _zc_there: ClassVar[Mapping[str, Callable[[Any], bool]]]

    def _zc_child(self, key: Any) -> Any:
        return self[key]

    def _zc_present(self, name: str) -> bool:
        there = self._zc_there.get(name)
        try:
            return there is None or there(self._zc_reader)
        except Exception as error:  # noqa: BLE001 - of many kinds; so below
            return bool(self._zc_retry(error, self._zc_present, name))


class _ItemsView(_Part):
    """A list of the wire. Subclasses have what reads the item at an index."""

    __slots__ = ("_zc_length",)

    def __init__(self, reader: Any, message: Message, above: Any, key: Any) -> None:
        super().__init__(reader, message, above, key)
        self._zc_length = len(reader)
        if self._zc_length > message.most_items:
            too_many()

    def __len__(self) -> int:
        if self._zc_message.released:
            raise released()
        return self._zc_length


class _ListView(_ItemsView, SequenceView):
    """A list. Subclasses have what reads an item of the list's reader."""

    __slots__ = ()
    _zc_at: ClassVar[Callable[[Any, Any, int], Any]]

    def _zc_child(self, key: Any) -> Any:
        return self._zc_item(key)

    def _zc_item(self, index: int) -> Any:
        try:
            return type(self)._zc_at(self, self._zc_reader._get(index), index)
        except Exception as error:  # noqa: BLE001
            return self._zc_retry(error, self._zc_item, index)


class _PlainView(_ListView):
    """A list of what the library gives as it is wanted, and which is read as a whole where it is gone through."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        try:
            return iter(list(map(self._zc_reader._get, range(self._zc_length))))
        except Exception as error:  # noqa: BLE001
            return iter(self._zc_retry(error, self.__iter__))


class _EntriesView(_ItemsView, MapView):
    """A map. Subclasses have what reads the key and the value of an entry; the keys are read when one is asked for."""

    __slots__ = ("_zc_places",)
    _zc_entry_key: ClassVar[Callable[[Any, Any, int], Any]]
    _zc_entry_value: ClassVar[Callable[[Any, Any, int], Any]]
    _zc_class: ClassVar[type]

    def __init__(self, reader: Any, message: Message, above: Any, key: Any) -> None:
        super().__init__(reader, message, above, key)
        self._zc_places: dict[Any, int] | None = None

    def _zc_index(self) -> dict[Any, int]:
        if self._zc_message.released:
            raise released()
        if self._zc_places is None:
            read = type(self)._zc_entry_key
            try:
                get = self._zc_reader._get
                # Of a key that stands there twice the last one counts, as in decode.
                self._zc_places = {read(self, get(at), at): at for at in range(self._zc_length)}
            except Exception as error:  # noqa: BLE001
                return cast("dict[Any, int]", self._zc_retry(error, self._zc_index))
        return self._zc_places

    def __len__(self) -> int:
        return len(self._zc_index())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._zc_index())

    def __getitem__(self, key: Any) -> Any:
        places = self._zc_index()
        if not isinstance(key, self._zc_class) or key not in places:
            raise KeyError(key)
        return self._zc_child(places[key])

    def _zc_child(self, key: Any) -> Any:
        # By its place, which is found again without reading the keys.
        try:
            return type(self)._zc_entry_value(self, self._zc_reader._get(key), key)
        except Exception as error:  # noqa: BLE001
            return self._zc_retry(error, self._zc_child, key)


class _LazyGenerator(ReadGenerator):
    """Writes a function per field, where its base writes one per struct; leaves are read by the same expressions.

    ``m`` is the message, ``v`` the view that a part is found in, ``k`` the key at which it is found there.
    """

    def __init__(self, eager: ReadGenerator, limits: Limits) -> None:
        super().__init__(eager.layout, eager.fields, limits)
        # One module of code: views read their whole value by the eager functions.
        self.eager = eager
        self.source, self.waiting = eager.source, eager.waiting
        self.arguments = "s, d, m, v, k"
        self.classes: list[tuple[str, Callable[[dict[str, Any]], type]]] = []
        self.root_name = self.later("opener", self.opener)

    def opener(self, name: str) -> None:
        line, root = self.source.line, self.layout.schema.root
        with self.source.block(f"def {name}(m, times):"):
            line("r, s, d, v, k = m.root(times), m.reading, 0, None, None")
            if isinstance(root, Ref):
                line(f"return {self.function(root)}(r, m, v, k)")
            else:
                struct = self.layout.boxes[root]
                self.head()
                self.slot(struct, struct.slots[0], strip_optional(root)[0], "x")
                line("return x")

    def make_classes(self, namespace: dict[str, Any]) -> None:
        """Make the view classes out of the functions in a namespace, and add them to it."""
        for name, make in self.classes:
            namespace[name] = make(namespace)

    def present(self, type_: Type, found: str, name: str | None) -> str:
        if isinstance(type_, Ref | List | Map):
            return f"{self.function(type_)}({found}, m, v, k)"
        return super().present(type_, found, name)

    def function(self, type_: Type) -> str:
        match type_:
            case List():
                return self.list_class(type_)
            case Map():
                return self.map_class(type_)
        return super().function(type_)

    def missing(self, struct: Struct, slot: Slot) -> str:
        return "None" if slot.missing is Missing.ABSENT else super().missing(struct, slot)

    def state(self) -> None:
        """Name what reading a part of the view ``v`` takes."""
        self.source.line("m = v._zc_message")
        self.source.line("s, d = m.reading, 0")

    def record(self, name: str, type_: Ref) -> None:
        """The class of a record; its functions are written here, itself it is made later."""
        struct, record = self.layout.records[type_.name], self.layout.schema.resolve(type_)
        slots = {slot.field.name: slot for slot in struct.slots if slot.field}
        getters = {field: self.later("get", self.getter(struct, slot)) for field, slot in slots.items()}
        there = {field: self.there(struct, slot) for field, slot in slots.items() if slot.missing is Missing.ABSENT}
        read = self.eager.function(type_)

        def make(namespace: dict[str, Any]) -> type:
            base = self.part_class("RecordView", _StructView, namespace, {"_zc_read": read}, {"_zc_there": there})
            declared = {item.name: namespace[getters[item.name]] for item in record.fields}
            return record_view_class(base, type_.name, declared)

        self.classes.append((name, make))

    def there(self, struct: Struct, slot: Slot) -> Callable[[Any], bool]:
        """What says of a struct reader whether a slot is there."""
        if slot.flag is not None:
            flag = self.fields(struct, slot.flag)
            return lambda reader: bool(reader._get_by_field(flag))
        field = self.fields(struct, slot.name)
        return lambda reader: bool(reader._has_by_field(field))

    def getter(self, struct: Struct, slot: Slot) -> Callable[[str], None]:
        type_ = strip_optional(slot.field.type)[0] if slot.field else slot.type

        def write(name: str) -> None:
            line = self.source.line
            with self.source.block(f"def {name}(v):"):
                with self.source.block("try:"):
                    line("r = v._zc_reader")
                    self.state()
                    line(f"k = {self.source.constant(slot.field.name if slot.field else slot.name)}")
                    self.head()
                    self.slot(struct, slot, type_, "x")
                    line("return x")
                with self.source.block("except Exception as error:"):
                    line(f"return v._zc_retry(error, {name}, v)")

        return write

    def list_class(self, type_: List) -> str:
        read = self.eager.function(type_)
        found = self.present(type_.item, "y", None)

        def write(name: str) -> None:
            with self.source.block(f"def {name}(v, y, k):"):
                self.state()
                self.source.line(f"return {found}")

        functions = {"_zc_read": read, "_zc_at": self.later("item", write)}
        return self.later_class("ListView", _PlainView if found == "y" else _ListView, functions, {})

    def map_class(self, type_: Map) -> str:
        struct = self.layout.entries[type_]

        def part(slot: Slot, inner: Type) -> Callable[[str], None]:
            def write(name: str) -> None:
                with self.source.block(f"def {name}(v, r, k):"):
                    self.state()
                    self.head()
                    self.slot(struct, slot, inner, "x")
                    self.source.line("return x")

            return write

        key, value = struct.slots
        functions = {
            "_zc_read": self.eager.function(type_),
            "_zc_entry_key": self.later("key", part(key, type_.key)),
            "_zc_entry_value": self.later("item", part(value, strip_optional(type_.value)[0])),
        }
        cls = self.layout.schema.python_type(type_.key)
        return self.later_class("MapView", _EntriesView, functions, {"_zc_class": cls})

    def later_class(self, label: str, base: type, functions: dict[str, str], constants: dict[str, Any]) -> str:
        """The name of a class that `make_classes` makes."""
        name = f"{label}_{self.source.variable()}"
        self.classes.append((name, lambda namespace: self.part_class(label, base, namespace, functions, constants)))
        return name

    def part_class(
        self, label: str, base: type, namespace: dict[str, Any], functions: dict[str, str], constants: dict[str, Any]
    ) -> Any:
        """A class made of generated functions, and of constants."""
        named = {**functions, "_zc_open": self.root_name}
        bound = {attribute: staticmethod(namespace[function]) for attribute, function in named.items()}
        return type(label, (base,), {"__slots__": (), **bound, **constants})
