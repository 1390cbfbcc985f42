"""What the C encoder makes of values that change while it encodes, that fail, or that do not fit."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Any, NotRequired, TypedDict

import numpy as np
import pytest

from tests.flat.native_encode import Blobs, blobs, engine, read
from zcser.core.errors import EncodeError
from zcser.core.options import Limits


class Node(TypedDict):
    items: list[Node]


class Counted(TypedDict):
    number: int
    more: NotRequired[int]


# While it encodes ------------------------------------------------------------------------------------------------------


def hooked(hook: Callable[[Any], Any]) -> Any:
    """A class of `Blobs`' form, whose third attribute calls a function before it gives the list."""

    @dataclasses.dataclass
    class Hooked:
        blob: bytes
        array: np.ndarray
        names: list[str]
        counts: dict[str, int]

    def get(self: Any) -> Any:
        hook(self)
        return self.__dict__["names"]

    Hooked.names = property(get, lambda self, value: self.__dict__.update(names=value))  # type: ignore[assignment]
    return Hooked


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.__dict__.update(blob=b"", counts={}),
        lambda value: value.counts.clear(),
        lambda value: value.counts.update(new=2),
        lambda value: value.__dict__["names"].append("c"),
        lambda value: value.__dict__["names"].clear(),
        lambda value: value.__dict__.pop("blob", None),
    ],
)
def test_a_value_that_changes_meanwhile_is_written_as_it_is_at_some_moment_or_refused(change):
    cls = hooked(change)
    value = cls(b"b" * 300, np.arange(3), ["a", "b"], {"k": 1})
    try:
        message = engine(cls).encode(value)
    except EncodeError:
        return
    found = read(cls, message)
    assert found.blob in (b"b" * 300, b"")
    assert found.__dict__["names"][:2] in (["a", "b"], [])
    assert set(found.counts) <= {"k", "new"}


def test_a_list_that_becomes_shorter_is_written_as_it_has_become():
    rows: list[Any] = []
    cls = hooked(lambda _value: rows.pop() if len(rows) > 2 else None)
    rows += [cls(b"", np.arange(2), ["x"], {}) for _ in range(6)]
    assert len(read(list[cls], engine(list[cls]).encode(rows))) == len(rows) == 2


def test_a_list_that_never_stays_as_it_is_is_refused():
    rows: list[Any] = []
    cls = hooked(lambda _value: rows.append(rows[0]))
    rows.append(cls(b"", np.arange(2), ["x"], {}))
    with pytest.raises(EncodeError, match=r"limits\.elements|changed"):
        engine(list[cls], limits=Limits(elements=50)).encode(rows)


def test_an_engine_may_be_called_while_it_encodes():
    inner: list[bytes] = []

    def encode_another(value: Any) -> None:
        if value.blob:
            inner.append(used.encode(cls(b"", np.arange(99), ["inner"] * 999, {})))

    cls, quiet = hooked(encode_another), hooked(lambda _value: None)
    used = engine(cls)
    message = used.encode(cls(b"b" * 300, np.arange(3), ["outer"], {"k": 1}))
    assert message == engine(quiet).encode(quiet(b"b" * 300, np.arange(3), ["outer"], {"k": 1}))
    assert inner == [engine(quiet).encode(quiet(b"", np.arange(99), ["inner"] * 999, {}))]


def test_threads_share_an_engine():
    used, wrong = engine(Blobs), []

    def work(seed: int) -> None:
        value = blobs(array=np.full(200_000 + seed, seed, np.float64), names=[str(seed)] * 300)
        expected = engine(Blobs).encode(value)
        wrong.extend(index for index in range(20) if used.encode(value) != expected)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Errors ----------------------------------------------------------------------------------------------------------------


def failing(error: BaseException) -> Any:
    def hook(_value: Any) -> None:
        raise error

    cls = hooked(hook)
    return engine(cls), cls(b"", np.arange(2), [], {})


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), MemoryError()])
def test_what_is_no_matter_of_the_value_passes_through(error):
    used, value = failing(error)
    with pytest.raises(type(error)):
        used.encode(value)


def test_an_exception_of_the_value_is_an_encode_error_with_its_cause():
    used, value = failing(ValueError("boom"))
    with pytest.raises(EncodeError, match="the message cannot be built: boom") as caught:
        used.encode(value)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_message_over_the_limit_says_its_size():
    message = engine(Blobs).encode(blobs())
    size = len(message)
    assert engine(Blobs, limits=Limits(bytes=size)).encode(blobs()) == message
    for call in ("encode", "encode_segments", "encoded_size"):
        with pytest.raises(EncodeError, match=f"{size} bytes are more than limits.bytes = {size - 1}"):
            getattr(engine(Blobs, limits=Limits(bytes=size - 1)), call)(blobs())


def test_elements_are_those_of_all_lists_and_maps():
    assert engine(Blobs, limits=Limits(elements=3)).encode(blobs())
    with pytest.raises(EncodeError, match=r"limits\.elements = 2"):
        engine(Blobs, limits=Limits(elements=2)).encode(blobs())


def nested(depth: int) -> Any:
    value: Any = {"items": []}
    for _ in range(depth):
        value = {"items": [value]}
    return value


def test_depth_counts_records_and_lists():
    # 49 around, the innermost: 50 records and 50 lists.
    assert read(Node, engine(Node).encode(nested(49))) == nested(49)
    with pytest.raises(EncodeError, match="nested deeper"):
        engine(Node).encode(nested(50))


def test_nesting_deeper_than_the_stack_is_an_encode_error():
    with pytest.raises(EncodeError, match="stack"):
        engine(Node, limits=Limits(depth=10**9)).encode(nested(200_000))


def test_dicts_with_missing_or_unknown_keys_are_refused():
    used = engine(Counted)
    assert used.encode({"more": 1, "number": 2}) == used.encode({"number": 2, "more": 1})
    for wrong in ({}, {"more": 1}, {"number": 1, "none": 2}, {"number": 1, 5: 2}):
        with pytest.raises(EncodeError):
            used.encode(wrong)


def test_strict_refuses_what_would_be_changed():
    cls = list[float]
    assert engine(cls).encode([1]) == engine(cls).encode([1.0])
    with pytest.raises(EncodeError, match="strict"):
        engine(cls, strict=True).encode([1])


@pytest.mark.parametrize(("value", "fits"), [(2**53, True), (-(2**53), True), (2**53 + 1, False), (2**60, True)])
def test_an_int_is_a_float_where_it_is_exact(value, fits):
    if fits:
        assert engine(list[float]).encode([value]) == engine(list[float]).encode([float(value)])
    else:
        with pytest.raises(EncodeError, match="not exact"):
            engine(list[float]).encode([value])
