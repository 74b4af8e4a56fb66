"""Every transformer of proximities passes scikit-learn's estimator checks and those of similis.testing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

import similis.proximity as room
from similis.proximity import (
    SMACOF,
    BoxCox,
    CombineMatrices,
    CompleteKernel,
    DissimilaritySpace,
    Landmarks,
    PseudoEuclidean,
    Rescale,
    RowRBF,
    SimilarityFeatures,
    SpectrumClip,
    SpectrumFlip,
    SpectrumShift,
    SpectrumSquare,
    Symmetrize,
    Tighten,
    ToDissimilarity,
    ToSimilarity,
    UnitDiagonal,
    Whiten,
    make_stack,
)
from similis.testing import estimator_checks, parametrize_with_checks

ESTIMATORS = [
    Symmetrize(),
    ToDissimilarity(),
    ToDissimilarity(method="root"),
    ToDissimilarity(method="reciprocal"),
    ToSimilarity(),
    ToSimilarity(method="reciprocal"),
    ToSimilarity(method="rbf"),
    ToSimilarity(method="exponential"),
    Tighten(),
    Tighten(q=3.5),
    Tighten(method="exponential"),
    BoxCox(),
    BoxCox(p="ml"),
    UnitDiagonal(),
    CombineMatrices(),
    CombineMatrices(matrix=0),
    Rescale(),
    Rescale(kind="dissimilarity"),
    SpectrumClip(),
    SpectrumClip(n_components=2),
    SpectrumFlip(),
    SpectrumFlip(n_components=2),
    SpectrumShift(),
    SpectrumSquare(),
    SimilarityFeatures(),
    RowRBF(),
    DissimilaritySpace(),
    DissimilaritySpace(selection="random", random_state=0),
    DissimilaritySpace(n_prototypes=3, selection="kcenter"),
    DissimilaritySpace(n_prototypes=3, selection="medoids"),
    DissimilaritySpace(n_prototypes=3, selection="forward"),
    PseudoEuclidean(),
    PseudoEuclidean(n_components=1, positive_only=True),
    SMACOF(),
    SMACOF(n_components=1, method="ordinal"),
    Whiten(),
    CompleteKernel(),
    CompleteKernel(mu=0.0),
    CompleteKernel(kind="dissimilarity", keep_known=False),
    CompleteKernel(psd=True, keep_known=False),
    CompleteKernel(method="psd"),
    CompleteKernel(method="psd", keep_known=False),
    Landmarks(5, random_state=0),
    Landmarks(5, selection="kcenter", spectrum="flip"),
    Landmarks(5, selection="medoids", output="features"),
    # with a constant diagonal, new rows can be scaled: the checks that UnitDiagonal cannot pass alone
    make_pipeline(RowRBF(), UnitDiagonal()),
]


NO_SELF_SIMILARITY = (
    "the check transforms rows of a matrix whose diagonal is not constant without self_similarity=, which UnitDiagonal "
    "refuses; the pipeline after RowRBF, whose diagonal is constant, passes it"
)
IN_PLACE = "scikit-learn's Pipeline fits its steps in place"


def expected_failures(estimator):
    if isinstance(estimator, Pipeline):
        return {"check_estimators_overwrite_params": IN_PLACE, "check_dont_overwrite_parameters": IN_PLACE}
    if isinstance(estimator, UnitDiagonal):
        needs_transform = (
            "check_estimators_dtypes",
            "check_dtype_object",
            "check_f_contiguous_array_estimator",
            "check_transformer_data_not_an_array",
            "check_transformer_general",
            "check_transformer_preserve_dtypes",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
            "check_dict_unchanged",
            "check_fit_idempotent",
        )
        return {
            **dict.fromkeys(needs_transform, NO_SELF_SIMILARITY),
            "check_positive_only_tag_during_fit": "the check makes self-similarities negative: no square root exists",
        }
    if getattr(estimator, "method", None) == "reciprocal" and isinstance(estimator, ToDissimilarity):
        return {"check_fit2d_1feature": "the check's matrix holds a similarity of zero, which has no reciprocal"}
    return {}


VARIANTS = [step for i, step in enumerate(ESTIMATORS) if type(step) in map(type, ESTIMATORS[:i])]


@parametrize_with_checks([e for e in ESTIMATORS if e not in VARIANTS], expected_failed_checks=expected_failures)
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_failures)
def test_checks_of_variants(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", VARIANTS, ids=repr)
def test_own_checks_of_variants(estimator):
    """The checks of similis; those of scikit-learn are slow tests."""
    for check in estimator_checks(estimator):
        check(estimator)


def test_every_transformer_is_here():
    public = {name for name in room.__all__ if hasattr(getattr(room, name), "transform")}
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS} - {"Pipeline"}


def proximities(estimator, rng, n=24, m=5):
    """A training matrix and new rows of the kind the estimator reads; similarities are positive but indefinite."""
    Z, new = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
    D, E = euclidean_distances(Z) ** 2, euclidean_distances(new, Z) ** 2
    if get_tags(estimator).input_tags.positive_only and not isinstance(estimator, ToDissimilarity):
        return D, E
    noise = np.triu(rng.uniform(0, 0.5, size=(n, n)), 1)
    return 1.5 - np.tanh(D) - noise - noise.T + 0.6, 1.5 - np.tanh(E)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_training_and_new_rows_are_treated_alike(estimator, rng):
    S, _ = proximities(estimator, rng)
    y = np.arange(len(S)) % 2
    fitted = clone(estimator).fit(S, y)
    if isinstance(estimator, SpectrumShift):  # the first exception: the diagonal
        expected = fitted.transform(S) + fitted.shift_ * np.eye(len(S))
        assert fitted.shift_ > 0
    else:
        expected = fitted.transform(S)
    np.testing.assert_allclose(clone(estimator).fit_transform(S, y), expected, atol=1e-8)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_rows_one_by_one(estimator, rng):
    S, T = proximities(estimator, rng)
    fitted = clone(estimator).fit(S, np.arange(len(S)) % 2)
    whole = fitted.transform(T)
    np.testing.assert_allclose(whole, np.vstack([fitted.transform(row[None]) for row in T]), atol=1e-8)
    assert not np.shares_memory(fitted.transform(T), T)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_float32_stays(estimator, rng):
    S, T = proximities(estimator, rng)
    y = np.arange(len(S)) % 2
    single = clone(estimator).fit(S.astype(np.float32), y)
    assert single.transform(T.astype(np.float32)).dtype == np.float32
    assert clone(estimator).fit_transform(S.astype(np.float32), y).dtype == np.float32
    if not isinstance(estimator, (SpectrumFlip, PseudoEuclidean, Whiten, Landmarks)):  # near-zero eigenvalues
        double = clone(estimator).fit(S, y).transform(T)
        np.testing.assert_allclose(single.transform(T.astype(np.float32)), double, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_names_and_frames(estimator, rng):
    S, T = proximities(estimator, rng)
    y = np.arange(len(S)) % 2
    ids = [f"id{i}" for i in range(len(S))]
    frame = pd.DataFrame(S, index=ids, columns=ids)
    fitted = clone(estimator).set_output(transform="pandas").fit(frame, y)
    out = fitted.transform(pd.DataFrame(T, columns=ids))
    names = list(fitted.get_feature_names_out())
    assert list(out.columns) == names
    training = clone(estimator).set_output(transform="pandas").fit_transform(frame, y)
    assert list(training.index) == ids
    if isinstance(estimator, DissimilaritySpace):
        assert names == [ids[i] for i in fitted.prototype_indices_]
    elif out.shape[1] == len(S) and not isinstance(estimator, (Whiten, PseudoEuclidean)):
        assert names == ids


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if not get_tags(e).input_tags.three_d_array], ids=repr)
def test_a_stack_is_refused(estimator, rng):
    S, T = proximities(estimator, rng)
    y = np.arange(len(S)) % 2
    with pytest.raises(ValueError, match=r"two-dimensional block|not a stack"):
        clone(estimator).fit(make_stack([S, S]), y)
    with pytest.raises(ValueError, match=r"two-dimensional block|not a stack"):
        clone(estimator).fit(S, y).transform(make_stack([T, T]))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.filterwarnings("error")
def test_degenerate_is_not_an_error(estimator):
    """One object; two; a zero matrix; all entries equal: finite results, no warning."""
    positive = get_tags(estimator).input_tags.positive_only
    similarity = not positive or isinstance(estimator, ToDissimilarity)
    for n in (1, 2, 6):
        y = np.arange(n) % 2
        if not (isinstance(estimator, ToDissimilarity) and positive):
            zero = np.zeros((n, n))
            check_finite(estimator, zero, y)
        equal = np.ones((n, n)) if similarity else 1 - np.eye(n)
        check_finite(estimator, equal, y)


def check_finite(estimator, S, y):
    if getattr(estimator, "selection", None) == "forward" and len(y) == 1:
        return  # needs two classes and says so
    out = clone(estimator).fit_transform(S, y)
    assert np.isfinite(out).all()
    assert out.shape[1] >= 1
    assert np.isfinite(clone(estimator).fit(S, y).transform(S)).all()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_bad_input_gets_one_clear_sentence(estimator, rng):
    S, T = proximities(estimator, rng)
    y = np.arange(len(S)) % 2
    infinite, missing = S.copy(), S.copy()
    infinite[3, 5], missing[4, 2] = np.inf, np.nan
    fitted = clone(estimator).fit(S, y)
    cases = [
        (lambda: clone(estimator).fit(S[:, :7], y), "square"),
        (lambda: clone(estimator).fit(infinite, y), "row 3, column 5"),
        (lambda: fitted.transform(T.T), "transpose"),
        (lambda: fitted.transform(T[:, :5]), "expecting 24"),
    ]
    if not get_tags(estimator).input_tags.allow_nan:
        cases.append((lambda: clone(estimator).fit(missing, y), "row 4, column 2.*complete_kernel"))
    if get_tags(estimator).input_tags.positive_only:
        negative = S.copy()
        negative[1, 2] = -1
        cases.append((lambda: clone(estimator).fit(negative, y), "Negative values.*row 1, column 2"))
    for call, words in cases:
        with pytest.raises(ValueError, match=words) as caught:
            call()
        assert len(str(caught.value)) < 300
