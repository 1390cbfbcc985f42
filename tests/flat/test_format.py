"""All of the format, both ways, against flatc: what either writes the other reads as the same, on both engines."""

from __future__ import annotations

import functools
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zcser
from tests.flat.flat_values import value_of
from tests.flat.flatc import GOOGLE, INCLUDES, REFUSED, UNSUPPORTED, binary, document, label, sources, tables_of
from tests.flat.flatc_json import BACKENDS, Reader, engine_of, json_of, rounded, schema_of, without
from zcser.core.errors import DecodeError
from zcser.core.fidelity import difference
from zcser.core.options import Options
from zcser.core.view import to_value
from zcser.flat.bfbs import FlatSchema, normaliser_for, program_for

pytestmark = pytest.mark.skipif(not GOOGLE.is_dir(), reason="the shared data is not beside this checkout")


# --- Upstream's own data -----------------------------------------------------------------------------------------------

MESSAGES = {
    "monster, C++": ("monster_test.fbs", "monsterdata_test.mon"),
    "monster, Python": ("monster_test.fbs", "monsterdata_python_wire.mon"),
    "monster, Swift": ("monster_test.fbs", "swift/Tests/Flatbuffers/monsterdata_test.mon"),
    "monster, JSON": ("monster_test.fbs", "monsterdata_test.json"),
    "unicode": ("monster_test.fbs", "unicode_test.mon"),
    "unicode, JSON": ("monster_test.fbs", "unicode_test.json"),
    "sample": ("_samples_monster.fbs", "_samples_monsterdata.json"),
    "nan and inf": ("monster_extra.fbs", "monsterdata_extra.json"),
    "optional scalars": ("optional_scalars.fbs", "optional_scalars.json"),
    "optional scalars, defaults": ("optional_scalars.fbs", "optional_scalars_defaults.json"),
    "alignment": ("alignment_test.fbs", "alignment_test_after_fix.bin"),
    "annotated": ("annotated_binary/annotated_binary.fbs", "annotated_binary/annotated_binary.bin"),
    "annotated, JSON": ("annotated_binary/annotated_binary.fbs", "annotated_binary/annotated_binary.json"),
    "annotated, older": ("annotated_binary/annotated_binary_old.fbs", "annotated_binary/annotated_binary.bin"),
    "evolution, new": ("evolution_test/evolution_v2.fbs", "evolution_test/evolution_v2.json"),
    "vector of unions": ("union_vector/union_vector.fbs", "union_vector/union_vector.json"),
}

DOCUMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "arrays": (
        "arrays_test.fbs",
        {
            "a": {
                "a": 12.5, "b": list(range(15)), "c": -2, "e": 7, "f": [-1, 1 << 60],
                "d": [
                    {"a": [-1, 2], "b": "B", "c": ["C", "A"], "d": [2, -(1 << 60)]},
                    {"a": [3, -4], "b": "A", "c": ["B", "A"], "d": [-2, 1 << 60]},
                ],
            }
        },
    ),
    "keys": (
        "key_field/key_field_sample.fbs",
        {
            "a": 1, "c": "key",
            "d": [{"a": [1, 2, 3, 4], "b": 5}],
            "e": [{"a": [0.5, 1.5, 2.5], "b": 3}],
            "g": [{"a": {"tag": 1, "color": {"rgb": [0.5, 0.25, 1.0], "tag": 9}}, "b": 7}],
            "h": [{"a": [{"origin": [1, 2, 3], "quantity": 4}] * 3, "tag": 5}],
        },
    ),
    "nan and inf": ("nan_inf_test.fbs", {"value_nan": "nan", "value_inf": "inf", "value_ninf": "-inf", "value": 3.0}),
    "empty": ("nan_inf_test.fbs", {}),
    "nested union": ("nested_union_test.fbs", {"name": "n", "data_type": "Vec3", "data": {"x": 1.0, "test3": {"a": 1, "b": 2}}}),
    "default strings": ("more_defaults.fbs", {}),
    "strings and vectors that are no defaults": (
        "more_defaults.fbs", {"ints": [1], "empty_string": "full", "some_string": "", "abcs": ["C", "A"], "bools": [True]},
    ),
    "misaligned by older versions": (
        "alignment_test.fbs", {"large": {"large": {"var_0": 1 << 60}}, "small": [{"var_0": 1, "var_1": 2, "var_2": 3}] * 3},
    ),
    "structs of odd size": (
        "alignment_test.fbs", {"even_structs": [{"var_0": 2, "var_1": 1}] * 3, "odd_structs": [{"var_0": 1, "var_1": 2, "var_2": 3}] * 3},
    ),
    "evolution, old": (
        "evolution_test/evolution_v1.fbs",
        {
            "a": 42, "b": True, "c_type": "TableB", "c": {"a": 15}, "d": "Queen", "e": {"a": 3.5, "b": 325},
            "f": {"a": 16, "b": 243.980943}, "g": [7, 8, 9], "h": [{"a": 212}, {"a": 459}],
        },
    ),
    "unions that collide": (
        "union_value_collision.fbs",
        {"some_value_type": "IntValue", "some_value": {"value": 1}, "value_type": "IntValue", "value": {"value": 2}},
    ),
    "all unions": (
        "union_vector/union_vector.fbs",
        {
            "main_character_type": "Rapunzel", "main_character": {"hair_length": 6},
            "characters_type": ["Belle", "MuLan", "BookFan", "Other", "Unused"],
            "characters": [{"books_read": 7}, {"sword_attack_damage": 5}, {"books_read": 2}, "Other", ""],
        },
    ),
    "nested messages": (
        "monster_test.fbs",
        {
            "name": "outer", "pos": {"x": 1.0, "y": 2.0, "z": 3.0, "test1": 3.0, "test2": "Green", "test3": {"a": 5, "b": 6}},
            "testnestedflatbuffer": {"name": "inner", "testnestedflatbuffer": {"name": "innermost", "inventory": [1, 2]}},
            "any_ambiguous_type": "M2", "any_ambiguous": {"name": "second"}, "long_enum_normal_default": "LongOne LongBig",
            "vector_of_enums": ["Red", "Green Blue"], "signed_enum": "Dwarf",
        },
    ),
}  # fmt: skip


