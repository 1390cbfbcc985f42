"""The codecs of Thrift: bytes by hand, another implementation with the emitted IDL, and the library's traps.

Bytes by hand are from Thrift's documents of its two protocols (``thrift-binary-protocol.md``, ``thrift-compact-protocol.md``).
The other implementation is thriftpy2, which parses the IDL itself.
"""

from __future__ import annotations

import dataclasses
import enum
import io
import itertools
from typing import Annotated, Any

import numpy as np
import pytest

pytest.importorskip("thrift", reason="thrift is not installed: pip install 'zcser[thrift]'")

from tests.avro.test_emit import ODD
from tests.conformance.laws import assert_same, encodable, normal_of, read
from tests.conformance.schemas import CASES
from tests.conformance.strategies import samples
from zcser import registry
from zcser.core.errors import DecodeError, EncodeError
from zcser.schema.annotations import Id, Int32, UInt64
from zcser.thrift.emit import emit_thrift

BOTH = ("thrift", "thrift-binary")


@dataclasses.dataclass
class Record:
    a: int
    b: str
    c: Annotated[bool, Id(30)] = True


class Foo(enum.Enum):
    A = 7
    B = -1


class Named(enum.Enum):
    A = "a"
    B = "b"


@pytest.mark.parametrize(
    ("source", "value", "compact", "binary"),
    [
        (int, 3, "16 06 00", "0a 00 01 00 00 00 00 00 00 00 03 00"),
        (Int32, -1, "15 01 00", "08 00 01 ff ff ff ff 00"),
        (UInt64, 2**64 - 1, "16 01 00", "0a 00 01 ff ff ff ff ff ff ff ff 00"),
        (bool, False, "12 00", "02 00 01 00 00"),
        (float, 1.0, "17 00 00 00 00 00 00 f0 3f 00", "04 00 01 3f f0 00 00 00 00 00 00 00"),
        (str, "foo", "18 03 66 6f 6f 00", "0b 00 01 00 00 00 03 66 6f 6f 00"),
        (Foo, Foo.B, "15 01 00", "08 00 01 ff ff ff ff 00"),
        (Named, Named.B, "15 02 00", "08 00 01 00 00 00 01 00"),
        (str | None, None, "00", "00"),
        (list[int], [3, 27], "19 26 06 36 00", "0f 00 01 0a 00 00 00 02 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 1b 00"),
        (dict[bool, str], {True: "a"}, "1b 01 18 01 01 61 00", "0d 00 01 02 0b 00 00 00 01 01 00 00 00 01 61 00"),
        (list[bool | None], [None, True], "19 2c 00 11 00 00", "0f 00 01 0c 00 00 00 02 00 02 00 01 01 00 00"),
        (int | str, "a", "1c 28 01 61 00 00", "0c 00 01 0b 00 02 00 00 00 01 61 00 00"),
        (
            Record,
            Record(-3, "x"),
            "16 05 18 01 78 01 3c 00",
            "0a 00 01 ff ff ff ff ff ff ff fd 0b 00 02 00 00 00 01 78 02 00 1e 01 00",
        ),
    ],
)  # fmt: skip
def test_bytes_are_those_of_the_protocols(source, value, compact, binary):
    for name, data in (("thrift", compact), ("thrift-binary", binary)):
        codec = registry.codec(name, source)
        assert codec.encode(value).hex(" ") == data
        assert_same(codec.decode(bytes.fromhex(data)), value)


def test_a_tensor_is_a_struct_of_dtype_shape_and_data():
    data = registry.codec("thrift", np.ndarray).encode(np.array([[1, 2, 3]], np.uint8))
    assert data == b"\x1c" + b"\x18\x05uint8" + b"\x19\x26\x02\x06" + b"\x18\x03\x01\x02\x03" + b"\0\0"


NUMBERS = itertools.count()
"""Parsed modules are kept by name."""


