"""What the tests of this folder share: the codecs, the expected table, and the laws as assertions.

1. A cell is a codec and a case of `CASES` that the table says it must carry.
2. Expected values come from `normal`, which has tests of its own with values worked out by hand.
3. A codec may refuse a value that `normal` accepts only for a reason that stands in `REFUSALS`, and only where the value
   has what the reason names.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conformance.schemas import CASES
from tests.conformance.strategies import POOL, plain, samples
from zcser import registry
from zcser.core.codec import Codec, CodecInfo
from zcser.core.errors import CodecUnavailableError, DecodeError, EncodeError
from zcser.core.fidelity import difference
from zcser.core.view import MapView, RecordView, SequenceView, View, to_value
from zcser.schema.model import List, Map, Optional, Ref, Schema, Tensor, Type, Union
from zcser.schema.normal import normal

EXPECTED = tomllib.loads((Path(__file__).parents[1] / "expected" / "kinds.toml").read_text())

BY_ORDER = frozenset({"avro"})
"""Codecs whose messages do not say which fields they hold: no schema but that of the writer reads them."""

_FOUND = registry.available()
MISSING = {name: str(found) for name, found in _FOUND.items() if isinstance(found, CodecUnavailableError)}
INFO = {name: found for name, found in _FOUND.items() if isinstance(found, CodecInfo)}


def param(name: str, *values: Any) -> Any:
    """A parameter set of a codec, skipped with the pip command where the codec's library is missing."""
    marks = [pytest.mark.skip(reason=MISSING[name])] if name in MISSING else []
    return pytest.param(name, *values, marks=marks, id="-".join((name, *map(str, values))))


def row(case: str) -> dict[str, Any]:
    """The table's row of a case."""
    return {**EXPECTED["default"], **EXPECTED.get("cases", {}).get(case, {})}


def has(name: str, operation: str) -> bool:
    """Whether a codec has an operation. A missing codec counts as having it, so that its tests show as skipped."""
    return name not in INFO or operation in INFO[name].operations


def codecs(operation: str = "decode") -> list[Any]:
    """Parameters: every registered codec that has an operation."""
    return [param(name) for name in registry.names() if has(name, operation)]


def carriers(case: str, operation: str = "decode") -> list[Any]:
    """Parameters: every codec that the table expects to carry a case, of those that have an operation."""
    return [value for value in codecs(operation) if value.values[0] in row(case)["carry"]]


def cells(operation: str = "decode", *, cases: tuple[str, ...] = tuple(CASES)) -> list[Any]:
    """Parameters: every (codec, case) that the table expects, of the codecs that have an operation."""
    return [
        param(name, case)
        for case in cases
        for name in registry.names()
        if has(name, operation) and name in row(case)["carry"]
    ]


@functools.cache
def make(name: str, case: str, **options: Any) -> Codec[Any]:
    """The codec of a case; one object for all tests, as codecs are immutable."""
    return registry.codec(name, CASES[case], **options)


@functools.cache
def writer_of(name: str) -> str | None:
    """The codec itself where it encodes, else one that writes its wire; None where none is installed."""
    if "encode" in INFO[name].operations:
        return name
    wire = INFO[name].wire
    return next((other for other, info in INFO.items() if info.wire == wire and "encode" in info.operations), None)


def writer(name: str, case: str) -> Codec[Any]:
    """A codec of a case that writes what the named codec reads."""
    other = writer_of(name)
    if other is None:
        pytest.skip(f"no codec that writes the wire of {name} is installed")
    return make(other, case)


def written(name: str, schema: Any, value: Any) -> bytes:
    """Bytes of a value that the named codec reads, whatever writes them."""
    other = writer_of(name)
    if other is None:
        pytest.skip(f"no codec that writes the wire of {name} is installed")
    return registry.codec(other, schema).encode(value)


def messages(name: str, case: str, count: int = POOL) -> list[tuple[bytes, Any]]:
    """The first `count` samples of a case, encoded, and their normal forms; without those that the wire may refuse."""
    return [pair for pair in _messages(writer(name, case).name, case)[:count] if pair is not None]


@functools.cache
def _messages(writer_name: str, case: str) -> list[tuple[bytes, Any] | None]:
    encoder = make(writer_name, case)
    found: list[tuple[bytes, Any] | None] = []
    for value in samples(CASES[case]):
        expected = normal_of(encoder, value)
        data = encoded(encoder, value)
        if isinstance(data, EncodeError):
            assert_refusal_is_expected(encoder, expected, data)
            found.append(None)
        else:
            found.append((data, expected))
    return found


def encoded(codec: Codec[Any], value: Any) -> bytes | EncodeError:
    """The bytes of a value, or the refusal."""
    try:
        data = codec.encode(value)
    except EncodeError as error:
        return error
    assert type(data) is bytes
    return data


def encodable(codec: Codec[Any], values: tuple[Any, ...]) -> list[tuple[Any, bytes]]:
    """The values that a codec encodes, with their bytes."""
    pairs = [(value, encoded(codec, value)) for value in values]
    return [(value, data) for value, data in pairs if isinstance(data, bytes)]


def normal_of(codec: Codec[Any], value: Any) -> Any:
    """The normal form of a value; EncodeError where it does not fit the schema."""
    return normal(codec.schema, value, strict=codec.options.strict)


# What a wire has no form for, by codec: a word of the reason, and what a value must hold to be refused for it.
def _not_finite(value: Any) -> bool:
    return type(value) is float and not math.isfinite(value)


def _holds_nul(value: Any) -> bool:
    return type(value) is str and "\0" in value


def _ends_in_nul(value: Any) -> bool:
    return type(value) is str and value.endswith("\0")


