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
    for name in problems.PAGES:
        text = (GALLERY / f"plot_{name}.py").read_text()
        assert text == build.page_text(text, found[name]), f"build.py makes plot_{name}.py"
        best = f"{found[name]['best']['method']} with {found[name]['best']['measure']}"
        assert f"Use {best}: expect an error of" in " ".join(text.replace("# ", "").split())
        lowest = min(row["error"] for row in found[name]["rows"])
        assert next(row["error"] for row in found[name]["rows"] if row["pair"] == best) == lowest
    assert (GALLERY / "index.md").read_text() == build.index_text(problems.PAGES, found)


def test_problems_have_labels_objects_and_groups(build):
    _, problems = build
    for page in problems.PAGES.values():
        if not page.data:  # bundled
            y, measures, groups = page.problem()
            assert {len(objects) for objects, _ in measures.values()} == {len(y)}
            assert groups is None or len(groups) == len(y)


@pytest.mark.slow
def test_facts_of_a_page_can_be_had_again(build):
    _, problems = build
    found = results(problems)["promoters"]["measures"]
    y, measures, _ = problems.promoters()
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
        return y, {"endings": ([[w[3]] for w in words], Counting()), "words": (words, Edit())}, None

    page = problems.Page(problem, methods=("nc", "knn", "majority"), options={"n_splits": 6, "cv": 3})
    found = build.run("t", page)
    assert found["best"]["measure"] == "words"
    assert {row["pair"] for row in found["rows"]} == {
        "majority", *(f"{m} with {label}" for m in ("nc", "knn") for label in ("endings", "words")),
    }  # fmt: skip
    text = build.block(found)
    assert "Use " in text
    assert '"knn": [' in text
