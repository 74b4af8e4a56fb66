"""``similis study``, ``similis fit`` and ``similis report``: compare methods, train one, write the report."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import similis
from similis._utils.files import is_stream
from similis.cli._console import FAILED, INTERRUPTED, echo, in_cli_words, note, print_json, print_table, show_progress
from similis.cli._options import Json, Overwrite, Quiet, Seed, argument, command, connect_cluster, option
from similis.cli._outputs import check_outputs, write_table
from similis.cli._predict import DEFAULT_LEVEL, prediction_records, prediction_table
from similis.cli._source import Inputs, Source, completion, load_data, load_unlabeled
from similis.exceptions import ClusterError, ProximityError

if TYPE_CHECKING:
    from similis.study import Estimate, Study, StudyResult

_option = partial(option, rich_help_panel="Protocol")
complete_method = completion(lambda: (method.name for method in similis.study.list_methods(None)))


@dataclass(frozen=True)
class StudySetup:
    """Options that say how methods are compared.

    protocol random|stratified|kfold|loo: Random splits, the same with class shares kept, repeated folds, or leave one
        out.
    splits: Number of splits.
    test_size: Fraction of the objects that is held out.
    folds N|loo: Folds that choose the parameters inside a split.
    journal FILE: Write every finished split to this file at once; a later run resumes from it.
    target NAME: Column of numbers to predict, in the table of objects, the --labels or the --metadata file: a
        regression.
    task classification|regression: Predict classes or numbers; by default numbers if the labels have fractions or
        seldom repeat.
    metric NAME: Metric that ranks the methods and chooses their parameters: error, balanced_error (by default if a
        class is rare), cost (by default with --costs or --priors), log_loss, perplexity, nce; in a regression rmse,
        mae, r2 or pinball(0.9).
    full: Run every method on every split; by default methods that are behind are dropped, from split 5 on.
    budget TIME: Time for the comparison, such as 90s, 5m or 2h, shared fairly by the methods; what does not fit is
        skipped.
    landmarks auto|none|N: Fit methods that are too slow for the data on some of the training objects: as many as the
        time allows, or N. The table names these methods `NAME(landmarks=N)`.
    cluster ADDRESS|local: Run on a Dask cluster: its scheduler, such as tcp://10.0.0.1:8786, or local for processes of
        this machine.
    jobs N: Number of processes; by default all cores, or one for a study of a few seconds.
    """

    protocol: str = _option(default="random")
    splits: int = _option("-n", default=20)
    test_size: float = _option(default=0.2)
    folds: str = _option(default="10")
    journal: str | None = _option()
    target: str | None = _option()
    task: str | None = _option()
    metric: str | None = _option()
    full: bool = _option(default=False)
    budget: str | None = _option()
    landmarks: str = _option(default="auto")
    cluster: str | None = _option()
    seed: Seed = 0
    jobs: int | None = option("-j")

    def load(self, source: Source) -> Inputs:
        task = self.task
        if task not in (None, "classification", "regression"):
            raise ProximityError(f"--task must be classification or regression. Got {str(task)[:40]!r}.")
        if self.target is not None:
            if source.label_column is not None or task == "classification":
                raise ProximityError("--target names numbers to predict; leave out --label-column and --task.")
            source, task = replace(source, label_column=self.target), "regression"
        return load_data(source, need_labels=True, task=task)

    def make_study(self, methods: list[str], inputs: Inputs) -> Study:
        if self.metric == "cost" and inputs.costs is None and inputs.priors is None:
            raise ProximityError("--metric cost needs --costs or --priors.")
        if self.folds != "loo" and not self.folds.isdecimal():
            raise ProximityError(f"--folds must be a number or 'loo'. Got {self.folds[:40]!r}.")
        if self.landmarks not in ("auto", "none") and not self.landmarks.isdecimal():
            raise ProximityError(f"--landmarks must be auto, none or a number. Got {self.landmarks[:40]!r}.")
        same = {name: getattr(self, name) for name in ("protocol", "test_size", "journal", "metric")}
        return similis.Study(
            methods[0] if methods in (["all"], ["quick"]) else methods,
            n_splits=self.splits,
            cv="loo" if self.folds == "loo" else int(self.folds),
            random_state=self.seed,
            n_jobs=self.jobs,
            race=not self.full,
            time_budget=self.budget,
            landmarks={"auto": "auto", "none": None}.get(self.landmarks, self.landmarks),
            task="classification" if inputs.target is None else "regression",
            **same,
        )

    @contextmanager
    def processes(self) -> Iterator[None]:
        """Use the processes of a cluster, where there is one."""
        if self.cluster is None:
            yield
            return
        try:
            with connect_cluster(self.cluster) as client, similis.distributed.cluster_jobs(client):
                yield
        except ClusterError as error:
            if self.journal is not None:
                raise
            raise ClusterError(f"{error} Without --journal FILE it starts anew.") from None

    def describe_time(self, expected: Estimate) -> str:
        """Sentence about the expected time, and about the option that limits it."""
        if self.budget is not None:
            return f"{expected}; --budget {self.budget} limits it."
        words = str(expected)
        if not self.full and expected.n_splits > 5:
            words += "; less if methods are dropped from the race"
        if expected.is_long:
            words += ". This is more than ten minutes: --budget 5m limits it"
        return f"{words}."


@command()
def study(
    source: Source,
    setup: StudySetup,
    method: list[str] | None = option(autocompletion=complete_method),
    listing: bool = option("--list", default=False, help="List the methods, or explain the one that is named."),
    report: str | None = option(metavar="FILE", help="Write a report to this html file."),
    watch: bool = option(default=False),
    save: str | None = option(metavar="FILE", help="Write all results to this JSON file."),
    estimate: bool = option(default=False, help="Print how long the study would take, by method, and stop."),
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods on a matrix, or on objects and a measure, and recommend one.

    method NAME: A method, `all` or `quick`; may be repeated. All by default. Parameters in parentheses:
        "local-sda(neighborhood=per-class, n_neighbors=5|10)".
    watch: Update the report while the study runs; report.html unless --report is given.

    Every method chooses its parameters inside each training part and predicts objects it was not fitted on; whatever
    learns (spectra, conversions, vdm) is fitted inside the split. The table shows errors, ranks and a verdict on the
    difference to the best method; below it are the recommended method, its expected error, and how to fit it.

    Before it runs, the command prints how long it will take. From split 5 on methods that are behind are dropped; their
    rows stay in the table. A study with a journal can be stopped at any moment and started again: it resumes.

    **Examples**

        similis study matrix.csv --labels labels.csv
        similis study votes.csv --measure vdm --label-column party --jobs 2 --journal votes.journal
        similis study --dataset votes --method quick --report votes.html --watch
        similis study distances.npz --kind dissimilarity --method knn --method nc --splits 10 --json
        similis study matrix.csv --labels labels.csv --budget 5m --journal study.journal
        similis study large.npy --labels labels.csv --budget 30m --cluster tcp://10.0.0.1:8786
        similis study matrix.csv --labels labels.csv --method "svm-kernel(clip, C=1|10|100)" --method knn
        similis study s1.csv s2.npz k3.csv --labels labels.csv
        similis study distances.csv --metadata samples.csv --target ph
        similis study --list local-sda
    """
    if listing:
        _list_methods(source.path, json)
        return
    report = report or ("report.html" if watch else None)
    check_outputs(source.files(), overwrite=overwrite, report=report, results=save, journal=setup.journal)
    inputs = setup.load(source)
    planned = setup.make_study(method or ["all"], inputs)
    if inputs.kinds is not None and planned.methods == "all" and not quiet:
        run = "the methods that combine them run, and the quick ones on each matrix and on their mean"
        note(f"several matrices: {run}. Name others with --method, such as --method 'svm-kernel(flip)'.")
    if estimate:
        expected = planned.estimate(inputs.data, inputs.target)
        if json:
            print_json(asdict(expected))
            return
        times = sorted(expected.per_split.items(), key=lambda item: -item[1])
        rows = [(name, f"{seconds:.2f}", "not measured" * (name in expected.unknown)) for name, seconds in times]
        print_table(("method", "s per split", ""), rows)
        echo(f"\n{setup.describe_time(expected)}")
        return
    with setup.processes():
        result = planned.run(
            inputs.data,
            inputs.target,
            **inputs.arguments(),
            progress=show_progress(quiet),
            watch=_make_watcher(source, setup.target, str(report), quiet) if watch else None,
            announce=None if quiet else lambda expected: note(setup.describe_time(expected)),
        )
    _set_names(result, source, setup.target)
    if save is not None:
        result.save(save)
    if report is not None:
        result.to_html(report)
    _print_result(result, json)
    if not quiet and result.time_budget is None:
        note(result.describe_time())
    if result.partial:
        this = f"This command resumes: {shlex.join(['similis', *sys.argv[1:]])}"
        resume = "With --journal FILE a study can be resumed." if setup.journal is None else this
        note(f"interrupted; these are the results so far. {resume}")
        raise typer.Exit(INTERRUPTED)
    if not any(entry.ok for entry in result.entries.values()):
        note("every method failed; the reasons are in the table.")
        raise typer.Exit(FAILED)


