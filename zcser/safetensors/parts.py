"""A message in two parts: its tensors and bytes, by name, and all else as text.

1. A tensor that is a field of the message has the field's name. One that lies deeper has its path as a JSON Pointer
   (``/layers/0/weight``; the option's name stands in it for a union). A field whose name begins with a slash, or is
   ``__metadata__``, has its pointer too, so that no two tensors can have one name.
2. Bytes are a tensor of U8 of one dimension.
3. A dtype that the format has not is stored as U8, with one more dimension for the bytes of an element; the metadata
   ``/dtypes`` says of which tensors.
4. Every other field is an entry of the metadata, by its name: a str as it is, all else as JSON text, in which null stands
   where a tensor was taken out. A tensor that is None is null there; a field that is absent is nowhere.
5. A root that is a map from str to tensors is one of its entries by their keys: what other programs write. Any other root
   that is no record stands as the one field ``value``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from zcser.core.dtypes import dtype_named
from zcser.core.paths import pointer
from zcser.safetensors.header import DTYPES, METADATA, Entry, order
from zcser.schema.model import Bytes, Field, List, Map, Optional, Record, Ref, Schema, Str, Tensor, Type, Union, walk

__all__ = ["Layout", "Parts"]

_OTHERS = "/dtypes"
_NAMES = {theirs: ours for ours, theirs in DTYPES.items()}
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode

Lift = Callable[[Any, str, "dict[str, _Blob]"], Any]
Lower = Callable[[Any, str, "Source"], Any]


class _Blob(NamedTuple):
    """A tensor or bytes that were taken out of a tree."""

    dtype: str
    shape: list[int]
    data: memoryview


class Parts(NamedTuple):
    """What a message is made of: the header's two parts, and the data in their order."""

    entries: dict[str, Entry]
    metadata: dict[str, str]
    data: list[memoryview]


class Source:
    """The tensors of a message that is read.

    Parameters
    ----------
    entries, others
        The header's, and the dtypes that the format has not, by name of the tensor.
    data_of
        What stands in the tree for the data of a tensor, by its number, less some bytes at their beginning.
    """

    def __init__(self, entries: Mapping[str, Entry], others: Any, data_of: Callable[[int, int], Any]) -> None:
        self.entries = entries
        self.numbers = {name: number for number, name in enumerate(entries)}
        self.others = others if isinstance(others, dict) else {}
        self.data_of = data_of
        self.left = set(entries)

    def tensor(self, name: str) -> dict[str, Any]:
        """The tree of a tensor."""
        dtype, shape, _, _ = self.entries[name]
        self.left.discard(name)
        ours: Any = _NAMES.get(dtype, dtype)
        if name in self.others:
            ours, width, shape = self.others[name], shape[-1] if shape else 0, shape[:-1]
            if dtype != "U8" or not isinstance(ours, str) or not _has_width(ours, width):
                ours = None
        return {"dtype": ours, "shape": list(shape), "data": self.data_of(self.numbers[name], 0)}

    def bytes(self, name: str) -> Any:
        """Bytes; None, which no reader takes for some, where another tensor stands there."""
        dtype, shape, _, _ = self.entries[name]
        self.left.discard(name)
        return self.data_of(self.numbers[name], 0) if dtype == "U8" and len(shape) == 1 else None


def _has_width(name: str, width: int) -> bool:
    try:
        return dtype_named(name).itemsize == width
    except LookupError:
        return False


