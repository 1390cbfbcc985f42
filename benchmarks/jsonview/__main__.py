"""See the package; this is its command line."""

from __future__ import annotations

from typing import Any

from benchmarks.jsonview import __doc__ as description
from benchmarks.jsonview.study import EFFORTS, study
from benchmarks.support.command import Progress, parser_of, run


def main() -> None:
    parser = parser_of("jsonview", description)
    arguments = parser.parse_args()

    def tables(progress: Progress) -> tuple[str, dict[str, Any]]:
        return study(EFFORTS, progress)

    run(parser, arguments.o, name="jsonview", title="Views of JSON, compared", study=tables)


if __name__ == "__main__":
    main()
