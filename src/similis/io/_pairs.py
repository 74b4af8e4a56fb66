"""Lists of pairs: alignment hits (BLAST, DIAMOND, MMseqs2, Foldseek), Mash and sourmash tables, edge lists.

A line names two objects and holds one or more numbers about them. Lines are parsed in chunks and stored as two codes
and a value, so that memory grows with the number of lines and not with the square of the number of objects.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from similis._utils.files import parse_errors, short_path
from similis._utils.messages import warn_user
from similis.base import Kind
from similis.exceptions import InputWarning, ProximityError
from similis.io._kind import KINDS, decide_kind, kind_in_words
from similis.io._options import PairOptions
from similis.io._proximity import Proximity, proximity_in_file, quote_short
from similis.io._text import decimal_point, is_number, open_text, parse_number, quote, sniff_delimiter

__all__ = [
    "HITS_ENDINGS",
    "are_pairs",
    "is_pair_list",
    "pairs_of_rows",
    "read_pairs",
    "sparse_values",
    "write_pairs",
]

_CHUNK = 1 << 13  # lines that are parsed at once
_BLOCK = 1 << 20  # characters that are parsed at once, where the lines are plain
_DENSE = 2**28  # bytes of a dense matrix above which a list with few pairs becomes a sparse one
_SPARSE = 0.25  # largest fraction of present pairs of a sparse result
_LOWEST_EVALUE = 1e-180  # BLAST prints smaller ones as 0
_HITS = "query subject pident length mismatch gapopen qstart qend sstart send evalue bitscore".split()
_MASH = "reference query distance p-value shared-hashes".split()
_LEFT = (
    "query qseqid qacc qaccver source from left row query_name query_id seq1 id1 name1 node1 object1 sample1 item1 "
    "source_id query_file genome1 protein1 gene1".split()
)
_RIGHT = (
    "subject target sseqid sacc saccver to right column match_name match_id target_name seq2 id2 name2 node2 object2 "
    "sample2 item2 target_id ref_file reference genome2 protein2 gene2".split()
)
_SCORES = "bitscore similarity distance jaccard ani weight score value pident evalue".split()  # default: first of these
_ALIASES = {  # names in `# Fields` of BLAST, and those of MMseqs2 and Foldseek
    "query id": "query",
    "query acc.": "query",
    "query acc.ver": "query",
    "subject id": "subject",
    "subject acc.": "subject",
    "subject acc.ver": "subject",
    "% identity": "pident",
    "alignment length": "length",
    "percentage of identical matches": "pident",
    "percentage of positive-scoring matches": "ppos",
    "% positives": "ppos",
    "alnlen": "length",
    "mismatches": "mismatch",
    "gap opens": "gapopen",
    "q. start": "qstart",
    "q. end": "qend",
    "s. start": "sstart",
    "s. end": "send",
    "tstart": "sstart",
    "tend": "send",
    "bit score": "bitscore",
    "bits": "bitscore",
    "e-value": "evalue",
    "expected value": "evalue",
    "dist": "distance",
}
_SIMILARITIES = set(
    "bitscore score pident fident ppos nident identity ani jaccard containment max_containment tmscore alntmscore "
    "qtmscore ttmscore lddt prob cosine correlation cor overlap positives".split()
)
_DISSIMILARITIES = set(
    "evalue rmsd divergence angular_distance braycurtis bray-curtis bray_curtis unifrac euclidean manhattan cityblock "
    "hamming levenshtein".split()
)
_FRACTION = re.compile(r"\d+/\d+")
_EDGE_DATA = re.compile(r"(.+?)\s*\{(.*)\}\s*")  # of NetworkX: a b {'weight': 0.5}
_ATTRIBUTE = re.compile(r"'([^']*)': ([^,]+)")
HITS_ENDINGS = (".m8", ".b6", ".blast", ".blast6", ".outfmt6", ".outfmt7", ".hits")


def read_pairs(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | str | None = None,
    score: str | None = None,
    aggregate: str | None = None,
    absent: str | float | None = None,
    kind: Kind | None = None,
    square: bool = True,
    directed: bool = False,
    sparse: bool | None = None,
    delimiter: str | None = None,
    max_bytes: int = 2**31,
) -> Proximity:
    r"""Read a list of pairs, one pair per line, as a matrix.

    Parameters
    ----------
    path : str or path-like
        Tabular hits of BLAST, DIAMOND, MMseqs2 or Foldseek (12 columns, or ``-outfmt 7`` with comments), ``mash dist``
        or ``mash triangle -E``, or an edge list: csv, tsv or blanks, perhaps compressed, or parquet; with or without a
        header.
    columns : sequence of str or str, optional
        Names of all columns in their order, for a file without a header, for example ``"qseqid sseqid evalue
        bitscore"``; or names or numbers (from 1 on) of the two columns of ids and of that of the scores.
    score : str, optional
        Column of the values, by name or number: bitscore, pident, evalue, distance, ... By default the bit score of
        alignment hits, the distance of Mash, else a column called similarity, distance, weight or score, else the first
        column of numbers. E-values become dissimilarities on a log scale, ``180 + log10(max(E, 1e-180))``.
    aggregate : {"max", "min", "sum", "mean"}, optional
        Value of a pair that has several lines. By default the best one: the largest similarity, or the smallest
        dissimilarity.
    absent : {"missing", "zero"} or float, optional
        Value of a pair that is not in the list. By default "zero" for the scores of alignment hits (no hit, no
        similarity), the largest listed value for their E-values, and "missing" (NaN) otherwise.
    kind : {"similarity", "dissimilarity"}, optional
        Kind of the values. By default what the column is known to hold.
    square : bool, default=True
        Whether both columns name objects of one set. False: rows are the objects of the first column, columns those of
        the second.
    directed : bool, default=False
        Whether a line describes one direction only. By default the reverse of a pair is filled in if no pair of the
        list has two different values.
    sparse : bool, optional
        Whether `values` is a SciPy CSR array. By default only for a large list, if the meaning of an absent entry
        allows it: zero for similarities, missing for dissimilarities.
    delimiter : str, optional
        Character between the cells of a text file; recognized by default.
    max_bytes : int, default=2**31
        Largest size that a compressed file may unpack to, and of a dense result.

    Returns
    -------
    Proximity
        Ids in sorted order, so that the order of the lines does not matter. ``about`` counts lines, pairs, duplicates
        and conflicts, and names score, kind, direction and the meaning of absent pairs.

    Raises
    ------
    ProximityError
        If the file is malformed; the message names the line.

    Warns
    -----
    InputWarning
        A summary of how the list was read, unless `score`, `aggregate` and `absent` are all given.

    Notes
    -----
    Lines that pair an object with itself give the diagonal. An object without such a line has a dissimilarity of 0 to
    itself. Its similarity to itself is the largest value of its row and column if other objects have such lines; else
    it is 1 if all values are between 0 and 1, and the largest value of the list otherwise.

    Examples
    --------
    >>> import os, tempfile
    >>> from similis.io import read_pairs
    >>> path = os.path.join(tempfile.mkdtemp(), "edges.csv")
    >>> _ = open(path, "w").write("source,target,distance\na,b,0.5\nb,c,2\n")
    >>> P = read_pairs(path, score="distance", aggregate="min", absent="missing")
    >>> P.to_frame()
         a    b    c
    a  0.0  0.5  NaN
    b  0.5  0.0  2.0
    c  NaN  2.0  0.0
    """
    options = PairOptions(columns, score, aggregate, absent)
    if kind is not None and kind not in KINDS:
        raise ProximityError(f"kind must be 'similarity', 'dissimilarity' or None. Got {quote_short(kind)}.")
    path = Path(path)
    where = short_path(path)
    pairs = _Collected(where, options, square)
    if set(HITS_ENDINGS) & {suffix.lower() for suffix in path.suffixes}:
        pairs.form = "alignment hits"
    if path.suffix.lower() in (".parquet", ".pq", ".feather", ".arrow"):
        _read_table(path, pairs, max_bytes)
    else:
        _read_lines(path, pairs, delimiter, max_bytes)
    return pairs.to_proximity(kind, directed, sparse, max_bytes)


@dataclass
class _Collected:
    """Lines of a pair list: layout, codes of the ids, values, and what was counted."""

    where: str
    options: PairOptions
    square: bool
    form: str = "edge list"
    score: str = ""  # name of the score column, canonical
    n_lines: int = 0
    n_missing: int = 0
    left: defaultdict[str, int] = field(default_factory=defaultdict)
    right: defaultdict[str, int] = field(default_factory=defaultdict)
    parts: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left.default_factory = self.left.__len__
        self.right.default_factory = self.right.__len__
        if self.square:
            self.right = self.left

    def add(self, left: Sequence[str], right: Sequence[str], values: NDArray[np.float64]) -> None:
        """Add lines; NaN is a missing value."""
        rows = np.fromiter(map(self.left.__getitem__, left), np.int32, len(left))
        columns = np.fromiter(map(self.right.__getitem__, right), np.int32, len(right))
        known = ~np.isnan(values)
        self.n_lines += len(values)
        if not known.all():
            self.n_missing += int(np.count_nonzero(~known))
            rows, columns, values = rows[known], columns[known], values[known]
        if self.score == "evalue":
            if len(values) and values.min() < 0:
                raise ProximityError(f"{self.where}: E-values must not be negative. Got {values.min()}.")
            values = np.log10(np.maximum(values, _LOWEST_EVALUE)) - np.log10(_LOWEST_EVALUE)
        self.parts.append((rows, columns, values))

    def to_proximity(self, given: Kind | None, directed: bool, as_sparse: bool | None, max_bytes: int) -> Proximity:
        """Aggregate the lines and fill in what they do not contain."""
        if not self.n_lines:
            raise ProximityError(f"{self.where} holds no pairs.")
        ids, row_order = _sorted_ids(self.left)
        column_ids, column_order = (ids, row_order) if self.square else _sorted_ids(self.right)
        shape = len(ids), len(column_ids)
        keys = np.concatenate([row_order[r].astype(np.int64) * shape[1] + column_order[c] for r, c, _ in self.parts])
        values = np.concatenate([v for _, _, v in self.parts])
        self.parts.clear()
        kind = self._kind(given, keys, values, shape[0])
        aggregate = self.options.aggregate or ("min" if kind == "dissimilarity" else "max")
        n_listed = len(keys)
        keys, values, n_conflicts = _aggregate(keys, values, aggregate)
        rows, columns = np.divmod(keys, shape[1])
        about: dict[str, Any] = {
            "format": self.form,
            "lines": self.n_lines,
            "score": self.score,
            "kind": kind,
            "pairs": len(keys),
            "duplicates": n_listed - len(keys),
            "conflicts": n_conflicts,
            "missing": self.n_missing,
            "aggregate": aggregate,
        }
        if self.square:
            rows, columns, values, about["direction"] = _directions(keys, rows, columns, values, shape[0], directed)
            about["pairs"] = int(np.count_nonzero(rows != columns))
        fill, about["absent"] = self._absent(kind, values)
        if self.square:
            rows, columns, values, about["diagonal"] = complete_diagonal(rows, columns, values, shape[0], kind)
        else:
            about["fill"] = fill  # also of columns that a model needs and no line names
        matrix = sp.coo_array((values, (rows, columns)), shape=shape).tocsr()
        dense = absent_entries(matrix, fill, kind, as_sparse, self.where, max_bytes)
        n_possible = shape[0] * (shape[0] - 1) if self.square else shape[0] * shape[1]
        about |= {"objects": shape[0], "possible": n_possible, "sparse": sp.issparse(dense)}
        self._report(about, given)
        P = proximity_in_file(self.where, dense, ids, kind, None, None if self.square else column_ids)
        object.__setattr__(P, "about", about)
        return P

    def _kind(self, given: Kind | None, keys: NDArray[Any], values: NDArray[Any], n: int) -> Kind | None:
        """Kind that is given, or that the name of the score states, or that the lines of the diagonal show."""
        stated = kind_in_words(self.score.replace("_", " "))
        stated = "similarity" if self.score in _SIMILARITIES else stated
        stated = "dissimilarity" if self.score in _DISSIMILARITIES else stated
        found = decide_kind(values, given=given, stated=stated, where=self.where)
        if found is None and self.square:
            own = keys % (n + 1) == 0
            if np.count_nonzero(own) > 1 and not own.all():
                if values[own].min() > values[~own].max():
                    found = "similarity"
                elif values[own].max() < values[~own].min():
                    found = "dissimilarity"
                if found:
                    warn_user(
                        f"{self.where} is read as {found}, because its lines of an object with itself have the "
                        f"{'largest' if found == 'similarity' else 'smallest'} values.",
                        InputWarning,
                    )
        return found

    def _absent(self, kind: Kind | None, values: NDArray[Any]) -> tuple[float, str]:
        """Value of absent pairs, and its name."""
        absent = self.options.absent
        if absent is None:
            if self.form != "alignment hits":
                absent = "missing"
            elif kind == "dissimilarity":
                top = float(values.max()) if len(values) else 0.0
                return top, f"{top:.6g}, the largest listed value"
            else:
                absent = "zero"
        if absent == "zero" and kind == "dissimilarity":
            raise ProximityError(
                f"{self.where}: with absent='zero', absent pairs would have dissimilarity zero, as if they were "
                "identical. Use absent='missing', or a number."
            )
        if absent == "missing":
            return np.nan, "missing"
        value = 0.0 if absent == "zero" else float(absent)
        return value, "zero" if absent == "zero" else f"{value:g}"

    def _report(self, about: dict[str, Any], given: Kind | None) -> None:
        """Warn with what was read, unless every choice was the caller's."""
        options = self.options
        if None not in (options.score, options.aggregate, options.absent) and not self.n_missing:
            return
        unit = "ordered pairs" if self.square else "pairs"
        words = [
            f"{self.form}, {self.n_lines} lines, {about['objects']} objects",
            f"score {self.score}" + (f" ({about['kind']})" if about["kind"] else ""),
            f"{about['pairs']} of {about['possible']} {unit} present, absent ones are {about['absent']}",
        ]
        if about["duplicates"]:
            words.append(
                f"{about['duplicates']} lines repeat a pair, {about['conflicts']} pairs with different values: "
                f"{about['aggregate']} taken"
            )
        if self.n_missing:
            words.append(f"{self.n_missing} lines without a value ignored")
        words += [about[key] for key in ("direction", "diagonal") if about.get(key)]
        warn_user(f"{self.where}: {'; '.join(words)}.", InputWarning)


