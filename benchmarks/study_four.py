"""One run over the papers' data sets with every method: reports, a comparison page, the published errors beside ours.

    python benchmarks/study_four.py --jobs 2                             # everything: an hour
    python benchmarks/study_four.py --method quick --splits 2 --folds 3  # a look
    similis report benchmarks/results/study/*.json.gz -o comparison.html # the page again, from the results alone

The protocol is that of [chen2010] tables 4.3-4.5 and [qiao2013] tables 2-3: 20 random splits, a fifth held out, 10
folds inside. The matrices come from the folder that SIMILIS_DATA names; reports and results files show them and stay
where they were made, while tables.json, published.json and comparison.html hold errors alone. Whatever was finished is
in the journals: stop at any moment and start again. The verdict is the rule of ``scripts/reproduce``: at most three
combined standard errors apart, plus half a unit of the last printed digit.
"""

import argparse
import json
import math
import sys
from pathlib import Path

import numpy as np

from similis import Study
from similis.datasets import load_benchmark
from similis.study import compare

sys.path.insert(0, str(Path(__file__).parents[1]))  # for papers

from papers import published_cells

SETS = ("aural_sonar", "protein_uw", "protein", "voting_vdm")
PRINTED = {"aural_sonar": "Aural Sonar", "protein_uw": "Protein", "voting_vdm": "Voting"}  # as the tables call them
TABLES = (("chen2010", "4.3"), ("chen2010", "4.4"), ("chen2010", "4.5"), ("qiao2013", "2"), ("qiao2013", "3"))


def main():
    """Run, save, report, compare."""
    options = arguments()
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    results = {}
    for name in options.set or SETS:
        results[name] = study(name, options, folder)
        row = results[name].recommend()
        print(f"{name}: {row.text}\n", flush=True)
    if len(results) > 1:
        compare(results).to_html(folder / "comparison.html")
    (folder / "tables.json").write_text(json.dumps(tables(results), indent=1) + "\n")
    lines = [line for name, result in results.items() for line in beside(name, result)]
    (folder / "published.json").write_text(json.dumps(lines, indent=1) + "\n")
    show(lines)
    print(f"\nreports and comparison: {folder}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", action="append", help="a data set; may be repeated; the four by default")
    parser.add_argument("--method", action="append", help="a method, all or quick; may be repeated; all by default")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default=str(Path(__file__).parent / "results" / "study"))
    return parser.parse_args()


def study(name, options, folder):
    """The study of one data set, with its results file and report."""
    data = load_benchmark(name)
    methods = options.method or ["all"]
    plan = Study(
        methods[0] if len(methods) == 1 else methods,
        n_splits=options.splits,
        cv=options.folds,
        n_jobs=options.jobs,
        journal=folder / f"{name}.journal",
    )
    labels = np.asarray(data.target_names)[data.target]
    result = plan.run(data.proximity, labels, kind=data.kind, progress=True, watch=lambda r: write(r, name, folder))
    write(result, name, folder)
    result.save(folder / f"{name}.json.gz")
    return result


def write(result, name, folder):
    result.name, result.arguments = name, f"--dataset {name}"
    result.to_html(folder / f"{name}.html", refresh=10 if result.partial else None)


def tables(results):
    """Every row of every table, with where and when; nothing of the data, which are not ours to pass on."""
    first = next(iter(results.values()))
    sets = {
        name: {
            "objects": len(result.codes),
            "protocol": result.protocol.describe(len(result.splits)),
            "recommended": result.recommend().text,
            "rows": [
                {key: None if value != value else value for key, value in row.to_dict().items()}
                for row in result.table()
            ],
        }
        for name, result in results.items()
    }
    return {**first.sessions[-1], "sets": sets}


def beside(name, result):
    """Each published error of this data set beside ours."""
    errors = result.scores("error")
    done = set(result.complete_methods())
    for paper, table in TABLES:
        for printed in published_cells(paper, table, quantity="error"):
            for cell in printed.each():
                if cell.dataset == PRINTED.get(name) and cell.method in done and cell.value is not None:
                    yield judged(cell, name, 100 * errors[cell.method])


def judged(cell, name, runs):
    ours, spread = float(np.mean(runs)), float(np.std(runs, ddof=1)) if len(runs) > 1 else math.nan
    theirs = spread if cell.spread is None else cell.spread
    error = math.sqrt(spread**2 / len(runs) + theirs**2 / 20)
    agrees = abs(ours - cell.value) <= 3 * error + cell.rounding
    verdict = "agrees" if agrees else "better" if ours < cell.value else "worse"
    return {
        "table": f"{cell.paper} {cell.table}",
        "data": name,
        "method": cell.method,
        "published": cell.value,
        "ours": round(ours, 3),
        "standard_error": None if math.isnan(error) else round(error, 3),
        "verdict": "one run" if math.isnan(error) else verdict,
    }


def show(lines):
    for line in lines:
        print("{table:14} {data:12} {method:22} paper {published:6.2f}  ours {ours:6.2f}  {verdict}".format(**line))
    agree = sum(line["verdict"] == "agrees" for line in lines)
    print(f"{agree} of {len(lines)} published errors agree")


if __name__ == "__main__":
    main()
