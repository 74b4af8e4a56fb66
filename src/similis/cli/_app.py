"""The ``similis`` command: its sub-commands parse, call one function and print."""

from __future__ import annotations

from typing import Annotated

import typer

import similis
from similis.cli._console import echo
from similis.cli._matrix import complete, convert, datasets, inspect, measure
from similis.cli._predict import predict
from similis.cli._stream import stream
from similis.cli._study import fit, report, study

__all__ = ["app", "main"]

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
    """Learn from pairwise similarities: measure them, examine them, compare methods, train one, use it.

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


def main() -> None:
    """Run the command line."""
    app()
