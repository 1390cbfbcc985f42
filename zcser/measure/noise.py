"""What else went on: preemptions of this thread, waiting on the machine, throttling by a quota.

1. A source that the system does not have gives None.
2. A run records preemptions, pressure and throttling per process. Steal time and swapping are read for ``zcser doctor``
   alone: steal saw none of the disturbances that preemptions and /proc/pressure/cpu showed.
"""

from __future__ import annotations

import re
import resource
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "Disturbance",
    "MachineCounters",
    "disturbance",
    "load_average",
    "machine_counters",
    "preemptions",
    "quota_cores",
]

# Linux alone counts per thread; elsewhere a worker has one busy thread, so the process will do.
_WHO = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)


def preemptions() -> int:
    """Involuntary context switches of this thread so far."""
    return resource.getrusage(_WHO).ru_nivcsw


class Disturbance(NamedTuple):
    """Counters since some beginning; differences of two say what happened between. See `ProcessNoise`.

    `throttled_periods` is how many of the quota's periods ended with the cgroup stopped.
    """

    involuntary_switches: int
    voluntary_switches: int
    stalled_us: int | None
    throttled_us: int | None
    throttled_periods: int | None = None

    def since(self, before: Disturbance) -> Disturbance:
        """What happened between `before` and this."""
        return Disturbance(
            self.involuntary_switches - before.involuntary_switches,
            self.voluntary_switches - before.voluntary_switches,
            _difference(self.stalled_us, before.stalled_us),
            _difference(self.throttled_us, before.throttled_us),
            _difference(self.throttled_periods, before.throttled_periods),
        )


def disturbance() -> Disturbance:
    """The counters now."""
    usage = resource.getrusage(_WHO)
    return Disturbance(usage.ru_nivcsw, usage.ru_nvcsw, _stalled_us(), _throttled_us(), _throttled_periods())


class MachineCounters(NamedTuple):
    """Counters of the whole machine since it started.

    Attributes
    ----------
    busy_ticks, steal_ticks
        CPU time of all CPUs in use, and that which a hypervisor gave to others meanwhile; in the kernel's ticks.
    swapped_pages
        Memory pages that went out to swap or came back.
    """

    busy_ticks: int | None
    steal_ticks: int | None
    swapped_pages: int | None

    def since(self, before: MachineCounters) -> MachineCounters:
        """What happened between `before` and this."""
        return MachineCounters(*map(_difference, self, before))


def machine_counters(proc: Path = Path("/proc")) -> MachineCounters:
    """The counters now; for the fields of the file see proc_stat(5)."""
    # user, nice, system, idle, iowait, irq, softirq, steal; what guests use is inside user already.
    ticks = _numbers(proc / "stat", r"^cpu +((?:\d+ ?)+)")
    swapped = [_number(proc / "vmstat", rf"^{name} (\d+)") for name in ("pswpin", "pswpout")]
    return MachineCounters(
        busy_ticks=sum(ticks[:3]) + sum(ticks[5:7]) if len(ticks) >= 7 else None,
        steal_ticks=ticks[7] if len(ticks) >= 8 else None,
        swapped_pages=sum(filter(None, swapped)) if None not in swapped else None,
    )


def load_average(proc: Path = Path("/proc")) -> float | None:
    """Tasks that ran or waited for a CPU, averaged over the last minute."""
    try:
        return float((proc / "loadavg").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before


def _number(path: Path, pattern: str) -> int | None:
    try:
        found = re.search(pattern, path.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) if found else None


def _numbers(path: Path, pattern: str) -> list[int]:
    try:
        found = re.search(pattern, path.read_text(), re.MULTILINE)
    except OSError:
        return []
    return list(map(int, found[1].split())) if found else []


def _stalled_us() -> int | None:
    return _number(Path("/proc/pressure/cpu"), r"^some .*total=(\d+)")


def _cgroups() -> list[Path]:
    """Folders that may hold this process's CPU controller: version 2 by its own path, then version 1, then the root."""
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return [root]
    found = []
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            found.append(root / path.lstrip("/"))
        elif "cpu" in controllers.split(","):
            found += [root / controllers / path.lstrip("/"), root / "cpu" / path.lstrip("/")]
    return [*found, root]


def _throttled_us() -> int | None:
    for folder in _cgroups():
        modern = _number(folder / "cpu.stat", r"^throttled_usec (\d+)")
        if modern is not None:
            return modern
        old_ns = _number(folder / "cpu.stat", r"^throttled_time (\d+)")
        if old_ns is not None:
            return old_ns // 1000
    return None


def _throttled_periods() -> int | None:
    # The same word in both versions of cgroups; the cgroup is the one that `_throttled_us` reads.
    counts = (_number(folder / "cpu.stat", r"^nr_throttled (\d+)") for folder in _cgroups())
    return next((count for count in counts if count is not None), None)


def quota_cores() -> float | None:
    """CPU quota of the cgroup in cores; None where there is none."""
    for folder in _cgroups():
        try:
            quota, period = (folder / "cpu.max").read_text().split()
        except (OSError, ValueError):
            old = _number(folder / "cpu.cfs_quota_us", r"^(\d+)")
            old_period = _number(folder / "cpu.cfs_period_us", r"^(\d+)")
            if old and old_period:
                return old / old_period
            continue
        return None if quota == "max" else int(quota) / int(period)
    return None
