"""What the C engine reads and refuses: the same as the verifier and the official codec do."""

from __future__ import annotations

import abc
import dataclasses
import enum
import itertools
import random
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NotRequired, TypedDict

import msgspec
import numpy as np
import pytest

from tests.conformance.laws import make
from tests.conformance.schemas import CASES
from tests.conformance.strategies import samples
from tests.flat import test_verify
from tests.flat.test_verify import *  # noqa: F403 - the laws of the verifier, held by the engine too
from zcser.codecs.flatbuffers_official import FlatbuffersOfficialCodec
from zcser.core.errors import DecodeError, SchemaError, VerifyError
from zcser.core.fidelity import difference
from zcser.core.options import Limits, Options
from zcser.flat.plan import layout_of
from zcser.flat.program import program_of
from zcser.flat.verify import Verifier
from zcser.schema.annotations import Id
from zcser.schema.from_python import schema_of
from zcser.schema.model import Schema
from zcser.schema.normal import normal

pytest.importorskip("zcser.native._flat")

from zcser.flat.native.engine import make_engine


def engine_of(source: Any, **options: Any) -> Any:
    program = program_of(layout_of(schema_of(source)))
    return make_engine(program, Options(**options), codec="flatbuffers", normal=lambda value: value)


def official(source: Any) -> FlatbuffersOfficialCodec[Any]:
    return FlatbuffersOfficialCodec(schema_of(source), Options())


@pytest.fixture(autouse=True)
def engine_verifies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the tests of `test_verify` with an engine in place of the verifier."""

    def verifier(source: Any, limits: Limits | None = None, *, refuse_unknown: bool = False) -> Callable[[Any], None]:
        engine = engine_of(source, limits=limits or Limits(), unknown_fields="refuse" if refuse_unknown else "drop")

        def check(message: Any) -> None:
            found = outcome(engine.verify, message)
            assert place(outcome(engine.decode, message)) == place(found)
            if isinstance(found, DecodeError):
                raise found

        return check

    monkeypatch.setattr(test_verify, "verifier", verifier)


def outcome(read: Callable[..., Any], *args: Any) -> Any:
    try:
        return read(*args)
    except DecodeError as error:
        return error


def place(found: Any) -> Any:
    """What an error says of the place; nothing of a value."""
    return (type(found), found.path, found.offset) if isinstance(found, DecodeError) else None


def carried() -> Iterator[tuple[str, Schema]]:
    for name, schema in CASES.items():
        try:
            layout_of(schema)
        except SchemaError:
            continue
        yield name, schema


def mutant(rng: random.Random, message: bytes) -> bytes:
    changed = bytearray(message)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(changed))
        kind = rng.randrange(4)
        if kind == 0:
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            changed[at] = rng.choice((0, 1, 4, 127, 128, 255))
        elif kind == 2 and len(changed) >= at // 4 * 4 + 4:
            numbers = (0, 1, 4, 8, len(changed) - at // 4 * 4, 2**31, 2**32 - 1, rng.randrange(len(changed)))
            struct.pack_into("<I", changed, at // 4 * 4, rng.choice(numbers))
        elif kind == 3 and rng.random() < 0.2:
            del changed[max(at, 1) :]
    return bytes(changed)


@pytest.mark.parametrize("name", [name for name, _ in carried()])
def test_values_are_those_of_the_official_codec(name: str) -> None:
    engine, other = engine_of(CASES[name]), make("flatbuffers-official", name)
    for value in samples(CASES[name], 12):
        message = other.encode(value)
        assert difference(engine.decode(message), normal(CASES[name], value)) is None
        for copy in (True, False):
            expected = other.decode(message, copy=copy)
            for data in (message, bytearray(message), memoryview(b"x" + message)[1:]):
                assert difference(engine.decode(data, copy=copy), expected) is None


@pytest.mark.parametrize("refuse", [False, True])
@pytest.mark.parametrize("name", [name for name, _ in carried()])
def test_changed_messages_are_refused_as_the_verifier_refuses_them(name: str, refuse: bool) -> None:
    unknown = "refuse" if refuse else "drop"
    engine, rng = engine_of(CASES[name], unknown_fields=unknown), random.Random(name)
    other = make("flatbuffers-official", name)
    verify = Verifier(program_of(layout_of(CASES[name])), Limits(), refuse_unknown=refuse, codec="flatbuffers")
    messages = [message for value in samples(CASES[name], 12) if len(message := other.encode(value)) < 20_000]
    for _ in range(40):
        message = mutant(rng, rng.choice(messages))
        expected = outcome(verify, message)
        for found in (outcome(engine.verify, message), outcome(engine.decode, message)):
            assert place(found) == place(expected), message


EDGES = (
    0x00,
    0x7F,
    0x80,
    0x8F,
    0x90,
    0x9F,
    0xA0,
    0xBF,
    0xC0,
    0xC1,
    0xC2,
    0xDF,
    0xE0,
    0xED,
    0xEF,
    0xF0,
    0xF4,
    0xF5,
    0xFF,
)
"""The bytes where Python's strict decoder changes its mind."""


