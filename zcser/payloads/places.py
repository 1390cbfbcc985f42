"""Places inside values: which field a lazy reader is asked for, and whether the user's fields exist.

1. A leaf is what has no parts: a scalar, a string, bytes, an enum, None, a tensor. Only a leaf can be read lazily and
   in full at once, so only a leaf is measured as a field.
2. A field must exist in every value that is measured.
3. Without the user's word the field is the scalar leaf nearest to the middle of the first value, counting its leaves
   in document order, that every other value has too: neither the first that a parser meets nor the last. Of more than
   `MOST_LEAVES` leaves those count that come first.
"""

from __future__ import annotations

import difflib
import enum
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from zcser.core.fidelity import field_names
from zcser.core.paths import parse_path, pointer
from zcser.core.view import at
from zcser.payloads.base import PayloadError

__all__ = ["MOST_LEAVES", "Steps", "change", "check_field", "first_tensor", "leaves", "middle_field", "outward"]

Steps = tuple[str | int, ...]

MOST_LEAVES = 200_000

_SCALARS = (bool, int, float, str, bytes, enum.Enum)


def leaves(value: Any, above: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Every leaf of a value with its path, in document order."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*above, key))
    elif (names := field_names(value)) is not None:
        for name in names:
            yield from leaves(getattr(value, name), (*above, name))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from leaves(item, (*above, index))
    else:
        yield above, value


def middle_field(values: Sequence[Any]) -> str:
    """The field by rule 3; "" where there is no such leaf, which is the whole value."""
    first = itertools.islice(leaves(values[0]), MOST_LEAVES)
    found = [steps for steps, leaf in first if isinstance(leaf, _SCALARS)]
    for steps in map(found.__getitem__, outward(len(found), len(found) // 2)):
        if all(isinstance(_leaf(value, steps), _SCALARS) for value in values[1:]):
            return pointer(steps)
    return ""


def outward(count: int, middle: int) -> Iterator[int]:
    """The places of so many items by their distance from one of them, the later first."""
    for distance in range(count):
        for index in sorted({middle + distance, middle - distance}, reverse=True):
            if 0 <= index < count:
                yield index


def first_tensor(values: Sequence[Any]) -> str | None:
    """The first tensor that every value has, None where there is none."""
    for steps, leaf in leaves(values[0]):
        if isinstance(leaf, np.ndarray) and all(isinstance(_leaf(value, steps), np.ndarray) for value in values[1:]):
            return pointer(steps)
    return None


def check_field(path: str, values: Sequence[Any], places: Sequence[str]) -> None:
    """Make sure that a field of the user's is a leaf of every value.

    Parameters
    ----------
    path
        A JSON Pointer.
    values
        All values that are measured.
    places
        Where each value stands in its source, as "line 3"; "" where there is only one.

    Raises
    ------
    PayloadError
        The path is malformed, leads nowhere, or to something with parts; the nearest existing path is named.
    """
    try:
        steps = parse_path(path)
    except ValueError as error:
        raise PayloadError(str(error)) from None
    for value, place in zip(values, places, strict=True):
        inside = f" of {place}" if place else ""
        here = value
        for depth, step in enumerate(steps):
            try:
                here = at(here, (step,))
            except LookupError:
                raise PayloadError(
                    f"field {path} is not in the value{inside}: "
                    f"{pointer(steps[:depth]) or 'the root'} {_offer(here, str(step))}"
                ) from None
        if isinstance(here, dict | list | tuple) or field_names(here) is not None:
            raise PayloadError(
                f"field {path or 'the root'} of the value{inside} has parts of its own: it {_offer(here, '')}"
            )


def change(value: Any, steps: Steps, leaf: Any) -> None:
    """Put another leaf in the place of one.

    Raises
    ------
    LookupError, AttributeError, TypeError
        There is no such place, or what holds it cannot be changed: a tuple, an instance of a frozen class.
    """
    holder, last = at(value, steps[:-1]), steps[-1]
    if isinstance(holder, dict):
        holder[last if last in holder else int(last)] = leaf
    elif isinstance(holder, list):
        holder[int(last)] = leaf
    else:
        setattr(holder, str(last), leaf)


def _leaf(value: Any, steps: Steps) -> Any:
    try:
        return at(value, steps)
    except LookupError:
        return None


def _offer(value: Any, wanted: str) -> str:
    """What a place has, as the end of an error's sentence."""
    if isinstance(value, list | tuple) and field_names(value) is None:
        return f"is a list of {len(value)} items"
    names = [str(key) for key in value] if isinstance(value, dict) else list(field_names(value) or ())
    if not names:
        return "is empty" if isinstance(value, dict) else "has no parts"
    near = difflib.get_close_matches(wanted, names, n=5, cutoff=0.5) or names[:5]
    return f"has {', '.join(near)}{', ...' if len(names) > len(near) else ''}"
