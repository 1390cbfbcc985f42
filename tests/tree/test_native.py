"""The guards in C against the generated walks, which they stand before: equal results, equal words, on both sides."""

from __future__ import annotations

import copy
import itertools
import random
import threading
from typing import Any, NotRequired, TypedDict

import pytest

from tests.conformance.schemas import CASES
from tests.conformance.strategies import samples
from tests.growth import blocks_left
from zcser import registry
from zcser.core.errors import CodecUnavailableError, ZcserError
from zcser.core.fidelity import difference
from zcser.core.options import Limits
from zcser.schema.annotations import Float32, Int8, UInt64
from zcser.tree import codec as tree_codec
from zcser.tree import native, spans

_tree = pytest.importorskip("zcser.native._tree", reason="the C part was not built")
if spans._native is None:
    pytest.skip("the engines in Python were asked for", allow_module_level=True)

NAMES = [name for name in ("json", "orjson", "msgspec-json", "msgpack", "ormsgpack", "msgspec-msgpack")
         if not isinstance(registry.available()[name], CodecUnavailableError)]  # fmt: skip


class Leaf(TypedDict):
    name: str
    small: Int8
    large: UInt64
    half: Float32
    maybe: NotRequired[float | None]


class Root(TypedDict):
    leaves: list[Leaf]
    named: dict[str, Leaf]
    numbers: list[float]
    either: int | float | str | bool
    nothing: None
    inner: NotRequired[Root]


LEAF = {"name": "größe", "small": -128, "large": 2**64 - 1, "half": 0.5, "maybe": None}
ROOT = {"leaves": [LEAF, {**LEAF, "maybe": 1.5}], "named": {"a": LEAF, "": LEAF}, "numbers": [0.0, -0.0, 1e300], "either": 2.5,
        "nothing": None, "inner": {"leaves": [], "named": {}, "numbers": [], "either": True, "nothing": None}}  # fmt: skip
# Those that the C part takes, of one codec or another.
PLAIN = ("literals", "enum_names", "defaults_of_dicts", "nulls", "json_like", "unbounded", "root_int", "root_float", "root_bool",
         "root_str", "root_null", "root_optional", "root_list", "root_list_of_lists", "root_map", "root_optional_union")  # fmt: skip


