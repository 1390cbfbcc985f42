"""``zcser report``: show a result file, write it in other formats, or compare several."""

from __future__ import annotations

import argparse
from pathlib import Path

from zcser.cli import exports
from zcser.cli.decide import named_profile
from zcser.cli.errors import UsageError
from zcser.cli.screen import screen
from zcser.decide.decision import decide
from zcser.decide.profiles import Profile
from zcser.measure.hdr import write_distributions
from zcser.measure.result import load_result
from zcser.report.comparison import comparison_document
from zcser.report.decision import decision_document
from zcser.report.document import document_of
from zcser.report.model import one_line

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Write what was asked for, then print the report; of several results, how they compare."""
    profile = named_profile(arguments)
    places = exports.prepare(arguments)
    if len(arguments.result) > 1:
        return _several(arguments, places, profile)
    path = arguments.result[0]
    result = load_result(path)
    exports.write(result, places, Path(path).name, profile)
    if arguments.export_hdr is not None:
        write_distributions(result, Path(arguments.export_hdr))
    shown = document_of(
        result,
        ledger=arguments.ledger,
        memory=arguments.memory,
        latency=arguments.latency,
        distribution=arguments.latency,
    )
    output = screen()
    output.document(shown)
    if profile is not None:
        output.line()
        output.document(decision_document(decide(result, profile)))
    return 0


def _several(arguments: argparse.Namespace, places: exports.Exports, profile: Profile | None) -> int:
    if places.json or places.csv or places.pictures or arguments.export_hdr is not None:
        raise UsageError(
            "of several results --report and --export-markdown alone can be written: name one result for the other exports"
        )
    results = [(_label(path, arguments.result), load_result(path)) for path in arguments.result]
    shown = comparison_document(results)
    exports.write_page(results, places, profile)
    exports.write_markdown(shown, places)
    screen().document(shown)
    if profile is not None:
        for label, result in results:
            screen().line(f"{one_line(label)}: {decision_document(decide(result, profile)).verdict}")
    return 0


def _label(path: str, paths: list[str]) -> str:
    """The file's name; where another has the same, with its folder."""
    names = [Path(other).name for other in paths]
    return Path(path).name if names.count(Path(path).name) == 1 else "/".join(Path(path).parts[-2:])
