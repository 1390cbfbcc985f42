"""Content keys: against the layout written down a second time, committed vectors, and the law of equality."""

from __future__ import annotations

import collections
import dataclasses
import enum
import hashlib
import json
import math
import pickle
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zcser
from tests.conformance.laws import INFO, make, messages, parts, row
from tests.conformance.schemas import CASES, Node
from tests.conformance.strategies import samples, tensor, values
from zcser import ContentKey, content_key
from zcser.core.dtypes import NAMES
from zcser.core.errors import CodecUnavailableError, EncodeError
from zcser.core.fidelity import equal, field_names

VECTORS = json.loads((Path(__file__).parents[1] / "expected" / "content_key.json").read_text())


class Kind(enum.Enum):
    TEXT = "text"
    IMAGE = 7


@dataclasses.dataclass
class Prompt:
    text: str
    tokens: list[int]


NAMESPACE = {"np": np, "nan": math.nan, "inf": math.inf, "Kind": Kind, "Prompt": Prompt, "key": content_key}


def length(number: int) -> bytes:
    return struct.pack("<Q", number)


def content(value: Any) -> bytes:
    """The layout at the head of zcser/core/content.py, for plain values."""
    if isinstance(value, enum.Enum):
        return content(value.value)
    if isinstance(value, ContentKey):
        name = value.algorithm.encode()
        return b"k" + length(len(name)) + name + length(len(value.digest)) + value.digest
    if field_names(value) is not None:
        return content({name: getattr(value, name) for name in field_names(value)})
    if value is None or type(value) is bool:
        return {None: b"N", False: b"F", True: b"T"}[value]
    if type(value) is int:
        if -(2**63) <= value < 2**63:
            return b"q" + value.to_bytes(8, "little", signed=True)
        size = value.bit_length() // 8 + 1
        return b"Q" + length(size) + value.to_bytes(size, "little", signed=True)
    if type(value) is float:
        return b"d" + (bytes.fromhex("000000000000f87f") if math.isnan(value) else struct.pack("<d", value))
    if type(value) is str:
        return b"s" + length(len(value.encode())) + value.encode()
    if isinstance(value, bytes | memoryview):
        return b"b" + length(len(bytes(value))) + bytes(value)
    if isinstance(value, np.ndarray):
        name = value.dtype.name.encode()
        bits = value.astype(value.dtype.newbyteorder("<")).tobytes()
        return b"a" + length(len(name)) + name + b"".join(map(length, (value.ndim, *value.shape))) + bits
    if isinstance(value, dict):
        pairs = sorted((content(key), content(item)) for key, item in value.items())
        return b"m" + length(len(pairs)) + b"".join(key + item for key, item in pairs)
    items = [content(item) for item in value]
    for tag, of in ((b"(", b"q"), (b"{", b"d")):
        if items and all(item[:1] == of and len(item) == 9 for item in items):
            return tag + length(len(items)) + b"".join(item[1:] for item in items)
    return b"[" + length(len(items)) + b"".join(items)


def digest(value: Any, salt: bytes = b"") -> str:
    return hashlib.sha256(b"zcser-content-1" + content(salt) + content(value)).hexdigest()


def test_the_committed_vectors_hold_for_ever():
    for vector in VECTORS:
        value, salt = eval(vector["value"], dict(NAMESPACE)), bytes.fromhex(vector["salt"])
        assert content(value).hex() == vector["content"], vector["value"]
        preimage = b"zcser-content-1" + content(salt) + bytes.fromhex(vector["content"])
        assert hashlib.sha256(preimage).hexdigest() == vector["sha256"], vector["value"]
        assert str(content_key(value, salt=salt)) == f"sha256:{vector['sha256']}", vector["value"]
    assert len({vector["sha256"] for vector in VECTORS}) == len(VECTORS) - 1  # [] and () are one


@pytest.mark.parametrize("case", CASES)
def test_keys_are_those_of_the_layout_for_all_kinds_of_values(case):
    for value in samples(CASES[case], 12):
        assert content_key(value).digest.hex() == digest(value)


