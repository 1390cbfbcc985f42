"""From arrays to trees, one reader for each type of a schema and the Arrow type that a message has for it.

1. A message's schema need not be the one that this codec writes: columns are found by name, what the schema does not know
   is passed over or refused, integers and floats of other widths, large strings, binaries and lists are read. What an
   array's kind contradicts is a `DecodeError` with the path.
2. Trees are loose: a null is None wherever it stands, numbers are of any size. `zcser.tree.read` checks them.
3. Bytes and the data of tensors are read-only memoryviews of the message.
4. The items of an array are read once, whatever its parents say: a union must name the slots of its children in order,
   without a gap or a repetition, as its writers do, so that few bytes cannot ask for many items.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

# pyarrow loads it in the first call that reads a union, where it would be that call's time.
import numpy.ma
import pyarrow as pa
from pyarrow import types

from zcser.arrow.types import NULL, VALUE, Columns, inner_record, is_wrapped
from zcser.core.dtypes import dtype_name
from zcser.core.errors import DecodeError
from zcser.core.paths import pointer
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
)

__all__ = ["Read", "Readers", "bytes_of", "child_of", "count_items", "entries_of", "items_of", "refuse_disorder"]

Read = Callable[[pa.Array], list[Any]]
Path = tuple[str, ...]

_FEW = 4
"""Items up to which scalars of pyarrow are quicker than arrays of numpy."""


class Readers:
    """Readers for the columns of one message's schema.

    Parameters
    ----------
    columns
        What is to be read.
    refuse_unknown
        Refuse columns that the schema does not know.
    codec
        Name that an error carries.
    """

    def __init__(self, columns: Columns, *, refuse_unknown: bool, codec: str) -> None:
        self.schema: Schema = columns.schema
        self.columns = columns
        self.refuse_unknown = refuse_unknown
        self.codec = codec

    def rows(self, arrow: pa.StructType) -> Read:
        """The reader of whole rows.

        Raises
        ------
        DecodeError
            The message's columns do not fit the schema.
        """
        return self.record(self.columns.record, arrow, ())

    def refuse(self, reason: str, path: Path) -> NoReturn:
        """Raise the error of a column."""
        raise DecodeError(reason, codec=self.codec, path=pointer(path))

    def of(self, type_: Type, arrow: pa.DataType, path: Path) -> Read:
        """The reader of one type."""
        match type_:
            case Optional(item):
                return self.of(item, arrow, path)
            case Null() if types.is_null(arrow):
                return lambda array: [None] * len(array)
            case Bool() if types.is_boolean(arrow):
                return _scalars
            case Int() if types.is_integer(arrow):
                return _numbers
            case Float() if types.is_floating(arrow):
                return _numbers
            case Enum() if types.is_integer(arrow) if type_.of_ints else _is_text(arrow):
                return _numbers if type_.of_ints else _scalars
            case Str() if _is_text(arrow):
                return _scalars
            case Bytes() if _is_binary(arrow):
                return bytes_of
            case Tensor():
                return self.tensor(type_, arrow, path)
            case List(item=item) if types.is_list(arrow) or types.is_large_list(arrow):
                return _lists(self.of(item, arrow.value_type, (*path, "*")))
            case List(item=item) if types.is_fixed_size_list(arrow):
                return _lists(self.of(item, arrow.value_type, (*path, "*")))
            case Map(key, value) if types.is_map(arrow):
                keys, values = self.of(key, arrow.key_type, path), self.of(value, arrow.item_type, (*path, "*"))
                return _maps(keys, values)
            case Union() if types.is_union(arrow) and arrow.mode == "dense":
                return self.union(type_, arrow, path)
            case Ref() if types.is_struct(arrow):
                return self.record(self.schema.resolve(type_), arrow, path)
        self.refuse(f"{type_} is needed, not a column of {arrow}", path)

    def record(self, record: Record, arrow: pa.StructType, path: Path) -> Read:
        """The reader of a record."""
        parts = []
        for item in record.fields:
            at = self.index(item, record, arrow, path)
            if at is not None:
                parts.append((item, at, self.field(item, arrow.field(at).type, (*path, item.name))))
        self.refuse_others(record, arrow, path)

        def read(array: pa.Array) -> list[Any]:
            size = len(array)
            rows: list[Any] = [{} for _ in range(size)]
            for item, at, inner in parts:
                name, required, wrapped = item.name, item.required, is_wrapped(item)
                for row, value in zip(rows, inner(array.field(at)), strict=True):
                    if value is not None or required:
                        row[name] = value[VALUE] if wrapped else value
            return _with_nulls(array, rows)

        return read

    def index(self, item: Field, record: Record, arrow: pa.StructType, path: Path) -> int | None:
        """The number of the column of a field; None where it is missing and may be."""
        found = arrow.get_all_field_indices(item.name)
        if len(found) > 1:
            self.refuse(f"{len(found)} columns have the name {item.name!r}", path)
        if found:
            return int(found[0])
        if item.required and not item.has_default:
            self.refuse(f"field {item.name!r} of {record.name or 'the message'} is missing", path)
        return None

    def refuse_others(self, record: Record, arrow: pa.StructType, path: Path) -> None:
        """Where it is asked for, refuse columns that no field has."""
        if self.refuse_unknown:
            for field in arrow:
                if field.name not in record.by_name:
                    self.refuse(f"{field.name!r} is not a field of {record.name or 'the message'}", path)

    def field(self, item: Field, arrow: pa.DataType, path: Path) -> Read:
        """The reader of a column: of what the field holds, or of its wrapper."""
        if not is_wrapped(item):
            return self.of(item.type, arrow, path)
        if not types.is_struct(arrow):
            self.refuse(f"a struct with the field {VALUE!r} is needed, not a column of {arrow}", path)
        return self.record(inner_record(item.type), arrow, path)

    def union(self, type_: Union, arrow: pa.DenseUnionType, path: Path) -> Read:
        """The reader of a union."""
        options = dict(zip(type_.names, type_.options, strict=True))
        readers: dict[int, tuple[int, str | None, Read | None]] = {}
        for number, (code, child) in enumerate(zip(arrow.type_codes, arrow, strict=True)):
            if types.is_null(child.type) and child.name == NULL:
                readers[code] = (number, None, None)
            elif child.name not in options:
                self.refuse(f"{type_} has no option {child.name!r}", path)
            else:
                readers[code] = (number, child.name, self.of(options[child.name], child.type, (*path, child.name)))

        def read(array: pa.Array) -> list[Any]:
            trees: list[Any] = [None] * len(array)
            if not trees:
                return trees  # pyarrow crashes where it is asked for the type codes of an empty array that was read
            codes = array.type_codes.to_numpy()
            offsets = array.offsets.to_numpy()
            for code in np.unique(codes).tolist():
                number, name, inner = readers[code]
                if inner is None:
                    continue
                (places,) = np.nonzero(codes == code)
                slots = offsets[places]
                values = inner(array.field(number).slice(int(slots[0]), len(slots)))
                for place, value in zip(places.tolist(), values, strict=True):
                    trees[place] = {name: value}
            return trees

        return read

    def tensor(self, type_: Tensor, arrow: pa.DataType, path: Path) -> Read:
        """The reader of a tensor, in either form."""
        if isinstance(arrow, pa.FixedShapeTensorType):
            return self.fixed_tensor(type_, arrow, path)
        if not types.is_struct(arrow) or {field.name for field in arrow} != {"dtype", "shape", "data"}:
            self.refuse(f"{type_} is needed, not a column of {arrow}", path)
        integers = List(Int())
        parts = [
            (name, arrow.get_field_index(name), self.of(part, arrow.field(name).type, (*path, name)))
            for name, part in (("dtype", Str()), ("shape", integers), ("data", Bytes()))
        ]

        def read(array: pa.Array) -> list[Any]:
            dtypes, shapes, data = (inner(array.field(at)) for _, at, inner in parts)
            trees: list[Any] = [
                {"dtype": dtype, "shape": shape, "data": blob}
                for dtype, shape, blob in zip(dtypes, shapes, data, strict=True)
            ]
            return _with_nulls(array, trees)

        return read

    def fixed_tensor(self, type_: Tensor, arrow: pa.FixedShapeTensorType, path: Path) -> Read:
        """The reader of a fixed-shape tensor; its shape and dtype are the column's."""
        rank = len(arrow.shape)
        if arrow.permutation is not None and list(arrow.permutation) != list(range(rank)):
            self.refuse(f"a tensor whose dimensions are permuted ({arrow.permutation}) is not read", path)
        try:
            dtype = dtype_name(np.dtype(arrow.value_type.to_pandas_dtype()))
        except (NotImplementedError, TypeError):
            dtype = None
        if dtype is None or types.is_boolean(arrow.value_type) or not types.is_primitive(arrow.value_type):
            self.refuse(f"{type_} is needed, not a column of {arrow}", path)
        width, shape = arrow.storage_type.list_size * arrow.value_type.bit_width // 8, list(arrow.shape)

        def read(array: pa.Array) -> list[Any]:
            storage = array.storage
            values = storage.values
            if values.null_count:
                self.refuse("an element of a tensor is null", path)
            start = (storage.offset * arrow.storage_type.list_size + values.offset) * arrow.value_type.bit_width // 8
            data = _memory(values.buffers()[1])
            trees: list[Any] = [
                {"dtype": dtype, "shape": shape, "data": data[at : at + width]}
                for at in range(start, start + len(storage) * width, width)
            ]
            return _with_nulls(storage, trees)

        return read


