"""Options that several commands share, written once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from similis.cli._source import complete_dataset, complete_measure
from similis.exceptions import ProximityError

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
    "Folds",
    "Journal",
    "Protocol",
    "Splits",
    "StudySetup",
    "TestSize",
    "complete_method",
    "make_study",
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


if TYPE_CHECKING:
    from similis.study import Study


_option = partial(typer.Option, rich_help_panel="Protocol")

Protocol = Annotated[
    str,
    _option(
        "--protocol",
        metavar="random|stratified|kfold|loo",
        help="Random splits, the same with class shares kept, repeated folds, or leave one out.",
    ),
]
Splits = Annotated[int, _option("--splits", "-n", help="Number of splits.")]
TestSize = Annotated[float, _option("--test-size", help="Share that is held out.")]
Folds = Annotated[str, _option("--folds", metavar="N|loo", help="Folds that choose parameters inside a split.")]
Journal = Annotated[
    str | None,
    _option(
        "--journal",
        metavar="FILE",
        help="Write down every finished split at once; a later run goes on from there.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class StudySetup:
    """How methods are compared."""

    methods: tuple[str, ...] = ("all",)
    protocol: str = "random"
    splits: int = 20
    test_size: float = 0.2
    folds: str = "10"
    seed: int = 0
    jobs: int = 1
    journal: str | None = None


def make_study(setup: StudySetup) -> Study:
    """The study that was asked for."""
    from similis.study import Study

    methods: Any = setup.methods[0] if setup.methods in (("all",), ("quick",)) else list(setup.methods)
    if setup.folds != "loo" and not setup.folds.isdecimal():
        raise ProximityError(f"--folds must be a number or 'loo'. Got {setup.folds[:40]!r}.")
    return Study(
        methods,
        protocol=setup.protocol,  # type: ignore[arg-type]
        n_splits=setup.splits,
        test_size=setup.test_size,
        cv="loo" if setup.folds == "loo" else int(setup.folds),
        random_state=setup.seed,
        n_jobs=setup.jobs,
        journal=setup.journal,
    )


def complete_method(incomplete: str) -> list[str]:
    """Names that begin with what was typed, for shell completion."""
    from similis.study import list_methods

    return [method.name for method in list_methods() if method.name.startswith(incomplete)]
