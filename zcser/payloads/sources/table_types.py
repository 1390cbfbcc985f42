"""Arrow's types as the neutral schema has them, and the types that columns are cast to for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from zcser.core.errors import SchemaError
from zcser.schema.model import Bool, Bytes, Field, Float, Int, List, Map, Null, Optional, Record, Ref, Schema, Str, Type
from zcser.schema.names import identifier

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Types"]


class Types:
    """The types of a table.

    Parameters
    ----------
    table
        With at least one row: nulls are looked for in it.

    Attributes
    ----------
    schema
        A row's schema: a record of the columns.
    plain
        Arrow's schema of the same columns, each as a type that Python has.

    Raises
    ------
    SchemaError
        A column has a type with no neutral form, with its name.
    """

    def __init__(self, table: pa.Table) -> None:
        import pyarrow as pa

        self._notes: list[str] = []
        self._records: dict[str, Record] = {}
        fields, plain = [], []
        for number, (column, declared) in enumerate(
            zip(table.unify_dictionaries().columns, table.schema, strict=True), 1
        ):
            chunk = pa.concat_arrays(column.chunks)
            type_, target = self._of(chunk, declared.type, (declared.name,))
            fields.append(Field(declared.name, _nullable(type_, chunk), number))
            plain.append(pa.field(declared.name, target))
        # The root first: records are in order of discovery.
        records = (Record("Row", tuple(fields)), *self._records.values())
        self.schema = Schema(Ref("Row"), records, tuple(self._notes))
        self.plain = pa.schema(plain)

    def _of(self, values: Any, type_: Any, path: tuple[str, ...]) -> tuple[Type, Any]:
        """The neutral type of some values, and the one that Arrow casts them to."""
        import pyarrow as pa
        from pyarrow import types

        if isinstance(type_, pa.BaseExtensionType):
            values, type_ = values.storage, type_.storage_type
        if types.is_dictionary(type_):
            return self._of(values.dictionary_decode(), type_.value_type, path)
        if types.is_struct(type_):
            return self._struct(values, type_, path)
        if types.is_map(type_):
            key, plain_key = self._of(values.keys, type_.key_type, (*path, "key"))
            item, plain_item = self._of(values.items, type_.item_type, (*path, "value"))
            if not isinstance(key, Str | Int | Bool):
                raise SchemaError(f"a map with keys of {type_.key_type} has no neutral form", path="/".join(path))
            return Map(key, _nullable(item, values.items)), pa.map_(plain_key, plain_item)
        if types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_):
            items = values.flatten()
            item, plain = self._of(items, type_.value_type, (*path, "*"))
            size = type_.list_size if types.is_fixed_size_list(type_) else None
            return List(_nullable(item, items), size), pa.list_(plain, -1 if size is None else size)
        return self._scalar(type_, path)

    def _struct(self, values: Any, type_: Any, path: tuple[str, ...]) -> tuple[Type, Any]:
        import pyarrow as pa

        # Of a struct that is null its fields are null too, and say nothing.
        there = values.filter(values.is_valid())
        fields, plain = [], []
        for number, declared in enumerate(type_, 1):
            child = there.field(number - 1)
            item, target = self._of(child, declared.type, (*path, declared.name))
            fields.append(Field(declared.name, _nullable(item, child), number))
            plain.append(pa.field(declared.name, target))
        name = identifier("_".join(part for part in ("Row", *path) if part != "*"))
        while name in self._records:
            name += "_"
        self._records[name] = Record(name, tuple(fields))
        return Ref(name), pa.struct(plain)

    def _scalar(self, type_: Any, path: tuple[str, ...]) -> tuple[Type, Any]:
        import pyarrow as pa
        from pyarrow import types

        if types.is_boolean(type_):
            return Bool(), type_
        if types.is_integer(type_):
            return Int(cast("Any", type_.bit_width), signed=types.is_signed_integer(type_)), type_
        if types.is_float16(type_):
            self._note(path, f"{type_} becomes float32")
            return Float(32), pa.float32()
        if types.is_floating(type_):
            return Float(64 if types.is_float64(type_) else 32), type_
        if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
            return Str(), type_
        if types.is_binary(type_) or types.is_large_binary(type_) or types.is_binary_view(type_):
            return Bytes(), type_
        if types.is_fixed_size_binary(type_):
            return Bytes(type_.byte_width), type_
        if types.is_null(type_):
            return Null(), type_
        if types.is_decimal(type_):
            self._note(path, f"{type_} becomes text")
            return Str(), pa.string()
        if types.is_temporal(type_) and not types.is_interval(type_):
            is_short = types.is_date32(type_) or types.is_time32(type_)
            neutral = Int(32) if is_short else Int(64)
            self._note(path, f"{type_} becomes {neutral}, in its unit")
            return neutral, pa.int32() if is_short else pa.int64()
        raise SchemaError(f"a column of type {type_} has no neutral form; leave it out", path="/".join(path))

    def _note(self, path: tuple[str, ...], text: str) -> None:
        self._notes.append(f"/{'/'.join(path)}: {text}")


def _nullable(type_: Type, values: Any) -> Type:
    """Optional where there are nulls; what is null throughout is that already."""
    return Optional(type_) if values.null_count and not isinstance(type_, Null) else type_
