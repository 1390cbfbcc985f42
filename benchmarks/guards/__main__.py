"""See the package; this is its command line."""

from __future__ import annotations

from typing import Any

from benchmarks.flat.arms import Effort
from benchmarks.guards import __doc__ as description
from benchmarks.guards.study import study
from benchmarks.support.command import Progress, parser_of, run


def main() -> None:
    parser = parser_of("guards", description)
    arguments = parser.parse_args()

    def tables(progress: Progress) -> tuple[str, dict[str, Any]]:
        return study(Effort(), progress)

    run(parser, arguments.o, name="guards", title="The guard, over the bare libraries", study=tables)


if __name__ == "__main__":
    main()
