"""``similis datasets``: what there is, and a way to have it in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from similis.cli._console import check_output, echo, guarded, note, print_json, print_table, writable, write_table
from similis.cli._options import Json
from similis.cli._source import complete_dataset
from similis.exceptions import ProximityError

__all__ = ["DatasetOptions", "datasets"]


@dataclass(frozen=True)
class DatasetOptions:
    """What ``similis datasets`` was asked to do."""

    name: str | None = None
    output: str | None = None
    data: str | None = None
    json: bool = False


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A data set.", autocompletion=complete_dataset, show_default=False),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Export to this file; - is standard output.", show_default=False
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="DIR", help="Folder of benchmark data, instead of SIMILIS_DATA.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the data sets, describe one, or export it.

    Objects are exported as a csv with a column `class`, matrices in the format that the file's ending names, with
    their labels.

    **Examples**

        similis datasets

        similis datasets votes

        similis datasets votes -o votes.csv

        similis datasets protein_uw --data ~/benchmarks -o protein.npz
    """
    with guarded():
        run(DatasetOptions(name, output, data, json))


def run(options: DatasetOptions) -> None:
    """List, describe or export."""
    from similis.datasets import list_datasets, load_benchmark

    if options.name is None:
        _list(options)
        return
    check_output(options.output)
    bunch = load_benchmark(options.name, data_home=options.data)
    if options.output is not None:
        _export(bunch, options.output)
        return
    info = next(info for info in list_datasets() if info.name == options.name)
    if options.json:
        print_json({**info._asdict(), "classes": bunch.target_names, "description": bunch.DESCR})
        return
    echo(f"{info.name}: {info.about}. {info.n} objects, {info.n_classes} classes, {info.kind}.")
    echo(" ".join(str(bunch.DESCR).split()) if info.where != "sklearn" else "Part of scikit-learn.")


def _list(options: DatasetOptions) -> None:
    from similis.datasets import has_dataset, list_datasets

    found = [(info, has_dataset(info.name, data_home=options.data)) for info in list_datasets()]
    rows = [{**info._asdict(), "available": here} for info, here in found]
    if options.json:
        print_json(rows)
        return
    head = ("name", "objects", "classes", "kind", "here", "about")
    keys = ("name", "n", "n_classes", "kind", "available", "about")
    print_table(
        head, [[("yes" if v is True else "no" if v is False else v) for v in map(row.get, keys)] for row in rows]
    )


def _export(bunch: Any, output: str) -> None:
    import numpy as np

    from similis.io import Proximity, write_proximity

    labels: Any = None if bunch.target is None else np.asarray(bunch.target_names)[bunch.target]
    if bunch.kind in ("similarity", "dissimilarity"):
        ids = bunch.get("ids")
        matrix = Proximity(bunch.proximity, None if ids is None else tuple(map(str, ids)), bunch.kind, labels)
        with writable(output) as path:
            write_proximity(path, matrix)
    elif bunch.kind == "graphs":
        raise ProximityError(f"{bunch.name} holds graphs, which no table can hold; use similis.datasets from Python.")
    else:
        rows = ([*row, label] for row, label in zip(bunch.data.tolist(), labels))
        write_table(output, [[*bunch.feature_names, "class"], *rows])
    if output != "-":
        note(f"wrote {bunch.name} to {output}")
