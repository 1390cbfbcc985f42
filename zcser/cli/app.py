"""From arguments to an exit code: 0 done, 1 measured but not all is well, 2 bad usage or input.

1. Every error is one line on stderr that starts with ``zcser: ``. A traceback appears only where `ZCSER_TRACEBACK` asks
   for it; a fault of zcser itself is called one.
2. A reader that closes the pipe early has seen what it wanted: that is silence and 0.
3. A command's module is imported when it runs, so that ``--help`` stays quick.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from zcser.cli import streams
from zcser.cli.parser import build_parser
from zcser.core.errors import ZcserError

__all__ = ["main"]

MODULES = {
    "compare": "zcser.cli.compare",
    "list": "zcser.cli.listing",
    "schema": "zcser.cli.schema",
    "check": "zcser.cli.check",
    "evolve": "zcser.cli.evolve",
    "env": "zcser.cli.env",
    "doctor": "zcser.cli.doctor",
    "report": "zcser.cli.report",
    "decide": "zcser.cli.decide",
    "diff": "zcser.cli.diff",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv
        Arguments without the program's name; those of the process where None.

    Returns
    -------
    int
        The exit code: 0 done; 1 the comparison ran, but a round trip failed, it was interrupted, or nothing could be
        measured or scored, a diff found a regression, or an evolution is unsafe; 2 bad usage or input.
    """
    streams.prepare()
    try:
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        streams.abandon_stdout()
        return 0
    except KeyboardInterrupt:
        return _complain("interrupted", 1)
    except ZcserError as error:
        return _complain(str(error), 2)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror or error}", 2)
    except Exception as error:  # noqa: BLE001 - the last line of defence of rule 1
        return _complain(
            f"a fault of zcser itself, {type(error).__name__}: {error} (set ZCSER_TRACEBACK=1 to see where)", 2
        )
    return code


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments = build_parser().parse_args(argv)
    except SystemExit:
        # argparse leaves so after --help and --version; its errors are raised.
        return 0
    # What was typed, for the record.
    arguments.typed = tuple(sys.argv[1:] if argv is None else argv)
    code: int = importlib.import_module(MODULES[arguments.command]).run(arguments)
    return code


def _complain(message: str, code: int) -> int:
    if os.environ.get("ZCSER_TRACEBACK"):
        import traceback

        traceback.print_exc()
    streams.error_line(message)
    return code
