"""Versions and machine type, stored with results, and imports of optional packages."""

from __future__ import annotations

import os
import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import similis
from similis.exceptions import MissingExtraError

# The documentation has no public address yet; an empty template shows no link. With an address it becomes
# "https://<address>/api/generated/{estimator_module}.{estimator_name}.html", as docs/_ext/similis_site.py names pages.
# Without it, scikit-learn links classes of similis to pages of its own site, which do not exist.
DOC_LINK_TEMPLATE = ""


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python, similis, its numerical libraries, and further installed `packages`."""
    found = {"python": platform.python_version(), "similis": similis.__version__}
    for name in ("numpy", "scipy", "scikit-learn", "numba", *packages):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Type of the machine: processor, number of cores, system."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    except OSError:
        cpu = platform.processor() or "unknown"
    return {"cpu": cpu, "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"}


def peak_memory() -> int:
    """Largest memory in bytes that this process, or one of its running child processes, has held; 0 if not known."""
    peaks = [0]
    try:
        children = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
        for process in ["self", *(pid for found in children for pid in found)]:
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
            peaks += [1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    except OSError:  # another system, or a child that has ended
        pass
    return max(peaks)


def require_package(module: str, *, extra: str, who: str) -> Any:
    """Import the optional package that `who` needs and the extra `extra` installs."""
    try:
        return import_module(module)
    except ImportError:
        library = {"ot": "POT"}.get(module.partition(".")[0], module.partition(".")[0])
        raise MissingExtraError(
            f"{who} needs the library {library}. Install it with: pip install 'similis[{extra}]'"
        ) from None


def version_hint(written: str) -> str:
    """Return a sentence that names the needed version of scikit-learn; empty if the installed one is not earlier."""
    from sklearn import __version__ as installed

    try:
        needed, here = (tuple(map(int, version.split(".")[:2])) for version in (written, installed))
    except (ValueError, AttributeError):  # a damaged file
        return ""
    if len(needed) < 2 or needed <= here:
        return ""
    return (
        f" The model was saved with scikit-learn {written[:20]}, and {installed} is installed: install scikit-learn "
        f"{needed[0]}.{needed[1]} or later, or fit the model again."
    )
