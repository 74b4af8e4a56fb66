"""Label files: every label reaches its object, or the file is rejected; what is left out is counted."""

import warnings

import numpy as np
import pytest

from similis import Proximity, ProximityError, read_proximity, write_proximity
from similis.exceptions import InputWarning
from similis.io import align_labels, check_classes, files_beside, read_labels

IDS = ["a", "b", "c", "d"]


def aligned(folder, text, ids=IDS, n=4, **options):
    """Labels by object, None for those without, and the remark."""
    path = folder / "y.csv"
    path.write_bytes(text.encode())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows, labels = align_labels(path, ids, n, **options)
    assert all(w.category is InputWarning for w in caught)
    assert len(caught) <= 1
    found = dict(zip(rows.tolist(), labels.tolist()))
    return [found.get(i) for i in range(n)], str(caught[0].message) if caught else ""


X = ["x", "y", "x", "y"]


@pytest.mark.parametrize(
    "text",
    [
        "id,family\na,x\nb,y\nc,x\nd,y\n",  # a header that is not on any list
        "d,y\nc,x\nb,y\na,x\n",  # another order
        "family,id\nx,a\ny,b\nx,c\ny,d\n",  # another order of columns
        "id,label,length\na,x,0.5\nb,y,0.25\nc,x,7\nd,y,1\n",
        "a,x,0.5\nb,y,0.25\nc,x,7\nd,y,1\n",  # a third column of measurements
        "id;family\r\na;x\r\nb;y\r\n\r\nc;x\r\nd;y\r\n\r\n",  # blank lines beside ids
        "\ufeffid\tlabel\na\tx\nb\ty \n c\tx\nd\ty\n",  # blanks around ids and labels
        "a x\nb y\nc x\nd y\n",  # separated by blanks
        "id label\na   x\nb y\nc x\nd y",
        "# samples of 2020\nid,label\na,x\nb,y\nc,x\nd,y\n",
        "#id,label\na,x\nb,y\nc,x\nd,y\n",
        "#SampleID\tlabel\n#q2:types\tcategorical\na\tx\nb\ty\nc\tx\nd\ty\n",  # QIIME 2
        "sample-id\tlabel\n#q2:types\tcategorical\na\tx\nb\ty\nc\tx\nd\ty\n",
        "x\ny\nx\ny\n",
        "x\ny \nx\ny\n\n\n",
        "family\nx\ny\nx\ny\n",
        "label\nx\ny\nx\ny",
    ],
)
def test_every_label_reaches_its_object(tmp_path, text):
    assert aligned(tmp_path, text)[0] == X


def test_extra_ids_and_missing_labels_are_counted(tmp_path):
    text = "id,family\nz,x\na,x\nw,y\nb,NA\nc, \n"
    labels, remark = aligned(tmp_path, text)
    assert labels == ["x", None, None, None]
    assert "3 of 4 objects have no label and are left out" in remark
    assert "2 ids are not among the objects and are ignored" in remark


@pytest.mark.parametrize(
    "text, counts",
    [
        ("label\nx\n\nx\ny\n", "Got 3 labels below the header 'label' for 4 objects. Line 3 has none"),
        ("label\nx\ny\nx\n", "Got 3 labels below the header 'label' for 4 objects"),
        ("class\n1\n2\n1\n", "Got 3 labels below the header 'class' for 4 objects"),
        ("Family\nx\ny\nx\n", "Got 3 labels below the header 'Family' for 4 objects"),
        ("species\n1\n2\n1\n", "Got 3 labels below the header 'species' for 4 objects"),
        ("x\n\ny\nx\ny\n", "Got 4 labels for 4 objects. Line 2 has none"),
        ("x\ny\nNA\ny\n", "Got 3 labels for 4 objects. Line 3 has none .'NA'."),
        ("x\ny\nx\n", "Got 3 labels for 4 objects"),
        ("x\ny\nx\ny\nx\n", "Got 5 labels for 4 objects"),
    ],
)
def test_without_ids_nothing_is_shifted(tmp_path, text, counts):
    for ids in (IDS, None):
        with pytest.raises(ProximityError, match=counts):
            aligned(tmp_path, text, ids)


