"""Lines of pair lists: their columns, and parsers of blocks of plain lines (compiled) and of all other lines."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from similis import _kernels
from similis._utils.arrays import Floats
from similis.exceptions import ProximityError
from similis.io._checks import PairOptions, as_column, quote_short
from similis.io._text import decimal_point, is_number, open_utf8, parse_number, sniff_delimiter

_CHUNK = 1 << 13  # lines that are parsed at once by the careful parser
_BLOCK = 1 << 20  # bytes that are parsed at once by compiled code
_POWERS = 10.0 ** np.arange(23)  # exact
HITS = "alignment hits"
_HITS = "query subject pident length mismatch gapopen qstart qend sstart send evalue bitscore".split()
_PAF = "query qlen qstart qend strand target tlen sstart send matches length mapq".split()
_ANI = "query reference ani fragments total".split()
_MASH = "reference query distance p-value shared-hashes".split()
_LEFT = """query qseqid qacc qaccver source from left row query_file query_name query_id seq1 id1 name1 node1 object1
    sample1 item1 source_id genome1 protein1 gene1 iid1 pdbchain1 level_0""".split()
_RIGHT = """subject target sseqid sacc saccver to right column match_name match_id target_name seq2 id2 name2 node2
    object2 sample2 item2 target_id ref_file reference genome2 protein2 gene2 iid2 pdbchain2 level_1""".split()
_SCORES = """bitscore similarity distance jaccard ani weight score value matches kinship pi_hat pident alntmscore lddt
    evalue""".split()  # default: first of these
_ALIASES = {  # names in `# Fields` of BLAST, and those of MMseqs2 and Foldseek
    alias: name
    for name, aliases in {
        "query": ("query id", "query acc.", "query acc.ver", "query name"),
        "subject": ("subject id", "subject acc.", "subject acc.ver"),
        "target": ("target name",),
        "pident": ("% identity", "percentage of identical matches"),
        "ppos": ("% positives", "percentage of positive-scoring matches"),
        "length": ("alignment length", "alnlen"),
        "mismatch": ("mismatches",),
        "gapopen": ("gap opens",),
        "qstart": ("q. start",),
        "qend": ("q. end",),
        "sstart": ("s. start", "tstart"),
        "send": ("s. end", "tend"),
        "bitscore": ("bit score", "bits"),
        "evalue": ("e-value", "expected value"),
        "distance": ("dist",),
    }.items()
    for alias in aliases
}
_KNOWN_HITS = {"bitscore", "evalue", "pident", "fident", "alnsize1"}
_HMMER = re.compile(r"#\s*target name\s.*\squery name\s")  # of HMMER and Infernal
_QUERY = re.compile(rb"^# Query:[ \t]*(\S+)", re.M)
_WORD = re.compile(r"\S+")
_FRACTION = re.compile(r"\d+/\d+")
_EDGE_DATA = re.compile(r"(.+?)\s*\{(.*)\}\s*")  # of NetworkX: a b {'weight': 0.5}
_EMBOSS_SCORE = re.compile(r"(\S+\s+\S+\s+\d+\s+)\((-?[\d.]+)\)\s*")
_ATTRIBUTE = re.compile(r"'([^']*)': ([^,]+)")


class Layout(NamedTuple):
    places: tuple[int, int, int]  # of both ids and of the score
    n_header: int  # lines of the header
    score: str  # canonical name
    form: str | None  # format that the columns show
    n_unnamed: int = 0  # columns of numbers without names of which the first was taken


def is_pair_list(lines: list[str], *, square: bool) -> bool:
    """Tell whether the first lines of a text file are pairs of ids with numbers, rather than rows of a matrix."""
    if any(line.startswith("# Fields:") or _HMMER.match(line) for line in lines):
        return True
    body = [line for line in lines if line.strip() and not line.startswith("#")]
    if not body:
        return False
    if _EDGE_DATA.fullmatch(body[0]) or _EMBOSS_SCORE.fullmatch(body[0]):
        return True
    try:
        rows = _split(body, sniff_delimiter(body[0], blanks=True))
    except csv.Error:
        return False
    if all(map(_is_paf, rows)):  # its lines may have different numbers of tags
        return True
    return all(len(row) == len(rows[0]) for row in rows[: len(rows) - 1 or 1]) and are_pairs(rows, square=square)


def are_pairs(rows: list[list[str]], *, square: bool) -> bool:
    """Tell whether lines of cells are pairs of ids with numbers, rather than rows of a matrix."""
    width = len(rows[0])
    columns = list(zip(*(row for row in rows[1:] or rows if len(row) == width)))
    if width == 2 and len(rows) > 2:  # reported as a list without numbers
        return not any(map(is_number, chain(*columns)))
    if width < 3 or not columns:
        return False
    if _names_pairs(rows[0]) and len(rows) > 1:
        names = [_canonical(cell) for cell in rows[0]]
        ids = [next((j for j, name in enumerate(names) if name in known), k) for k, known in enumerate((_LEFT, _RIGHT))]
        return all(cell.isdecimal() or not is_number(cell) for j in ids for cell in columns[j])
    titles = {cell.strip().lower() for cell in rows[0]}
    if titles & {"id", "name"} and titles & {"class", "label"}:  # a table of objects, or a matrix with labels
        return False
    texts = [column for column in columns if not any(map(is_number, column))]
    if len(texts) > 1:  # unless the first are ids of the columns, beside labels
        is_matrix = _is_header(rows[0]) and any(set(column) <= set(rows[0]) for column in texts)
        return not is_matrix and any(all(map(is_number, column)) for column in columns)
    # A square matrix has fewer lines: two columns of whole numbers are ids.
    whole = sum(all(cell.strip().isdecimal() for cell in column) for column in columns)
    return square and whole > 1 and len(rows) > width + 1 and width < 6


def _is_paf(cells: list[str]) -> bool:
    """Tell whether a line is one of PAF, which minimap2 writes."""
    numbers = (*cells[1:4], *cells[6:12])
    return len(numbers) == 9 and cells[4] in ("+", "-") and all(map(str.isdecimal, numbers))


def _is_ani(cells: list[str]) -> bool:
    """Tell whether a line is one of fastANI: two files, identity in percent, matched and all fragments."""
    _, _, identity, matched, total = cells
    is_count = matched.isdecimal() and total.isdecimal() and int(matched) <= int(total)
    return is_count and re.fullmatch(r"\d+(\.\d+)?", identity) is not None and 50 <= float(identity) <= 100


def _names_pairs(cells: Sequence[str]) -> bool:
    """Tell whether a line is a header that names both columns of ids, or leaves both empty."""
    names = {_canonical(cell) for cell in cells}
    if len(cells) > 2 and not any(cell.strip() for cell in cells[:2]):  # of a stacked frame of pandas
        return cells[2] == "0" or not any(map(is_number, cells[2:]))
    return bool(names & set(_LEFT)) and bool(names & set(_RIGHT)) and _is_header([c for c in cells if c != "0"])


def _is_header(cells: Sequence[str]) -> bool:
    """Tell whether no cell is a number; the name of a column of row numbers may be empty."""
    return not any(is_number(cell) for cell in cells[not cells[0].strip() :])


def _canonical(name: str) -> str:
    word = " ".join(name.strip().strip('"').lower().split())
    return _ALIASES.get(word, word)


def _split(lines: Iterable[str], mark: str) -> list[list[str]]:
    rows = list(_reader(lines, mark))
    if len(rows) > 1 and len(rows[0]) == len(rows[1]) - 1 and _is_header(rows[0]):
        rows[0].insert(0, "")  # R writes no name above the names of the rows
    return rows if mark == "," else [list(map(decimal_point, row)) for row in rows]


def _reader(lines: Iterable[str], mark: str) -> Iterator[list[str]]:
    if mark == "\t":  # descriptions in hits may hold quotation marks
        return csv.reader(lines, delimiter=mark, quoting=csv.QUOTE_NONE)
    if mark != " ":
        return csv.reader(lines, delimiter=mark, skipinitialspace=True, strict=True)
    # Ids in quotation marks may hold blanks.
    split = partial(csv.reader, delimiter=" ", skipinitialspace=True)
    return (next(split([line.strip()])) if '"' in line else line.split() for line in lines)


def find_layout(where: str, rows: list[list[str]], fields: list[str] | None, options: PairOptions) -> Layout:
    """Find the columns of both ids and of the score by the first lines and the names of the columns."""
    if (width := len(rows[0])) < 3:
        rule = "a line of a pair list must hold two ids and a number"
        raise ProximityError(f"{where}: {rule}. Got {width} cells in the first line.")
    body = rows[1:] or rows
    columns = [[row[j] for row in body if j < len(row)] for j in range(width)]
    numeric = [2 * sum(map(is_number, column)) > len(body) for column in columns]
    is_header = _names_pairs(rows[0]) or (len(rows) > 1 and any(numeric[2:]) and _is_header(rows[0]))
    names = [_canonical(cell) for cell in rows[0]] if is_header else fields
    names, chosen = _given_columns(where, options.columns, names, width)
    form = None
    if names is None:
        last = [row[4] if len(row) > 4 else "" for row in rows]
        if width == 5 and all(map(_FRACTION.fullmatch, last)):
            names = _MASH
        elif all(map(_is_paf, rows)):
            names, form = _PAF + [str(j + 1) for j in range(len(_PAF), width)], HITS
        elif {len(row) for row in rows} == {len(_ANI)} and all(map(_is_ani, rows)):
            names = _ANI
        elif width >= len(_HITS) and all(numeric[2:12]):
            names = _HITS + [str(j + 1) for j in range(len(_HITS), width)]
    known: list[str] = names or []
    if names is not None and len(names) != width:
        title = "; if a title holds the delimiter, write the list with tabs" if len(names) < width else ""
        raise ProximityError(f"{where}: {len(names)} columns are named, but the first line has {width} cells{title}.")
    if _KNOWN_HITS & set(known):
        form = HITS
    if {"distance", "shared-hashes"} <= set(known):
        form = "Mash distances"

    def place(name: str) -> int:
        if _canonical(name) in known:
            return known.index(_canonical(name))
        if name.isdecimal() and 1 <= int(name) <= width:
            return int(name) - 1
        has = f"It has {', '.join(known)[:200]}" if names else f"It has {width} columns without names"
        raise ProximityError(f"{where} has no column {quote_short(name)}. {has}; name them with columns=...")

    first = int(is_header and not rows[0][0].strip() and bool(rows[0][1].strip()))  # after a column of row numbers
    if chosen:
        a, b = place(chosen[0]), place(chosen[1])
    else:
        texts = [j for j in range(first, width) if not numeric[j]]
        a, b = texts[:2] if len(texts) > 1 else (first, first + 1)
        # Sequence identities are called ID1 and ID2 too: fractions are not ids.
        can_be_ids = [all(cell.isdecimal() or not is_number(cell) for cell in column) for column in columns]
        a = next((known.index(name) for name in _LEFT if name in known and can_be_ids[known.index(name)]), a)
        b = next((known.index(name) for name in _RIGHT if name in known and can_be_ids[known.index(name)]), b)
    if a == b:
        b = next(j for j in range(width) if j != a)
    score = as_column(options.score, "score") or (chosen[2] if len(chosen) == 3 else None)
    free = [j for j in range(first, width) if j not in (a, b) and numeric[j]]
    named = [known.index(name) for name in _SCORES if name in known and known.index(name) in free]
    if score is None and not free:
        raise ProximityError(f"{where} has no column of numbers beside the ids; name one with score=...")
    s = place(score) if score is not None else (named or free)[0]
    if score is None and named and known[s] == "bitscore" and "pident" in known and set(columns[s]) == {"0"}:
        s = known.index("pident")  # vsearch computes no bit score
    if s in (a, b):
        raise ProximityError(f"{where}: column {s + 1} holds ids and cannot be the score.")
    name = known[s] if names is not None and known[s] not in ("", "0") else f"column {s + 1}"
    n_unnamed = len(free) if names is None and score is None and len(free) > 1 else 0
    return Layout((a, b, s), int(is_header), name, form, n_unnamed)


def _given_columns(where: str, given: Any, names: list[str] | None, width: int) -> tuple[list[str] | None, list[str]]:
    """Names of all columns, and the columns of both ids and perhaps of the score that the user chose."""
    if given is None:
        return names, []
    given = re.split(r"[,\s]+", given.strip()) if isinstance(given, str) else given
    given = [as_column(name, "columns") or "" for name in (given if isinstance(given, Iterable) else [given])]
    known = [_canonical(name) for word in given for name in (_HITS if word == "std" else [word])]
    if len(known) in (2, 3) and all(n in (names or ()) or (n.isdecimal() and 0 < int(n) <= width) for n in known):
        return names, known
    if len(known) == width:
        return known, []
    rule = f"name all {width} columns, or those of both ids and of the score, by names of the header or numbers"
    raise ProximityError(f"{where}: columns must {rule}. Got {quote_short(', '.join(given), 80)}.")


class _Lines:
    """Lines of a text file without comments and empty lines; comments may name the columns and the queries."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.counter = 0  # lines read
        self.numbers: list[int] = []  # of the lines that are not parsed yet
        self.fields: list[str] | None = None  # names of the columns
        self.form: str | None = None
        self.caption: list[str] = []  # cells of the last comment with names of columns
        self.above = ""  # comment in front of this one
        self.mark: str | None = None  # delimiter that the comments show
        self.queries: list[str] = []
        self.is_rewritten = False  # lines of NetworkX or EMBOSS

    def decode(self, blocks: Iterable[bytes]) -> Iterator[str]:
        for block in blocks:
            try:
                yield from io.StringIO(block.decode(), newline="")
            except UnicodeDecodeError as error:
                line = self.counter + 1 + block.count(b"\n", 0, error.start)
                wrong = f"is not UTF-8 text from line {line} on; save it again with the encoding UTF-8."
                raise ProximityError(f"{self.where} {wrong}") from None

    def body(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines that hold pairs; note the others."""
        for line in lines:
            self.counter += 1
            if line.startswith("#"):
                self._note(line)
            elif line.strip():
                self.numbers.append(self.counter)
                if line.rstrip().endswith("}") and (edge := _EDGE_DATA.fullmatch(line)):
                    data = dict(_ATTRIBUTE.findall(edge[2]))
                    self.is_rewritten, self.fields = True, self.fields or ["source", "target", *data]
                    line = " ".join([edge[1], *(data.get(name, "nan") for name in self.fields[2:])])
                elif line.rstrip().endswith(")") and (edge := _EMBOSS_SCORE.fullmatch(line)):
                    self.is_rewritten, self.fields, self.form = True, "query subject length score".split(), HITS
                    line = edge[1] + edge[2]
                yield line.rstrip("\r\n")

    def _note(self, comment: str) -> None:
        if comment.startswith("# Fields:"):
            self.fields = [_canonical(cell) for cell in comment[9:].split(",")]
            self.form = HITS
        elif comment.startswith("# Query:"):
            self.queries += comment[8:].split()[:1]
        elif _HMMER.match(self.above) and not comment.strip("#- \r\n"):  # dashes underline the names
            self.caption = [self.above[word.start() : word.end()].strip("# \r\n") for word in _WORD.finditer(comment)]
            self.mark = " "
        elif _names_pairs(cells := comment.strip("# \r\n").split("\t")):
            self.caption = cells
        self.above = comment


class _Index:
    """Ids in the order of their first occurrence, in the arrays that ``_kernels._pair_lists`` describes."""

    def __init__(self) -> None:
        self.table = np.empty(0, np.int32)
        self.arena = np.empty(0, np.uint8)
        self.ends = np.empty(0, np.int64)
        self.hashes = np.empty(0, np.uint64)
        self.sizes = np.zeros(2, np.int64)

    def number(self, text: NDArray[np.uint8], lows: NDArray[np.int32], highs: NDArray[np.int32]) -> NDArray[np.int32]:
        self.reserve(len(lows), len(text))
        codes = np.empty(len(lows), np.int32)
        _kernels.number_ids(text, lows, highs, self.table, self.arena, self.ends, self.hashes, self.sizes, codes)
        return codes

    def reserve(self, n_ids: int, n_bytes: int) -> None:
        n, used = self.sizes.tolist()
        for name, size in {"arena": used + n_bytes, "ends": n + n_ids, "hashes": n + n_ids}.items():
            old = getattr(self, name)
            if len(old) < size:
                setattr(self, name, np.resize(old, 2 * size) if len(old) else np.zeros(2 * size, old.dtype))
        if len(self.table) < 2 * (n + n_ids):
            self.table = np.empty(1 << int(4 * (n + n_ids)).bit_length(), np.int32)
            self.table.fill(-1)
            _kernels.insert_hashes(self.hashes, n, self.table)

    def names(self) -> list[str]:
        ends, text = self.ends[: self.sizes[0]].tolist(), self.arena.tobytes()
        return [text[start:end].decode() for start, end in zip([0, *ends], ends)]


class _PlainParser:
    """Compiled parser of blocks of plain lines, which numbers the ids itself."""

    def __init__(self, places: tuple[int, int, int], mark: str, square: bool) -> None:
        self.places, self.mark = np.array(places), ord(mark)
        self.left = _Index()
        self.right = self.left if square else _Index()
        self.parts: list[tuple[NDArray[np.int32], NDArray[np.int32], Floats]] = []

    def parse(self, block: bytes) -> int:
        """Parse whole lines and return their number; 0 if one of them is not plain."""
        if not block.isascii():
            return 0
        block = block if block.endswith(b"\n") else block + b"\n"
        text, counts = np.frombuffer(block, np.uint8), np.zeros(3, np.int64)
        n = int(np.count_nonzero(text == ord("\n")))
        spans, powers, inexact = np.empty((4, n), np.int32), np.empty(n, np.int32), np.empty((n, 3), np.int32)
        digits = np.empty(n, np.int64)
        if not _kernels.parse_pairs(text, self.mark, self.places, spans, digits, powers, inexact, counts):
            return 0
        n_pairs, n_lines, n_inexact = counts.tolist()
        values, powers = digits[:n_pairs].astype(np.float64), powers[:n_pairs]
        # The digits and the powers of ten are exact, so that their product or ratio is rounded once, as by float().
        values = np.where(powers < 0, values / _POWERS[np.maximum(-powers, 0)], values * _POWERS[np.maximum(powers, 0)])
        for row, low, high in inexact[:n_inexact].tolist():
            values[row] = float(block[low:high])
        if not np.isfinite(values).all():
            return 0
        left = self.left.number(text, *spans[:2, :n_pairs])
        right = self.right.number(text, *spans[2:, :n_pairs])
        self.parts.append((left, right, values))
        return int(n_lines)

    def add_to(self, pairs: Any) -> None:
        rows = pairs.number(self.left.names(), 0)
        columns = rows if self.left is self.right else pairs.number(self.right.names(), 1)
        while self.parts:
            left, right, values = self.parts.pop(0)
            pairs.append(rows[left], columns[right], values)


def read_lines(path: Path, pairs: Any, delimiter: str | None, max_bytes: int) -> None:
    where, lines = pairs.where, _Lines(pairs.where)
    with open_utf8(path, max_bytes) as file:
        plain: _PlainParser | None = None

        def blocks() -> Iterator[bytes]:  # those that are not plain
            nonlocal plain
            while block := file.read(_BLOCK) + file.readline():
                if plain is not None and (n_lines := plain.parse(block)):
                    lines.counter += n_lines
                    lines.queries += [name.decode() for name in _QUERY.findall(block)] if b"#" in block else []
                    continue
                yield block
                if block.count(b'"') % 2 and mark != "\t":  # a cell goes on in the next block
                    plain = None

        body = lines.body(lines.decode(blocks()))
        mark = delimiter or ""
        try:
            head = list(islice(body, 50))
            if not head:
                raise ProximityError(f"{where} holds no pairs.")
            if "\0" in head[0]:
                raise ProximityError(f"{where} is not a text file: it has NUL characters in line {lines.numbers[0]}.")
            mark = mark or lines.mark or sniff_delimiter(head[0], blanks=True)
            rows = _split(head, mark)
            fields = lines.fields
            if fields is None and 2 < len(lines.caption) <= len(rows[0]):
                fields = list(map(_canonical, lines.caption))
            if fields is not None and len(fields) > len(rows[0]) >= len(_HITS):
                fields = None  # FASTA writes the standard columns, whatever it names
            if fields is not None and mark in "\t ":  # LAST names fewer columns than it writes; titles hold blanks
                fields = [*fields, *map(str, range(len(fields) + 1, len(rows[0]) + 1))]
            layout = find_layout(where, rows, fields, pairs.options)
            pairs.use(layout, lines.form)
            del lines.numbers[: layout.n_header]

            if not lines.is_rewritten:
                plain = parser = _PlainParser(layout.places, mark, pairs.square)
            reader = _reader(chain(head[layout.n_header :], body), mark)
            while chunk := list(islice(reader, _CHUNK)):
                pairs.add(*parse_rows(chunk, lines.numbers, layout.places, where, mark))
                del lines.numbers[: len(chunk)]
            if not lines.is_rewritten:
                parser.add_to(pairs)
        except csv.Error as error:
            raise ProximityError(f"{where}, line {lines.counter}: {error}.") from None
        except UnicodeError:  # of UTF-16
            wrong = f"is not text from about line {lines.counter + 1} on; save it again with the encoding UTF-8."
            raise ProximityError(f"{where} {wrong}") from None
    pairs.number(lines.queries)  # also those without hits


def parse_rows(
    rows: list[list[str]], numbers: list[int], places: tuple[int, int, int], where: str, mark: str
) -> tuple[list[str], list[str], Floats]:
    """Parse lines of cells: all at once if each has its ids and a number, else one by one."""
    a, b, s = places
    try:
        left, right = [row[a].strip() for row in rows], [row[b].strip() for row in rows]
        values = np.array([float(row[s]) for row in rows])
        if np.isfinite(values).all() and "" not in left and "" not in right and not any("_" in row[s] for row in rows):
            return left, right, values
    except (ValueError, IndexError):
        pass
    left, right, values = [], [], np.empty(len(rows))
    for k, cells in enumerate(rows):
        line = numbers[k] if k < len(numbers) else numbers[-1]
        if len(cells) <= max(places):
            rule = f"a line must have at least {max(places) + 1} cells"
            raise ProximityError(f"{where}, line {line}: {rule}. Got {len(cells)}; the file may be truncated.")
        first, second, text = (cells[j].strip() for j in places)
        if not first or not second:
            raise ProximityError(f"{where}, line {line}: both objects of a pair must have an id. Got an empty cell.")
        left.append(first)
        right.append(second)
        place = f"{where}, line {line}, column {s + 1}"
        values[k] = parse_number(text if mark == "," else decimal_point(text), place, ", or choose another score=...")
    return left, right, values
