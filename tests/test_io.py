"""Files of proximities: what is written is read back, in every format."""

import gzip
import os
import sys

import numpy as np
import pytest
from formats import FORMATS, same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from similis import Proximity, ProximityError, read_proximity, write_proximity
from similis.exceptions import KindWarning

SETTINGS = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])

NASTY = [
    "a",
    "b,c",
    'say "hi"',
    "two\nlines",
    " leading",
    "trailing ",
    "日本",
    "1",
    "nan",
    ";tab\there",
    "cr\rlf\r\n",
    "-",
]

ids_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
labels_text = st.sampled_from(["x", "y z", "a,b", 'q"', "1", "01", "True", "é"])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("labels", [None, "text", "int", "bool"])
def test_round_trip(tmp_path, rng, name, dtype, labels):
    n = len(NASTY)
    values = rng.normal(size=(n, n)).astype(dtype)
    values[0, 1] = values[3, 3] = np.nan
    values[1, 0] = np.finfo(dtype).max
    values[2, 0] = np.finfo(dtype).smallest_subnormal
    values[3, 0] = -0.0
    y = {
        None: None,
        "text": [f"class {i % 3}" for i in range(n)],
        "int": np.arange(n) % 3 - 1,
        "bool": np.arange(n) > 4,
    }
    P = Proximity(values, ids=NASTY, kind="similarity", labels=y[labels])
    write_proximity(tmp_path / name, P)
    Q = read_proximity(tmp_path / name, dtype=dtype)
    assert Q.values.dtype == dtype
    same(P, Q)
    assert not [file for file in os.listdir(tmp_path) if file.startswith(".")]


@pytest.mark.parametrize("name", FORMATS)
def test_a_block_of_new_rows(tmp_path, rng, name):
    P = Proximity(rng.random((2, 3)), ids=["new 1", "new 2"], column_ids=["a", "b", "c"], kind="dissimilarity")
    write_proximity(tmp_path / name, P)
    same(P, read_proximity(tmp_path / name, square=False))
    with pytest.raises(ProximityError, match="square=False"):
        read_proximity(tmp_path / name)


@pytest.mark.parametrize("name", FORMATS)
def test_a_square_block_of_other_objects(tmp_path, rng, name):
    P = Proximity(rng.random((2, 2)), ids=["c", "d"], column_ids=["a", "b"])
    write_proximity(tmp_path / name, P)
    same(P, read_proximity(tmp_path / name, square=False))
    with pytest.raises(ProximityError, match="'c' among the rows and 'a' among the columns"):
        read_proximity(tmp_path / name)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("shape", [(4, 4), (1, 1)])
def test_without_ids(tmp_path, rng, name, shape):
    P = Proximity(rng.random(shape), labels=np.arange(shape[0]))
    P.values[0, 0] = np.nan
    write_proximity(tmp_path / name, P)
    same(P, read_proximity(tmp_path / name))


@SETTINGS
@given(data=st.data(), name=st.sampled_from(FORMATS))
def test_round_trip_of_anything(tmp_path, data, name):
    n = data.draw(st.integers(1, 5))
    values = data.draw(
        hnp.arrays(data.draw(st.sampled_from([np.float32, np.float64])), (n, n), elements={"allow_infinity": False})
    )
    ids = data.draw(st.none() | st.lists(ids_text, min_size=n, max_size=n, unique=True))
    labels = data.draw(
        st.none() | st.lists(labels_text, min_size=n, max_size=n) | st.lists(st.integers(-9, 9), min_size=n, max_size=n)
    )
    kind = data.draw(st.none() | st.sampled_from(["similarity", "dissimilarity"]))
    P = Proximity(values, ids, kind, labels)
    for old in tmp_path.iterdir():
        old.unlink()
    write_proximity(tmp_path / name, P)
    Q = read_proximity(tmp_path / name, dtype=values.dtype, directed=True)
    assert np.array_equal(P.values, Q.values, equal_nan=True)
    assert P.ids == Q.ids
    assert Q.kind == kind
    if labels is None:
        assert Q.labels is None
    else:
        assert list(map(str, Q.labels)) == list(map(str, P.labels))


@pytest.mark.parametrize("name", ["m.csv", "m.tsv"])
def test_a_single_object_with_a_blank_id(tmp_path, name):
    write_proximity(tmp_path / name, [[0.5]], ids=["\x85"])
    assert read_proximity(tmp_path / name).ids == ("\x85",)


def test_another_precision_keeps_a_missing_diagonal(tmp_path):
    D = np.full((4, 4), np.nan, dtype=np.float32)
    D[0, 1:] = D[1:, 0] = 1
    write_proximity(tmp_path / "D.csv", D, kind="dissimilarity")
    for options in ({}, {"directed": True}, {"dtype": np.float32}):
        assert np.isnan(np.diagonal(read_proximity(tmp_path / "D.csv", **options).values)).all()


