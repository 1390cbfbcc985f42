"""The table of tensor element types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from zcser.core.dtypes import (
    NAMES,
    dtype_name,
    dtype_named,
    dtype_numbered,
    enum_member,
    number_of,
    refusal,
    tensor_bytes,
)


def test_the_numbers_are_for_ever():
    # They stand in encoded messages. This list may only grow at its end.
    units = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
    assert NAMES[:60] == (
        "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
        "float64", "complex64", "complex128", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
        "float8_e5m2fnuz", "float8_e4m3b11fnuz", "int4", "uint4", "float8_e3m4", "float8_e4m3", "float8_e8m0fnu",
        "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "int1", "uint1", "int2", "uint2", "complex32", "bcomplex32",
        *(f"datetime64[{unit}]" for unit in units), *(f"timedelta64[{unit}]" for unit in units),
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_name_dtype_and_number_lead_to_each_other(name):
    dtype = dtype_named(name)
    truth = np.dtype(getattr(ml_dtypes, name, None) or name)
    assert dtype == truth
    assert dtype_name(dtype) == name
    assert dtype_numbered(number_of(name)) == dtype
    assert number_of(name) == NAMES.index(name)


def test_byte_order_is_no_part_of_the_name():
    assert dtype_name(np.dtype(">f4")) == dtype_name(np.dtype("<f4")) == "float32"


def test_the_table_has_all_of_numpy_and_ml_dtypes():
    scalars = [getattr(ml_dtypes, name) for name in dir(ml_dtypes)]
    theirs = {np.dtype(one) for one in scalars if isinstance(one, type) and issubclass(one, np.generic)}
    numbers = {np.dtype(code) for code in np.typecodes["All"] if code not in "gGSUVOMm"}
    assert {dtype_name(dtype) for dtype in theirs | numbers} | {name for name in NAMES if "64[" in name} == set(NAMES)


@pytest.mark.parametrize(
    ("dtype", "reason"),
    [
        ("O", "pointers"), ([("a", "O")], "pointers"), ("U3", "list of str"), ("S3", "list of bytes"), ("V4", "uint8"),
        ("i4,f4", "list of records"), (np.longdouble, "long double"), (np.clongdouble, "long double"),
        ("datetime64", "no unit"), ("timedelta64", "no unit"), ("datetime64[25s]", "multiple"), ("m8[7D]", "multiple"),
    ],
)  # fmt: skip
def test_dtypes_that_are_another_on_each_machine_or_have_no_one_size_are_refused_with_the_reason(dtype, reason):
    assert dtype_name(np.dtype(dtype)) is None
    assert reason in refusal(np.dtype(dtype))


def test_members_of_enums_are_identifiers_that_differ_in_more_than_case():
    members = [enum_member(name) for name in NAMES]
    assert all(member.isidentifier() for member in members)
    assert len({member.lower() for member in members}) == len(NAMES)
    assert enum_member("datetime64[M]") == "datetime64_month"
    assert enum_member("bfloat16") == "bfloat16"


def test_a_structured_dtype_cannot_pass_for_another():
    assert dtype_name(np.dtype([("bfloat16", ml_dtypes.bfloat16)])) is None


@pytest.mark.parametrize("number", [-1, len(NAMES), 2**40])
def test_an_unknown_number_is_a_lookup_error(number):
    with pytest.raises(LookupError):
        dtype_numbered(number)


def test_an_unknown_name_is_a_lookup_error_with_the_known_ones():
    with pytest.raises(LookupError, match="bfloat16"):
        dtype_named("bfloat61")


@pytest.mark.parametrize("name", NAMES)
def test_the_bytes_of_a_tensor_alias_it(name):
    array = np.zeros((2, 3), dtype_named(name))
    tensor_bytes(array)[0] = 1
    assert array.view(np.uint8)[0, 0] == 1
    assert tensor_bytes(array).nbytes == array.nbytes
    assert tensor_bytes(array[:0]).nbytes == 0
    assert tensor_bytes(np.zeros((), dtype_named(name))).nbytes == array.itemsize
