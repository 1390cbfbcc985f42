"""Views over a parsed document.

1. A field is checked against the schema when it is read. Of duplicate keys the last one stands, as in decode, although
   simdjson's own lookup answers with the first.
2. A node is a proxy, or a builtin: where the strict reader has read the text, and where pysimdjson gives nothing else
   (`Object.items()`). All code takes both. Builtins are shared by views, and are copied before a reader, which changes
   its tree, has them.
3. A map looks its keys up one at a time, each a walk over the keys before it. Walked as a whole, by `items()` or
   `values()`, its values are made one after the other.
4. An item of an array is found by walking from its start: iterate, rather than index, over long lists.
"""

from __future__ import annotations

import itertools
import marshal
from collections.abc import Callable, ItemsView, Iterator, ValuesView
from typing import Any, cast

import numpy as np
import simdjson

from zcser.codecs.simdjson.arrays import ToArray, as_asked, leaf_dtype, number_array, number_tree, rows
from zcser.codecs.simdjson.parsers import Document
from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.core.paths import pointer
from zcser.core.view import MapView, RecordView, SequenceView, View, record_view_class, released
from zcser.schema.model import Bytes, Field, List, Map, Optional, Record, Ref, Schema, Str, Tensor, Type, Union, walk
from zcser.tree.explain import explain
from zcser.tree.form import Form, is_tagged, wire_class
from zcser.tree.leaves import BadTree, key_reader
from zcser.tree.read import tree_readers
from zcser.tree.tensors import tensor_reader

__all__ = ["Views", "tree_of"]

Opener = Callable[[Any, Document], Any]


class _Lazy(View):
    """What the three shapes share: a node of the document, and how to read all of it.

    Slots are cleared in the order of their names: the node, a proxy, before the document, which gives the parser back.
    """

    __slots__ = ()
    _zc_node: Any
    _zc_source: Document
    _zc_read: Callable[[Any], Any]

    def _zc_alive(self) -> Any:
        # Taken before it is asked: another thread may release the view in between.
        node = self._zc_node
        if not self._zc_source.alive:
            raise released()
        return node

    def _zc_value(self) -> Any:
        return self._zc_read(self._zc_alive())

    def _zc_let_go(self) -> None:
        """Drop all proxies and builtins."""
        self._zc_node = None

    def _zc_release(self) -> None:
        self._zc_source.alive = False
        self._zc_let_go()
        self._zc_source.end()

    def _zc_retained(self) -> int:
        return self._zc_source.size_bytes if self._zc_source.alive else 0


class _RecordView(RecordView, _Lazy):
    __slots__ = ("_zc_last", "_zc_node", "_zc_source")
    _zc_fields: dict[str, Field]
    _zc_all_required: bool
    _zc_has_nul: bool

    def __init__(self, node: Any, document: Document) -> None:
        self._zc_node = node
        self._zc_source = document
        self._zc_last: Any = None

    def _zc_let_go(self) -> None:
        self._zc_node = self._zc_last = None

    def _zc_raw(self, name: str) -> Any:
        """The node of a field; KeyError where it is absent."""
        node = self._zc_alive()
        last = self._zc_last
        if last is None:
            last = self._zc_last = node if self._zc_unique(node) else dict(node.items())
        return last[name]

    def _zc_unique(self, node: Any) -> bool:
        """Whether the node answers for its keys: none stands twice. With every field required, the number of entries tells: one too few is missing."""
        if node.__class__ is dict:
            return True
        if self._zc_has_nul:
            return False  # simdjson's lookup ends a key at its NUL
        size = len(node)
        return (self._zc_all_required and size == len(self._zc_fields)) or len(set(node.keys())) == size

    def _zc_present(self, name: str) -> bool:
        if not self._zc_fields[name].may_be_absent:
            return True
        try:
            self._zc_raw(name)
        except KeyError:
            return False
        return True


class _SequenceView(SequenceView, _Lazy):
    __slots__ = ("_zc_node", "_zc_source")
    _zc_item_of: Opener

    def __init__(self, node: Any, document: Document) -> None:
        self._zc_node = node
        self._zc_source = document

    def __len__(self) -> int:
        return len(self._zc_alive())

    def _zc_item(self, index: int) -> Any:
        return self._zc_item_of(self._zc_alive()[index], self._zc_source)

    def __getitem__(self, index: int | slice) -> Any:
        if not isinstance(index, slice):
            return super().__getitem__(index)
        places = range(*index.indices(len(self)))
        forward = places if places.step > 0 else places[::-1]
        found = list(itertools.islice(self, forward.start, forward.stop, forward.step))
        return found if places.step > 0 else found[::-1]

    def __iter__(self) -> Iterator[Any]:
        document, item_of = self._zc_source, self._zc_item_of
        for node in self._zc_alive():
            yield item_of(node, document)
            self._zc_alive()


