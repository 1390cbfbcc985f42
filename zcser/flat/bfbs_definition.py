"""What a .bfbs file declares, looked up by index and by name; every look-up is checked.

flatc writes no file that fails here. One that was damaged, or made to harm, is a `SchemaError` that names the object and
the field.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from zcser.core.buffers import Buffer, byte_view
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.options import Options
from zcser.flat.engine import Engine, make_engine
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.flat.reflection import BFBS, EnumDef, KeyValue, ObjectDef, SchemaDef
from zcser.schema.from_python import schema_of

__all__ = ["Definition", "attribute", "read_bfbs"]

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)

_DEFAULTS = 1 << 3
"""``AdvancedFeatures.DefaultVectorsAndStrings`` of reflection.fbs."""


def read_bfbs(data: Buffer) -> SchemaDef:
    """The content of a .bfbs file.

    Raises
    ------
    DecodeError
        The bytes are no .bfbs file.
    """
    view = byte_view(data, codec="bfbs")
    if bytes(view[4:8]) != BFBS:
        raise DecodeError(
            "the file identifier 'BFBS' is not at byte 4; is this the output of flatc -b --schema?", codec="bfbs"
        )
    schema: SchemaDef = _engine().decode(view)
    return schema


@functools.cache
def _engine() -> Engine:
    return make_engine(program_of(layout_of(schema_of(SchemaDef))), Options(), codec="bfbs", normal=_never)


def _never(_value: Any) -> NoReturn:
    raise EncodeError(".bfbs files are read, not written", codec="bfbs")


def attribute(attributes: Sequence[KeyValue] | None, key: str) -> str | None:
    """The value of an attribute, "" where it has none; None where the attribute is not there."""
    for item in attributes or ():
        if item.key == key:
            return item.value or ""
    return None


class Definition:
    """The objects and enums of a .bfbs file.

    Attributes
    ----------
    schema
        The file's content. Not to be changed.
    has_defaults
        Whether strings and vectors may have defaults: before they could, nothing told them from optional ones.
    """

    def __init__(self, schema: SchemaDef) -> None:
        self.schema = schema
        self.has_defaults = bool(schema.advanced_features & _DEFAULTS)
        self._objects = {item.name: item for item in schema.objects}
        self._check_names()

    def _check_names(self) -> None:
        inner = {item.name: [field.name for field in item.fields] for item in self.schema.objects}
        inner |= {item.name: [value.name for value in item.values] for item in self.schema.enums}
        if len(inner) != len(self.schema.objects) + len(self.schema.enums):
            names = [*(item.name for item in self.schema.objects), *(item.name for item in self.schema.enums)]
            twice = next(name for name in inner if names.count(name) > 1)
            raise SchemaError("two objects or enums have this name", path=twice)
        for outer, names in inner.items():
            for name in (*outer.split("."), *names):
                if _NAME.fullmatch(name) is None:
                    raise SchemaError(f"{name!a} is no identifier", path=outer)

    def object(self, index: int, path: str) -> ObjectDef:
        """The table or struct that a type's index means."""
        if not 0 <= index < len(self.schema.objects):
            raise SchemaError(f"object {index} is not in the schema, which has {len(self.schema.objects)}", path=path)
        return self.schema.objects[index]

    def enum(self, index: int, path: str) -> EnumDef:
        """The enum or union that a type's index means."""
        if not 0 <= index < len(self.schema.enums):
            raise SchemaError(f"enum {index} is not in the schema, which has {len(self.schema.enums)}", path=path)
        return self.schema.enums[index]

    def table(self, name: str, path: str, *, within: str = "") -> ObjectDef:
        """The table of a name, which may be relative to the namespace of the object `within`."""
        spaces = within.split(".")[:-1]
        for depth in range(len(spaces), -1, -1):
            found = self._objects.get(".".join([*spaces[:depth], name]))
            if found is not None:
                if found.is_struct:
                    raise SchemaError(f"{found.name!r} is a struct; a table is needed", path=path)
                return found
        tables = [item.name for item in self.schema.objects if not item.is_struct]
        shown = ", ".join(tables[:10]) + (", ..." if len(tables) > 10 else "")
        raise SchemaError(f"there is no table {name!r} in the schema: {shown or 'it has none'}", path=path)

    def root(self, name: str | None) -> ObjectDef:
        """The table of a name, or the schema's ``root_type``."""
        if name is not None:
            return self.table(name, "")
        if self.schema.root_table is None:
            raise SchemaError(
                "the schema declares no root_type; name one with root=, or FILE:Namespace.Table in a command", path=""
            )
        return self.table(self.schema.root_table.name, "")

    def identifier(self, root: str) -> bytes:
        """The file identifier of messages with this root: that which the schema declares for its own."""
        declared = (self.schema.file_ident or "").encode()
        if not declared or self.schema.root_table is None or self.schema.root_table.name != root:
            return b""
        if len(declared) != 4:
            raise SchemaError(f"a file identifier has 4 bytes, not {len(declared)}", path=root)
        return declared
