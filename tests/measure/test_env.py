"""The environment names software and machine kind, and nothing that belongs to this machine alone."""

from __future__ import annotations

import dataclasses
import json
import platform
import socket
from pathlib import Path

import numpy as np
import pytest

from zcser import registry
from zcser.measure import noise
from zcser.measure.env import environment, python_name
from zcser.measure.pinning import Pin


def test_versions_are_those_of_the_running_software():
    found = environment([registry.info("json")])
    assert found.libraries["numpy"] == np.__version__
    assert platform.python_version() in found.libraries["json"]
    assert found.python["version"] == platform.python_version()
    assert found.cores >= 1
    assert found.kernel.startswith(platform.system())


def test_a_free_threaded_build_is_told_from_one_that_runs_without_the_lock(monkeypatch):
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: 1 if name == "Py_GIL_DISABLED" else None)
    monkeypatch.setattr("sys._is_gil_enabled", lambda: True, raising=False)
    found = environment([]).python
    assert (found["free_threaded"], found["gil"]) == (True, True)
    assert python_name(found) == f"CPython {platform.python_version()} free-threaded, with the GIL"
    monkeypatch.setattr("sys._is_gil_enabled", lambda: False, raising=False)
    assert environment([]).python["gil"] is False
    # Python 3.12 and older know neither.
    monkeypatch.setattr("sysconfig.get_config_var", lambda _: None)
    monkeypatch.delattr("sys._is_gil_enabled")
    found = environment([]).python
    assert (found["free_threaded"], found["gil"]) == (False, True)
    assert python_name(found) == f"CPython {platform.python_version()}"


def test_place_of_the_workers_is_recorded():
    assert environment([], Pin((0, 1), 0)).pin == {
        "cpus": "0-1",
        "numa_node": 0,
        "memory": "not bound: CPUs of the node only",
    }
    assert environment([]).pin is None


def test_no_name_or_path_of_the_machine_is_told(monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/opt/secret/libjemalloc.so.2 /home/me/x.so")
    monkeypatch.setenv("MALLOC_ARENA_MAX", "2")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    found = environment([])
    assert found.malloc == {"LD_PRELOAD": "libjemalloc.so.2 x.so", "MALLOC_ARENA_MAX": "2"}
    assert found.python["hash_seed"] == "7"
    text = json.dumps(dataclasses.asdict(found))
    assert socket.gethostname() not in text
    for part in ("/home", "/opt", str(Path.cwd())):
        assert part not in text


@pytest.mark.parametrize(
    ("files", "cores", "throttled_us"),
    [
        ({"cpu.max": "150000 100000\n", "cpu.stat": "usage_usec 5\nthrottled_usec 42\n"}, 1.5, 42),
        ({"cpu.max": "max 100000\n", "cpu.stat": "throttled_usec 0\n"}, None, 0),
        (
            {"cpu.cfs_quota_us": "50000\n", "cpu.cfs_period_us": "100000\n", "cpu.stat": "throttled_time 9000\n"},
            0.5,
            9,
        ),
        ({"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, None, None),
        ({}, None, None),
    ],
)
def test_quota_and_throttling_are_read_from_both_kinds_of_cgroup(tmp_path, monkeypatch, files, cores, throttled_us):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(noise, "_cgroups", lambda: [tmp_path / "none", tmp_path])
    assert noise.quota_cores() == cores
    assert noise.disturbance().throttled_us == throttled_us
