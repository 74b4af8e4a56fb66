"""The file readers: for each, valid files to start from, and how bytes reach it.

Containers with checksums (zip, gzip, the journal's lines) would stop nearly every change first, so beside the plain
files there are entries where the bytes are what is inside and the container is made afresh around them.
"""

import bz2
import gzip
import io
import json
import lzma
import shutil
import tempfile
import warnings
import zipfile
import zlib
from contextlib import closing
from pathlib import Path

import h5py
import numpy as np
import openpyxl
import pyarrow as pa
import scipy.io
import zstandard
from pyarrow import feather
from scipy import sparse

import similis
from similis import Proximity, Study, StudyResult, read_proximity, write_proximity
from similis.io import _containers, _pair_lines, align_labels, read_labels, read_objects, read_pairs
from similis.report import make_report
from similis.study import read_model, train_model, write_model
from similis.study._journal import Journal

LIMIT = 2**24  # what a file may unpack to here
_containers._HDF5_SECONDS = 5.0  # endless files come often
SPARSE = sparse.csc_array(np.array([[0, 1.0], [1.0, 0]]))


DIALECTS = [
    b"# distance\n0 1 2\n1 0 3\n2 3 0\n",
    b"#q\ta\tb\na\t0\t\nb\t1\t0\n",
    b"a,0,0.5\nb,0.5,0\n",
    b"1\n0.5 1\n0.2 0.1 1\n",
]


class Reader:
    """One way in: `seeds` to start from, `place(data)` writes the files, `read()` reads them."""

    def __init__(self, folder, name, read, *, seeds, wrap=lambda data: data, others=()):
        self.path, self._read, self.seeds, self.wrap = folder / name, read, seeds, wrap
        for other, content in dict(others).items():
            (folder / other).parent.mkdir(parents=True, exist_ok=True)
            (folder / other).write_bytes(content)
        self.folder = folder

    def place(self, data):
        """Put the bytes where the reader finds them."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(self.wrap(data))

    def read(self):
        """Let the reader have them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._read()


def _toy():
    rng = np.random.default_rng(0)
    S = rng.normal(size=(4, 4)).round(2)
    return Proximity(S + S.T, ids=["a", "b c", "é", "d"], kind="similarity", labels=["x", "y", "x", "y"])


def _sparse_toy():
    return Proximity(sparse.csr_array(SPARSE), ids=["a", "b"], kind="dissimilarity")


def _written(name, P=None):
    """The bytes of a file that write_proximity makes."""
    with tempfile.TemporaryDirectory() as folder:
        write_proximity(Path(folder) / name, P or _toy())
        return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}


def _zip(name, *, stored=True, others=()):
    def wrap(data):
        buffer = io.BytesIO()
        kind = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(buffer, "w", kind) as archive:
            archive.writestr(name, data)
            for other, content in dict(others).items():
                archive.writestr(other, content)
        return buffer.getvalue()

    return wrap


def _npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _result():
    S, y = similis.make_similarity(12, 2, random_state=0)
    return Study(["nc", "knn"], n_splits=2, cv=2).run(S, y, ids=[f"o{i}" for i in range(12)])


def _journal_lines(data):
    """Lines of JSON objects with the sums that the journal asks for."""
    lines = []
    for line in data.split(b"\n"):
        body = line.strip().removeprefix(b"{")
        lines.append(b'{"crc":"%08x",' % zlib.crc32(body) + body + b"\n")
    return b"".join(lines)


def _read_journal(path):
    before = path.read_bytes()
    with closing(Journal(path)) as journal:
        journal.refresh()
    if path.read_bytes() != before:
        raise AssertionError("reading changed the journal")


def _report(path):
    return make_report(StudyResult.load(path))


def _model(folder):
    """A trained model: its file, its card and the members of the file."""
    S, y = similis.make_similarity(12, 2, random_state=0)
    write_model(train_model(S, y, study=Study("nc", n_splits=2, cv=2)), folder / "m.skops")
    data = (folder / "m.skops").read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return data, (folder / "m.card.json").read_bytes(), members


def _swap(members, name):
    def wrap(data):
        return _zip(name, others={k: v for k, v in members.items() if k != name})(data)

    return wrap


def _matrix_in(folder):
    """What makes the call that reads a file of this folder, by its name and options."""
    few = {"square": True, "max_bytes": LIMIT}

    def matrix(name, **options):
        return lambda: read_proximity(folder / name, **(few | options))

    return matrix


