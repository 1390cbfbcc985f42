"""The codec pickle: it is ``pickle.dumps`` of the value, and its reader finds the schema's classes alone."""

from __future__ import annotations

import dataclasses
import enum
import pickle
from typing import Any

import msgspec
import numpy as np
import pytest

from zcser import registry
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.fidelity import equal
from zcser.schema.annotations import Float32


class Mode(enum.Enum):
    FAST = "f"


class Part(msgspec.Struct, kw_only=True):
    weight: Float32 = 0.5


@dataclasses.dataclass(slots=True)
class Whole:
    name: str
    mode: Mode
    parts: list[Part]
    data: np.ndarray
    later: int = 7
    many: list[int] = dataclasses.field(default_factory=lambda: [1])


def whole() -> Whole:
    return Whole("x", Mode.FAST, [Part(weight=0.25)], np.arange(3, dtype=np.int16))


def trusting(schema: Any = Whole, **options: Any) -> Any:
    return registry.codec("pickle", schema, allow_untrusted_code=True, **options)


def test_a_message_is_what_pickle_makes_of_the_value():
    assert trusting().encode(whole()) == pickle.dumps(whole(), 5)
    assert equal(trusting().decode(pickle.dumps(whole(), 5)), whole())
    assert equal(pickle.loads(trusting().encode(whole())), whole())


def test_decoding_is_refused_until_the_user_says_that_the_bytes_are_trusted():
    plain = registry.codec("pickle", Whole)
    for guard in ("on", "off"):
        for read in (registry.codec("pickle", Whole, guard=guard).decode, plain.load):
            with pytest.raises(DecodeError, match="allow_untrusted_code=True"):
                read(plain.encode(whole()))


CALLED: list[Any] = []


class Spy:
    def __reduce__(self) -> Any:
        return CALLED.append, (1,)


@dataclasses.dataclass
class Stranger:
    name: str


@pytest.mark.parametrize("guard", ["on", "off"])
def test_no_class_and_no_function_but_the_schemas_is_found(guard):
    codec = trusting(guard=guard)
    for stranger in (Spy(), Stranger("x"), len, np.random.default_rng, object, pickle.Unpickler, np.float64(1)):
        with pytest.raises(DecodeError, match="no class of this schema"):
            codec.decode(pickle.dumps(stranger))
    assert CALLED == []


def test_what_normal_would_change_is_changed_before_it_is_pickled():
    value = whole()
    value.data = np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3))
    value.parts = [Part(weight=0.1), Part(weight=np.float64(2))]
    value.name = np.str_("y")
    found = trusting().decode(trusting().encode(value))
    assert type(found.name) is str
    assert [part.weight for part in found.parts] == [float(np.float32(0.1)), 2.0]
    assert type(found.parts[1].weight) is float
    assert found.data.flags.c_contiguous
    assert equal(found.data, np.arange(6, dtype=np.int32).reshape(2, 3))
    with pytest.raises(EncodeError) as caught:
        trusting().encode(dataclasses.replace(value, later="seven"))
    assert caught.value.path == "/later"


def test_what_is_unpickled_is_held_to_the_schema():
    for field, wrong, path in (
        ("later", "seven", "/later"),
        ("parts", [Part(weight="heavy")], "/parts/0/weight"),
        ("mode", "f", None),
        ("data", [1], "/data"),
        ("name", None, "/name"),
    ):
        value = dataclasses.replace(whole(), **{field: wrong})
        if path is None:  # the value of a member stands for it, as in every tree
            assert trusting().decode(pickle.dumps(value)).mode is Mode.FAST
            continue
        with pytest.raises(DecodeError) as caught:
            trusting().decode(pickle.dumps(value))
        assert caught.value.path == path


def test_fields_that_an_older_pickle_lacks_take_their_defaults():
    value = whole()
    del value.later, value.many
    codec = trusting()
    found = codec.decode(pickle.dumps(value))
    assert (found.later, found.many) == (7, [1])
    assert codec.decode(pickle.dumps(value)).many is not found.many
    del value.name
    with pytest.raises(DecodeError, match="name"):
        codec.decode(pickle.dumps(value))


def test_arrays_are_the_callers_own_or_read_only():
    value = whole()
    value.data.flags.writeable = False
    assert trusting().decode(trusting().encode(value)).data.flags.writeable
    assert not trusting().decode(trusting().encode(value), copy=False).data.flags.writeable


def test_a_class_that_pickle_would_not_find_is_a_schema_error():
    @dataclasses.dataclass
    class Local:
        x: int

    with pytest.raises(SchemaError, match="top of its module") as caught:
        trusting(list[Local])
    assert caught.value.path == "Local"
