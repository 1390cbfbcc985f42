"""Sizes by knob: ``NAME:KNOB=VALUE,KNOB=VALUE`` as a built-in payload is asked for; ``NAME:KNOB=VALUE,VALUE`` is a sweep.

A payload's full name holds the knobs that are not at their default, in the order of their declaration, so that two
spellings of one payload are one row of a table.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from zcser.payloads.base import PayloadError

__all__ = ["Choice", "Count", "Knob", "full_name", "parse", "split", "swept"]


@dataclass(frozen=True, slots=True)
class Count:
    """A knob that is a whole number, from `low` to `high`, both included."""

    default: int
    low: int = 1
    high: int = 1 << 20

    def value(self, text: str) -> int:
        """The number that a text says.

        Raises
        ------
        ValueError
            It is none, or outside; the message says what is allowed.
        """
        try:
            number = int(text)
        except ValueError:
            number = self.low - 1
        if not self.low <= number <= self.high:
            raise ValueError(f"a whole number from {self.low:,} to {self.high:,}")
        return number


@dataclass(frozen=True, slots=True)
class Choice:
    """A knob that is one of some words."""

    default: str
    words: tuple[str, ...]

    def value(self, text: str) -> str:
        """The word itself.

        Raises
        ------
        ValueError
            It is none of them; the message says what is allowed.
        """
        if text not in self.words:
            raise ValueError(f"one of {', '.join(self.words)}")
        return text


Knob: TypeAlias = Count | Choice


def split(text: str) -> tuple[str, str]:
    """The name of a payload, and what is said of its knobs."""
    name, _, rest = text.partition(":")
    return name, rest


def swept(text: str) -> tuple[str, ...]:
    """The payloads of a sweep, a name for each value of the one knob that has several.

    Parameters
    ----------
    text
        ``NAME:KNOB=VALUE,VALUE,...``, with further knobs of one value each before or after.

    Raises
    ------
    PayloadError
        No knob has several values, or more than one has.
    """
    name, rest = split(text)
    knobs: list[tuple[str, list[str]]] = []
    for part in filter(None, (part.strip() for part in rest.split(","))):
        if "=" in part or not knobs:
            knob, _, value = part.partition("=")
            knobs.append((knob, [value]))
        else:
            knobs[-1][1].append(part)
    several = [knob for knob, values in knobs if len(values) > 1]
    if len(several) != 1:
        found = "none here" if not several else f"here {' and '.join(several)}"
        raise PayloadError(
            f"a sweep is over several values of one knob, as in request:kib=1,16,256; {found} has several"
        )
    (values,) = (values for knob, values in knobs if knob == several[0])
    return tuple(
        f"{name}:{','.join(f'{knob}={value if knob == several[0] else of_knob[0]}' for knob, of_knob in knobs)}"
        for value in values
    )


def parse(name: str, rest: str, knobs: Mapping[str, Knob]) -> dict[str, int | str]:
    """The value of every knob.

    Parameters
    ----------
    name
        The payload's, for messages.
    rest
        What was said: ``KNOB=VALUE,...``, or nothing.
    knobs
        Those that the payload has.

    Raises
    ------
    PayloadError
        An unknown knob, one that is said twice, or a value that it cannot have.
    """
    said: dict[str, int | str] = {}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        knob, _, value = (piece.strip() for piece in part.partition("="))
        if knob not in knobs:
            near = difflib.get_close_matches(knob, knobs, n=1, cutoff=0.5)
            known = f"did you mean {near[0]}?" if near else f"it has {', '.join(knobs) or 'none'}"
            raise PayloadError(f"payload {name} has no knob {knob!r}; {known}")
        if knob in said:
            raise PayloadError(f"payload {name}: {knob} is said twice")
        try:
            said[knob] = knobs[knob].value(value)
        except ValueError as error:
            raise PayloadError(f"payload {name}: {knob} is {value!r}; it must be {error}") from None
    return {knob: said.get(knob, one.default) for knob, one in knobs.items()}


def full_name(name: str, values: Mapping[str, int | str], knobs: Mapping[str, Knob]) -> str:
    """The name with the knobs that are not at their default."""
    turned = [f"{knob}={value}" for knob, value in values.items() if value != knobs[knob].default]
    return f"{name}:{','.join(turned)}" if turned else name
