"""CPU lists, and that a worker is born where it shall run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zcser.measure import process
from zcser.measure.pinning import Pin, PinError, cpu_list_text, make_pin, parse_cpu_list, pin_record, pinned
from zcser.measure.plan import Request, make_plan
from zcser.measure.runner import run

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not pin")

LISTS = [("2", (2,)), ("0-3,5", (0, 1, 2, 3, 5)), ("0,2-3", (0, 2, 3))]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Two nodes; this process may use CPUs 1 to 5. Returns the folder that describes the nodes."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 2, 3, 4, 5})
    for node, cpus in (("node0", "0-3"), ("node1", "4-7"), ("node2", "8-9"), ("node3", "")):
        (tmp_path / node).mkdir()
        (tmp_path / node / "cpulist").write_text(f"{cpus}\n")
    (tmp_path / "possible").write_text("0-3\n")
    return tmp_path


@pytest.mark.parametrize(("text", "cpus"), [*LISTS, ("7-7", (7,)), (" 1 , 0 ", (0, 1)), ("1,1,0-1", (0, 1))])
def test_list_is_read_as_linux_writes_it(text, cpus):
    assert parse_cpu_list(text) == cpus


@pytest.mark.parametrize(("text", "cpus"), [*LISTS, ("", ())])
def test_list_is_written_as_linux_writes_it(text, cpus):
    assert cpu_list_text(reversed(cpus)) == text


@pytest.mark.parametrize("text", ["", "a", "1,", "3-1", "-1", "1-2-3", "0x1", "1.0", "65536", "0-9999999", "٣"])
def test_what_is_no_list_is_an_error_that_shows_it(text):
    with pytest.raises(PinError, match="write it like 2 or 0-3,5") as raised:
        parse_cpu_list(text)
    assert repr(text) in str(raised.value)


def test_nothing_asked_for_pins_nothing(machine):
    assert make_pin(nodes=machine) is None
    assert pin_record(None) is None


def test_cpus_are_those_asked_for(machine):
    assert make_pin((5, 2), nodes=machine) == Pin((2, 5))


def test_node_gives_those_of_its_cpus_that_may_be_used(machine):
    pin = make_pin((), 1, nodes=machine)
    assert (pin.cpus, pin.node) == ((4, 5), 1)
    assert make_pin((4,), 1, nodes=machine).cpus == (4,)


@pytest.mark.parametrize(
    ("cpus", "node", "message"),
    [
        ((0, 6, 7), None, "cannot pin to CPU 0,6-7: this process may use 1-5"),
        ((3, 4), 1, "cannot pin to CPU 3: NUMA node 1 has 4-7"),
        ((6,), 1, "cannot pin to CPU 6: this process may use 1-5"),
        ((), 2, "this process may use no CPU of NUMA node 2, only 1-5"),
        ((), 3, "this process may use no CPU of NUMA node 3, only 1-5"),
        ((1,), 3, "cannot pin to CPU 1: NUMA node 3 has no CPU"),
        ((), 9, "there is no NUMA node 9: this machine has 0-3"),
    ],
)
def test_what_cannot_be_had_is_an_error_that_says_what_can(machine, cpus, node, message):
    with pytest.raises(PinError) as raised:
        make_pin(cpus, node, nodes=machine)
    assert str(raised.value) == message


def test_system_without_nodes_says_so(tmp_path):
    with pytest.raises(PinError, match="this system names none"):
        make_pin((), 0, nodes=tmp_path)


def test_plan_refuses_a_cpu_that_is_not_there_before_anything_starts():
    with pytest.raises(PinError, match="cannot pin to CPU 65535"):
        make_plan(Request(payloads=("llm-chunk",), codecs=("json",), pin=(65535,)))


def test_child_has_the_cpus_and_the_parent_has_its_own_back():
    before = os.sched_getaffinity(0)
    cpu = max(before)
    with pinned(Pin((cpu,))):
        script = "import os; print(sorted(os.sched_getaffinity(0)))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"[{cpu}]\n"
    assert os.sched_getaffinity(0) == before


def test_parent_has_its_cpus_back_after_an_error():
    before = os.sched_getaffinity(0)
    with pytest.raises(RuntimeError, match="inside"), pinned(Pin((min(before),))):
        raise RuntimeError("inside")
    assert os.sched_getaffinity(0) == before


def test_cpu_that_went_away_is_an_error():
    with pytest.raises(PinError, match="cannot pin to CPU 65535"), pinned(Pin((65535,))):
        pass


def test_runner_starts_its_workers_inside_the_pin(monkeypatch):
    before = os.sched_getaffinity(0)
    seen = []

    def started(*_, **__):
        seen.append(os.sched_getaffinity(0))
        raise InterruptedError

    monkeypatch.setattr(process.subprocess, "Popen", started)
    with pytest.raises(InterruptedError):
        run(Request(payloads=("llm-chunk",), codecs=("json",), pin=(max(before),)))
    assert seen == [{max(before)}]
    assert os.sched_getaffinity(0) == before


def test_child_has_the_memory_of_the_node_and_the_parent_its_own_policy():
    maps = Path("/proc/self/numa_maps")
    if not maps.exists():
        pytest.skip("the kernel knows no NUMA")
    pin = make_pin((), 0)
    if not pin.binds_memory:
        pytest.skip("the system refuses to bind memory")
    before = maps.read_text().split()[1]
    with pinned(pin):
        script = "print(open('/proc/self/numa_maps').readline())"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == "bind:0"
    assert maps.read_text().split()[1] == before


@pytest.mark.parametrize(
    ("pin", "record"),
    [
        (Pin((0, 1, 4)), {"cpus": "0-1,4"}),
        (Pin((2,), 1, binds_memory=True), {"cpus": "2", "numa_node": 1, "memory": "of the node only"}),
        (Pin((2,), 1), {"cpus": "2", "numa_node": 1, "memory": "not bound: CPUs of the node only"}),
    ],
)
def test_record_says_what_was_bound(pin, record):
    assert pin_record(pin) == record
