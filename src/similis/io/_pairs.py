"""Lists of pairs: alignment hits, Mash and sourmash tables, edge lists, collected as numbers of ids with a value."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from similis import _kernels
from similis._utils.arrays import Array, Floats, Mask
from similis._utils.files import parse_errors, short_path
from similis._utils.messages import warn_user
from similis.base import Kind, kind_evidence
from similis.exceptions import InputWarning, ProximityError
from similis.io._checks import PairOptions, ReadOptions, check_writable, decide_kind, kind_in_words
from similis.io._pair_lines import HITS, Layout, find_layout, parse_rows, read_lines
from similis.io._proximity import Proximity, proximity_in_file

_DENSE = 2**28  # bytes of a dense matrix above which a list with few pairs becomes a sparse one
_SPARSE = 0.25  # largest fraction of present pairs of a sparse result
_LOWEST_EVALUE = 1e-180  # BLAST prints smaller ones as 0
_SIMILARITIES = """bitscore score pident fident ppos nident identity ani jaccard containment max_containment tmscore
    alntmscore qtmscore ttmscore tm1 tm2 lddt matches kinship pi_hat dst prob cosine correlation cor overlap
    positives""".split()
_DISSIMILARITIES = """evalue rmsd divergence angular_distance braycurtis bray-curtis bray_curtis unifrac euclidean
    manhattan cityblock hamming levenshtein""".split()
Entries = tuple[Array, Array, Array]  # rows, columns, values
HITS_ENDINGS = (".m8", ".b6", ".blast", ".blast6", ".outfmt6", ".outfmt7", ".hits")


def read_pairs(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str | int] | str | None = None,
    score: str | int | None = None,
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
        Tabular hits of BLAST, DIAMOND, MMseqs2 or Foldseek (12 columns, or ``-outfmt 7``), ``mash dist`` or ``mash
        triangle -E``, or an edge list: text, perhaps compressed, or parquet; with or without a header.
    columns : sequence of str or int, or str, optional
        Names of all columns, for a file without a header, for example ``"qseqid sseqid evalue bitscore"``; or names or
        numbers (from 1 on) of the two columns of ids and of that of the scores.
    score : str or int, optional
        Column of the values, by name or number. By default the bit score of alignment hits, the distance of Mash, else
        a column called similarity, distance, weight or score, else the first column of numbers. E-values become
        dissimilarities on a log scale, ``180 + log10(max(E, 1e-180))``.
    aggregate : {"max", "min", "sum", "mean"}, optional
        Value of a pair with several lines; by default the largest similarity, or the smallest dissimilarity.
    absent : {"missing", "zero"} or float, optional
        Value of a pair that is not in the list. By default "zero" for the scores of alignment hits, the largest listed
        value for their E-values, and "missing" (NaN) otherwise.
    kind : {"similarity", "dissimilarity"}, optional
        Kind of the values. By default what the column is known to hold.
    square : bool, default=True
        Whether both columns name objects of one set; False for rows of the first and columns of the second column.
    directed : bool, default=False
        Whether a line is one direction only. By default reverses are filled in if no pair has two different values.
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
        Ids are sorted. ``about`` counts lines, pairs, duplicates and conflicts, and names score, kind, direction and
        the meaning of absent pairs; a warning summarizes it, unless `score`, `aggregate` and `absent` are all given.

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
    >>> _ = open(path, "w").write("source,target,distance\na,b,0.5\n")
    >>> read_pairs(path, score="distance", aggregate="min", absent="missing").to_frame()
         a    b
    a  0.0  0.5
    b  0.5  0.0
    """
    pairs = PairOptions(columns, score, aggregate, absent)
    options = ReadOptions(square, directed, kind=kind, delimiter=delimiter, max_bytes=max_bytes, pairs=pairs)
    return read_list(Path(path), options, sparse)


