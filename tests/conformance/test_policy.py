"""The policy table of the README: every row, for every codec, against `tests/expected/policy.toml`; and the README's text.

A row has one function here, which finds out what a codec answers. Codecs that only read are asked about what is written
for them, and about texts made by hand.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from tests.conformance import laws
from tests.conformance.laws import INFO, has, read
from tests.conformance.schemas import Branch
from zcser import registry
from zcser.core.errors import DecodeError, EncodeError, SchemaError, ZcserError
from zcser.core.fidelity import equal
from zcser.core.options import Limits
from zcser.schema.annotations import Float32
from zcser.schema.model import Int, Str, Tensor
from zcser.schema.normal import normal

ROOT = Path(__file__).parents[2]
POLICY: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "tests" / "expected" / "policy.toml").read_text())
Text = Annotated[str, Str(16)]
"""Of a size that fixed layouts can hold too; others bound it."""

BESIDE = np.zeros(1, np.uint8)
"""An input, for codecs that carry nothing without one."""


@functools.cache
def _around(schema: Any) -> Any:
    fields = [("value", schema), ("beside", Annotated[np.ndarray, Tensor("uint8", (1,))])]
    return dataclasses.make_dataclass("Around", fields)


def around(name: str, schema: Any) -> Any:
    """The schema that a codec is asked about."""
    return _around(schema) if name == "kserve" else schema


def inside(name: str, schema: Any, value: Any) -> Any:
    return around(name, schema)(value, BESIDE) if name == "kserve" else value


def written(name: str, schema: Any, value: Any) -> bytes:
    return laws.written(name, around(name, schema), inside(name, schema, value))


def encodes(name: str, schema: Any, value: Any, **options: Any) -> str:
    """``"kept"``, ``"changed"`` or ``"refused"``: what becomes of a value; for readers, by what writes for them."""
    try:
        schema, value = around(name, schema), inside(name, schema, value)
        writer = registry.codec(name if has(name, "encode") else "json", schema, **options)
        data = writer.encode(value)
    except EncodeError:
        return "refused"
    return "kept" if equal(read(registry.codec(name, schema), data), normal(schema, value)) else "changed"


def reads(name: str, schema: Any, data: bytes, **options: Any) -> Any:
    """The decoded value, by view too; ``"refused"`` for a `DecodeError`."""
    found = read(registry.codec(name, around(name, schema), **options), data)
    if isinstance(found, DecodeError):
        return "refused"
    return found.value if name == "kserve" else found


def one(answers: set[Any]) -> Any:
    assert len(answers) == 1, answers
    return answers.pop()


def is_json(name: str) -> bool:
    return INFO[name].wire == "json"


def nan(name: str) -> str:
    answers = {encodes(name, float, value) for value in (math.nan, math.inf, -math.inf)}
    if is_json(name):
        answers |= {reads(name, float, token) for token in (b"NaN", b"Infinity", b"-Infinity", b"1e400")}
    return one(answers)


def nan_in_tensor(name: str) -> str:
    bits = np.array([0x7FF0000000000001, 0xFFF8000000000123, 0x7FF0000000000000], np.uint64).view(np.float64)
    schema = Annotated[np.ndarray, Tensor("float64", (3,))]
    found = reads(name, schema, written(name, schema, bits))
    return "kept" if found.view(np.uint64).tolist() == bits.view(np.uint64).tolist() else "changed"


def tensor(name: str) -> str:
    array = np.arange(1, 7, dtype=">u4")
    schema = Annotated[np.ndarray, Tensor("uint32", (6,))]
    data = written(name, schema, array)
    if array.astype("<u4").tobytes() in data:
        return "bytes"
    numbers = registry.codec("json", schema, tensors="numbers").encode(array)
    assert equal(reads(name, schema, numbers), array.astype("<u4"))
    return "base64" if b"base64" in data else "other"


def big_int(name: str) -> str:
    answers = {encodes(name, int, value) for value in (2**63, -(2**63) - 1, 2**64, 2**200)}
    if is_json(name):
        answers |= {reads(name, int, b"%d" % value) for value in (2**63, 2**64, -(2**63) - 1, 10**30)}
    return one(answers)


def any_int(name: str) -> str:
    try:
        return encodes(name, Annotated[int, Int(None)], 10**30)
    except SchemaError:
        return "refused"


def big_int_as_float(name: str) -> str:
    assert reads(name, float, b"1" + b"0" * 400) == "refused"
    # 2**53 + 1 lies half way, and goes to the even one; 2**64 + 2**11 + 1 is just over the middle of its neighbours.
    wanted = {b"9007199254740993": 2.0**53, b"18446744073709553665": 2.0**64 + 2.0**12, b"1" + b"0" * 22: 1e22}
    return "nearest" if all(equal(reads(name, float, text), value) for text, value in wanted.items()) else "changed"


def int_as_float(name: str) -> str:
    assert encodes(name, float, 2**53) == "kept"
    return {"refused": "exact"}.get(encodes(name, float, 2**53 + 1), "changed")


def float32(name: str) -> str:
    assert encodes(name, Float32, 3.5e38) == "refused"
    return "rounded" if reads(name, Float32, written(name, Float32, 0.1)) == float(np.float32(0.1)) else "changed"


def int_keys(name: str) -> str:
    try:
        answers = {encodes(name, dict[int, int], {1: 1, -7: 2}), encodes(name, dict[bool, int], {True: 1, False: 0})}
    except SchemaError:
        return "refused"
    if is_json(name):
        for key in (b"01", b"+1", b"1.0", b" 1"):
            assert reads(name, dict[int, int], b'{"%s":1}' % key) == "refused"
    return one(answers)


def wrong_keys(name: str) -> str:
    wrong: list[tuple[Any, Any]] = [(dict[str, int], {1: 1}), (dict[int, int], {"1": 1}), (dict[int, int], {True: 1})]
    try:
        return one({encodes(name, schema, value) for schema, value in wrong})
    except SchemaError:
        return "no_maps"


def duplicate_keys(name: str) -> str:
    try:
        # In the order of keys: which one stands last must be known.
        writer = registry.codec(name if has(name, "encode") else "json", dict[str, int], deterministic=True)
        data = writer.encode({"qa": 1, "qb": 2})
    except SchemaError:
        return "no_maps"
    assert data.count(b"qb") == 1
    found = reads(name, dict[str, int], data.replace(b"qb", b"qa"))
    return found if found == "refused" else {1: "first", 2: "last"}[found["qa"]]


def lone_surrogate(name: str) -> str:
    answers = {encodes(name, Text, value) for value in ("\ud800", "a\udc00")}
    if is_json(name):
        answers |= {reads(name, Text, text) for text in (b'"\\ud800"', b'"\\udc00\\ud800"')}
    return one(answers)


def utf8(name: str) -> str:
    data = written(name, Text, "q\u00e9z")
    if b"q\xe9z" in data:
        return "latin"
    assert data.count(b"q\xc3\xa9z") == 1
    return one({reads(name, Text, data.replace(b"\xc3\xa9", bad)) for bad in (b"\xc3(", b"\xa9\xa9", b"\xc0\x80")})


def trailing_nul(name: str) -> str:
    return encodes(name, Text, "a\0")


def nested(levels: int) -> Any:
    value: Any = {"name": "", "by_key": {}}
    for _ in range(levels // 2 - 1):
        value = {"name": "", "by_key": {"k": value}}
    return value


def depth(name: str) -> str:
    try:
        assert encodes(name, Branch, nested(100)) == "kept"
    except SchemaError:
        return "no_recursion"
    cycle = nested(2)
    cycle["by_key"]["k"] = cycle
    answers = {encodes(name, Branch, value) for value in (nested(102), nested(3000), cycle)}
    return one(answers | {reads(name, Branch, written(name, Branch, nested(12)), limits=Limits(depth=10))})


def unknown_depth(name: str) -> str:
    def text(levels: int) -> bytes:
        return b'{"name":"","by_key":{},"more":' + b"[" * levels + b"]" * levels + b"}"

    assert reads(name, Branch, text(500)) == {"name": "", "by_key": {}}
    return {"refused": "bounded"}.get(reads(name, Branch, text(100_000)), "endless")


class Old(enum.Enum):
    A = 1
    B = 2
    C = 3


class New(enum.Enum):
    A = 1
    B = 2


class OldName(enum.Enum):
    A = "a"
    B = "b"
    C = "c"


class NewName(enum.Enum):
    A = "a"
    B = "b"


def enums(name: str) -> str:
    answers = set()
    for old, new in ((Old, New), (OldName, NewName)):
        data = written(name, old, old.C)
        if not is_json(name) or old is OldName:
            # The record that a root is wrapped in may carry the enum's name, which must not be what is refused.
            assert reads(name, old, data) is old.C
        answers |= {reads(name, new, data), encodes(name, new, 9)}
    return one(answers)


def bytes_(name: str) -> str:
    data = written(name, Text, "abcdefgh")
    less = Limits(bytes=len(data) - 1)
    assert reads(name, Text, data, limits=Limits(bytes=len(data))) == "abcdefgh"
    return one({reads(name, Text, data, limits=less), encodes(name, Text, "abcdefgh", limits=less)})


def elements(name: str) -> str:
    tight = Limits(elements=9)
    try:
        schema, value = (list[int], [1] * 10) if name == "kserve" else (list[list[int]], [[1] * 4] * 2)
        data = written(name, schema, value)
    except SchemaError:
        return "no_lists"
    answers = {encodes(name, schema, value, limits=tight)}
    return one(answers | {reads(name, schema, data, limits=tight)})


def trailing(name: str) -> str:
    data = written(name, Text, "abc")
    if is_json(name):
        assert reads(name, Text, data + b" \n\t\r") == "abc"
    answer = {"refused": "refused", "abc": "ignored"}[one({reads(name, Text, data + bad) for bad in (b"\0", b"x")})]
    twice = reads(name, Text, data + data)
    return answer if (twice == "refused") == (answer == "refused") else "merged"


def mark(name: str) -> str:
    return one({reads(name, Text, b"\xef\xbb\xbf" + text) for text in (b'"a"', b'\xef\xbb\xbf"a"')})


OBSERVED: dict[str, Callable[[str], Any]] = {
    function.__name__.rstrip("_"): function
    for function in (
        nan, nan_in_tensor, tensor, big_int, any_int, big_int_as_float, int_as_float, float32, int_keys, wrong_keys,
        duplicate_keys, lone_surrogate, utf8, trailing_nul, depth, unknown_depth, enums, bytes_, elements, trailing, mark,
    )
}  # fmt: skip


def test_every_row_is_held_by_a_function_and_every_answer_has_words():
    assert list(OBSERVED) == list(POLICY)
    for row in POLICY.values():
        answers = {row["rule"], *row.get("except", {})}
        assert set(row["words"]) == answers
        assert {codec for codecs in row.get("except", {}).values() for codec in codecs} <= set(registry.names())


@pytest.mark.parametrize("name", list(INFO))
@pytest.mark.parametrize("key", list(POLICY))
def test_a_codec_does_what_the_table_says(key, name):
    row = POLICY[key]
    if row.get("wire", INFO[name].wire) != INFO[name].wire:
        return
    if not has(name, "encode") and "json" not in INFO:
        pytest.skip("nothing writes what this codec reads")
    expected = next((answer for answer, codecs in row.get("except", {}).items() if name in codecs), row["rule"])
    found: Any = "raised"
    with contextlib.suppress(ZcserError):
        found = OBSERVED[key](name)
    assert found == expected


def table() -> str:
    lines = ["| | every codec | except |", "|:---|:---|:---|"]
    for row in POLICY.values():
        others = [
            f"{', '.join(f'`{codec}`' for codec in codecs)}: {row['words'][answer]}"
            for answer, codecs in row.get("except", {}).items()
        ]
        lines.append(f"| {row['what']} | {row['words'][row['rule']]} | {'; '.join(others)} |")
    return "\n".join(lines)


def test_the_table_of_the_readme_is_the_one_that_is_tested():
    readme = (ROOT / "README.md").read_text()
    shown = re.search(r"<!-- table: policy -->\n(.*?)\n<!-- end of table -->", readme, re.DOTALL)
    assert shown is not None
    assert shown[1] == table(), f"put this there:\n{table()}"
