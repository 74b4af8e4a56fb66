"""``similis study``: which methods work on these data, how well, and is the difference real."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from similis.cli._console import INTERRUPTED, check_output, echo, guarded, note, print_json, print_table, show_progress
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

if TYPE_CHECKING:
    from similis.study import StudyResult

__all__ = ["StudyOptions", "study"]


@dataclass(frozen=True)
class StudyOptions:
    """What ``similis study`` was asked to do."""

    source: Source
    setup: StudySetup
    report: str | None = None
    watch: bool = False
    save: str | None = None
    listing: bool = False
    json: bool = False
    quiet: bool = False


def study(
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
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="A method, `all` or `quick`; may be repeated. All by default.",
            autocompletion=complete_method,
            show_default=False,
        ),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the methods and stop.")] = False,
    protocol: Protocol = "random",
    splits: Splits = 20,
    test_size: TestSize = 0.2,
    folds: Folds = "10",
    journal: Journal = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    report: Annotated[
        str | None,
        typer.Option("--report", metavar="FILE", help="Write a report to this html file.", show_default=False),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Keep the report fresh while the study runs; report.html unless --report says."),
    ] = False,
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="FILE", help="Write all results to this JSON file.", show_default=False),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods on a matrix, or on objects and a measure, and say which one to use.

    Every method chooses its parameters inside each training part and is judged on objects it has not seen; whatever
    learns (spectra, conversions, vdm) is fitted inside the split. The table shows errors, ranks and whether
    differences are real; below it stands what to use, what error to expect, and how to train it.

    With a journal nothing is lost: stop the study at any moment and start it again.

    **Examples**

        similis study matrix.csv --labels labels.csv

        similis study votes.csv --measure vdm --label-column party --jobs 2 --journal votes.journal

        similis study --dataset votes --method quick --report votes.html --watch

        similis study distances.npz --kind dissimilarity --method knn --method nc --splits 10 --json
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
        setup = StudySetup(
            methods=tuple(method or ("all",)),
            protocol=protocol,
            splits=splits,
            test_size=test_size,
            folds=folds,
            seed=seed,
            jobs=jobs,
            journal=journal,
        )
        run(
            StudyOptions(
                source=source,
                setup=setup,
                report=report,
                watch=watch,
                save=save,
                listing=listing,
                json=json,
                quiet=quiet,
            )
        )


def run(options: StudyOptions) -> None:
    """Run the study and show what came of it."""
    if options.listing:
        _list(options)
        return
    if options.watch and options.report is None:
        options = replace(options, report="report.html")
    check_output(options.report, options.save, options.setup.journal)
    data = load_data(options.source)
    result = make_study(options.setup).run(
        data.values,
        data.known_labels(),
        kind=data.kind,
        ids=data.ids,
        groups=data.groups,
        costs=data.costs,
        measure=data.measure,
        progress=show_progress(options.quiet),
        watch=_watcher(options) if options.watch else None,
    )
    _name(result, options.source)
    if options.save is not None:
        result.save(options.save)
    if options.report is not None:
        result.to_html(options.report)
    _show(result, options)
    if result.partial:
        note("interrupted; these are the results so far.")
        raise typer.Exit(INTERRUPTED)


def _name(result: StudyResult, source: Source) -> None:
    """Let results and report speak of the data as the user did."""
    result.name = source.name()
    result.arguments = source.arguments()


def _watcher(options: StudyOptions) -> Callable[[StudyResult], None]:
    """What writes the report while the study runs."""
    told = False

    def write(result: StudyResult) -> None:
        nonlocal told
        _name(result, options.source)
        try:
            result.to_html(str(options.report), refresh=10)
        except OSError as error:  # a full disk now must not cost the hours before
            if not told:
                note(f"the report cannot be written now ({error.strerror}); the study goes on.")
        if not told and not options.quiet:
            note(f"{options.report} shows the results so far and renews itself; open it in a browser.")
        told = True

    return write


def _show(result: StudyResult, options: StudyOptions) -> None:
    advice = result.recommend() if result.complete_methods() else None
    if options.json:
        print_json(
            {
                "objects": len(result.codes),
                "classes": result.classes,
                "kind": result.kind,
                "protocol": result.protocol.describe(len(result.splits)),
                "partial": result.partial,
                "table": [row.to_dict() for row in result.table()],
                "recommendation": None if advice is None else asdict(advice),
            }
        )
        return
    echo(str(result))
    if advice is not None:
        echo(f"\nIn Python:\n\n{advice.python}\n\nOn the command line:\n\n{advice.command}")


def _list(options: StudyOptions) -> None:
    from similis.study import list_methods

    methods = list_methods()
    if options.json:
        keys = ("name", "family", "paper", "summary", "needs", "reads", "baseline", "quick")
        print_json([{key: getattr(method, key) for key in keys} for method in methods])
    else:
        print_table(
            ("method", "reads", "what it is", "paper"), [(m.name, m.reads, m.summary, m.paper) for m in methods]
        )
