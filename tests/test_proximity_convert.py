"""Symmetry, conversions, Box-Cox, unit diagonal: worked numbers, exceptions, refusals."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn import config_context
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similis import compact
from similis.exceptions import DiagonalWarning, KindWarning, ProximityError
from similis.neighbors import NearestCentroid
from similis.proximity import (
    BoxCox,
    SpectrumClip,
    Symmetrize,
    Tighten,
    ToDissimilarity,
    ToSimilarity,
    UnitDiagonal,
    symmetrize,
)


@pytest.fixture
def D(rng):
    return euclidean_distances(rng.normal(size=(20, 3)))


class TestSymmetrize:
    def test_average_at_fit_and_pass_through_after(self, rng):
        """One of the three exceptions: fit_transform(S) is not fit(S).transform(S) for an asymmetric S."""
        S = rng.normal(size=(8, 8))
        step = Symmetrize()
        A = step.fit_transform(S)
        np.testing.assert_array_equal(A, A.T)
        np.testing.assert_array_equal(A, symmetrize(S))
        np.testing.assert_allclose(A[2, 5], (S[2, 5] + S[5, 2]) / 2)
        np.testing.assert_array_equal(step.transform(S), S)
        assert step.asymmetry_ == pytest.approx(np.linalg.norm(S - S.T) / 2 / np.linalg.norm(S))
        assert Symmetrize().fit(A).asymmetry_ == 0

    def test_a_known_direction_stands_for_an_unknown_one(self):
        S = [[1, np.nan, 2], [4, 1, np.nan], [4, np.nan, 1]]
        np.testing.assert_array_equal(symmetrize(S), [[1, 4, 3], [4, 1, np.nan], [3, np.nan, 1]])

    def test_no_memory_is_shared(self):
        S = np.eye(3)
        assert not np.shares_memory(symmetrize(S), S)
        assert not np.shares_memory(Symmetrize().fit_transform(S), S)


class TestToDissimilarity:
    @pytest.mark.parametrize(
        ("method", "expected"),
        [("max-minus", [[0, 3, 4]]), ("root", [[0, 3**0.5, 2]]), ("reciprocal", [[1 / 4, 1, 4]])],
    )
    def test_rules(self, method, expected):
        S = np.full((3, 3), 0.5) + 3.5 * np.eye(3)
        row = [[4, 1, 0.25]] if method == "reciprocal" else [[4, 1, 0]]
        np.testing.assert_allclose(ToDissimilarity(method=method).fit(S).transform(row), expected)

    def test_new_similarities_above_the_bound(self):
        step = ToDissimilarity(upper=3).fit([[2.0, 1.0], [1.0, 2.0]])
        np.testing.assert_array_equal(step.transform([[2.5, 9.0]]), [[0.5, 0.0]])
        assert step.upper_ == 3

    def test_root_of_a_kernel_is_euclidean(self, rng):
        X = rng.normal(size=(12, 3))
        S = rbf_kernel(X)
        D = ToDissimilarity(method="root").fit_transform(S)
        B = -0.5 * (np.eye(12) - 1 / 12) @ D**2 @ (np.eye(12) - 1 / 12)
        assert np.linalg.eigvalsh(B).min() > -1e-12

    def test_refusals(self):
        with pytest.raises(ProximityError, match=r"upper must not be below.*row 0, column 1"):
            ToDissimilarity(upper=1).fit([[1.0, 3.0], [3.0, 1.0]])
        step = ToDissimilarity(method="reciprocal").fit(np.ones((2, 2)))
        with pytest.raises(ProximityError, match=r"positive similarities.*Got 0 at row 0, column 1"):
            step.transform([[1.0, 0.0]])

    def test_a_dissimilarity_draws_a_warning(self):
        with pytest.warns(KindWarning):
            ToDissimilarity().fit(1 - np.eye(3))


class TestToSimilarity:
    def test_linear(self, D):
        step = ToSimilarity()
        S = step.fit_transform(D)
        assert (S.min(), S.max()) == (0, 1)
        np.testing.assert_allclose(S, 1 - D / D.max())
        np.testing.assert_allclose(step.transform(np.full((1, 20), 2 * D.max())), 0)

    def test_rbf(self, D):
        np.testing.assert_allclose(ToSimilarity(method="rbf", gamma=0.7).fit_transform(D), np.exp(-0.7 * D**2))

    def test_reciprocal(self):
        D = np.array([[0, 2, 4], [2, 0, 0.5], [4, 0.5, 0]])
        step = ToSimilarity(method="reciprocal")
        np.testing.assert_allclose(step.fit_transform(D), [[2, 0.5, 0.25], [0.5, 2, 2], [0.25, 2, 2]])
        # identical objects: the training maximum, or the row's own if that is larger
        np.testing.assert_allclose(step.transform([[0, 1, 0], [0, 0.1, 5]]), [[2, 1, 2], [10, 10, 0.2]])

    def test_reciprocal_puts_the_bound_on_any_training_diagonal(self):
        """One of the three exceptions; it shows only where the diagonal of D is not zero."""
        D = np.array([[5.0, 1.0], [1.0, 0.0]])
        step = ToSimilarity(method="reciprocal")
        with pytest.warns(DiagonalWarning, match="row 0, column 0"):
            np.testing.assert_array_equal(step.fit_transform(D), [[1, 1], [1, 1]])
        np.testing.assert_array_equal(step.transform(D), [[0.2, 1], [1, 1]])

    def test_duplicates_and_tiny_dissimilarities(self):
        D = np.array([[0, 0, 1e-320], [0, 0, 1], [1e-320, 1, 0]])
        np.testing.assert_array_equal(ToSimilarity(method="reciprocal").fit_transform(D), 1)

    @pytest.mark.parametrize("method", ["max-minus", "reciprocal"])
    def test_there_and_back(self, method, rng):
        S = 1 + rng.uniform(size=(10, 10))
        np.fill_diagonal(S, S.max())
        back = {"max-minus": "linear", "reciprocal": "reciprocal"}[method]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagonalWarning)
            R = ToSimilarity(method=back).fit_transform(ToDissimilarity(method=method).fit_transform(S))
        off = ~np.eye(10, dtype=bool)
        assert stats.spearmanr(R[off], S[off]).statistic == pytest.approx(1)

    def test_the_warning_about_the_diagonal_is_one_sentence_each(self):
        D = np.ones((3, 3))
        D[0, 1] = 4
        with pytest.warns(DiagonalWarning) as record:
            ToSimilarity().fit(D)
        assert all(len(str(w.message)) < 300 for w in record)


class TestBoxCox:
    def test_formula(self, D):
        np.testing.assert_allclose(BoxCox().fit_transform(D), (D**0.25 - 1) / 0.25)
        np.testing.assert_allclose(BoxCox(p=1).fit_transform(D), D - 1)

    def test_maximum_likelihood_against_scipy(self, rng):
        """The likelihood of scipy on a grid of powers, over the off-diagonal entries."""
        D = rng.gamma(2.0, size=(30, 30))
        D = D + D.T
        np.fill_diagonal(D, 0)
        p = BoxCox(p="ml").fit(D).p_
        off = D[~np.eye(30, dtype=bool)]
        grid = np.linspace(0.01, 1, 397)
        assert p == pytest.approx(grid[np.argmax([stats.boxcox_llf(q, off) for q in grid])], abs=2.6e-3)
        assert BoxCox(p="ml").fit(1000 * D).p_ == pytest.approx(p, abs=1e-5)

    def test_power_is_recovered(self, rng):
        """Fourth powers of normal numbers become normal again at p = 1/4."""
        D = np.triu(rng.normal(5, 1, size=(120, 120)) ** 4, 1)
        assert BoxCox(p="ml").fit(D + D.T).p_ == pytest.approx(0.25, abs=0.03)

    def test_order_is_kept_and_the_ends_are_held(self, D, rng):
        off = ~np.eye(20, dtype=bool)
        assert stats.spearmanr(BoxCox(p="ml").fit_transform(D)[off], D[off]).statistic == pytest.approx(1)
        left_skewed = 10 - rng.exponential(size=(20, 20)).clip(max=9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KindWarning)
            assert BoxCox(p="ml").fit(left_skewed).p_ == pytest.approx(1, abs=1e-4)
            assert BoxCox(p="ml").fit(np.exp(5 * rng.normal(size=(20, 20)))).p_ == pytest.approx(0.01, abs=0.02)

    def test_nothing_to_learn_from(self):
        assert BoxCox(p="ml").fit([[0.0]]).p_ == 1
        assert BoxCox(p="ml").fit(3 * (1 - np.eye(4))).p_ == 1

    def test_zero_dissimilarities_do_not_enter_the_likelihood(self, rng):
        D = np.triu(rng.gamma(2.0, size=(15, 15)), 1)
        D[0, 1:4] = 0
        D += D.T
        grid = np.linspace(0.01, 1, 199)
        best = grid[np.argmax([stats.boxcox_llf(q, D[D > 0]) for q in grid])]
        assert BoxCox(p="ml").fit(D).p_ == pytest.approx(best, abs=5.1e-3)

    @pytest.mark.parametrize("p", [0, -1, 1.5, "best"])
    def test_power_out_of_range(self, p, D):
        with pytest.raises(ValueError, match="'p' parameter"):
            BoxCox(p=p).fit(D)


class TestUnitDiagonal:
    def test_training_matrix_is_the_cosine(self, rng):
        X, new = rng.normal(size=(10, 4)), rng.normal(size=(3, 4))
        step = UnitDiagonal()
        K = step.fit_transform(X @ X.T)
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        np.testing.assert_allclose(K, unit @ unit.T, atol=1e-12)
        np.testing.assert_allclose(np.diag(K), 1)
        np.testing.assert_array_equal(K, K.T)
        rows = step.transform(new @ X.T, self_similarity=(new**2).sum(axis=1))
        np.testing.assert_allclose(rows, new / np.linalg.norm(new, axis=1, keepdims=True) @ unit.T, atol=1e-12)

    def test_consistent_given_the_self_similarities(self, rng):
        X = rng.normal(size=(10, 4))
        S = X @ X.T
        step = UnitDiagonal().fit(S)
        np.testing.assert_allclose(step.transform(S, self_similarity=np.diag(S)), UnitDiagonal().fit_transform(S))

    def test_constant_diagonal(self):
        S = np.array([[4.0, 1.0], [1.0, 4.0]])
        np.testing.assert_array_equal(UnitDiagonal().fit(S).transform(S), S / 4)
        np.testing.assert_array_equal(UnitDiagonal(self_similarity=1.0).fit(S).transform([[4.0, 2.0]]), [[2.0, 1.0]])

    def test_it_says_what_it_does_not_know(self):
        step = UnitDiagonal().fit([[4.0, 1.0], [1.0, 9.0]])
        with pytest.raises(ProximityError, match=r"from 4 to 9.*self_similarity") as caught:
            step.transform([[1.0, 1.0]])
        assert len(str(caught.value)) < 300
        with pytest.raises(ProximityError, match="one number per row, 1"):
            step.transform([[1.0, 1.0]], self_similarity=[1.0, 2.0])
        for negative in (-1.0, [-1.0]):
            with pytest.raises(ProximityError, match=r"not negative.*position 0"):
                step.transform([[1.0, 1.0]], self_similarity=negative)
        with pytest.raises(ProximityError, match="row 1, column 1"):
            UnitDiagonal().fit([[1.0, 0.0], [0.0, -1.0]])

    def test_zero_self_similarity(self):
        S = np.array([[4.0, 0.0], [0.0, 0.0]])
        np.testing.assert_array_equal(UnitDiagonal().fit_transform(S), [[1, 0], [0, 0]])
        with pytest.raises(ProximityError, match="row 0, column 1"):
            UnitDiagonal().fit_transform([[4.0, 1.0], [1.0, 0.0]])
        with pytest.raises(ProximityError, match="row 0, column 1"):
            UnitDiagonal().fit(S).transform([[1.0, 1.0]], self_similarity=1.0)

    def test_metadata_routing_carries_the_self_similarities(self, rng):
        X = rng.normal(size=(12, 3))
        S, y = X @ X.T, np.arange(12) % 2
        with config_context(enable_metadata_routing=True):
            unit = UnitDiagonal().set_transform_request(self_similarity=True)
            model = make_pipeline(unit, SVC(kernel="precomputed")).fit(S, y)
            routed = model.predict(S, self_similarity=np.diag(S))
        K = UnitDiagonal().fit_transform(S)
        np.testing.assert_array_equal(routed, SVC(kernel="precomputed").fit(K, y).predict(K))


def test_compact_follows_conversions(D):
    """A model that reads few columns needs only those in front of an entry-by-entry step."""
    y = np.arange(20) % 2
    model = make_pipeline(ToSimilarity(), NearestCentroid()).fit(D, y)
    small = compact(model)
    columns = model[-1].columns_
    assert len(columns) == 2
    np.testing.assert_array_equal(small.predict(D[:, columns]), model.predict(D))
    with_clip = make_pipeline(ToSimilarity(), SpectrumClip(), NearestCentroid()).fit(D, y)
    np.testing.assert_array_equal(compact(with_clip).predict(D), with_clip.predict(D))


class TestTighten:
    def test_power_keeps_signs(self, rng):
        S, Q = rng.normal(size=(6, 6)), rng.normal(size=(3, 6))
        largest = np.abs(S).max()
        for q in (1, 2, 3, 8.0, 0.5, 2.7):
            tight = Tighten(q=q).fit(S)
            assert tight.largest_ == largest
            np.testing.assert_allclose(tight.transform(Q), np.sign(Q) * (np.abs(Q) / largest) ** q, rtol=1e-12)
        np.testing.assert_array_equal(Tighten(q=1).fit_transform(S), S / largest)

    def test_exponential(self, rng):
        S, Q = rng.normal(size=(6, 6)), rng.normal(size=(3, 6))
        spread = S.max() - np.median(S[~np.eye(6, dtype=bool)])
        tight = Tighten(q=3.0, method="exponential").fit(S)
        np.testing.assert_allclose(tight.transform(Q), np.exp(-3 * (S.max() - Q) / spread), rtol=1e-12)
        # the conversion of dissimilarities of the same name
        D = S.max() - (S + S.T) / 2
        np.fill_diagonal(D, 0)
        np.testing.assert_allclose(
            Tighten(q=3.0, method="exponential").fit_transform(5 - D),
            ToSimilarity(method="exponential", gamma=3.0).fit_transform(D),
            rtol=1e-12,
        )

    @pytest.mark.parametrize("unit", [1e-6, 1e6])
    def test_no_unit(self, unit, rng):
        S = rng.normal(size=(6, 6))
        np.testing.assert_allclose(Tighten().fit_transform(unit * S), Tighten().fit_transform(S), rtol=1e-9)
        tight = Tighten(method="exponential")
        np.testing.assert_allclose(tight.fit_transform(unit * (S + 3)), tight.fit_transform(S), rtol=1e-6)
        D = np.abs(S) * (1 - np.eye(6))
        convert = ToSimilarity(method="exponential")
        np.testing.assert_allclose(convert.fit_transform(unit * D), convert.fit_transform(D), rtol=1e-9)

    @pytest.mark.parametrize("method", ["power", "exponential"])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_is_finite(self, method, dtype):
        tight = Tighten(q=64, method=method).fit(np.eye(3, dtype=dtype))
        for value in (-1e6, 0.0, 1e-30, 1e6):
            found = tight.transform(np.full((1, 3), value, dtype=dtype))
            assert found.dtype == dtype
            assert np.isfinite(found * found * dtype(0.1)).all()
        for S in (np.zeros((3, 3)), np.ones((3, 3)), [[5.0]]):
            assert np.isfinite(Tighten(method=method).fit_transform(S)).all()

    def test_exponential_where_most_dissimilarities_are_zero(self):
        D = np.zeros((5, 5))
        D[0, 1:] = D[1:, 0] = 2.0
        assert ToSimilarity(method="exponential", gamma=4.0).fit(D).scale_ == 0.5
