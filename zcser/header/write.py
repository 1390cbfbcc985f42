"""From values to wire fields: generated code, one function per record.

1. What fits is taken as it is; what `normal` would change goes through the `Normaliser`, part by part. Whatever does not
   fit raises, as any exception: the caller asks the Normaliser for the words and the path.
2. ``struct`` refuses integers and floats out of range itself. Where nothing may be written before all is known to fit,
   the ranges are checked here (`ranges`).
3. Without the guard nothing is checked beyond what ``struct`` checks.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zcser.core.dtypes import tensor_bytes
from zcser.core.source import Source
from zcser.header.layout import Array, Blob, Items, Node, Nothing, Scalar, Struct, Text, wire_values
from zcser.header.plan import big
from zcser.schema.model import Bool, Enum, Float, Int, List, Record
from zcser.schema.normal import Normaliser

__all__ = ["has_format", "nul_terminated", "usual_dtype", "writer"]

# The least magnitude that rounds to infinity as float32: 2**128 less half a unit in the last place.
FLOAT32_LIMIT = 2.0**128 - 2.0**103


def writer(root: Node, normaliser: Normaliser, *, guard: bool, ranges: bool) -> Callable[[Any], tuple[Any, ...]]:
    """A function from a value to the tuple of its wire fields.

    Parameters
    ----------
    root
        The layout.
    normaliser
        Of the same schema; not strict.
    guard, ranges
        See the rules at the head of this module.
    """
    return _Writer(normaliser, guard=guard, ranges=ranges).function(root)


class _Writer:
    def __init__(self, normaliser: Normaliser, *, guard: bool, ranges: bool) -> None:
        self.normaliser = normaliser
        self.guard = guard
        self.ranges = ranges
        self.source = Source()
        self.functions: dict[int, str] = {}

    def function(self, root: Node) -> Callable[[Any], tuple[Any, ...]]:
        name = self._tuple_of(root)
        function: Callable[[Any], tuple[Any, ...]] = self.source.compile("header writer")[name]
        return function

    def _tuple_of(self, node: Node) -> str:
        """The name of a function that gives the wire fields of a part as a tuple."""
        if id(node) not in self.functions:
            # Functions of the parts come first in the source: collect this one's lines apart.
            outer, self.source.lines = self.source.lines, []
            name = self.functions[id(node)] = f"write{len(self.functions)}"
            with self.source.block(f"def {name}(v):"):
                fields = self._record("v", node) if isinstance(node, Struct) else self._part("v", node)
                self.source.line(f"return ({''.join(field + ', ' for field in fields)})")
            self.source.lines = outer + self.source.lines
        return self.functions[id(node)]

    def _record(self, name: str, node: Struct) -> list[str]:
        source, cls, count = self.source, node.record.cls, len(node.members)
        if self.guard:
            wrong = f"{name}.__class__ is not {source.constant(dict if cls is None else cls)}"
            source.line(f"if {wrong}{f' or len({name}) != {count}' if cls is None else ''}: raise TypeError")
        if not node.members:
            return []
        names = [source.variable() for _ in node.members]
        source.line(f"{''.join(part + ', ' for part in names)}= {source.constant(_getter(node.record))}({name})")
        return [
            field for part, member in zip(names, node.members, strict=True) for field in self._part(part, member.node)
        ]

    def _part(self, name: str, node: Node) -> list[str]:
        """Lines that make a variable's value fit; the expressions that stand for its wire fields."""
        match node:
            case Nothing():
                self._refuse_if(f"{name} is not None")
                return []
            case Struct():
                return [f"*{self._tuple_of(node)}({name})"]
            case Items():
                return self._items(name, node)
            case Scalar(type=Enum() as type_):
                self._enum(name, type_)
            case Scalar():
                self._scalar(name, node)
            case Text():
                self._normal_if(f"{name}.__class__ is not str", name, node)
                self.source.line(f"{name} = {name}.encode()")
                self._refuse_if(f"len({name}) > {node.size} or {name}[-1:] == {self.source.constant(_NUL)}")
            case Blob():
                self._normal_if(f"{name}.__class__ is not bytes or len({name}) != {node.size}", name, node)
            case Array():
                self._array(name, node)
        return [name]

    def _normal_if(self, wrong: str, name: str, node: Node) -> None:
        if self.guard:
            normal = self.source.constant(functools.partial(self.normaliser.part, node.type))
            self.source.line(f"if {wrong}: {name} = {normal}({name})")

    def _refuse_if(self, wrong: str) -> None:
        if self.guard:
            self.source.line(f"if {wrong}: raise ValueError")

    def _scalar(self, name: str, node: Scalar) -> None:
        cls = {Bool: "bool", Int: "int", Float: "float"}[type(node.type)]
        self._normal_if(f"{name}.__class__ is not {cls}", name, node)
        bounds = _bounds(node)
        if not self.ranges or bounds is None:
            return
        if isinstance(node.type, Int):
            self._refuse_if(f"not {bounds[0]} <= {name} <= {bounds[1]}")
        else:
            # NaN and infinities are beyond the bounds too, and fit.
            self._normal_if(f"not {bounds[0]!r} < {name} < {bounds[1]!r}", name, node)

    def _enum(self, name: str, type_: Enum) -> None:
        numbers = dict(zip((value for _, value in type_.members), wire_values(type_), strict=True))
        if type_.cls is not None:
            cls = self.source.constant(type_.cls)
            normal = self.source.constant(functools.partial(self.normaliser.part, type_))
            # A member may be given by its value, with the guard or without.
            self.source.line(f"if {name}.__class__ is not {cls}: {name} = {normal}({name})")
            self.source.line(f"{name} = {name}._value_")
            if type_.of_ints:
                return
        elif self.guard:
            # Before the look-up: to a dict True is 1.
            self._refuse_if(f"{name}.__class__ is not {'int' if type_.of_ints else 'str'}")
        self.source.line(f"{name} = {self.source.constant(numbers)}[{name}]")

    def _array(self, name: str, node: Array) -> None:
        constant = self.source.constant
        dtype = constant(usual_dtype(node.dtype))
        self._normal_if(
            f"{name}.__class__ is not {constant(np.ndarray)}"
            f" or ({name}.dtype is not {dtype} and {name}.dtype != {dtype})"
            f" or {name}.shape != {constant(node.shape)} or not {name}.flags.c_contiguous",
            name,
            node,
        )
        if not big(node):
            self.source.line(f"{name} = {name}.tobytes()")
        elif has_format(node.dtype):
            self.source.line(f'{name} = {name}.data.cast("B")')
        else:
            self.source.line(f"{name} = {constant(tensor_bytes)}({name})")

    def _items(self, name: str, node: Items) -> list[str]:
        item = node.item
        type_ = node.type
        container = "tuple" if isinstance(type_, List) and type_.container == "tuple" else "list"
        wrong = f"{name}.__class__ is not {container} or len({name}) != {node.length}"
        if isinstance(item, Scalar) and not isinstance(item.type, Enum):
            only = self.source.constant(frozenset({{Bool: bool, Int: int, Float: float}[type(item.type)]}))
            self._normal_if(f"{wrong} or not {only}.issuperset(map(type, {name}))", name, node)
            bounds = _bounds(item)
            if self.ranges and bounds is not None and node.length:
                if isinstance(item.type, Int):
                    self._refuse_if(f"not ({bounds[0]} <= min({name}) and max({name}) <= {bounds[1]})")
                else:
                    self._normal_if(f"not ({bounds[0]!r} < min({name}) and max({name}) < {bounds[1]!r})", name, node)
            return [f"*{name}"]
        self._normal_if(wrong, name, node)
        each = self._tuple_of(item)
        one, part = self.source.variable(), self.source.variable()
        self.source.line(f"{name} = [{part} for {one} in {name} for {part} in {each}({one})]")
        return [f"*{name}"]