def _both_parsers(path):
    """Read a list of pairs in one block, line by line, and in many, by compiled code: the results must be the same."""
    results = []
    for size in (2**20, 50):
        _pair_lines._BLOCK = size
        try:
            results.append(read_pairs(path, max_bytes=LIMIT))
        except ValueError as error:
            results.append(error)
    one, many = results
    if isinstance(one, ValueError) and isinstance(many, ValueError):
        raise many
    if isinstance(one, ValueError) or isinstance(many, ValueError) or one.ids != many.ids or one.about != many.about:
        raise AssertionError(f"two parsers disagree: {one!r}, {many!r}")
    np.testing.assert_array_equal(one.to_dense(), many.to_dense())


def text_readers(folder):
    """Readers of proximities and labels in text."""
    matrix, csv, bare = _matrix_in(folder), _written("m.csv"), b"1,0.5\n0.5,1\n"
    return {
        "csv": Reader(folder, "m.csv", matrix("m.csv"), seeds=[csv["m.csv"], bare, b"a;b\n1;\nNA;2\n", *DIALECTS]),
        "csv, any shape": Reader(folder, "q.tsv", matrix("q.tsv", square=False), seeds=[b"\ta\tb\nx\t1\t2\n", bare]),
        "csv.gz": Reader(folder, "p.csv.gz", matrix("p.csv.gz"), seeds=[gzip.compress(csv["m.csv"], mtime=0)]),
        "csv inside gzip": Reader(folder, "i.csv.gz", matrix("i.csv.gz"), seeds=[csv["m.csv"]], wrap=gzip.compress),
        "labels beside a csv": Reader(
            folder,
            "l.labels.csv",
            matrix("l.csv"),
            seeds=[csv["m.labels.csv"], b"x\ny\nx\ny\n"],
            others={"l.csv": csv["m.csv"]},
        ),
        "labels": Reader(
            folder,
            "y.csv",
            lambda: read_labels(folder / "y.csv", None, 2, max_bytes=LIMIT),
            seeds=[b"a\nb\n", b"id,label\n0,1\n1,2\n"],
        ),
        "labels of ids": Reader(
            folder,
            "z.csv",
            lambda: align_labels(folder / "z.csv", ["a", "b c", "d"], 3, max_bytes=LIMIT),
            seeds=[b"id,label\na,1\nb c,2\n", b"# of 2020\nd x\na y\n", b"x;0.5;d\ny;NA;a\nx;1;b c\n"],
        ),
    }


PHYLIP = [b"3\na 0 1 2\nb 1 0 3\nc 2 3 0\n", b"\t3\na\nb\t1\nc\t2\t3\n"]
HITS = b"a\tb\t90.0\t23\t0\t0\t35\t57\t57\t35\t3e-09\t46.1\na\ta\t100\t57\t0\t0\t1\t57\t1\t57\t1e-29\t113\n"
FIELDS = b"# Query: a\n# Fields: query id, subject id, evalue, bit score\na\tb\t1e-5\t30\n"
PAIRS = [
    HITS,
    FIELDS,
    b"b\ta\t0.5\t1\t3/9\n",
    b"source,target,weight\na,b,1\n",
    b"1 2 0.5\n2 3 1\n1 3 2\n4 1 0\n4 2 1\n",
    b"a\t9\t0\t9\t+\tb\t9\t0\t9\t5\t9\t0\ttp:A:S\n",
    b"a\tb\t97.1\t8\t9\n",
    b"# target name accession query name accession E-value score bias\nb - a - 1e-9 30 2\n",
]
MANY_PAIRS = [
    b"".join(b"n%d%sn%d%s%d.5%s" % (i % 9, mark, i % 7, mark, i, end) for i in range(90))
    for mark, end in ((b"\t", b"\n"), (b",", b"\n"), (b" ", b"\n"), (b";", b"\r\n"))
]
MANY_PAIRS.append(b"".join(b'"n%d","n %d",%de-30\n' % (i % 9, i % 7, i) for i in range(90)))
TRIANGLES = [
    b"#mega\n!Title t;\n#a\n#b\n#c\n1 2\n3\n",
    b"#  Percent Identity  Matrix\n\n 1: a 100 50 20\n 2: b 50 100 30\n 3: c 20 30 100\n",
    b"#mega\n!Title: t;\n[1] #a\n[2] #b\n[3] #c\n[ 1 2 3 ]\n[1]\n[2] 1\n[3] 2 3\n",
    b"Distance Matrix\n---\n\n\t 1\t 2\n\t 0\t 1.5\t\ta 1\n\t\t 0\t\tb 2\n",
]
GRAPHML = (
    b'<graphml><key id="d" for="edge" attr.name="distance"/><graph edgedefault="undirected"><node id="a"/>'
    b'<node id="b"/>'
    b'<edge source="a" target="b"><data key="d">1.5</data></edge></graph></graphml>'
)


