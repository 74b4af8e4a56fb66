"""Rows as features, prototypes, embeddings, landmarks, stacks, diffusion: laws, oracles, worked numbers."""

import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from oracles import proximity as oracle
from scipy.linalg import expm
from scipy.sparse import csgraph, csr_array
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from similis._utils.linalg import fold_row_distances, row_distances
from similis.exceptions import AsymmetryWarning, DiagonalWarning, ProximityError
from similis.proximity import (
    DissimilaritySpace,
    Landmarks,
    PseudoEuclidean,
    RowRBF,
    SimilarityFeatures,
    SpectrumClip,
    SpectrumFlip,
    SpectrumShift,
    Whiten,
    diffusion_kernel,
    make_stack,
    symmetrize,
)


@pytest.fixture
def D(rng):
    """Dissimilarities without a triangle inequality."""
    X = rng.normal(size=(25, 3))
    return (np.abs(X[:, None] - X) ** 0.5).sum(axis=2) ** 2


@pytest.fixture
def S(rng):
    A = rng.normal(size=(25, 25))
    return A + A.T


class TestRowRBF:
    def test_pair_by_pair(self, rng):
        S, rows = rng.normal(size=(12, 12)), rng.normal(size=(4, 12))
        step = RowRBF(gamma=0.3)
        np.testing.assert_allclose(step.fit_transform(S), oracle.row_rbf(S, S, 0.3), rtol=1e-9)
        np.testing.assert_allclose(step.transform(rows), oracle.row_rbf(rows, S, 0.3), rtol=1e-9)
        assert (np.diag(step.fit_transform(S)) == 1).all()

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_rows_that_nearly_coincide(self, rng, dtype):
        """||x||^2 + ||y||^2 - 2 x'y would lose all digits here."""
        Y = rng.normal(size=(40, 40)).astype(dtype)
        X = (Y[:10] + 1e-6 * rng.normal(size=(10, 40))).astype(dtype)
        exact = np.sqrt(((X[:, None].astype(float) - Y.astype(float)) ** 2).sum(axis=2))
        np.testing.assert_allclose(row_distances(X, Y), exact, rtol=1e-6 if dtype == np.float32 else 1e-9)
        same = np.tile(Y[:1], (30, 1)) + dtype(1e-6) * Y[:30]
        exact = np.sqrt(((same[:, None].astype(float) - same.astype(float)) ** 2).sum(axis=2))
        np.testing.assert_allclose(row_distances(same, same), exact, rtol=1e-6 if dtype == np.float32 else 1e-8)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_distances_outside_each_fold(self, rng, dtype):
        """With a fold whose columns are far larger than all others, and near copies."""
        A = rng.normal(size=(30, 30)).astype(dtype)
        fold = np.arange(30) % 4
        A[:, fold == 2] *= 1e5
        A[4] = A[9] * dtype(1 + 1e-6)
        for f, D in enumerate(fold_row_distances(A, fold)):
            B = A[:, fold != f].astype(float)
            exact = np.sqrt(((B[:, None] - B) ** 2).sum(axis=2))
            np.testing.assert_allclose(D, exact, rtol=1e-6 if dtype == np.float32 else 1e-9)


class TestSimilarityFeatures:
    def test_held_out_objects_leave_the_columns_too(self, S, rng):
        y = np.arange(25) % 2
        folds, scores = KFold(5), []
        for train, test in folds.split(S):
            model = RidgeClassifier().fit(S[np.ix_(train, train)], y[train])
            scores.append(model.score(S[np.ix_(test, train)], y[test]))
        model = make_pipeline(SimilarityFeatures(), RidgeClassifier())
        np.testing.assert_allclose(cross_val_score(model, S, y, cv=folds), scores)
        assert model.fit(S, y)[-1].n_features_in_ == 25


