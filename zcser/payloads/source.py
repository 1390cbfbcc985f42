"""A payload from the user's own data: a JSON file, or ``module:function``.

1. The source is read once (a file in which a fast parser would lose something twice). The payload holds its values pickled, so that it travels to a worker as it is, later changes
   of the file change nothing, and each value that is made is a fresh object.
2. Values are measured in their normal form (`zcser.normal`), which every codec gives back.
3. A dataclass or msgspec Struct brings its schema; anything else has one inferred, from all values of the source, unless
   one is given.
4. The first `DISTINCT` values that differ are measured.
"""

from __future__ import annotations

import codecs
import contextlib
import dataclasses
import gc
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from zcser import registry
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.fidelity import field_names
from zcser.payloads import functions
from zcser.payloads.base import Payload, PayloadError
from zcser.payloads.files import JsonFile, Progress, Texts
from zcser.payloads.json_text import was_read_exactly
from zcser.payloads.places import check_field, first_tensor, middle_field
from zcser.schema.from_python import schema_of
from zcser.schema.from_sample import decide, infer, survey
from zcser.schema.model import Schema
from zcser.schema.normal import normal

__all__ = ["DISTINCT", "Snapshot", "from_source"]

DISTINCT = 64


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`Payload.make` of values that were taken from the user.

    Attributes
    ----------
    pickled
        The normal form of each distinct value. Bytes of our own making: they are loaded in the processes of one run.
    """

    pickled: tuple[bytes, ...]

    def __call__(self, number: int) -> Any:
        """Value number `number`, as a fresh object."""
        return pickle.loads(self.pickled[number % len(self.pickled)])


def from_source(
    text: str, *, fields: Sequence[str] = (), schema: Schema | None = None, progress: Progress | None = None
) -> Payload:
    """A payload from the user's data.

    Parameters
    ----------
    text
        A ``.json``, ``.jsonl`` or ``.ndjson`` file; or ``module:function``, where the function returns one value, a
        list or iterator of values, or a `Payload`.
    fields
        JSON Pointers of the fields that a partial read takes. Without them the scalar leaf nearest to the middle of
        the document is the one.
    schema
        What the values are read by, instead of one that is inferred: JSON as the codec of JSON reads it, and every value
        of a file is checked.
    progress
        Called with the bytes of a file that were read, and its size.

    Returns
    -------
    Payload
        ``distinct`` values that differ; ``schema.notes`` tells what was inferred, and which keys were repeated.

    Raises
    ------
    PayloadError
        The source cannot be read, or its values do not fit each other or the schema; one line that names the place.
    """
    if functions.is_reference(text):  # no file with one of the suffixes looks so
        return _from_function(text, tuple(fields), schema)
    return _from_file(JsonFile(text, progress), tuple(fields), schema)


def _from_file(file: JsonFile, fields: tuple[str, ...], schema: Schema | None) -> Payload:
    kept: dict[bytes, tuple[int, Any]] = {}
    read = 0

    def documents(blocks: Iterator[tuple[Texts, list[Any]]]) -> Iterator[Any]:
        nonlocal read
        kept.clear()
        read = 0
        for texts, values in blocks:
            read += len(values)
            for (number, text), value in zip(texts, values, strict=True):
                if len(kept) == DISTINCT:
                    break
                kept.setdefault(text, (number, value))
            yield from values

    with _no_collections():
        if schema is None:
            schema = _inferred_from(file, documents)
        else:
            for _ in documents(_read_by(file, schema)):
                pass
    what = f"{read:,} lines" if file.one_per_line else "one document"
    return _payload(
        name=file.name,
        doc=f"{what}, {file.nbytes:,} bytes as given",
        source=file.source,
        schema=schema,
        values=((file.place(number), value) for number, value in kept.values()),
        fields=fields,
    )


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    """Without the garbage collector: parsed documents hold no cycles, and it would walk them several times over."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _inferred_from(file: JsonFile, documents: Callable[[Iterator[tuple[Texts, list[Any]]]], Iterable[Any]]) -> Schema:
    try:
        seen = survey(documents(file.documents()))
        if not was_read_exactly(seen.totals(), file.quotes):
            seen = survey(documents(file.documents(strictly=True)))
        schema = decide(seen)
    except SchemaError as error:
        raise PayloadError(f"{file.source}: {_brief(error)}") from error
    if file.first_repeated is None:
        return schema
    note = f"the root: {file.repeated} repeated keys ({file.first_repeated!r}), of which the last value stands"
    return dataclasses.replace(schema, notes=(*schema.notes, note))


