"""Objects whose trees C checks, against the generated walks that look at every field: equal results, equal words."""

from __future__ import annotations

import copy
import enum
import random
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NotRequired, TypedDict

import pytest

from tests.conformance.schemas import CASES
from tests.conformance.strategies import samples
from tests.tree.test_native import JUNK, NAMES, assert_alike, mutants, outcome
from zcser import registry
from zcser.core.errors import CodecUnavailableError
from zcser.core.options import Limits
from zcser.schema.annotations import Float32, Int8, UInt64
from zcser.tree import codec as tree_codec


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Other(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Leaf:
    name: str
    small: Int8
    half: Float32


class Place(TypedDict):
    x: int
    y: NotRequired[float]


@dataclass
class Root:
    leaf: Leaf
    leaves: list[Leaf]
    named: dict[str, Leaf]
    colour: Colour
    colours: list[Colour]
    level: Level | None
    either: int | float | str | Leaf
    pairs: tuple[float, ...]
    large: UInt64 = 7
    place: Place | None = None
    numbers: list[float] = field(default_factory=list)
    inner: Root | None = None


LEAF = Leaf("größe", -128, 0.5)
ROOT = Root(LEAF, [LEAF, Leaf("", 1, -0.0)], {"a": LEAF}, Colour.RED, [Colour.GREEN], Level.HIGH, 2.5, (1.0,), 2**64 - 1,
            {"y": 1.0, "x": 2}, [1e300], Root(LEAF, [], {}, Colour.GREEN, [], None, LEAF, ()))  # fmt: skip


def codecs(name: str, schema: Any, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[Any, Any]:
    """A codec as it is, and one whose trees C does not check."""
    whole = registry.codec(name, schema, **options)
    with monkeypatch.context() as patch:
        patch.setattr(tree_codec, "make_tree_coder", lambda *_, **__: None)
        if name == "avro":
            patch.setattr("zcser.codecs.avro.make_tree_coder", lambda *_, **__: None)
        return whole, registry.codec(name, schema, **options)


def damaged(value: Any, seed: str, count: int) -> Any:
    """Copies of an object in which one field, of it or of one inside, holds something else."""
    rng = random.Random(seed)
    junk = [*JUNK, {Colour.RED}, [Colour.RED, "red"], Other.RED, (LEAF,), {"a": LEAF}, iter([LEAF]), {LEAF.name: None}]
    for _ in range(count):
        root = holder = copy.deepcopy(value)
        while True:
            name = rng.choice([item.name for item in fields(holder)])
            inner = getattr(holder, name)
            inner = inner[0] if isinstance(inner, list) and inner else inner
            if not is_dataclass(inner) or rng.random() < 0.3:
                break
            holder = inner
        setattr(holder, name, rng.choice(junk))
        yield root


WRITERS = [*NAMES, "avro"] if not isinstance(registry.available()["avro"], CodecUnavailableError) else NAMES


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_objects_are_refused_or_normalised_alike(name, monkeypatch):
    one, other = codecs(name, Root, monkeypatch)
    assert one.encode(ROOT) == other.encode(ROOT)
    assert outcome(one.encode, vars(ROOT)) == outcome(other.encode, vars(ROOT))
    for value in damaged(ROOT, f"write {name}", 300):
        assert outcome(one.encode, value) == outcome(other.encode, value)
        assert_alike(outcome(one.convert, value), outcome(other.convert, value))


@pytest.mark.parametrize("unknown_fields", ["drop", "refuse"])
@pytest.mark.parametrize("name", NAMES)
def test_damaged_trees_make_equal_objects(name, unknown_fields, monkeypatch):
    one, other = codecs(name, Root, monkeypatch, unknown_fields=unknown_fields)
    for tree in mutants(one.load(one.encode(ROOT)), f"read {name}", 200):
        found = outcome(one.restore, copy.deepcopy(tree))
        assert_alike(found, outcome(other.restore, copy.deepcopy(tree)))


@pytest.mark.parametrize("name", sorted({"json", "msgpack", WRITERS[-1]}))
def test_all_schemas_of_objects_are_written_and_read_alike(name, monkeypatch):
    for case, schema in CASES.items():
        if all(record.cls is None for record in schema.records) or registry.check(name, schema):
            continue
        one, other = codecs(name, schema, monkeypatch)
        for value in samples(schema, 3):
            found = outcome(one.encode, value)
            assert found == outcome(other.encode, value), case
            if isinstance(found, bytes):
                assert found == one.dump(one.convert(value)), case
                assert_alike(one.restore(one.load(found)), other.restore(other.load(found)))


@pytest.mark.parametrize("name", NAMES)
def test_limits_hold_alike_for_objects(name, monkeypatch):
    data = registry.codec(name, Root).encode(ROOT)
    for limits in (Limits(elements=1), Limits(elements=12), Limits(bytes=100), Limits(depth=2), Limits(depth=3)):
        one, other = codecs(name, Root, monkeypatch, limits=limits)
        assert outcome(one.encode, ROOT) == outcome(other.encode, ROOT)
        assert_alike(outcome(one.decode, data), outcome(other.decode, data))
    cycle = copy.deepcopy(ROOT)
    cycle.inner = cycle
    assert "contains itself" in outcome(registry.codec(name, Root).encode, cycle)
