"""The Avro schema of a schema, as JSON: rules in `zcser.avro.plan`.

Beside what the specification has, a field says its id as ``field-id`` (Iceberg's word for it) and, where that is no Avro
name, its ``key``; an enum whose symbols are not its values says its ``values``. Readers pass over what they do not know.
"""

from __future__ import annotations

import json
import math
from typing import Any

from zcser.avro.plan import Plan
from zcser.lower.wire import wire_schema
from zcser.schema.from_python import schema_of
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Field,
    Float,
    Int,
    List,
    Map,
    Optional,
    Record,
    Ref,
    Str,
    Tensor,
    Type,
    Union,
)

__all__ = ["avro_schema", "emit_avro"]

_NOTHING: Any = object()


def emit_avro(schema: Any) -> str:
    """The Avro schema (1.11) of a schema, as the JSON text of an ``.avsc`` file.

    Parameters
    ----------
    schema
        A `zcser.Schema`, or what one can be made from.

    Raises
    ------
    SchemaError
        It has integers of any size, for which Avro has no form.
    """
    return json.dumps(avro_schema(Plan(wire_schema(schema_of(schema)))), indent=2, ensure_ascii=False) + "\n"


def avro_schema(plan: Plan) -> Any:
    """The Avro schema of a plan, in builtins: what `json.loads` gives for the text."""
    return _Emitter(plan).type_(plan.schema.root)


class _Emitter:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.defined: set[str] = set()

    def type_(self, type_: Type) -> Any:
        primitive = self.plan.primitive(type_)
        if primitive is not None:
            return primitive
        match type_:
            case Optional(Union() as union):
                return ["null", *self.options(union)]
            case Optional(item):
                return ["null", self.type_(item)]
            case Union():
                return self.options(type_)
            case List(item=item):
                return self.array(item)
            case Map(key, value) if not self.plan.is_map(type_):
                fields = {"key": key, "value": value}
                return {"type": "array", "items": self.made(self.plan.entry_name(type_), fields)}
            case Map(value=value):
                return {"type": "map", "values": self.type_(value)}
            case Tensor():
                shape = {"name": "shape", "type": {"type": "array", "items": "long"}}
                of = [{"name": "dtype", "type": "string"}, shape, {"name": "data", "type": "bytes"}]
                return self.named(self.plan.tensor_name(), {"type": "record"}, fields=lambda: of)
            case Enum():
                return self.enum(type_)
            case Int() | Bytes():
                doc = {"doc": "unsigned, little-endian"} if isinstance(type_, Int) else {}
                size = 8 if isinstance(type_, Int) else type_.size
                return self.named(self.plan.fixed_name(type_), {"type": "fixed"}, **doc, size=size)
            case Ref():
                return self.record(self.plan.schema.resolve(type_))
        raise AssertionError(type_)

    def named(self, name: str, head: dict[str, Any], **rest: Any) -> Any:
        """The definition of a named type where it comes first, its name everywhere else."""
        if name in self.defined:
            return name
        self.defined.add(name)
        # The rest may name the type, which is defined by now.
        more = {key: value() if callable(value) else value for key, value in rest.items()}
        return {**head, "name": name, **more}

    def made(self, name: str, types: dict[str, Type]) -> Any:
        """A record that the schema does not have itself."""
        return self.named(
            name,
            {"type": "record"},
            fields=lambda: [{"name": key, "type": self.type_(value)} for key, value in types.items()],
        )

    def array(self, item: Type) -> dict[str, Any]:
        items = self.type_(item)
        return {"type": "array", "items": [items] if self.plan.takes_nothing(item) else items}

    def options(self, union: Union) -> list[Any]:
        wraps = self.plan.wraps(union)
        return [
            self.made(self.plan.value_name(option), {"value": option})
            if wraps and not self.plan.is_named(option)
            else self.type_(option)
            for option in union.options
        ]

    def enum(self, enum: Enum) -> Any:
        symbols = self.plan.symbols(enum)
        values = [value for _, value in enum.members]
        more = {} if values == list(symbols) else {"values": values}
        return self.named(self.plan.enum_name(enum), {"type": "enum"}, symbols=list(symbols), **more)

    def record(self, record: Record) -> Any:
        doc = {"doc": record.doc} if record.doc else {}
        return self.named(
            self.plan.record_name(record.name),
            {"type": "record"},
            **doc,
            fields=lambda: [self.field(name, item) for name, item in self.plan.fields(record)],
        )

    def field(self, name: str, item: Field) -> dict[str, Any]:
        type_ = self.type_(item.type) if not item.may_be_absent else self.absent(item)
        default = None if item.may_be_absent else self.default(item)
        return {
            "name": name,
            "type": type_,
            **({} if default is _NOTHING else {"default": default}),
            "field-id": item.id,
            **({} if name == item.name else {"key": item.name}),
        }

    def absent(self, item: Field) -> list[Any]:
        if self.plan.is_doubly_absent(item):
            return ["null", self.made(self.plan.value_name(item.type), {"value": item.type})]
        return self.type_(Optional(item.type)) if isinstance(item.type, Union) else ["null", self.type_(item.type)]

    def default(self, item: Field) -> Any:
        """The default in JSON; `_NOTHING` where there is none, or Avro has no form for it."""
        if not item.has_default:
            return _NOTHING
        value = item.make_default()
        match item.type:
            case Optional():  # the default is of the first branch, which is null
                return None if value is None else _NOTHING
            case Bool() | Str():
                return value
            case Float():
                return float(value) if math.isfinite(value) else _NOTHING
            case Int() if not self.plan.is_fixed(item.type):
                return int(value)
            case Enum():
                return self.plan.symbols(item.type)[item.type.values.index(value)]
            case Bytes():
                return bytes(value).decode("latin-1")  # as the specification has it
            case List() | Map() if not value:
                return {} if self.plan.is_map(item.type) else []
        return _NOTHING
