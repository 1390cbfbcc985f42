"""The classes of the C engine's views: what C reads, with what `zcser.core.view` promises of every view.

1. C reads: fields, items, entries, whole values. Here is what is not worth writing there: iteration, repr, membership.
2. A record's class is derived for each engine, as its fields belong to one; lists and maps share a class each.
3. A list of numbers is a buffer, so that ``memoryview(view)`` and ``np.asarray(view)`` alias the message; enums are
   their numbers there. An array or memoryview that was made so stays valid when the view is released.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from zcser.core.view import MapView, RecordView, SequenceView, record_view_class
from zcser.flat.program import Choice, Op, Place, Program
from zcser.native import _flat
from zcser.schema.model import Ref

__all__ = ["install_views"]


class _TableView(_flat.TableView, RecordView):
    """A record."""

    __slots__ = ()
    _zc_fields: ClassVar[Mapping[str, _flat.Field]] = {}

    def _zc_present(self, name: str) -> bool:
        return self._zc_fields[name].is_present(self)


class _ListView(_flat.VectorView, SequenceView):
    """A list."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return map(self._zc_item, range(len(self)))


class _NumbersView(_flat.NumbersView, SequenceView):
    """A list of numbers, which is read as a whole where it is gone through."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._zc_value())


class _MapView(_flat.MapView, MapView):
    """A map."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return map(self._zc_key, range(len(self)))


def install_views(engine: _flat.Engine, program: Program) -> None:
    """Give an engine the classes of its views, without which it has none.

    Parameters
    ----------
    engine
        The engine of `program`.
    program
        What it runs.
    """
    for index, node in enumerate(program.nodes):
        match node.op:
            case Op.TABLE | Op.STRUCT | Op.ONEOF if isinstance(node.neutral, Ref):
                record = program.schema.resolve(node.neutral)
                parts: Sequence[Choice | Place] = node.choices or node.places
                places = {part.name: position for position, part in enumerate(parts)}
                fields = {item.name: _flat.Field(engine, index, places[item.name]) for item in record.fields}
                engine.set_view(index, _record_class(record.name, fields), fields)
            case Op.NUMBERS | Op.ARRAY if Op.NULL < program.nodes[node.item].op <= Op.ENUM:
                engine.set_view(index, _NumbersView, None)
            case Op.NUMBERS | Op.STRINGS | Op.TABLES | Op.ARRAY | Op.STRUCTS | Op.ONEOFS:
                engine.set_view(index, _ListView, None)
            case Op.MAP:
                engine.set_view(index, _MapView, None)


def _record_class(record: str, fields: dict[str, _flat.Field]) -> type[RecordView]:
    made = record_view_class(_TableView, record, {name: field.__get__ for name, field in fields.items()})
    made._zc_fields = fields  # type: ignore[attr-defined]  # of _TableView
    for name, field in fields.items():
        if isinstance(vars(made).get(name), property):
            setattr(made, name, field)  # a descriptor itself: no call of Python's lies between
    return made
