"""Versions and machine type, stored with results, and imports of optional packages."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import similis
from similis.exceptions import MissingExtraError

# The documentation has no public address yet; an empty template shows no link. With an address it becomes
# "https://<address>/api/generated/{estimator_module}.{estimator_name}.html", as docs/_ext/similis_site.py names pages.
DOC_LINK_TEMPLATE = ""


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python, similis, its numerical libraries, and further installed `packages`."""
    found = {"python": platform.python_version(), "similis": similis.__version__}
    for name in ("numpy", "scipy", "scikit-learn", "numba", *packages):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def machine() -> dict[str, Any]:
    """Type of the machine: processor, number of cores, system."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    except OSError:
        cpu = platform.processor() or "unknown"  # starts another process
    return {"cpu": cpu, "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"}


def peak_memory() -> int:
    """Largest memory in bytes that this process, or one of its running child processes, has held; 0 if not known."""
    peaks = [0]
    with suppress(OSError):  # another system, or a child that has ended
        children = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
        for process in ["self", *(pid for found in children for pid in found)]:
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
            peaks += [1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return max(peaks)


def require_package(module: str, *, extra: str, who: str) -> Any:
    """Import the optional package that `who` needs and the extra `extra` installs."""
    try:
        return import_module(module)
    except ImportError:
        library = "POT" if module == "ot" else module.partition(".")[0]
        text = f"{who} needs the library {library}. Install it with: pip install 'similis[{extra}]'"
        raise MissingExtraError(text) from None


def version_hint(written: str) -> str:
    """Return a sentence that names the needed version of scikit-learn; empty if the installed one is not earlier."""
    from sklearn import __version__ as installed

    with suppress(ValueError, AttributeError):  # a damaged file
        needed, here = (tuple(map(int, version.split(".")[:2])) for version in (written, installed))
        if len(needed) == 2 and needed > here:
            later = f"install scikit-learn {needed[0]}.{needed[1]} or later, or fit the model again"
            return f" The model was saved with scikit-learn {written[:20]}, and {installed} is installed: {later}."
    return ""
