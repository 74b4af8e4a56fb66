"""Objects from text files: what is read, and one sentence for everything that is not right."""

import gzip

import numpy as np
import pytest

from similis.exceptions import ProximityError
from similis.io import align_labels, read_objects


@pytest.fixture
def file(tmp_path):
    def write(text, name="objects.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_ids_labels_and_features_are_told_apart(file):
    found = read_objects(file("id,color,size,class\na,red,1,x\nb,blue,2,y\n"))
    assert found.ids == ("a", "b")
    assert found.labels.tolist() == ["x", "y"]
    assert found.columns == ("color", "size")
    assert found.values.tolist() == [["red", "1"], ["blue", "2"]]
    assert found.n == 2
    assert "2 columns of text" in repr(found)


def test_numbers_are_numbers_and_empty_cells_missing(file):
    found = read_objects(file("a;b\n1;2.5\n;-3e2\n"))
    np.testing.assert_array_equal(found.values, [[1, 2.5], [np.nan, -300]])
    assert found.ids is None
    assert found.labels is None


@pytest.mark.parametrize("mark", [";", "\t"])
def test_decimal_commas_are_read_in_columns_of_numbers(file, mark):
    path = file("\ufeffname;class;u;v\r\nA;x;1,5;red\r\nB;y;2,25;1,5\r\n".replace(";", mark))
    mixed = read_objects(path, types="mixed")
    assert (mixed.types, mixed.values.tolist()) == ({"u": "number", "v": "category"}, [[1.5, "red"], [2.25, "1,5"]])
    assert read_objects(path, columns=["u"]).values.tolist() == [[1.5], [2.25]]
    assert read_objects(path, types="text").values.tolist() == [["1,5", "red"], ["2,25", "1,5"]]  # as written
    again = read_objects(path, types=mixed.types)  # new objects of a model
    assert again.values.tolist() == mixed.values.tolist()
    with pytest.raises(ProximityError, match="'1,500'"):  # may be a thousand
        read_objects(file('id,u\nA,"1,500"\nB,2\n', "thousands.csv"), types="number")


def test_decimal_commas_are_read_in_labels_that_are_numbers(file):
    path = file("id;class;u\na;6,5;1\nb;7;2\n")
    assert read_objects(path).labels.tolist() == ["6.5", "7"]
    assert align_labels(path, ["a", "b"], 2, column="class")[1].tolist() == ["6.5", "7"]
    assert read_objects(file("id;class;u\na;6,5;1\nb;high;2\n")).labels.tolist() == ["6,5", "high"]  # classes


def test_a_coordinate_called_y_is_no_label(file):
    assert read_objects(file("x,y\n0,0\n3,4\n")).columns == ("x", "y")


def test_one_column_of_text_is_a_vector(file):
    assert read_objects(file("word\ntree\nthree\n")).values.shape == (2,)


def test_columns_can_be_chosen_and_ordered(file):
    path = file("party,a,b,who\nx,1,2,p\ny,3,4,q\n")
    found = read_objects(path, id_column="who", label_column="party", columns=["b", "a"])
    assert found.values.tolist() == [[2, 1], [4, 3]]
    assert found.labels.tolist() == ["x", "y"]


def test_a_label_file_goes_before_the_column_which_is_no_feature_either(file):
    labels = file("id,label\nb,1\na,0\n", "labels.csv")
    found = read_objects(file("id,class,v\na,x,1\nb,y,2\n"), labels=labels)
    assert found.labels.tolist() == [0, 1]
    assert found.columns == ("v",)


def test_gzip_and_byte_order_mark(file):
    path = file(gzip.compress(b"\xef\xbb\xbfid,v\na,1\nb,2\n"), "objects.csv.gz")
    assert read_objects(path).ids == ("a", "b")


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "must name its columns"),
        ("a,b\n", "must name its columns"),
        ("a,b\n1\n", "line 2: every line must have 2 cells"),
        ("a,a\n1,2\n", "different names"),
        ("1,2\n3,4\n", "must name the columns"),
        ("id,class\na,x\nb,y\n", "no column that describes"),
        ("id,v\na,1\na,2\n", "Ids must differ"),
        ("class,v\nx,1\n,2\n", "object 2 has no label"),
        ("class,v\nx,1\nNA,2\n", "object 2 has no label"),
        ("class,label,v\nx,y,1\n", "could both hold"),
        (b"a,b\n\xff\xfe,1\n", "not UTF-8"),
    ],
)
def test_broken_files_get_one_sentence(file, text, message):
    path = file(text)
    with pytest.raises(ProximityError, match=message) as caught:
        read_objects(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_missing_labels_are_spelled_as_in_a_file_of_labels(file):
    path = file("class,v\nx,1\nNA,2\n,3\n?,4\n")
    assert read_objects(path, unlabeled="").labels.tolist() == ["x", "", "", "?"]
    assert read_objects(path, na=["?"], unlabeled="none").labels.tolist() == ["x", "NA", "none", "none"]
    assert read_objects(file("class,v\nNA,2\n,3\n"), unlabeled="").labels is None


def test_an_index_with_equal_entries_holds_no_ids_if_other_columns_describe_the_objects(file):
    path = file("sex,index,size,class\nm,1,3,x\nf,1,4,y\n")
    with pytest.raises(ProximityError, match="'index' is taken for the ids because of its name"):
        read_objects(path)
    found = read_objects(path, columns=["size"])
    assert found.ids is None
    assert found.columns == ("size",)
    with pytest.raises(ProximityError, match=r"Ids must differ\. Rows 0 and 1"):
        read_objects(path, columns=["size"], id_column="index")
    with pytest.raises(ProximityError, match="'id' is taken for the ids because of its name"):
        read_objects(file("id,size\na,3\na,4\n"), columns=["size"])


def test_asked_for_columns_must_exist(file):
    path = file("a,b\n1,2\n3,4\n")
    for option in ({"id_column": "c"}, {"label_column": "c"}, {"columns": ["c"]}):
        with pytest.raises(ProximityError, match="has no column 'c'"):
            read_objects(path, **option)
    with pytest.raises(FileNotFoundError):
        read_objects(path.with_name("nowhere.csv"))


def test_objects_are_not_read_from_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    openpyxl.Workbook().save(tmp_path / "o.xlsx")
    with pytest.raises(ProximityError, match=r"o\.xlsx is an Excel workbook; save this table as csv\.$"):
        read_objects(tmp_path / "o.xlsx")


@pytest.mark.parametrize("mark", ";,\t")
def test_the_line_by_which_excel_states_the_delimiter_is_skipped(tmp_path, mark):
    path = tmp_path / "objects.csv"
    path.write_text(f"sep={mark}\r\nid;class;x\r\nA;u;1\r\nB;v;2\r\n".replace(";", mark))
    found = read_objects(path)
    assert found.columns == ("x",)
    assert (found.ids, found.labels.tolist(), found.values.tolist()) == (("A", "B"), ["u", "v"], [[1.0], [2.0]])
    path.write_text(f"sep={mark}\nid;class;x\nA;u;1\nB;v\n".replace(";", mark))
    with pytest.raises(ProximityError, match="line 4"):
        read_objects(path)


@pytest.mark.parametrize("delimiter", ["\\t", "", 1, [","]])
def test_a_delimiter_is_one_character(tmp_path, delimiter):
    (tmp_path / "o.csv").write_text("id:f\na:1\nb:2\n")
    assert read_objects(tmp_path / "o.csv", delimiter=":").ids == ("a", "b")
    with pytest.raises(ProximityError, match="delimiter must be one character"):
        read_objects(tmp_path / "o.csv", delimiter=delimiter)
