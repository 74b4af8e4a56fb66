"""``similis predict``: predictions of a trained model for new objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from similis.cli._console import check_output, input_path, note, print_json, write_table
from similis.cli._options import Json, command
from similis.cli._source import Source

if TYPE_CHECKING:
    from similis.study import Predictions

__all__ = ["predict"]


@command(only=("kind", "id_column"))
def predict(
    source: Source,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file that `similis fit` wrote.")],
    rows: Annotated[
        str,
        typer.Argument(
            metavar="ROWS",
            help="Proximities of new objects to the training objects, one row each; or a csv of objects, for a model "
            "that measures. - reads a csv from standard input.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="A csv file; - is standard output.")
    ] = "-",
    json: Json = False,
) -> None:
    """Predict new objects: label, probabilities, and a score that is low for objects unlike all training objects.

    Rows must belong to the model. If both rows and model have ids, columns are matched by id, in any order, and those
    that the model does not need may be absent; else their number must be that of the training objects. A file of the
    other kind is rejected.

    The score is the model's own (`score_samples`) if it has one; otherwise the highest similarity to a training
    object in the rows, or minus the lowest dissimilarity.

    **Examples**

        similis predict model.skops new-rows.csv

        similis predict model.skops new-rows.npz --json

        cat new-votes.csv | similis predict votes.skops - -o predicted.csv
    """
    from similis.io import read_model, read_objects, read_proximity
    from similis.study import predict_rows

    check_output(output)
    trained = read_model(model)
    new: Any
    with input_path(rows) as path:
        if trained.card.reads == "objects":
            new = read_objects(path, id_column=source.id_column)
        else:
            new = read_proximity(path, square=False, kind=source.kind)  # type: ignore[arg-type]
    predictions = predict_rows(trained, new)
    records = _records(predictions)
    if json:
        print_json(records)
        return
    classes = [] if predictions.proba is None else [f"p({label})" for label in predictions.classes.tolist()]
    table = [["id", "label", *classes, "score"]]
    for record in records:
        shares = [f"{p:.6g}" for p in record.get("probabilities", {}).values()]
        table.append([record["id"], record["label"], *shares, f"{record['score']:.6g}"])
    write_table(output, table)
    if output != "-":
        note(f"wrote {len(predictions.labels)} predictions to {output}")


def _records(predictions: Predictions) -> list[dict[str, Any]]:
    """One record per object."""
    records: list[dict[str, Any]] = []
    for i, label in enumerate(predictions.labels.tolist()):
        record: dict[str, Any] = {"id": str(i) if predictions.ids is None else predictions.ids[i], "label": label}
        if predictions.proba is not None:
            record["probabilities"] = dict(zip(map(str, predictions.classes.tolist()), predictions.proba[i].tolist()))
        records.append({**record, "score": float(predictions.scores[i])})
    return records
