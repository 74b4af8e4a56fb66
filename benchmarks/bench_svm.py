"""Support vectors on repaired similarities: searches over C against GridSearchCV, SVM-KNN against loops of SVC.

python benchmarks/bench_svm.py          # writes benchmarks/results/svm.json
"""

import numpy as np
from _measure import Benchmark
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import SVMKNN, PathSearchCV, SpectrumClip, SpectrumFlip

CS = [10.0**p for p in range(-3, 6)]  # [chen2010] table 4.2
KS = [*range(1, 17), 32, 64, 128]


class PlainClip(TransformerMixin, BaseEstimator):
    """Spectrum clip as one would write it."""

    def fit(self, S, y=None):
        values, U = eigh(S, driver="evd")
        self.P_ = (U * (values >= 0)) @ U.T
        return self

    def transform(self, S):
        return S @ self.P_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


def problem(n, n_classes, seed=0):
    """exp(-d / median d) of Gaussian points, and symmetric noise that makes it indefinite."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    Z = 1.5 * rng.normal(size=(n_classes, 5))[y] + rng.normal(size=(n, 5))
    squared = (Z**2).sum(axis=1)
    d = np.sqrt(np.maximum(squared[:, None] + squared - 2 * Z @ Z.T, 0))
    E = 0.05 * rng.normal(size=(n, n))
    return np.exp(-d / np.median(d)) + (E + E.T) / 2, y


def score_difference(ours, theirs):
    return np.abs(ours.cv_results_["mean_test_score"] - theirs.cv_results_["mean_test_score"]).max()


class Fresh:
    """The same matrix with a diagonal that differs in the last digits, so that no repeat finds it decomposed."""

    def __init__(self, S):
        self.S, self.calls = S, 0

    def __call__(self):
        self.calls += 1
        return self.S + np.diag(np.full(len(self.S), 1e-13 * self.calls))


def svc_search(search, steps, grid, cv):
    svc = SVC(kernel="precomputed", max_iter=100_000)
    return search(make_pipeline(*steps, svc), grid, cv=cv, refit=False)


def searches(bench):
    cv = StratifiedKFold(10)
    for n_classes in (2, 10):
        S, y = problem(800, n_classes)
        S = Fresh(S)
        grid = {"svc__C": CS}
        ours = svc_search(PathSearchCV, [SpectrumClip()], grid, cv)
        for peer_name, clip, floor in (
            ("GridSearchCV(clip, SVC)", PlainClip(), 4),
            ("GridSearchCV(SpectrumClip, SVC)", SpectrumClip(), None),
        ):
            theirs = svc_search(GridSearchCV, [clip], grid, cv)
            bench.compare(
                f"clip + SVC, n = 800, {n_classes} classes, 9 C x 10 folds",
                lambda ours=ours, S=S, y=y: ours.fit(S(), y),
                lambda theirs=theirs, S=S, y=y: theirs.fit(S(), y),
                peer_name=peer_name,
                floor=floor,
                goal=floor and 6,
                repeats=3,
                check=score_difference,
            )
        both = svc_search(
            PathSearchCV, [SpectrumClip()], {"spectrumclip": [SpectrumClip(), SpectrumFlip()], **grid}, cv
        )
        bench.compare(
            f"clip and flip + SVC, n = 800, {n_classes} classes: the time of clip alone over that of both",
            lambda both=both, S=S, y=y: both.fit(S(), y),
            lambda ours=ours, S=S, y=y: ours.fit(S(), y),
            peer_name="clip alone",
            floor=round(1 / 1.8, 2),
            repeats=5,
        )


def local_loop(S, y, train, test, ks, Cs):
    """SVM-KNN by a loop over queries, k and C around SVC."""
    labels = np.empty((len(ks), len(Cs), len(test)), dtype=y.dtype)
    for i, x in enumerate(test):
        near = train[np.argsort(-S[x, train], kind="stable")]
        for a, k in enumerate(ks):
            chosen = near[:k]
            if len(np.unique(y[chosen])) == 1:
                labels[a, :, i] = y[chosen[0]]
                continue
            values, U = np.linalg.eigh(S[np.ix_(chosen, chosen)])
            P = (U * (values > 1e-13 * np.abs(values).max())) @ U.T
            K = P @ S[np.ix_(chosen, chosen)]
            query = (P @ S[chosen, x])[None]
            for b, C in enumerate(Cs):
                model = SVC(kernel="precomputed", C=C, max_iter=100_000).fit((K + K.T) / 2, y[chosen])
                labels[a, b, i] = model.predict(query)[0]
    return labels


def local_machines(bench):
    for n_classes in (2, 4):
        S, y = problem(400, n_classes, seed=1)
        train, test = np.arange(10, 400), np.arange(10)
        grid = [{"n_neighbors": k, "C": C} for k in KS for C in CS]
        T, Q = S[np.ix_(train, train)].copy(), S[np.ix_(test, train)].copy()

        def sweep(T=T, Q=Q, y=y, grid=grid, train=train):
            found = SVMKNN().predict_path(T, y[train], Q, grid)
            return np.reshape(found, (len(KS), len(CS), len(Q)))

        bench.compare(
            f"SVM-KNN, 10 queries, {n_classes} classes, 19 k x 9 C",
            sweep,
            lambda S=S, y=y, train=train, test=test: local_loop(S, y, train, test, KS, CS),
            peer_name="loop of SVC",
            floor=10,
            goal=20,
            repeats=2,
            check=lambda a, b: np.mean(a != b),
        )


def main():
    bench = Benchmark("svm")
    with threadpool_limits(1):
        searches(bench)
        local_machines(bench)
    print(bench.write())


if __name__ == "__main__":
    main()