def test_a_word_of_a_header_may_be_a_label(tmp_path):
    assert aligned(tmp_path, "y\nn\ny\nn\n")[0] == ["y", "n", "y", "n"]
    assert aligned(tmp_path, "target\nother\ntarget\nother\n")[0] == ["target", "other"] * 2
    labels, remark = aligned(tmp_path, "y\nn\nn\nn\n")
    assert labels == ["y", "n", "n", "n"]
    assert "line 1, 'y', is read as the label of one object" in remark


def test_columns_by_name_and_number(tmp_path):
    text = "sample,batch,family\na,1,x\nb,1,y\nc,2,x\nd,2,y\n"
    assert aligned(tmp_path, text, column="family")[0] == X
    assert aligned(tmp_path, text, column="3")[0] == X
    assert aligned(tmp_path, text, column="batch")[0] == [1, 1, 2, 2]
    with pytest.raises(ProximityError, match="could hold the labels: 'batch', 'family'"):
        aligned(tmp_path, text)
    with pytest.raises(ProximityError, match=r"no column 'species', given as label_column\. It has 'sample, b"):
        aligned(tmp_path, text, column="species")
    twice = "old,new,label\nd,a,x\nc,b,y\nb,c,x\na,d,y\n"
    assert aligned(tmp_path, twice, id_column="new")[0] == X
    assert aligned(tmp_path, twice, id_column="old")[0] == X[::-1]
    assert "'family' is read as the label" in aligned(tmp_path, text.replace("1,", "1.5,").replace("2,", "2.5,"))[1]


def test_spellings_of_missing_labels(tmp_path):
    text = "id,label\na,?\nb,NA\nc,x\nd,x\n"
    assert aligned(tmp_path, text)[0] == ["?", None, "x", "x"]
    assert aligned(tmp_path, text, na=["?"])[0] == [None, "NA", "x", "x"]
    assert aligned(tmp_path, text, na=[])[0] == ["?", "NA", "x", "x"]


def test_row_numbers_are_the_ids_of_objects_without_ids(tmp_path):
    assert aligned(tmp_path, "3,y\n1,y\n2,x\n0,x\n", None)[0] == X
    labels, remark = aligned(tmp_path, "id,label\n4,y\n2,y\n3,x\n1,x\n", None)
    assert labels == X
    assert "the ids count the objects from 1 to 4" in remark
    assert aligned(tmp_path, "id,label\n2,x\n0,x\n", None)[0] == ["x", None, "x", None]
    with pytest.raises(ProximityError, match="may count from 0 or from 1"):
        aligned(tmp_path, "id,label\n2,x\n1,y\n", None)
    for text in ("a,x\nb,y\nc,x\nd,y\n", "id,label\n7,x\n2,y\n3,x\n4,y\n", "-1,x\n1,y\n2,x\n3,y\n"):
        with pytest.raises(ProximityError, match="but the objects have none"):
            aligned(tmp_path, text, None)


def test_a_permuted_file_of_ids_is_not_read_by_position(tmp_path):
    """The labels belong to ids that the matrix does not have."""
    np.save(tmp_path / "m.npy", np.eye(4))
    (tmp_path / "y.csv").write_text("id,label\nd,y\nc,x\nb,y\na,x\n")
    with pytest.raises(ProximityError, match="the objects have none"):
        read_proximity(tmp_path / "m.npy", labels=tmp_path / "y.csv")


