"""`equal` and `difference`: the judge of every round trip, tested by hand-made pairs."""

from __future__ import annotations

import dataclasses
import enum
import struct

import ml_dtypes
import msgspec
import numpy as np
import pytest

from zcser.core.fidelity import difference, equal

NAN = float("nan")
OTHER_NAN = struct.unpack("<d", b"\x01\0\0\0\0\0\xf8\xff")[0]


@dataclasses.dataclass
class Pair:
    a: object
    b: object = None


class Struct(msgspec.Struct):
    a: object
    b: object = None


class Colour(enum.Enum):
    RED = 1
    CRIMSON = 1  # noqa: PIE796 - an alias, which is the same member
    GREEN = 2


class Number(enum.IntEnum):
    ONE = 1


SAME = {
    "NaN": (NAN, NAN),
    "two NaNs": (NAN, OTHER_NAN),
    "NaN inside": ([{"a": (NAN,)}], [{"a": (OTHER_NAN,)}]),
    "infinities": (float("inf"), float("inf")),
    "order of keys": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "dataclass with NaN": (Pair(NAN, [1]), Pair(NAN, [1])),
    "Struct with NaN": (Struct(NAN, [1]), Struct(NAN, [1])),
    "alias of a member": (Colour.RED, Colour.CRIMSON),
    "byte order": (np.arange(3, dtype=">i4"), np.arange(3, dtype="<i4")),
    "memory order": (np.zeros((2, 3), order="F"), np.zeros((2, 3))),
    "writability": (np.frombuffer(b"\0" * 8), np.zeros(1)),
    "strides": (np.arange(6)[::2], np.array([0, 2, 4])),
    "empty arrays": (np.zeros((0, 2), np.int8), np.zeros((0, 2), np.int8)),
    "tensor NaN": (np.array([NAN]), np.array([NAN])),
    "bfloat16": (np.array([1, NAN], ml_dtypes.bfloat16), np.array([1, NAN], ml_dtypes.bfloat16)),
    "NaN of numpy": ([np.float32(NAN)], [np.float32(NAN)]),
    "sets of numpy's NaN": ({np.float16(NAN)}, {np.float16(NAN)}),
    "memoryviews": (memoryview(b"ab"), memoryview(bytearray(b"ab"))),
    "long integers": (10**5000, 10**5000),
}

DIFFERENT = {
    "int and float": (1, 1.0),
    "int and bool": (1, True),
    "zeros": (0.0, -0.0),
    "zeros inside": ([0.0], [-0.0]),
    "zeros of numpy": (np.float32(0.0), np.float32(-0.0)),
    "subnormals": (5e-324, 0.0),
    "list and tuple": ([1], (1,)),
    "None and False": (None, False),
    "empty and None": ([], None),
    "str and bytes": ("a", b"a"),
    "bytes and bytearray": (b"a", bytearray(b"a")),
    "lengths": ([1], [1, 1]),
    "order of items": ([1, 2], [2, 1]),
    "missing key": ({"a": 1}, {}),
    "absent and None": ({}, {"a": None}),
    "keys by type": ({1: "x"}, {True: "x"}),
    "values": ({"a": 1}, {"a": 2}),
    "numpy scalar": (np.float64(1), 1.0),
    "classes of the same fields": (Pair(1), Struct(1)),
    "fields": (Pair(1, 2), Pair(1, 3)),
    "members": (Colour.RED, Colour.GREEN),
    "member and value": (Number.ONE, 1),
    "dtypes": (np.zeros(2, np.float32), np.zeros(2, np.float64)),
    "dtypes of one width": (np.zeros(2, np.float16), np.zeros(2, ml_dtypes.bfloat16)),
    "shapes": (np.zeros((2, 3)), np.zeros((3, 2))),
    "0-d and 1-d": (np.zeros(()), np.zeros(1)),
    "empty shapes": (np.zeros((0, 2)), np.zeros((2, 0))),
    "zeros of tensors": (np.array([0.0]), np.array([-0.0])),
    "NaN payloads of tensors": (np.array([NAN]), np.array([OTHER_NAN])),
    "array and list": (np.array([1]), [1]),
    "objects": (np.array([1], object), np.array([1], object)),
    "normal forms of text": ("\u00e9", "e\u0301"),
    "long integers": (10**5000, 10**5000 + 1),
}


@pytest.mark.parametrize("case", SAME)
def test_equal_values(case):
    left, right = SAME[case]
    assert equal(left, right)
    assert equal(right, left)
    assert difference(left, right) is None


@pytest.mark.parametrize("case", DIFFERENT)
def test_different_values(case):
    left, right = DIFFERENT[case]
    assert not equal(left, right)
    assert not equal(right, left)
    assert difference(left, right)


def test_a_difference_has_a_path():
    left = {"rows": [{"x/y": Pair(1.0)}]}
    right = {"rows": [{"x/y": Pair(-1.0)}]}
    assert "at /rows/0/x~1y/a: 1.0 against -1.0" in str(difference(left, right))


def test_values_nested_as_deep_as_the_limits_allow_compare():
    def deep(leaf: float) -> object:
        value: object = leaf
        for _ in range(100):
            value = {"a": [value]}
        return value

    assert equal(deep(NAN), deep(NAN))
    assert not equal(deep(0.0), deep(-0.0))
