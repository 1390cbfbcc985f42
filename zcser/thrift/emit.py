"""The Thrift IDL of a schema, for peers that are not zcser: rules in `zcser.thrift.plan`.

What stands in a field that may be unset is ``optional``; every other field is always written. A type is declared before it
is used, but for those that hold each other, as the language of some implementations wants it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zcser.lower.wire import wire_schema
from zcser.schema.from_python import schema_of
from zcser.schema.model import Enum, List, Map, Type
from zcser.thrift.plan import Member, Plan, Struct

__all__ = ["emit_thrift", "type_text"]


def emit_thrift(schema: Any) -> str:
    """The Thrift IDL of a schema.

    Parameters
    ----------
    schema
        A `zcser.Schema`, or what one can be made from.

    Raises
    ------
    SchemaError
        It has integers of any size, for which Thrift has no form.
    """
    plan = Plan(wire_schema(schema_of(schema)))
    enums = [_enum(plan, enum, name) for enum, name in plan.enums.items()]
    return "\n\n".join((*enums, *_structs(plan))) + "\n"


def type_text(plan: Plan, type_: Type) -> str:
    """A type, as the language has it where a field is declared."""
    scalar = plan.scalar(type_)
    if scalar is not None:
        return scalar
    match type_:
        case Enum():
            return plan.enums[type_]
        case List(item=item):
            return f"list<{type_text(plan, item)}>"
        case Map(key, value):
            return f"map<{type_text(plan, key)}, {type_text(plan, value)}>"
    return plan.struct(type_).name


def _enum(plan: Plan, enum: Enum, name: str) -> str:
    lines = (f"  {member} = {number}" for member, number in zip(plan.symbols(enum), plan.numbers(enum), strict=True))
    return "\n".join((f"enum {name} {{", *lines, "}"))


def _structs(plan: Plan) -> Iterator[str]:
    done: set[str] = set()
    waiting = [(plan.root, iter(plan.root.members))]
    done.add(plan.root.name)
    while waiting:
        struct, members = waiting[-1]
        inner = next((one for member in members for one in _inside(plan, member.type) if one.name not in done), None)
        if inner is None:
            waiting.pop()
            yield _struct(plan, struct)
        else:
            done.add(inner.name)
            waiting[-1] = (struct, iter(struct.members))
            waiting.append((inner, iter(inner.members)))


def _inside(plan: Plan, type_: Type) -> Iterator[Struct]:
    match type_:
        case List(item=item) | Map(value=item):
            yield from _inside(plan, item)
        case Enum():
            pass
        case _ if plan.scalar(type_) is None:
            yield plan.struct(type_)


def _struct(plan: Plan, struct: Struct) -> str:
    head = f"{'union' if struct.is_union else 'struct'} {struct.name} {{"
    return "\n".join((head, *(f"  {_member(plan, struct, member)}" for member in struct.members), "}"))


def _member(plan: Plan, struct: Struct, member: Member) -> str:
    may_be_unset = member.is_optional and not struct.is_union
    return f"{member.id}: {'optional ' if may_be_unset else ''}{type_text(plan, member.type)} {member.name}"
