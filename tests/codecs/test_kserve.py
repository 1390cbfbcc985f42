"""The codec `kserve` against bodies of Triton's own clients, and against bytes worked out by hand from the protocol."""

from __future__ import annotations

import dataclasses
import enum
import json
import struct
from typing import Annotated, Any

import ml_dtypes
import numpy as np
import pytest

from tests.conftest import SHARED_DATA
from zcser import registry
from zcser.core.buffers import address
from zcser.core.errors import DecodeError, EncodeError, SchemaError
from zcser.core.view import to_value
from zcser.schema.annotations import Float32, Int32
from zcser.schema.model import Tensor


class Mode(enum.Enum):
    FAST = "fast"
    EXACT = "exact"


@dataclasses.dataclass
class Box:
    x: Int32
    label: str


@dataclasses.dataclass
class Options:
    seed: int
    temperature: Float32 | None


@dataclasses.dataclass
class Request:
    id: str
    image: np.ndarray
    mask: Annotated[np.ndarray, Tensor("bool", (2,))] | None
    prompts: list[str]
    weights: list[float]
    blob: bytes
    boxes: list[Box]
    mode: Mode
    options: Options


REQUEST = Request(
    "r-1", np.arange(6, dtype=np.float32).reshape(2, 3), None, ["a", "\u00e9"], [0.5, -1.0], b"xyz",
    [Box(1, "cat"), Box(-2, "")], Mode.EXACT, Options(7, None),
)  # fmt: skip


@dataclasses.dataclass
class Named:
    name: str
    data: np.ndarray


@dataclasses.dataclass
class Infer:
    inputs: list[Named]


