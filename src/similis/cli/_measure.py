"""``similis measure``: from a table of objects to a matrix."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from similis.cli._console import check_output, guarded, note, print_json, show_progress, writable
from similis.cli._options import (
    Columns,
    DatasetName,
    IdColumn,
    Jobs,
    Json,
    LabelColumn,
    Labels,
    MeasureName,
    Params,
    Quiet,
)
from similis.cli._source import Data, Source, load_data
from similis.exceptions import ProximityError

if TYPE_CHECKING:
    from similis.io import Proximity

__all__ = ["MeasureOptions", "measure"]


@dataclass(frozen=True)
class MeasureOptions:
    """What ``similis measure`` was asked to do."""

    source: Source
    output: str = "-"
    symmetrize: bool = False
    dtype: str | None = None
    block_size: int | None = None
    refused: str = "raise"
    overwrite: bool = False
    cluster: str | None = None
    jobs: int = 1
    json: bool = False
    quiet: bool = False


def measure(
    objects: Annotated[
        str | None,
        typer.Argument(metavar="OBJECTS", help="Objects: csv (- reads standard input), or json.", show_default=False),
    ] = None,
    measure: MeasureName = None,
    param: Params = None,
    dataset: DatasetName = None,
    labels: Labels = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    column: Columns = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "--out",
            "-o",
            metavar="FILE",
            help="Where the matrix goes: npy, zarr, npz, csv or parquet; - is csv.",
        ),
    ] = "-",
    symmetrize: Annotated[
        bool, typer.Option("--symmetrize", help="Average both directions of an asymmetric measure.")
    ] = False,
    dtype: Annotated[
        str | None,
        typer.Option(metavar="float32|float64", help="Type of the values in an npy or zarr file.", show_default=False),
    ] = None,
    block_size: Annotated[
        int | None,
        typer.Option(metavar="N", help="Objects to a side of a block of an npy or zarr file.", show_default=False),
    ] = None,
    refused: Annotated[
        str,
        typer.Option(metavar="raise|missing", help="What to do with a pair that the measure refuses; missing is NaN."),
    ] = "raise",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an npy or zarr file of other objects or another measure.")
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="Measure on a Dask cluster: its scheduler, or local for processes of this machine.",
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare all objects of a table with a measure and write the matrix.

    The first line of the csv names its columns. Columns called `id` and `class` (or `label`, `target`) are taken for
    names and labels; all others describe the objects. Labels travel with the matrix.

    A measure that learns from labels (vdm) sees all labels here. To judge methods fairly, let `similis study` measure
    inside its splits: give it the objects and `--measure vdm`.

    An npy or zarr file is measured block by block and may be larger than memory. Interrupted, the same command takes it
    up after the last finished block.

    **Examples**

        similis measure votes.csv --measure counting -o votes.npz

        similis measure votes.csv -m vdm --param q=1 --label-column party --column v1 --column v2 > matrix.csv

        similis measure --dataset sonar -m minkowski -p p=1 -o sonar.npz

        similis measure words.csv --measure edit --dtype float32 --out words.zarr
    """
    with guarded():
        source = Source(
            path=objects,
            dataset=dataset,
            labels=labels,
            measure=measure,
            params=tuple(param or ()),
            id_column=id_column,
            label_column=label_column,
            columns=tuple(column or ()),
        )
        run(
            MeasureOptions(
                source=source,
                output=output,
                symmetrize=symmetrize,
                dtype=dtype,
                block_size=block_size,
                refused=refused,
                overwrite=overwrite,
                cluster=cluster,
                jobs=jobs,
                json=json,
                quiet=quiet,
            )
        )


def run(options: MeasureOptions) -> None:
    """Measure and write."""
    from similis.io import Proximity, write_proximity
    from similis.measures import Pairwise

    if options.source.measure is None and options.source.dataset is None:
        raise ProximityError("Say how the objects are compared: --measure counting, vdm, jaccard, minkowski, ...")
    check_output(options.output, matrix=True)
    data = load_data(options.source)
    if data.measure is None:
        raise ProximityError(f"{options.source.dataset} is a matrix already; `similis datasets` exports it.")
    if options.output.lower().endswith((".npy", ".zarr")):
        _say(options, _measure_blocks(options, data), data)
        return
    step = Pairwise(
        data.measure, symmetrize=options.symmetrize, n_jobs=options.jobs, progress=show_progress(options.quiet)
    )
    matrix = Proximity(step.fit_transform(data.values, data.labels), data.ids, data.measure.kind, data.labels)
    if options.output == "-" and options.json:
        print_json({"kind": matrix.kind, "ids": matrix.ids, "labels": matrix.labels, "values": matrix.values})
        return
    with writable(options.output) as path:
        write_proximity(path, matrix)
    _say(options, matrix, data)


def _measure_blocks(options: MeasureOptions, data: Data) -> Proximity:
    """A matrix that may be larger than memory."""
    from similis.distributed import connect, measure_to_disk

    local = options.cluster == "local"
    with nullcontext() if options.cluster is None else connect(None if local else options.cluster) as client:
        return measure_to_disk(
            options.output,
            data.values,
            data.labels,
            measure=data.measure,
            symmetrize=options.symmetrize,
            ids=data.ids,
            dtype=options.dtype,
            block_size=options.block_size,
            refused=options.refused,
            overwrite=options.overwrite,
            n_jobs=options.jobs,
            client=client,
            progress=show_progress(options.quiet),
        )


def _say(options: MeasureOptions, matrix: Proximity, data: Data) -> None:
    if options.json:
        print_json({"output": options.output, "n": matrix.n, "kind": matrix.kind, "measure": repr(data.measure)})
    elif options.output != "-":
        note(f"wrote {matrix.n} x {matrix.n} {matrix.kind} values to {options.output}")
