"""Kind, triangles and dialects of matrix files: clear evidence is used and reported, the rest is asked for."""

import warnings

import numpy as np
import pytest

from similis import Proximity, ProximityError, read_proximity, write_proximity
from similis.base import kind_evidence
from similis.exceptions import InputWarning, KindWarning
from similis.io import decide_kind


def distances(n=12, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))


def test_the_diagonal_shows_the_kind():
    D = distances()
    assert kind_evidence(D) == "dissimilarity"
    assert kind_evidence(D + 0.01) == "dissimilarity"  # a diagonal of 0.01
    assert kind_evidence(np.exp(-D)) == "similarity"
    assert kind_evidence(-D) == "similarity"
    assert kind_evidence(np.stack([D, D**2], axis=2)) == "dissimilarity"
    assert kind_evidence(np.stack([D, -D], axis=2)) is None
    for A in (np.ones((5, 5)), np.zeros((5, 5)), np.full((5, 5), np.nan), D[:2, :2], D[:4]):
        assert kind_evidence(A) is None


def test_at_least_95_percent_of_the_rows_decide():
    D = distances(40)
    for bad, found in ((2, "dissimilarity"), (3, None)):
        A = D.copy()
        A[np.arange(bad), np.arange(bad)] = 100
        assert kind_evidence(A) == found
    D[:19, :19][np.eye(19, dtype=bool)] = np.nan
    assert kind_evidence(D) == "dissimilarity"
    D[:21, :21][np.eye(21, dtype=bool)] = np.nan
    assert kind_evidence(D) is None


def test_a_graph_without_loops_shows_nothing():
    graph = (np.random.default_rng(0).random((30, 30)) < 0.1).astype(float)
    np.fill_diagonal(graph, 0)
    assert kind_evidence(graph) is None
    assert kind_evidence(np.minimum(distances(30), 1)) == "dissimilarity"


def test_many_rows():
    D = distances(700)
    assert kind_evidence(D.astype("f4")) == "dissimilarity"
    D[300:, 300:][np.eye(400, dtype=bool)] = 99
    assert kind_evidence(D) is None


