"""Run the comparisons one after another and print which floors are met: scripts/bench calls this.

Every script is a process of its own and leaves its record, whole, when it ends; one that fails or takes too long
leaves the record of the last run that did not, and counts as missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from targets import TARGETS

HERE = Path(__file__).parent
LIMIT = 900  # seconds for a script
BY_HAND = ("incremental", "suspects", "group_tests", "pairs", "version_1")  # earlier ways, large files, other versions
# Name -> records it writes, the quick ones first.
SCRIPTS = {
    "import": ("import",),
    "knn": ("knn",),
    "krr": ("krr",),
    "sda": ("sda",),
    "measures": ("measures",),
    "objects": ("objects",),
    "spectrum": ("spectrum",),
    "compact": ("compact",),
    "normal": ("normal",),
    "psvm": ("psvm",),
    "svm": ("svm",),
    "regression": ("regression",),
    "field": ("field",),
    "kri": ("kri",),
    "medoids": ("medoids",),
    "maxsim": ("maxsim",),
    "hlm": ("hlm",),
    "searches": ("searches",),
    "learned_kernels": ("learned_kernels",),
    "pairs": ("pairs",),
    "scale": ("scale_disk",),
    "accuracy": ("accuracy",),
}
ARGUMENTS = {"scale": ["disk"]}


def read(folder, record):
    """The comparisons of a record."""
    path = folder / f"{record}.json"
    items = json.loads(path.read_text())["items"] if path.exists() else []
    return [item for item in items if "ours_seconds" in item or "ours_megabytes" in item]


def run(name, folder, quick):
    """Whether the script came to its end in time."""
    environment = os.environ | {"SIMILIS_BENCH_RESULTS": str(folder)} | ({"SIMILIS_BENCH_QUICK": "1"} if quick else {})
    start = perf_counter()
    command = [sys.executable, "-u", str(HERE / f"bench_{name}.py"), *ARGUMENTS.get(name, ())]
    print(f"\n== {name}", flush=True)
    try:
        code = subprocess.run(command, env=environment, timeout=LIMIT).returncode
    except subprocess.TimeoutExpired:
        code = f"nothing after {LIMIT} s"
    print(f"== {name}: {perf_counter() - start:.0f} s{'' if code == 0 else f', FAILED ({code})'}", flush=True)
    return code == 0


def verdict(item):
    if item.get("floor") is None:
        return ""
    if item["ratio"] < item["floor"]:
        return "MISSED"
    return "goal" if item.get("goal") and item["ratio"] >= item["goal"] else "met"


def table(items):
    """Lines: what, against what, ratio, floor, goal, verdict."""
    number = lambda x: "" if x is None else f"{x:g}x"  # noqa: E731
    rows = [("item", "peer", "ratio", "floor", "goal", "")]
    for i in items:
        row = i["name"], i["peer"], f"{i['ratio']:.3g}x", number(i.get("floor")), number(i.get("goal")), verdict(i)
        rows.append(row)
    widths = [max(len(row[c]) for row in rows) for c in range(6)]
    return ["  ".join(f"{cell:{w}}" for cell, w in zip(row, widths)).rstrip() for row in rows]


def promises(folder, records):
    """For each target on `records` the smallest ratio among its items; a target without items is missed."""
    for target in TARGETS:
        if target.record not in records:
            continue
        ratios = [item["ratio"] for item in target.items(read(folder, target.record))]
        yield {
            "name": target.item,
            "peer": target.peer,
            "ratio": min(ratios, default=0.0),
            "floor": target.floor,
            "goal": target.goal,
        }


def report(names, folder, failed=()):
    """Print both tables; the number of floors missed."""
    records = [record for name in names for record in SCRIPTS[name]]
    items = [item for record in records for item in read(folder, record)]
    print("\nEvery comparison: the peer's best time over ours, in one run\n")
    print("\n".join(table(items)))
    kept = list(promises(folder, records))
    print("\nFloors that were set beforehand, with the least ratio of their comparisons\n")
    print("\n".join(table(kept)))
    held = [verdict(item) for item in items if item.get("floor") is not None]
    goals = [item["ratio"] >= item["goal"] for item in items if item.get("goal")]
    missed = held.count("MISSED") + [verdict(p) for p in kept].count("MISSED") + len(failed)
    print(f"\n{len(items)} comparisons; floors met: {len(held) - held.count('MISSED')} of {len(held)}; ", end="")
    print(f"goals reached: {sum(goals)} of {len(goals)}" + "".join(f"; {name} did not finish" for name in failed))
    return missed


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name", help="scripts to run; all where none is named")
    parser.add_argument("--quick", action="store_true", help="one repeat each; committed results stay as they are")
    parser.add_argument("--list", action="store_true", help="name the scripts and what they compare")
    parser.add_argument("--report", action="store_true", help="print the tables of the committed results")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in SCRIPTS]:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(SCRIPTS)}")
    names = options.names or list(SCRIPTS)
    if options.list:
        for name in names:
            print(f"{name:16s} {(HERE / f'bench_{name}.py').read_text().splitlines()[0].strip(chr(34))}")
        return 0
    if options.report:
        return int(report(names, HERE / "results") > 0)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) if options.quick else HERE / "results"
        start = perf_counter()
        failed = [name for name in names if not run(name, folder, options.quick)]
        missed = report(names, folder, failed)
    print(f"{perf_counter() - start:.0f} s")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
