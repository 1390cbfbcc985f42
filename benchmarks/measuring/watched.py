"""What DHAT watches: ``python -m benchmarks.measuring.watched OPERATION CALLS``. It loads nothing else, since DHAT is slow."""

from __future__ import annotations

import sys

from benchmarks.measuring.operations import prepare
from benchmarks.support import WARM_CALLS


def _main() -> None:
    name, calls = sys.argv[1:]
    call, argument = prepare(name)
    # Not over a range, whose numbers above 256 are blocks too.
    for value in [argument] * (WARM_CALLS + int(calls)):
        call(value)


if __name__ == "__main__":
    _main()
