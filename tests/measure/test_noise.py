"""Counters of the kernel out of files of both kinds of cgroup, and settings out of a hand-made /sys."""

from __future__ import annotations

import os

import pytest

from zcser.measure import noise
from zcser.measure.env import Tuning, tuning
from zcser.measure.noise import Disturbance, MachineCounters, disturbance, load_average, machine_counters

STAT = "cpu  100 20 30 4000 50 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n"


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 42\n", 3),
        ("nr_periods 9\nnr_throttled 4\nthrottled_time 9000\n", 4),
        ("usage_usec 5\n", None),
        (None, None),
    ],
)
def test_throttled_periods_are_read_from_both_kinds_of_cgroup(tmp_path, monkeypatch, text, periods):
    if text is not None:
        (tmp_path / "cpu.stat").write_text(text)
    monkeypatch.setattr(noise, "_cgroups", lambda: [tmp_path / "none", tmp_path])
    assert disturbance().throttled_periods == periods


def test_difference_of_throttled_periods_is_unknown_where_one_of_them_is():
    before = Disturbance(0, 0, None, None, 2)
    assert Disturbance(0, 0, None, None, 7).since(before).throttled_periods == 5
    assert Disturbance(0, 0, None, None, None).since(before).throttled_periods is None


def test_machine_counters_are_those_of_proc_stat_and_vmstat(tmp_path):
    (tmp_path / "stat").write_text(STAT)
    (tmp_path / "vmstat").write_text("nr_free_pages 1\npswpin 5\npswpout 6\n")
    # user + nice + system + irq + softirq; idle and waiting for disks are not work.
    assert machine_counters(tmp_path) == MachineCounters(100 + 20 + 30 + 6 + 7, 8, 11)


def test_what_proc_does_not_tell_is_unknown(tmp_path):
    assert machine_counters(tmp_path) == MachineCounters(None, None, None)
    assert load_average(tmp_path) is None
    # Kernels before 2.6.11 count no steal time.
    (tmp_path / "stat").write_text("cpu  1 2 3 4 5 6 7\n")
    (tmp_path / "vmstat").write_text("pswpin 5\n")
    assert machine_counters(tmp_path) == MachineCounters(1 + 2 + 3 + 6 + 7, None, None)


def test_load_average_is_that_of_the_last_minute(tmp_path):
    (tmp_path / "loadavg").write_text("1.25 0.50 0.10 2/87 16100\n")
    assert load_average(tmp_path) == 1.25


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Write files below a folder that stands for /sys; this process may use CPUs 0 and 2."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2}, raising=False)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


CPU = "devices/system/cpu"


def test_system_that_shows_nothing_leaves_all_unknown(system):
    assert tuning(system()) == Tuning((0, 2), None, None, None, None, None, None)


def test_settings_are_those_of_the_usable_cpus(system):
    found = tuning(
        system(
            **{
                f"{CPU}/online": "0-3\n",
                f"{CPU}/isolated": "\n",
                f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave\n",
                f"{CPU}/cpu1/cpufreq/scaling_governor": "ondemand\n",
                f"{CPU}/cpu2/cpufreq/scaling_governor": "performance\n",
                f"{CPU}/cpu0/topology/thread_siblings_list": "0-1\n",
                f"{CPU}/cpu2/topology/thread_siblings_list": "2\n",
                "kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
            }
        )
    )
    assert found == Tuning((0, 2), (0, 1, 2, 3), (), ("performance", "powersave"), None, "madvise", ((0, 1),))


def test_one_hardware_thread_per_core_is_known_and_not_unknown(system):
    assert tuning(system(**{f"{CPU}/cpu0/topology/thread_siblings_list": "0\n"})).siblings == ()


@pytest.mark.parametrize(
    ("files", "turbo"),
    [
        ({"intel_pstate/no_turbo": "0\n"}, True),
        ({"intel_pstate/no_turbo": "1\n"}, False),
        ({"cpufreq/boost": "1\n"}, True),
        ({"cpufreq/boost": "0\n"}, False),
        ({"intel_pstate/no_turbo": "1\n", "cpufreq/boost": "1\n"}, False),
        ({"cpufreq/boost": "?\n"}, None),
    ],
)
def test_turbo_is_read_from_either_switch(system, files, turbo):
    assert tuning(system(**{f"{CPU}/{name}": text for name, text in files.items()})).turbo is turbo
