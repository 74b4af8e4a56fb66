"""Read changed files with every reader, generated from valid ones by atheris, guided by coverage.

A reader must return what the file holds or raise a ValueError of one line, below 300 characters, that names the
file. Any other exception, a crash, a file not read in 10 seconds, more than 2 GB of memory, a file written or removed,
a class looked up by pickle, a process started (except the one that checks an HDF5 file) or a connection opened is a
failure. Without atheris (``pip install atheris``; an environment of its own will do) plain random changes take its
place.
"""

import argparse
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from functools import partial
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
SLOW, MEMORY = 10, 2048
WATCHED = (
    "pickle.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "subprocess.",
    "socket.connect",
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "shutil.",
    "ctypes.dlopen",
    "webbrowser.",
    "ftplib.",
    "urllib.",
)


class Watch:
    """Notes what a reader must not do, by Python's audit events."""

    def __init__(self):
        self.on, self.seen = False, []
        sys.addaudithook(self)

    def __call__(self, event, arguments):
        if not self.on:
            return
        subject = str(arguments[0]) if arguments else ""
        if "__pycache__" in str(arguments) or subject.endswith(
            (".pyc", "/j", "/k")
        ):  # journals are opened to be added to
            return
        if event == "open":
            if isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
                self.seen.append(f"open {subject} to write")
        elif event == "subprocess.Popen" and "_hdf5_check.py" in str(arguments[1]):
            return  # reads an HDF5 file in a process that may crash
        elif event.startswith(WATCHED):
            self.seen.append(f"{event} {str(arguments)[:80]}")


def judge(reader, watch):
    """Read what was placed; return how the law is broken, or None."""
    watch.seen.clear()
    watch.on, start = True, time.process_time()
    fault = None
    try:
        reader.read()
    except ValueError as error:
        text = str(error)
        if len(text) >= 300 or "\n" in text or not text:
            fault = f"a refusal of {len(text)} characters: {text[:80]!r} at {place(error)}"
        elif reader.path.relative_to(reader.folder).parts[0].split(".")[0] not in text:  # the file, or one beside it
            fault = f"a refusal that does not name the file: {text[:120]!r} at {place(error)}"
    except Exception as error:
        fault = f"{type(error).__name__} at {place(error)}: {str(error)[:80]}"
    finally:
        watch.on = False
    if watch.seen:
        return f"forbidden: {watch.seen[0]}"
    if time.process_time() - start > SLOW:
        return "too slow"
    return fault


