"""``zcser diff``: judge a new result file by an old one.

1. Rules and both files are read before anything is printed.
2. Where a rule could be applied to nothing at all, the report is printed and then the error: a gate that compared
   nothing must not be green.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from zcser.cli.diff_report import diff_document
from zcser.cli.screen import screen
from zcser.gate.diff import GateError, diff
from zcser.gate.rules import parse_rules
from zcser.measure.result import load_result
from zcser.report import markdown

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Print the diff, and answer 0 or, where a rule was broken, 1."""
    rules = parse_rules(arguments.fail_if or ())
    old, new = load_result(arguments.old), load_result(arguments.new)
    found = diff(old, new, rules)
    document = diff_document(found, Path(arguments.old).name, Path(arguments.new).name)
    if arguments.export_markdown is not None:
        text = markdown.render(document)
        Path(arguments.export_markdown).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    screen().document(document)
    if found.exit_code == 2:
        rule, reason = next(iter(found.inapplicable.items()))
        raise GateError(f"{rule} could be applied to nothing: {reason}")
    return found.exit_code
