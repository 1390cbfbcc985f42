"""What is compared: the glue by hand and our codecs, made here and held to the same bytes and values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.flat.arms import Arm, Effort, prove, rotating
from benchmarks.glue.datums import AVRO
from benchmarks.glue.messages import Glue, values
from benchmarks.glue.protobuf import PROTOBUF
from benchmarks.glue.trees import JSON, MSGPACK
from zcser import registry

__all__ = ["BY_HAND", "CODECS", "OPERATIONS", "SUBJECTS", "arms"]

CODECS = ("orjson", "msgpack", "avro", "protobuf")
OPERATIONS = ("convert", "restore")

BY_HAND = "by hand"
SUBJECTS = (BY_HAND, "guard off", "guard on")

_TREES = {"orjson": JSON, "msgpack": MSGPACK, "avro": AVRO}


class _Fresh(Sequence[Any]):
    """Batches of objects that are made when a batch is asked for: `restore` may use up what it is given."""

    def __init__(self, make: Callable[[], list[Any]], count: int) -> None:
        self._make = make
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        return self._make()


def _by_hand(message: str, name: str, native: Any) -> Glue:
    return PROTOBUF[message](type(native)) if name == "protobuf" else _TREES[name][message]


def arms(effort: Effort, message: str, name: str) -> list[Arm]:
    """All subjects, both ways, for one message and one codec.

    Raises
    ------
    benchmarks.support.fresh.MeasuringError
        Two of them give other bytes or other values.
    """
    cls, items = values(message)
    codec: Any = registry.codec(name, cls)
    unguarded: Any = registry.codec(name, cls, guard="off")
    wires = [codec.encode(item) for item in items]

    def natives() -> list[Any]:
        return [codec.load(wire) for wire in wires]

    subjects = {
        BY_HAND: _by_hand(message, name, natives()[0]),
        "guard off": Glue(unguarded.convert, unguarded.restore),
        "guard on": Glue(codec.convert, codec.restore),
    }
    found = []
    for subject, glue in subjects.items():
        what = f"{message}, {name}, {subject}"
        prove(f"{what}, convert", [codec.dump(glue.convert(item)) for item in items], wires)
        prove(f"{what}, restore", [glue.restore(native) for native in natives()], items)
        found += [
            rotating(effort, "convert", subject, glue.convert, items),
            Arm("restore", subject, "class", glue.restore, _Fresh(natives, effort.batches)),
        ]
    return found
