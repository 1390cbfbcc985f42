"""See the package; this is its command line."""

from __future__ import annotations

from typing import Any

from benchmarks.flat.arms import Effort
from benchmarks.glue import __doc__ as description
from benchmarks.glue.study import study
from benchmarks.support.command import Progress, parser_of, run


def main() -> None:
    parser = parser_of("glue", description)
    arguments = parser.parse_args()

    def tables(progress: Progress) -> tuple[str, dict[str, Any]]:
        return study(Effort(), progress)

    run(parser, arguments.o, name="glue", title="Conversion, against glue by hand", study=tables)


if __name__ == "__main__":
    main()