def test_stack_round_trip(tmp_path, rng):
    P = Proximity(rng.random((3, 3, 2)), ids=list("abc"))
    for name in ("m.npz", "m.npy"):
        write_proximity(tmp_path / name, P)
        same(P, read_proximity(tmp_path / name))
    for name in ("m.csv", "m.parquet"):
        with pytest.raises(ProximityError, match="stack"):
            write_proximity(tmp_path / name, P)
        assert not (tmp_path / name).exists()


def test_memory_map(tmp_path, rng):
    P = Proximity(rng.random((5, 5)).astype("f4"), ids=list("abcde"), kind="similarity")
    write_proximity(tmp_path / "m.npy", P)
    Q = read_proximity(tmp_path / "m.npy", mmap=True)
    assert isinstance(Q.values, np.memmap)
    same(P, Q)
    np.save(tmp_path / "f.npy", np.asfortranarray(P.values))
    np.testing.assert_array_equal(read_proximity(tmp_path / "f.npy", mmap=True).values, P.values)
    np.testing.assert_array_equal(read_proximity(tmp_path / "f.npy").values, P.values)
    write_proximity(tmp_path / "m.npz", P)
    with pytest.raises(ProximityError, match="only npy files and zarr stores can stay on disk"):
        read_proximity(tmp_path / "m.npz", mmap=True)


@pytest.mark.parametrize("dtype", ["i1", "u8", "?", "f2", ">f8", ">f4", "g"])
@pytest.mark.parametrize("name", ["m.npy", "m.npz"])
def test_other_number_types_become_floats(tmp_path, dtype, name):
    A = np.array([[1, 0], [0, 1]]).astype(dtype)
    (np.save if name == "m.npy" else np.savez)(tmp_path / name, A)
    values = read_proximity(tmp_path / name).values
    assert values.dtype in (np.float32, np.float64)
    assert values.dtype.isnative
    np.testing.assert_array_equal(values, A.astype(float))


def test_frames_bring_their_ids(tmp_path):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    A = [[1.0, 0.5], [0.5, 1.0]]
    for frame in (
        pd.DataFrame(A, ["a", "b"], ["a", "b"]),
        pd.DataFrame(A, columns=["a", "b"]),
        pl.DataFrame(A, ["a", "b"]),
    ):
        write_proximity(tmp_path / "m.npz", frame)
        assert read_proximity(tmp_path / "m.npz").ids == ("a", "b")
    write_proximity(tmp_path / "m.npz", pd.DataFrame(A))
    assert read_proximity(tmp_path / "m.npz").ids is None
    nullable = pd.DataFrame(A, ["a", "b"], ["a", "b"]).convert_dtypes()
    nullable.iloc[0, 1] = pd.NA
    write_proximity(tmp_path / "m.npz", nullable)
    assert np.isnan(read_proximity(tmp_path / "m.npz").values[0, 1])


def test_frames_of_others(tmp_path):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    A = [[1.0, 0.5], [0.5, 1.0]]
    frame = pd.DataFrame(A, ["a", "b"], ["a", "b"])
    frame.to_parquet(tmp_path / "p.parquet")
    frame.to_csv(tmp_path / "p.csv")
    frame.to_csv(tmp_path / "noindex.csv", index=False)
    frame.to_csv(tmp_path / "semicolon.csv", sep=";")
    pl.DataFrame(A, ["a", "b"]).write_parquet(tmp_path / "q.parquet")
    pl.DataFrame(A, ["a", "b"]).write_csv(tmp_path / "q.csv")
    numbered = pd.DataFrame(A, [7, 8], [7, 8])
    numbered.to_csv(tmp_path / "n.csv")
    for name in ("p.parquet", "p.csv", "noindex.csv", "semicolon.csv", "q.parquet", "q.csv"):
        P = read_proximity(tmp_path / name)
        assert P.ids == ("a", "b"), name
        np.testing.assert_array_equal(P.values, A)
    assert read_proximity(tmp_path / "n.csv").ids == ("7", "8")
    pd.testing.assert_frame_equal(read_proximity(tmp_path / "p.csv").to_frame(), frame)