def absent_entries(
    matrix: sp.csr_array, fill: float, kind: Kind | None, as_sparse: bool | None, where: str, max_bytes: int
) -> Any:
    """Make a matrix with `fill` where the sparse one has no entry: sparse if it is large and its meaning allows it."""
    fits = (kind == "similarity" and fill == 0) or (kind == "dissimilarity" and np.isnan(fill))
    size, total = 8 * matrix.shape[0] * matrix.shape[1], matrix.shape[0] * matrix.shape[1]
    if as_sparse and not fits:
        raise ProximityError(
            f"{where}: a sparse matrix has zero for absent similarities, and missing for absent dissimilarities. Use "
            "absent='zero' or absent='missing' accordingly, or sparse=False."
        )
    if as_sparse or (as_sparse is None and fits and size > _DENSE and matrix.nnz < _SPARSE * total):
        return matrix
    if size > max(max_bytes, 2**31):
        raise ProximityError(
            f"{where} has {matrix.shape[0]} x {matrix.shape[1]} objects; as a dense matrix they need {size / 1e9:.0f} "
            "GB. A sparse one needs absent='zero' for similarities or absent='missing' for dissimilarities."
        )
    dense = np.full(matrix.shape, fill)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    dense[rows, matrix.indices] = matrix.data  # a stored zero stays zero
    return dense


