"""See the package; this is its command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.measuring import __doc__ as description
from benchmarks.measuring.effort import Effort
from benchmarks.measuring.study import study
from benchmarks.support.command import Progress, parser_of, run
from benchmarks.support.figures import markdown
from benchmarks.support.fresh import ROOT


def main() -> None:
    parser = parser_of("measuring", description)
    parser.add_argument(
        "--quick",
        metavar="RESULT.json",
        type=Path,
        default=ROOT / "results/quick.json",
        help="run of the default matrix",
    )
    arguments = parser.parse_args()

    def tables(progress: Progress) -> tuple[str, dict[str, Any]]:
        found = study(Effort(), arguments.quick, progress)
        return markdown(found.figures), found.document

    run(parser, arguments.o, name="measuring", title="The measuring core, measured", study=tables)


if __name__ == "__main__":
    main()
