"""What every source of files does.

1. A source goes through its messages once, in order, and gives those that were chosen again; nothing else is kept.
2. Each file is read as its messages are asked for. What it says of itself, as a length, is held against what is there
   before memory is asked for.
3. Every fault is a `PayloadError` of one line: file, place in it, reason.
"""

from __future__ import annotations

import stat
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.options import Limits
from zcser.payloads.base import PayloadError
from zcser.payloads.files import MAX_BYTES
from zcser.payloads.traffic import shape_of
from zcser.schema.model import Schema

__all__ = ["LIMITS", "Block", "Frame", "Framed", "Message", "Source", "brief", "checked", "content", "drain", "refuse"]

LIMITS: Final = Limits(elements=1 << 21)
"""Of one message. Two million records take gigabytes as Python objects, and seconds for an operation on them."""


class Message(NamedTuple):
    """One message of a source.

    Attributes
    ----------
    place
        Where it stands, as "line 3"; "" where the source is this message alone.
    nbytes
        Its size as given.
    content
        Equal for equal content, and for little else: tells repeats.
    shape
        Equal for messages of one kind; see `zcser.payloads.traffic`.
    value
        As its reader gives it; `zcser.normal` follows.
    """

    place: str
    nbytes: int
    content: int
    shape: Hashable
    value: Any


class Block(NamedTuple):
    """Some messages that follow each other, attribute by attribute; `places` may be gone through once."""

    places: Iterable[str]
    sizes: Iterable[int]
    contents: Iterable[int]
    shapes: Iterable[Hashable]
    values: Sequence[Any]


class Frame(NamedTuple):
    """The bytes of one message and where they stand."""

    place: str
    data: bytes | memoryview


class Source(ABC):
    """Messages of one or more files of one kind.

    Parameters
    ----------
    files
        Paths, as the user wrote them.
    """

    unit = "messages"

    def __init__(self, files: Sequence[str]) -> None:
        self.files = tuple(files)

    @property
    def total_bytes(self) -> int:
        """Size of all files. Raises `PayloadError` where one is not there."""
        return sum(checked(file, most_bytes=None).stat().st_size for file in self.files)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the messages that were gone through."""
        return ()

    @abstractmethod
    def messages(self) -> Iterator[Message]:
        """Each message, once."""

    def blocks(self) -> Iterator[Block]:
        """The same, for sources of very many small messages in blocks that cost little for each."""
        for one in self.messages():
            yield Block((one.place,), (one.nbytes,), (one.content,), (one.shape,), (one.value,))

    @abstractmethod
    def pick(self, numbers: Collection[int]) -> Iterator[Message]:
        """The messages of these numbers (from 0) again, in their order."""

    @abstractmethod
    def schema(self, read: Callable[[], Iterable[Any]]) -> Schema:
        """The schema, where it has to be found by way of all values, which `read` goes through from the start.

        They are gone through in any case. Raises `SchemaError`.
        """

    def place(self, file: str, inside: str = "") -> str:
        """Where a message stands: in which file, where there are several, and where in it."""
        return ", ".join(part for part in (Path(file).name if len(self.files) > 1 else "", inside) if part)


class Framed(Source):
    """A source whose messages are bytes, found without being read."""

    @abstractmethod
    def frames(self, file: str) -> Iterator[Frame]:
        """The messages of a file, as bytes."""

    @abstractmethod
    def value(self, data: bytes | memoryview) -> Any:
        """What the bytes of a message say. Raises `DecodeError`."""

    def messages(self) -> Iterator[Message]:
        """See `Source`."""
        for file, frame in self._all():
            yield self._message(file, frame)

    def pick(self, numbers: Collection[int]) -> Iterator[Message]:
        """See `Source`."""
        wanted, last = frozenset(numbers), max(numbers)
        for number, (file, frame) in enumerate(self._all()):
            if number in wanted:
                yield self._message(file, frame)
            if number == last:
                return

    def _all(self) -> Iterator[tuple[str, Frame]]:
        for file in self.files:
            for frame in self.frames(file):
                yield file, frame

    def _message(self, file: str, frame: Frame) -> Message:
        try:
            value = self.value(frame.data)
        except DecodeError as error:
            refuse(file, brief(error), frame.place)
        return Message(self.place(file, frame.place), len(frame.data), zlib.crc32(frame.data), shape_of(value), value)


def refuse(file: str, reason: str, place: str = "") -> NoReturn:
    """Raise the one line on what is wrong with a file."""
    raise PayloadError(f"{file}: {f'{place}: ' if place else ''}{' '.join(reason.split())}")


def checked(file: str, *, most_bytes: int | None = MAX_BYTES) -> Path:
    """The path of a regular, readable file that is not empty.

    Raises
    ------
    PayloadError
        It is not that, or larger than `most_bytes`.
    """
    path = Path(file)
    try:
        status = path.stat()
    except FileNotFoundError:
        refuse(file, "there is no such file")
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        refuse(file, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    if not stat.S_ISREG(status.st_mode):
        refuse(file, "this is no regular file")
    if most_bytes is not None and status.st_size > most_bytes:
        refuse(file, f"{status.st_size:,} bytes are more than {most_bytes:,}; take a smaller message, or a sample")
    return path


def content(file: str) -> bytes:
    """All of a file, of up to `MAX_BYTES`.

    Raises
    ------
    PayloadError
        As for `checked`.
    """
    path = checked(file)
    try:
        return path.read_bytes()
    except OSError as error:
        refuse(file, f"cannot be read: {error.strerror or error}")


def brief(error: DecodeError | EncodeError | SchemaError) -> str:
    """An error's message, its path shortened: a document that is too deep has a path of that depth."""
    if error.path is None or len(error.path) <= 80:
        return str(error).removeprefix("json: ")
    return f"{error.reason} (at {error.path[:40]}...{error.path[-30:]})"


def drain(values: Iterable[Any], schema: Schema) -> Schema:
    """Go through all values, and give the schema that they are said to have."""
    for _ in values:
        pass
    return schema
