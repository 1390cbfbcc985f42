"""Schemas from annotations; every expected schema is written out by hand."""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
import pickle
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NotRequired, Required, TypedDict, TypeVar

import ml_dtypes
import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from zcser.core.errors import SchemaError
from zcser.schema.annotations import Float32, Float64, Id, Int8, Int32, Length, UInt8, UInt64
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
    Null,
    Optional,
    Record,
    Ref,
    Schema,
    Str,
    Tensor,
    Union,
)

T = TypeVar("T")
UserId = typing.NewType("UserId", int)


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g"
    CRIMSON = "r"  # noqa: PIE796 - an alias, which is no member of its own


class Weight(enum.IntEnum):
    LIGHT = 1
    HEAVY = -2


class Bits(enum.Flag):
    A = 1


class Mixed(enum.Enum):
    A = 1
    B = "b"


class Nothing(enum.Enum):
    pass


@dataclasses.dataclass
class Leaf:
    """A leaf.

    With more words.
    """

    x: int
    y: Float32 = 0.5
    z: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Tree:
    left: Tree | None
    leaves: dict[str, list[Leaf]]


class Box(msgspec.Struct):
    a: UInt8
    b: str = "x"
    c: list[int] = []
    d: Box | None = None


@dataclasses.dataclass
class Lambdas:
    a: str
    b: list[int] = dataclasses.field(default_factory=lambda: [1])
    c: int = 5


class StructOfLambdas(msgspec.Struct):
    a: str
    b: list[int] = msgspec.field(default_factory=lambda: [1])
    c: int = 5


class Base(TypedDict):
    a: int


class Loose(Base, total=False):
    b: int
    c: Required[str]
    d: Annotated[int, Id(9)]
    e: float


class Closed(TypedDict):
    a: NotRequired[Annotated[int, Id(3)]]
    b: Annotated[NotRequired[int], Id(7)]


Odd = TypedDict("Odd", {"": int, "a/b": int, "class": int, "größe": int, "a\0b": int, "a b": NotRequired[int]})

PLAIN = {
    "bool": (bool, Bool()),
    "int": (int, Int(64)),
    "float": (float, Float(64)),
    "str": (str, Str()),
    "bytes": (bytes, Bytes()),
    "None": (None, Null()),
    "NoneType": (type(None), Null()),
    "any array": (np.ndarray, Tensor()),
    "array of a dtype": (npt.NDArray[np.float32], Tensor("float32")),
    "array of bfloat16": (np.ndarray[Any, np.dtype[ml_dtypes.bfloat16]], Tensor("bfloat16")),
    "array of int4": (np.ndarray[Any, np.dtype[ml_dtypes.int4]], Tensor("int4")),
    "array of any dtype": (npt.NDArray[Any], Tensor()),
    "array of an abstract dtype": (npt.NDArray[np.floating], Tensor()),
    "array of a type variable": (npt.NDArray[T], Tensor()),
    "array with a shape": (Annotated[np.ndarray, Tensor("int8", (2, None))], Tensor("int8", (2, None))),
    "width": (Int8, Int(8)),
    "unsigned": (UInt64, Int(64, signed=False)),
    "float width": (Float32, Float(32)),
    "unbounded": (Annotated[int, Int(None)], Int(None)),
    "sized str": (Annotated[str, Str(16)], Str(16)),
    "other metadata is left alone": (Annotated[int, "a comment", 5], Int()),
    "the outer annotation wins": (Annotated[Int8, Int(32)], Int(32)),
    "list": (list[int], List(Int())),
    "typing.List": (typing.List[int], List(Int())),  # noqa: UP006 - both spellings
    "Sequence": (Sequence[str], List(Str())),
    "tuple of any length": (tuple[int, ...], List(Int(), container="tuple")),
    "tuple of a length": (tuple[float, float], List(Float(), length=2, container="tuple")),
    "fixed list": (Annotated[list[int], Length(4)], List(Int(), length=4)),
    "fixed optional list": (Annotated[list[int] | None, Length(4)], Optional(List(Int(), length=4))),
    "list of widths": (list[Int8], List(Int(8))),
    "nested": (list[list[str | None]], List(List(Optional(Str())))),
    "map": (dict[str, float], Map(Str(), Float())),
    "Mapping": (Mapping[Int32, bytes], Map(Int(32), Bytes())),
    "map by bool": (dict[bool, int], Map(Bool(), Int())),
    "optional": (int | None, Optional(Int())),
    "typing.Optional": (typing.Optional[int], Optional(Int())),  # noqa: UP045 - both spellings
    "optional of a width": (Annotated[int | None, Int(8)], Optional(Int(8))),
    "width in an optional": (Int8 | None, Optional(Int(8))),
    "union": (int | str, Union((Int(), Str()))),
    "optional union": (int | None | str, Optional(Union((Int(), Str())))),
    "union of an optional": (Annotated[int | None, "x"] | str, Optional(Union((Int(), Str())))),
    "NewType": (UserId, Int()),
    "enum": (Colour, Enum("Colour", (("RED", "r"), ("GREEN", "g")))),
    "int enum": (Weight, Enum("Weight", (("LIGHT", 1), ("HEAVY", -2)))),
    "literal": (Literal["a", "b"], Enum("Literal", (("a", "a"), ("b", "b")))),
    "literal ints": (Literal[1, 2], Enum("Literal", (("v1", 1), ("v2", 2)))),
    "literal None": (Literal[None], Null()),  # noqa: PYI061 - both spellings
    "optional literal None": (Literal[None] | None, Null()),  # noqa: PYI061 - both spellings
    "optional literal": (Literal["a"] | None, Optional(Enum("Literal", (("a", "a"),)))),
}


