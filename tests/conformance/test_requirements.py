"""What people run into with the payloads of inference services: twelve requirements, each held for every codec.

====== ===========================================================================================================
1      The source changes after it was encoded: here; what goes on a wire in segments is held by the frame's checksum.
2      A small part keeps a large message alive: here, and `test_copies.py` for what each codec aliases.
3      Dtypes and layouts: here in short, all of them in `test_tensors.py`.
4      Limits before allocation: here, and `test_bombs.py`. Nothing is ever decompressed: 12.
5      No pickle by itself: here.
6      Schemas that change: here and in `test_options_of_codecs.py`; the schema's hash before the body: here, by frames.
7      More than one buffer a message: here, and `test_segments.py`.
8      Single fields and full consumption apart: the harness's, `tests/measure/test_access.py` and `test_plan.py`.
9      Loop lag while a large body is decoded: the harness's, as latency beside other work. A codec has no loop.
10     Objects that the collector has to look at: here; per operation in each result.
11     Templates: here, of the codecs that can patch a message.
12     No compression by itself: here.
====== ===========================================================================================================

The numbers in the names are those of the requirements.
"""

from __future__ import annotations

import ast
import base64
import dataclasses
import gc
import mmap
import pickle
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import ml_dtypes
import numpy as np
import pytest

import zcser
from tests.conformance.laws import BY_ORDER, INFO, KSERVE, assert_same, carriers, codecs, has, param, written
from zcser import registry
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, EncodeError, FrameChecksumError, FrameError
from zcser.core.options import Limits
from zcser.core.view import release, retained_bytes, to_value
from zcser.frame import frame_segments, read_frame
from zcser.header import RecordLayout
from zcser.schema.annotations import Id, Int32
from zcser.schema.model import Bytes, Tensor

LARGE = 1 << 20
OPEN = carriers("json_like")
WRITERS = carriers("json_like", "encode")
SAFE = [param(name) for name, info in INFO.items() if not info.trusted_only]


