"""Options that several commands share, written once."""

from __future__ import annotations

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

_DATA = "Data"

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
    typer.Option(
        "--dataset",
        metavar="NAME",
        help="A data set by name instead of a file; `similis datasets` lists them.",
        autocompletion=complete_dataset,
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        "-l",
        metavar="FILE",
        help="Class labels: lines `id,label`, or one label a line.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
KindOption = Annotated[
    str | None,
    typer.Option(
        "--kind",
        "-k",
        metavar="similarity|dissimilarity",
        help="What the numbers are, where the file does not say; similarity otherwise.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
MeasureName = Annotated[
    str | None,
    typer.Option(
        "--measure",
        "-m",
        metavar="NAME",
        help="How objects are compared: counting, vdm, jaccard, minkowski, rbf, ...",
        autocompletion=complete_measure,
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="KEY=VALUE",
        help="A parameter of the measure, such as q=1; may be repeated.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id-column",
        metavar="NAME",
        help="Column of the objects' names; one called id or name by default.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label-column",
        metavar="NAME",
        help="Column of the class labels; one called class, label or target by default.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME",
        help="A column that describes the objects; may be repeated, all others by default.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="FILE",
        help="Objects of one group are never split: lines `id,group`, or one group a line.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        "--costs",
        metavar="FILE",
        help="What mistakes cost: a csv with the class said in the rows, the true class in the columns.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Number of processes; -1 takes all cores.")]
Seed = Annotated[int, typer.Option("--seed", help="Start of the random numbers.")]
