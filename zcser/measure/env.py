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
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from zcser.core.codec import CodecInfo
from zcser.measure import clock
from zcser.measure.context import Environment
from zcser.measure.noise import quota_cores

__all__ = ["environment"]

_MALLOC = re.compile(r"(MALLOC_|GLIBC_TUNABLES$|PYTHONMALLOC|MIMALLOC_|TCMALLOC_|LD_PRELOAD$)")


def environment(codecs: Iterable[CodecInfo]) -> Environment:
    """Describe this machine and the libraries of some codecs."""
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
        python=_python(),
        libraries={
            "numpy": np.__version__,
            **{info.name: f"{info.library} {info.version} ({info.implementation})" for info in codecs},
        },
    )


def _named(value: str) -> str:
    # LD_PRELOAD holds paths; which library it is matters, where it lies does not.
    return re.sub(r"[^\s:]*/", "", value)


def _python() -> dict[str, Any]:
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "build": f"{platform.python_compiler()}, {' '.join(platform.python_build())}",
        "hash_seed": os.environ.get("PYTHONHASHSEED", "random"),
        "gc_thresholds": list(gc.get_threshold()),
        "gil": bool(getattr(sys, "_is_gil_enabled", lambda: True)()),
    }


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
