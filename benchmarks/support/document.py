"""The raw result of a study, and what stands below and above its tables."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import zcser
from zcser import registry
from zcser.core.codec import CodecInfo
from zcser.core.errors import CodecUnavailableError
from zcser.measure.env import environment
from zcser.measure.jsonform import to_json
from zcser.measure.noise import MachineCounters, load_average, machine_counters
from zcser.measure.timer import timer_name

__all__ = ["Begin", "document", "report"]

_IDLE_LOAD = 0.5
"""Waiting or running tasks for each core, above which a machine is not idle."""


class Begin:
    """The machine as a study began: made before anything is measured."""

    def __init__(self) -> None:
        self.load = load_average()
        self.counters = machine_counters()


def document(begin: Begin, libraries: Iterable[str], **parts: Any) -> dict[str, Any]:
    """What is written as JSON.

    Parameters
    ----------
    begin
        Of the study, which is over.
    libraries
        Names of the codecs whose versions are told, where they are installed.
    **parts
        What the study found.
    """
    return {
        "tool": {"name": "zcser", "version": zcser.__version__},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": to_json(environment(_installed(libraries))),
        "timer": timer_name(),
        "load_average_before": begin.load,
        "steal_share": _steal_share(machine_counters().since(begin.counters)),
        **parts,
    }


def report(title: str, tables: str, found: dict[str, Any], seconds: float, name: str) -> str:
    """The tables with a title above, and below them the conditions under which they were taken.

    Parameters
    ----------
    title, tables
        Markdown.
    found
        What `document` gave.
    seconds
        How long the study took.
    name
        Of its package, and of its file of results.
    """
    python, machine = found["environment"]["python"], found["environment"]
    load, steal = found["load_average_before"], found["steal_share"]
    below = (
        f"{found['created']}, {seconds:.0f} s; {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['kernel']}, {python['implementation']} {python['version']}; load average before "
        f"{'unknown' if load is None else f'{load:.2f}'}, steal {'unknown' if steal is None else f'{steal:.1%}'}. "
        f"Made by `python -m benchmarks.{name} -o DIR`; the numbers behind it stand in {name}.json."
    )
    busy = load is not None and load > _IDLE_LOAD * machine["cores"]
    notice = "> The machine was not idle: figures that are said to be of an idle machine are not.\n\n" if busy else ""
    return f"# {title}\n\n{notice}{tables}\n{below}\n"


def _installed(names: Iterable[str]) -> list[CodecInfo]:
    found = []
    for name in names:
        try:
            found.append(registry.info(name))
        except CodecUnavailableError:
            continue
    return found


def _steal_share(counters: MachineCounters) -> float | None:
    """Of the CPU time that the machine wanted, what a hypervisor gave to others."""
    if counters.busy_ticks is None or counters.steal_ticks is None:
        return None
    return counters.steal_ticks / max(1, counters.busy_ticks + counters.steal_ticks)
