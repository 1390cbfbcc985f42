"""Figures as text for people.

1. Three significant digits, with the unit beside each figure: a time is never shown without ns, µs, ms or s.
2. Bytes are decimal (kB is 1000 bytes), exact below 10,000.
3. Any finite number has a text, absurd ones included: a file may hold them.
"""

from __future__ import annotations

__all__ = ["bytes_text", "duration_text", "number_text", "range_text", "ratio_text"]

_TIMES = ((1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"))
_SIZES = ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))


def _digits(value: float) -> str:
    """Three significant digits, without an exponent below 10,000."""
    size = abs(value)
    if size >= 9999.5:
        return f"{value:.3g}"
    if size >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    # 999.5 rounds to 1000, which is 1.00 of the next unit.
    scale, unit = next((entry for entry in reversed(units) if abs(value) >= 0.9995 * entry[0]), units[0])
    return f"{_digits(value / scale)} {unit}"


def duration_text(nanoseconds: float) -> str:
    """A time: ``"340 ns"``, ``"12.3 µs"``, ``"1.20 ms"``."""
    return _scaled(nanoseconds, _TIMES)


def range_text(low_ns: float, high_ns: float) -> str:
    """A range of times, the unit once where it is the same: ``"1.20 to 1.31 µs"``, ``"980 ns to 1.31 µs"``."""
    low, high = duration_text(low_ns), duration_text(high_ns)
    number, _, unit = low.rpartition(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"


def bytes_text(count: float) -> str:
    """A size: ``"64 B"``, ``"1,234 B"``, ``"65.8 kB"``."""
    return f"{count:,.0f} B" if abs(count) < 9999.5 else _scaled(count, _SIZES)


def number_text(value: float) -> str:
    """A plain number: ``"0"``, ``"0.42"``, ``"1,234"``."""
    if abs(value) >= 9999.5:
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.2g}"
    return f"{value:,.0f}" if value == int(value) else _digits(value)


def ratio_text(ratio: float) -> str:
    """How many times as much, in at most seven characters: ``"1.04x"``, ``"1.9x"``, ``"27x"``, ``">9999x"``."""
    if ratio >= 9999.5:
        return ">9999x"
    if ratio >= 9.95:
        return f"{ratio:.0f}x"
    return f"{ratio:.1f}x" if ratio >= 1.095 else f"{ratio:.2f}x"
