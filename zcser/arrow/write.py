"""From trees to arrays, one builder for each type of a schema.

1. What pyarrow can build from builtins by itself, nested types too, is given to `pyarrow.array` whole, as its documentation
   advises. It knows no unions and no tensors: what holds one is taken apart here, column by column.
2. A tensor that stands alone in its column is not copied: its memory is the column's. Several are joined, once.
3. Trees fit the schema; `zcser.tree` has seen to that.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from zcser.arrow.types import Columns, inner_record, is_wrapped, reaches
from zcser.schema.model import List, Map, Optional, Record, Ref, Schema, Tensor, Type, Union

__all__ = ["batch_writer"]

Build = Callable[[list[Any]], pa.Array]


def batch_writer(columns: Columns) -> Callable[[Any], pa.RecordBatch]:
    """A function from a tree to the record batch."""
    build = _Builders(columns.schema).record(columns.record, columns.struct)
    many, bare = columns.many, columns.bare

    def write(tree: Any) -> pa.RecordBatch:
        rows = tree if many else [{"value": tree} if bare else tree]
        return pa.RecordBatch.from_struct_array(build(rows))

    return write


class _Builders:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def of(self, type_: Type, arrow: pa.DataType) -> Build:
        """The builder of a type, whose items may be None."""
        type_ = type_.item if isinstance(type_, Optional) else type_
        if not reaches(self.schema, type_, (Tensor, Union)):
            return lambda items: pa.array(items, arrow)
        match type_:
            case Tensor():
                return _tensors(arrow)
            case List():
                return self.lists(type_, arrow)
            case Map():
                return self.maps(type_, arrow)
            case Union():
                return self.unions(type_, arrow)
            case Ref():
                return self.record(self.schema.resolve(type_), arrow)
        raise AssertionError(type_)

    def record(self, record: Record, arrow: pa.StructType) -> Build:
        if not any(is_wrapped(f) or reaches(self.schema, f.type, (Tensor, Union)) for f in record.fields):
            return lambda items: pa.array(items, arrow)
        parts = []
        for item, field in zip(record.fields, arrow, strict=True):
            wrapped = is_wrapped(item)
            inner = self.record(inner_record(item.type), field.type) if wrapped else self.of(item.type, field.type)
            parts.append((item.name, wrapped, inner))

        def build(items: list[Any]) -> pa.Array:
            children = []
            for name, wrapped, inner in parts:
                if wrapped:
                    below = [{"value": i[name]} if i is not None and name in i else None for i in items]
                else:
                    below = [None if i is None else i.get(name) for i in items]
                children.append(inner(below))
            return pa.Array.from_buffers(arrow, len(items), [_validity(items)], children=children)

        return build

    def lists(self, type_: List, arrow: pa.DataType) -> Build:
        inner = self.of(type_.item, arrow.value_type)
        if type_.length is None:
            return lambda items: pa.Array.from_buffers(
                arrow, len(items), [_validity(items), _offsets(items)], children=[inner(_flat(items))]
            )
        nothing = [None] * type_.length
        return lambda items: pa.Array.from_buffers(
            arrow,
            len(items),
            [_validity(items)],
            children=[inner(_flat([nothing if item is None else item for item in items]))],
        )

    def maps(self, type_: Map, arrow: pa.MapType) -> Build:
        keys, values = self.of(type_.key, arrow.key_type), self.of(type_.value, arrow.item_type)
        entries = arrow.field(0).type

        def build(items: list[Any]) -> pa.Array:
            flat_keys = _flat(items)
            flat_values = [value for item in items if item is not None for value in item.values()]
            pairs = pa.Array.from_buffers(
                entries, len(flat_keys), [None], children=[keys(flat_keys), values(flat_values)]
            )
            return pa.Array.from_buffers(arrow, len(items), [_validity(items), _offsets(items)], children=[pairs])

        return build

    def unions(self, type_: Union, arrow: pa.DenseUnionType) -> Build:
        options = [self.of(option, child.type) for option, child in zip(type_.options, arrow, strict=False)]
        number_of = {name: number for number, name in enumerate(type_.names)}

        def build(items: list[Any]) -> pa.Array:
            below: list[list[Any]] = [[] for _ in range(arrow.num_fields)]
            codes, offsets = bytearray(len(items)), np.empty(len(items), np.int32)
            for at, item in enumerate(items):
                if item is None:
                    # Under a null parent too, where the union may have no child for it: any slot does.
                    code, value = arrow.num_fields - 1, None
                else:
                    ((name, value),) = item.items()
                    code = number_of[name]
                codes[at], offsets[at] = code, len(below[code])
                below[code].append(value)
            children = [option(values) for option, values in zip(options, below, strict=False)]
            if len(children) < len(below):
                children.append(pa.nulls(len(below[-1])))
            buffers = [None, pa.py_buffer(bytes(codes)), pa.py_buffer(offsets)]
            return pa.Array.from_buffers(arrow, len(items), buffers, children=children)

        return build


def _flat(items: list[Any]) -> list[Any]:
    return list(itertools.chain.from_iterable(item for item in items if item is not None))


def _offsets(items: list[Any]) -> pa.Buffer:
    sizes = np.fromiter((0 if item is None else len(item) for item in items), np.int64, len(items))
    return _offsets_of(sizes)


def _offsets_of(sizes: np.ndarray[Any, np.dtype[np.int64]]) -> pa.Buffer:
    ends = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    if ends[-1] >= 2**31:
        raise OverflowError(f"{ends[-1]} items or bytes are more than a column of Arrow has offsets for")
    return pa.py_buffer(ends.astype(np.int32))


def _validity(items: list[Any]) -> pa.Buffer | None:
    """The bitmap of what is not None; None where all is there."""
    valid = [item is not None for item in items]
    return None if all(valid) else pa.py_buffer(np.packbits(valid, bitorder="little"))


def _joined(parts: list[Any]) -> pa.Buffer:
    """Buffers one behind the other; a single one as it is."""
    return pa.py_buffer(parts[0] if len(parts) == 1 else b"".join(parts))


def _tensors(arrow: pa.DataType) -> Build:
    if isinstance(arrow, pa.FixedShapeTensorType):
        return _fixed_tensors(arrow)
    names, shapes, elements = (field.type for field in arrow)

    def build(items: list[Any]) -> pa.Array:
        trees = [{"dtype": "", "shape": [], "data": b""} if item is None else item for item in items]
        blobs = [tree["data"] for tree in trees]
        sizes = np.fromiter(map(len, blobs), np.int64, len(blobs))
        children = [
            pa.array([tree["dtype"] for tree in trees], names),
            pa.array([tree["shape"] for tree in trees], shapes),
            pa.Array.from_buffers(elements, len(items), [None, _offsets_of(sizes), _joined(blobs)]),
        ]
        return pa.Array.from_buffers(arrow, len(items), [_validity(items)], children=children)

    return build


def _fixed_tensors(arrow: pa.FixedShapeTensorType) -> Build:
    storage, values = arrow.storage_type, arrow.value_type
    count = storage.list_size
    nothing = bytes(count * values.bit_width // 8)

    def build(items: list[Any]) -> pa.Array:
        data = _joined([nothing if item is None else item["data"] for item in items])
        inner = pa.Array.from_buffers(values, count * len(items), [None, data])
        outer = pa.Array.from_buffers(storage, len(items), [_validity(items)], children=[inner])
        return pa.ExtensionArray.from_storage(arrow, outer)

    return build