def _is_text(arrow: pa.DataType) -> bool:
    return bool(types.is_string(arrow) or types.is_large_string(arrow) or types.is_string_view(arrow))


def _is_binary(arrow: pa.DataType) -> bool:
    return bool(types.is_binary(arrow) or types.is_large_binary(arrow) or types.is_fixed_size_binary(arrow))


def _valid(array: pa.Array) -> list[bool]:
    """Which items of an array that has nulls are none."""
    first, start = divmod(array.offset, 8)
    end = start + len(array)
    bitmap = np.frombuffer(array.buffers()[0], np.uint8, (end + 7) // 8, first)
    bits = np.unpackbits(bitmap, bitorder="little")[start:end]
    return bits.view(bool).tolist()  # type: ignore[no-any-return]


def _with_nulls(array: pa.Array, items: list[Any]) -> list[Any]:
    if array.null_count:
        return [item if valid else None for item, valid in zip(items, _valid(array), strict=True)]
    return items


def _scalars(array: pa.Array) -> list[Any]:
    """Bools and text."""
    if len(array) <= _FEW or types.is_string_view(array.type):
        return array.to_pylist()  # type: ignore[no-any-return]
    return array.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]


def _numbers(array: pa.Array) -> list[Any]:
    if len(array) <= _FEW or array.null_count == len(array):
        return array.to_pylist()  # type: ignore[no-any-return]
    if not array.null_count:
        return array.to_numpy().tolist()  # type: ignore[no-any-return]
    dtype = np.dtype(array.type.to_pandas_dtype())
    values = np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)
    return _with_nulls(array, values.tolist())


