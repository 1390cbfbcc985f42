"""Defaults of fields that are lowered, where an older message lacks the field."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

import zcser
from zcser.core.errors import DecodeError
from zcser.schema.annotations import AwareDatetime


@dataclasses.dataclass
class Older:
    a: int


@dataclasses.dataclass
class Newer:
    a: int
    at: AwareDatetime = datetime(2026, 1, 1, 12, tzinfo=ZoneInfo("Europe/Paris"))  # an hour before UTC, in January


@dataclasses.dataclass
class Wrong:
    a: int
    at: AwareDatetime = datetime(2026, 1, 1)


@pytest.mark.parametrize("name", ["json", "msgpack", "protobuf"])
def test_a_default_that_is_not_normal_is_what_an_older_message_decodes_to(name):
    message = zcser.codec(name, Older).encode(Older(1))
    assert zcser.codec(name, Newer).decode(message).at == datetime(2026, 1, 1, 11, tzinfo=UTC)
    with pytest.raises(DecodeError, match=r"without a time zone.*Wrong/at"):
        zcser.codec(name, Wrong).decode(message)
