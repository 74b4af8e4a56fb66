"""Kill studies, measurements, streams, reproductions and writers at random moments, and resume them.

Every process is a group of its own and gets a real SIGKILL. Most are forked with similis imported; of the commands
every tenth is started anew, and every one of the study on two processes. A job is killed again and again until it ends
by itself. After each kill what was finished before must still be there, byte for byte and with its time stamps, nothing
unfinished may be readable, and at the end the result must equal that of an uninterrupted run, nothing may have been
computed twice, and no temporary file may be left. A kill counts if the process was alive and at work: it had written
something and had not finished.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import numpy as np
from _children import Child, answer, wait_until
from _record import kept, quick, record

SEED = 14
WANTED = {
    "study": 60,
    "study, two processes": 6,
    "measure to npy": 45,
    "measure to zarr": 45,
    "stream": 45,
    "writers": 40,
}


def lines(path):
    """Whole lines of a file that may end in a torn one."""
    try:
        return path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:  # not yet, or no longer
        return []


class Job:
    """Something that is killed and resumed."""

    def __init__(self, folder, rng):
        self.folder = folder
        self.before = []

    def work(self):
        """A call, or arguments of the command."""
        raise NotImplementedError

    def progress(self):
        """A number that grows while the job works; more than at the start of the process means mid-work."""
        return len(lines(self.journal))

    def after_kill(self):
        """What was finished is still there; nothing else is readable."""
        now = lines(self.journal)
        assert now[: len(self.before)] == self.before, "finished lines have changed"
        self.before = now

    def at_end(self):
        """The result is that of an uninterrupted run; the folder is clean."""
        raise NotImplementedError

    def expect_files(self, *names):
        found = sorted(path.name for path in self.folder.iterdir())
        assert found == sorted(names), f"left behind: {sorted(set(found) - set(names))}"


class StudyJob(Job):
    jobs, fresh_every, ahead = 1, 10, 8

    def __init__(self, folder, rng):
        super().__init__(folder, rng)
        from similis import make_similarity, write_proximity

        S, y = make_similarity(40, 2, random_state=SEED)[:2]
        write_proximity(folder / "S.npz", S, labels=y, kind="similarity")
        self.journal = folder / "a.journal"
        self.saved = folder / "r.json"
        if not hasattr(StudyJob, "expected"):
            from similis import Study

            options = {"n_splits": 25, "cv": 3, "random_state": 0, "race": False}
            StudyJob.expected = self.contents(Study(["knn", "nc", "kri-knn(clip)", "majority"], **options).run(S, y))

    @staticmethod
    def contents(result):
        return [entry.content() for entry in result.entries.values()]

    def work(self):
        methods = [word for name in ("knn", "nc", "kri-knn(clip)", "majority") for word in ("--method", name)]
        options = ["--splits", "25", "--folds", "3", "--jobs", str(self.jobs), "--quiet", "--seed", "0", "--full"]
        files = ["--journal", str(self.journal), "--save", str(self.saved)]
        return ["study", str(self.folder / "S.npz"), *methods, *options, *files]

    def after_kill(self):
        super().after_kill()
        assert not self.saved.exists(), "a result was saved before the study had ended"

    def at_end(self):
        from similis import StudyResult

        assert self.contents(StudyResult.load(self.saved)) == self.expected
        entries = [json.loads(line) for line in lines(self.journal)]
        keys = [(entry["method"], entry["split"]) for entry in entries if "method" in entry]
        assert len(keys) == len(set(keys)) == 100, "entries were computed twice"
        self.expect_files("S.npz", "a.journal", "r.json")


class ParallelStudyJob(StudyJob):
    jobs, fresh_every, ahead = 2, 1, 20


class MeasureJob(Job):
    fresh_every, ahead, name = 10, 3, "S.npy"

    def __init__(self, folder, rng):
        super().__init__(folder, rng)
        draw = np.random.default_rng(SEED)
        words = ["".join(draw.choice(list("acgt"), size=700)) for _ in range(320)]
        rows = [f"o{i},{i % 3},{word}\n" for i, word in enumerate(words)]
        (folder / "o.csv").write_text("id,class,text\n" + "".join(rows))
        self.target = folder / self.name
        self.journal = folder / f"{self.name}.part.jsonl"
        self.times = {}
        if not hasattr(MeasureJob, "expected"):
            from similis import Edit

            MeasureJob.expected = Edit().fit(words).matrix(words)

    def work(self):
        options = ["--measure", "edit", "--id-column", "id", "--block-size", "16", "--quiet"]
        return ["measure", str(self.folder / "o.csv"), *options, "--out", str(self.target)]

    def after_kill(self):
        for line in lines(self.journal):
            entry = json.loads(line)
            if "time" in entry:
                assert self.times.setdefault(entry["block"], entry["time"]) == entry["time"], "a block was repeated"
        if not self.target.exists():
            part = self.folder / f"{self.name}.part"
            assert answer(lambda: refused(part)), "an unfinished matrix was read"

    def at_end(self):
        P, card = answer(lambda: stored(self.target))
        assert P.tobytes() == self.expected.tobytes(), "another matrix"
        assert all(card["times"][block] == when for block, when in self.times.items()), "finished blocks were repeated"
        names = ["o.csv", self.name] + ["S.npy.json"] * (self.name == "S.npy")
        self.expect_files(*names)
        assert not [path for path in self.folder.rglob("*.partial")], "zarr's drafts are left"


class ZarrJob(MeasureJob):
    name = "S.zarr"


def refused(path):
    """Whether no reader takes this for a matrix."""
    from similis import read_proximity

    try:
        read_proximity(path)
    except (ValueError, OSError):
        return True
    return False


def stored(path):
    from similis import read_proximity
    from similis.io import BlockFile

    return read_proximity(path).values, BlockFile(path, 0, "<f8", 1).card()


class StreamJob(Job):
    fresh_every, ahead, batches = None, 4, 60

    def __init__(self, folder, rng):
        super().__init__(folder, rng)
        self.file = folder / "stream.skops"
        self.seen = 0
        if not hasattr(StreamJob, "expected"):
            StreamJob.expected = self.answers(self.feed(None, None))

    @staticmethod
    def batch(i):
        draw = np.random.default_rng([SEED, i])
        y = draw.integers(3, size=30)
        return draw.normal(size=(30, 2)) + 3 * y[:, None], y

    def feed(self, stream, file):
        from similis import IncrementalHLM, Minkowski, save, stream_fit

        stream = stream or stream_fit(IncrementalHLM(bounded=True, random_state=0), Minkowski())
        for i in range(getattr(stream.model, "n_batches_", 0), self.batches):
            stream.partial_fit(*self.batch(i))
            if file is not None:
                save(stream, file)
        return stream

    def answers(self, stream):
        return stream.predict_proba(self.batch(1000)[0]).tobytes(), stream.model.n_seen_, len(stream.objects)

    def work(self):
        def go_on():
            from similis import load

            self.feed(load(self.file) if self.file.exists() else None, self.file)

        return go_on

    def progress(self):
        return self.file.stat().st_mtime_ns if self.file.exists() else 0

    def after_kill(self):
        from similis import load

        if self.file.exists():
            n = load(self.file).model.n_batches_
            assert n >= self.seen, "batches were lost"
            self.seen = n

    def at_end(self):
        from similis import load

        assert self.answers(load(self.file)) == self.expected
        self.expect_files("stream.skops")


class WriterJob(Job):
    """Matrices and a model replaced without end: a reader finds the old or the new one, with its own labels."""

    fresh_every, ahead = None, 2
    names = ("S.npy", "S.npz", "S.parquet")
    rounds = 60

    def __init__(self, folder, rng):
        super().__init__(folder, rng)
        self.rng = rng

    def work(self):
        def write():
            from similis import NearestCentroid, save, write_proximity

            for i in range(self.rounds):
                S = np.full((60, 60), float(i))
                for name in self.names:
                    write_proximity(self.folder / name, S, labels=np.full(60, i), kind="similarity")
                save(NearestCentroid().fit(S, np.arange(60) % 2), self.folder / "m.skops")
            (self.folder / "ended").touch()

        return write

    def progress(self):
        place = self.folder / "m.skops"
        return place.stat().st_mtime_ns if place.exists() else 0

    def after_kill(self):
        from similis import load, read_proximity

        for name in self.names:
            if (self.folder / name).exists():
                P = read_proximity(self.folder / name)
                assert (P.values == P.labels[:, None]).all(), f"{name} has another's labels"
        if (self.folder / "m.skops").exists():
            load(self.folder / "m.skops")

    def at_end(self):
        self.after_kill()
        self.expect_files("S.npy", "S.npy.json", "S.npz", "S.parquet", "m.skops", "ended")


JOBS = {
    "study": StudyJob,
    "study, two processes": ParallelStudyJob,
    "measure to npy": MeasureJob,
    "measure to zarr": ZarrJob,
    "stream": StreamJob,
    "writers": WriterJob,
}


def run_job(name, wanted, moments):
    """Episodes of one job until enough kills have hit it at work; the counts."""
    make, counts = JOBS[name], {"before": 0, "at work": 0, "ended": 0, "runs": 0}
    started = 0
    while counts["at work"] < wanted:
        folder = Path(tempfile.mkdtemp(prefix="similis-kills-"))
        job = make(folder, moments)
        try:
            while True:
                started += 1
                fresh = bool(make.fresh_every) and started % make.fresh_every == 0
                first = job.progress()
                child = Child(job.work(), fresh=fresh)
                if counts["at work"] >= wanted:  # enough: let this one finish
                    status = child.wait()
                else:
                    steps = moments.randint(0, job.ahead)
                    seen = [first, 0]

                    def ready(job=job, seen=seen, steps=steps):
                        now = job.progress()
                        seen[1] += now != seen[0]
                        seen[0] = now
                        return seen[1] > steps

                    wait_until(ready, child, moments, most=0.05 if moments.random() < 0.8 else 0.5)
                    status = None if child.kill() else child.wait()
                if status is None:
                    counts["at work" if job.progress() != first else "before"] += 1
                    job.after_kill()
                else:
                    assert status == 0, f"the job ended with {status}"
                    counts["ended"] += 1
                    job.at_end()
                    counts["runs"] += 1
                    break
        finally:
            child.kill()
            shutil.rmtree(folder, ignore_errors=True)
    return counts


def main():
    moments = random.Random(SEED)
    chosen = [name for name in WANTED if not sys.argv[1:] or name in sys.argv[1:]]
    items, failures = kept("kills", "job", chosen)
    for name in chosen:
        wanted = WANTED[name]
        start = time.perf_counter()
        try:
            counts = run_job(name, 3 if quick() else wanted, moments)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
            print(failures[-1], flush=True)
            continue
        items.append(
            {
                "job": name,
                "kills at work": counts["at work"],
                "before the first write": counts["before"],
                "jobs ended with the right result": counts["runs"],
            }
        )
        print(items[-1], f"{time.perf_counter() - start:.0f} s", flush=True)
    items = sorted((item for item in items if item["job"] in WANTED), key=lambda item: list(WANTED).index(item["job"]))
    total = sum(item["kills at work"] for item in items)
    summary = f"{total} processes were killed at work; nothing was lost, repeated, half-written or left behind."
    record("kills", summary=summary, items=items, failures=failures, seed=SEED)
    return len(failures)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
