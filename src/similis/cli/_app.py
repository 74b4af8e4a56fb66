"""The ``similis`` command: its sub-commands parse, call one function and print."""

from __future__ import annotations

from typing import Annotated

import typer

import similis
from similis.cli._console import BAD_INPUT, echo, note
from similis.cli._matrix import complete, convert, datasets, inspect, measure
from similis.cli._predict import predict
from similis.cli._stream import stream
from similis.cli._study import fit, report, study

app = typer.Typer(
    name="similis",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        echo(similis.__version__)
        raise typer.Exit


@app.callback()
def _similis(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn from pairwise similarities: measure them, examine them, compare methods, fit one, predict.

    Results go to standard output, progress and remarks to standard error. The exit status is 0 on success, 1 if every
    method of a study fails or a cluster is lost, 2 for invalid input (with one message), 130 after Ctrl-C.

    **From a matrix to predictions**

        similis inspect matrix.csv --labels labels.csv
        similis study matrix.csv --labels labels.csv --journal study.journal
        similis fit matrix.csv --labels labels.csv --method knn -o model.skops
        similis predict model.skops new-rows.csv
    """


for command in (measure, convert, inspect, complete, study, report, fit, predict, stream, datasets):
    app.command()(command)


@app.command(hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def reproduce() -> None:
    """Tell where a command of version 1.0 has gone."""
    note("reproduce is no longer part of the package; in the repository, run ./scripts/reproduce with these arguments.")
    raise typer.Exit(BAD_INPUT)


def main() -> None:
    """Run the command line."""
    app(prog_name="similis")  # also for `python -m similis`
