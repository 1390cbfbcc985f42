"""Scalars in generated code: what is checked of them, and what stands for them in a message.

1. Writers ask whether a value can be written as it stands (`misfit`); readers, whether what the wire holds is a value of
   the type (`fault`). Both answers are conditions in Python, to be generated inline.
2. What upb checks itself is left to it: 32 and 64 bits, lone surrogates, UTF-8 on the wire. What it lets pass is
   checked here: a float32 that would become infinite, an int for a bool, bytes for a str, an enum's number.
3. Lists are checked by a loop over their items: for items of one class that is faster in Python than ``set(map(type, x))``.
"""

from __future__ import annotations

from typing import Any, NoReturn

from zcser.core.errors import DecodeError
from zcser.core.source import Source
from zcser.protowire.plan import Plan, Slot
from zcser.protowire.stand_in import STAND_IN_SIZE, hold_bytes
from zcser.schema.model import Bytes, Enum, Float, Int, Null, Str, Type

__all__ = ["Members", "Scalars", "fault", "members", "refuse"]

# Half a unit above the largest float32: from here on rounding to nearest gives infinity.
FLOAT32_OVERFLOW = (2.0 - 2.0**-24) * 2.0**127


class Scalars:
    """The scalars of one writer's source.

    Parameters
    ----------
    held_from
        Bytes of so many, and those of the size of a stand-in, become payloads in a list ``p``; None: none do.
    """

    def __init__(self, plan: Plan, source: Source, held_from: int | None = None) -> None:
        self.plan = plan
        self.source = source
        self.held_from = held_from

    def misfit(self, type_: Type, x: str) -> str:
        """The condition under which one scalar cannot be written as it stands."""
        other = f"{x}.__class__ is not {self.source.constant(self.plan.schema.python_type(type_))}"
        outside = self.outside(type_, x)
        return other if outside is None else f"{other} or {outside}"

    def outside(self, type_: Type, x: str) -> str | None:
        """The same for a scalar of the right class; None where every one can be written."""
        match type_:
            case Int(bits=8 | 16):
                return f"not {type_.low} <= {x} <= {type_.high}"
            case Float(bits=32):
                return f"not {-FLOAT32_OVERFLOW!r} < {x} < {FLOAT32_OVERFLOW!r}"
            case Str(size=int(size)):
                return f"len({x}.encode()) > {size}"
            case Bytes(size=int(size)):
                return f"len({x}) != {size}"
            case Enum(cls=None):
                return f"{x} not in {self._numbers(type_)}"
        return None

    def native(self, type_: Type, x: str) -> str:
        """What protobuf takes for one scalar."""
        match type_:
            case Null():
                return "0"
            case Enum(cls=None):
                return f"{self._numbers(type_)}[{x}]"
            case Enum():
                # Looked up by value: the hash of a member itself is computed in Python.
                return f"{x}._value_" if type_.of_ints else f"{self._numbers(type_)}[{x}._value_]"
            case Bytes() if self.held_from is not None:
                hold = self.source.constant(hold_bytes)
                return f"({x} if len({x}) < {self.held_from} and len({x}) != {STAND_IN_SIZE} else {hold}(p, {x}))"
        return x

    def natives(self, type_: Type, xs: str) -> str:
        """What protobuf takes for a list of scalars."""
        if isinstance(type_, Null):
            return f"[0] * len({xs})"
        native = self.native(type_, "y")
        return xs if native == "y" else f"[{native} for y in {xs}]"

    def _numbers(self, type_: Enum) -> str:
        return self.source.constant(self.plan.enums[type_].numbers)


def refuse(reason: str, path: str) -> NoReturn:
    """Raise the error of bytes that are no message of the schema."""
    raise DecodeError(reason, codec="protobuf", path=path)


class Members(dict[int, Any]):
    """The members of an enum by number; a number of none is a `DecodeError`, since enums are closed."""

    __slots__ = ("_name", "_path")

    def __init__(self, name: str, path: str, found: dict[int, Any]) -> None:
        super().__init__(found)
        self._name = name
        self._path = path

    def __missing__(self, number: int) -> NoReturn:
        refuse(f"enum {self._name} has no member of number {number}", self._path)


def members(plan: Plan, slot: Slot) -> Members | None:
    """The table of the enum that stands in a field; None where none does."""
    type_ = slot.item
    if not isinstance(type_, Enum):
        return None
    numbers = plan.enums[type_].numbers
    found = {number: value if type_.cls is None else type_.cls(value) for value, number in numbers.items()}
    return Members(type_.name, slot.path, found)


def fault(type_: Type, x: str, *, size_of: str = "len") -> str | None:
    """The condition under which one scalar of the wire is no value of the type; None where it always is one.

    Enums are looked up in `Members` instead. `size_of` names the function that gives the size of bytes.
    """
    match type_:
        case Int(bits=8 | 16):
            return f"not {type_.low} <= {x} <= {type_.high}"
        case Str(size=int(size)):
            return f"len({x}.encode()) > {size}"
        case Bytes(size=int(size)):
            return f"{size_of}({x}) != {size}"
    return None
