"""BSON by bson, the package of pymongo.

1. A record, a map and a tensor are a document; at the root, whatever else stands as the value of ``{"value": ...}``.
   Bytes are binary of subtype 0. Keys of maps are text, as in JSON.
2. BSON has int32 and int64, of which the library writes the shorter that fits. An unsigned integer of 2**63 or more
   stands as a decimal128, which every reader of BSON takes for that number; any whole decimal128 is read as an integer.
3. A key cannot hold NUL, which ends it. Nor is ``$db`` one: the library makes a DBRef of a document that has ``$ref`` and
   ``$id``, which is a document again here, but for a ``$db`` that is no text.
4. What else BSON has (dates, ObjectIds, code, binary of other subtypes) is of classes that no field takes, so that it is
   dropped with an unknown field, and refused in any other. MongoDB's bound of 16 MiB is not BSON's, whose own is 2 GiB.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import bson
from bson.codec_options import CodecOptions, TypeDecoder, TypeRegistry
from bson.dbref import DBRef
from bson.decimal128 import Decimal128
from bson.int64 import Int64

from zcser.core.dtypes import dtype_name
from zcser.core.errors import DecodeError, SchemaError
from zcser.core.options import Options
from zcser.schema.model import Enum, Kind, Schema
from zcser.tree.codec import TreeWriter
from zcser.tree.form import Form, parts_of

__all__ = ["BsonCodec"]

T = TypeVar("T")

_ROOT = "value"


def _tensor(array: Any) -> dict[str, Any]:
    return {"dtype": dtype_name(array.dtype), "shape": list(array.shape), "data": array.tobytes()}


def _is_wide(value: int | str) -> bool:
    return isinstance(value, int) and not -(1 << 63) <= value < 1 << 63


def _decimal(number: int) -> Decimal128:
    return Decimal128(str(number))


def _integer(decimal: Decimal128) -> Any:
    number = decimal.to_decimal()
    return int(number) if number.is_finite() and number == number.to_integral_value() else decimal


def _document(reference: DBRef) -> dict[str, Any]:
    return dict(reference.as_doc())


def _key_fault(key: str) -> str | None:
    if "\0" in key:
        return "a key cannot hold NUL, which ends it"
    return "'$db' is no key here: bson makes a reference of it" if key == "$db" else None


class _Decoder(TypeDecoder):
    """What becomes of the values of one of the library's classes; for `TypeRegistry`, as the library documents it."""

    bson_type: Any = None

    def __init__(self, bson_type: type, transform: Callable[[Any], Any]) -> None:
        self.bson_type = bson_type
        # The function itself: called as a method it would cost a frame for each value.
        self.transform_bson = transform  # type: ignore[assignment, method-assign]

    def transform_bson(self, value: Any) -> Any:
        raise NotImplementedError


_OPTIONS: CodecOptions[dict[str, Any]] = CodecOptions(
    type_registry=TypeRegistry([_Decoder(Int64, int), _Decoder(Decimal128, _integer), _Decoder(DBRef, _document)])
)


class BsonCodec(TreeWriter[T]):
    """See the rules at the head of this module.

    Notes
    -----
    Copies: the library copies a tensor, or bytes, on writing and on reading; a tensor is copied once more before it is
    written, and after it is read with ``copy=True``. Lifetime: nothing aliases a message.
    """

    name = "bson"
    format = "BSON 1.1"
    wire = "bson"
    library = "bson"
    form = Form(
        native_bytes=True,
        finite=False,
        text_keys=True,
        big_ints=False,
        tensor=_tensor,
        wide_int=_decimal,
        key_fault=_key_fault,
    )
    ends_itself = True
    self_delimiting = True

    def __init__(self, schema: Schema, options: Options) -> None:
        super().__init__(schema, options)
        for part in parts_of(schema):
            if isinstance(part, Enum) and any(_is_wide(value) for _, value in part.members):
                raise SchemaError(f"{part} has a number over 63 bits", codec=self.name)
        if schema.root.kind in {Kind.RECORD, Kind.MAP, Kind.TENSOR}:
            self._dumps = bson.encode  # type: ignore[method-assign]
            self._loads = functools.partial(bson.decode, codec_options=_OPTIONS)  # type: ignore[method-assign]
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        """Version of pymongo, and whether its C extension of BSON runs."""
        from importlib.metadata import version  # which takes 20 ms to import

        return version("pymongo"), "C extension" if bson.has_c() else "pure Python"

    def _dumps(self, tree: Any, /) -> bytes:
        return bson.encode({_ROOT: tree})

    def _loads(self, data: Any, /) -> Any:
        document = bson.decode(data, _OPTIONS)
        if document.keys() != {_ROOT}:
            raise DecodeError(f"a document of the one key {_ROOT!r} is needed", codec=self.name)
        return document[_ROOT]
