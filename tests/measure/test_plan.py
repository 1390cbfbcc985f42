"""The matrix is known before it is measured, and any matrix is given its share of the budget."""

from __future__ import annotations

import itertools

import pytest

from tests.measure.made import payload, point, raising
from zcser import payloads, registry
from zcser.core.errors import UnknownCodecError
from zcser.gate.judge import MIN_PROCESSES
from zcser.measure import presets
from zcser.measure.baseline import BASELINES
from zcser.measure.operations import DEFAULT, GUARD, OPERATIONS
from zcser.measure.plan import Key, MeasureError, Request, make_plan, share_out
from zcser.measure.sample import MAX_SAMPLES
from zcser.payloads.base import PayloadError


def test_equal_cells_share_the_budget_equally():
    assert share_out(1000, [0] * 10, 1, 500) == 100
    assert share_out(1000, [0], 1, 500) == 500
    assert share_out(1000, [0] * 10_000, 1, 500) == 1
    assert share_out(1000, [], 1, 500) == 1


def test_a_cell_that_takes_longer_gets_its_time_from_the_others():
    # 400 and 300 as they must, 300 left for three cells.
    assert share_out(1000, [400, 0, 300, 0, 0], 1, 500) == 100
    # Over the budget with its floors alone: everyone else the least.
    assert share_out(1000, [900, 900, 0], 7, 500) == 7


@pytest.mark.parametrize("floors", list(itertools.permutations([10, 50, 120, 0])))
def test_shares_and_floors_add_up_to_the_budget(floors):
    share = share_out(400, floors, 1, 10_000)
    assert sum(max(share, floor) for floor in floors) in range(396, 401)


def test_the_default_matrix_is_every_payload_codec_and_operation():
    made = make_plan(Request())
    names = itertools.product(payloads.names(), made.codecs, DEFAULT)
    assert set(made.shown) == {Key(*key) for key in names} | {Key("-", "baseline", name) for name in BASELINES}
    assert set(made.codecs) | set(made.unavailable) == set(registry.names())


def test_a_cell_is_measured_or_has_its_reason():
    made = make_plan(Request())
    for key, source in made.shown.items():
        if key in made.unsupported:
            assert made.unsupported[key]
        elif key.operation == GUARD:
            assert key._replace(operation="encode") in made.measured
            assert key._replace(operation="encode-unguarded") in made.measured
        else:
            assert source in made.measured
    assert len(set(made.measured)) == len(made.measured)


def test_what_a_codec_lacks_is_said_in_words():
    made = make_plan(Request(payloads=(payload(),), codecs=("json",)))
    assert made.unsupported[Key("points", "json", "encode-into")] == "json has no encode_into"
    assert made.unsupported[Key("points", "json", "view-field")] == "json has no view"
    assert made.unsupported[Key("points", "json", "tensor")] == "payload points has no tensor"
    # Without views, building every value is how everything is touched.
    assert made.shown[Key("points", "json", "touch-all")] == Key("points", "json", "decode")
    assert Key("points", "json", "read-field") in made.measured


def test_guard_alone_measures_what_it_is_made_of():
    made = make_plan(Request(payloads=(payload(),), codecs=("json",), operations=("guard",)))
    assert {key.operation for key in made.measured if key.codec == "json"} == {"encode", "encode-unguarded"}
    assert [key.operation for key in made.shown if key.codec == "json"] == ["guard"]


def test_user_fields_replace_those_of_the_payload():
    made = make_plan(Request(payloads=(payload(),), fields=("/xs/0", "/name")))
    assert made.payloads["points"].fields == ("/xs/0", "/name")
    assert make_plan(Request(payloads=(payload(),))).payloads["points"].fields == ("/name",)


def test_partial_reads_are_a_group_by_itself():
    made = make_plan(Request(payloads=(payload(),), codecs=("json", "protobuf"), operations=("reads",)))
    shown = {key.operation for key in made.shown if key.codec == "json"}
    assert shown == {f"read-{part}{ending}" for part in ("1", "2", "10%", "all") for ending in ("", "-unverified")}
    # Of value 0, which has a name and no number, the name is all that every value has.
    assert made.payloads["points"].places.reads["2"] == ("/name",)
    assert made.shown[Key("points", "json", "read-2")] == Key("points", "json", "read-field")
    assert made.shown[Key("points", "protobuf", "read-1")] == Key("points", "protobuf", "view-field")
    assert made.shown[Key("points", "json", "read-all")] == Key("points", "json", "read-all")
    assert made.unsupported[Key("points", "json", "read-1-unverified")] == "json has no view"
    assert make_plan(Request(payloads=(payload(),))).payloads["points"].places is None


