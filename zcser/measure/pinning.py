"""Workers on chosen CPUs, and on the memory of one NUMA node.

1. What cannot be had is an error before anything starts: a CPU that this process may not use, a node that is not there.
2. A worker inherits its CPUs and its memory policy at birth, from the thread that starts it: nothing runs unpinned for a
   while, and no code runs between fork and exec. The starting thread has its own back at once.
3. Memory is bound through the system call itself, since the C library has no function for it. Where the system refuses,
   the CPUs of the node are used alone, and the record says so.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from zcser.core.errors import ZcserError

__all__ = ["Pin", "PinError", "cpu_list_text", "make_pin", "parse_cpu_list", "pin_record", "pinned"]

_NODES = Path("/sys/devices/system/node")

_MAX_CPUS = 1 << 16
"""Beyond what any kernel is built for; bounds what a range in a list may ask for."""

_CALLS = {"x86_64": (238, 239), "aarch64": (237, 236)}
"""Numbers of set_mempolicy and get_mempolicy, from Linux's arch/x86/entry/syscalls/syscall_64.tbl and
include/uapi/asm-generic/unistd.h."""

_MPOL_BIND = 2
_MASK_BITS = 1024
_Mask = ctypes.c_ulong * (_MASK_BITS // (8 * ctypes.sizeof(ctypes.c_ulong)))


class PinError(ZcserError, ValueError):
    """A CPU list or a NUMA node cannot be used; the message says which are possible."""


@dataclass(frozen=True, slots=True)
class Pin:
    """Where workers run.

    Attributes
    ----------
    cpus
        Ascending, at least one.
    node
        The NUMA node that they were chosen from, None where none was asked for.
    binds_memory
        Whether the node's memory is bound too.
    """

    cpus: tuple[int, ...]
    node: int | None = None
    binds_memory: bool = False


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """CPU numbers from a list as Linux writes it: ``"2"``, ``"0-3,5"``.

    Returns
    -------
    tuple of int
        Ascending, each once.

    Raises
    ------
    PinError
        `text` is no such list.
    """
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part, re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last >= _MAX_CPUS:
            raise PinError(f"{text!r} is not a list of CPUs; write it like 2 or 0-3,5")
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def cpu_list_text(cpus: Iterable[int]) -> str:
    """The shortest list of some CPUs, as Linux writes it."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def make_pin(cpus: tuple[int, ...] = (), node: int | None = None, *, nodes: Path = _NODES) -> Pin | None:
    """Check a wish.

    Parameters
    ----------
    cpus
        CPUs; empty: all of the node.
    node
        NUMA node; None: any.
    nodes
        Where the system describes its nodes.

    Returns
    -------
    Pin or None
        None where nothing was asked for.

    Raises
    ------
    PinError
        This system does not pin, a CPU is not this process's to use or not the node's, or there is no such node.
    """
    if not cpus and node is None:
        return None
    if not hasattr(os, "sched_setaffinity"):
        raise PinError(f"{platform.system()} does not let a process choose its CPUs; leave --pin and --numa out")
    usable = os.sched_getaffinity(0)
    if node is None:
        return Pin(_within(cpus, usable, "this process may use"))
    owned = _node_cpus(node, nodes)
    chosen = _within(cpus, owned, f"NUMA node {node} has") if cpus else owned & usable
    if not chosen:
        raise PinError(f"this process may use no CPU of NUMA node {node}, only {cpu_list_text(usable)}")
    pin = Pin(_within(chosen, usable, "this process may use"), node)
    return replace(pin, binds_memory=_memory_can_be_bound(node))


def _within(cpus: Iterable[int], possible: set[int], who: str) -> tuple[int, ...]:
    wanted = set(cpus)
    if wanted - possible:
        raise PinError(
            f"cannot pin to CPU {cpu_list_text(wanted - possible)}: {who} {cpu_list_text(possible) or 'no CPU'}"
        )
    return tuple(sorted(wanted))


def _node_cpus(node: int, nodes: Path) -> set[int]:
    try:
        text = (nodes / f"node{node}" / "cpulist").read_text().strip()
    except OSError:
        found = sorted(int(path.name.removeprefix("node")) for path in nodes.glob("node[0-9]*"))
        known = f"this machine has {cpu_list_text(found)}" if found else "this system names none"
        raise PinError(f"there is no NUMA node {node}: {known}") from None
    return set(parse_cpu_list(text)) if text else set()


@contextlib.contextmanager
def pinned(pin: Pin | None) -> Iterator[None]:
    """What this thread starts inside the block runs where `pin` says; afterwards the thread is as it was.

    Raises
    ------
    PinError
        The CPUs cannot be used any more: one went offline, or the process was confined since `make_pin`.
    """
    if pin is None:
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, pin.cpus)
    except OSError as error:
        raise PinError(f"cannot pin to CPU {cpu_list_text(pin.cpus)}: {error.strerror or error}") from None
    try:
        with _memory_of(pin.node) if pin.binds_memory and pin.node is not None else contextlib.nullcontext():
            yield
    finally:
        os.sched_setaffinity(0, before)


def pin_record(pin: Pin | None) -> dict[str, Any] | None:
    """What a result file keeps of a pin."""
    if pin is None:
        return None
    record: dict[str, Any] = {"cpus": cpu_list_text(pin.cpus)}
    if pin.node is not None:
        record["numa_node"] = pin.node
        record["memory"] = "of the node only" if pin.binds_memory else "not bound: CPUs of the node only"
    return record


@contextlib.contextmanager
def _memory_of(node: int) -> Iterator[None]:
    """Memory of the thread from one node; raises OSError where the system refuses."""
    if platform.machine() not in _CALLS or node >= _MASK_BITS:
        raise OSError("the numbers of the system calls are not known here")
    set_policy, get_policy = _CALLS[platform.machine()]
    mode, mask = ctypes.c_int(), _Mask()
    _call(get_policy, ctypes.byref(mode), mask, ctypes.c_ulong(_MASK_BITS), None, ctypes.c_ulong(0))
    wanted = _Mask()
    word_bits = 8 * ctypes.sizeof(ctypes.c_ulong)
    wanted[node // word_bits] = 1 << node % word_bits
    _call(set_policy, ctypes.c_int(_MPOL_BIND), wanted, ctypes.c_ulong(_MASK_BITS))
    try:
        yield
    finally:
        _call(set_policy, mode, mask, ctypes.c_ulong(_MASK_BITS))


def _call(number: int, *arguments: Any) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall(ctypes.c_long(number), *arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _memory_can_be_bound(node: int) -> bool:
    try:
        with _memory_of(node):
            return True
    except OSError:
        return False
