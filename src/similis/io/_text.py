"""Matrices as text: csv, tsv, or numbers separated by blanks; the corner cell or a comment may name the kind."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from similis._utils.arrays import Floats
from similis._utils.environment import require_package
from similis._utils.files import is_float, short_path
from similis._utils.messages import warn_user
from similis.base import Kind
from similis.exceptions import InputWarning, ProximityError
from similis.io._checks import ANY_ID_HEADERS, LABEL_HEADERS, ReadOptions, decode_labels, kind_in_words, quote_short
from similis.io._proximity import Proximity, is_condensed, proximity_in_file, square_of_condensed, with_labels

MISSING = frozenset({"", "na", "nan", "n/a", "n.a.", "null", "none", "<na>", "#n/a", "-nan"})
_NO_VALUE = MISSING | {"-", "--", "?", "."}  # also of a cell that must hold a number
_UNKNOWN = dict.fromkeys(("", "NA", "NaN", "nan", "N/A", "null"), "nan")  # the usual spellings, in the fast loop
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*")
_IN_MEMORY = 2**30  # bytes of a matrix of text that stays in memory
_WRITTEN = 2**22  # bytes of rows that are written to a scratch file at once
_DIRECTIVE = "#q2:"  # types of the columns, in a metadata file of QIIME 2
_PLINK: dict[str, Kind] = dict.fromkeys((".mibs", ".rel", ".king", ".grm"), "similarity")
_PLINK |= dict.fromkeys((".dist", ".mdist"), "dissimilarity")
Rows = Iterator[tuple[int, list[str]]]  # numbers and cells of lines
TEXT_PACKERS = (".gz", ".bz2", ".xz", ".zst")


def read_csv(path: Path, options: ReadOptions) -> Proximity:
    comments: list[str] = []
    rows = read_rows(path, options.max_bytes, options.delimiter, comments, blanks=True)
    P = matrix_of_rows(short_path(path), rows, options, comments)
    beside = path.with_name(path.name + ".id")  # of PLINK: family and individual
    if P.ids is not None or not P.square or not beside.is_file():
        return P
    names = [cells[-1] for _, cells in read_rows(beside, options.max_bytes, comments=[], blanks=True)]
    names = names[len(names) == P.n + 1 :]  # without a header
    kind = _PLINK.get(path.suffix.lower())
    about = {"reason": "by the ending of its name"} if P.kind is None and kind else {}
    return proximity_in_file(short_path(beside), P.values, names, P.kind or kind, about=about)


def matrix_of_rows(where: str, rows: Rows, options: ReadOptions, comments: list[str]) -> Proximity:
    """Make the matrix of numbered lines of cells; `comments` is filled while the first line is read."""
    labels: list[str] = []
    rows = _without_labels(without_title(rows, comments), labels, options.label_column)
    P = _numbers_of_rows(where, rows, comments, options)
    if not P.square:
        return replace(P, labels=decode_labels(labels)) if labels else P
    return with_labels(P, [None if label.lower() in MISSING else label for label in labels], where, texts=True)


def without_title(rows: Rows, comments: list[str]) -> Rows:
    """Yield the lines below those of a spreadsheet that have a text in their first cell alone, or nothing."""
    above: list[tuple[int, list[str]]] = []
    for line, cells in islice(rows, 20):
        above.append((line, cells))
        filled = [cell for cell in cells if cell.strip()]
        if len(filled) > 1:
            titles = [first for _, (first, *_) in above[:-1]]
            is_header = not cells[0].strip() or not any(map(is_number, filled))
            if len(filled) > 2 and is_header and not all(map(is_number, titles)):
                comments += titles
                del above[:-1]
            break
    yield from chain(above, rows)


def _without_labels(rows: Rows, labels: list[str], column: str | None) -> Rows:
    """Yield the lines without a column of labels, which are added to `labels`, and without an empty last column."""
    head = list(islice(rows, 2))
    place, is_open = None, False  # column of the labels; empty last column
    if len(head) == 2:
        (line, header), (_, below) = head
        shift = len(below) - len(header)  # 1 if there is no corner cell
        filled = sum(cell.strip().lower() not in _NO_VALUE for cell in header)
        is_triangle = filled <= 1 + (not is_number(header[0]))  # the first line has the diagonal alone
        is_open = shift == 0 and not is_triangle and not header[-1].strip() and not below[-1].strip()
        header = header[:-1] if is_open else header[:]
        names = [name.strip() for name in header]
        given = [j for j, name in enumerate(names) if name == column]
        if not given and column is not None and column.isdecimal() and 0 < int(column) - shift <= len(names):
            given = [int(column) - 1 - shift]
        named = given or [j for j, name in enumerate(names) if name.lower() in LABEL_HEADERS]
        is_label = shift in (0, 1) and len(named) == 1 < len(header) and named[0] + shift > 0
        if is_label and (given or not is_number(below[named[0] + shift])):
            place = named[0] + shift
            del header[named[0]]
        head[0] = line, header
    yield from head[:1]
    for line, cells in chain(head[1:], rows):
        cells = cells[:-1] if is_open and not cells[-1].strip() else cells
        if place is not None and place < len(cells):
            labels.append(cells[place].strip())
            cells = cells[:place] + cells[place + 1 :]
        yield line, cells


def _numbers_of_rows(where: str, rows: Rows, comments: list[str], options: ReadOptions) -> Proximity:
    first, square = next(rows, None), options.square
    if first is None:
        raise ProximityError(f"{where} is empty; it must hold a matrix with one line per object.")
    kind = kind_in_words(" ".join(comments))
    header_line, header = first
    blank = not any(cell.strip() for cell in header)  # a lower triangle without diagonal
    bare = blank or (bool(header[0].strip()) and all(map(is_number, header)))  # numbers only, also in the corner
    ids_only = not bare and _is_row_with_id(header)  # no line of column ids
    skip = 0 if bare else 1  # the first cell of a row is its id
    ids, lines, numbers, width = list[str](), list[int](), RowBuffer(), 0
    triangle: list[Floats] = []
    for line, cells in chain([first], rows) if bare or ids_only else rows:
        width = width or len(cells)
        if bare and square and width == 1 and len(cells) == len(lines) + 1 and (len(cells) == 2 or triangle):
            triangle = triangle or [numbers.rows[0]]
            lines.append(line)
            triangle.append(_parse_numbers(cells, where, line, 0))
            continue
        if len(cells) != width:
            counts = f"Got {len(cells)}, while line {lines[0]} has {width}."
            raise ProximityError(f"{where}, line {line}: every line must have the same number of cells. {counts}")
        ids += cells[:skip]
        if not lines and not bare and not ids_only:
            _check_columns(header, cells, where, line)
        lines.append(line)
        numbers.append(_parse_numbers(cells[skip:], where, line, skip))
    if not lines:
        raise ProximityError(f"{where} has ids in line {header_line} but no rows of numbers below them.")
    if triangle:
        if len({row[-1] for row in triangle}) > 1:  # no diagonal, the numbers of which would be the same
            triangle.insert(0, np.empty(0))
        return proximity_in_file(where, matrix_of_triangle(triangle), kind=kind)
    values = numbers.to_matrix()
    if bare:
        return _bare_table(where, header, lines[0], values, kind, options)
    if len(header) == width and not any(cell.strip() for cell in (header[0], *ids)) and all(map(is_number, header)):
        # No line has an id: an upper triangle without diagonal, of which the first column is empty.
        rest = np.vstack([_parse_numbers(header[1:], where, header_line, 1), values])
        if len(rest) == width and np.isnan(rest[np.tril_indices(width, -1, width - 1)]).all():
            return proximity_in_file(where, np.hstack([np.full((width, 1), np.nan), rest]), kind=kind)
    if width == 1:
        rule = "A matrix needs one column of numbers per object. Begin the lines of a title with #."
        raise ProximityError(f"{where}, line {lines[0]}: there is one cell per line. {rule}")
    if ids_only or len(header) == width - 1:  # no corner cell
        return proximity_in_file(where, values, ids=ids, kind=kind, column_ids=None if ids_only else header)
    if len(header) != width:
        counts = f"Got {len(header)} cells, while line {lines[0]} has {width}."
        raise ProximityError(f"{where}, line {header_line}: it must name every column. {counts}")
    is_title = header[0].strip().lower() in ANY_ID_HEADERS or kind_in_words(header[0]) is not None
    is_whole = all(cell.strip().isdecimal() for cell in ids) and len(set(ids)) == len(ids)
    is_column = len(lines) == width if square else not is_title and not is_whole
    if is_column and all(map(is_number, ids)):  # only the columns have ids
        column = np.stack([_parse_numbers([cell], where, line, 0) for cell, line in zip(ids, lines)])
        if not square:
            read = "as proximities to that object; the rows have no ids. Call a column of ids 'id'"
            warn_user(f"{where}: the first column, {quote_short(header[0])}, is read {read}.", InputWarning)
        own, other = (header, None) if square else (None, header)
        return proximity_in_file(where, np.hstack([column, values]), own, kind, column_ids=other)
    is_table = square and abs(len(ids) - width + 1) > 1 and len(set(ids)) < len(ids)  # of objects without ids
    kind = kind_in_words(header[0]) or kind
    return proximity_in_file(where, values, None if is_table else ids, kind, column_ids=header[1:])


def _check_columns(header: list[str], cells: list[str], where: str, line: int) -> None:
    """Raise an error if one column of the first line is a text, which may be a label."""
    shift = len(cells) - len(header)
    texts = [j for j, cell in enumerate(cells) if j > 0 and not is_number(cell)]
    if len(texts) == 1 < len(cells) - 1 and shift in (0, 1):
        name = quote_short(header[(j := texts[0]) - shift].strip())
        parse_number(cells[j], _cell(where, line, j), f", or set label_column={name} if the column holds the labels")


def row_spans(counts: list[int]) -> list[slice] | None:
    """Columns of the rows of a square matrix or of a triangle, with or without diagonal, by the numbers of cells."""
    n = len(counts)
    lower, upper = [slice(0, i) for i in range(n + 1)], [slice(i, n) for i in range(n + 1)]
    layouts = ([slice(0, n)] * n, lower[1:], lower[:-1], upper[:-1], upper[1:])
    return next((spans for spans in layouts if counts == [span.stop - span.start for span in spans]), None)


def matrix_of_triangle(rows: list[Floats]) -> Floats:
    spans = row_spans(list(map(len, rows)))
    assert spans is not None
    values = np.zeros((len(rows), len(rows)))
    for i, (row, span) in enumerate(zip(rows, spans)):
        values[i, span] = row
        if spans[0] != spans[-1]:
            values[span, i] = row
    return values


class RowBuffer:
    """Rows of a matrix whose number is not known: in memory, or in a scratch file if there are many."""

    def __init__(self) -> None:
        self.rows: list[Floats] = []
        self.width = 0
        self.file: Any = None

    def append(self, row: Floats) -> None:
        self.rows.append(row)
        self.width = len(row)
        if (len(self.rows) + 1) * row.nbytes > (_IN_MEMORY if self.file is None else _WRITTEN):
            self.file = self.file or tempfile.TemporaryFile()
            self.file.writelines(self.rows)
            self.rows.clear()

    def to_matrix(self) -> Floats:
        """Return all rows, a memory map if they are in a scratch file, which is removed with it."""
        if self.file is None:
            return np.stack(self.rows)
        with self.file:
            self.file.writelines(self.rows)
            self.file.flush()
            return np.memmap(self.file, np.float64, "r+").reshape(-1, self.width)


def _bare_table(
    where: str, header: list[str], line: int, values: Floats, kind: Kind | None, options: ReadOptions
) -> Proximity:
    """Make the matrix of a table of numbers, the first line of which may hold the ids of the columns."""
    width, square, has_header = len(header), options.square, options.header
    if has_header is None:
        if square and is_condensed(values.shape):  # a header would be one number too many
            return proximity_in_file(where, square_of_condensed(values.ravel(), where), kind=kind or "dissimilarity")
        has_header = square and len(values) == width + 1 > 2 and len(set(header)) == width
        if has_header and header == list(map(str, range(width))):  # the columns of a frame without names
            return proximity_in_file(where, values[1:], kind=kind)
        if has_header:
            warn_user(f"{where}: line {line} holds the ids of the columns, {header[0]} to {header[-1]}.", InputWarning)
    names: dict[str, Any] = {"ids" if square else "column_ids": header if has_header else None}
    return proximity_in_file(where, values[int(has_header) :], kind=kind, **names)


def _is_row_with_id(cells: list[str]) -> bool:
    """Tell whether the first line is an id with its numbers, rather than the ids of the columns."""
    id_, *rest = (cell.strip() for cell in cells)
    if any(map(str.isspace, cells[1:])):  # an id: an empty cell would be missing
        return False
    if not id_ or is_number(id_) or kind_in_words(id_) or not rest or not all(map(is_number, rest)):
        return False
    return len(set(rest)) < len(rest) or not all(cell.isdecimal() for cell in rest)


def write_csv(file: IO[bytes], P: Proximity, *, delimiter: str) -> None:
    if P.values.ndim != 2:
        raise ProximityError(f"A text file holds one matrix. Got a stack of shape {P.shape}; write it as npz or npy.")
    spell = repr if P.values.dtype.itemsize > 4 else "{:.9g}".format  # as many digits as float32 needs
    if (P.ids is None) != (P.columns is None):
        raise ProximityError("A text file has ids for both its rows and its columns, or for neither. Got only one.")
    if P.columns is not None:
        file.write((delimiter.join([P.kind or "id", *map(quote, P.columns)]) + "\n").encode())
    elif P.kind is not None:
        file.write(f"# {P.kind}\n".encode())
    for i, row in enumerate(P.values):
        start = "" if P.ids is None else quote(P.ids[i]) + delimiter
        file.write((start + delimiter.join(map(spell, row.tolist())) + "\n").encode())


def quote(text: str) -> str:
    """Quote a cell so that every text reads back unchanged."""
    return '"' + text.replace('"', '""') + '"'


def read_rows(
    path: Path,
    max_bytes: int,
    delimiter: str | None = None,
    comments: list[str] | None = None,
    *,
    blanks: bool = False,
    keep_blank: bool = False,
) -> Rows:
    """Yield line number and cells of every line that is not blank, or, with `keep_blank`, of every line.

    Lines in front that start with # are added to `comments`, if given; cells may be separated by blanks if `blanks`.
    """
    where = short_path(path)
    if delimiter is None and ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:]):
        delimiter = "\t"
    reader, skipped = None, 0
    with open_text(path, max_bytes, lambda: 1 if reader is None else reader.line_num + skipped + 1) as text:
        try:
            head = text.readline()
            if found := re.match(r"sep=(.)\r?\n", head):  # a line by which Excel states the delimiter
                delimiter, head, skipped = delimiter or found[1], text.readline(), 1
            while comments is not None and (head.startswith("#") or (blanks and head in ("\n", "\r\n"))):
                below, skipped = text.readline(), skipped + 1
                if below.startswith(_DIRECTIVE):
                    below, skipped = text.readline(), skipped + 1
                if not below.startswith("#") and _names_columns(head, below, delimiter):
                    lines: Iterator[str] = chain([head.lstrip("# ")], [below], text)
                    head, skipped = below, skipped - 1
                    break
                comments.append(head.strip("# \t\r\n"))
                head = below
            else:
                lines = chain([head], text) if head else iter(())
            if "\0" in head:
                raise ProximityError(f"{where} is not a text file: it has NUL characters in line 1.")
            if blanks and head.strip() and is_number(head):  # the first row of a triangle shows no delimiter
                first_two = list(islice(lines, 2))
                head, lines = first_two[-1], chain(first_two, lines)
            mark = delimiter or sniff_delimiter(head, blanks)
            lines = map(str.strip, lines) if mark == " " else lines
            reader = csv.reader(lines, delimiter=mark, skipinitialspace=True, strict=True)
            for cells in reader:
                if cells and cells[0].startswith(_DIRECTIVE):
                    continue
                if cells and (len(cells) > 1 or cells[0].strip()):
                    if blanks and mark != "," and any("," in cell for cell in cells):
                        cells = list(map(decimal_point, cells))
                    yield reader.line_num + skipped, cells
                elif keep_blank:
                    yield reader.line_num + skipped, []
        except csv.Error as error:
            raise ProximityError(f"{where}, line {(reader.line_num if reader else 1) + skipped}: {error}.") from None


@contextmanager
def open_text(path: Path, max_bytes: int, line: Callable[[], int] = lambda: 1) -> Iterator[IO[str]]:
    """Open a text file, unpacked if it is compressed; `line` gives the line at which decoding stopped."""
    with open_unpacked(path, max_bytes) as file:
        encoding = "utf-16" if file.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        try:
            yield io.TextIOWrapper(file, encoding=encoding, newline="")
        except UnicodeError:
            wrong = f"is not UTF-8 text from about line {line()} on; save it again with the encoding UTF-8."
            raise ProximityError(f"{short_path(path)} {wrong}") from None


@contextmanager
def open_utf8(path: Path, max_bytes: int) -> Iterator[Any]:
    """Open a text file, unpacked if it is compressed, as bytes of UTF-8 without a byte order mark."""
    with open_unpacked(path, max_bytes) as file:
        start = file.peek(3)[:3]
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            file = codecs.EncodedFile(file, "utf-8", "utf-16")
        elif start == codecs.BOM_UTF8:
            file.read(3)
        yield file


@contextmanager
def open_unpacked(path: Path, max_bytes: int) -> Iterator[Any]:
    """Open a file, unpacked if its contents are compressed (gzip, bzip2, xz, zstandard, QIIME 2 artifact)."""
    where = short_path(path)
    with open(path, "rb") as raw:
        start = raw.read(6)
        raw.seek(0)
        try:
            unpack = next((unpack for magic, unpack in _UNPACKERS.items() if start.startswith(magic)), None)
            yield raw if unpack is None else io.BufferedReader(_Limited(unpack(raw, where), max_bytes, where))
        except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, OSError):
            if not start.startswith(PACKED):
                raise
            raise ProximityError(f"{where} is damaged: its compressed data end early or are corrupt.") from None


def _open_member(raw: IO[bytes], where: str) -> IO[bytes]:
    archive = zipfile.ZipFile(raw)
    names = [info.filename for info in archive.infolist() if not info.is_dir()]
    # <uuid>/data/distance-matrix.tsv; the provenance below <uuid>/provenance may hold others
    found = [name for name in names if name.partition("/")[2] == "data/distance-matrix.tsv"] or names
    if "xl/workbook.xml" in names:
        remedy = "save this table as csv" if where.lower().endswith(".xlsx") else "let its name end in .xlsx"
        raise ProximityError(f"{where} is an Excel workbook; {remedy}.")
    if len(found) != 1:
        raise ProximityError(
            f"{where} must hold data/distance-matrix.tsv, as a QIIME 2 artifact of the type DistanceMatrix does, or "
            f"one file. Got {len(names)} files, such as {quote_short(names[0] if names else '')}."
        )
    return archive.open(found[0])


def _names_columns(comment: str, below: str, delimiter: str | None) -> bool:
    """Tell whether a line that starts with # names the columns of the table below it."""
    mark = delimiter or sniff_delimiter(below, blanks=True)
    if not below.strip() or (mark == " " and kind_in_words(comment)):
        return False
    lines = [comment.strip("# \r\n"), below.strip(" \r\n")]
    try:
        names, cells = csv.reader(lines, delimiter=mark, skipinitialspace=True)
    except (csv.Error, ValueError):
        return False
    return len(names) > 1 and len(names) in (len(cells), len(cells) - 1)