def test_read_proximity_keeps_the_labeled_objects(tmp_path, rng):
    values = rng.random((4, 4))
    for name in ("m.npz", "m.csv", "m.npy", "m.zarr", "m.parquet"):
        write_proximity(tmp_path / name, values, ids=IDS, kind="similarity")
        (tmp_path / "y.csv").write_text("id,family\nd,y\nb,x\n")
        for mmap in (False, True) if name.endswith(("npy", "zarr")) else (False,):
            with pytest.warns(InputWarning, match="2 of 4 objects have no label"):
                P = read_proximity(tmp_path / name, labels=tmp_path / "y.csv", mmap=mmap)
            assert P.ids == ("b", "d")
            assert P.labels.tolist() == ["x", "y"]
            np.testing.assert_array_equal(P.values, values[np.ix_([1, 3], [1, 3])])
    with pytest.warns(InputWarning), pytest.raises(ProximityError, match="has no label for 'a', one of 2 without"):
        read_labels(tmp_path / "y.csv", IDS, 4)


def test_wrong_arguments_of_label_readers():
    for read in (align_labels, read_labels):
        with pytest.raises(ProximityError, match=r"one object id per object\. Got a int instead of a list"):
            read("no.csv", 1, 1)
        with pytest.raises(ProximityError, match="Got 1 ids for 3 objects"):
            read("no.csv", ["a"], 3)
        with pytest.raises(TypeError, match=r"not '?int"):
            read(0, None, 1)


def test_files_beside_a_path_or_text():
    assert [str(path) for path in files_beside("m.csv")] == ["m.labels.csv"]
    assert [str(path) for path in files_beside("m.npy")] == ["m.npy.json"]
    assert files_beside("m.npz") == files_beside("m.unknown") == []
    with pytest.raises(TypeError, match=r"not '?int"):
        files_beside(0)


def test_take_of_blocks_and_stacks(rng):
    block = Proximity(rng.random((3, 2)), ids=list("abc"), column_ids=list("uv"), labels=[1, 2, 1])
    part = block.take([2, 0])
    assert (part.ids, part.column_ids, part.labels.tolist()) == (("c", "a"), ("u", "v"), [1, 1])
    np.testing.assert_array_equal(part.values, block.values[[2, 0]])
    assert Proximity(rng.random((3, 3, 2))).take([0, 1]).shape == (2, 2, 2)


def test_ids_with_blanks_at_their_ends(tmp_path):
    ids = [" a", "a", "b ", "c"]
    assert aligned(tmp_path, '" a",x\na,y\nb,x\nc,y\n', ids)[0] == X


def test_labels_that_are_all_different_are_no_classes():
    with pytest.raises(ProximityError, match="every one of the 4 objects has a label of its own, such as 'a'"):
        check_classes(np.array(IDS), "y.csv")
    check_classes(np.array(["a", "b"]), "y.csv")
    check_classes(np.array(["a", "b", "b"]), "y.csv")


@pytest.mark.parametrize("label", ["NA", " x"])
def test_labels_that_a_text_file_cannot_hold(tmp_path, label):
    with pytest.raises(ProximityError, match="would not be read back from a text file"):
        write_proximity(tmp_path / "m.csv", np.eye(2), labels=[label, "y"])
    assert not list(tmp_path.iterdir())


def test_masked_labels_are_missing():
    with pytest.raises(ProximityError, match="label of object 1 is masked"):
        Proximity(np.eye(2), labels=np.ma.masked_array([1, 2], mask=[0, 1]))
    assert Proximity(np.eye(2), labels=np.ma.masked_array([1, 2], mask=[0, 0])).labels.tolist() == [1, 2]


def test_labels_of_numpy_s_string_type(tmp_path):
    StringDType = pytest.importorskip("numpy.dtypes", reason="NumPy 2").StringDType
    labels = np.array(["x", "y", "x"], dtype=StringDType())
    P = Proximity(np.eye(3), ids=np.array(["a", "b", "c"], dtype=StringDType()), labels=labels)
    assert P.labels.dtype.kind == "U"
    write_proximity(tmp_path / "m.npz", P)
    assert read_proximity(tmp_path / "m.npz").labels.tolist() == ["x", "y", "x"]


