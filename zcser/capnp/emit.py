"""The ``.capnp`` text of a schema, for peers that are not zcser, and for the library itself, which is loaded with it.

1. The file's id is made of the text, so that the same schema always has the same one, and another schema another.
2. A name that had to be changed stands in a comment, beside what .capnp cannot say: sizes, lengths, shapes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from zcser.capnp.layout import EnumPlan, Layout, Slot, Struct
from zcser.capnp.plan import layout_of
from zcser.schema.from_python import schema_of
from zcser.schema.model import Bytes, Enum, Float, Int, Kind, List, Map, Str, Tensor, Type

__all__ = ["capnp_text", "emit_capnp"]


def emit_capnp(schema: Any, *, file_id: int | None = None) -> str:
    """The schema as the text of a .capnp file.

    Parameters
    ----------
    schema
        A `zcser.Schema`, or what one can be made from.
    file_id
        The file's unique id, 64 bits with the highest set; made of the text where none is given.

    Returns
    -------
    str
        Accepted by ``capnp compile``; ends in a newline.

    Raises
    ------
    SchemaError
        A type has no form in Cap'n Proto.
    ValueError
        `file_id` is no such id.
    """
    if file_id is not None and not 1 << 63 <= file_id < 1 << 64:
        raise ValueError(f"a file id has 64 bits, of which the highest is set, not {file_id:#x}")
    return capnp_text(layout_of(schema_of(schema)), file_id)


def capnp_text(layout: Layout, file_id: int | None = None) -> str:
    """The same of a layout."""
    parts = [_struct(layout, struct) for struct in layout.structs]
    parts += [_enum(plan) for plan in layout.enums.values()]
    body = "\n\n".join(parts) + "\n"
    if file_id is None:
        file_id = int.from_bytes(hashlib.sha256(body.encode()).digest()[:8]) | 1 << 63
    return f"@{file_id:#018x};\n\n{body}"


def _enum(plan: EnumPlan) -> str:
    lines = [f"  {name} @{number};{_comment(name, value)}" for number, (name, value) in enumerate(plan.members)]
    return "\n".join([f"enum {plan.name} {{", *lines, "}"])


def _comment(name: str, value: int | str) -> str:
    return "" if name == value else f"  # {json.dumps(value)}"


def _struct(layout: Layout, struct: Struct) -> str:
    lines = list(_slots(layout, struct))
    if struct.is_union:
        lines = ["  union {", *(f"  {line}" for line in lines), "  }"]
    root = "  # the root" if struct is layout.root else ""
    return "\n".join([f"struct {struct.name} {{{root}", *lines, "}"])


def _slots(layout: Layout, struct: Struct) -> Iterator[str]:
    ordinal = 0
    for slot in struct.slots:
        if slot.flag is not None:
            yield f"  {slot.flag} @{ordinal} :Bool;"
            ordinal += 1
        notes = "; ".join(_notes(slot))
        yield f"  {slot.name} @{ordinal} :{type_text(layout, slot.type)};{f'  # {notes}' if notes else ''}"
        ordinal += 1


def type_text(layout: Layout, type_: Type) -> str:
    """A type, as a field declares it."""
    match type_:
        case Int(bits, signed):
            return f"{'Int' if signed else 'UInt'}{bits}"
        case Float(bits):
            return f"Float{bits}"
        case Str():
            return "Text"
        case Bytes():
            return "Data"
        case Enum():
            return layout.enums[type_].name
        case List(item=item):
            return f"List({type_text(layout, item)})"
        case Map():
            return f"List({layout.entries[type_].name})"
    return "Bool" if type_.kind in {Kind.NULL, Kind.BOOL} else layout.struct(type_).name


def _notes(slot: Slot) -> Iterator[str]:
    if slot.field is not None and slot.field.name != slot.name:
        yield json.dumps(slot.field.name)
    match slot.type:
        case Str(int()) | Bytes(int()):
            yield str(slot.type)
        case Tensor() if str(slot.type) != "tensor any":
            yield str(slot.type)
        case List(length=int(length)):
            yield f"{length} items"
        case _ if slot.type.kind is Kind.NULL and slot.field is not None:
            yield "always null"
