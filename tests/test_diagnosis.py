"""The diagnosis: each finding against a matrix made to have it, and advice that follows."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics.pairwise import euclidean_distances

from similis import anosim, diagnose, load_sonar, permanova
from similis.exceptions import KindWarning
from similis.proximity import NormalityDisplay, _diagnosis


@pytest.fixture
def clean(rng):
    x = rng.normal(size=(25, 4))
    y = np.arange(25) % 2
    x[y == 1] += 3
    return np.linalg.norm(x[:, None] - x[None], axis=2), y


def test_euclidean_distances_are_found_out(clean):
    D, y = clean
    found = diagnose(D, y, kind="dissimilarity")
    assert found.entries.symmetric
    assert found.entries.n_missing == found.entries.n_duplicates == 0
    assert found.entries.self_maximal == 1.0
    assert found.spectrum.definite
    assert found.spectrum.rank == 4
    assert found.triangles.violated == 0
    assert found.triangles.n_triples == 25 * 24 * 23
    assert found.classes.counts == (13, 12)
    assert found.classes.within < found.classes.between


def test_what_is_broken_is_counted(rng):
    S = rng.random((20, 20))
    S[3, 4] = S[5, 6] = np.nan
    found = diagnose(S)
    assert not found.entries.symmetric
    assert 0 < found.entries.asymmetry < 1
    assert found.entries.n_missing == 2
    assert found.spectrum is None
    assert found.entries.self_maximal == np.mean(np.nanmax(S, axis=1) == np.diag(S))
    assert "missing" in str(found)


def test_negative_mass_by_hand():
    found = diagnose([[0.0, 1.0], [1.0, 0.0]])
    assert (found.spectrum.n_negative, found.spectrum.negative_mass) == (1, 0.5)
    assert str(diagnose(np.zeros((4, 4))).spectrum.negative_mass) == "0.0"


def test_triangles_by_hand():
    D = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
    found = diagnose(D, kind="dissimilarity").triangles
    assert found.violated == pytest.approx(2 / 6)
    assert found.worst == pytest.approx(3 / 5)


def test_the_shape_of_distances_does_not_depend_on_the_unit(clean):
    D, _ = clean
    expected = diagnose(D, kind="dissimilarity").distances
    for unit in (1e-20, 1e20):
        found = diagnose(unit * D, kind="dissimilarity").distances
        np.testing.assert_allclose([found.skewness, found.kurtosis], [expected.skewness, expected.kurtosis])


def test_duplicates_sparsity_and_scale():
    S = np.kron(np.eye(5), np.ones((2, 2)))
    found = diagnose(S)
    assert found.entries.n_duplicates == 5
    assert found.entries.discrete
    assert found.entries.zeros == pytest.approx(80 / 90)
    assert any("KRI" in advice.text for advice in found.advice)


def test_hubs(rng):
    D = rng.uniform(1, 2, size=(60, 60))
    D = (D + D.T) / 2
    D[:, 0] = D[0] = 0.1
    np.fill_diagonal(D, 0)
    assert diagnose(D, kind="dissimilarity").distances.hubness > 3


def test_shape_of_the_distances(rng):
    x = rng.lognormal(sigma=1.2, size=(40, 40))
    found = diagnose(np.triu(x, 1) + np.triu(x, 1).T, kind="dissimilarity").distances
    assert found.skewness > 1
    assert abs(found.skewness_after) < found.skewness / 2
    assert found.power < 0.5


def advised(D):
    """Texts of the advice that follows from the distribution of distances, without the slower findings."""
    entries = SimpleNamespace(discrete=False, n_duplicates=0, n_missing=0, symmetric=True)
    facts = _diagnosis.distance_facts(np.asarray(D))
    return " ".join(item.text for item in _diagnosis.advise("dissimilarity", len(D), entries, None, facts, None, ()))


def normal_enough(D):
    return "normal-based classifiers" in advised(D)


def test_normal_distances_are_called_normal():
    """Distances of vectors with many independent features, and independent normal distances, of few objects too."""
    rng = np.random.default_rng(0)
    for n in (12, 30, 80):
        found = []
        for _ in range(5):
            x = rng.normal(size=(n, 500))
            noise = np.triu(10 + rng.normal(size=(n, n)), 1)
            found += [normal_enough(euclidean_distances(x)), normal_enough(noise + noise.T)]
        assert np.mean(found) >= 0.9


def test_distances_that_are_not_normal_are_not_called_normal(rng):
    """[pekalska2000] sec. 4.2-4.5: sums are, their squares (L_0.5) and exponentials are not; heavy tails are not."""
    X = load_sonar(return_X_y=True)[0]
    D = euclidean_distances(X)
    rough = np.sqrt(np.abs(X[:, None] - X[None])).sum(axis=2)
    assert normal_enough(D)
    assert normal_enough(rough)
    for other in (rough**2, D**2, np.where(D > 0, np.exp(D), 0)):
        assert not normal_enough(other)
        assert "BoxCox" in advised(other)
    assert "BoxCox" in str(diagnose(rough[:80, :80] ** 2, kind="dissimilarity"))
    noise = np.triu(100 + rng.standard_t(3, size=(100, 100)), 1)
    assert not normal_enough(noise + noise.T)


def test_advice_has_reasons_and_papers(rng):
    A = rng.normal(size=(40, 40))
    found = diagnose(A + A.T)
    assert found.advice
    assert all(advice.reason for advice in found.advice)
    assert any("[chen2010]" in advice.paper for advice in found.advice)
    assert any(char.isdigit() for char in found.advice[0].reason)


def test_degenerate_matrices_get_a_diagnosis(recwarn):
    for S in (np.zeros((1, 1)), np.zeros((5, 5)), np.ones((4, 4)), np.full((3, 3), np.nan), np.eye(2)):
        for kind in ("similarity", "dissimilarity"):
            found = diagnose(S, kind=kind)
            assert str(found)
            json.dumps(found.to_dict(), allow_nan=False)
    assert not [w for w in recwarn if w.category is not KindWarning]


def test_forms_agree_and_hide_nothing(clean):
    D, _ = clean
    y = np.where(np.arange(25) % 2, "<b>bold</b>", "plain")
    found = diagnose(D, y, kind="dissimilarity")
    page = found._repr_html_()
    assert "<b>bold" not in page
    assert "&lt;b&gt;bold" in page
    for line in ("symmetric", "triangles broken", "suspicious pairs"):
        assert line in str(found)
        assert line in page
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["n"] == 25
    assert data["spectrum"]["rank"] == 4


def test_large_matrices_are_sampled(monkeypatch, rng):
    monkeypatch.setattr("similis.proximity._diagnosis.SAMPLE", 30)
    x = rng.normal(size=(50, 2))
    found = diagnose(np.linalg.norm(x[:, None] - x[None], axis=2), kind="dissimilarity")
    assert (found.n, found.n_sampled) == (50, 30)
    assert "a random sample of 30" in str(found)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="row 0, column 1"):
        diagnose([[0.0, -1.0], [1.0, 0.0]], kind="dissimilarity")
    with pytest.raises(ValueError, match="2 labels for 3"):
        diagnose(np.eye(3), [0, 1])
    with pytest.raises(ValueError, match="kind"):
        diagnose(np.eye(3), kind="distance")


def test_classes_are_tested_for_differences():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[30:] = 4 * X[30:] + 1
    y = np.repeat(["a", "b"], 30)
    D = squareform(pdist(X))
    found = diagnose(D, y, "dissimilarity")
    assert found.classes.location.r2 == pytest.approx(permanova(D, y, permutations=0).r2)
    assert "the labels explain" in str(found)
    assert "PERMANOVA reacts to it too" in str(found)
    donors = np.repeat(np.arange(6), 10)  # whole donors belong to a class
    blocked = diagnose(D, y, "dissimilarity", groups=donors)
    assert "whole blocks were permuted" in str(blocked)
    assert blocked.classes.location.p_value > found.classes.location.p_value
    D[3, 4] = np.nan
    missing = diagnose(D, y, "dissimilarity")
    assert missing.classes.location.statistic == pytest.approx(anosim(D, y, permutations=0).statistic)
    assert "ANOSIM; missing pairs are left out" in str(missing)
    D[:30, 30:] = np.nan
    assert diagnose(D, y, "dissimilarity").classes.location is not None  # the other direction is known
    D[30:, :30] = np.nan
    assert diagnose(D, y, "dissimilarity").classes.location is None


def test_dispersion_of_a_class_without_any():
    """One object is its own center; the factor between the classes was infinite."""
    D = np.random.default_rng(0).uniform(0.9, 1.0, size=(20, 20))
    found = dict(diagnose(np.triu(D, 1) + np.triu(D, 1).T, np.arange(20) == 0, kind="dissimilarity").rows())
    assert "mean distance to the center 0 to 0.6" in found["class dispersion"]


def test_columns_of_classes_are_normal_or_not():
    """[pekalska2000] sec. 4.5: Euclidean distances of the sonar returns are nearly normal, L_0.5 ones are not."""
    X, y = load_sonar(return_X_y=True)
    X = np.asarray(X, dtype=float)
    euclidean = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    half = np.sqrt(np.abs(X[:, None] - X)).sum(axis=2) ** 2
    good, bad = (diagnose(D, y, kind="dissimilarity") for D in (euclidean, half))
    for g, name in enumerate(np.unique(y)):
        columns = euclidean[y == name]
        columns[np.arange(len(columns)), y == name] = np.nan
        moments = {"axis": 0, "bias": False, "nan_policy": "omit"}
        assert good.classes.skewness[g] == pytest.approx(np.median(stats.skew(columns, **moments)))
        assert good.classes.kurtosis[g] == pytest.approx(np.median(stats.kurtosis(columns, **moments)))
    assert good.classes.near_normal
    assert not bad.classes.near_normal
    assert "nearly normal" in dict(good.rows())["columns by class"]
    assert "not normal enough" in dict(bad.rows())["columns by class"]
    assert any("normal-based" in advice.text for advice in good.advice)
    assert not any("normal-based" in advice.text for advice in bad.advice)
    shown = [NormalityDisplay.from_proximity(D, y, kind="dissimilarity", plot=False) for D in (euclidean, half)]
    off = [np.abs(display.observed - display.normal).max() for display in shown]
    assert off[0] < 0.2 < off[1]
    few = diagnose(euclidean[:10, :10], np.arange(10) % 2, kind="dissimilarity").classes
    assert few.near_normal is None
    assert np.isnan(few.skewness).all()
