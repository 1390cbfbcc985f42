"""``zcser evolve``: what it prints, what it writes, and its exit codes."""

import dataclasses
import json
import sys
import types
from typing import Annotated

import pytest

from zcser import Id
from zcser.cli import main
from zcser.schema.annotations import Int32


@pytest.fixture
def classes(monkeypatch):
    """A module of classes for the command to find."""
    module = types.ModuleType("evolving")

    def add(name, *fields):
        made = [field if len(field) == 2 else (*field[:2], dataclasses.field(default=field[2])) for field in fields]
        setattr(module, name, dataclasses.make_dataclass(name, made, namespace={"__module__": "evolving"}))

    add("Old", ("x", Int32), ("note", str))
    add("New", ("x", Annotated[int, Id(1)]), ("note", str), ("more", int, 5))
    add("Swapped", ("note", str), ("x", Int32))
    monkeypatch.setitem(sys.modules, "evolving", module)


def test_a_safe_change_is_0_and_says_what_changed(classes, capsys):
    assert main(["evolve", "evolving:Old", "evolving:New", "--codecs", "json"]) == 0
    out = capsys.readouterr().out
    assert "Old/x widened: int32 to int64" in out
    assert "more added: int64, id 3, default 5" in out
    assert "Old/x widened: old reader, new data: works or error (json: integer is outside int32 (at /x))" in out
    assert "renamed: old reader" not in out  # alone the other name of the class does no harm
    assert out.splitlines()[-1] == "safe if readers are deployed before writers: json."


def test_an_unsafe_change_is_1_unless_its_outcomes_are_allowed(classes, capsys):
    pytest.importorskip("google.protobuf")
    command = ["evolve", "evolving:Old", "evolving:Swapped", "--codecs", "json,protobuf"]
    assert main(command) == 1
    out = capsys.readouterr().out
    assert "Old renumbered: x from id 1 to 2, note from id 2 to 1" in out
    assert out.splitlines()[-1] == "safe: json; unsafe: protobuf."
    # The wire types of an int and a text differ, so that each field is unknown to the other side.
    assert main([*command, "--allow", "lost"]) == 0


def test_the_same_schema_is_safe(classes, capsys):
    assert main(["evolve", "evolving:Old", "evolving:Old", "--codecs", "json"]) == 0
    assert "nothing changed" in capsys.readouterr().out


def test_everything_is_written_as_json(classes, tmp_path):
    path = tmp_path / "evolution.json"
    assert main(["evolve", "evolving:Old", "evolving:New", "--codecs", "json", "--json", str(path)]) == 0
    found = json.loads(path.read_text())
    assert found["schema_version"] == 1
    assert {change["kind"] for change in found["changes"]} == {"record_rename", "widen", "add"}
    (codec,) = found["codecs"]
    assert codec["verdict"] == "readers_first"
    (widened,) = (change for change in codec["changes"] if change["kind"] == "widen")
    assert widened["backward"]["outcomes"].keys() == {"works"}
    assert widened["forward"]["outcomes"].keys() == {"works", "error"}
    assert "outside int32" in widened["forward"]["reason"]


def test_schemas_of_files_are_taken(tmp_path, capsys):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text('{"id": 7}')
    new.write_text('{"id": 7, "tags": ["a"]}')
    # The new reader misses the tags, the old one passes over them.
    assert main(["evolve", str(old), str(new), "--codecs", "json"]) == 0
    assert "tags added: list of str" in capsys.readouterr().out
    # The same of the schemas, as they are committed.
    for path in (old, new):
        assert main(["schema", str(path), "--emit", "zcser"]) == 0
        path.write_text(capsys.readouterr().out)
    assert main(["evolve", str(old), str(new), "--codecs", "json"]) == 0
    assert "tags added: list of str" in capsys.readouterr().out


def test_proto_files_are_taken_with_their_numbers(tmp_path, capsys):
    pytest.importorskip("grpc_tools")
    old, new = tmp_path / "old.proto", tmp_path / "new.proto"
    old.write_text('syntax = "proto3"; message M { int32 a = 1; string b = 2; }')
    new.write_text('syntax = "proto3"; message M { int32 a = 1; string c = 2; }')
    assert main(["evolve", f"{old}:M", f"{new}:M", "--codecs", "protobuf,json"]) == 1
    out = capsys.readouterr().out
    assert "b renamed: to c, id 2" in out
    assert out.splitlines()[-1] == "safe: protobuf; unsafe: json."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evolving:Old", "absent.json"], "absent.json"),
        (["evolving:Old", "evolving:Nobody"], "Nobody"),
        (["evolving:Old", "evolving:New", "--codecs", "jsom"], "did you mean"),
        (
            ["evolving:Old", "evolving:New", "--codecs", "header"],
            "header carries neither: the old schema is refused at",
        ),
        (["evolving:Old", "evolving:New", "--allow", "luck"], "an outcome is works, default, lost, error, wrong"),
        (["evolving:Old"], "NEW"),
    ],
)
def test_bad_input_is_2_and_one_line(classes, capsys, arguments, words):
    assert main(["evolve", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert words in err