@pytest.mark.parametrize("case", PLAIN)
def test_annotations_without_records(case):
    hint, expected = PLAIN[case]
    assert schema_of(hint) == Schema(expected)


def test_a_dataclass_keeps_order_ids_class_doc_and_defaults():
    schema = schema_of(Leaf)
    x, y, z = Field("x", Int(), 1), Field("y", Float(32), 2), Field("z", List(Int()), 3)
    assert schema == Schema(Ref("Leaf"), (Record("Leaf", (x, y, z)),))
    record = schema.record("Leaf")
    assert (record.cls, record.doc) == (Leaf, "A leaf.")
    assert [item.has_default for item in record.fields] == [False, True, True]
    assert [item.make_default() for item in record.fields[1:]] == [0.5, []]
    assert record.fields[2].make_default() is not record.fields[2].make_default()


def test_records_stand_in_order_of_first_mention_and_may_be_recursive():
    schema = schema_of(Tree)
    assert schema == Schema(
        Ref("Tree"),
        (
            Record(
                "Tree", (Field("left", Optional(Ref("Tree")), 1), Field("leaves", Map(Str(), List(Ref("Leaf"))), 2))
            ),
            Record("Leaf", (Field("x", Int(), 1), Field("y", Float(32), 2), Field("z", List(Int()), 3))),
        ),
    )
    assert schema.recursive == {"Tree"}


def test_a_struct():
    record = schema_of(Box).record("Box")
    assert record == Record(
        "Box",
        (
            Field("a", Int(8, signed=False), 1),
            Field("b", Str(), 2),
            Field("c", List(Int()), 3),
            Field("d", Optional(Ref("Box")), 4),
        ),
    )
    assert record.cls is Box
    assert [item.make_default() for item in record.fields[1:]] == ["x", [], None]


def test_a_typed_dict_has_fields_that_may_be_absent_and_no_class():
    record = schema_of(Loose).record("Loose")
    assert record == Record(
        "Loose",
        (
            Field("a", Int(), 1),
            Field("b", Int(), 2, required=False),
            Field("c", Str(), 3),
            Field("d", Int(), 9, required=False),
            Field("e", Float(), 10, required=False),
        ),
    )
    assert record.cls is None


def test_ids_are_found_on_either_side_of_not_required():
    assert schema_of(Closed).record("Closed") == Record(
        "Closed", (Field("a", Int(), 3, required=False), Field("b", Int(), 7, required=False))
    )


def test_names_of_a_typed_dict_may_be_anything():
    record = schema_of(Odd).record("Odd")
    assert [item.name for item in record.fields] == ["", "a/b", "class", "größe", "a\0b", "a b"]
    assert [item.required for item in record.fields] == [True] * 5 + [False]


def test_two_classes_of_one_name_become_two_records():
    one = dataclasses.make_dataclass("Same", [("a", int)])
    two = dataclasses.make_dataclass("Same", [("b", str)])
    schema = schema_of(dict[str, one] | list[two])
    assert {record.name: record.cls for record in schema.records} == {"Same": one, "Same2": two}


@pytest.mark.parametrize("cls", [Lambdas, StructOfLambdas])
@pytest.mark.parametrize("travel", [lambda schema: pickle.loads(pickle.dumps(schema)), copy.deepcopy, copy.copy])
def test_defaults_that_have_no_name_travel_with_their_class(cls, travel):
    schema = schema_of(list[cls])
    back = travel(schema)
    assert back == schema
    a, b, c = back.records[0].fields
    assert not a.has_default
    assert (b.make_default(), c.make_default()) == ([1], 5)
    assert back.records[0].by_name == {"a": a, "b": b, "c": c}
    assert travel(back).records[0].fields[1].make_default() == [1]