class _NumbersView(_SequenceView):
    """A list of numbers, or a list of such lists; ``numpy.asarray`` takes it."""

    __slots__ = ()
    _zc_to_array: ToArray

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_asked(self._zc_to_array(self._zc_alive(), self._zc_source), dtype, copy)


class _MapView(MapView, _Lazy):
    __slots__ = ("_zc_items", "_zc_keys", "_zc_node", "_zc_source")
    _zc_item_of: Opener
    _zc_key_of: Callable[[str], Any]

    def __init__(self, node: Any, document: Document) -> None:
        self._zc_node = node
        self._zc_source = document
        texts = list(node.keys())
        keys = self._zc_keys = {self._zc_key_of(text): text for text in texts}
        # With a key twice, or a NUL in one, at which simdjson's lookup would end, the node cannot answer for its keys.
        plain = node.__class__ is dict or (len(keys) == len(texts) and "\0" not in "".join(texts))
        self._zc_items: Any = node if plain else dict(node.items())

    def _zc_let_go(self) -> None:
        self._zc_node = self._zc_items = None

    def __getitem__(self, key: Any) -> Any:
        items = self._zc_items
        self._zc_alive()
        return self._zc_item_of(items[self._zc_keys[key]], self._zc_source)

    def __contains__(self, key: object) -> bool:
        self._zc_alive()
        return key in self._zc_keys

    def __iter__(self) -> Iterator[Any]:
        self._zc_alive()
        return iter(self._zc_keys)

    def __len__(self) -> int:
        self._zc_alive()
        return len(self._zc_keys)

    def items(self) -> ItemsView[Any, Any]:
        return _Items(self)

    def values(self) -> ValuesView[Any]:
        return _Values(self)

    def _zc_pairs(self) -> Iterator[tuple[Any, Any]]:
        items = self._zc_items
        self._zc_alive()
        document, item_of, key_of = self._zc_source, self._zc_item_of, self._zc_key_of
        for text, node in items.items():
            yield key_of(text), item_of(node, document)
            self._zc_alive()


class _Items(ItemsView[Any, Any]):
    """Walks the map once, where its own iterator would look every key up."""

    _mapping: _MapView

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self._mapping._zc_pairs()


class _Values(ValuesView[Any]):
    _mapping: _MapView

    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._mapping._zc_pairs())