class TestDissimilaritySpace:
    def test_all(self, D):
        np.testing.assert_array_equal(DissimilaritySpace().fit_transform(D), D)

    @pytest.mark.parametrize("k", [1, 2, 7, 25])
    def test_kcenter(self, D, k):
        space = DissimilaritySpace(n_prototypes=k, selection="kcenter").fit(D)
        np.testing.assert_array_equal(space.prototype_indices_, oracle.farthest_first(D, k))
        np.testing.assert_array_equal(space.transform(D), D[:, space.prototype_indices_])

    @pytest.mark.parametrize("k", [1, 2, 6])
    def test_forward(self, D, k, rng):
        y = rng.integers(3, size=25)
        space = DissimilaritySpace(n_prototypes=k, selection="forward").fit(D, y)
        np.testing.assert_array_equal(space.prototype_indices_, oracle.forward(D, y, k))

    def test_no_exchange_improves_the_medoids(self, D):
        medoids = DissimilaritySpace(n_prototypes=4, selection="medoids").fit(D).prototype_indices_
        total = D[:, medoids].min(axis=1).sum()
        for c in range(4):
            for other in set(range(25)) - set(medoids):
                exchanged = np.r_[np.delete(medoids, c), other]
                assert total <= D[:, exchanged].min(axis=1).sum() + 1e-12
        one = DissimilaritySpace(n_prototypes=1, selection="medoids").fit(D).prototype_indices_
        np.testing.assert_array_equal(one, [D.sum(axis=0).argmin()])

    def test_random(self, D):
        chosen = [DissimilaritySpace(selection="random", random_state=s).fit(D).prototype_indices_ for s in (0, 0, 1)]
        np.testing.assert_array_equal(chosen[0], chosen[1])
        assert not np.array_equal(chosen[0], chosen[2])
        assert len(chosen[0]) == 5  # the square root of 25

    @pytest.mark.parametrize("selection", ["random", "kcenter", "medoids", "forward"])
    def test_duplicates_and_more_prototypes_than_objects(self, selection):
        y = np.arange(8) % 2
        space = DissimilaritySpace(n_prototypes=99, selection=selection).fit(np.zeros((8, 8)), y)
        assert sorted(space.prototype_indices_) == list(range(8))
        space = DissimilaritySpace(n_prototypes=5, selection=selection).fit(np.zeros((8, 8)), y)
        assert len(set(space.prototype_indices_)) == 5

    def test_refusals(self, D):
        with pytest.raises(ProximityError, match="n_prototypes=3 cannot be combined with selection='all'"):
            DissimilaritySpace(n_prototypes=3).fit(D)
        with pytest.raises(ProximityError, match="requires y"):
            DissimilaritySpace(n_prototypes=3, selection="forward").fit(D)

    def test_in_a_grid_search(self, D):
        y = np.arange(25) % 2
        model = make_pipeline(DissimilaritySpace(selection="kcenter"), RidgeClassifier())
        search = GridSearchCV(model, {"dissimilarityspace__n_prototypes": [2, 5]}, cv=3).fit(D, y)
        assert search.best_estimator_[-1].n_features_in_ in (2, 5)


class TestPseudoEuclidean:
    def test_dissimilarities_are_reproduced(self, D):
        embed = PseudoEuclidean()
        X = embed.fit_transform(D)
        assert set(embed.signature_) == {-1, 1}
        np.testing.assert_allclose(oracle.pseudo_distance2(X, X, embed.signature_), D**2, atol=1e-8)
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
        assert (np.diff(np.abs(embed.eigenvalues_)) <= 0).all()

    def test_new_rows_one_by_one(self, D):
        """Each training row, alone, lands on its object: on the negative axes too."""
        embed = PseudoEuclidean()
        X = embed.fit_transform(D)
        for i, row in enumerate(D):
            np.testing.assert_allclose(embed.transform(row[None])[0], X[i], atol=1e-8)

    def test_a_new_point_of_the_space_is_found(self, rng):
        """Distances from a point of a pseudo-Euclidean space bring the point back."""
        signature = np.array([1, 1, -1])
        points = np.c_[rng.permutation(30), rng.normal(size=30), rng.uniform(0, 0.9, size=30)]  # squares stay above 0
        squared = oracle.pseudo_distance2(points, points, signature)
        D = np.sqrt(squared)
        embed = PseudoEuclidean().fit(D[:25, :25])
        np.testing.assert_array_equal(np.sort(embed.signature_), [-1, 1, 1])
        new, old = embed.transform(D[25:, :25]), embed.transform(D[:25, :25])
        np.testing.assert_allclose(oracle.pseudo_distance2(new, old, embed.signature_), squared[25:, :25], atol=1e-9)
        np.testing.assert_allclose(oracle.pseudo_distance2(new, new, embed.signature_), squared[25:, 25:], atol=1e-9)

    def test_classical_scaling(self, rng):
        X = rng.normal(size=(20, 3))
        D = euclidean_distances(X)
        embed = PseudoEuclidean(positive_only=True)
        Z = embed.fit_transform(D)
        assert Z.shape == (20, 3)
        np.testing.assert_allclose(euclidean_distances(Z), D, atol=1e-9)
        line = PseudoEuclidean(n_components=1, positive_only=True).fit_transform(D)
        np.testing.assert_allclose(line, Z[:, :1])
        principal = np.linalg.svd(X - X.mean(axis=0))[1]
        np.testing.assert_allclose(np.linalg.norm(Z, axis=0), principal)

    def test_positive_axes_are_a_choice_of_all_axes(self, D):
        both, positive = PseudoEuclidean(), PseudoEuclidean(positive_only=True)
        X, Z = both.fit_transform(D), positive.fit_transform(D)
        np.testing.assert_allclose(Z, X[:, both.signature_ > 0])
        assert (positive.signature_ == 1).all()

    @pytest.mark.parametrize("k", [1, 4, 10_000])
    def test_number_of_components(self, D, k):
        X = PseudoEuclidean().fit_transform(D)
        embed = PseudoEuclidean(n_components=k)
        np.testing.assert_allclose(embed.fit_transform(D), X[:, :k])
        assert embed.n_components_ == min(k, X.shape[1])

    def test_asymmetry_and_diagonal_are_named(self, D, rng):
        with pytest.warns(AsymmetryWarning):
            embed = PseudoEuclidean().fit(D + np.triu(rng.uniform(size=D.shape), 1))
        assert embed.asymmetry_ > 0
        with pytest.warns(DiagonalWarning, match="row 2, column 2") as record:
            PseudoEuclidean().fit(D + np.diag([0, 0, 1.0] + 22 * [0]))
        assert len(record) == 1

    def test_coinciding_objects(self):
        D = np.zeros((4, 4))
        embed = PseudoEuclidean().fit(D)
        np.testing.assert_array_equal(embed.transform([[1.0, 2.0, 3.0, 4.0]]), [[0.0]])
        assert embed.get_feature_names_out().tolist() == ["pseudoeuclidean0"]


