"""See the package; this is its command line."""

from __future__ import annotations

from benchmarks.origin import __doc__ as description
from benchmarks.origin.message import study
from benchmarks.support.command import parser_of, run


def main() -> None:
    parser = parser_of("origin", description)
    arguments = parser.parse_args()
    run(parser, arguments.o, name="origin", title="A message of 1 KB, one million times", study=study)


if __name__ == "__main__":
    main()
