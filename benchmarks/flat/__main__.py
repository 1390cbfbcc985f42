"""See the package; this is its command line."""

from __future__ import annotations

from typing import Any

from benchmarks.flat import __doc__ as description
from benchmarks.flat.arms import Effort
from benchmarks.flat.study import study
from benchmarks.support.command import Progress, parser_of, run


def main() -> None:
    parser = parser_of("flat", description)
    arguments = parser.parse_args()

    def tables(progress: Progress) -> tuple[str, dict[str, Any]]:
        return study(Effort(), progress)

    run(parser, arguments.o, name="flat", title="FlatBuffers, compared", study=tables)


if __name__ == "__main__":
    main()