@pytest.mark.parametrize("case", CASES)
def test_equal_values_have_equal_keys_through_every_codec(case):
    for name in (name for name in INFO if name in row(case)["carry"]):
        codec = (
            make(name, case)
            if not INFO[name].trusted_only
            else zcser.codec(name, CASES[case], allow_untrusted_code=True)
        )
        for data, expected in messages(name, case, 4):
            key = content_key(expected)
            assert content_key(codec.decode(data)) == key
            assert content_key(codec.decode(data, copy=False)) == key
            if "view" in INFO[name].operations:
                assert content_key(codec.view(data)) == key


@pytest.mark.parametrize("case", CASES)
def test_what_normal_changes_makes_no_other_key(case):
    schema = CASES[case]
    for value in samples(schema, 15, loose=True):
        try:
            normal = zcser.normal(schema, value)
        except EncodeError:
            with pytest.raises(EncodeError):
                content_key(value, schema=schema)
        else:
            assert content_key(value, schema=schema) == content_key(normal)


def classless(value: Any) -> Any:
    """A value without the classes of Python that a key does not tell apart."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [classless(item) for item in value]
    if isinstance(value, dict):
        return {key: classless(item) for key, item in value.items()}
    names = field_names(value)
    return value if names is None else {name: classless(getattr(value, name)) for name in names}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([2**63, -(2**63), 2**64, -(2**63) - 1, 0.0, -0.0, 1.0, math.nan, math.inf])
    | st.text("ab\0", max_size=2) | st.binary(max_size=2) | st.sampled_from([np.zeros(shape, dtype) for shape in ((), (0,), (1,), (2,), (2, 0)) for dtype in ("i4", "f4", "u1")]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=1) | st.integers(0, 1) | st.booleans(), inner, max_size=2),
)  # fmt: skip


@given(st.lists(ANYTHING, min_size=2, max_size=8))
def test_keys_are_equal_exactly_where_values_are(found):
    for left in found:
        for right in found:
            assert (content_key(left) == content_key(right)) == equal(left, right)


@pytest.mark.parametrize("case", CASES)
def test_keys_of_values_of_a_schema_are_equal_exactly_where_values_are(case):
    pool = samples(CASES[case])
    for left in pool[:6]:
        for right in pool:
            assert (content_key(left) == content_key(right)) == equal(classless(left), classless(right))


@given(values(CASES["json_like"]), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_count(value, rng):
    def shuffled(part):
        if isinstance(part, dict):
            names = list(part)
            rng.shuffle(names)
            return {name: shuffled(part[name]) for name in names}
        return [shuffled(item) for item in part] if isinstance(part, list) else part

    assert content_key(shuffled(value)) == content_key(value)


def test_values_that_are_easily_taken_for_each_other_have_keys_of_their_own():
    apart = [
        None, False, True, 0, 1, 0.0, -0.0, 1.0, "", b"", "1", b"1", "True", [], {}, [None], {"a": None}, {"a": []}, {"a": ""},
        {"a": {}}, {"": None}, {1: None}, {True: None}, {"1": None}, [1], [1.0], [True], [1, 2], [[1], 2], [[1, 2]], [[], []], [[[]]],
        ["ab", "c"], ["a", "bc"], ["abc"], {"a": "b", "c": "d"}, {"a": "bc", "d": ""}, [2**63], [2**63 - 1], 2**63, -(2**63) - 1,
        [math.nan], math.nan, math.inf, -math.inf, np.zeros(1), np.zeros(1, "f4"), np.zeros(1, "i4"), np.zeros(1, "u4"),
        np.zeros((1, 1)), np.array(0.0), np.array(0), np.zeros(0), np.zeros((0, 1)), np.zeros((1, 0)), np.zeros(0, "i4"),
        np.zeros((2, 3), "u1"), np.zeros((3, 2), "u1"), np.zeros(6, "u1"), bytes(6), [0] * 6, [0.0] * 6, np.zeros(2, "bool"),
        np.zeros(2, "u1"), np.zeros(2, ml_dtypes.bfloat16), np.zeros(2, "f2"), np.zeros(1, "M8[s]"), np.zeros(1, "M8[ms]"),
        np.array([math.nan]), np.array([-math.nan]), content_key(None), content_key(1), content_key(1).digest,
    ]  # fmt: skip
    assert len({content_key(value) for value in apart}) == len(apart)


def test_what_a_wire_does_not_carry_is_not_in_the_key():
    key = content_key({"text": "a", "tokens": [1, 2]})
    same = [
        Prompt("a", [1, 2]),
        {"tokens": (1, 2), "text": "a"},
        collections.OrderedDict(text=np.str_("a"), tokens=[np.int32(1), np.uint8(2)]),
        Prompt("a", [True + 0, enum.IntEnum("N", {"TWO": 2}).TWO]),
    ]
    assert {content_key(value) for value in same} == {key}
    assert content_key(Kind.TEXT) == content_key("text")
    assert (
        len(
            {
                content_key(value)
                for value in (b"ab", bytearray(b"ab"), memoryview(b"a-b-")[::2], memoryview(b"ab").cast("H"))
            }
        )
        == 1
    )
    assert content_key(np.float32(0.1)) == content_key(float(np.float32(0.1)))
    signalling = struct.unpack("<d", (0x7FF0 << 48 | 1).to_bytes(8, "little"))[0]
    assert content_key([-math.nan, signalling]) == content_key([math.nan, math.nan])


@pytest.mark.parametrize("layout", ["read-only", "F", "strided", "reversed", "big-endian"])
def test_a_tensor_has_one_key_in_every_layout(layout):
    for name in NAMES:
        for shape in ((), (0,), (5,), (3, 4), (0, 2), (2, 3, 4)):
            array = tensor(name, shape, 1, layout)
            key = content_key(array)
            assert key.digest.hex() == digest(array)
            assert key == content_key(array.astype(array.dtype.newbyteorder("<"), order="C"))
    wide = np.arange(300_000, dtype=">u4").reshape(300, 1000)[::-1].T[::2]  # several buffers of it
    assert content_key(wide).digest.hex() == digest(wide)


def test_a_big_tensor_is_not_copied_whatever_its_layout():
    array = np.zeros((2048, 4096), np.float32)  # 32 MiB
    schema = zcser.Schema(zcser.schema.model.Tensor())
    for given_ in (array, array.T, array[::-1, ::2], array.astype(">f4"), memoryview(array), array.tobytes()):
        for kwargs in ({}, {"schema": schema}) if isinstance(given_, np.ndarray) else ({},):
            tracemalloc.start()
            content_key([given_] if not kwargs else given_, **kwargs)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < 2 << 20


def test_a_schema_makes_one_key_of_what_it_holds_for_the_same():
    assert content_key({"value": 1, "children": []}) != content_key(Node(1, []))
    assert content_key(1, schema=float) == content_key(1.0) != content_key(1)
    assert content_key(0.1, schema=CASES["root_float"]) == content_key(float(np.float32(0.1)))
    with pytest.raises(EncodeError, match="/children/0") as caught:
        content_key(Node(1, [None]), schema=Node)
    assert caught.value.path == "/children/0"


def test_parts_have_keys_of_their_own_and_one_together():
    pixels = np.zeros((2, 3), np.uint8)
    key = content_key(parts={"text": "hello", "image": pixels}, salt="tenant")
    assert key.parts == {"text": content_key("hello", salt=b"tenant"), "image": content_key(pixels, salt=b"tenant")}
    assert key == content_key(dict(key.parts), salt=b"tenant")
    assert key == content_key(parts=dict(reversed(key.parts.items())), salt=b"tenant")
    assert digest(dict(key.parts), b"tenant") == key.digest.hex()
    others = [
        content_key(parts={"text": "hello", "image": pixels}),
        content_key({"text": "hello", "image": pixels}, salt="tenant"),
        content_key(parts={"text": "hello", "image": pixels.reshape(3, 2)}, salt="tenant"),
        content_key(parts={"text": "hello"}, salt="tenant"),
        content_key(parts={"text": "hello", "image": pixels, "audio": None}, salt="tenant"),
        content_key(parts={"image": "hello", "text": pixels}, salt="tenant"),
    ]
    assert len({key, *others}) == 7
    assert content_key("hello").parts == {}


def test_a_key_of_a_weak_hash_does_not_stand_in_a_key_of_a_strong_one():
    pytest.importorskip("xxhash")
    weak = content_key("image", algorithm="xxh3_128")
    assert content_key([weak], algorithm="xxh3_128").algorithm == "xxh3_128"
    with pytest.raises(EncodeError, match="xxh3_128") as caught:
        content_key(parts={"image": weak})
    assert caught.value.path == "/image"


@pytest.mark.parametrize("algorithm", ["blake3", "xxh3_128"])
def test_other_hashes_take_the_same_content(algorithm):
    module = pytest.importorskip("blake3" if algorithm == "blake3" else "xxhash")
    value = {"a": [1, "x"], "b": np.arange(3000.0)}
    expected = getattr(module, algorithm)(b"zcser-content-1" + content(b"") + content(value)).digest()
    assert content_key(value, algorithm=algorithm) == ContentKey(algorithm, expected)


def test_a_missing_library_is_named_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "blake3", None)
    with pytest.raises(CodecUnavailableError, match=r"pip install 'zcser\[hash\]'"):
        content_key(1, algorithm="blake3")


def test_a_key_is_text_and_back():
    key = content_key(parts={"a": 1})
    assert ContentKey.parse(str(key)) == key
    assert str(key) == f"sha256:{bytes(key).hex()}"
    back = pickle.loads(pickle.dumps(key))
    assert (back, back.parts) == (key, key.parts)
    for wrong in (
        "",
        "sha256",
        "sha256:",
        "sha256:zz",
        "md5:00",
        str(key).upper(),
        str(key)[:-2],
        f"{key} ",
        f"sha256: {bytes(key).hex()}",
    ):
        with pytest.raises(ValueError, match=r"content key|digest|hash|hexadecimal"):
            ContentKey.parse(wrong)


REFUSED = {
    "object": ([1, {"x": [object()]}], "/1/x/0"),
    "set": ({"a": {1}}, "/a"),
    "complex": ([1j], "/0"),
    "class": ([int], "/0"),
    "surrogate": ({"a": {"b": "\ud800"}}, "/a/b"),
    "surrogate in a key": ({"a": {"\ud800": 1}}, "/a"),
    "array of objects": (Prompt("x", [np.zeros(2, object)]), "/tokens/0"),
    "array of records": ([np.zeros(2, "i4,f4")], "/0"),
    "masked array": ([np.ma.zeros(2)], "/0"),
    "key of None": ([{None: 1}], "/0"),
    "two keys of one content": ([{"text": 1, Kind.TEXT: 2}], "/0"),
    "field that is unset": ([object.__new__(Prompt)], "/0/text"),
    "long double": ([1, [np.longdouble("1.1")]], "/1/0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_content_is_refused_with_its_path(case):
    value, path = REFUSED[case]
    if case == "long double" and np.dtype(np.longdouble).itemsize == 8:
        pytest.skip("a long double is a double here")
    with pytest.raises(EncodeError) as caught:
        content_key(value)
    assert caught.value.path == path
    assert "\n" not in str(caught.value)


def test_depth_is_bounded_as_in_codecs():
    inside: list[Any] = []
    inside.append(inside)
    for value in (inside, {"a": inside}, Node(1, inside)):
        with pytest.raises(EncodeError, match=r"limits\.depth"):
            content_key(value)
    deep: Any = None
    for _ in range(100):
        deep = [deep]
    assert content_key(deep).digest.hex() == digest(deep)
    with pytest.raises(EncodeError):
        content_key([deep])
    assert content_key([deep], limits=zcser.Limits(depth=101)).digest.hex() == digest([deep])


def test_arguments_that_do_not_go_together_are_refused():
    for wrong in (content_key, lambda: content_key(1, parts={}), lambda: content_key(parts={}, schema=int)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="md5"):
        content_key(1, algorithm="md5")


def test_the_key_is_the_same_in_a_process_with_another_hash_seed():
    script = "import zcser; print(zcser.content_key({'b': {'x': 1.5, 'y': [1, None]}, 'a': True}, salt='s'))"
    done = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONHASHSEED": "77"}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"sha256:{digest({'a': True, 'b': {'y': [1, None], 'x': 1.5}}, b's')}"


@pytest.mark.further
def test_the_samples_hold_every_kind():
    seen = {type(part) for case in CASES.values() for value in samples(case, 12) for part in parts(value)}
    assert {type(None), bool, int, float, str, bytes, list, tuple, dict, np.ndarray} <= seen
