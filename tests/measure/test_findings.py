"""Each reading that makes times move is found, with what to do; an unknown one never is."""

from __future__ import annotations

import dataclasses

import pytest

from zcser.measure.findings import Evidence, findings, unknown

QUIET = Evidence(
    clock="tsc",
    cpus=(0, 1),
    online=(0, 1),
    isolated=(),
    governors=("performance",),
    turbo=False,
    huge_pages="madvise",
    siblings=(),
    pinned=(1,),
    quota_cores=None,
    throttled_periods=0,
    throttled_share=0.0,
    stalled_share=0.01,
    steal_share=0.0,
    preempted_share=0.02,
    swapped_pages=0,
    load=0.3,
)


def changed(**readings):
    return dataclasses.replace(QUIET, **readings)


def test_quiet_machine_has_no_finding_and_nothing_unknown():
    assert findings(QUIET) == ()
    assert unknown(QUIET) == ()


def test_nothing_is_concluded_from_what_is_unknown():
    blind = Evidence(clock="tsc")
    assert findings(blind) == ()
    assert unknown(blind) == (
        "CPU governor",
        "turbo",
        "throttling",
        "CPU pressure",
        "steal time",
        "huge pages",
        "hardware threads",
        "swapping",
        "load",
    )


@pytest.mark.parametrize(
    ("readings", "name", "severity", "seen", "advice"),
    [
        (
            {"governors": ("performance", "powersave")},
            "governor",
            "warn",
            "powersave",
            "cpupower frequency-set -g perf",
        ),
        ({"turbo": True}, "turbo", "note", "nominal", "intel_pstate/no_turbo"),
        ({"quota_cores": 0.5}, "quota", "bad", "0.5 cores of the 1", "cpu.max"),
        ({"quota_cores": 1.5, "pinned": (0, 1)}, "quota", "warn", "1.5 cores of the 2", "cpu.max"),
        ({"throttled_periods": 3, "throttled_share": 0.25}, "throttled", "bad", "3 periods, 25%", "limits.cpu"),
        ({"throttled_periods": 3, "throttled_share": None}, "throttled", "bad", "3 periods", "limits.cpu"),
        ({"stalled_share": 0.05}, "pressure", "warn", "5% of the time", "--pin"),
        ({"stalled_share": 0.2}, "pressure", "bad", "20% of the time", "--pin"),
        ({"steal_share": 0.012}, "steal", "warn", "1.2%", "dedicated CPUs"),
        ({"steal_share": 0.3}, "steal", "bad", "30.0%", "dedicated CPUs"),
        ({"preempted_share": 0.1}, "preempted", "warn", "10% of the timed batches", "isolcpus"),
        ({"preempted_share": 0.9}, "preempted", "bad", "90% of the timed batches", "isolcpus"),
        ({"huge_pages": "always"}, "huge pages", "note", "always", "echo madvise | sudo tee /sys/kernel/mm/"),
        ({"clock": "hpet"}, "clock", "warn", "hpet", "echo tsc | sudo tee"),
        ({"siblings": ((1, 3),)}, "hardware threads", "note", "CPUs 1,3 share a core", "smt/control"),
        ({"pinned": None, "cpus": (0, 1, 2)}, "pinning", "note", "CPUs 0-2", "--pin 2"),
        ({"pinned": None, "cpus": (0, 1, 2), "isolated": (1, 7)}, "pinning", "note", "CPUs 0-2", "--pin 1"),
        ({"swapped_pages": 1200}, "swapping", "bad", "1,200 pages", "swapoff"),
        ({"load": 1.0}, "load", "warn", "1.00 tasks", "top"),
    ],
)
def test_reading_is_found_with_what_to_do(readings, name, severity, seen, advice):
    (found,) = findings(changed(**readings))
    assert (found.name, found.severity) == (name, severity)
    assert seen in found.seen
    assert advice in found.advice
    assert found.why


@pytest.mark.parametrize(
    "readings",
    [
        {"quota_cores": 2.0, "pinned": None, "cpus": (0,)},
        {"stalled_share": 0.049},
        {"steal_share": 0.009},
        {"preempted_share": 0.09},
        {"load": 0.99},
        {"huge_pages": "never"},
        {"clock": "arch_sys_counter"},
        # Not Linux: the name of a function, of which nothing is known.
        {"clock": "mach_absolute_time()"},
        # The sibling of a CPU that is not used.
        {"siblings": ((0, 2),)},
        # One CPU leaves nothing to pin to.
        {"pinned": None, "cpus": (0,)},
    ],
)
def test_harmless_reading_is_not_found(readings):
    assert findings(changed(**readings)) == ()


def test_worst_comes_first():
    found = findings(changed(turbo=True, load=9.0, swapped_pages=1, pinned=None))
    assert [finding.severity for finding in found] == ["bad", "warn", "note", "note"]
