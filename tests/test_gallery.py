"""The pages of the gallery are what their results say, and the results are what the command gives."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from similis import Counting, Edit, Pairwise, diagnose

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"

pytest.importorskip("rapidfuzz")


@pytest.fixture(scope="module")
def build():
    sys.path.insert(0, str(GALLERY))
    try:
        import build
        import problems

        yield build, problems
    finally:
        sys.path.remove(str(GALLERY))
        for name in ("build", "problems"):
            sys.modules.pop(name, None)


def results(problems):
    return {name: json.loads((GALLERY / "results" / f"{name}.json").read_text()) for name in problems.PAGES}


def test_pages_are_made_of_their_results(build):
    build, problems = build
    found = results(problems)
    for name, page in problems.PAGES.items():
        assert (GALLERY / f"{name}.md").read_text() == build.page_text(page, found[name]), f"build.py makes {name}.md"
    assert (GALLERY / "index.md").read_text() == build.index_text(problems.PAGES, found)


def test_every_page_ends_with_a_verdict_of_the_study(build):
    _, problems = build
    for name, found in results(problems).items():
        text = (GALLERY / f"{name}.md").read_text()
        best = f"{found['best']['method']} with {found['best']['measure']}"
        assert f"Use {best}: expect an error of" in text.partition("## Verdict")[2]
        lowest = min(row["error"] for row in found["rows"])
        assert next(row["error"] for row in found["rows"] if row["pair"] == best) == lowest


@pytest.mark.slow
def test_facts_of_a_page_can_be_had_again(build):
    _, problems = build
    found = results(problems)["promoters"]["measures"]
    y, measures = problems.promoters()
    for label in ("same position", "edit"):
        objects, measure = measures[label]
        facts = diagnose(Pairwise(measure).fit_transform(objects), y, kind=measure.kind)
        assert facts.classes.neighbour_error == pytest.approx(found[label]["neighbour_error"])
        assert facts.spectrum.negative_mass == pytest.approx(found[label]["negative_mass"], abs=1e-6)


def test_measures_are_compared_on_the_same_splits(build):
    """A measure that knows the class beside one that does not: the verdict names the first."""
    build, problems = build
    words = [c * 3 + t for c in "ab" for t in ("x", "y", "z", "xy", "yz", "xz", "xyz", "yx", "zx", "zyx")]
    y = np.array([w[0] for w in words])

    def problem():
        return y, {"endings": ([[w[3]] for w in words], Counting()), "words": (words, Edit())}

    page = problems.Page("t", "about", problem, methods=("nc", "knn", "majority"), options={"n_splits": 6, "cv": 3})
    found = build.run("t", page)
    assert found["best"]["measure"] == "words"
    assert {row["pair"] for row in found["rows"]} == {
        "majority", *(f"{m} with {label}" for m in ("nc", "knn") for label in ("endings", "words")),
    }  # fmt: skip
    text = build.page_text(page, found)
    assert "Use " in text
    assert "| knn | " in text
