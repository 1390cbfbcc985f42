"""Profiles: what a service does with messages, as weights over measured figures.

One formula serves all (`zcser.decide.score` computes it). Per message that is written::

    core  = writer_weight * (write + compress) + reader_weight * reads_per_write * (read + decompress)
    wire  = bytes * (1e9 / bandwidth_out + reads_per_write * (1e9 / bandwidth_in))
    total = core / cpu_share + wire

in ns, with ``write`` and ``read`` the costs of the profile's two tasks, and ``bytes`` the size of a message, after
compression where there is one. A format is chosen by ``total``; ``1e9 / core`` is the messages per second of one core.

1. A weight is a number from 0 on; a bandwidth of ``inf`` leaves the wire out.
2. What a profile does not weigh, a codec need not have.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from zcser.core.errors import ZcserError
from zcser.decide.figures import COMPRESSIONS

__all__ = ["PROFILES", "Profile", "ProfileError", "profile_named", "with_settings"]


class ProfileError(ZcserError, ValueError):
    """There is no such profile or setting, or a value makes no sense; the message names it."""


RANGES: Final[dict[str, tuple[float, float]]] = {
    "writer_weight": (0.0, 1e9),
    "reader_weight": (0.0, 1e9),
    "reads_per_write": (0.0, 1e9),
    "cpu_share": (1e-6, 1e6),
    "bandwidth_in": (1.0, math.inf),
    "bandwidth_out": (1.0, math.inf),
    "messages_per_s": (1e-9, 1e15),
    "p99_ns": (1.0, 1e18),
}
"""The smallest and largest value of each number, wide enough for any service and narrow enough for any arithmetic."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What is done with a message, and what it costs.

    Attributes
    ----------
    name, doc
        A word, and a sentence.
    write, read
        The two tasks: an operation's name, or for `read` also a number of fields: ``"2"``, ``"10%"``, ``"all"``.
    writer_weight, reader_weight
        How much core time of the writing and of the reading side counts; 0: it is somebody else's, or there is none.
    reads_per_write
        How often a message that was written is received and read.
    cpu_share
        Cores that serialization may use; below 1 a share of one.
    bandwidth_in, bandwidth_out
        Bytes per second, of what a message is received by and sent by: a network, a disk; ``inf``: not counted.
    messages_per_s
        Messages written per second that must be carried; None: not asked.
    p99_ns
        Objective for the 99th percentile of writing, sending, receiving and reading one message; None: none.
    unvalidated
        Whether a codec may take bytes on trust: without guard or verification, or running code of the sender.
    compression
        ``"none"``, ``"zlib"``, ``"lz4"`` or ``"zstd"``.

    Raises
    ------
    ProfileError
        A value is out of its range.
    """

    name: str
    doc: str
    write: str = "encode"
    read: str = "decode"
    writer_weight: float = 1.0
    reader_weight: float = 1.0
    reads_per_write: float = 1.0
    cpu_share: float = 1.0
    bandwidth_in: float = 1.25e9
    bandwidth_out: float = 1.25e9
    messages_per_s: float | None = None
    p99_ns: float | None = None
    unvalidated: bool = False
    compression: str = "none"

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise ProfileError(f"{name} is a number from {least:g} to {most:g}, not {value!r}")
        if self.compression not in {"none", *COMPRESSIONS}:
            raise ProfileError(f"compression is none, {', '.join(COMPRESSIONS)}, not {self.compression!r}")
        for name in ("write", "read"):
            if not getattr(self, name):
                raise ProfileError(f"{name} is the name of an operation, or a number of fields")


_PROFILES = (
    Profile(
        "proxy",
        "receives a message, reads two fields, sends the bytes on: core = read-2; wire = bytes in and bytes out; "
        "10 Gbit/s each way",
        read="2",
        writer_weight=0.0,
    ),
    Profile(
        "server",
        "decodes a request whole and encodes a response of the same size: core = encode + decode; wire = bytes in and "
        "bytes out; 10 Gbit/s each way",
    ),
    Profile(
        "log",
        "writes much and reads one message of a hundred: core = encode + decode / 100; wire = bytes out and a hundredth "
        "of them in; a disk of 200 MB/s, so that size weighs",
        reads_per_write=0.01,
        bandwidth_in=2e8,
        bandwidth_out=2e8,
    ),
    Profile(
        "train",
        "writes a message once and gets its tensor in ten epochs: core = encode + 10 * tensor; wire = bytes out and ten "
        "times in; a drive of 2 GB/s",
        read="tensor",
        reads_per_write=10.0,
        bandwidth_in=2e9,
        bandwidth_out=2e9,
    ),
    Profile(
        "custom",
        "nothing but core time, of an encode and a decode, until it is set otherwise: core = encode + decode; wire = 0",
        bandwidth_in=math.inf,
        bandwidth_out=math.inf,
    ),
)

PROFILES: Final[dict[str, Profile]] = {profile.name: profile for profile in _PROFILES}
"""By name."""


def profile_named(name: str) -> Profile:
    """The profile of a name.

    Raises
    ------
    ProfileError
        There is none.
    """
    if name not in PROFILES:
        raise ProfileError(f"no profile is named {name!r}; known: {', '.join(PROFILES)}")
    return PROFILES[name]


_BYTES_PER_S = {"": 1.0, "b/s": 1.0, "kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9}
_BITS_PER_S = {"kbit/s": 125.0, "mbit/s": 125e3, "gbit/s": 125e6}
_NANOSECONDS = {"": 1.0, "ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_QUANTITY = re.compile(r"([0-9.]+(?:e[+-]?[0-9]+)?|inf)\s*(.*)")


def _quantity(text: str, units: dict[str, float]) -> float:
    match = _QUANTITY.fullmatch(text.strip().lower())
    if match is None or match[2] not in units:
        raise ValueError
    return float(match[1]) * units[match[2]]


def _number(text: str) -> float:
    return _quantity(text, {"": 1.0})


def _bandwidth(text: str) -> float:
    return _quantity(text, _BYTES_PER_S | _BITS_PER_S)


def _flag(text: str) -> bool:
    return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[text.strip().lower()]


def _or_none(read: Callable[[str], float]) -> Callable[[str], float | None]:
    return lambda text: None if text.strip().lower() == "none" else read(text)


_READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "write": (str.strip, "an operation"),
    "read": (str.strip, "an operation, or a number of fields such as 2, 10% or all"),
    "writer_weight": (_number, "a number"),
    "reader_weight": (_number, "a number"),
    "reads_per_write": (_number, "a number"),
    "cpu_share": (_number, "a number of cores"),
    "bandwidth_in": (_bandwidth, "bytes per second such as 1.25e9, 200MB/s, 10Gbit/s or inf"),
    "bandwidth_out": (_bandwidth, "bytes per second such as 1.25e9, 200MB/s, 10Gbit/s or inf"),
    "messages_per_s": (_or_none(_number), "a number, or none"),
    "p99_ns": (_or_none(lambda text: _quantity(text, _NANOSECONDS)), "a time such as 2ms or 500us, or none"),
    "unvalidated": (_flag, "yes or no"),
    "compression": (str.strip, f"none, {', '.join(COMPRESSIONS)}"),
}


def with_settings(profile: Profile, settings: Sequence[str]) -> Profile:
    """A profile with values of the user's.

    Parameters
    ----------
    profile
        What to start from.
    settings
        Each ``NAME=VALUE``, of a field of `Profile`; the last of a name counts.

    Raises
    ------
    ProfileError
        A name is unknown, or a value cannot be read or is out of its range.
    """
    changes = {}
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if name not in _READERS or not equals:
            raise ProfileError(f"a setting is NAME=VALUE, not {setting!r}; names: {', '.join(_READERS)}")
        read, form = _READERS[name]
        try:
            changes[name] = read(text)
        except (ValueError, KeyError):
            raise ProfileError(f"{name} is {form}, not {text!r}") from None
    return dataclasses.replace(profile, **changes)
