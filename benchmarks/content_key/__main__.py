"""See the package; this is its command line."""

from __future__ import annotations

from typing import Any

from benchmarks.content_key import __doc__ as description
from benchmarks.content_key.study import study
from benchmarks.flat.arms import Effort
from benchmarks.support.command import Progress, parser_of, run


def main() -> None:
    parser = parser_of("content_key", description)
    arguments = parser.parse_args()

    def tables(progress: Progress) -> tuple[str, dict[str, Any]]:
        return study(Effort(), progress)

    run(parser, arguments.o, name="content_key", title="Content keys", study=tables)


if __name__ == "__main__":
    main()