def _bounds(node: Scalar) -> tuple[Any, Any] | None:
    """What ``struct`` refuses by itself: the closed range of an integer, the open one of a float32."""
    if isinstance(node.type, Int):
        return node.type.low, node.type.high
    if isinstance(node.type, Float) and node.type.bits == 32:
        return -FLOAT32_LIMIT, FLOAT32_LIMIT
    return None


def usual_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The object, of those that are equal to a dtype, that most arrays have: numpy has one for each class of scalars."""
    usual = np.dtype(dtype.type)
    return usual if usual == dtype else dtype


def has_format(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of a dtype are buffers: those of datetimes and of ml_dtypes' are none."""
    try:
        memoryview(np.empty(0, dtype))  # type: ignore[arg-type]  # numpy's types know no buffers
    except ValueError:
        return False
    return True


_NUL = b"\0"


def _getter(record: Record) -> Callable[[Any], Any]:
    """A function from a value to its fields, as a tuple."""
    names = tuple(item.name for item in record.fields)
    if len(names) == 1 or (record.cls is not None and any("." in name for name in names)):
        # With one name the getters of operator give no tuple, and attrgetter takes a dot for a path.
        read: Callable[[Any, str], Any] = operator.getitem if record.cls is None else getattr
        return lambda value: tuple([read(value, name) for name in names])
    return operator.itemgetter(*names) if record.cls is None else operator.attrgetter(*names)


def nul_terminated(node: Node, value: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Paths of the texts in a normal value that end in NUL: the one thing that `normal` accepts and a layout cannot."""
    match node:
        case Text():
            if value.endswith("\0"):
                yield above
        case Items():
            for number, item in enumerate(value):
                yield from nul_terminated(node.item, item, (*above, number))
        case Struct():
            for member in node.members:
                part = value[member.name] if node.record.cls is None else getattr(value, member.name)
                yield from nul_terminated(member.node, part, (*above, member.name))
