"""See the package; this is its command line."""

from __future__ import annotations

from typing import Any

from benchmarks.flat.arms import Effort
from benchmarks.origin_json import __doc__ as description
from benchmarks.origin_json.study import study
from benchmarks.support.command import Progress, parser_of, run


def main() -> None:
    parser = parser_of("origin_json", description)
    arguments = parser.parse_args()

    def tables(progress: Progress) -> tuple[str, dict[str, Any]]:
        return study(Effort(processes=6, batches=15), progress)

    run(parser, arguments.o, name="origin_json", title="The JSON table of the origin, in Python", study=tables)


if __name__ == "__main__":
    main()
