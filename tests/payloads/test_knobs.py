"""The payloads that are asked for by name: sizes of the services that they stand for, and the knobs that change them."""

from __future__ import annotations

import contextlib
import pickle
from math import prod

import numpy as np
import pytest

from tests.conformance.laws import INFO
from zcser import payloads, registry
from zcser.core.codec import CodecInfo
from zcser.core.errors import EncodeError, SchemaError
from zcser.core.fidelity import equal
from zcser.core.view import at
from zcser.payloads import all_names, get, knobs_of, names
from zcser.payloads.base import PayloadError
from zcser.payloads.knobs import swept
from zcser.schema.normal import normal

MORE = [name for name in all_names() if name not in names()]

# Element size x shape, as the public users of PAYLOADS.md report them.
TENSOR_BYTES = {
    "embeddings": 2 * 64 * 4096,
    "logprobs": 4 * 32_768 * 2,
    "experts": 30_000 * 48 * 8,
    "robot-observation": 224 * 224 * 3,
    "robot-action": 4 * 50 * 32,
    "kv-block": 2 << 20,
    "detector": 4 * 384 * 640 * 3,
    "arrays": 8 * 10_000 * 3 * 4,
}
LARGE_TENSOR_BYTES = {
    "vision-patches": 4 * 4784 * 1176,
    "prompt-embeds": 2 * 8192 * 3840,
    "video": 16 * 768 * 1280 * 3,
    "multimodal": 4 * 256 * 1024,
}

SMALL = (
    "stream-batch:streams=3",
    "scheduler-step:workers=2,requests=3,tokens=2",
    "chat:turns=2,tokens=10,tools=2",
    "chat:turns=1,tokens=8,tools=0",
    "multimodal:images=2,image_bytes=100,embeds=1",
    "multimodal:images=0,embeds=2",
    "embeddings:batch=2,dims=8",
    "embeddings:batch=1,dims=3,dtype=float8_e5m2",
    "embeddings:batch=1,dims=3,dtype=float64",
    "logprobs:tokens=3",
    "experts:tokens=2,layers=3",
    "vision-patches:images=2,patches=4,width=6,dtype=bfloat16",
    "prompt-embeds:tokens=2,hidden=5",
    "video:frames=2,height=3,width=4",
    "robot-observation:cameras=3,height=4,width=5",
    "robot-action:steps=2,size=3",
    "kv-block:tokens=2,layers=2,heads=1,head_size=4",
    "detector:batch=2,height=3,width=4",
    "bytes-tensor:rows=5,size=40",
    "arrays:rows=2,columns=2,depth=2",
    "request:kib=1",
    "records:rows=3",
)


def test_every_payload_has_a_small_form_here():
    assert {text.partition(":")[0] for text in SMALL} == set(MORE)


@pytest.mark.parametrize("name", TENSOR_BYTES)
def test_a_tensor_has_the_size_that_its_users_report(name):
    payload = get(name)
    assert at(payload.make(1), payload.tensor).nbytes == TENSOR_BYTES[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE_TENSOR_BYTES)
def test_a_large_tensor_has_the_size_that_its_users_report(name):
    payload = get(name)
    assert at(payload.make(1), payload.tensor).nbytes == LARGE_TENSOR_BYTES[name]


@pytest.mark.parametrize("kib", [1, 15, 16, 64, 1000])
def test_a_request_of_any_size_has_tensors_of_that_size(kib):
    made = get(f"request:kib={kib}").make(2)
    embeds, ids = (tensor.data.nbytes for tensor in made.tensors)
    # The ids vary by four either way.
    assert abs(embeds + ids - kib * 1024) <= 16


def test_a_sweep_is_a_payload_for_each_value_of_one_knob():
    assert swept("request:kib=1, 16,256") == ("request:kib=1", "request:kib=16", "request:kib=256")
    found = swept("embeddings:dims=8,batch=1,64,dtype=float32")
    assert [get(name).name for name in found] == [
        "embeddings:batch=1,dims=8,dtype=float32",
        "embeddings:dims=8,dtype=float32",
    ]
    for text, words in (
        ("request", "none here"),
        ("request:kib=1", "none here"),
        ("kv-block:heads=1,2,layers=1,2", "heads and"),
    ):
        with pytest.raises(PayloadError, match=words):
            swept(text)


