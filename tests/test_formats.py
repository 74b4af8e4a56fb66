"""Matrices in the files of other tools: PHYLIP, scikit-bio, sourmash, R, MATLAB, AnnData, Excel, Feather, GraphML."""

import bz2
import gzip
import lzma
import os
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse as sp
from scipy.spatial.distance import pdist, squareform

from similis import Proximity, ProximityError, read_proximity, write_proximity
from similis.exceptions import InputWarning, KindWarning, MissingExtraError
from similis.io import align_labels, formats

REAL = Path(os.environ.get("SIMILIS_DATA", "/nowhere")) / "formats"
D = np.array([[0, 1, 2.5], [1, 0, 3], [2.5, 3, 0]])
IDS = ("a", "b", "c")


def quietly(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_proximity(path, **options)


def check(path, *, ids=IDS, kind="dissimilarity", values=D, **options):
    P = quietly(path, **options)
    np.testing.assert_array_equal(P.values, values)
    assert (P.ids, P.kind) == (ids, kind)
    return P


@pytest.mark.parametrize("packer", [None, gzip, bz2, lzma])
@pytest.mark.parametrize(
    "text",
    [
        "3\na 0 1 2.5\nb 1 0 3\nc 2.5 3 0\n",
        "   3\r\na         0 1 2.5\r\nb         1 0 3\r\nc         2.5 3 0\r\n",
        "\t3\na\nb\t1\nc\t2.5\t3\n",
        "3\na 0\nb 1 0\nc 2.5 3 0\n",
        "3\na 1 2.5\nb 3\nc\n",
        "3\na 0 1 2.5\nb 0 3\nc 0\n",
        "3\na 0 1\n  2.5\nb 1 0\n  3\nc 2.5 3\n  0\n",
    ],
)
def test_phylip(tmp_path, text, packer):
    path = tmp_path / ("m.phy" if packer is None else "m.phy." + {gzip: "gz", bz2: "bz2", lzma: "xz"}[packer])
    path.write_bytes(text.encode() if packer is None else packer.compress(text.encode()))
    check(path)


def test_phylip_with_strict_names(tmp_path):
    (tmp_path / "m.txt").write_text("3\nHomo sap. 0 1 2.5\nPan trog. 1 0 3\nChimpanzee2.5 3 0\n")
    check(tmp_path / "m.txt", ids=("Homo sap.", "Pan trog.", "Chimpanzee"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3\na 0 1\nb 1 0\n", "line 1 announces 3 objects. Got 2 rows"),
        ("3\na 0 1 2\nb 1 0\nc 2 3 0\n", "line 3: the rows must form a square matrix"),
        ("3\na\nb\t1\nc\t1\n", "line 4: the rows must form"),
        ("3\na 0 1 2\nb 1 0 x\nc 2 3 0\n", "line 3: 'x' is not a number"),
        ("3\na 0 1 2\nb 1 0 inf\nc 2 3 0\n", "line 3: infinity"),
        ("0\na\n", "the number of objects"),
    ],
)
def test_malformed_phylip(tmp_path, text, message):
    (tmp_path / "m.phylip").write_text(text)
    with pytest.raises(ProximityError, match=message) as caught:
        quietly(tmp_path / "m.phylip", format="phylip")
    assert "m.phylip" in str(caught.value)


def test_large_phylip_is_read_row_by_row(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    big = squareform(rng.random(30 * 29 // 2).round(3))
    names = tuple(f"n{i}" for i in range(30))
    write_proximity(tmp_path / "m.phy", big, ids=names, kind="dissimilarity")
    rows = ["\t".join([name, *map(repr, row[:i].tolist())]) for i, (name, row) in enumerate(zip(names, big))]
    (tmp_path / "t.dist").write_text("\n".join(["30", *rows, ""]))
    monkeypatch.setattr("similis.io._text._IN_MEMORY", 1000)
    monkeypatch.setattr("similis.io._phylip._rows", None)  # of files that are held as text
    for name in ("m.phy", "t.dist"):
        P = check(tmp_path / name, ids=names, values=big)
        assert isinstance(P.values, np.memmap)
        write_proximity(tmp_path / "m.npy", P)
        check(tmp_path / "m.npy", ids=names, values=big)


@pytest.mark.parametrize("text", ["53200\n.1 1\n", "720050\n2\n"])
def test_announced_objects_take_no_space(tmp_path, monkeypatch, text):
    (tmp_path / "m.phy").write_text(text)
    monkeypatch.setattr("tempfile.TemporaryFile", None)
    with pytest.raises(ProximityError, match=r"m\.phy"):
        quietly(tmp_path / "m.phy")


def test_missing_identity_of_genomes(tmp_path):
    (tmp_path / "m.tsv").write_text("# vs\nb -a - 3 2020\nd \n")
    with pytest.raises(ProximityError, match=r"m\.tsv"):
        quietly(tmp_path / "m.tsv", format="pairs")


def test_zip_of_a_later_version(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.qza", "w") as archive:
        archive.writestr("u/data/distance-matrix.tsv", "\ta\tb\na\t0\t1\nb\t1\t0\n")
    data = bytearray((tmp_path / "m.qza").read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 105  # version needed to extract
    (tmp_path / "m.qza").write_bytes(data)
    with pytest.raises(ProximityError, match=r"m\.qza is damaged"):
        quietly(tmp_path / "m.qza")


def test_table_with_a_label_column_only(tmp_path):
    (tmp_path / "m.csv").write_text("label\n1,211]f\n")
    with pytest.raises(ProximityError, match=r"m.csv, line 2, column 2: '211\]f' is not"):
        quietly(tmp_path / "m.csv")


def triangle(text):
    """Symmetric matrix of three numbers, and of the diagonal."""
    a, b, c, own = map(float, text.split())
    return np.array([[own, a, b], [a, own, c], [b, c, own]])


PAF_LINE = "{0}\t9\t0\t9\t+\t{1}\t9\t0\t9\t{2}\t9\t0{3}\n"
HITS_LINE = "{0}\t{1}\t{2}\t99\t1\t0\t1\t99\t1\t99\t-1\t0\n"
MEGA = "#mega\n!Title: t;\n!Format DataType=Distance DataFormat={};\n\n[1] #a\n[2] #b\n[3] #c_d\n\n[  1  2  3 ]\n"
HMMER = "# target name accession query name accession {}\n#----------- --------- ---------- --------- {}\n"


@pytest.mark.parametrize(
    ("name", "text", "values", "kind", "ids"),
    [  # written after files of the tools themselves
        ("clustalo.mat", "3\na 0.0 0.8 0.1\nb 0.8 0.0 0.2\nc 0.1 0.2 0.0\n", "0.8 0.1 0.2 0", "dissimilarity", IDS),
        ("ident.mat", "3\na 100.0 80 10\nb 80 100.0 20\nc 10 20 100.0\n", "80 10 20 100", "similarity", IDS),
        ("mothur.dist", "3\na     \nb     \t0.8\nc     \t0.1\t0.2\n", "0.8 0.1 0.2 0", "dissimilarity", IDS),
        ("column.dist", "b a 0.8\nc a 0.1\nc b 0.2\n", "0.8 0.1 0.2 0", "dissimilarity", IDS),
        ("ani.out.matrix", "3\na\nb\t97.5\nc\tNA\t89\n", "97.5 nan 89 100", "similarity", IDS),
        ("skani.matrix", "3\na\nb\t97.5\nc\t0.00\t89\n", "97.5 0 89 100", "similarity", IDS),
        ("ani.out", "a\tb\t97\t9\t9\nb\tc\t89\t8\t9\na\tc\t80\t1\t9\n", "97 80 89 97", "similarity", IDS),
        (
            "emboss.distmat",
            "Distance Matrix\n---\n\nUsing Kimura\n\n\t  1\t  2\t  3\n\t 0.00\t117.44\t 8.65\t\ta 1\n"
            "\t\t 0.00\t16.6\t\tb 2\n\t\t\t 0.00\t\tc d 3\n",
            "117.44 8.65 16.6 0",
            "dissimilarity",
            ("a", "b", "c d"),
        ),
        ("l.meg", MEGA.format("LowerLeft") + "[1]\n[2] 1\n[3] 2 3\n", "1 2 3 0", "dissimilarity", ("a", "b", "c d")),
        ("u.meg", MEGA.format("UpperRight") + "[1] 1 2\n[2] 3\n[3]\n", "1 2 3 0", "dissimilarity", ("a", "b", "c d")),
        ("n.meg", MEGA.format("LowerLeft") + "1\n2 3\n", "1 2 3 0", "dissimilarity", ("a", "b", "c d")),
        ("r.meg", MEGA.format("UpperRight") + "1 2\n3\n", "1 2 3 0", "dissimilarity", ("a", "b", "c d")),
        (
            "c.pim",
            "#\n#  Percent Identity  Matrix - created by Clustal2.1 \n#\n\n     1: a  100.00   80.00   10.00\n"
            "     2: b   80.00  100.00   20.00\n     3: c   10.00   20.00  100.00\n",
            "80 10 20 100",
            "similarity",
            IDS,
        ),
        ("t.csv", ",a,b,c,\na,0,1,2,\nb,1,0,3,\nc,2,3,0,\n", "1 2 3 0", None, IDS),
        ("p.mibs", "1\n0.5\t1\n0.25\t0.125\t1\n", "0.5 0.25 0.125 1", "similarity", ("i0", "i1", "i2")),
        ("p.mdist", "0\t1\t2\n1\t0\t3\n2\t3\t0\n", "1 2 3 0", "dissimilarity", ("i0", "i1", "i2")),
        ("p.dist", "0\t1\t2\n1\t0\t3\n2\t3\t0\n", "1 2 3 0", "dissimilarity", ("i0", "i1", "i2")),
        ("s.dist", "0\t0\t0\n1\t0\t0\n2\t3\t0\n", "1 2 3 0", "dissimilarity", ("i0", "i1", "i2")),
        (
            "p.kin0",
            "#FID1\tIID1\tFID2\tIID2\tKINSHIP\nf\ta\tf\tb\t0.1\nf\ta\tf\tc\t0.2\nf\tb\tf\tc\t0.3\n",
            "0.1 0.2 0.3 1",
            "similarity",
            IDS,
        ),
        ("v.b6", "".join(map(HITS_LINE.format, "aab", "bcc", "974")), "9 7 4 9", "similarity", IDS),
        (
            "m.paf",
            "".join(map(PAF_LINE.format, "aab", "bcc", "567", ("", "\tx", "\tx\ty"))),
            "5 6 7 7",
            "similarity",
            IDS,
        ),
        (  # titles may hold commas
            "h.tbl",
            HMMER.format("E-value score  E-value title", "------- ------ ------- -----")
            + "a - b - 1e-9 31 2 x, y\nc - a - 1e-9 30 2 x\nc - b - 1e-9 20 2 x\n",
            "31 30 20 31",
            "similarity",
            IDS,
        ),
        (  # of nhmmer; Infernal leaves out the first blank
            "n.tbl",
            "#"
            + HMMER.format("hmmfrom hmm to  score E-value", "------- ------- ----- -------")[2:]
            + "a - b - 1 99 31 0\nc - a - 1 99 30 0\nc - b - 1 99 20 0\n",
            "31 30 20 31",
            "similarity",
            IDS,
        ),
        (
            "last.tab",
            "# score\tname1\tstart1\talnSize1\tname2\tstart2\tE\n9\ta\t0\t5\tb\t0\tE=1\n4\tb\t0\t5\tc\t0\tE=1\n",
            "9 0 4 9",
            "similarity",
            IDS,
        ),
        (  # of needleall -aformat score: names, length, score
            "needle.out",
            "a a 9 (7.5)\nb a 9 (5.0)\nc a 8 (-2)\nb b 9 (7.5)\nc b 9 (3.0)\nc c 9 (7.5)\n",
            "5 -2 3 7.5",
            "similarity",
            IDS,
        ),
        (
            "melt.txt",
            '"Var1" "Var2" "dist"\n"2" "b" "a" 1\n"3" "c" "a" 2\n"6" "c" "b" 3\n',
            "1 2 3 0",
            "dissimilarity",
            IDS,
        ),
        (
            "mash.txt",
            "\t3\nEscherichia coli, 1\nEscherichia coli, 2\t1\nb, c\t2\t3\n",
            "1 2 3 0",
            "dissimilarity",
            ("Escherichia coli, 1", "Escherichia coli, 2", "b, c"),
        ),
        ("saturated.phy", "  3\na  0.0 -1.0 2.0\nb  -1.0 0.0 3.0\nc  2.0 3.0 0.0\n", "nan 2 3 0", "dissimilarity", IDS),
        ("saturated.txt", "3\na\nb  -1.0\nc  2.0 3.0\n", "nan 2 3 0", "dissimilarity", IDS),
        (
            "jc.distmat",
            "Distance Matrix\n---\n\n\t 1\t 2\t 3\n\t 0.00\tinf\t 8.5\t\ta 1\n\t\t 0.00\t-nan\t\tb 2\n\t\t\t0\t\tc 3\n",
            "nan 8.5 nan 0",
            "dissimilarity",
            IDS,
        ),
        (  # a table under a title, as spreadsheets write it
            "title.csv",
            "Distances of all samples,,,\n2024,,,\n,,,\n,a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n",
            "1 2 3 0",
            "dissimilarity",
            IDS,
        ),
    ],
)
def test_files_of_other_tools(tmp_path, name, text, values, kind, ids):
    (tmp_path / "p.mibs.id").write_text("f\ti0\nf\ti1\nf\ti2\n")
    for stem in ("p.mdist", "p.dist", "s.dist"):
        (tmp_path / f"{stem}.id").write_text("#FID\tIID\nf\ti0\nf\ti1\nf\ti2\n")
    (tmp_path / name).write_text(text)
    check(tmp_path / name, ids=ids, kind=kind, values=triangle(values))


def test_triangle_of_plink(tmp_path):
    (tmp_path / "p.dist").write_text("1\n2\t4\n3\t5\t6\n")
    (tmp_path / "p.dist.id").write_text("".join(f"f\ti{i}\n" for i in range(4)))
    check(tmp_path / "p.dist", ids=("i0", "i1", "i2", "i3"), values=squareform([1, 2, 3, 4, 5, 6]))


@pytest.mark.parametrize(("mark", "point"), [",.", ";.", ";,", "\t.", "\t,", " ."])
def test_triangle_that_begins_with_a_whole_number_is_not_phylip(tmp_path, mark, point):
    (tmp_path / "m.csv").write_text("1\n0.5;1\n0.25;0.75;1\n".replace(".", point).replace(";", mark))
    check(tmp_path / "m.csv", ids=None, kind=None, values=triangle("0.5 0.25 0.75 1"))


@pytest.mark.parametrize(
    "text", [MEGA.format("x") + "[1]\n[2] 1 2\n[3] 2 3\n", "Distance Matrix\n---\n\n\t 0 \t\ta 1\n\t x y\t\tb 2\n"]
)
def test_malformed_named_triangle(tmp_path, text):
    (tmp_path / "m.txt").write_text(text)
    with pytest.raises(ProximityError, match=r"m.txt, line (12: the rows must form|5: 'x' is not a num)"):
        quietly(tmp_path / "m.txt")


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("BLASTP 2.12.0+\n\n\nReference: Stephen F. Altschul, Thomas L. Madden\n", "report of BLAST.*-outfmt 6"),
        ('{"directed": false, "nodes": [{"id": "a"}, {"id": "b"}]}\n', "JSON file.*GraphML"),
        ('graph [\n  node [\n    id 0\n    label "a"\n  ]\n]\n', "GML file.*GraphML"),
        ('*vertices 2\n1 "a"\n2 "b"\n*edges\n1 2 0.5\n', "Pajek file.*GraphML"),
        ('{\n"BlastOutput2": [\n  {\n', "JSON file.*csv"),
        ('<?xml version="1.0"?>\n<BlastOutput>\n', "XML or HTML file.*-outfmt 6"),
        ('<table border="1" class="dataframe">\n  <thead>\n', "XML or HTML file"),
        ("Blast4-archive ::= {\n  request {\n", "archive of BLAST.*blast_formatter"),
        ("# phmmer :: search a protein sequence against a protein database\n# x\n", "report of HMMER.*--tblout"),
        ("# LAST version 1447\n#\na score=659\ns a 0 9 + 9 MKV\n", "an alignment of LAST.*BlastTab"),
        ("@HD\tVN:1.5\tSO:query\n@PG\tPN:DIAMOND\n", "SAM file.*tabular"),
        ("H\t24\t57\t62.5\t+\t0\t0\t49I8M\ta\tb\nN\t*\t57\t*\t.\t*\t*\t*\tc\t*\n", "UC file.*--blast6out"),
        (">Cluster 0\n0\t120aa, >a... *\n1\t120aa, >b... at 61.67%\n", "clusters of CD-HIT"),
        (">a family 1\nMKVL\n>b\nMKVI\n", "FASTA file.*--measure"),
        ("CLUSTAL O(1.2.4) multiple sequence alignment\n\n\na MKV\nb MKI\n", "alignment.*distances"),
        ("# STOCKHOLM 1.0\n\na MKV\nb MKI\n//\n", "alignment.*distances"),
        ("#NEXUS\nBEGIN TREES;\n", "NEXUS file.*distances"),
        ("((a:1,b:2):1,c:3);\n", "tree.*distances"),
        ("(\n(\na:1,\nb:2)\n:1,\nc:3);\n", "tree.*distances"),
        (
            "  \n  Table of similarity between sequences\n   a b\na 1 0\nb 0 1\n",
            "similarity table of PHYLIP.*distances",
        ),
    ],
)
def test_files_that_are_not_read(tmp_path, start, message):
    for name in ("m.txt", "m.other"):
        (tmp_path / name).write_text(start)
        with pytest.raises(ProximityError, match=rf"{name}.* {message}"):
            quietly(tmp_path / name)


def test_labels_in_a_column_of_a_matrix(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    for place, name in ((0, "class"), (3, "label"), (2, "Target")):
        frame = pd.DataFrame(D, IDS, IDS)
        frame.insert(place, name, ["x", "y", "x"])
        frame.to_csv(tmp_path / "m.csv")
        frame.to_excel(tmp_path / "m.xlsx")
        frame.to_parquet(tmp_path / "m.parquet")
        for file in ("m.csv", "m.xlsx", "m.parquet"):
            P = check(tmp_path / file, kind=None)
            np.testing.assert_array_equal(P.labels, ["x", "y", "x"])


def test_condensed_vectors_are_announced(tmp_path):
    np.save(tmp_path / "v.npy", np.arange(1.0, 4))
    (tmp_path / "v.txt").write_text("1\n2\n3\n")
    for name in ("v.npy", "v.txt"):
        with pytest.warns(InputWarning, match="3 numbers are read as the dissimilarities of all pairs of 3 objects"):
            read_proximity(tmp_path / name)


def test_damaged_files_that_the_fuzzer_found(tmp_path):
    text = np.array([1, 2**32 - 16, 0, 0, 2], "<u4").tobytes() + b"D\0"  # MATLAB 4: text with 4 billion empty rows
    (tmp_path / "m.mat").write_bytes(text)
    (tmp_path / "m.mtx").write_text("%%MatrixMarket matrix array real general\n0 2\n0\n1\n1\n0\n")
    (tmp_path / "n.mtx").write_bytes(b"%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\0")
    (tmp_path / "m.phy").write_text("x" * 500 + "\0" * 500 + "\na 1\n")
    for name in ("m.mat", "m.mtx", "n.mtx", "m.phy"):
        with pytest.raises(ProximityError, match=name) as caught:
            quietly(tmp_path / name)
        assert len(str(caught.value)) < 300


LSMAT = "# from beta-diversity\n\ta\tb\tc\na\t0.0\t1.0\t2.5\nb\t1.0\t0.0\t3.0\nc\t2.5\t3.0\t0.0\n"


def test_scikit_bio_and_qiime(tmp_path):
    (tmp_path / "m.lsmat").write_text(LSMAT)
    check(tmp_path / "m.lsmat")
    with pytest.warns(KindWarning, match="as given"):
        read_proximity(tmp_path / "m.lsmat", kind="similarity")
    with zipfile.ZipFile(tmp_path / "m.qza", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0b-1/metadata.yaml", "type: DistanceMatrix\n")
        archive.writestr("0b-1/data/distance-matrix.tsv", LSMAT)
    check(tmp_path / "m.qza")
    with zipfile.ZipFile(tmp_path / "t.qza", "w") as archive:
        archive.writestr("x/metadata.yaml", "type: FeatureTable\n")
        archive.writestr("x/data/feature-table.biom", "")
    with pytest.raises(ProximityError, match="DistanceMatrix"):
        quietly(tmp_path / "t.qza")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", ["m.csv.xz", "m.csv.bz2", "m.qza"])
def test_bombs(tmp_path, name):
    path, data = tmp_path / name, b"1," * 10_000_000
    if name == "m.qza":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x/data/distance-matrix.tsv", data)
    else:
        path.write_bytes((bz2 if name.endswith("bz2") else lzma).compress(data))
    del data
    tracemalloc.start()
    with pytest.raises(ProximityError, match="unpacks to more than 1000000 bytes"):
        quietly(path, max_bytes=10**6)
    assert tracemalloc.get_traced_memory()[1] < 3e7
    tracemalloc.stop()


def test_zstandard(tmp_path):
    (tmp_path / "m.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00")
    try:
        import zstandard
    except ImportError:
        with pytest.raises(MissingExtraError, match=r"similis\[zst\]"):
            quietly(tmp_path / "m.csv.zst")
        return
    with pytest.raises(ProximityError, match="damaged"):
        quietly(tmp_path / "m.csv.zst")
    (tmp_path / "m.tsv.zst").write_bytes(zstandard.compress(LSMAT.encode()))
    check(tmp_path / "m.tsv.zst", kind=None)
    two = zstandard.compress(LSMAT[:50].encode()) + zstandard.compress(LSMAT[50:].encode())
    (tmp_path / "m.tsv.zst").write_bytes(two)
    check(tmp_path / "m.tsv.zst", kind=None)
    (tmp_path / "m.tsv.zst").write_bytes(two[:-5])
    with pytest.raises(ProximityError, match="damaged"):
        quietly(tmp_path / "m.tsv.zst")
    (tmp_path / "m.csv.zst").write_bytes(zstandard.compress(b"1," * 10_000_000))
    with pytest.raises(ProximityError, match="unpacks to more"):
        quietly(tmp_path / "m.csv.zst", max_bytes=10**6)


@pytest.mark.parametrize("mark", [";", "\t"])
@pytest.mark.parametrize("header", [True, False])
def test_decimal_commas(tmp_path, mark, header):
    rows = [f"{name}{mark}" * header + mark.join(str(x).replace(".", ",") for x in row) for name, row in zip(IDS, D)]
    text = "\ufeff" + "\r\n".join([mark.join(["", *IDS])] * header + rows)
    (tmp_path / "m.csv").write_bytes(text.encode())
    check(tmp_path / "m.csv", ids=IDS if header else None, kind=None)


def test_sourmash_and_condensed_vectors(tmp_path):
    np.save(tmp_path / "s.npy", 1 - D / 4)
    (tmp_path / "s.npy.labels.txt").write_text("a\nb x\nc\n")
    check(tmp_path / "s.npy", ids=("a", "b x", "c"), kind=None, values=1 - D / 4)
    np.save(tmp_path / "v.npy", D[np.triu_indices(3, 1)])
    check(tmp_path / "v.npy", ids=None)
    np.save(tmp_path / "w.npy", np.arange(4.0))
    with pytest.raises(ProximityError, match="n \\(n - 1\\) / 2"):
        quietly(tmp_path / "w.npy")


def test_matlab(tmp_path):
    cells = np.array(IDS, dtype=object)
    scipy_io.savemat(tmp_path / "m.mat", {"D": D, "ids": cells, "labels": np.array([1.0, 2, 1])}, do_compression=True)
    P = check(tmp_path / "m.mat")
    np.testing.assert_array_equal(P.labels, [1, 2, 1])
    scipy_io.savemat(tmp_path / "s.mat", {"S": sp.csc_array(D), "names": np.array(["a  ", "bb ", "ccc"])})
    assert quietly(tmp_path / "s.mat").kind == "similarity"
    scipy_io.savemat(tmp_path / "t.mat", {"A": D, "B": D})
    with pytest.raises(ProximityError, match="Got 2 that could be it"):
        quietly(tmp_path / "t.mat")
    check(tmp_path / "t.mat", key="B", ids=None, kind=None)
    with pytest.raises(ProximityError, match="unpacks to"):
        quietly(tmp_path / "m.mat", max_bytes=70)


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file["distances"] = D
        file["ids"] = list(IDS)
    check(tmp_path / "m.h5")
    with h5py.File(tmp_path / "v73.mat", "w", userblock_size=512) as file:
        file["D"] = np.array([[0, 1.0], [2, 0]]).T
        file["D"].attrs["MATLAB_class"] = np.bytes_("double")
        refs = []
        for k, name in enumerate(["ab", "é"]):
            file[f"#refs#/{k}"] = np.array([[ord(c)] for c in name], dtype=np.uint16)
            refs.append(file[f"#refs#/{k}"].ref)
        cells = file.create_dataset("ids", data=np.array([refs], dtype=h5py.ref_dtype), dtype=h5py.ref_dtype)
        cells.attrs["MATLAB_class"] = np.bytes_("cell")
    data = bytearray((tmp_path / "v73.mat").read_bytes())
    data[:10] = b"MATLAB 7.3"
    (tmp_path / "v73.mat").write_bytes(data)
    check(tmp_path / "v73.mat", ids=("ab", "é"), values=[[0, 1], [2, 0]])


def anndata(path, key="distances", **attributes):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["obs/_index"] = ["c1", "c2", "c3"]
        file["obs"].attrs["_index"] = "_index"
        file["obs/cell/categories"] = ["T", "B"]
        file["obs/cell/codes"] = np.array([0, 1, 0], dtype="i1")
        file["obs/cell"].attrs["encoding-type"] = "categorical"
        group = file.create_group(f"obsp/{key}")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": np.array([3, 3]), **attributes})
        group["data"], group["indices"], group["indptr"] = [0.0, 2.0, 0.5], [1, 2, 1], [0, 2, 2, 3]


def test_anndata(tmp_path):
    anndata(tmp_path / "m.h5ad")
    nan = np.nan
    P = check(tmp_path / "m.h5ad", ids=("c1", "c2", "c3"), values=[[0, 0, 2], [nan, 0, nan], [nan, 0.5, 0]])
    assert P.labels.tolist() == ["T", "B", "T"]
    assert P.about["zeros"] == 1
    assert quietly(tmp_path / "m.h5ad", label_column="cell", key="distances").labels.tolist() == ["T", "B", "T"]
    assert quietly(tmp_path / "m.h5ad", absent=9).values[1, 0] == 9
    with pytest.raises(ProximityError, match="obs has no column 'x'"):
        quietly(tmp_path / "m.h5ad", label_column="x")
    with pytest.raises(ProximityError, match=r"must hold one matrix in obsp\. Got distances"):
        quietly(tmp_path / "m.h5ad", key="x")
    anndata(tmp_path / "c.h5ad", "connectivities")
    check(tmp_path / "c.h5ad", kind="similarity", ids=("c1", "c2", "c3"), values=[[2, 0, 2], [0, 2, 0], [0, 0.5, 2]])
    anndata(tmp_path / "bad.h5ad", shape=np.array([9, 9]))
    with pytest.raises(ProximityError, match="has shape"):
        quietly(tmp_path / "bad.h5ad")
    write_proximity(tmp_path / "w.h5ad", D, ids=IDS, kind="dissimilarity", labels=["x", "y", "x"])
    assert check(tmp_path / "w.h5ad").labels.tolist() == ["x", "y", "x"]


def test_links_to_other_files_are_not_followed(tmp_path):
    h5py = pytest.importorskip("h5py")
    anndata(tmp_path / "other.h5ad")
    anndata(tmp_path / "m.h5ad")
    with h5py.File(tmp_path / "m.h5ad", "a") as file:
        del file["obsp/distances"]
        file["obsp/distances"] = h5py.ExternalLink("other.h5ad", "/obsp/distances")
    with pytest.raises(ProximityError, match="a link to another file"):
        quietly(tmp_path / "m.h5ad")


def test_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["distance", *IDS])
    for name, row in zip(IDS, D):
        book.active.append([name, *row])
    book.active.append([])
    book.create_sheet("raw").append([1.5])
    book.save(tmp_path / "m.xlsx")
    check(tmp_path / "m.xlsx")
    check(tmp_path / "m.xlsx", key="raw", ids=None, kind=None, values=[[1.5]])
    with pytest.raises(ProximityError, match="has no sheet 'x'"):
        quietly(tmp_path / "m.xlsx", key="x")
    with pytest.raises(ProximityError, match="unpacks to"):
        quietly(tmp_path / "m.xlsx", max_bytes=1000)


def test_feather(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather

    feather.write_feather(pa.table({"id": IDS, **dict(zip(IDS, D))}), str(tmp_path / "m.feather"))
    check(tmp_path / "m.feather", kind=None)
    feather.write_feather(pa.table({"source": ["a"], "target": ["b"], "distance": [2]}), str(tmp_path / "e.feather"))
    check(tmp_path / "e.feather", ids=("a", "b"), values=[[0, 2], [2, 0]])


GRAPHML = """<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d0" for="node" attr.name="class" attr.type="string"/>
<key id="d1" for="edge" attr.name="distance" attr.type="double"/>
<graph edgedefault="undirected"><node id="a"><data key="d0">x</data></node><node id="b"><data key="d0">y</data></node>
<node id="c"><data key="d0">x</data></node>
<edge source="a" target="b"><data key="d1">1.5</data></edge></graph></graphml>
"""


def test_graphml(tmp_path):
    (tmp_path / "m.graphml").write_text(GRAPHML)
    nan = np.nan
    P = check(tmp_path / "m.graphml", values=[[0, 1.5, nan], [1.5, 0, nan], [nan, nan, 0]])
    assert P.labels.tolist() == ["x", "y", "x"]
    (tmp_path / "m.graphml").write_text(GRAPHML.replace("undirected", "directed"))
    assert np.isnan(quietly(tmp_path / "m.graphml").values[1, 0])
    (tmp_path / "m.graphml").write_text(GRAPHML.replace("<graphml", '<!DOCTYPE x [<!ENTITY a "b">]><graphml', 1))
    with pytest.raises(ProximityError, match="document type declaration"):
        quietly(tmp_path / "m.graphml")
    (tmp_path / "m.graphml").write_text(GRAPHML[:-30])
    with pytest.raises(ProximityError, match=r"m\.graphml, line \d"):
        quietly(tmp_path / "m.graphml")


@pytest.mark.parametrize("name", ["m.phylip", "m.lsmat", "m.edges", "m.lsmat.gz"])
def test_writers(tmp_path, name):
    P = Proximity(D, IDS, "dissimilarity", ["x", "y", "x"])
    write_proximity(tmp_path / name, P)
    Q = check(tmp_path / name)
    assert Q.labels.tolist() == ["x", "y", "x"]
    if "edges" not in name:
        with pytest.raises(ProximityError, match="dissimilarities"):
            write_proximity(tmp_path / f"s{name}", D, kind="similarity")


def test_formats_that_are_not_written(tmp_path):
    for name in ("m.qza", "m.mat", "m.rds", "m.csv.bz2"):
        with pytest.raises(ProximityError, match=r"not written|with \.gz"):
            write_proximity(tmp_path / name, D)
    assert not list(tmp_path.iterdir())


def test_registry():
    known = formats()
    endings = [ending for form in known.values() for ending in form.endings]
    assert len(set(endings)) == len(endings)
    for name in ("x", ["csv"]):
        with pytest.raises(ProximityError, match="There is no format"):
            read_proximity("m.csv", format=name)
    for dtype in ("int64", "x", 3, ["f8"]):
        with pytest.raises(ProximityError, match=r"dtype must be float32 or float64\. Got"):
            read_proximity("m.csv", dtype=dtype)


def test_bytes_in_an_npz_archive_are_text(tmp_path):
    words = np.array(["a", "é", "b"])
    np.savez(tmp_path / "m.npz", D=D, ids=np.strings.encode(words, "utf-8"), labels=np.array([b"x", b"y", b"x"]))
    P = read_proximity(tmp_path / "m.npz")
    assert (P.ids, P.labels.tolist()) == (("a", "é", "b"), ["x", "y", "x"])
    np.savez(tmp_path / "m.npz", D=D, ids=np.array([b"a", b"\xff", b"c"]))
    with pytest.raises(ProximityError, match=r"m\.npz is not a readable npz archive"):
        read_proximity(tmp_path / "m.npz")


@pytest.mark.skipif(not REAL.is_dir(), reason="needs SIMILIS_DATA")
@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("promoters_skbio.lsmat", None),
        ("promoters_mash.phylip", None),
        ("promoters_matlab.mat", None),
        ("promoters_r_dist.rds", "rdata"),
        ("promoters_anndata.h5ad", "h5py"),
    ],
)
def test_real_files(name, library):
    if library:
        pytest.importorskip(library)
    P, expected = quietly(REAL / name), quietly(REAL / "promoters_mash_dist.tsv")
    assert (P.ids, P.kind) == (expected.ids, expected.kind)
    known = ~np.isnan(P.values)
    np.testing.assert_allclose(P.values[known], expected.values[known], atol=1e-6)
    assert known.mean() > (0.1 if "anndata" in name else 0.999)


@pytest.mark.skipif(not REAL.is_dir(), reason="needs SIMILIS_DATA")
def test_real_sourmash():
    P, Q = quietly(REAL / "promoters_sourmash.npy"), quietly(REAL / "promoters_sourmash.csv")
    assert P.ids == Q.ids
    np.testing.assert_allclose(P.values, Q.values)


def test_r_matrix(tmp_path):
    rdata = pytest.importorskip("rdata")
    (tmp_path / "m.rds").write_bytes(b"X\n\0\0\0\2")
    with pytest.raises(ProximityError, match="not a readable file of R"):
        quietly(tmp_path / "m.rds")
    if hasattr(rdata, "write_rds"):
        rdata.write_rds(tmp_path / "v.rds", np.arange(4.0).reshape(2, 2))
        assert quietly(tmp_path / "v.rds").shape == (2, 2)
        np.testing.assert_array_equal(quietly(tmp_path / "v.rds").values, [[0, 1], [2, 3]])


R_INTEGERS = (  # matrix(c(0L, 2L, NA, 0L), 2) with names, by saveRDS(ascii=TRUE)
    "A 3 262658 197888 5 UTF-8 525 4 0 2 NA 0 1026 1 262153 3 dim 13 2 2 2 1026 1 262153 8 dimnames 19 2 16 2 262153 1 "
    "a 262153 1 b 16 2 262153 1 a 262153 1 b 254"
)
R_FRAME = (  # data.frame(a=c("x", "x"), b=c("y", "z"), distance=c(0.5, 2))
    "A 3 262658 197888 5 UTF-8 787 3 16 2 262153 1 x 262153 1 x 16 2 262153 1 y 262153 1 z 14 2 0.5 2 1026 1 262153 5 "
    "names 16 3 262153 1 a 262153 1 b 262153 8 distance 1026 1 262153 5 class 16 1 262153 10 data.frame 1026 1 262153 "
    "9 row.names 13 2 NA -2 254"
)


R_SIMIL = (  # structure(c(0.5, 0.25, 0.75), Size=3L, Labels=c("a", "b", "c"), class=c("simil", "dist"))
    "A 3 262658 197888 5 UTF-8 782 3 0.5 0.25 0.75 1026 1 262153 4 Size 13 1 3 1026 1 262153 6 Labels 16 3 262153 1 a "
    "262153 1 b 262153 1 c 1026 1 262153 5 class 16 2 262153 5 simil 262153 4 dist 254"
)


def test_similarities_of_the_r_package_proxy(tmp_path):
    pytest.importorskip("rdata")
    (tmp_path / "m.rds").write_text("\n".join(R_SIMIL.split()) + "\n")
    P = check(tmp_path / "m.rds", kind="similarity", values=triangle("0.5 0.25 0.75 1"))
    assert P.about["reason"] == "by its class"


def test_r_integers_and_data_frames(tmp_path):
    pytest.importorskip("rdata")
    (tmp_path / "m.rds").write_text("\n".join(R_INTEGERS.split()) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = read_proximity(tmp_path / "m.rds", directed=True)
    np.testing.assert_array_equal(P.values, [[0, np.nan], [2, 0]])
    assert P.ids == ("a", "b")
    (tmp_path / "f.rds").write_text("\n".join(R_FRAME.split()) + "\n")
    P = quietly(tmp_path / "f.rds")
    np.testing.assert_array_equal(P.values, [[0, 0.5, 2], [0.5, 0, np.nan], [2, np.nan, 0]])


def test_r_lists_and_workspaces(tmp_path):
    pytest.importorskip("rdata")
    head, matrix = R_INTEGERS[: len("A 3 262658 197888 5 UTF-8 ")], R_INTEGERS[len("A 3 262658 197888 5 UTF-8 ") :]
    one, other = f"1026 1 262153 1 m {matrix} ", f"1026 1 262153 1 k {matrix} "
    contents = {
        "list.rds": f"{head}531 1 {matrix} 1026 1 262153 5 names 16 1 262153 1 m 254",
        "one.rda": f"RDA3 {head}{one}254",
        "two.rda": f"RDA3 {head}{one}{other}254",
        "vector.rds": f"{head}14 2 0 1",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text("\n".join(content.split()) + "\n")
    for name, key in (("list.rds", None), ("one.rda", None), ("two.rda", "k")):
        P = quietly(tmp_path / name, key=key, directed=True)
        np.testing.assert_array_equal(P.values, [[0, np.nan], [2, 0]])
        assert P.ids == ("a", "b")
    with pytest.raises(ProximityError, match=r"two\.rda must hold one matrix or dist object\. Got m, k; say which"):
        quietly(tmp_path / "two.rda")
    with pytest.raises(ProximityError, match=r"vector\.rds must hold a matrix of numbers or a dist object"):
        quietly(tmp_path / "vector.rds")


@pytest.mark.parametrize("word", ["?", "-", "--", ".", "<NA>", "#N/A", "n/a", "None"])
def test_spellings_of_a_missing_number(tmp_path, word):
    (tmp_path / "m.csv").write_text(f",a,b\na,0,{word}\nb,1,0\n")
    np.testing.assert_array_equal(quietly(tmp_path / "m.csv").values, [[0, np.nan], [1, 0]])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_encodings_and_lines_in_front(tmp_path, encoding):
    start = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / "m.txt").write_bytes((start + "# distances\r\n\r\n" + LSMAT.replace("\t", "|")).encode(encoding))
    check(tmp_path / "m.txt", kind="dissimilarity")


def test_xml_and_packed_graphs(tmp_path):
    (tmp_path / "hits.xml").write_text("<?xml version='1.0'?>\n<BlastOutput/>")
    with pytest.raises(ProximityError, match="is an XML or HTML file, of which only GraphML is read"):
        quietly(tmp_path / "hits.xml")
    text = "<graphml><graph><edge source='a' target='b'><data key='distance'>2</data></edge></graph></graphml>"
    (tmp_path / "g.graphml.gz").write_bytes(gzip.compress(text.encode()))
    assert quietly(tmp_path / "g.graphml.gz", score="distance").values[0, 1] == 2


def test_pairs_in_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["read me"])
    sheet = book.create_sheet("edges")
    for row in (["a", "b", "distance"], ["x", "y", 1.5], ["y", "z", 2]):
        sheet.append(row)
    book.save(tmp_path / "m.xlsx")
    with pytest.raises(ProximityError, match="the first of the sheets Sheet, edges; say which with key"):
        quietly(tmp_path / "m.xlsx")
    P = quietly(tmp_path / "m.xlsx", key="edges")
    np.testing.assert_array_equal(P.values[1], [1.5, 0, 2])


def test_provenance_of_an_artifact_is_not_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "d.qza", "w") as archive:
        archive.writestr("1-2/provenance/artifacts/3/data/distance-matrix.tsv", "x")
        archive.writestr("1-2/data/distance-matrix.tsv", LSMAT)
    check(tmp_path / "d.qza", kind="dissimilarity")


@pytest.fixture
def condensed(rng):
    """Distances of five objects: a vector of all pairs, and the matrix."""
    values = pdist(rng.normal(size=(5, 2)))
    return values, squareform(values)


@pytest.mark.parametrize("version", ["4", "5"])
def test_matlab_versions_and_structs(tmp_path, condensed, version):
    _, D = condensed
    labels, ids = [1.0, 1, 2, 2, 2], np.array(["a", "b", "cc", "d", "e"], dtype=object)
    cases = {"plain": {"D": D, "labels": labels}, "sparse": {"D": sp.csc_array(D), "labels": labels}}
    if version == "5":
        cases["struct"] = {"data": {"D": D, "inner": {"labels": labels}, "ids": ids, "sigma": 2.0}}
    for name, content in cases.items():
        scipy_io.savemat(tmp_path / f"{name}.mat", content, format=version)
        P = read_proximity(tmp_path / f"{name}.mat")
        np.testing.assert_array_equal(P.values, D)
        assert (P.kind, P.labels.tolist()) == ("dissimilarity", [1, 1, 2, 2, 2])
    assert version == "4" or P.ids == tuple(ids)
    whole = (tmp_path / "plain.mat").read_bytes()
    for cut in (whole[:30], whole[:-20], b"\1\2\3\4" + whole):
        (tmp_path / "cut.mat").write_bytes(cut)
        with pytest.raises(ProximityError, match=r"cut\.mat"):
            read_proximity(tmp_path / "cut.mat")


def test_condensed_vectors(tmp_path, condensed):
    values, D = condensed
    np.savez(tmp_path / "d.npz", d=values)
    scipy_io.savemat(tmp_path / "d.mat", {"d": values, "labels": [1, 1, 2, 2, 2]})
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["d"], file["labels"] = values, [1, 1, 2, 2, 2]
    for name in ("d.npz", "d.mat", "d.h5"):
        P = read_proximity(tmp_path / name)
        np.testing.assert_array_equal(P.values, D)
        assert P.kind == "dissimilarity"
    for name, table in (("column.txt", values), ("row.txt", values[None])):
        np.savetxt(tmp_path / name, table)
        with pytest.warns(
            InputWarning, match="its 10 numbers are read as the dissimilarities of all pairs of 5 objects"
        ):
            np.testing.assert_array_equal(read_proximity(tmp_path / name).values, D)
    (tmp_path / "row.txt").write_text("3\n1\n2\n")  # not the number of objects of a PHYLIP matrix
    np.testing.assert_array_equal(quietly(tmp_path / "row.txt").values, [[0, 3, 1], [3, 0, 2], [1, 2, 0]])
    (tmp_path / "row.txt").write_text("1,2,3,4\n")
    with pytest.raises(ProximityError, match="1 rows and 4 columns"):
        read_proximity(tmp_path / "row.txt")


def test_matrix_market(tmp_path, condensed):
    _, D = condensed
    listed = np.where(D > np.median(D), 0, D)
    scipy_io.mmwrite(tmp_path / "distances.mtx", sp.coo_array(listed), symmetry="symmetric")
    P = read_proximity(tmp_path / "distances.mtx")
    np.testing.assert_array_equal(P.values, np.where((listed == 0) & ~np.eye(5, dtype=bool), np.nan, listed))
    assert (P.kind, P.about["absent"]) == ("dissimilarity", "missing")
    scipy_io.mmwrite(tmp_path / "dense.mtx", D)
    np.testing.assert_array_equal(read_proximity(tmp_path / "dense.mtx").values, D)
    A, off = np.round(np.random.default_rng(0).random((5, 5)), 3), ~np.eye(5, dtype=bool)
    for symmetry, values in {"general": A, "symmetric": A + A.T, "skew-symmetric": A - A.T}.items():
        scipy_io.mmwrite(tmp_path / "similarities.mtx", values, symmetry=symmetry)
        np.testing.assert_array_equal(quietly(tmp_path / "similarities.mtx").values, values)
        scipy_io.mmwrite(tmp_path / "similarities.mtx", sp.coo_array(values), symmetry=symmetry)
        np.testing.assert_array_equal(
            quietly(tmp_path / "similarities.mtx", absent="zero").to_dense()[off], values[off]
        )
    head = "%%MatrixMarket matrix coordinate real general\n"
    for body in ("999999999 999999999 3\n1 1 1\n", "3 3 1\n1 7 1\n", "3 3 x\n", "2 3 1\n1 1 1\n", "3 3 1\n1 1 1e999\n"):
        (tmp_path / "bad.mtx").write_text(head + body)
        with pytest.raises(ProximityError, match=r"bad\.mtx"):
            read_proximity(tmp_path / "bad.mtx")
    for head in ("%%MatrixMarket matrix coordinate real lopsided", "x matrix coordinate real general"):
        (tmp_path / "bad.mtx").write_text(head + "\n2 2 1\n2 1 1\n")
        with pytest.raises(ProximityError, match=r"bad\.mtx, line 1"):
            quietly(tmp_path / "bad.mtx")
    crash = b"\x15%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 1.\xcf5\x0e3 1 3\n3 2 0 sy"
    (tmp_path / "bad.mtx").write_bytes(crash)  # ends SciPy's reader
    with pytest.raises(ProximityError, match=r"bad\.mtx"):
        quietly(tmp_path / "bad.mtx")
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix array real general\n99999 99999\n1\n")
    with pytest.raises(ProximityError, match="as many numbers as its header declares"):
        read_proximity(tmp_path / "bad.mtx")


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n\0", "a picture"),
        (b"\x80\x05\x95\0\0", "a pickle.*never read.*to_csv"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"an Excel workbook of the old format.*\.xlsx"),
        (b"CDF\x01\0\0", "a netCDF 3 file.*netCDF 4"),
        (b"PAR1\x15\0\x15\xff", r"a file of the format parquet.*\.parquet"),
        (b"\x93NUMPY\x01\0v\0", r"a file of the format npy.*\.npy"),
    ],
)
def test_binary_files_with_another_ending(tmp_path, start, message):
    for name in ("m.csv", "m.phy"):
        (tmp_path / name).write_bytes(start)
        with pytest.raises(ProximityError, match=rf"{name} is {message}"):
            quietly(tmp_path / name)


def test_folders_and_workbooks_with_another_ending(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(ProximityError, match=r"folder is a folder; name a file, or a zarr store"):
        quietly(tmp_path / "folder")
    with zipfile.ZipFile(tmp_path / "m.csv", "w") as archive:
        archive.writestr("xl/workbook.xml", "")
        archive.writestr("docProps/app.xml", "")
    with pytest.raises(ProximityError, match=r"m\.csv is an Excel workbook; let its name end in \.xlsx"):
        quietly(tmp_path / "m.csv")


def test_options_of_lists_do_not_make_a_matrix_a_list(tmp_path):
    (tmp_path / "m.csv").write_text(",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n")
    for options in ({"absent": "zero"}, {"aggregate": "max"}):
        with pytest.raises(ProximityError, match=r"m\.csv is a matrix; .* are for lists of pairs \(format='pairs'\)"):
            quietly(tmp_path / "m.csv", **options)


def test_tables_of_a_workbook_below_a_title(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    table = [["", *IDS], *([name, *row] for name, row in zip(IDS, D))]
    pairs = [["from", "to", "distance"], ["a", "b", 1], ["a", "c", 2.5], ["b", "c", 3]]
    for rows in (table, pairs):
        book = openpyxl.Workbook()
        for i, row in enumerate([["Distances of 2024"], [], *rows]):
            for j, value in enumerate(row):
                book.active.cell(i + 2, j + 3, value)
        book.save(tmp_path / "m.xlsx")
        check(tmp_path / "m.xlsx")


def test_metadata_in_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["sample", "site", "age"], ["c", "gut", 3], ["a", "skin", 1], ["b", "gut", 2]):
        book.active.append(row)
    book.save(tmp_path / "samples.xlsx")
    rows, labels = align_labels(tmp_path / "samples.xlsx", IDS, 3, column="site")
    assert (rows.tolist(), labels.tolist()) == ([0, 1, 2], ["skin", "gut", "gut"])


def test_complex_numbers_of_matlab(tmp_path):
    for version in ("4", "5"):
        scipy_io.savemat(tmp_path / "m.mat", {"D": D + 1j * D}, format=version)
        with pytest.raises(ProximityError, match="holds complex numbers in D; values must be real"):
            quietly(tmp_path / "m.mat")


def test_ids_of_pandas_and_xarray(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "pandas.h5", "w") as file:
        file["D/axis0"] = file["D/axis1"] = file["D/block0_items"] = np.array(IDS, dtype="S1")
        file["D/block0_values"] = D
    check(tmp_path / "pandas.h5", kind=None)
    with h5py.File(tmp_path / "xarray.nc", "w") as file:
        file.create_dataset("from", data=list(IDS), dtype=h5py.string_dtype()).make_scale("from")
        file["distance"] = D
        file["distance"].dims[0].attach_scale(file["from"])
    check(tmp_path / "xarray.nc")


def test_arrays_of_a_zarr_group(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "m.zarr", mode="w")
    group["distance"] = D
    group["from"] = np.arange(3)
    check(tmp_path / "m.zarr", ids=None, kind=None, key="distance")
    with pytest.raises(ProximityError, match=r"Got a group of distance, from; say which with key=\.\.\."):
        quietly(tmp_path / "m.zarr")


def test_absent_entries_of_a_similarity_that_the_diagonal_shows(tmp_path):
    S = np.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    sp.save_npz(tmp_path / "m.npz", sp.csr_array(S))
    check(tmp_path / "m.npz", ids=None, kind=None, values=S)
    check(tmp_path / "m.npz", ids=None, kind=None, values=np.where(S == 0, np.nan, S), absent="missing")
    sp.save_npz(tmp_path / "m.npz", sp.coo_array(S))
    check(tmp_path / "m.npz", ids=None, kind=None, values=S)


def test_a_matrix_of_unknown_kind_gets_none_in_anndata(tmp_path):
    pytest.importorskip("h5py")
    S = np.array([[0.5, 1.0], [1.0, 0.2]])
    for kind in (None, "similarity", "dissimilarity"):
        write_proximity(tmp_path / "m.h5ad", S, kind=kind)
        check(tmp_path / "m.h5ad", ids=("0", "1"), kind=kind, values=S)


@pytest.mark.parametrize("name", ["d.m8", "d.hits.gz", "d.B6"])
def test_alignment_hits_are_not_written(tmp_path, name):
    with pytest.raises(ProximityError, match=r"are read, but not written. Let a list of pairs end in \.edges"):
        write_proximity(tmp_path / name, D, ids=IDS, kind="dissimilarity")
    assert not list(tmp_path.iterdir())