def test_the_rule():
    D = distances()
    options = dict(where="D.csv", required=True)
    with pytest.warns(KindWarning, match=r"D\.csv is read as dissimilarity, because the diagonal is the minimum"):
        assert decide_kind(D, given=None, stated=None, **options) == "dissimilarity"
    with pytest.warns(KindWarning, match="values of kind 'dissimilarity'; they are read as kind='similarity'"):
        assert decide_kind(D, given="similarity", stated="dissimilarity", **options) == "similarity"
    with pytest.raises(ProximityError, match=r"D\.csv does not name the kind .* set kind='similarity'"):
        decide_kind(np.ones((3, 3)), given=None, stated=None, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decide_kind(D, given=None, stated="similarity", **options) == "similarity"
        assert decide_kind(D, given=None, stated=None, where="D.csv") is None


@pytest.mark.parametrize(
    "text, kind",
    [
        ("distance,a,b,c\na,0.01,1,2\nb,1,0.01,3\nc,2,3,0.01\n", "dissimilarity"),
        ("Euclidean distances,a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n", "dissimilarity"),
        ("kernel,a,b,c\na,1,0,0\nb,0,1,0\nc,0,0,1\n", "similarity"),
        ("# dissimilarity\n0,1,2\n1,0,3\n2,3,0\n", "dissimilarity"),
        ("# made by hand\n#  similarity of sounds\n\n1,0,0\n0,1,0\n0,0,1\n", "similarity"),
        ("sample,a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n", None),
    ],
)
def test_words_in_text_files(tmp_path, text, kind):
    (tmp_path / "m.csv").write_text(text)
    P = read_proximity(tmp_path / "m.csv")
    assert P.kind == kind
    assert P.shape == (3, 3)


@pytest.mark.parametrize("name", ["m.csv", "m.tsv", "m.csv.gz"])
@pytest.mark.parametrize("kind", ["similarity", "dissimilarity", None])
def test_text_without_ids_keeps_its_kind(tmp_path, name, kind):
    write_proximity(tmp_path / name, distances(4), kind=kind)
    assert read_proximity(tmp_path / name).kind == kind
    np.testing.assert_array_equal(np.loadtxt(tmp_path / name, delimiter="\t" if "tsv" in name else ","), distances(4))


# One-sided matrices


@pytest.mark.parametrize("name", ["m.npy", "m.npz", "m.csv", "m.parquet"])
@pytest.mark.parametrize("half", [np.triu, np.tril])
@pytest.mark.parametrize("empty", [np.nan, 0.0])
def test_one_triangle_is_mirrored(tmp_path, name, half, empty):
    D = distances(6) + 0.5
    given = np.where(half(np.ones_like(D)) == 1, D, empty)
    write_proximity(tmp_path / name, given, kind="dissimilarity")
    side = "lower" if half is np.triu else "upper"
    with pytest.warns(InputWarning, match=f"the {side} triangle is {'zero' if empty == 0 else 'empty'} and was filled"):
        P = read_proximity(tmp_path / name)
    np.testing.assert_array_equal(P.values, D)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(read_proximity(tmp_path / name, directed=True).values, given)


def test_an_empty_diagonal_of_a_triangle_of_distances_is_zero(tmp_path):
    D = distances(5)
    (tmp_path / "m.csv").write_text(
        "dissimilarity,a,b,c,d,e\n"
        + "".join(
            f"{'abcde'[i]},{','.join(repr(float(D[i, j])) if j < i else '' for j in range(5))}\n" for i in range(5)
        )
    )
    with pytest.warns(InputWarning, match="empty diagonal is read as zero"):
        np.testing.assert_allclose(read_proximity(tmp_path / "m.csv").values, D)


def test_matrices_that_are_not_one_sided_stay(tmp_path):
    D, nan = distances(4), np.nan
    directed = np.triu(np.ones((4, 4)), 1)
    directed[0, 1:] = 0
    for A in (D, np.eye(4), np.where(D > 1, D, nan), np.full((4, 4), nan), np.zeros((4, 4)), directed, D[:2, :2]):
        write_proximity(tmp_path / "m.npz", A)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(read_proximity(tmp_path / "m.npz").values, A)
    write_proximity(tmp_path / "m.npz", np.triu(D))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(read_proximity(tmp_path / "m.npz", square=False).values, np.triu(D))


# Dialects


def test_files_of_savetxt(tmp_path):
    D = distances(4)
    for options in ({}, {"fmt": "%12.6f"}, {"delimiter": "\t"}, {"delimiter": ", "}, {"header": "dissimilarity"}):
        np.savetxt(tmp_path / "m.txt", D, **options)
        P = read_proximity(tmp_path / "m.txt")
        np.testing.assert_allclose(P.values, D, atol=1e-6)
        assert P.ids is None
        assert P.kind == ("dissimilarity" if "header" in options else None)
    np.savetxt(tmp_path / "m.txt", D, delimiter=",", header="a,b,c,d")
    assert read_proximity(tmp_path / "m.txt").ids == tuple("abcd")


@pytest.mark.parametrize(
    "text, ids",
    [
        ('"a" "b" "c"\n"a" 0 1 2\n"b" 1 0 3\n"c" 2 3 0\n', "abc"),  # write.table of R
        ("a b c\na 0 1 2\nb 1 0 3\nc 2 3 0\n", "abc"),
        ("  0   1 2 \n  1   0 3 \n  2   3 0\n", None),
        ("#query\ta\tb\tc\na\t0\t1\t2\nb\t1\t0\t3\nc\t2\t3\t0\n", "abc"),
        ("a,0,1.0,2\nb,1,0,3\nc,2,3,0\n", "abc"),  # ids in the first column only
        ("a,0,0,2\nb,0,0,3\nc,2,3,0\n", "abc"),
        ("0,1,2\n0.0,1.0,2.0\n1.0,0.0,3.0\n2.0,3.0,0.0\n", None),  # a frame without names
        ("0,1,2\n1,0,3\n2,3,0\n", None),
    ],
)
def test_dialects(tmp_path, text, ids):
    (tmp_path / "m.csv").write_text(text)
    P = read_proximity(tmp_path / "m.csv")
    assert P.ids == (None if ids is None else tuple(ids))
    np.testing.assert_array_equal(P.values[[0, 1, 0, 2], [0, 1, 2, 1]], [0, 0, 2, 3])
    assert P.values[0, 1] == P.values[1, 0] == (0 if "a,0,0" in text else 1)


def test_numbers_as_ids_of_the_columns(tmp_path):
    (tmp_path / "m.csv").write_text("101,102,103\n0,1,2\n1,0,3\n2,3,0\n")
    with pytest.warns(InputWarning, match="line 1 holds the ids of the columns, 101 to 103"):
        assert read_proximity(tmp_path / "m.csv").ids == ("101", "102", "103")


# Values


def test_masked_values_are_missing(tmp_path):
    masked = np.ma.masked_greater(np.array([[1, 7], [7, 1]]), 5)
    for A in (masked, masked.astype("f4"), masked.astype("f8")):
        np.testing.assert_array_equal(Proximity(A).values, [[1, np.nan], [np.nan, 1]])
        write_proximity(tmp_path / "m.npz", A)
        assert np.isnan(read_proximity(tmp_path / "m.npz").values[0, 1])


def test_frames_in_another_order_are_rejected(tmp_path):
    pd = pytest.importorskip("pandas")
    A = np.arange(9.0).reshape(3, 3)
    for index, columns in ((["b", "a", "c"], ["a", "b", "c"]), ([2, 0, 1], None), (None, [1, 0, 2])):
        frame = pd.DataFrame(A, index=index, columns=columns)
        for call in (Proximity, lambda frame: write_proximity(tmp_path / "m.npz", frame)):
            with pytest.raises(ProximityError, match="must be the same, in the same order"):
                call(frame)
    block = Proximity(pd.DataFrame(A, index=list("xyz"), columns=list("abc")))  # another set of objects
    assert block.shape == (3, 3)


def test_write_proximity_takes_column_ids(tmp_path, rng):
    for name in ("m.npz", "m.csv", "m.npy", "m.parquet"):
        write_proximity(tmp_path / name, rng.random((2, 3)), ids=["n1", "n2"], column_ids=["a", "b", "c"])
        P = read_proximity(tmp_path / name, square=False)
        assert (P.ids, P.columns) == (("n1", "n2"), ("a", "b", "c"))
    with pytest.raises(ProximityError, match="Got 1 ids for 3 columns"):
        write_proximity(tmp_path / "m.npz", rng.random((2, 3)), column_ids=["a"])


@pytest.mark.parametrize("half", [np.triu, np.tril])
def test_a_triangle_without_diagonal_and_ids_is_read(tmp_path, half):
    D = distances()
    A = np.where(half(np.ones_like(D), 1 if half is np.triu else -1) > 0, D, np.nan)
    path = tmp_path / "m.csv"
    path.write_text("".join(",".join("" if np.isnan(v) else f"{v:.17g}" for v in row) + "\n" for row in A))
    with pytest.warns(InputWarning, match="was filled in from"):
        P = read_proximity(path, kind="dissimilarity")
    np.testing.assert_array_equal(P.values, D)
    assert P.ids is None
