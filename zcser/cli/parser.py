"""The command line's grammar: argparse alone, so that it answers before anything heavy is imported.

1. Nothing here imports another part of zcser but this folder's errors and forms; a command's module is imported when it runs.
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
from zcser.cli.forms import FORMS

__all__ = ["build_parser"]

COMMANDS = {
    "compare": "measure the codecs on your data or on the built-in payloads",
    "list": "the codecs and the built-in payloads",
    "schema": "what was read out of a file, a function or a class, and why",
    "check": "which codecs refuse a schema, and why",
    "evolve": "what changed between two schemas, and whether it is safe in each codec",
    "env": "this machine and how noisy it is",
    "doctor": "how small a change this machine can see now, and what to mend",
    "report": "show or convert a result file, or compare several",
    "decide": "who wins for what your service does, by how much, and what would change it",
    "diff": "judge a new result file by an old one: what regressed, what improved",
}

SOURCE_HELP = (
    "files or folders: .json, .jsonl, .ndjson, .npy, .npz, .safetensors, .csv, .tsv, .parquet, with --schema also messages "
    "of protobuf and FlatBuffers; or module:function that makes values"
)


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


def _cpus(text: str) -> tuple[int, ...]:
    from zcser.measure.pinning import PinError, parse_cpu_list

    try:
        return parse_cpu_list(text)
    except PinError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _node(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise argparse.ArgumentTypeError(f"the number of a NUMA node is needed, not {text!r}")
    return int(text)


def _add_pinning(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where to measure")
    group.add_argument("--pin", type=_cpus, default=(), metavar="CPUS", help="CPUs of the workers, such as 2 or 0-3,5")
    group.add_argument("--numa", type=_node, metavar="NODE", help="CPUs and memory of one NUMA node")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"a whole number from 0 to 999999999 is needed, not {text!r}")
    return int(text)


def _add_exports(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="DIR", help="write result.json, report.md and table.csv into DIR")
    group.add_argument("--export-json", metavar="FILE", help="write the result, everything included")
    group.add_argument("--export-markdown", metavar="FILE", help="write the report, with the ledger and the latencies")
    group.add_argument("--export-csv", metavar="FILE", help="write one line per measured cell, in ns and bytes")
    group.add_argument(
        "--report", metavar="FILE", help="write one page (HTML) to choose by: it opens from disk, without a network"
    )
    group.add_argument(
        "--export-svg", metavar="DIR", help="write every picture of the page as an SVG of its own, and an index.md"
    )
    group.add_argument("--ledger", action="store_true", help="show convert, guard, dump, load and restore apart")
    group.add_argument(
        "--memory",
        action="store_true",
        help="show what is copied, and what a result keeps alive; in the Markdown file too",
    )
    group.add_argument("--latency", action="store_true", help="show p50 to max of encode and decode")


def _add_reading(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how to read it")
    group.add_argument(
        "--schema",
        metavar="SCHEMA",
        help="what the messages are: FILE.proto[:Message], FILE.fbs[:Table], .bfbs, a descriptor set (.desc, .protoset, "
        ".binpb), what --emit zcser wrote or a JSON Schema (.json), module:Class",
    )
    group.add_argument(
        "--include", action="append", default=[], metavar="DIR", help="where imports of the schema are, once for each"
    )
    group.add_argument(
        "--delimited",
        action="store_true",
        help="each file holds many binary messages, each behind its length (a varint; in FlatBuffers 4 bytes)",
    )


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="*", metavar="FILE|module:function", help=SOURCE_HELP)
    _add_reading(parser)
    group = parser.add_argument_group("what to measure")
    group.add_argument(
        "--payload",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="built-in payloads, NAME or NAME:KNOB=VALUE,... (default: the eight that zcser list shows first)",
    )
    group.add_argument(
        "--sweep",
        action="append",
        metavar="NAME:KNOB=1,16,256",
        help="a built-in payload in several sizes, such as request:kib=1,16,256 or records:rows=1,100,10000, to see where one "
        "format overtakes another",
    )
    group.add_argument(
        "--codecs",
        type=_names,
        metavar="A,B",
        help="codecs, or all (default: all that are installed; twelve of them on the built-in payloads)",
    )
    group.add_argument(
        "--ops",
        type=_names,
        metavar="A,B",
        help="operations, or groups of them: default, what is measured without this option; reads, which are read-1, read-2, "
        "read-10%% and read-all, each also -unverified; sizes, which are encode, decode, and compress-NAME and "
        "decompress-NAME for zlib, lz4 and zstd; composite, which are forward, patch, fan-in and fan-out",
    )
    group.add_argument("--fields", type=_names, metavar="/A/B,/C/0", help="fields that a partial read takes")
    group.add_argument(
        "--preset",
        choices=("quick", "full", "tails"),
        default="quick",
        help="quick: about a minute of measuring; full: twelve processes a cell; tails: samples for p99.9, of fewer operations",
    )
    group.add_argument(
        "--live-objects",
        type=_count,
        default=0,
        metavar="N",
        help="objects for the garbage collector to scan besides an operation's own, as in a service that holds them",
    )


def _add_schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        nargs="*",
        metavar="FILE|module:name",
        help=f"{SOURCE_HELP}; or a schema alone (may be left out where --schema is given)",
    )
    _add_reading(parser)
    parser.add_argument("--emit", choices=tuple(FORMS), help="write the schema in another form instead")


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        nargs="*",
        metavar="FILE|module:name",
        help=f"{SOURCE_HELP}; or a schema alone (default: all payloads)",
    )
    _add_reading(parser)


def _add_evolve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "old",
        metavar="OLD",
        help="the schema before: FILE.proto[:Message], FILE.fbs[:Table], .bfbs, what --emit zcser wrote or a JSON Schema "
        "(.json), module:Class; or data",
    )
    parser.add_argument("new", metavar="NEW", help="the schema after")
    parser.add_argument(
        "--include", action="append", default=[], metavar="DIR", help="where imports of the schemas are, once for each"
    )
    parser.add_argument("--codecs", type=_names, metavar="A,B", help="codecs (default: all that are installed)")
    parser.add_argument(
        "--allow", type=_names, metavar="A,B", help="outcomes that are safe besides works and default, such as lost"
    )
    parser.add_argument("--json", metavar="FILE", help="write everything that was found as JSON")


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "result", nargs="+", metavar="RESULT.json", help="files that zcser compare wrote; several are compared"
    )
    parser.add_argument(
        "--export-hdr", metavar="DIR", help="write each cell's latencies as HdrHistogram percentiles (.hgrm, in ns)"
    )


def _add_profile(parser: argparse.ArgumentParser, default: str | None) -> None:
    group = parser.add_argument_group("what to decide by")
    said = "" if default is None else f" (default: {default})"
    group.add_argument(
        "--profile",
        default=default,
        metavar="NAME",
        help=f"what is done with messages: proxy, server, log, train or custom{said}; docs/DECIDING.md has the formulas",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a number or choice of the profile, once for each: reads_per_write=20, bandwidth_out=10Gbit/s, p99_ns=2ms, "
        "read=decode",
    )


def _add_decide(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", metavar="RESULT.json", help="a file that zcser compare wrote")
    _add_profile(parser, "server")
    parser.add_argument(
        "--payload", nargs="+", action="extend", metavar="NAME", help="payloads of the result (default: all)"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def _add_diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD.json", help="the result file to judge by")
    parser.add_argument("new", metavar="NEW.json", help="the result file to judge")
    parser.add_argument(
        "--fail-if",
        action="append",
        metavar="RULE",
        help="METRIC>NUMBER or METRIC>NUMBER%%, once for each rule; metrics: p10 (or cost), p50, p90, p99, p999, allocs, "
        "bytes, gc, size (default: 'p10>3%%', 'allocs>0' and 'size>0')",
    )
    parser.add_argument("--export-markdown", metavar="FILE", help="write the report for a pull request")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; ``args.command`` names the command."""
    formatter = _formatter()
    parser = _Parser(
        prog="zcser",
        formatter_class=formatter,
        description="Compare ways of serializing on your own data, on this machine.",
        epilog="exit codes: 0 done; 1 a round trip failed, the run was interrupted, nothing could be measured, "
        "doctor cannot see 5%, diff found a regression or evolve an unsafe codec; 2 bad usage or input",
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
    _add_pinning(parts["compare"])
    _add_exports(parts["compare"])
    _add_profile(parts["compare"], None)
    _add_schema(parts["schema"])
    _add_check(parts["check"])
    _add_evolve(parts["evolve"])
    _add_doctor(parts["doctor"])
    _add_pinning(parts["doctor"])
    _add_report(parts["report"])
    _add_profile(parts["report"], None)
    _add_exports(parts["report"])
    _add_decide(parts["decide"])
    _add_diff(parts["diff"])
    return parser