@pytest.mark.parametrize(
    "text, ids, values",
    [
        ("1,2\n3,4\n", None, [[1, 2], [3, 4]]),
        ("\ufeff1;2\r\n\r\n3;4", None, [[1, 2], [3, 4]]),
        ("nan,NA\n,null\n", None, [[np.nan] * 2] * 2),
        ("5\n", None, [[5]]),
        (",1,2\n1,0.5,\n2, ,1e-3\n", ("1", "2"), [[0.5, np.nan], [np.nan, 0.001]]),
        ("id,a,b\na,1,2\nb,3,4\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("id, a, b\na, 1, 2\nb, 3, 4\n", ("a", "b"), [[1, 2], [3, 4]]),
        ('"a","b"\n"a",1,2\n"b",3,4\n', ("a", "b"), [[1, 2], [3, 4]]),
        ("a\tb\n1\t2\n3\t4", ("a", "b"), [[1, 2], [3, 4]]),
    ],
)
def test_texts_that_are_read(tmp_path, text, ids, values):
    path = tmp_path / "m.csv"
    path.write_bytes(text.encode())
    P = read_proximity(path)
    assert P.ids == ids
    np.testing.assert_array_equal(P.values, values)


def test_options(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("1|2\n3|4\n")
    np.testing.assert_array_equal(read_proximity(path, delimiter="|").values, [[1, 2], [3, 4]])
    (tmp_path / "t.tsv").write_text("id\ta,b\tc;d\na,b\t1\t2\nc;d\t3\t4\n")
    assert read_proximity(tmp_path / "t.tsv").ids == ("a,b", "c;d")
    for option in (dict(delimiter="ab"), dict(delimiter='"'), dict(dtype="i4"), dict(kind="kernel")):
        with pytest.raises(ProximityError, match=f"{next(iter(option))} must be"):
            read_proximity(path, **option)


def test_gzip_is_recognized_by_its_bytes(tmp_path):
    path = tmp_path / "m.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n3,4\n"))
    np.testing.assert_array_equal(read_proximity(path).values, [[1, 2], [3, 4]])
    path.write_bytes(b"1,2\n3,4\n")
    np.testing.assert_array_equal(read_proximity(path).values, [[1, 2], [3, 4]])


def test_archives_of_others(tmp_path, rng):
    S, y = rng.random((3, 3)), np.array([1, 2, 1])
    np.savez_compressed(tmp_path / "s.npz", S=S, y=y, mask=S > 0.5)
    P = read_proximity(tmp_path / "s.npz")
    same(P, Proximity(S, kind="similarity", labels=y))
    np.savez(tmp_path / "d.npz", D_sym=S, D_asym=S)
    with pytest.raises(ProximityError, match="say which with key="):
        read_proximity(tmp_path / "d.npz")
    assert read_proximity(tmp_path / "d.npz", key="D_sym").kind == "dissimilarity"
    with pytest.raises(ProximityError, match="has no array 'E'"):
        read_proximity(tmp_path / "d.npz", key="E")
    with pytest.warns(KindWarning, match="holds values of kind 'similarity'; they are read as kind='dissimilarity'"):
        assert read_proximity(tmp_path / "s.npz", kind="dissimilarity").kind == "dissimilarity"


@pytest.mark.parametrize("labels", [[2**62, 0], [-(2**63), 2**63 - 1]])
def test_large_integers_stay_integers(tmp_path, labels):
    write_proximity(tmp_path / "m.tsv", Proximity(np.eye(2), labels=np.array(labels)))
    found = read_proximity(tmp_path / "m.tsv").labels
    assert found.dtype == np.int64
    assert found.tolist() == labels
    (tmp_path / "m.labels.csv").write_text("label\n1\n9223372036854775808\n")
    assert read_proximity(tmp_path / "m.tsv").labels.dtype.kind == "U"  # beyond 64 bits: text


def test_labels_file(tmp_path):
    path, beside = tmp_path / "m.csv", tmp_path / "y.csv"
    path.write_text("id,a,b\na,1,2\nb,3,4\n")
    for text in ("id,label\nb,1\na,0\n", "b,1\na,0\n", "0\n1\n", "label\n0\n1", "class\n0\n1"):
        beside.write_text(text)
        labels = read_proximity(path, labels=beside).labels
        assert labels.tolist() == [0, 1], text
    assert read_proximity(path, labels=["u", "v"]).labels.tolist() == ["u", "v"]
    (tmp_path / "m.labels.csv").write_text("a,x\nb,y\n")
    assert read_proximity(path).labels.tolist() == ["x", "y"]
    with pytest.raises(ProximityError, match="would be read as the labels"):
        write_proximity(path, [[1.0]])
    for text, message in {
        "c,x\nd,y\n": "none of its 2 ids is an id of the objects. Got 'c', while the first object is 'a'",
        "a,x\na,y\n": "line 2: the id 'a' has a label already",
        "a,\nb,NA\n": "has no label for any of the 2 objects",
        "a,x\nb\n": "line 2: every line must be",
        "a,b,c\n": "several columns that could hold the labels: '2', '3'",
        "x\n": "Got 1 labels for 2 objects",
        "x\ny\nx\n": "Got 3 labels for 2 objects",
        "": "Got 0 labels",
    }.items():
        beside.write_text(text)
        with pytest.raises(ProximityError, match=message) as caught:
            read_proximity(path, labels=beside)
        assert "y.csv" in str(caught.value)