def test_fields_that_the_user_named_are_read_first():
    made = make_plan(Request(payloads=("llm-chunk",), codecs=("json",), operations=("read-1",), fields=("/text",)))
    assert made.payloads["llm-chunk"].places.reads["1"] == ("/text",)


def test_a_payload_whose_values_cannot_be_made_has_no_places_and_says_so():
    made = make_plan(Request(payloads=(payload(raising),), codecs=("json",), operations=("read-1", "encode")))
    assert made.unsupported[Key("points", "json", "read-1")] == "payload points has no leaf that could be chosen"
    assert Key("points", "json", "encode") in made.measured


@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        (Request(live_objects=-1), MeasureError, "live_objects is -1"),
        (Request(operations=("encoed",)), MeasureError, "'encoed'; did you mean encode"),
        (Request(fields=("name",)), MeasureError, "starts with '/'"),
        (
            Request(payloads=(payload(lambda _: point(1)),)),
            MeasureError,
            "'points' cannot be sent to a worker",
        ),
        (Request(payloads=(payload(), payload(distinct=3))), MeasureError, "two payloads"),
        (Request(payloads=("request-1kk",)), PayloadError, "request-1k"),
        (Request(codecs=("jsn",)), UnknownCodecError, "json"),
    ],
)
def test_a_request_that_cannot_be_met_is_one_clear_error(request_, error, words):
    with pytest.raises(error, match=words) as caught:
        make_plan(request_)
    assert "\n" not in str(caught.value)


def test_presets_fit_their_rounds():
    for preset in presets.PRESETS.values():
        assert preset.least_ns < preset.slot.total_ns < preset.cap_ns
        assert preset.rotation == 64
    assert presets.PRESETS["quick"].budget_s < 60


def test_a_small_matrix_has_a_smaller_budget_of_the_quick_preset():
    def budget(payloads: int, codecs: int) -> tuple[float, float]:
        names = ("request-1k", "llm-chunk")[:payloads]
        preset = make_plan(Request(payloads=names, codecs=("json", "orjson", "msgpack", "protobuf")[:codecs])).preset
        return preset.budget_s, preset.wait_s

    quick = presets.PRESETS["quick"]
    assert budget(1, 2) == pytest.approx((2 * quick.pair_s, 2 * quick.pair_s * quick.wait_s / quick.budget_s))
    assert budget(2, 4) == pytest.approx((8 * quick.pair_s, 8 * quick.pair_s * quick.wait_s / quick.budget_s))
    assert quick.within(1000) == quick
    assert presets.PRESETS["full"].within(1) == presets.PRESETS["full"]


def test_full_gives_every_cell_the_processes_that_the_gate_needs():
    full = presets.PRESETS["full"]
    assert full.rounds >= full.least_rounds >= MIN_PROCESSES
    # A cell that is not slow has all rounds: they fit into its bound, divided among the least or not.
    assert full.rounds * full.slot.total_ns <= full.cap_ns
    assert full.slot.total_ns <= full.cap_ns / full.least_rounds


def test_tails_measures_three_operations_unless_told_otherwise():
    shown = {key.operation for key in make_plan(Request(preset="tails")).shown if key.codec != "baseline"}
    assert shown == {"encode", "decode", "read-field"}
    told = make_plan(Request(preset="tails", operations=("tensor",))).shown
    assert {key.operation for key in told if key.codec != "baseline"} == {"tensor"}


def test_tails_has_room_for_a_sure_p999_of_operations_of_100_us():
    tails = presets.PRESETS["tails"]
    # 100 samples above p99.9 take 100,000.
    assert tails.rounds * min(MAX_SAMPLES, tails.slot.latency_ns // 100_000) >= 100_000


def test_every_operation_states_its_boundary():
    for operation in OPERATIONS.values():
        assert len(operation.boundary) > 40
        assert operation.name == operation.name.lower()
