"""``similis predict``: predictions of a trained model for new objects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import similis
from similis.cli._console import input_path, note, print_json
from similis.cli._options import Json, Overwrite, argument, command, option
from similis.cli._outputs import check_outputs, tell_written, write_table
from similis.cli._source import PAIRS, Source
from similis.exceptions import ProximityError

if TYPE_CHECKING:
    from similis.io import ModelCard, Proximity
    from similis.study import Predictions

DEFAULT_LEVEL = 0.9  # of the sets and intervals of a calibrated model
_NUMBERS = ("score", "outlier_p", "lower", "upper")  # columns of a table


@command(only=("kind", "id_column", *PAIRS))
def predict(
    source: Source,
    model: str = argument(metavar="MODEL", help="Model file that `similis fit` wrote."),
    rows: str = argument(),
    more: list[str] | None = argument(default=None),
    output: str = option("-o", default="-", metavar="FILE", help="A csv or tsv file; - is standard output."),
    header: bool | None = option("--header/--no-header"),
    escape_formulas: bool = option(default=False),
    confidence: float | None = option(min=0.0, max=1.0),
    explain: int = option(default=0, metavar="K", min=0, help="Also print the K training objects that decided."),
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Predict new objects: label, or value, and whether they resemble the training objects.

    rows ROWS: Proximities of new objects to the training objects, one row each; or a csv of objects, for a model that
        measures. - reads a csv from standard input.
    more [ROWS...]: Rows of the other matrices, for a model of several, in the order of training.
    header: The first line of a text file of proximities names the columns, or is a row; by content by default.
    escape_formulas: Put an apostrophe before ids and labels that a spreadsheet would evaluate (=, +, -, @).
    confidence LEVEL: Probability with which the set of classes, or the interval, contains the true class or value; for
        a model of `similis fit --conformal`. 0.9 by default.

    Rows must belong to the model. If both rows and model have ids, columns are matched by id, in any order, and those
    that the model does not need may be absent; else their number must be that of the training objects. A file of the
    other kind is rejected.

    The score is the model's own (`score_samples`) if it has one; otherwise the highest similarity to a training
    object in the rows, or minus the lowest dissimilarity. `outlier_p` is a p-value: of new objects like the training
    objects, 5 % have 0.05 or less; an object unlike all of them has a value near zero.

    For a model of `similis fit --conformal`, the column `set` lists the classes that are possible, separated by |. An
    empty set marks an object that fits no class well. A regression has the columns `lower` and `upper`. With
    `--explain` the column `because` names training objects with their contributions to the prediction, the largest
    first.

    Ids and labels are written as they are. Give `--escape-formulas` before opening the table in a spreadsheet if others
    chose the names. On a terminal, control characters are shown by their numbers.

    **Examples**

        similis predict model.skops new-rows.csv
        similis predict model.skops new-rows.npz --json
        similis predict combined.skops rows1.csv rows2.csv
        similis predict model.skops new-rows.csv --confidence 0.9 --explain 5
        cat new-votes.csv | similis predict votes.skops - -o predicted.csv
    """
    check_outputs([model, rows, *(more or [])], overwrite=overwrite, predictions=output)
    trained = similis.io.read_model(model)
    if trained.card.calibration is not None:
        confidence = DEFAULT_LEVEL if confidence is None else confidence
    elif confidence is not None:
        missing = f"{model} has no calibrated prediction sets, which --confidence needs"
        raise ProximityError(f"{missing}. Train it again with `similis fit --conformal`.")
    blocks: list[Any] = []
    for file in [rows, *(more or [])]:
        with input_path(file) as path:
            if trained.card.reads == "objects":
                how: Any = {"types": trained.card.types, "unlabeled": ""}  # labels are not used
                blocks.append(similis.io.read_objects(path, id_column=source.id_column, **how))
                continue
            new: Any = similis.read_proximity(path, square=False, kind=source.kind, header=False, **source.pairs())
            if new.ids is None and new.columns is None and new.about["format"] == "table of numbers in text":
                new = _without_header(new, trained.card, header, file)
            blocks.append(new)
    predictions = similis.study.predict_rows(trained, blocks, explain=explain, confidence=confidence)
    records = prediction_records(predictions, confidence)
    if json and output == "-":
        print_json({"predictions": records})
        return
    write_table(output, prediction_table(records), escape_formulas=escape_formulas)
    tell_written(output, json, f"wrote {len(records)} predictions to {output}", predictions=records)


