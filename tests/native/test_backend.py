"""Which engine runs, and how that is forced: each case is a process of its own, as the choice is made once."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

import zcser

BUILT = importlib.util.find_spec("zcser.native._flat") is not None
needs_extension = pytest.mark.skipif(not BUILT, reason="the C extension is not built")

WITHOUT = "import sys; sys.modules['zcser.native._flat'] = None; "
"""Has the extension not be found, as where there was no compiler."""

FORCED = "zcser.core.errors.CodecUnavailableError: ZCSER_BACKEND=native, but zcser's C extension is not there ("

SHOW = """
import sys, zcser
codec = zcser.codec("flatbuffers", list[int])
assert codec.decode(codec.encode([1, 2])) == [1, 2]
print(zcser.backend, "/", codec.info.implementation, "/", *sorted(
    name for name in ("native", "pure") if f"zcser.flat.{name}.engine" in sys.modules
))
"""


def run(code: str, wanted: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "ZCSER_BACKEND"}
    if wanted is not None:
        environment["ZCSER_BACKEND"] = wanted
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("wanted", [pytest.param("native", marks=needs_extension), "pure"])
def test_the_engine_that_is_asked_for_runs_and_the_other_is_not_loaded(wanted):
    done = run(SHOW, wanted)
    assert done.stderr == ""
    words = {"native": "C extension", "pure": "pure Python"}[wanted]
    assert done.stdout == f"{wanted} / {words} / {wanted}\n"


@needs_extension
@pytest.mark.parametrize("wanted", [None, pytest.param("", marks=pytest.mark.further)])
def test_the_c_engine_is_used_where_it_was_built(wanted):
    assert run(SHOW, wanted).stdout.startswith("native /")


@pytest.mark.parametrize(
    "name", ["_flat", *(pytest.param(name, marks=pytest.mark.further) for name in ("_protowire", "_tree"))]
)
def test_the_python_engines_are_used_where_one_in_c_was_not_built(name):
    done = run(WITHOUT.replace("_flat", name) + SHOW)
    assert done.stderr == ""
    assert done.stdout == "pure / pure Python / pure\n"


def test_forcing_the_c_engine_where_it_was_not_built_says_what_to_do():
    done = run(WITHOUT + SHOW, "native")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(FORCED)
    assert last.endswith("install zcser again where a C compiler is found, or unset it")


@pytest.mark.parametrize("wanted", [pytest.param("native", marks=needs_extension), "pure"])
def test_the_walk_over_protobuf_follows_the_same_choice(wanted):
    done = run(
        "import sys, zcser; codec = zcser.codec('protobuf', bytes); "
        "print(codec.decode(codec.encode(b'xyz'), copy=False).tobytes(), codec.info.implementation, "
        "'zcser.protowire.pure' in sys.modules)",
        wanted,
    )
    words = {"native": "payloads by C False", "pure": "payloads by Python True"}[wanted]
    assert done.stderr == ""
    assert done.stdout == f"b'xyz' upb (C), {words}\n"


@pytest.mark.parametrize("wanted", ["c", "Native", "1", " pure"])
def test_a_wrong_value_is_named_with_the_right_ones(wanted):
    done = run("import zcser; zcser.backend", wanted)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"ValueError: ZCSER_BACKEND must be native or pure, not {wanted!r}"


def test_the_choice_is_made_when_it_is_first_asked_for():
    done = run(
        "import sys, os, zcser; assert 'zcser.native' not in sys.modules; os.environ['ZCSER_BACKEND'] = 'pure'; "
        "print(zcser.backend); os.environ['ZCSER_BACKEND'] = 'native'; print(zcser.backend); "
        "from zcser.native import backend; print(backend)",
        "wrong until then",
    )
    assert (done.stdout, done.stderr) == ("pure\n" * 3, "")


def test_naming_the_codecs_makes_no_choice():
    done = run("import sys, zcser.registry as r; assert r.names(); print('zcser.native' in sys.modules)", "wrong")
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.parametrize("wanted", [pytest.param("native", marks=needs_extension), "pure"])
def test_codecs_of_trees_follow_the_same_choice(wanted):
    done = run(
        "import sys, zcser; codec = zcser.codec('json', dict[str, float]); "
        "print(codec.decode(codec.encode({'a': 1})), type(codec.decode).__name__)",
        wanted,
    )
    words = {"native": "builtin_function_or_method", "pure": "method"}[wanted]
    assert (done.stdout, done.stderr) == (f"{{'a': 1.0}} {words}\n", "")


def test_backend_is_a_public_name():
    assert "backend" in zcser.__all__
    assert "backend" in dir(zcser)
    assert zcser.backend in {"native", "pure"}