def _parse_numbers(cells: list[str], where: str, line: int, skip: int) -> Floats:
    """Parse one line of numbers; slow only for a line with a bad cell."""
    try:
        row = np.array(list(map(float, cells)))
    except ValueError:
        try:
            row = np.array([float(_UNKNOWN.get(cell, cell)) for cell in cells])
        except ValueError:
            row = np.array([parse_number(cell, _cell(where, line, skip + j)) for j, cell in enumerate(cells)])
    # float() also accepts 1_000, digits of other scripts, and infinity, which csv readers do not
    text = " ".join(cells)
    if "_" in text or not text.isascii() or "i" in text or "I" in text or np.isinf(row).any():
        for j, cell in enumerate(cells):
            parse_number(cell, _cell(where, line, skip + j))
    return row


def parse_number(cell: str, place: str, remedy: str = "") -> float:
    """Parse one cell, NaN if it is missing, or raise an error that names its place."""
    text = cell.strip()
    if text.lower() in _NO_VALUE:
        return np.nan
    if text.lower().lstrip("+-") in ("inf", "infinity"):
        raise ProximityError(f"{place}: infinity is not a proximity; leave the cell empty if it is missing.")
    if not is_number(text):
        comma = " Decimal commas are read in files with semicolons or tabs." if "," in text else ""
        remedy = f"Leave the cell empty if it is missing{remedy}."
        raise ProximityError(f"{place}: {quote_short(cell)} is not a number.{comma} {remedy}")
    if np.isinf(value := float(text)):
        raise ProximityError(f"{place}: {quote_short(cell)} is too large for a number.")
    return value


