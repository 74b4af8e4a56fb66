"""docs/reliability.md, made from stress/results and the first lines of the scripts in stress/.

python scripts/reliability.py              # prints it
python scripts/reliability.py --write      # writes it
"""

import ast
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reliability.md"
HEAD = """# Reliability

The stress tests of similis and their last results. `./scripts/stress` runs them all, `./scripts/stress kills threads`
some of them, `./scripts/stress --quick` a short version. `stress/results` has the details, with versions and machine.

| script | what it does | result | run on |
|---|---|---|---|
"""
ORDER = ("kills", "kill_points", "threads", "memory", "versions", "quiet", "precision", "mixups")


def parts():
    """Names of the scripts, those of ORDER first."""
    found = sorted(path.stem for path in (ROOT / "stress").glob("[a-z]*.py"))
    return [name for name in ORDER if name in found] + [name for name in found if name not in ORDER]


def results(name):
    path = ROOT / "stress" / "results" / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def row(name):
    doc = ast.get_docstring(ast.parse((ROOT / "stress" / f"{name}.py").read_text()))
    found = results(name)
    if found is None:
        return f"| `{name}` | {doc.splitlines()[0]} | not run yet | |\n"
    failures = f"{len(found['failures']) or 'No'} failure{'s' * (len(found['failures']) != 1)}"
    run = f"{found['date'][:10]}, similis {found['versions']['similis']}"
    summary = re.sub(r"\b\d{5,}\b", lambda number: f"{int(number[0]):,}", found["summary"])
    return f"| `{name}` | {doc.splitlines()[0]} | {summary} {failures}. | {run} |\n"


def page():
    return HEAD + "".join(map(row, parts()))


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page())
    else:
        print(page())
