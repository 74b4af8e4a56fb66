"""Data source of a command: a matrix, objects with a measure, or a data set by name."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import partial, reduce
from math import isfinite
from pathlib import Path, PurePath
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple

import similis
from similis._utils.files import is_float, short_path
from similis._utils.messages import warn_user
from similis.cli._console import input_path, note
from similis.cli._options import argument, flags_of, option
from similis.exceptions import InputWarning, ProximityError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from similis.io import Objects, Proximity

PAIRS = ("format", "pair_columns", "score", "aggregate", "absent")  # options of files of other tools
LARGE = 2**30  # bytes from which a matrix stays on disk
_NOT_FOR_FILES = {"Measure", "FromFunction", "FromMatrix"}
# Measure of a data set's objects unless --measure names another one.
_DEFAULTS = {"categorical": "vdm", "features": "minkowski", "sequences": "vdm", "graphs": "weisfeiler-lehman"}


def measure_names() -> dict[str, type]:
    """Measures that can read a table or a data set, by their name on the command line."""
    found = {}
    for name in similis.measures.__all__:
        kind = getattr(similis.measures, name)
        if isinstance(kind, type) and issubclass(kind, similis.Measure) and name not in _NOT_FOR_FILES:
            found[re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()] = kind
    return found


def completion(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Complete a word in the shell by these names."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


complete_dataset = completion(lambda: (info.name for info in similis.list_datasets()))
_option = partial(option, rich_help_panel="Data")
_pairs = partial(option, rich_help_panel="Lists of pairs")


@dataclass(frozen=True)
class Source:
    """Options that name the data.

    path FILE: Matrix of proximities (csv, tsv, txt, npz, npy, zarr, parquet, feather, xlsx, PHYLIP, scikit-bio, qza,
        h5ad, hdf5, mat, rds, graphml, mtx; FILE::NAME for one array of several; - reads a csv from standard input),
        list of pairs (BLAST, DIAMOND, MMseqs2, Foldseek, Mash, edges), or, with --measure, objects (csv; json for
        graphs, point sets and series).
    more [FILE...]: More matrices of the same objects: methods run on each, on their mean, or on all together.
    labels FILE: Class labels: lines `id,label` in any order, perhaps with a header and more columns, or one label per
        line.
    kind similarity|dissimilarity: Kind of the values. By default what the file names, or what its diagonal shows
        clearly. Of several files, one kind for all or one for each, separated by commas.
    dataset NAME: A data set by name instead of a file; `similis datasets` lists them.
    measure NAME: Measure that compares objects: counting, vdm, jaccard, minkowski, rbf, ...
    params KEY=VALUE: A parameter of the measure, such as q=1, or key=@file for JSON; may be repeated.
    id_column NAME: Column of the objects' names, in the table of objects or in the --labels file; one called id or name
        by default.
    label_column NAME: Column of the class labels, in the --metadata or --labels file, or else in the file of the matrix
        or objects; one called class, label or target by default.
    columns NAME: A column that describes the objects; may be repeated, all others by default.
    na WORD: Spelling of a missing label, beside an empty cell; may be repeated. NA, N/A, NaN, null by default.
    symmetrize: Average both directions of an asymmetric matrix.
    directed: Keep a matrix with one empty triangle as it is, instead of filling it in from the other one.
    format NAME: Format of the file, if its ending and contents do not show it.
    pair_columns NAMES: Names of all columns of a list of pairs without a header, such as qseqid,sseqid,evalue; or names
        or numbers of both columns of ids and of that of the score.
    score COLUMN: Column of the values: bitscore (of hits, by default), pident, ...
    aggregate max|min|sum|mean: Value of a pair with several lines; the best one by default.
    absent missing|zero|NUMBER: Value of pairs that are not listed: zero by default for scores of alignment hits, else
        missing.
    metadata FILE: Table of the objects: labels are taken from its --label-column, groups from its --group-column.
    group_column NAME: Column of the groups in the --metadata or --groups file.
    subset COLUMN=VALUE: Keep the objects with this value in the --metadata table; a|b for several values; may be
        repeated.
    groups FILE: Objects of one group are never split: lines `id,group`, or one group per line.
    costs FILE: Costs of errors: a csv file; rows: predicted class; columns: true class. `balanced`: an error costs more
        in a smaller class.
    priors PRIORS: Class shares of the objects to be predicted: `equal`, `a=0.9,b=0.1`, or a csv file of lines
        `class,share`.
    """

    path: str | None = argument(default=None)
    more: list[str] | None = argument(default=None)
    labels: str | None = _option("-l")
    kind: str | None = _option("-k")
    dataset: str | None = _option(autocompletion=complete_dataset)
    measure: str | None = _option("-m", autocompletion=completion(measure_names))
    params: list[str] | None = _option("--param", "-p")
    id_column: str | None = _option()
    label_column: str | None = _option()
    columns: list[str] | None = _option("--column")
    na: list[str] | None = _option()
    symmetrize: bool = _option(default=False)
    directed: bool = _option(default=False)
    format: str | None = _pairs()
    pair_columns: str | None = _pairs("--columns")
    score: str | None = _pairs()
    aggregate: str | None = _pairs()
    absent: str | None = _pairs()
    metadata: str | None = _option()
    group_column: str | None = _option()
    subset: list[str] | None = _option()
    groups: str | None = _option()
    costs: str | None = _option()
    priors: str | None = _option()

    def name(self) -> str:
        """Name of the data, for titles; empty for standard input."""
        if self.dataset is not None:
            return self.dataset
        return ", ".join(PurePath(path).stem for path in (self.path, *(self.more or [])) if path and path != "-")

    def files(self) -> list[str | None]:
        """Files that are read."""
        matrices = [path.partition("::")[0] for path in (self.path, *(self.more or [])) if path]
        return [*matrices, self.labels, self.metadata, self.groups, self.costs]

    def arguments(self) -> str:
        """Command line arguments that name the same data."""
        words = [] if self.path is None else [self.path, *(self.more or [])]
        for declared in sorted(fields(self)[2:], key=lambda declared: declared.name != "dataset"):
            given, flag = getattr(self, declared.name), flags_of(declared.name, declared)[0]
            if isinstance(given, bool):
                words += [flag] * given
            elif given is not None:
                words += [word for value in (given if isinstance(given, list) else [given]) for word in (flag, value)]
        return shlex.join(words)

    def pairs(self) -> dict[str, Any]:
        """Arguments of :func:`~similis.read_proximity` for files of other tools."""
        return {name.removeprefix("pair_"): getattr(self, name) for name in PAIRS}


class Inputs(NamedTuple):
    """Data of a command: a matrix, or objects with a measure; groups, costs and priors if they were given."""

    data: Proximity | Objects
    measure: Any = None
    groups: NDArray[Any] | None = None
    costs: NDArray[Any] | str | None = None
    priors: NDArray[Any] | str | None = None
    kinds: list[Any] | None = None  # of several matrices
    target: NDArray[Any] | None = None  # numbers of a regression

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of :meth:`~similis.Study.run` beside the data."""
        return {"kind": self.kinds, **{name: getattr(self, name) for name in ("measure", "groups", "costs", "priors")}}


