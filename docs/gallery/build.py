"""Make the pages of the gallery: a study of every measure on the same splits, its results as JSON, the page from these.

    python docs/gallery/build.py                 # pages from the committed results
    python docs/gallery/build.py --run           # run the studies first, those whose data are here
    python docs/gallery/build.py --run votes     # one page

Every number and every verdict on a page comes from ``results/<page>.json``.
"""

import argparse
import json
import warnings
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np

from similis import Pairwise, Study, diagnose
from similis.datasets import has_dataset

HERE = Path(__file__).parent
RESULTS = HERE / "results"
# Options of every study unless the page has its own: about a minute per page.
OPTIONS = {"n_splits": 20, "cv": 5, "random_state": 0, "race": False}


def run(name, page, journals=None):
    """Study every measure on the same splits; return what the page needs. Journals let a stopped run go on."""
    y, measures = page.problem()
    options = {"methods": list(page.methods), **OPTIONS, **page.options}
    results, about = {}, {}
    for label, (objects, measure) in measures.items():
        start = perf_counter()
        journal = None if journals is None else Path(journals) / f"{name}-{label.replace(' ', '-')}.journal"
        result, S = _study(Study(**options, journal=journal), objects, measure, y)
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


def _study(study, objects, measure, y):
    """The study of one measure, and the matrix of all objects to look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(measure, str):
            return study.run(objects, y, kind=measure), np.asarray(objects)
        return study.run(objects, y, measure=measure), Pairwise(measure).fit_transform(objects, y)


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


def page_text(page, found):
    """The page from its results."""
    labels = list(found["measures"])
    lines = [f"# {page.title}", "", page.about.strip(), ""]
    lines += ["| measure | code | matrix | nearest neighbor of another class |", "|---|---|---|---|"]
    for label, facts in found["measures"].items():
        shown = "as given" if facts["measure"] == "given" else f"`{' '.join(facts['measure'].split())}`"
        lines.append(f"| {label} | {shown} | {_matrix_words(facts)} | {100 * facts['neighbour_error']:.1f} % |")
    if any(map(_sees_labels, found["measures"].values())):
        lines += [
            "",
            "A measure that learns from labels is fitted to all of them here, so its last figure is too low; in",
        ]
        lines += ["the study below it is fitted on the training part only."]
    errors = {row["pair"]: row for row in found["rows"]}
    methods = [m for m in page.methods if any(f"{m} with {label}" in errors for label in labels)]
    methods.sort(key=lambda m: min(errors[f"{m} with {label}"]["error"] for label in labels))
    lines += ["", "Mean error in %, over the same splits; bold: the lowest, or not significantly worse (5 %).", ""]
    lines += [f"| method | {' | '.join(labels)} |", f"|---{'|---' * len(labels)}|"]
    for method in methods:
        cells = [_cell(errors[f"{method} with {label}"]) for label in labels]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    if "majority" in errors:
        lines.append(f"| always the largest class | {' | '.join([_cell(errors['majority'])] * len(labels))} |")
    counts = set(found["classes"].values())
    sizes = ", ".join(f"{n} {g}" for g, n in found["classes"].items())
    if len(counts) == 1:
        sizes = f"{len(found['classes'])} classes of {counts.pop()}"
    lines += ["", f"{found['n']} objects: {sizes}. {found['protocol'][0].upper()}{found['protocol'][1:]}.", ""]
    lines += ["## Verdict", "", " ".join(found["verdict"]), "", why(found), "", "To fit it to all objects:", ""]
    lines += ["```", found["python"].strip(), "```", ""]
    versions = ", ".join(f"{package} {number}" for package, number in found["versions"].items())
    lines += [f"Made by `python docs/gallery/build.py --run {found['page']}` with {versions}.", ""]
    return "\n".join(lines)


def why(found):
    """Reasons that the numbers themselves give: what the other measures reach, what lies next to each other."""
    measures, errors = found["measures"], {row["pair"]: row["error"] for row in found["rows"]}
    best = found["best"]["measure"]
    nearest = {label: facts["neighbour_error"] for label, facts in measures.items() if not _sees_labels(facts)}
    lowest = {
        label: min(error for pair, error in errors.items() if pair.endswith(f" with {label}")) for label in measures
    }
    others = sorted((label for label in measures if label != best), key=lambda label: lowest[label])
    listed = ", ".join(f"{label} ({100 * lowest[label]:.1f} %)" for label in others)
    sentences = [f"The best of each other measure: {listed}."]
    closest = min(nearest, key=lambda label: nearest[label])
    if best not in nearest:
        sentences.append("It is the only measure that learns from labels.")
    elif nearest[best] <= nearest[closest]:
        sentences.append(
            f"By {best} the fewest objects have a nearest neighbor of another class, {100 * nearest[best]:.1f} %."
        )
    else:
        sentences.append(
            f"By {best} {100 * nearest[best]:.1f} % of the objects have a nearest neighbor of another class; "
            f"{closest} has fewer, {100 * nearest[closest]:.1f} %, so the nearest object alone does not decide."
        )
    mass = measures[best]["negative_mass"]
    if mass is not None and mass > 0.01:
        method = found["best"]["method"]
        repair = "which clip removes" if "(clip)" in method else f"which does not affect {method}"
        sentences.append(f"Its matrix is indefinite, {100 * mass:.0f} % of the spectrum negative, {repair}.")
    return " ".join(sentences)


def _sees_labels(facts):
    return facts["measure"].startswith(("VDM", "HVDM"))


def _matrix_words(facts):
    words = [facts["kind"]]
    if facts["asymmetry"] > 1e-12:
        words.append(f"asymmetric by {100 * facts['asymmetry']:.1f} %")
    if facts["negative_mass"] is not None:
        mass = 100 * facts["negative_mass"]
        words.append(f"{mass:.1f} % of the spectrum negative" if mass >= 0.05 else "no negative spectrum")
    return ", ".join(words)


def _cell(row):
    text = f"{100 * row['error']:.1f} ({100 * row['sd']:.1f})"
    return f"**{text}**" if row["bold"] else text


def index_text(pages, results):
    lines = [
        "# Gallery",
        "",
        "Each page compares several measures on real objects by a study and ends with its recommendation.",
        "",
    ]
    lines += ["| page | objects | best measure and method | error |", "|---|---|---|---|"]
    for name, found in results.items():
        best = found["best"]
        row = next(row for row in found["rows"] if row["pair"] == f"{best['method']} with {best['measure']}")
        title = f"[{pages[name].title}]({name}.md)"
        lines.append(
            f"| {title} | {found['n']} | {best['method']} with {best['measure']} | {100 * row['error']:.1f} % |"
        )
    lines += ["", "The best of many pairs is chosen on the splits that estimate its error, so its error is optimistic."]
    kept = ", ".join(name for name in results if pages[name].data)
    lines += ["", "The pages are made by `python docs/gallery/build.py`. The data of some of them"]
    lines += [f"({kept}) cannot be shipped with similis.", ""]
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
        (HERE / f"{name}.md").write_text(page_text(PAGES[name], result))
    (HERE / "index.md").write_text(index_text(PAGES, found))


if __name__ == "__main__":
    main()
