"""Load changed model files and predict with those that load, with bounds checks in compiled code.

Every model of tests/v1 (each estimator, transformer and measure, pipelines, searches, compact forms) is changed at
random: a number in an array, its shape or type, two arrays exchanged, a number or word in the description. The kernels
are compiled with bounds checks (NUMBA_BOUNDSCHECK=1, in a cache of its own). A file must be rejected by ``load`` with a
ValueError of one line, or give a model whose prediction methods return or raise an ordinary exception. An index out of
bounds in a kernel, a killed process, or no answer after 60 seconds is a failure.
"""

import io
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
os.environ.setdefault("NUMBA_BOUNDSCHECK", "1")
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / "similis-boundscheck"))
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "tests")]

import numpy as np  # noqa: E402
from _record import quick, record  # noqa: E402
from v1.data import N_TRAIN, read_objects  # noqa: E402
from v1.models import outputs  # noqa: E402

from similis import load  # noqa: E402

SECONDS = 60
NUMBERS = (-1, 0, 1, 2, 3, 7, 24, 25, 255, 2**31, -(2**31), 2**62, 0.5, -0.5, 1e300, -1e300, 1e-300)
WORDS = ("precomputed", "linear", "rbf", "uniform", "kri", "krr", "clip", "pinv", "dissimilarity", "similarity", "")


def queries():
    """Rows and objects that the models of tests/v1 predict."""
    stored, plain = np.load(ROOT / "tests/v1/matrices.npz"), json.loads((ROOT / "tests/v1/objects.json").read_text())
    found = {name: stored[name][N_TRAIN:, :N_TRAIN] for name in stored.files if "/" not in name}
    return found | {name: read_objects(name, plain[name][N_TRAIN:]) for name in plain if name != "labels"}


def change(members, rng):
    """Change one or two members of a model file."""
    members = dict(members)
    arrays = [name for name in members if name.endswith(".npy")]
    for _ in range(rng.choice((1, 1, 1, 2))):
        if arrays and rng.random() < 0.75:
            name = rng.choice(arrays)
            try:
                a = np.load(io.BytesIO(members[name]), allow_pickle=False)
            except ValueError:
                continue
            buffer = io.BytesIO()
            np.save(buffer, changed_array(a, members, arrays, rng), allow_pickle=False)
            members[name] = buffer.getvalue()
        else:
            members["schema.json"] = changed_schema(members["schema.json"], rng)
    return members


