"""A payload from the user's own data: files of every kind, or ``module:function``.

1. A source's messages are gone through once: their schema is found, and which of them stand for all
   (`zcser.payloads.traffic`). Those are kept in their normal form (`zcser.normal`), which every codec gives back.
2. The payload holds them pickled, so that it travels to a worker as it is, later changes of the file change nothing, and
   each value that is made is a fresh object.
3. A schema that was given stands; a dataclass or msgspec Struct brings its own, tables and tensors have theirs; of anything
   else it is inferred, from all messages of the source.
4. Memory: a file of JSON or one message may have `zcser.payloads.files.MAX_BYTES`, and a message the items of
   `zcser.payloads.sources.base.LIMITS`; what is kept, `KEPT_BYTES` together, and one message at least. Streams, folders and
   tables may be larger than memory.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from zcser import registry
from zcser.core.errors import EncodeError, SchemaError, ZcserError
from zcser.core.fidelity import field_names
from zcser.payloads import functions
from zcser.payloads.base import Payload, PayloadError
from zcser.payloads.files import MAX_BYTES
from zcser.payloads.places import check_field, first_tensor, middle_field
from zcser.payloads.snapshot import Snapshot
from zcser.payloads.sources.base import LIMITS, Source, brief
from zcser.payloads.sources.choice import source_of
from zcser.payloads.traffic import DISTINCT, Census, shape_of
from zcser.schema.from_python import schema_of
from zcser.schema.from_sample import infer
from zcser.schema.model import Schema, Tensor, walk
from zcser.schema.normal import normal

__all__ = ["DISTINCT", "KEPT_BYTES", "Watch", "from_source"]

KEPT_BYTES = MAX_BYTES

Watch = Callable[[int, int, int], None]
"""Told of each message while a source is read: messages so far, their bytes, and the bytes of all files."""


def from_source(
    *texts: str,
    schema: Schema | None = None,
    delimited: bool = False,
    fields: Sequence[str] = (),
    watch: Watch | None = None,
) -> Payload:
    """A payload from the user's data.

    Parameters
    ----------
    *texts
        One or more files or folders of them: ``.json``, ``.jsonl`` and ``.ndjson``; ``.npy``, ``.npz`` and
        ``.safetensors``; ``.csv``, ``.tsv`` and ``.parquet``; with a `schema` of protobuf or FlatBuffers, binary messages
        of any suffix and JSON. Or ``module:function``, where the function returns one value, a list or iterator of values,
        or a `Payload`.
    schema
        What the messages are; see `zcser.payloads.sources.schemas.load`.
    delimited
        Whether each binary file holds many messages, each behind its length: a varint in protobuf, a uint32 in
        FlatBuffers, whose schema then says ``size_prefixed``.
    fields
        JSON Pointers of the fields that a partial read takes. Without them the scalar leaf nearest to the middle of
        the document is the one.
    watch
        Told how far the reading is.

    Returns
    -------
    Payload
        Up to `DISTINCT` values that stand for all; ``doc`` says of how many, and their sizes; ``schema.notes`` tells what
        was inferred, and what is not as it was in the source.

    Raises
    ------
    PayloadError
        The source cannot be read, or its values do not fit each other or the schema; one line that names the place.
    CodecUnavailableError
        A library that reads it is not installed.
    """
    first = texts[0]
    if functions.is_reference(first):  # no file with one of the suffixes looks so
        if len(texts) > 1 or delimited:
            raise PayloadError(f"{first}: a function stands alone; leave the files and --delimited out")
        return _from_function(first, tuple(fields), schema)
    return _from_files(source_of(texts, schema, delimited=delimited), texts, tuple(fields), watch)


def _from_files(source: Source, texts: Sequence[str], fields: tuple[str, ...], watch: Watch | None) -> Payload:
    shown = texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more"
    census, total = Census(), source.total_bytes if watch else 0
    early: list[tuple[str, Any]] = []

    def values() -> Iterator[Any]:
        nonlocal census
        census = Census()
        early.clear()
        if watch is not None:
            watch(0, 0, total)
        for block in source.blocks():
            before = census.count
            census.add(block.sizes, block.shapes, block.contents)
            if before == len(early) and census.count <= DISTINCT and census.nbytes <= KEPT_BYTES:
                early.extend(zip(block.places, block.values, strict=True))
            if watch is not None:
                watch(census.count, census.nbytes, total)
            yield from block.values

    with _no_collections():
        schema = _described(shown, lambda: source.schema(values))
    if not census.count:
        raise PayloadError(f"{shown}: there are no messages in it")
    if source.notes:
        schema = dataclasses.replace(schema, notes=(*schema.notes, *source.notes))
    chosen = census.choose(DISTINCT, KEPT_BYTES)
    kept: Iterable[tuple[str, Any]]
    if census.count == len(early):
        kept = (early[number] for number in chosen)
    else:
        early.clear()
        found = dict(zip(sorted(chosen), source.pick(chosen), strict=True))
        kept = ((found[number].place, found[number].value) for number in chosen)
    return _payload(
        name=_name(source),
        doc=_doc(source, census, chosen),
        source=shown,
        schema=schema,
        values=kept,
        fields=fields,
    )


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    """Without the garbage collector: messages that were read hold no cycles, and it would walk them several times over."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _name(source: Source) -> str:
    first, *others = source.files
    own = first.rpartition("/")[2]
    return f"{own} and {len(others)} more" if others else own


