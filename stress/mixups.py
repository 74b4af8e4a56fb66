"""Read labels that are spelled alike, journals of several studies, and finished files that were changed.

*Tables.* Random tables of cells such as ``1``, ``01``, ``1.0``, ``NA`` and empty ones are read for every categorical
measure; a second file with some of the rows, perhaps only those that look like numbers, must give the same rows of the
matrix. *Journals.* Two studies of the same methods on different matrices are journaled; their files are concatenated in
both orders, in the formats of versions 1.0 and 2, or their lines are interleaved, with a torn line in between; each
study must resume with its own entries. *Finished files.* One bit of the values of an npy file or zarr store is flipped,
or ids and labels are exchanged: measuring again must refuse the file.
"""

import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
from _record import quick, record

import similis as s
from similis._utils.journal import _format
from similis.distributed import measure_to_disk
from similis.io import read_objects

CELLS = np.array(["1", "01", "1.0", "2", "-1", "1e0", "", "?", "a", "NA", "0"])
rng = np.random.default_rng(0)


def try_tables(folder, n):
    """Read rows of a table from a second file."""
    for case in range(n):
        some = CELLS[: rng.integers(2, len(CELLS) + 1)]
        table = rng.choice(some, (12, 3))
        y = rng.integers(2, size=12)
        y[:2] = 0, 1
        numbers = [i for i in range(12) if "a" not in table[i] and "?" not in table[i]]
        rows = np.array(numbers if case % 2 and numbers else rng.permutation(12)[:5])
        for name, part in (("train", range(12)), ("new", rows)):
            lines = ["u,v,w", *(",".join(f'"{cell}"' for cell in table[i]) for i in part)]
            (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        for measure in (s.Counting(), s.VDM(), s.HVDM(), s.HVDM(categorical=[0, 1, 2]), s.Lin(), s.ResidualEntropy()):
            train = read_objects(folder / "train.csv", types=measure.cells)
            new = read_objects(folder / "new.csv", types=train.types)
            step = s.Pairwise(measure)
            expected = step.fit_transform(train.values, y)[rows]
            if not np.allclose(step.transform(new.values), expected, equal_nan=True):
                yield f"table {case}: {measure} reads a row of two files in two ways"


def as_version_1(line):
    """A line of a journal as version 1.0 wrote it."""
    record = json.loads(line)
    return _format({key: value for key, value in record.items() if key not in ("crc", "study", "exact")})


def try_journals(folder, n):
    """Resume two studies from one file."""
    y = np.arange(20) % 2
    Z = y[:, None] + rng.normal(size=(20, 2))
    S = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1))
    matrices, lines, expected = (S, S**3), [], []
    for i, A in enumerate(matrices):
        expected.append([entry.content() for entry in study(folder / f"{i}.journal").run(A, y).entries.values()])
        lines.append((folder / f"{i}.journal").read_bytes().splitlines(keepends=True))
    for case in range(n):
        ours, theirs = lines if case % 2 else lines[::-1]
        form = ("version 1", "version 2", "interleaved")[case % 3]
        if form == "interleaved":
            pools, both = [list(ours), list(theirs)], []
            while pools[0] or pools[1]:
                pool = pools[int(rng.integers(2))]
                both += [pool.pop(0)] if pool else []
        else:
            both = [*ours, *theirs] if form == "version 2" else list(map(as_version_1, [*ours, *theirs]))
        if form != "version 1":
            both.insert(int(rng.integers(1, len(both))), b'{"crc":"torn\n')
        file = folder / "both.journal"
        for A, right in zip(matrices, expected):
            file.write_bytes(b"".join(both))
            found = [entry.content() for entry in study(file).run(A, y).entries.values()]
            if found != right:
                yield f"journal {case} ({form}): other entries"


def study(journal):
    return s.Study(["nc", "majority"], n_splits=3, cv=3, journal=journal)


def try_files(folder, n):
    """Measure into a finished file that was changed."""
    X, ids = rng.integers(0, 3, (30, 5)), [f"o{i}" for i in range(30)]
    for case in range(n):
        path = folder / ("S.zarr" if case % 2 else "S.npy")
        measure_to_disk(path, X, measure=s.Counting(), ids=ids, labels=X[:, 0], block_size=10, overwrite=True)
        file = path / "c" / str(rng.integers(3)) / str(rng.integers(3)) if path.is_dir() else path
        data = bytearray(file.read_bytes())
        names = ids[::-1] if case % 4 == 2 else ids
        if names is ids:
            data[rng.integers(128 if path.is_file() else 0, len(data))] ^= 1 << int(rng.integers(8))
            file.write_bytes(data)
        try:
            measure_to_disk(path, X, measure=s.Counting(), ids=names, labels=X[:, 0], block_size=10)
        except s.ProximityError:
            continue
        yield f"file {case}: {path.suffix} was accepted"


def main():
    counts = {
        "tables": 20 if quick() else 300,
        "journals": 3 if quick() else 30,
        "finished files": 8 if quick() else 100,
    }
    tries = dict(zip(counts, (try_tables, try_journals, try_files)))
    failures, items = [], []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, n in counts.items():
            found = list(tries[name](Path(folder), n))
            failures += found
            items.append({"what": name, "cases": n, "wrong": len(found)})
    record("mixups", summary=f"{sum(counts.values())} cases.", items=items, failures=failures)
    return bool(failures)


if __name__ == "__main__":
    raise SystemExit(main())