def read_list(path: Path, options: ReadOptions, as_sparse: bool | None = None) -> Proximity:
    pairs = _Collected(short_path(path), options.pairs, options.square)
    if set(HITS_ENDINGS) & {suffix.lower() for suffix in path.suffixes}:
        pairs.form = HITS
    if path.suffix.lower() in (".parquet", ".pq", ".feather", ".arrow"):
        _read_table(path, pairs, options.max_bytes)
    else:
        read_lines(path, pairs, options.delimiter, options.max_bytes)
    return pairs.to_proximity(options.kind, options.directed, as_sparse, options.max_bytes)


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
    n_unnamed: int = 0  # columns of numbers without names of which the first was taken
    index: tuple[defaultdict[str, int], ...] = ()  # number of every id: of rows, of columns
    parts: list[list[Array]] = field(default_factory=lambda: [[], [], []])  # rows, columns, values

    def __post_init__(self) -> None:
        rows, columns = defaultdict[str, int](), defaultdict[str, int]()
        rows.default_factory, columns.default_factory = rows.__len__, columns.__len__
        self.index = rows, rows if self.square else columns

    def use(self, layout: Layout, form: str | None = None) -> None:
        self.score, self.n_unnamed = layout.score, layout.n_unnamed
        if self.form == "edge list" or layout.form not in (None, HITS):
            self.form = form or layout.form or self.form

    def number(self, names: list[str], side: int = 0) -> NDArray[np.int32]:
        """Numbers of ids of rows (side 0) or columns (side 1)."""
        return np.fromiter(map(self.index[side].__getitem__, names), np.int32, len(names))

    def add(self, left: list[str], right: list[str], values: Floats) -> None:
        self.append(self.number(left), self.number(right, 1), values)

    def append(self, *lines: Array) -> None:
        """Add lines: numbers of the ids of rows and columns, and values."""
        known = ~np.isnan(lines[2])
        self.n_lines += len(known)
        self.n_missing += int(np.count_nonzero(~known))
        for part, new in zip(self.parts, lines if known.all() else [line[known] for line in lines]):
            part.append(new)

    def to_proximity(self, given: Kind | None, directed: bool, as_sparse: bool | None, max_bytes: int) -> Proximity:
        if not self.n_lines:
            raise ProximityError(f"{self.where} holds no pairs.")
        if self.form == HITS:
            self._drop_stars()
        ids, row_order = _sorted_ids(self.index[0])
        column_ids, column_order = (ids, row_order) if self.square else _sorted_ids(self.index[1])
        shape = len(ids), len(column_ids)
        rows, columns = (np.concatenate(self.parts.pop(0)) for _ in range(2))
        rows, columns, values = row_order[rows], column_order[columns], np.concatenate(self.parts.pop(0))
        if self.score == "evalue":
            if len(values) and values.min() < 0:
                raise ProximityError(f"{self.where}: E-values must not be negative. Got {values.min()}.")
            values = np.log10(np.maximum(values, _LOWEST_EVALUE)) - np.log10(_LOWEST_EVALUE)
        kind, reason = self._kind(given, rows == columns, values)
        aggregate = self.options.aggregate or ("min" if kind == "dissimilarity" else "max")
        n_listed, order = len(rows), _kernels.order_pairs(rows, columns, *shape)
        entries = rows[order], columns[order], values[order]
        del order, rows, columns, values
        entries, n_conflicts = _aggregate(entries, aggregate)
        n_pairs = len(entries[0])
        about: dict[str, Any] = {"format": self.form, "lines": self.n_lines, "score": self.score, "kind": kind}
        about |= {"reason": reason, "pairs": n_pairs, "duplicates": n_listed - n_pairs, "conflicts": n_conflicts}
        about |= {"missing": self.n_missing, "aggregate": aggregate}
        if self.square:
            entries, about["direction"] = _directions(entries, shape[0], directed)
            about["pairs"] = int(np.count_nonzero(entries[0] != entries[1]))
        fill, about["absent"] = self._absent(kind, entries[2])
        if self.square:
            entries, about["diagonal"] = complete_diagonal(entries, shape[0], kind)
        else:
            about["fill"] = fill  # also of columns that a model needs and no line names
        matrix = sp.coo_array((entries[2], entries[:2]), shape=shape).tocsr()
        del entries
        dense = absent_entries(matrix, fill, kind, as_sparse, self.where, max_bytes)
        n_possible = shape[0] * (shape[0] - 1) if self.square else shape[0] * shape[1]
        about |= {"objects": shape[0], "possible": n_possible, "sparse": sp.issparse(dense)}
        self._report(about)
        return proximity_in_file(self.where, dense, ids, kind, None, None if self.square else column_ids, about)

    def _drop_stars(self) -> None:
        """Remove the subject `*` of lines for queries without hits; the queries stay."""
        if (star := self.index[1].pop("*", None)) is None:
            return
        rows, columns, values = map(np.concatenate, self.parts)
        listed = columns != star
        self.n_lines -= int(np.count_nonzero(~listed))
        rows, columns = (codes - (codes > star) * (side or self.square) for side, codes in enumerate((rows, columns)))
        self.parts = [[rows[listed]], [columns[listed]], [values[listed]]]

    def _kind(self, given: Kind | None, own: Mask, values: Array) -> tuple[Kind | None, str]:
        """Kind that is given, or that the name of the score states, or that the lines of the diagonal show; and why."""
        stated, words = kind_in_words(self.score.replace("_", " ")), re.findall("[a-z]+", self.score)
        if stated is None and (self.score in _SIMILARITIES or {"score", "identity"}.intersection(words)):
            stated = "similarity"
        stated = "dissimilarity" if self.score in _DISSIMILARITIES else stated
        found = decide_kind(values, given=given, stated=stated, where=self.where)
        if found is not None or not self.square:
            return found, ""
        if np.count_nonzero(own) > 1 and not own.all():
            if values[own].min() > values[~own].max():
                return "similarity", "because lines of an object with itself have the largest values"
            if values[own].max() < values[~own].min():
                return "dissimilarity", "because lines of an object with itself have the smallest values"
        found = kind_in_words(re.sub(r"[_.\d]", " ", PurePath(self.where).name))  # mothur writes name.dist
        return found, "by the name of the file" if found else ""

    def _absent(self, kind: Kind | None, values: Array) -> tuple[float, str]:
        absent = self.options.absent
        if absent is None and self.form == HITS and kind == "dissimilarity":
            top = float(values.max()) if len(values) else 0.0
            return top, f"{top:.6g}, the largest listed value"
        if absent is None:
            absent = "zero" if self.form == HITS else "missing"
        if absent == "zero" and kind == "dissimilarity":
            wrong = "with absent='zero', absent pairs would have dissimilarity zero, as if they were identical"
            raise ProximityError(f"{self.where}: {wrong}. Use absent='missing', or a number.")
        if absent in ("missing", "zero"):
            return np.nan if absent == "missing" else 0.0, str(absent)
        return float(absent), f"{float(absent):g}"

    def _report(self, about: dict[str, Any]) -> None:
        options = self.options
        if None not in (options.score, options.aggregate, options.absent) and not self.n_missing:
            return
        unit = "ordered pairs" if self.square else "pairs"
        score = f"score {self.score}"
        if known := [about[key] for key in ("kind", "reason") if about[key]]:
            score += f" ({', '.join(known)})"
        if self.n_unnamed:
            score += f", the first of {self.n_unnamed} columns of numbers; name them with columns=..."
        words = [
            f"{self.form}, {self.n_lines} lines, {about['objects']} objects",
            score,
            f"{about['pairs']} of {about['possible']} {unit} present, absent ones are {about['absent']}",
        ]
        if about["duplicates"]:
            conflicts = f"{about['conflicts']} pairs with different values: {about['aggregate']} taken"
            words.append(f"{about['duplicates']} lines repeat a pair, {conflicts}")
        if self.n_missing:
            words.append(f"{self.n_missing} lines without a value ignored")
        words += [about[key] for key in ("direction", "diagonal") if about.get(key)]
        warn_user(f"{self.where}: {'; '.join(words)}.", InputWarning)


