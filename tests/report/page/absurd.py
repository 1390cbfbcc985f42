"""Results that no run would give, but a file may hold."""

import dataclasses

from tests.report.results import around, cell, cost, latency, payload, realistic, result
from zcser.measure.result import Cell, Latency, Size

HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "-->]]>&amp;&#x3c;b",
    "\u202egnp.exe",
    "\u05e9\u05dc\u05d5\u05dd \u200fA",
    "lone \ud800 surrogate \u2028 and \u2029",
    "__proto__",
    "constructor",
    "$title ${style}",
    "`${alert(3)}`",
    "x" * 3000,
    "",
)


def hostile():
    """All texts of a result hostile: names, operations, reasons, flags, notes, environment."""
    cells = [Cell(HOSTILE[0], name, "tensor", "refused", reason=HOSTILE[1]) for name in HOSTILE]
    cells += [
        cell(
            name,
            operation,
            100 + 7 * number,
            payload=HOSTILE[number % 3],
            latency=latency(100 + number),
            size=Size(10 + number, 10, 20),
            flags=(HOSTILE[2],),
            encoded_by=HOSTILE[1],
        )
        for number, name in enumerate(HOSTILE)
        for operation in ("encode", "decode", "read-field", HOSTILE[0], "constructor")
    ]
    made = result(cells, command=HOSTILE)
    text = HOSTILE[2] + HOSTILE[4]
    return dataclasses.replace(
        made,
        created=text,
        tool=dataclasses.replace(made.tool, name=text, version=text),
        payloads=tuple(payload(name, text, source=text, notes=(text,), fields=(text,)) for name in HOSTILE[:3]),
        codecs=tuple(dataclasses.replace(one, library=text, version=text, format=text) for one in made.codecs),
        environment=dataclasses.replace(made.environment, cpu=text, kernel=text, libraries={text: text}),
        method=dataclasses.replace(made.method, boundaries={"encode": text, HOSTILE[0]: text}),
    )


def lone(codec="a", **figures):
    return result([cell(codec, "encode", figures.pop("cost", 100.0), **figures)])


ABSURD = {
    "nothing": result([]),
    "no-cell-of-a-payload": result([], payloads=(payload("empty"),)),
    "all-refused": result([Cell("one", name, "encode", "refused", "no such type") for name in "ab"]),
    "all-unsupported": result([Cell("one", "a", "encode", "unsupported")]),
    "one-codec": lone(),
    "no-figures": result([Cell("one", name, "encode", "ok") for name in "ab"]),
    "zero": lone(cost=cost(0, 0), size=Size(0, 0, 0)),
    "below-zero": result([cell(name, "encode", cost(-5, -4), size=Size(-3, -3, -3)) for name in "ab"]),
    "one-sample": lone(latency=Latency(1, None, None, None, None, 5.0, (), ((5, 1),))),
    "no-sample": lone(latency=Latency(0, None, None, None, None, 0.0, (), ())),
    "turned-round": result(
        [cell(name, "encode", dataclasses.replace(around(50), low_ns=90, high_ns=1)) for name in "ab"]
    ),
    "enormous": result(
        [
            cell(name, operation, cost(figure, figure), latency=latency(1e290), size=Size(10**30, 1, 10**40))
            for name, figure in (("a", 1e300), ("b", 1e308))
            for operation in ("encode", "decode")
        ]
    ),
    "tiny": result(
        [cell(name, "encode", cost(5e-324, figure), size=Size(1, 1, 1)) for name, figure in (("a", 1), ("b", 1e308))]
    ),
    "interrupted": result([], complete=False),
    "hostile": hostile(),
    "realistic": realistic(),
}
