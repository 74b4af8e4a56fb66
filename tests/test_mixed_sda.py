"""Tables of numeric and categorical columns: Gaussians times similarity discriminant analysis, eq. (3.43)-(3.44)."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.model_selection import cross_val_score

from similis import SDA, VDM, Counting, MixedSDA, compact, load, save


def table(rng, n=90, n_classes=3):
    y = np.arange(n) % n_classes
    color = np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n))
    size = y + rng.normal(size=n)
    weight = 2 * size + (1 + y) * rng.normal(size=n) + color
    columns = {
        "color": np.array(["red", "green", "blue"])[color],
        "size": size,
        "shape": rng.choice(["round", "long"], n),
        "weight": weight,
        "ripe": np.where(rng.random(n) < 0.8, y > 0, y == 0).astype(str),
    }
    rows = [list(row) for row in zip(*columns.values())]
    return columns, rows, np.array(["a", "b", "c"])[y]


def parts(rows):
    cat = np.array([[r[0], r[2], r[4]] for r in rows], dtype=object)
    return cat, np.array([[r[1], r[3]] for r in rows], dtype=float)


@pytest.mark.parametrize("measure", [Counting(), VDM()], ids=["counting", "vdm"])
def test_independent_is_the_product(rng, measure):
    """[cazzanti2007] Eq. (3.44): a Gaussian of the numbers times SDA of the categories, class by class."""
    _, rows, y = table(rng)
    model = MixedSDA(measure, regularization=1e-12).fit(rows, y)
    cat, num = parts(rows)
    fitted = measure.fit(cat, y)
    sda = SDA(kind=fitted.kind).fit(fitted.matrix(cat), y)
    log_p = sda.class_log_prob(fitted.matrix(cat))
    for g, label in enumerate(["a", "b", "c"]):
        own = num[y == label]
        log_p[:, g] += multivariate_normal(own.mean(axis=0), np.cov(own.T, bias=True)).logpdf(num)
    np.testing.assert_allclose(model.class_log_prob(rows), log_p, rtol=1e-7, atol=1e-7)
    joint = np.exp(log_p)
    np.testing.assert_allclose(model.predict_proba(rows), joint / joint.sum(axis=1, keepdims=True), atol=1e-7)
    np.testing.assert_allclose(model.score_samples(rows), np.log(joint.mean(axis=1)), atol=1e-7)


def test_conditional_is_the_conditional_of_a_joint_gaussian(rng):
    """[cazzanti2007] Eq. (3.43), the numbers given the statistics: p(t, x | g) / p(t | g) of one Gaussian."""
    _, rows, y = table(rng)
    model = MixedSDA(Counting(), independent=False, regularization=0.2).fit(rows, y)
    cat, num = parts(rows)
    S = Counting().fit(cat).matrix(cat)
    sda = SDA().fit(S, y)
    T = sda.statistics(S)
    log_p = sda.class_log_prob(S)
    u = np.hstack([T, num])
    within = u - np.stack([u[y == label].mean(axis=0) for label in y])
    for g, label in enumerate(["a", "b", "c"]):
        own = u[y == label]
        C = 0.8 * np.cov(own.T, bias=True) + 0.2 * np.diag((within**2).mean(axis=0))
        joint, first = (multivariate_normal(own.mean(axis=0)[:k], C[:k, :k]).logpdf(u[:, :k]) for k in (5, 3))
        log_p[:, g] += joint - first
    np.testing.assert_allclose(model.class_log_prob(rows), log_p, rtol=1e-7, atol=1e-7)


def test_numbers_alone_are_quadratic_discriminant_analysis(rng):
    _, rows, y = table(rng, n=120)
    _, num = parts(rows)
    ours = MixedSDA(Counting(), regularization=1e-12).fit(num, y)
    assert ours.sda_ is None
    theirs = QuadraticDiscriminantAnalysis().fit(num, y)
    np.testing.assert_allclose(ours.means_, theirs.means_)
    np.testing.assert_allclose(ours.covariances_, [np.cov(num[y == g].T, bias=True) for g in "abc"], rtol=1e-6)
    assert (ours.predict(num) == theirs.predict(num)).mean() > 0.97


def test_categories_alone_are_sda(rng):
    _, rows, y = table(rng)
    cat, _ = parts(rows)
    S = Counting().fit(cat).matrix(cat)
    model = MixedSDA(Counting(), pseudocount=1.0).fit(cat, y)
    np.testing.assert_allclose(model.predict_proba(cat), SDA(pseudocount=1.0).fit(S, y).predict_proba(S))
    assert len(model.objects_) <= 3  # the centroids


def test_any_table_will_do(rng):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns, rows, y = table(rng)
    expected = MixedSDA(Counting()).fit(rows, y).predict_proba(rows)
    frame = pandas.DataFrame(columns)
    named = frame.astype({"color": "category"})
    for X in (frame, named, polars.DataFrame(columns), frame.to_numpy()):
        model = MixedSDA(Counting()).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    told = MixedSDA(Counting(), numeric=["size", "weight"], categorical=[0, 2, 4]).fit(frame, y)
    np.testing.assert_allclose(told.predict_proba(frame), expected)
    one = MixedSDA(Counting(), categorical=["color", "shape", "ripe"]).fit(frame, y)
    np.testing.assert_array_equal(one.numeric_, [1, 3])
    np.testing.assert_array_equal(
        MixedSDA(Counting(), numeric=["size"]).fit(frame[["size", "ripe"]], y).categorical_, [1]
    )
    assert cross_val_score(model, frame, y).mean() > 0.6


def test_new_categories_and_constant_columns(rng):
    _, rows, y = table(rng)
    rows = [[*row, 7.0] for row in rows]
    model = MixedSDA(Counting()).fit(rows, y)
    proba = model.predict_proba([["violet", 0.0, "square", 1.0, "yes", 7.0]])
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(
        MixedSDA(Counting()).fit([r[:5] for r in rows], y).predict_proba([r[:5] for r in rows]),
        model.predict_proba(rows),
    )


def test_one_object_classes_are_not_an_error():
    model = MixedSDA(Counting()).fit([["x", 1.0], ["y", 2.0], ["x", 3.0]], [0, 1, 2])
    np.testing.assert_array_equal(model.predict([["x", 1.0], ["y", 2.0], ["x", 3.0]]), [0, 1, 2])


def test_costs_save_compact(rng, tmp_path):
    _, rows, y = table(rng)
    costs = np.array([[0, 9, 9], [1, 0, 1], [1, 1, 0.0]])
    model = MixedSDA(VDM(), costs=costs).fit(rows, y)
    code = np.argmin(model.predict_proba(rows) @ costs.T, axis=1)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[code])
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict_proba(rows), model.predict_proba(rows))
    np.testing.assert_array_equal(compact(model).predict(rows), model.predict(rows))


@pytest.mark.parametrize(
    "params, spoil, words",
    [
        ({"numeric": ["height"]}, None, "no column 'height'"),
        ({"numeric": [0]}, None, "needs numbers in column 0"),
        ({}, (3, 1, np.nan), "column 1 holds nan .* row 3"),
        ({}, (3, 1, None), "column 1 holds nan .* row 3"),
        ({}, (3, 1, np.inf), "column 1 holds inf"),
        ({}, (3, 1, 1e200), r"at most 1e\+140; column 1 holds 1e\+200"),
        ({"regularization": 0.0}, None, "regularization"),
        ({"costs": np.zeros((2, 2))}, None, "3 x 3"),
        ({"domain": (0.0, 1.0)}, None, "outside the given domain"),
    ],
)
def test_bad_input_gets_one_clear_sentence(rng, params, spoil, words):
    _, rows, y = table(rng)
    if spoil:
        rows[spoil[0]][spoil[1]] = spoil[2]
    with pytest.raises(ValueError, match=words) as caught:
        MixedSDA(Counting(), **params).fit(rows, y)
    assert len(str(caught.value)) < 300


def test_complex_numbers_are_no_numbers(rng):
    X = rng.normal(size=(6, 2)) * 1j
    with pytest.raises(ValueError, match="needs numbers in column 1"):
        MixedSDA(Counting(), numeric=[1]).fit(X, [0, 1] * 3)


def test_what_is_no_table_is_refused(rng):
    _, rows, y = table(rng)
    model = MixedSDA(Counting()).fit(rows, y)
    for bad, words in ((rows[0], "2D"), ([row[:4] for row in rows], "4 features"), (rows[:0], "2D|minimum")):
        with pytest.raises(ValueError, match=words):
            model.predict(bad)
    with pytest.raises(ValueError, match="measure"):
        MixedSDA("counting").fit(rows, y)
