"""Results written by hand, for tests of what reads them."""

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any

from zcser.measure.result import (
    Allocations,
    Cell,
    CodecRecord,
    Collections,
    Cost,
    Environment,
    Latency,
    Method,
    PayloadRecord,
    ProcessNoise,
    Result,
    Settings,
    Size,
    Tool,
    Unavailable,
)

BOUNDARIES = {
    "encode": "from the user's object to bytes that belong to the caller, guard included",
    "decode": "from bytes to the user's object",
    "read-field": "from bytes to one field, by the fastest way that the codec has",
    "touch-all": "open the bytes and read every field",
    "tensor": "from bytes to the first tensor as a numpy array",
    "convert": "from the user's object to the library's own, guard included",
    "guard": "encode with the guard on, less encode with it off",
    "dump": "from the library's own object to bytes",
    "load": "from bytes to the library's own object",
    "restore": "from the library's own object to the user's",
}


def cost(*process_p10_ns: float) -> Cost:
    """A cost by process, its median by hand."""
    ordered = sorted(process_p10_ns)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return Cost(tuple(process_p10_ns), median, ordered[0], ordered[-1], 32, 2, 10_000)


def around(center_ns: float) -> Cost:
    """A cost of four processes within 1 % either way."""
    return cost(*(center_ns * factor for factor in (0.99, 0.995, 1.005, 1.01)))


def latency(p50_ns: float, *, sure: bool = True) -> Latency:
    return Latency(
        n=20_000 if sure else 2_000,
        p50_ns=p50_ns,
        p90_ns=p50_ns * 1.3,
        p99_ns=p50_ns * 2.4,
        p999_ns=p50_ns * 9 if sure else None,
        max_ns=p50_ns * 80,
        uncertain=("p999",) if sure else ("p99",),
        histogram=((int(p50_ns), 20_000),),
    )


def cell(codec: str, operation: str, figure: Cost | float | None = None, **rest: Any) -> Cell:
    """A measured cell; a number is the centre of `around`."""
    made = around(figure) if isinstance(figure, int | float) else figure
    return Cell(**{"payload": "one", "codec": codec, "operation": operation, "status": "ok", "cost": made, **rest})


def allocations(peak_bytes: int, blind: bool) -> Allocations:
    """Of the fallback method."""
    return Allocations(
        "tracemalloc", peak_bytes=peak_bytes, result_blocks=12, blind="it calls malloc" if blind else None
    )


def payload(name: str, doc: str = "a message", **rest: Any) -> PayloadRecord:
    values = {"source": "built-in", "schema": "schema M", "fingerprint": "0" * 16, "fields": ("/id",), "tensor": None}
    values["data_fingerprint"] = "d" * 16
    return PayloadRecord(**{"name": name, "doc": doc, "values": 64, "rotation": "distinct", **values, **rest})


def codec_record(name: str, **rest: Any) -> CodecRecord:
    values = {
        "format": name,
        "wire": name,
        "library": name,
        "version": "1.0",
        "implementation": "C extension",
        "operations": ("encode", "decode"),
        "reads": {},
        "joinable": False,
        "self_delimiting": True,
        "trusted_only": False,
        "fused": False,
        "validates": True,
    }
    return CodecRecord(**{"name": name, **values, **rest})


def result(cells: Iterable[Cell], **rest: Any) -> Result:
    """A result around cells; payload and codec records follow from them."""
    cells = tuple(cells)
    codecs = dict.fromkeys(one.codec for one in cells if one.codec != "baseline")
    payloads = dict.fromkeys(one.payload for one in cells if one.codec != "baseline")
    made = Result(
        tool=Tool("zcser", "0.1.0"),
        created="2026-01-02T03:04:05Z",
        command=("compare",),
        preset="quick",
        settings=Settings(4, 55.0, 3.0, 8, 2.0, 20.0, 250.0, 64, 1),
        complete=True,
        measuring_s=48.2,
        wall_s=71.9,
        method=Method(
            timer="a Python loop around perf_counter_ns",
            cost="p10 of clean batches per process, median over processes",
            latency="every sample of every process, none dropped",
            freeing="dropping the result is inside the timed window",
            gc="enabled while timing, results discarded",
            allocations="tracemalloc and sys.getallocatedblocks: Python's allocators only",
            boundaries=BOUNDARIES,
        ),
        environment=Environment(
            cpu="AMD EPYC 7B13",
            cores=2,
            quota_cores=None,
            memory_bytes=8_000_000_000,
            governor=None,
            clock="tsc",
            clock_lattice_ns=10,
            kernel="Linux 6.1",
            libc="glibc 2.36",
            malloc={},
            python={"version": "3.11.7", "implementation": "CPython", "gc_thresholds": [700, 10, 10]},
            libraries={"numpy": "2.4.6", **{name: f"{name} 1.0 (C extension)" for name in codecs}},
        ),
        noise=(ProcessNoise("orjson", 0, 12, 3, 0.0625, 1_500_000, None, 1.2),),
        payloads=tuple(map(payload, payloads)),
        codecs=tuple(map(codec_record, codecs)),
        unavailable=(),
        cells=cells,
    )
    return dataclasses.replace(made, **rest)