BOMB = b"0," * LIMIT  # unpacks to twice of what is allowed
MTX = [
    b"%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 1.5\n3 1 2\n3 2 0.5\n",
    b"%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n",
]


def _mat(version="5", packed=False, **arrays):
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, arrays, format=version, do_compression=packed)
    return buffer.getvalue()


def _hdf5(*, chunks=None, version="earliest", **arrays):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver=version) as file:
        for name, values in arrays.items():
            if name == "D" and chunks is not None:
                more = {"maxshape": (None, None), "compression": "gzip"}
                file.create_dataset(name, data=values, chunks=(chunks, chunks), **more)
            else:
                file[name] = values
    return buffer.getvalue()


def _mat73():
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", userblock_size=512) as file:
        file["D"] = np.eye(3)
        file["D"].attrs["MATLAB_class"] = np.bytes_("double")
        cells = [file.create_dataset(f"#refs#/{name}", data=np.array([[ord(name)]], "u2")).ref for name in "abc"]
        file.create_dataset("ids", data=np.array([cells], h5py.ref_dtype), dtype=h5py.ref_dtype)
        file["ids"].attrs["MATLAB_class"] = np.bytes_("cell")
    return b"MATLAB 7.3" + buffer.getvalue()[10:]


def _xlsx():
    book = openpyxl.Workbook()
    for row in (["", "a", "b"], ["a", 0, 1.5], ["b", 1.5, 0]):
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def tool_readers(folder):
    """Readers of the files of other tools that need no optional library."""
    matrix = _matrix_in(folder)
    lsmat = b"\ta\tb\na\t0.0\t1.0\nb\t1.0\t0.0\n"
    return {
        "pairs": Reader(folder, "p.m8", matrix("p.m8"), seeds=PAIRS),
        "pairs in small blocks": Reader(folder, "s.edges", lambda: _both_parsers(folder / "s.edges"), seeds=MANY_PAIRS),
        "pairs, any shape": Reader(folder, "q.edges", matrix("q.edges", square=False, absent="missing"), seeds=PAIRS),
        "pairs inside bzip2": Reader(folder, "b.m8.bz2", matrix("b.m8.bz2"), seeds=PAIRS, wrap=bz2.compress),
        "triangle": Reader(folder, "t.meg", matrix("t.meg"), seeds=TRIANGLES),
        "phylip": Reader(folder, "m.phy", matrix("m.phy"), seeds=PHYLIP),
        "lsmat inside a qza": Reader(
            folder, "m.qza", matrix("m.qza"), seeds=[lsmat], wrap=_zip("u/data/distance-matrix.tsv", stored=False)
        ),
        "qza": Reader(folder, "o.qza", matrix("o.qza"), seeds=[_zip("u/data/distance-matrix.tsv")(lsmat)]),
        "csv.xz": Reader(folder, "m.csv.xz", matrix("m.csv.xz"), seeds=[lzma.compress(b"1,0.5\n0.5,1\n")]),
        "matlab": Reader(
            folder,
            "m.mat",
            matrix("m.mat"),
            seeds=[
                _mat(D=np.eye(3), ids=np.array(["a", "b", "c"], dtype=object)),
                _mat(data={"D": np.eye(3), "inner": {"labels": [1.0, 1, 2]}}),
                _mat(packed=True, D=np.zeros((1500, 1500))),
            ],
        ),
        "matlab, version 4": Reader(
            folder, "o.mat", matrix("o.mat"), seeds=[_mat("4", D=np.eye(3), labels=[1.0, 1, 2]), _mat("4", D=SPARSE)]
        ),
        "condensed vector": Reader(folder, "v.npy", matrix("v.npy"), seeds=[_npy(np.arange(3.0))]),
        "condensed text": Reader(folder, "v.txt", matrix("v.txt"), seeds=[b"1\n2\n3\n", b"1 2 3 4 5 6\n"]),
        "matrix market": Reader(folder, "m.mtx", matrix("m.mtx"), seeds=MTX),
        "matrix market inside gzip": Reader(folder, "g.mtx.gz", matrix("g.mtx.gz"), seeds=MTX, wrap=gzip.compress),
        "bombs": Reader(
            folder,
            "bomb.csv",
            matrix("bomb.csv"),
            seeds=[
                gzip.compress(b"1,0.5\n0.5,1\n"),
                *(pack(BOMB) for pack in (gzip.compress, bz2.compress, lzma.compress, zstandard.compress)),
                _zip("u/data/distance-matrix.tsv", stored=False)(BOMB),
            ],
        ),
        "graphml": Reader(folder, "m.graphml", matrix("m.graphml"), seeds=[GRAPHML]),
    }


