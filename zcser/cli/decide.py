"""``zcser decide``: apply a profile to a result file, and say who wins, by how much and how sure that is."""

from __future__ import annotations

import argparse
import json

from zcser.cli.errors import UsageError
from zcser.cli.screen import screen
from zcser.decide.decision import as_json, decide
from zcser.decide.profiles import Profile, profile_named, with_settings
from zcser.measure.result import load_result
from zcser.report.decision import decision_document

__all__ = ["named_profile", "profile_of", "run"]


def profile_of(arguments: argparse.Namespace) -> Profile:
    """The profile that ``--profile`` and ``--set`` ask for.

    Raises
    ------
    ProfileError
        There is no such profile or setting.
    """
    return with_settings(profile_named(arguments.profile), arguments.set)


def named_profile(arguments: argparse.Namespace) -> Profile | None:
    """The same of a command that decides on request alone; None where no profile is named.

    Raises
    ------
    UsageError
        There are settings, and no profile that they change.
    """
    if arguments.profile is not None:
        return profile_of(arguments)
    if arguments.set:
        raise UsageError("--set changes a profile; name it with --profile")
    return None


def run(arguments: argparse.Namespace) -> int:
    """Print the decision, and answer 0, or 1 where no codec could be scored."""
    profile = profile_of(arguments)
    decision = decide(load_result(arguments.result), profile, tuple(dict.fromkeys(arguments.payload or ())))
    if arguments.json:
        screen().line(json.dumps(as_json(decision), ensure_ascii=False, allow_nan=False, indent=2))
    else:
        screen().document(decision_document(decision))
    return 0 if any(answer.standings.scores for answer in decision.answers) else 1
