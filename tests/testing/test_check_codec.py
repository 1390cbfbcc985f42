"""`check_codec`: passes every built-in codec, and finds what is wrong with each that has a fault."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.testing.faulty import FAULTS, Good, GoodPacked, GoodViews
from zcser import registry
from zcser.core.codec import CodecInfo
from zcser.core.options import Options
from zcser.schema.from_python import schema_of
from zcser.testing import CodecCheckError, check_codec, hostile
from zcser.testing.cases import CASES, Node
from zcser.testing.check import LAWS

QUICK = ("sized", "numbers", "maps", "unions", "tensors", "root_number")

SET_UP_CALLS = {"protobuf": 3000, "capnp": 3000}
"""They compile the code of each operation when that is first used, which a codec for one of them has the good of."""

WITHOUT = {"avro": ["unknown fields"], "pickle": ["unknown fields"]}
"""An Avro message is read by the schema that wrote it; to pickle, a class with a field more is another class."""


@pytest.mark.parametrize("name", registry.names())
def test_every_codec_that_is_installed_passes(name):
    if not isinstance(registry.available()[name], CodecInfo):
        pytest.skip(str(registry.available()[name]))
    without = WITHOUT.get(name, [])
    report = check_codec(name, only=QUICK, set_up_calls=SET_UP_CALLS.get(name, 200), without=without)
    assert report.ok
    assert report.codec == name
    assert max(report.checked.values()) == len(QUICK) - len(report.refused)


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.names())
def test_every_codec_that_is_installed_passes_with_all_schemas(name):
    if isinstance(registry.available()[name], CodecInfo):
        check_codec(name, set_up_calls=SET_UP_CALLS.get(name, 200), without=WITHOUT.get(name, []))


@pytest.mark.parametrize("cls", [Good, GoodPacked, GoodViews])
def test_what_the_faulty_ones_are_made_of_passes(cls):
    needed = sorted({case for faulty, _, _, case in FAULTS if issubclass(faulty, cls)})
    check_codec(cls, only=needed)


@pytest.mark.parametrize(
    ("cls", "law", "word", "case"), FAULTS, ids=[f"{cls.__name__}-{law}" for cls, law, _, _ in FAULTS]
)
def test_each_fault_is_found(cls, law, word, case, monkeypatch):
    monkeypatch.setattr(hostile, "_CPU_S", 0.05)
    with pytest.raises(AssertionError) as caught:
        check_codec(cls, only=[case])
    report = caught.value.report
    messages = [finding.message for finding in report.findings if finding.law == law]
    assert any(word in message for message in messages), str(report)
    assert str(report) == str(caught.value)


def test_every_law_has_a_codec_that_breaks_it():
    assert {law.name for law in LAWS} | {"trusted bytes", "schemas"} == {law for _, law, _, _ in FAULTS}


def test_the_report_can_be_read_and_is_returned_on_request():
    (cls, *_) = next(entry for entry in FAULTS if entry[0].__name__ == "GivesDicts")
    report = check_codec(cls, only=["texts"], raises=False)
    assert not report.ok
    text = str(report)
    assert text.startswith("codec 'json': ")
    assert "fidelity [texts]: decode gives a dict where Texts objects were promised (one of the plain values)" in text
    header = check_codec("header", only=["sized", "texts"])
    assert "no findings" in str(header)
    assert "Texts/text" in header.refused["texts"]


def test_an_object_is_checked_with_its_own_schema_and_options():
    report = check_codec(registry.codec("msgpack", Node, strict=True))
    assert report.ok
    assert set(report.checked.values()) == {1}
    broken = next(cls for cls, *_ in FAULTS if cls.__name__ == "KeepsBytesByContent")
    with pytest.raises(CodecCheckError, match=r"its own.*keeps encoded messages"):
        check_codec(broken(schema_of(Node), Options()))


def test_a_schema_of_ones_own_must_be_carried():
    check_codec("msgpack", schemas={"mine": dict[str, list[Node]]}, only=["mine"])
    with pytest.raises(
        CodecCheckError, match=r"schemas \[mine\]: a schema that must be carried is refused: header: str"
    ):
        check_codec("header", schemas={"mine": str}, only=["sized", "mine"])


def test_a_law_is_left_out_on_request_and_the_report_says_so():
    report = check_codec("avro", only=["sized"], without=["unknown fields"])
    assert report.ok
    assert "not checked, unknown fields: left out on request" in str(report)
    with pytest.raises(ValueError, match="no law is named 'nonsense'; known: "):
        check_codec("avro", without=["nonsense"])


def test_what_only_reads_needs_a_writer():
    class Reader(Good):
        wire = "a wire of nobody"

    Reader.encode = Good.__dict__["decode_lines"]  # what stands for a missing operation
    with pytest.raises(TypeError, match="writer="):
        check_codec(Reader, only=["sized"])


@pytest.mark.parametrize(("codec", "error"), [(int, TypeError), (5, TypeError), ("nobody", LookupError)])
def test_what_is_no_codec_is_refused(codec, error):
    with pytest.raises(error):
        check_codec(codec)
    with pytest.raises(ValueError, match="known: sized"):
        check_codec("json", only=["nothing"])


def test_it_needs_neither_pytest_nor_hypothesis_and_zcser_does_not_load_it():
    script = (
        "import sys, zcser\nassert not [m for m in sys.modules if m.startswith('zcser.testing')]\n"
        "sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
        "from zcser.testing import check_codec\nprint(check_codec('json', only=['sized']).ok)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_the_schemas_hold_every_kind():
    from zcser.schema.model import Kind, walk

    kinds = {
        part.kind
        for schema in CASES.values()
        for type_ in (schema.root, *(item.type for record in schema.records for item in record.fields))
        for part in walk(type_)
    }
    # No codec is given logical values and sets: they are lowered first.
    assert kinds == set(Kind) - {Kind.LOGICAL, Kind.SET}
