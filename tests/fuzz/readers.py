"""All that reads a FlatBuffers message, held to each other.

For any bytes and each engine:

1. `verify`, `decode` with copies and without, and a verified view that is read completely give a value or `DecodeError`;
   nothing else. They agree on which, on the place of the fault, and on the value.
2. The value is one of the schema: the engine encodes it as it is.
3. A view that was not verified, read completely, gives values or `DecodeError` part by part; where the message verifies,
   it gives the value.
4. The engines agree. Only what a view shows of a message that does not verify may differ: it is not said how far each
   looks.
5. The same holds of the message cut into segments, anywhere: what is read from them is its value, or `DecodeError`. One
   segment is as good as the message, and has its faults.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tests.conformance.strategies import plain
from zcser.core.errors import DecodeError, EncodeError
from zcser.core.fidelity import difference
from zcser.core.options import Options
from zcser.core.view import MapView, RecordView, SequenceView, to_value
from zcser.flat.engine import Engine
from zcser.flat.plan import layout_of
from zcser.flat.program import Program, program_of
from zcser.schema.model import Schema

__all__ = ["ENGINES", "Disagreement", "Readers", "built", "engines"]

ENGINES = ("native", "pure")

Wrap = Callable[[bytes], Any]

_MOST_PARTS = 400
"""Parts of an unverified view that are read: a few bytes that lie may promise billions."""


class Disagreement(AssertionError):
    """A message that is read otherwise than the rules say."""


def _refuse(value: Any) -> Any:
    raise EncodeError(f"a {type(value).__name__} that no schema of this message has", codec="fuzz")


def built() -> tuple[str, ...]:
    """Those of `ENGINES` that are there: "native" where it was built, and "pure"."""
    return ENGINES if importlib.util.find_spec("zcser.native._flat") is not None else ENGINES[1:]


def engines(program: Program, options: Options, names: Sequence[str] | None = None) -> dict[str, Engine]:
    """Engines by name, for messages of one schema; all that are there, unless some are named."""
    found: dict[str, Engine] = {}
    for name in built() if names is None else names:
        if name == "native":
            from zcser.flat.native.engine import make_engine
        else:
            from zcser.flat.pure.engine import make_engine
        found[name] = make_engine(program, options, codec="fuzz", normal=_refuse)
    return found


class Readers:
    """The engines of one schema.

    Parameters
    ----------
    schema
        What messages are of.
    wrap
        Makes the buffer that is read of the bytes of a message.
    names
        Of the engines; None: all that are there.
    """

    def __init__(self, schema: Schema, *, wrap: Wrap = bytes, names: Sequence[str] | None = None) -> None:
        self.engines = engines(program_of(layout_of(schema)), Options(), names)
        self.wrap = wrap
        self.counts = {"values": 0, "refused": 0, "parts shown unverified": 0, "values of segments": 0}

    def check(self, message: bytes) -> None:
        """Read a message in every way there is.

        Raises
        ------
        Disagreement
            The rules at the head of this module do not hold for it.
        """
        values = [self._read(name, engine, message) for name, engine in self.engines.items()]
        self.counts["refused" if isinstance(values[0], DecodeError) else "values"] += 1
        for other in values[1:]:
            _compare(" against ".join(self.engines), values[0], other)
        parts = segments_of(message)
        values = [
            self._read_segments(name, engine, parts, value)
            for (name, engine), value in zip(self.engines.items(), values, strict=True)
        ]
        self.counts["values of segments"] += len(parts) > 1 and not isinstance(values[0], DecodeError)
        for other in values[1:]:
            _compare(f"segments by {' against '.join(self.engines)}", values[0], other)

    def _read(self, name: str, engine: Engine, message: bytes) -> Any:
        """What an engine reads, or its `DecodeError`."""
        data = self.wrap(message)
        value = outcome(f"{name} decode", lambda: engine.decode(data))
        for way, read in (
            ("verify", lambda: engine.verify(data)),
            ("decode(copy=False)", lambda: plain(engine.decode(data, copy=False))),
            ("view", lambda: to_value(_whole(engine.view(data)))),
        ):
            other = outcome(f"{name} {way}", read)
            if way == "verify" and other is None and not isinstance(value, DecodeError):
                continue
            _compare(f"{name} decode against {way}", value, other)
        unverified = outcome(f"{name} view(verify=False)", lambda: to_value(engine.view(data, verify=False)))
        self.counts["parts shown unverified"] += _walk(name, lambda: engine.view(data, verify=False))
        if not isinstance(value, DecodeError):
            _compare(f"{name} decode against view(verify=False)", value, unverified)
            again = outcome(f"{name} encode", lambda: engine.encode(value), EncodeError)
            if isinstance(again, EncodeError):
                raise Disagreement(f"{name} decode gives what encode refuses: {again}")
        return value

    def _read_segments(self, name: str, engine: Engine, parts: list[bytes], whole: Any) -> Any:
        """What an engine reads from segments, or its `DecodeError`; `whole` is what it reads from the message."""
        data = [self.wrap(part) for part in parts]
        value = outcome(f"{name} decode_segments", lambda: engine.decode_segments(data))
        for way, read in (
            ("decode_segments(copy=False)", lambda: plain(engine.decode_segments(data, copy=False))),
            ("view_segments", lambda: to_value(_whole(engine.view_segments(data)))),
        ):
            _compare(f"{name} decode_segments against {way}", value, outcome(f"{name} {way}", read))
        if len(parts) == 1 or not isinstance(value, DecodeError):
            _compare(f"{name} decode against decode_segments", whole, value)
        self.counts["parts shown unverified"] += _walk(name, lambda: engine.view_segments(data, verify=False))
        return value


def segments_of(message: bytes) -> list[bytes]:
    """A message cut at a few places, which its bytes decide: mostly where the data of a tail begin and end."""
    rng = random.Random(zlib.crc32(message))
    data = [
        (place, place + size)
        for place in range(64, len(message), 64)
        if 0 < (size := int.from_bytes(message[place - 4 : place], "little")) <= len(message) - place
    ]
    places = set(itertools.chain(*rng.sample(data, rng.randint(0, len(data)))))
    if rng.random() < 0.3:
        places.add(rng.randint(0, len(message)))
    return [message[start:stop] for start, stop in itertools.pairwise([0, *sorted(places), len(message)])]


def outcome(way: str, read: Callable[[], Any], expected: type[Exception] = DecodeError) -> Any:
    """What a read gives, or the error that it may raise; any other is a `Disagreement`."""
    try:
        return read()
    except expected as error:
        return error
    except Exception as error:
        raise Disagreement(f"{way} raises {type(error).__name__}: {error}") from error


def _compare(ways: str, one: Any, other: Any) -> None:
    if isinstance(one, DecodeError) and isinstance(other, DecodeError):
        places = [(type(error), error.path, error.offset) for error in (one, other)]
        if places[0] != places[1]:
            raise Disagreement(f"{ways}: {one!r} at {places[0][1:]} against {other!r} at {places[1][1:]}")
    elif isinstance(one, DecodeError) or isinstance(other, DecodeError):
        raise Disagreement(f"{ways}: {one!r:.300} against {other!r:.300}")
    elif (found := difference(one, other)) is not None:
        raise Disagreement(f"{ways}: {found}")


def _whole(view: Any) -> Any:
    """A verified view, after everything in it was read."""
    if isinstance(view, RecordView):
        for name in view._zc_getters:
            _whole(view[name])
    elif isinstance(view, MapView):
        for key in view:
            _whole(view[key])
    elif isinstance(view, SequenceView):
        for item in view:
            _whole(item)
    return view


def _walk(engine: str, root: Callable[[], Any]) -> int:
    """Read all that an unverified view gives, and count the parts that are shown."""
    shown = 0
    left = [root]
    for _ in range(_MOST_PARTS):
        if not left:
            break
        try:
            found = left.pop()()
            left.extend(_steps(found))
        # A map whose keys are not in order does not find them.
        except (DecodeError, KeyError):
            continue
        except Exception as error:
            raise Disagreement(f"{engine} view(verify=False) raises {type(error).__name__}: {error}") from error
        if isinstance(found, memoryview | np.ndarray):
            found.tobytes()
        shown += 1
    return shown


def _steps(found: Any) -> Iterator[Callable[[], Any]]:
    """What is to be read of a part."""
    if isinstance(found, RecordView):
        for name in found._zc_getters:
            yield functools.partial(found.__contains__, name)
            yield functools.partial(found.__getitem__, name)
    elif isinstance(found, SequenceView):
        yield functools.partial(len, found)
        for index in range(min(len(found), 20)):
            yield functools.partial(found.__getitem__, index)
    elif isinstance(found, MapView):
        yield functools.partial(len, found)
        for key in itertools.islice(found, 20):
            yield functools.partial(found.__getitem__, key)
