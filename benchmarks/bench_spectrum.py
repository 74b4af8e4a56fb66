"""Clip and flip of one matrix: one shared decomposition against two, and a matrix that needs no repair.

python benchmarks/bench_spectrum.py          # writes benchmarks/results/spectrum.json
"""

import numpy as np
from _measure import Benchmark
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from similis.proximity import SpectrumClip, SpectrumFlip


def similarities(n, rng, noise):
    """exp(-d / median d) of Gaussian points, and symmetric noise that makes it indefinite."""
    X = rng.normal(size=(n, 5))
    squared = (X**2).sum(axis=1)
    d = np.sqrt(np.maximum(squared[:, None] + squared - 2 * X @ X.T, 0))
    E = noise * rng.normal(size=(n, n))
    return np.exp(-d / np.median(d)) + (E + E.T) / 2


def plain(S, kind):
    """The textbook, as one would write it: decompose, form P, multiply."""
    values, U = eigh(S, driver="evd")
    P = (U * ((values >= 0) if kind == "clip" else np.sign(values))) @ U.T
    return S @ P


def main():
    rng = np.random.default_rng(0)
    bench = Benchmark("spectrum")
    with threadpool_limits(1):
        for n in (400, 1000, 2000):
            S = similarities(n, rng, noise=0.05)
            fresh = iter(range(1_000_000))

            def both(S=S, fresh=fresh):
                A = S + np.diag(np.full(len(S), 1e-9 * next(fresh)))  # new content, so that no repeat finds it cached
                return SpectrumClip().fit_transform(A), SpectrumFlip().fit_transform(A)

            def apart(S=S):
                return plain(S, "clip"), plain(S, "flip")

            bench.compare(
                f"clip and flip, n = {n}",
                both,
                apart,
                peer_name="scipy eigh for each",
                floor=1.2,
                repeats=3 if n > 1000 else 5,
                check=lambda a, b: max(np.abs(x - y).max() for x, y in zip(a, b)),
            )
            K = similarities(n, rng, noise=0.0) + 0.01 * np.eye(n)
            bench.compare(
                f"clip of a kernel, n = {n}",
                lambda K=K: SpectrumClip().fit_transform(K),
                lambda K=K: plain(K, "clip"),
                peer_name="scipy eigh",
                floor=7 if n > 500 else 4.4,
                repeats=3 if n > 1000 else 5,
                check=lambda a, b: np.abs(a - b).max(),
            )
    bench.write()


if __name__ == "__main__":
    main()