ROOTS = {
    "default strings": "MoreDefaults",
    "strings and vectors that are no defaults": "MoreDefaults",
    "misaligned by older versions": "BadAlignmentRoot",
}
"""Where it is not the schema's own."""


def options_of(case: str) -> list[str]:
    return ["--root-type", ROOTS[case]] if case in ROOTS else []


@functools.cache
def upstream(case: str, folder: Path) -> tuple[FlatSchema, Path, bytes, Any]:
    """Schema, its file, message, and what flatc prints of it."""
    if case in DOCUMENTS:
        name, content = DOCUMENTS[case]
        source = folder / "document.json"
        source.write_text(json_of(content))
    else:
        name, data = MESSAGES[case]
        source = GOOGLE / data
    path, root, options = GOOGLE / name, ROOTS.get(case), options_of(case)
    message = binary(folder, path, source, *options) if source.suffix == ".json" else source.read_bytes()
    return schema_of(path, root), path, message, document(folder, path, message, *options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Callable[[str], Path]:
    return functools.cache(lambda case: tmp_path_factory.mktemp("flatc"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", [*MESSAGES, *DOCUMENTS])
def test_both_read_what_either_writes(case, backend, folder):
    schema, path, message, printed = upstream(case, folder(case))
    engine = engine_of(backend, schema)
    engine.verify(message)
    value = engine.decode(message)
    assert difference(to_value(engine.view(message)), value) is None
    # flatc reads a FlexBuffer and prints its content; here it stays bytes.
    expected = zcser.normal(schema, without(Reader(schema).value(printed), "flex"))
    assert difference(rounded(without(value, "flex")), rounded(without(expected, "flex"))) is None

    written = engine.encode(value)
    assert difference(engine.decode(written), value) is None
    again = document(folder(case), path, written, *options_of(case))
    # Strings and vectors that are defaults are written here, and printed then.
    assert difference(zcser.normal(schema, without(Reader(schema).value(again), "flex")), expected) is None
    assert repr({name: again[name] for name in printed}) == repr(printed)


@pytest.mark.parametrize("case", [*MESSAGES, *DOCUMENTS])
def test_both_engines_write_the_same(case, folder):
    schema, _, message, _ = upstream(case, folder(case))
    pure, native = (engine_of(backend, schema) for backend in BACKENDS)
    value = pure.decode(message)
    assert difference(native.decode(message), value) is None
    assert pure.encode(value) == native.encode(value)


# --- Random values -----------------------------------------------------------------------------------------------------

SOME = 8
"""Tables of a schema that the quick tests take; TensorFlow Lite's has 150."""
SOURCES = [pytest.param(path, id=label(path)) for path in sources("*.fbs") if label(path) not in REFUSED]


@pytest.mark.parametrize(
    "part",
    [pytest.param(slice(0, SOME), id="some"), pytest.param(slice(SOME, None), id="others", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("path", SOURCES)
def test_engines_agree_on_random_values_of_every_table(path, part):
    generator = random.Random(str(path.name))
    tables = tables_of(path)
    for table in tables[part]:
        one = schema_of(path, tables[0]).with_root(table)
        program, normal = program_for(one), normaliser_for(one, Options(), codec="flatbuffers")
        pure, native = (engine_of(backend, one) for backend in BACKENDS)
        for _ in range(3):
            value = value_of(generator, program)
            message, expected = pure.encode(value), normal(value)
            assert native.encode(value) == message
            for engine in (pure, native):
                assert difference(engine.decode(message), expected) is None
                assert difference(to_value(engine.view(message)), expected) is None


@pytest.mark.parametrize("path", SOURCES)
def test_flatc_reads_random_values(path, tmp_path):
    for root in tables_of(path)[:1]:
        schema = schema_of(path, root)
        # What flatc itself cannot print: vectors of 64 bits, wide unions.
        if any(node.wide_length for node in program_for(schema).nodes) or label(path) in {
            name for name, _ in UNSUPPORTED
        }:
            continue
        engine, generator = engine_of("pure", schema), random.Random(str(path.name))
        for _ in range(2):
            value = printable(value_of(generator, program_for(schema)))
            printed = document(tmp_path, path, engine.encode(value), "--root-type", root)
            found = zcser.normal(schema, Reader(schema).value(printed))
            assert difference(rounded(found), rounded(zcser.normal(schema, value))) is None


def printable(value: Any) -> Any:
    """A value less what flatc cannot print: NONE in vectors of unions, and bytes that are no FlexBuffer."""
    if isinstance(value, list):
        return [printable(item) for item in value if item is not None]
    if isinstance(value, dict):
        return {key: printable(item) for key, item in value.items() if key != "flex"}
    return value


@pytest.mark.parametrize("backend", BACKENDS)
def test_messages_with_offsets_of_64_bits_are_read(backend, tmp_path):
    # flatc cannot print them: the document is what it was given.
    path = GOOGLE / "64bit" / "test_64bit.fbs"
    schema, source = schema_of(path), path.with_suffix(".json")
    expected = zcser.normal(schema, Reader(schema).value(json.loads(source.read_text())))
    engine = engine_of(backend, schema)
    for message in (path.with_suffix(".bin").read_bytes(), binary(tmp_path, path, source), engine.encode(expected)):
        assert difference(engine.decode(message), expected) is None
        assert difference(to_value(engine.view(message)), expected) is None


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_size_prefix_is_written_and_read_as_flatc_has_it(backend, tmp_path):
    path = GOOGLE / "monster_test.fbs"
    message = binary(tmp_path, path, GOOGLE / "monsterdata_test.json", "--size-prefixed")
    (size,) = struct.unpack_from("<I", message)
    assert size == len(message) - 4
    schema = zcser.load_fbs(path, include=INCLUDES, size_prefixed=True)
    engine = engine_of(backend, schema)
    value = engine.decode(message)
    written = engine.encode(value)
    assert struct.unpack_from("<I", written) == (len(written) - 4,)
    assert written[8:12] == b"MONS"
    assert repr(document(tmp_path, path, written, "--size-prefixed")) == repr(
        document(tmp_path, path, message, "--size-prefixed")
    )


@pytest.mark.parametrize("name", ["json", "orjson", "msgpack", "protobuf", "flatbuffers", "flatbuffers-official"])
def test_every_codec_carries_what_a_message_holds(name, folder):
    schema, _, message, _ = upstream("evolution, new", folder("evolution, new"))
    value = zcser.codec("flatbuffers", schema).decode(message)
    codec = zcser.codec(name, schema)
    assert difference(codec.decode(codec.encode(value)), value) is None
    assert difference(codec.decode(codec.encode({})), zcser.normal(schema, {})) is None


def test_what_no_union_holds_is_refused_with_its_path():
    codec = zcser.codec("flatbuffers", schema_of(GOOGLE / "union_vector" / "union_vector.fbs"))
    for value in ({}, {"MuLan": {}, "Other": "x"}, {"Nobody": {}}):
        with pytest.raises(zcser.EncodeError) as caught:
            codec.encode({"characters": [None, value]})
        assert caught.value.path == "/characters/1"


# --- Malformed messages ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "path", sorted((GOOGLE / "annotated_binary" / "tests").glob("*.bin")), ids=lambda path: path.stem
)
def test_every_malformed_message_of_upstream_is_refused(path, backend):
    engine = engine_of(backend, schema_of(GOOGLE / "annotated_binary" / "annotated_binary.fbs"))
    for read in (engine.verify, engine.decode, engine.view):
        with pytest.raises(DecodeError):
            read(path.read_bytes())
