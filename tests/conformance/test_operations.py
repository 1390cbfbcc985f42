"""What a codec is: its operations, its immutability, and that it can be shared, pickled and forked."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import sys
import threading
import warnings

import pytest

from tests.conformance.laws import INFO, assert_same, cells, codecs, encodable, encoded, make, messages
from tests.conformance.schemas import CASES
from tests.conformance.strategies import samples
from zcser import registry
from zcser.core.codec import OPERATIONS
from zcser.core.errors import UnknownCodecError, UnsupportedOperation
from zcser.core.options import Options
from zcser.core.view import to_value
from zcser.schema.from_python import schema_of


@pytest.mark.parametrize("name", codecs())
def test_a_missing_operation_names_the_codecs_that_have_it(name):
    codec = make(name, "sized")
    for operation in OPERATIONS:
        if operation in codec.info.operations:
            assert callable(getattr(codec, operation))
            continue
        assert not hasattr(codec, operation)
        with pytest.raises(UnsupportedOperation, match=f"{name}.*{operation}") as caught:
            getattr(codec, operation)
        have = [other for other, info in INFO.items() if operation in info.operations]
        assert all(other in str(caught.value) for other in have)


@pytest.mark.parametrize("name", codecs())
def test_info_says_what_the_codec_is(name):
    info = make(name, "sized").info
    assert info.name == name
    assert info.operations <= set(OPERATIONS)
    assert {"decode"} <= info.operations
    assert ("encode_segments" in info.operations) == ("decode_segments" in info.operations)
    assert ("convert" in info.operations) == ("dump" in info.operations)
    assert ("load" in info.operations) == ("restore" in info.operations)
    assert not (info.fused and info.operations & {"convert", "dump", "load", "restore"})
    assert bool(info.reads) == ("view" in info.operations)
    assert all((info.format, info.wire, info.library, info.version, info.implementation))
    assert info.trusted_only == (name in {"pickle5", "pickle"})
    assert pickle.loads(pickle.dumps(info)) == info


@pytest.mark.parametrize(("name", "case"), cells())
def test_a_codec_pickles_and_works_on_the_other_side(name, case):
    codec = make(name, case)
    back = pickle.loads(pickle.dumps(codec))
    assert type(back) is type(codec)
    assert (back.schema, back.options) == (codec.schema, codec.options)
    for data, expected in messages(name, case, 2):
        assert_same(back.decode(data), expected)
        if "encode" in INFO[name].operations:
            assert back.encode(expected) == codec.encode(expected)


@pytest.mark.parametrize("name", codecs())
def test_a_codec_is_copied_by_value(name):
    codec = make(name, "sized")
    for back in (copy.copy(codec), copy.deepcopy(codec)):
        assert type(back) is type(codec)
        assert (back.schema, back.options) == (codec.schema, codec.options)
        for data, expected in messages(name, "sized", 2):
            assert_same(back.decode(data), expected)


@pytest.mark.parametrize("name", codecs())
def test_a_codec_is_immutable(name):
    codec = registry.codec(name, CASES["sized"])
    for attribute in ("schema", "options", "info", "anything"):
        with pytest.raises(AttributeError):
            setattr(codec, attribute, None)
    assert codec.schema == CASES["sized"]


@pytest.mark.parametrize(("name", "case"), cells("encode"))
def test_a_failed_encode_leaves_no_trace(name, case):
    fresh = make(name, case)
    used = registry.codec(name, CASES[case])
    for value in samples(CASES[case], 20, junk=True):
        encoded(used, value)
    for value, expected in encodable(fresh, samples(CASES[case], 5)):
        first = used.encode(value)
        assert first == expected
        assert used.encode(value) == expected
        assert first == expected, "a later encode changed an earlier message"


@pytest.mark.parametrize("case", ["sized", "json_like", "tensors", "unions"])
@pytest.mark.parametrize("name", codecs())
def test_threads_share_a_codec(name, case):
    if (name, case) not in [param.values for param in cells()]:
        pytest.skip("not carried")
    codec = registry.codec(name, CASES[case])
    pairs = messages(name, case)
    failures: list[BaseException] = []
    start = threading.Barrier(8)

    def work(number: int) -> None:
        try:
            start.wait()
            for turn in range(20):
                data, expected = pairs[(number * 7 + turn) % len(pairs)]
                assert_same(codec.decode(data), expected)
                if "encode" in INFO[name].operations:
                    assert codec.encode(expected) == data
                if "view" in INFO[name].operations:
                    assert_same(to_value(codec.view(data)), expected)
        except BaseException as error:  # noqa: BLE001 - carried to the main thread
            failures.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if failures:
        raise failures[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("name", codecs())
def test_a_codec_works_after_a_fork_on_both_sides(name):
    codec = make(name, "sized")
    pairs = messages(name, "sized", 10)

    def work() -> None:
        for data, expected in pairs:
            assert_same(codec.decode(data), expected)
            if "encode" in INFO[name].operations:
                assert codec.encode(expected) == data

    work()
    with warnings.catch_warnings():
        # 3.12 warns wherever a thread has been; that is what this test is about.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    work()


def test_an_unknown_codec_is_named_with_near_ones():
    with pytest.raises(UnknownCodecError, match="protobuf"):
        registry.codec("protobuff", int)
    with pytest.raises(UnknownCodecError, match="json"):
        registry.codec("zzzzz", int)


def twin() -> type:
    return dataclasses.make_dataclass("Twin", [("x", int)])


def test_two_classes_of_equal_structure_are_kept_apart():
    # Schemas compare by structure, not by class: whatever caches by schema must not mix the classes up.
    one, other = twin(), twin()
    assert schema_of(one) == schema_of(other)
    for name in INFO:
        if "encode" not in INFO[name].operations:
            continue
        for source in (one, other):
            codec = registry.codec(name, source)
            assert type(codec.decode(codec.encode(source(5)))) is source


@pytest.mark.parametrize("name", codecs())
def test_options_stand_in_the_codec(name):
    codec = registry.codec(name, CASES["sized"], deterministic=True, unknown_fields="refuse")
    trusted = INFO[name].trusted_only
    assert codec.options == Options(deterministic=True, unknown_fields="refuse", allow_untrusted_code=trusted)
    with pytest.raises(TypeError, match="deterministic"):
        registry.codec(name, CASES["sized"], determinstic=True)
    with pytest.raises(ValueError, match="guard"):
        registry.codec(name, CASES["sized"], guard="perhaps")
