"""Classes made at run time for the structs of a plan, with the ``thrift_spec`` that Apache Thrift's library goes by.

A ``thrift_spec`` has at the index of each id ``(id, type, attribute, arguments of the type, default)``, as the compiler
writes it (``t_py_generator.cc``). A struct's arguments are a list, so that one may hold itself.
"""

from __future__ import annotations

from typing import Any, Literal

from zcser.schema.model import Enum, List, Map, Type
from zcser.thrift.plan import Plan, Struct

__all__ = ["Structs"]

_TYPE = {"bool": 2, "i8": 3, "double": 4, "i16": 6, "i32": 8, "i64": 10, "string": 11, "binary": 11}
_STRUCT, _MAP, _LIST = 12, 13, 15


class Structs:
    """The classes of a plan, and the arguments by which the library writes and reads the root.

    Parameters
    ----------
    plan
        Whose structs they are of.

    Attributes
    ----------
    arguments
        Of the root, by how text is read: ``"UTF8"``, where the library makes U+FFFD of what is none, or ``"BINARY"``.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._classes = {id(struct): _class(struct) for struct in (*plan.structs.values(), plan.root)}
        self.arguments: dict[Literal["UTF8", "BINARY"], list[Any]] = {
            text: _Specs(self, text).of(plan.root) for text in ("UTF8", "BINARY")
        }

    def cls(self, struct: Struct) -> type:
        """The class of a struct."""
        return self._classes[id(struct)]


def _class(struct: Struct) -> type:
    # What is not set is found on the class.
    return type(struct.name, (), dict.fromkeys((member.name for member in struct.members), None))


class _Specs:
    def __init__(self, structs: Structs, text: str) -> None:
        self.structs = structs
        self.text = text
        self.made: dict[int, list[Any]] = {}

    def of(self, struct: Struct) -> list[Any]:
        """``[class, thrift_spec]``."""
        found = self.made.get(id(struct))
        if found is None:
            found = self.made[id(struct)] = [self.structs.cls(struct), ()]
            spec: list[Any] = [None] * (max((member.id for member in struct.members), default=-1) + 1)
            for member in struct.members:
                spec[member.id] = (member.id, *self.type_(member.type, member.name), None)
            found[1] = tuple(spec)
        return found

    def type_(self, type_: Type, *between: str) -> tuple[Any, ...]:
        """The number of a type and its arguments."""
        scalar = self.structs.plan.scalar(type_)
        match type_:
            case Enum():
                return (_TYPE["i32"], *between, None)
            case List(item=item):
                return (_LIST, *between, (*self.type_(item), False))
            case Map(key, value):
                return (_MAP, *between, (*self.type_(key), *self.type_(value), False))
        if scalar is None:
            return (_STRUCT, *between, self.of(self.structs.plan.struct(type_)))
        arguments = self.text if scalar == "string" else "BINARY" if scalar == "binary" else None
        return (_TYPE[scalar], *between, arguments)
