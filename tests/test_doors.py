"""Input validation: any input gives a clean matrix or one short error message."""

import decimal
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse as sp
from sklearn.model_selection import GroupKFold

from similis import (
    ConformalClassifier,
    FromMatrix,
    FullKernelSVM,
    IncrementalHLM,
    PathSearchCV,
    Proximity,
    SimilarityKNN,
    SimilarityKNNRegressor,
    Study,
    calibrate,
    diagnose,
    make_stack,
)
from similis.base import Measure, ProximityTransformer, check_labels, check_proximity, check_query
from similis.cluster import silhouette_samples
from similis.exceptions import KindWarning, ProximityError
from similis.maxsim import tightness
from similis.proximity import anosim, mantel, permanova, permdisp

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

SETTINGS = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
OPTIONS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from([None, "similarity", "dissimilarity"]),
        "allow_missing": st.booleans(),
        "allow_stack": st.booleans(),
        "accept_sparse": st.booleans(),
    }
)


class Step(ProximityTransformer):
    """A minimal estimator with both kinds of validation."""

    def fit(self, X, y=None):
        self.check_training(X)
        return self

    def transform(self, X):
        return self.check_rows(X)


class Tolerant(Step):
    allow_missing = allow_stack = accept_sparse = True


def fitted(n, names=None, step=Step):
    X = np.eye(n)
    return step().fit(X if names is None else pd.DataFrame(X, index=names, columns=names))


def goes_in(A, n=None, **options):
    """Both doors, with and without an estimator: the documented exceptions, in a sentence, or a clean array."""
    results = []
    for door in (
        lambda: check_proximity(A, **options),
        lambda: check_proximity(A, estimator=Step(), **options),
        lambda: check_query(A, fitted(n or 3), **options),
    ):
        message = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", KindWarning)
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                warnings.filterwarnings("ignore", "X has feature names")
                result = door()
        except (ValueError, TypeError) as error:
            message = str(error)
        if message is None:
            assert isinstance(result, np.ndarray)
            assert result.dtype in (np.float64, np.float32)
            assert result.flags.c_contiguous
            assert result.ndim in (2, 3)
            assert not np.isinf(result).any()
            assert options.get("allow_missing") or not np.isnan(result).any()
            assert options.get("kind") != "dissimilarity" or not (result < 0).any()
            results.append(result)
        else:
            assert 10 < len(message) < 300
            assert "\n" not in message
            results.append(None)
    return results


numbers = st.floats(width=32) | st.integers(-5, 5) | st.sampled_from([0.0, 1.0, np.nan, np.inf, 1e308])
anything = (
    numbers
    | st.booleans()
    | st.none()
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | st.complex_numbers()
    | st.just(10**400)
)
dtypes = st.sampled_from(["f2", "f4", "f8", "g", "i1", "i8", "u8", "?", "c16", "O", "U3", "S3", "M8[s]", ">f8"])


@SETTINGS
@given(data=st.data(), dtype=dtypes, options=OPTIONS, order=st.sampled_from("CF"))
def test_any_array(data, dtype, options, order):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    elements = anything if dtype == "O" else None
    A = data.draw(hnp.arrays(dtype, shape, elements=elements))
    goes_in(np.asarray(A, order=order), **options)


def test_missing_entries_in_half_precision():
    goes_in(np.array([[np.nan]], np.float16), n=1, allow_missing=True)


@SETTINGS
@given(
    data=st.data(), n=st.integers(1, 4), dtype=st.sampled_from(["f4", "f8", "i4", "?"]), form=st.sampled_from(range(8))
)
def test_good_matrices_go_in_unchanged(tmp_path, data, n, dtype, form):
    sizes = {"f8": 2.0**460, "f4": 2.0**49}  # larger ones are refused, and what is smaller throughout
    elements = {"min_value": -sizes[dtype], "max_value": sizes[dtype]} if dtype in sizes else None
    A = data.draw(hnp.arrays(dtype, (n, n), elements=elements))
    assume(not A.any() or np.abs(A.astype(float)).max() > 1e-30)
    if form == 6:
        np.save(tmp_path / "m.npy", A)
    names = [f"o{i}" for i in range(n)]
    made = [
        lambda: A,
        lambda: np.asfortranarray(A),
        lambda: A.tolist(),
        lambda: pd.DataFrame(A),
        lambda: pd.DataFrame(A, index=names, columns=names),
        lambda: pl.DataFrame(A, schema=names),
        lambda: np.load(tmp_path / "m.npy", mmap_mode="r"),
        lambda: np.repeat(np.repeat(A, 2, axis=0), 2, axis=1)[::2, ::2],
    ][form]()
    for result in goes_in(made, n=n):
        np.testing.assert_array_equal(result, A)
        if dtype == "f4" and form != 2:
            assert result.dtype == np.float32
        if form == 0 and dtype.startswith("f"):
            assert np.shares_memory(result, A)


