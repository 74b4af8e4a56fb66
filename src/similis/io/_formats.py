"""The registry of file formats: how each is recognized, read and written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO

from similis._utils.files import short_path
from similis._utils.messages import warn_user
from similis.base import Kind
from similis.exceptions import InputWarning, ProximityError
from similis.io._checks import ReadOptions, quote_short
from similis.io._containers import read_excel, read_graphml, read_hdf5, read_mat, read_mtx, read_rds, write_h5ad
from similis.io._numpy import read_npy, read_npz, write_npz
from similis.io._pair_lines import are_pairs, is_pair_list
from similis.io._pairs import HITS_ENDINGS, read_pair_list, write_pairs
from similis.io._parquet import first_rows, read_parquet, write_parquet
from similis.io._phylip import is_named_triangle, is_phylip, read_named_triangle, read_phylip, write_lsmat, write_phylip
from similis.io._proximity import Proximity
from similis.io._text import PACKED, TEXT_PACKERS, is_number, open_text, read_csv, write_csv
from similis.io._zarr import read_zarr


@dataclass(frozen=True)
class Format:
    """A file format of proximity matrices; packages add their own by the entry point group ``similis.formats``.

    Parameters
    ----------
    name, about : str
        Name, for ``--format`` and messages, and a description in one line.
    endings : tuple of str
        Endings of file names, such as ``(".phy", ".phylip")``.
    read : callable, optional
        ``read(path, options)`` returns a :class:`similis.Proximity`; `options` is a :class:`ReadOptions`.
    write : callable, optional
        ``write(file, proximity)`` writes to a binary file.
    is_text : bool, default=False
        Whether the file is text, which may be compressed and have labels beside it.
    magic : bytes, optional
        First bytes of every file of this format.
    kind : {"similarity", "dissimilarity"}, optional
        Kind of the values of every such file.
    holds_sparse : bool, default=False
        Whether `write` accepts a sparse matrix; else it gets a dense one.
    """

    name: str
    about: str
    endings: tuple[str, ...]
    read: Callable[[Path, ReadOptions], Proximity] | None = None
    write: Callable[[IO[bytes], Proximity], None] | None = None
    is_text: bool = False
    magic: bytes | None = None
    kind: Kind | None = None
    holds_sparse: bool = False


_BUILT_IN = (
    Format("npz", "NumPy archive", (".npz",), read_npz, write_npz, holds_sparse=True),
    Format("npy", "NumPy array", (".npy",), read_npy, magic=b"\x93NUMPY"),
    Format("zarr", "zarr store", (".zarr",), read_zarr),
    Format("csv", "table of numbers in text", (".csv", ".txt"), read_csv, partial(write_csv, delimiter=","), True),
    Format("tsv", "table of numbers in text", (".tsv", ".tab"), read_csv, partial(write_csv, delimiter="\t"), True),
    Format("parquet", "parquet table", (".parquet", ".pq"), read_parquet, write_parquet, magic=b"PAR1"),
    Format(
        "pairs",
        "list of pairs: alignment hits, Mash, edges",
        (".edges", ".edgelist", *HITS_ENDINGS),
        read_pair_list,
        write_pairs,
        is_text=True,
        holds_sparse=True,
    ),
    Format("phylip", "PHYLIP distance matrix", (".phy", ".phylip", ".dist"), read_phylip, write_phylip, True),
    Format(
        "triangle", "matrix of EMBOSS, MEGA, Clustal", (".distmat", ".meg", ".pim"), read_named_triangle, None, True
    ),
    Format("lsmat", "scikit-bio distance matrix", (".lsmat",), read_csv, write_lsmat, True, kind="dissimilarity"),
    Format("feather", "Feather table", (".feather", ".arrow"), read_parquet, magic=b"ARROW1"),
    Format("hdf5", "HDF5 file", (".h5", ".hdf5"), read_hdf5, magic=b"\x89HDF\r\n\x1a\n"),
    Format("h5ad", "AnnData file", (".h5ad",), read_hdf5, write_h5ad, holds_sparse=True),
    Format("mat", "MATLAB file", (".mat",), read_mat, magic=b"MATLAB"),
    Format("rds", "file of R", (".rds", ".rdata", ".rda"), read_rds),
    Format("xlsx", "Excel workbook", (".xlsx",), read_excel),
    Format("graphml", "GraphML graph", (".graphml",), read_graphml, is_text=True),
    Format("mtx", "Matrix Market file", (".mtx",), read_mtx, is_text=True, magic=b"%%MatrixMarket"),
    Format("qza", "QIIME 2 artifact", (".qza",), read_csv, kind="dissimilarity"),
)


@cache
def formats() -> dict[str, Format]:
    """Return the known formats by name: those of similis, then those of other packages."""
    found = {form.name: form for form in _BUILT_IN}
    for entry in sorted(entry_points(group="similis.formats"), key=lambda entry: (entry.name, entry.value)):
        try:
            form = entry.load()
            if not isinstance(form, Format):
                raise TypeError("it must be a similis.io.Format")
        except Exception as error:  # a broken package must not keep others from working
            reason = str(error) or type(error).__name__
            warn_user(f"The format {entry.name!r} of another package cannot be loaded: {reason}.", InputWarning)
            continue
        found.setdefault(form.name, form)
    return found


def format_of_name(path: Path) -> Format | None:
    """Return the format that the ending of a name stands for, or None."""
    suffixes = [suffix.lower() for suffix in path.suffixes] or [""]
    packed = suffixes[-1] in TEXT_PACKERS and len(suffixes) > 1
    ending = suffixes[-2] if packed else suffixes[-1]
    for form in formats().values():
        if ending in form.endings and (form.is_text or not packed):
            return form
    return None


def find_format(path: Path, name: str | None, options: ReadOptions) -> Format:
    """Return the format of a file: the named one, else by its ending, else by its contents."""
    known = formats()
    if name is not None:
        if name not in known:
            raise ProximityError(f"There is no format {quote_short(name)}. There are {', '.join(known)}.")
        return known[name]
    form = format_of_name(path)
    if form is None:
        form = _format_of_contents(path)
    if form.name == "mat" and path.is_file():  # Clustal Omega calls its text so
        with open(path, "rb") as file:
            start = file.read(4096)
        form = known["phylip"] if start.split(b"\n")[0].strip().isdigit() and b"\0" not in start else form
    is_table = form.name in ("parquet", "feather")
    is_list = form.name in ("csv", "tsv", "pairs", "phylip")  # or may be one
    pairs = options.pairs
    if (pairs.columns is not None or pairs.score is not None) and (is_table or is_list or form.name == "lsmat"):
        return known["pairs"]
    if not path.is_file() or not (is_table or is_list):
        return form
    if is_table:
        form = known["pairs"] if are_pairs(first_rows(path), square=options.square) else form
    else:
        form = known[_name_of_text(path, form.name, options)]
    if pairs.any and form.name != "pairs":
        raise ProximityError(
            f"{short_path(path)} is a matrix; absent and aggregate are for lists of pairs (format='pairs')."
        )
    return form


def _name_of_text(path: Path, name: str, options: ReadOptions) -> str:
    """Name of the format of a text file by its first lines, or the given one."""
    _reject_binary(path)
    lines: list[str] = []  # the first complete ones, up to 60 or about a million characters
    size = 0
    with open_text(path, options.max_bytes) as text:
        while len(lines) < 60 and size < 2**20:
            line = text.readline(2**20 - size + 1)
            if not line or len(line) > 2**20 - size:
                break
            size += len(line)
            lines.append(line.rstrip("\r\n"))
    head = "\n".join(lines).strip()
    for pattern, what in _OTHER_TEXT.items():
        if re.match(pattern, head, re.I | re.M):
            raise ProximityError(f"{short_path(path)} is {what}.")
    if is_named_triangle(lines):
        return "triangle"
    if is_phylip(lines) and not (options.square and name == "pairs"):
        return "phylip"
    if is_pair_list(lines, square=options.square):
        return "pairs"
    if name == "phylip" and all(is_number(cell) for line in lines[:3] for cell in line.split()):
        return "csv"  # of PLINK
    return name


_DISTANCES = "write the distances of all pairs as a matrix or a list"
_OTHER_TEXT = {  # kinds of text that are recognized to tell what to write instead
    r"T?BLAST[NPX] \d": "a report of BLAST for people; write the hits with -outfmt 6",
    r"Blast4-archive": "an archive of BLAST; write the hits with blast_formatter -outfmt 6",
    r"# \w+ :: ": "a report of HMMER for people; write the hits with --tblout",
    r"(#.*\n|\n)*a score=": "an alignment of LAST; write the hits with -f BlastTab",
    r"@(HD|SQ|PG)\t": "a SAM file; write the hits in a tabular format, such as -outfmt 6 of BLAST",
    r"[SHNC]\t[\d*]+\t[\d*]+\t[\d.*]+\t[-+.*]\t": "a UC file; write the pairs with --blast6out or --userout",
    r">Cluster \d+\n": "a list of the clusters of CD-HIT, which has no similarities of all pairs",
    r">.*\n[A-Z*.\n-]+(\n>|$)": "a FASTA file; compare its sequences, for example with BLAST, and read the hits, or "
    "write a table of the sequences and name a --measure",
    r"CLUSTAL.*sequence alignment|# STOCKHOLM": f"an alignment; {_DISTANCES}",
    r"#NEXUS": f"a NEXUS file; {_DISTANCES}",
    r"\(\s*\n|\(.*\)[^()]*;\s*$": f"a tree; {_DISTANCES}",
    r"Table of similarity between sequences": "a similarity table of PHYLIP; write its distances instead",
    r"<(?!na>)[?!]?[a-z]": "an XML or HTML file, of which only GraphML is read; write hits of BLAST with -outfmt 6, "
    "graphs as GraphML or as a list of edges, and matrices as csv",
    r'[\[{]\s*["{\[]': "a JSON file; write graphs as GraphML or as a list of edges, and matrices as csv",
    r"(di)?graph\s+(\w+\s*)?\{": "a DOT file; write the graph as GraphML or as a list of edges",
    r"(graph|Creator .*)\s*\[?$": "a GML file; write the graph as GraphML or as a list of edges",
    r"\*vertices\b": "a Pajek file; write the graph as GraphML or as a list of edges",
}


_BINARY = {  # first bytes of files that are not read
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x80[\x02-\x05]": "a pickle, which could run code and is never read; write it again, for example with to_csv",
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old format; save it as .xlsx",
    b"<stata_dta>": "a file of Stata; write it again, for example with to_csv",
    b"CDF[\x01\x02\x05]": "a netCDF 3 file; write it as netCDF 4",
}


def _reject_binary(path: Path) -> None:
    with open(path, "rb") as file:
        start = file.read(64)
    for pattern, what in _BINARY.items():
        if re.match(pattern, start):
            raise ProximityError(f"{short_path(path)} is {what}.")
    for form in formats().values():
        if form.magic is not None and not form.is_text and start.startswith(form.magic):
            ending = form.endings[0]
            raise ProximityError(
                f"{short_path(path)} is a file of the format {form.name}; let its name end in {ending}."
            )


def _format_of_contents(path: Path) -> Format:
    path.stat()  # raises an error if there is no such file
    if path.is_dir():
        raise ProximityError(
            f"{short_path(path)} is a folder; name a file, or a zarr store, the name of which ends in .zarr."
        )
    if not path.is_file() or path.suffix == ".part":  # the unfinished file of a measurement is not a matrix yet
        raise unknown_ending(path)
    with open(path, "rb") as file:
        start = file.read(4096)
    for form in formats().values():
        if form.magic is not None and start.startswith(form.magic):
            return form
    if b"<graphml" in start:
        return formats()["graphml"]
    _reject_binary(path)
    if b"\0" in start and not start.startswith((*PACKED, b"\xff\xfe", b"\xfe\xff")):
        raise unknown_ending(path)
    return formats()["csv"]


def unknown_ending(path: Path) -> ProximityError:
    """Error about a name that stands for no format."""
    endings = [form.endings[0] for form in formats().values() if form.endings]
    return ProximityError(
        f"{short_path(path)} must end in {', '.join(endings)}, which names its format; text also in "
        f"{', '.join(TEXT_PACKERS)}."
    )
