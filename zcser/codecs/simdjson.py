"""JSON read by pysimdjson: lazy views over simdjson's tape. It has no encode; json and orjson write its wire.

1. A parser holds one document. A view owns its parser until the last view of that document is gone; idle parsers wait
   in a pool, so that threads never share one and a live view never makes a later parse fail.
2. simdjson copies the input and parses all of it into a tape: a view is lazy, not zero-copy, and is called so.
3. A field is checked against the schema when it is read. Of duplicate keys the last one stands, as in decode, although
   simdjson's own lookup answers with the first.
4. `Object.items()` makes builtins of the containers in it: a node is a proxy or a dict or list, and all code takes both.
   Builtins are shared by views, and are copied before a reader, which changes its tree, has them.
5. An item of an array is found by walking from its start: iterate, rather than index, over long lists.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any, ClassVar, TypeVar, cast

import simdjson

from zcser.core.buffers import Buffer, byte_view
from zcser.core.codec import Reads
from zcser.core.errors import DecodeError
from zcser.core.options import Options
from zcser.core.paths import pointer
from zcser.core.view import MapView, RecordView, SequenceView, View, record_view_class, released
from zcser.schema.model import Bytes, Field, List, Map, Optional, Record, Ref, Schema, Str, Tensor, Type, Union, walk
from zcser.tree.codec import TreeReader
from zcser.tree.explain import explain
from zcser.tree.form import Form, is_tagged, wire_class
from zcser.tree.leaves import BadTree, key_reader
from zcser.tree.read import tree_readers

__all__ = ["SimdjsonCodec"]

T = TypeVar("T")

_BOM = b"\xef\xbb\xbf"
_IDLE_PARSERS = 8
_POOLED_BYTES = 16 << 20
"""A parser keeps room for the largest document that it has seen: one that has seen a larger one is not kept."""


class SimdjsonCodec(TreeReader[T]):
    """See the head of this module."""

    name = "simdjson"
    format = "JSON text (RFC 8259)"
    wire = "json"
    library = "pysimdjson"
    form = Form(native_bytes=False, finite=True, text_keys=True, big_ints=False)
    reads: ClassVar[dict[str, Reads]] = {"str": "parse", "bytes": "parse", "tensor": "parse", "list": "parse"}
    ends_itself = False

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        self._idle: list[simdjson.Parser] = []
        self._views = _Views(schema, self.form, options)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of pysimdjson, and the instruction set that simdjson chose."""
        chosen = simdjson.Parser().implementation
        return version("pysimdjson"), f"simdjson, {chosen[0] if isinstance(chosen, tuple) else chosen}"

    def _parse(self, data: Any) -> tuple[Any, simdjson.Parser]:
        if data[:3] == _BOM:
            raise DecodeError("the text starts with a byte order mark; strip it", codec=self.name, offset=0)
        try:
            parser = self._idle.pop()
        except IndexError:
            parser = simdjson.Parser()
        else:
            try:
                return parser.parse(data), parser
            except RuntimeError:
                # Its last document's proxies are only just dying in another thread, or the document is too deep: a
                # new parser tells which.
                parser = simdjson.Parser()
        return parser.parse(data), parser

    def _park(self, parser: simdjson.Parser, size_bytes: int) -> None:
        if len(self._idle) < _IDLE_PARSERS and size_bytes <= _POOLED_BYTES:
            self._idle.append(parser)

    def _loads(self, data: Any, /) -> Any:
        document, parser = self._parse(data)
        tree = _tree(document)
        del document
        self._park(parser, len(data))
        return tree

    def view(self, data: Buffer, *, verify: bool = True) -> Any:
        """Open a message lazily.

        Parameters
        ----------
        data
            Any C-contiguous buffer that holds one JSON document.
        verify
            Makes no difference: simdjson has parsed the whole text, and a field is checked when it is read.

        Notes
        -----
        Copies: the input, by simdjson. Lifetime: the view keeps the copy, not `data`.
        """
        del verify
        flat = byte_view(self._flat(data), codec=self.name)
        try:
            document, parser = self._parse(flat)
        except DecodeError:
            raise
        except Exception as error:
            raise self._not_loaded(error) from error
        if len(flat) > self.options.limits.elements:
            self._bound_elements(_tree(document))
        return self._views.open(document, _Source(self._park, parser, len(flat)))


