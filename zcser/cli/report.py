"""``zcser report``: show a result file, or write it in other formats."""

from __future__ import annotations

import argparse
from pathlib import Path

from zcser.cli import exports
from zcser.cli.screen import screen
from zcser.measure.hdr import write_distributions
from zcser.measure.result import load_result
from zcser.report.document import document_of

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Write what was asked for, then print the report."""
    result = load_result(arguments.result)
    exports.write(result, exports.prepare(arguments))
    if arguments.export_hdr is not None:
        write_distributions(result, Path(arguments.export_hdr))
    shown = document_of(
        result,
        ledger=arguments.ledger,
        memory=arguments.memory,
        latency=arguments.latency,
        distribution=arguments.latency,
    )
    screen().document(shown)
    return 0
