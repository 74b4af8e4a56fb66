"""Query one fitted estimator from 16 threads and from several processes at the same time.

Every classifier and transformer is fitted once and queried by 16 threads that start together; each result must equal
the serial one bit for bit. Then 16 threads fit clones of it at the same time. In a fresh process with an empty numba
cache 16 threads make the first call together, so that they race to compile. All of it runs with two BLAS threads, must
leave their number as it was, and must end: a deadlock is a failure. Joblib's processes, fork and spawn must agree as
well.
"""

import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

os.environ.update(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")

import multiprocessing as mp
import warnings

import numpy as np
from _record import quick, record
from _registry import CLASSIFIERS, responses, toy, transformers
from sklearn.base import clone
from threadpoolctl import threadpool_info

N_THREADS = 16
CALLS = 4  # of each thread
TIMEOUT = 900  # seconds until a fresh process counts as deadlocked

RACE = """
import sys, threading, warnings
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("ignore")
import numpy as np
from concurrent.futures import ThreadPoolExecutor
import similis as s
from _registry import responses, toy
model = eval(sys.argv[2])
S, y, Q = toy(model)
together = threading.Barrier(16)
def first(_):
    together.wait()
    return responses(type(model)(**model.get_params()).fit(S, y), Q)
with ThreadPoolExecutor(16) as pool:
    found = list(pool.map(first, range(16)))
expected = responses(type(model)(**model.get_params()).fit(S, y), Q)
for each in found:
    for name, value in expected.items():
        np.testing.assert_array_equal(each[name], value)
print("same")
"""


def blas_threads():
    return sorted((info["internal_api"], info["num_threads"]) for info in threadpool_info())


def together(work, n=N_THREADS):
    """What `work(i)` gives on n threads that start at the same moment."""
    barrier = threading.Barrier(n)

    def start(i):
        barrier.wait()
        return work(i)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(start, range(n)))


def differences(found, expected):
    return [name for name, value in expected.items() if not np.array_equal(found[name], value, equal_nan=True)]


def try_estimator(estimator, kind):
    """Failures of one estimator, and the number of calls."""
    S, y, Q = toy(estimator, kind)
    model = clone(estimator).fit(S, y)
    expected = responses(model, Q)
    failures = []
    for found in together(lambda _: [responses(model, Q) for _ in range(CALLS)]):
        failures += [
            f"{estimator}: {name} differs on a thread" for each in found for name in differences(each, expected)
        ]
    for found in together(lambda _: responses(clone(estimator).fit(S, y), Q)):
        failures += [f"{estimator}: {name} differs after a fit on a thread" for name in differences(found, expected)]
    return sorted(set(failures)), N_THREADS * (CALLS + 1) * len(expected), model, Q, expected


def ask(arguments):
    """For other processes: what a model answers."""
    model, Q = arguments
    return responses(model, Q)


def try_processes(asked):
    """Fork, spawn and joblib's processes answer like this one."""
    from joblib import Parallel, delayed

    failures = []

    def compare(way, answers):
        for (model, _, expected), found in zip(asked, answers):
            failures.extend(f"{model}: {name} differs with {way}" for name in differences(found, expected))

    jobs = [(model, Q) for model, Q, _ in asked]
    for way in ("fork", "spawn"):
        with mp.get_context(way).Pool(2) as pool:
            compare(way, pool.map_async(ask, jobs).get(timeout=TIMEOUT))
    compare("joblib", Parallel(n_jobs=2, timeout=TIMEOUT)(delayed(ask)(job) for job in jobs))
    return failures


def try_race(expression):
    """The first call of a fresh process, on 16 threads, with nothing compiled."""
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as cache:
        try:
            done = subprocess.run(
                [sys.executable, "-c", RACE, here, expression],
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            return [f"{expression}: no answer within {TIMEOUT} s"]
    return [] if done.stdout.strip() == "same" else [f"{expression}: {done.stderr.strip()[-300:]}"]


def main():
    warnings.simplefilter("ignore")
    chosen = [(estimator, None) for estimator in CLASSIFIERS] + transformers()
    chosen = chosen[::10] if quick() else chosen
    before = blas_threads()
    failures, calls, asked = [], 0, []
    for estimator, kind in chosen:
        try:
            failed, n, *rest = try_estimator(estimator, kind)
        except Exception as error:
            failures.append(f"{estimator}: {type(error).__name__}: {error}")
            continue
        failures += failed
        calls += n
        if "inverse" not in repr(estimator):  # its weights are a class of the tests
            asked.append(rest)
    if blas_threads() != before:
        failures.append(f"BLAS had {before} threads, and now {blas_threads()}")
    items = [{"what": "estimators asked and fitted by 16 threads", "tried": len(chosen), "calls": calls}]
    failures += try_processes(asked)
    items.append({"what": "estimators asked by fork, spawn and joblib", "tried": len(asked), "calls": 3 * len(asked)})
    races = [
        "s.SimilarityKNN()",
        "s.SimilarityKNN(weights='kri')",
        "s.SDA()",
        "s.SVMKNN()",
        "s.MixtureHLM(random_state=0)",
    ]
    races = races[:1] if quick() else races
    for expression in races:
        failures += try_race(expression)
    items.append({"what": "first calls by 16 threads, nothing compiled", "tried": len(races), "calls": 16 * len(races)})
    summary = f"{len(chosen)} estimators gave {calls:,} results on 16 threads, all equal to those of one thread."
    record("threads", summary=summary, items=items, failures=failures)
    return len(failures)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