def library_readers(folder):
    """Readers of the files of other tools through optional libraries."""
    matrix, h5ad = _matrix_in(folder), _written("m.h5ad")
    pairs = io.BytesIO()
    feather.write_feather(pa.table({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]}), pairs)
    return {
        "hdf5": Reader(
            folder,
            "m.h5",
            matrix("m.h5"),
            seeds=[
                _hdf5(D=np.eye(3), ids=["a", "b", "c"]),
                _hdf5(d=np.arange(3.0), labels=[1, 1, 2]),
                _hdf5(D=np.eye(9), chunks=2),
                _hdf5(D=np.eye(9), chunks=2, ids=list("abcdefghi"), version="latest"),
            ],
        ),
        "matlab, version 7.3": Reader(folder, "h.mat", matrix("h.mat"), seeds=[_mat73()]),
        "h5ad": Reader(
            folder, "m.h5ad", matrix("m.h5ad"), seeds=[h5ad["m.h5ad"], _written("s.h5ad", _sparse_toy())["s.h5ad"]]
        ),
        "excel": Reader(folder, "m.xlsx", matrix("m.xlsx"), seeds=[_xlsx()]),
        "feather pairs": Reader(folder, "m.feather", matrix("m.feather"), seeds=[pairs.getvalue()]),
    }


def array_readers(folder):
    """Readers of proximities in npy and npz."""
    matrix, npz, npy = _matrix_in(folder), _written("m.npz"), _written("m.npy")
    return {
        "npy": Reader(folder, "m.npy", matrix("m.npy"), seeds=[npy["m.npy"], _npy(np.eye(3, dtype="f4"))]),
        "npy, mapped": Reader(folder, "k.npy", matrix("k.npy", mmap=True), seeds=[npy["m.npy"]]),
        "sidecar of an npy": Reader(
            folder, "s.npy.json", matrix("s.npy"), seeds=[npy["m.npy.json"]], others={"s.npy": npy["m.npy"]}
        ),
        "npz": Reader(
            folder, "m.npz", matrix("m.npz"), seeds=[npz["m.npz"], _zip("S.npy", stored=False)(_npy(np.eye(3)))]
        ),
        "array inside an npz": Reader(
            folder, "a.npz", matrix("a.npz"), seeds=[_npy(np.eye(3))], wrap=_zip("values.npy", stored=False)
        ),
        "ids inside an npz": Reader(
            folder,
            "d.npz",
            matrix("d.npz"),
            seeds=[_npy(np.array(["a", "b"]))],
            wrap=_zip("ids.npy", others={"values.npy": _npy(np.eye(2))}),
        ),
    }


def table_readers(folder):
    """Readers of proximities in parquet and zarr."""
    matrix, parquet, zarr = _matrix_in(folder), _written("m.parquet"), _written("m.zarr")
    chunk = next(name for name in zarr if name != "m.zarr/zarr.json")
    v2 = {
        "zarr_format": 2,
        "shape": [2, 2],
        "chunks": [2, 2],
        "dtype": "<f8",
        "compressor": None,
        "fill_value": 0,
        "order": "C",
        "filters": None,
    }
    return {
        "parquet": Reader(folder, "m.parquet", matrix("m.parquet"), seeds=[parquet["m.parquet"]]),
        "zarr metadata": Reader(
            folder,
            "m.zarr/zarr.json",
            matrix("m.zarr"),
            seeds=[zarr["m.zarr/zarr.json"]],
            others={chunk: zarr[chunk]},
        ),
        "zarr chunk": Reader(
            folder,
            chunk.replace("m.zarr", "n.zarr"),
            matrix("n.zarr"),
            seeds=[zarr[chunk]],
            others={"n.zarr/zarr.json": zarr["m.zarr/zarr.json"]},
        ),
        "zarr metadata, format 2": Reader(
            folder,
            "o.zarr/.zarray",
            matrix("o.zarr"),
            seeds=[json.dumps(v2).encode(), json.dumps(v2 | {"compressor": {"id": "zlib", "level": 1}}).encode()],
            others={"o.zarr/0.0": np.eye(2).tobytes()},
        ),
    }