@SETTINGS
@given(rows=st.recursive(anything, lambda children: st.lists(children, max_size=4), max_leaves=12), options=OPTIONS)
def test_any_nested_list(rows, options):
    goes_in(rows, **options)


@SETTINGS
@given(data=st.data(), options=OPTIONS, n=st.integers(1, 4), m=st.integers(1, 4))
def test_any_frame(data, options, n, m):
    names = st.lists(
        st.text(max_size=3) | st.integers(-2, 3) | st.sampled_from([np.nan, None, ("a", 1), "x" * 400]),
        min_size=m,
        max_size=m,
    )
    rows = st.lists(st.text(max_size=3) | st.integers(-2, 3) | st.sampled_from([np.nan, None]), min_size=n, max_size=n)
    cells = data.draw(st.sampled_from([numbers, anything, st.text(max_size=3)]))
    values = data.draw(st.lists(st.lists(cells, min_size=m, max_size=m), min_size=n, max_size=n))
    columns, index = data.draw(names), data.draw(rows)
    try:
        frame = pd.DataFrame(values, index=pd.Index(index, dtype=object), columns=pd.Index(columns, dtype=object))
    except OverflowError:  # pandas has its own limits
        assume(False)
    goes_in(frame, **options)


@SETTINGS
@given(data=st.data(), options=OPTIONS, n=st.integers(0, 4), m=st.integers(0, 4))
def test_any_polars_frame(data, options, n, m):
    kinds = [st.floats(), st.integers(-5, 5), st.booleans(), st.text(max_size=3), st.binary(max_size=2), st.dates()]
    kinds = [kind | st.none() for kind in kinds] + [st.lists(st.floats(), max_size=2)]
    columns = {
        f"c{j}": data.draw(st.lists(data.draw(st.sampled_from(kinds)), min_size=n, max_size=n)) for j in range(m)
    }
    goes_in(pl.DataFrame(columns), **options)


@SETTINGS
@given(
    data=st.data(),
    options=OPTIONS,
    shape=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    form=st.sampled_from(["csr", "csc", "coo", "lil", "dia"]),
)
def test_any_sparse(data, options, shape, form):
    A = data.draw(
        hnp.arrays(data.draw(st.sampled_from(["f8", "f4", "i4", "c8"])), shape, elements=st.sampled_from([0, 0, 1, 2]))
    )
    for kind in (sp.coo_array, sp.coo_matrix):
        goes_in(kind(A).asformat(form), **options)