def _memory(buffer: pa.Buffer | None) -> memoryview:
    return memoryview(b"") if buffer is None or not buffer.size else memoryview(buffer).cast("B").toreadonly()


def bytes_of(array: pa.Array) -> list[Any]:
    """Read-only memoryviews of the items of an array of bytes."""
    arrow = array.type
    if types.is_fixed_size_binary(arrow):
        width = arrow.byte_width
        data = _memory(array.buffers()[1])
        start = array.offset * width
        return _with_nulls(array, [data[start + n * width : start + (n + 1) * width] for n in range(len(array))])
    kind = np.dtype(np.int64 if types.is_large_binary(arrow) else np.int32)
    _, offsets, values = array.buffers()
    if not len(array) or offsets is None:
        return [None] * len(array) if array.null_count else [memoryview(b"")] * len(array)
    ends = np.frombuffer(offsets, kind, len(array) + 1, array.offset * kind.itemsize).tolist()
    data = _memory(values)
    return _with_nulls(array, [data[start:end] for start, end in itertools.pairwise(ends)])


def items_of(array: pa.Array) -> tuple[pa.Array, Sequence[int]]:
    """The items of the lists of an array, and where those of each begin and the last end."""
    if types.is_fixed_size_list(array.type):
        size = array.type.list_size
        items = array.values.slice(array.offset * size, len(array) * size)
        return items, range(0, size * len(array) + 1, size) if size else [0] * (len(array) + 1)
    return child_of(array, array.values)


