"""The nodes of tables, vectors, unions and nested messages, from a .bfbs schema; see `zcser.flat.program`.

How they look as values:

=============== =========================================================================================================
table, struct   a dict; a table's dict may lack what is not required
scalar          its value; where a table lacks it, the default; an enum's is an int
``= null``      None where a table lacks it; so are strings, vectors, tables, structs and unions that are not required
[ubyte]         bytes; a FlexBuffer too, as it is
other vectors   lists
union           a dict of one key, the option's name: ``{"Monster": {...}}``; in a vector None for NONE
nested message  the value of its root
=============== =========================================================================================================

Deprecated fields are left out. Hashes of strings are numbers, as on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zcser.core.errors import SchemaError
from zcser.flat.bfbs_definition import Definition, attribute
from zcser.flat.bfbs_values import SCALARS, ValuePlanner, doc_of
from zcser.flat.inline import HAS_NUMBER
from zcser.flat.layout import Missing
from zcser.flat.program import ALIGNMENT, Choice, Node, Op, Place
from zcser.flat.reflection import BaseType, EnumVal, FieldDef, ObjectDef
from zcser.schema.model import Bytes, Field, List, Optional, Record, Ref, Str

__all__ = ["Planner"]

_MOST_BYTES = 0xFFFF
"""A table's inline size in bytes has 16 bits."""

_VECTORS = frozenset({BaseType.VECTOR, BaseType.VECTOR64})