def load_data(source: Source, *, need_labels: bool = False, task: str | None = "classification") -> Inputs:
    """Read the data that a source names: the objects that have a label and a group, where these are given."""
    import numpy as np

    if (source.path is None) == (source.dataset is None):
        raise ProximityError("Name a file, or a data set with --dataset; one of them, not both.")
    inputs = _read_file(source, source.path) if source.path is not None else _read_dataset(source, str(source.dataset))
    inputs, source = _with_metadata(inputs, source, need_labels)
    beside = source.metadata is not None or source.dataset is not None or source.measure is not None
    files = {"label": source.labels if beside else None, "group": source.groups}
    read = {what: _align(inputs.data, source, path, what) for what, path in files.items() if path is not None}
    if read:
        rows = reduce(np.intersect1d, (found for found, _ in read.values()))
        if not len(rows):
            raise ProximityError(f"No object has both a label in {source.labels} and a group in {source.groups}.")
        values = {what: column[np.isin(found, rows)] for what, (found, column) in read.items()}
        data = _take(inputs.data, rows)
        data = replace(data, labels=values["label"]) if "label" in values else data
        inputs = inputs._replace(data=data, groups=values.get("group"))
    data = inputs.data
    if source.symmetrize and need_labels and inputs.measure is not None:
        objects = "where a method needs it, objects are measured in both directions and averaged"
        raise ProximityError(f"--symmetrize is for matrices; {objects}.")
    if data.labels is None and (need_labels or source.costs is not None or source.priors is not None):
        raise ProximityError("Labels are needed; give them with --labels FILE, or name their column.")
    if data.labels is not None and task != "classification":
        numbers = _as_numbers(data.labels)
        if task == "regression" and numbers is None:
            wrong = next(v for v in data.labels.tolist() if not (is_float(str(v)) and isfinite(float(v))))
            raise ProximityError(f"A regression needs numbers, and {str(wrong)[:40]!r} is none; see --target.")
        if task is None and numbers is not None and similis.study.choose_task(numbers) == "regression":
            n_labels, task = len(np.unique(numbers)), "regression"
            note(f"the labels are {n_labels} numbers: a regression; --task classification reads classes.")
        if task == "regression":
            return inputs._replace(target=numbers)
    if data.labels is not None and (need_labels or source.labels is not None):
        similis.io.check_classes(data.labels, source.labels or source.path or str(source.dataset))
    classes = [] if data.labels is None else list(map(str, sorted(set(data.labels.tolist()))))
    costs = None if source.costs is None else _read_costs(source.costs, classes)
    priors = None if source.priors is None else _read_priors(source.priors, classes)
    return inputs._replace(costs=costs, priors=priors)