class TestWhiten:
    def test_kernel_of_the_paper(self, rng):
        """[pekalska2000]: K = D U L^-1 U' D', also for an asymmetric D."""
        D = rng.uniform(size=(15, 15))
        U, L, _ = np.linalg.svd(D)
        Z = Whiten().fit_transform(D)
        np.testing.assert_allclose(Z @ Z.T, D @ U @ np.diag(1 / L) @ U.T @ D.T, atol=1e-9)

    def test_symmetric_is_flip(self, D):
        """METHODS: SVC-D2 on a symmetric D is exactly spectrum flip of D, for new rows too."""
        rows = np.abs(np.random.default_rng(1).normal(size=(4, 25)))
        white = Whiten()
        Z = white.fit_transform(D)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flip = SpectrumFlip().fit(D)
        np.testing.assert_allclose(Z @ Z.T, flip.transform(D), atol=1e-9)
        np.testing.assert_allclose(white.transform(rows) @ Z.T, flip.transform(rows), atol=1e-9)

    def test_columns_are_decorrelated(self, S):
        Z = Whiten().fit_transform(S)
        gram = Z.T @ Z
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-10)

    def test_rank_deficient(self, rng):
        A = rng.normal(size=(20, 3))
        white = Whiten()
        Z = white.fit_transform(A @ A.T)
        assert Z.shape == (20, 3)
        np.testing.assert_allclose(Z @ Z.T, A @ A.T, atol=1e-9)
        assert Whiten().fit_transform(np.zeros((3, 3))).tolist() == [[0.0]] * 3


class TestLandmarks:
    @pytest.mark.parametrize("selection", ["random", "kcenter", "medoids"])
    def test_every_object_a_landmark_is_exact(self, S, selection):
        Z = Landmarks(25, selection=selection).fit_transform(S)
        np.testing.assert_allclose(Z @ Z.T, SpectrumClip().fit_transform(S), atol=1e-9)
        every = Landmarks(999, selection=selection, spectrum="flip")
        Z = every.fit_transform(S)
        np.testing.assert_allclose(Z @ Z.T, SpectrumFlip().fit_transform(S), atol=1e-9)
        np.testing.assert_allclose((Z * every.signature_) @ Z.T, S, atol=1e-9)

    def test_low_rank_needs_few_landmarks(self, rng):
        """An indefinite matrix of rank 4 from 4 landmarks, new rows included."""
        A = rng.normal(size=(40, 4))
        S = (A * [1, 1, 1, -1]) @ A.T
        few = Landmarks(4, spectrum="flip", random_state=0).fit(S[:30, :30])
        Z, new = few.transform(S[:30, :30]), few.transform(S[30:, :30])
        np.testing.assert_allclose((new * few.signature_) @ Z.T, S[30:, :30], atol=1e-7)

    def test_only_the_landmarks_are_read(self, S):
        few = Landmarks(6, random_state=0).fit(S)
        other = np.full_like(S, 7.0)
        other[:, few.columns_] = S[:, few.columns_]
        np.testing.assert_array_equal(few.transform(other), few.transform(S))
        features = Landmarks(6, output="features", random_state=0).fit_transform(S)
        np.testing.assert_array_equal(features, S[:, few.landmark_indices_])

    def test_kcenter_takes_the_least_similar(self):
        S = np.array([[3.0, 2, 0], [2, 3, 1], [0, 1, 3]])
        np.testing.assert_array_equal(Landmarks(2, selection="kcenter").fit(S).landmark_indices_, [1, 2])


