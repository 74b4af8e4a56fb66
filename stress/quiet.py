"""Import the package and run the demo with every warning turned into an error.

Every package is imported and every public name is fetched. Then the demo runs as `scripts/demo` does, worker processes
included. A solver's warnings about points of its grid where it stopped early are kept by the study with its results;
they are counted, and there must be no others.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from _record import ROOT, quick, record

sys.path.insert(0, str(ROOT / "src"))
import similis

# joblib warns in a thread of its own, which an error would end and so leave the demo waiting: printed, and counted.
RAISED_ELSEWHERE = "default:A worker stopped while some jobs were given to the executor:UserWarning"
STRICT = {**os.environ, "PYTHONWARNINGS": f"error,{RAISED_ELSEWHERE}"}


def run(command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env={**STRICT, **environment})
    said = [line for line in (done.stdout + done.stderr).splitlines() if "Warning" in line]
    if done.returncode and not said:
        said = [(done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]]
    return said


def packages():
    """Every module that a user may import."""
    return ["similis", *(f"similis.{name}" for name in similis._MODULES), "similis.cli"]


def notes(path):
    """Categories of the warnings that a study met while its methods ran, one per entry, from its saved results."""
    entries = json.loads(Path(path).read_text())["entries"]
    return [note.partition(":")[0] for entry in entries for note in entry["notes"]]


def try_demo(folder):
    if quick():
        command = ["study", "--dataset", "promoters", "--measure", "counting", "--method", "nc", "--splits", "2"]
        return run([sys.executable, "-m", "similis", *command, "--save", f"{folder}/promoters.json"])
    subprocess.run(
        ["bash", "-c", f"source '{ROOT}/scripts/_setup'; setup report"], check=True
    )  # pip's warnings are pip's
    return run([str(ROOT / "scripts" / "demo")], SIMILIS_DEMO_OUT=folder)


def main():
    failures = []
    fetch = "import {0} as package\nfor name in package.__all__: getattr(package, name)\n"
    code = "".join(map(fetch.format, packages()))
    failures += [f"import: {line}" for line in run([sys.executable, "-c", code])]
    what = "packages imported, every public name fetched"
    items = [{"what": what, "number": len(packages()), "warnings": len(failures)}]
    with tempfile.TemporaryDirectory() as folder:
        said = try_demo(folder)
        results = [path for path in Path(folder).glob("*.json")]
        met = [note for path in results for note in notes(path)]
        if not results:
            said.append("the demo wrote no results")
    failures += [f"demo: {line}" for line in said]
    failures += [f"demo: a method met {note}" for note in sorted(set(met) - {"ConvergenceWarning"})]
    items.append({"what": "studies of the demo", "number": len(results), "warnings": len(said)})
    items.append({"what": "solvers that stopped early, as the studies note", "number": len(met), "warnings": 0})
    record("quiet", summary="Imports and the demo give no warning.", items=items, failures=failures)
    return len(failures)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
