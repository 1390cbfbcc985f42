"""Composite tasks give what a service would send: bytes that decode to the changed value, for every codec."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import pytest

from zcser import registry
from zcser.core.codec import CodecInfo
from zcser.core.errors import SchemaError
from zcser.measure.bench import Bench, MismatchError
from zcser.measure.composite import COMPOSITES
from zcser.measure.operations import OPERATIONS
from zcser.measure.plan import Key, Request, make_plan
from zcser.measure.prepare import require
from zcser.payloads.base import Number, Payload, Places
from zcser.schema.from_python import schema_of
from zcser.schema.types import Str


@dataclass
class Step:
    label: Annotated[str, Str(16)]
    tokens: int
    weight: float


def step(number: int) -> Step:
    return Step(f"step {number}", 100 + number, number + 0.5)


PLACES = Places(
    3, {"1": ("/weight",), "2": ("/label", "/weight")}, Number("/tokens", tuple(range(1, 9)))
)  # fmt: skip
PAYLOAD = Payload("steps", "", schema_of(Step), step, "/label", ("/label",), places=PLACES)
CODECS = [
    name
    for name, info in registry.available().items()
    if isinstance(info, CodecInfo) and "encode" in info.operations
]  # fmt: skip


def bench(name: str) -> Bench:
    codec = registry.codec(name, PAYLOAD.schema, allow_untrusted_code=registry.info(name).trusted_only)
    return Bench(PAYLOAD, codec, codec, fields=PAYLOAD.fields, rotation=16, prepare_ns=10**9)


def ready(on: Bench, operation: str):
    prepared = OPERATIONS[operation].prepare(on)
    require(prepared)
    return prepared


@pytest.mark.parametrize("name", CODECS)
def test_every_codec_passes_messages_on(name):
    try:
        on = bench(name)
    except SchemaError:
        assert name == "kserve"
        return
    codec = on.codec

    found, sent = ready(on, "forward").call(on.wires[5])
    assert found == ("step 5", 5.5)
    assert codec.decode(bytes(sent)) == Step("step 5", 1, 5.5)

    out = ready(on, "fan-out").call(on.wires[6])
    assert [codec.decode(bytes(one)) for one in out] == [Step("step 6", tokens, 6.5) for tokens in range(1, 9)]

    gathered, answer = ready(on, "fan-in").call(([on.wires[number] for number in (3, 1, 2)], step(7)))
    assert (gathered, codec.decode(answer)) == ([3.5, 1.5, 2.5], step(7))

    # Nothing that went in was changed.
    assert codec.decode(on.wires[5]) == step(5)


def test_a_number_is_changed_in_place():
    on = bench("flatbuffers")
    buffer = bytearray(on.wires[4])
    assert ready(on, "patch").call(buffer) is None
    assert on.codec.decode(bytes(buffer)) == Step("step 4", 1, 4.5)
    assert len(buffer) == len(on.wires[4])


@pytest.mark.parametrize(
    ("operation", "result", "words"),
    [
        ("forward", lambda on: (("step 0", 0.25), on.wires[0]), r"/weight: .*0\.25"),
        ("forward", lambda on: (("step 0", 0.5), on.wires[0]), "at /tokens: int 100 against int 1"),
        ("fan-out", lambda on: [on.codec.encode(Step("step 0", 1, 0.5))] * 8, "at /tokens: int 1 against int 2"),
        ("fan-in", lambda on: ([number + 0.5 for number in range(8)], on.wires[1]), "at /label"),
        ("fan-in", lambda on: ([0.5] * 8, on.wires[0]), "of message 1, /weight"),
    ],
)
def test_a_task_with_a_wrong_result_is_caught(operation, result, words):
    on = bench("json")
    prepared = OPERATIONS[operation].prepare(on)
    with pytest.raises(MismatchError, match=words):
        require(replace(prepared, call=lambda _: result(on)))


@dataclass(frozen=True)
class Frozen:
    tokens: int
    labels: dict[str, int]


def frozen(number: int) -> Frozen:
    return Frozen(number, {"a": number})


def test_the_number_is_of_the_schema_and_can_be_set_or_the_task_is_refused_with_the_reason():
    made = make_plan(Request(payloads=("batch-meta",), codecs=("json", "flatbuffers"), operations=("composite",)))
    assert {key.operation for key in made.shown if key.codec == "json"} == set(COMPOSITES)
    assert made.payloads["batch-meta"].places.number == Number("/kv_cache_usage", tuple(map(float, range(1, 9))))
    assert made.unsupported == {Key("batch-meta", "json", "patch"): "json has no patcher"}

    payload = Payload("frozen", "", schema_of(Frozen), frozen, "/tokens")
    made = make_plan(Request(payloads=(payload,), codecs=("json",), operations=("forward", "fan-in")))
    reason = made.unsupported[Key("frozen", "json", "forward")]
    assert reason == "payload frozen has no number that can be set: one outside of maps, unions and frozen classes"
    assert Key("frozen", "json", "fan-in") in made.measured
