"""What schemas from .fbs have besides, in the engine in Python: bytes laid out by hand, of small programs."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from zcser.core.buffers import address
from zcser.core.errors import DecodeError, EncodeError, TruncatedError, VerifyError
from zcser.core.options import Limits, Options
from zcser.core.view import to_value
from zcser.flat.layout import Missing
from zcser.flat.program import Choice, Node, Op, Place, Program
from zcser.flat.pure.engine import PureEngine, make_engine
from zcser.schema.model import Field, Int, List, Optional, Record, Ref, Schema, Str, Type
from zcser.schema.normal import Normaliser

BYTE, SHORT, INT, UINT, LONG = (
    Node(op, Int(8 * size, op not in {Op.UINT8, Op.UINT32}), size=size, align=size)
    for op, size in ((Op.UINT8, 1), (Op.INT16, 2), (Op.INT32, 4), (Op.UINT32, 4), (Op.INT64, 8))
)


def record(name: str, **types: Type) -> Record:
    fields = (Field(field, type_, number) for number, (field, type_) in enumerate(types.items(), 1))
    return Record(name, tuple(fields))


def engine_of(program: Program) -> PureEngine:
    normal = Normaliser(program.schema, strict=False, finite=False, limits=Limits())
    return make_engine(program, Options(), codec="flatbuffers", normal=normal)


def lacking(**program: Any) -> PureEngine:
    """``table R { a:short = 7; s:string; }``"""
    fields = (
        Field("a", Int(16), 1, required=False, default=7),
        Field("s", Optional(Str()), 2, required=False, default=None),
    )
    places = (
        Place(0, 1, Missing.ZERO, "a", zero=7, may_lack=True),
        Place(1, 2, Missing.NONE, "s", may_lack=True),
    )
    nodes = (Node(Op.TABLE, Ref("R"), places=places), SHORT, Node(Op.STRING, Str()))
    return engine_of(Program(Schema(Ref("R"), (Record("R", fields),)), nodes, 0, False, **program))


def test_what_a_dict_lacks_is_not_written_and_reads_as_its_default() -> None:
    for value, message in (
        ({}, struct.pack("<I HH i", 8, 4, 4, 4)),
        ({"a": 7}, struct.pack("<I 3H2x i h", 12, 6, 6, 4, 8, 7)),
        ({"s": None}, struct.pack("<I HH i", 8, 4, 4, 4)),
    ):
        assert lacking().encode(value) == message
        assert lacking().decode(message) == {"a": 7, "s": None}
        assert to_value(lacking().view(message)) == {"a": 7, "s": None}
    with pytest.raises(EncodeError, match="'b' is not a field"):
        lacking().encode({"b": 1})


def test_an_identifier_and_a_size_stand_before_the_message() -> None:
    own, both = lacking(identifier=b"TEST"), lacking(identifier=b"TEST", is_prefixed=True)
    message = struct.pack("<I4s HH i", 12, b"TEST", 4, 4, 4)
    prefixed = struct.pack("<II4s HH i", 16, 12, b"TEST", 4, 4, 4)
    assert own.encode({}) == message
    assert both.encode({}) == prefixed
    assert own.decode(message) == both.decode(prefixed) == {"a": 7, "s": None}
    for engine, wrong, offset, kind in (
        (own, message.replace(b"TEST", b"REST"), 4, VerifyError),
        (both, prefixed.replace(b"TEST", b"REST"), 8, VerifyError),
        (both, prefixed + b"\0", 0, VerifyError),
        (both, prefixed[:-1], 0, TruncatedError),
    ):
        for read in (engine.decode, engine.verify, engine.view):
            with pytest.raises(kind) as caught:
                read(wrong)
            assert caught.value.offset == offset
        with pytest.raises(DecodeError):
            engine.view(wrong, verify=False)


def test_a_struct_stands_in_its_table_aligned() -> None:
    inner = Node(
        Op.STRUCT,
        Ref("S"),
        size=16,
        align=16,
        places=(Place(0, 1, Missing.REFUSED, "a", offset=0), Place(1, 2, Missing.REFUSED, "b", offset=8)),
    )
    places = (
        Place(0, 1, Missing.ZERO, "x", zero=0),
        Place(1, 3, Missing.REFUSED, "s"),
        Place(2, 4, Missing.ZERO, "y", zero=0),
    )
    schema = Schema(
        Ref("R"),
        (record("R", x=BYTE.neutral, s=Ref("S"), y=UINT.neutral), record("S", a=BYTE.neutral, b=LONG.neutral)),
    )
    engine = engine_of(Program(schema, (Node(Op.TABLE, Ref("R"), places=places), BYTE, LONG, inner, UINT), 0, False))
    value = {"x": 9, "s": {"a": 1, "b": -2}, "y": 3}
    # The vtable at 4; the table 4 before 32: the struct first, then by falling size; the message ends with its last byte.
    message = struct.pack("<I 5H2x 12x i B7xq I B", 28, 10, 25, 24, 4, 20, 24, 1, -2, 3, 9)
    assert engine.encode(value) == message
    assert engine.decode(message) == to_value(engine.view(message)) == value
    memory = np.zeros(256, np.uint8)
    first = -address(memory) % 64
    assert engine.encode_into(value, memory, first + 16) == len(message)
    with pytest.raises(EncodeError, match="no multiple of 16"):
        engine.encode_into(value, memory, first + 8)
    # Of a table at another place the struct is not aligned.
    assert "not aligned" in refusal(
        engine, struct.pack("<I 5H2x 4x i B7xq I B", 20, 10, 25, 24, 4, 20, 16, 1, -2, 3, 9)
    )


def unions() -> PureEngine:
    """``union U { S, T: string = 5 } struct S { a:int; } table R { many:[U] (required); }``"""
    schema = Schema(
        Ref("R"),
        (
            record("R", many=List(Optional(Ref("U")))),
            Record("U", (Field("S", Ref("S"), 1, required=False), Field("T", Str(), 5, required=False))),
            record("S", a=INT.neutral),
        ),
    )
    nodes = (
        Node(Op.TABLE, Ref("R"), places=(Place(1, 1, Missing.REFUSED, "many"),)),
        Node(Op.ONEOFS, List(Optional(Ref("U"))), item=2),
        Node(Op.ONEOF, Ref("U"), choices=(Choice("S", 1, 3), Choice("T", 5, 5))),
        Node(Op.STRUCT, Ref("S"), size=4, align=4, places=(Place(0, 4, Missing.REFUSED, "a", offset=0),)),
        INT,
        Node(Op.STRING, Str()),
    )
    return engine_of(Program(schema, nodes, 0, False))


UNIONS = {"many": [{"S": {"a": -1}}, None, {"T": "hi"}]}
UNIONS_MESSAGE = struct.pack(
    "<I 4H iII I3Bx I3I i I3s",
    *(12, 8, 12, 4, 8),  # root at 12; its vtable at 4
    *(8, 24 - 16, 32 - 20),  # the root
    *(3, 1, 0, 5),  # the numbers at 24
    *(3, 48 - 36, 0, 52 - 44),  # the offsets at 32
    *(-1, 2, b"hi\0"),  # the struct at 48, the string at 52
)  # fmt: skip


def test_a_vector_of_unions_is_two_vectors() -> None:
    engine = unions()
    assert engine.encode(UNIONS) == UNIONS_MESSAGE
    assert engine.decode(UNIONS_MESSAGE) == to_value(engine.view(UNIONS_MESSAGE)) == UNIONS


@pytest.mark.parametrize(
    ("offset", "code", "value", "words", "path"),
    [
        (28, "B", 2, "2 is no option", "/many/0"),
        (28, "B", 0, "a value but no type", "/many/0"),
        (29, "B", 1, "a type but no value", "/many/1"),
        (24, "I", 2, "3 unions have 2 types", "/many"),
        (40, "I", 8, "a value but no type", "/many/1"),
        (36, "I", 13, "a struct at byte 49 is not aligned", "/many/0/S"),
        (36, "I", 20, "leads past the end", "/many/0/S"),
        (58, "B", 1, "no terminator", "/many/2/T"),
        (8, "H", 0, "a value but no type", "/many"),
        (10, "H", 0, "a type but no value", "/many"),
    ],
)
def test_a_fault_in_a_union_is_named_with_its_path(offset: int, code: str, value: int, words: str, path: str) -> None:
    message = bytearray(UNIONS_MESSAGE)
    struct.pack_into(f"<{code}", message, offset, value)
    with pytest.raises(VerifyError if "past" not in words else TruncatedError, match=words) as caught:
        unions().decode(bytes(message))
    assert caught.value.path == path


def test_a_vtable_of_a_union_whose_offset_is_0_is_refused() -> None:
    message = bytearray(UNIONS_MESSAGE)
    struct.pack_into("<HH", message, 8, 4, 0)
    struct.pack_into("<I", message, 16, 0)
    assert "a type but no value" in refusal(unions(), bytes(message))


def refusal(engine: PureEngine, message: bytes) -> str:
    with pytest.raises(DecodeError) as caught:
        engine.decode(message)
    return caught.value.reason


def test_wide_vectors_and_shared_strings_stand_in_the_tail() -> None:
    shared = Node(Op.STRING, Str(), is_shared=True)
    schema = Schema(Ref("R"), (record("R", v=List(Int(16)), a=Str(), b=Str()),))
    places = tuple(
        Place(*place)
        for place in ((0, 1, Missing.REFUSED, "v"), (1, 3, Missing.REFUSED, "a"), (2, 3, Missing.REFUSED, "b"))
    )
    nodes = (
        Node(Op.TABLE, Ref("R"), places=places),
        Node(Op.NUMBERS, List(Int(16)), size=8, item=2, wide_length=True),
        SHORT,
        shared,
    )
    engine = engine_of(Program(schema, nodes, 0, False))
    message = struct.pack(
        "<I 5H2x4x i QII 16x Q2h I2s",
        *(20, 10, 20, 4, 12, 16),  # root at 20; its vtable at 4
        *(16, 56 - 24, 68 - 32, 68 - 36),  # the wide offset first, at a multiple of 8
        *(2, 1, 2),  # a length of 8 bytes, the numbers at 64
        *(1, b"k\0"),  # one string for two fields, at a multiple of 4
    )  # fmt: skip
    value = {"v": [1, 2], "a": "k", "b": "k"}
    assert engine.encode(value) == message
    assert engine.decode(message) == to_value(engine.view(message)) == value
    far = bytearray(message)
    struct.pack_into("<Q", far, 24, 2**64 - 1)
    assert "past the end" in refusal(engine, bytes(far))


def test_a_nested_message_stands_in_the_tail_and_is_whole() -> None:
    schema = Schema(Ref("R"), (Record("R", (Field("n", Optional(Ref("R")), 1, required=False, default=None),)),))
    nodes = (
        Node(Op.TABLE, Ref("R"), places=(Place(0, 1, Missing.NONE, "n", may_lack=True),)),
        Node(Op.NESTED, Ref("R"), item=0),
    )
    engine = engine_of(Program(schema, nodes, 0, True))
    inner = struct.pack("<I HH i", 8, 4, 4, 4)
    message = struct.pack("<I 3H2x iI 40x I", 12, 6, 8, 4, 8, 60 - 16, len(inner)) + inner
    assert engine.encode({"n": {}}) == message
    assert engine.decode(message) == {"n": {"n": None}}
    # What leads out of the nested message is refused, though there are bytes.
    wrong = bytearray(message + inner)
    struct.pack_into("<I", wrong, 64, 20)
    assert "past the end" in refusal(engine, bytes(wrong))
