"""The lists on docs/choose.md and docs/api/index.md, made from the code.

python scripts/pages.py              # prints them
python scripts/pages.py --write      # puts them between their markers
"""

import json
import sys
import warnings
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from sklearn.utils import get_tags

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "docs" / "_ext")]

import _marked  # noqa: E402
from api_names import first_sentence, names_by_package  # noqa: E402

TIMED_ON = "voting_vdm"
GUIDES = {
    "neighbors": "neighbors",
    "centroids": "neighbors",
    "discriminant analysis": "discriminant",
    "mixtures": "mixture",
    "similarity based": "maxsim",
    "normal": "normal",
    "support vectors": "svm",
    "baselines": "study",
}
LEARNED = ("SimSVM", "IndefiniteSVM", "FullKernelSVM")


def steps_of(model):
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def indefinite(method):
    """What becomes of negative eigenvalues, by what the method is made of."""
    steps = steps_of(method.make())
    for step in steps:
        name = type(step).__name__
        if name in LEARNED:
            return "learned"
        if name.startswith("Krein"):
            return "Krein space"
        if name.startswith("Spectrum") and name != "SpectrumSquare":
            return name.removeprefix("Spectrum").lower()
        weighted = getattr(step, "weights", None) in ("kri", "krr", "lime")
        if name == "SVMKNN" or weighted:
            spectrum = step.spectrum if step.spectrum != "auto" else "clip"
            return f"{spectrum}, local"
    return "no repair" if method.name == "svc-raw" else ""


def few_columns(method):
    """Whether `compact` leaves columns out, on two simulated classes that overlap."""
    from similis import compact, make_similarity

    S, y = make_similarity(40, 2, separation=3.0, indefinite=0.3, random_state=0)
    P = S.max() - S if method.reads == "dissimilarity" else S
    model = method.make()
    seeds = [key for key in model.get_params() if key.rpartition("__")[2] == "random_state"]
    model.set_params(**dict.fromkeys(seeds, 0))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            small = steps_of(compact(model.fit(P, y)))
    except (ValueError, TypeError):  # nothing to leave out
        return False
    return any(len(getattr(step, "columns_", y)) < len(y) for step in small)


def seconds_by_method():
    rows = json.loads((ROOT / "benchmarks" / "results" / "study.json").read_text())["rows"]
    return {row["method"]: row["fit_seconds"] for row in rows if row["set"] == TIMED_ON}


def duration(seconds):
    if seconds is None:
        return ""
    return "< 0.1 s" if seconds < 0.1 else f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def tick(yes):
    return "yes" if yes else ""


def methods():
    """Every method of the study with what it reads, needs and gives."""
    from similis.study import list_methods

    seconds = seconds_by_method()
    heads = "method,reads,asymmetric,indefinite,probabilities,few columns,a split".split(",")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    rows = []
    for m in list_methods():
        model = m.make()
        cells = (
            {"similarity": "s", "dissimilarity": "d", "either": "s, d", "objects": "objects"}[m.reads],
            "averaged" if m.symmetric else "read",
            indefinite(m),
            tick(hasattr(model, "predict_proba")),
            tick(few_columns(m)),
        )
        rows.append((m.family, cells, f"`{m.name}`" + ("*" if m.on_request else ""), seconds.get(m.name)))
    for family, members in groupby(rows, key=itemgetter(0)):
        lines.append(f"| **[{family}](guide/{GUIDES[family]}.md)** | | | | | | |")
        for cells, alike in groupby(
            members, key=itemgetter(1)
        ):  # methods that differ in name and time only share a row
            names, times = zip(*(row[2:] for row in alike))
            slowest = max((time for time in times if time is not None), default=None)
            lines.append(f"| {' | '.join((', '.join(names), *cells, duration(slowest)))} |")
    return "\n".join(lines)


def missing():
    """The methods that read missing entries."""
    from similis.study import list_methods

    found = [m.name for m in list_methods() if get_tags(m.make()).input_tags.allow_nan]
    names = ", ".join(f"`{name}`" for name in found)
    return f"Missing entries (NaN) are read by {names}; the other methods get `CompleteKernel` in front."


def packages():
    """Public packages; the site has a page for each and one for each of its names."""
    rows = [f"| `{module}` | {first_sentence(module)} |" for module in names_by_package() if module != "similis"]
    return "\n".join(["| package | contents |", "|---|---|", *rows])


SECTIONS = {
    ("docs/choose.md", "missing"): missing,
    ("docs/choose.md", "methods"): methods,
    ("docs/api/index.md", "packages"): packages,
}


def quoted(page, name):
    """What stands on the page."""
    return _marked.quoted(ROOT / page, name)


def main():
    _marked.run({(ROOT / page, name): make for (page, name), make in SECTIONS.items()})


if __name__ == "__main__":
    main()
