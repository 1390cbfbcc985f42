"""Whole runs through real worker processes: what is kept, what is refused, and what happens when a worker dies."""

from __future__ import annotations

import dataclasses
import os
import platform
import selectors
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import zcser
from tests.measure import made
from zcser.measure import presets, process, state
from zcser.measure.plan import MeasureError, Request
from zcser.measure.result import load_result
from zcser.measure.runner import Event, run
from zcser.native import zcount

ONCE = dataclasses.replace(made.TINY, rounds=1)


@pytest.fixture(autouse=True)
def _tiny(monkeypatch):
    monkeypatch.setitem(presets.PRESETS, "quick", made.TINY)


@pytest.fixture
def once(monkeypatch):
    """For what one process of each codec shows: starting processes is what takes the time here."""
    monkeypatch.setitem(presets.PRESETS, "quick", ONCE)


def measure(*payloads, codecs=("json",), operations=("encode", "decode"), **more):
    return run(Request(payloads=payloads, codecs=codecs, operations=operations, **more))


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Where the run of `whole` leaves its samples."""
    return tmp_path_factory.mktemp("whole") / "samples.npz"


@pytest.fixture(scope="module")
def whole(samples):
    """One run with every operation, over a codec without views, one with, and one that cannot encode."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(presets.PRESETS, "quick", made.TINY)
        codecs = ("orjson", "protobuf", "simdjson", "header")
        return run(Request(payloads=(made.payload(), "batch-meta"), codecs=codecs, seed=3, samples=samples))


def test_a_run_is_complete_and_survives_its_file(whole, tmp_path):
    assert whole.complete
    whole.save(tmp_path / "r.json")
    assert load_result(tmp_path / "r.json") == whole


def test_every_measured_cell_has_one_cost_per_round_and_all_samples(whole):
    for cell in whole.cells:
        if cell.status == "ok" and "derived" not in cell.flags:
            assert len(cell.cost.process_p10_ns) == 2
            assert cell.latency.n == sum(count for _, count in cell.latency.histogram) == cell.gc.operations
            assert cell.cost.low_ns <= cell.cost.p10_ns <= cell.cost.high_ns


def test_no_cell_fails_and_what_is_missing_has_a_reason(whole):
    assert {cell.status for cell in whole.cells} == {"ok", "refused", "unsupported"}
    for cell in whole.cells:
        assert (cell.reason is None) == (cell.status == "ok")
        if cell.status != "ok":
            assert cell.cost is cell.latency is cell.allocations is None


def test_a_schema_that_a_codec_cannot_carry_is_refused_with_its_path(whole):
    cell = whole.cell("points", "header", "encode")
    assert cell.status == "refused"
    assert "Point/name" in cell.reason


def test_a_codec_without_encode_reads_what_another_wrote(whole):
    cell = whole.cell("points", "simdjson", "decode")
    assert cell.status == "ok"
    assert cell.encoded_by in {"json", "orjson"}
    assert whole.cell("points", "simdjson", "encode").status == "unsupported"


def test_operations_that_are_one_share_their_figures(whole):
    touch = whole.cell("points", "orjson", "touch-all")
    assert "same-as:decode" in touch.flags
    assert touch.cost == whole.cell("points", "orjson", "decode").cost
    read = whole.cell("points", "protobuf", "read-field")
    assert "same-as:view-field" in read.flags
    assert read.latency == whole.cell("points", "protobuf", "view-field").latency


def test_guard_is_the_difference_process_by_process(whole):
    guard = whole.cell("points", "orjson", "guard")
    on = whole.cell("points", "orjson", "encode").cost
    off = whole.cell("points", "orjson", "encode-unguarded").cost
    rounds = list(zip(on.process_p10_ns, off.process_p10_ns, on.undisturbed, off.undisturbed, strict=True))
    undisturbed = [(a, b) for a, b, *both in rounds if all(both)] or [(a, b) for a, b, *_ in rounds]
    assert guard.cost.process_p10_ns == tuple(a - b for a, b in undisturbed)
    assert guard.flags == ("derived",)
    assert guard.latency is None


def test_sizes_are_those_of_the_encoded_values(whole):
    codec = zcser.codec("orjson", made.Point)
    sizes = sorted(len(codec.encode(made.point(number))) for number in range(made.TINY.rotation))
    size = whole.cell("points", "orjson", "encode").size
    assert (size.min, size.max) == (sizes[0], sizes[-1])
    assert size.wire_bytes == sizes[3]
    assert whole.cell("points", "orjson", "decode").size is None


def test_baselines_are_in_every_run(whole):
    rows = [cell for cell in whole.cells if cell.codec == "baseline"]
    assert {cell.operation for cell in rows} == {"clock", "empty", "memcpy-1k", "memcpy-64k", "memcpy-1m", "struct"}
    assert all(cell.status == "ok" and cell.allocations is None for cell in rows)