def _cell(where: str, line: int, j: int) -> str:
    return f"{where}, line {line}, column {j + 1}"


def decimal_point(cell: str) -> str:
    return cell.replace(",", ".") if "," in cell and _DECIMAL_COMMA.fullmatch(cell) else cell


def split_numbers(line: str) -> list[str]:
    """Cells of a line of numbers, with decimal points."""
    mark = sniff_delimiter(line, blanks=True)
    return list(map(decimal_point, line.split(mark.strip(" ") or None)))


def may_hold_decimal_commas(path: Path, max_bytes: int, delimiter: str | None = None) -> bool:
    """Tell whether the first line shows cells that are separated by something else than commas."""
    with open_text(path, max_bytes) as text:
        return (delimiter or sniff_delimiter(text.readline())) != ","


def is_number(cell: str) -> bool:
    """Tell whether a cell holds a number, or is missing."""
    text = cell.strip()
    return "_" not in text and text.isascii() if is_float(text) else text.lower() in _NO_VALUE


def sniff_delimiter(head: str, blanks: bool = False) -> str:
    """Delimiter of a line: commas beside two or more tabs belong to titles, those inside numbers are decimal commas."""
    bare = re.sub(r'"[^"]*"?', "x", head).strip(" \r\n")
    if bare.count("\t") > 1:
        return "\t"
    for mark in "\t;":
        cells = bare.split(mark)
        if len(cells) > 1 and "," in bare and all("," not in c or _DECIMAL_COMMA.fullmatch(c) for c in cells):
            return mark
    return next((mark for mark in (",\t; |" if blanks else ",\t;") if mark in bare), ",")


