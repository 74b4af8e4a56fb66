"""Lists of pairs: alignment hits, Mash, edge lists."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse as sp

from similis import ProximityError, read_proximity
from similis.exceptions import InputWarning
from similis.io import read_pairs, write_proximity

REAL = Path(os.environ.get("SIMILIS_DATA", "/nowhere")) / "formats"
real = pytest.mark.skipif(not REAL.is_dir(), reason="needs SIMILIS_DATA")

# query subject pident length mismatch gapopen qstart qend sstart send evalue bitscore
HITS = """a\ta\t100.0\t57\t0\t0\t1\t57\t1\t57\t1e-29\t113
a\tb\t90.0\t23\t0\t0\t35\t57\t57\t35\t3e-09\t46.1
a\tb\t95.0\t12\t0\t0\t41\t52\t12\t23\t0.01\t24.3
b\ta\t90.0\t23\t0\t0\t57\t35\t35\t57\t3e-09\t46.4
b\tb\t100.0\t57\t0\t0\t1\t57\t1\t57\t0.0\t120
c\tb\t80.0\t20\t0\t0\t1\t20\t1\t20\t2.0\t20
"""
FIELDS = (
    "# BLASTN 2.12.0+\n# Query: {0} some description\n# Database: db\n# Fields: query acc.ver, subject acc.ver, "
    "% identity, alignment length, mismatches, gap opens, q. start, q. end, s. start, s. end, evalue, bit score\n"
)


@pytest.fixture
def write(tmp_path):
    def write(text, name="pairs.tsv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def quietly(path, reader=read_pairs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        return reader(path, **options)


@pytest.mark.parametrize("name", ["hits.m8", "hits.tsv", "hits.txt", "hits.out", "hits"])
def test_alignment_hits(write, name):
    path = write(HITS, name)
    with pytest.warns(InputWarning) as caught:
        P = read_proximity(path)
    text = str(caught[0].message)
    for words in (
        "alignment hits, 6 lines, 3 objects",
        "score bitscore (similarity)",
        "3 of 6 ordered pairs present, absent ones are zero",
        "1 lines repeat a pair, 1 pairs with different values: max taken",
        "directed: 1 pairs differ by direction and 1 are listed in one direction only",
        "1 objects have no line with themselves",
    ):
        assert words in text
    assert (P.ids, P.kind) == (("a", "b", "c"), "similarity")
    np.testing.assert_array_equal(P.values, [[113, 46.1, 0], [46.4, 120, 0], [0, 20, 20]])
    assert P.about["duplicates"] == 1


def test_order_of_the_lines_does_not_matter(write):
    P = quietly(write(HITS))
    lines = HITS.splitlines()
    for seed in range(3):
        shuffled = np.random.default_rng(seed).permutation(lines)
        Q = quietly(write("\n".join(shuffled)))
        assert P.ids == Q.ids
        np.testing.assert_array_equal(P.values, Q.values)


@pytest.mark.parametrize(("how", "value"), [("max", 46.1), ("min", 24.3), ("sum", 70.4), ("mean", 35.2)])
def test_aggregate(write, how, value):
    P = quietly(write(HITS), aggregate=how)
    assert P.values[0, 1] == pytest.approx(value)


def test_score_and_absent(write):
    path = write(HITS)
    P = quietly(path, score="pident", absent="missing")
    np.testing.assert_array_equal(P.values[0], [100, 95, np.nan])
    E = quietly(path, score="evalue")
    assert E.kind == "dissimilarity"
    np.testing.assert_allclose(E.values[0], [151, 180 + np.log10(3e-9), 180 + np.log10(2)])
    assert E.values[1, 1] == 0  # an E-value of 0.0 is below what BLAST prints
    assert quietly(path, score="12").values[0, 1] == 46.1
    assert quietly(path, absent=-1).values[0, 2] == -1
    with pytest.raises(ProximityError, match="as if they were identical"):
        quietly(path, score="evalue", absent="zero")
    with pytest.raises(ProximityError, match="no column 'lddt'"):
        quietly(path, score="lddt")
    for bad in ("none", "nan", "inf", True):
        with pytest.raises(ProximityError, match="absent must be"):
            read_pairs(path, absent=bad)
    with pytest.raises(ProximityError, match="aggregate must be"):
        read_pairs(path, aggregate="median")


def test_nothing_is_printed_when_everything_was_chosen(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_pairs(write(HITS), score="bitscore", aggregate="max", absent="zero")


def test_comments_of_outfmt_7_name_queries_without_hits(write):
    text = FIELDS.format("a") + "# 3 hits found\n" + "".join(HITS.splitlines(True)[:3])
    text += FIELDS.format("d") + "# 0 hits found\n# BLAST processed 2 queries\n"
    P = quietly(write(text, "hits.txt"))
    assert P.ids == ("a", "b", "d")
    np.testing.assert_array_equal(P.values[0], [113, 46.1, 0])


def test_custom_columns(write):
    path = write("x\ta\t5e-3\tb\nx\tb\t1e-4\ta\n")
    P = quietly(path, columns="code query evalue subject")
    np.testing.assert_allclose(P.values[0, 1], 180 + np.log10(5e-3))
    assert P.values[1, 0] == pytest.approx(176)
    P = quietly(path, columns=["2", "4", "3"], kind="similarity", absent=0)
    assert P.values[0, 1] == 5e-3
    with pytest.raises(ProximityError, match="columns must name all 4 columns"):
        read_pairs(path, columns="query,subject")
    header = write("query,target,lddt,bits\na,b,0.5,30\n", "foldseek.csv")
    assert quietly(header).values[0, 1] == 30
    assert quietly(header, score="lddt").values[1, 0] == 0.5
    assert quietly(header, columns="target,query,lddt").values[1, 0] == 0.5


def test_mash(write):
    triangle = "b\ta\t1\t1\t0/102\nc\ta\t0.5\t0.1\t3/102\nc\tb\t0.25\t1e-9\t9/90\n"
    P = quietly(write(triangle))
    assert P.kind == "dissimilarity"
    np.testing.assert_array_equal(P.values, [[0, 1, 0.5], [1, 0, 0.25], [0.5, 0.25, 0]])
    assert "3 pairs are listed once" in P.about["direction"]
    full = triangle + "a\tb\t1\t1\t0/102\n" + "a\ta\t0\t0\t102/102\n"
    np.testing.assert_array_equal(quietly(write(full)).values, P.values)


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
@pytest.mark.parametrize("header", [True, False])
def test_edge_lists(write, mark, header):
    lines = ["source target similarity"] * header + ["n1 n2 0.5", "n3 n1 0.25"]
    P = quietly(write("\r\n".join(lines).replace(" ", mark), "e.txt"), kind="similarity", reader=read_proximity)
    np.testing.assert_array_equal(P.values, [[1, 0.5, 0.25], [0.5, 1, np.nan], [0.25, np.nan, 1]])
    D = quietly(write("\n".join(lines).replace(" ", mark), "e.txt"), kind="similarity", directed=True, absent="zero")
    np.testing.assert_array_equal(D.values, [[1, 0.5, 0], [0, 1, 0], [0.25, 0, 1]])


def test_whole_numbers_as_ids(write):
    P = quietly(write("10 2 0.5\n2 3 0.25\n3 10 1\n9 2 3\n9 10 1\n", "e.txt"), reader=read_proximity)
    assert P.ids == ("2", "3", "9", "10")
    assert P.kind is None  # nothing tells


def test_decimal_commas(write):
    P = quietly(write("source;target;distance\na;b;0,5\n", "e.csv"))
    assert P.values[0, 1] == 0.5


def test_a_block_of_new_rows(write):
    P = quietly(write(HITS), square=False)
    assert (P.ids, P.column_ids) == (("a", "b", "c"), ("a", "b"))
    np.testing.assert_array_equal(P.values, [[113, 46.1], [46.4, 120], [0, 20]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HITS + "a\tb\t90\n", "line 7: a line must have at least 12 cells. Got 3"),
        (HITS.replace("46.4", "high"), "line 4, column 12: 'high' is not a number"),
        (HITS.replace("46.4", "inf"), "line 4, column 12: infinity"),
        (HITS.replace("c\tb", "\tb"), "line 6: both objects of a pair must have an id"),
        (HITS.replace("46.4", "1e999"), "line 4, column 12: '1e999' is too large"),
        ("# Fields: query id, subject id, bit score\n", "holds no pairs"),
        ("# Fields: query id, subject id, x, score\na\tb\t4\n", "4 columns are named, but the first line has 3"),
        ("a\tb\n", "must hold two ids and a number"),
        (b"a\tb\t\xff\xfe\n", "not UTF-8"),
    ],
)
def test_malformed(write, text, message):
    path = write(text, "hits.m8")
    with pytest.raises(ProximityError, match=re.escape(message)) as caught:
        quietly(path)
    assert "hits.m8" in str(caught.value)


def test_missing_values_are_counted(write):
    with pytest.warns(InputWarning, match="1 lines without a value ignored"):
        P = read_pairs(write("source\ttarget\tdistance\na\tb\tNA\na\tc\t2\n"))
    np.testing.assert_array_equal(P.values[0], [0, np.nan, 2])


def test_sparse_result(write):
    P = quietly(write(HITS), sparse=True)
    dense = quietly(write(HITS))
    assert P.values.nnz == 6
    np.testing.assert_array_equal(P.to_dense(), dense.values)
    np.testing.assert_array_equal(P.take([2, 0]).to_dense(), dense.take([2, 0]).values)
    D = quietly(write("source\ttarget\tdistance\na\tb\t0\nb\tc\t2\n"), sparse=True)
    np.testing.assert_array_equal(D.to_dense(), [[0, 0, np.nan], [0, 0, 2], [np.nan, 2, 0]])
    with pytest.raises(ProximityError, match="a sparse matrix has zero for absent similarities"):
        quietly(write(HITS), sparse=True, absent="missing")


def test_many_objects_become_a_sparse_matrix(write):
    n = 7000
    path = write("".join(f"o{i}\to{(i + 1) % n}\t{i % 7}\n" for i in range(n)))
    P = quietly(path, kind="dissimilarity")
    assert P.shape == (n, n)
    assert P.values.nnz == 3 * n
    n = 20000
    path = write("".join(f"o{i}\to{(i + 1) % n}\t{i % 7}\n" for i in range(n)))
    with pytest.raises(ProximityError, match="GB"):
        quietly(path, kind="similarity")


def test_random_lists_match_a_loop(write):
    rng = np.random.default_rng(0)
    for _ in range(20):
        m, n = rng.integers(1, 40), rng.integers(2, 6)
        rows = [(f"o{rng.integers(n)}", f"o{rng.integers(n)}", float(rng.integers(1, 5))) for _ in range(m)]
        P = quietly(
            write("\n".join("\t".join(map(str, row)) for row in rows)),
            aggregate="mean",
            absent=-9,
            kind="similarity",
            directed=True,
        )
        for i, a in enumerate(P.ids):
            for j, b in enumerate(P.ids):
                found = [v for x, y, v in rows if (x, y) == (a, b)]
                if i != j:
                    assert P.values[i, j] == pytest.approx(np.mean(found) if found else -9)


def test_parquet(write, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = pa.table({"source": ["a", "c"], "target": ["b", "a"], "distance": [0.5, 2.0]})
    pq.write_table(table, tmp_path / "e.parquet")
    P = quietly(tmp_path / "e.parquet", reader=read_proximity)
    np.testing.assert_array_equal(P.values, [[0, 0.5, 2], [0.5, 0, np.nan], [2, np.nan, 0]])


def test_columns_by_integers(write, tmp_path):
    path = write("1,a,b,0.5,7\n2,b,c,0.25,8\n", "e.csv")
    for columns in ([2, 3, 5], (2, np.int64(3), "5"), np.array([2, 3, 5])):
        assert quietly(path, columns=columns, absent=0).values[0, 1] == 7
    assert quietly(path, columns=[2, 3], score=4, reader=read_proximity).values[1, 2] == 0.25
    for wrong in ({"columns": 2.5}, {"columns": [2, None]}, {"columns": [[2], [3]]}, {"score": True}, {"score": [4]}):
        with pytest.raises(ProximityError, match=r"columns|score"):
            read_pairs(path, **wrong)


def test_written_edges_read_back(tmp_path):
    D = np.array([[0, 1, np.nan], [1, 0, 2.5], [np.nan, 2.5, 0]])
    write_proximity(tmp_path / "m.edges", D, ids=list("abc"), kind="dissimilarity", labels=[0, 1, 0])
    P = quietly(tmp_path / "m.edges", reader=read_proximity)
    assert P.kind == "dissimilarity"
    np.testing.assert_array_equal(P.values, D)
    np.testing.assert_array_equal(P.labels, [0, 1, 0])


def test_written_edges_keep_objects_without_entries_and_stored_zeros(tmp_path):
    D = np.array([[0, 1, np.nan], [1, 0, np.nan], [np.nan, np.nan, np.nan]])
    write_proximity(tmp_path / "m.edges", D, ids=list("abc"), kind="dissimilarity")
    P = quietly(tmp_path / "m.edges", reader=read_proximity)
    assert P.ids == ("a", "b", "c")
    np.testing.assert_array_equal(P.values, np.where(np.eye(3) == 1, 0, D))
    rows = np.array([[np.nan, 1, np.nan], [np.nan, np.nan, np.nan]])
    write_proximity(tmp_path / "r.edges", rows, ids=list("ab"), column_ids=list("xyz"), kind="dissimilarity")
    P = quietly(tmp_path / "r.edges", square=False)
    assert (P.ids, P.column_ids) == (("a", "b"), ("x", "y", "z"))
    np.testing.assert_array_equal(P.values, rows)
    # Object b is a copy of a, of which only b lists the other as a neighbor.
    kept = sp.csr_array((np.array([2.0, 0, 3]), (np.array([0, 1, 2]), np.array([2, 0, 0]))), shape=(3, 3))
    write_proximity(tmp_path / "s.edges", kept, ids=list("abc"), kind="dissimilarity")
    P = quietly(tmp_path / "s.edges", directed=True)
    np.testing.assert_array_equal(P.values, [[0, np.nan, 2], [0, 0, np.nan], [3, np.nan, 0]])


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\rb", "#1", " a", "a "])
@pytest.mark.parametrize("ending", ["edges", "lsmat"])
def test_ids_that_lists_and_lsmat_cannot_hold_are_rejected(tmp_path, name, ending):
    path = tmp_path / f"m.{ending}"
    if (name, ending) == ("#1", "lsmat"):
        write_proximity(path, 1 - np.eye(2), ids=[name, "b"])
        assert read_proximity(path).ids == (name, "b")
        return
    with pytest.raises(ProximityError, match=r"An id in an? .* must not hold tabs, line breaks"):
        write_proximity(path, 1 - np.eye(2), ids=["b", name])
    assert not path.exists()


def test_a_matrix_is_no_pair_list(write):
    for text in (
        "a,b,c\n1,2,3\n2,1,4\n3,4,1\n",
        "1,2,3\n2,1,4\n3,4,1\n",
        "x,1,0.5\ny,0.5,1\n",
        "id,a,b\na,1,NA\nb,NA,1\n",
    ):
        P = quietly(write(text, "m.csv"), reader=read_proximity)
        assert P.about["format"] == "table of numbers in text"


@real
def test_real_hits_and_distances():
    P = quietly(REAL / "promoters_blast.m8", reader=read_proximity)
    assert (P.shape, P.kind) == ((106, 106), "similarity")
    counted = {tuple(line.split("\t")[:2]) for line in (REAL / "promoters_blast.m8").read_text().splitlines()}
    assert np.count_nonzero(P.values) == len(counted)
    Q = quietly(REAL / "promoters_blast_outfmt7.txt", reader=read_proximity)
    assert Q.values[0, 0] == 113
    edges, full, square = (
        quietly(REAL / f"promoters_{name}", reader=read_proximity)
        for name in ("mash_edges.tsv", "mash_dist.tsv", "mash.phylip")
    )
    assert edges.ids == full.ids == square.ids
    np.testing.assert_array_equal(edges.values, full.values)
    np.testing.assert_array_equal(edges.values, square.values)


def test_quoted_ids_with_blanks_are_one_cell(tmp_path):
    path = tmp_path / "m.txt"
    path.write_text('"a b0" 0.0 3.1 2.25\n"a b1" 3.1 0.0 1.6\n"a b2" 2.25 1.6 0.0\n')
    P = read_proximity(path)
    assert P.ids == ("a b0", "a b1", "a b2")
    assert P.values[0, 1] == 3.1
    path.write_text('"a b" "c d" 0.5\n"a b" "e f" 0.25\n"c d" "e f" 0.125\n')
    assert read_proximity(path).ids == ("a b", "c d", "e f")


@pytest.mark.parametrize("header", [",a,b,d\n", '"","Var1","Var2","Freq"\n'])
def test_a_column_of_row_numbers_is_neither_id_nor_score(write, header):
    P = read_proximity(write(header + "0,x,y,0.5\n7,y,z,0.25\n9,z,z,1\n", "e.csv"), score=None, kind="similarity")
    assert P.ids == ("x", "y", "z")
    np.testing.assert_array_equal(P.values[1], [0.5, 0.5, 0.25])


def test_named_columns_of_whole_numbers_are_ids(write):
    text = "a,b,d\n" + "".join(f"{i},{j},{i + j}\n" for i in range(4) for j in range(i))
    P = read_proximity(write(text, "e.csv"), kind="dissimilarity")
    assert P.ids == ("0", "1", "2", "3")
    assert P.values[3, 2] == 5


def test_edge_data_of_networkx(write):
    P = read_proximity(write("a b {'weight': 0.5, 'n': 3}\nb c {'n': 2}\na c {'weight': 1e-3, 'n': 1}\n", "g.edgelist"))
    assert P.about["score"] == "weight"
    np.testing.assert_array_equal(P.values[0, 1:], [0.5, 1e-3])
    assert np.isnan(P.values[1, 2])


def test_labels_beside_the_ids_of_a_matrix_are_no_pairs(write):
    P = read_proximity(write("id,class,a,b\na,x,1,0.5\nb,y,0.5,1\n", "m.csv"))
    np.testing.assert_array_equal(P.labels, ["x", "y"])
    with pytest.raises(ProximityError, match="line 2, column 2: 'x' is not a number"):
        read_proximity(write("id,color,a,b\na,x,1,0.5\nb,y,0.5,1\n", "m.csv"))


def test_fields_of_any_name_are_alignment_hits(write):
    fields = "# Fields: Query ID, Subject ID, Percentage of identical matches, Expected value\n"
    P = read_proximity(write(fields + "a\ta\t100\t1e-9\na\tb\t50\t1e-3\n", "h.txt"), score="pident")
    assert (P.about["format"], P.about["absent"], P.values[1, 0]) == ("alignment hits", "zero", 50)
    P = read_proximity(write("a\ta\t1.0\t80\nb\tb\t1.0\t80\na\tb\t0.5\t60\nb\tc\t0.5\t60\n", "h.m8"))
    assert (P.about["format"], P.about["absent"], P.values[0, 2]) == ("alignment hits", "zero", 0)


ODD = ["", "# remark\n", "n1,é,3\n", 'n1,"n 2",3\n', '"n1","n""2",3\n', 'n1,"n\n2",3\n', "n1,n2,NA\n", "\n"]
ODD += ["n1,n2,3\r\n", "n1,n2,3\rn2,n1,4\n", "n1 , n2,3 ,x,y\n", "n1,n2,-1.25e-30\n", "n1,n2,0.12345678901234567\n"]


@pytest.mark.parametrize("odd", ODD)
def test_plain_lines_are_parsed_as_the_others_are(write, monkeypatch, rng, odd):
    """Blocks of plain lines are parsed by compiled code, blocks with other lines one by one."""
    lines = [f"n{a},n{b},{value:.3f}\n" for a, b, value in zip(*rng.integers(0, 12, (2, 200)), rng.random(200))]
    text = "source,target,similarity\n" + "".join([*lines[:150], odd, *lines[150:]])
    path, options = write(text, "e.csv"), {"score": "similarity", "aggregate": "mean", "absent": "zero"}
    monkeypatch.setattr("similis.io._pair_lines._PlainParser.parse", lambda *_: 0)
    expected = read_pairs(path, **options)
    monkeypatch.undo()
    monkeypatch.setattr("similis.io._pair_lines._BLOCK", 300)
    found = read_pairs(path, **options)
    assert (found.ids, found.about) == (expected.ids, expected.about)
    np.testing.assert_array_equal(found.values, expected.values)
    for bad in ("n1,n2\n", "n1,n2,x\n", ",n2,1\n", " ,,\n"):
        with pytest.raises(ProximityError, match=r"e\.csv, line 152"):
            read_pairs(
                write("".join(["a,b,w\n", *lines[:150], bad, *lines[150:]]), "e.csv"), **options | {"score": "w"}
            )


@pytest.mark.parametrize("mark", ["\t", ";", " "])
def test_plain_lines_with_other_marks(write, monkeypatch, rng, mark):
    names = rng.integers(0, 30, (2, 300))
    texts = rng.choice(["1", "-0", "+2.5", ".5", "7.", "1e5", "3E-7", "123456789012345678", "2.5e-300", "0e99"], 300)
    lines = [mark.join((f"n{a}", f"n{b}", text)) for (a, b), text in zip(names.T, texts)]
    path = write("\n".join(lines), "e.txt")  # without a last newline
    monkeypatch.setattr("similis.io._pair_lines._BLOCK", 500)
    P = quietly(path, aggregate="sum", directed=True, absent="missing")
    expected = {}
    for (a, b), text in zip(names.T.tolist(), texts.tolist()):
        expected[f"n{a}", f"n{b}"] = expected.get((f"n{a}", f"n{b}"), 0.0) + float(text)
    place = {name: i for i, name in enumerate(P.ids)}
    for (a, b), value in expected.items():
        assert P.values[place[a], place[b]] == pytest.approx(value, rel=1e-15)
    assert np.count_nonzero(~np.isnan(P.values)) == len(expected)


def test_comments_between_plain_blocks(write, monkeypatch):
    monkeypatch.setattr("similis.io._pair_lines._BLOCK", 100)
    fields = "# Fields: query acc.ver, subject acc.ver, bit score\n"
    text = "".join(f"# Query: q{i} title\n{fields}" + f"q{i}\tq{i // 2}\t{i + 1}\n" * (i % 3 > 0) for i in range(60))
    P = quietly(write(text, "h.txt"))
    assert len(P.ids) == 60  # also queries without hits
    assert P.about["lines"] == 40
    with pytest.raises(ProximityError, match=r"h\.txt, line 161: a line must have at least 3 cells"):
        quietly(write(text + "q1\tq2\n", "h.txt"))


@pytest.mark.parametrize(
    "title", ["kinase, putative", "kinase, a, b, c, d, e, f, g, h, i, j, k, l, m", 'a "b", 5" end']
)
def test_commas_in_titles_of_hits(write, title):
    lines = "".join(line + f"\t{title}\n" for line in HITS.splitlines() if not line.startswith("#"))
    for name in ("h.m8", "h.tsv", "h.txt"):
        P = quietly(write(lines, name), read_proximity)
        np.testing.assert_array_equal(P.values, quietly(write(HITS, "g.m8")).values)


@pytest.mark.parametrize("header", ["level_0,level_1,0\n", ",,0\n", ",,distance\n"])
def test_headers_of_stacked_frames(write, header):
    pairs = "".join(f"{a},{b},{abs(i - j)}\n" for i, a in enumerate("abc") for j, b in enumerate("abc"))
    P = quietly(write(header + pairs, "s.csv"), read_proximity)
    assert P.ids == ("a", "b", "c")
    np.testing.assert_array_equal(P.values[0], [0, 1, 2])


def test_numbers_called_id_are_no_ids(write):
    """US-align calls sequence identities ID1 and ID2."""
    text = "#PDBchain1\tPDBchain2\tTM1\tTM2\tRMSD\tID1\tID2\na.pdb\tb.pdb\t0.9\t0.8\t1.5\t0.31\t0.32\n"
    P = quietly(write(text + "a.pdb\tc.pdb\t0.5\t0.4\t3.5\t0.11\t0.12\n", "u.tsv"), read_proximity)
    assert P.ids == ("a.pdb", "b.pdb", "c.pdb")
    assert (P.about["score"], P.kind, P.values[0, 2]) == ("tm1", "similarity", 0.5)


def test_kind_and_its_reason_are_one_message(write):
    with pytest.warns(InputWarning) as caught:
        P = read_pairs(write("a\ta\t9\nb\tb\t9\na\tb\t3\n", "e.tsv"))
    assert (len(caught), P.kind) == (1, "similarity")
    assert "similarity, because lines of an object with itself have the largest values" in str(caught[0].message)
    assert quietly(write("p q combined_score\na b 3\nb c 4\n", "e.txt"), read_proximity).kind == "similarity"


def test_a_list_without_numbers(write):
    with pytest.raises(ProximityError, match=r"two ids and a number\. Got 2 cells"):
        read_proximity(write("a,b\nb,c\nc,a\n", "e.csv"))


def test_whole_numbers_as_ids_in_parquet(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pairs = [(i, j) for i in range(5) for j in range(i)]
    i, j = zip(*pairs)
    pq.write_table(pa.table({"i": i, "j": j, "dist": [a + b / 2 for a, b in pairs]}), tmp_path / "e.parquet")
    P = quietly(tmp_path / "e.parquet", read_proximity)
    assert (P.ids, P.kind, P.values[4, 3]) == (tuple("01234"), "dissimilarity", 5.5)


def test_queries_without_hits_are_marked_by_a_star(write):
    """DIAMOND --unal 1 and vsearch --output_no_hits."""
    none = "{}\t*\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\n".format
    P, Q = quietly(write(HITS)), quietly(write(none("a") + HITS + none("A") + none("d")))
    assert Q.ids == ("A", *P.ids, "d")
    np.testing.assert_array_equal(Q.values[1:4, 1:4], P.values)
    assert not Q.values[0, 1:].any()
    assert not Q.values[1:, 0].any()
    B = quietly(write(none("d") + HITS), square=False)
    assert (B.ids, B.columns) == (("a", "b", "c", "d"), ("a", "b"))
    assert quietly(write(none("d") + HITS), score="evalue").values[3, 3] == 0
    edges = quietly(write("a\t*\t1\nb\t*\t2\n"), kind="dissimilarity")
    assert edges.ids == ("*", "a", "b")  # only alignment hits have such lines


def test_more_cells_than_names_in_the_fields(write):
    """LAST -f BlastTab+ names 14 of its 15 columns."""
    text = "# Fields: query id, subject id, % identity, bit score\na\ta\t100\t50\t7\na\tb\t90\t40\t8\n"
    P = quietly(write(text))
    assert (P.about["score"], P.values[0, 1]) == ("bitscore", 40)
    with pytest.raises(ProximityError, match=r"4 columns are named, but the first line has 5 cells; .*with tabs"):
        quietly(write(text.replace("\t", ",")))
    std = "% identity, length, mismatches, gap opens, q. start, q. end, s. start, s. end, evalue, bit score"
    fasta = f"# Fields: query id, query length, subject id, subject length, {std}\n"  # FASTA 36 -m 8C: 12 cells
    np.testing.assert_array_equal(quietly(write(fasta + HITS)).values, quietly(write(HITS)).values)
    with pytest.raises(ProximityError, match="4 columns are named, but the first line has 3 cells"):
        quietly(write("# Fields: query id, subject id, % identity, bit score\na\tb\t90\n"))


def test_columns_of_numbers_without_names_are_announced(write):
    text = "a\ta\t1e-9\t50\nb\tb\t1e-9\t50\na\tb\t0.01\t8\n"
    with pytest.warns(InputWarning, match=r"column 3.*the first of 2 columns of numbers; name them with columns="):
        read_pairs(write(text))
    for options in ({"score": "3"}, {"columns": "query subject evalue bitscore"}, {"columns": "1,2,3"}):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            read_pairs(write(text), **options)
        assert "the first of" not in "".join(str(w.message) for w in caught)


def test_a_delimiter_is_one_character(tmp_path):
    (tmp_path / "p.csv").write_text("a::b::1\n")
    with pytest.raises(ProximityError, match=r"delimiter must be .* blank or bar\. Got '::'"):
        read_pairs(tmp_path / "p.csv", delimiter="::")
