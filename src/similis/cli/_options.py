"""Options that several commands share, written once."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from similis.cli._measures import complete_measure
from similis.cli._source import complete_dataset

__all__ = [
    "Columns",
    "Costs",
    "DatasetName",
    "Groups",
    "IdColumn",
    "Jobs",
    "Json",
    "KindOption",
    "LabelColumn",
    "Labels",
    "MatrixOrObjects",
    "MeasureName",
    "Params",
    "Quiet",
    "Seed",
]

_data = partial(typer.Option, rich_help_panel="Data", show_default=False)

MatrixOrObjects = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="Matrix of proximities (npz, npy, csv, tsv, parquet; - reads a csv from standard input), or, with "
        "--measure, objects (csv; json for graphs, point sets and series).",
        show_default=False,
    ),
]
DatasetName = Annotated[
    str | None,
    _data(
        "--dataset",
        metavar="NAME",
        help="A data set by name instead of a file; `similis datasets` lists them.",
        autocompletion=complete_dataset,
    ),
]
Labels = Annotated[
    str | None, _data("--labels", "-l", metavar="FILE", help="Class labels: lines `id,label`, or one label a line.")
]
KindOption = Annotated[
    str | None,
    _data(
        "--kind",
        "-k",
        metavar="similarity|dissimilarity",
        help="What the numbers are, where the file does not say; similarity otherwise.",
    ),
]
MeasureName = Annotated[
    str | None,
    _data(
        "--measure",
        "-m",
        metavar="NAME",
        help="How objects are compared: counting, vdm, jaccard, minkowski, rbf, ...",
        autocompletion=complete_measure,
    ),
]
Params = Annotated[
    list[str] | None,
    _data("--param", "-p", metavar="KEY=VALUE", help="A parameter of the measure, such as q=1; may be repeated."),
]
IdColumn = Annotated[
    str | None,
    _data("--id-column", metavar="NAME", help="Column of the objects' names; one called id or name by default."),
]
LabelColumn = Annotated[
    str | None,
    _data(
        "--label-column",
        metavar="NAME",
        help="Column of the class labels; one called class, label or target by default.",
    ),
]
Columns = Annotated[
    list[str] | None,
    _data(
        "--column", metavar="NAME", help="A column that describes the objects; may be repeated, all others by default."
    ),
]
Groups = Annotated[
    str | None,
    _data(
        "--groups", metavar="FILE", help="Objects of one group are never split: lines `id,group`, or one group a line."
    ),
]
Costs = Annotated[
    str | None,
    _data(
        "--costs",
        metavar="FILE",
        help="What mistakes cost: a csv with the class said in the rows, the true class in the columns.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Number of processes; -1 takes all cores.")]
Seed = Annotated[int, typer.Option("--seed", help="Start of the random numbers.")]
