"""Packages that only benchmarks use, in a folder of their own: never in the project's environment.

They are installed on first use under the user's cache folder (or SIMILIS_BENCH_CACHE) and become importable in the
running script.
"""

import os
import subprocess
import sys
from pathlib import Path


def peers(*packages):
    """Make `packages` importable; install those that are missing."""
    cache = os.environ.get("SIMILIS_BENCH_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(cache) / "similis-benchmarks" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in packages if not any(folder.glob(f"{name}-*.dist-info"))]
    if missing:
        # Their only dependency is NumPy, which is here already.
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *missing]
        subprocess.run(command, check=True)
    sys.path.append(str(folder))