def _read_by(file: JsonFile, schema: Schema) -> Iterator[tuple[Texts, list[Any]]]:
    """The documents of each block as the codec of JSON reads them by a schema, which must know all that is in them."""
    try:
        decode = registry.codec("json", schema, unknown_fields="refuse").decode
    except SchemaError as error:
        raise PayloadError(f"{file.source}: its values cannot be read by the schema: {_brief(error)}") from error
    for texts in file.texts():
        values = []
        for number, text in texts:
            try:
                values.append(decode(text.removeprefix(codecs.BOM_UTF8)))
            except DecodeError as error:
                file.refuse(_brief(error), number)
        yield texts, values


def _from_function(reference: str, fields: tuple[str, ...], schema: Schema | None) -> Payload:
    values = functions.call(reference, DISTINCT)
    if isinstance(values, Payload):
        if schema is not None:
            raise PayloadError(f"{reference}: the payload has a schema of its own; leave the other one out")
        return _users_payload(values, reference, fields)
    classes = {type(value) for value in values}
    if schema is not None:
        pass
    elif not any(field_names(value) is not None for value in values):
        schema = _inferred(reference, values)
    elif len(classes) == 1:
        try:
            schema = schema_of(classes.pop())
        except SchemaError as error:
            raise PayloadError(f"{reference}: {error}") from error
    else:
        names = ", ".join(sorted(cls.__name__ for cls in classes))
        raise PayloadError(f"{reference}: the values are of several classes ({names}); return values of one")
    return _payload(
        name=reference,
        doc=f"{len(values):,} {'value' if len(values) == 1 else 'values'} of {schema.root}",
        source=reference,
        schema=schema,
        values=((f"value {number}" if len(values) > 1 else "", value) for number, value in enumerate(values)),
        fields=fields,
    )


def _users_payload(payload: Payload, reference: str, fields: tuple[str, ...]) -> Payload:
    try:
        pickle.dumps(payload)
    except Exception as error:
        raise PayloadError(
            f"{reference}: the payload cannot be sent to another process ({type(error).__name__}: {error}); "
            "make must be a function at module level, or a functools.partial of one"
        ) from error
    try:
        values = payload.values(min(payload.distinct, DISTINCT))
    except Exception as error:
        raise PayloadError(f"{reference}: make raised {type(error).__name__}: {error}") from error
    chosen = fields or payload.fields or (payload.field,)
    _check_fields(reference, chosen, values, [f"value {number}" for number in range(len(values))])
    return dataclasses.replace(payload, source=reference, fields=chosen, field=fields[0] if fields else payload.field)


def _check_fields(source: str, fields: Sequence[str], values: Sequence[Any], places: Sequence[str]) -> None:
    try:
        for path in fields:
            check_field(path, values, places)
    except PayloadError as error:
        raise PayloadError(f"{source}: {error}") from None


def _inferred(source: str, values: Iterable[Any]) -> Schema:
    try:
        return infer(values)
    except SchemaError as error:
        raise PayloadError(f"{source}: {_brief(error)}") from error


def _payload(
    *,
    name: str,
    doc: str,
    source: str,
    schema: Schema,
    values: Iterable[tuple[str, Any]],
    fields: tuple[str, ...],
) -> Payload:
    pickled: dict[bytes, str] = {}
    for place, value in values:
        try:
            pickled.setdefault(pickle.dumps(normal(schema, value), protocol=5), place)
        except EncodeError as error:
            raise PayloadError(f"{source}: {f'{place}: ' if place else ''}{_brief(error)}") from error
        except Exception as error:
            raise PayloadError(
                f"{source}: the values cannot be sent to another process ({type(error).__name__}: {error}); "
                "define their classes at module level"
            ) from error
        if len(pickled) == DISTINCT:
            break
    make = Snapshot(tuple(pickled))
    made = [make(number) for number in range(len(pickled))]
    _check_fields(source, fields, made, list(pickled.values()))
    field = fields[0] if fields else middle_field(made)
    return Payload(
        name=name,
        doc=doc,
        schema=schema,
        make=make,
        field=field,
        fields=fields or (field,),
        tensor=first_tensor(made),
        rotation="distinct" if len(pickled) == DISTINCT else "copies",
        distinct=len(pickled),
        source=source,
    )


def _brief(error: DecodeError | EncodeError | SchemaError) -> str:
    """An error's message, its path shortened: a document that is too deep has a path of that depth."""
    if error.path is None or len(error.path) <= 80:
        return str(error).removeprefix("json: ")
    return f"{error.reason} (at {error.path[:40]}...{error.path[-30:]})"
