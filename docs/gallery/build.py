"""Study the measures of each gallery page on the same splits, and write the results into the pages.

    python docs/gallery/build.py                 # write the committed results into the pages
    python docs/gallery/build.py --run           # run the studies first, those whose data are here
    python docs/gallery/build.py --run votes     # one page

Every number of a study on a page comes from ``results/<page>.json``; sphinx-gallery runs the pages themselves.
"""

import argparse
import json
import textwrap
import warnings
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np

from similis import Pairwise, Study, diagnose
from similis.datasets import has_dataset

HERE = Path(__file__).parent
RESULTS = HERE / "results"
BEGIN, END = "# %%\n# .. results: python docs/gallery/build.py\n", "# %%\n# .. end of results\n"
# Options of every study unless the page has its own: about a minute per page.
OPTIONS = {"n_splits": 20, "cv": 5, "random_state": 0, "race": False}


def run(name, page, journals=None):
    """Study every measure on the same splits; return what the page needs. Journals let a stopped run go on."""
    y, measures, groups = page.problem()
    options = {"methods": list(page.methods), **OPTIONS, **page.options}
    results, about = {}, {}
    for label, (objects, measure) in measures.items():
        start = perf_counter()
        journal = None if journals is None else Path(journals) / f"{name}-{label.replace(' ', '-')}.journal"
        result, S = _study(Study(**options, journal=journal), objects, measure, y, groups)
        facts = diagnose(S, y, kind=result.kind)
        results[label] = result
        about[label] = {
            "measure": "given" if isinstance(measure, str) else repr(measure),
            "kind": result.kind,
            "asymmetry": float(facts.entries.asymmetry),
            "negative_mass": None if facts.spectrum is None else float(facts.spectrum.negative_mass),
            "neighbour_error": float(facts.classes.neighbour_error),
        }
        print(f"{name}: {label}: {result.best()} in {perf_counter() - start:.0f} s", flush=True)
    whole = together(results)
    verdict = whole.recommend()
    method, measure = verdict.method.split(" with ")
    return {
        "page": name,
        "n": len(y),
        "grouped": groups is not None,
        "classes": {str(g): int(n) for g, n in zip(*np.unique(y, return_counts=True))},
        "measures": about,
        "rows": [
            {"pair": row.method, "error": row.error, "sd": row.error_sd, "bold": row.bold} for row in whole.table()
        ],
        "protocol": next(line for line in str(whole).splitlines() if "held out" in line),
        "best": {"measure": measure, "method": method},
        "verdict": list(verdict.sentences),
        "python": results[measure].recommend().python,
        "versions": whole.sessions[0]["versions"],
    }