@pytest.mark.parametrize(
    "thing",
    [
        None,
        5,
        "abc",
        b"abc",
        {"a": 1},
        {1, 2},
        len,
        range(3),
        iter([1]),
        object(),
        [],
        [[]],
        [[], []],
        decimal.Decimal(1),
        slice(3),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_things_that_are_no_matrix(thing):
    assert goes_in(thing) == [None, None, None]


def test_other_containers():
    np.testing.assert_array_equal(check_proximity([[decimal.Decimal(1)]]), [[1.0]])
    np.testing.assert_array_equal(check_proximity(((1, 2), (3, 4))), [[1, 2], [3, 4]])
    with pytest.raises(TypeError, match=r"np\.matrix"):
        check_proximity(np.eye(2).view(np.matrix))
    masked = np.ma.masked_equal([[1, 7], [7, 1]], 7)
    with pytest.raises(ProximityError, match="NaN at row 0, column 1"):
        check_proximity(masked)
    assert np.isnan(check_proximity(masked, allow_missing=True)[0, 1])


@pytest.mark.parametrize(
    "A, message",
    [
        ([[1.0, 2.0]], r"needs a square matrix at fit.*Got shape \(1, 2\).*Pairwise\(measure\)"),
        ([[1.0, np.nan], [0, 1]], "NaN at row 0, column 1.*complete_kernel"),
        ([[1.0, 0], [-np.inf, 1]], "infinity .* at row 1, column 0"),
        ([["1", "high"], [1, 1]], "Got 'high' at row 0, column 1"),
        ([[1, {}], [1, 1]], "Got '{}' at row 0, column 1"),
        (np.eye(2) * 1j, "Complex data not supported: .* needs real numbers"),
        ([[1, 2], [3]], "rows of different lengths"),
        ([1, 2], "Expected 2D array, got 1D array"),
        (np.zeros((2, 2, 2)), r"one matrix, not a stack of several. Got shape \(2, 2, 2\)"),
        (np.zeros((2, 2), "M8[s]"), "real numbers. Got dtype datetime64"),
        ([[10**400]], "too large"),
        (pd.DataFrame({"a": [1, 2], "b": [1j, 2]}), "column 1, 'b', of type complex128"),
        (pd.DataFrame({"a": pd.to_datetime(["2020", "2021"]), "b": [1, 2]}), "column 0, 'a', of type datetime64"),
        (
            pd.DataFrame(np.eye(2), index=["a", "b"], columns=["b", "a"]),
            "Position 0 is 'a' among the rows and 'b' among",
        ),
        (pd.DataFrame(np.eye(2), index=["a", "b"], columns=["a", "a"]), "different names|Position 1"),
        (pd.DataFrame(np.eye(2), index=["x" * 999, "b"], columns=["y" * 999, "b"]), r"Position 0 is 'x+\.\.\.'"),
    ],
)
def test_words_at_fit(A, message):
    for estimator in (None, Step()):
        with pytest.raises((ProximityError, TypeError), match=message) as caught:
            check_proximity(A, estimator=estimator)
        assert len(str(caught.value)) < 300


def test_words_about_kind():
    with pytest.raises(ProximityError, match=r"must not be below zero. Got one at row 0, column 1.*ToDissimilarity"):
        check_proximity([[0.0, -1], [1, 0]], kind="dissimilarity")
    with pytest.warns(KindWarning, match="zero diagonal"):
        check_proximity(1 - np.eye(3), kind="similarity")
    with pytest.warns(KindWarning, match="its smallest entries on the diagonal"):
        check_proximity(1.01 - np.eye(3), kind="similarity")
    with pytest.warns(KindWarning, match="largest entries on the diagonal"):
        check_proximity(np.eye(3), kind="dissimilarity")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for A in (np.zeros((3, 3)), np.ones((3, 3)), np.eye(2)):
            check_proximity(A, kind="similarity")
            check_proximity(A[:1, :1], kind="dissimilarity")
        check_proximity(np.full((4, 4), np.nan), kind="similarity", allow_missing=True)
        check_proximity(np.full((4, 4), np.nan), kind="dissimilarity", allow_missing=True)


@pytest.mark.parametrize(
    "form",
    [np.asarray, list, pd.DataFrame, lambda A: pl.DataFrame(np.asarray(A)), sp.csr_array],
    ids=["array", "list", "pandas", "polars", "csr"],
)
def test_words_about_a_transposed_block(form):
    block = np.zeros((3, 2))
    with pytest.raises(
        ProximityError, match=r"X has 2 features, but Tolerant is expecting 3 features.*looks transposed"
    ) as caught:
        fitted(3, step=Tolerant).transform(form(block) if form is not list else block.tolist())
    assert len(str(caught.value)) < 300
    with pytest.raises(
        ProximityError, match="X has 4 features, but Tolerant is expecting 3 features as input, one column per"
    ) as caught:
        fitted(3, step=Tolerant).transform(np.zeros((2, 4)))
    assert "transposed" not in str(caught.value)


def test_frames_keep_their_names():
    step = fitted(2, names=["a", "b"])
    assert step.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(step.transform(pd.DataFrame([[1.0, 2.0]], columns=["a", "b"])), [[1, 2]])
    np.testing.assert_array_equal(step.transform(pl.DataFrame([[1.0, 2.0]], schema=["a", "b"], orient="row")), [[1, 2]])
    with pytest.raises(ValueError, match="feature names should match"):
        step.transform(pd.DataFrame([[1.0, 2.0]], columns=["b", "a"]))
    for index, columns in [
        (["a", "b"], None),
        (None, ["a", "b"]),
        ([1, 2], ["1", "2"]),
        ([np.nan, "b"], [np.nan, "b"]),
    ]:
        check_proximity(pd.DataFrame(np.eye(2), index=index, columns=columns))


@pytest.mark.parametrize(
    "index, columns",
    [
        (["b", "a", "c"], ["a", "b", "c"]),
        ([2, 0, 1], None),  # rows shuffled, columns 0, 1, 2
        (None, ["1", "0", "2"]),
    ],
)
def test_frames_with_rows_in_another_order_are_rejected(index, columns):
    frame = pd.DataFrame(np.eye(3), index=index, columns=columns)
    with pytest.raises(ProximityError, match="same, in the same order"):
        SimilarityKNN().fit(frame, [0, 1, 1])


def test_labels_in_another_order_than_the_frame_are_rejected():
    ids = list("abcd")
    frame = pd.DataFrame(np.eye(4), index=ids, columns=ids)
    y = pd.Series([0, 1, 0, 1], index=ids)
    calls = [
        lambda y: SimilarityKNN(n_neighbors=1).fit(frame, y),
        lambda y: PathSearchCV(SimilarityKNN(), {"n_neighbors": [1]}, cv=2).fit(frame, y),
        lambda y: diagnose(frame, y),
        lambda y: Study("nc", n_splits=2, cv=2, protocol="stratified", test_size=0.5).run(frame, y),
        lambda y: Proximity(frame, labels=y),
        lambda y: silhouette_samples(1 - frame, y),
        lambda y: tightness(frame, y),
        lambda y: IncrementalHLM().partial_fit(1 - frame, y),
        lambda y: FullKernelSVM(transductive=True).fit(frame, y),
        lambda y: IncrementalHLM().fit(1 - np.eye(2), [0, 1]).partial_fit(1 - frame, y),
    ]
    for call in calls:
        call(y)
        call(y.reset_index(drop=True))  # the index says nothing
        with pytest.raises(ProximityError, match="Position 0 is 'd' in the index of y and 'a' in that of X"):
            call(y[::-1])
    shuffled = pd.DataFrame(np.eye(4)), pd.Series([0, 1, 0, 1]).loc[[2, 0, 1, 3]]
    with pytest.raises(ProximityError, match="same objects in the same order"):
        SimilarityKNN(n_neighbors=1).fit(*shuffled)
    SimilarityKNN(n_neighbors=1).fit(np.eye(4), shuffled[1])  # an array has no order to compare with


def test_matrices_and_variables_in_another_order_are_rejected():
    ids = list("abcdef")
    frame = pd.DataFrame(np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))), index=ids, columns=ids)
    y, free = pd.Series([0, 1, 0, 1, 0, 1], index=ids), {"permutations": 3, "random_state": 0}
    back = frame.iloc[::-1, ::-1]
    for test in (permanova, anosim, permdisp):
        assert test(frame, y, strata=y.reset_index(drop=True), **free) == test(frame.to_numpy(), y, strata=y, **free)
        with pytest.raises(ProximityError, match="Position 0 is 'f' in the index of y and 'a' in that of D"):
            test(frame, y[::-1])
        with pytest.raises(ProximityError, match=r"Reorder strata: strata\.loc\[D\.index\]"):
            test(frame, y, strata=y[::-1])
    with pytest.raises(ProximityError, match="groups and S must hold the same objects"):
        diagnose(frame, kind="dissimilarity", groups=y[::-1])
    with pytest.raises(ProximityError, match="covariates and D must hold the same objects"):
        permanova(frame, y, covariates=pd.DataFrame({"x": np.arange(6.0)}, index=ids[::-1]))
    with pytest.raises(ProximityError, match="'f' in the index of B and 'a' in that of A"):
        mantel(frame, back)
    with pytest.raises(ProximityError, match="strata and A must hold"):
        mantel(frame, frame, strata=y[::-1])
    with pytest.raises(ProximityError, match="matrix 'b' and matrix 'a' must hold the same objects"):
        make_stack([frame, back], names=["a", "b"])