def sparse_values(
    matrix: Any, kind: Kind | None, absent: str | float | None, where: str, max_bytes: int
) -> tuple[Any, dict[str, Any]]:
    """Make the values of a stored sparse matrix, in which an absent entry and a zero differ; also a description.

    An absent entry is zero in a similarity, and missing in any other matrix, unless `absent` tells otherwise.
    """
    entries = matrix.tocoo()
    rows, columns = (np.asarray(x, dtype=np.int64) for x in entries.coords)
    n, about = matrix.shape[0], {"pairs": int(np.count_nonzero(rows != columns))}
    about |= {"possible": n * (n - 1), "zeros": int(np.count_nonzero(entries.data == 0))}
    rows, columns, data, diagonal = complete_diagonal(rows, columns, entries.data, n, kind)
    absent = absent if absent is not None else "zero" if kind == "similarity" else "missing"
    fill = np.nan if absent == "missing" else 0.0 if absent == "zero" else float(absent)
    matrix = sp.coo_array((data, (rows, columns)), shape=matrix.shape).tocsr()
    values = absent_entries(matrix, fill, kind, None, where, max_bytes)
    return values, {**about, "absent": str(absent), "diagonal": diagonal.replace("line", "entry")}


def is_pair_list(lines: list[str], *, square: bool) -> bool:
    """Tell whether the first lines of a text file are pairs of ids with numbers, rather than rows of a matrix."""
    if any(line.startswith("# Fields:") for line in lines):
        return True
    body = [line for line in lines if line.strip() and not line.startswith("#")]
    if not body:
        return False
    if _EDGE_DATA.fullmatch(body[0]):
        return True
    try:
        rows = _split(body, sniff_delimiter(body[0], blanks=True))
    except csv.Error:
        return False
    return all(len(row) == len(rows[0]) for row in rows[: len(rows) - 1 or 1]) and are_pairs(rows, square=square)