def test_ids_of_other_objects_and_ids_as_labels(tmp_path):
    with pytest.raises(ProximityError, match=r"none of its 2 ids is an id of the objects. Got 'p'"):
        aligned(tmp_path, "id,label\np,x\nq,y\n")
    with pytest.raises(ProximityError, match=r"column 'sample' holds the ids of the objects.*labels with label_column"):
        aligned(tmp_path, "sample,site\na,x\nb,y\nc,x\nd,y\n", column="sample")
    with pytest.raises(ProximityError, match=r"y\.csv"):
        aligned(tmp_path, "id,label\n")


def test_labels_in_a_column_of_the_matrix(tmp_path):
    path = tmp_path / "S.csv"
    lines = ["id,topic,a,b,c,d", "a,x,3,1,1,0", "b,y,1,3,1,0", "c,,1,1,3,0", "d,y,0,0,0,3"]
    for form in (lines, [lines[0][3:], *lines[1:]]):  # with a corner cell, and without
        path.write_text("\n".join(form))
        with pytest.warns(InputWarning, match="1 of 4 objects have no label and are left out"):
            P = read_proximity(path, kind="similarity", label_column="topic")
        assert (P.ids, P.labels.tolist()) == (("a", "b", "d"), ["x", "y", "y"])
        np.testing.assert_array_equal(P.values, [[3, 1, 0], [1, 3, 0], [0, 0, 3]])
    path.write_text("\n".join(lines).replace("topic", "class").replace("c,,", "c,x,"))
    assert read_proximity(path, kind="similarity").labels.tolist() == ["x", "y", "x", "y"]
    path.write_text("\n".join(lines))
    with pytest.raises(ProximityError, match=r"line 2, column 2: 'x' is not a number.*or set label_column='topic'"):
        read_proximity(path, kind="similarity")
    path.write_text("id,class,a,b\na,,2,1\nb,,1,2\n")
    assert read_proximity(path, kind="similarity").labels is None
    path.write_text("id,class,a,b,c\na,,2,1,1\nb,1,1,2,1\nc,0,1,1,2\n")  # numbers
    with pytest.warns(InputWarning, match="1 of 3 objects have no label and are left out"):
        P = read_proximity(path, kind="similarity")
    assert (P.ids, P.labels.tolist()) == (("b", "c"), [1, 0])
    path.write_text("id,7,a,b\na,7,2,1\nb,8,1,2\n")  # numbers as labels of a column with a name of its own
    assert read_proximity(path, kind="similarity", label_column="7").labels.tolist() == [7, 8]


@pytest.mark.parametrize(("text", "options"), [("", {"id_column": "1"}), ("id,label\n", {"column": "label"})])
def test_files_without_labels(tmp_path, text, options):
    with pytest.raises(ProximityError, match=r"y\.csv (must hold one label per object|has no label for any)"):
        aligned(tmp_path, text, **options)


@pytest.mark.parametrize("text", ["1,pos\n0,1\n2,2\n", "2,pos\n1,1\n3,2\n"])
def test_a_word_among_numeric_labels_in_the_first_line_is_no_header(tmp_path, text):
    """The first line starts with the number of an object, as all others do."""
    path = tmp_path / "y.csv"
    path.write_text(text)
    rows, labels = align_labels(path, None, 3)
    assert rows.tolist() == [0, 1, 2]
    assert labels.tolist() == ["1", "pos", "2"]


def test_columns_by_integers(tmp_path):
    assert aligned(tmp_path, "1,a,x\n2,b,y\n3,c,x\n4,d,y\n", column=3, id_column=2)[0] == X
    for option in ("column", "id_column"):
        for wrong in (1.5, True, ["id"]):
            with pytest.raises(ProximityError, match=r"label_column|id_column"):
                align_labels(tmp_path / "y.csv", IDS, 4, **{option: wrong})
    path = tmp_path / "m.csv"
    path.write_text("id,a,topic,b\na,0,x,1\nb,1,y,0\n")
    for column in (3, "3", "topic"):
        P = read_proximity(path, label_column=column)
        assert (P.labels.tolist(), P.ids) == (["x", "y"], ("a", "b"))
        np.testing.assert_array_equal(P.values, [[0, 1], [1, 0]])
