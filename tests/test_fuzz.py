"""What fuzzing found once must not come back; and stress/fuzz_functions.py leaves no public name out."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import similis
from similis import ProximityError, io, report, solvers, study
from similis.distributed import NeighborIndex, choose_landmarks, measure_to_disk, predict_blocks
from similis.io import matrix_card
from similis.proximity import check_proximity
from similis.study import choose_task, make_model

STRESS = Path(__file__).parents[1] / "stress"
X = np.random.default_rng(0).normal(size=(6, 3))
Y = np.array([0, 1] * 3)


def kernel():
    return np.exp(-((X[:, None] - X) ** 2).sum(-1))


def pairwise(measure, objects=X):
    return lambda: similis.Pairwise(measure).fit(objects, Y[: len(objects)])


# A call that must be refused, and words of the sentence.
REFUSED = {
    "gamma inside Pairwise": (pairwise(similis.RBF(gamma=-1.0)), "'gamma' parameter of RBF"),
    "gamma inside landmarks": (lambda: similis.PairwiseLandmarks(similis.RBF(gamma=-1.0)).fit(X), "'gamma' parameter"),
    "measure inside MixedSDA": (lambda: similis.MixedSDA(similis.VDM(q=-1.0)).fit(X.astype(str), Y), "'q' parameter"),
    "a grid point": (
        lambda: similis.PathSearchCV(similis.SimilarityKNN(), {"n_neighbors": [-1]}, cv=2).fit(kernel(), Y),
        "n_neighbors",
    ),
    "failing fits": (
        lambda: similis.PathSearchCV(similis.SimilarityKNN(), {"weights": ["affinity"]}, cv=2).fit(-kernel(), Y),
        "affinity|All fits failed",
    ),
    "ragged vectors": (pairwise(similis.RBF(), [[1.0], [1.0, 2.0]]), "different lengths"),
    "complex vectors": (pairwise(similis.RBF(), X + 1j), "needs real numbers"),
    "a vector for a table": (pairwise(similis.Counting(), np.arange(6)), "got 1D array"),
    "a list in a cell": (pairwise(similis.Lin(), [["a", [1]], ["b", [2]]]), "hashable"),
    "words for bits": (pairwise(similis.Jaccard(packed=True), ["a", "b"]), "2D array"),
    "words as salience": (pairwise(similis.TverskyRatio(salience=["a"] * 3), X > 0), "salience must hold numbers"),
    "n-grams": (pairwise(similis.TfidfCosine(ngram_range=(1,)), ["a b", "c d"]), "'ngram_range'"),
    "complex points": (pairwise(similis.Wasserstein(), [X + 1j, X + 1j]), "of another form"),
    "edges": (pairwise(similis.WeisfeilerLehman(), [{"edges": 3, "node_labels": [1]}] * 2), "needs edges"),
    "complex matrix": (pairwise(similis.FromMatrix(np.eye(2) * 1j), [0, 1]), "real numbers"),
    "ragged matrix": (pairwise(similis.FromMatrix([[1.0], [1.0, 2.0]]), [0, 1]), "different lengths"),
    "huge columns": (pairwise(similis.HVDM(), 1e200 * X), "squares do not overflow"),
    "words as priors": (lambda: similis.SDA(priors=["a", "b"]).fit(kernel(), Y), "priors must hold numbers"),
    "words as costs": (lambda: similis.SDA(costs=[["a"]]).fit(kernel(), Y), "costs must hold numbers"),
    "words as weights": (lambda: similis.NearestCentroid().fit(kernel(), Y, sample_weight="w"), "sample_weight"),
    "an endless scale": (lambda: similis.ToDissimilarity(upper=np.inf).fit(kernel()), "'upper' parameter"),
    "methods of a study": (lambda: study.Study(1).run(kernel(), Y), "methods must be names"),
    "names of a stack": (lambda: similis.make_stack([kernel()], names=3), "list of names"),
    "slices of a stack": (lambda: similis.make_stack(["a"]), "Matrix 0 of a stack"),
    "ids of a diagnosis": (lambda: similis.diagnose(kernel(), ids=3), "ids must hold one name"),
    "batches": (lambda: similis.stream_fit(similis.IncrementalHLM(), similis.Minkowski(), 3), "sequence of pairs"),
    "rates": (lambda: similis.make_perturbed_centroids(3, "x"), "p must hold"),
    "a data set": (lambda: similis.load_benchmark([]), "no data set"),
    "ids of a matrix": (lambda: similis.Proximity(np.eye(2), 3), "one row id per row"),
    "a huge integer": (lambda: similis.Proximity(np.array([[10**400]], dtype=object)), "too large"),
    "type on disk": (lambda: measure_to_disk("m.npy", X, measure=similis.RBF(), dtype=True), "float32 or float64"),
    "blocks of a dict": (
        lambda: predict_blocks(similis.SDA().fit(kernel(), Y), {"a": 1}),
        "needs a matrix or a list of objects",
    ),
    "p values": (lambda: study.holm(3.0), "vector of real numbers"),
    "differences": (lambda: study.signed_rank([1j]), "vector of real numbers"),
    "huge differences": (lambda: study.signed_rank([1e300]), "up to 1e100 in magnitude"),
    "ids of a study": (lambda: study.Study("nc").run(kernel(), Y, ids=3), "ids must be one per object"),
    "ranks": (lambda: study.average_ranks(3), "by the name of a data set"),
    "objects of a method": (lambda: study.make_model("knn", n="x"), "n must be"),
    "a report": (lambda: report.make_report("x"), "needs a StudyResult"),
    "a card": (lambda: io.matrix_card(3), "shape must hold two whole numbers"),
    "compact": (lambda: similis.compact(np.eye(2)), "needs a classifier"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence(case):
    call, match = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=match) as caught:
        call()
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


# Degenerate, and answered without a warning.
ANSWERED = {
    "a large power": lambda: similis.Minkowski(p=1e12).matrix(X),
    "a middling power": lambda: similis.Minkowski(p=300.0).matrix(1e3 * X),
    "tiny margins": lambda: solvers.nonnegative_margin(1e-200 * kernel(), 1.0).alpha,
    "tiny margins, hard": lambda: solvers.nonnegative_margin(1e-200 * np.eye(3)).alpha,
    "an interval of no length": lambda: solvers.maxent_exponents(solvers.Omega((1.0, 1.0)), [0.0], [0.0]).rates * 0,
    "a tiny excess": lambda: 1 / solvers.gamma_shape([1e-310]),
}


@pytest.mark.parametrize("case", ANSWERED)
def test_answered_without_a_warning(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(ANSWERED[case]()).all()


def test_large_powers_are_near_the_largest_difference():
    for p in (19.0, 21.0, 400.0):
        mine = similis.Minkowski(p=p).matrix(X)
        plain = (np.abs(X[:, None] - X) ** p).sum(-1) ** (1 / p)
        np.testing.assert_allclose(mine, plain, rtol=1e-10)
    np.testing.assert_allclose(similis.Minkowski(p=1e9).matrix(X), similis.Chebyshev().matrix(X), rtol=1e-8)


# The list of names


@pytest.fixture(scope="module")
def cases():
    sys.path.insert(0, str(STRESS))
    try:
        import _fuzz_cases

        yield _fuzz_cases
    finally:
        sys.path.remove(str(STRESS))


def test_every_public_name_is_tried_or_left_out_for_a_reason(cases):
    names = cases.public_names()
    assert set(names) == set(cases.CASES) | set(cases.LEFT_OUT)
    assert not set(cases.CASES) & set(cases.LEFT_OUT)
    assert all(cases.LEFT_OUT.values())


@pytest.mark.parametrize(
    "name", ["neighbors.NearestCentroid", "proximity.SpectrumClip", "measures.Edit", "solvers.top_k"]
)
def test_cases_hold(cases, name):
    from _fuzz_inputs import TAPE, Tape
    from _fuzz_law import Tally

    rng, tally = np.random.default_rng(1), Tally(name)
    for _ in range(40):
        tally.run(cases.CASES[name], Tape(rng.bytes(TAPE)))
    assert tally.faults == {}
    assert tally.accepted


def test_the_law_notices(cases):
    """Each way to break it, by a function that does."""
    from _fuzz_law import Broken, Refused, call

    def change(A):
        A[0] = 1

    def warn(A):
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)

    def refuse(A):
        raise ProximityError("No.")

    for f in (change, warn, lambda A: 1 / 0, lambda A: A[99], lambda A: float("x"), lambda A: int("x" * 400)):
        with pytest.raises(Broken):
            call(f, np.zeros(3))
    with pytest.raises(Refused):
        call(refuse, np.zeros(3))
    assert call(len, np.zeros(3)) == 3


def test_powers_of_huge_vectors_are_refused():
    with pytest.raises(ProximityError, match="overflows"):
        similis.Polynomial().matrix(np.full((2, 3), 1e200))


def test_two_classes_without_extent_tie():
    """Means of zero: the limit compares plain distances, without a warning."""
    D = np.array([[0.0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    model = similis.NearestCentroid(adjusted=True, kind="dissimilarity").fit(D, [0, 0, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.decision_function([[1.0, 1, 1, 1]]) == 0


def test_a_statistic_that_fails_is_named():
    def broken(rows):
        raise KeyError("nothing")

    with pytest.raises(ProximityError, match="The statistic broken failed"):
        similis.SDA(statistic=broken).fit(np.eye(4), [0, 0, 1, 1])


@pytest.mark.parametrize(
    "measure", [similis.Wasserstein(p=2), similis.Wasserstein(metric="sqeuclidean"), similis.IRM()]
)
def test_points_infinitely_far_apart_are_refused(measure):
    """They once kept the transport solver busy for ever."""
    sets = [np.array([[0.0], [1e308]]), np.array([[-1e308], [1e300], [1.0]])]
    with pytest.raises(ProximityError, match="Scale the points down"):
        measure.matrix(sets)


@pytest.mark.parametrize("wrong", ["x", np.nan, np.inf, 0, 1.5, True])
def test_the_number_of_neighbors_asked_for_is_checked(wrong):
    knn = similis.SimilarityKNN(n_neighbors=2).fit(np.eye(4), [0, 0, 1, 1])
    index = NeighborIndex(similis.RBF(), n_neighbors=2, random_state=0).fit(np.arange(8.0)[:, None])
    for ask in (lambda: knn.kneighbors(np.eye(4), wrong), lambda: index.kneighbors(n_neighbors=wrong)):
        with pytest.raises(ProximityError, match="n_neighbors must be an integer of at least 1"):
            ask()


def test_what_fuzzing_found():
    """Values and arguments that once ended with an error of another library, or with a warning of NumPy."""
    y = np.arange(8) % 2
    tiny = 1e-250 * (1.0 + np.eye(8))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        similis.SBC().fit(tiny, y).predict(tiny)
        similis.KreinLogistic().fit(tiny, y)
        similis.ProximityRidge().fit(1e-200 * np.eye(8), np.arange(8.0))
    for kind in (True, (), {}, "no such"):
        with pytest.raises(similis.ProximityError, match="kind must be"):
            check_proximity(np.eye(3), kind=kind)
        with pytest.raises(similis.ProximityError, match="kind must"):
            make_model("knn", kind=kind)
    for n_landmarks in (0, 1.5, "x", None):
        with pytest.raises(ValueError, match="'n_landmarks' parameter"):
            choose_landmarks(y, n_landmarks)
    with pytest.raises(ValueError, match="label for every object"):
        choose_landmarks([0, "a", None], 2)
    assert choose_task([[1], [2, 3]]) == choose_task([10**400, 1]) == "classification"
    with pytest.raises(similis.ProximityError, match="two whole numbers"):
        matrix_card((), ids=["a"])
    with pytest.raises(similis.ProximityError, match="concepts of its taxonomy"):
        similis.Resnik(taxonomy={"a": "b"}).fit(np.array([[0, 1], [1, 1]]))
    column = similis.calibrate(similis.SimilarityKNN(n_neighbors=1), np.eye(8), y[:, None], cv=2, random_state=0)
    assert column.predict_proba(np.eye(8)).shape == (8, 2)
