"""Packages that only benchmarks use, in folders of their own: never in the project's environment.

They are installed on first use under the user's cache folder (or SIMILIS_BENCH_CACHE). `peers` makes small ones
importable in the running script; `environment` makes a whole environment for those that need other versions of what
we use, and `ask` runs a script in it.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# Tried in turn. torch comes without its libraries for graphics cards where the index offers that.
ENVIRONMENTS = {
    "scikit-bio 0.7.0": (["scikit-bio==0.7.0"],),
    "scikit-bio 0.7.4": (["scikit-bio==0.7.4"],),
    "k-medoids": (
        ["numpy==1.26.4", "scikit-learn==1.5.2", "scikit-learn-extra==0.3.0", "pyclustering==0.10.1.2", "banditpam"],
    ),
    "proto-dist-ml": (["numpy==1.23.5", "scikit-learn==1.3.2", "proto-dist-ml==1.0.1"],),
    "sklearn-rvm": (["numpy==1.23.5", "scikit-learn==1.3.2", "sklearn-rvm==0.1.1"],),
    "MKLpy": (
        ["torch==2.13.0+cpu", "numpy", "scikit-learn", "cvxopt", "MKLpy==0.6"],
        ["torch", "numpy", "scikit-learn", "cvxopt", "MKLpy==0.6"],
    ),
}


def cache():
    folder = os.environ.get("SIMILIS_BENCH_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "similis-benchmarks"


def peers(*packages):
    """Make `packages` importable; install those that are missing."""
    folder = cache() / f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in packages if not any(folder.glob(f"{name}-*.dist-info"))]
    if missing:
        # Their only dependency is NumPy, which is here already.
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *missing]
        subprocess.run(command, check=True)
    sys.path.append(str(folder))


def environment(name):
    """Python of the environment for peer `name`, made on first use; None, with a line that says why, where it fails."""
    folder = cache() / f"{name.replace(' ', '-')}-python{sys.version_info.major}.{sys.version_info.minor}"
    python = folder / "bin" / "python"
    if (folder / "complete").exists():
        return python
    for requirements in ENVIRONMENTS[name]:
        print(f"making an environment for {name}: {' '.join(requirements)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--prefer-binary", *requirements]
        done = subprocess.run(install, capture_output=True, text=True)
        if done.returncode == 0:
            (folder / "complete").touch()
            return python
        print("\n".join(done.stderr.splitlines()[-3:]))
    print(f"{name} cannot be installed here; its lines are left out", flush=True)
    return None


def ask(name, script, /, **arrays):
    """Run `script` in the environment of peer `name` on `arrays`, a file of theirs its only argument.

    It prints one line of JSON, which is returned; None where the environment cannot be made.
    """
    python = environment(name)
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        np.savez(path, **arrays)
        done = subprocess.run([str(python), str(script), str(path)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])