class Layout:
    """How the trees of one schema (`zcser.tree.form`, with native bytes and tagged unions) are taken apart and put together.

    Parameters
    ----------
    schema
        Of the messages.
    text_of_json
        The reader of JSON text.
    """

    def __init__(self, schema: Schema, text_of_json: Callable[[bytes], Any]) -> None:
        self.schema = schema
        self.text_of_json = text_of_json
        root = schema.root
        self.dynamic = isinstance(root, Map) and isinstance(root.key, Str) and isinstance(root.value, Tensor)
        self.bare = not isinstance(root, Ref)
        record = schema.resolve(root) if isinstance(root, Ref) else Record("", (Field("value", root, 1),))
        self.by_record: dict[str, tuple[Lift, Lower]] = {}
        self.fields = {} if self.dynamic else {item.name: self._field(item) for item in record.fields}

    def _field(self, item: Field) -> tuple[bool, Lift | None, Lower | None]:
        lift, lower = self._walks(item.type) if self._is_mixed(item.type, frozenset()) else (None, None)
        return isinstance(item.type, Str), lift, lower

    def take_apart(self, tree: Any) -> Parts:
        """The parts of a message."""
        blobs: dict[str, _Blob] = {}
        metadata: dict[str, str] = {}
        if self.dynamic:
            for key, value in tree.items():
                _lift_tensor(value, name_of(key), blobs)
        else:
            self._take_fields({"value": tree} if self.bare else tree, blobs, metadata)
        return _arranged(blobs, metadata)

    def _take_fields(self, tree: dict[str, Any], blobs: dict[str, _Blob], metadata: dict[str, str]) -> None:
        for name, (is_text, lift, _) in self.fields.items():
            if name not in tree:
                continue
            value = tree[name]
            if is_text:
                metadata[_key_of(name)] = value
                continue
            rest = value
            if lift is not None and value is not None:
                where = name_of(name)
                rest = lift(value, where, blobs)
                if where in blobs:
                    continue
            metadata[_key_of(name)] = _ENCODE(rest)

    def put_together(
        self,
        entries: Mapping[str, Entry],
        metadata: Mapping[str, str],
        data_of: Callable[[int, int], Any],
        *,
        others: bool,
    ) -> Any:
        """The tree of a message.

        Parameters
        ----------
        entries, metadata
            The header's.
        data_of
            What stands in the tree for the data of a tensor, by its number, less some bytes at their beginning.
        others
            Whether what belongs to no field stands in the tree too, by its name.
        """
        left = dict(metadata)
        source = Source(entries, self.text_of_json(left.pop(_OTHERS, "{}").encode()), data_of)
        if self.dynamic:
            return {_unescaped(name): source.tensor(name) for name in entries}
        tree: dict[str, Any] = {}
        for name, (is_text, _, lower) in self.fields.items():
            text, where = left.pop(_key_of(name), None), name_of(name)
            if text is None and where not in entries:
                continue
            rest = text if is_text or text is None else self.text_of_json(text.encode())
            tree[name] = rest if lower is None else lower(rest, where, source)
        if others:
            tree.update(dict.fromkeys((*left, *source.left)))
        return tree.get("value") if self.bare and tree.keys() <= {"value"} else tree

    # Of what is not text alone: how tensors and bytes are taken out, and put in again -----------------------------------

    def _is_mixed(self, type_: Type, seen: frozenset[str]) -> bool:
        for part in walk(type_):
            if isinstance(part, Tensor | Bytes):
                return True
            if isinstance(part, Ref) and part.name not in seen:
                inside = seen | {part.name}
                if any(self._is_mixed(item.type, inside) for item in self.schema.resolve(part).fields):
                    return True
        return False

    def _walks(self, type_: Type) -> tuple[Lift, Lower]:
        match type_:
            case Tensor():
                return _lift_tensor, _lower_tensor
            case Bytes():
                return _lift_bytes, _lower_bytes
            case _ if not self._is_mixed(type_, frozenset()):
                return (lambda tree, _path, _blobs: tree), (lambda rest, _path, _source: rest)
            case Optional(item):
                lift, lower = self._walks(item)
                return (lambda tree, path, blobs: None if tree is None else lift(tree, path, blobs)), lower
            case List(item=item):
                return _list_walks(*self._walks(item))
            case Map(value=value):
                return _map_walks(_Always(self._walks(value)).get)
            case Union(options):
                walks = {name: self._walks(option) for name, option in zip(type_.names, options, strict=True)}
                return _map_walks(walks.get)
            case Ref(name):
                return self._record_walks(name)
        raise AssertionError(type_)

    def _record_walks(self, name: str) -> tuple[Lift, Lower]:
        if name not in self.by_record:
            inner: dict[str, tuple[Lift, Lower]] = {}
            self.by_record[name] = _map_walks(inner.get)
            inner.update((item.name, self._walks(item.type)) for item in self.schema.record(name).fields)
        return self.by_record[name]


