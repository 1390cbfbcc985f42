"""Guards in C over values that are their own trees, and over trees: what the C part is given, and where it is used.

1. The C part takes a value that is normal already, and a tree that needs no more than floats in the place of ints, which
   is what nearly all are. Whatever else comes it hands to the generated walks of `zcser.tree.write` and
   `zcser.tree.read`, so that results and errors are the same with it and without.
2. A schema has it where it is plain (`zcser.tree.form.is_plain`). Where its values are objects, but its trees are plain,
   `zcser.tree.objects` has it for the trees. Other schemas are walked by the generated code alone.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zcser.core.options import Options
from zcser.native import backend
from zcser.schema.model import (
    Bool,
    Bytes,
    Enum,
    Float,
    Int,
    List,
    Map,
    Null,
    Optional,
    Ref,
    Schema,
    Str,
    Tensor,
    Type,
    Union,
    walk,
)
from zcser.tree.form import Form, is_plain, is_plain_tree, parts_of, wire_class

if TYPE_CHECKING:
    from zcser.native import _tree

__all__ = ["NoTreeError", "Op", "Program", "make_coder", "make_tree_coder", "node_of"]


class Op(enum.IntEnum):
    """Numbers as in zcser/native/tree/tree.h."""

    NULL = 0
    BOOL = 1
    INT = 2
    FLOAT = 3
    STR = 4
    BYTES = 5
    ENUM = 6
    OPTIONAL = 7
    LIST = 8
    MAP = 9
    UNION = 10
    RECORD = 11
    PAIR = 12
    ANY = 13


def make_coder(
    schema: Schema,
    form: Form,
    options: Options,
    *,
    dumps: Callable[[Any], bytes] | None,
    loads: Callable[[Any], Any],
    encode: Callable[[Any], bytes] | None,
    decode: Callable[..., Any],
    write: Callable[[Any], Any] | None,
    read: Callable[[Any], Any],
    ends_apart: bool = False,
) -> _tree.Coder | None:
    """The C part of a codec; None where Python was chosen, or it has nothing to do.

    Parameters
    ----------
    schema, form, options
        Of the codec.
    dumps, loads
        The library's own; ``dumps`` is None where it only reads.
    encode, decode
        What the codec does without the C part.
    write, read
        From value to tree, and back.
    ends_apart
        `loads` passes over what stands behind a message of MessagePack, so that C has to find its end.
    """
    if backend == "pure" or form.shares or not is_plain(schema, form):
        return None
    if form.key_fault is not None and any(isinstance(part, Map) for part in parts_of(schema)):
        return None
    program = Program(schema, form, skips_unknown=options.unknown_fields != "refuse")
    return _coder(program, options, dumps, loads, encode, decode, write, read, ends_apart=ends_apart)


class NoTreeError(Exception):
    """A tree does not fit as it stands."""


def _refuse(*_: Any, **__: Any) -> Any:
    raise NoTreeError


def make_tree_coder(
    schema: Schema,
    form: Form,
    options: Options,
    *,
    dumps: Callable[[Any], bytes] | None,
    loads: Callable[[Any], Any],
    ends_apart: bool = False,
    program: Program | None = None,
) -> _tree.Coder | None:
    """The C part for the trees of a schema whose values are objects; None as in `make_coder`.

    Its calls take and give trees, and raise `NoTreeError` where there is more to do than it does.

    Parameters
    ----------
    schema, form, options, dumps, loads, ends_apart
        As of `make_coder`.
    program
        Of trees that are not those of `zcser.tree.form`.
    """
    if backend == "pure" or form.shares:
        return None
    if program is None:
        if not is_plain_tree(schema, form):
            return None
        program = Program(schema, form, skips_unknown=options.unknown_fields != "refuse")
    return _coder(program, options, dumps, loads, _refuse, _refuse, _refuse, _refuse, ends_apart=ends_apart)


def _coder(
    program: Program,
    options: Options,
    dumps: Callable[[Any], bytes] | None,
    loads: Callable[[Any], Any],
    *slow: Any,
    ends_apart: bool,
) -> _tree.Coder:
    from zcser.native import _tree

    schema, form = program.schema, program.form
    root = program.number(schema.root)
    encode, decode, write, read = slow
    return _tree.Coder(
        nodes=tuple(program.nodes),
        root=root,
        checks=options.guard == "on",
        finite=form.finite,
        surrogates=form.surrogates,
        can_write=dumps is not None and not options.deterministic and not options.strict,
        can_read=not any(isinstance(p, List) and p.container == "tuple" for p in parts_of(schema)),
        ends_apart=ends_apart,
        limits=(options.limits.depth, options.limits.elements, options.limits.bytes),
        dumps=dumps,
        loads=loads,
        encode=encode,
        decode=decode,
        write=write,
        read=read,
    )


_NO_ITEM = 0


class Program:
    """Nodes in the form that the C part reads; the tuples' order is that of ``read_node`` in program.c."""

    def __init__(self, schema: Schema, form: Form, *, skips_unknown: bool) -> None:
        self.schema = schema
        self.skips_unknown = skips_unknown
        self.form = form
        self.nodes: list[tuple[Any, ...]] = []
        self.records: dict[str, int] = {}

    def number(self, type_: Type) -> int:
        """The number of a type's node, which is made here."""
        if isinstance(type_, Ref) and type_.name in self.records:
            return self.records[type_.name]
        number = len(self.nodes)
        self.nodes.append(())
        if isinstance(type_, Ref):
            self.records[type_.name] = number
        self.nodes[number] = self.node(type_)
        return number

    def node(self, type_: Type) -> tuple[Any, ...]:
        """The node of a type."""
        match type_:
            case Null():
                return node_of(Op.NULL, inert=True)
            case Bool():
                return node_of(Op.BOOL, inert=True)
            case Int(low=low, high=high):
                return node_of(Op.INT, inert=True, parts=() if low is None or high is None else (low, high))
            case Float(bits=bits):
                return node_of(Op.FLOAT, is_single=bits == 32)
            case Str(size=size):
                return node_of(Op.STR, size=size, inert=True)
            case Bytes(size=size):
                return node_of(Op.BYTES, size=size, inert=True)
            case Tensor():
                return node_of(Op.ANY)  # whoever makes it, or its array, looks at all of it
            case Enum():
                values = frozenset(value for _, value in type_.members)
                return node_of(Op.ENUM, inert=True, parts=(wire_class(type_, self.form), values))
            case Optional(item):
                return node_of(Op.OPTIONAL, item=self.number(item), inert=self.is_inert(item))
            case List(item=item, length=length):
                inner = self.number(item)
                tupled = type_.container == "tuple"
                return node_of(Op.LIST, size=length, item=inner, is_tuple=tupled, inert=self.is_inert(item))
            case Map(key, value):
                return node_of(Op.MAP, item=self.number(value), key=self.number(key), inert=self.is_inert(value))
            case Union():
                return self.union(type_)
            case Ref(name):
                return self.record(name)
        raise AssertionError(type_)

    def union(self, type_: Union) -> tuple[Any, ...]:
        """The node of a union."""
        has_float = any(isinstance(option, Float) for option in type_.options)
        has_int = any(wire_class(option, self.form) is int for option in type_.options)
        parts = tuple((wire_class(option, self.form), self.number(option)) for option in type_.options)
        return node_of(
            Op.UNION,
            takes_ints=has_float and not has_int,
            may_be_rounded=has_float and has_int and self.form.rounds_ints,
            inert=all(map(self.is_inert, type_.options)),
            parts=parts,
        )

    def record(self, name: str) -> tuple[Any, ...]:
        """The node of a record."""
        record = self.schema.record(name)
        if record.cls is None:
            parts = tuple(
                (item.name, self.number(item.type), item.required, not item.may_be_absent) for item in record.fields
            )
            # Never inert: a field may be missing or unknown.
            return node_of(Op.RECORD, parts=parts)
        # What is made of the tree takes no more than its fields, and has the defaults.
        parts = tuple((item.name, self.number(item.type), True, not item.has_default) for item in record.fields)
        return node_of(Op.RECORD, skips_unknown=self.skips_unknown, parts=parts)

    def is_inert(self, type_: Type) -> bool:
        """Whether nothing in it is ever changed."""
        return not any(isinstance(part, Float | Ref) for part in walk(type_))


def node_of(
    op: Op,
    *,
    size: int | None = None,
    item: int = _NO_ITEM,
    key: int = _NO_ITEM,
    is_single: bool = False,
    is_tuple: bool = False,
    takes_ints: bool = False,
    may_be_rounded: bool = False,
    inert: bool = False,
    skips_unknown: bool = False,
    parts: tuple[Any, ...] = (),
) -> tuple[Any, ...]:
    """A node, as a tuple: what is not said of it is not so."""
    bound = -1 if size is None else size
    return (int(op), bound, item, key, is_single, is_tuple, takes_ints, may_be_rounded, inert, skips_unknown, parts)
