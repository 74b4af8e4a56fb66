"""``similis fit``: train a method on all data and write it down with a card."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from similis.cli._console import check_output, echo, guarded, note, print_json, show_progress
from similis.cli._options import (
    Columns,
    Costs,
    DatasetName,
    Folds,
    Groups,
    IdColumn,
    Jobs,
    Journal,
    Json,
    KindOption,
    LabelColumn,
    Labels,
    MatrixOrObjects,
    MeasureName,
    Params,
    Protocol,
    Quiet,
    Seed,
    Splits,
    StudySetup,
    TestSize,
    complete_method,
    make_study,
)
from similis.cli._source import Source, load_data

__all__ = ["FitOptions", "fit"]


@dataclass(frozen=True)
class FitOptions:
    """What ``similis fit`` was asked to do."""

    source: Source
    setup: StudySetup
    method: str = "best"
    output: str = "model.skops"
    json: bool = False
    quiet: bool = False


def fit(
    file: MatrixOrObjects = None,
    labels: Labels = None,
    kind: KindOption = None,
    dataset: DatasetName = None,
    measure: MeasureName = None,
    param: Params = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    column: Columns = None,
    groups: Groups = None,
    costs: Costs = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="A method of `similis study --list`; `best` and `quick` compare all, or the quick ones, first.",
            autocompletion=complete_method,
        ),
    ] = "best",
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The model file.")] = "model.skops",
    protocol: Protocol = "random",
    splits: Splits = 20,
    test_size: TestSize = 0.2,
    folds: Folds = "10",
    journal: Journal = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a method on all data and write the model, with a card beside it.

    The error to expect is estimated first, by the splits of `similis study`; then the parameters are chosen on all
    data. The card (`model.card.json`) holds it with its interval, the method, versions, fingerprints of the data,
    and what new rows must be like.

    **Examples**

        similis fit matrix.csv --labels labels.csv --method knn --output model.skops

        similis fit matrix.csv --labels labels.csv --journal study.journal

        similis fit votes.csv --measure vdm --label-column party --method "svm-kernel(clip)"
    """
    with guarded():
        columns = tuple(column or ())
        source = Source(
            path=file,
            dataset=dataset,
            labels=labels,
            kind=kind,
            measure=measure,
            params=tuple(param or ()),
            id_column=id_column,
            label_column=label_column,
            columns=columns,
            groups=groups,
            costs=costs,
        )
        methods = {"best": "all", "quick": "quick"}.get(method, method)
        setup = StudySetup(
            methods=(methods,),
            protocol=protocol,
            splits=splits,
            test_size=test_size,
            folds=folds,
            seed=seed,
            jobs=jobs,
            journal=journal,
        )
        run(FitOptions(source=source, setup=setup, method=method, output=output, json=json, quiet=quiet))


def run(options: FitOptions) -> None:
    """Train and write."""
    from similis.study import train_model, write_model

    check_output(options.output, options.setup.journal)
    data = load_data(options.source)
    trained = train_model(
        data.values,
        data.known_labels(),
        study=make_study(options.setup),
        kind=data.kind,
        ids=data.ids,
        groups=data.groups,
        costs=data.costs,
        measure=data.measure,
        columns=data.columns,
        progress=show_progress(options.quiet),
    )
    beside = write_model(trained, options.output)
    card = trained.card
    if options.json:
        print_json({"output": options.output, "card": str(beside), **asdict(card)})
        return
    chosen = ", ".join(f"{key} = {value}" for key, value in card.params.items())
    echo(f"{card.method}{f' with {chosen}' if chosen else ''}, trained on {card.n} objects.")
    if card.expected is not None:
        low, high = card.expected["interval"]
        echo(
            f"Expect an error of {100 * card.expected['error']:.1f} % on new objects "
            f"(95 % interval {100 * low:.1f} % to {100 * high:.1f} %)."
        )
    note(f"wrote {options.output} and {beside}")
