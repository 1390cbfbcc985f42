"""The law of fidelity: what comes back equals the normal form, or encode refuses with the path."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.laws import (
    assert_round_trip,
    assert_same,
    assert_shows,
    cells,
    encoded,
    make,
    messages,
    normal_of,
)
from tests.conformance.schemas import CASES
from tests.conformance.strategies import plain, samples, values
from zcser import registry
from zcser.core.errors import EncodeError
from zcser.core.view import to_value
from zcser.schema.model import Schema, Str

MUST_REFUSE = [
    *(pytest.param(name, list[float], [number], id=f"{name} {number}")
      for name in ("json", "orjson", "msgspec-json", "safetensors") for number in (float("nan"), float("inf"), float("-inf"))),
    *(pytest.param("kserve", list[float], [number], id=f"kserve {number}") for number in (float("nan"), float("inf"))),
    pytest.param("kserve", np.ndarray, np.zeros(1, np.complex64), id="kserve complex64"),
    *(pytest.param("header", Schema(Str(4)), text, id=f"header {text!r}") for text in ("\0", "a\0", "abc\0")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "case"), cells("encode"))
def test_values_come_back_as_their_normal_form(name, case):
    codec = make(name, case)
    for value in samples(CASES[case], 20):
        assert_round_trip(codec, value)


@pytest.mark.parametrize(("name", "case"), cells("encode"))
def test_values_that_normal_changes_come_back_changed(name, case):
    codec = make(name, case)
    for value in samples(CASES[case], 15, loose=True):
        assert_round_trip(codec, value)


@pytest.mark.parametrize(("name", "case"), cells("encode"))
def test_values_that_do_not_fit_are_refused_with_their_path(name, case):
    codec = make(name, case)
    for value in samples(CASES[case], junk=True):
        assert_round_trip(codec, value)


@pytest.mark.parametrize(("name", "schema", "value"), MUST_REFUSE)
def test_every_refusal_that_is_excused_is_one_that_happens(name, schema, value):
    # Otherwise the excuse is stale, and would hide a loss.
    with pytest.raises(EncodeError):
        registry.codec(name, schema).encode(value)


@pytest.mark.parametrize(("name", "case"), cells("decode"))
def test_decode_without_copies_gives_the_same_value(name, case):
    codec = make(name, case)
    for data, expected in messages(name, case, 10):
        assert_same(plain(codec.decode(data, copy=False)), expected)


@pytest.mark.parametrize(("name", "case"), cells("view"))
def test_a_view_shows_what_decode_gives(name, case):
    codec = make(name, case)
    for data, expected in messages(name, case, 10):
        view = codec.view(data)
        assert_shows(view, expected, codec.schema, codec.schema.root)
        assert_same(to_value(view), expected)


@pytest.mark.parametrize(("name", "case"), cells("convert"))
def test_the_two_halves_of_the_ledger_make_the_whole(name, case):
    codec = make(name, case)
    for value in samples(CASES[case], 5):
        data = encoded(codec, value)
        if isinstance(data, EncodeError):
            with pytest.raises(EncodeError) as caught:
                codec.dump(codec.convert(value))
            assert str(caught.value) == str(data)
            continue
        assert_same(codec.decode(codec.dump(codec.convert(value))), normal_of(codec, value))
        assert_same(codec.restore(codec.load(data)), codec.decode(data))


@pytest.mark.parametrize(("name", "case"), cells("restore"))
def test_load_and_restore_make_decode(name, case):
    codec = make(name, case)
    for data, expected in messages(name, case, 5):
        assert_same(codec.restore(codec.load(data)), expected)


@pytest.mark.parametrize(("name", "case"), cells("encoded_size"))
def test_the_size_told_beforehand_is_the_size(name, case):
    codec = make(name, case)
    for value in samples(CASES[case], 10):
        data = encoded(codec, value)
        if isinstance(data, EncodeError):
            with pytest.raises(EncodeError):
                codec.encoded_size(value)
        else:
            assert codec.encoded_size(value) == len(data)


@pytest.mark.parametrize(("name", "case"), cells("encode"))
def test_encode_does_not_change_the_value(name, case):
    codec = make(name, case)
    for value in samples(CASES[case], 3, loose=True):
        try:
            before = copy.deepcopy(value)
        except TypeError:  # a memoryview inside
            continue
        encoded(codec, value)
        assert_same(value, before)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "loose", "junk"])
@pytest.mark.parametrize(("name", "case"), cells("encode"))
def test_the_law_of_fidelity_in_depth(name, case, kind):
    codec = make(name, case)

    @settings(max_examples=400)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        assert_round_trip(codec, data.draw(values(CASES[case], loose=kind == "loose", junk=kind == "junk")))

    law()
