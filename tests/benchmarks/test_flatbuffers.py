"""The comparison of the FlatBuffers engines on tiny counts: the shape of its tables, and figures whose answer is known."""

from __future__ import annotations

import pytest

pytest.importorskip("flatbuffers")
pytest.importorskip("msgspec")
pytest.importorskip("google.protobuf")

from benchmarks.flat import (
    allocations,
    messages,
    official_by_hand,
    protobuf_by_hand,
    rows,
    subjects,
    table,
    tensors,
    values,
)
from benchmarks.flat.arms import Arm, Cost, Effort, prove, rotating, time_arms
from benchmarks.flat.forms import FORMS, formed
from benchmarks.flat.rows import ROWS, Row, ratio
from benchmarks.flat.study import GROUPS, message_bytes, time_group
from benchmarks.support.figures import Goal
from benchmarks.support.fresh import MeasuringError, in_fresh_process
from zcser.core.buffers import address
from zcser.native import zcount
from zcser.payloads.messages import InferRequest, TokenChunk

TINY = Effort(processes=1, batches=2, batch_ns=20_000)
WHICH = [
    pytest.param(which, marks=pytest.mark.skipif(which == "native" and not subjects.has_native(), reason="not built"))
    for which in subjects.ENGINES
]


def cost(subject: str, p10_ns: float, operation: str = "encode", form: str = "class") -> Cost:
    return Cost(operation, subject, form, p10_ns, batches=4, dirty_batches=1)


def test_values_differ_and_metadata_is_a_kilobyte_of_protobuf():
    assert len({repr(value) for value in values.requests()}) == len({repr(value) for value in values.chunks()}) == 64
    assert all(len(value.params) == 28 and not value.tensors for value in values.requests())
    low, high = message_bytes()["metadata"]["protobuf"]
    assert 900 < low < high < 1100


@pytest.mark.parametrize("cls", [InferRequest, TokenChunk])
@pytest.mark.parametrize("form", FORMS)
def test_forms_hold_the_same_fields(cls, form):
    items = (values.requests() if cls is InferRequest else values.chunks())[:3]
    source, made = formed(cls, items, form)
    for item, one in zip(items, made, strict=True):
        name = cls.__match_args__[0]
        assert (one[name] if form == "dict" else getattr(one, name)) is getattr(item, name)
        assert form == "dict" or type(one) is source


@pytest.mark.parametrize(
    ("calls", "items"),
    [
        (official_by_hand.request_calls, values.requests()),
        (protobuf_by_hand.request_calls, values.requests()),
        (protobuf_by_hand.chunk_calls, values.chunks()),
    ],
)
def test_libraries_by_hand_give_every_value_back(calls, items):
    encode, decode = calls()
    assert [decode(encode(value)) for value in items] == items


def test_a_chunk_by_hand_is_what_the_codec_writes():
    # No union is in it, so that both have the same schema.
    encode = protobuf_by_hand.chunk_calls().encode
    codec = subjects.protobuf(TokenChunk)
    assert [codec.decode(encode(value)) for value in values.chunks()] == values.chunks()


def test_a_result_that_differs_stops_the_study():
    with pytest.raises(MeasuringError, match="encode by us"):
        prove("encode by us", [1, 3], [1, 2])


def test_slow_arms_have_batches_of_part_of_the_values_and_fast_ones_whole_turns():
    items = [*range(64)]
    fast = rotating(TINY, "operation", "subject", abs, items)
    assert {len(batch) % 64 for batch in fast.batches} == {0}
    slow = rotating(TINY, "operation", "subject", lambda _: sum(range(2000)), items)
    count = len(slow.batches[0])
    assert 1 <= count < 64
    assert [*slow.batches[0], *slow.batches[1]] == [number % 64 for number in range(2 * count)]


def test_each_batch_of_each_arm_is_timed_once():
    called = {"a": [], "b": []}
    arms = [
        Arm("operation", name, "class", called[name].append, [[first], [second]])
        for name, first, second in (("a", 1, 2), ("b", 3, 4))
    ]
    costs = time_arms(arms, seed=1)
    assert called == {"a": [1, 2], "b": [3, 4]}
    assert [(one.subject, one.batches) for one in costs] == [("a", 2), ("b", 2)]