Opener = Callable[[Any, "_Source"], Any]


class _Source:
    """A parsed document: what all views of it share, and give back when the last one goes."""

    __slots__ = ("alive", "park", "parser", "size_bytes")

    def __init__(self, park: Callable[[Any, int], None], parser: Any, size_bytes: int) -> None:
        self.alive = True
        self.park = park
        self.parser = parser
        self.size_bytes = size_bytes

    def __del__(self) -> None:
        self.park(self.parser, self.size_bytes)


class _Lazy(View):
    """What the three shapes share: a node of the document, and how to read all of it."""

    __slots__ = ()
    _zc_node: Any
    _zc_source: _Source
    _zc_read: Callable[[Any], Any]

    def _zc_alive(self) -> Any:
        if not self._zc_source.alive:
            raise released()
        return self._zc_node

    def _zc_value(self) -> Any:
        return self._zc_read(self._zc_alive())

    def _zc_release(self) -> None:
        self._zc_source.alive = False

    def _zc_retained(self) -> int:
        return self._zc_source.size_bytes


class _RecordView(RecordView, _Lazy):
    __slots__ = ("_zc_last", "_zc_node", "_zc_source")
    _zc_fields: dict[str, Field]
    _zc_all_required: bool
    _zc_has_nul: bool

    def __init__(self, node: Any, source: _Source) -> None:
        self._zc_node = node
        self._zc_source = source
        self._zc_last: Any = None

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
    _zc_item_of: Callable[[Any, _Source], Any]

    def __init__(self, node: Any, source: _Source) -> None:
        self._zc_node = node
        self._zc_source = source

    def __len__(self) -> int:
        return len(self._zc_alive())

    def _zc_item(self, index: int) -> Any:
        return self._zc_item_of(self._zc_alive()[index], self._zc_source)

    def __iter__(self) -> Iterator[Any]:
        source, item_of = self._zc_source, self._zc_item_of
        for node in self._zc_alive():
            yield item_of(node, source)
            self._zc_alive()


class _MapView(MapView, _Lazy):
    __slots__ = ("_zc_entries", "_zc_node", "_zc_source")
    _zc_item_of: Callable[[Any, _Source], Any]
    _zc_key_of: Callable[[str], Any]

    def __init__(self, node: Any, source: _Source) -> None:
        self._zc_node = node
        self._zc_source = source
        # Of duplicate keys the last one stands.
        self._zc_entries = {self._zc_key_of(key): item for key, item in node.items()}

    def __getitem__(self, key: Any) -> Any:
        self._zc_alive()
        return self._zc_item_of(self._zc_entries[key], self._zc_source)

    def __iter__(self) -> Iterator[Any]:
        self._zc_alive()
        return iter(self._zc_entries)

    def __len__(self) -> int:
        self._zc_alive()
        return len(self._zc_entries)


