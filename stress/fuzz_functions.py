"""Call every public function, estimator and measure with random valid and invalid inputs.

Matrices of all shapes, types, orders and sizes of number, sparse matrices, frames, lists and things that are no matrix;
labels of every sort and of the wrong length; parameters inside and outside their constraints; objects of every kind for
every measure. A call must return a result as documented (finite numbers, shapes, labels from ``classes_``,
probabilities that sum to one, the same answer twice) or raise an error of one sentence. Any other exception, a
RuntimeWarning or DeprecationWarning, a changed argument, a crash, or no answer after 20 seconds of work is a failure.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
MEMORY = 6 * 2**30


def child(names, seconds, count, seed):
    """Try names one after the other; one line of JSON each."""
    import faulthandler

    faulthandler.enable()
    place = Path(tempfile.mkdtemp()) / "here"  # where files with odd names may go
    place.mkdir()
    os.chdir(place)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ.setdefault("TQDM_DISABLE", "1")
    from _fuzz_cases import CASES
    from _fuzz_law import Tally

    for name in names:
        print(json.dumps({"begin": name}), flush=True)
        tally = Tally(name)
        try_name(tally, CASES[name], seconds, count, seed)
        print(json.dumps(tally.to_dict()), flush=True)


def try_name(tally, case, seconds, count, seed):
    """Draw examples until the time or the number is up."""
    import hypothesis
    from _fuzz_inputs import TAPE, Tape
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    start, rounds = time.monotonic(), 0

    def go_on():
        """Until the time is up; for what is slow, ten inputs in four times that time."""
        spent = time.monotonic() - start
        return tally.tried < count and (spent < seconds or (tally.tried < 10 and spent < 4 * seconds))

    while go_on():

        @hypothesis.seed(seed + rounds)
        @settings(
            max_examples=min(500, count - tally.tried),
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(tape=st.binary(min_size=TAPE, max_size=TAPE))
        def example(tape):
            if go_on():
                tally.run(case, Tape(tape))

        example()
        rounds += 1


def run(names, seconds, count, seed):
    """Try all names in a child process; a crash costs its name a fault, and the rest goes on."""
    found, waiting = [], list(names)
    while waiting:
        command = [
            sys.executable,
            str(Path(__file__).resolve()),
            "--names",
            *waiting,
            "--seconds",
            str(seconds),
            "--count",
            str(count),
        ]
        said = tempfile.TemporaryFile("w+")
        process = subprocess.Popen(
            [*command, "--seed", str(seed), "--child"], stdout=subprocess.PIPE, stderr=said, text=True
        )
        current = None
        for line in process.stdout:
            if not line.startswith("{"):
                continue
            fact = json.loads(line)
            if "begin" in fact:
                current = fact["begin"]
                continue
            waiting.remove(fact["name"])
            found.append(fact)
            current = None
            tried, faults = f"{fact['inputs']:7d} inputs {fact['accepted']:6d} accepted", len(fact["faults"])
            print(f"{fact['name']:40s} {tried} {faults} faults", flush=True)
            for fault in fact["faults"]:
                print(f"    {fault['times']:4d} x {fault['fault']}\n           {fault['example'][:260]}", flush=True)
        failed = process.wait()
        said.seek(0)
        error = said.read()
        if failed and waiting:
            current = current or waiting[0]
            print(f"{current}: crash\n{error[-3000:]}", flush=True)
            waiting.remove(current)
            fault = {
                "name": current,
                "fault": f"crash, status {process.returncode}",
                "example": error[-300:],
                "times": 1,
            }
            found.append({"name": current, "inputs": 0, "accepted": 0, "slowest": 0.0, "faults": [fault]})
    return found


def keep(found, seconds, seed):
    """Write the record; names that were not tried this time keep what an earlier run found."""
    from _fuzz_cases import CASES, LEFT_OUT
    from _record import RESULTS, record

    known = {}
    path = RESULTS / "fuzz_functions.json"
    if len(found) < len(CASES) and path.exists():
        before = json.loads(path.read_text())
        known, seconds = before["names"], seconds + before["seconds"]
    for fact in found:
        faults = {"failures": fact["faults"]} if fact["faults"] else {}
        known[fact["name"]] = {"inputs": fact["inputs"], "answered": fact["accepted"], **faults}
    known = {name: known[name] for name in CASES if name in known}
    items = []
    for package in sorted({name.rpartition(".")[0] for name in known}):
        here = [fact for name, fact in known.items() if name.rpartition(".")[0] == package]
        inputs, answered = (sum(fact[key] for fact in here) for key in ("inputs", "answered"))
        broken = sum(fault["times"] for fact in here for fault in fact.get("failures", []))
        item = {"package": package.removeprefix("_utils."), "names": len(here), "inputs": inputs, "answered": answered}
        items.append(item | {"refused": inputs - answered - broken, "failures": broken})
    total = sum(item["inputs"] for item in items)
    summary = f"{total} inputs to {len(known)} public names in {seconds} s."
    failures = [fault for fact in known.values() for fault in fact.get("failures", [])]
    facts = {"seed": seed, "seconds": seconds, "names": known, "left_out": LEFT_OUT}
    record("fuzz_functions", summary=summary, items=items, failures=failures, **facts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--names", nargs="*", help="package.name, or how it begins; all by default")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each name")
    parser.add_argument("--count", type=int, default=10**6, help="inputs for each name at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a few inputs each, results not kept")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.names, options.seconds, options.count, options.seed)
        return 0
    from _fuzz_cases import CASES
    from _record import quick

    if options.quick or quick():
        os.environ["SIMILIS_STRESS_QUICK"] = "1"
        options.count = 20
    names = [n for n in CASES if not options.names or n.startswith(tuple(options.names))]
    start = time.monotonic()
    found = run(names, options.seconds, options.count, options.seed)
    keep(found, round(time.monotonic() - start), options.seed)
    return any(fact["faults"] for fact in found)


if __name__ == "__main__":
    sys.exit(main())
