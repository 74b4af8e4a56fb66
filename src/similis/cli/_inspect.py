"""``similis inspect``: what a matrix is like, and what that means for methods."""

from __future__ import annotations

from dataclasses import dataclass

from similis.cli._console import echo, guarded, print_json
from similis.cli._options import (
    Columns,
    DatasetName,
    IdColumn,
    Json,
    KindOption,
    LabelColumn,
    Labels,
    MatrixOrObjects,
    MeasureName,
    Params,
)
from similis.cli._source import Source, load_data

__all__ = ["InspectOptions", "inspect"]


@dataclass(frozen=True)
class InspectOptions:
    """What ``similis inspect`` was asked to do."""

    source: Source
    json: bool = False


def inspect(
    file: MatrixOrObjects = None,
    labels: Labels = None,
    kind: KindOption = None,
    dataset: DatasetName = None,
    measure: MeasureName = None,
    param: Params = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    column: Columns = None,
    json: Json = False,
) -> None:
    """Look at a matrix: symmetry, spectrum, triangles, ties, missing entries, classes, and what to try.

    Nothing is changed or repaired; every finding comes with its number, and the advice with its reason.

    **Examples**

        similis inspect matrix.csv --labels labels.csv

        similis inspect distances.npz --kind dissimilarity --json

        similis inspect --dataset votes --measure counting
    """
    with guarded():
        source = Source(
            path=file,
            dataset=dataset,
            labels=labels,
            kind=kind,
            measure=measure,
            params=tuple(param or ()),
            id_column=id_column,
            label_column=label_column,
            columns=tuple(column or ()),
        )
        run(InspectOptions(source, json))


def run(options: InspectOptions) -> None:
    """Diagnose and print."""
    data = load_data(options.source)
    from similis.measures import Pairwise
    from similis.proximity import diagnose

    values = data.values
    if data.measure is not None:
        values = Pairwise(data.measure).fit_transform(values, data.labels)
    found = diagnose(values, data.labels, kind=data.kind or "similarity")
    if options.json:
        print_json(found.to_dict())
    else:
        echo(str(found))