def absent_entries(
    matrix: sp.csr_array, fill: float, kind: Kind | None, as_sparse: bool | None, where: str, max_bytes: int
) -> Any:
    """Make a matrix with `fill` where the sparse one has no entry: sparse if it is large and its meaning allows it."""
    fits = (kind == "similarity" and fill == 0) or (kind == "dissimilarity" and np.isnan(fill))
    total = matrix.shape[0] * matrix.shape[1]
    if as_sparse and not fits:
        rule = "a sparse matrix has zero for absent similarities, and missing for absent dissimilarities"
        remedy = "Use absent='zero' or absent='missing' accordingly, or sparse=False."
        raise ProximityError(f"{where}: {rule}. {remedy}")
    if as_sparse or (as_sparse is None and fits and 8 * total > _DENSE and matrix.nnz < _SPARSE * total):
        return matrix
    if 8 * total > max(max_bytes, 2**31):
        need = f"{matrix.shape[0]} x {matrix.shape[1]} objects; as a dense matrix they need {8 * total / 1e9:.0f} GB"
        remedy = "A sparse one needs absent='zero' for similarities or absent='missing' for dissimilarities."
        raise ProximityError(f"{where} has {need}. {remedy}")
    dense = np.full(matrix.shape, fill)
    for row, start, end in zip(dense, matrix.indptr, matrix.indptr[1:]):
        row[matrix.indices[start:end]] = matrix.data[start:end]  # a stored zero stays zero
    return dense


