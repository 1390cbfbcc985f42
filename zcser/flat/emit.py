"""The .fbs text of a schema: what flatc makes of it reads and writes the same bytes.

1. Every field carries its slot as ``(id: n)``; a slot that no field has is a deprecated placeholder.
2. A name that had to be changed stands in a comment, beside what .fbs cannot say: sizes, lengths, shapes.
3. A tensor's data is ``force_align: 32``, the most that flatc reads; zcser aligns it to 64.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from zcser.core.errors import SchemaError
from zcser.flat.bfbs import FlatSchema
from zcser.flat.layout import EnumPlan, Form, Layout, Missing, Slot, Table, UnionPlan, element_form, form_of
from zcser.flat.plan import layout_of
from zcser.schema.from_python import schema_of
from zcser.schema.lower import lowered
from zcser.schema.model import Bytes, Enum, List, Map, Str, Tensor, Type, Union

__all__ = ["emit_fbs"]


def emit_fbs(schema: Any, *, namespace: str = "zcser") -> str:
    """The schema as the text of a .fbs file.

    Parameters
    ----------
    schema
        A `zcser.Schema`, or what one can be made from.
    namespace
        Of the declarations, as ``"my.company"``; "" for none.

    Returns
    -------
    str
        Accepted by ``flatc``; ends in a newline.

    Raises
    ------
    SchemaError
        A type has no form in FlatBuffers; or the schema came from a .fbs or .bfbs file, which is its text.
    """
    found = schema_of(schema)
    if isinstance(found, FlatSchema):
        raise SchemaError("it is a FlatBuffers schema already")
    layout = layout_of(lowered(found, text=False))
    parts = [f"namespace {namespace};"] if namespace else []
    parts += [_enum(plan) for plan in layout.enums.values()]
    parts += [_union(plan) for plan in layout.unions.values()]
    parts += [_table(layout, table) for table in layout.tables]
    parts.append(f"root_type {layout.root.name};")
    return "\n\n".join(parts) + "\n"


def _enum(plan: EnumPlan) -> str:
    # flatc wants the numbers to ascend.
    members = sorted(plan.members, key=lambda member: member[1])
    lines = [f"  {name} = {number},{_comment(value, name, number)}" for name, number, value in members]
    return "\n".join([f"enum {plan.name} : {plan.number.name} {{", *lines, "}"])


def _comment(value: int | str, name: str, number: int) -> str:
    return "" if value in (name, number) else f"  // {json.dumps(value)}"


def _union(plan: UnionPlan) -> str:
    options = ", ".join(f"{option.name}: {option.table.name}" for option in plan.options)
    return f"union {plan.name} {{ {options} }}"


def _table(layout: Layout, table: Table) -> str:
    lines = [f"/// {table.record.doc}"] if table.record is not None and table.record.doc.isprintable() else []
    if lines == ["/// "]:
        lines = []
    lines.append(f"table {table.name} {{")
    expected = 0
    for slot in table.slots:
        first = slot.index - (slot.form is Form.UNION)
        lines += [f"  unused_{index}: ubyte (id: {index}, deprecated);" for index in range(expected, first)]
        lines.append(f"  {slot.name}: {_slot(layout, table, slot)}")
        expected = slot.index + 1
    lines.append("}")
    return "\n".join(lines)


def _slot(layout: Layout, table: Table, slot: Slot) -> str:
    attributes = [f"id: {slot.index}"]
    if slot.key:
        attributes.append("key")
    # flatc has the key of a table required by itself.
    elif slot.missing is Missing.REFUSED:
        attributes.append("required")
    if table in layout.tensors and slot.name == "data":
        attributes.append("force_align: 32")
    notes = "; ".join(_notes(slot))
    comment = f"  // {notes}" if notes else ""
    return f"{_type(layout, slot.type)}{_default(layout, slot)} ({', '.join(attributes)});{comment}"


def _default(layout: Layout, slot: Slot) -> str:
    if slot.form is not Form.SCALAR:
        return ""
    if slot.missing is not Missing.ZERO:
        return " = null"
    # 0 need not be a member.
    return f" = {layout.enums[slot.type].members[0][0]}" if isinstance(slot.type, Enum) else ""


def _type(layout: Layout, type_: Type) -> str:
    match type_:
        case Enum():
            return layout.enums[type_].name
        case Str():
            return "string"
        case Bytes():
            return "[ubyte]"
        case Map():
            return f"[{layout.entries[type_].name}]"
        case Union():
            return layout.unions[type_].name
        case List(item=item):
            table = element_form(type_) is Form.TABLE
            return f"[{layout.table(item).name if table else _type(layout, item)}]"
    return layout.number(type_).name if form_of(type_) is Form.SCALAR else layout.table(type_).name


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
