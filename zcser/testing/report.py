"""What a check came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["CodecCheckError", "Finding", "Report"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One promise that was not kept.

    Attributes
    ----------
    law
        Its name, out of the list in ``docs/ADDING_A_FORMAT.md``.
    case
        The schema with which it was seen.
    message
        What was done, what came of it, and what should have.
    """

    law: str
    case: str
    message: str

    def __str__(self) -> str:
        return f"{self.law} [{self.case}]: {self.message}"


@dataclass(frozen=True, slots=True)
class Report:
    """What `check_codec` found.

    Attributes
    ----------
    codec
        The codec's name.
    findings
        Promises that were not kept; empty where all is well.
    checked
        By law: with how many schemas it was held.
    refused
        By schema: why the codec does not carry it. That is no fault; that it carries what it should is for you to see.
    skipped
        By law: why it was not held at all.
    notes
        What no law forbids, and is good to know.
    """

    codec: str
    findings: tuple[Finding, ...]
    checked: Mapping[str, int]
    refused: Mapping[str, str]
    skipped: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every promise was kept."""
        return not self.findings

    def __str__(self) -> str:
        held = f"{len(self.checked)} laws with up to {max(self.checked.values(), default=0)} schemas"
        lines = [f"codec {self.codec!r}: {'no findings' if self.ok else f'{len(self.findings)} findings'}; {held}"]
        for law in dict.fromkeys(finding.law for finding in self.findings):
            found = [finding for finding in self.findings if finding.law == law]
            first, *others = dict.fromkeys(finding.case for finding in found)
            lines += [f"  {finding}" for finding in found if finding.case == first]
            lines += [f"  {law}: with {', '.join(others)} as well"] if others else []
        lines += [f"  schema refused [{case}]: {why}" for case, why in self.refused.items()]
        lines += [f"  not checked, {law}: {why}" for law, why in self.skipped.items()]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


class CodecCheckError(AssertionError):
    """A codec does not keep what codecs promise.

    Attributes
    ----------
    report
        All that was found; it is the message as well.
    """

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report
