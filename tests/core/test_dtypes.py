"""The table of tensor element types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from zcser.core.dtypes import NAMES, dtype_name, dtype_named, dtype_numbered, number_of, tensor_bytes


def test_the_numbers_are_for_ever():
    # They stand in encoded messages. This list may only grow at its end.
    assert NAMES[:25] == (
        "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
        "float64", "complex64", "complex128", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
        "float8_e5m2fnuz", "float8_e4m3b11fnuz", "int4", "uint4", "float8_e3m4", "float8_e4m3", "float8_e8m0fnu",
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_name_dtype_and_number_lead_to_each_other(name):
    dtype = dtype_named(name)
    truth = np.dtype(getattr(ml_dtypes, name, None) or getattr(np, name if name != "bool" else "bool_"))
    assert dtype == truth
    assert dtype_name(dtype) == name
    assert dtype_numbered(number_of(name)) == dtype
    assert number_of(name) == NAMES.index(name)


def test_byte_order_is_no_part_of_the_name():
    assert dtype_name(np.dtype(">f4")) == dtype_name(np.dtype("<f4")) == "float32"


@pytest.mark.parametrize("dtype", ["O", "U3", "S3", "V4", "datetime64[s]", "timedelta64[s]", "i4,f4", np.longdouble])
def test_dtypes_that_are_no_fixed_size_numbers_have_no_name(dtype):
    assert dtype_name(np.dtype(dtype)) is None


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
