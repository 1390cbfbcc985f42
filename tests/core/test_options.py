"""Options are checked when they are made."""

from __future__ import annotations

import pickle

import pytest

from zcser.core.options import Limits, Options


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"guard": "maybe"}, "guard"),
        ({"guard": True}, "guard"),
        ({"unknown_fields": "keep"}, "unknown_fields"),
        ({"deterministic": 1}, "deterministic"),
        ({"deterministic": None}, "deterministic"),
        ({"strict": "yes"}, "strict"),
        ({"strict": True, "guard": "off"}, "guard"),
    ],
)
def test_an_option_outside_its_values_is_refused_by_name(given, word):
    with pytest.raises(ValueError, match=word):
        Options(**given)


@pytest.mark.parametrize("value", [0, -1, True, 1.0, None, "5"])
@pytest.mark.parametrize("name", ["depth", "elements", "bytes"])
def test_a_limit_is_a_positive_int(name, value):
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})


def test_limits_are_limits():
    with pytest.raises(TypeError, match="Limits"):
        Options(limits={"depth": 3})


def test_options_are_frozen_equal_by_value_and_picklable():
    options = Options(limits=Limits(depth=3), deterministic=True)
    with pytest.raises(AttributeError):
        options.strict = True
    assert pickle.loads(pickle.dumps(options)) == options != Options()
    assert hash(options) == hash(Options(limits=Limits(depth=3), deterministic=True))
