"""Files of the version 1 fixtures: matrices, studies, journals, model cards, unfinished matrices."""

import csv
import shutil
from unittest import mock

from v1.data import N_TRAIN, make_matrices, make_plain_objects, read_objects

import similis
from similis import distributed, study

# No SVC: the fingerprint of a method depends on the parameters that scikit-learn's estimators have.
STUDY = {"methods": ["knn", "nc", "sda", "rnlc(box-cox)", "majority"], "n_splits": 3, "cv": 3}
MEASURED_STUDY = {"methods": ["knn", "kernel-hlm", "majority"], "n_splits": 2, "cv": 3}
MEASURE_BLOCKS = {"block_size": 8, "dtype": "float64"}


def write_files(out):
    """Write matrices in every format, study results, journals, model cards and an unfinished matrix."""
    out = out / "files"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    matrices, plain = make_matrices(), make_plain_objects()
    S, y = matrices["similarity"]
    ids = [f"object {i}" for i in range(len(y))]
    for name in ("matrix.npy", "matrix.npz", "matrix.csv", "matrix.tsv.gz", "matrix.parquet", "matrix.zarr"):
        D, labels = matrices["dissimilarity"]
        similis.write_proximity(out / name, D[:12, :12], ids=ids[:12], kind="dissimilarity", labels=labels[:12])
    similis.write_proximity(out / "missing.npz", matrices["missing"][0][:12, :12], kind="similarity")

    X, labels = read_objects("table", plain["table"]), plain["labels"]
    with mock.patch("similis.study._run.machine", return_value={"cpu": "unknown", "cores": 1, "system": "unknown"}):
        write_studies(out, S, y, ids, X, labels)
    write_blocks(out, X, labels)
    write_cards(out, S, y, ids, X, labels)


def write_studies(out, S, y, ids, X, labels):
    """Write the results file of a study, and journals of complete and interrupted studies."""
    result = study.Study(**STUDY, journal=out / "study.jsonl").run(S, y, ids=ids)
    result.save(out / "study.json")
    result.save(out / "study.json.gz")
    partial = study.Study(**STUDY, journal=out / "half.jsonl").run(S, y, ids=ids, progress=stop_after(7))
    assert partial.partial
    for name, progress in (("measured.jsonl", False), ("measured-half.jsonl", stop_after(3))):
        study.Study(**MEASURED_STUDY, journal=out / name).run(X, labels, measure=similis.VDM(), progress=progress)


def stop_after(n):
    """Return a progress callback that interrupts a study after `n` entries."""

    def stop(progress):
        if progress.done == n:
            raise KeyboardInterrupt

    return stop


def write_blocks(out, X, labels):
    """Write a whole measured matrix, and two that were interrupted after three of ten blocks."""
    distributed.measure_to_disk(out / "measured.npy", X, measure=similis.Counting(), labels=labels, **MEASURE_BLOCKS)
    for name, measure in (("unfinished.npy", similis.Counting()), ("unfinished-vdm.npy", similis.VDM())):
        compute, calls = type(measure)._matrix, []

        def interrupted(self, *args, compute=compute, calls=calls, **options):
            calls.append(1)
            if len(calls) == 4:
                raise KeyboardInterrupt
            return compute(self, *args, **options)

        with mock.patch.object(type(measure), "_matrix", interrupted):
            try:
                distributed.measure_to_disk(out / name, X, labels, measure=measure, **MEASURE_BLOCKS)
            except KeyboardInterrupt:
                continue
        raise AssertionError("The measurement was not interrupted.")


def write_cards(out, S, y, ids, X, labels):
    """Write models with their cards by `similis fit`, rows to predict, and what `similis predict` prints for them."""
    train, rows = out / "train.csv", out / "rows.csv"
    similis.write_proximity(train, S[:N_TRAIN, :N_TRAIN], ids=ids[:N_TRAIN], kind="similarity", labels=y[:N_TRAIN])
    similis.write_proximity(
        rows,
        similis.Proximity(S[N_TRAIN:, :N_TRAIN], ids=ids[N_TRAIN:], column_ids=ids[:N_TRAIN], kind="similarity"),
    )
    X = X[:, :3]  # the tables of VDM grow fast with the number of columns
    columns = ["first", "second", "third"]
    for name, part in (("objects.csv", slice(0, N_TRAIN)), ("new-objects.csv", slice(N_TRAIN, None))):
        with open(out / name, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["id", *columns, "party"])
            writer.writerows([name, *x, label] for name, x, label in zip(ids[part], X[part].tolist(), labels[part]))
    fit = ("--splits", "3", "--folds", "3", "--quiet")
    command("fit", train, "--method", "knn", *fit, "-o", out / "knn.skops")
    command("fit", train, "--method", "svm-kernel(clip)", *fit, "-o", out / "svm.skops")
    described = ("--measure", "vdm", "--id-column", "id", "--label-column", "party")
    command("fit", out / "objects.csv", *described, "--method", "sda", *fit, "-o", out / "votes.skops")
    for model, new in (("knn", rows), ("svm", rows), ("votes", out / "new-objects.csv")):
        more = ("--id-column", "id") if model == "votes" else ()
        command("predict", out / f"{model}.skops", new, *more, "-o", out / f"{model}.predicted.csv")


def command(*arguments):
    """Run the command line of similis in this process."""
    from typer.testing import CliRunner

    from similis.cli import app

    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
