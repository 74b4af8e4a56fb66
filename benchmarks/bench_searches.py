"""Searches of the study against the ways of version 1.0, by the time of the process.

python benchmarks/bench_searches.py          # writes benchmarks/results/searches.json
"""

from contextlib import contextmanager
from time import process_time

import numpy as np
from _measure import Benchmark
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import RBF, Pairwise, PathSearchCV, SimilarityFeatures, Whiten, make_similarity
from similis._utils.cache import CACHE
from similis.model_selection import _path_search
from similis.normal._covariance import ClassRows, ShrunkCovariance
from similis.normal._parzen import rank_of_rows
from similis.solvers import BoxLasso, SpectralMachine, _box_lasso, _spectral_kernel
from similis.svm._sim_svm import Spectrum

CS = [10.0**p for p in range(-3, 6)]


class PlainRBF(RBF):
    """Computes the distances for every width."""

    path_params = ()


@contextmanager
def replaced(module, **values):
    before = {name: getattr(module, name) for name in values}
    vars(module).update(values)
    try:
        yield
    finally:
        vars(module).update(before)


def best_scores(S, y, steps, grid):
    svc = SVC(kernel="linear" if len(steps) == 1 else "precomputed", max_iter=100_000)
    search = PathSearchCV(make_pipeline(*steps, svc), grid, cv=StratifiedKFold(5), refit=False)
    return search.fit(S, y).cv_results_["mean_test_score"]


def largest(ours, theirs):
    return np.abs(np.subtract(ours, theirs)).max()


def support_vectors(bench):
    S, y = make_similarity(1000, 5, indefinite=0.1, random_state=0)
    widths = {"pairwise__measure__gamma": [10.0**p for p in range(-5, 2)], "svc__C": [10.0**p for p in range(-3, 2)]}
    bench.compare(
        "SVM on rows, Gaussian kernel, search, n = 1000",
        lambda: best_scores(S, y, (SimilarityFeatures(), Pairwise(RBF())), widths),
        lambda: best_scores(S, y, (SimilarityFeatures(), Pairwise(PlainRBF())), widths),
        peer_name="distances for every width",
        floor=1.5,
        goal=3.2,
        repeats=1,
        check=largest,
    )

    def by_libsvm():
        with replaced(_path_search, _is_wide=lambda X: False):
            return best_scores(1 - S, y, (Whiten(),), {"svc__C": CS})

    bench.compare(
        "SVC-D2, search, n = 1000",
        lambda: best_scores(1 - S, y, (Whiten(),), {"svc__C": CS}),
        by_libsvm,
        peer_name="inner products by libsvm",
        floor=2,
        goal=3,
        repeats=1,
        check=largest,
    )


def normal_rows(bench):
    S, y = make_similarity(1440, 5, indefinite=0.1, random_state=0)
    rows = ClassRows(1 - S, y)
    D = (rows.means - rows.center).T
    regularizers = [1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9]

    def in_axes():
        CACHE.clear()
        covariance = ShrunkCovariance(rows.W, "diagonal", rows.total)
        scale = covariance.scale[:, None]
        return covariance._solve_in_axes(D / scale, np.array(regularizers)) / scale

    bench.compare(
        "RNLC, 8 regularizers, n = 1440",
        lambda: ShrunkCovariance(rows.W, "diagonal", rows.total, decompose=False).solve(D, regularizers),
        in_axes,
        peer_name="eigenvectors",
        floor=1.7,
        goal=2.2,
        repeats=2,
        check=lambda a, b: np.abs(a - b).max() / np.abs(b).max(),
    )
    bench.compare(
        "Parzen, rank of the rows, n = 1440",
        lambda: rank_of_rows(S),
        lambda: np.linalg.matrix_rank(S),
        peer_name="singular values",
        floor=1.5,
        goal=2,
        repeats=1,
        check=lambda a, b: abs(a - b),
    )


def sparse_coefficients(bench):
    S, y = make_similarity(800, 2, indefinite=0.1, random_state=0)
    sign = np.where(y == 1, 1.0, -1.0)

    def grid():
        problem = BoxLasso(S, sign)
        return [problem.solve(10.0**e, 10.0**c).objective for e in range(-4, 2) for c in range(5)]

    def with_all():
        with replaced(_box_lasso, _SMALL=10**9, _POLISHED_GAP=0.0):
            return grid()

    bench.compare(
        "P-SVM grid of 30, n = 800",
        grid,
        with_all,
        peer_name="steps with all coefficients",
        floor=1.3,
        goal=2,
        repeats=2,
        check=lambda a, b: np.abs(np.subtract(a, b) / b).max(),
    )


def learned_spectra(bench):
    S, y = make_similarity(800, 2, indefinite=0.1, random_state=0)
    sign = np.where(y == 1, 1.0, -1.0)
    spectrum = Spectrum(S, "clip", norm=2).learned

    def grid():
        machine = SpectralMachine(sign, [spectrum])
        return [machine.solve(10.0**e, 10.0**g).objective for e in range(-4, 1) for g in range(-3, 1)]

    def by_interior_points():
        with replaced(_spectral_kernel, _LARGE=10**9):
            return grid()

    bench.compare(
        "SimSVM grid of 20, n = 800",
        grid,
        by_interior_points,
        peer_name="interior points",
        floor=4,
        goal=10,
        repeats=2,
        check=lambda a, b: np.abs(np.subtract(a, b) / b).max(),
    )


def main():
    bench = Benchmark("searches", clock=process_time)
    with threadpool_limits(1):
        learned_spectra(bench)
        sparse_coefficients(bench)
        normal_rows(bench)
        support_vectors(bench)
    print(bench.write())


if __name__ == "__main__":
    main()
