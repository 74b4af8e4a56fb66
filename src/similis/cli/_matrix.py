"""``similis measure``, ``inspect``, ``complete`` and ``datasets``: make, examine and complete matrices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import similis
from similis._utils.files import is_float, short_path
from similis._utils.messages import warn_user
from similis.cli._console import echo, in_cli_words, print_json, print_table, show_progress
from similis.cli._options import Jobs, Json, Overwrite, Quiet, argument, command, connect_cluster, option
from similis.cli._outputs import check_outputs, tell_written, write_result, write_table
from similis.cli._source import PAIRS, Source, complete_dataset, in_order, load_data, read_matrix
from similis.exceptions import InputWarning, ProximityError

if TYPE_CHECKING:
    from similis.io import Proximity

_WITH_AUXILIARY = ("em", "frobenius", "wishart")
_METHODS = (*_WITH_AUXILIARY, "nuclear", "psd")


@command(
    without=("path", "more", "kind", "groups", "costs", "priors", "symmetrize", "directed", "group_column", *PAIRS)
)
def measure(
    source: Source,
    objects: str | None = argument(default=None),
    output: str = option("--output", "--out", "-o", default="-"),
    symmetrize: bool = option(default=False, help="Average both directions of an asymmetric measure."),
    dtype: str | None = option(metavar="float32|float64", help="Type of the values in an npy or zarr file."),
    block_size: int | None = option(metavar="N", help="Rows and columns of a block of an npy or zarr file."),
    refused: str = option(default="raise"),
    overwrite: bool = option(default=False),
    cluster: str | None = option(),
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare all objects of a table with a measure and write the matrix.

    objects OBJECTS: Objects: csv (- reads standard input), or json.
    output FILE: Output file: npy, zarr, npz, csv or parquet; - writes csv to standard output.
    refused raise|missing: Treatment of pairs that the measure rejects; missing writes NaN.
    overwrite: Replace existing files of another kind, and an npy or zarr file of other objects, ids, labels or
        measures.
    cluster ADDRESS|local: Measure on a Dask cluster: its scheduler, or local for processes of this machine.

    The first line of the csv names its columns. Columns called `id` and `class` (or `label`, `target`) hold names and
    labels; all others describe the objects. Labels are stored with the matrix.

    A measure that learns from labels (vdm) uses all labels here. To compare methods fairly, let `similis study` measure
    inside its splits: give it the objects and `--measure vdm`.

    An npy or zarr file is measured block by block and may be larger than memory. After an interruption, the same
    command resumes after the last finished block.

    **Examples**

        similis measure votes.csv --measure counting -o votes.npz
        similis measure votes.csv -m vdm --param q=1 --label-column party --column v1 --column v2 > matrix.csv
        similis measure --dataset sonar -m minkowski -p p=1 -o sonar.npz
        similis measure words.csv --measure edit --dtype float32 --out words.zarr
    """
    if source.measure is None and source.dataset is None:
        raise ProximityError("Name the measure: --measure counting, vdm, jaccard, minkowski, ...")
    source = replace(source, path=objects)
    check_outputs(source.files(), overwrite=overwrite, matrix=output)
    data, chosen, *_ = load_data(source)
    if chosen is None:
        raise ProximityError(f"{source.dataset} is a matrix already; `similis datasets` exports it.")
    message = f"wrote {data.n} x {data.n} {chosen.kind} values to {output}"
    on_disk = output.lower().endswith((".npy", ".zarr"))
    how: dict[str, Any] = {"symmetrize": symmetrize, "n_jobs": jobs, "progress": show_progress(quiet)}
    if on_disk:
        before = _stamps(output)
        how |= {"dtype": dtype, "block_size": block_size, "refused": refused, "overwrite": overwrite}
        with connect_cluster(cluster) as client:
            matrix = similis.distributed.measure_to_disk(
                output, data.values, data.labels, measure=chosen, ids=data.ids, client=client, **how
            )
        if (kept := _stamps(output)) == before:
            message = f"{output} is complete and unchanged; nothing was measured"
        elif before and kept[0] == before[0]:
            message = f"wrote ids and labels of {output}; its values are unchanged"
    else:
        values = similis.Pairwise(chosen, **how).fit_transform(data.values, data.labels)
        matrix = similis.Proximity(values, data.ids, chosen.kind, data.labels)
    write_result(output, matrix, json, message, written=on_disk, measure=repr(chosen))


