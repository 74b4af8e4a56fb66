"""The numbers that remarks quote stand in the committed readings."""

import json
from pathlib import Path

from papers.notes import NOTES

READINGS = json.loads((Path(__file__).parents[1] / "benchmarks" / "results" / "readings" / "readings.json").read_text())


def note(mark):
    return next(note.text for note in NOTES if note.mark == mark)


def test_dimensions_of_parzen():
    found = READINGS["pekalska2000 2, Crabs, parzen-f, error by dimension"]
    text = note("dimension of the likelihood")
    assert all(f"{item['mean']:.1f}" in text for item in found)


def test_regularizers_of_rnqc():
    found = READINGS["pekalska2000 2, Sonar Lp, rnqc, error by regularization"]
    best = min(found, key=lambda item: item["mean"])
    assert f"{best['mean']:.1f} % ({best['standard error']:.1f}), at {best['regularization']}" in note(
        "best of the test part"
    )


def test_liver_and_letters():
    found = READINGS["bernal2003 6, Liver, maxsim, accuracy"]
    assert f"{max(item['best split'] for item in found):.1f} %" in note("liver")
    text = note("powers of the cosine")
    assert all(f"{item['best']:.1f}" in text for item in READINGS["bernal2003 6, Letter, powers, accuracy"])


def test_ties_of_knn():
    errors = {item["errors"] for item in READINGS["cazzanti2007 6.9, knn, errors of 213"]}
    assert errors == {42, 43}
    assert "42 or 43 errors" in note("ties")