class _Zstandard:
    """Reader of zstandard data that raises at a truncated end, which the library's own stream reader does not."""

    def __init__(self, raw: IO[bytes], where: str) -> None:
        zstandard = require_package("zstandard", extra="zst", who="A file compressed with zstandard")
        self.error, self.make = zstandard.ZstdError, zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj
        self.raw, self.frame, self.ready = raw, self.make(), b""

    def read(self, size: int) -> bytes:
        while not self.ready:
            packed = self.frame.unused_data if self.frame.eof else b""
            packed = packed or self.raw.read(1024)  # few, because they may unpack to many
            if not packed and self.frame.eof:
                return b""
            if not packed:
                raise EOFError
            self.frame = self.make() if self.frame.eof else self.frame
            try:
                self.ready = self.frame.decompress(packed)
            except self.error as error:
                raise EOFError from error
        data, self.ready = self.ready[:size], self.ready[size:]
        return data


class _Limited(io.RawIOBase):
    """Decompressed stream that raises after `limit` bytes."""

    def __init__(self, source: Any, limit: int, where: str) -> None:
        self.source, self.left, self.limit, self.where = source, limit, limit, where

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.source.read(min(len(buffer), 1 << 20))
        self.left -= len(data)
        if self.left < 0:
            remedy = "if you trust it, raise max_bytes."
            raise ProximityError(f"{self.where} unpacks to more than {self.limit} bytes; {remedy}")
        buffer[: len(data)] = data
        return len(data)


_UNPACKERS: dict[bytes, Callable[[Any, str], Any]] = {  # by the first bytes of a file
    b"\x1f\x8b": lambda raw, where: gzip.GzipFile(fileobj=raw),
    b"BZh": lambda raw, where: bz2.BZ2File(raw),
    b"\xfd7zXZ\0": lambda raw, where: lzma.LZMAFile(raw),
    b"\x28\xb5\x2f\xfd": _Zstandard,
    b"PK\x03\x04": _open_member,
}
PACKED = tuple(_UNPACKERS)
