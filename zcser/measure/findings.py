"""What on a machine makes times move, and how to mend it: judged from readings, none of them taken here.

1. A reading that the system does not give is None; nothing is concluded from it, and `unknown` names it.
2. A finding says what was seen, why it matters, and what exactly to do.
3. "bad" disturbed this very run; "warn" is likely to disturb one; "note" is what remains to be gained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from zcser.measure.pinning import cpu_list_text

__all__ = ["Evidence", "Finding", "Severity", "findings", "unknown"]

Severity = Literal["bad", "warn", "note"]

_ORDER: tuple[Severity, ...] = ("bad", "warn", "note")

_FAST_CLOCKS = frozenset({"tsc", "arch_sys_counter", "riscv_clocksource"})
"""Counters of the CPU itself, which are read without a system call."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend, in words: what was seen, why it matters, and what to do."""

    name: str
    seen: str
    why: str
    advice: str
    severity: Severity


@dataclass(frozen=True, slots=True)
class Evidence:
    """Readings, shares as 0 to 1. None: the system does not give it, `quota_cores` and `pinned` excepted.

    Attributes
    ----------
    cpus, online, isolated, governors, turbo, huge_pages, siblings
        See `zcser.measure.env.Tuning`.
    pinned
        CPUs that workers were pinned to; None: to none.
    clock
        Source of the monotonic clock.
    quota_cores
        CPU quota of the cgroup, in cores; None where there is none.
    throttled_periods, throttled_share
        Periods of the quota during the run that ended with the cgroup stopped, and its time stopped.
    stalled_share
        Share of the run in which some task of the machine waited for a CPU.
    steal_share
        Of the CPU time wanted, what a hypervisor gave to others.
    slow_share
        Share of readings in which the core was not at full speed; see `zcser.measure.pace`.
    preempted_share
        Share of timed batches that were left out, for a preemption inside or for that.
    swapped_pages
        Pages moved from or to swap during the run.
    load
        Tasks that ran or waited, averaged over the minute before the run.
    """

    clock: str
    cpus: tuple[int, ...] | None = None
    online: tuple[int, ...] | None = None
    isolated: tuple[int, ...] | None = None
    governors: tuple[str, ...] | None = None
    turbo: bool | None = None
    huge_pages: str | None = None
    siblings: tuple[tuple[int, ...], ...] | None = None
    pinned: tuple[int, ...] | None = None
    quota_cores: float | None = None
    throttled_periods: int | None = None
    throttled_share: float | None = None
    stalled_share: float | None = None
    steal_share: float | None = None
    slow_share: float | None = None
    preempted_share: float | None = None
    swapped_pages: int | None = None
    load: float | None = None


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """All findings, the worst first."""
    found = [finding for check in _CHECKS if (finding := check(evidence)) is not None]
    return tuple(sorted(found, key=lambda finding: _ORDER.index(finding.severity)))


def unknown(evidence: Evidence) -> tuple[str, ...]:
    """Names of what the system does not show, in words."""
    return tuple(_unknown(evidence))


def _unknown(evidence: Evidence) -> Iterator[str]:
    readings = {
        "CPU governor": evidence.governors,
        "turbo": evidence.turbo,
        "throttling": evidence.throttled_periods,
        "CPU pressure": evidence.stalled_share,
        "steal time": evidence.steal_share,
        "huge pages": evidence.huge_pages,
        "hardware threads": evidence.siblings,
        "swapping": evidence.swapped_pages,
        "load": evidence.load,
    }
    return (name for name, reading in readings.items() if reading is None)


def _throttling(evidence: Evidence) -> Finding | None:
    if not evidence.throttled_periods:
        return None
    share = "" if evidence.throttled_share is None else f", {100 * evidence.throttled_share:.0f}% of the run"
    return Finding(
        "throttled",
        f"the cgroup's quota stopped this run in {evidence.throttled_periods} periods{share}",
        "a stop of up to 100 ms falls into whatever is being timed",
        "run without a CPU limit: docker run without --cpus, Kubernetes without limits.cpu; or raise cpu.max of the cgroup",
        "bad",
    )


def _quota(evidence: Evidence) -> Finding | None:
    quota = evidence.quota_cores
    usable = len(evidence.pinned or evidence.cpus or ())
    if quota is None or not usable or quota >= usable:
        return None
    return Finding(
        "quota",
        f"the cgroup may use {quota:g} cores of the {usable} that it sees",
        "more than that at once, and the kernel stops all of it until the period ends",
        "raise the quota to the number of cores (cpu.max, docker --cpus, Kubernetes limits.cpu), or give fewer CPUs "
        "instead (docker --cpuset-cpus)",
        "warn" if quota >= 1 else "bad",
    )


def _swapping(evidence: Evidence) -> Finding | None:
    if not evidence.swapped_pages:
        return None
    return Finding(
        "swapping",
        f"{evidence.swapped_pages:,} pages went to or from swap during the run",
        "reading a page back takes as long as many operations",
        "free memory by stopping other programs, or sudo swapoff -a for the time of measuring",
        "bad",
    )