def test_groups_in_another_order_than_the_frame_are_rejected():
    ids = list("abcdef")
    frame = pd.DataFrame(np.eye(6), index=ids, columns=ids)
    y, knn = [0, 1, 0, 1, 0, 1], SimilarityKNN(n_neighbors=1)
    groups = pd.Series([0, 0, 1, 1, 2, 2], index=ids)[::-1]
    search = PathSearchCV(knn, {"n_neighbors": [1]}, cv=GroupKFold(3))
    for fit in (search.fit, ConformalClassifier(knn, cv=2).fit, partial(calibrate, knn, cv=2), Study(["knn"]).run):
        with pytest.raises(ProximityError, match=r"groups and . must hold the same objects in the same order"):
            fit(frame, y, groups=groups)
    search.fit(frame, y, groups=groups[::-1])


def test_stored_and_stacked_matrices_follow_the_same_rules():
    shuffled = pd.DataFrame(np.eye(3), index=["b", "a", "c"], columns=["a", "b", "c"])
    masked = np.ma.masked_equal([[1, 7], [7, 1]], 7)
    for call in (lambda: FromMatrix(shuffled).matrix([0, 1]), lambda: make_stack([np.eye(3), shuffled])):
        with pytest.raises(ProximityError, match="same, in the same order"):
            call()
    nan = np.nan
    np.testing.assert_array_equal(FromMatrix(masked).matrix([0, 1]), [[1, nan], [nan, 1]])
    np.testing.assert_array_equal(np.asarray(make_stack([masked, np.eye(2)]))[:, :, 0], [[1, nan], [nan, 1]])