def test_blindness_follows_the_library(whole):
    native = zcount.load() is not None
    assert (whole.cell("points", "protobuf", "decode").allocations.blind is None) == native
    assert whole.cell("points", "orjson", "decode").allocations.blind is None


def test_noise_is_told_per_process(whole):
    assert sorted((noise.codec, noise.round) for noise in whole.noise) == sorted(
        (codec, number) for codec in ("baseline", "orjson", "protobuf", "simdjson", "header") for number in (1, 2)
    )


def test_values_are_rotated_and_counted(whole):
    assert whole.cell("points", "orjson", "encode").values == made.TINY.rotation
    assert next(payload for payload in whole.payloads if payload.name == "points").values == made.TINY.rotation


@pytest.fixture(scope="module")
def strange():
    """One run over payloads that misbehave and one that does not: its events and its result."""
    events: list[Event] = []
    payloads = (
        made.payload(made.killed_at(0), "deadly"),
        made.payload(made.raising, "raising"),
        made.payload(made.misfit, "misfit"),
        made.payload(name="copied", rotation="copies", distinct=2),
        made.payload(),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(presets.PRESETS, "quick", made.TINY)
        request = Request(payloads=payloads, codecs=("json",), operations=("encode", "decode"), seed=1)
        return events, run(request, events.append)


def test_copies_are_called_hot(strange):
    _, result = strange
    cell = result.cell("copied", "json", "encode")
    assert "hot" in cell.flags
    assert cell.values == 2
    assert next(payload for payload in result.payloads if payload.name == "copied").values == 2


def test_progress_is_told_between_workers_and_malloc_is_counted_where_nothing_is_timed(monkeypatch):
    preloaded = []
    monkeypatch.setattr(process, "preload_environment", lambda env: preloaded.append(1) or dict(env))
    events: list[Event] = []
    run(Request(payloads=(made.payload(),), codecs=("json",), operations=("encode",)), events.append)
    # One worker of one codec; two rounds of two workers time.
    assert len(preloaded) == 1
    assert [(event.round, event.codec, event.done) for event in events] == [
        (1, "json", 0),
        (1, "baseline", 1),
        (2, "baseline", 2),
        (2, "json", 3),
        (2, None, 4),
    ]
    assert all(event.workers == 4 for event in events)
    looks = [event.first_look for event in events]
    assert [look is not None and (look.codec, list(look.costs_ns)) for look in looks] == [
        False, ("json", ["encode"]), False, False, False
    ]  # fmt: skip


def test_a_worker_that_dies_fails_its_payload_and_the_run_goes_on(strange):
    events, result = strange
    cell = result.cell("deadly", "json", "encode")
    assert cell.status == "failed"
    assert cell.reason == "worker died: signal 11 (SIGSEGV); its last words: about to go"
    assert result.cell("points", "json", "encode").status == "ok"
    assert result.complete
    assert any(event.trouble == f"json: {cell.reason}" for event in events)


@pytest.mark.usefixtures("once")
def test_workers_that_die_in_every_cell_fail_every_cell_and_end():
    # Value 0 is enough for the round trip; the cells themselves need more and die of it.
    result = measure(made.payload(made.killed_at(4)), operations=("encode", "decode", "convert"))
    assert {cell.status for cell in result.cells if cell.codec == "json"} == {"failed"}
    assert all("SIGSEGV" in cell.reason for cell in result.cells if cell.codec == "json")


def test_a_worker_that_hangs_is_ended(monkeypatch, tmp_path):
    hangs = tmp_path / "hangs"
    monkeypatch.setenv(made.HANGS, str(hangs))

    class Impatient(selectors.DefaultSelector):
        """Waits until something is there, or the worker has said in a file that nothing will be."""

        def select(self, timeout=None):
            assert timeout == made.TINY.silence_s
            while not (found := super().select(0.02)):
                if hangs.exists():
                    hangs.unlink()
                    break
            return found

    monkeypatch.setattr(process.selectors, "DefaultSelector", Impatient)
    result = measure(made.payload(made.hanging, "stuck"), made.payload())
    for operation in ("encode", "decode"):
        assert result.cell("stuck", "json", operation).reason == "worker hung: it said nothing for 120 s"
        assert result.cell("points", "json", operation).status == "ok"


def test_a_payload_that_raises_or_does_not_fit_has_a_reason_in_one_line(strange):
    _, result = strange
    raising = result.cell("raising", "json", "encode")
    assert (raising.status, raising.reason) == ("failed", "RuntimeError: no value today")
    misfit = result.cell("misfit", "json", "encode")
    assert misfit.status == "refused"
    assert "/xs/0" in misfit.reason


@pytest.mark.usefixtures("once")
@pytest.mark.further
def test_what_a_payload_prints_does_not_disturb_the_messages(capfd):
    assert measure(made.payload(made.talkative)).cell("points", "json", "decode").status == "ok"
    assert "standard output" not in capfd.readouterr().out


def test_raw_samples_are_kept_in_order_where_asked(whole, samples):
    with np.load(samples) as found:
        parts = [found[f"points/orjson/decode/{number}"] for number in (1, 2)]
    latency = whole.cell("points", "orjson", "decode").latency
    assert sum(map(len, parts)) == latency.n
    assert max(part.max() for part in parts) == latency.max_ns


def test_samples_that_cannot_be_written_are_an_error_before_anything_is_measured(tmp_path):
    with pytest.raises(MeasureError, match="cannot write"):
        measure(made.payload(), samples=tmp_path / "missing" / "samples.npz")


def test_an_interrupt_keeps_what_was_measured():
    def interrupt(event: Event) -> None:
        if event.done == 1:
            raise KeyboardInterrupt

    result = run(Request(payloads=(made.payload(),), codecs=("json", "msgpack"), operations=("encode",)), interrupt)
    assert not result.complete
    cell = result.cell("points", "json", "encode")
    assert (cell.status, len(cell.cost.process_p10_ns)) == ("ok", 1)
    assert "few-processes" in cell.flags
    assert result.cell("points", "msgpack", "encode") is None


def test_an_interrupt_while_a_worker_runs_ends_the_worker():
    workers = _children()
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        result = measure(made.payload(made.hanging, "stuck"))
    finally:
        timer.cancel()
    assert not result.complete
    assert _children() == workers


def test_a_worker_goes_when_its_runner_is_killed():
    script = "from tests.measure import made, test_runner; print(1, flush=True); test_runner.stuck_run()"
    runner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    runner.stdout.readline()
    deadline = time.monotonic() + 15
    while not (workers := _children(runner.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert workers
    time.sleep(1)
    runner.kill()
    runner.wait()
    runner.stdout.close()
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def stuck_run() -> None:
    """A run whose only worker never ends; for the test above."""
    presets.PRESETS["quick"] = made.TINY
    measure(made.payload(made.hanging, "stuck"))


def _children(parent: int | None = None) -> set[int]:
    pid = os.getpid() if parent is None else parent
    found = set()
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        # A thread may end between its listing and its reading.
        with suppress(OSError):
            found |= set(map(int, children.read_text().split()))
    return found


@pytest.mark.usefixtures("once")
@pytest.mark.further
def test_a_live_heap_is_recorded(strange):
    result = measure(made.payload(), live_objects=20_000)
    assert result.settings.live_objects == 20_000
    assert "20,000 live objects" in result.method.gc
    assert result.cell("points", "json", "decode").status == "ok"
    assert strange[1].settings.live_objects == 0


@pytest.mark.usefixtures("once")
@pytest.mark.further
def test_exact_counts_are_the_same_in_two_runs(strange):
    runs = strange[1], measure(made.payload(), seed=2)
    for operation in ("encode", "decode"):
        found = [run_.cell("points", "json", operation).allocations for run_ in runs]
        if found[0].calls == found[1].calls and found[0].python_allocations is not None:
            assert dataclasses.replace(found[0], native_peak_bytes=0) == dataclasses.replace(
                found[1], native_peak_bytes=0
            )


@pytest.mark.further
def test_processes_that_must_be_come_before_the_bounds_on_time(monkeypatch):
    bounded = dataclasses.replace(made.TINY, rounds=3, least_rounds=2, cap_ns=1, budget_s=1e-6)
    monkeypatch.setitem(presets.PRESETS, "quick", bounded)
    result = measure(made.payload(), operations=("encode",))
    assert {len(cell.cost.process_p10_ns) for cell in result.cells} == {2}
    found = result.cell("points", "json", "encode")
    assert {"capped", "few-processes"} <= set(found.flags)
    # Without time of its own a process takes a single sample.
    assert found.latency.n == 2


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc's state is set by variables of glibc")
@pytest.mark.further
def test_large_messages_are_timed_in_both_states_of_malloc(monkeypatch):
    monkeypatch.setitem(presets.PRESETS, "quick", dataclasses.replace(ONCE, both_mallocs=True))
    result = measure("request-1m", made.payload(), codecs=("msgpack",), operations=("decode",))
    assert len(result.cell("request-1m", "msgpack", "decode").fresh_cost.process_p10_ns) == 1
    assert result.cell("points", "msgpack", "decode").fresh_cost is None
    assert len(result.noise) == 2


@pytest.mark.further
def test_a_malloc_that_maps_anew_is_asked_for_in_the_environment(monkeypatch):
    seen = []
    popen = subprocess.Popen

    def note(*arguments, **more):
        seen.append(more["env"].get("MALLOC_MMAP_THRESHOLD_"))
        return popen(*arguments, **more)

    monkeypatch.setattr(process.subprocess, "Popen", note)
    monkeypatch.setitem(presets.PRESETS, "quick", dataclasses.replace(ONCE, both_mallocs=True))
    monkeypatch.setattr(state, "LARGE_BYTES", 1)
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.delenv("MALLOC_MMAP_THRESHOLD_", raising=False)
    measure(made.payload(), operations=("encode",))
    # The check, the round, the round once more, and the baselines.
    assert seen == [None, None, "131072", None]
