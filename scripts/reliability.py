"""docs/reliability.md, made from stress/results and from what the scripts in stress/ say of themselves.

python scripts/reliability.py              # prints it
python scripts/reliability.py --write      # writes it
"""

import ast
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reliability.md"
HEAD = """# Reliability

What was done to break the package, and what came of it. Everything here is run by `scripts/stress`, or a part of it by
`scripts/stress kills threads`; `scripts/stress --quick` is a short version. Each part writes its result, with versions,
commit and the kind of machine, to `stress/results`; this page is made from those files by
`python scripts/reliability.py --write`, and a test keeps it current.
"""
TITLES = {
    "kills": "Killed at random moments",
    "kill_points": "Killed at every file operation",
    "threads": "Threads and processes",
    "memory": "Memory",
    "versions": "Versions",
    "quiet": "No warnings",
    "precision": "Precision, BLAS threads and order",
    "mixups": "Mix-ups of cells, journals and files",
    "fuzz_functions": "Fuzzing of functions and estimators",
    "fuzz_readers": "Fuzzing of file readers",
    "fuzz_models": "Fuzzing of model files, with bounds checks",
    "fuzz_input": "Labels, dialects and frames",
    "security": "Security",
}


def parts():
    """Names of the parts, in the order of the titles; others follow."""
    found = sorted(path.stem for path in (ROOT / "stress").glob("[a-z]*.py"))
    return [name for name in TITLES if name in found] + [name for name in found if name not in TITLES]


def results(name):
    path = ROOT / "stress" / "results" / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def cell(value):
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def table(items):
    """A table whose columns are the keys of the items, in the order they are met."""
    keys = list(dict.fromkeys(key for item in items for key in item))
    lines = ["| " + " | ".join(keys) + " |", "|" + "---|" * len(keys)]
    return "\n".join(lines + ["| " + " | ".join(cell(item.get(key, "")) for key in keys) + " |" for item in items])


def section(name):
    """Title, what is done, what came of it."""
    found = results(name)
    doc = ast.get_docstring(ast.parse((ROOT / "stress" / f"{name}.py").read_text())) or ""
    title = TITLES.get(name, name.replace("_", " ").capitalize())
    lines = [f"## {title}", "", doc, ""]
    if found is None:
        return "\n".join([*lines, "No result has been committed yet.", ""])
    lines += [found["summary"], ""]
    if found["items"]:
        lines += [table(found["items"]), ""]
    if found.get("exceptions"):
        lines += ["Exceptions:", "", table(found["exceptions"]), ""]
    if found["failures"]:
        lines += [f"**{len(found['failures'])} failures:**", "", *(f"* {cell(line)}" for line in found["failures"]), ""]
    versions = ", ".join(f"{package} {version}" for package, version in found["versions"].items())
    lines.append(
        f"`stress/{name}.py`, {found['date'][:10]}, commit {found['commit']}, {found['machine']['cores']} cores, "
        f"{found['machine']['memory_gb']:g} GB, {found['machine']['system']}; {versions}."
    )
    return "\n".join([*lines, ""])


def page():
    return "\n".join([HEAD, *(section(name) for name in parts())])


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page())
    else:
        print(page())