def _pressure(evidence: Evidence) -> Finding | None:
    share = evidence.stalled_share
    if share is None or share < 0.05:
        return None
    return Finding(
        "pressure",
        f"tasks waited for a CPU {100 * share:.0f}% of the time (/proc/pressure/cpu)",
        "more wants to run than there are CPUs, so that timed calls wait, and caches hold the data of others",
        "stop what else runs (top shows it), or keep it off one CPU with taskset or cpusets, and --pin to that CPU",
        "bad" if share >= 0.2 else "warn",
    )


def _preemptions(evidence: Evidence) -> Finding | None:
    share = evidence.preempted_share
    if share is None or share < 0.1:
        return None
    return Finding(
        "preempted",
        f"{100 * share:.0f}% of the timed batches had a preemption inside, or ran below full speed",
        "these batches are left out of the cost; where few are left, it rests on few",
        "--pin to a CPU that nothing else uses; best of all, boot with isolcpus= for that CPU",
        "bad" if share >= 0.5 else "warn",
    )


def _slow_core(evidence: Evidence) -> Finding | None:
    share = evidence.slow_share
    if share is None or share < 0.05:
        return None
    return Finding(
        "slow core",
        f"a fixed piece of work took over 5% longer than its best in {100 * share:.0f}% of readings",
        "another guest or program on the same physical core, or a lowered clock, slows whatever is timed; latencies hold it",
        "measure on a machine of your own, or on a kind with dedicated cores; keep the core's other thread idle",
        "bad" if share >= 0.3 else "warn",
    )


def _steal(evidence: Evidence) -> Finding | None:
    share = evidence.steal_share
    if share is None or share < 0.01:
        return None
    return Finding(
        "steal",
        f"the hypervisor gave {100 * share:.1f}% of the CPU time that was wanted to other guests",
        "the clock runs on while this machine does not",
        "measure on a machine of your own, or on a kind with dedicated CPUs",
        "bad" if share >= 0.05 else "warn",
    )


def _load(evidence: Evidence) -> Finding | None:
    cpus = len(evidence.online or evidence.cpus or ())
    if evidence.load is None or not cpus or evidence.load < 0.5 * cpus:
        return None
    return Finding(
        "load",
        f"{evidence.load:.2f} tasks ran or waited in the minute before, on {cpus} CPUs",
        "other work shares caches, memory and the CPUs' clock frequency, even where it never preempts",
        "wait until it is done, or stop it (top shows it)",
        "warn",
    )


def _governor(evidence: Evidence) -> Finding | None:
    others = [name for name in evidence.governors or () if name != "performance"]
    if not others:
        return None
    return Finding(
        "governor",
        f"the CPU frequency governor is {' and '.join(others)}",
        "the frequency follows the load, so that the first calls are slow and all depend on what ran before",
        "sudo cpupower frequency-set -g performance",
        "warn",
    )


def _clock(evidence: Evidence) -> Finding | None:
    # Elsewhere than on Linux the source is a function's name, of which nothing is known.
    if evidence.clock in _FAST_CLOCKS or "(" in evidence.clock:
        return None
    return Finding(
        "clock",
        f"the clock source is {evidence.clock}",
        "it is slower to read than the CPU's own counter, and each latency sample holds a reading",
        "where /sys/devices/system/clocksource/clocksource0/available_clocksource lists tsc: echo tsc | sudo tee "
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "warn",
    )


def _turbo(evidence: Evidence) -> Finding | None:
    if not evidence.turbo:
        return None
    return Finding(
        "turbo",
        "CPUs may go above their nominal frequency",
        "how far they go depends on heat and on what the other cores do",
        "Intel: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo; else: echo 0 | sudo tee "
        "/sys/devices/system/cpu/cpufreq/boost",
        "note",
    )


def _huge_pages(evidence: Evidence) -> Finding | None:
    if evidence.huge_pages != "always":
        return None
    return Finding(
        "huge pages",
        "transparent huge pages are always on",
        "whether a large buffer gets them depends on how fragmented memory is, and differs between processes",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        "note",
    )


def _siblings(evidence: Evidence) -> Finding | None:
    used = set(evidence.pinned or evidence.cpus or ())
    shared = [group for group in evidence.siblings or () if used & set(group)]
    if not shared:
        return None
    return Finding(
        "hardware threads",
        f"CPUs {' and '.join(cpu_list_text(group) for group in shared[:3])}{' and so on' * (len(shared) > 3)} share a core",
        "work on one slows the other by up to a half, and no counter of the kernel shows it",
        "keep the other thread of the core idle, or echo off | sudo tee /sys/devices/system/cpu/smt/control",
        "note",
    )


def _pinning(evidence: Evidence) -> Finding | None:
    cpus = evidence.cpus or ()
    if evidence.pinned is not None or len(cpus) < 2:
        return None
    # Most interrupts and other work go to the first CPUs.
    best = max(set(cpus).intersection(evidence.isolated or ()), default=cpus[-1])
    return Finding(
        "pinning",
        f"workers may run on any of the CPUs {cpu_list_text(cpus)}",
        "each move to another CPU starts with cold caches",
        f"--pin {best}",
        "note",
    )


_CHECKS: tuple[Callable[[Evidence], Finding | None], ...] = (
    _throttling,
    _swapping,
    _pressure,
    _preemptions,
    _slow_core,
    _steal,
    _quota,
    _load,
    _governor,
    _clock,
    _turbo,
    _huge_pages,
    _siblings,
    _pinning,
)