def sparse_values(
    matrix: Any, kind: Kind | None, absent: str | float | None, where: str, max_bytes: int
) -> tuple[Any, dict[str, Any]]:
    """Values of a stored sparse matrix, in which an absent entry is zero in a similarity, else missing; and a note."""
    stored = matrix.tocoo()
    rows, columns = (np.asarray(x, dtype=np.int64) for x in stored.coords)
    n = matrix.shape[0]
    about = {"pairs": int(np.count_nonzero(rows != columns)), "possible": n * (n - 1)}
    about["zeros"] = int(np.count_nonzero(stored.data == 0))
    entries, diagonal = complete_diagonal((rows, columns, stored.data), n, kind)
    given, absent = absent, absent if absent is not None else "zero" if kind == "similarity" else "missing"
    fill = np.nan if absent == "missing" else 0.0 if absent == "zero" else float(absent)
    matrix = sp.coo_array((entries[2], entries[:2]), shape=matrix.shape).tocsr()
    values = absent_entries(matrix, fill, kind, None, where, max_bytes)
    if given is None and kind is None and kind_evidence(values) == "similarity":
        absent, values = "zero", np.nan_to_num(values, copy=False)
    return values, {**about, "absent": str(absent), "diagonal": diagonal.replace("line", "entry")}


def _read_table(path: Path, pairs: _Collected, max_bytes: int) -> None:
    from similis.io._numpy import first_rows, iter_batches

    with parse_errors(pairs.where, "table"):
        layout = find_layout(pairs.where, first_rows(path), None, pairs.options)
        pairs.use(layout)
        for batch in iter_batches(path, max_bytes):
            codes = []
            for side, place in enumerate(layout.places[:2]):
                column = batch.column(place)
                column = column if hasattr(column, "dictionary") else column.dictionary_encode()
                names = ["" if name is None else str(name) for name in column.dictionary.to_pylist()]
                if column.indices.null_count or "" in names:
                    raise ProximityError(f"{pairs.where}: both objects of a pair must have an id. Got an empty one.")
                codes.append(pairs.number(names, side)[column.indices.to_numpy(zero_copy_only=False)])
            values = batch.column(layout.places[2]).cast("float64", safe=False).to_numpy(zero_copy_only=False)
            if np.isinf(values).any():
                raise ProximityError(f"{pairs.where}: infinity is not a proximity.")
            pairs.append(codes[0], codes[1], np.asarray(values, dtype=np.float64))


def pairs_of_rows(
    where: str, rows: list[list[str]], form: str, options: ReadOptions, objects: Iterable[str] = (), lines: Any = None
) -> Proximity:
    """Make the matrix of lines of cells below a header; `objects` may name some that have no line."""
    pairs = _Collected(where, options.pairs, True, form)
    pairs.number(list(objects))
    layout = find_layout(where, rows[:51], None, options.pairs)
    pairs.use(layout)
    numbers = (lines or list(range(1, len(rows) + 1)))[layout.n_header :]
    pairs.add(*parse_rows(rows[layout.n_header :], numbers, layout.places, where, ","))
    return pairs.to_proximity(options.kind, options.directed, None, options.max_bytes)


def _sorted_ids(index: dict[str, int]) -> tuple[list[str], NDArray[np.int32]]:
    """Ids in sorted order (whole numbers by value), and the new position of each code."""
    names = list(index)
    whole = all(name.isdecimal() and len(name) < 18 for name in names)
    order = sorted(range(len(names)), key=(lambda k: (int(names[k]), names[k])) if whole else names.__getitem__)
    place = np.empty(len(names), np.int32)
    place[order] = np.arange(len(names))
    return [names[k] for k in order], place


