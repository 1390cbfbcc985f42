"""The error hierarchy."""

from __future__ import annotations

import pickle

import pytest

import zcser.core.errors as errors_module
from zcser.core.errors import (
    BufferTooSmallError,
    CodecUnavailableError,
    DecodeError,
    EncodeError,
    SchemaError,
    TruncatedError,
    UnknownCodecError,
    UnsupportedOperation,
    ZcserError,
)

BUILT_IN = {
    "AlignmentError": ValueError,
    "BufferInUseError": BufferError,
    "BufferTooSmallError": ValueError,
    "ChecksumError": ValueError,
    "CodecUnavailableError": ImportError,
    "DecodeError": ValueError,
    "EncodeError": ValueError,
    "FrameChecksumError": ValueError,
    "FrameError": ValueError,
    "FrameTruncatedError": ValueError,
    "ReleasedViewError": ValueError,
    "SchemaError": ValueError,
    "TruncatedError": ValueError,
    "UnknownCodecError": LookupError,
    "UnsupportedOperation": AttributeError,
    "VerifyError": ValueError,
    "ZcserError": Exception,
}


def test_every_error_is_a_zcser_error_and_the_built_in_that_a_caller_expects():
    assert set(errors_module.__all__) == set(BUILT_IN)
    for name, base in BUILT_IN.items():
        assert issubclass(getattr(errors_module, name), ZcserError)
        assert issubclass(getattr(errors_module, name), base)


def test_a_message_names_codec_path_and_offset():
    error = DecodeError("a length leads outside", codec="msgpack", path="/a/0", offset=7)
    assert str(error) == "msgpack: a length leads outside (at /a/0, at byte 7)"
    assert (error.codec, error.path, error.offset, error.reason) == ("msgpack", "/a/0", 7, "a length leads outside")
    assert str(EncodeError("no", path="")) == "no (at the root)"
    assert str(SchemaError("no", path="A/b", codec="json")) == "json: no (at A/b)"


@pytest.mark.parametrize(
    "error",
    [
        EncodeError("no", path="/a", codec="json"),
        BufferTooSmallError(12, 5, codec="header"),
        TruncatedError("cut", codec="json", offset=3),
        SchemaError("no", path="A/b"),
        UnsupportedOperation("no such operation"),
        CodecUnavailableError("pip install zcser[x]"),
        UnknownCodecError("did you mean"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_cross_process_boundaries_whole(error):
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert back.__dict__ == error.__dict__


def test_a_buffer_too_small_says_how_much_is_needed():
    error = BufferTooSmallError(12, 5)
    assert (error.needed, error.available) == (12, 5)
    assert "12 bytes" in str(error)
    assert "5 available" in str(error)
