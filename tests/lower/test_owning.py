"""Values that lowering has made are the codec's to change: the results and the words are those of a codec that makes new ones."""

from __future__ import annotations

import copy
import enum
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from zcser import registry
from zcser.core.errors import CodecUnavailableError, ZcserError
from zcser.core.fidelity import difference
from zcser.schema.annotations import Int8, UInt64
from zcser.tree.codec import TreeWriter

NAMES = [
    name for name in ("json", "msgpack", "avro") if not isinstance(registry.available()[name], CodecUnavailableError)
]


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green!"


@dataclass
class Plain:
    name: str
    colour: Colour


@dataclass
class Charge:
    price: Decimal
    tokens: Int8
    labels: list[str]


@dataclass
class Job:
    id: UUID | None
    tags: set[str]
    colour: Colour
    large: UInt64
    plain: Plain
    charges: list[Charge]
    by_day: dict[date, Charge]
    either: int | str
    note: str = ""
    more: list[Charge] = field(default_factory=list)
    inner: Job | None = None


CHARGE = Charge(Decimal("1.50"), -128, ["a", "größe"])
JOB = Job(UUID(int=5), {"b", "a"}, Colour.GREEN, 2**64 - 1, Plain("x", Colour.RED), [CHARGE, CHARGE],
          {date(1970, 1, 2): CHARGE}, "x", inner=Job(None, set(), Colour.RED, 0, Plain("", Colour.GREEN), [], {}, 7))  # fmt: skip
JUNK: list[Any] = [None, True, 2**64, -129, 1.5, "red", b"x", [], {}, (), {"a"}, [CHARGE, None], Colour.RED, CHARGE, Plain("y", 1),
                   Charge(Decimal(1), 200, []), Charge(Decimal(1), 1, [1]), {date(1970, 1, 1): 1}]  # fmt: skip


def outcome(call: Any, value: Any) -> Any:
    try:
        return call(value)
    except ZcserError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("guard", ["on", "off"])
@pytest.mark.parametrize("name", NAMES)
def test_a_codec_that_changes_what_lowering_made_gives_what_one_does_that_does_not(name, guard, monkeypatch):
    one = registry.codec(name, Job, guard=guard)
    monkeypatch.setattr(TreeWriter, "_owning_calls", lambda *_: {})
    other = registry.codec(name, Job, guard=guard)
    kept = copy.deepcopy(JOB)
    assert one.encode(JOB) == other.encode(JOB) == one.dump(one.convert(JOB))
    assert difference(one.convert(JOB), other.convert(JOB)) is None
    assert list(one.convert(JOB)) == list(other.convert(JOB))
    assert difference(JOB, kept) is None
    if guard == "off":
        return
    for place in vars(JOB):
        for junk in JUNK:
            value = copy.copy(JOB)
            setattr(value, place, junk)
            assert outcome(one.encode, value) == outcome(other.encode, value)
            assert difference(outcome(one.convert, value), outcome(other.convert, value)) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_record_that_stands_as_its_field_is_no_dict_to_change(name):
    pydantic = pytest.importorskip("pydantic")
    tags = pydantic.RootModel[list[str]]
    model = pydantic.create_model("Model", tags=(tags, ...), more=(list[tags], ...), day=(date, ...))
    value = model(tags=tags(["a"]), more=[tags([]), tags(["b"])], day=date(1970, 1, 2))
    codec = registry.codec(name, model)
    assert codec.decode(codec.encode(value)) == value
    assert codec.dump(codec.convert(value)) == codec.encode(value)
