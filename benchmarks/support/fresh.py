"""A function in a process of its own: ``python -m benchmarks.support.fresh`` takes it from standard input."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from zcser.native.zcount import preload_environment

__all__ = ["ROOT", "MeasuringError", "environment", "in_fresh_process"]

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]
"""Of the checkout."""

_TIMEOUT_S = 60


class MeasuringError(Exception):
    """A process did not do its part; what it wrote to standard error is there already."""


def environment(*, preload: bool = False) -> dict[str, str]:
    """That of a process which finds this package, with the counter before malloc where asked for."""
    plain = {**os.environ, "PYTHONPATH": os.fspath(ROOT)}
    return preload_environment(plain) if preload else plain


def in_fresh_process(function: Callable[..., T], /, *arguments: object, preload: bool = False) -> T:
    """Call a module's function in a fresh process.

    Raises
    ------
    MeasuringError
        It raised, or took more than a minute.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "benchmarks.support.fresh"],
            input=pickle.dumps((function, arguments)),
            stdout=subprocess.PIPE,
            env=environment(preload=preload),
            timeout=_TIMEOUT_S,
            check=True,
        )
    except subprocess.SubprocessError as error:
        raise MeasuringError(f"{function.__name__} in a fresh process: {type(error).__name__}") from None
    result: T = pickle.loads(done.stdout)
    return result


def _main() -> None:
    function, arguments = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps(function(*arguments)))


if __name__ == "__main__":
    _main()
