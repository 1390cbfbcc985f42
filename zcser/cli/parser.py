"""The command line's grammar: argparse alone, so that it answers before anything heavy is imported.

1. Nothing here imports another part of zcser but this folder's errors; a command's module is imported when it runs.
2. A usage error is raised, not printed: whoever calls `main` prints every error the same way, in one line.
3. rich-argparse colours the help on a terminal where it is installed; piped help and plain installs use argparse's own.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from zcser.cli.errors import UsageError

__all__ = ["build_parser"]

COMMANDS = {
    "compare": "measure the codecs on your data or on the built-in payloads",
    "list": "the codecs and the built-in payloads",
    "schema": "what was read out of a file, a function or a class, and why",
    "check": "which codecs refuse a schema, and why",
    "env": "this machine and how noisy it is",
    "report": "show or convert a result file",
}

SOURCE_HELP = "a .json, .jsonl or .ndjson file, or module:function that makes values"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


class _Version(argparse.Action):
    """``--version`` looks its answer up when asked: importlib.metadata is not free."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"zcser {version('zcser')}")
        parser.exit()


def _formatter() -> type[argparse.HelpFormatter]:
    wants_color = os.environ.get("FORCE_COLOR") or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")
    if wants_color and not os.environ.get("NO_COLOR"):
        try:
            from rich_argparse import RawDescriptionRichHelpFormatter
        except ImportError:
            pass
        else:
            return RawDescriptionRichHelpFormatter
    return argparse.RawDescriptionHelpFormatter


def _names(text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if not found:
        raise argparse.ArgumentTypeError(f"names, separated by commas, are needed, not {text!r}")
    return found


def _add_exports(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="DIR", help="write result.json, report.md and table.csv into DIR")
    group.add_argument("--export-json", metavar="FILE", help="write the result, everything included")
    group.add_argument("--export-markdown", metavar="FILE", help="write the report with all its tables")
    group.add_argument("--export-csv", metavar="FILE", help="write one line per measured cell, in ns and bytes")
    group.add_argument("--ledger", action="store_true", help="show convert, guard, dump, load and restore apart")
    group.add_argument("--latency", action="store_true", help="show p50 to max of encode and decode")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="?", metavar="FILE|module:function", help=SOURCE_HELP)
    group = parser.add_argument_group("what to measure")
    group.add_argument(
        "--payload", nargs="+", action="extend", metavar="NAME", help="built-in payloads (default: all; see zcser list)"
    )
    group.add_argument("--codecs", type=_names, metavar="A,B", help="codecs (default: all that are installed)")
    group.add_argument("--ops", type=_names, metavar="A,B", help="operations (default: all that a codec has)")
    group.add_argument("--fields", type=_names, metavar="/A/B,/C/0", help="fields that a partial read takes")
    group.add_argument(
        "--preset", choices=("quick", "full"), default="quick", help="quick: about a minute; full: ten processes a cell"
    )


def _add_schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FILE|module:name", help=f"{SOURCE_HELP}; or module:Class")
    parser.add_argument("--emit", choices=("proto", "fbs"), help="write the schema as a .proto or .fbs file instead")


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", nargs="?", metavar="FILE|module:name", help=f"{SOURCE_HELP}; or module:Class (default: all payloads)"
    )


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", metavar="RESULT.json", help="a file that zcser compare wrote")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; ``args.command`` names the command."""
    formatter = _formatter()
    parser = _Parser(
        prog="zcser",
        formatter_class=formatter,
        description="Compare ways of serializing on your own data, on this machine.",
        epilog="exit codes: 0 done; 1 a round trip failed, the run was interrupted or nothing could be measured; "
        "2 bad usage or input",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parts = {
        name: commands.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}.", formatter_class=formatter
        )
        for name, text in COMMANDS.items()
    }
    _add_compare(parts["compare"])
    _add_exports(parts["compare"])
    _add_schema(parts["schema"])
    _add_check(parts["check"])
    _add_report(parts["report"])
    _add_exports(parts["report"])
    return parser