CODECS = ("json", "orjson", "simdjson", "msgpack", "protobuf", "flatbuffers-official", "header")

# Per payload: wire bytes by codec, and p10 in ns by codec of encode, decode, read-field, touch-all, tensor.
FIGURES: dict[str, dict[str, tuple[int | None, tuple[float | None, ...]]]] = {
    "request-64k": {
        "json": (88_412, (412_000, 398_000, 398_000, 398_000, 399_000)),
        "orjson": (88_412, (78_100, 81_400, 81_400, 81_400, 80_900)),
        "simdjson": (None, (None, 101_000, 52_300, 92_100, 74_800)),
        "msgpack": (65_802, (6_240, 4_870, 4_870, 4_870, 4_900)),
        "protobuf": (65_871, (13_100, 10_900, 8_140, 9_950, 8_930)),
        "flatbuffers-official": (66_104, (156_000, 48_000, 2_350, 41_900, 14_200)),
    },
    "token-chunk": {
        "json": (231, (3_420, 3_870, 3_870, 3_870, None)),
        "orjson": (231, (225, 612, 612, 612, None)),
        "simdjson": (None, (None, 1_890, 640, 1_720, None)),
        "msgpack": (164, (522, 731, 731, 731, None)),
        "protobuf": (98, (878, 1_020, 512, 940, None)),
        "flatbuffers-official": (192, (24_600, 11_300, 2_410, 10_800, None)),
    },
    "batch-meta": {
        "json": (189, (4_310, 4_050, 4_050, 4_050, None)),
        "orjson": (189, (318, 702, 702, 702, None)),
        "simdjson": (None, (None, 2_010, 655, 1_910, None)),
        "msgpack": (171, (701, 842, 842, 842, None)),
        "protobuf": (41, (1_980, 2_210, 730, 1_900, None)),
        "flatbuffers-official": (92, (31_700, 17_500, 2_290, 16_400, None)),
        "header": (64, (322, 471, 83, 455, None)),
    },
}
COST_OPERATIONS = ("encode", "decode", "read-field", "touch-all", "tensor")
FUSED = {"orjson", "header"}


@functools.cache
def realistic() -> Result:
    """Seven codecs on three payloads, with everything that a real run shows."""
    cells = []
    for name, codecs in FIGURES.items():
        for codec in CODECS:
            if codec in codecs:
                cells += _codec_cells(name, codec, *codecs[codec])
            else:
                cells += [
                    Cell(name, codec, operation, "refused", "tensor of unknown size (at InferRequest/inputs)")
                    for operation in COST_OPERATIONS
                ]
    cells += [
        Cell("-", "baseline", operation, "ok", cost=around(figure), latency=latency(figure * 1.05))
        for operation, figure in (
            ("empty", 38),
            ("struct", 183),
            ("memcpy-1k", 52),
            ("memcpy-64k", 1_890),
            ("memcpy-1m", 32_800),
        )
    ]
    docs = {"request-64k": "inference request: metadata and a 64 kB tensor", "token-chunk": "streaming LLM chunk"}
    made = result(cells)
    return dataclasses.replace(
        made,
        payloads=tuple(payload(name, docs.get(name, "64-byte batch header")) for name in FIGURES),
        codecs=tuple(codec_record(name, fused=name in FUSED) for name in CODECS),
        unavailable=(Unavailable("pyarrow", "pyarrow is not installed", "pip install 'zcser[pyarrow]'"),),
    )


def _codec_cells(name: str, codec: str, wire: int | None, figures: tuple[float | None, ...]) -> list[Cell]:
    cells = []
    for operation, figure in zip(COST_OPERATIONS, figures, strict=True):
        if figure is None:
            cells.append(Cell(name, codec, operation, "unsupported"))
            continue
        flags = ("unvalidated",) if (codec, operation) == ("flatbuffers-official", "read-field") else ()
        flags += ("capped",) if figure > 390_000 else ()
        cells.append(
            Cell(
                name,
                codec,
                operation,
                "ok",
                flags=flags,
                values=64,
                encoded_by="orjson" if codec == "simdjson" else None,
                cost=around(figure),
                latency=latency(figure * 1.06, sure=figure < 50_000),
                gc=Collections((28 if operation == "decode" else 0, 2, 0), 41_000, 9_000, 20_000),
                allocations=allocations(4_096 + int(figure) // 10, codec in {"protobuf", "simdjson"}),
                size=Size(wire, wire - 9, wire + 11) if wire and operation == "encode" else None,
            )
        )
    cells += _ledger_cells(name, codec, figures)
    return cells


def _ledger_cells(name: str, codec: str, figures: tuple[float | None, ...]) -> list[Cell]:
    encode, decode = figures[:2]
    if codec in FUSED or encode is None or decode is None:
        return [Cell(name, codec, part, "unsupported") for part in ("convert", "guard", "dump", "load", "restore")]
    parts = {"convert": encode * 0.55, "guard": encode * 0.12 if codec != "msgpack" else -8.0, "dump": encode * 0.44}
    parts |= {"load": decode * 0.6, "restore": decode * 0.41}
    return [
        Cell(name, codec, part, "ok", flags=("derived",) if part == "guard" else (), cost=around(figure))
        for part, figure in parts.items()
    ]
