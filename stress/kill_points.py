"""Kill writers before each file operation: open, rename, remove, make, truncate.

Python reports each operation on a file before it happens (its audit events). A forked process counts those in its own
folder and sends itself SIGKILL at the first, the next time at the second, and so on until it gets through. After each
kill a reader must find the old one or the new one, whole and never with the other's labels. Between two steps there
may be none (a zarr folder and its older one change places; a measurement that overwrites) or one without labels (csv).
Doing the same again must give the new one and leave nothing behind.
"""

import os
import shutil
import signal
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import numpy as np
from _children import Child, answer
from _record import kept, quick, record

EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "shutil.rmtree"}


def dying(work, folder, number):
    """The call, with a hook that kills the process before its operation of this number in the folder."""
    count = [0]

    def hook(event, arguments):
        if event not in EVENTS or not concerns(event, arguments, str(folder)):
            return
        count[0] += 1
        if count[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def run():
        warnings.simplefilter("ignore")
        sys.addaudithook(hook)
        work(folder)

    return run


def concerns(event, arguments, folder):
    """Whether an operation changes something in the folder; reading does not."""
    if event == "os.truncate":
        return True
    path = arguments[0]
    if isinstance(path, int) or not os.fspath(path).startswith(folder):
        return False
    return event != "open" or bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


# What is written: old and new are told apart by their values, and each has its own labels.


def matrix(i):
    return np.full((12, 12), float(i)), np.full(12, i)


def write_as(name):
    def write(folder, i):
        from similis import write_proximity

        S, y = matrix(i)
        write_proximity(folder / name, S, labels=y, ids=[f"o{k}" for k in range(12)], kind="similarity")

    def read(folder):
        from similis import read_proximity

        try:
            P = read_proximity(folder / name)
        except FileNotFoundError:
            return None
        labels = P.labels
        assert labels is None or (P.values == labels[:, None].astype(float)).all(), "the labels of another matrix"
        return int(P.values[0, 0])

    return write, read


def write_model(folder, i):
    from similis import NearestCentroid, save

    save(NearestCentroid().fit(np.eye(4), [i, i, 9, 9]), folder / "m.skops")


def read_model(folder):
    from similis import load

    return int(load(folder / "m.skops").classes_[0]) if (folder / "m.skops").exists() else None


def measure_into(name):
    def write(folder, i):
        from similis import Counting
        from similis.distributed import measure_to_disk

        X = np.arange(24).reshape(12, 2) % (2 + i)
        measure_to_disk(folder / name, X, np.full(12, i), measure=Counting(), block_size=4, overwrite=True)

    def read(folder):
        from similis import read_proximity
        from similis.measures import Counting

        try:
            P = read_proximity(folder / name)
        except FileNotFoundError:
            return None
        i = int(P.labels[0])
        X = np.arange(24).reshape(12, 2) % (2 + i)
        assert (P.values == Counting().fit(X).matrix(X)).all(), "the labels of another matrix, or blocks of another"
        return i

    return write, read


def write_study(folder, i):
    from similis import Study, make_similarity

    S, y = make_similarity(20, 2, random_state=i)[:2]
    result = Study(["nc", "majority"], n_splits=3, cv=2, random_state=i, journal=folder / f"{i}.journal").run(S, y)
    result.name = str(i)
    result.save(folder / "r.json")


def read_study(folder):
    from similis import StudyResult

    return int(StudyResult.load(folder / "r.json").name) if (folder / "r.json").exists() else None


CASES = {
    "matrix as npy": write_as("S.npy"),
    "matrix as npz": write_as("S.npz"),
    "matrix as csv": write_as("S.csv"),
    "matrix as csv.gz": write_as("S.csv.gz"),
    "matrix as parquet": write_as("S.parquet"),
    "matrix as zarr": write_as("S.zarr"),
    "model": (write_model, read_model),
    "measure to npy": measure_into("S.npy"),
    "measure to zarr": measure_into("S.zarr"),
    "study": (write_study, read_study),
}


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def try_case(write, read):
    """Kill at each operation in turn; the number of operations."""
    number = 0
    with tempfile.TemporaryDirectory() as top:
        template, clean = Path(top) / "old", Path(top) / "clean"
        template.mkdir()
        assert Child(lambda: write(template, 0)).wait() == 0
        shutil.copytree(template, clean)
        assert Child(lambda: write(clean, 1)).wait() == 0
        expected = names(clean)
        while kill_once(write, read, template, Path(top) / "new", number + 1, expected):
            number += 1
    return number


def kill_once(write, read, template, folder, number, expected):
    """One kill and what follows it; False if the writer got through."""
    shutil.copytree(template, folder)
    status = Child(dying(lambda place: write(place, 1), folder, number)).wait()
    if status == 0:
        return False
    where = f"operation {number}:"
    assert status == -signal.SIGKILL, f"{where} the writer ended with {status}"
    assert answer(lambda: read(folder)) in (0, 1, None), f"{where} neither old nor new"
    assert Child(lambda: write(folder, 1)).wait() == 0, f"{where} it cannot be done again"
    assert answer(lambda: read(folder)) == 1, f"{where} done again, it is not the new one"
    left = set(names(folder)) ^ set(expected)
    assert not left, f"{where} {sorted(left)} left behind"
    # The old one again: what the killed one left must not be taken for it.
    assert Child(lambda: write(folder, 0)).wait() == 0
    assert answer(lambda: read(folder)) == 0, f"{where} the old one is not what is written"
    shutil.rmtree(folder)
    return True


def load_all():
    """Import and compile beforehand whatever the children need; zarr is imported only, for its threads."""
    from importlib import import_module

    import similis

    for name in ("pyarrow.parquet", "skops.io", "zarr", "similis.distributed"):
        import_module(name)
    for name in similis.__all__:
        getattr(similis, name)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("matrix as npz", "matrix as parquet", "model", "measure to npy", "study"):
            write, read = CASES[name]
            write(Path(folder), 0)
            read(Path(folder))


def main():
    warnings.simplefilter("ignore")
    load_all()
    chosen = [name for name in CASES if not sys.argv[1:] or name in sys.argv[1:]]
    items, failures = kept("kill_points", "what is written", chosen)
    for name in chosen[:2] if quick() else chosen:
        try:
            items.append({"what is written": name, "kills": try_case(*CASES[name])})
            print(items[-1], flush=True)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
            print(failures[-1], flush=True)
    total = sum(item["kills"] for item in items)
    summary = f"{total} kills, one before each operation of {len(items)} writers."
    items.sort(key=lambda item: list(CASES).index(item["what is written"]))
    record("kill_points", summary=summary, items=items, failures=failures)
    return len(failures)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