def are_pairs(rows: list[list[str]], *, square: bool) -> bool:
    """Tell whether lines of cells are pairs of ids with numbers, rather than rows of a matrix."""
    width = len(rows[0])
    columns = list(zip(*(row for row in rows[1:] or rows if len(row) == width)))
    if width < 3 or not columns:
        return False
    if _names_pairs(rows[0]) and len(rows) > 1:
        names = [_canonical(cell) for cell in rows[0]]
        ids = [next(j for j, name in enumerate(names) if name in known) for known in (_LEFT, _RIGHT)]
        return all(cell.isdecimal() or not is_number(cell) for j in ids for cell in columns[j])
    texts = [column for column in columns if not any(map(is_number, column))]
    if len(texts) > 1:  # unless the first are ids of the columns, beside labels
        is_matrix = _is_header(rows[0]) and set(texts[0]) <= set(rows[0])
        return not is_matrix and any(all(map(is_number, column)) for column in columns)
    # A square matrix has fewer lines: two columns of whole numbers are ids.
    whole = sum(all(cell.strip().isdecimal() for cell in column) for column in columns)
    return square and whole > 1 and len(rows) > width + 1 and width < 6


def _names_pairs(cells: Sequence[str]) -> bool:
    """Tell whether a line is a header that names both columns of ids."""
    names = {_canonical(cell) for cell in cells}
    return bool(names & set(_LEFT)) and bool(names & set(_RIGHT)) and _is_header(cells)