def test_proximity_says_what_is_wrong():
    good = [[1.0, 0.0], [0.0, 1.0]]
    for arguments, message in [
        (dict(values=[1.0, 2.0]), "Got shape"),
        (dict(values=np.empty((0, 0))), "Got shape"),
        (dict(values=[[1.0], [2.0, 3.0]]), "different lengths"),
        (dict(values=[[1j]]), "real numbers. Got dtype complex"),
        (dict(values=[["a"]]), "real numbers"),
        (dict(values=np.array([[object()]])), "row 0, column 0"),
        (dict(values=[[1.0, np.inf], [0, 1]]), "Got inf at row 0, column 1"),
        (dict(values=good, ids=["a"]), "Got 1 ids for 2 rows"),
        (dict(values=good, ids=["a", "a"]), "Rows 0 and 1 are both 'a'"),
        (dict(values=good, ids=["a", ""]), "must not be empty"),
        (dict(values=good, ids=["a", "\0"]), "NUL"),
        (dict(values=good, ids=["a", "\ud800"]), "surrogate"),
        (dict(values=good, kind="kernel"), "kind must be"),
        (dict(values=good, labels=[1]), "Got 1 labels for 2 objects"),
        (dict(values=good, labels=[[1], [2]]), "vector|text, integers"),
        (dict(values=good, labels=5), "a vector. Got 5"),
        (dict(values=good, labels="ab"), "a vector. Got 'ab'"),
        (dict(values=good, labels=[1.5, 2]), "text, integers or booleans"),
        (dict(values=good, labels=["a", 1]), "text, integers or booleans"),
        (dict(values=good, labels=["a", ""]), "must not be empty"),
    ]:
        with pytest.raises(ProximityError, match=message) as caught:
            Proximity(**arguments)
        assert len(str(caught.value)) < 300
    assert Proximity(good, labels=[1.0, 2.0]).labels.dtype.kind == "i"
    assert Proximity(np.array([[None, 2]], dtype=object)).shape == (1, 2)


def test_repr_is_short():
    P = Proximity(np.eye(50), ids=["long " * 20 + str(i) for i in range(50)], labels=np.arange(50) % 4)
    assert len(repr(P)) < 150
    assert "50 x 50" in repr(P)
    assert "4 classes" in repr(P)
    assert P.square


@pytest.mark.parametrize("name", ["m.zarrs", "m", "m.npz.gz", "m.gz", ".gz", "m.docx"])
def test_unknown_endings(tmp_path, name):
    with pytest.raises(FileNotFoundError):
        read_proximity(tmp_path / name)
    with pytest.raises(ProximityError, match=r"must end in \.npz"):
        write_proximity(tmp_path / name, [[1.0]])
    assert not list(tmp_path.iterdir())
    (tmp_path / name).write_bytes(b"\1\0\2")
    with pytest.raises(ProximityError, match=r"must end in \.npz") as caught:
        read_proximity(tmp_path / name)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", FORMATS)
def test_no_such_file(tmp_path, name):
    with pytest.raises(FileNotFoundError):
        read_proximity(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        write_proximity(tmp_path / "nowhere" / name, [[1.0]])


def test_parquet_without_pyarrow_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for call in (
        lambda: read_proximity(tmp_path / "m.parquet"),
        lambda: write_proximity(tmp_path / "m.parquet", [[1.0]]),
    ):
        with pytest.raises(ImportError, match=r"pip install 'similis\[parquet\]'"):
            call()
    assert not list(tmp_path.iterdir())


def test_frame_without_pandas_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'similis\[frame\]'"):
        Proximity([[1.0]]).to_frame()


@pytest.mark.parametrize(
    "text",
    [
        "0;NA;\n1;0;\n2;3;0\n",
        "a\t0\t\t\nb\t1\t0\t\nc\t2\t3\t0\n",
        ";a;b;c;\na;0;1;2;\nb;1;0;3;\nc;2;3;0;\n",
        "0,1,2,\n1,0,3,\n2,3,0,\n",
        "a,0,1,NA,\nb,1,0,3,\nc,2,3,0,\n",
    ],
)
@pytest.mark.filterwarnings("ignore::similis.exceptions.InputWarning")
def test_empty_last_cells(tmp_path, text):
    """The empty cells of a lower triangle belong to the matrix; a column of them behind it does not."""
    (tmp_path / "m.csv").write_text(text)
    values = read_proximity(tmp_path / "m.csv").values
    np.testing.assert_array_equal(values[1:, :2], [[1, 0], [2, 3]])
    assert values.shape == (3, 3)