def body(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The JSON and the binary data, cut by the field before them."""
    head, _, rest = data.partition(b"\r\n\r\n")
    length = int(head.removeprefix(b"Inference-Header-Content-Length: "))
    return json.loads(rest[:length]), rest[length:]


def test_a_message_is_what_the_protocol_says():
    document, binary = body(registry.codec("kserve", Request).encode(REQUEST))
    assert document["id"] == "r-1"
    assert document["parameters"] == {"mode": "exact", "options.seed": 7}
    found = {tensor["name"]: (tensor["datatype"], tensor["shape"]) for tensor in document["inputs"]}
    assert found == {
        "image": ("FP32", [2, 3]),
        "prompts": ("BYTES", [2]),
        "weights": ("FP64", [2]),
        "blob": ("BYTES", [1]),
        "boxes.x": ("INT32", [2]),
        "boxes.label": ("BYTES", [2]),
    }
    expected = {
        "image": struct.pack("<6f", 0, 1, 2, 3, 4, 5),
        "prompts": b"\1\0\0\0a\2\0\0\0\xc3\xa9",  # each behind its length, four bytes
        "weights": struct.pack("<2d", 0.5, -1.0),
        "blob": b"\3\0\0\0xyz",
        "boxes.x": struct.pack("<2i", 1, -2),
        "boxes.label": b"\3\0\0\0cat\0\0\0\0",
    }
    for tensor in document["inputs"]:
        size = tensor["parameters"]["binary_data_size"]
        assert binary[:size] == expected[tensor["name"]]
        binary = binary[size:]
    assert binary == b""


@pytest.mark.parametrize("name", ["fp16", "fp32_3x32x32", "two_int32"])
def test_bodies_of_tritons_clients_are_read(name):
    folder = SHARED_DATA / "inference" / "triton_binary"
    if not folder.exists():
        pytest.skip("the shared data is not beside this checkout")
    posted = (folder / f"{name}.bin").read_bytes()
    length = json.loads((folder / f"{name}.meta.json").read_text())["Inference-Header-Content-Length"]
    data = b"Inference-Header-Content-Length: %d\r\n\r\n" % length + posted
    codec = registry.codec("kserve", Infer)
    found = codec.decode(data)
    tensors = json.loads(posted[:length])["inputs"]
    assert [(part.name, list(part.data.shape)) for part in found.inputs] == [(t["name"], t["shape"]) for t in tensors]
    assert b"".join(part.data.tobytes() for part in found.inputs) == posted[length:]
    assert [to_value(part.data).tobytes() for part in codec.view(data).inputs] == [
        p.data.tobytes() for p in found.inputs
    ]
    assert body(codec.encode(found))[1] == posted[length:]


def test_a_body_of_json_alone_is_read():
    path = SHARED_DATA / "inference" / "kserve" / "torchserve_mnist_v2_tensor.json"
    if not path.exists():
        pytest.skip("the shared data is not beside this checkout")
    text = path.read_bytes()
    document = json.loads(text)
    (found,) = registry.codec("kserve", Infer).decode(text).inputs
    wanted = np.array(document["inputs"][0]["data"], np.float32)
    assert (found.name, found.data.dtype) == (document["inputs"][0]["name"], np.float32)
    np.testing.assert_array_equal(found.data, wanted)


def test_a_record_with_a_model_name_is_a_response():
    Response = dataclasses.make_dataclass(
        "Response", [("model_name", str), ("model_version", str), ("scores", list[Float32])]
    )
    codec = registry.codec("kserve", Response)
    data = codec.encode(Response("m", "3", [0.5]))
    document, binary = body(data)
    assert (document["model_name"], document["model_version"]) == ("m", "3")
    assert document["outputs"][0]["name"] == "scores"
    assert "inputs" not in document
    assert binary == struct.pack("<f", 0.5)
    assert codec.decode(data) == Response("m", "3", [0.5])
    with pytest.raises(DecodeError, match="a list of outputs"):
        codec.decode(registry.codec("kserve", list[int]).encode([1]))


def test_parameters_that_no_field_has_are_a_list():
    Param = dataclasses.make_dataclass("Param", [("key", str), ("value", int | float | str | bool)])
    Full = dataclasses.make_dataclass("Full", [("seed", int), ("more", list[Param]), ("x", list[int])])
    codec = registry.codec("kserve", Full)
    value = Full(1, [Param("a", 1), Param("b", 1.0), Param("c", "1"), Param("d", True)], [2])
    assert body(codec.encode(value))[0]["parameters"] == {"seed": 1, "a": 1, "b": 1.0, "c": "1", "d": True}
    assert [type(param.value) for param in codec.decode(codec.encode(value)).more] == [int, float, str, bool]
    for key in ("seed", "a"):
        with pytest.raises(EncodeError, match="another parameter") as caught:
            codec.encode(Full(1, [Param("a", 1), Param(key, 2)], []))
        assert caught.value.path == "/more/1/key"


def test_data_begin_at_a_multiple_of_eight_and_alias():
    codec = registry.codec("kserve", Request)
    for size in range(60):  # which takes the length of the JSON over a hundred and through every remainder
        value = dataclasses.replace(REQUEST, id="x" * size, image=np.arange(4.0))
        data = bytearray(codec.encode(value))
        found = codec.decode(data, copy=False)
        assert found.image.flags.aligned
        assert address(data) <= address(found.image) < address(data) + len(data)
        assert (address(found.image) - address(data)) % 8 == 0
    view = codec.view(data)
    assert bytes(view.blob) == b"xyz"
    data[data.index(b"xyz")] = ord("X")
    assert bytes(view.blob) == bytes(found.blob) == b"Xyz"


def test_segments_hold_the_tensors_themselves():
    codec = registry.codec("kserve", Request)
    segments = codec.encode_segments(REQUEST)
    assert b"".join(segments) == codec.encode(REQUEST)
    assert address(REQUEST.image) in {address(segment) for segment in segments}
    assert codec.view_segments(segments).boxes[0].label == "cat"


@pytest.mark.parametrize(
    ("source", "reason", "path"),
    [
        (int, "no field is a tensor", ""),
        (dataclasses.make_dataclass("M", [("t", np.ndarray), ("m", dict[str, int])]), "map str -> int64", "M/m"),
        (
            dataclasses.make_dataclass("M", [("t", np.ndarray), ("l", list[list[int]])]),
            "neither scalars nor records",
            "M/l",
        ),
        (
            dataclasses.make_dataclass("M", [("t", np.ndarray), ("u", int | str)]),
            "neither a tensor nor a parameter",
            "M/u",
        ),
        (dataclasses.make_dataclass("M", [("t", list[np.ndarray]), ("n", list[Named])]), "names of their own", ""),
        (dataclasses.make_dataclass("M", [("t", Annotated[np.ndarray, Tensor("complex64")])]), "complex64", "M/t"),
    ],
)
def test_what_has_no_place_is_refused_with_the_field_and_the_reason(source, reason, path):
    with pytest.raises(SchemaError, match=reason) as caught:
        registry.codec("kserve", source)
    assert (caught.value.path or "") == path


def test_named_tensors_stand_behind_those_of_fields_in_their_own_order():
    Both = dataclasses.make_dataclass("Both", [("cameras", list[Named]), ("state", np.ndarray)])
    codec = registry.codec("kserve", Both)
    value = Both([Named("b", np.zeros(3, np.uint8)), Named("a", np.ones(2))], np.ones(1, np.float32))
    assert [tensor["name"] for tensor in body(codec.encode(value))[0]["inputs"]] == ["state", "b", "a"]
    assert [(part.name, part.data.tolist()) for part in codec.decode(codec.encode(value)).cameras] == [
        ("b", [0, 0, 0]),
        ("a", [1.0, 1.0]),
    ]
    with pytest.raises(EncodeError, match="another input is named 'state'") as caught:
        codec.encode(Both([Named("state", np.zeros(1))], np.ones(1)))
    assert caught.value.path == "/cameras/0/name"


def test_bf16_is_tritons_and_other_dtypes_are_refused():
    codec = registry.codec("kserve", Infer)
    value = Infer([Named("x", np.array([1.5, -2], ml_dtypes.bfloat16))])
    document, binary = body(codec.encode(value))
    assert (document["inputs"][0]["datatype"], binary) == ("BF16", b"\xc0\x3f\x00\xc0")
    assert codec.decode(codec.encode(value)).inputs[0].data.dtype == ml_dtypes.bfloat16
    with pytest.raises(EncodeError, match="no datatype for complex64") as caught:
        codec.encode(Infer([Named("x", np.zeros(1, np.complex64))]))
    assert caught.value.path == "/inputs/0/data"
    with pytest.raises(EncodeError, match="two tensors have one name"):
        codec.encode(Infer([Named("x", np.zeros(1)), Named("x", np.zeros(1))]))
