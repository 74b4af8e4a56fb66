"""``similis reproduce``: the papers' tables, re-run."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from similis.cli._console import echo, note, print_json, print_table, report_errors, show_progress
from similis.cli._options import Jobs, Json, Quiet
from similis.exceptions import ProximityError

if TYPE_CHECKING:
    from similis.reproduce import Reproduction

__all__ = ["ReproduceOptions", "reproduce"]


@dataclass(frozen=True)
class ReproduceOptions:
    """What ``similis reproduce`` was asked to do."""

    tables: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    runs: int | None = None
    quick: bool = False
    show_all: bool = False
    listing: bool = False
    jobs: int = 1
    data: str | None = None
    cache: str | None = None
    no_cache: bool = False
    results: str | None = None
    repeat: int | None = None
    pages: str | None = None
    json: bool = False
    quiet: bool = False


def _complete_table(incomplete: str) -> list[str]:
    from similis.reproduce import EXPERIMENTS

    names = ["all"] + [e.key for e in EXPERIMENTS] + sorted({e.paper for e in EXPERIMENTS})
    return [name for name in names if name.startswith(incomplete)]


def reproduce(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLES",
            help="Papers or tables, such as chen2010 or cazzanti2007:6.1, or the word all; all by default.",
            autocompletion=_complete_table,
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", metavar="NAME", help="Only this method; may be repeated.", show_default=False),
    ] = None,
    runs: Annotated[
        int | None, typer.Option("--runs", min=1, help="Number of runs instead of the papers'.", show_default=False)
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Four runs at most: a look, not a verdict to rely on.")
    ] = False,
    show_all: Annotated[bool, typer.Option("--all", help="Print every figure, not the misses alone.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the tables and stop.")] = False,
    jobs: Jobs = 1,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="DIR", help="Folder of benchmark data, instead of SIMILIS_DATA.", show_default=False
        ),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(
            "--cache", metavar="FILE", help="Finished runs; in the user's cache by default.", show_default=False
        ),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no finished runs, and use none.")] = False,
    results: Annotated[
        str | None, typer.Option("--results", metavar="DIR", help="Write a results file per table.", show_default=False)
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option(
            "--repeat",
            metavar="N",
            min=1,
            help="Run the first N runs again and note in --results which give the same values.",
            show_default=False,
        ),
    ] = None,
    pages: Annotated[
        str | None,
        typer.Option(
            "--pages", metavar="DIR", help="Only write pages from the files in --results.", show_default=False
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the experiments of the five papers again and compare with the published figures.

    Every line shows the paper's figure, ours, the difference, its standard error and a verdict by a rule that was
    fixed beforehand: two figures agree when they differ by at most three combined standard errors. Misses come first.

    Finished runs are kept: a reproduction that was stopped goes on where it was.

    **Examples**

        similis reproduce --list

        similis reproduce cazzanti2007:6.1 --quick

        similis reproduce chen2010 --jobs 2 --data ~/benchmarks

        similis reproduce all --data ~/benchmarks --results benchmarks/results/reproduce

        similis reproduce --results benchmarks/results/reproduce --pages docs/results
    """
    with report_errors():
        run(
            ReproduceOptions(
                tables=tuple(tables or ()),
                methods=tuple(method or ()),
                runs=runs,
                quick=quick,
                show_all=show_all,
                listing=listing,
                jobs=jobs,
                data=data,
                cache=cache,
                no_cache=no_cache,
                results=results,
                repeat=repeat,
                pages=pages,
                json=json,
                quiet=quiet,
            )
        )


def run(options: ReproduceOptions) -> None:
    """List, run, or write pages."""
    from similis.reproduce import default_cache, note_repetition, reproduce_tables, write_pages, write_results

    if options.listing:
        _list(options)
        return
    if options.pages is not None:
        if options.results is None:
            raise ProximityError("--pages needs --results DIR, the folder of the results files to make them from.")
        for path in write_pages(options.results, options.pages):
            note(f"wrote {path}")
        return
    if options.repeat is not None and options.results is None:
        raise ProximityError("--repeat needs --results DIR, the folder of the results files to compare with.")
    if options.data is not None:
        os.environ["SIMILIS_DATA"] = options.data  # the worker processes read it too
    result = reproduce_tables(
        options.tables,
        methods=options.methods or None,
        runs=options.repeat or options.runs,
        quick=options.quick,
        n_jobs=options.jobs,
        cache=None if options.no_cache else Path(options.cache or default_cache()),
        progress=show_progress(options.quiet),
    )
    if options.repeat is not None and options.results is not None:
        figures, same = note_repetition(result, options.results)
        echo(f"{figures} figures repeated, {same} with the same values")
        return
    if options.results is not None:
        for path in write_results(result, options.results):
            note(f"wrote {path}")
    if options.json:
        print_json({"runs": result.runs, "without": result.without, "cells": [asdict(c) for c in result.comparisons]})
    else:
        _show(result, options.show_all)


def _list(options: ReproduceOptions) -> None:
    from similis.reproduce import EXPERIMENTS

    rows = [(e.key, e.about, len(e.cells()), ", ".join(e.without()["methods"]) or "-") for e in EXPERIMENTS]
    if options.json:
        keys = ("table", "about", "figures", "without")
        print_json([dict(zip(keys, row)) for row in rows])
    else:
        print_table(("table", "shows", "figures", "methods not available"), rows)


def _show(result: Reproduction, show_all: bool) -> None:
    shown = result.comparisons if show_all else result.misses
    rows = []
    for c in shown:
        where = f"d={c.condition['d']}" if "d" in c.condition else c.dataset
        numbers = [f"{value:.{c.digits}f}" if value is not None else "" for value in (c.ours, c.standard_error)]
        difference = c.reason if c.difference is None else f"{c.difference:+.{c.digits}f}"
        published = f"{c.published:.{c.digits}f}"
        table = f"{c.paper}:{c.table}"
        rows.append((table, where, c.method, c.quantity, published, numbers[0], difference, numbers[1], c.verdict))
    head = ("table", "where", "method", "quantity", "paper", "ours", "difference", "s.e.", "verdict")
    if rows:
        print_table(head, rows)
    counts = Counter("agree" if c.verdict == "agrees" else c.verdict for c in result.comparisons)
    echo(f"{len(result.comparisons)} figures: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()))