def _study(study, objects, measure, y, groups):
    """The study of one measure, and the matrix of all objects to look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(measure, str):
            return study.run(objects, y, kind=measure, groups=groups), np.asarray(objects)
        return study.run(objects, y, measure=measure, groups=groups), Pairwise(measure).fit_transform(objects, y)


def together(results):
    """One result of all: methods are pairs of a measure and a method, the splits are the same, so are the tests."""
    first = next(iter(results.values()))
    methods, entries = [], {}
    for label, result in results.items():
        assert all(np.array_equal(a.test, b.test) for a, b in zip(result.splits, first.splits))
        for info in result.methods:
            if info.baseline and result is not first:
                continue
            pair = info.name if info.baseline else f"{info.name} with {label}"
            methods.append(replace(info, name=pair))
            for split in result.splits:
                entry = result.entries[info.name, split.number]
                entries[pair, split.number] = replace(entry, method=pair)
    fresh = {"fingerprint": {**first.fingerprint, "measure": None}, "measure": None, "custom": {}, "source": None}
    whole = replace(first, methods=methods, entries=entries, **fresh)
    means = whole.mean_scores()
    methods = sorted(methods, key=lambda info: means.get(info.name, np.inf))  # the verdict names near rivals first
    return replace(whole, methods=methods)


def block(found):
    """The section of a page on its study: what was compared, the errors as code, a picture, the recommendation."""
    labels = list(found["measures"])
    errors = {row["pair"]: 100 * row["error"] for row in found["rows"]}
    methods = dict.fromkeys(pair.rpartition(" with ")[0] for pair in errors if " with " in pair)
    counts = found["classes"]
    sizes = ", ".join(f"{n} {g}" for g, n in counts.items())
    if len(set(counts.values())) == 1:
        sizes = f"{len(counts)} classes of {next(iter(counts.values()))}"
    protocol = found["protocol"].replace("random splits", "grouped splits") if found["grouped"] else found["protocol"]
    lowest = {label: min(errors[f"{m} with {label}"] for m in methods) for label in labels}
    best = found["best"]["measure"]
    others = ", ".join(f"{k} ({lowest[k]:.1f} %)" for k in sorted(labels, key=lambda k: lowest[k]) if k != best)
    versions = ", ".join(f"{package} {number}" for package, number in found["versions"].items())
    before = [
        f"{found['n']} objects: {sizes}. {protocol[0].upper()}{protocol[1:]}. ``ERRORS`` holds the mean error in "
        f"percent, from ``python docs/gallery/build.py --run {found['page']}`` with {versions}.",
    ]
    verdict = " ".join(text for text in found["verdict"] if "faster to fit" not in text)  # depends on the machine
    after = [
        f"{verdict} The best error with each other measure: {others}. The best of many pairs "
        "is chosen on the splits that estimate its error, so its error is optimistic.",
    ]
    table = {m: ", ".join(f"{errors[m + ' with ' + k]:.1f}" for k in labels) for m in methods}
    rows = [f'    "{m}": [{values}],' for m, values in table.items()]
    listed = ", ".join(f'"{label}"' for label in labels)
    measures = f"MEASURES = [{listed}]"
    if len(measures) > 120:
        measures = "\n".join(["MEASURES = [", *(f'    "{label}",' for label in labels), "]"])
    return "\n".join(
        [
            *_comment("Compare measures and methods", before),
            "",
            "import matplotlib.pyplot as plt",
            "import numpy as np",
            "",
            measures,
            "ERRORS = {",
            *rows,
            "}",
            "values = np.array(list(ERRORS.values()))",
            "size = (1.3 * len(MEASURES) + 1.8, 0.45 * len(ERRORS) + 1.3)",
            'figure, ax = plt.subplots(figsize=size, layout="constrained")',
            'ax.imshow(values, cmap="viridis_r", aspect="auto")',
            'ax.set_xticks(range(len(MEASURES)), [name.replace(" ", "\\n") for name in MEASURES])',
            "ax.set_yticks(range(len(ERRORS)), list(ERRORS))",
            "for (i, j), value in np.ndenumerate(values):",
            "    dark = value > values.mean()",
            '    ax.text(j, i, f"{value:.1f}", ha="center", va="center", color="white" if dark else "black")',
            'ax.set_title("mean error, %")',
            "",
            *_comment(None, after),
        ]
    )


def _comment(title, paragraphs):
    """A text cell of a page."""
    lines = ["# %%"] + ([f"# {title}", f"# {'-' * len(title)}"] if title else [])
    for text in paragraphs:
        lines += textwrap.wrap(text, 118, initial_indent="# ", subsequent_indent="# ", break_long_words=False)
    return lines


def page_text(text, found):
    """A page with its marked section made anew."""
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n{block(found)}\n\n{END}{rest.partition(END)[2]}"


def index_text(pages, results):
    lines = ["# Gallery", ""]
    lines += ["Each page compares several measures on real objects and can be downloaded as a notebook.", ""]
    lines += ["| page | objects | best measure and method | error |", "|---|---|---|---|"]
    for name, found in results.items():
        best = found["best"]
        row = next(row for row in found["rows"] if row["pair"] == f"{best['method']} with {best['measure']}")
        title = (HERE / f"plot_{name}.py").read_text().splitlines()[1]
        lines.append(
            f"| [{title}](plot_{name}.py) | {found['n']} | {best['method']} with {best['measure']} | "
            f"{100 * row['error']:.1f} % |"
        )
    kept = ", ".join(name for name in results if pages[name].data)
    lines += ["", f"The data of {kept} are not shipped with similis; these pages show stored results.", ""]
    return "\n".join(lines)


def main():
    from problems import PAGES

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="names of pages; all without")
    parser.add_argument("--run", action="store_true", help="run the studies first")
    parser.add_argument("--journals", metavar="FOLDER", help="where finished parts are kept, to go on after a stop")
    given = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for name in given.pages or PAGES:
        page = PAGES[name]
        if given.run and all(map(has_dataset, page.data)):
            (RESULTS / f"{name}.json").write_text(json.dumps(run(name, page, given.journals), indent=1) + "\n")
    found = {n: json.loads(p.read_text()) for n in PAGES if (p := RESULTS / f"{n}.json").exists()}
    for name, result in found.items():
        path = HERE / f"plot_{name}.py"
        path.write_text(page_text(path.read_text(), result))
    (HERE / "index.md").write_text(index_text(PAGES, found))


if __name__ == "__main__":
    main()
