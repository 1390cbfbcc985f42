"""Arms over messages without tensors: whole messages both ways, and fields out of them.

1. A field is read by ``operator.attrgetter``, which is C: what is timed is the view and hardly the call.
2. Where a call takes more than its argument, a Python function stands around it, on all sides alike.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from benchmarks.flat import official_by_hand, protobuf_by_hand, subjects, values
from benchmarks.flat.arms import Arm, Effort, calls_of, prove, rotating
from benchmarks.flat.forms import FORMS, formed
from benchmarks.flat.subjects import Calls
from zcser.flat.engine import Engine
from zcser.payloads.messages import InferRequest, TokenChunk

__all__ = ["chunk", "metadata", "once"]

_priority = operator.attrgetter("priority")


def metadata(effort: Effort) -> list[Arm]:
    """Messages of about 1 KB."""
    requests = values.requests()
    return [*_whole(effort, InferRequest, requests, _request_by_hand()), *_fields(effort, requests)]


def _whole(effort: Effort, cls: type, items: Sequence[Any], hand: dict[str, Calls], prefix: str = "") -> list[Arm]:
    """Encode and decode by everyone, of every form."""
    arms = []
    for form in FORMS:
        source, own = formed(cls, items, form)
        calls = _calls(source, hand if form == "class" else {}, fast_only=form == "struct")
        for name, (encode, decode) in calls.items():
            messages = [encode(value) for value in own]
            prove(f"{name} of {form}", [decode(message) for message in messages], own)
            arms += [
                rotating(effort, f"{prefix}encode", name, encode, own, form=form),
                rotating(effort, f"{prefix}decode", name, decode, messages, form=form),
            ]
    return arms


def _request_by_hand() -> dict[str, Calls]:
    return {"official": official_by_hand.request_calls(), "protobuf": protobuf_by_hand.request_calls()}


def _calls(source: Any, hand: dict[str, Calls], *, fast_only: bool = False) -> dict[str, Calls]:
    """Encode and decode by subject."""
    calls: dict[str, Calls] = {
        which: Calls(engine.encode, engine.decode) for which, engine in subjects.engines(source).items()
    }
    if not fast_only:
        for name, codec in (
            ("official codec", subjects.official(source)),
            ("protobuf codec", subjects.protobuf(source)),
        ):
            calls[name] = Calls(codec.encode, codec.decode)
    calls |= hand
    calls["msgspec"] = Calls(msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(source).decode)
    return calls


def _fields(effort: Effort, requests: Sequence[InferRequest]) -> list[Arm]:
    wanted = [value.priority for value in requests]
    arms = []

    def add(operation: str, name: str, call: Callable[[Any], Any], arguments: Sequence[Any]) -> None:
        prove(f"{operation} by {name}", [call(argument) for argument in arguments], wanted)
        arms.append(rotating(effort, operation, name, call, arguments))

    for name, engine in subjects.engines(InferRequest).items():
        messages = [engine.encode(value) for value in requests]
        add("field", name, _priority, [engine.view(message) for message in messages])
        add("open and field, verified", name, _verified(engine), messages)
        add("open and field", name, _unverified(engine), messages)
        add("open and field of a bytearray, verified", name, _verified(engine), [bytearray(one) for one in messages])
    messages = [subjects.official(InferRequest).encode(value) for value in requests]
    open_message = subjects.official_opener(InferRequest)
    add("field", "official", _priority, [open_message(message) for message in messages])
    add("open and field", "official", lambda data: open_message(data).priority, messages)
    parse = protobuf_by_hand.request_parser()
    messages = [protobuf_by_hand.request_calls().encode(value) for value in requests]
    add("open and field", "protobuf", lambda data: parse(data).priority, messages)
    return arms


def _verified(engine: Engine) -> Callable[[Any], Any]:
    view = engine.view
    return lambda data: view(data).priority


def _unverified(engine: Engine) -> Callable[[Any], Any]:
    view = engine.view
    return lambda data: view(data, verify=False).priority


def chunk(effort: Effort) -> list[Arm]:
    """Chunks of a streamed answer: whole, and two fields of them."""
    chunks = values.chunks()
    hand = protobuf_by_hand.chunk_calls()
    arms = _whole(effort, TokenChunk, chunks, {"protobuf": hand}, "chunk: ")
    wanted = [(value.token_id, value.text) for value in chunks]

    def add(operation: str, name: str, two_fields: Callable[[Any], Any], encode: Callable[[Any], bytes]) -> None:
        messages = [encode(value) for value in chunks]
        prove(f"{operation} by {name}", [two_fields(message) for message in messages], wanted)
        arms.append(rotating(effort, operation, name, two_fields, messages))

    for name, engine in subjects.engines(TokenChunk).items():
        arms += _template(effort, name, engine, chunks)
        add("chunk: open and two fields, verified", name, _two_fields(engine.view), engine.encode)
        add("chunk: open and two fields", name, _two_unverified_fields(engine), engine.encode)
    add("chunk: open and two fields", "protobuf", _two_fields(protobuf_by_hand.chunk_parser()), hand.encode)
    opener, encode = subjects.official_opener(TokenChunk), subjects.official(TokenChunk).encode
    add("chunk: open and two fields", "official", _two_fields(opener), encode)
    return arms


def _template(effort: Effort, name: str, engine: Engine, chunks: Sequence[TokenChunk]) -> list[Arm]:
    """A chunk by changing its index and token in a template, in place, and by encoding all of it; Python calls both.

    The text cannot be changed so: it is of another length each time.
    """
    template, patch = bytearray(engine.encode(chunks[0])), engine.patcher([("index",), ("token_id",)])
    encode = engine.encode

    def patched(value: TokenChunk) -> None:
        patch(template, value.index, value.token_id)

    def encoded(value: TokenChunk) -> bytes:
        return encode(value)

    def after(value: TokenChunk) -> TokenChunk:
        patched(value)
        decoded: TokenChunk = engine.decode(template)
        return decoded

    wanted = [dataclasses.replace(chunks[0], index=value.index, token_id=value.token_id) for value in chunks]
    prove(f"a template patched by {name}", [after(value) for value in chunks], wanted)
    return [
        rotating(effort, "chunk: template patched", name, patched, chunks),
        rotating(effort, "chunk: encode, called by Python", name, encoded, chunks),
    ]


def _two_fields(opener: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def two_fields(data: bytes) -> tuple[Any, Any]:
        opened = opener(data)
        return opened.token_id, opened.text

    return two_fields


def _two_unverified_fields(engine: Engine) -> Callable[[Any], Any]:
    view = engine.view

    def two_fields(data: bytes) -> tuple[Any, Any]:
        opened = view(data, verify=False)
        return opened.token_id, opened.text

    return two_fields


def once(effort: Effort) -> list[Arm]:
    """Metadata that no call has met before: every batch has 64 values or messages of its own, made before timing.

    So it is in service: nothing that an object or a library keeps from an earlier encoding helps, and the objects lie in
    tens of megabytes instead of in the nearest cache.
    """
    requests = values.requests()
    arms = []
    for name, (encode, decode) in _calls(InferRequest, _request_by_hand()).items():
        messages = [encode(value) for value in requests]
        prove(f"{name}, met once", [decode(message) for message in messages], requests)
        arms += [
            _met_once(effort, "encode, met once", name, encode, requests),
            _met_once(effort, "decode, met once", name, decode, messages),
        ]
    return arms


def _met_once(effort: Effort, operation: str, name: str, call: Callable[[Any], Any], items: Sequence[Any]) -> Arm:
    count = min(len(items), calls_of(effort, call, items))
    rotation = itertools.cycle(items)
    batches = [
        [pickle.loads(pickle.dumps(item)) for item in itertools.islice(rotation, count)] for _ in range(effort.batches)
    ]
    return Arm(operation, name, "class", call, batches)