def _is_header(cells: Sequence[str]) -> bool:
    """Tell whether no cell is a number; the name of a column of row numbers may be empty."""
    return not any(is_number(cell) for cell in cells[not cells[0].strip() :])


def _canonical(name: str) -> str:
    word = " ".join(name.strip().strip('"').lower().split())
    return _ALIASES.get(word, word)


def _split(lines: Iterable[str], mark: str) -> list[list[str]]:
    rows = list(_reader(lines, mark))
    return rows if mark == "," else [list(map(decimal_point, row)) for row in rows]


def _reader(lines: Iterable[str], mark: str) -> Iterator[list[str]]:
    if mark == "\t":  # descriptions in hits may hold quotation marks
        return csv.reader(lines, delimiter=mark, quoting=csv.QUOTE_NONE)
    if mark == " ":
        # Ids in quotation marks may hold blanks.
        return (
            next(csv.reader([line.strip()], delimiter=" ", skipinitialspace=True)) if '"' in line else line.split()
            for line in lines
        )
    return csv.reader(lines, delimiter=mark, skipinitialspace=True, strict=True)


def _read_lines(path: Path, pairs: _Collected, delimiter: str | None, max_bytes: int) -> None:
    """Parse a text file in chunks."""
    where, names, queries = pairs.where, None, []
    numbers: list[int] = []  # of the lines of the chunk
    counter = 0

    def body(text: Iterable[str]) -> Iterator[str]:
        nonlocal counter, names
        for line in text:
            counter += 1
            if line.startswith("#"):
                if line.startswith("# Fields:"):
                    names = [_canonical(cell) for cell in line[9:].split(",")]
                elif line.startswith("# Query:"):
                    queries.append((line[8:].split() or [""])[0])
            elif line.strip():
                numbers.append(counter)
                if line.rstrip().endswith("}") and (edge := _EDGE_DATA.fullmatch(line)):
                    data = dict(_ATTRIBUTE.findall(edge[2]))
                    names = names or ["source", "target", *data]
                    line = " ".join([edge[1], *(data.get(name, "nan") for name in names[2:])])
                yield line.rstrip("\r\n")

    with open_text(path, max_bytes, lambda: counter + 1) as text:
        lines = body(text)
        head = list(islice(lines, 50))
        if not head:
            raise ProximityError(f"{where} holds no pairs.")
        if "\0" in head[0]:
            raise ProximityError(f"{where} is not a text file: it has NUL characters in line {numbers[0]}.")
        mark = delimiter or sniff_delimiter(head[0], blanks=True)
        try:
            rows = _split(head, mark)
            places, n_header = _layout(pairs, rows, names)
            width = len(rows[0])
            del numbers[:n_header]
            rest: Iterable[str] = ()
            if names is None and mark != " ":  # neither comments nor the edge data of NetworkX
                done = _parse_chunk(list(_reader(head[n_header:], mark)), numbers, places, where, mark)
                pairs.add(*done)
                numbers.clear()
                head, n_header = [], 0
                while block := text.read(_BLOCK) + text.readline():
                    plain = _parse_plain(block, places, width, mark)
                    if plain is None:
                        rest = io.StringIO(block, newline="")
                        break
                    pairs.add(*plain)
                    counter += len(plain[0])
            reader = _reader(chain(head[n_header:], body(chain(rest, text))), mark)
            while chunk := list(islice(reader, _CHUNK)):
                pairs.add(*_parse_chunk(chunk, numbers, places, where, mark))
                del numbers[: len(chunk)]
        except csv.Error as error:
            raise ProximityError(f"{where}, line {counter}: {error}.") from None
    for name in queries:  # also those without hits
        if name:
            pairs.left[name]


