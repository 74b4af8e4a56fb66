"""Every file reader is given changed files, by atheris: guided by coverage, from valid files on.

A reader must return what the file holds or refuse with a ValueError of one line, below 300 characters, that names the
file. Any other exception, a crash, a file not read in 10 seconds, more than 2 GB of memory, a file written or removed, a
class looked up by pickle, a process started or a connection opened is a failure. Without atheris (``pip install
atheris``, an environment of its own will do) plain random changes take its place.
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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
SLOW, MEMORY = 10, 2048
WATCHED = ("pickle.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.", "socket.connect", "os.remove",
           "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "shutil.", "ctypes.dlopen",
           "webbrowser.", "ftplib.", "urllib.")  # fmt: skip


class Watch:
    """Notes what a reader must not do, by Python's audit events."""

    def __init__(self):
        self.on, self.seen = False, []
        sys.addaudithook(self)

    def __call__(self, event, arguments):
        if not self.on:
            return
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
            if not str(arguments[0]).endswith((".pyc", "/j", "/k", ".nbi", ".nbc")) and "__pycache__" not in str(
                arguments[0]
            ):
                self.seen.append(f"open {arguments[0]} to write")
        elif event.startswith(WATCHED) and "__pycache__" not in str(arguments):
            self.seen.append(f"{event} {str(arguments)[:80]}")


def judge(reader, watch):
    """Read what was placed; return how the law is broken, or None."""
    watch.seen.clear()
    watch.on, start = True, time.monotonic()
    fault = None
    try:
        reader.read()
    except ValueError as error:
        text = str(error)
        if len(text) >= 300 or "\n" in text or not text:
            fault = f"a refusal of {len(text)} characters: {text[:80]!r} at {place(error)}"
        elif (
            reader.path.name not in text
            and reader.path.parent.name not in text
            and reader.path.name.split(".")[0] + "." not in text
        ):
            fault = f"a refusal that does not name the file: {text[:120]!r} at {place(error)}"
    except Exception as error:
        fault = f"{type(error).__name__} at {place(error)}: {str(error)[:80]}"
    finally:
        watch.on = False
    if watch.seen:
        return f"forbidden: {watch.seen[0]}"
    if time.monotonic() - start > SLOW:
        return "too slow"
    return fault


def place(error):
    """The last line of similis on the way, and the very last."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/similis/" in f.filename][-1:]
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in [*ours, frames[-1]])


def attack(name, seconds, seed, found):
    """Fuzz one reader in this process; what is found goes to a file as it is found."""
    try:
        import atheris
    except ImportError:
        atheris = None
    with atheris.instrument_imports(include=["similis", "skops"]) if atheris else contextlib.nullcontext():
        from _readers import readers

    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    reader, watch = readers(folder)[name], Watch()
    faults: dict[str, dict] = {}

    def test(data):
        reader.place(data)
        fault = judge(reader, watch)
        if fault is not None and fault.replace(str(folder), "") not in faults:
            fault = fault.replace(str(folder), "")
            faults[fault] = {"reader": name, "fault": fault, "data": data[:2000].hex()}
            found.write_text(json.dumps(list(faults.values())))

    for seed_file in reader.seeds:
        reader.place(seed_file)
        reader.read()  # a valid file is read
    if atheris is None:
        mutate(test, reader.seeds, seconds, seed)
        return
    corpus = folder / "corpus"
    corpus.mkdir()
    for i, content in enumerate(reader.seeds):
        (corpus / f"seed{i}").write_bytes(content)
    limits = [f"-max_total_time={int(seconds)}", f"-timeout={SLOW + 5}", f"-rss_limit_mb={MEMORY}", f"-seed={seed + 1}"]
    keep = [
        f"-artifact_prefix={folder}/",
        "-print_final_stats=1",
        f"-max_len={max(4096, 2 * max(map(len, reader.seeds)))}",
    ]
    atheris.Setup([sys.argv[0], str(corpus), *limits, *keep], test)
    atheris.Fuzz()


def mutate(test, seeds, seconds, seed):
    """Cut, overwrite, insert, repeat and splice stretches of valid files."""
    rng, end, count = random.Random(seed), time.monotonic() + seconds, 0
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
            at, length = rng.randint(0, len(data)), rng.choice((0, 0, 1, 2, 4, 8, 40))
            new = rng.choice((rng.choice(tokens), rng.randbytes(rng.randint(0, 8)), bytes(data[at : at + 20])))
            data[at : at + length] = new
        test(bytes(data[: rng.randint(0, len(data))] if rng.random() < 0.1 else data))
        count += 1
    print(f"stat::number_of_executed_units: {count}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--readers", nargs="*", help="some of them")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="two seconds each, results not kept")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--found", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        attack(options.one, options.seconds, options.seed, options.found)
        return 0
    from _record import quick, record

    if options.quick or quick():
        os.environ["SIMILIS_STRESS_QUICK"], options.seconds = "1", 2.0
    return campaign(options, record)


def campaign(options, record):
    """All readers, each in a process of its own."""
    from importlib.util import find_spec

    from _readers import NAMES

    engine = "mutations"
    if find_spec("atheris"):
        from importlib.metadata import version

        engine = f"atheris {version('atheris')}"
    items, failures, start = [], [], time.monotonic()
    for name in options.readers or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            found = Path(folder) / "found.json"
            command = [
                sys.executable,
                __file__,
                "--one",
                name,
                "--seconds",
                str(options.seconds),
                "--found",
                str(found),
            ]
            process = subprocess.run(
                [*command, "--seed", str(options.seed)], capture_output=True, text=True, cwd=folder
            )
            faults = json.loads(found.read_text()) if found.exists() else []
        said = process.stderr
        runs = re.findall(r"number_of_executed_units:\s*(\d+)", said) or re.findall(r"^#(\d+)\s", said, re.M) or ["0"]
        edges = re.findall(r"cov: (\d+)", said)
        if process.returncode:
            faults.append(
                {"reader": name, "fault": f"the process ended with status {process.returncode}", "said": said[-1500:]}
            )
        items.append(
            {
                "reader": name,
                "executions": int(runs[-1]),
                "edges covered": int(edges[-1]) if edges else None,
                "failures": len(faults),
            }
        )
        failures += faults
        print(items[-1], flush=True)
        for fault in faults:
            print("   ", fault["fault"][:300], fault.get("data", "")[:120], fault.get("said", "")[-1200:], flush=True)
    total, seconds = sum(item["executions"] for item in items), round(time.monotonic() - start)
    if options.readers:
        return bool(failures)
    record("fuzz_readers", summary=f"{total} changed files given to {len(items)} readers in {seconds} s, {engine}.",
           items=items, failures=failures, engine=engine, seed=options.seed, seconds=seconds)  # fmt: skip
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