def test_defaults_that_are_not_the_class_s_own_travel_by_themselves():
    record = Record("Lambdas", (Field("b", List(Int()), 1, default_factory=list), Field("c", Int(), 2)), Lambdas)
    b, c = pickle.loads(pickle.dumps(record)).fields
    assert b.make_default() == []
    assert not c.has_default


def test_a_schema_is_its_own_source():
    schema = Schema(Int())
    assert schema_of(schema) is schema


def test_literal_members_have_distinct_names_whatever_their_values():
    found = schema_of(Literal["a-b", "a_b", "", "1", "é", "a\0"]).root
    assert isinstance(found, Enum)
    assert found.values == ("a-b", "a_b", "", "1", "é", "a\0")
    assert len({name for name, _ in found.members}) == 6
    found = schema_of(Literal[-1, 1]).root
    assert found.values == (-1, 1)


def test_a_literal_member_keeps_its_name_where_it_is_free_and_is_numbered_where_not():
    assert schema_of(Literal["a-b", "a_b", "a_b2", "a b"]).root == Enum(
        "Literal", (("a_b", "a-b"), ("a_b2", "a_b"), ("a_b22", "a_b2"), ("a_b3", "a b"))
    )


def test_an_id_may_stand_inside_a_new_type():
    numbered = typing.NewType("numbered", Annotated[int, Id(7)])
    assert schema_of(fields(a=numbered, b=int)).record("Made").fields == (Field("a", Int(), 7), Field("b", Int(), 8))


def fields(**hints: Any) -> type:
    return dataclasses.make_dataclass("Made", list(hints.items()))


@dataclasses.dataclass
class WithInitVar:
    a: int
    b: dataclasses.InitVar[int]


@dataclasses.dataclass
class WithoutInit:
    a: int
    b: int = dataclasses.field(init=False, default=0)


@dataclasses.dataclass
class Generic_(Generic[T]):
    x: T


Bare = collections.namedtuple("Bare", "a")  # noqa: PYI024 - one without annotations


class Hostile:
    """Raises at whatever one may ask of it."""

    def fail(self, *_: Any) -> Any:
        raise ZeroDivisionError

    __eq__ = __hash__ = __repr__ = __str__ = __bool__ = __len__ = fail


class TypeAliasType:
    """Stands for the statement ``type X = ...`` of Python 3.12, which evaluates its value when asked."""

    __value__ = property(lambda self: self.evaluate(self))

    def __init__(self, evaluate: Any) -> None:
        self.evaluate = evaluate


def nested(depth: int) -> Any:
    hint: Any = int
    for _ in range(depth):
        hint = list[hint]
    return hint


