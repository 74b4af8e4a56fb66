"""Results files: JSON, written atomically, validated when read."""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from similis._utils.files import atomic_write, short_path
from similis.exceptions import ProximityError
from similis.study._assemble import MatrixFacts
from similis.study._differences import RANKING, find_metric
from similis.study._entry import Entry, MethodInfo, as_indices, to_json
from similis.study._metrics import OF_VALUES
from similis.study._picture import Picture
from similis.study._protocol import Protocol, Split

if TYPE_CHECKING:
    from similis.study._result import StudyResult

_MAGIC = "similis-study"
_GZIP = b"\x1f\x8b"
_UNFIT = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError)
_DAMAGE = (*_UNFIT, zlib.error, gzip.BadGzipFile, EOFError)


def result_record(result: StudyResult) -> dict[str, Any]:
    order = {info.name: i for i, info in enumerate(result.methods)}
    entries = sorted(result.entries.values(), key=lambda e: (e.split, order.get(e.method, len(order))))
    arrays = ("classes", "codes", "target", "ids", "groups", "costs", "priors")
    plain = ("partial", "dropped", "skipped", "time_budget", "fingerprint", "sessions", "name", "arguments")
    splits = [{"number": s.number, "test": to_json(s.test), "train": to_json(s.given_train)} for s in result.splits]
    grids = [{key: to_json(list(values)) for key, values in info.grid.items()} for info in result.methods]
    return {
        _MAGIC: 1,
        **{name: to_json(getattr(result, name)) for name in (*arrays, "metric")},
        "protocol": asdict(result.protocol),
        "situation": asdict(result.situation),
        "splits": splits,
        "methods": [{**asdict(info), "grid": grid} for info, grid in zip(result.methods, grids)],
        **{name: getattr(result, name) for name in plain},
        "training": {name: result.training_code(name) for name in result.complete_methods()},
        "picture": None if result.picture is None else result.picture.to_record(),
        "entries": [entry.to_record() for entry in entries],
    }


def save_result(result: StudyResult, path: str | os.PathLike[str]) -> None:
    """Write a results file; gzip without a timestamp if the name ends in .gz, so that files are reproducible."""
    data = json.dumps(result_record(result), allow_nan=False, separators=(",", ":")).encode()
    if os.fspath(path).endswith(".gz"):
        data = gzip.compress(data, 9, mtime=0)
    with atomic_write(path) as file:
        file.write(data)


def load_result(cls: Any, path: str | os.PathLike[str]) -> Any:
    """Read a results file into `cls`; a damaged file raises one ProximityError."""
    where = short_path(path)
    with open(path, "rb") as file:
        data = file.read()
    try:
        record = json.loads(_unpack(data) if data.startswith(_GZIP) else data)
        if not isinstance(record, dict) or record.get(_MAGIC) != 1:
            raise ValueError("the format is not marked")
        return _build(cls, record)
    except _DAMAGE as error:
        reason = " ".join(str(error).split())[:100].rstrip(".") or type(error).__name__
        remedy = "give one that `similis study --save` or StudyResult.save wrote"
        raise ProximityError(f"{where} is not a results file of a study ({reason}); {remedy}.") from None


def _unpack(data: bytes) -> bytes:
    """Unpack a gzip file; raise if it unpacks to more than a results file of its size can hold."""
    limit = max(2**26, 60 * len(data))  # text of digits and names shrinks to a tenth or so
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        text = file.read(limit + 1)
    if len(text) > limit:
        raise ValueError(f"it unpacks to more than {limit} bytes")
    return text


def _build(cls: Any, record: dict[str, Any]) -> Any:
    codes = np.array(record["codes"], dtype=np.intp)
    classes = np.array(record["classes"])
    n, G = len(codes), len(classes)
    if codes.ndim != 1 or classes.ndim != 1 or not n or codes.min() < 0 or codes.max() >= G:
        raise ValueError("the labels do not fit the classes")
    situation: dict[str, Any] = {key: tuple(v) if type(v) is list else v for key, v in record["situation"].items()}
    splits = []
    for number, split in enumerate(record["splits"]):
        test = as_indices(split["test"], n, "a split")
        train = None if split["train"] is None else as_indices(split["train"], n, "a split")
        if not test.size or (train is not None and not train.size):
            raise ValueError("a part of a split is empty")
        splits.append(Split(number, test, n, train))
    methods = [MethodInfo(**method) for method in record["methods"]]
    entries = {}
    for entry in map(Entry.from_record, record["entries"]):
        _check_entry(entry, splits, G, record.get("target") is not None)
        entries[entry.key] = entry
    arrays: dict[str, Any] = {}
    for name, shape in (("groups", (n,)), ("costs", (G, G)), ("priors", (G,)), ("target", (n,))):
        dtype = np.intp if name == "groups" else np.float64
        found = arrays[name] = None if record.get(name) is None else np.array(record[name], dtype=dtype)
        if found is not None and (found.shape != shape or not np.isfinite(found).all()):
            raise ValueError(f"the {name} do not fit")
    metric = record.get("metric")
    if metric is None:  # written by 1.0, whose code for training left out the groups
        metric = "error" if arrays["costs"] is None else "cost"
        if arrays["groups"] is not None:
            record["training"] = {}
    return cls(
        classes=classes,
        codes=codes,
        splits=splits,
        methods=methods,
        entries=entries,
        protocol=Protocol(**record["protocol"]),
        situation=MatrixFacts(**situation),
        partial=bool(record["partial"]),
        ids=None if record["ids"] is None else tuple(map(str, record["ids"])),
        sessions=list(record["sessions"]),
        fingerprint=dict(record["fingerprint"]),
        metric=find_metric(metric, RANKING if arrays["target"] is None else OF_VALUES),
        dropped=_counts(record.get("dropped", {}), methods, len(splits)),
        skipped=_counts(record.get("skipped", {}), methods, len(splits)),
        time_budget=None if record.get("time_budget") is None else float(record["time_budget"]),
        name=str(record.get("name", "")),
        arguments=str(record.get("arguments", "")),
        training={str(method): str(code) for method, code in dict(record.get("training", {})).items()},
        _picture=None if record.get("picture") is None else Picture.from_record(record["picture"], n),
        **arrays,
    )


def _counts(given: Any, methods: list[MethodInfo], n_splits: int) -> dict[str, int]:
    counts = {str(name): int(r) for name, r in dict(given).items()}
    if not counts.keys() <= {info.name for info in methods} or not all(0 <= r <= n_splits for r in counts.values()):
        raise ValueError("methods that were dropped or skipped do not fit")
    return counts


def _check_entry(entry: Entry, splits: list[Split], n_classes: int, is_regression: bool) -> None:
    if not entry.ok:
        return
    m = len(splits[entry.split].test)
    predicted, proba = entry.predictions, entry.proba
    fits = predicted is not None and predicted.shape == (m,) and bool(np.isfinite(predicted).all())
    if not fits or (not is_regression and not 0 <= predicted.min() <= predicted.max() < n_classes):  # type: ignore[union-attr]
        raise ValueError(f"the predictions of {entry.method!r} on split {entry.split} do not fit")
    if proba is not None and proba.shape != (m, n_classes):
        raise ValueError(f"the probabilities of {entry.method!r} on split {entry.split} do not fit")
