"""Views over the tree of a message whose tensors and bytes lie outside of it, as spans of the message's data.

1. The tree was parsed when the message was opened; a view makes no values of it but those that are asked for, and copies
   no data: tensors and bytes are read where they lie.
2. A part is checked against the schema when it is read. Unions stand tagged, as the form must say.
3. Nodes are shared by views: what a reader, which changes its tree, is given is a copy of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.core.paths import pointer
from zcser.core.view import MapView, RecordView, SequenceView, View, record_view_class, released
from zcser.schema.model import Bool, Field, Int, List, Map, Optional, Record, Ref, Schema, Type, Union, walk
from zcser.tree.explain import explain
from zcser.tree.form import Form
from zcser.tree.leaves import BadTree, key_reader
from zcser.tree.read import tree_readers

__all__ = ["Span", "TreeViews", "filled"]


class Span(NamedTuple):
    """Where a tensor's or bytes' data lie: which of the message's segments, and where in it, in bytes."""

    segment: int
    start: int
    stop: int


class _Message:
    """What all views of a message share: its data, until they are released."""

    __slots__ = ("data", "size_bytes")

    def __init__(self, data: Sequence[memoryview], size_bytes: int) -> None:
        self.data: Sequence[memoryview] | None = data
        self.size_bytes = size_bytes


Open = Callable[[Any, _Message], Any]


def filled(tree: Any, data: Sequence[memoryview]) -> Any:
    """A copy of a tree, with views of the data in the place of spans."""
    cls = tree.__class__
    if cls is dict:
        return {key: filled(value, data) for key, value in tree.items()}
    if cls is list:
        return [filled(item, data) for item in tree]
    return data[tree.segment][tree.start : tree.stop] if cls is Span else tree


def _data(message: _Message) -> Sequence[memoryview]:
    data = message.data
    if data is None:
        raise released()
    return data


class _Lazy(View):
    __slots__ = ()
    _zc_node: Any
    _zc_message: _Message
    _zc_read: Callable[[Any, Sequence[memoryview]], Any]

    def _zc_data(self) -> Sequence[memoryview]:
        return _data(self._zc_message)

    def _zc_value(self) -> Any:
        return self._zc_read(self._zc_node, self._zc_data())

    def _zc_release(self) -> None:
        self._zc_message.data = None
        self._zc_message.size_bytes = 0

    def _zc_retained(self) -> int:
        return self._zc_message.size_bytes


class _RecordView(RecordView, _Lazy):
    __slots__ = ("_zc_message", "_zc_node")
    _zc_fields: dict[str, Field]

    def __init__(self, node: Any, message: _Message) -> None:
        self._zc_node = node
        self._zc_message = message

    def _zc_present(self, name: str) -> bool:
        self._zc_data()
        return not self._zc_fields[name].may_be_absent or name in self._zc_node


class _SequenceView(SequenceView, _Lazy):
    __slots__ = ("_zc_message", "_zc_node")
    _zc_open: Open

    def __init__(self, node: Any, message: _Message) -> None:
        self._zc_node = node
        self._zc_message = message

    def __len__(self) -> int:
        self._zc_data()
        return len(self._zc_node)

    def _zc_item(self, index: int) -> Any:
        self._zc_data()
        return self._zc_open(self._zc_node[index], self._zc_message)


class _MapView(MapView, _Lazy):
    __slots__ = ("_zc_keys", "_zc_message", "_zc_node")
    _zc_open: Open
    _zc_key: Callable[[str], Any]

    def __init__(self, node: Any, message: _Message) -> None:
        self._zc_node = node
        self._zc_message = message
        self._zc_keys = {self._zc_key(text): text for text in node}

    def __getitem__(self, key: Any) -> Any:
        self._zc_data()
        return self._zc_open(self._zc_node[self._zc_keys[key]], self._zc_message)

    def __contains__(self, key: object) -> bool:
        self._zc_data()
        return key in self._zc_keys

    def __iter__(self) -> Iterator[Any]:
        self._zc_data()
        return iter(self._zc_keys)

    def __len__(self) -> int:
        self._zc_data()
        return len(self._zc_keys)


