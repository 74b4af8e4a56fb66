"""A wall clock that jumps backwards, as when a machine corrects its time: nothing is lost, repeated or refused."""

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

# Every call for the wall clock gives a time an hour before the last one.
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    static long calls;
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(id, now);
    if (id == CLOCK_REALTIME) now->tv_sec -= 3600 * (__sync_fetch_and_add(&calls, 1) % 100000);
    return status;
}
"""

WORK = """
import sys, time
import numpy as np
from similis import RBF, Study, StudyResult, load, make_similarity, read_proximity, save
from similis.distributed import measure_to_disk
assert (time.time() > time.time()) == (sys.argv[1] == "backwards")
S, y = make_similarity(60, 2, random_state=0)[:2]
options = {"methods": ["knn", "nc"], "n_splits": 6, "cv": 3, "random_state": 0, "journal": "study.journal"}
whole = Study(**options).run(S, y)
lines = open("study.journal", "rb").read().splitlines(keepends=True)
open("study.journal", "wb").writelines(lines[: len(lines) // 2])  # as after a kill
resumed = Study(**options).run(S, y)
for result in (whole, resumed):
    assert all(entry.seconds >= 0 for entry in result.entries if hasattr(entry, "seconds"))
result = StudyResult.load(resumed.save("result.json") or "result.json")
result.to_html("report.html")
for row in result.table():
    print(row.method, row.error)
X = np.arange(40.0)[:, None]
for _ in range(2):  # the second finds a finished file
    P = measure_to_disk("D.npy", X, measure=RBF(), block_size=7)
print(float(P.values[:].sum()))
"""


def test_a_clock_that_goes_backwards(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("the clock is changed by a small C library")
    (tmp_path / "clock.c").write_text(SHIM)
    library = tmp_path / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "clock.c", "-ldl"], check=True)
    said = {}
    for clock, preload in (("forwards", {}), ("backwards", {"LD_PRELOAD": str(library)})):
        folder = tmp_path / clock
        folder.mkdir()
        command = [sys.executable, "-W", "error::RuntimeWarning", "-c", WORK, clock]
        done = subprocess.run(command, env={**os.environ, **preload}, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        said[clock] = done.stdout
    assert said["backwards"] == said["forwards"]