def _parse_plain(
    block: str, places: tuple[int, int, int], width: int, mark: str
) -> tuple[list[str], list[str], NDArray[np.float64]] | None:
    """Parse whole lines of text at once, without an object per cell; None where one of them needs the slow path."""
    if not block.isascii() or "\r" in block or "#" in block or (mark != "\t" and '"' in block):
        return None
    text = np.frombuffer(block.removesuffix("\n").encode() + b"\n", np.uint8)
    newline = text == ord("\n")
    ends: NDArray[Any] = np.flatnonzero(newline | (text == ord(mark)))
    if (
        len(ends) % width
        or np.count_nonzero(newline) * width != len(ends)
        or not newline[ends[width - 1 :: width]].all()
    ):
        return None
    starts = np.r_[0, ends[:-1] + 1].reshape(-1, width)
    ends = ends.reshape(-1, width)

    def cells(j: int, dtype: str) -> NDArray[Any]:
        """Characters of a column, padded by NUL, as an array of text."""
        longest = max(int((ends[:, j] - starts[:, j]).max()), 1)
        places = starts[:, [j]] + np.arange(longest)
        letters = np.where(places < ends[:, [j]], text.take(places, mode="clip"), 0)
        return letters.astype(np.uint32 if dtype == "U" else np.uint8).view(f"{dtype}{longest}").ravel()

    try:
        values = cells(places[2], "S").astype(np.float64)
    except ValueError:
        return None
    left, right = (cells(j, "U").tolist() for j in places[:2])
    return (left, right, values) if np.isfinite(values).all() and "" not in left and "" not in right else None


def _parse_chunk(
    chunk: list[list[str]], numbers: list[int], places: tuple[int, int, int], where: str, mark: str
) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Parse lines of cells: all at once if each has its ids and a number."""
    a, b, s = places
    try:
        left, right = [row[a] for row in chunk], [row[b] for row in chunk]
        values = np.array([float(row[s]) for row in chunk])
        if not np.isfinite(values).all() or "" in left or "" in right:
            raise ValueError
    except (ValueError, IndexError):
        return _parse_slowly(chunk, numbers, places, where, mark)
    return left, right, values


def _parse_slowly(
    chunk: list[list[str]], numbers: list[int], places: tuple[int, int, int], where: str, mark: str
) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Parse lines one by one, for missing values and messages."""
    left, right, values = [], [], np.empty(len(chunk))
    for k, cells in enumerate(chunk):
        line = numbers[k] if k < len(numbers) else numbers[-1]
        if len(cells) <= max(places):
            raise ProximityError(
                f"{where}, line {line}: a line must have at least {max(places) + 1} cells. Got {len(cells)}; the file "
                "may be truncated."
            )
        a, b, text = (cells[j].strip() for j in places)
        if not a or not b:
            raise ProximityError(f"{where}, line {line}: both objects of a pair must have an id. Got an empty cell.")
        left.append(a)
        right.append(b)
        place = f"{where}, line {line}, column {places[2] + 1}"
        values[k] = parse_number(text if mark == "," else decimal_point(text), place, ", or choose another score=...")
    return left, right, values


