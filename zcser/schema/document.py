"""The neutral schema as a JSON document: what ``zcser schema --emit zcser`` writes, to edit and to give to ``--schema``.

1. A document is ``{"zcser": N, "root": TYPE, "records": {NAME: RECORD}, "notes": [TEXT]}``; N is the version of this form,
   1 or 2. Version 2 has aliases and transparent records, and a document without them is of version 1, as older readers
   take it.
2. A RECORD is ``{"fields": [FIELD]}``, in the order of declaration, with ``"doc"``, its description, where it has one.
   ``"transparent": true`` says that its one field is the whole of it in a message (`zcser.schema.model`).
3. A FIELD is ``{"id": N, "name": TEXT, "type": TYPE}``. ``"alias"`` is its name in messages where that is another one.
   ``"required": false`` says that a dict may lack it, ``"default"`` what it is where it is missing
   (`zcser.schema.document_values`).
4. A TYPE is a name: ``null``, ``bool``, ``int8`` to ``int64``, ``uint8`` to ``uint64``, ``int`` (of any size), ``float32``,
   ``float64``, ``str``, ``str[N]``, ``bytes``, ``bytes[N]``, ``tensor``, and those of `zcser.schema.values`, as
   ``datetime_utc``. Or it is an object::

       {"kind": "optional", "item": TYPE}
       {"kind": "list", "item": TYPE}                          also "length": N, "container": "tuple"
       {"kind": "set", "item": TYPE}                           also "frozen": true
       {"kind": "map", "key": TYPE, "value": TYPE}
       {"kind": "union", "options": [TYPE, TYPE]}
       {"kind": "enum", "name": TEXT, "members": {NAME: VALUE}}
       {"kind": "record", "name": TEXT}
       {"kind": "tensor", "dtype": TEXT, "shape": [N, null]}   either may be left out

5. Records and enums that came from classes name them (``"class"``). That is a remark: nothing is imported from a document.
   Its values are dicts and plain values, unless `load_schema` is given the classes; ``--schema`` makes some for records of
   unions, which dicts cannot tell apart.
6. Notes are remarks too, and are taken back as they are. So is ``"$schema"``, which editors look for.
7. The same schema gives the same text, a field to a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from zcser.schema.document_values import to_json
from zcser.schema.from_python import schema_of
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Logical,
    Map,
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Set,
    Str,
    Tensor,
    Type,
    Union,
)

__all__ = ["VERSIONS", "emit_schema", "type_tree"]

VERSIONS: Final = (1, 2)
"""Versions of the form, as rule 1 has them."""


def emit_schema(schema: Any) -> str:
    """A schema as the text of a zcser schema document.

    Parameters
    ----------
    schema
        A `zcser.Schema`, or what one can be made from. Of one that came from a .fbs or .proto file the names, types, ids
        and defaults are written, and not how that format lays it out.

    Returns
    -------
    str
        JSON; ends in a newline. `zcser.load_schema` makes the same schema of it, but for its classes.

    Raises
    ------
    SchemaError
        The default of a field is no value of its type.
    """
    return "\n".join(_lines(schema_of(schema))) + "\n"


def type_tree(type_: Type) -> Any:
    """A type as rule 4 of this module's head says."""
    match type_:
        case Null() | Bool() | Int() | Float() | Str() | Bytes() | Logical() | Tensor(dtype=None, shape=None):
            return "tensor" if isinstance(type_, Tensor) else str(type_)
        case Tensor(dtype, shape):
            tree: dict[str, Any] = {"kind": "tensor"}
            if dtype is not None:
                tree["dtype"] = dtype
            if shape is not None:
                tree["shape"] = list(shape)
            return tree
        case Optional(item):
            return {"kind": "optional", "item": type_tree(item)}
        case List(item, length, container):
            tree = {"kind": "list", "item": type_tree(item)}
            if length is not None:
                tree["length"] = length
            if container != "list":
                tree["container"] = container
            return tree
        case Set(item, frozen):
            return {"kind": "set", "item": type_tree(item), **({"frozen": True} if frozen else {})}
        case Map(key, value):
            return {"kind": "map", "key": type_tree(key), "value": type_tree(value)}
        case Union(options):
            return {"kind": "union", "options": [type_tree(option) for option in options]}
        case Enum(name, members, cls):
            return {"kind": "enum", "name": name, "members": dict(members), **_class(cls)}
        case Ref(name):
            return {"kind": "record", "name": name}
    raise AssertionError(type_)


def _class(cls: Any) -> dict[str, str]:
    return {} if cls is None else {"class": f"{cls.__module__}.{cls.__qualname__}"}


def _text(tree: Any) -> str:
    return json.dumps(tree, ensure_ascii=False, allow_nan=False)


def _version(schema: Schema) -> int:
    """The first version that has what a schema needs."""
    is_new = any(record.transparent or any(it.alias is not None for it in record.fields) for record in schema.records)
    return VERSIONS[1] if is_new else VERSIONS[0]


def _lines(schema: Schema) -> Iterator[str]:
    yield "{"
    yield f'  "zcser": {_version(schema)},'
    yield f'  "root": {_text(type_tree(schema.root))},'
    comma = "," if schema.notes else ""
    if schema.records:
        yield '  "records": {'
        for number, record in enumerate(schema.records, 1):
            yield from _record(schema, record, last=number == len(schema.records))
        yield f"  }}{comma}"
    else:
        yield f'  "records": {{}}{comma}'
    if schema.notes:
        yield '  "notes": ['
        yield ",\n".join(f"    {_text(note)}" for note in schema.notes)
        yield "  ]"
    yield "}"


def _record(schema: Schema, record: Record, *, last: bool) -> Iterator[str]:
    yield f"    {_text(record.name)}: {{"
    remarks = _class(record.cls) | ({"doc": record.doc} if record.doc else {})
    for name, remark in remarks.items():
        yield f"      {_text(name)}: {_text(remark)},"
    if record.transparent:
        yield '      "transparent": true,'
    if record.fields:
        yield '      "fields": ['
        yield ",\n".join(
            f"        {_text(_field(schema, item, f'{record.name}/{item.name}'))}" for item in record.fields
        )
        yield "      ]"
    else:
        yield '      "fields": []'
    yield "    }" if last else "    },"


def _field(schema: Schema, item: Field, path: str) -> dict[str, Any]:
    tree: dict[str, Any] = {"id": item.id, "name": item.name, "type": type_tree(item.type)}
    if item.alias is not None:
        tree["alias"] = item.alias
    if not item.required:
        tree["required"] = False
    if item.has_default:
        tree["default"] = to_json(schema, item.type, item.make_default(), path)
    return tree
