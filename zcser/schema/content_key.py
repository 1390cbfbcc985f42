"""Content keys: one key for equal values, whoever made them, for caches of answers, encoder outputs and prefixes.

`zcser.core.content` has the layout that is hashed, which never changes.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np

from zcser.core.content import digest_of
from zcser.core.content_key import ContentKey
from zcser.core.options import Limits
from zcser.core.view import View, to_value
from zcser.schema.from_python import schema_of
from zcser.schema.model import Schema, Tensor
from zcser.schema.normal import Normaliser, Path

__all__ = ["ContentKey", "content_key"]


class _Nothing(enum.Enum):
    NOTHING = "no value was given"


_NOTHING: Final = _Nothing.NOTHING


def content_key(
    value: Any = _NOTHING,
    *,
    parts: Mapping[str, Any] | None = None,
    schema: Any = None,
    salt: bytes | str = b"",
    algorithm: Literal["sha256", "blake3", "xxh3_128"] = "sha256",
    limits: Limits | None = None,
) -> ContentKey:
    """The key of a value's content: equal for equal values in every codec, process, platform and version.

    Parameters
    ----------
    value
        What the key is of: None, bool, int, float, str, bytes, arrays, lists, tuples, dicts, enums, dataclasses, msgspec
        Structs and views, in each other; tensors of other libraries too, and content keys in place of what they are
        the keys of.
    parts
        In place of a value: parts by name, or their keys. Each has a key of its own (``key.parts["image"]``), which is
        ``content_key(part)``; their combination is ``content_key({name: key of the part, ...})``.
    schema
        Of the value. Its normal form (`zcser.normal`) is taken, so that an int in a float field, a missing field that has
        a default, and a float32 that was rounded on the way do not make another key. Give it wherever the values of one
        cache come from several places. It is not in the key itself.
    salt
        Keys of different salts never meet: a tenant, a model, a version of the preprocessing. A str counts as its UTF-8.
    algorithm
        "sha256" and "blake3" (needs the extra ``hash``) hold against whoever looks for two values of one key, as anyone can
        who shares a cache with others. "xxh3_128" (the same extra) is an order of magnitude faster, and does not.
    limits
        Bounds on depth, and with a schema on elements; the defaults of `Limits` otherwise.

    Returns
    -------
    ContentKey
        ``str(key)`` is ``"sha256:"`` and 64 hexadecimal digits.

    Raises
    ------
    EncodeError
        A part has no content (another class, an array of objects, a lone surrogate), does not fit the schema, or is
        nested too deeply; with its path.
    CodecUnavailableError
        The algorithm needs the extra ``hash``.
    TypeError, ValueError
        The arguments do not go together, or there is no such algorithm.

    Notes
    -----
    Two values that `zcser.equal` tells apart have different keys, unless only classes of Python tell them apart: a
    dataclass and a dict of the same fields, a list and a tuple, an enum's member and its value. See `zcser.core.content`.

    Copies: none of bytes and C-ordered tensors; others go through a buffer of 512 KiB. A view is decoded, so that
    ``content_key(codec.decode(data, copy=False))`` is the faster way to the same key.

    Examples
    --------
    >>> key = content_key(parts={"text": "What is this?", "image": pixels}, salt="tenant-7")  # doctest: +SKIP
    >>> encoder_cache[str(key.parts["image"])], answers[str(key)]  # doctest: +SKIP

    A block of a prefix cache is named by all that stands before it:

    >>> key = content_key([key_before, token_ids])  # doctest: +SKIP
    """
    salt = salt.encode() if isinstance(salt, str) else bytes(salt)
    bounds = limits or Limits()
    if parts is None:
        if value is _NOTHING:
            raise TypeError("content_key() takes a value, or parts=")
        if schema is not None:
            normalise = _InPlace(_schema_of(schema), strict=False, finite=False, limits=bounds)
            value = normalise(to_value(value) if isinstance(value, View) else value)
        return ContentKey(algorithm, digest_of(value, algorithm, salt, bounds.depth))
    if value is not _NOTHING or schema is not None:
        raise TypeError("content_key() takes a value or parts=; a part that has a schema is given by its own key")
    keys = {name: _key_of(name, part, algorithm, salt, bounds.depth) for name, part in parts.items()}
    return ContentKey(algorithm, digest_of(keys, algorithm, salt, bounds.depth), keys)


def _schema_of(source: Any) -> Schema:
    return _schema_of_class(source) if isinstance(source, type) else schema_of(source)


_schema_of_class = functools.lru_cache(maxsize=128)(schema_of)
"""Reading a class takes a hundred times as long as the key of one of its values."""


def _key_of(name: str, part: Any, algorithm: str, salt: bytes, depth: int) -> ContentKey:
    if isinstance(part, ContentKey):
        return part
    return ContentKey(algorithm, digest_of(part, algorithm, salt, depth, (name,)))


class _InPlace(Normaliser):
    """`normal`, but for the layout of arrays: a copy for it would be hashed and thrown away."""

    def _laid_out(self, type_: Tensor, value: Any, array: np.ndarray[Any, Any], path: Path) -> np.ndarray[Any, Any]:  # noqa: ARG002 - of the base
        return array
