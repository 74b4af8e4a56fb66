"""Clip, flip, shift and square: the papers' propositions, worked numbers, and what they cost."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles import proximity as oracle
from scipy import sparse
from scipy.linalg import sqrtm
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similis import compact
from similis._utils import linalg
from similis._utils.cache import CACHE
from similis.exceptions import AsymmetryWarning, KindWarning, ProximityError
from similis.proximity import SpectrumClip, SpectrumFlip, SpectrumShift, SpectrumSquare, Symmetrize, augmented_rows


def symmetric(rng, values):
    """A symmetric matrix with these eigenvalues."""
    Q, _ = np.linalg.qr(rng.normal(size=(len(values), len(values))))
    A = Q @ np.diag(values) @ Q.T
    return (A + A.T) / 2


def indefinite(rng, n=30, n_negative=8):
    return symmetric(rng, np.r_[-rng.uniform(0.1, 2, n_negative), rng.uniform(0.1, 5, n - n_negative)])


SPECTRA = {
    "few negative": lambda rng: indefinite(rng, 30, 5),
    "many negative": lambda rng: indefinite(rng, 30, 25),
    "singular": lambda rng: symmetric(rng, np.r_[-2.0, -1.0, np.zeros(12), rng.uniform(1, 3, 6)]),
    "all negative": lambda rng: symmetric(rng, -rng.uniform(1, 2, 10)),
}


@pytest.fixture(params=SPECTRA)
def S(request, rng):
    return SPECTRA[request.param](rng)


@pytest.fixture
def decompositions(monkeypatch):
    """How many matrices were decomposed, from an empty cache."""
    count = []
    original = linalg.linalg.eigh

    def counting(*args, **kwargs):
        count.append(1)
        return original(*args, **kwargs)

    CACHE.clear()
    monkeypatch.setattr(linalg.linalg, "eigh", counting)
    return count


def test_clip_is_the_nearest_psd_matrix(S):
    """Optimality on the cone: K >= 0, K - S >= 0 and (S - K) K = 0 characterize the projection."""
    K = SpectrumClip().fit_transform(S)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    assert np.linalg.eigvalsh(K - S).min() > -1e-12
    np.testing.assert_allclose((S - K) @ K, 0, atol=1e-12)
    np.testing.assert_allclose(K, oracle.clip(S), atol=1e-12)
    np.testing.assert_array_equal(K, K.T)


def test_flip(S):
    K = SpectrumFlip().fit_transform(S)
    np.testing.assert_allclose(K, oracle.flip(S), atol=1e-12)
    np.testing.assert_allclose(K @ K, S @ S, atol=1e-11)
    np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("n_negative", [3, 15, 27])
@pytest.mark.parametrize(("transformer", "kind"), [(SpectrumClip(), "clip"), (SpectrumFlip(), "flip")])
def test_new_rows(transformer, kind, n_negative, rng):
    S, rows = indefinite(rng, 30, n_negative), rng.normal(size=(7, 30))
    P = oracle.projection(S, kind)
    np.testing.assert_allclose(transformer.fit(S).transform(rows), rows @ P, atol=1e-12)
    np.testing.assert_allclose(transformer.projection_, P, atol=1e-12)
    np.testing.assert_allclose(transformer.eigenvalues_, np.linalg.eigvalsh(S), atol=1e-12)
    U, values = transformer.eigenvectors_, transformer.eigenvalues_
    np.testing.assert_allclose(U @ np.diag(values) @ U.T, S, atol=1e-12)


def test_proposition_4_1(rng):
    """[chen2010]: the least-squares embedding x of s among the columns of X, X'X = S_clip, has X'x = P s."""
    S, s = indefinite(rng), rng.normal(size=30)
    clip = SpectrumClip().fit(S)
    values, U = np.linalg.eigh(clip.fit_transform(S))
    keep = values > 1e-10
    X = np.sqrt(values[keep])[:, None] * U[:, keep].T
    x = np.linalg.lstsq(X.T, s, rcond=None)[0]
    np.testing.assert_allclose(X.T @ x, clip.transform(s[None])[0], atol=1e-10)


def test_zero_eigenvalues():
    """[chen2010] sec. 4.1: clip keeps the null space, 1[l >= 0]; flip leaves it out, sgn(0) = 0."""
    S, row = np.diag([2.0, 0.0, -1.0]), [[1.0, 2.0, 3.0]]
    np.testing.assert_array_equal(SpectrumClip().fit(S).transform(row), [[1.0, 2.0, 0.0]])
    np.testing.assert_array_equal(SpectrumFlip().fit(S).transform(row), [[1.0, 0.0, -3.0]])
    assert SpectrumClip().fit(S).n_components_ == 2
    assert SpectrumFlip().fit(S).n_components_ == 2
    zero = np.zeros((3, 3))
    np.testing.assert_array_equal(SpectrumClip().fit(zero).transform(row), row)
    np.testing.assert_array_equal(SpectrumFlip().fit(zero).transform(row), [[0.0, 0.0, 0.0]])


def test_the_null_space_of_a_psd_matrix(rng):
    """Without negative eigenvalues clip leaves new rows alone, and flip projects them on the range."""
    X, rows = rng.normal(size=(20, 4)), rng.normal(size=(3, 20))
    S = X @ X.T
    np.testing.assert_array_equal(SpectrumClip().fit(S).transform(rows), rows)
    np.testing.assert_allclose(SpectrumFlip().fit(S).transform(rows), rows @ X @ np.linalg.pinv(X), atol=1e-10)


def test_shift_changes_the_training_diagonal_only(rng):
    S, rows = indefinite(rng), rng.normal(size=(4, 30))
    shift = SpectrumShift()
    K = shift.fit_transform(S)
    assert shift.shift_ == pytest.approx(-np.linalg.eigvalsh(S).min())
    assert np.linalg.eigvalsh(K).min() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(K - S, shift.shift_ * np.eye(30), atol=1e-15)
    np.testing.assert_array_equal(shift.transform(rows), rows)
    assert not np.allclose(shift.transform(S), K)  # one of the three exceptions
    assert SpectrumShift().fit(S @ S).shift_ == 0.0


def test_consistent_shift_of_new_rows(rng):
    """S = U L U': the rule U (L + |l_min|) L^-1 U' is s + |l_min| s S^-1, and turns S into S + |l_min| I."""
    A = rng.normal(size=(8, 8))
    S, rows = (A + A.T) / 2, rng.normal(size=(5, 8))
    step = SpectrumShift(query="consistent").fit(S)
    assert step.shift_ > 0.5
    np.testing.assert_allclose(step.transform(rows), rows + step.shift_ * rows @ np.linalg.inv(S))
    np.testing.assert_allclose(step.transform(S), SpectrumShift().fit_transform(S), atol=1e-12)
    np.testing.assert_array_equal(step.fit_transform(S), SpectrumShift().fit_transform(S))
    y = rng.integers(2, size=8)
    model = make_pipeline(SpectrumShift(query="consistent"), SVC(kernel="precomputed")).fit(S, y)
    small, columns = compact(model, return_columns=True)
    np.testing.assert_allclose(small.decision_function(rows[:, columns]), model.decision_function(rows))
    kernel = S @ S
    np.testing.assert_array_equal(SpectrumShift(query="consistent").fit(kernel).transform(rows), rows)


def test_consistent_shift_loses_the_null_space():
    S = np.diag([2.0, 0.0, -1.0])
    rows = SpectrumShift(query="consistent").fit(S).transform([[1.0, 1.0, 1.0]])
    np.testing.assert_allclose(rows, [[1.5, 0.0, 0.0]])


def test_square_takes_an_asymmetric_matrix(rng):
    S, rows = rng.normal(size=(9, 9)), rng.normal(size=(2, 9))
    square = SpectrumSquare()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        K = square.fit_transform(S)
    np.testing.assert_allclose(K, [[sum(S[i, k] * S[j, k] for k in range(9)) for j in range(9)] for i in range(9)])
    np.testing.assert_allclose(square.transform(rows), rows @ S.T)
    np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("n_negative", [3, 20])
@pytest.mark.parametrize("k", [1, 3, 9, 10, 26, 29, 30, 500])
def test_number_of_components(k, n_negative, rng):
    S, rows = indefinite(rng, 30, n_negative), rng.normal(size=(3, 30))
    values, U = np.linalg.eigh(S)
    clip, flip = SpectrumClip(n_components=k), SpectrumFlip(n_components=k)
    kept = min(k, 30 - n_negative)
    best = U[:, -kept:]
    np.testing.assert_allclose(clip.fit(S).transform(rows), rows @ best @ best.T, atol=1e-12)
    np.testing.assert_allclose(clip.fit_transform(S), best @ np.diag(values[-kept:]) @ best.T, atol=1e-12)
    assert clip.n_components_ == kept
    keep = np.argsort(np.abs(values))[-min(k, 30) :]
    expected = (U[:, keep] * np.abs(values[keep])) @ U[:, keep].T
    np.testing.assert_allclose(flip.fit_transform(S), expected, atol=1e-12)
    np.testing.assert_allclose(flip.transform(S), expected, atol=1e-12)
    assert flip.n_components_ == min(k, 30)


def test_components_above_the_rank_change_nothing(rng):
    S, rows = SPECTRA["singular"](rng), rng.normal(size=(3, 20))
    for transformer, rank in ((SpectrumClip, 6), (SpectrumFlip, 8)):
        for k in (rank, rank + 1, 20, 99):
            np.testing.assert_allclose(
                transformer(n_components=k).fit(S).transform(rows), transformer().fit(S).transform(rows), atol=1e-12
            )


def test_a_psd_matrix_is_not_decomposed(decompositions, rng):
    definite = symmetric(rng, rng.uniform(0.5, 2, 20))
    singular = symmetric(rng, np.r_[np.zeros(10), rng.uniform(0.5, 2, 10)])
    rows = rng.normal(size=(3, 20))
    for transformer in (SpectrumClip(), SpectrumFlip(), SpectrumShift(), SpectrumClip(n_components=20)):
        np.testing.assert_array_equal(transformer.fit_transform(definite), definite)
        np.testing.assert_array_equal(transformer.transform(rows), rows)
    for transformer in (SpectrumClip(), SpectrumShift()):
        np.testing.assert_array_equal(transformer.fit_transform(singular), singular)
        np.testing.assert_array_equal(transformer.transform(rows), rows)
    assert not decompositions
    np.testing.assert_allclose(transformer.eigenvalues_, np.linalg.eigvalsh(singular), atol=1e-12)  # on demand
    assert len(decompositions) == 1


def test_clip_flip_and_shift_share_one_decomposition(decompositions, rng):
    S = indefinite(rng)
    K = SpectrumClip().fit_transform(S)
    for transformer in (SpectrumFlip(), SpectrumShift(), SpectrumClip(n_components=2), SpectrumClip()):
        transformer.fit(S.copy()).transform(S)
        assert transformer.eigenvalues_.size == 30
    assert len(decompositions) == 1
    SpectrumClip().fit(K)  # what has been clipped is not decomposed again
    assert len(decompositions) == 1


@pytest.mark.parametrize("transformer", [SpectrumClip(), SpectrumFlip(), SpectrumShift()], ids=repr)
def test_an_asymmetric_matrix_enters_by_its_symmetric_part(transformer, rng):
    S = indefinite(rng) + 0.1 * rng.normal(size=(30, 30))
    A = (S + S.T) / 2
    with pytest.warns(AsymmetryWarning, match="asymmetric") as record:
        K = transformer.fit_transform(S)
    assert len(record) == 1
    assert transformer.asymmetry_ == pytest.approx(np.linalg.norm(S - A) / np.linalg.norm(S))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(K, type(transformer)().fit_transform(A), atol=1e-12)
        type(transformer)().fit(A + 1e-17 * np.triu(np.ones((30, 30))))  # round-off is no asymmetry
        make_pipeline(Symmetrize(), type(transformer)()).fit(S)


def test_dissimilarities_draw_a_warning():
    with pytest.warns(KindWarning, match="zero diagonal"):
        SpectrumClip().fit(np.ones((4, 4)) - np.eye(4))


def test_float32_keeps_small_true_eigenvalues(rng):
    """A negative part of 3e-4 of the largest eigenvalue is not taken for round-off."""
    S = symmetric(rng, np.r_[np.full(100, -0.1), rng.uniform(0.4, 1, 199), 300.0]).astype(np.float32)
    clip = SpectrumClip().fit(S)
    assert clip.n_components_ == 200
    assert clip.transform(S).dtype == np.float32
    np.testing.assert_allclose(clip.fit_transform(S), oracle.clip(S.astype(float)), atol=1e-4)


def test_sparse_similarities(rng):
    S = np.where(rng.random((20, 20)) < 0.2, 1.0, 0.0)
    S = np.maximum(S, S.T)
    for form in (sparse.csr_matrix, sparse.csr_array, sparse.coo_array):
        clip = SpectrumClip().fit(form(S))
        np.testing.assert_array_equal(clip.transform(form(S)), SpectrumClip().fit(S).transform(S))


@settings(deadline=None, max_examples=60)
@given(arrays(np.int64, st.integers(1, 7).map(lambda n: (n, n)), elements=st.integers(-3, 3)))
def test_laws(A):
    """On any small integer matrix, singular and repeated spectra included."""
    S = (A + A.T) / 2
    n = len(S)
    clip, flip, shift = SpectrumClip(), SpectrumFlip(), SpectrumShift()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KindWarning)
        C, F, H = (t.fit_transform(S) for t in (clip, flip, shift))
        np.testing.assert_allclose(C, clip.transform(S), atol=1e-10)
        np.testing.assert_allclose(F, flip.transform(S), atol=1e-10)
        np.testing.assert_allclose(F + S, 2 * C, atol=1e-10)  # |l| + l = 2 max(l, 0)
        np.testing.assert_allclose(SpectrumFlip().fit_transform(-S), F, atol=1e-10)
        np.testing.assert_allclose(SpectrumClip().fit_transform(C), C, atol=1e-10)
    for K in (C, F, H):
        assert np.linalg.eigvalsh(K).min() > -1e-9
    np.testing.assert_allclose(H - S, shift.shift_ * np.eye(n), atol=1e-12)


def two_groups(rng, n=40):
    y = np.arange(n) % 2
    S = np.where(y[:, None] == y, 0.7, 0.3) + 0.35 * rng.normal(size=(n, n))
    return (S + S.T) / 2, y


@pytest.mark.parametrize("transformer", [SpectrumClip(), SpectrumFlip(), SpectrumShift()], ids=repr)
def test_a_pipeline_in_cross_validation_equals_the_loop(transformer, rng):
    S, y = two_groups(rng)
    folds = StratifiedKFold(4)
    values, scores = [0.1, 1.0, 10.0], []
    for C in values:
        right = []
        for train, test in folds.split(S, y):
            A, rows = S[np.ix_(train, train)], S[np.ix_(test, train)]
            if isinstance(transformer, SpectrumShift):
                K = A + max(0, -np.linalg.eigvalsh(A).min()) * np.eye(len(A))
            else:
                P = oracle.projection(A, "clip" if isinstance(transformer, SpectrumClip) else "flip")
                K, rows = A @ P, rows @ P
            machine = SVC(kernel="precomputed", C=C).fit(K, y[train])
            right.append(np.mean(machine.predict(rows) == y[test]))
        scores.append(right)
    model = make_pipeline(transformer, SVC(kernel="precomputed", C=1.0))
    np.testing.assert_allclose(cross_val_score(model, S, y, cv=folds), scores[1])
    search = GridSearchCV(model, {"svc__C": values}, cv=folds).fit(S, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], np.mean(scores, axis=1))
    assert search.best_params_["svc__C"] == values[int(np.argmax(np.mean(scores, axis=1)))]


def test_augmented_rows(rng):
    """[chen2010] sec. 4.1: the last row of the augmented matrix with its spectrum modified."""
    S = rng.normal(size=(9, 9))
    S = S + S.T
    Q, own = rng.normal(size=(4, 9)), rng.normal(size=4)
    for spectrum, modify in (("clip", lambda M: (M + _absolute(M)) / 2), ("flip", lambda M: _absolute(M))):
        expected = [modify(np.block([[S, s[:, None]], [s[None], np.array([[t]])]]))[-1, :-1] for s, t in zip(Q, own)]
        np.testing.assert_allclose(augmented_rows(S, Q, own, spectrum=spectrum), expected, atol=1e-10)
    K = S @ S  # an object that extends a kernel to a kernel keeps its row
    np.testing.assert_allclose(augmented_rows(K, K[:2] / 2, 1e6), K[:2] / 2, atol=1e-6)
    with pytest.raises(ProximityError, match="spectrum must be"):
        augmented_rows(S, Q, own, spectrum="shift")
    with pytest.raises(ProximityError, match="one per row, 4"):
        augmented_rows(S, Q, own[:3])
    with pytest.raises(ProximityError, match="one column per training object, 9"):
        augmented_rows(S, Q[:, :5], own)


def _absolute(M):
    """|M| = (M M)^1/2 of a symmetric matrix."""
    return np.real(sqrtm(M @ M))