class _Views:
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
        self.record_classes: dict[str, type[_RecordView]] = {}
        for record, type_ in zip(schema.records, self.types[-len(schema.records) :], strict=False):
            self.record_classes[record.name] = self.record(record, type_)
        self.open = self.opener(schema.root)

    def reader(self, type_: Type) -> Callable[[Any], Any]:
        """From a node to the whole value, with a `DecodeError` where it does not fit."""
        read = self.readers[id(type_)]

        def checked(node: Any) -> Any:
            try:
                return read(_tree(node))
            except Exception as error:
                # Reading has changed the tree, so that the words need another.
                raise self.fault(type_, _tree(node), error) from error

        return checked

    def fault(self, type_: Type, tree: Any, error: Exception | None = None) -> DecodeError:
        found = explain(Schema(type_, self.schema.records), self.form, self.options, tree, "simdjson")
        return found or DecodeError(f"a record refused its fields: {error}", codec="simdjson")

    def opener(self, type_: Type) -> Opener:
        """From a node to what a view gives for a type."""
        match type_:
            case Optional(item):
                some = self.opener(item)
                return lambda node, source: None if node is None else some(node, source)
            case Union():
                return self.union(type_)
            case List(item=item):
                parts: dict[str, Any] = {"_zc_item_of": staticmethod(self.opener(item))}
                return self.shape(type_, _SequenceView, list, parts)
            case Map(key, value):
                key_of: Callable[[str], Any] = str if isinstance(key, Str) else key_reader(key)
                item_of = self.opener(value)
                parts = {"_zc_item_of": staticmethod(item_of), "_zc_key_of": staticmethod(key_of)}
                return self.shape(type_, _MapView, dict, parts)
            case Ref(name):
                return self.instance(type_, lambda: self.record_classes[name], dict)
        read = self.reader(type_)
        if isinstance(type_, Bytes):
            return lambda node, _source: memoryview(read(node))
        if isinstance(type_, Tensor):
            return lambda node, _source: _read_only(read(node))
        return lambda node, _source: read(node)

    def shape(self, type_: Type, base: type[_Lazy], wanted: type, parts: dict[str, Any]) -> Opener:
        cls = type(base.__name__, (base,), {"__slots__": (), "_zc_read": staticmethod(self.reader(type_)), **parts})
        return self.instance(type_, lambda: cls, wanted)

    def instance(self, type_: Type, view_class: Callable[[], Any], wanted: type) -> Opener:
        length = type_.length if isinstance(type_, List) else None

        def open_view(node: Any, source: _Source) -> Any:
            if _class(node) is not wanted or (length is not None and len(node) != length):
                raise self.fault(type_, _tree(node))
            try:
                return view_class()(node, source)
            except BadTree as error:  # a key of a map
                raise self.fault(type_, _tree(node), error) from error

        return open_view

    def union(self, type_: Union) -> Opener:
        openers = [self.opener(option) for option in type_.options]
        if is_tagged(type_, self.form):
            by_name = dict(zip(type_.names, openers, strict=True))

            def open_tagged(node: Any, source: _Source) -> Any:
                entries = dict(node.items()) if _class(node) is dict else {}
                if len(entries) != 1 or next(iter(entries)) not in by_name:
                    raise self.fault(type_, _tree(node))
                ((name, inner),) = entries.items()
                return by_name[name](inner, source)

            return open_tagged
        by_class = dict(zip((wire_class(option, self.form) for option in type_.options), openers, strict=True))
        if float in by_class:
            by_class.setdefault(int, by_class[float])

        def open_bare(node: Any, source: _Source) -> Any:
            cls = _class(node)
            if cls not in by_class:
                raise self.fault(type_, _tree(node))
            return by_class[cls](node, source)

        return open_bare

    def record(self, record: Record, type_: Type) -> type[_RecordView]:
        getters = {item.name: self.getter(record, item) for item in record.fields}
        namespace = {
            "__slots__": (),
            "_zc_fields": record.by_name,
            "_zc_has_nul": any("\0" in item.name for item in record.fields),
            "_zc_all_required": all(item.required and not item.has_default for item in record.fields),
            "_zc_read": staticmethod(self.reader(type_)),
        }
        base = type("RecordView", (_RecordView,), namespace)
        return cast("type[_RecordView]", record_view_class(base, record.name, getters))

    def getter(self, record: Record, item: Field) -> Callable[[Any], Any]:
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


def _tree(node: Any) -> Any:
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
