"""Values taken from the user, as a payload holds them: apart from the reading of sources, which workers need not load."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

__all__ = ["Snapshot"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`Payload.make` of values that were taken from the user.

    Attributes
    ----------
    pickled
        The normal form of each value; those that differ stand first. Bytes of our own making: they are loaded in the
        processes of one run.
    """

    pickled: tuple[bytes, ...]

    def __call__(self, number: int) -> Any:
        """Value number `number`, as a fresh object."""
        return pickle.loads(self.pickled[number % len(self.pickled)])