def _doc(source: Source, census: Census, chosen: list[int]) -> str:
    """How many messages there are and how large, and which of them are measured."""
    if census.count == 1:
        return f"one document, {census.nbytes:,} bytes as given"
    sizes = census.sizes()
    text = (
        f"{census.count:,} {source.unit} of {sizes.p50:,} bytes at p50, {sizes.p99:,} at p99, {sizes.largest:,} at most"
    )
    if len(chosen) == census.count:
        return text
    own = census.sizes(chosen)
    return f"{text}; {len(chosen)} of them stand for all by size and shape, of {own.p50:,}, {own.p99:,} and {own.largest:,}"


def _from_function(reference: str, fields: tuple[str, ...], schema: Schema | None) -> Payload:
    values = functions.call(reference, DISTINCT)
    if isinstance(values, Payload):
        if schema is not None:
            raise PayloadError(f"{reference}: the payload has a schema of its own; leave the other one out")
        return _users_payload(values, reference, fields)
    classes = {type(value) for value in values}
    if all(hasattr(cls, "DESCRIPTOR") and hasattr(cls, "SerializeToString") for cls in classes):
        schema, values = _of_messages(reference, schema, values)
    elif schema is not None:
        pass
    elif not any(field_names(value) is not None for value in values):
        schema = _described(reference, lambda: infer(values))
    elif len(classes) == 1:
        try:
            schema = schema_of(classes.pop())
        except SchemaError as error:
            raise PayloadError(f"{reference}: {error}") from error
    else:
        names = ", ".join(sorted(cls.__name__ for cls in classes))
        raise PayloadError(f"{reference}: the values are of several classes ({names}); return values of one")
    chosen = _chosen(reference, values)
    share = f"; {len(chosen)} of them stand for all by size and shape" if len(chosen) < len(values) else ""
    return _payload(
        name=reference,
        doc=f"{len(values):,} {'value' if len(values) == 1 else 'values'} of {schema.root}{share}",
        source=reference,
        schema=schema,
        values=((f"value {number}" if len(values) > 1 else "", values[number]) for number in chosen),
        fields=fields,
    )


def _of_messages(reference: str, schema: Schema | None, values: Sequence[Any]) -> tuple[Schema, list[Any]]:
    """The schema of messages of a class that protoc generated, and what they hold in dicts, which every codec takes."""
    from zcser.protowire.load import load_message

    classes = {type(value) for value in values}
    if len(classes) > 1:
        names = ", ".join(sorted(cls.__name__ for cls in classes))
        raise PayloadError(f"{reference}: the messages are of several classes ({names}); return messages of one")
    try:
        schema = load_message(classes.pop()) if schema is None else schema
        codec: Any = registry.codec("protobuf", schema)
        return schema, [codec.restore(value) for value in values]
    except ZcserError as error:
        raise PayloadError(f"{reference}: {error}") from error


def _chosen(reference: str, values: Sequence[Any]) -> list[int]:
    """The numbers of those that stand for all; their sizes are those of their pickles."""
    if len(values) <= DISTINCT:
        return list(range(len(values)))
    census = Census()
    for value in values:
        pickled = _pickled(reference, value)
        census.add((len(pickled),), (shape_of(value),), (zlib.crc32(pickled),))
    return census.choose(DISTINCT, KEPT_BYTES)


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


def _described(source: str, find: Callable[[], Schema]) -> Schema:
    try:
        return find()
    except SchemaError as error:
        raise PayloadError(f"{source}: {brief(error)}") from error


def _pickled(source: str, value: Any) -> bytes:
    try:
        return pickle.dumps(value, protocol=5)
    except Exception as error:
        raise PayloadError(
            f"{source}: the values cannot be sent to another process ({type(error).__name__}: {error}); "
            "define their classes at module level"
        ) from error


def _payload(
    *,
    name: str,
    doc: str,
    source: str,
    schema: Schema,
    values: Iterable[tuple[str, Any]],
    fields: tuple[str, ...],
) -> Payload:
    places: dict[bytes, str] = {}
    repeats: list[bytes] = []
    for place, value in values:
        try:
            pickled = _pickled(source, normal(schema, value, limits=LIMITS))
        except EncodeError as error:
            raise PayloadError(f"{source}: {f'{place}: ' if place else ''}{brief(error)}") from error
        if pickled in places:
            repeats.append(pickled)
        else:
            places[pickled] = place
    # A repeat is part of the mix, and as the same object it takes no memory of its own.
    make = Snapshot((*places, *repeats))
    made = [make(number) for number in range(len(places))]
    _check_fields(source, fields, made, list(places.values()))
    field = fields[0] if fields else middle_field(made)
    return Payload(
        name=name,
        doc=doc,
        schema=schema,
        make=make,
        field=field,
        fields=fields or (field,),
        tensor=first_tensor(made) if _has_tensors(schema) else None,
        rotation="distinct" if len(places) == DISTINCT else "copies",
        distinct=len(places),
        source=source,
    )


def _has_tensors(schema: Schema) -> bool:
    types = (schema.root, *(item.type for record in schema.records for item in record.fields))
    return any(isinstance(part, Tensor) for type_ in types for part in walk(type_))