def _layout(pairs: _Collected, rows: list[list[str]], fields: list[str] | None) -> tuple[tuple[int, int, int], int]:
    """Positions of both ids and the score, and the number of header lines; sets format and score."""
    width = len(rows[0])
    if width < 3:
        raise ProximityError(
            f"{pairs.where}: a line of a pair list must hold two ids and a number. Got {width} cells in the first line."
        )
    body = rows[1:] or rows
    numeric = [2 * sum(is_number(row[j]) for row in body if j < len(row)) > len(body) for j in range(width)]
    is_header = _names_pairs(rows[0]) or (len(rows) > 1 and any(numeric[2:]) and _is_header(rows[0]))
    names = [_canonical(cell) for cell in rows[0]] if is_header else fields
    given = pairs.options.columns
    if given is not None:
        given = re.split(r"[,\s]+", given.strip()) if isinstance(given, str) else list(given)
        given = [name for word in given for name in (_HITS if word == "std" else [word])]
    chosen: list[str] = []
    if given is not None:
        known = [_canonical(name) for name in given]
        if len(given) in (2, 3) and all(n in (names or ()) or (n.isdecimal() and 0 < int(n) <= width) for n in known):
            chosen = known
        elif len(given) == width:
            names = known
        else:
            raise ProximityError(
                f"{pairs.where}: columns must name all {width} columns, or those of both ids and of the score, by "
                f"names of the header or numbers. Got {quote_short(', '.join(given), 80)}."
            )
    if names is None and (given is None or chosen):
        last = [row[4] if len(row) > 4 else "" for row in rows]
        if width == 5 and all(map(_FRACTION.fullmatch, last)):
            names, pairs.form = _MASH, "Mash distances"
        elif width >= len(_HITS) and all(numeric[2:12]):
            names = _HITS + [str(j + 1) for j in range(len(_HITS), width)]
    if names is not None and len(names) != width:
        raise ProximityError(f"{pairs.where}: {len(names)} columns are named, but the first line has {width} cells.")
    known_hits = {"bitscore", "evalue", "pident", "fident"}
    if names is not None and (known_hits & set(names) or (names is fields and names[0] != "source")):
        pairs.form = "alignment hits" if pairs.form == "edge list" else pairs.form
    if names is not None and {"distance", "shared-hashes"} <= set(names):
        pairs.form = "Mash distances"

    def place(name: str) -> int:
        if names is not None and _canonical(name) in names:
            return names.index(_canonical(name))
        if name.isdecimal() and 1 <= int(name) <= width:
            return int(name) - 1
        has = f"It has {', '.join(names)[:200]}" if names else f"It has {width} columns without names"
        raise ProximityError(f"{pairs.where} has no column {quote_short(name)}. {has}; name them with columns=...")

    first = int(is_header and not rows[0][0].strip())  # after a column of row numbers
    if chosen:
        a, b = place(chosen[0]), place(chosen[1])
    else:
        texts = [j for j in range(first, width) if not numeric[j]]
        a, b = texts[:2] if len(texts) > 1 else (first, first + 1)
        if names is not None:
            a = next((names.index(name) for name in _LEFT if name in names), a)
            b = next((names.index(name) for name in _RIGHT if name in names), b)
    score = pairs.options.score or (chosen[2] if len(chosen) == 3 else None)
    if a == b:
        b = next(j for j in range(width) if j != a)
    free = [j for j in range(first, width) if j not in (a, b) and numeric[j]]
    if score is not None:
        s = place(score)
    elif names is not None and (known_names := [n for n in _SCORES if n in names and names.index(n) in free]):
        s = names.index(known_names[0])
    elif free:
        s = free[0]
    else:
        raise ProximityError(f"{pairs.where} has no column of numbers beside the ids; name one with score=...")
    if s in (a, b):
        raise ProximityError(f"{pairs.where}: column {s + 1} holds ids and cannot be the score.")
    pairs.score = names[s] if names is not None else f"column {s + 1}"
    return (a, b, s), int(is_header)


def _read_table(path: Path, pairs: _Collected, max_bytes: int) -> None:
    """Parse a parquet or Feather table in batches."""
    from similis.io._parquet import iter_batches

    places = None
    with parse_errors(pairs.where, "table"):
        for batch in iter_batches(path, max_bytes):
            if places is None:
                head = [
                    list(batch.schema.names),
                    *(list(map(str, row.values())) for row in batch.slice(0, 50).to_pylist()),
                ]
                places, _ = _layout(pairs, head, None)
            left, right = ([str(x) if x is not None else "" for x in batch.column(j).to_pylist()] for j in places[:2])
            if "" in left or "" in right:
                raise ProximityError(f"{pairs.where}: both objects of a pair must have an id. Got an empty one.")
            values = batch.column(places[2]).cast("float64", safe=False).to_numpy(zero_copy_only=False)
            if np.isinf(values).any():
                raise ProximityError(f"{pairs.where}: infinity is not a proximity.")
            pairs.add(left, right, np.asarray(values, dtype=np.float64))


def pairs_of_rows(
    where: str,
    rows: list[list[str]],
    *,
    options: PairOptions,
    kind: Kind | None,
    directed: bool,
    max_bytes: int,
    form: str,
    objects: Iterable[str] = (),
    lines: list[int] | None = None,
) -> Proximity:
    """Make the matrix of lines of cells below a header; `objects` may name some that have no line."""
    pairs = _Collected(where, options, True, form)
    for name in objects:
        pairs.left[name]
    places, n_header = _layout(pairs, rows[:51], None)
    numbers = (lines or list(range(1, len(rows) + 1)))[n_header:]
    pairs.add(*_parse_slowly(rows[n_header:], numbers, places, where, ","))
    return pairs.to_proximity(kind, directed, None, max_bytes)


