"""What a result should carry about where it was made: versions and the kind of machine, never which one."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import similis

__all__ = ["machine", "versions"]


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python, of similis and what it computes with, and of further installed `packages`."""
    found = {"python": platform.python_version(), "similis": similis.__version__}
    for name in ("numpy", "scipy", "scikit-learn", "numba", *packages):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """The kind of machine: processor, number of cores, system."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