def place(error):
    """The last line of similis on the way, and the very last."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/similis/" in f.filename][-1:]
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in [*ours, frames[-1]])


def attack(names, seconds, seed, found):
    """Fuzz readers in this process, each chosen by the first byte; counts and faults go to a file as they come."""
    try:
        import atheris
    except ImportError:
        atheris = None
    parts = ["similis.io", "similis.study", "skops.io"]
    with atheris.instrument_imports(include=parts) if atheris else contextlib.nullcontext():
        from _readers import make_readers

    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    readers = {name: reader for name, reader in make_readers(folder).items() if name in names}
    watch, order = Watch(), list(readers)
    counts, faults = dict.fromkeys(order, 0), {}

    def test(data):
        name = order[data[0] % len(order)] if data else order[0]
        readers[name].place(data[1:])
        counts[name] += 1
        fault = judge(readers[name], watch)
        if fault is not None:
            fault = fault.replace(str(folder), "")
            faults.setdefault(f"{name}: {fault}", {"reader": name, "fault": fault, "data": data[1:2000].hex()})
        if fault is not None or sum(counts.values()) % 100 == 0:
            found.write_text(json.dumps({"counts": counts, "faults": list(faults.values())}))

    seeds = []
    for i, name in enumerate(order):
        for content in readers[name].seeds:
            readers[name].place(content)
            if content is readers[name].seeds[0]:
                readers[name].read()  # a valid file is read
            seeds.append(bytes([i]) + content)
    if atheris is None:
        mutate(test, seeds, seconds, seed)
        return
    corpus = folder / "corpus"
    corpus.mkdir()
    for i, content in enumerate(seeds):
        (corpus / f"seed{i}").write_bytes(content)
    limits = [
        f"-max_total_time={int(seconds)}",
        f"-timeout={SLOW + 20}",
        f"-rss_limit_mb={MEMORY}",
        f"-seed={seed + 1}",
    ]
    keep = [f"-artifact_prefix={folder}/", "-print_final_stats=1", f"-max_len={2 * max(map(len, seeds))}"]
    atheris.Setup([sys.argv[0], str(corpus), *limits, *keep], test)
    atheris.Fuzz()


def mutate(test, seeds, seconds, seed):
    """Cut, overwrite, insert, repeat and splice stretches of valid files."""
    rng, end = random.Random(seed), time.monotonic() + seconds
    tokens = [
        b",",
        b'"',
        b"\n",
        b"\0\0",
        b"PK",
        b"1e400",
        b"\xff",
        b"[",
        b"{",
        b"null",
        b"-1",
        b"99999999999",
        b"NaN",
        b"'O'",
    ]
    while time.monotonic() < end:
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 4)):
            at, length = rng.randint(1, max(1, len(data))), rng.choice((0, 0, 1, 2, 4, 8, 40))
            new = rng.choice((rng.choice(tokens), rng.randbytes(rng.randint(0, 8)), bytes(data[at : at + 20])))
            data[at : at + length] = new
        test(bytes(data[: rng.randint(0, len(data))] if rng.random() < 0.1 else data))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--readers", nargs="*", help="some of them")
    parser.add_argument("--seconds", type=float, default=900.0, help="altogether")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="20 seconds, results not kept")
    parser.add_argument("--found", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.found:
        attack(options.readers, options.seconds, options.seed, options.found)
        return 0
    from _record import commit, quick, record

    if options.quick or quick():
        os.environ["SIMILIS_STRESS_QUICK"], options.seconds = "1", 20.0
    return campaign(options, partial(record, commit=commit()))  # of the code that is read now


def campaign(options, record):
    """All readers in a process of their own; after a crash in another one, for the time that is left."""
    from _readers import NAMES

    names = options.readers or NAMES
    counts, faults, edges, seed = dict.fromkeys(names, 0), [], 0, options.seed
    start = time.monotonic()
    end = start + options.seconds
    while time.monotonic() < end - 1:
        with tempfile.TemporaryDirectory() as folder:
            found = Path(folder) / "found.json"
            command = [sys.executable, __file__, "--readers", *names, "--seconds", str(end - time.monotonic())]
            process = subprocess.run(
                [*command, "--seed", str(seed), "--found", str(found)], capture_output=True, text=True, cwd=folder
            )
            known = json.loads(found.read_text()) if found.exists() else {"counts": {}, "faults": []}
        for name, count in known["counts"].items():
            counts[name] += count
        faults += [fault for fault in known["faults"] if fault not in faults]
        edges = max([edges, *map(int, re.findall(r"cov: (\d+)", process.stderr))])
        if process.returncode:
            faults.append({"reader": "", "fault": f"status {process.returncode}", "said": process.stderr[-2000:]})
            if not known["counts"]:
                break
        seed += 1
    return finish(options, record, counts, faults, edges, round(time.monotonic() - start))


def finish(options, record, counts, faults, edges, seconds):
    """Say and keep what was found."""
    engine = "random changes"
    with contextlib.suppress(ImportError):
        engine = f"atheris {version('atheris')}"
    total = sum(counts.values())
    items = [
        {"reader": name, "files": count, "failures": sum(fault["reader"] == name for fault in faults)}
        for name, count in counts.items()
    ]
    for fault in faults:
        print(
            "   ", fault["reader"], fault["fault"][:300], fault.get("data", "")[:200], fault.get("said", ""), flush=True
        )
    print(total, counts, edges, seconds)
    if options.readers:
        return bool(faults)
    summary = f"{total} changed files given to {len(items)} readers in {seconds} s by {engine}."
    record(
        "fuzz_readers",
        summary=summary,
        items=items,
        failures=faults,
        engine=engine,
        edges=edges,
        seed=options.seed,
        seconds=seconds,
    )
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