class Other:
    """thriftpy2, by the emitted IDL."""

    def __init__(self, schema: Any, name: str) -> None:
        thriftpy2 = pytest.importorskip("thriftpy2.parser")
        from thriftpy2.protocol.binary import TBinaryProtocol
        from thriftpy2.protocol.compact import TCompactProtocol

        text = emit_thrift(schema)
        self.module = thriftpy2.load_fp(io.StringIO(text), f"emitted_{next(NUMBERS)}_thrift")
        # The root is the last declaration.
        root = text.rpartition("\nstruct ")[2] if "\nstruct " in text else text.removeprefix("struct ")
        self.root = getattr(self.module, root.split()[0])
        self.protocol = TCompactProtocol if name == "thrift" else TBinaryProtocol

    def read(self, data: bytes) -> Any:
        from thriftpy2.transport import TMemoryBuffer

        found = self.root()
        found.read(self.protocol(TMemoryBuffer(data)))
        return found

    def write(self, struct: Any) -> bytes:
        from thriftpy2.transport import TMemoryBuffer

        buffer = TMemoryBuffer()
        struct.write(self.protocol(buffer))
        return bytes(buffer.getvalue())


@pytest.mark.parametrize(
    ("name", "case"),
    [
        *(("thrift-binary", case) for case in (*CASES, "odd") if case != "unbounded"),
        *(("thrift", case) for case in ("scalars", "lists", "maps", "unions", "optional_lists", "sparse_ids")),
    ],
)
def test_another_implementation_reads_and_writes_the_same_by_the_emitted_idl(name, case):
    schema = ODD if case == "odd" else CASES[case]
    codec = registry.codec(name, schema)
    other = Other(schema, name)
    for _, data in encodable(codec, samples(schema, 8)):
        assert_same(codec.decode(other.write(other.read(data))), codec.decode(data))


def test_another_reader_sees_plain_values():
    other = Other(CASES["scalars"], "thrift-binary")
    codec = registry.codec("thrift-binary", CASES["scalars"])
    for value, data in encodable(codec, samples(codec.schema, 10)):
        expected = dataclasses.asdict(normal_of(codec, value))
        expected["u64"] -= (1 << 64) * (expected["u64"] >= 1 << 63)
        # Of the fields, four have the names of types, and have others in Thrift.
        names = {name: f"{name}_2" if name in {"i8", "i16", "i32", "i64"} else name for name in expected}
        assert_same({name: getattr(other.read(data), there) for name, there in names.items()}, expected)


@dataclasses.dataclass
class Chain:
    next: Chain | None = None


@pytest.mark.parametrize("name", BOTH)
def test_structs_nest_64_deep_in_the_library(name):
    def chain(levels: int) -> Chain:
        found = Chain()
        for _ in range(levels - 1):
            found = Chain(found)
        return found

    codec = registry.codec(name, Chain)
    assert_same(codec.decode(codec.encode(chain(64))), chain(64))
    with pytest.raises(EncodeError, match="recursion depth"):
        codec.encode(chain(65))
    deeper = b"\x1c" * 64 if name == "thrift" else b"\x0c\0\1" * 64
    assert isinstance(read(codec, deeper + b"\0" * 65), DecodeError)


@pytest.mark.parametrize("name", BOTH)
def test_the_replacement_character_is_kept_where_it_was_meant(name):
    codec = registry.codec(name, dict[str, list[str]])
    value = {"\ufffd": ["a\ufffd", "", "\ufffd\ufffd"], "b": ["x" * 100]}
    assert_same(codec.decode(codec.encode(value)), value)
    large = {"b": ["x" * (1 << 20), "\u00e9"]}
    assert_same(codec.decode(codec.encode(large)), large)
    for good in (codec.encode({"q\u00e9": [""]}), codec.encode({"q\u00e9": ["\ufffd"]}), codec.encode(large)):
        assert isinstance(read(codec, good.replace(b"\xc3\xa9", b"\xc3(")), DecodeError)


@pytest.mark.parametrize("name", BOTH)
def test_a_field_of_another_type_is_refused_with_its_name(name):
    @dataclasses.dataclass
    class Text:
        a: int
        b: int

    found = read(registry.codec(name, Text), registry.codec(name, Record).encode(Record(1, "x")))
    assert isinstance(found, DecodeError)
    assert "'b'" in str(found)
    assert found.path == ""
