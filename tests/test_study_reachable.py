"""Variants of the papers' methods that run when they are named, on shipped data."""

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB

from similis import RBF, VDM, Minkowski, ProximityError, Rescale, make_stack
from similis.datasets import load_sonar, load_votes
from similis.study import Study, find_method, list_methods, make_model

MATRIX = (
    "1nn-f",
    "1nn-r",
    "kernel-hlm(per-class)",
    "hlm-vsh(per-class)",
    "sbc(hard)",
    "sbc(weak)",
    "sbc(normalized)",
    "rnqc(box-cox)",
    "dt-max",
    "dt-gini",
    "svc-d",
    "psvm(normalized)",
    "lp-machine",
    "perceptron",
)


@pytest.fixture(scope="module")
def sonar():
    X, y = load_sonar(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y))[:70]
    return X[chosen], y[chosen]


def test_variants_run_on_distances(sonar):
    X, y = sonar
    D = Minkowski().fit(X).matrix(X)
    result = Study(MATRIX, n_splits=2, cv=3).run(D, y, kind="dissimilarity")
    assert {row.reason for row in result.table()} == {""}
    errors = result.mean_scores("error")
    assert max(errors.values()) < 0.5
    assert "knn(n_neighbors=1)" in errors  # the alias 1nn-r


def test_variants_are_described_and_run_on_request():
    names = [find_method(name).name for name in MATRIX if name != "1nn-r"]
    named = {
        m.name: m for m in list_methods() if m.name in [*names, "naive-bayes", "mixed-sda", "simmkl", "completion-svm"]
    }
    assert len(named) == len(names) + 4
    for method in named.values():
        assert method.on_request
        assert method.paper
        assert method.summary


def test_nearest_neighbor_by_rows(sonar):
    X, y = sonar
    D = Minkowski().fit(X).matrix(X)
    model = make_model("1nn-f", kind="dissimilarity").fit(D[:50, :50], y[:50])
    nearest = ((D[50:, None, :50] - D[None, :50, :50]) ** 2).sum(axis=2).argmin(axis=1)
    assert list(model.predict(D[50:, :50])) == list(y[nearest])


def test_svc_d_reads_the_dissimilarities_themselves(sonar):
    """A linear SVM on rows: its decisions are linear in the dissimilarities."""
    X, y = sonar
    D = Minkowski().fit(X).matrix(X)
    model = make_model("svc-d(C=10)", kind="dissimilarity").fit(D[:50, :50], y[:50])
    assert model[-1].kernel == "linear"
    rows = D[50:, :50]
    a, b, c = (model.decision_function(r) for r in (rows, rows[::-1], (rows + rows[::-1]) / 2))
    assert (a + b) / 2 == pytest.approx(c)


def test_naive_bayes_is_that_of_binary_features(rng):
    X = rng.integers(2, size=(60, 8))
    X[:2] = [[0] * 8, [1] * 8]
    y = (X.sum(axis=1) + rng.normal(size=60) > 4).astype(int)
    ours = make_model("naive-bayes").fit(X[:40], y[:40]).predict_proba(X[40:])
    assert ours == pytest.approx(BernoulliNB(alpha=1.0).fit(X[:40], y[:40]).predict_proba(X[40:]))


def test_methods_of_objects():
    votes = load_votes()
    result = Study(["naive-bayes", "mixed-sda", "nc"], n_splits=2).run(votes.data, votes.target, measure=VDM())
    assert {row.reason for row in result.table()} == {""}
    assert max(result.mean_scores("error").values()) < 0.2
    assert result.best() != "naive-bayes"  # a baseline
    mixed = np.array([["red", 1.0], ["red", 1.5], ["red", 1.2], ["green", 2.0], ["green", 2.5], ["green", 2.1]], object)
    assert list(make_model("mixed-sda").fit(mixed, list("aaabbb")).predict(mixed[[0, 5]])) == ["a", "b"]


def test_stacks(sonar):
    X, y = sonar
    kernels = [1000 * RBF(gamma=1).fit(X).matrix(X), RBF(gamma=5).fit(X[:, :20]).matrix(X[:, :20])]
    hidden = np.random.default_rng(1).permutation(len(y))[:10]
    kernels[0][hidden] = kernels[0][:, hidden] = np.nan
    result = Study(["completion-svm(eta=0.01, gamma=0.1)"], n_splits=1).run(make_stack(kernels), y)
    assert {row.reason for row in result.table()} == {""}
    kernels[0] = 1000 * RBF(gamma=1).fit(X).matrix(X)
    result = Study(["simmkl(eta=0.01, gamma=0.1|1)"], n_splits=2, cv=3).run(make_stack(kernels), y)
    assert {row.reason for row in result.table()} == {""}
    assert max(result.mean_scores("error").values()) < 0.45


def test_rescale_reads_stacks():
    first, second = np.array([[4.0, 0.0], [0.0, 4.0]]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    step = Rescale().fit(make_stack([first, second]))
    assert list(step.scale_) == [4, 2]
    out = step.transform(make_stack([[[2.0, 1.0]], [[1.0, 0.5]]]))
    assert out[0].tolist() == [[0.5, 0.5], [0.25, 0.25]]
    with pytest.raises(ProximityError, match="stack of 2"):
        step.transform([[1.0, 2.0]])