def codecs(name: str, schema: Any, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[Any, Any]:
    """A codec as it is, and one without its C part."""
    whole = registry.codec(name, schema, allow_untrusted_code=True, **options)
    with monkeypatch.context() as patch:
        patch.setattr(tree_codec, "make_coder", lambda *_, **__: None)
        return whole, registry.codec(name, schema, allow_untrusted_code=True, **options)


def outcome(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except ZcserError as error:
        return f"{type(error).__name__}: {error}"


def assert_alike(one: Any, other: Any) -> None:
    assert difference(one, other) is None, difference(one, other)


JUNK: list[Any] = [
    None, True, 0, 7, -129, 2**63, 2**64, -(2**63) - 1, 2**70, 1.5, 0.1, 1e39, 3.4028235677973366e38, float("nan"), float("inf"),
    -0.0, 2.0**63, "", "x", "\ud800", b"", [], {}, [1], [1.5, 2], {"name": 1}, {1: 2}, (), {"a": {}}, 10**400,
]  # fmt: skip


def mutants(tree: Any, seed: str, count: int) -> Any:
    rng = random.Random(seed)
    for _ in range(count):
        root = [copy.deepcopy(tree)]
        holder, key = root, 0
        while isinstance(holder[key], list | dict) and holder[key] and rng.random() < 0.8:
            holder = holder[key]
            key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        match rng.randrange(4):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[rng.choice(["more", "name", "a", 5, "maybe"])] = rng.choice(JUNK)
            case 2 if isinstance(holder, dict):
                items = list(holder.items())
                rng.shuffle(items)
                holder.clear()
                holder.update(items)
            case _:
                holder[key] = copy.deepcopy(rng.choice(JUNK))
        yield root[0]


@pytest.mark.parametrize("guard", ["on", "off"])
@pytest.mark.parametrize("name", NAMES)
def test_values_are_written_alike(name, guard, monkeypatch):
    for case in PLAIN:
        schema = CASES[case]
        if registry.check(name, schema):
            continue
        one, other = codecs(name, schema, monkeypatch, guard=guard)
        kinds = [{}, {"loose": True}, {"junk": True}] if guard == "on" else [{}]
        for kind in kinds:
            for value in samples(schema, 10, **kind):
                assert outcome(one.encode, value) == outcome(other.encode, value), case
                assert type(outcome(one.convert, value)) is type(outcome(other.convert, value))


@pytest.mark.parametrize("name", NAMES)
def test_damaged_values_are_refused_or_normalised_alike(name, monkeypatch):
    one, other = codecs(name, Root, monkeypatch)
    assert one.encode(ROOT) == other.encode(ROOT)
    for value in mutants(ROOT, f"write {name}", 400):
        assert outcome(one.encode, value) == outcome(other.encode, value)


@pytest.mark.parametrize("unknown_fields", ["drop", "refuse"])
@pytest.mark.parametrize("name", NAMES)
def test_damaged_trees_are_read_alike(name, unknown_fields, monkeypatch):
    for source in (Root, CASES["json_like"], CASES["defaults_of_dicts"]):
        one, other = codecs(name, source, monkeypatch, unknown_fields=unknown_fields)
        values = [ROOT] if source is Root else samples(source, 3)
        trees = [tree for value in values for tree in mutants(one.load(one.encode(value)), f"read {name}", 150)]
        for tree in trees:
            found = outcome(one.restore, copy.deepcopy(tree))
            assert_alike(found, outcome(other.restore, copy.deepcopy(tree)))


@pytest.mark.parametrize("name", NAMES)
def test_messages_of_other_writers_are_read_alike_without_the_guard(name, monkeypatch):
    one, other = codecs(name, Root, monkeypatch, guard="off")
    tree = {**ROOT, "numbers": [1, 2.5, -3], "leaves": [{**LEAF, "half": 1, "maybe": 2}]}
    data = registry.codec(name, Root, guard="off").dump(tree)
    assert_alike(one.decode(data), other.decode(data))
    more = one.dump({**ROOT, "unknown": 1})
    assert_alike(one.decode(more), other.decode(more))


@pytest.mark.parametrize("name", NAMES)
def test_depth_is_bounded_alike_and_a_cycle_ends(name, monkeypatch):
    # The C part gives up at 200 levels, whatever the limit is; the generated walk goes on.
    for limits, most in ((Limits(), 120), (Limits(depth=7), 12), (Limits(depth=240), 220)):
        one, other = codecs(name, Root, monkeypatch, limits=limits)
        value = ROOT["inner"]
        for level in range(most):
            value = {**value, "inner": value}
            if level % 10 in {5, 8, 9} or most == 12:
                assert outcome(one.encode, value) == outcome(other.encode, value), level
    one, other = codecs(name, Root, monkeypatch)
    cycle: Any = dict(ROOT)
    cycle["inner"] = cycle
    found = outcome(one.encode, cycle)
    assert "contains itself" in found
    assert found == outcome(other.encode, cycle)


@pytest.mark.parametrize("name", NAMES)
def test_limits_hold_alike(name, monkeypatch):
    for limits in (Limits(elements=3), Limits(elements=12), Limits(bytes=100)):
        one, other = codecs(name, Root, monkeypatch, limits=limits)
        data = registry.codec(name, Root).encode(ROOT)
        assert outcome(one.encode, ROOT) == outcome(other.encode, ROOT)
        assert_alike(outcome(one.decode, data), outcome(other.decode, data))


def test_what_the_c_part_takes_is_what_it_says():
    plain = registry.codec("json", Root)
    assert isinstance(plain.encode.__self__, _tree.Coder)
    assert isinstance(plain.decode.__self__, _tree.Coder)
    for other in (list[bytes], CASES["tensors"], CASES["recursive"]):
        assert not isinstance(getattr(registry.codec("json", other).encode, "__self__", None), _tree.Coder)


def test_decode_takes_its_arguments_as_it_does_elsewhere():
    codec = registry.codec("json", list[int])
    assert codec.decode(b"[1]", copy=False) == codec.decode(bytearray(b"[1]")) == [1]
    for wrong in (codec.decode, lambda: codec.decode(b"1", False), lambda: codec.decode(b"1", cop=True)):
        with pytest.raises(TypeError):
            wrong()


class Equal(str):
    """A key that is equal to a field's name, and runs code to say so."""

    __slots__ = ()
    asked = 0

    def __eq__(self, other: object) -> bool:
        Equal.asked += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_keys_and_values_of_other_classes_are_left_to_the_generated_walk(monkeypatch):
    one, other = codecs("json", Leaf, monkeypatch)

    class Number(int):
        pass

    class Dict(dict):
        pass

    for value in (
        {Equal(key): item for key, item in LEAF.items()},
        {**LEAF, "small": Number(5)},
        Dict(LEAF),
        {**LEAF, "name": Equal("x")},
    ):
        assert outcome(one.encode, value) == outcome(other.encode, value)


def test_nothing_is_leaked_by_values_trees_and_codecs():
    codec = registry.codec("json", Root)
    data = codec.encode(ROOT)
    wrong = {**ROOT, "nothing": 1}

    def turn():
        codec.decode(codec.encode(ROOT))
        codec.decode(data.replace(b"1.5", b"15"))
        outcome(codec.encode, wrong)
        outcome(codec.decode, data[:-1])

    assert blocks_left(turn, calls=400) < 90
    assert blocks_left(lambda: registry.codec("json", dict[str, float | str]).encode({"a": "b"}), calls=100) < 90


def test_bad_programs_are_refused():
    rest = {
        "checks": True, "finite": False, "surrogates": False, "can_write": True, "can_read": True, "ends_apart": False, "limits": (1, 1, 1),
        **dict.fromkeys(("dumps", "loads", "encode", "decode", "write", "read"), print),
    }  # fmt: skip
    node = native.node_of
    for nodes, root in (
        ((), 0),
        ((node(native.Op.STR),), 1),
        ((node(native.Op.STR),), -1),
        ((node(native.Op.LIST, item=3),), 0),
        ((node(native.Op.OPTIONAL, item=0),), 0),
        ((node(native.Op.INT, parts=(0, -1)),), 0),
        ((node(native.Op.ENUM, parts=(float, frozenset())),), 0),
        ((node(native.Op.RECORD, parts=((b"x", 0, True, True),)),), 0),
        (((99, *node(native.Op.STR)[1:]),), 0),
        (((),), 0),
        ((5,), 0),
    ):
        with pytest.raises((ValueError, TypeError, OverflowError)):
            _tree.Coder(nodes=nodes, root=root, **rest)


def test_threads_share_the_c_part():
    codec = registry.codec("json", Root)
    wanted = codec.encode(ROOT)
    failures: list[Any] = []

    def work() -> None:
        found = [(codec.encode(ROOT), codec.decode(wanted)) for _ in range(300)]
        failures.extend(pair for pair in found if pair[0] != wanted or difference(pair[1], ROOT) is not None)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_spans_are_found_alike():
    msgpack = pytest.importorskip("msgpack")
    rng = random.Random(5)
    trees = [{"a": bytes(n), "b": [msgpack.ExtType(5, bytes(n)), "x" * n, n, -n, n / 3, None], "c": {n: bytes(3)}}
             for n in (0, 3, 31, 32, 255, 256, 70_000)]  # fmt: skip
    for tree, turn in itertools.product(trees, range(60)):
        data = bytearray(msgpack.packb(tree))
        for _ in range(turn % 4):
            data[rng.randrange(min(len(data), 60))] = rng.randrange(256)
        for least, steps in ((0, 10**9), (4, 10**9), (4, 9), (1000, 0)):
            assert _tree.find_spans(bytes(data), least, steps) == spans.find_spans(bytes(data), least, steps)
            assert _tree.find_spans(memoryview(data), least, steps) == spans.find_spans(data, least, steps)
