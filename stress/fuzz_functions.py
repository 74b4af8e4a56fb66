"""Every public function, estimator and measure is called with drawn inputs, proper and improper.

Matrices of all shapes, types, orders and sizes of number, sparse matrices, frames, lists and things that are no matrix;
labels of every sort and of the wrong length; parameters inside and outside their constraints; objects of every kind for
every measure. A call must return a result that keeps its promises (finite numbers, shapes, labels from ``classes_``,
probabilities that sum to one, the same answer twice) or refuse with one sentence. Any other exception, a
RuntimeWarning or DeprecationWarning, a changed argument, a crash, or no answer after 20 seconds of work is a failure.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
MEMORY = 6 * 2**30


def child(names, seconds, count, seed):
    """Try names one after the other; one line of JSON each."""
    import faulthandler

    faulthandler.enable()
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
        command = [sys.executable, __file__, "--names", *waiting, "--seconds", str(seconds), "--count", str(count)]
        process = subprocess.Popen(
            [*command, "--seed", str(seed), "--child"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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
            print(
                f"{fact['name']:40s} {fact['inputs']:7d} inputs {fact['accepted']:6d} accepted {len(fact['faults'])} faults",
                flush=True,
            )
            for fault in fact["faults"]:
                print(f"    {fault['times']:4d} x {fault['fault']}\n           {fault['example'][:260]}", flush=True)
        error = process.stderr.read()
        if process.wait() and waiting:
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--names", nargs="*", help="room.name; all by default, a prefix stands for a room")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each name")
    parser.add_argument("--count", type=int, default=10**6, help="inputs for each name at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a few inputs each, results not kept")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.names, options.seconds, options.count, options.seed)
        return 0
    from _fuzz_cases import CASES, LEFT_OUT
    from _record import record

    if options.quick:
        os.environ["SIMILIS_STRESS_QUICK"] = "1"
        options.count = 20
    names = [n for n in CASES if not options.names or any(n == p or n.startswith(p) for p in options.names)]
    start = time.monotonic()
    found = run(names, options.seconds, options.count, options.seed)
    seconds = round(time.monotonic() - start)
    total = sum(fact["inputs"] for fact in found)
    failures = [fault for fact in found for fault in fact["faults"]]
    if options.names:
        print(f"{total} inputs, {len(failures)} faults, {seconds} s")
        return bool(failures)
    rooms = sorted({name.rpartition(".")[0] for name in names})
    items = [
        {
            "room": room.removeprefix("_utils."),
            "names": len(here := [f for f in found if f["name"].rpartition(".")[0] == room]),
            "inputs": sum(f["inputs"] for f in here),
            "answered": sum(f["accepted"] for f in here),
            "refused in one sentence": sum(f["inputs"] - f["accepted"] for f in here)
            - sum(x["times"] for f in here for x in f["faults"]),
            "failures": sum(len(f["faults"]) for f in here),
        }
        for room in rooms
    ]
    record(
        "fuzz_functions",
        summary=f"{total} inputs to {len(found)} public names in {seconds} s.",
        items=items,
        failures=failures,
        seed=options.seed,
        seconds=seconds,
        inputs={fact["name"]: fact["inputs"] for fact in found},
        left_out=LEFT_OUT,
    )
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
