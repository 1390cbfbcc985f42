"""The C engine built with AddressSanitizer and UndefinedBehaviorSanitizer, and loaded in place of the installed one."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

__all__ = ["build", "environment", "load"]

SOURCES = Path(__file__).resolve().parents[2] / "zcser" / "native" / "flat"
_NAME = "zcser.native._flat"


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CC", "cc"))


def build(folder: Path) -> Path:
    """Compile the C sources, and give the extension's path.

    Raises
    ------
    RuntimeError
        The compiler is missing or failed; with its own words.
    """
    target = folder / f"_flat{sysconfig.get_config_var('EXT_SUFFIX')}"
    flags = ["-std=c11", "-O1", "-g", "-fPIC", "-fno-omit-frame-pointer", "-fsanitize=address,undefined"]
    flags += ["-fno-sanitize-recover=undefined", f"-I{sysconfig.get_path('include')}"]
    command = [*_compiler(), *flags, "-shared", *sorted(map(str, SOURCES.glob("*.c"))), "-o", str(target)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise RuntimeError(f"no C compiler: {error}") from error
    if done.returncode:
        raise RuntimeError(f"{_compiler()[0]} failed:\n{done.stderr}")
    return target


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that loads what `build` made.

    The sanitizer's library comes before all others; and every block comes from malloc, where the sanitizer sees it, not
    from Python's arenas.
    """
    libraries = [_library("libasan.so"), _library("libstdc++.so.6")]
    return {
        **given,
        "LD_PRELOAD": " ".join(filter(None, [*libraries, given.get("LD_PRELOAD", "")])),
        # Python frees little at its end, which is no leak of ours.
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "ZCSER_BACKEND": "native",
    }


def _library(name: str) -> str:
    done = subprocess.run([*_compiler(), f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    path = done.stdout.strip()
    if not Path(path).is_absolute():
        raise RuntimeError(f"{_compiler()[0]} has no {name}")
    return path


def load(path: Path) -> None:
    """Have an extension stand for ``zcser.native._flat``; before anything imports it."""
    loader = importlib.machinery.ExtensionFileLoader(_NAME, str(path))
    spec = importlib.util.spec_from_file_location(_NAME, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[_NAME] = module
