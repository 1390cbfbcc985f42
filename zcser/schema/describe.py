"""A schema as plain text for people: what `zcser schema` prints.

1. The same schema gives the same text: no colour, no width of a terminal, nothing wrapped.
2. Names stand as they are; one that is empty or holds blanks, quotes or unprintable characters stands in double quotes,
   escaped as in JSON, so that no key can break a line or move a cursor.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator

from zcser.schema.model import MISSING, Enum, Field, Record, Schema, walk
from zcser.schema.observe import printable

__all__ = ["describe"]

_HEAD = ("id", "field", "in messages", "type", "presence")


def describe(schema: Schema) -> str:
    """A schema's root, records, enums and notes.

    Parameters
    ----------
    schema
        From a sample or from classes.

    Returns
    -------
    str
        Lines without a newline at the end. First the root; then a table per record, with its class where it has one,
        and the names that fields have in messages where some have another one there; then the members of enums; then,
        under "why", the notes.
    """
    return "\n".join(_lines(schema))


def _lines(schema: Schema) -> Iterator[str]:
    yield f"root {schema.root}  (fingerprint {schema.fingerprint})"
    for record in schema.records:
        yield ""
        yield from _record_lines(record)
    enums = _enums(schema)
    if enums:
        yield ""
        yield "enums"
        for enum in enums:
            yield f"  {enum.name}: {', '.join(f'{name} = {value!r}' for name, value in enum.members)}"
    if schema.notes:
        yield ""
        yield "why"
        yield from (f"  {printable(note)}" for note in schema.notes)


def _record_lines(record: Record) -> Iterator[str]:
    cls = "" if record.cls is None else f"  ({record.cls.__module__}.{record.cls.__qualname__})"
    yield f"{record.name}{cls}{'  stands as its one field' if record.transparent else ''}"
    if not record.fields:
        yield "  no fields"
        return
    rows: list[tuple[str, ...]] = [_HEAD]
    rows += ((str(it.id), _name(it.name), _name(it.wire_name), str(it.type), _presence(it)) for it in record.fields)
    if all(item.alias is None for item in record.fields):
        rows = [(*row[:2], *row[3:]) for row in rows]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    for id_, *texts, presence in rows:
        cells = [f"  {text}{' ' * (wide - _width(text))}" for text, wide in zip(texts, widths[1:-1], strict=True)]
        yield f"  {' ' * (widths[0] - _width(id_))}{id_}{''.join(cells)}  {presence}"


def _presence(item: Field) -> str:
    if item.default is not MISSING:
        return f"default {printable(repr(item.default))}"
    if item.default_factory is not None:
        return f"default {getattr(item.default_factory, '__name__', 'factory')}()"
    return "required" if item.required else "may be absent"


def _name(name: str) -> str:
    plain = name.isprintable() and name and '"' not in name and not any(map(str.isspace, name))
    return name if plain else json.dumps(name)


def _width(text: str) -> int:
    """Columns on a terminal: East Asian wide characters take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in {"W", "F"}) for c in text)


def _enums(schema: Schema) -> Iterable[Enum]:
    types = [schema.root, *(item.type for record in schema.records for item in record.fields)]
    parts = (part for type_ in types for part in walk(type_))
    return {part.name: part for part in parts if isinstance(part, Enum)}.values()