class _Always(NamedTuple):
    """The walks of every key alike."""

    walks: tuple[Lift, Lower]

    def get(self, _key: str) -> tuple[Lift, Lower]:
        return self.walks


def name_of(field: str) -> str:
    """The name of a tensor that is a field."""
    return pointer((field,)) if field.startswith("/") or field == METADATA else field


def _key_of(field: str) -> str:
    return pointer((field,)) if field.startswith("/") else field


def _unescaped(name: str) -> str:
    return name[1:].replace("~1", "/").replace("~0", "~") if name.startswith("/") else name


def _below(path: str, step: str | int) -> str:
    return (path if path.startswith("/") else pointer((path,))) + pointer((step,))


def _lift_tensor(tree: Any, path: str, blobs: dict[str, _Blob]) -> None:
    blobs[path] = _Blob(tree["dtype"], tree["shape"], memoryview(tree["data"]))


def _lift_bytes(tree: Any, path: str, blobs: dict[str, _Blob]) -> None:
    blobs[path] = _Blob("uint8", [len(tree)], memoryview(tree))


def _lower_tensor(rest: Any, path: str, source: Source) -> Any:
    return source.tensor(path) if path in source.entries else rest


def _lower_bytes(rest: Any, path: str, source: Source) -> Any:
    return source.bytes(path) if path in source.entries else rest


def _list_walks(lift: Lift, lower: Lower) -> tuple[Lift, Lower]:
    def lift_list(tree: Any, path: str, blobs: dict[str, _Blob]) -> Any:
        return [lift(item, _below(path, index), blobs) for index, item in enumerate(tree)]

    def lower_list(rest: Any, path: str, source: Source) -> Any:
        if not isinstance(rest, list):
            return rest  # which the tree's reader refuses, or takes for None
        return [lower(item, _below(path, index), source) for index, item in enumerate(rest)]

    return lift_list, lower_list


def _map_walks(walks_of: Callable[[str], tuple[Lift, Lower] | None]) -> tuple[Lift, Lower]:
    """Of an object whose values are walked each by its key; one that has no walks stays as it is."""

    def lift_map(tree: Any, path: str, blobs: dict[str, _Blob]) -> Any:
        found = {}
        for key, value in tree.items():
            walks = walks_of(key)
            found[key] = value if walks is None else walks[0](value, _below(path, key), blobs)
        return found

    def lower_map(rest: Any, path: str, source: Source) -> Any:
        if not isinstance(rest, dict):
            return rest
        found = {}
        for key, value in rest.items():
            walks = walks_of(key)
            found[key] = value if walks is None else walks[1](value, _below(path, key), source)
        return found

    return lift_map, lower_map


def _arranged(blobs: Mapping[str, _Blob], metadata: dict[str, str]) -> Parts:
    """The header's parts, in the order of the data."""
    others: dict[str, str] = {}
    known: list[tuple[int, str, str, list[int], memoryview]] = []
    for name, (ours, shape, data) in blobs.items():
        dtype, extents = DTYPES.get(ours), shape
        alignment = dtype_named(ours).alignment
        if dtype is None:
            others[name] = ours
            dtype, extents = "U8", [*shape, dtype_named(ours).itemsize]
        known.append((-order(dtype, alignment), name, dtype, extents, data))
    if others:
        metadata[_OTHERS] = _ENCODE(others)
    entries: dict[str, Entry] = {}
    end = 0
    known.sort(key=lambda tensor: tensor[:2])
    for _, name, dtype, extents, data in known:
        entries[name] = Entry(dtype, extents, end, end + data.nbytes)
        end += data.nbytes
    return Parts(entries, metadata, [data for *_, data in known])
