"""``similis stream``: predict and learn from objects as they arrive."""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any

import similis
from similis.cli._console import COPIES, note
from similis.cli._options import Overwrite, Seed, argument, command, option
from similis.cli._outputs import check_outputs
from similis.cli._source import Source, make_measure, read_table
from similis.exceptions import ProximityError


@command(only=("measure", "params", "columns", "label_column", "id_column"))
def stream(
    *,
    path: str = argument(),
    source: Source,
    output: str | None = option(
        "-o", metavar="FILE", help="Write the state at the end, for --resume; also after Ctrl-C."
    ),
    resume: str | None = option(metavar="FILE", help="Continue with the state that an earlier run wrote."),
    batch: int = option(default=50, min=1, metavar="N", help="Lines that are read at a time."),
    scheme: str = option(default="append", metavar="append|resample", help="Scheme I or II of Qiao and Li (2013)."),
    components: int = option(default=4, min=1, help="Clusters per class of a batch."),
    max_components: int | None = option(min=1, help="Largest number of clusters per class; append drops the earliest."),
    random_state: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Predict objects as they arrive, and update the model with those that have labels (incremental HLM).

    path FILE: Table of objects (csv or tsv), one line each; - reads a csv from standard input.

    FILE is read in batches of lines. The model of the earlier batches predicts each batch: a row of the output holds
    id, predicted label and given label. Then the model is updated with the objects that have a label; the first batch
    must have some. New classes may appear at any time. Only centroids, and with `resample` a few objects of each
    cluster, stay in memory.

    The measure must be a dissimilarity. A measure that is fitted, such as vdm, is fitted to the first batch.

    **Examples**

        similis stream words.csv --measure edit -o words.stream.skops
        tail -n +1 -f sensor.csv | similis stream - --measure minkowski --batch 20
        similis stream more.csv --resume words.stream.skops -o words.stream.skops
    """
    check_outputs([path, resume if resume != output else None], overwrite=overwrite, model=output)
    if (source.measure is None) == (resume is None):
        raise ProximityError("Give either --measure or --resume.")
    if resume is None:
        size = {"n_components": components, "max_components": max_components, "bounded": True}
        model = similis.IncrementalHLM(scheme=scheme, random_state=random_state, **size)
        state = similis.stream_fit(model, make_measure(str(source.measure), source.params or []))
    else:
        state = similis.load(resume)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["id", "predicted", "label"])
    n_objects = n_wrong = n_judged = 0
    try:
        for objects in _batches(path, source, batch, state.measure.cells):
            n, started = objects.n, state.objects is not None
            labels = [""] * n if objects.labels is None else objects.labels.astype(str).tolist()
            known = [i for i, label in enumerate(labels) if label]
            if not known and not started:
                raise ProximityError("The first batch needs labels; name their column with --label-column.")
            predicted = state.predict(objects.values).tolist() if started else [""] * n
            table.writerows(zip(objects.ids or range(n_objects, n_objects + n), predicted, labels))
            sys.stdout.flush()
            n_objects += n
            if known:
                if started:
                    n_judged += len(known)
                    n_wrong += sum(predicted[i] != labels[i] for i in known)
                learned = deepcopy(state)  # an interruption leaves `state` whole
                learned.partial_fit(objects.values[known], [labels[i] for i in known])
                state = learned
    finally:  # also after Ctrl-C, a bad line, or a closed pipe
        if n_judged:
            wrong = f"{100 * n_wrong / n_judged:.1f} % of {n_judged} predictions differ from the label"
            note(f"{n_objects} objects; {wrong}")
        if output is not None and n_objects and state.objects is not None:
            similis.save(state, output)
            note(f"wrote the state to {output}")


def _batches(path: str, source: Source, size: int, cells: Any) -> Iterator[Any]:
    """Objects of each batch of lines, read as a file with the first line of the whole."""
    table = nullcontext(sys.stdin) if path == "-" else open(path, encoding="utf-8-sig", newline="")
    with tempfile.TemporaryDirectory() as folder, table as lines:
        part = Path(folder) / f"batch{'.tsv' if path.endswith(('.tsv', '.tab')) else '.csv'}"
        header, place = lines.readline(), 2
        while rows := list(islice(lines, size)):
            part.write_text(header + "".join(rows), encoding="utf-8", newline="")
            COPIES[os.fspath(part)] = f"{'standard input' if path == '-' else path} (batch from line {place})"
            yield read_table(part, source, cells, unlabeled="")
            place += len(rows)
