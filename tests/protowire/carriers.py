"""Messages that hold payloads in every place that the mapping has, and bare classes that write the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp

from zcser.native import backend
from zcser.protowire.engine import Walker
from zcser.protowire.pure import PureWalker
from zcser.protowire.routes import Routes


class Side(TypedDict):
    blob: NotRequired[bytes]
    tensor: NotRequired[np.ndarray | None]


@dataclass
class Named:
    name: str
    data: np.ndarray


@dataclass
class Holder:
    id: int
    blob: bytes
    tensor: np.ndarray
    maybe: bytes | None
    blobs: list[bytes]
    tensors: list[np.ndarray]
    named: list[Named]
    by_key: dict[str, bytes]
    by_number: dict[int, np.ndarray]
    either: int | bytes | np.ndarray | Named
    grid: list[list[bytes]]
    side: Side
    inner: Holder | None
    tail: str


PAYLOADS = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([11, 12, 13, 127, 128, 1023, 1024, 1025, 5000]).map(
        lambda size: bytes(i & 255 for i in range(size))
    ),
)
ARRAYS = st.one_of(
    stnp.arrays(
        st.sampled_from([np.uint8, np.int16, np.float32, np.float64]), stnp.array_shapes(min_dims=0, max_dims=2)
    ),
    st.sampled_from([(12,), (3, 0), (2048,), (40, 30)]).map(lambda shape: np.arange(np.prod(shape)).reshape(shape)),
    st.just(np.arange(3000, dtype="<f4").reshape(60, 50).T),
    st.just(np.arange(600, dtype=">f8")[::2]),
)
NAMED = st.builds(Named, st.text(max_size=4), ARRAYS)


def holders(inner: st.SearchStrategy[Holder | None]) -> st.SearchStrategy[Holder]:
    return st.builds(
        Holder,
        id=st.integers(-5, 300),
        blob=PAYLOADS,
        tensor=ARRAYS,
        maybe=st.none() | PAYLOADS,
        blobs=st.lists(PAYLOADS, max_size=3),
        tensors=st.lists(ARRAYS, max_size=2),
        named=st.lists(NAMED, max_size=2),
        by_key=st.dictionaries(st.text(max_size=3), PAYLOADS, max_size=3),
        by_number=st.dictionaries(st.integers(-2, 300), ARRAYS, max_size=2),
        either=st.integers(0, 9) | PAYLOADS | ARRAYS | NAMED,
        grid=st.lists(st.lists(PAYLOADS, max_size=2), max_size=2),
        side=st.fixed_dictionaries({}, optional={"blob": PAYLOADS, "tensor": st.none() | ARRAYS}),
        inner=inner,
        tail=st.text(max_size=5),
    )


HOLDERS = holders(st.none() | holders(st.none()))


def walkers(routes: Routes) -> list[Walker]:
    """The walk in Python, and the one in C where it runs here."""
    found: list[Any] = [PureWalker(routes.nodes, routes.root)]
    if backend == "native":
        from zcser.native import _protowire

        found.append(_protowire.Walker(routes.nodes, routes.root))
    return found
