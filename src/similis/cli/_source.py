"""Where the data of a command come from: a matrix, objects with a measure, or a data set by name."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from similis.cli._console import note, readable
from similis.exceptions import ProximityError

__all__ = [
    "DEFAULTS",
    "complete_measure",
    "make_measure",
    "measure_names",
    "reads_text",
    "Data",
    "Source",
    "complete_dataset",
    "load_data",
]

# What no file of objects holds: functions and matrices. A row of numbers is also a series, or points on a line.
_ELSEWHERE = {"Measure", "FromFunction", "FromMatrix"}
_TEXT = {"Edit", "Alignment", "Compression", "TfidfCosine"}
# What compares objects of a kind unless the user says otherwise.
DEFAULTS = {"categorical": "vdm", "features": "minkowski", "sequences": "vdm", "graphs": "weisfeiler-lehman"}


def measure_names() -> dict[str, type]:
    """Measures that can read a table or a data set, by their name on the command line."""
    from similis import measures

    found = {}
    for name in measures.__all__:
        kind = getattr(measures, name)
        if isinstance(kind, type) and issubclass(kind, measures.Measure) and name not in _ELSEWHERE:
            found[re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()] = kind
    return found


def complete_measure(incomplete: str) -> list[str]:
    """Names that begin with what was typed, for shell completion."""
    return [name for name in measure_names() if name.startswith(incomplete)]


def make_measure(name: str, params: tuple[str, ...] = ()) -> Any:
    """Make a measure of its name and ``key=value`` texts."""
    known = measure_names()
    chosen = known.get(name.lower().replace("_", "-"))
    if chosen is None:
        near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
        raise ProximityError(f"There is no measure {name[:40]!r}. {hint}")
    given = dict(_pair(text) for text in params)
    allowed = [p for p in inspect.signature(chosen).parameters if p != "self"]
    for key in given:
        if key not in allowed:
            raise ProximityError(f"{name} has no parameter {key[:40]!r}. It has {', '.join(allowed) or 'none'}.")
    return chosen(**given)


def reads_text(measure: Any) -> bool:
    """Whether a measure compares texts, one per object, rather than rows of features."""
    return type(measure).__name__ in _TEXT


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ProximityError(f"A parameter is given as key=value, for example q=1. Got {text[:40]!r}.")
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = {"True": True, "False": False, "None": None}.get(value, value)
    return key.strip(), tuple(parsed) if isinstance(parsed, list) else parsed


if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


LARGE = 2**30  # bytes
_FLAGS = {
    "dataset": "--dataset",
    "labels": "--labels",
    "kind": "--kind",
    "measure": "--measure",
    "params": "--param",
    "id_column": "--id-column",
    "label_column": "--label-column",
    "columns": "--column",
    "groups": "--groups",
    "costs": "--costs",
}


@dataclass(frozen=True)
class Source:
    """What the user said about the data.

    Attributes
    ----------
    path : str or None
        A file, or ``-``.
    dataset : str or None
        A data set by name instead.
    labels : str or None
        A file of labels.
    kind : str or None
        What the numbers of a matrix are.
    measure : str or None
        How objects are compared; the file then holds objects.
    params : tuple of str
        Parameters of the measure as ``key=value``.
    id_column, label_column, columns
        Columns of a file of objects.
    groups, costs : str or None
        Files of groups and of what mistakes cost.
    """

    path: str | None = None
    dataset: str | None = None
    labels: str | None = None
    kind: str | None = None
    measure: str | None = None
    params: tuple[str, ...] = ()
    id_column: str | None = None
    label_column: str | None = None
    columns: tuple[str, ...] = ()
    groups: str | None = None
    costs: str | None = None

    def name(self) -> str:
        """A word for the data."""
        if self.dataset is not None:
            return self.dataset
        return "" if self.path in (None, "-") else PurePath(str(self.path)).stem

    def arguments(self) -> str:
        """The same again, as it would be typed."""
        words = [] if self.path is None else [self.path]
        for name, flag in _FLAGS.items():
            given = getattr(self, name)
            for value in given if isinstance(given, tuple) else [given] if given is not None else []:
                words += [flag, value]
        return shlex.join(words)


@dataclass(frozen=True, eq=False)
class Data:
    """Data ready for a method.

    Attributes
    ----------
    values : ndarray
        A square matrix, or the objects where there is a measure.
    labels : ndarray or None
        One class label per object.
    ids : tuple of str or None
        One name per object.
    kind : str or None
        What the matrix holds; None where neither file nor user say.
    measure : measure or None
        How the objects are compared.
    columns : tuple of str or None
        Names of the objects' features.
    groups : ndarray or None
        One group per object.
    costs : ndarray of shape (G, G) or None
        ``costs[f, g]`` is the cost of saying f when g is true, classes in sorted order.
    """

    values: NDArray[Any]
    labels: NDArray[Any] | None = None
    ids: tuple[str, ...] | None = None
    kind: Any = None
    measure: Any = None
    columns: tuple[str, ...] | None = None
    groups: NDArray[Any] | None = None
    costs: NDArray[Any] | None = None

    def known_labels(self) -> NDArray[Any]:
        """The labels, or a sentence that asks for them."""
        if self.labels is None:
            raise ProximityError("Labels are needed; give them with --labels FILE, or name their column.")
        return self.labels


def load_data(source: Source) -> Data:
    """Read what the user named."""
    from pathlib import Path

    from similis.io import read_labels

    data = _load(source)
    if source.groups is not None:
        groups = read_labels(Path(source.groups), data.ids, len(data.values), what="group")
        data = replace(data, groups=groups)
    if source.costs is not None:
        data = replace(data, costs=_costs(source.costs, data.known_labels()))
    return data


def _load(source: Source) -> Data:
    from similis._utils.disk import is_stored, load_stored
    from similis.io import read_objects, read_proximity

    if (source.path is None) == (source.dataset is None):
        raise ProximityError("Name a file, or a data set with --dataset; one of them, not both.")
    if source.dataset is not None:
        return _dataset(source, source.dataset)
    assert source.path is not None
    with readable(source.path) as path:
        if source.measure is None:
            large = _is_large(path)
            P = read_proximity(path, labels=source.labels, kind=source.kind, mmap=large)  # type: ignore[arg-type]
            return Data(load_stored(P.values) if is_stored(P.values) else P.values, P.labels, P.ids, P.kind)
        measure = make_measure(source.measure, source.params)
        objects = read_objects(
            path,
            id_column=source.id_column,
            label_column=source.label_column,
            labels=source.labels,
            columns=list(source.columns) or None,
        )
    if source.kind not in (None, measure.kind):
        raise ProximityError(f"{source.measure} gives a {measure.kind}; leave --kind out, or name another measure.")
    values = objects.values
    if reads_text(measure) and values.dtype.kind == "f" and values.shape[1] == 1:
        raise ProximityError(f"{source.measure} compares texts; the column {objects.columns[0]!r} holds numbers only.")
    if values.ndim == 1 and values.dtype != object and not reads_text(measure):
        values = values[:, None]  # a feature of one column, not texts
    return Data(
        values=values,
        labels=objects.labels,
        ids=objects.ids,
        kind=measure.kind,
        measure=measure,
        columns=objects.columns,
    )


def _is_large(path: Path) -> bool:
    """Whether a matrix stays on disk: an npy file or zarr store of a gigabyte or more."""
    if path.suffix.lower() not in (".npy", ".zarr") or not path.exists():
        return False
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) >= LARGE


def _costs(path: str, labels: NDArray[Any]) -> NDArray[Any]:
    """Costs in the order of the classes; the file may name them in any order."""
    import numpy as np

    from similis.io import read_proximity

    table = read_proximity(path)
    classes = [str(name) for name in np.unique(labels)]
    if table.ids is None:
        if len(table.values) != len(classes):
            raise ProximityError(
                f"{path} must have a row and a column per class. Got {len(table.values)} for {len(classes)} classes."
            )
        return table.values
    missing = sorted(set(classes) ^ set(table.ids))
    if missing:
        raise ProximityError(
            f"{path} must name the classes of the labels, and no others. {missing[0]!r} is in one only."
        )
    order = [table.ids.index(name) for name in classes]
    return table.values[np.ix_(order, order)]


def complete_dataset(incomplete: str) -> list[str]:
    """Names that begin with what was typed, for shell completion."""
    from similis.datasets import list_datasets

    return [info.name for info in list_datasets() if info.name.startswith(incomplete)]


def _dataset(source: Source, name: str) -> Data:
    import numpy as np

    from similis.datasets import load_benchmark

    bunch = load_benchmark(name)
    labels = None if bunch.target is None else np.asarray(bunch.target_names)[bunch.target]
    if bunch.kind in ("similarity", "dissimilarity"):
        if source.measure is not None:
            raise ProximityError(f"{name} is a matrix already; leave --measure out.")
        return Data(bunch.proximity, labels, None, bunch.kind)
    if bunch.kind not in DEFAULTS:
        raise ProximityError(
            f"{name} holds {bunch.kind}, which the command line cannot compare; use similis from Python."
        )
    chosen = source.measure or DEFAULTS[bunch.kind]
    if source.measure is None:
        note(f"{name} holds {bunch.kind}; they are compared by {chosen} (--measure names another one).")
    measure = make_measure(chosen, source.params)
    if reads_text(measure):
        if "sequences" not in bunch:
            raise ProximityError(f"{chosen} compares texts, and {name} holds {bunch.kind}; name another measure.")
        values, names = np.asarray(bunch.sequences), ["sequence"]
    elif "graphs" in bunch:
        values, names = np.array(bunch.graphs, dtype=object), ["graph"]
    else:
        values, names = np.asarray(bunch.data), list(map(str, bunch.feature_names))
    return Data(values=values, labels=labels, ids=None, kind=measure.kind, measure=measure, columns=tuple(names))