def utf8_or_reason(text: bytes) -> tuple[str | None, str]:
    try:
        return text.decode(), ""
    except UnicodeDecodeError as error:
        return None, error.reason


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_strings_are_utf8_where_python_decodes_them(step: int) -> None:
    message = bytearray(official(str).encode("x" * 16))
    at, engine = message.index(b"x"), engine_of(str)
    three = itertools.product(EDGES, EDGES, EDGES)
    four = itertools.product((0xE1, 0xF0, 0xF1, 0xF4, 0xF5), EDGES, EDGES, EDGES)
    for number, piece in enumerate(map(bytes, itertools.islice(itertools.chain(three, four), 0, None, step))):
        shift = number % 13  # inside and across words of 8 bytes, and at the end
        message[at : at + 16] = (b"x" * shift + piece).ljust(16, b"x")
        expected, reason = utf8_or_reason(bytes(message[at : at + 16]))
        for data in (bytes(message), message):
            found, checked = outcome(engine.decode, data), outcome(engine.verify, data)
            if expected is None:
                assert found.reason == checked.reason == f"a string is not UTF-8: {reason}"
            else:
                assert found == expected
                assert checked is None


# How objects are made -------------------------------------------------------------------------------------------------


@dataclasses.dataclass(slots=True)
class Slotted:
    late: Annotated[str, Id(3)]
    early: Annotated[int, Id(1)]
    middle: Annotated[float, Id(2)]


@dataclasses.dataclass
class Open:
    late: Annotated[str, Id(3)]
    early: Annotated[int, Id(1)]
    middle: Annotated[float, Id(2)]


@dataclasses.dataclass(frozen=True)
class Frozen:
    late: Annotated[str, Id(3)]
    early: Annotated[int, Id(1)]
    middle: Annotated[float, Id(2)]


@dataclasses.dataclass
class Counting:
    late: Annotated[str, Id(3)]
    early: Annotated[int, Id(1)]
    middle: Annotated[float, Id(2)]

    def __post_init__(self) -> None:
        self.calls = getattr(self, "calls", 0) + 1


@dataclasses.dataclass(kw_only=True)
class Keywords:
    late: Annotated[str, Id(3)]
    early: Annotated[int, Id(1)]
    middle: Annotated[float, Id(2)]


class Struct(msgspec.Struct):
    late: Annotated[str, Id(3)]
    early: Annotated[int, Id(1)]
    middle: Annotated[float, Id(2)]


class Dict(TypedDict):
    late: Annotated[str, Id(3)]
    absent: Annotated[NotRequired[int], Id(4)]
    early: Annotated[int, Id(1)]
    middle: Annotated[float, Id(2)]


@pytest.mark.parametrize("cls", [Slotted, Open, Frozen, Counting, Keywords, Struct])
def test_fields_whose_ids_are_out_of_order_reach_their_places(cls: Any) -> None:
    value = cls(late="text", early=7, middle=0.5)
    found = engine_of(cls).decode(official(cls).encode(value))
    assert type(found) is cls
    assert found == value
    if hasattr(value, "__dict__"):
        assert list(vars(found).items()) == list(vars(value).items())