def _stamps(output: str) -> list[tuple[int, int]]:
    """Return what identifies an existing matrix and its card: inodes, and times of the last changes."""
    path = Path(output)
    card = path / "zarr.json" if path.is_dir() else path.with_name(path.name + ".json")
    found = [(file, file.stat()) for file in (path, card) if file.exists()]
    return [(stat.st_ino, 0 if file.is_dir() else stat.st_mtime_ns) for file, stat in found]


@command(without=("more", "costs", "priors"))
def inspect(source: Source, json: Json = False) -> None:
    """Diagnose a matrix: symmetry, spectrum, triangles, ties, missing entries, classes, and what to try.

    Nothing is changed or repaired; every finding comes with its number, and the advice with its reason. With labels, it
    tests whether the classes differ (PERMANOVA); `--groups` names objects that belong together, such as samples of one
    donor, which that test permutes within their group or as a whole.

    **Examples**

        similis inspect matrix.csv --labels labels.csv
        similis inspect distances.npz --kind dissimilarity --json
        similis inspect --dataset votes --measure counting
    """
    data, measure, groups, *_ = load_data(source)
    if isinstance(data, similis.Proximity):
        values, kind, read = data.values, data.kind, _description(data)
    else:
        step = similis.Pairwise(measure, symmetrize=source.symmetrize)
        values, kind, read = step.fit_transform(data.values, data.labels), measure.kind, {}
    diagnosis = similis.diagnose(values, data.labels, kind=kind, groups=groups)
    if json:
        print_json({**diagnosis.to_dict(), "read": read})
        return
    if "possible" in read:
        read["pairs"] = f"{read['pairs']} of {read.pop('possible')} ordered pairs are present"
    if reason := read.pop("reason", ""):
        read["kind"] = f"{read['kind']} {reason}"
    for name, value in read.items():
        if value not in ("", None, 0, False):
            echo(f"read: {name:<12} {value}")
    echo(in_cli_words(str(diagnosis)))


def _description(P: Proximity) -> dict[str, Any]:
    """Description of how a matrix was read from its file; empty for a data set."""
    import numpy as np

    about = dict(P.about or {})
    if not about or "lines" in about:  # a list of pairs describes itself
        return about
    values = P.to_dense()
    known = ~np.isnan(values)
    if P.square and values.ndim == 2:
        np.fill_diagonal(known, False)
        about |= {"objects": P.n, "pairs": int(known.sum()), "possible": P.n * (P.n - 1)}
        n_one = int(np.count_nonzero(known & ~known.T))
        n_different = int(np.count_nonzero((values != values.T) & known & known.T)) // 2
        found = f"{n_different} pairs differ by direction, {n_one} are present in one direction only"
        about["direction"] = found if n_different or n_one else "symmetric"
    return about | {"kind": P.kind, "absent": about.get("absent", "missing")}


