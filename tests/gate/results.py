"""Results with seeded noise, for tests of the gate."""

import dataclasses
import math
import random

from tests.report.results import cell, cost, result
from zcser.measure.result import Allocations, Cell, Collections, Size

EXACT = "exact: Python domains + malloc preload"
CODECS = ("orjson", "msgpack", "protobuf", "json", "header")


def noisy(rng, *, cells=60, sd=0.01, processes=10, slower=None):
    """A run of cells whose processes vary log-normally around 1 µs to 1 ms; `slower` maps cell numbers to factors."""
    made = []
    for number in range(cells):
        center = 1000 * (1 + number % 997) * (slower or {}).get(number, 1.0)
        figures = [center * math.exp(rng.gauss(0, sd)) for _ in range(processes)]
        made.append(cell(CODECS[number % 5], f"op{number // 5}", cost(*figures)))
    return result(made)


def one(*process_p10_ns, **rest):
    """A run of a single cell."""
    return result([cell("orjson", "encode", cost(*process_p10_ns), **rest)])


def steady(**rest):
    """A run of a single cell of ten processes around 1 µs, within half a percent."""
    return one(*(1000 + step for step in range(-5, 5)), **rest)


def counted(allocations=12.0, *, native=3.0, size=100, method=EXACT, **rest):
    """Parts of a cell: exact counts and a size."""
    values = {
        "calls": 64, "values": 64, "python_allocations": allocations, "python_bytes": allocations * 50,
        "native_allocations": native, "native_bytes": native and native * 1000,
    }  # fmt: skip
    return {"allocations": Allocations(method, **(values | rest)), "size": Size(size, size, size), "values": 64}


def collected(*generations, operations=20_000):
    return {"gc": Collections(generations, 1000, 100, operations), "values": 64}


def changed(made, **parts):
    """A result with attributes of its records changed: ``environment={"cpu": "another"}``."""
    return dataclasses.replace(
        made, **{name: dataclasses.replace(getattr(made, name), **values) for name, values in parts.items()}
    )


def with_cell(made, number, **parts):
    """A result with attributes of one cell changed."""
    cells: list[Cell] = list(made.cells)
    cells[number] = dataclasses.replace(cells[number], **parts)
    return dataclasses.replace(made, cells=tuple(cells))


def seeded(seed=1):
    return random.Random(seed)
