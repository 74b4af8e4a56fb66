"""Run the tests on every supported Python with the newest, lowest and pre-release versions of the dependencies.

For each environment the last commit is exported, a wheel is built from it and installed (not editable) with all extras
into a fresh environment, and the quick tests run against the installed package. "Lowest" takes the lower bounds of
pyproject.toml literally; "coming" takes pre-releases where there are any. Environments named on the command line are
run alone and join the others in the record. ``--core`` runs the tests of the contract, of files and of studies
only, and the table says so.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from _record import RESULTS, ROOT, commit, quick, record

EXTRAS = "strings,transport,ann,parquet,dask,zarr,report,test"
TOOLS = ("pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "pandas", "polars", "cvxpy")
# Python, and how versions are chosen.
ENVIRONMENTS = {
    "3.11, lowest": ("3.11", ["--resolution", "lowest-direct"]),
    "3.13, newest": ("3.13", []),
    "3.12, newest": ("3.12", []),
    "3.11, newest": ("3.11", []),
    "3.13, coming": ("3.13", ["--prerelease", "allow"]),
}
SHOWN = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
CORE = ("contract", "import", "io", "io_writing", "persistence", "study", "study_results", "threads")
# Of scikit-learn's own checks, those of one estimator of each family.
CORE_CHECKS = "not test_scikit_learn or MaxSim or LocalSDA or CondensedNN or LPMachine or NormalLinear or KernelHLM"
QUICK_TESTS = ("tests/test_import.py", "tests/test_io.py", "tests/test_io_writing.py", "tests/test_topk.py")


def interpreter(version):
    """An interpreter of this version: on the path, or one of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for candidate in [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"))]:
        if candidate and call([candidate, "-c", "pass"]).returncode == 0:
            return str(candidate)
    return None


def call(command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def must(command, **options):
    done = call(command, **options)
    if done.returncode:
        raise RuntimeError(f"{Path(str(command[0])).name} {command[1]}: {(done.stdout + done.stderr)[-1500:]}")
    return done.stdout


def export(folder):
    """The last commit, and the wheel made from it."""
    source = folder / "source"
    source.mkdir()
    archive = folder / "source.tar"
    must(["git", "-C", ROOT, "archive", "--output", archive, "HEAD"])
    must(["tar", "-xf", archive, "-C", source])
    must([sys.executable, "-m", "venv", folder / "tools"])
    must([folder / "tools/bin/python", "-m", "pip", "install", "--quiet", "uv", "build"])
    must([folder / "tools/bin/python", "-m", "build", "--wheel", "--outdir", folder, source])
    return source, next(folder.glob("*.whl")), folder / "tools/bin/uv"


def install(uv, python, wheel, choice, folder):
    """A fresh environment; its interpreter."""
    must([uv, "venv", "--quiet", "--python", python, folder])
    inside = folder / "bin/python"
    # The bounds are those of pyproject.toml; a wheel's own requirements would count as indirect, and be the newest.
    extras = [word for extra in EXTRAS.split(",") for word in ("--extra", extra)]
    needs = ["-r", wheel.parent / "source" / "pyproject.toml", *extras]
    must([uv, "pip", "install", "--quiet", "--python", inside, *choice, *needs])
    must([uv, "pip", "install", "--quiet", "--python", inside, "--no-deps", wheel])
    bounds = folder / "bounds.txt"  # the tools must not move what the tests are about
    bounds.write_text(must([uv, "pip", "freeze", "--python", inside, "--exclude", "similis"]))
    must([uv, "pip", "install", "--quiet", "--python", inside, "--constraints", bounds, *TOOLS])
    return inside


def run_tests(python, source, report, core):
    """Counts and the names of what failed."""
    command = [python, "-m", "pytest", "-q", "-n", "auto", "-m", "not slow", "-p", "no:cacheprovider"]
    command.append(f"--junitxml={report}")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ""}
    where = call([python, "-c", "import similis; print(similis.__file__)"], cwd=report.parent).stdout
    if "site-packages" not in where:
        raise RuntimeError("the tests would not run against the installed wheel")
    tests = [*(f"tests/test_{name}.py" for name in CORE), "-k", CORE_CHECKS] if core else ("tests",)
    tests = QUICK_TESTS if quick() else tests
    log = report.with_suffix(".log")
    with open(log, "w") as out:
        subprocess.run([str(part) for part in (*command, *tests)], cwd=source, env=environment, stdout=out, stderr=out)
    if not report.exists():
        raise RuntimeError(log.read_text()[-1500:])
    suite = next(ElementTree.parse(report).getroot().iter("testsuite"))
    counts = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
    cases = suite.iter("testcase")
    failed = [
        f"{case.get('classname')}::{case.get('name')}: {(part.get('message') or '')[:200]}"
        for case in cases
        for part in case
        if part.tag in ("failure", "error")
    ]
    return counts, failed


def try_environment(name, folder, source, wheel, uv, core):
    """One row of the table, and its failures."""
    version, choice = ENVIRONMENTS[name]
    python = interpreter(version)
    if python is None:
        return None, [f"{name}: there is no Python {version} here"]
    start = time.perf_counter()
    label = re.sub(r"\W+", "-", name)
    inside = install(uv, python, wheel, choice, folder / label)
    code = "import platform, json; from importlib.metadata import version as v\n"
    code += f"print(json.dumps([platform.python_version()] + [v(p) for p in {SHOWN!r}]))"
    found = json.loads(must([inside, "-c", code]))
    counts, failed = run_tests(inside, source, folder / f"{label}.xml", core)
    item = {"environment": name, **dict(zip(("python", *SHOWN), found)), "tests": "core" if core else "all quick"}
    item["passed"] = counts["tests"] - counts["failures"] - counts["errors"] - counts["skipped"]
    item |= {"failed": counts["failures"] + counts["errors"], "skipped": counts["skipped"]}
    item |= {"minutes": round((time.perf_counter() - start) / 60, 1), "commit": commit().rstrip("+")}
    return item, [f"{name}: {line}" for line in failed]


def main(names):
    core = "--core" in names
    names = [name for name in names if name != "--core"]
    unknown = set(names) - set(ENVIRONMENTS)
    if unknown:
        sys.exit(f"there is no environment {sorted(unknown)}; there are {list(ENVIRONMENTS)}")
    path = RESULTS / "versions.json"
    old = json.loads(path.read_text()) if names and path.exists() else {"items": [], "failures": []}
    names = names or list(ENVIRONMENTS)[: 1 if quick() else None]
    rows = {item["environment"]: item for item in old["items"]}
    failures = [line for line in old["failures"] if not line.startswith(tuple(f"{name}:" for name in names))]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        source, wheel, uv = export(folder)
        for name in names:
            try:
                item, failed = try_environment(name, folder, source, wheel, uv, core)
            except RuntimeError as error:
                item, failed = None, [f"{name}: {str(error).replace(str(folder), '')}"]
            failures += failed
            if item:
                rows[name] = item
                print(item, flush=True)
            items = [rows[name] for name in ENVIRONMENTS if name in rows]
            passed = sum(item["passed"] for item in items)
            older = sum(item["commit"] != commit().rstrip("+") for item in items)
            older = f", {older} of them with earlier versions of similis" if older else ""
            summary = f"{len(items)} environments{older}; {passed:,} tests passed, {len(failures)} failed."
            record("versions", summary=summary, items=items, failures=failures)
    return len(failures)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