def object_readers(folder):
    """Readers of objects."""
    objects = b"id,class,a,b\no1,x,1,2\no2,y,3,4\n"
    graphs = [{"id": f"g{i}", "label": "x", "edges": [[0, 1]], "node_labels": [0, 1]} for i in range(2)]
    return {
        "objects": Reader(
            folder,
            "x.csv",
            lambda: read_objects(folder / "x.csv", max_bytes=LIMIT),
            seeds=[objects, b"word\ntree\nthree\n"],
        ),
        "objects in JSON": Reader(
            folder,
            "x.json",
            lambda: read_objects(folder / "x.json", max_bytes=LIMIT),
            seeds=[json.dumps(graphs).encode(), b"[[1,2],[3]]", b'[{"id":1,"object":"a"}]'],
        ),
    }


def study_readers(folder):
    """Readers of models, results and journals."""
    data, card, members = _model(folder)
    result = _result()
    result.save(folder / "r.json")
    whole = (folder / "r.json").read_bytes()
    arrays = [name for name in members if name.endswith(".npy")]
    with tempfile.TemporaryDirectory() as other:
        S, y = similis.make_similarity(10, 2, random_state=0)
        Study("nc", n_splits=2, cv=2, journal=Path(other) / "j").run(S, y)
        journal = (Path(other) / "j").read_bytes()
    plain = b"\n".join(b"{" + line[19:] for line in journal.splitlines())
    shutil.copy(folder / "m.skops", folder / "c.skops")
    return {
        "model": Reader(folder, "m.skops", lambda: similis.load(folder / "m.skops"), seeds=[data]),
        "description inside a model": Reader(
            folder,
            "d.skops",
            lambda: similis.load(folder / "d.skops"),
            seeds=[members["schema.json"]],
            wrap=_swap(members, "schema.json"),
        ),
        "array inside a model": Reader(
            folder,
            "a.skops",
            lambda: similis.load(folder / "a.skops"),
            seeds=[members[arrays[0]]],
            wrap=_swap(members, arrays[0]),
        ),
        "card of a model": Reader(folder, "c.card.json", lambda: read_model(folder / "c.skops"), seeds=[card]),
        "results": Reader(folder, "r.json", lambda: StudyResult.load(folder / "r.json"), seeds=[whole]),
        "results.gz": Reader(
            folder, "g.json.gz", lambda: StudyResult.load(folder / "g.json.gz"), seeds=[gzip.compress(whole, mtime=0)]
        ),
        "results, and their report": Reader(folder, "p.json", lambda: _report(folder / "p.json"), seeds=[whole]),
        "journal": Reader(folder, "j", lambda: _read_journal(folder / "j"), seeds=[journal]),
        "lines of a journal": Reader(
            folder, "k", lambda: _read_journal(folder / "k"), seeds=[plain], wrap=_journal_lines
        ),
    }


NAMES = (
    "csv|csv, any shape|csv.gz|csv inside gzip|labels beside a csv|labels|labels of ids|pairs|"
    "pairs in small blocks|pairs, any shape|"
    "pairs inside bzip2|triangle|phylip|lsmat inside a qza|qza|csv.xz|"
    "matlab|matlab, version 4|condensed vector|condensed text|"
    "matrix market|matrix market inside gzip|bombs|graphml|hdf5|matlab, version 7.3|h5ad|excel|feather pairs|"
    "npy|npy, mapped|"
    "sidecar of an npy|npz|array inside an npz|ids inside an npz|parquet|zarr metadata|zarr chunk|"
    "zarr metadata, format 2|objects|objects in JSON|model|description inside a model|array inside a model|"
    "card of a model|results|results.gz|results, and their report|journal|lines of a journal"
).split("|")


def make_readers(folder):
    """All of them, by name."""
    (folder / "study").mkdir()
    found = (
        text_readers(folder)
        | tool_readers(folder)
        | library_readers(folder)
        | array_readers(folder)
        | table_readers(folder)
        | object_readers(folder)
    )
    found |= study_readers(folder / "study")
    assert list(found) == NAMES
    return found
