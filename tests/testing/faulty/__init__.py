"""Codecs with one deliberate fault each, around a good one. `FAULTS` says which law must find it."""

from __future__ import annotations

from tests.testing.faulty import conduct, hostile, values
from tests.testing.faulty.good import FAULTS, Good, GoodPacked, GoodViews

__all__ = ["FAULTS", "Good", "GoodPacked", "GoodViews", "conduct", "hostile", "values"]
