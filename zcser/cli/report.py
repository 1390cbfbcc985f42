"""``zcser report``: show a result file, or write it in other formats."""

from __future__ import annotations

import argparse

from zcser.cli import exports
from zcser.cli.screen import screen
from zcser.measure.result import load_result
from zcser.report.document import document_of

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Write what was asked for, then print the report."""
    result = load_result(arguments.result)
    exports.write(result, exports.prepare(arguments))
    screen().document(document_of(result, ledger=arguments.ledger, latency=arguments.latency))
    return 0
