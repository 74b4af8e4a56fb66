"""Under a limit on private memory: fit classifiers on a small matrix, answer rows of a large one that stays on disk.

    python rows_on_disk.py folder block_bytes limit_bytes [name ...]

A line for each classifier of the contract, or of those named: how it ended, and what it is.
"""

import resource
import sys
import warnings

import contract
import numpy as np
from sklearn.base import clone
from test_contract import CLASSIFIERS

from similis.distributed import predict_blocks


def private_bytes():
    """What RLIMIT_DATA counts."""
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmData"))


def main(folder, block, limit, *names):
    """Warm up everything that compiles or loads, set the limit, answer."""
    warnings.simplefilter("ignore")
    rows = {kind: np.load(f"{folder}/{kind}.npy", mmap_mode="r") for kind in ("similarity", "dissimilarity")}
    n = rows["similarity"].shape[1]
    size = int(block) // (4 * n)
    fitted = []
    for model in CLASSIFIERS:
        if names and type(model).__name__ not in names:
            continue
        width, few = n, None
        if type(model).__name__ == "CompletionSVM":  # solves a problem for each row
            width, few = 100, 20
        elif getattr(model, "weights", None) == "lime":  # so does this one, a smaller one
            few = 4 * size
        S, y, _ = contract.toy(model, n=width, n_classes=2)
        model = clone(model).fit(S.astype(np.float32), y)
        kind = "dissimilarity" if getattr(model, "metric", None) == "precomputed" else "similarity"
        predict_blocks(model, np.array(rows[kind][:2, :width]))
        fitted.append((model, rows[kind][:few, :width]))
    held = private_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (held + int(limit),) * 2)
    for model, Q in fitted:
        try:
            answers = predict_blocks(model, Q, block_size=size)
            said = f"answered {len(answers)}"
        except MemoryError:
            said = "MemoryError"
        print(said, repr(model).replace("\n", ""), flush=True)
    try:
        np.ones(2 * int(limit), dtype=np.int8)
        print("no limit")
    except MemoryError:
        print("limited")


if __name__ == "__main__":
    main(*sys.argv[1:])
