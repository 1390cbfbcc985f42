"""The fuzz test in short, and that it finds what there is to find. In depth: ``python -m tests.fuzz.flatbuffers``."""

from __future__ import annotations

import random
import struct
import subprocess
import sys

import pytest

from tests.fuzz import readers
from tests.fuzz.job import Job, Outcome
from tests.fuzz.loop import CARRIED, exact_buffer, fuzz, messages
from tests.fuzz.mutate import mutant
from tests.fuzz.readers import Disagreement, Readers
from tests.fuzz.record import record
from zcser.core.errors import DecodeError, VerifyError

SHORT = ("absent_or_none", "nested_maps", "recursive", "rich", "root_list_of_lists", "tensors", "unions")


def test_a_few_hundred_mutants_are_read_alike() -> None:
    found = fuzz(350, seed=1, cases=SHORT)
    assert not found.findings, "\n".join(map(str, found.findings))
    # Both sides of the law were met, else the mutants are too wild or too tame.
    assert found.mutants == 350
    assert found.counts["values"] > 35
    assert found.counts["refused"] > 100


@pytest.mark.slow
def test_mutants_of_every_case_are_read_alike() -> None:
    found = fuzz(20_000, seed=2, wrap=exact_buffer)
    assert not found.findings, "\n".join(map(str, found.findings))


def test_the_same_seed_gives_the_same_mutants_and_none_is_a_message() -> None:
    corpus = messages("unions")
    one, other = ([mutant(random.Random(seed), corpus) for seed in range(50)] for _ in range(2))
    assert one == other
    assert len(set(one) - set(corpus)) > 45


class Planted:
    """An engine with a fault: what it does otherwise is given by name."""

    def __init__(self, engine, **changes) -> None:
        self._engine = engine
        vars(self).update(changes)

    def __getattr__(self, name):
        return getattr(self._engine, name)


def fail(*_, **__):
    raise struct.error("unpack_from requires a buffer")


def refuse(*_, **__):
    raise VerifyError("no", codec="fuzz", path="", offset=0)


@pytest.mark.parametrize(
    ("engine", "changes", "words"),
    [
        ("pure", {"decode": fail}, "pure decode raises error: unpack_from"),
        ("pure", {"verify": fail}, "pure verify raises error"),
        ("pure", {"view": lambda *_, **__: fail}, "pure decode against view"),
        ("pure", {"verify": refuse}, "pure decode against verify"),
        ("pure", {"decode": lambda *_, **__: 5, "view": lambda *_, **__: 5}, "against pure: at the root: int 4"),
        ("pure", {"encode": lambda _: fail()}, "pure encode raises error"),
        ("pure", {"encode": readers._refuse}, "pure decode gives what encode refuses"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-",
)
def test_a_fault_in_an_engine_is_found(engine, changes, words) -> None:
    found = Readers(CARRIED["root_int"])
    if "against pure" in words and "native" not in found.engines:
        pytest.skip("the C extension is not built")
    found.engines[engine] = Planted(found.engines[engine], **changes)
    # By hand: root at 12, its vtable at 4 with one slot at 4, the number 4.
    message = struct.pack("<I HHH xx i q", 12, 6, 12, 4, 8, 4)
    Readers(CARRIED["root_int"]).check(message)
    with pytest.raises(Disagreement, match=words):
        found.check(message)


def test_an_exact_buffer_has_the_bytes_and_no_more() -> None:
    for size in (0, 1, 16, 17, 500):
        data = bytes(range(256))[:size] * (size < 256) or bytes(size)
        assert bytes(memoryview(exact_buffer(data))) == data
        assert memoryview(exact_buffer(data)).nbytes == len(data)


@pytest.mark.further
def test_the_command_runs_and_says_how_to_run_it_again(tmp_path) -> None:
    command = [sys.executable, "-m", "tests.fuzz.flatbuffers", "--mutants", "2", "--seed", "7", "--engines", "pure"]
    done = subprocess.run([*command, "-o", str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("seed 7, 2 mutants, pure\n")
    assert "2 mutants through every reader" in done.stdout
    assert "0 findings" in done.stdout
    row = (tmp_path / "fuzz.md").read_text().splitlines()[-1]
    assert row.startswith("| pure | 2 | ")


def test_what_runs_came_to_is_kept_by_readers(tmp_path) -> None:
    both = Job("", 9, 3, None, ("native", "pure"))
    sanitized = Job("", 9, 4, None, ("native",), "_flat.so")
    record(tmp_path, both, Outcome(1, {"values": 1}, []), 1)
    record(tmp_path, sanitized, None, 2)
    path = record(tmp_path, both, Outcome(1000, {"values": 300, "refused": 700}, ["one"]), 1500)
    head, rule, *rows = [line for line in path.read_text().splitlines() if line.startswith("|")]
    assert {line.count("|") for line in (head, rule, *rows)} == {11}
    cells = [[cell.strip() for cell in row.strip("|").split("|")][:-1] for row in rows]
    assert cells == [
        ["native, under ASan and UBSan", "", "", "", "", "", "**yes**", "4", "2 s"],
        ["native and pure", "1,000", "300", "700", "0", "1", "no", "3", "1,500 s"],
    ]


def test_a_decode_error_is_what_refused_bytes_give() -> None:
    found = Readers(CARRIED["root_int"])
    found.check(b"\xff" * 20)
    assert found.counts["refused"] == 1
    for engine in found.engines.values():
        with pytest.raises(DecodeError):
            engine.decode(b"\xff" * 20)