class Views:
    """The view classes of one schema, and for each type how a node of the document becomes what a view gives."""

    def __init__(self, schema: Schema, form: Form, options: Options) -> None:
        self.schema = schema
        self.form = form
        self.options = options
        places = [schema.root, *(item.type for record in schema.records for item in record.fields)]
        self.types = [part for place in places for part in walk(place)]
        self.types += [Ref(record.name) for record in schema.records]
        # By identity: two enums may be equal and have different classes.
        readers = tree_readers(schema, form, options, self.types, copy=True)
        self.readers = dict(zip(map(id, self.types), readers, strict=True))
        # Tensors of numbers are read without this too, a number at a time.
        self.for_arrays = options.tensors == "numbers"
        self.record_classes: dict[str, type[_RecordView]] = {}
        for record, type_ in zip(schema.records, self.types[-len(schema.records) :], strict=False):
            self.record_classes[record.name] = self._record(record, type_)
        self.open = self.opener(schema.root)

    def reader(self, type_: Type) -> Callable[[Any], Any]:
        """From a node to the whole value, with a `DecodeError` where it does not fit."""
        read = self.readers[id(type_)]

        def checked(node: Any) -> Any:
            try:
                return read(tree_of(node))
            except Exception as error:
                # Reading has changed the tree, so that the words need another.
                raise self._fault(type_, tree_of(node), error) from error

        return checked

    def _fault(self, type_: Type, tree: Any, error: Exception | None = None) -> DecodeError:
        found = explain(Schema(type_, self.schema.records), self.form, self.options, tree, "simdjson")
        return found or DecodeError(f"a record refused its fields: {error}", codec="simdjson")

    def opener(self, type_: Type) -> Opener:
        """From a node to what a view gives for a type."""
        match type_:
            case Optional(item):
                some = self.opener(item)
                return lambda node, document: None if node is None else some(node, document)
            case Union():
                return self._union(type_)
            case List(item=item):
                parts: dict[str, Any] = {"_zc_item_of": staticmethod(self.opener(item))}
                to_array = self.to_array(type_, parts["_zc_item_of"])
                if to_array is None:
                    return self._shape(type_, _SequenceView, list, parts)
                self.for_arrays = True
                return self._shape(type_, _NumbersView, list, {**parts, "_zc_to_array": staticmethod(to_array)})
            case Map(key, value):
                key_of: Callable[[str], Any] = str if isinstance(key, Str) else key_reader(key)
                item_of = self.opener(value)
                parts = {"_zc_item_of": staticmethod(item_of), "_zc_key_of": staticmethod(key_of)}
                return self._shape(type_, _MapView, dict, parts)
            case Ref(name):
                return self._instance(type_, lambda: self.record_classes[name], dict)
        read = self.reader(type_)
        if isinstance(type_, Bytes):
            return lambda node, _document: memoryview(read(node))
        if isinstance(type_, Tensor):
            return self._tensor(type_, read)
        return lambda node, _document: read(node)

    def to_array(self, type_: List, item_of: Opener) -> ToArray | None:
        """How a list becomes an array; None where it is not made of numbers alone."""
        read = self.reader(type_)
        if not isinstance(type_.item, List):
            return number_array(type_.item, read)
        if self.to_array(type_.item, item_of) is None:
            return None
        dtype = leaf_dtype(type_)
        return lambda node, document: rows(
            [np.asarray(item_of(part, document)) for part in node], lambda: np.array(read(node), dtype)
        )

    def _tensor(self, type_: Tensor, read: Callable[[Any], Any]) -> Opener:
        of_tree = tensor_reader(type_, native_bytes=False, copy=False)

        def open_tensor(node: Any, document: Document) -> Any:
            tree = number_tree(node, document)
            if tree is None:
                return _read_only(read(node))
            try:
                return _read_only(of_tree(tree))
            except BadTree as error:
                raise self._fault(type_, tree_of(node), error) from error

        return open_tensor

    def _shape(self, type_: Type, base: type[_Lazy], wanted: type, parts: dict[str, Any]) -> Opener:
        cls = type(base.__name__, (base,), {"__slots__": (), "_zc_read": staticmethod(self.reader(type_)), **parts})
        return self._instance(type_, lambda: cls, wanted)

    def _instance(self, type_: Type, view_class: Callable[[], Any], wanted: type) -> Opener:
        length = type_.length if isinstance(type_, List) else None

        def open_view(node: Any, document: Document) -> Any:
            if _class(node) is not wanted or (length is not None and len(node) != length):
                raise self._fault(type_, tree_of(node))
            try:
                return view_class()(node, document)
            except BadTree as error:  # a key of a map
                raise self._fault(type_, tree_of(node), error) from error

        return open_view

    def _union(self, type_: Union) -> Opener:
        openers = [self.opener(option) for option in type_.options]
        if is_tagged(type_, self.form):
            by_name = dict(zip(type_.names, openers, strict=True))

            def open_tagged(node: Any, document: Document) -> Any:
                names = set(node.keys()) if _class(node) is dict else set()
                if len(names) != 1 or not names <= by_name.keys():
                    raise self._fault(type_, tree_of(node))
                (name,) = names
                # The same name may stand there twice, and the last one counts.
                plain = len(node) == 1 and "\0" not in name
                inner = (node if plain else dict(node.items()))[name]
                return by_name[name](inner, document)

            return open_tagged
        by_class = dict(zip((wire_class(option, self.form) for option in type_.options), openers, strict=True))
        if float in by_class:
            by_class.setdefault(int, by_class[float])

        def open_bare(node: Any, document: Document) -> Any:
            cls = _class(node)
            if cls not in by_class:
                raise self._fault(type_, tree_of(node))
            return by_class[cls](node, document)

        return open_bare

    def _record(self, record: Record, type_: Type) -> type[_RecordView]:
        getters = {item.name: self._getter(record, item) for item in record.fields}
        namespace = {
            "__slots__": (),
            "_zc_fields": record.by_name,
            "_zc_has_nul": any("\0" in item.name for item in record.fields),
            "_zc_all_required": all(item.required and not item.has_default for item in record.fields),
            "_zc_read": staticmethod(self.reader(type_)),
        }
        base = type("RecordView", (_RecordView,), namespace)
        return cast("type[_RecordView]", record_view_class(base, record.name, getters))

    def _getter(self, record: Record, item: Field) -> Callable[[Any], Any]:
        open_field, name = self.opener(item.type), item.name

        def get(view: _RecordView) -> Any:
            try:
                node = view._zc_raw(name)
            except KeyError:
                if item.has_default:
                    return item.make_default()
                if not item.required:
                    return None
                raise DecodeError(
                    f"field {name!r} of {record.name} is missing", codec="simdjson", path=pointer((name,))
                ) from None
            return open_field(node, view._zc_source)

        return get


def tree_of(node: Any) -> Any:
    """A node as builtins that belong to the caller."""
    cls = node.__class__
    if cls is simdjson.Object:
        return node.as_dict()
    if cls is simdjson.Array:
        return node.as_list()
    # marshal copies in C, and deeper than simdjson nests; what it loads it has just dumped.
    return marshal.loads(marshal.dumps(node)) if cls is dict or cls is list else node  # noqa: S302


def _class(node: Any) -> type:
    """The builtin class of a node, whether it is a proxy or not."""
    cls: type = node.__class__
    return _BUILTIN.get(cls, cls)


_BUILTIN: dict[type, type] = {simdjson.Object: dict, simdjson.Array: list}


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array
