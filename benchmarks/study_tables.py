"""Run the default study with every method on the papers' data sets; keep one error and one time per method.

    SIMILIS_DATA=... python benchmarks/study_tables.py --jobs 2 --out FOLDER   # about an hour
    python benchmarks/study_tables.py --method quick --splits 2 --folds 3      # a quick look

Journals, reports and results files go to the folder FOLDER: a stopped run resumes. The compact record
benchmarks/results/study.json holds errors and times only, since the data may not be passed on.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from _measure import RESULTS, compact_json, machine

from similis import Study
from similis.datasets import load_benchmark
from similis.study import compare

SETS = ("aural_sonar", "protein_uw", "protein", "voting_vdm")


def main():
    """Run, save, report, compare."""
    options = arguments()
    folder = Path(options.out or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    results = {name: study(name, options, folder) for name in options.set or SETS}
    if len(results) > 1:
        compare(results).to_html(folder / "comparison.html")
    if not options.set and not options.method:
        (RESULTS / "study.json").write_text(compact_json(record(results)))
    print(f"\nreports and comparison: {folder}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", action="append", help="a data set; may be repeated; the four by default")
    parser.add_argument("--method", action="append", help="a method, all or quick; may be repeated; all by default")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", help="folder of journals and reports; a temporary one by default")
    return parser.parse_args()


def study(name, options, folder):
    """Study one data set; write its report and results file."""
    data = load_benchmark(name)
    methods = options.method or ["all"]
    plan = Study(
        methods[0] if len(methods) == 1 else methods,
        n_splits=options.splits,
        cv=options.folds,
        n_jobs=options.jobs,
        journal=folder / f"{name}.journal",
        race=False,
        landmarks=None,
    )
    labels = np.asarray(data.target_names)[data.target]
    result = plan.run(data.proximity, labels, kind=data.kind, progress=True)
    result.name, result.arguments = name, f"--dataset {name}"
    result.to_html(folder / f"{name}.html")
    result.save(folder / f"{name}.json.gz")
    print(f"{name}: {result.recommend().text}\n", flush=True)
    return result


def record(results):
    """Errors and times by data set and method, with versions and the kind of machine."""
    session = next(iter(results.values())).sessions[-1]
    rows = [
        {"set": name, "method": row.method, "error": row.error, "fit_seconds": row.fit_seconds}
        for name, result in results.items()
        for row in result.table()
    ]
    protocol = next(iter(results.values())).protocol.describe()
    about = {"date": session["started"], "machine": machine(), "versions": session["versions"]}
    return {"name": "study", **about, "protocol": protocol, "rows": rows}


if __name__ == "__main__":
    main()
