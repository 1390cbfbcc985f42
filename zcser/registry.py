"""Codecs by name.

1. Codecs are found through the entry-point group ``zcser.codecs``, the built-in ones too: a third party's codec is
   registered exactly as ours are.
2. Nothing is imported before a codec is asked for by name, and then that one alone.
3. A codec whose library is absent is named with the pip command that brings it, never hidden.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import importlib
import operator
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar, overload

from zcser.core.codec import Codec, CodecInfo, set_directory
from zcser.core.errors import CodecUnavailableError, SchemaError, UnknownCodecError
from zcser.core.options import Options
from zcser.lower.codec import bound
from zcser.schema.from_python import schema_of
from zcser.schema.model import Schema

__all__ = [
    "Place",
    "Refusal",
    "adopt",
    "available",
    "check",
    "codec",
    "codec_class",
    "directory",
    "info",
    "names",
    "schema_for",
]

T = TypeVar("T")


class Place(NamedTuple):
    """Where a codec's class is: ``module:name``, and the distribution that registered it."""

    value: str
    distribution: str

    def load(self) -> Any:
        """Import it."""
        module, _, name = self.value.partition(":")
        return operator.attrgetter(name)(importlib.import_module(module))


_adopted: dict[str, Place] = {}


@functools.cache
def directory() -> Mapping[str, Place]:
    """Where every registered codec is, by name."""
    if _adopted:
        return _adopted
    # Reads the metadata of all that is installed, which takes as long as importing numpy.
    from importlib.metadata import entry_points

    found: dict[str, Place] = {}
    for point in entry_points(group="zcser.codecs"):
        # The first one stands: a later distribution cannot replace a codec that somebody relies on.
        found.setdefault(point.name, Place(point.value, point.dist.name if point.dist is not None else "zcser"))
    return found


def adopt(places: Mapping[str, Place]) -> None:
    """Take another process's `directory` of the same installation, in place of looking for it."""
    _adopted.update(places)


def names() -> tuple[str, ...]:
    """The names of all registered codecs, whether their libraries are installed or not."""
    return tuple(directory())


@functools.cache
def codec_class(name: str) -> type[Codec[Any]]:
    """The class of a codec.

    Raises
    ------
    UnknownCodecError
        Nothing is registered by this name; near names are offered.
    CodecUnavailableError
        Its library is not installed, and the message holds the pip command; or the engine that ``ZCSER_BACKEND``
        asks for is not there.
    """
    places = directory()
    if name not in places:
        near = difflib.get_close_matches(name, places, n=3, cutoff=0.5)
        offer = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(places)}"
        raise UnknownCodecError(f"no codec is named {name!r}; {offer}")
    place = places[name]
    try:
        loaded = place.load()
    except CodecUnavailableError:
        # The codec says itself what is missing.
        raise
    except ImportError as error:
        raise CodecUnavailableError(
            f"codec {name!r} needs a library that is not installed ({error}): "
            f"pip install '{place.distribution}[{name}]'"
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Codec)):
        raise UnknownCodecError(f"the entry point of {name!r}, {place.value}, is no subclass of zcser's Codec")
    return loaded


def info(name: str) -> CodecInfo:
    """What a codec is and can do, without a schema. Raises as `codec_class` does."""
    return codec_class(name).describe()


def available() -> dict[str, CodecInfo | CodecUnavailableError]:
    """Every registered codec: what it is, or the error that says how to install it."""
    found: dict[str, CodecInfo | CodecUnavailableError] = {}
    for name in names():
        try:
            found[name] = info(name)
        except CodecUnavailableError as error:
            found[name] = error
    return found


@overload
def codec(name: str, schema: type[T], **options: Any) -> Codec[T]: ...
@overload
def codec(name: str, schema: Any, **options: Any) -> Codec[Any]: ...
def codec(name: str, schema: Any, **options: Any) -> Codec[Any]:
    """Make a codec for a schema.

    Parameters
    ----------
    name
        A name out of `names`, as ``"protobuf"``.
    schema
        A class with fields (dataclass, msgspec Struct, attrs, pydantic model, TypedDict, NamedTuple), an annotation made of
        them, a generated protobuf message class, or a `Schema`.
    **options
        Fields of `zcser.Options`: limits, unknown_fields, deterministic, guard, strict, tensors, aligned,
        allow_untrusted_code.

    Returns
    -------
    Codec
        Immutable; share it freely between threads. Making one compiles code for the schema and takes milliseconds, so
        make it once.

    Raises
    ------
    UnknownCodecError, CodecUnavailableError
        As for `codec_class`.
    SchemaError
        The schema cannot be made, or has a kind that this format cannot carry, with its path.
    """
    cls = codec_class(name)
    return bound(cls, schema_for(schema), make_options(options))


def schema_for(source: Any) -> Schema:
    """The schema of anything that `codec` takes; a generated protobuf message class is known by its descriptor.

    Raises
    ------
    SchemaError
        None can be made.
    """
    if isinstance(source, type) and hasattr(source, "DESCRIPTOR") and hasattr(source, "FromString"):
        from zcser.protowire.load import load_message

        return load_message(source)
    return schema_of(source)


def make_options(options: dict[str, Any]) -> Options:
    """Options from keywords; an unknown one is named together with those that exist."""
    known = Options.__dataclass_fields__
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            offer = f"did you mean {near[0]!r}?" if near else f"options are {', '.join(known)}"
            raise TypeError(f"no codec has an option {name!r}; {offer}")
    return Options(**options)


class Refusal(NamedTuple):
    """One thing that a codec refuses of a schema."""

    path: str
    reason: str


def check(name: str, schema: Any, **options: Any) -> list[Refusal]:
    """All that a codec refuses of a schema, and why.

    Parameters
    ----------
    name, schema, **options
        As for `codec`.

    Returns
    -------
    list of Refusal
        Empty where the codec carries the schema. A refusal of the whole stands alone, with an empty path.
    """
    cls, made = codec_class(name), make_options(options)
    left, refusals = schema_for(schema), []
    while True:
        try:
            bound(cls, left, made)
        except SchemaError as error:
            refusals.append(Refusal(error.path or "", error.reason))
            without = _without(left, error.path or "")
            if without is None:
                return refusals
            left = without
        else:
            return refusals


def _without(schema: Schema, path: str) -> Schema | None:
    """The schema less the field that a refusal's path names, so that the next refusal can be found."""
    record_name, _, rest = path.partition("/")
    for record in schema.records:
        if record.name == record_name:
            # A field's own name may hold slashes: the longest one that fits is meant.
            fits = [item for item in record.fields if rest == item.name or rest.startswith(item.name + "/")]
            if fits:
                gone = max(fits, key=lambda item: len(item.name))
                kept = dataclasses.replace(record, fields=tuple(item for item in record.fields if item is not gone))
                records = tuple(kept if other is record else other for other in schema.records)
                return Schema(schema.root, records)
    return None


def _who_has(operation: str) -> list[str]:
    return [
        name for name, found in available().items() if isinstance(found, CodecInfo) and operation in found.operations
    ]


set_directory(_who_has)
