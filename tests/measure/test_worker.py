"""A codec that gives a wrong result has no time: it has the reason."""

from __future__ import annotations

import json
import os
import pickle

import pytest

from tests.measure.made import TINY, Point, payload
from zcser.core.codec import Codec
from zcser.core.errors import DecodeError, EncodeError, SchemaError, UnsupportedOperation
from zcser.core.options import Options
from zcser.measure import worker
from zcser.measure.bench import MismatchError
from zcser.measure.job import Began, Checked, Ended, Job, Load, Measured
from zcser.native import zcount
from zcser.schema.from_python import schema_of


class Honest(Codec):
    name, format, wire, library = "honest", "JSON", "json", "json"

    @classmethod
    def library_version(cls):
        return "1", "test"

    def encode(self, value):
        return json.dumps([value.name, value.xs]).encode()

    def decode(self, data, *, copy=True):
        return Point(*json.loads(data))


class Rounding(Honest):
    def decode(self, data, *, copy=True):
        name, xs = json.loads(data)
        return Point(name, [float(x) if x == 3 else x for x in xs])


class WrongLoad(Honest):
    def load(self, data):
        return json.loads(data)

    def restore(self, native):
        return Point(native[0] + "!", native[1])


class Moody(Honest):
    def decode(self, data, *, copy=True):
        if not copy:
            raise MemoryError
        return super().decode(data)


def messages(monkeypatch, cls, *operations, check=True):
    codec = cls(schema_of(Point), Options())
    monkeypatch.setattr(worker, "make_codec", lambda *_: (codec, codec))
    todo = Job(
        codec="honest",
        writers=(),
        loads=(Load("points", pickle.dumps(payload(fields=("/name",))), dict.fromkeys(operations, 100_000)),),
        slot=TINY.slot,
        rotation=64,
        prepare_ns=10**9,
        verify_ns=10**9,
        allocations_ns=100_000,
        allocations_op_ns=10**9,
        check=check,
    )
    return list(worker.work(todo))


def test_an_honest_codec_is_checked_and_counted(monkeypatch):
    found = messages(monkeypatch, Honest, "encode", "decode", "read-field")
    assert [type(message) for message in found] == [Began, *[Began, Checked] * 3]
    assert found[2].size.min == len(b'["point 0", []]')
    assert all(message.allocations.calls >= 1 for message in found[2::2])


def test_a_job_that_times_does_nothing_else(monkeypatch):
    found = messages(monkeypatch, Rounding, "encode", "decode", check=False)
    began = [message.operation for message in found if type(message) is Began]
    # The cells have their turns one after the other; how many depends on what a call takes.
    assert began[:3] == [None, "encode", "decode"]
    assert set(began) == {None, "encode", "decode"}
    done = [message for message in found if type(message) is not Began]
    assert {type(message) for message in done} == {Measured}
    assert sorted(message.operation for message in done) == ["decode", "encode"]


def test_a_value_that_comes_back_changed_ends_the_payload_with_the_place(monkeypatch):
    found = messages(monkeypatch, Rounding, "encode", "decode")
    # Value 4 is the first whose list holds a 3.
    assert found[1:] == [
        Ended("points", None, "failed", "value 4 came back changed: at /xs/3: float 3.0 against int 3")
    ]


def test_an_operation_with_a_wrong_result_fails_alone(monkeypatch):
    found = messages(monkeypatch, WrongLoad, "decode", "restore")
    ended = [message for message in found if isinstance(message, Ended)]
    assert [(message.operation, message.status) for message in ended] == [("restore", "failed")]
    assert "at /name" in ended[0].reason
    assert [message.operation for message in found if isinstance(message, Checked)] == ["decode"]


def test_an_error_in_an_operation_is_its_reason(monkeypatch):
    found = messages(monkeypatch, Moody, "decode", "read-field")
    assert Ended("points", "read-field", "failed", "MemoryError") in found
    assert [message.operation for message in found if isinstance(message, Checked)] == ["decode"]


def test_nocopy_that_aliases_nothing_is_the_same_as_decode(monkeypatch):
    (ended,) = [message for message in messages(monkeypatch, Honest, "decode-nocopy") if isinstance(message, Ended)]
    assert (ended.status, ended.reason.split()[0]) == ("unsupported", "copy=False")


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (SchemaError("no unions", path="R/u"), "refused", "no unions (at R/u)"),
        (EncodeError("too big", path="/a"), "refused", "too big (at /a)"),
        (UnsupportedOperation("has no view"), "unsupported", "has no view"),
        (MismatchError("differs"), "failed", "differs"),
        (DecodeError("torn"), "failed", "DecodeError: torn"),
        (ValueError("two\nlines"), "failed", "ValueError: two lines"),
        (ValueError("x" * 1000), "failed", "ValueError: " + "x" * 288),
        (MemoryError(), "failed", "MemoryError"),
    ],
)
def test_errors_become_a_status_and_one_line(error, status, reason):
    assert worker.outcome(error) == (status, reason)


def test_the_counter_is_taken_out_of_what_children_get(monkeypatch):
    library = zcount.load()
    if library is None:
        pytest.skip("the C helper was not built: no compiler at install time")
    monkeypatch.setenv("LD_PRELOAD", f"{library.path} /lib/other.so")
    worker.forget_preload()
    assert os.environ["LD_PRELOAD"] == "/lib/other.so"
    monkeypatch.setenv("LD_PRELOAD", str(library.path))
    worker.forget_preload()
    assert "LD_PRELOAD" not in os.environ
