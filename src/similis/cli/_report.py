"""``similis report``: the page of a study from its results file, or of several studies side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from similis.cli._console import check_output, echo, guarded
from similis.exceptions import ProximityError

__all__ = ["report"]


def report(
    results: Annotated[
        list[str],
        typer.Argument(metavar="RESULTS...", help="Files written by `study --save`.", show_default=False),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The html file to write.")
    ] = "report.html",
    name: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME", help="A name for each file, in their order.", show_default=False),
    ] = None,
) -> None:
    """Write the report of a study from its results file; of several, a page that compares them.

    The page is one file that needs nothing else and depends on nothing but the results. The comparison ranks the
    methods over all data sets and shows which ranks are significantly different.

    **Examples**

        similis report votes.json -o votes.html

        similis report votes.json sonar.json protein.json -o comparison.html
    """
    with guarded():
        _write(results, output, name or [])
        echo(output)


def _write(paths: list[str], output: str, names: list[str]) -> None:
    from similis.study import StudyResult, compare

    check_output(output)
    if names and len(names) != len(paths):
        raise ProximityError(f"Name every results file or none; got {len(names)} names for {len(paths)} files.")
    found = [StudyResult.load(path) for path in paths]
    names = names or [""] * len(paths)
    for result, path, given in zip(found, paths, names):
        result.name = given or result.name or _stem(path)
    if len(found) == 1:
        found[0].to_html(output)
        return
    by_name = {result.name: result for result in found}
    if len(by_name) < len(found):  # the same data, say by several measures: the files tell them apart
        by_name = {given or _stem(path): r for r, path, given in zip(found, paths, names)}
    if len(by_name) < len(found):
        raise ProximityError("Two results files have the same name; tell them apart with --name.")
    compare(by_name).to_html(output)


def _stem(path: str) -> str:
    return Path(path).name.partition(".")[0]