def child_of(array: pa.Array, values: pa.Array) -> tuple[pa.Array, list[int]]:
    """The part of a list's or map's child that its items lie in, and where those of each begin and the last end."""
    if not len(array):
        return values.slice(0, 0), [0]
    offsets = array.offsets.to_numpy()
    first = int(offsets[0])
    ends: list[int] = (offsets - first).tolist()
    return values.slice(first, ends[-1]), ends


def entries_of(array: pa.Array) -> tuple[pa.Array, pa.Array, list[int]]:
    """The keys and values of the maps of an array, and where those of each begin and the last end."""
    keys, ends = child_of(array, array.keys)
    values, _ = child_of(array, array.items)
    return keys, values, ends


def count_items(array: pa.Array) -> int:
    """The items of all lists and maps in an array."""
    arrow = array.type
    if types.is_map(arrow):
        keys, values, _ = entries_of(array)
        return len(keys) + count_items(keys) + count_items(values)
    if types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow):
        items, _ = items_of(array)
        return len(items) + count_items(items)
    if types.is_struct(arrow) or types.is_union(arrow):
        return sum(count_items(array.field(number)) for number in range(arrow.num_fields))
    return 0


@functools.lru_cache(1024)
def _holds_unions(arrow: pa.DataType) -> bool:
    fields = (arrow.field(number) for number in range(arrow.num_fields))
    return bool(types.is_union(arrow)) or any(_holds_unions(field.type) for field in fields)


def refuse_disorder(array: pa.Array, codec: str) -> None:
    """Raise `DecodeError` where a union breaks rule 4.

    Of an empty one nothing is asked: pyarrow crashes where an empty array that was read is to give its type codes.
    """
    arrow = array.type
    if not _holds_unions(arrow):
        return
    if types.is_map(arrow):
        for child in entries_of(array)[:2]:
            refuse_disorder(child, codec)
    elif types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow):
        refuse_disorder(items_of(array)[0], codec)
    elif types.is_struct(arrow):
        for number in range(arrow.num_fields):
            refuse_disorder(array.field(number), codec)
    elif types.is_union(arrow) and arrow.mode == "dense" and len(array):
        codes, offsets = array.type_codes.to_numpy(), array.offsets.to_numpy()
        for number, (code, child) in enumerate(zip(arrow.type_codes, arrow, strict=True)):
            slots = offsets[codes == code]
            start, count = int(slots[0]) if len(slots) else 0, len(slots)
            if not types.is_null(child.type) and not np.array_equal(slots, np.arange(start, start + count)):
                raise DecodeError(f"a union does not name the slots of {child.name!r} in order", codec=codec)
            refuse_disorder(array.field(number), codec)


def _lists(read: Read) -> Read:
    def lists(array: pa.Array) -> list[Any]:
        items, ends = items_of(array)
        trees = read(items)
        return _with_nulls(array, [trees[start:end] for start, end in itertools.pairwise(ends)])

    return lists


def _maps(read_keys: Read, read_values: Read) -> Read:
    def maps(array: pa.Array) -> list[Any]:
        keys, values, ends = entries_of(array)
        pairs = list(zip(read_keys(keys), read_values(values), strict=True))
        return _with_nulls(array, [dict(pairs[start:end]) for start, end in itertools.pairwise(ends)])

    return maps
