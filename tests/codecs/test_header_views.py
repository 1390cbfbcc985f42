"""Views of the header codec, and what they keep alive."""

from __future__ import annotations

import dataclasses
import gc
import pickle

import pytest

from tests.codecs.header_samples import (
    FRAME_BYTES,
    SAMPLE,
    SAMPLE_BYTES,
    Frame,
    Phase,
    Sample,
    Unit,
    codec_of,
    frame,
)
from zcser.core.buffers import address
from zcser.core.errors import (
    ReleasedViewError,
)
from zcser.core.fidelity import equal
from zcser.core.view import RecordView, SequenceView, at, release, retained_bytes, to_value


def test_a_view_reads_every_field_where_it_stands():
    codec = codec_of(Sample)
    data = bytearray(SAMPLE_BYTES)
    view = codec.view(data)
    assert isinstance(view, RecordView)
    assert (view.flag, view["count"], view.tag, view.phase, view.unit) == (
        True,
        0x01020304,
        "né",
        Phase.DECODE,
        Unit.SECOND,
    )
    assert (view.mode, view.step, view.total, view.nothing) == ("off", -1, 0.1, None)
    assert bytes(view.digest) == b"\0xy"
    assert view.digest.readonly
    assert (view.point.x, view.point["y"]) == (-2, 1.5)
    assert isinstance(view.points, SequenceView)
    assert (len(view.points), view.points[-1].x, [point.x for point in view.points]) == (2, 4, [3, 4])
    assert list(view.numbers) == [-1, 0, 127]
    assert view.numbers[1:] == [0, 127]
    assert address(view.tensor) == address(data) + 64
    assert not view.tensor.flags.writeable
    assert at(view, "/points/1/x") == 4
    data[4] = 0xFF
    data[40] = 9
    assert view["count"] == 0x010203FF
    assert view.points[1].x == 9
    with pytest.raises(KeyError, match="'cuont' is not a field of Sample"):
        view["cuont"]
    with pytest.raises(IndexError):
        view.points[2]
    assert set(view) == {item.name for item in dataclasses.fields(Sample)}


def test_parts_of_a_view_give_their_value_and_pickle_as_it():
    view = codec_of(Sample).view(SAMPLE_BYTES)
    assert equal(to_value(view), SAMPLE)
    assert equal(to_value(view.point), SAMPLE.point)
    assert equal(to_value(view.points), SAMPLE.points)
    assert equal(to_value(view.points[1]), SAMPLE.points[1])
    assert equal(to_value(view.numbers), SAMPLE.numbers)
    assert equal(pickle.loads(pickle.dumps(view)), SAMPLE)
    assert equal(pickle.loads(pickle.dumps(view.points)), SAMPLE.points)


def test_release_ends_access_through_every_part():
    data = bytearray(SAMPLE_BYTES)
    view = codec_of(Sample).view(data)
    point, points, numbers, tensor, digest = view.point, view.points, view.numbers, view.tensor, view.digest
    assert [retained_bytes(part) for part in (view, point, points)] == [72, 72, 72]
    release(points)
    release(view)
    reads = [
        lambda: view.flag, lambda: view.nothing, lambda: view.tag, lambda: view.tensor, lambda: view.phase,
        lambda: view["point"].x, lambda: point.x, lambda: points[0].x, lambda: len(points), lambda: list(numbers),
        lambda: to_value(view), lambda: to_value(points),
    ]  # fmt: skip
    for read in reads:
        with pytest.raises(ReleasedViewError):
            read()
    assert "released" in repr(view)
    assert "released" in repr(points)
    assert retained_bytes(view) == 0
    assert equal(tensor, SAMPLE.tensor)
    assert bytes(digest) == SAMPLE.digest


@pytest.mark.parametrize("how", ["view", "decode", "decode_segments"])
def test_arrays_lock_the_memory_that_they_alias(how):
    codec = codec_of(Frame)
    data = bytearray(FRAME_BYTES)
    if how == "decode_segments":
        segments = [bytearray(part) for part in codec.encode_segments(frame())]
        array, data = codec.decode_segments(segments, copy=False)["image"], segments[1]
    else:
        array = codec.view(data).image if how == "view" else codec.decode(data, copy=False)["image"]
    gc.collect()
    with pytest.raises(BufferError):
        data.clear()
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True
    del array
    data.clear()
