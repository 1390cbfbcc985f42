"""A small result with every kind of cell, for the tests of this folder."""

from __future__ import annotations

from zcser.measure.result import (
    Allocations,
    Cell,
    CodecRecord,
    Collections,
    Copies,
    Cost,
    Environment,
    Latency,
    Method,
    PayloadRecord,
    ProcessNoise,
    Result,
    Retained,
    Settings,
    Size,
    Tool,
    Unavailable,
)

COST = Cost((10.0, 12.5), 11.25, 10.0, 12.5, batches=16, dirty_batches=1, operations=1600)
LATENCY = Latency(
    150,
    11.0,
    14.0,
    None,
    None,
    90.0,
    ("p90",),
    ((10, 100), (14, 49), (90, 1)),
    process_p50_ns=(11.0, 12.0),
    process_p90_ns=(14.0, None),
    process_p99_ns=(None, None),
    process_p999_ns=(None, None),
)


def example() -> Result:
    return Result(
        tool=Tool("zcser", "0.1.0"),
        created="2026-01-01T00:00:00+00:00",
        command=("zcser", "compare"),
        preset="quick",
        settings=Settings(4, 40.0, 3.0, 8, 2.0, 20.0, 250.0, 64, 1),
        complete=True,
        measuring_s=1.5,
        wall_s=2.5,
        method=Method("timer", "cost", "latency", "freeing", "gc", "allocations", {"encode": "sentence"}),
        environment=Environment(
            cpu="cpu",
            cores=2,
            quota_cores=None,
            memory_bytes=None,
            governor=None,
            clock="tsc",
            clock_lattice_ns=1,
            kernel="Linux 6",
            libc="glibc 2.36",
            malloc={},
            python={"version": "3.11.7", "gc_thresholds": [700, 10, 10]},
            libraries={"numpy": "2"},
        ),
        noise=(ProcessNoise("json", 1, 3, 4, 0.25, None, 0, 0.5),),
        payloads=(PayloadRecord("p", "doc", "built-in", "R", "00ff", ("/a",), None, 64, "distinct", (), "0a1b"),),
        codecs=(
            CodecRecord("json", "text", "json", "json", "3", "C", ("decode",), {}, False, False, False, False, True),
        ),
        unavailable=(Unavailable("x", "needs x", "pip install 'zcser[x]'"),),
        cells=(
            Cell(
                "p",
                "json",
                "encode",
                "ok",
                flags=("capped",),
                values=64,
                cost=COST,
                latency=LATENCY,
                gc=Collections((3, 1, 0), 5000, 4000, 150, 4, 0.5, 3, 14.0, 15.5),
                retained=Retained(LATENCY, Collections((9, 1, 0), 7000, 4000, 150, 9, 0.25, None, 13.0, None)),
                allocations=Allocations("method", 64, 64, 3.5, 400.0, None, None, 3.5, 0.0, None, blind="why"),
                copies=Copies("copy", 1.5, None),
                size=Size(30, 20, 40),
            ),
            Cell("p", "json", "view-field", "unsupported", "json has no view"),
        ),
    )