def load_unlabeled(source: Source, labeled: Inputs) -> Any:
    """Read the objects that have no label: objects, or their rows against those that have one."""
    every: Any = load_data(replace(source, labels=None, label_column=None, groups=None, costs=None, priors=None)).data
    if every.ids is None or labeled.data.ids is None:
        raise ProximityError("--predict-unlabeled needs ids, by which objects without a label are recognized.")
    known = set(labeled.data.ids)
    rows = [i for i, name in enumerate(every.ids) if name not in known]
    if not rows:
        raise ProximityError("--predict-unlabeled: every object has a label.")
    if not isinstance(every, similis.Proximity):
        return replace(_take(every, rows), labels=None)
    columns = [i for i, name in enumerate(every.ids) if name in known]
    values: Any = every.values[rows][:, columns]
    ids, column_ids = (tuple(every.ids[i] for i in some) for some in (rows, columns))
    return similis.Proximity(values, ids, every.kind, None, column_ids)


def _align(data: Proximity | Objects, source: Source, path: str, what: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Positions of the objects that have a label or group in a file of these, and the labels or groups."""
    is_label = what == "label"
    column = source.label_column if is_label else source.group_column
    id_column = source.id_column if is_label or source.metadata is not None else None
    names: dict[str, Any] = {"column": column, "id_column": id_column, "na": source.na or None}
    return similis.io.align_labels(path, data.ids, data.n, what=what, **names)


def _take(data: Proximity | Objects, rows: Sequence[int] | NDArray[Any]) -> Any:
    if len(rows) == data.n:
        return data
    if isinstance(data, similis.Proximity):
        return data.take(rows)
    ids = None if data.ids is None else tuple(data.ids[i] for i in rows)
    return replace(data, values=data.values[rows], ids=ids, labels=None if data.labels is None else data.labels[rows])


def _with_metadata(inputs: Inputs, source: Source, need_labels: bool) -> tuple[Inputs, Source]:
    """Objects of the subset, and the source with the metadata as the files of labels and groups."""
    if source.metadata is None:
        if source.subset:
            raise ProximityError("--subset names a column of the table that --metadata names; give both.")
        return inputs, source
    data: Any = inputs.data
    for item in source.subset or []:
        column, equals, values = item.partition("=")
        if not equals or not column or not values:
            raise ProximityError(f"A subset is given as COLUMN=VALUE, for example batch=b1. Got {item[:40]!r}.")
        names: dict[str, Any] = {"column": column, "id_column": source.id_column, "na": source.na}
        rows, found = similis.io.align_labels(source.metadata, data.ids, data.n, what="value", **names)
        kept = [row for row, value in zip(rows, found.tolist()) if str(value) in values.split("|")]
        if not kept:
            there = shorten(", ".join(map(str, sorted(set(found.tolist())))), 80, placeholder=" and others")
            raise ProximityError(f"{source.metadata}: no object has {item[:40]!r}. Values of {column!r}: {there}.")
        note(f"--subset {item}: {len(kept)} of {data.n} objects are kept.")
        data = _take(data, kept)
    inputs = inputs._replace(data=data)
    if source.labels is None and (source.label_column is not None or (need_labels and data.labels is None)):
        source = replace(source, labels=source.metadata)
    if source.groups is None and source.group_column is not None:
        source = replace(source, groups=source.metadata)
    return inputs, source


def read_matrix(source: Source, name: str) -> Proximity:
    """Read a matrix and decide its kind."""
    from similis._utils.disk import is_stored, load_stored

    file, _, key = name.partition("::")
    with input_path(file) as path, _warn_at_end() as warned:
        label_column = None if source.metadata is not None else source.label_column
        names = {"labels": source.labels, "label_column": label_column, "id_column": source.id_column}
        how: dict[str, Any] = {"kind": source.kind, "directed": source.directed, "na": source.na or None}
        P = similis.read_proximity(path, mmap=_is_large(path), key=key or None, **names, **how, **source.pairs())
        values = load_stored(P.values) if is_stored(P.values) else P.values
        if source.symmetrize:
            values = similis.symmetrize(values)
        kind = similis.io.decide_kind(values, given=None, stated=P.kind, where=short_path(path), required=True)
        P = replace(P, values=values, kind=kind)
        if not warned and (words := _how_read(P, source.kind is not None)):
            warn_user(f"{short_path(path)}: {words}.", InputWarning)
    return P


@contextmanager
def _warn_at_end() -> Iterator[list[warnings.WarningMessage]]:
    """Hold warnings back until the end, so that bad input is answered by its error alone."""
    with warnings.catch_warnings(record=True) as held:
        warnings.simplefilter("always", UserWarning)
        yield held
    for one in held:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _how_read(P: Proximity, kind_is_given: bool) -> str:
    """Sentence about a kind that the file does not state, and about absent entries; may be empty."""
    about = P.about or {}
    reason, absent = "" if kind_is_given else about.get("reason", ""), ""
    if "lines" not in about and "absent" in about:
        absent = f"; {about['pairs']} of {about['possible']} ordered pairs present, absent ones are {about['absent']}"
        absent += f"; {about['diagonal']}" if about.get("diagonal") else ""
    words = f"{about.get('format')}, {P.n} objects, {P.kind} {reason}".rstrip()
    return words + absent if reason or absent else ""


def _read_file(source: Source, name: str) -> Inputs:
    if source.more:
        return _read_several(source, [name, *source.more])
    if source.measure is None:
        if source.params or source.columns:
            raise ProximityError("--param and --column are for objects; name a --measure that compares them.")
        return Inputs(read_matrix(source, name))
    measure = make_measure(source.measure, source.params or [])
    if source.labels is not None or source.metadata is not None:
        source = replace(source, id_column=None, label_column=None)
    if source.kind not in (None, measure.kind):
        raise ProximityError(f"{source.measure} gives a {measure.kind}; leave --kind out, or name another measure.")
    with input_path(name) as path:
        return Inputs(read_table(path, source, measure.cells), measure)


def read_table(path: Path, source: Source, cells: Any, unlabeled: str | None = None) -> Objects:
    """Read the objects of a file for a measure that compares such cells."""
    names: Any = {"id_column": source.id_column, "label_column": source.label_column, "columns": source.columns or None}
    objects: Objects = similis.io.read_objects(path, **names, types=cells, na=source.na or None, unlabeled=unlabeled)
    if objects.values.ndim > 1 or objects.values.dtype == object or cells == "text":
        return objects
    return replace(objects, values=objects.values[:, None])  # one categorical feature


def _read_several(source: Source, paths: list[str]) -> Inputs:
    """Read several matrices of the same objects as a stack, named by their files."""
    if source.measure is not None:
        raise ProximityError("--measure reads one file of objects. Give several matrices without it.")
    kinds = source.kind.split(",") if source.kind else [None]
    if len(kinds) not in (1, len(paths)):
        raise ProximityError(f"--kind must give one kind, or one for each of {len(paths)} files. Got {len(kinds)}.")
    read = [read_matrix(replace(source, kind=kind), path) for kind, path in zip(kinds * len(paths), paths)]
    first = read[0]
    names: list[str] = []
    for i, (P, path) in enumerate(zip(read, paths)):
        stem = re.sub(r"[\[\]]", "_", PurePath(path.rpartition("::")[2]).name.partition(".")[0])
        names.append(stem if stem not in (*names, "mean") else f"{stem}-{i + 1}")
        read[i] = in_order(P, first.ids, first.n, f"{path} and {paths[0]} must hold the same objects.")
    note(f"{len(read)} matrices of {first.n} objects: " + ", ".join(f"{n} ({P.kind})" for n, P in zip(names, read)))
    stack = similis.make_stack([P.to_dense() for P in read], names=names)
    return Inputs(replace(first, values=stack), kinds=[P.kind for P in read])


def in_order(P: Proximity, ids: Sequence[str] | None, n: int, must: str) -> Proximity:
    """Matrix with its n objects in the order of `ids`, if both are known; an error starts with the condition `must`."""
    if P.ids is None or ids is None or P.ids == ids:
        if P.n != n:
            raise ProximityError(f"{must} Got {P.n} instead of {n}.")
        return P
    place = {name: i for i, name in enumerate(P.ids)}
    if other := sorted(set(ids) ^ place.keys()):
        raise ProximityError(f"{must} {other[0][:40]!r} is in one of them only.")
    return P.take([place[name] for name in ids])


def _is_large(path: Path) -> bool:
    """Tell whether a matrix stays on disk: an npy file or zarr store of a gigabyte or more."""
    files = path.rglob("*") if path.is_dir() else [path]
    is_stored = path.suffix.lower() in (".npy", ".zarr")
    return is_stored and sum(file.stat().st_size for file in files if file.is_file()) >= LARGE


def _read_dataset(source: Source, name: str) -> Inputs:
    import numpy as np

    bunch = similis.load_benchmark(name)
    labels = None if bunch.target is None else np.asarray(bunch.target_names)[bunch.target]
    if bunch.kind in ("similarity", "dissimilarity"):
        if source.measure is not None:
            raise ProximityError(f"{name} is a matrix already; leave --measure out.")
        return Inputs(similis.Proximity(bunch.proximity, kind=bunch.kind, labels=labels))
    if bunch.kind not in _DEFAULTS:
        what = f"{name} holds {bunch.kind}, which the command line cannot compare"
        raise ProximityError(f"{what}; use similis from Python.")
    chosen = source.measure or _DEFAULTS[bunch.kind]
    if source.measure is None:
        note(f"{name} holds {bunch.kind} data, compared by {chosen} (--measure names another measure).")
    measure = make_measure(chosen, source.params or [])
    if measure.cells == "text":
        if "sequences" not in bunch:
            raise ProximityError(f"{chosen} compares texts, and {name} holds {bunch.kind}; name another measure.")
        values, names = bunch.sequences, ["sequence"]
    elif "graphs" in bunch:
        values, names = np.array(bunch.graphs, dtype=object), ["graph"]
    else:
        values, names = bunch.data, bunch.feature_names
    return Inputs(similis.io.Objects(np.asarray(values), tuple(map(str, names)), labels=labels), measure)


def _read_costs(path: str, classes: list[str]) -> NDArray[Any] | str:
    """Costs in the order of the classes; the file may name the classes in any order."""
    if path == "balanced":
        return path
    table = similis.read_proximity(path, directed=True)
    must = f"{path} must have a row and a column per class of the labels, and no others."
    return in_order(table, classes, len(classes), must).values


def _read_priors(text: str, classes: list[str]) -> NDArray[Any] | str:
    """Class shares in the order of the classes, from the option's value or the file that it names."""
    import numpy as np

    if text == "equal":
        return text
    pairs = [item.rpartition("=") for item in text.split(",")]
    if "=" not in text:
        pairs = [line.rpartition(",") for line in Path(text).read_text(encoding="utf-8-sig").splitlines() if line]
        pairs = [pair for pair in pairs[:1] if is_float(pair[2])] + pairs[1:]  # without a header
    given = {name.strip().strip('"'): value for name, _, value in pairs}
    wrong = next((name for name, value in given.items() if name not in classes or not is_float(value)), None)
    if wrong is not None or len(given) < len(classes):
        what = f"Got {wrong[:40]!r}." if wrong is not None else f"Got {len(given)} of {len(classes)} classes."
        raise ProximityError(f"--priors must give one number for each of the classes {', '.join(classes)[:80]}. {what}")
    return np.array([float(given[name]) for name in classes])


def _as_numbers(labels: NDArray[Any]) -> NDArray[Any] | None:
    """Labels as numbers; None if some label is not a finite number, or they are booleans."""
    with suppress(ValueError):
        numbers = labels.astype(float)
        if labels.dtype.kind != "b" and all(map(isfinite, numbers.tolist())):
            return numbers
    return None


def make_measure(name: str, params: list[str]) -> Any:
    """Make a measure from its name and ``key=value`` texts."""
    known = measure_names()
    chosen = known.get(name.lower().replace("_", "-"))
    if chosen is None:
        near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
        raise ProximityError(f"There is no measure {name[:40]!r}. {hint}")
    given = dict(map(_parse_parameter, params))
    allowed = [p for p in inspect.signature(chosen).parameters if p != "self"]
    if wrong := [key for key in given if key not in allowed]:
        raise ProximityError(f"{name} has no parameter {wrong[0][:40]!r}. It has {', '.join(allowed) or 'none'}.")
    return chosen(**given)


def _parse_parameter(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ProximityError(f"A parameter is given as key=value, for example q=1. Got {text[:40]!r}.")
    if value.startswith("@"):
        value = Path(value[1:]).read_text(encoding="utf-8-sig")
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = {"True": True, "False": False, "None": None}.get(value, value)
    return key.strip(), tuple(parsed) if isinstance(parsed, list) else parsed