def test_a_chunk_of_256_tokens_of_a_kv_cache_is_32_mib():
    values = {knob: one.default for knob, one in knobs_of("kv-block").items()} | {"tokens": 256}
    assert 2 * 2 * prod(values[knob] for knob in ("tokens", "layers", "heads", "head_size")) == 32 << 20


def test_a_step_has_an_output_of_every_request():
    assert len(get("scheduler-step").make(0).outputs) == 64 * 20


def test_a_chat_body_is_about_a_megabyte():
    payload = get("chat")
    assert 0.8e6 < len(registry.codec("json", payload.schema).encode(payload.make(0))) < 1.2e6


@pytest.mark.parametrize("text", SMALL)
def test_values_are_normal_differ_and_travel(text):
    payload = get(text)
    pickled = pickle.loads(pickle.dumps(payload))
    values = payload.values(8)
    assert all(equal(normal(payload.schema, value), value) for value in values)
    assert all(not equal(one, other) for place, one in enumerate(values) for other in values[:place])
    assert equal(pickled.make(5), values[5])
    assert isinstance(at(values[0], payload.field), str | int | float)
    assert payload.tensor is None or isinstance(at(values[0], payload.tensor), np.ndarray)


@pytest.mark.parametrize(
    "codec",
    [
        name
        for name, info in registry.available().items()
        if isinstance(info, CodecInfo) and "encode" in info.operations
    ],
)
@pytest.mark.parametrize("text", SMALL)
def test_every_codec_carries_them_or_says_why(text, codec):
    payload = get(text)
    value = payload.make(3)
    # What has fixed places has none for most lists; Arrow has no recursive types.
    refused = {"header": (SchemaError, EncodeError), "kserve": (SchemaError, EncodeError), "arrow": (SchemaError,)}
    with contextlib.suppress(*refused.get(codec, ())):
        made = registry.codec(codec, payload.schema, allow_untrusted_code=INFO[codec].trusted_only)
        assert equal(made.decode(made.encode(value)), value)


def test_the_name_says_what_was_turned_in_one_order():
    assert get("embeddings:dtype=float32, batch=3").name == "embeddings:batch=3,dtype=float32"
    assert get("embeddings:batch=64").name == "embeddings"
    assert get("embeddings:batch=3").make(1).embeddings.shape == (3, 4096)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("embedings", "no built-in payload is named 'embedings'; did you mean embeddings"),
        ("embeddings:bat=3", "payload embeddings has no knob 'bat'; did you mean batch?"),
        ("embeddings:zzz=3", "it has batch, dims, dtype"),
        ("request-1k:rows=3", "it has none"),
        ("embeddings:batch=0", r"batch is '0'; it must be a whole number from 1 to 1,048,576"),
        ("embeddings:batch=many", r"batch is 'many'; it must be a whole number"),
        ("embeddings:batch", "batch is ''"),
        ("embeddings:batch=1,batch=2", "batch is said twice"),
        ("embeddings:dtype=int7", "dtype is 'int7'; it must be one of float32, float64, float16, bfloat16"),
    ],
)
def test_a_wrong_knob_is_named_with_what_is_right(text, words):
    with pytest.raises(PayloadError, match=words):
        get(text)


def test_without_ml_dtypes_a_payload_says_what_to_install(monkeypatch):
    def missing(name: str) -> None:
        raise LookupError(f"dtype {name!r} needs ml_dtypes: pip install 'zcser[dtypes]'")

    monkeypatch.setattr("zcser.payloads.entry.dtype_named", missing)
    with pytest.raises(PayloadError, match=r"payload kv-block: dtype 'bfloat16' needs ml_dtypes: pip install"):
        get("kv-block")


def test_all_payloads_have_words():
    assert all(payloads.doc_of(name) for name in all_names())