def test_a_ratio_is_the_median_of_processes_and_not_of_their_parts():
    processes = [[cost("native", 1), cost("official", 100)], [cost("native", 2), cost("official", 100)], []]
    processes.insert(1, [cost("native", 30), cost("official", 1000)])
    first, second = ratio(Row("encode", "official", native=(0.02, 0.01)), processes, "native", "class")
    assert (first.value, first.low, first.high) == (0.02, 0.01, 0.03)
    assert (first.goal, first.met, second.goal, second.met) == (Goal("<=", 0.02), True, Goal("<=", 0.01), False)
    (pure,) = ratio(Row("encode", "native", native=(0.02,)), [[cost("pure", 3), cost("native", 2)]], "pure", "class")
    assert (pure.value, pure.goal, pure.met) == (1.5, None, None)


def test_an_engine_can_be_divided_by_itself():
    row = Row("large", None, "small", native=(1.1,))
    (figure,) = ratio(row, [[cost("native", 3, "large"), cost("native", 2, "small")]], "native", "class")
    assert (figure.value, figure.met) == (1.5, False)


def test_the_table_of_ratios_has_native_and_pure_side_by_side():
    processes = [
        [cost("native", 1), cost("pure", 10), cost("official", 100)],
        [cost("native", 6, form="dict"), cost("official", 12, form="dict")],
    ]
    lines = table.ratios_table([Row("encode", "official", native=(1 / 80,), pure=(1 / 12,))], processes).splitlines()
    native = "<= 1/80 | 1/100.0 (1/100.0 to 1/100.0): yes | 0.50 (0.50 to 0.50): **no** | "
    pure = "<= 1/12 | 1/10.0 (1/10.0 to 1/10.0): **no** | "
    assert lines[2:] == [f"| encode | official | {native} | {pure} |"]
    assert {line.count("|") for line in lines} == {10}
    lacking = table.ratios_table([Row("encode", "msgspec", native=(1.5, 1.0))], processes).splitlines()[2]
    assert lacking == "| encode | msgspec | <= 1.5, then 1 | not measured |  |  |  | not measured |  |"


def test_the_table_of_nanoseconds_has_a_row_for_each_arm():
    processes = [[cost("native", 40), cost("pure", 2000)], [cost("native", 60), cost("pure", 3000, form="dict")]]
    assert table.costs_table(processes).splitlines()[2:] == [
        "| encode | native | 50.0 (40.0 to 60.0) |  |  | 25% |",
        "| encode | pure | 2,000 (2,000 to 2,000) | 3,000 (3,000 to 3,000) |  | 25% |",
    ]


@pytest.fixture(scope="module")
def timed():
    return [one for name in GROUPS if name != "tensors" for one in time_group(name, TINY, 1)]


@pytest.mark.further
def test_every_row_over_messages_has_its_arms(timed):
    of_messages = [row for row in ROWS if not row.operation.startswith(("open and tensor", "encode_"))]
    which = "native" if subjects.has_native() else "pure"
    assert [row.label for row in of_messages if not ratio(row, [timed], which, "class")] == []


@pytest.mark.parametrize("which", WHICH)
def test_tensors_lie_aligned_in_aligned_memory(which):
    assert address(tensors.aligned(1000)) % 64 == 0
    assert tensors.misaligned(which) == (0, 128)


@pytest.mark.parametrize("which", WHICH)
def test_every_row_over_tensors_has_its_arms(which, monkeypatch):
    # The arms are the same for any size.
    monkeypatch.setattr(tensors, "SIZES", {size: 4096 * number for number, size in enumerate(tensors.SIZES, start=1)})
    costs = time_arms(tensors.tensors(TINY), seed=1)
    of_tensors = [row for row in ROWS if row.operation.startswith(("open and tensor", "encode_"))]
    assert [row.label for row in of_tensors if not ratio(row, [costs], which, "class")] == []


@pytest.mark.further
@pytest.mark.skipif(zcount.load() is None, reason="the C helper was not built")
@pytest.mark.parametrize("which", WHICH)
def test_encode_into_allocates_nothing_of_the_payload(which):
    counted = in_fresh_process(allocations.count, which, preload=True)
    assert counted["64 KB"][1] < 1 << 16
    assert counted["16 MB"][1] < 1 << 16


def test_a_median_is_of_the_processes_that_have_the_arm():
    processes = [[cost("native", 1)], [], [cost("native", 5)]]
    assert rows.median_ns(processes, "encode", "native", "class") == (3, 1, 5)
    assert rows.median_ns(processes, "encode", "nobody", "class") == ()


def test_messages_met_once_are_met_once():
    once = messages.once(TINY)
    met = [id(argument) for arm in once for batch in arm.batches for argument in batch]
    assert len(met) == len(set(met))