@pytest.mark.parametrize("step", [Step, SimilarityKNN])
def test_words_about_a_query_of_three_dimensions(step):
    model = fitted(3, step=Step) if step is Step else SimilarityKNN(n_neighbors=1).fit(np.eye(3), [0, 1, 1])
    method = model.transform if step is Step else model.predict
    for shape in ((2, 7, 3), (2, 3, 7), (3, 3, 3)):
        with pytest.raises(ProximityError, match="expects a two-dimensional block, one row per new object") as caught:
            method(np.zeros(shape))
        assert "features" not in str(caught.value)


@pytest.mark.parametrize(
    "dtype, values",
    [("string", "xy"), (object, "xy"), ("category", "xy"), ("Int64", (1, 2)), ("boolean", (False, True))],
)
def test_labels_and_targets_with_missing_entries_of_pandas(dtype, values):
    y = pd.Series([values[0], values[1], pd.NA, values[0]], dtype=dtype)
    whole = SimilarityKNN(n_neighbors=1).fit(np.eye(4), y.fillna(values[0])).classes_
    np.testing.assert_array_equal(whole, list(values))
    for model, labels in [(SimilarityKNN(), y), (SimilarityKNN(), y.tolist()), (SimilarityKNNRegressor(), y)]:
        with np.errstate(all="raise"), pytest.raises(ProximityError, match=r"every object. Object 2 has none"):
            model.fit(np.eye(4), labels)


def test_labels_of_numpy_s_string_type_and_masked_labels():
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy 2")
    y = np.array(["x", "y", "x"], dtype=np.dtypes.StringDType())
    classes, codes = check_labels(y, 3)
    assert classes.tolist() == ["x", "y"]
    assert codes.tolist() == [0, 1, 0]
    assert SimilarityKNN(n_neighbors=1).fit(np.eye(3), y).predict(np.eye(3)).tolist() == ["x", "y", "x"]
    holes = np.array(["x", None, "y"], dtype=np.dtypes.StringDType(na_object=None))
    with pytest.raises(ProximityError, match="Object 1 has none"):
        check_labels(holes, 3)
    with pytest.raises(ProximityError, match="Object 2 is masked"):
        check_labels(np.ma.masked_array([0, 1, 0], mask=[0, 0, 1]), 3)