@dataclasses.dataclass
class Image:
    """Of fixed size, so that every codec carries it."""

    id: Int32
    thumbnail: Annotated[np.ndarray, Tensor("uint8", (4, 4))]
    pixels: Annotated[np.ndarray, Tensor("uint8", (LARGE,))]
    depth: Annotated[np.ndarray, Tensor("float32", (LARGE // 4,))]


def image(seed: int = 1) -> Image:
    rng = np.random.default_rng(seed)
    return Image(
        seed,
        rng.integers(0, 256, (4, 4), np.uint8),
        rng.integers(0, 256, LARGE, np.uint8),
        rng.standard_normal(LARGE // 4, np.float32),
    )


@pytest.mark.parametrize("name", codecs("encode"))
def test_1_what_was_encoded_does_not_change_with_its_source(name):
    codec = registry.codec(name, Image)
    value = image()
    data = codec.encode(value)
    out = bytearray(len(data))
    if has(name, "encode_into"):
        codec.encode_into(value, out)
    value.pixels[:] = 0
    assert_same(codec.decode(data), image())
    if has(name, "encode_into"):
        assert out == data


@pytest.mark.parametrize("name", codecs("encode"))
def test_1_a_frame_whose_source_changed_before_it_was_sent_is_refused(name):
    codec = registry.codec(name, Image)
    value = image()
    pieces = frame_segments(codec, value)
    value.pixels[LARGE // 2] ^= 1
    try:
        found = read_frame(b"".join(pieces)).decode(codec)
    except FrameChecksumError:
        assert has(name, "encode_segments")  # only what aliases can have changed
    else:
        assert_same(found, image())


@pytest.mark.parametrize("name", codecs("view"))
def test_2_a_view_says_what_it_retains_and_a_copy_retains_nothing(name):
    codec = registry.codec(name, Image)
    data = written(name, Image, image())
    region = mmap.mmap(-1, len(data))
    region[:] = data
    view = codec.view(region)
    assert retained_bytes(view) >= 2 * LARGE
    thumbnail = np.array(view.thumbnail)
    release(view)
    assert retained_bytes(view) == 0
    region.close()  # which a view of it would not allow
    assert_same(thumbnail, image().thumbnail)
    assert thumbnail.flags.writeable


@pytest.mark.parametrize("name", codecs())
def test_2_what_decode_copied_retains_no_message(name):
    codec = registry.codec(name, Image)
    data = bytearray(written(name, Image, image()))
    thumbnail = codec.decode(data).thumbnail
    data.clear()  # which an alias of it would not allow
    assert_same(thumbnail, image().thumbnail)
    base = thumbnail
    while getattr(base, "base", None) is not None:
        base = base.base
    assert memoryview(base).nbytes <= 4096


LAYOUTS: dict[str, np.ndarray[Any, Any]] = {
    "bfloat16": np.array([1.5, -2, np.nan, np.inf], ml_dtypes.bfloat16),
    "float8": np.array([[1.5, -2], [0.25, 448]], ml_dtypes.float8_e4m3fn),
    "0-d": np.array(1.5, np.float32),
    "empty": np.zeros((0, 3), np.float32),
    "strided": np.arange(12, dtype=np.int32).reshape(3, 4)[:, ::2],
    "reversed": np.arange(5, dtype=np.int16)[::-1],
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "broadcast": np.broadcast_to(np.float32(1.5), (2, 3)),
    "big-endian": np.arange(4, dtype=">f8"),
    "read-only": np.frombuffer(b"abcdefgh", np.int32),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", codecs("encode"))
def test_3_arrays_come_back_whatever_their_layout(name, layout):
    array = LAYOUTS[layout]
    if name == "kserve" and array.dtype.name not in KSERVE:
        return  # test_tensors.py holds that it is refused, and by what words
    codec = registry.codec(name, Annotated[np.ndarray, Tensor(array.dtype.name, array.shape)])
    found = codec.decode(codec.encode(array))
    assert (found.dtype, found.shape) == (array.dtype.newbyteorder("="), array.shape)
    np.testing.assert_array_equal(found.astype(np.float64), array.astype(np.float64))
    assert found.flags.writeable
    borrowed = codec.decode(codec.encode(array), copy=False)
    assert not borrowed.flags.writeable
    assert np.array(borrowed).flags.writeable  # the copy at hand
    for wrong in (np.array([None]), np.empty(array.shape, object)):
        with pytest.raises(EncodeError):
            codec.encode(wrong)


@pytest.mark.parametrize("name", codecs())
def test_4_a_message_over_the_limit_is_refused_before_anything_is_made_of_it(name):
    data = written(name, Image, image())
    codec = registry.codec(name, Image, limits=Limits(bytes=LARGE))
    with pytest.raises(DecodeError):
        codec.decode(data)  # what is compiled on first use is no part of the message
    for operation in ("decode", "view"):
        if has(name, operation):
            tracemalloc.start()
            try:
                with pytest.raises(DecodeError, match="bytes"):
                    getattr(codec, operation)(data)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert peak < 64 << 10


class Harmful:
    def __reduce__(self):
        raise AssertionError("was pickled")


@pytest.mark.parametrize("name", SAFE)
def test_5_nothing_is_pickled_or_read_as_a_pickle(name, monkeypatch):
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a pickle")

    codec = registry.codec(name, Image)
    stranger = pickle.dumps({"id": 1})
    data = written(name, Image, image())
    for function in ("loads", "load", "dumps", "dump", "Unpickler", "Pickler"):
        monkeypatch.setattr(pickle, function, refuse)
    assert_same(codec.decode(data), image())
    assert_same(codec.decode(data, copy=False), image())
    for operation in ("decode", "view"):
        if has(name, operation):
            with pytest.raises(DecodeError):
                to_value(getattr(codec, operation)(stranger))
    if has(name, "encode"):
        for wrong in (Harmful(), dataclasses.replace(image(), thumbnail=Harmful())):
            with pytest.raises(EncodeError):
                codec.encode(wrong)


def imports_of(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_5_no_codec_but_those_of_pickles_imports_pickle():
    root = Path(zcser.__file__).parent
    layer = [path for part in ("core", "schema", "tree", "flat", "protowire", "header", "avro", "thrift", "arrow", "frame", "codecs") for path in
             (root / part).rglob("*.py")]  # fmt: skip
    assert len(layer) > 100
    users = [path for path in layer if imports_of(path) & {"pickle", "_pickle", "dill", "cloudpickle", "shelve"}]
    assert [path.stem for path in users if path.stem not in {"pickle5", "pickle"}] == []


@dataclasses.dataclass
class Ordered:
    first: Annotated[int, Id(1)]
    second: Annotated[str, Id(2)]
    third: Annotated[list[float], Id(3)]


@dataclasses.dataclass
class Reordered:
    third: Annotated[list[float], Id(3)]
    first: Annotated[int, Id(1)]
    second: Annotated[str, Id(2)]
    added: Annotated[str, Id(4)] = "default"


# pickle goes by the class.
@pytest.mark.parametrize("name", [value for value in OPEN if value.values[0] not in {*BY_ORDER, "pickle"}])
def test_6_fields_are_found_whatever_their_order(name):
    codec = registry.codec(name, Reordered)
    data = written(name, Ordered, Ordered(1, "two", [3.0]))
    expected = Reordered([3.0], 1, "two")
    assert_same(codec.decode(data), expected)
    if has(name, "view"):
        assert_same(to_value(codec.view(data)), expected)


@dataclasses.dataclass
class Renamed:
    number: Int32
    thumbnail: Annotated[np.ndarray, Tensor("uint8", (4, 4))]
    pixels: Annotated[np.ndarray, Tensor("uint8", (LARGE,))]
    depth: Annotated[np.ndarray, Tensor("float32", (LARGE // 4,))]


@pytest.mark.parametrize("name", codecs("encode"))
def test_6_the_schema_of_a_frame_is_checked_before_its_body(name):
    data = bytearray(b"".join(frame_segments(registry.codec(name, Image), image(), checksum=None)))
    data[-2 * LARGE :] = b"\xff" * 2 * LARGE  # a body that no codec reads
    with pytest.raises(FrameError, match="schema"):
        read_frame(data).decode(registry.codec(name, Renamed))


@pytest.mark.parametrize("name", codecs("encode_segments"))
def test_7_each_large_tensor_is_a_buffer_of_its_own(name):
    codec = registry.codec(name, Image)
    value = image()
    segments = codec.encode_segments(value)
    for array in (value.pixels, value.depth):
        inside = [s for s in segments if s.nbytes and address(array) <= address(s) < address(array) + array.nbytes]
        assert sum(segment.nbytes for segment in inside) == array.nbytes
    assert sum(segment.nbytes for segment in segments) >= 2 * LARGE
    assert_same(codec.decode_segments(segments), value)
    assert_same(codec.decode_segments(list(map(bytes, segments)), copy=False), value)


@dataclasses.dataclass
class Token:
    id: int
    text: str


@dataclasses.dataclass
class Step:
    tokens: list[Token]
    counts: dict[str, int]
    blob: Annotated[bytes, Bytes(3)]


def tracked_by(call: Callable[[], Any]) -> int:
    """Objects that the collector has to look at because of what a call gives."""
    call()
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        kept = call()
        after = len(gc.get_objects())
    finally:
        gc.enable()
    del kept
    return after - before


@pytest.mark.parametrize("name", OPEN)
def test_10_decode_makes_the_objects_of_the_value_and_a_view_a_few(name):
    codec = registry.codec(name, Step)
    found = []
    for count in (100, 1000):
        value = Step([Token(n, "text") for n in range(count)], {str(n): n for n in range(count)}, b"abc")
        data = written(name, Step, value)
        # A record, its list and its map; an instance a token, with a dict where the class has no slots.
        assert tracked_by(lambda data=data: codec.decode(data)) <= 2 * count + 20
        if has(name, "view"):
            found.append(tracked_by(lambda data=data: codec.view(data)))
    assert all(number <= 20 for number in found)
    if found:
        assert found[0] == found[1]


@dataclasses.dataclass
class Delta:
    step: Int32
    logprob: float
    done: bool
    text: str


@pytest.mark.parametrize("name", [name for name in registry.names() if name == "flatbuffers"])
def test_11_a_patched_template_is_the_message_of_the_changed_value(name):
    codec = registry.codec(name, Delta)
    template = bytearray(codec.encode(Delta(1, -0.5, False, "text")))
    for step, logprob, done in ((2, -1.25, True), (2**31 - 1, float("nan"), False), (1, -0.5, True)):
        codec.patch(template, "/step", step)
        codec.patch(template, "/logprob", logprob)
        codec.patch(template, "/done", done)
        assert template == codec.encode(Delta(step, logprob, done, "text"))


def test_11_a_field_of_a_record_is_patched_where_it_lies():
    layout = RecordLayout.from_struct("<4sHHQ", "magic version flags trace", name="Head")
    template = bytearray(struct.pack("<4sHHQ", b"ZCR1", 1, 0, 7))
    view = layout.view(template)
    view.trace = 2**64 - 1
    view.flags = 5
    assert template == struct.pack("<4sHHQ", b"ZCR1", 1, 5, 2**64 - 1)


@pytest.mark.parametrize("name", codecs("encode"))
def test_12_the_bytes_of_an_image_are_in_the_message_as_they_are(name):
    # Of zeros, which any compression would show; in text as the base64 that the formats of text have for bytes.
    value = dataclasses.replace(image(), pixels=np.zeros(LARGE, np.uint8))
    data = registry.codec(name, Image).encode(value)
    for array in (value.pixels, value.depth):
        assert array.tobytes() in data or base64.b64encode(array.tobytes()) in data
    assert len(data) >= 2 * LARGE


@dataclasses.dataclass
class Named:
    quux_count: int
    quux_tensor: Annotated[np.ndarray, Tensor("float64", (2,))]


@pytest.mark.parametrize("name", codecs())
def test_messages_without_the_names_of_fields_are_called_keyless(name):
    data = written(name, Named, Named(3, np.ones(2)))
    names = b"quux_count" in data or "quux_count".encode("utf-16-le") in data
    assert INFO[name].keyless == (not names)
