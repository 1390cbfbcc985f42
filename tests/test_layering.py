"""Light: importing zcser loads no serializer, and asking for one codec loads that one's library alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import zcser

SERIALIZERS = {
    "orjson",
    "simdjson",
    "msgpack",
    "ormsgpack",
    "google",
    "flatbuffers",
    "msgspec",
    "cbor2",
    "ujson",
    "bson",
    "fastavro",
    "thrift",
    "pyarrow",
    "ml_dtypes",
    "capnp",
    "pyfory",
}
HEAVY = SERIALIZERS | {"rich", "rich_argparse", "psutil", "cpuinfo", "pytest", "hypothesis", "asyncio", "unittest"}


def modules_after(script: str) -> set[str]:
    """The modules that a fresh interpreter holds after a script."""
    code = f"{script}\nimport sys, json\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def tops(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_importing_zcser_loads_no_serializer_and_no_codec():
    loaded = modules_after("import zcser")
    assert not tops(loaded) & HEAVY
    assert not {name for name in loaded if name.startswith("zcser.codecs")}
    assert "numpy" not in loaded, "numpy itself waits for the first name that needs it"


def test_listing_the_codecs_by_name_loads_none():
    loaded = modules_after("import zcser.registry as r; assert r.names()")
    assert not tops(loaded) & SERIALIZERS
    assert not {name for name in loaded if name.startswith("zcser.codecs.")}


def test_reading_a_schema_from_annotations_loads_no_serializer():
    loaded = modules_after("from zcser.schema.from_python import schema_of; schema_of(dict[str, list[int]])")
    assert not tops(loaded) & SERIALIZERS


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("json", None),
        ("orjson", "orjson"),
        ("msgpack", "msgpack"),
        ("protobuf", "google"),
        ("header", None),
        ("ormsgpack", "ormsgpack"),
        ("msgspec-json", "msgspec"),
        ("msgspec-msgpack", "msgspec"),
        ("pickle5", None),
        ("pickle", None),
        ("cbor2", "cbor2"),
        ("ujson", "ujson"),
        ("bson", "bson"),
        ("arrow", "pyarrow"),
        ("safetensors", None),
        ("kserve", None),
        ("capnp", "capnp"),
        ("fory", "pyfory"),
        ("avro", "fastavro"),
        ("thrift", "thrift"),
    ],
)
def test_asking_for_one_codec_loads_its_library_alone(name, library):
    if library is not None:
        pytest.importorskip(library)
    # A list has no fixed size, and a number alone is no body of KServe's.
    schema, value = ("int", 5) if name == "header" else ("list[int]", [5])
    mixed = [] if zcser.check(name, list[int | str], allow_untrusted_code=True) else [("list[int | str]", [1, "a"])]
    made = [
        (f"zcser.codec({name!r}, {source}, allow_untrusted_code=True)", value)
        for source, value in [(schema, value), *mixed]
    ]
    script = (
        f"import sys, zcser\ncodecs = [{', '.join(code for code, _ in made)}]\nloaded = set(sys.modules)\n"
        f"for codec, value in zip(codecs, {[value for _, value in made]}):\n"
        "    assert codec.decode(codec.encode(value)) == value\n"
        # Whatever a library loads in its first calls would stand in their time.
        "assert set(sys.modules) == loaded, set(sys.modules) - loaded\nassert codec.info.name == codec.name"
    )
    loaded = modules_after(script)
    # pyfory itself imports pyarrow where that is installed.
    brought = {"pyarrow"} if library == "pyfory" else set()
    assert tops(loaded) & SERIALIZERS <= {library, *brought}


def test_asking_whether_a_codec_has_an_operation_loads_no_other_codec():
    loaded = modules_after("import zcser\nassert not hasattr(zcser.codec('json', int), 'encode_into')")
    assert not tops(loaded) & SERIALIZERS


def test_public_names_resolve_and_are_listed():
    import zcser

    for name in zcser.__all__:
        assert getattr(zcser, name) is not None
        assert name in dir(zcser)
    with pytest.raises(AttributeError, match="nothing"):
        zcser.nothing  # noqa: B018 - the access is the test