def test_absent_entries_of_sparse_matrices():
    A = sp.csr_array(([1.0, 0.0, 2.0], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
    S = check_proximity(A, accept_sparse=True, kind=None)
    np.testing.assert_array_equal(S, [[0, 1, 0], [0, 0, 0], [2, 0, 0]])
    nan = np.nan
    D = check_proximity(A, accept_sparse=True, kind="dissimilarity", allow_missing=True)
    np.testing.assert_array_equal(D, [[0, 1, nan], [nan, 0, 0], [2, nan, 0]])
    # new objects are not the training objects: nothing is known of the diagonal
    Q = check_query(A, fitted(3), accept_sparse=True, kind="dissimilarity", allow_missing=True)
    np.testing.assert_array_equal(Q, [[nan, 1, nan], [nan, nan, 0], [2, nan, nan]])
    twice = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    assert check_proximity(twice, accept_sparse=True, kind="dissimilarity", allow_missing=True)[0, 1] == 3
    with pytest.raises(TypeError, match="dense data is required"):
        check_proximity(A)


def test_stacks():
    stack = np.ones((2, 2, 3))
    step = Tolerant().fit(stack)
    assert step.n_features_in_ == 2
    assert step.transform(np.ones((4, 2, 3))).shape == (4, 2, 3)
    with pytest.raises(ProximityError, match="square"):
        Tolerant().fit(np.ones((2, 3, 3)))
    with pytest.raises(ProximityError, match="is expecting 2 features"):
        step.transform(np.ones((2, 3, 3)))
    with pytest.raises(ProximityError, match="n x n x q"):
        Tolerant().fit(np.ones((2, 2, 2, 2)))
    stack[1, 0, 2] = np.inf
    with pytest.raises(ProximityError, match="row 1, column 0, slice 2"):
        Tolerant().fit(stack)


def test_input_is_never_changed():
    A = np.array([[1.0, np.nan], [0.5, 1.0]])
    before = A.copy()
    result = check_proximity(A, allow_missing=True)
    assert np.shares_memory(result, A)
    np.testing.assert_array_equal(A, before)
    read_only = np.eye(3)
    read_only.flags.writeable = False
    np.testing.assert_array_equal(check_proximity(read_only), np.eye(3))


@pytest.mark.parametrize("dtype, large, small", [("f8", 1.1e140, 1e-300), ("f4", 1.1e15, 1e-37)])
def test_entries_that_cannot_be_squared_or_divided_by_are_refused(dtype, large, small):
    A = np.eye(3, dtype=dtype)
    A[1, 2] = -large
    with pytest.raises(ProximityError, match=r"at most 1e\+\d+, so that .* at row 1, column 2\. Divide the matrix"):
        check_proximity(A)
    with pytest.raises(ProximityError, match="Divide the matrix"):
        check_query(A, fitted(3))
    with pytest.raises(ProximityError, match="Multiply the matrix by a constant"):
        check_proximity(np.full((3, 3), small, dtype=dtype))
    check_query(np.full((2, 3), small, dtype=dtype), fitted(3))  # a new object may be far from everything
    check_proximity(np.array([[1, small], [small, 1]], dtype=dtype))


@pytest.mark.parametrize(
    "y, match",
    [
        (np.array([1j, 2, 1j]), "y must hold labels: text, numbers or booleans. Got dtype complex128"),
        (np.array(["a", 1], dtype=object), "y must hold labels of one type. Got int and str"),
    ],
)
def test_labels_that_cannot_be_sorted(y, match):
    with pytest.raises(ProximityError, match=match):
        check_labels(y, len(y))


def test_a_frame_without_columns():
    with pytest.raises(ProximityError, match="a frame without columns"):
        check_proximity(pd.DataFrame())


def test_measure_written_for_version_1_works_with_a_warning():
    with pytest.warns(FutureWarning, match="_compare is called compare since similis 2.0"):

        class Product(Measure):
            def _encode(self, objects):
                return np.asarray(objects, dtype=float)

            def _compare(self, A, B):
                return A @ B.T

    X = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(Product().fit(X).matrix(X), X @ X.T)