class TreeViews:
    """The view classes of one schema.

    Parameters
    ----------
    schema, form, options
        What the trees are trees of.
    codec
        Name that an error carries.
    """

    def __init__(self, schema: Schema, form: Form, options: Options, codec: str) -> None:
        self._schema = schema
        self._form = form
        self._options = options
        self._codec = codec
        places = [schema.root, *(item.type for record in schema.records for item in record.fields)]
        refs: list[Type] = [Ref(record.name) for record in schema.records]
        types = [*(part for place in places for part in walk(place)), *refs]
        # By identity: two enums may be equal and have different classes.
        self._readers = {
            copy: dict(
                zip(map(id, types), tree_readers(schema, form, options, types, copy=copy, lifts=True), strict=True)
            )
            for copy in (True, False)
        }
        self._kept = types  # whose ids are the keys
        self._classes: dict[str, type[_RecordView]] = {}
        for record, ref in zip(schema.records, refs, strict=True):
            self._classes[record.name] = self._record_class(record, ref)
        self._root = self._opener(schema.root)

    def open(self, tree: Any, data: Sequence[memoryview]) -> Any:
        """The view of a message.

        Parameters
        ----------
        tree
            With a `Span` for each tensor's data, and for bytes.
        data
            The segments of the message, read-only; the view keeps them alive.

        Raises
        ------
        DecodeError
            The root does not fit the schema.
        """
        return self._root(tree, _Message(data, sum(map(len, data))))

    def _reader(self, type_: Type, *, copy: bool) -> Callable[[Any, Sequence[memoryview]], Any]:
        read = self._readers[copy][id(type_)]

        def checked(node: Any, data: Sequence[memoryview]) -> Any:
            try:
                return read(filled(node, data), ())
            except Exception as error:
                # Reading has changed the tree, so that the words need another.
                raise self._fault(type_, filled(node, data), error) from error

        return checked

    def _fault(self, type_: Type, tree: Any, error: Exception | None = None) -> DecodeError:
        found = explain(Schema(type_, self._schema.records), self._form, self._options, tree, self._codec)
        return found or DecodeError(f"a record refused its fields: {error}", codec=self._codec)

    def _opener(self, type_: Type) -> Open:
        match type_:
            case Optional(item):
                some = self._opener(item)
                return lambda node, message: None if node is None else some(node, message)
            case Union():
                return self._union(type_)
            case List(item=item):
                cls = self._class(_SequenceView, type_, _zc_open=staticmethod(self._opener(item)))
                return self._shape(type_, lambda: cls, list, type_.length)
            case Map(key, value):
                key_of = key_reader(key) if isinstance(key, Int | Bool) else self._key(key)
                parts = {"_zc_open": staticmethod(self._opener(value)), "_zc_key": staticmethod(key_of)}
                cls = self._class(_MapView, type_, **parts)
                return self._shape(type_, lambda: cls, dict, None)
            case Ref(name):
                return self._shape(type_, lambda: self._classes[name], dict, None)
        read = self._reader(type_, copy=False)

        return lambda node, message: read(node, _data(message))

    def _key(self, type_: Type) -> Callable[[str], Any]:
        read = self._readers[True][id(type_)]
        return lambda text: read(text, ())

    def _class(self, base: type[_Lazy], type_: Type, **parts: Any) -> Any:
        namespace = {"__slots__": (), "_zc_read": staticmethod(self._reader(type_, copy=True)), **parts}
        return type(base.__name__.lstrip("_"), (base,), namespace)

    def _shape(self, type_: Type, cls: Callable[[], Any], wanted: Any, length: int | None) -> Open:
        refuse_unknown = self._options.unknown_fields == "refuse" and isinstance(type_, Ref)

        def open_view(node: Any, message: _Message) -> Any:
            if node.__class__ is not wanted or (length is not None and len(node) != length):
                raise self._fault(type_, filled(node, _data(message)))
            if refuse_unknown and not cls()._zc_fields.keys() >= node.keys():
                raise self._fault(type_, filled(node, _data(message)))
            try:
                return cls()(node, message)
            except BadTree as error:  # a key of a map
                raise self._fault(type_, filled(node, _data(message)), error) from error

        return open_view

    def _union(self, type_: Union) -> Open:
        by_name = dict(zip(type_.names, map(self._opener, type_.options), strict=True))

        def open_union(node: Any, message: _Message) -> Any:
            if not isinstance(node, dict) or len(node) != 1 or not node.keys() <= by_name.keys():
                raise self._fault(type_, filled(node, _data(message)))
            ((name, inner),) = node.items()
            return by_name[name](inner, message)

        return open_union

    def _record_class(self, record: Record, ref: Type) -> type[_RecordView]:
        getters = {item.name: self._getter(record, item) for item in record.fields}
        base = self._class(_RecordView, ref, _zc_fields=record.by_name)
        return cast("type[_RecordView]", record_view_class(base, record.name, getters))

    def _getter(self, record: Record, item: Field) -> Callable[[Any], Any]:
        open_field, name = self._opener(item.type), item.name

        def get(view: _RecordView) -> Any:
            view._zc_data()
            if name not in view._zc_node:
                if item.has_default:
                    return item.make_default()
                if not item.required:
                    return None
                raise DecodeError(
                    f"field {name!r} of {record.name} is missing", codec=self._codec, path=pointer((name,))
                )
            return open_field(view._zc_node[name], view._zc_message)

        return get