@command()
def fit(
    source: Source,
    setup: StudySetup,
    method: str = option(default="best", autocompletion=complete_method),
    output: str = option("-o", default="model.skops", metavar="FILE", help="The model file."),
    predict_unlabeled: str | None = option(),
    conformal: bool | None = option("--conformal/--no-conformal"),
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit a method to all data and write the model, with a card beside it.

    method NAME: A method of `similis study --list`, perhaps with parameters, as `knn(n_neighbors=5)`; `best` and
        `quick` compare all, or the quick ones, first.
    predict_unlabeled FILE: Also predict the objects without a label, and write them to this csv or tsv file.
    conformal: Also calibrate prediction sets or intervals, which `similis predict` prints, by ten more fits; by default
        for a regression.

    The expected error is estimated first, by the splits of `similis study`; then the parameters are chosen on all
    data. The card (`model.card.json`) holds the error with its interval, the method, versions, fingerprints of the
    data, and what rows of new objects must look like.

    **Examples**

        similis fit matrix.csv --labels labels.csv --method knn --output model.skops
        similis fit matrix.csv --labels labels.csv --journal study.journal
        similis fit votes.csv --measure vdm --label-column party --method "svm-kernel(clip)"
        similis fit cells.h5ad::distances --label-column cell_type --method knn --predict-unlabeled new.tsv
    """
    outputs = {"model": output, "journal": setup.journal, "predictions": predict_unlabeled}
    check_outputs(source.files(), overwrite=overwrite, **outputs)
    inputs = setup.load(source)
    unlabeled = None if predict_unlabeled is None else load_unlabeled(source, inputs)
    with setup.processes():
        trained = similis.study.train_model(
            inputs.data,
            inputs.target,
            study=setup.make_study(["all" if method == "best" else method], inputs),
            **inputs.arguments(),
            compact=True,
            conformal=inputs.target is not None if conformal is None else conformal,
            progress=show_progress(quiet),
            announce=None if quiet else lambda expected: note(setup.describe_time(expected)),
        )
    card_file, card = similis.io.write_model(trained, output), trained.card
    if unlabeled is not None:
        level = None if card.calibration is None else DEFAULT_LEVEL
        predictions = similis.study.predict_rows(trained, unlabeled, confidence=level)
        write_table(str(predict_unlabeled), prediction_table(prediction_records(predictions, level)))
        note(f"wrote predictions of {unlabeled.n} objects without a label to {predict_unlabeled}")
    if json:
        print_json({"output": output, "card": None if card_file is None else str(card_file), **asdict(card)})
        return
    chosen = ", ".join(f"{key} = {value}" for key, value in card.params.items())
    echo(f"{card.method}{f' with {chosen}' if chosen else ''}, trained on {card.n} objects.")
    if card.expected is not None:
        assert trained.result is not None
        error = trained.result.format_error(card.expected["error"])
        interval = trained.result.format_interval(card.expected["interval"] or (math.nan, math.nan))
        what = "an error" if trained.result.target is None else "a root mean squared error"
        what = f"R2 {card.expected['r2']:.2f} and {what}" if "r2" in card.expected else what
        echo(f"Expect {what} of {error} on new objects (95 % interval {interval}).")
        if card.settings["metric"] == "balanced_error":
            echo(f"Parameters are chosen by balanced error: {100 * card.expected['balanced_error']:.1f} %.")
    if card.needed is not None:
        echo(f"New rows need the columns of {len(card.needed)} of the {card.n} objects, listed in the card.")
    note(f"wrote {output}" + ("; it has no card beside it" if card_file is None else f" and {card_file}"))


@command()
def report(
    results: list[str] = argument(metavar="RESULTS...", help="Files written by `study --save`."),
    output: str = option("-o", default="report.html", metavar="FILE", help="The html file to write."),
    name: list[str] | None = option(metavar="NAME", help="A name for each file, in their order."),
    overwrite: Overwrite = False,
) -> None:
    """Write the report of a study from its results file; of several, a page that compares them.

    The page is one file that loads nothing else; it depends only on the results. The comparison ranks the methods over
    all data sets and shows which ranks are significantly different.

    **Examples**

        similis report votes.json -o votes.html
        similis report votes.json sonar.json protein.json -o comparison.html
    """
    check_outputs(results, overwrite=overwrite, report=output)
    if name and len(name) != len(results):
        raise ProximityError(f"Name every results file or none; got {len(name)} names for {len(results)} files.")
    stems = [Path(path).name.partition(".")[0] for path in results]
    names = name or [""] * len(results)
    loaded = [similis.StudyResult.load(path) for path in results]
    for result, stem, given in zip(loaded, stems, names):
        result.name = given or result.name or stem
    by_name = {result.name: result for result in loaded}
    if len(by_name) < len(loaded):  # the same data, for example by several measures: use the names of the files
        by_name = {given or stem: result for result, stem, given in zip(loaded, stems, names)}
    if len(by_name) < len(loaded):
        raise ProximityError("Two results files have the same name; give each its own with --name.")
    page = loaded[0] if len(loaded) == 1 else similis.study.compare(by_name)
    page.to_html(output)
    if not is_stream(output):
        echo(output)


def _set_names(result: StudyResult, source: Source, target: str | None) -> None:
    result.name = source.name()
    result.arguments = source.arguments() + ("" if target is None else f" --target {shlex.quote(target)}")


def _make_watcher(source: Source, target: str | None, report: str, quiet: bool) -> Callable[[StudyResult], None]:
    note_once = cache(note)

    def write(result: StudyResult) -> None:
        _set_names(result, source, target)
        try:
            result.to_html(report, refresh=10)
        except OSError as error:  # a full disk must not stop the study
            note_once(f"the report cannot be written now ({error.strerror}); the study continues.")
        if not quiet:
            note_once(f"{report} shows the results so far and refreshes itself; open it in a browser.")

    return write


def _print_result(result: StudyResult, json: bool) -> None:
    advice = result.recommend() if result.complete_methods() else None
    if json:
        classes, protocol = result.classes, result.protocol.describe(len(result.splits))
        about: dict[str, Any] = {"objects": len(result.codes), "classes": [] if result.target is not None else classes}
        table = [row.to_dict() for row in result.table()]
        found = {"partial": result.partial, "table": table, "recommendation": advice and asdict(advice)}
        print_json({**about, "kind": result.kind, "protocol": protocol, **result.settings(), **found})
        return
    echo(in_cli_words(str(result)))
    if advice is not None:
        echo(f"\nIn Python:\n\n{advice.python}\n\nOn the command line:\n\n{advice.command}")


def _list_methods(name: str | None, json: bool) -> None:
    methods = similis.study.list_methods(None) if name is None else [similis.study.find_method(name)]
    list_parameters = similis.study.list_parameters
    if json:
        keys = ("name", "family", "paper", "summary", "needs", "reads", "baseline", "quick", "on_request")
        records = []
        for m in methods:
            values = {p.name: {"values": p.format(), "allowed": p.allowed} for p in list_parameters(m)}
            records.append({key: getattr(m, key) for key in keys} | {"parameters": values})
        print_json({"methods": records})
        return
    if name is None:
        for family in dict.fromkeys(method.family for method in methods):
            some = [m for m in methods if m.family == family]
            rows = [(m.name, m.reads, m.summary, m.paper, ", ".join(p.name for p in list_parameters(m))) for m in some]
            print_table(("method", "reads", "what it is", "paper", "parameters"), rows, title=family or "other")
            echo("")
        echo("`similis study --list NAME` explains one; NAME(parameter=value, parameter=value|value) sets parameters.")
        return
    (method,) = methods
    echo(f"{method.name}: {method.summary}.")
    facts = {"family": method.family, "paper": method.paper, "reads": method.reads, "needs": method.needs}
    echo("\n".join(f"  {key}: {value}" for key, value in facts.items() if value))
    echo(f"  made of: {', '.join(type(step).__name__ for step in method.steps())}\n")
    parameters = [(p.name, p.format(), p.allowed, p.describe()) for p in list_parameters(method)]
    print_table(("parameter", "value or grid", "allowed", "what it is"), parameters)