@command(without=("more", "costs", "priors", "groups", "group_column", "measure", "params", "columns"))
def convert(
    source: Source,
    output: str = argument(),
    top: int | None = option(metavar="K", min=1, help="Keep the K nearest of every row; other entries become missing."),
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Convert a matrix or a list of pairs to another format.

    output OUT: Output file: npz, npy, zarr, csv, tsv, parquet, phylip, lsmat (scikit-bio), h5ad (AnnData), edges (list
        of pairs); - writes csv.

    The ending of the output names its format. Ids, kind and labels are kept; labels of a text file are written to
    `<name>.labels.csv` beside it.

    **Examples**

        similis convert hits.m8 hits.npz --score bitscore --absent zero
        similis convert distances.qza distances.phylip
        similis convert matrix.npz neighbors.edges --top 50
    """
    check_outputs(source.files(), overwrite=overwrite, matrix=output)
    P: Any = load_data(source).data
    if top is not None:
        P = replace(P, values=_nearest(P, top))
    rows, columns = P.shape[:2]
    write_result(output, P, json, f"wrote {rows} x {columns} {P.kind} values to {output}", read=P.about)


def _nearest(P: Proximity, k: int) -> Any:
    """Values with all entries but the diagonal and the k nearest of every row missing."""
    import numpy as np
    from scipy import sparse

    from similis._utils.threads import row_blocks

    if len(P.shape) != 2:
        raise ProximityError("--top needs one matrix, not a stack.")
    is_sparse = sparse.issparse(P.values)
    source: Any = similis.base.SparseRows(P.values, missing=P.kind == "dissimilarity") if is_sparse else P.values
    sign, parts = -1.0 if P.kind == "similarity" else 1.0, []
    for rows in row_blocks(*P.shape):
        block = np.array(source[rows])
        key = np.where(np.isnan(block), np.inf, sign * block)
        if P.square:
            np.fill_diagonal(key[:, rows], -np.inf)
        nearest = np.argsort(key, axis=1, kind="stable")[:, : k + P.square]
        i, j = np.nonzero(~np.isnan(np.take_along_axis(block, nearest, axis=1)))
        parts.append((rows.start + i, nearest[i, j], block[i, nearest[i, j]]))
    *places, data = map(np.concatenate, zip(*parts))
    if is_sparse:  # stays sparse: an absent similarity is zero
        return sparse.csr_array((data, places), shape=P.shape)
    values = np.full(P.shape, np.nan)
    values[*places] = data
    return values


@command(only=("labels", "kind", "label_column", "id_column", "na", "directed", *PAIRS))
def complete(
    source: Source,
    file: str = argument(metavar="FILE", help="Matrix with empty cells or nan for missing entries; - reads a csv."),
    auxiliary: list[str] | None = option("-a"),
    method: str | None = option(
        metavar="|".join(_METHODS), help="Completion method; em with an auxiliary kernel, else nuclear."
    ),
    mu: str = option(default="auto", metavar="NUMBER|auto", help="Noise level of nuclear; 0 for none."),
    psd: bool = option(default=False, help="Let nuclear find a positive semi-definite matrix."),
    fitted: bool = option(default=False, help="Write the fitted matrix in place of known entries too."),
    output: str = option("-o", default="-"),
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Fill in the missing entries of a matrix.

    auxiliary FILE: A complete kernel over the same objects; may be repeated.
    output FILE: Output file: npz, npy, csv, parquet; - writes csv to standard output.

    Scattered missing entries are inferred from the others. Objects that were never measured need a second matrix of all
    objects, a kernel that is cheaper or noisier (`--auxiliary`). Known entries stay unchanged unless `--fitted` is
    given; ids and labels are kept.

    To compare methods on an incomplete matrix, give it to `similis study` as it is: it completes inside the splits.

    **Examples**

        similis complete matrix.csv -o whole.csv
        similis complete structures.npz --auxiliary sequences.npz --method em -o whole.npz
        similis complete - --method psd --fitted --json < kernel.csv
    """
    import numpy as np

    check_outputs([file, source.labels, *(auxiliary or [])], overwrite=overwrite, matrix=output)
    method = method or ("em" if auxiliary else "nuclear")
    if method not in _METHODS:
        raise ProximityError(f"There is no method {method[:40]!r}. There are: {', '.join(_METHODS)}.")
    if bool(auxiliary) != (method in _WITH_AUXILIARY):
        needs = "needs --auxiliary FILE" if method in _WITH_AUXILIARY else "reads no auxiliary kernel"
        raise ProximityError(f"Method {method} {needs}; {', '.join(_WITH_AUXILIARY)} do, nuclear and psd do not.")
    if mu != "auto" and not is_float(mu):
        raise ProximityError(f"--mu must be a number or auto. Got {mu[:40]!r}.")
    weight = mu if mu == "auto" else float(mu)
    P = read_matrix(source, file)
    values = P.values
    if auxiliary:
        read = [(similis.read_proximity(name), f"{name} must hold the objects of the matrix.") for name in auxiliary]
        for (Q, _), name in zip(read, auxiliary):
            if np.isnan(Q.to_dense()).any():
                raise ProximityError(f"{short_path(name)}: a matrix given as --auxiliary must have no missing entries.")
        values = similis.make_stack([P.values, *(in_order(Q, P.ids, P.n, must).values for Q, must in read)])
    step = similis.CompleteKernel(method=method, psd=psd, mu=weight, keep_known=not fitted, kind=str(P.kind))
    completed = replace(P, values=step.fit_transform(values))
    known = ~np.isnan(P.to_dense()) & ~np.eye(P.n, dtype=bool)
    alone = np.flatnonzero(~(known | known.T).any(axis=1))
    if len(alone) and not auxiliary:
        what = f"{len(alone)} objects have no known entry with another one, the first in row {alone[0]}"
        remedy = "Leave them out, or give --auxiliary FILE"
        warn_user(f"{short_path(file)}: {what}; what {method} fills in for them means nothing. {remedy}.", InputWarning)
    message = f"filled in {step.n_missing_} of {completed.n**2} entries by {method} and wrote {output}"
    facts = {"missing": step.n_missing_, "objective": step.objective_, "steps": step.n_iter_}
    write_result(output, completed, json, message, method=method, **facts)


@command()
def datasets(
    name: str | None = argument(default=None, metavar="NAME", help="A data set.", autocompletion=complete_dataset),
    output: str | None = option("-o", metavar="FILE", help="Export to this file; - is standard output."),
    data: str | None = option(metavar="DIR", help="Folder of benchmark data, instead of SIMILIS_DATA."),
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """List the data sets, describe one, or export it.

    Objects are exported as a csv with a column `class`, matrices in the format that the file's ending names, with
    their labels.

    **Examples**

        similis datasets
        similis datasets votes
        similis datasets votes -o votes.csv
        similis datasets protein_uw --data ~/benchmarks -o protein.npz
    """
    if name is None:
        found = [(info, similis.datasets.has_dataset(info.name, data_home=data)) for info in similis.list_datasets()]
        if json:
            print_json({"datasets": [{**info._asdict(), "available": here} for info, here in found]})
            return
        cells = [(i.name, i.n, i.n_classes, i.kind, "yes" if here else "no", i.about) for i, here in found]
        print_table(("name", "objects", "classes", "kind", "here", "about"), cells)
        return
    bunch = similis.load_benchmark(name, data_home=data)
    is_matrix = bunch.kind in ("similarity", "dissimilarity")
    check_outputs([], overwrite=overwrite, **{"matrix" if is_matrix else "objects": output})
    if output is not None:
        _export(bunch, output, json)
        return
    info = next(info for info in similis.list_datasets() if info.name == name)
    if json:
        print_json({**info._asdict(), "classes": bunch.target_names, "description": bunch.DESCR})
        return
    echo(f"{info.name}: {info.about}. {info.n} objects, {info.n_classes} classes, {info.kind}.")
    echo(" ".join(str(bunch.DESCR).split()) if info.where != "sklearn" else "Part of scikit-learn.")


def _export(bunch: Any, output: str, json: bool) -> None:
    import numpy as np

    labels: Any = None if bunch.target is None else np.asarray(bunch.target_names)[bunch.target]
    message = f"wrote {bunch.name} to {output}"
    if bunch.kind in ("similarity", "dissimilarity"):
        matrix = similis.Proximity(bunch.proximity, bunch.get("ids"), bunch.kind, labels)
        write_result(output, matrix, json, message, name=bunch.name)
        return
    if bunch.kind == "graphs":
        raise ProximityError(f"{bunch.name} holds graphs, which no table can hold; use similis.datasets from Python.")
    columns = [*bunch.feature_names, "class"]
    rows = [[*row, label] for row, label in zip(bunch.data.tolist(), labels)]
    if json and output == "-":
        print_json({"name": bunch.name, "columns": columns, "rows": rows})
        return
    write_table(output, [columns, *rows])
    tell_written(output, json, message, name=bunch.name)
