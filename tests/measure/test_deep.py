"""Deep sizes of objects whose parts are counted by hand, with `sys.getsizeof` of each part alone."""

from __future__ import annotations

import enum
import sys
from dataclasses import dataclass
from sys import getsizeof

import msgspec
import numpy as np

from zcser.measure.deep import own_bytes


class Color(enum.Enum):
    RED = "red"


@dataclass(slots=True)
class Slotted:
    number: int
    text: str


@dataclass
class Plain:
    number: int


class Struct(msgspec.Struct):
    number: int
    inner: list


def big(number: int) -> int:
    """An int that nothing else refers to."""
    return 10**9 + number


def text(number: int) -> str:
    return f"text number {number}"


def size(make) -> int:
    return own_bytes(make(), make())


def test_containers_and_what_is_in_them():
    assert size(lambda: [big(1), text(1)]) == getsizeof([0, 0]) + getsizeof(big(1)) + getsizeof(text(1))
    entry = getsizeof({text(2): 0}) + getsizeof(text(1)) + getsizeof((0,)) + getsizeof(big(1))
    assert size(lambda: {text(1): (big(1),)}) == entry
    assert size(lambda: {big(1)}) == getsizeof({1}) + getsizeof(big(1))


def test_what_is_shared_is_not_counted():
    assert size(lambda: [5, None, True, "interned", Color.RED, int, 0.5]) == getsizeof([0] * 7)
    key = text(1)
    assert size(lambda: {key: 1}) == getsizeof({key: 2})


def test_an_object_counts_once_and_cycles_end():
    def twice():
        one = text(1)
        found = [one, one]
        found.append(found)
        return found

    grown = [0, 0]
    grown.append(0)
    assert size(twice) == getsizeof(grown) + getsizeof(text(1))


def test_attributes_in_slots_and_in_a_dict():
    assert size(lambda: Slotted(big(1), text(1))) == getsizeof(Slotted(1, "")) + getsizeof(big(1)) + getsizeof(text(1))
    assert size(lambda: Struct(big(1), [])) == getsizeof(Struct(1, [])) + getsizeof(big(1)) + getsizeof([])
    one = Plain(big(1))
    found = own_bytes(one, Plain(big(1)))
    attributes = 0 if sys.version_info >= (3, 13) else getsizeof(vars(one))
    assert found == getsizeof(one) + attributes + getsizeof(big(1))


def test_the_memory_of_an_array_counts_wherever_it_lies():
    whole = np.zeros(1000)
    assert getsizeof(whole) >= 8000
    assert size(lambda: np.zeros(1000)) == getsizeof(whole)
    part = size(lambda: np.zeros(1000)[10:20])
    assert part == getsizeof(whole[10:20]) + getsizeof(whole)
    over = size(lambda: np.frombuffer(bytes(big(0) % 7 + 800), np.uint8))
    assert over == getsizeof(np.frombuffer(b"0", np.uint8)) + getsizeof(bytes(10**9 % 7 + 800))
    shown = size(lambda: memoryview(bytes(bytearray(500))))
    assert getsizeof(memoryview(b"0")) + getsizeof(bytes(500)) <= shown < 1000