def _has_no_datatype(value: Any) -> bool:
    # The table of the protocol's own document, and Triton's BF16.
    return isinstance(value, np.ndarray) and value.dtype.name not in KSERVE


KSERVE = {
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16",
}  # fmt: skip


REFUSALS: dict[str, tuple[tuple[str, Callable[[Any], bool]], ...]] = {
    "json": (("no form", _not_finite),),
    "orjson": (("no form", _not_finite),),
    "msgspec-json": (("no form", _not_finite),),
    "safetensors": (("no form", _not_finite),),
    "kserve": (("no form", _not_finite), ("no datatype", _has_no_datatype)),
    "header": (("NUL", _ends_in_nul),),
    "ujson": (("no form", _not_finite),),
    "bson": (("NUL", _holds_nul),),
}


def assert_refusal_is_expected(codec: Codec[Any], expected: Any, error: EncodeError) -> None:
    """Fail unless an `EncodeError` for a value that `normal` accepts is one that the wire cannot help."""
    for word, holds in REFUSALS.get(codec.name, ()):
        if word in error.reason and any(map(holds, parts(expected))):
            assert error.path is not None
            assert error.codec == codec.name
            return
    raise AssertionError(f"{codec.name} refused {expected!r:.200}") from error


def parts(value: Any) -> Iterator[Any]:
    """A value and everything inside it, arrays left whole."""
    yield value
    if isinstance(value, list | tuple):
        inside: Any = value
    elif isinstance(value, dict):
        inside = [*value, *value.values()]
    elif dataclasses.is_dataclass(value):
        inside = [getattr(value, item.name) for item in dataclasses.fields(value)]
    else:
        inside = [getattr(value, name) for name in getattr(value, "__struct_fields__", ())]
    for part in inside:
        yield from parts(part)


def assert_same(found: Any, expected: Any) -> None:
    """Fail with the first difference unless two values are equal under the law of fidelity."""
    assert difference(found, expected) is None, difference(found, expected)


def assert_round_trip(codec: Codec[Any], value: Any) -> None:
    """The law of fidelity for one value."""
    found = encoded(codec, value)
    try:
        expected, refusal = normal_of(codec, value), None
    except EncodeError as error:
        expected, refusal = None, error
    if refusal is not None:
        assert isinstance(found, EncodeError), f"took what does not fit: {refusal}"
        assert found.codec == codec.name
        if not any(word in found.reason for word, _ in REFUSALS.get(codec.name, ())):
            assert found.path == refusal.path, f"{found} against {refusal}"
    elif isinstance(found, EncodeError):
        assert_refusal_is_expected(codec, expected, found)
    else:
        assert_same(codec.decode(found), expected)


def assert_shows(view: Any, value: Any, schema: Schema, type_: Type) -> None:
    """Fail unless a view (or what a view gives for a field) shows a decoded value, part by part."""
    match type_:
        case Optional():
            assert (view is None) == (value is None)
            if value is not None:
                assert_shows(view, value, schema, type_.item)
        case Union():
            option = next(option for option in type_.options if type(value) is schema.python_type(option))
            assert_shows(view, value, schema, option)
        case Ref():
            _assert_record_shows(view, value, schema, type_)
        case List():
            assert isinstance(view, SequenceView)
            assert len(view) == len(value)
            for index, item in enumerate(value):
                assert_shows(view[index], item, schema, type_.item)
            for shown, item in zip(view, value, strict=True):
                assert_shows(shown, item, schema, type_.item)
        case Map():
            assert isinstance(view, MapView)
            assert len(view) == len(value)
            assert {(type(key), key) for key in view} == {(type(key), key) for key in value}
            for key, item in value.items():
                assert key in view
                assert_shows(view[key], item, schema, type_.value)
        case Tensor():
            assert isinstance(view, np.ndarray)
            assert not view.flags.writeable
            assert_same(view, value)
        case _ if type(value) is bytes:
            assert type(view) is memoryview
            assert view.readonly
            assert bytes(view) == value
        case _:
            assert_same(view, value)


def _assert_record_shows(view: Any, value: Any, schema: Schema, type_: Ref) -> None:
    assert isinstance(view, RecordView)
    for item in schema.resolve(type_).fields:
        if isinstance(value, dict) and item.name not in value:
            assert view[item.name] is None
            assert item.name not in view
            continue
        part = value[item.name] if isinstance(value, dict) else getattr(value, item.name)
        shown = view[item.name]
        if item.has_default and not isinstance(shown, View | np.ndarray):
            # Where the message lacks the field there is nothing to be a view of.
            assert_same(plain(shown), part)
        else:
            assert_shows(shown, part, schema, item.type)
        if isinstance(value, dict):
            assert item.name in view


def read(codec: Codec[Any], data: Any) -> Any:
    """The law of hostile bytes for one input: the decoded value, or the `DecodeError` that both decode and view give."""
    value: Any
    try:
        value = codec.decode(data)
    except DecodeError as error:
        value = error
    if isinstance(value, DecodeError):
        assert value.codec == codec.name
        if has(codec.name, "view"):
            with pytest.raises(DecodeError):
                to_value(touched(codec.view(data)))
        return value
    assert_same(normal(codec.schema, value, strict=True), value)
    if has(codec.name, "view"):
        view = codec.view(data)
        assert_shows(view, value, codec.schema, codec.schema.root)
        assert_same(to_value(view), value)
    return value


def touched(view: Any) -> Any:
    """A view, after all that can be read through it was read: each part is there, or is a `DecodeError`."""
    steps: Any = ()
    if isinstance(view, RecordView):
        steps = view._zc_getters
    elif isinstance(view, SequenceView):
        steps = range(min(len(view), 50))
    elif isinstance(view, MapView):
        steps = list(view)[:50]
    for step in steps:
        with contextlib.suppress(DecodeError):
            touched(view[step])
    return view
