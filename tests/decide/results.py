"""Results for tests of the decision: costs whose interval is the figure itself, unless a test says otherwise."""

from tests.report.results import cell, cost, latency, result
from zcser.measure.result import Size

__all__ = ["cell", "codec", "cost", "latency", "result", "sized"]


def sized(name, encode_ns, wire_bytes, **rest):
    """An encode cell with its size; `encode_ns` by process."""
    processes = encode_ns if isinstance(encode_ns, tuple) else (encode_ns, encode_ns)
    return cell(name, "encode", cost(*processes), size=Size(wire_bytes, wire_bytes, wire_bytes), **rest)


def codec(name, wire_bytes, payload="one", **costs):
    """The cells of a codec: ``encode=(100, 110)`` is a cost by process, a number one of two equal processes."""
    cells = []
    for operation, figures in costs.items():
        processes = figures if isinstance(figures, tuple) else (figures, figures)
        size = Size(wire_bytes, wire_bytes, wire_bytes) if operation == "encode" else None
        cells.append(cell(name, operation.replace("_", "-"), cost(*processes), payload=payload, size=size))
    return cells
