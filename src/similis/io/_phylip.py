"""Distance matrices of phylogenetics: PHYLIP (square, or one triangle), EMBOSS distmat, MEGA and Clustal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np

from similis._utils.arrays import Floats
from similis._utils.files import short_path
from similis._utils.messages import warn_user
from similis.base import Kind
from similis.exceptions import InputWarning, ProximityError
from similis.io._checks import ReadOptions, check_writable, quote_short
from similis.io._proximity import Proximity, proximity_in_file
from similis.io._text import RowBuffer, is_number, matrix_of_triangle, open_text, parse_number, row_spans, split_numbers

_STRICT = 10  # characters of a name in the original format


def is_phylip(lines: list[str]) -> bool:
    """Tell whether the first lines of a text file are the number of objects, and an object with its numbers."""
    lines = [line.strip() for line in lines if line.strip()]
    rows = [line.split() for line in lines]
    if len(rows) < 2 or len(rows[0]) != 1 or not rows[0][0].isdecimal():
        return False
    if len(rows) > 2 and all(len(row) == 1 and is_number(row[0]) for row in rows):  # a vector, one number per line
        return False
    n, cells = int(rows[0][0]), list(map(split_numbers, lines))
    if len(rows) > 2 and list(map(len, cells)) == list(range(1, len(rows) + 1)) and all(map(is_number, cells[-1])):
        return False  # a triangle without names
    return not is_number(rows[1][0]) or len(rows[1]) in (1, 2, n, n + 1)


def read_phylip(path: Path, options: ReadOptions) -> Proximity:
    """Read a square matrix or a triangle; a name ends at a tab, a blank or after ten characters."""
    where = short_path(path)
    with open_text(path, options.max_bytes) as text:
        plain = _read_plain(text)
    if plain is not None:
        return _with_kind(where, *plain, options.kind)
    lines: list[tuple[int, str]] = []
    with open_text(path, options.max_bytes, lambda: lines[-1][0] + 1 if lines else 1) as text:
        lines += ((k, line.rstrip("\r\n")) for k, line in enumerate(text, 1))
    lines = [(k, line) for k, line in lines if line.strip()]
    first = lines[0][1].split() if lines else []
    if len(first) != 1 or not first[0].isdecimal() or not 0 < int(first[0]) < 10**6:
        found = quote_short(" ".join(first))
        raise ProximityError(f"{where}: the first line of a PHYLIP matrix is the number of objects. Got {found}.")
    n, body = int(first[0]), lines[1:]
    for strict in (False, True, False):  # the last time for the message
        rows = _rows(body, n, strict)
        counts = [len(numbers) for _, _, numbers in rows]
        is_matrix = len(rows) == n and row_spans(counts) is not None
        if is_matrix and all(is_number(cell) for _, _, numbers in rows for cell in numbers[:1]):
            break
    else:
        if len(rows) != n:
            raise ProximityError(f"{where}: line {lines[0][0]} announces {n} objects. Got {len(rows)} rows below it.")
        start = counts[0] if counts[0] < 2 < n else None  # of a triangle
        k = next((i for i, have in enumerate(counts) if have != (n if start is None else i + start)), 0)
        rule = f"the rows must form a square matrix of {n} objects or one triangle of it"
        wrong = f"Row {k + 1}, {quote_short(rows[k][1])}, has {counts[k]} numbers."
        raise ProximityError(f"{where}, line {rows[k][0]}: {rule}. {wrong}")
    numbers = [np.array([parse_number(cell, f"{where}, line {line}") for cell in cells]) for line, _, cells in rows]
    return _with_kind(where, [name for _, name, _ in rows], matrix_of_triangle(numbers), 0 in counts, options.kind)


def _read_plain(lines: Iterable[str]) -> tuple[list[str], Floats, bool] | None:
    """Names and values of a square matrix or lower triangle with one line per row, read row by row; else None."""
    lines = iter(lines)
    head = next(lines, "").strip()
    if not head.isdecimal() or not 1 < int(head) < 10**6:
        return None
    n, first, names = int(head), next(lines, ""), list[str]()
    offset = len(first.split()) - 1  # numbers of the first row
    if offset not in (0, 1, n) or len(first) < 2 * offset:
        return None
    rows = RowBuffer()  # grows with the file: the announced number of objects may be wrong
    for i, line in enumerate(chain([first], lines)):
        name, _, rest = line.partition("\t") if "\t" in line else line.strip().partition(" ")
        cells = rest.split()
        if i == n or len(cells) != (n if offset == n else i + offset) or not rest.isascii() or "_" in rest:
            if line.strip():
                return None
            break
        try:
            row = np.array(cells, dtype=np.float64) if cells else np.empty(0)
        except ValueError:
            return None
        if not np.isfinite(row).all():
            return None
        names.append(name.strip())
        rows.append(np.concatenate([row, np.zeros(n - len(row))]))
    if len(names) != n:
        return None
    values = rows.to_matrix()
    for start in range(0, n, 256) if offset != n else ():  # by blocks of rows because the matrix may be on disk
        some = slice(start, start + 256)
        block = np.tril(values[some, some])
        values[:start, some] = values[some, :start].T
        values[some, some] = block + np.tril(block, -1).T
    return names, values, offset == 0


def _with_kind(where: str, names: list[str], values: Floats, no_diagonal: bool, given: Kind | None) -> Proximity:
    """Dissimilarities, unless the diagonal or, without one, the numbers show identities in percent."""
    own = np.diagonal(values)
    kind: Kind = "dissimilarity"
    if given != "similarity" and np.nanmin(values) == -1:  # other negative values are errors
        undefined = values == -1
        if not (values[~undefined] < 0).any():
            remark = "distances of -1, which PHYLIP writes where it cannot compute one, are missing."
            warn_user(f"{where}: {np.count_nonzero(undefined)} {remark}", InputWarning)
            values[undefined] = np.nan
    if no_diagonal:  # fastANI and skani write a triangle of identities, absent ones as NA or 0
        known = values[np.tril_indices(len(values), -1)] if len(values) < 20_000 else values[-1, :-1]
        known = known[(known != 0) & ~np.isnan(known)]
        if len(known) > 1 and 50 <= known.min() and known.max() <= 100 and given != "dissimilarity":
            kind = "similarity"
            np.fill_diagonal(values, 100.0)
    elif len(values) > 1 and own.min() > 0 and (own >= np.nanmax(values, axis=1)).all():
        kind = "similarity"
    if kind == "similarity" and given is None:
        why = "because its values are those of identities. If that is wrong, set kind='dissimilarity'."
        warn_user(f"{where} is read as similarity, {why}", InputWarning)
    about = {"reason": "by its format"} if kind == "dissimilarity" else {}
    return proximity_in_file(where, values, names, given or kind, about=about)


_MEGA_NAME = re.compile(r"\s*(?:\[\s*\d+\s*\])?\s*#(?!mega)([^\s;]+)\s*", re.I)
_EMBOSS_ROW = re.compile(r"\t+(.*?)\t\t(\S.*?)\s+\d+")
_CLUSTAL_ROW = re.compile(r"\s*\d+:\s+(\S+)(.*)")


def is_named_triangle(lines: list[str]) -> bool:
    """Tell whether the first lines are those of EMBOSS distmat, a MEGA file of distances or identities of Clustal."""
    head = next((line.strip().lower() for line in lines if line.strip()), "")
    is_clustal = any("percent identity  matrix" in line.lower() for line in lines[:10] if line.startswith("#"))
    return head == "distance matrix" or head.startswith("#mega") or is_clustal


def read_named_triangle(path: Path, options: ReadOptions) -> Proximity:
    """Read EMBOSS distmat (an upper triangle, names at the end), a MEGA file of distances, or identities of Clustal."""
    where, names, rows = short_path(path), list[str](), list[tuple[int, list[str]]]()
    kind, is_mega = "dissimilarity", False
    with open_text(path, options.max_bytes) as text:
        for k, line in enumerate(map(str.rstrip, text), 1):
            is_mega = is_mega or line.lower().startswith("#mega")
            plain = re.sub(r"\[[^]]*\]", " ", line).split()  # without row numbers and standard errors of MEGA
            if taxon := _MEGA_NAME.fullmatch(line):
                names.append(taxon[1].replace("_", " ").strip())  # MEGA writes blanks so
            elif row := _EMBOSS_ROW.fullmatch(line):
                names.append(row[2])
                rows.append((k, row[1].split()))
            elif row := _CLUSTAL_ROW.fullmatch(line):
                names.append(row[1])
                rows.append((k, row[2].split()))
                kind = "similarity"
            elif is_mega and plain and (line.lstrip().startswith("[") or all(map(is_number, plain))):
                rows.append((k, plain))
    n, given = len(names), list(rows)
    if len(rows) == n - 1 and rows:  # no line for the object without distances in a triangle
        rows.insert(0 if len(rows[0][1]) == 1 else n, (0, []))
    if not n or len(rows) != n or row_spans([len(cells) for _, cells in rows]) is None:
        wrong = (line for i, (line, cells) in enumerate(given) if len(cells) not in (i + 1, n - i - 1, n - i))
        rule = f"the rows must form a triangle of the distances of {n} named objects. Got {len(given)} rows."
        raise ProximityError(f"{where}, line {next(wrong, given[-1][0] if given else 1)}: {rule}")
    # EMBOSS writes nan or inf where it cannot compute a distance.
    cells = ([(line, "nan" if cell == "inf" else cell) for cell in cells] for line, cells in rows)
    numbers = [np.array([parse_number(cell, f"{where}, line {line}") for line, cell in row]) for row in cells]
    return proximity_in_file(where, matrix_of_triangle(numbers), names, kind, about={"reason": "by its format"})


def _rows(body: list[tuple[int, str]], n: int, strict: bool) -> list[tuple[int, str, list[str]]]:
    """Line number, name and numbers of every row; a row may continue on further lines."""
    rows: list[tuple[int, str, list[str]]] = []
    lower = bool(body) and len(body[0][1].split()) == 1
    has_tabs = any("\t" in text for _, text in body)
    for line, text in body:
        if len(body) > n and rows and len(rows[-1][2]) < (len(rows) - 1 if lower else n):
            rows[-1][2].extend(text.split())
            continue
        if has_tabs:  # the first row of a triangle has none
            name, _, rest = text.partition("\t")
        elif strict:
            name, rest = text[:_STRICT], text[_STRICT:]
        else:
            name, _, rest = text.strip().partition(" ")
        rows.append((line, name.strip(), rest.split()))
    return rows


def write_phylip(file: IO[bytes], P: Proximity) -> None:
    if np.isnan(P.to_dense()).any():
        raise ProximityError("A PHYLIP file cannot hold missing entries; complete the matrix first.")
    _write_distances(file, P, "PHYLIP file", r"\s", "blanks", str(P.n))


def write_lsmat(file: IO[bytes], P: Proximity) -> None:
    head = "\t".join(["", *(P.ids or map(str, range(P.n)))])
    rule = "tabs, line breaks, quotation marks or blanks at its ends"
    _write_distances(file, P, "scikit-bio matrix", r'[\t\r\n"]|^\s|\s\Z', rule, head)


def _write_distances(file: IO[bytes], P: Proximity, what: str, forbidden: str, rule: str, head: str) -> None:
    """Write a line with `head`, and below it a line per row with its id, which must not match `forbidden`."""
    if P.kind == "similarity":
        raise ProximityError(f"A {what} holds dissimilarities. Got similarities; convert them first.")
    if not P.square or len(P.shape) != 2:
        raise ProximityError(f"A {what} holds one square matrix. Got shape {P.shape}.")
    ids = P.ids or tuple(map(str, range(P.n)))
    check_writable(ids, f"a {what}", forbidden, rule)
    file.write(f"{head}\n".encode())
    for name, row in zip(ids, P.to_dense()):
        file.write(("\t".join([name, *map(repr, row.tolist())]) + "\n").encode())