def _without_header(new: Proximity, card: ModelCard, header: bool | None, where: str) -> Proximity:
    """Separate a first line that names the columns: ids, or numbers from 0 or 1, above values that are not whole."""
    import numpy as np

    first, others = new.values[0], new.values[1:]
    names = [str(int(v)) if float(v).is_integer() else str(v) for v in first.tolist()]
    by_id = card.ids is not None and sorted(names) == sorted(card.ids)
    if header is None:
        is_named = by_id or any(np.array_equal(first, np.arange(start, start + len(first))) for start in (0, 1))
        whole = bool((others == np.round(others)).all())  # also where there are no others
        distinct = len(set(names)) == len(first) > 2 and bool((first == np.round(first)).all())
        apart = distinct and not whole and bool(first.min() > np.nanmax(others))
        if is_named and not whole:
            note(f"the first line of {where} is read as names of the columns; --no-header reads it as a row.")
        elif is_named or apart:
            either = f"may name the columns ({', '.join(names[:3])}, ...) or hold the proximities of an object"
            raise ProximityError(f"The first line of {where} {either}. Use --header or --no-header.")
        header = is_named
    if not header:
        return new
    if not len(others):
        raise ProximityError(f"{where} has no rows below the first line, which names the columns.")
    return replace(new, values=others, column_ids=tuple(names) if by_id else None)


def prediction_table(records: list[dict[str, Any]]) -> list[list[Any]]:
    """Lines of a table below a header: id, label or value, probabilities, scores, set or interval, reasons."""
    table: list[list[Any]] = []
    for record in records:
        row = {"id": record["id"]}
        row |= {"value": f"{record['value']:.8g}"} if "value" in record else {"label": record["label"]}
        row |= {f"p({name})": f"{p:.6g}" for name, p in record.get("probabilities", {}).items()}
        row |= {name: f"{record[name] + 0.0:.6g}" for name in _NUMBERS if name in record}
        row |= {"set": " | ".join(record["set"])} if "set" in record else {}
        if "because" in record:
            row["because"] = ", ".join(f"{name} ({v:.2g})" for name, v in record["because"].items())
        table += [list(row)] * (not table) + [list(row.values())]
    return table


def prediction_records(predictions: Predictions, confidence: float | None) -> list[dict[str, Any]]:
    """Predictions by object, with sets of classes at this confidence."""
    classes = list(map(str, predictions.classes.tolist()))
    what = "label" if classes else "value"
    records: list[dict[str, Any]] = []
    for i, label in enumerate(predictions.labels.tolist()):
        record: dict[str, Any] = {"id": str(i) if predictions.ids is None else predictions.ids[i], what: label}
        if predictions.proba is not None:
            record["probabilities"] = dict(zip(classes, predictions.proba[i].tolist()))
        record["score"] = float(predictions.scores[i])
        if predictions.outlier_p is not None:
            record["outlier_p"] = float(predictions.outlier_p[i])
        if predictions.intervals is not None:
            record["lower"], record["upper"] = predictions.intervals[i].tolist()
        if confidence is not None and predictions.p_values is not None:
            p = predictions.p_values[i].tolist()
            record["p_values"] = dict(zip(classes, p))
            record["set"] = [name for name, value in zip(classes, p) if value > 1 - confidence + 1e-9]
        if predictions.because is not None:
            record["because"] = dict(predictions.because[i])
        records.append(record)
    return records
