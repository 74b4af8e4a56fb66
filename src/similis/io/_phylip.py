"""PHYLIP distance matrices: square, or one triangle; names of ten characters or up to the first blank."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from similis._utils.files import short_path
from similis.exceptions import ProximityError
from similis.io._options import ReadOptions
from similis.io._proximity import Proximity, proximity_in_file, quote_short
from similis.io._text import is_number, open_text, parse_number

__all__ = ["is_phylip", "read_phylip", "write_phylip"]

_STRICT = 10  # characters of a name in the original format


def is_phylip(lines: list[str]) -> bool:
    """Tell whether the first lines of a text file are the number of objects, and an object with its numbers."""
    rows = [line.split() for line in lines if line.strip()]
    if len(rows) < 2 or len(rows[0]) != 1 or not rows[0][0].isdecimal():
        return False
    if len(rows) > 2 and all(len(row) == 1 and is_number(row[0]) for row in rows):  # a vector, one number per line
        return False
    n = int(rows[0][0])
    return not is_number(rows[1][0]) or len(rows[1]) in (1, 2, n, n + 1)


def read_phylip(path: Path, options: ReadOptions) -> Proximity:
    """Read a square matrix or a triangle; a name ends at a tab, a blank or after ten characters."""
    where = short_path(path)
    counter = 0
    lines: list[tuple[int, str]] = []
    with open_text(path, options.max_bytes, lambda: counter + 1) as text:
        for line in text:
            counter += 1
            if line.strip():
                lines.append((counter, line.rstrip("\r\n")))
    first = lines[0][1].split() if lines else []
    if len(first) != 1 or not first[0].isdecimal() or not 0 < int(first[0]) < 10**6:
        raise ProximityError(f"{where}: the first line of a PHYLIP matrix is the number of objects. Got {first[:3]}.")
    n, body = int(first[0]), lines[1:]
    layouts = {"square": [n] * n, "lower": list(range(n)), "lower with diagonal": list(range(1, n + 1))}
    layouts |= {"upper": list(range(n - 1, -1, -1)), "upper with diagonal": list(range(n, 0, -1))}
    for strict in (False, True):
        rows = _rows(body, n, strict)
        counts = [len(numbers) for _, _, numbers in rows]
        layout = next((name for name, expected in layouts.items() if counts == expected), None)
        if layout is not None and all(is_number(cell) for _, _, numbers in rows for cell in numbers[:1]):
            break
    else:
        rows = _rows(body, n, strict=False)
        counts = [len(numbers) for _, _, numbers in rows]
        if len(rows) != n:
            raise ProximityError(f"{where}: line {lines[0][0]} announces {n} objects. Got {len(rows)} rows below it.")
        start = counts[0] if counts[0] < 2 < n else None  # of a triangle
        k = next((i for i, have in enumerate(counts) if have != (n if start is None else i + start)), 0)
        raise ProximityError(
            f"{where}, line {rows[k][0]}: the rows must form a square matrix of {n} objects or one triangle of it. Row "
            f"{k + 1}, {quote_short(rows[k][1])}, has {counts[k]} numbers."
        )
    values = np.zeros((n, n))
    for i, (place, _, numbers) in enumerate(rows):
        row = np.array([parse_number(cell, f"{where}, line {place}") for cell in numbers])
        start = {"upper": i + 1, "upper with diagonal": i}.get(layout, 0)
        values[i, start : start + len(row)] = row
        if layout != "square":
            values[start : start + len(row), i] = row
    return proximity_in_file(where, values, [name for _, name, _ in rows], "dissimilarity")


def _rows(body: list[tuple[int, str]], n: int, strict: bool) -> list[tuple[int, str, list[str]]]:
    """Line number, name and numbers of every row; a row may continue on further lines."""
    rows: list[tuple[int, str, list[str]]] = []
    lower = bool(body) and len(body[0][1].split()) == 1
    for line, text in body:
        if len(body) > n and rows and len(rows[-1][2]) < (len(rows) - 1 if lower else n):
            rows[-1][2].extend(text.split())
            continue
        if "\t" in text:
            name, _, rest = text.partition("\t")
        elif strict:
            name, rest = text[:_STRICT], text[_STRICT:]
        else:
            name, _, rest = text.strip().partition(" ")
        rows.append((line, name.strip(), rest.split()))
    return rows


def write_phylip(file: IO[bytes], P: Proximity) -> None:
    """Write a square matrix with relaxed names; names must not hold blanks, and no entry may be missing."""
    if not P.square or len(P.shape) != 2:
        raise ProximityError(f"A PHYLIP file holds one square matrix. Got shape {P.shape}.")
    values: NDArray[np.float64] = P.to_dense()
    if P.kind == "similarity":
        raise ProximityError("A PHYLIP file holds dissimilarities. Got similarities; convert them first.")
    if np.isnan(values).any():
        raise ProximityError("A PHYLIP file cannot hold missing entries; complete the matrix first.")
    ids = P.ids or tuple(map(str, range(P.n)))
    bad = next((name for name in ids if name.split() != [name]), None)
    if bad is not None:
        raise ProximityError(f"A name in a PHYLIP file must not hold blanks. Got {quote_short(bad)}.")
    file.write(f"{P.n}\n".encode())
    for name, row in zip(ids, values):
        file.write(("\t".join([name, *map(repr, row.tolist())]) + "\n").encode())
