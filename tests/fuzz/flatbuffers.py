"""Fuzz test of the FlatBuffers engines: ``python -m tests.fuzz.flatbuffers [--mutants N] [--seconds S] [--sanitize]``.

Messages of every schema case are changed and read in every way, by the engine in C and by the one in Python; see
`tests.fuzz.readers` for what must hold. The reading is done by a child process, so that a crash is a finding too.

Exit code: 0, 1 where there are findings (each with its bytes in hex), 2 where nothing could be run.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz.child import FOUND

_ROOM_FOR_LAST_WORDS = 1 << 16


def main() -> int:
    """Run the command."""
    options = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given = dict(os.environ)
        command = [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.child", str(options.mutants)]
        command += [str(options.seed), str(options.seconds or 0), str(folder / "last")]
        (folder / "last").write_bytes(bytes(_ROOM_FOR_LAST_WORDS))
        if options.sanitize:
            from tests.fuzz import sanitize

            try:
                command.append(str(sanitize.build(folder)))
                given = sanitize.environment(given)
            except RuntimeError as error:
                print(f"cannot sanitize: {error}", file=sys.stderr)
                return 2
        print(f"seed {options.seed}, {options.mutants:,} mutants", flush=True)
        status = subprocess.run(command, env=given, check=False).returncode
        if status not in {0, FOUND}:
            words = (folder / "last").read_bytes().partition(b"\n")[0].decode()
            print(f"the reader ended with status {status} at\n  {words}", file=sys.stderr)
    return int(status != 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.flatbuffers", description=__doc__)
    parser.add_argument("--mutants", type=int, default=1_000_000, help="through every reader (default 1,000,000)")
    parser.add_argument("--seconds", type=float, help="end after so many, whatever --mutants says")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32), help="of a run that is to be repeated")
    parser.add_argument("--sanitize", action="store_true", help="the C engine under ASan and UBSan")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
