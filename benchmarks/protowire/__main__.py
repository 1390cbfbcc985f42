"""See the package; this is its command line."""

from __future__ import annotations

from typing import Any

from benchmarks.flat.arms import Effort
from benchmarks.protowire import __doc__ as description
from benchmarks.protowire.study import study
from benchmarks.support.command import Progress, parser_of, run


def main() -> None:
    parser = parser_of("protowire", description)
    arguments = parser.parse_args()

    def tables(progress: Progress) -> tuple[str, dict[str, Any]]:
        return study(Effort(processes=3, batches=20), progress)

    run(parser, arguments.o, name="protowire", title="Payloads in protobuf messages", study=tables)


if __name__ == "__main__":
    main()
