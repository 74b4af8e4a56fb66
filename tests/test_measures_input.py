"""What a measure may be given, and the one sentence it answers with when it may not."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from similis import (
    HVDM,
    RBF,
    VDM,
    Chebyshev,
    Cosine,
    Counting,
    Dice,
    FromFunction,
    FromMatrix,
    Jaccard,
    Minkowski,
    Pairwise,
    Polynomial,
    TverskyContrast,
    TverskyRatio,
)

ROWS = [["y", "n", 1], ["y", "y", 2], ["n", "?", 1], ["n", "n", 3]]
LABELS = ["a", "b", "a", "b"]


def refused(call, *arguments, match, error=ValueError, **options):
    with pytest.raises(error, match=match) as caught:
        call(*arguments, **options)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("measure", [Counting(), VDM(), HVDM(categorical=[0, 1, 2])], ids=repr)
def test_tables_come_in_many_forms(measure):
    expected = measure.fit(ROWS, LABELS).matrix(ROWS)
    frame = pd.DataFrame(ROWS, columns=["p", "q", "r"])
    for form in (
        [tuple(row) for row in ROWS],
        np.array(ROWS, dtype=object),
        np.array(ROWS),  # all text
        frame,
        frame.astype("category"),
        frame.astype({"p": "category", "r": "Int64"}),
        pl.DataFrame({"p": list("yynn"), "q": list("ny?n"), "r": [1, 2, 1, 3]}),
        np.array([[0, 0, 10], [0, 1, 20], [1, 2, 10], [1, 0, 30]]),
        np.array([[0, 0, 0], [0, 1, 1], [1, 2, 0], [1, 0, 2]], dtype=np.uint8),
        np.array([[0, 0, -1e9], [0, 1, 0.5], [1, 2, -1e9], [1, 0, 7.25]]),
        np.array([[-5, 2**40, 1], [-5, 1, 2], [5, 2, 1], [5, 2**40, 3]]),
    ):
        fitted = measure.fit(form, LABELS)
        np.testing.assert_allclose(fitted.matrix(form), expected, atol=1e-15)
        np.testing.assert_allclose(Pairwise(measure).fit_transform(form, LABELS), expected, atol=1e-15)


def test_values_are_equal_when_python_says_so():
    table = np.array([[1, 2], [3, 1]])
    fitted = Pairwise(Counting()).fit(table)
    for new in ([[1.0, 2.0]], [[True, 2]], np.array([[1, 2]], dtype=np.uint8), np.array([[1.0, 2.0]])):
        assert fitted.transform(new).tolist() == [[2, 0]]
    assert fitted.transform([["1", 2]]).tolist() == [[1, 0]]
    assert fitted.transform(np.array([[-1, 2**62]])).tolist() == [[0, 0]]
    assert Pairwise(Counting()).fit([["a", 1]]).transform([["a", 1.0]]).tolist() == [[2]]
    assert Counting().matrix(np.array([[True, False]]), np.array([[1, 1]])).tolist() == [[1]]


def test_integers_of_any_size_are_compared_exactly():
    large = [[2**63, -1], [2**63 + 1, -1], [2**63 - 1, -(2**63)]]
    expected = [[2, 1, 0], [1, 2, 0], [0, 0, 2]]
    assert Counting().matrix(large).tolist() == Counting().fit(large).matrix(large).tolist() == expected
    for rows in ([[2**63], [2**63 + 1]], np.array([[2**63], [2**63 + 1]], dtype=np.uint64)):
        assert Counting().matrix(rows).tolist() == np.eye(2).tolist()
        assert VDM().fit(rows, [0, 1]).matrix(rows).tolist() == [[0, 2], [2, 0]]


def test_missing_values_are_one_value():
    marks = [None, math.nan, np.nan, np.float64("nan"), pd.NA, pd.NaT]
    column = [[mark] for mark in marks]
    assert (Counting().matrix(column) == 1).all()
    assert (Counting(missing="mismatch").matrix([*column, ["a"]]) == np.diag([0] * 6 + [1])).all()
    assert Counting(missing="mismatch").matrix([["?"]]).tolist() == [[1]]
    vdm = VDM().fit([[None], [math.nan], ["a"], ["b"]], [0, 0, 1, 1])
    assert vdm([pd.NA], ["a"]) == 2
    assert vdm([pd.NA], [None]) == 0
    frame = pd.DataFrame({"u": pd.Series([1, None, 1], dtype="Int64"), "v": pd.Series(["x", None, None], dtype="str")})
    assert Counting().matrix(frame).tolist() == [[2, 0, 1], [0, 2, 1], [1, 1, 2]]
    floats = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    assert Counting().matrix(floats).tolist() == [[2, 1], [1, 2]]


def test_a_missing_value_unseen_in_training():
    fitted = VDM().fit([["a"], ["b"]], [0, 1])
    assert fitted([None], ["a"]) == 0
    assert VDM(unseen="prior").fit([["a"], ["b"]], [0, 1])([None], ["a"]) == pytest.approx(0.5)


def test_categorical_columns_of_a_frame():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 5.0], "code": pd.Categorical([7, 7, 8, 9]), "ok": [True, False] * 2})
    y = [0, 1, 0, 1]
    by_type = HVDM().fit(frame, y)
    assert by_type.categorical_.tolist() == [False, True, True]
    for chosen in (["code", "ok"], [1, 2], [-2, -1], [False, True, True], np.array([1, 2])):
        other = HVDM(categorical=chosen).fit(frame, y)
        np.testing.assert_array_equal(other.matrix(frame), by_type.matrix(frame))
    assert HVDM().fit(pl.from_pandas(frame.astype({"code": "str"})), y).categorical_.tolist() == [False, True, True]
    for make in (pd.DataFrame, pl.DataFrame):  # polars converts booleans beside numbers to numbers
        columns = make({"member": [True, False, True], "age": [1.5, 2.5, 2.0]})
        assert HVDM().fit(columns, [0, 1, 1]).categorical_.tolist() == [True, False]
    for number in (5, 5.5):
        assert HVDM().fit([[True, number], [False, 6]], [0, 1]).categorical_.tolist() == [True, False]
    assert HVDM(categorical=[]).fit(frame[["size"]]).categorical_.tolist() == [False]
    refused(HVDM(categorical=["color"]).fit, frame, y, match="color")
    refused(HVDM(categorical=[3]).fit, frame, y, match="below 3")
    refused(HVDM(categorical=[0]).fit, [["a", "b"]], [1], match="numbers in column 1.*'b' at row 0")
    refused(HVDM().fit, frame, match="requires y")
    refused(HVDM().fit, np.array([[1.0], [np.inf]]), match="finite.*row 1, column 0")


@pytest.mark.parametrize("measure", [RBF(), Minkowski(), Chebyshev(), Cosine(), Polynomial()], ids=repr)
def test_vectors(measure):
    X = [[1, 2], [3, 4]]
    expected = measure.matrix(np.array(X, dtype=float))
    for form in (
        X,
        np.asfortranarray(X),
        pd.DataFrame(X, columns=["a", "b"]),
        pl.DataFrame({"a": [1, 3], "b": [2, 4]}),
    ):
        np.testing.assert_array_equal(measure.matrix(form), expected)
    frozen = np.array(X, dtype=float)
    frozen.setflags(write=False)
    np.testing.assert_array_equal(measure.matrix(frozen), expected)
    refused(measure.matrix, [[1, np.nan]], match="NaN at row 0, column 1")
    refused(measure.matrix, [[1, 2], [3, np.inf]], match="inf.* at row 1, column 1")
    refused(measure.matrix, [[1, "x"]], match="'x' at row 0, column 1")
    refused(measure.matrix, [[1, 2]], [[1, 2, 3]], match="same number of columns")
    refused(measure.fit(X).matrix, [[1, 2, 3]], match="3 features.*expecting 2")
    refused(measure, [1, 2, 3], [1, 2, 3], match="3 features.*expecting 2")
    refused(measure.matrix, [1, 2], match="2D array")
    refused(measure.matrix, np.empty((0, 2)), match="0 sample")
    refused(measure.matrix, sparse.csr_array(np.eye(2)), match="[Ss]parse", error=TypeError)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_of_two_frames_are_in_the_same_order(make):
    X, Z = make({"a": [1, 2], "b": [3, 4]}), make({"b": [3, 4], "a": [1, 2]})
    for measure in (Minkowski(), Counting()):
        refused(measure.matrix, X, Z, match=r"same order. Got \['a', 'b'\] and \['b', 'a'\]")
        other = make({"c": [1, 2], "d": [3, 4]})  # perhaps the same features under other names
        np.testing.assert_array_equal(measure.matrix(X, other), measure.matrix(X))


def test_the_zero_vector_has_no_direction():
    assert Cosine().matrix([[0, 0], [1, 0]]).tolist() == [[0, 0], [0, 1]]
    assert Polynomial(lift=0.0)([0, 0], [1, 0]) == 0
    tiny, huge = [1e-200, 0], [1e200, 1e200]
    assert Cosine()(tiny, huge) == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize(
    "measure",
    [
        RBF(gamma=0.0),
        RBF(gamma="wide"),
        Minkowski(p=0),
        Minkowski(p=-1.0),
        Polynomial(degree=0),
        Polynomial(degree=1.5),
        Polynomial(lift=-1.0),
        Counting(missing="ignore"),
        VDM(q=0),
        VDM(smoothing=-1),
        VDM(unseen="error"),
        TverskyContrast(alpha=-1.0),
        TverskyRatio(beta=-0.1),
        Jaccard(packed="yes"),
        FromFunction("cosine"),
        FromFunction(max, kind="distance"),
        FromMatrix(np.eye(2), kind="kernel"),
    ],
    ids=repr,
)
def test_parameters_are_checked(measure):
    for call in (measure.fit, measure.matrix):
        refused(call, [[1.0, 2.0]], match=f"parameter of {type(measure).__name__} must be")


def test_tables_that_are_none():
    refused(Counting().matrix, ["acgt", "tttt"], match="2D array.*'acgt'.*list\\(text\\)")
    refused(Counting().matrix, [["a", "b"], ["c"]], match="Row 0 has 2 values, row 1 has 1")
    refused(Counting().matrix, [["a"]], [["a", "b"]], match="same number of columns")
    refused(Counting().fit([["a", "b"]]).matrix, [["a"]], match="1 features.*expecting 2")
    refused(Counting().fit([["a", "b"]]), ["a"], ["b"], match="1 features.*expecting 2")
    refused(Counting().matrix, [["a", ["b"]]], match="hashable.*list at row 0, column 1")
    refused(Counting().matrix, [["a", ("b", [1])]], match="hashable.*tuple at row 0, column 1")
    refused(Counting().fit([["a"]]).matrix, np.array([[{}]], dtype=object), match="hashable")
    refused(VDM().fit, ROWS, match="requires y")
    refused(VDM().fit, ROWS, LABELS[:2], match="2 labels for 4 objects")
    refused(VDM().fit, ROWS, [0.1, 0.2, 0.3, 0.5], match="Unknown label type")
    refused(VDM().matrix, ROWS, match="not fitted", error=NotFittedError)
    refused(HVDM().matrix, ROWS, match="not fitted", error=NotFittedError)


def test_sets_that_are_none():
    refused(Jaccard().matrix, ["abc", "abx"], match="Object 0 is a str.*split")
    refused(Jaccard().matrix, [{"a"}, 3], match="Object 1 is a int")
    refused(Jaccard().matrix, [[["a"]]], match="hashable.*Object 0")
    refused(Jaccard().matrix, [], match="at least one object")
    refused(Jaccard().matrix, np.array([[0, 1], [2, 1]]), match="Got 2 at row 1, column 0.*X > 0")
    refused(Jaccard().matrix, np.array([[0, np.nan]]), match="Got nan")
    refused(Dice().matrix, sparse.csr_array([[0, 3]]), match="Got 3")
    refused(Dice().matrix, np.eye(2), np.eye(3), match="same number of columns")
    refused(Dice().matrix, [{"a"}], np.eye(3), match="both be sets")
    refused(Pairwise(Dice()).fit([{"a"}]).transform, np.eye(3), match="fitted on sets of tokens")
    refused(Pairwise(Dice()).fit(np.eye(3)).transform, [{"a"}], match="fitted on binary rows")
    refused(Jaccard().matrix, np.array([["tree"], ["three"]]), match=r"Got text, 'tree'; pass sets")
    refused(Pairwise(Dice()).fit(np.eye(3)).transform, np.eye(4), match="4 features.*expecting 3")
    refused(Jaccard(packed=True).matrix, np.eye(2), match="uint8 or uint64.*float64")
    refused(TverskyRatio(salience={"a": 1}).matrix, [{"a", "b"}], match="'b' has none.*defaultdict")
    refused(TverskyRatio(salience=[1.0, 2.0]).matrix, np.eye(3), match="one weight per column.*3")
    refused(TverskyRatio(salience=[1.0, 2.0]).matrix, [{"a"}], match="must be a dict")
    refused(TverskyRatio(salience={"a": -1}).matrix, [{"a"}], match="non-negative")


def test_functions():
    refused(FromFunction(lambda x, z: "near").matrix, [1, 2], match="must return a number.*str for objects 0 and 0")
    refused(FromFunction(lambda x, z: None).matrix, [1, 2], match="must return a number")
    refused(FromFunction(max).matrix, "text", match="collection of objects.*str")
    refused(FromFunction(max).matrix, 3, match="collection of objects.*int")
    refused(FromFunction(max).matrix, [], match="at least one object")
    refused(FromFunction(max).matrix, sparse.eye_array(3), match="sparse")
    refused(Pairwise(max).fit, [1, 2], match="FromFunction")
    refused(Pairwise(RBF).fit, [[1.0]], match="FromFunction")
    refused(Pairwise("rbf").fit, [[1.0]], match="must be an instance of")
    unknown = FromFunction(lambda x, z: math.nan if x != z else 1.0).matrix(["a", "b"])
    assert np.isnan(unknown[0, 1])


def test_rows_of_any_container_reach_the_function():
    first = FromFunction(lambda x, z: x[0] - z[0])
    expected = [[0, -2], [2, 0]]
    for form in ([[1, 5], [3, 5]], np.array([[1, 5], [3, 5]]), pd.DataFrame([[1, 5], [3, 5]]), ((1, 5), (3, 5))):
        assert first.matrix(form).tolist() == expected
    assert FromFunction(lambda x, z: x - z).matrix(pd.Series([1, 3])).tolist() == expected
    pictures = np.zeros((2, 4, 4))
    assert FromFunction(lambda x, z: float((x == z).sum())).matrix(pictures).shape == (2, 2)


class Chunked:
    """Indexed as a zarr array is."""

    def __init__(self, values):
        self._values, self.shape = values, values.shape

    @property
    def oindex(self):
        return self

    def __getitem__(self, key):
        return self._values[np.ix_(*key)]


class ByRows:
    """Indexed by rows only."""

    def __init__(self, values):
        self._values, self.shape = values, values.shape

    def __getitem__(self, rows):
        return self._values[rows]


def test_stored_matrices(rng, tmp_path):
    S = rng.normal(size=(6, 6))
    np.save(tmp_path / "S.npy", S)
    rows, columns = [4, 0, 4], [5, 1]
    expected = S[np.ix_(rows, columns)]
    stores = (S, S.tolist(), Chunked(S), ByRows(S), np.load(tmp_path / "S.npy", mmap_mode="r"))
    for store in stores:
        measure = FromMatrix(store)
        np.testing.assert_array_equal(measure.matrix(rows, columns), expected)
        np.testing.assert_array_equal(measure.matrix(np.array(rows)[:, None], columns), expected)
        assert measure(4, 5) == S[4, 5]
        named = FromMatrix(store, ids=list("abcdef"))
        np.testing.assert_array_equal(named.matrix(["e", "a", "e"], np.array(["f", "b"])), expected)
    assert FromMatrix(S.astype(np.float32)).matrix(rows).dtype == np.float32
    assert FromMatrix(np.eye(3, dtype=int)).matrix([0]).dtype == np.float64
    assert FromMatrix(S).matrix(np.array([4.0, 0.0])).shape == (2, 2)
    refused(FromMatrix(sparse.csr_matrix(S)).matrix, [0], match="toarray")
    mixed = FromMatrix(np.eye(2), ids=[1, "a"])
    assert mixed.matrix(["a", 1]).tolist() == [[1, 0], [0, 1]]
    stack = np.stack([S, 2 * S], axis=2)
    np.testing.assert_array_equal(FromMatrix(stack).matrix(rows, columns), stack[np.ix_(rows, columns)])


def test_objects_that_a_stored_matrix_does_not_have():
    S = np.eye(3)
    refused(FromMatrix(S).matrix, [0, 3], match="Object 1 is 3.*0 to 2")
    refused(FromMatrix(S).matrix, [-1], match="Object 0 is -1")
    refused(FromMatrix(S).matrix, [0.5], match=r"Object 0 is 0\.5")
    refused(FromMatrix(S).matrix, np.array([np.nan]), match="Object 0 is nan")
    refused(FromMatrix(S).matrix, ["a"], match="row numbers from 0 to 2.*ids")
    refused(FromMatrix(S).matrix, np.array([True, False]), match="row numbers")
    refused(FromMatrix(S).matrix, S, match="omit the Pairwise step")
    refused(FromMatrix(S, ids=["a", "b", "c"]).matrix, ["a", "d"], match="Object 1 is 'd'")
    refused(FromMatrix(S, ids=["a", "b"]).matrix, ["a"], match="each of the 3 objects.*2 ids")
    refused(FromMatrix(S, ids=["a", "b", "a"]).matrix, ["a"], match="distinct.*'a'")
    refused(FromMatrix(np.ones((2, 3))).matrix, [0], match="square.*\\(2, 3\\)")