def _sorted_ids(index: dict[str, int]) -> tuple[list[str], NDArray[np.int64]]:
    """Ids in sorted order (whole numbers by value), and the new position of each code."""
    names = list(index)
    whole = all(name.isdecimal() and len(name) < 18 for name in names)
    order = sorted(range(len(names)), key=(lambda k: (int(names[k]), names[k])) if whole else names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return [names[k] for k in order], place


def _aggregate(keys: NDArray[Any], values: NDArray[Any], how: str) -> tuple[NDArray[Any], NDArray[Any], int]:
    """One value per pair, and the number of pairs with different values."""
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    if not len(keys):
        return keys, values, 0
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    if len(starts) == len(keys):
        return keys, values, 0
    top, low = np.maximum.reduceat(values, starts), np.minimum.reduceat(values, starts)
    if how in ("max", "min"):
        result = top if how == "max" else low
    else:
        result = np.add.reduceat(values, starts)
        if how == "mean":
            result = result / np.diff(np.r_[starts, len(keys)])
    return keys[starts], result, int(np.count_nonzero(top != low))


def _directions(
    keys: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], n: int, directed: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], str]:
    """Fill in reverse directions if no pair has two different values; also a sentence about the directions."""
    off = rows != columns
    reverse = columns * n + rows
    place = np.minimum(np.searchsorted(keys, reverse), len(keys) - 1) if len(keys) else reverse
    both = (keys[place] == reverse) & off if len(keys) else off
    n_different = int(np.count_nonzero(values[both] != values[place[both]])) // 2
    one_way = off & ~both
    n_one = int(np.count_nonzero(one_way))
    if not n_one:
        return rows, columns, values, f"{n_different} pairs differ by direction" if n_different else "symmetric"
    if directed or n_different:
        return (
            rows,
            columns,
            values,
            (f"directed: {n_different} pairs differ by direction and {n_one} are listed in one direction only"),
        )
    return (
        np.r_[rows, columns[one_way]],
        np.r_[columns, rows[one_way]],
        np.r_[values, values[one_way]],
        f"{n_one} pairs are listed once and read in both directions",
    )


def complete_diagonal(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], n: int, kind: Kind | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], str]:
    """Add the diagonal entries that the list does not contain; also a sentence about them."""
    has_own = np.zeros(n, dtype=bool)
    has_own[rows[rows == columns]] = True
    without = np.flatnonzero(~has_own)
    if not len(without) or kind is None or not len(values):
        return rows, columns, values, ""
    if kind == "dissimilarity":
        own, text = np.zeros(len(without)), "0"
    elif has_own.any():
        largest = np.full(n, values.min())
        np.maximum.at(largest, rows, values)
        np.maximum.at(largest, columns, values)
        own, text = largest[without], "the largest value of its row and column"
    else:
        top = 1.0 if values.min() >= 0 and values.max() <= 1 else float(values.max())
        own, text = np.full(len(without), top), f"{top:g}"
    return (
        np.r_[rows, without],
        np.r_[columns, without],
        np.r_[values, own],
        f"{len(without)} objects have no line with themselves: their value with themselves is {text}",
    )


def write_pairs(file: IO[bytes], P: Proximity, *, delimiter: str = "\t") -> None:
    """Write an edge list with a header: one line per entry that is not missing, also those of the diagonal.

    A symmetric matrix has one line per pair.
    """
    if len(P.shape) != 2:
        raise ProximityError(f"An edge list holds one matrix. Got a stack of shape {P.shape}.")
    values: Any = P.values
    row: Any
    left = P.ids or tuple(map(str, range(P.shape[0])))
    right = (P.columns if not P.square else left) or tuple(map(str, range(P.shape[1])))
    spell = quote if delimiter == "," else str
    left, right = tuple(map(spell, left)), tuple(map(spell, right))
    file.write(delimiter.join(("source", "target", P.kind or "value")).encode() + b"\n")
    if sp.issparse(values):
        symmetric = P.square and abs(values - values.T).nnz == 0
    else:
        symmetric = P.square and np.array_equal(values, np.asarray(values).T, equal_nan=True)
    for i in range(P.shape[0]):
        if sp.issparse(values):
            part = slice(values.indptr[i], values.indptr[i + 1])
            columns, row = values.indices[part], values.data[part]
        else:
            row = np.asarray(values[i])
            columns = np.flatnonzero(~np.isnan(row))
            row = row[columns]
        lines = [
            f"{left[i]}{delimiter}{right[j]}{delimiter}{value!r}\n"
            for j, value in zip(columns.tolist(), row.tolist())
            if j >= i or not symmetric
        ]
        file.write("".join(lines).encode())
