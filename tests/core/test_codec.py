"""The base of all codecs, shown on one that only encodes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from zcser.core.codec import LEDGER, OPERATIONS, Codec, CodecInfo
from zcser.core.errors import UnsupportedOperation
from zcser.core.options import Options


class Writer(Codec[Any]):
    name = "writer"
    format = "text"
    wire = "text"
    library = "none"
    reads = {"str": "parse"}
    fused = True

    def __init__(self, schema: Any, options: Options) -> None:
        super().__init__(schema, options)
        self._seal()

    @classmethod
    def library_version(cls) -> tuple[str, str]:
        return "1.0", "pure Python"

    def encode(self, value: Any) -> bytes:
        return str(value).encode()


@pytest.fixture
def writer() -> Writer:
    return Writer("schema", Options())


def test_operations_are_what_the_class_defines(writer):
    assert writer.info.operations == {"encode"}
    assert writer.encode(5) == b"5"


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name != "encode"])
def test_a_missing_operation_is_an_unsupported_operation_and_no_attribute(writer, operation):
    assert not hasattr(writer, operation)
    with pytest.raises(UnsupportedOperation, match=f"'writer' has no {operation}") as caught:
        getattr(writer, operation)
    if operation in LEDGER:
        assert "fused" in str(caught.value)


def test_another_attribute_is_a_plain_attribute_error(writer):
    with pytest.raises(AttributeError) as caught:
        writer.nothing  # noqa: B018 - the access is the test
    assert not isinstance(caught.value, UnsupportedOperation)


def test_a_codec_is_immutable(writer):
    for name in ("schema", "options", "anything"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(writer, name, 1)
    with pytest.raises(AttributeError, match="immutable"):
        del writer.schema


def test_a_codec_and_its_info_pickle_and_copy(writer):
    for back in (pickle.loads(pickle.dumps(writer)), copy.copy(writer), copy.deepcopy(writer)):
        assert type(back) is Writer
        assert (back.schema, back.options) == (writer.schema, writer.options)
        assert back.encode(7) == b"7"
    info = pickle.loads(pickle.dumps(writer.info))
    assert info == writer.info
    assert isinstance(info, CodecInfo)
    with pytest.raises(TypeError):
        info.reads["str"] = "alias"
