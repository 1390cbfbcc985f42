"""What schemas from .fbs have besides, in the engine in Python: bytes laid out by hand, views, and the twin in C, which is to
write the same, read the same and refuse the same."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import zcser
from tests.conformance.laws import assert_same
from tests.flat.flat_values import value_of
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, EncodeError, ReleasedViewError, TruncatedError, VerifyError
from zcser.core.options import Limits, Options
from zcser.core.view import RecordView, SequenceView, release, retained_bytes, to_value
from zcser.flat.bfbs import FlatSchema, normaliser_for, program_for
from zcser.flat.layout import Missing
from zcser.flat.program import Choice, Node, Op, Place, Program
from zcser.flat.pure import write as pure_write
from zcser.flat.pure.engine import PureEngine, make_engine
from zcser.schema.model import Field, Int, List, Optional, Record, Ref, Schema, Str, Type
from zcser.schema.normal import Normaliser

# By hand: messages of small programs ------------------------------------------------------------------------------------

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


# All of it: a schema with everything, compiled by flatc -------------------------------------------------------------------

EVERYTHING = """
namespace own;
enum Tint : short { Low = -3, Nil = 0, Mid = 5, High = 300 }
struct Small { a: ubyte; b: ubyte; c: ubyte; }
struct Deep (force_align: 32) { a: ubyte; b: [Tint: 3]; }
struct Wide (force_align: 16) { a: long; t: Tint; d: Small; e: [Small: 2]; }
struct Keyed { x: ubyte; id: uint (key); }
union Mixed { Deep, Wide, Small, Leaf, Text: string }
table Leaf { name: string (shared, key); small: Small; deep: Deep; v: [long] (force_align: 32); }
table Counted { count: ushort = 9 (key); }
table Root {
  flag: bool = true; deep: Deep; wide: Wide; deeps: [Deep]; wides: [Wide]; smalls: [Small]; keyed: [Keyed];
  name: string (shared); title: string (shared); need: Small (required); needu: Mixed (required);
  needs: [Mixed] (required); many: [Mixed]; one: Mixed; leaves: [Leaf]; counted: [Counted];
  aligned: [float] (force_align: 16); blob: [ubyte] (force_align: 32); far: [ubyte] (vector64, force_align: 32);
  fard: [double] (offset64); longs: [long] (vector64); fars: string (offset64); kid: Root;
  nested: [ubyte] (nested_flatbuffer: "Root"); leafnested: [ubyte] (vector64, nested_flatbuffer: "Leaf");
  t: Tint = Mid; tm: Tint = null; last: ubyte;
}
root_type Root;
file_identifier "OWNR";
"""


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "prefixed"])
def schema(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> FlatSchema:
    path = tmp_path_factory.mktemp("fbs") / "own.fbs"
    path.write_text(EVERYTHING)
    try:
        return zcser.load_fbs(path, size_prefixed=request.param)
    except zcser.CodecUnavailableError as error:
        pytest.skip(str(error))


def flat_engine(schema: FlatSchema, make: Callable[..., Any] = make_engine, options: Options | None = None) -> Any:
    options = options or Options()
    normal = normaliser_for(schema, options, codec="flatbuffers")
    return make(program_for(schema), options, codec="flatbuffers", normal=normal)


def twin(schema: FlatSchema, options: Options | None = None) -> Any:
    pytest.importorskip("zcser.native._flat")
    from zcser.flat.native.engine import make_engine as make_native

    return flat_engine(schema, make_native, options)


def values(schema: FlatSchema, count: int) -> Iterator[Any]:
    rng, program = random.Random(5), program_for(schema)
    return (value_of(rng, program, depth=number % 4) for number in range(count))


def test_every_way_to_write_and_to_read_agrees(schema: FlatSchema) -> None:
    engine, other = flat_engine(schema), flat_engine(schema)
    for value in values(schema, 25):
        message, expected = engine.encode(value), zcser.normal(schema, value)
        for scratch in engine._writer._pool:
            scratch.memory[:] = b"\xaa" * len(scratch.memory)
        assert engine.encode(value) == b"".join(engine.encode_segments(value)) == message
        out = bytearray(len(message) + 64)
        start = -address(out) % 64
        assert engine.encode_into(value, out, start) == engine.encoded_size(value) == len(message)
        assert out[start : start + len(message)] == message
        other.verify(message)
        assert_same(other.decode(message), expected)
        assert_same(other.decode(memoryview(b"1234" + message)[4:]), expected)
        assert_same(to_value(other.view(message)), expected)
        assert_same(shown(other.view(message)), expected)


def shown(part: Any) -> Any:
    """What a view shows, step by step."""
    if isinstance(part, RecordView):
        names = part if hasattr(part, "_zc_kind") else part._zc_getters  # of a union, the one option that is there
        return {name: shown(part[name]) for name in names}
    if isinstance(part, SequenceView):
        return [shown(item) for item in part]
    return bytes(part) if isinstance(part, memoryview) else part


@pytest.mark.parametrize("size", [8, 200])
def test_memory_that_grows_changes_nothing(schema: FlatSchema, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = flat_engine(schema)
    monkeypatch.setattr(pure_write, "_SMALLEST", size)
    for value in values(schema, 8):
        small = flat_engine(schema)
        assert small.scratch_size == size
        assert small.encode(value) == expected.encode(value)


def spoiled(value: Any, rng: random.Random) -> Any:
    """A value with one part of another type, or out of range."""
    steps = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    if not steps or rng.random() < 0.1:
        return rng.choice((None, "x", 2**70, -1, {}, [], 1.5, {"Text": "t", "Small": {}}, {"No": 1}, np.int16(3), b""))
    chosen = rng.choice(list(steps))
    changed = spoiled(value[chosen], rng)
    if isinstance(value, dict):
        return {**value, chosen: changed}
    return [changed if index == chosen else item for index, item in enumerate(value)]


def test_the_c_engine_writes_the_same_and_refuses_the_same(schema: FlatSchema) -> None:
    rng = random.Random(11)
    for options in (Options(), Options(strict=True), Options(limits=Limits(depth=5, elements=12, bytes=700))):
        own, engine = flat_engine(schema, options=options), twin(schema, options)
        for value in (*values(schema, 25), *(spoiled(value, rng) for value in values(schema, 25))):
            for name in ("encode", "encode_segments", "encoded_size"):
                assert outcome(getattr(own, name), value) == outcome(getattr(engine, name), value)


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except (EncodeError, DecodeError) as error:
        return type(error), str(error), error.path, getattr(error, "offset", None)


def mutants(messages: Sequence[bytes], rng: random.Random, count: int) -> Iterator[bytes]:
    for _ in range(count):
        message = bytearray(rng.choice(messages))
        for _ in range(rng.choice((1, 1, 2))):
            place = rng.randrange(min(len(message), rng.choice((200, len(message)))))
            match rng.randrange(4):
                case 0:
                    message[place] ^= 1 << rng.randrange(8)
                case 1:
                    message[place] = rng.choice((0, 1, 2, 3, 4, 5, 8, 255))
                case 2:
                    word = rng.choice((0, 4, 2**31, 2**32 - 1, len(message), 2**32 - 1 - rng.randrange(64)))
                    message[place & -4 : (place & -4) + 4] = struct.pack("<I", word)
                case _:
                    other = rng.randrange(len(message))
                    message[place : place + 4] = message[other : other + 4]
        yield bytes(message[: rng.randrange(1, len(message))] if rng.random() < 0.05 else message)


def test_mutants_are_read_alike_or_refused_alike(schema: FlatSchema) -> None:
    limits = Limits(depth=10, elements=300)
    engine, rng = flat_engine(schema, options=Options(limits=limits)), random.Random(7)
    native = twin(schema, Options(limits=limits))
    messages = [flat_engine(schema).encode(value) for value in values(schema, 25)]
    accepted = 0
    for message in mutants(messages, rng, 500):
        found = outcome(engine.decode, message)
        verified, viewed = outcome(engine.verify, message), outcome(lambda data: to_value(engine.view(data)), message)
        if isinstance(found, dict):
            assert verified is None
            assert_same(viewed, found)
            assert_same(native.decode(message), found)
            accepted += 1
        else:
            assert found == verified == viewed == outcome(native.decode, message)
    assert 50 < accepted < 450


def test_unverified_views_answer_from_the_buffer_or_refuse(schema: FlatSchema) -> None:
    engine, rng = flat_engine(schema), random.Random(9)
    messages = [engine.encode(value) for value in values(schema, 15)]
    for message in mutants(messages, rng, 300):
        frame = b"SECRET" * 100 + message + b"SECRET" * 100
        found = outcome(
            lambda data: walked(engine.view(data, verify=False)), memoryview(frame)[600 : 600 + len(message)]
        )
        assert b"SECRET" not in repr(found).encode()


def walked(part: Any, depth: int = 0) -> Any:
    """Everything that a view gives; what is refused is left out."""
    if depth > 12 or not isinstance(part, RecordView | SequenceView):
        return bytes(part) if isinstance(part, memoryview) else part
    steps: Any = part._zc_getters if isinstance(part, RecordView) else range(min(len(part), 9))
    found = []
    for step in steps:
        try:
            found.append(walked(part[step], depth + 1))
        except DecodeError:
            continue
    return found


# Views ------------------------------------------------------------------------------------------------------------------

LEAF = {"name": "b", "small": {"a": 1, "b": 2, "c": 3}, "deep": {"a": 4, "b": [5, 0, -3]}}
ROOT = {
    "need": {"a": 1, "b": 2, "c": 3},
    "needu": {"Leaf": LEAF},
    "needs": [{"Text": "t"}, None, {"Deep": {"a": 7, "b": [300, 5, 0]}}],
    "leaves": [{"name": "a"}, LEAF, {"name": "\u00e9"}],
    "counted": [{"count": 2}, {}, {"count": 40}],
    "keyed": [{"x": 9, "id": 3}, {"x": 8, "id": 2**31}],
    "nested": {"need": {"a": 4, "b": 5, "c": 6}, "needu": {"Text": "u"}, "needs": [], "blob": b"inner"},
    "longs": [1, -2],
}


def test_structs_arrays_and_unions_are_views(schema: FlatSchema) -> None:
    engine = flat_engine(schema)
    view = engine.view(engine.encode(ROOT))
    assert (view["need"]["b"], view["deep"], view["t"], view["tm"], view["flag"]) == (2, None, 5, None, True)
    union = view["needu"]
    assert (list(union), "Leaf" in union, "Deep" in union, union["Deep"]) == (["Leaf"], True, False, None)
    assert union["Leaf"]["deep"]["b"][2] == -3
    assert list(union["Leaf"]["deep"]["b"]) == [5, 0, -3]
    assert [item and list(item) for item in view["needs"]] == [["Text"], None, ["Deep"]]
    assert to_value(view["needs"][2]) == {"Deep": {"a": 7, "b": [300, 5, 0]}}
    assert np.asarray(view["longs"]).tolist() == [1, -2]
    with pytest.raises(KeyError, match=r"not a field of own\.Small"):
        view["need"]["z"]


def test_lists_with_keys_find_items_by_them(schema: FlatSchema) -> None:
    engine = flat_engine(schema)
    view = engine.view(engine.encode(ROOT))
    found = {key: view["leaves"]._zc_lookup(key) for key in ("a", "b", "\u00e9", "", "c", 5)}
    assert {key: leaf and leaf["name"] for key, leaf in found.items()} == {
        "a": "a", "b": "b", "\u00e9": "\u00e9", "": None, "c": None, 5: None,
    }  # fmt: skip
    assert [view["counted"]._zc_lookup(key) is not None for key in (2, 9, 40, 1, "2")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert view["keyed"]._zc_lookup(2**31)["x"] == 8
    assert not hasattr(view["smalls"], "_zc_lookup")


@pytest.mark.parametrize("release_inner", [False, True])
def test_a_nested_message_is_released_with_the_one_around_it(schema: FlatSchema, release_inner: bool) -> None:
    engine, message = flat_engine(schema), flat_engine(schema).encode(ROOT)
    view = engine.view(bytearray(message))
    inner = view["nested"]
    blob = inner["blob"]
    assert to_value(inner) == zcser.normal(schema, ROOT)["nested"]
    assert retained_bytes(inner) == len(message)
    release(inner if release_inner else view)
    for read in (lambda: inner["need"], lambda: view["need"], lambda: to_value(inner), lambda: view["nested"]):
        with pytest.raises(ReleasedViewError):
            read()
    assert bytes(blob) == b"inner"


def test_bytes_of_a_nested_message_alias_the_buffer(schema: FlatSchema) -> None:
    engine, message = flat_engine(schema), flat_engine(schema).encode(ROOT)
    for found in (engine.decode(message, copy=False)["nested"]["blob"], engine.view(message)["nested"]["blob"]):
        assert address(message) <= address(found) < address(message) + len(message)


# Changing scalars in place ------------------------------------------------------------------------------------------------


def set_at(value: Any, steps: Sequence[str | int], new: Any) -> Any:
    """A copy of a value with one part changed."""
    if not steps:
        return new
    step, *rest = steps
    if isinstance(value, list):
        return [set_at(item, rest, new) if index == step else item for index, item in enumerate(value)]
    return {**value, step: set_at(value[step], rest, new)}


@pytest.mark.parametrize(
    ("steps", "new"),
    [
        (("need", "b"), 255),
        (("needu", "Leaf", "deep", "b", 1), 300),
        (("needs", 2, "Deep", "a"), 0),
        (("leaves", 1, "small", "c"), 77),
        (("counted", 2, "count"), 41),
        (("keyed", 0, "x"), 1),
        (("nested", "need", "a"), 200),
        (("longs", 1), -(2**63)),
    ],
    ids=str,
)
def test_a_patched_message_is_the_message_of_the_changed_value(schema: FlatSchema, steps: Any, new: int) -> None:
    engine = flat_engine(schema)
    message = bytearray(engine.encode(ROOT))
    engine.patch(message, steps, new)
    assert message == engine.encode(set_at(ROOT, steps, new))


@pytest.mark.parametrize(
    ("steps", "new", "words", "path"),
    [
        (("need", "b"), 256, "outside", "/need/b"),
        (("need", "b"), "x", "is needed, not str", "/need/b"),
        (("needu", "Leaf", "deep", "b", 1), 4, "not a member", "/needu/Leaf/deep/b/1"),
        (("t",), 5, "the field is not in the message", "/t"),
        (("needu", "Deep", "a"), 5, "the field is not in the message", "/needu/Deep"),
        (("needs", 1, "Text"), 5, "the field is not in the message", "/needs/1"),
        (("needs", 3), 5, "index 3 is outside", "/needs/3"),
        (("leaves", "one"), 5, "a number is needed", "/leaves/one"),
        (("need", "z"), 5, "there is no field 'z'", "/need/z"),
        (("leaves", 0, "name"), "x", "only a bool, a number", "/leaves/0/name"),
        (("need",), {}, "only a bool, a number", "/need"),
        (("nested", "blob", 0), 5, "nothing stands inside", "/nested/blob/0"),
    ],
    ids=str,
)
def test_what_cannot_be_patched_is_refused_and_changes_nothing(
    schema: FlatSchema, steps: Any, new: Any, words: str, path: str
) -> None:
    engine = flat_engine(schema)
    message = bytearray(engine.encode(ROOT))
    before = bytes(message)
    with pytest.raises(EncodeError, match=words) as caught:
        engine.patch(message, steps, new)
    assert (caught.value.path, bytes(message)) == (path, before)
    assert outcome(engine.patch, message, steps, new) == outcome(twin(schema).patch, message, steps, new)


def test_a_patch_looks_at_each_step_of_the_message(schema: FlatSchema) -> None:
    engine, native, rng = flat_engine(schema), twin(schema), random.Random(3)
    ways = [("needu", "Leaf", "deep", "b", 1), ("nested", "need", "a"), ("needs", 2, "Deep", "a"), ("keyed", 1, "id")]
    message = engine.encode(ROOT)
    for mutant, steps in zip(mutants([message], rng, 400), itertools.cycle(ways), strict=False):
        own, other = bytearray(mutant), bytearray(mutant)
        assert outcome(engine.patch, own, steps, 5) == outcome(native.patch, other, steps, 5)
        assert own == other
    with pytest.raises(EncodeError, match="read-only"):
        engine.patch(message, ("need", "b"), 5)
