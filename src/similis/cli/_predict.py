"""``similis predict``: what a trained model says about new objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from similis.cli._console import check_output, guarded, note, print_json, readable, write_table
from similis.cli._options import IdColumn, Json, KindOption

if TYPE_CHECKING:
    from similis.study import Predictions

__all__ = ["PredictOptions", "predict"]


@dataclass(frozen=True)
class PredictOptions:
    """What ``similis predict`` was asked to do."""

    model: str
    rows: str
    output: str = "-"
    kind: str | None = None
    id_column: str | None = None
    json: bool = False


def predict(
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
    kind: KindOption = None,
    id_column: IdColumn = None,
    json: Json = False,
) -> None:
    """Predict new objects: label, probabilities, and a score that is low for objects unlike any known one.

    Rows must belong to the model. Where both know ids, columns are found by id, in whatever order they stand; else
    their number must be that of the training objects. A file that says it holds the other kind is refused.

    The score is the model's own (`score_samples`) where it has one; otherwise the highest similarity to a training
    object, or minus the lowest dissimilarity.

    **Examples**

        similis predict model.skops new-rows.csv

        similis predict model.skops new-rows.npz --json

        cat new-votes.csv | similis predict votes.skops - -o predicted.csv
    """
    with guarded():
        run(PredictOptions(model=model, rows=rows, output=output, kind=kind, id_column=id_column, json=json))


def run(options: PredictOptions) -> None:
    """Predict and write."""
    from similis.io import read_objects, read_proximity
    from similis.study import predict_rows, read_model

    check_output(options.output)
    trained = read_model(options.model)
    rows: Any
    with readable(options.rows) as path:
        if trained.card.reads == "objects":
            rows = read_objects(path, id_column=options.id_column)
        else:
            rows = read_proximity(path, square=False, kind=options.kind)  # type: ignore[arg-type]
    found = predict_rows(trained, rows)
    if options.json:
        print_json(_records(found))
        return
    write_table(options.output, _table(found))
    if options.output != "-":
        note(f"wrote {len(found.labels)} predictions to {options.output}")


def _records(found: Predictions) -> list[dict[str, Any]]:
    """One record per object."""
    records: list[dict[str, Any]] = []
    for i, label in enumerate(found.labels.tolist()):
        record: dict[str, Any] = {"id": str(i) if found.ids is None else found.ids[i], "label": label}
        if found.proba is not None:
            record["probabilities"] = dict(zip(map(str, found.classes.tolist()), found.proba[i].tolist()))
        records.append({**record, "score": float(found.scores[i])})
    return records


def _table(found: Predictions) -> Iterator[list[Any]]:
    classes = [] if found.proba is None else [f"p({label})" for label in found.classes.tolist()]
    yield ["id", "label", *classes, "score"]
    for record in _records(found):
        shares = [f"{p:.6g}" for p in record.get("probabilities", {}).values()]
        yield [record["id"], record["label"], *shares, f"{record['score']:.6g}"]