def test_a_dict_has_its_keys_in_the_order_of_the_record() -> None:
    found = engine_of(Dict).decode(official(Dict).encode({"early": 7, "middle": 0.5, "late": "text"}))
    assert list(found.items()) == [("late", "text"), ("early", 7), ("middle", 0.5)]


@dataclasses.dataclass
class Picky:
    number: int

    def __post_init__(self) -> None:
        if self.number < 0:
            raise OSError("no such number")


def test_what_a_constructor_raises_is_the_cause_of_a_decode_error() -> None:
    value = Picky(1)
    value.number = -1
    with pytest.raises(DecodeError, match="cannot be read: no such number") as caught:
        engine_of(list[Picky]).decode(official(list[Picky]).encode([Picky(1), value]))
    assert isinstance(caught.value.__cause__, OSError)


def test_an_abstract_class_is_not_made() -> None:
    @dataclasses.dataclass
    class Concrete:
        number: int

    @dataclasses.dataclass
    class Abstract(abc.ABC):
        number: int

        @abc.abstractmethod
        def method(self) -> None: ...

    message = official(Concrete).encode(Concrete(1))
    with pytest.raises(DecodeError, match="abstract"):
        engine_of(Abstract).decode(message)


# Buffers --------------------------------------------------------------------------------------------------------------


class Letter(enum.IntEnum):
    A = 5
    B = -1


@dataclasses.dataclass
class Parts:
    blob: bytes
    tensor: np.ndarray
    letters: list[Letter]


PARTS = Parts(b"0123456789", np.arange(6, dtype="<i4").reshape(2, 3), [Letter.B, Letter.A])


def test_copies_are_owned_and_writable() -> None:
    data = bytearray(official(Parts).encode(PARTS))
    found = engine_of(Parts).decode(data)
    data[:] = bytes(len(data))
    assert found.blob == PARTS.blob
    assert type(found.blob) is bytes
    assert (found.tensor == PARTS.tensor).all()
    assert found.tensor.flags.writeable
    assert found.tensor.flags.owndata


@pytest.mark.parametrize("shift", [0, 4])  # an unaligned tensor is copied; the conformance suite shows it
def test_aliases_show_the_buffer_and_are_read_only(shift: int) -> None:
    message = official(Parts).encode(PARTS)
    data = bytearray(bytes(shift) + message)
    found = engine_of(Parts).decode(memoryview(data)[shift:], copy=False)
    assert found.blob.readonly
    assert not found.tensor.flags.writeable
    with pytest.raises(BufferError):
        data.append(0)
    data[data.index(b"0123456789")] = ord("x")
    assert bytes(found.blob) == b"x123456789"
    at = data.index(PARTS.tensor.tobytes())
    data[at : at + 4] = (99).to_bytes(4, "little")
    assert found.tensor[0, 0] == 99


@pytest.mark.parametrize("data", [None, 5, "text", memoryview(b"abcd" * 9)[::2], np.array([None])])
def test_what_is_no_buffer_is_a_decode_error(data: Any) -> None:
    engine = engine_of(Parts)
    for read in (engine.decode, engine.verify):
        assert isinstance(outcome(read, data), DecodeError)


def test_arguments_are_checked() -> None:
    engine = engine_of(int)
    for call in (engine.decode, lambda: engine.decode(b"", True), lambda: engine.decode(b"", size=1)):
        with pytest.raises(TypeError):
            call()


def test_a_buffer_that_changes_meanwhile_gives_a_value_or_an_error() -> None:
    source = dict[str, list[str]]
    data = bytearray(official(source).encode({f"key {n}": [f"text {n}"] * (n % 5) for n in range(200)}))
    original, engine, rng = bytes(data), engine_of(source), random.Random(1)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            at = rng.randrange(len(data))
            data[at] = rng.randrange(256)
            data[at] = original[at]

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(300):
            found = outcome(engine.decode, data)
            assert isinstance(found, dict | DecodeError)
    finally:
        stop.set()
        changer.join()


def test_a_limit_of_the_message_as_a_whole_has_no_place_inside() -> None:
    error = outcome(engine_of(int, limits=Limits(bytes=8)).decode, bytes(16))
    assert isinstance(error, VerifyError)
    assert (error.path, error.offset) == (None, None)