REFUSED = {
    "Any": (Any, "Any", ""),
    "object": (object, "Any", ""),
    "set of lists": (set[list[int]], "list", ""),
    "set of records": (fields(a=set[Leaf]), "scalars", "Made/a"),
    "set alone": (set, r"set\[str\]", ""),
    "bare list": (list, r"list\[str\]", ""),
    "bare dict": (dict, "dict", ""),
    "bare tuple": (tuple, "tuple", ""),
    "tuple of types": (tuple[int, str], "dataclass", ""),
    "callable": (typing.Callable[[], int], "no type", ""),
    "complex": (complex, "complex", ""),
    "type variable": (T, "T", ""),
    "generic class": (Generic_[int], "Generic_", ""),
    "named tuple without annotations": (Bare, "annotation", "Bare/a"),
    "flags": (Bits, "flags", ""),
    "mixed enum": (Mixed, "all int or all str", ""),
    "empty enum": (Nothing, "enum", ""),
    "literal bools": (Literal[True], "Literal", ""),
    "literal bytes": (Literal[b"x"], "Literal", ""),
    "literal members": (Literal[Colour.RED], "Literal", ""),
    "float keys": (dict[float, int], "keys", ""),
    "optional keys": (dict[str | None, int], "keys", ""),
    "two records as dicts": (Loose | Closed, "cannot tell", ""),
    "two lists": (list[int] | list[str], "cannot tell", ""),
    "two widths": (Int8 | UInt64, "cannot tell", ""),
    "width of another kind": (Annotated[str, Int(8)], "kind", ""),
    "length of no list": (Annotated[int, Length(3)], "no list", ""),
    "array of objects": (npt.NDArray[np.object_], "object", ""),
    "array of text": (npt.NDArray[np.str_], "str_", ""),
    "array of long doubles": (npt.NDArray[np.longdouble], "longdouble", ""),
    "field": (fields(a=int, b=complex), "complex", "Made/b"),
    "field of a field": (fields(a=list[dict[str, Any]]), "Any", "Made/a/*/*"),
    "unresolved name": (fields(a="Missing"), "Missing", ""),
    "not an expression": (fields(a="3 +"), "Made", ""),
    "not a type": (fields(a=3), "3", "Made/a"),
    "id 0": (fields(a=Annotated[int, Id(0)]), "id", "Made/a"),
    "id -1": (fields(a=Annotated[int, Id(-1)]), "id", "Made/a"),
    "id 19000": (fields(a=Annotated[int, Id(19_000)]), "id", "Made/a"),
    "id twice": (fields(a=Annotated[int, Id(2)], b=Annotated[int, Id(2)]), "id", "Made/b"),
    "id runs into another": (fields(a=Annotated[int, Id(2)], b=Annotated[int, Id(1)], c=int), "id", "Made/c"),
    "two ids": (fields(a=Annotated[int, Id(2), Id(3)]), "one id", "Made/a"),
    "id inside a union": (fields(a=Annotated[int, Id(7)] | None), "[Ii]d", "Made/a"),
    "id on an item": (fields(a=list[Annotated[int, Id(7)]]), "[Ii]d", "Made/a/*"),
    "field without init": (WithoutInit, "init", "WithoutInit/b"),
    "InitVar": (WithInitVar, "InitVar", "WithInitVar/b"),
    "an instance": (Leaf(1), "class", None),
    "a number": (5, "class", None),
    "a text": ("int", "class", None),
    "an array": (np.zeros(3), "class", ""),
    "an array in a field": (fields(a=list[np.zeros(3)]), "class", "Made/a/*"),
    "an unhashable": ([int], "class", ""),
    "a hostile object": (Hostile(), "class", ""),
    "a hostile item": (list[Hostile()], "class", "/*"),
    "literal list": (Literal[[1]], "Literal", ""),
    "literal of both": (Literal["a", 1], "Literal", ""),
    "literal int member": (Literal[Weight.HEAVY], "Literal", ""),
    "typing.List alone": (typing.List, r"list\[str\]", ""),  # noqa: UP006 - both spellings
    "typing.Dict alone": (typing.Dict, r"dict\[str, int\]", ""),  # noqa: UP006 - both spellings
    "typing.Tuple alone": (typing.Tuple, r"tuple\[str, ...\]", ""),  # noqa: UP006 - both spellings
    "Sequence alone": (Sequence, r"list\[str\]", ""),
    "map of one type": (dict[int], r"dict\[str, int\]", ""),
    "list of two types": (list[int, str], r"list\[str\]", ""),
    "empty tuple": (tuple[()], "tuple", ""),
    "expression that fails": (fields(a="1 / 0"), "Made.*division by zero", ""),
    "id that is no int": (fields(a=Annotated[int, Id("3")], b=int), "id must be an int", "Made/a"),
    "id on the root": (Annotated[int, Id(3)], "Id", ""),
    "id on a map's key": (fields(a=dict[Annotated[str, Id(2)], int]), "Id", "Made/a/key"),
    "width alias as a remark": (Annotated[float, Float32], r"Annotated\[float, Float\(32\)\]", ""),
    "width class as a remark": (fields(a=Annotated[int, Int]), "changes nothing", "Made/a"),
    "id class as a remark": (fields(a=Annotated[int, Id]), "changes nothing", "Made/a"),
    "bare InitVar": (dataclasses.make_dataclass("Bare", [("a", dataclasses.InitVar)]), "InitVar", "Bare/a"),
    "alias of itself": (TypeAliasType(lambda alias: alias), "alias|instance", ""),
    "alias that recurs": (TypeAliasType(lambda alias: list[alias]), "without end", ""),
    "alias that fails": (TypeAliasType(lambda _: 1 / 0), "division by zero", ""),
    "very deep": (nested(5000), "too deep", ""),
    "a module": (typing, "class", None),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_format_can_carry_is_a_schema_error_with_its_path(case):
    hint, word, path = REFUSED[case]
    with pytest.raises(SchemaError, match=word) as caught:
        schema_of(hint)
    if path is not None:
        assert (caught.value.path or "") == path


def test_a_class_made_inside_a_function_may_be_recursive():
    @dataclasses.dataclass
    class Local:
        next: Local | None

    assert schema_of(Local).recursive == {"Local"}


def test_the_ready_made_widths_are_what_they_say():
    for name, expected in {"Float64": Float(64), "Float32": Float(32)}.items():
        assert schema_of({"Float64": Float64, "Float32": Float32}[name]).root == expected
