"""What is compared: the codec with each walk, and protobuf by hand over the same message classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from benchmarks.flat.values import request, with_tensor
from zcser.codecs.protobuf import ProtobufCodec
from zcser.core.dtypes import number_of
from zcser.core.options import Options
from zcser.native import backend
from zcser.payloads.messages import InferRequest
from zcser.protowire.planner import plan_of
from zcser.protowire.pure import PureWalker
from zcser.protowire.routes import routes_of
from zcser.schema.from_python import schema_of

__all__ = ["WALKS", "Walk", "builder", "codecs", "has_native", "reader", "values"]

Walk = Literal["native", "pure"]
WALKS: tuple[Walk, ...] = get_args(Walk)

_PARAMS = 6


def has_native() -> bool:
    """Whether this process uses the C extension."""
    return backend == "native"


def codecs() -> dict[Walk, ProtobufCodec[InferRequest]]:
    """The codec of a request with each walk; the one in C where it was built."""
    schema = schema_of(InferRequest)
    routes = routes_of(plan_of(schema))
    assert routes is not None
    found: dict[Walk, ProtobufCodec[InferRequest]] = {}
    for walk in WALKS:
        if walk == "native" and not has_native():
            continue
        codec = ProtobufCodec[InferRequest](schema, Options())
        # A codec is immutable, and takes the walk that the process has; and proofs, which there are in C alone.
        if walk == "pure":
            object.__setattr__(codec, "_walker", PureWalker(routes.nodes, routes.root))
            object.__setattr__(codec, "_proves", None)
        found[walk] = codec
    return found


def values(count: int, size_bytes: int) -> list[InferRequest]:
    """Requests with six parameters and one tensor of float32."""
    return [
        dataclasses.replace(with_tensor(number, size_bytes), params=request(number).params[:_PARAMS])
        for number in range(count)
    ]


def builder(codec: ProtobufCodec[InferRequest]) -> Callable[[InferRequest], bytes]:
    """What builds the message of a request and serialises it, written by hand."""
    make = codec._classes["InferRequest"]
    serialize: Callable[[Any], bytes] = make.SerializeToString
    float32 = number_of("float32")

    def build(value: InferRequest) -> bytes:
        message: Any = make()
        message.model_id = value.model_id
        message.trace_id = value.trace_id
        message.created_ns = value.created_ns
        message.priority = value.priority
        message.flags = value.flags
        message.temperature = value.temperature
        add = message.params.add
        for item in value.params:
            param = add()
            param.key = item.key
            held = item.value
            kind = held.__class__
            if kind is str:
                param.value.str = held
            elif kind is float:
                param.value.float = held
            elif kind is bool:
                param.value.bool = held
            else:
                param.value.int = held
        for named in value.tensors:
            tensor = message.tensors.add()
            tensor.name = named.name
            data = tensor.data
            data.dtype = float32
            data.shape.extend(named.data.shape)
            data.data = named.data.tobytes()
        return serialize(message)

    return build


def reader(codec: ProtobufCodec[InferRequest]) -> Callable[[bytes], npt.NDArray[np.float32]]:
    """What parses a message and gives its tensor, written by hand."""
    parse: Callable[[bytes], Any] = codec._classes["InferRequest"].FromString

    def read(data: bytes) -> npt.NDArray[np.float32]:
        tensor = parse(data).tensors[0].data
        return np.frombuffer(tensor.data, np.float32).reshape(tensor.shape)

    return read