def _aggregate(entries: Entries, how: str) -> tuple[Entries, int]:
    """One value per pair of a sorted list; also the number of pairs with different values."""
    rows, columns, values = entries
    is_new = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    if is_new.all():
        return entries, 0
    starts = np.flatnonzero(np.r_[True, is_new])
    differ = np.r_[False, (values[1:] != values[:-1]) & ~is_new]
    n_conflicts = int(np.count_nonzero(np.logical_or.reduceat(differ, starts)))
    result = {"max": np.maximum, "min": np.minimum}.get(how, np.add).reduceat(values, starts)
    if how == "mean":
        result /= np.diff(np.r_[starts, len(rows)])
    return (rows[starts], columns[starts], result), n_conflicts


def _directions(entries: Entries, n: int, directed: bool) -> tuple[Entries, str]:
    """Fill in reverse directions if no pair has two different values; also a sentence about the directions."""
    rows, columns, values = entries
    place = _kernels.reverse_places(rows, columns, n)
    n_different = int(np.count_nonzero((values != values[place]) & (place >= 0))) // 2
    one_way, differ = place < 0, f"{n_different} pairs differ by direction"
    if not (n_one := int(np.count_nonzero(one_way))):
        return entries, differ if n_different else "symmetric"
    if directed or n_different:
        return entries, f"directed: {differ} and {n_one} are listed in one direction only"
    reverse = columns[one_way], rows[one_way], values[one_way]
    return _joined(entries, reverse), f"{n_one} pairs are listed once and read in both directions"


def _joined(entries: Entries, more: Entries) -> Entries:
    rows, columns, values = map(np.concatenate, zip(entries, more))
    return rows, columns, values


def complete_diagonal(entries: Entries, n: int, kind: Kind | None) -> tuple[Entries, str]:
    """Add the diagonal entries that the list does not contain; also a sentence about them."""
    rows, columns, values = entries
    has_own = np.zeros(n, dtype=bool)
    has_own[rows[rows == columns]] = True
    without = np.flatnonzero(~has_own)
    if not len(without) or kind is None or not len(values):
        return entries, ""
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
    text = f"{len(without)} objects have no line with themselves: their value with themselves is {text}"
    return _joined(entries, (without, without, own)), text


def write_pairs(file: IO[bytes], P: Proximity) -> None:
    """Write an edge list with a header: a line per entry that is not missing, or per pair of a symmetric matrix."""
    if len(P.shape) != 2:
        raise ProximityError(f"An edge list holds one matrix. Got a stack of shape {P.shape}.")
    values: Any = P.values
    left, right = P.ids or list(map(str, range(P.shape[0]))), P.columns or list(map(str, range(P.shape[1])))
    rule = "tabs, line breaks, # in front or blanks at its ends"
    check_writable([*left, *right], "an edge list", r"[\t\r\n]|^[\s#]|\s\Z", rule)
    file.write(f"source\ttarget\t{P.kind or 'value'}\n".encode())
    if sp.issparse(values):  # a stored zero is an entry
        other, parts = values.T.tocsr(), ("indptr", "indices", "data")
        symmetric = P.square and all(np.array_equal(getattr(values, part), getattr(other, part)) for part in parts)
    else:
        symmetric = P.square and np.array_equal(values, np.asarray(values).T, equal_nan=True)
    is_named = np.full(P.shape[1], P.square)
    for i in range(P.shape[0]):
        if sp.issparse(values):
            part = slice(values.indptr[i], values.indptr[i + 1])
            columns, row = values.indices[part], values.data[part]
        else:
            columns = np.flatnonzero(~np.isnan(values[i]))
            row = np.asarray(values[i])[columns]
        is_named[columns] = True
        # A line with nan names an object without entries.
        entries = list(zip(columns.tolist(), row.tolist())) or [(i if P.square else 0, np.nan)]
        lines = [f"{left[i]}\t{right[j]}\t{value!r}\n" for j, value in entries if j >= i or not symmetric]
        file.write("".join(lines).encode())
    for j in np.flatnonzero(~is_named):
        file.write(f"{left[0]}\t{right[j]}\tnan\n".encode())
