"""New rows through a repaired SVC, and through the same model after compact, which folds the repair into it.

    python benchmarks/bench_compact.py          # writes benchmarks/results/compact.json

Ratios grow with the number of training objects: a repaired row costs some n^2 operations, a folded one n a machine.
"""

import numpy as np
from _measure import Benchmark
from bench_svm import problem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import SpectrumClip, SpectrumFlip, SpectrumSquare, compact


def main():
    bench = Benchmark("compact")
    with threadpool_limits(1):
        for n_classes, floor in ((2, 10), (10, 3)):
            S, y = problem(1000, n_classes)
            T, Q = S[:800, :800], np.tile(S[800:, :800], (20, 1))
            for repair in (SpectrumClip(), SpectrumFlip(), SpectrumSquare()):
                model = make_pipeline(repair, SVC(kernel="precomputed")).fit(T, y[:800])
                small = compact(model)
                R = np.ascontiguousarray(Q[:, small[-1].columns_])
                bench.compare(
                    f"{type(repair).__name__} + SVC, n = 800, {n_classes} classes, 4000 new rows",
                    lambda small=small, R=R: small.predict(R),
                    lambda model=model, Q=Q: model.predict(Q),
                    peer_name="the pipeline as fitted",
                    floor=floor,
                    repeats=5,
                    check=lambda a, b: np.mean(a != b),
                )
    print(bench.write())


if __name__ == "__main__":
    main()