class TestStack:
    def test_slices_and_names(self, rng):
        A, B = rng.normal(size=(2, 5, 5))
        stack = make_stack([A, B.tolist()], names=["a", "b"])
        np.testing.assert_array_equal(stack[..., 0], A)
        np.testing.assert_array_equal(stack[:, :, 1], B)
        assert stack.names == ("a", "b")
        assert stack[np.ix_([1, 3], [0, 2])].names == ("a", "b")
        assert stack[..., 0].names is None
        assert make_stack([A]).names is None
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(stack)), stack)

    def test_types(self):
        single = np.eye(2, dtype=np.float32)
        assert make_stack([single, single]).dtype == np.float32
        assert make_stack([single, np.eye(2)]).dtype == np.float64
        assert make_stack([np.eye(2, dtype=int)]).dtype == np.float64
        assert np.isnan(make_stack([[[1.0, np.nan]]])).any()

    @pytest.mark.parametrize(
        ("matrices", "names", "words"),
        [
            ([], None, "at least one"),
            ([np.eye(2), np.eye(3)], None, r"Matrix 1 has \(3, 3\), matrix 0 has \(2, 2\)"),
            ([np.eye(2), np.eye(3)], ["a", "b"], r"Matrix 'b' has \(3, 3\)"),
            ([np.eye(2)], ["a", "b"], "one name per matrix"),
            ([np.eye(2), np.eye(2)], ["a", "a"], "distinct names"),
        ],
    )
    def test_refusals(self, matrices, names, words):
        with pytest.raises(ProximityError, match=words):
            make_stack(matrices, names=names)


class TestDiffusion:
    def test_against_the_matrix_exponential(self, rng):
        A = np.triu(np.where(rng.random((15, 15)) < 0.3, rng.random((15, 15)), 0), 1)
        A += A.T
        A[:, 4] = A[4] = 0  # a vertex without edges
        K = diffusion_kernel(A, sigma2=3.0)
        np.testing.assert_allclose(K, expm(-1.5 * csgraph.laplacian(A, normed=True)), atol=1e-12)
        np.testing.assert_allclose(K[4], np.eye(15)[4], atol=1e-12)
        np.testing.assert_allclose(diffusion_kernel(csr_array(A), sigma2=3.0), K)
        np.testing.assert_allclose(diffusion_kernel(A + np.eye(15), sigma2=3.0), K)  # self-loops are no edges
        assert np.linalg.eigvalsh(K).min() > 0

    def test_spreads_as_a_semigroup(self, rng):
        A = rng.random((8, 8))
        A += A.T
        np.testing.assert_allclose(diffusion_kernel(A, 1.0) @ diffusion_kernel(A, 2.0), diffusion_kernel(A, 3.0))

    def test_refusals(self, rng):
        with pytest.raises(ProximityError, match="row 0, column 1"):
            diffusion_kernel([[0, -1], [0, 0]])
        with pytest.raises(ValueError, match="sigma2"):
            diffusion_kernel(np.eye(2), sigma2=0)
        with pytest.warns(AsymmetryWarning):
            diffusion_kernel(rng.random((5, 5)))
        assert diffusion_kernel(np.eye(3, dtype=np.float32)).dtype == np.float32


DATA = os.environ.get("SIMILIS_DATA")


@pytest.mark.skipif(not DATA, reason="SIMILIS_DATA does not name the folder of benchmark-only matrices")
class TestKnownMatrices:
    """Numbers that are known of the papers' matrices."""

    @staticmethod
    def load(name, key):
        return np.load(Path(DATA) / name / f"{name}.npz")[key].astype(float)

    @pytest.mark.parametrize(
        ("name", "negative", "least", "largest"),
        [("aural_sonar", 38, -2.10, 35.07), ("protein_uw", 40, -12.43, 72.0), ("voting_vdm_uw", 163, -0.27, 239.3)],
    )
    def test_spectra(self, name, negative, least, largest):
        S = self.load(name, "S")
        clip, shift = SpectrumClip().fit(S), SpectrumShift().fit(S)
        assert clip.n_components_ == len(S) - negative
        assert clip.eigenvalues_[0] == pytest.approx(least, abs=5e-3)
        assert clip.eigenvalues_[-1] == pytest.approx(largest, abs=5e-2)
        assert shift.shift_ == -clip.eigenvalues_[0]

    def test_chicken_pieces(self):
        D = symmetrize(self.load("chicken_pieces_20_60", "D"))
        embed = PseudoEuclidean().fit(D)
        size = np.abs(embed.eigenvalues_)
        assert size[embed.signature_ < 0].sum() / size.sum() == pytest.approx(0.298, abs=5e-4)
        X = embed.transform(D)
        again = (X * embed.signature_) @ X.T
        squared = np.diag(again)[:, None] + np.diag(again) - 2 * again
        np.testing.assert_allclose(squared, D**2, atol=1e-6)