class Planner(ValuePlanner):
    """Makes the nodes and records of all that a table reaches.

    Parameters
    ----------
    definition
        Of the schema.
    lost
        The defaults that the definition does not hold, by table and field.
    """

    def __init__(self, definition: Definition, lost: Mapping[tuple[str, str], str | int]) -> None:
        super().__init__(definition)
        self.lost = lost
        self._tables: dict[str, int] = {}
        self._unions: dict[str, int] = {}
        self._waiting: list[ObjectDef] = []

    def plan(self, root: ObjectDef) -> int:
        """Make all nodes; the index of the root's."""
        index = self.table(root)
        # Tables are filled one after another, not inside each other: they may be recursive, and many.
        while self._waiting:
            self._fill(self._waiting.pop(0))
        return index

    def table(self, found: ObjectDef) -> int:
        """The node of a table."""
        if found.name not in self._tables:
            self.enter(found.name)
            self._tables[found.name] = self.add(Node(Op.TABLE, Ref(found.name)))
            self._waiting.append(found)
        return self._tables[found.name]

    def _fill(self, found: ObjectDef) -> None:
        fields, places, size = [], [], 4
        for item in self._slots(found):
            path = f"{found.name}/{item.name}"
            node = self._value(item, found, path)
            field, place = self._place(item, node, found, path)
            fields.append(field)
            places.append(place)
            size += self.nodes[node].size + HAS_NUMBER.get(self.nodes[node].op, 0)
            if size > _MOST_BYTES:
                raise SchemaError(f"the fields up to here take {size} bytes, and a table has {_MOST_BYTES}", path=path)
        if sum(place.is_key for place in places) > 1:
            raise SchemaError("a table has one key", path=found.name)
        self.records[found.name] = Record(found.name, tuple(fields), doc=doc_of(found.documentation))
        self.nodes[self._tables[found.name]].places = tuple(places)

    def _slots(self, found: ObjectDef) -> list[FieldDef]:
        """The fields of a table that are in use, by slot; the numbers of unions are checked and left out."""
        slots: dict[int, FieldDef] = {}
        for item in found.fields:
            path = f"{found.name}/{item.name}"
            if item.id in slots:
                raise SchemaError(f"id {item.id} is also {slots[item.id].name!r}'s", path=path)
            if item.offset != 4 + 2 * item.id:
                raise SchemaError(
                    f"id {item.id} stands at {4 + 2 * item.id} of a vtable, not at {item.offset}", path=path
                )
            slots[item.id] = item
        used = []
        for number, item in sorted(slots.items()):
            path = f"{found.name}/{item.name}"
            if _is_number_of_union(item):
                union = slots.get(number + 1)
                if union is None or not _is_union(union) or union.type.index != item.type.index:
                    raise SchemaError("the number of a union without its union", path=path)
                continue
            if _is_union(item):
                companion = slots.get(number - 1)
                is_vector = item.type.base_type != BaseType.UNION
                if (
                    companion is None
                    or not _is_number_of_union(companion)
                    or (companion.type.base_type != BaseType.UTYPE) is not is_vector
                ):
                    raise SchemaError("a union without its number in the slot before", path=path)
            if not item.deprecated:
                used.append(item)
        return used

    def _place(self, item: FieldDef, index: int, found: ObjectDef, path: str) -> tuple[Field, Place]:
        """The field of a record, and its slot."""
        node, number = self.nodes[index], item.id + 1
        if item.type.base_type in SCALARS:
            if not item.optional:
                zero = self.default(item, node.neutral, self._integer(item, found), path)
                field = Field(item.name, node.neutral, number, required=False, default=zero)
                place = Place(item.id, index, Missing.ZERO, item.name, zero=zero, may_lack=True, is_key=item.key)
                return field, place
        elif item.required:
            return Field(item.name, node.neutral, number), Place(
                item.id, index, Missing.REFUSED, item.name, is_key=item.key
            )
        elif not item.optional and self.definition.has_defaults and item.type.base_type in {BaseType.STRING, *_VECTORS}:
            default = self._default(item, node, found, path)
            field = Field(item.name, node.neutral, number, required=False, **default)
            place = Place(
                item.id,
                index,
                Missing.DEFAULT,
                item.name,
                make_default=field.make_default,
                may_lack=True,
                is_key=item.key,
            )
            return field, place
        field = Field(item.name, Optional(node.neutral), number, required=False, default=None)
        return field, Place(item.id, index, Missing.NONE, item.name, may_lack=True, is_key=item.key)

    def _integer(self, item: FieldDef, found: ObjectDef) -> int:
        """The default of a scalar that is no float, as a signed number."""
        lost = self.lost.get((found.name, item.name))
        return lost if isinstance(lost, int) else item.default_integer

    def _default(self, item: FieldDef, node: Node, found: ObjectDef, path: str) -> dict[str, Any]:
        """The default of a string or vector."""
        if node.op is Op.STRING:
            text = self.lost.get((found.name, item.name))
            if not isinstance(text, str):
                raise SchemaError(
                    "the string has a default, which a .bfbs file does not hold; load the .fbs", path=path
                )
            return {"default": text}
        if node.op is Op.BYTES:
            return {"default": b""}
        if node.op in {Op.NESTED, Op.ONEOFS}:
            raise SchemaError("a nested message or a vector of unions with a default", path=path)
        return {"default_factory": list}  # flatc takes no other than the empty one

    def _value(self, item: FieldDef, found: ObjectDef, path: str) -> int:
        """The node of what a slot holds, or leads to."""
        type_ = item.type
        base = type_.base_type
        if item.offset64 and base not in _VECTORS and base != BaseType.STRING:
            raise SchemaError("offset64 stands on what is no vector or string", path=path)
        if base in SCALARS:
            default = None if item.optional else self._integer(item, found)
            return self.scalar(base, type_.index, path, default=default)
        if base == BaseType.STRING:
            is_shared = attribute(item.attributes, "shared") is not None
            return self.add(Node(Op.STRING, Str(), size=_offset_size(item), is_shared=is_shared))
        if base == BaseType.OBJECT:
            return self._object(type_.index, path)
        if base == BaseType.UNION:
            return self._union(type_.index, path)
        if base in _VECTORS:
            return self._vector(item, found, path)
        raise SchemaError(f"base type {base} has no place in a table", path=path)

    def _object(self, index: int, path: str) -> int:
        found = self.definition.object(index, path)
        return self.struct(found, path) if found.is_struct else self.table(found)

    def _vector(self, item: FieldDef, found: ObjectDef, path: str) -> int:
        type_ = item.type
        is_long = type_.base_type == BaseType.VECTOR64
        if is_long and not item.offset64:
            raise SchemaError("vector64 needs offset64", path=path)
        if type_.element == BaseType.UBYTE and type_.index < 0:
            node = Node(Op.BYTES, Bytes(), align=self._align(item, 4, path))
            nested = attribute(item.attributes, "nested_flatbuffer")
            if nested is not None:
                inner = self.table(self.definition.table(nested, path, within=found.name))
                node = Node(Op.NESTED, self.nodes[inner].neutral, item=inner)
        elif type_.element in SCALARS:
            inner = self.scalar(type_.element, type_.index, path)
            node = self._list(Op.NUMBERS, inner)
            node.align = self._align(item, max(4, self.nodes[inner].align), path)
        elif type_.element == BaseType.OBJECT:
            inner = self._object(type_.index, path)
            is_struct = self.nodes[inner].op is Op.STRUCT
            node = self._list(Op.STRUCTS if is_struct else Op.TABLES, inner)
            if is_struct:
                node.align = self._align(item, max(4, self.nodes[inner].align), path)
        elif type_.element == BaseType.STRING:
            node = self._list(Op.STRINGS, self.add(Node(Op.STRING, Str())))
        elif type_.element == BaseType.UNION:
            inner = self._union(type_.index, path)
            node = Node(Op.ONEOFS, List(Optional(self.nodes[inner].neutral)), item=inner)
        else:
            raise SchemaError(f"a vector of base type {type_.element}", path=path)
        if item.offset64 and node.op in {Op.TABLES, Op.STRINGS, Op.ONEOFS}:
            raise SchemaError("offset64 stands on a vector of offsets, which have 32 bits", path=path)
        node.size, node.wide_length = _offset_size(item), is_long
        return self.add(node)

    def _list(self, op: Op, item: int) -> Node:
        return Node(op, List(self.nodes[item].neutral), item=item)

    def _align(self, item: FieldDef, least: int, path: str) -> int:
        """The alignment that a vector's field asks for, 0 where its items have it anyway."""
        asked = attribute(item.attributes, "force_align")
        if asked is None:
            return 0
        if asked not in {"1", "2", "4", "8", "16", "32", str(ALIGNMENT)}:
            raise SchemaError(f"force_align: {asked} is no power of 2 up to {ALIGNMENT}", path=path)
        return int(asked) if int(asked) > least else 0

    def _union(self, index: int, path: str) -> int:
        found = self.definition.enum(index, path)
        if found.name in self._unions:
            return self._unions[found.name]
        if not found.is_union:
            raise SchemaError(f"{found.name} is an enum; a union is needed", path=path)
        if found.underlying_type.base_type not in {BaseType.UTYPE, BaseType.UBYTE}:
            raise SchemaError("a union whose numbers have more than 8 bits is not supported", path=found.name)
        self.enter(found.name)
        node = self.add(Node(Op.ONEOF, Ref(found.name)))
        self._unions[found.name] = node
        choices, fields = [], []
        for option in sorted(found.values, key=lambda item: item.value):
            if option.value == 0:
                continue
            where = f"{found.name}/{option.name}"
            if not 0 < option.value <= 0xFF:
                raise SchemaError(f"an option's number is from 1 to 255, not {option.value}", path=where)
            chosen = self._option(option, where)
            choices.append(Choice(option.name, option.value, chosen))
            fields.append(Field(option.name, self.nodes[chosen].neutral, option.value, required=False))
        if not choices:
            raise SchemaError("a union without options", path=found.name)
        self.nodes[node].choices = tuple(choices)
        self.records[found.name] = Record(found.name, tuple(fields))
        return node

    def _option(self, option: EnumVal, path: str) -> int:
        type_ = option.union_type
        if type_ is not None and type_.base_type == BaseType.OBJECT:
            return self._object(type_.index, path)
        if type_ is not None and type_.base_type == BaseType.STRING:
            return self.add(Node(Op.STRING, Str()))
        raise SchemaError("an option of a union is a table, a struct or a string", path=path)


def _is_union(item: FieldDef) -> bool:
    type_ = item.type
    return type_.base_type == BaseType.UNION or (type_.base_type in _VECTORS and type_.element == BaseType.UNION)


def _is_number_of_union(item: FieldDef) -> bool:
    type_ = item.type
    return type_.base_type == BaseType.UTYPE or (type_.base_type in _VECTORS and type_.element == BaseType.UTYPE)


def _offset_size(item: FieldDef) -> int:
    return 8 if item.offset64 else 4
