"""Options of the readers, and checks of the parts of a matrix: values, ids, kind and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from similis._utils.arrays import Array
from similis._utils.disk import is_stored
from similis._utils.messages import warn_user
from similis.base import Kind, check_frame_order, fill_masked, kind_evidence
from similis.exceptions import KindWarning, ProximityError

ID_HEADERS = {"", "id", "ids", "name", "object", "index", "key"}
ANY_ID_HEADERS = ID_HEADERS | {"#", "sample", "sample_id", "sampleid", "sample-id", "sample id", "objects", "names"}
LABEL_HEADERS = {"label", "labels", "class", "classes", "y", "target"}
KINDS: tuple[Kind, Kind] = ("similarity", "dissimilarity")
_LETTERS: dict[str, Kind] = {"S": "similarity", "K": "similarity", "D": "dissimilarity"}
_WORDS: dict[str, Kind] = {
    **dict.fromkeys(("similarity", "similarities", "kernel", "affinity", "affinities"), "similarity"),
    **dict.fromkeys(("dissimilarity", "dissimilarities", "distance", "distances", "dist"), "dissimilarity"),
}


def as_column(name: Any, option: str) -> str | None:
    """Name of a column, or its number as text, as the readers find it."""
    if isinstance(name, bool) or not isinstance(name, str | Integral | None):
        raise ProximityError(f"{option} must name columns, by names or whole numbers. Got {quote_short(name)}.")
    return None if name is None else str(name)


def kind_in_words(text: str) -> Kind | None:
    """Return the kind that a cell or a comment names, or None."""
    found = {_WORDS[word] for word in re.findall("[a-z]+", text.lower()) if word in _WORDS}
    return found.pop() if len(found) == 1 else None


def kind_of_array(name: str) -> Kind | None:
    """Return the kind that the name of an array stands for, such as S, K, D_train or distances."""
    last = re.split(r"[/.]", name)[-1]
    return _LETTERS.get(last.partition("_")[0]) or kind_in_words(last.replace("_", " "))


def decide_kind(
    values: Any, *, given: Kind | None, stated: Kind | None, where: str, required: bool = False
) -> Kind | None:
    """Decide how a matrix is read: as given, else as its file states, else by clear evidence.

    Parameters
    ----------
    values : array of shape (n, n), (m, n) or (n, n, q)
        Proximities.
    given, stated : {"similarity", "dissimilarity"} or None
        Kinds that the user gave and that the file states. The first one wins, with a warning where they differ.
    where : str
        Name of the file, for messages.
    required : bool, default=False
        Whether to decide by the diagonal, with a warning, and to raise an error where it does not show the kind.
    """
    if given is not None and stated not in (None, given):
        warn_user(f"{where} holds values of kind {stated!r}; they are read as kind={given!r}, as given.", KindWarning)
    if given is not None or stated is not None or not required:
        return given or stated
    found = kind_evidence(values)
    if found is None:
        raise ProximityError(
            f"{where} does not name the kind of its values, and its diagonal does not show it. If large means alike, "
            "set kind='similarity'; if large means different, set kind='dissimilarity'."
        )
    extreme, other = ("minimum", "similarity") if found == "dissimilarity" else ("maximum", "dissimilarity")
    why = f"because the diagonal is the {extreme} of its rows. If that is wrong, set kind={other!r}."
    warn_user(f"{where} is read as {found}, {why}", KindWarning)
    return found


@dataclass(frozen=True)
class PairOptions:
    """Options of pair lists, None where the default is to be used.

    Parameters
    ----------
    columns, score, aggregate, absent : optional
        As in :func:`similis.io.read_pairs`.
    """

    columns: Sequence[str | int] | str | None = None
    score: str | int | None = None
    aggregate: str | None = None
    absent: str | float | None = None

    def __post_init__(self) -> None:
        if self.aggregate not in (None, "max", "min", "sum", "mean"):
            raise ProximityError(f"aggregate must be max, min, sum or mean. Got {quote_short(self.aggregate)}.")
        with suppress(TypeError, ValueError):
            if self.absent in (None, "missing", "zero"):
                return
            if not isinstance(self.absent, bool) and np.isfinite(float(self.absent)):
                return
        raise ProximityError(f"absent must be 'missing', 'zero' or a number. Got {quote_short(self.absent)}.")

    @property
    def any(self) -> bool:
        """True if an option is given that only pair lists have."""
        return any(value is not None for value in vars(self).values())


@dataclass(frozen=True)
class ReadOptions:
    """Options of :func:`similis.read_proximity` that the reader of a format may use.

    Parameters
    ----------
    square, directed, mmap, kind, key, delimiter, header, max_bytes, label_column : optional
        As in :func:`similis.read_proximity`; the label column is one of the file itself.
    pairs : PairOptions, optional
        Options of lists of pairs.
    """

    square: bool = True
    directed: bool = False
    mmap: bool = False
    kind: Kind | None = None
    key: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    max_bytes: int = 2**31
    label_column: str | None = None
    pairs: PairOptions = field(default_factory=PairOptions)

    def __post_init__(self) -> None:
        check_kind(self.kind)
        if self.delimiter not in (None, ",", ";", "\t", " ", "|"):
            got = quote_short(self.delimiter)
            raise ProximityError(f"delimiter must be a comma, semicolon, tab, blank or bar. Got {got}.")


def as_values(values: Any) -> Array:
    """Validate a matrix or stack of real numbers, finite or NaN; copies only where a conversion is needed."""
    if is_stored(values):
        return values
    check_frame_order(values)
    values, is_sparse = fill_masked(values), sparse.issparse(values)
    try:
        values = values if is_sparse else np.asanyarray(values)
    except ValueError:
        raise ProximityError("values must be a matrix. Got rows of different lengths.") from None
    if values.ndim not in ((2,) if is_sparse else (2, 3)) or 0 in values.shape:
        rule = "values must be a matrix with rows and columns, or a stack of them"
        raise ProximityError(f"{rule}. Got shape {values.shape}.")
    if values.dtype == object and not is_sparse:
        values = _from_objects(values)
    if values.dtype.kind not in "fiub":
        raise ProximityError(f"values must be real numbers. Got dtype {values.dtype}.")
    if is_sparse:
        is_float = values.dtype in (np.float32, np.float64)
        values = sparse.csr_array(values, dtype=values.dtype if is_float else np.float64)
        values.sum_duplicates()
        check_finite(values.data[None, :], "the stored entries")
        return values
    if isinstance(values, np.memmap):
        return values  # stays on disk: converted and validated block by block where it is used
    values = values if hasattr(values, "names") else np.asarray(values)  # a stack keeps the names of its matrices
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float32 if values.dtype == np.float16 else np.float64)
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    check_finite(values)
    return values


def _from_objects(values: Array) -> Array:
    """Convert an object array to floats; None and the NA of pandas are missing. Raise at the first other entry."""
    result = np.full(values.shape, np.nan)
    for place, entry in np.ndenumerate(values):
        wrong = None
        try:
            if isinstance(entry, (int, float, np.integer, np.floating, np.bool_)):
                result[place] = entry
            elif entry is not None and type(entry).__name__ != "NAType":
                wrong = quote_short(entry)
        except OverflowError:
            wrong = "one too large"
        if wrong:
            raise ProximityError(f"values must be numbers. Got {wrong} at row {place[0]}, column {place[1]}.")
    return result


def check_finite(values: Array, where: str = "values") -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)) or not np.isinf(values).any():
            return
    row, column, *_ = place = np.unravel_index(int(np.argmax(np.isinf(values))), values.shape)
    wrong = f"{values[place]} at row {row}, column {column}"
    raise ProximityError(f"{where} must hold finite numbers, or NaN where one is missing. Got {wrong}.")


def as_ids(ids: Iterable[Any], n: int, axis: str) -> tuple[str, ...]:
    """Validate `n` distinct ids; each is text that every file format can hold."""
    rule = f"There must be one {axis} id per {axis}"
    if not isinstance(ids, Iterable):
        raise ProximityError(f"{rule}. Got a {type(ids).__name__} instead of a list.")
    given = [ids] if isinstance(ids, str) else list(ids)
    if any(isinstance(name, list | dict | set | np.ndarray) for name in given):
        raise ProximityError(f"{rule}, a text. Got a collection among them.")
    names = tuple(map(str, given))
    if len(names) != n:
        raise ProximityError(f"{rule}. Got {len(names)} ids for {n} {axis}s.")
    first: dict[str, int] = {}
    for i, name in enumerate(names):
        check_text(name, f"The id of {axis} {i}")
        if (j := first.setdefault(name, i)) != i:
            raise ProximityError(f"Ids must differ. {axis.title()}s {j} and {i} are both {quote_short(name)}.")
    return names


def as_labels(labels: Any, n: int) -> Array:
    """Validate `n` labels: text, integers or booleans; whole floats become integers."""
    rule = "labels must be one per object"
    if np.ma.is_masked(labels):
        i = int(np.argmax(np.ma.getmaskarray(labels).ravel()))
        raise ProximityError(f"{rule}. The label of object {i} is masked; leave the object out.")
    if isinstance(labels, str) or not (hasattr(labels, "__array__") or isinstance(labels, Iterable)):
        raise ProximityError(f"{rule}, a vector. Got {quote_short(labels)}.")
    # NumPy would turn 1 into "1" in a list that also holds text.
    array = np.asarray(labels) if hasattr(labels, "__array__") else np.array(list(labels), dtype=object)
    if array.ndim != 1:
        raise ProximityError(f"{rule}, a vector. Got shape {array.shape}.")
    if len(array) != n:
        raise ProximityError(f"{rule}. Got {len(array)} labels for {n} objects.")
    if array.dtype.kind in "OT":
        entries = [x.item() if isinstance(x, np.generic) else x for x in array.tolist()]
        if {type(x) for x in entries} in ({str}, {int}, {bool}, {float}):
            array = np.array(entries)
    if array.dtype.kind == "f" and (np.abs(array) < 2**53).all() and (np.floor(array) == array).all():
        array = array.astype(np.int64)
    if array.dtype.kind not in "Uiub":
        remedy = "convert them, for example to text."
        raise ProximityError(f"labels must be text, integers or booleans. Got dtype {array.dtype}; {remedy}")
    for i, label in enumerate(array.tolist() if array.dtype.kind == "U" else ()):
        check_text(label, f"The label of object {i}")
    return array


def decode_labels(labels: list[str]) -> Array:
    """Convert labels to integers or booleans if all are spelled like one; else keep text."""
    if set(labels) <= {"True", "False"}:
        return np.array([label == "True" for label in labels])
    if all(len(label) <= 20 and label.lstrip("-").isdecimal() and label.isascii() for label in labels):
        numbers = [int(label) if label.count("-") < 2 else 0 for label in labels]
        if list(map(str, numbers)) == labels and -(2**63) <= min(numbers) and max(numbers) < 2**63:
            return np.array(numbers)
    return np.array(labels)


def check_text(text: str, what: str) -> None:
    """Reject text that no file can hold: empty, with NUL characters, or not encodable."""
    if not text:
        raise ProximityError(f"{what} must not be empty.")
    if "\0" in text or (not text.isprintable() and text != text.encode("utf-8", "ignore").decode()):
        rule = "must be text without NUL or unpaired surrogate characters"
        raise ProximityError(f"{what} {rule}. Got {quote_short(text)}.")


def check_writable(ids: Iterable[str], what: str, forbidden: str, rule: str) -> None:
    """Reject ids that match `forbidden`, which `what` could not hold."""
    bad = next((name for name in ids if re.search(forbidden, name)), None)
    if bad is not None:
        raise ProximityError(f"An id in {what} must not hold {rule}. Got {quote_short(bad)}.")


def quote_short(value: Any, width: int = 40) -> str:
    """Repr of a value for a message, shortened to `width` characters."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= width else text[: width - 4] + "..." + text[-1]


def check_kind(kind: Any) -> None:
    if kind is not None and kind not in KINDS:
        raise ProximityError(f"kind must be 'similarity', 'dissimilarity' or None. Got {quote_short(kind)}.")