def changed_array(a, members, arrays, rng):
    """One change of an array."""
    way = rng.choice(("value", "value", "value", "value", "shape", "type", "exchange"))
    a = a.copy()
    if way == "value" and a.size and a.dtype.kind in "iufb":
        flat = a.reshape(-1)
        for _ in range(rng.choice((1, 1, 3, a.size))):
            number = rng.choice((*NUMBERS, float("nan"), float("inf"), a.size, a.shape[0] if a.ndim else 1))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                flat[rng.randrange(a.size)] = np.float64(number).astype(a.dtype)
        return flat.reshape(a.shape)
    if way == "shape":
        cut = rng.choice(("first", "last", "longer", "flat", "turn", "empty"))
        if cut == "flat" or not a.ndim:
            return a.reshape(-1)
        if cut == "turn":
            return np.ascontiguousarray(a.T)
        if cut == "longer":
            return np.concatenate([a, a])
        return {"first": a[:-1], "last": a[..., :-1], "empty": a[:0]}[cut]
    if way == "type" and a.dtype.kind in "iufb":
        kind = rng.choice(("<i8", "<i4", "<u8", "<f4", "<f8", ">f8", ">i8", "?", "<c16", "<U3"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return a.astype(kind)
    if way == "exchange":
        return np.load(io.BytesIO(members[rng.choice(arrays)]), allow_pickle=False)
    return a


def changed_schema(text, rng):
    """Change a number or a word of the description."""
    schema = json.loads(text)
    waiting, leaves = [schema], []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if value.get("__loader__") == "JsonNode" and isinstance(value.get("content"), str):
                leaves.append(value)
            waiting += [v for v in value.values() if isinstance(v, (dict, list))]
        elif isinstance(value, list):
            waiting += [v for v in value if isinstance(v, (dict, list))]
    if not leaves:
        return text
    leaf = rng.choice(leaves)
    if rng.random() < 0.8:
        leaf["content"] = json.dumps(rng.choice((*NUMBERS, True, False, None)))
    else:
        leaf["content"] = json.dumps(rng.choice(WORDS))
    return json.dumps(schema)


def use(path, X, columns):
    """Load a file and call every prediction method: what came of it."""
    try:
        model = load(path)
    except ValueError as error:
        message = str(error)
        assert len(message) < 300, message
        assert "\n" not in message, message
        return "rejected"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outputs(model, X, columns)
    except Exception as error:
        if isinstance(error, IndexError) and str(error) == "index is out of bounds":  # numba's; NumPy names the axis
            raise
        return "raised"
    return "used"


def run_model(members, X, columns, seeds, path, out):
    """Try changes in a child process, which notes each before it starts."""
    for seed in seeds:
        rng = random.Random(seed)
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in change(members, rng).items():
                archive.writestr(name, content)
        out.write(f"{seed} ")
        out.flush()
        signal.alarm(SECONDS)
        try:
            out.write(use(path, X, columns) + "\n")
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            out.write(
                f"failure {type(error).__name__}: {str(error)[:100]} ({Path(where.filename).name}:{where.lineno})\n"
            )
        signal.alarm(0)
        out.flush()


def try_model(name, members, X, columns, n, folder):
    """Fork children until all changes are tried; counts and failures."""
    log, counts, failures, seeds = folder / "log", Counter(), [], [f"{name}:{k}" for k in range(n)]
    while seeds:
        pid = os.fork()
        if not pid:
            with open(log, "w") as out:
                run_model(members, X, columns, seeds, folder / "m.skops", out)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        lines = log.read_text().splitlines()
        for line in lines:
            seed, _, what = line.partition(" ")
            if what.startswith("failure"):
                failures.append(f"{seed} {what}")
            counts[what.partition(" ")[0] or "killed"] += 1
        if os.waitstatus_to_exitcode(status):
            failures.append(f"{lines[-1] if lines else name} killed: status {os.waitstatus_to_exitcode(status)}")
        if not lines:
            break
        seeds = seeds[len(lines) :]
    return counts, failures


def main(names=()):
    n = 30 if quick() else 60
    table, found = json.loads((ROOT / "tests/v1/models.json").read_text()), queries()
    total, failures, start = Counter(), [], time.monotonic()
    families = {}
    with zipfile.ZipFile(ROOT / "tests/v1/models.zip") as archive, tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        chosen = [name for name in table if not names or any(word in name for word in names)]
        for name in chosen:
            data = archive.read(f"{name}.skops")
            with zipfile.ZipFile(io.BytesIO(data)) as file:
                members = {part: file.read(part) for part in file.namelist()}
            X, columns = found[table[name]["data"]], table[name]["columns"]
            (folder / "m.skops").write_bytes(data)
            assert use(folder / "m.skops", X, columns) == "used", name  # also compiles its kernels
            counts, wrong = try_model(name, members, X, columns, n, folder)
            print(f"{name}: {dict(counts)} {wrong}", flush=True)
            total += counts
            failures += wrong
            family = families.setdefault(name.partition("-")[0], Counter())
            family.update(models=1, files=sum(counts.values()), **counts)
    keys = ("models", "files", "rejected", "used", "raised")
    items = [{"family": family, **{key: counts[key] for key in keys}} for family, counts in families.items()]
    seconds = round(time.monotonic() - start)
    summary = f"{sum(total.values()):,} changed files of {len(chosen)} models in {seconds} s."
    record("fuzz_models", summary=summary, items=items, failures=failures, seconds=seconds)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
