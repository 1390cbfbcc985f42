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
import time
from pathlib import Path

from tests.fuzz import sanitize
from tests.fuzz.job import Job, Outcome
from tests.fuzz.readers import ENGINES, built
from tests.fuzz.record import record

_ROOM_FOR_LAST_WORDS = 1 << 16


def main() -> int:
    """Run the command."""
    options = _arguments()
    given, extension = dict(os.environ), None
    engines = tuple(options.engines or (("native",) if options.sanitize else built()))
    with tempfile.TemporaryDirectory() as folder:
        if options.sanitize:
            try:
                extension = str(sanitize.build(Path(folder)))
                given = sanitize.environment(given)
            except RuntimeError as error:
                print(f"cannot sanitize: {error}", file=sys.stderr)
                return 2
        job = Job(folder, options.mutants, options.seed, options.seconds, engines, extension)
        job.last_words.write_bytes(bytes(_ROOM_FOR_LAST_WORDS))
        print(f"seed {job.seed}, {job.mutants:,} mutants, {' and '.join(engines)}", flush=True)
        begin_s = time.monotonic()
        command = [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.child", job.dumps()]
        status = subprocess.run(command, env=given, check=False).returncode
        outcome = Outcome.loads(job.result.read_text(encoding="utf-8")) if status == 0 else None
        if outcome is None:
            words = job.last_words.read_bytes().partition(b"\n")[0].decode()
            print(f"the reader ended with status {status} at\n  {words}", file=sys.stderr)
        if options.output is not None:
            record(options.output, job, outcome, time.monotonic() - begin_s)
    return int(outcome is None or bool(outcome.findings))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.flatbuffers", description=__doc__)
    parser.add_argument("--mutants", type=int, default=1_000_000, help="through every reader (default 1,000,000)")
    parser.add_argument("--seconds", type=float, help="end after so many, whatever --mutants says")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32), help="of a run that is to be repeated")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, help="whose readers (default: all that are there)")
    parser.add_argument("--sanitize", action="store_true", help="the C engine alone, under ASan and UBSan")
    parser.add_argument("-o", dest="output", metavar="DIR", type=Path, help="keep what came of it in DIR/fuzz.md")
    options = parser.parse_args()
    if options.sanitize and options.engines not in (None, ["native"]):
        parser.error("--sanitize is for the C engine: no other in --engines")
    return options


if __name__ == "__main__":
    sys.exit(main())
