"""The machine and the software of a run, in words that another reader can compare.

1. Nothing that names the machine, its user or a path of it is read.
2. What the system does not tell is None or "unknown", never a guess.
3. It is quick: py-cpuinfo, which takes a second, is asked only where /proc/cpuinfo has no model name.
"""

from __future__ import annotations

import gc
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zcser.core.codec import CodecInfo
from zcser.measure import clock
from zcser.measure.context import Environment
from zcser.measure.noise import quota_cores
from zcser.measure.pinning import Pin, PinError, parse_cpu_list, pin_record

__all__ = ["Tuning", "environment", "python_name", "python_record", "tuning"]

_MALLOC = re.compile(r"(MALLOC_|GLIBC_TUNABLES$|PYTHONMALLOC|MIMALLOC_|TCMALLOC_|LD_PRELOAD$)")


@dataclass(frozen=True, slots=True)
class Tuning:
    """Settings of the machine that make times move. None: the system does not show it.

    Attributes
    ----------
    cpus
        CPUs that this process may use.
    online, isolated
        CPUs of the machine that run, and those kept free of other tasks.
    governors
        Names of the frequency governors of `cpus`, each once.
    turbo
        Whether CPUs may go above their nominal frequency.
    huge_pages
        Mode of transparent huge pages: "always", "madvise" or "never".
    siblings
        Hardware threads of one core, for each core that has several and at least one of `cpus`.
    """

    cpus: tuple[int, ...] | None
    online: tuple[int, ...] | None
    isolated: tuple[int, ...] | None
    governors: tuple[str, ...] | None
    turbo: bool | None
    huge_pages: str | None
    siblings: tuple[tuple[int, ...], ...] | None


def tuning(system: Path = Path("/sys")) -> Tuning:
    """Read the settings; the files are those of the kernel's Documentation/ABI for /sys/devices/system/cpu."""
    folder = system / "devices/system/cpu"
    cpus = tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else None
    governors = [_text(folder / f"cpu{cpu}/cpufreq/scaling_governor") for cpu in cpus or ()]
    shared = [_cpus(folder / f"cpu{cpu}/topology/thread_siblings_list") for cpu in cpus or ()]
    modes = re.search(r"\[(\w+)\]", _text(system / "kernel/mm/transparent_hugepage/enabled") or "")
    return Tuning(
        cpus=cpus,
        online=_cpus(folder / "online"),
        isolated=_cpus(folder / "isolated"),
        governors=tuple(sorted({name for name in governors if name})) or None,
        turbo=_turbo(folder),
        huge_pages=modes[1] if modes else None,
        siblings=tuple(sorted({group for group in shared if group and len(group) > 1})) if any(shared) else None,
    )


def _cpus(path: Path) -> tuple[int, ...] | None:
    text = _text(path)
    if not text:
        # An empty list is one, as that of isolated CPUs mostly is.
        return None if text is None else ()
    try:
        return parse_cpu_list(text)
    except PinError:
        return None


def _turbo(folder: Path) -> bool | None:
    # Intel's driver has a switch against it, all others one for it.
    against, for_it = _text(folder / "intel_pstate/no_turbo"), _text(folder / "cpufreq/boost")
    return {"0": True, "1": False}.get(against) if against else {"1": True, "0": False}.get(for_it or "")


def environment(codecs: Iterable[CodecInfo], pin: Pin | None = None) -> Environment:
    """Describe this machine, the libraries of some codecs, and where workers were pinned to."""
    return Environment(
        cpu=_cpu_model(),
        cores=_cores(),
        quota_cores=quota_cores(),
        memory_bytes=_memory_bytes(),
        governor=_text(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        clock=clock.source(),
        clock_lattice_ns=clock.lattice_ns(),
        kernel=f"{platform.system()} {platform.release()}",
        libc=" ".join(part for part in platform.libc_ver() if part) or "unknown",
        malloc={name: _named(value) for name, value in sorted(os.environ.items()) if _MALLOC.match(name)},
        python=python_record(),
        libraries={
            "numpy": np.__version__,
            **{info.name: f"{info.library} {info.version} ({info.implementation})" for info in codecs},
        },
        pin=pin_record(pin),
    )


def _named(value: str) -> str:
    # LD_PRELOAD holds paths; which library it is matters, where it lies does not.
    return re.sub(r"[^\s:]*/", "", value)


def python_record() -> dict[str, Any]:
    """What `Environment.python` says of the running interpreter."""
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "build": f"{platform.python_compiler()}, {' '.join(platform.python_build())}",
        "hash_seed": os.environ.get("PYTHONHASHSEED", "random"),
        "gc_thresholds": list(gc.get_threshold()),
        # The build and the present state are two things: an extension that is not ready for it brings the lock back.
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "gil": bool(getattr(sys, "_is_gil_enabled", lambda: True)()),
    }


def python_name(python: Mapping[str, Any]) -> str:
    """An interpreter in few words, of what `python_record` has: ``"CPython 3.14.0 free-threaded"``."""
    name = f"{python.get('implementation', 'Python')} {python.get('version', '?')}"
    if not python.get("free_threaded"):
        return name
    return f"{name} free-threaded{', with the GIL' if python.get('gil') else ''}"


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _cpu_model() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", _text(Path("/proc/cpuinfo")) or "", re.MULTILINE)
    if found:
        return found[1].strip()
    try:
        import cpuinfo
    except ImportError:
        return platform.processor() or platform.machine() or "unknown"
    return str(cpuinfo.get_cpu_info().get("brand_raw") or platform.machine())


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
