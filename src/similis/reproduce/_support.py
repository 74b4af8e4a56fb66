"""Support vectors as the papers used them: [chen2010] table 4.2, [cazzanti2007] sec. 6, [qiao2013] sec. 5.3."""

from __future__ import annotations

from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similis.measures import RBF, Pairwise
from similis.proximity import SimilarityFeatures, SpectrumClip, SpectrumFlip, SpectrumShift, SpectrumSquare
from similis.reproduce._method import Method, powers
from similis.svm import SVMKNN, PotentialSVM

__all__ = ["BENCHMARK_PSVM", "MACHINES", "SIMULATION_PSVM", "VECTOR_MACHINES"]


_SVC = SVC(kernel="precomputed", max_iter=100_000)
_SPECTRA = {"clip": SpectrumClip(), "flip": SpectrumFlip(), "shift": SpectrumShift()}
# [chen2010] table 4.2.
_C = powers(-3, 5)
_RBF = {"pairwise__measure__gamma": powers(-5, 1), "svc__C": powers(-3, 1)}
MACHINES = {
    **{
        f"svm-kernel({name})": Method(make_pipeline(spectrum, _SVC), {"svc__C": _C}, cv=10)
        for name, spectrum in _SPECTRA.items()
    },
    # The linear machine on rows is that of the kernel S S'.
    "svm-features(linear)": Method(make_pipeline(SpectrumSquare(), _SVC), {"svc__C": _C}, cv=10),
    "svm-features(rbf)": Method(make_pipeline(SimilarityFeatures(), Pairwise(RBF()), _SVC), _RBF, cv=10),
    **{
        f"svm-knn({name})": Method(SVMKNN(spectrum=name), {"n_neighbors": (*range(1, 17), 32, 64, 128), "C": _C}, cv=10)
        for name in _SPECTRA
    },
    "psvm": Method(PotentialSVM(), {"C": powers(0, 4), "epsilon": powers(-4, 1)}, cv=10),
}

# [qiao2013] sec. 5.3 does not say which values; those of table 4.2 about the ones that are chosen.
VECTOR_MACHINES = {
    "svm-vectors(linear)": Method(SVC(kernel="linear", max_iter=100_000), {"C": powers(-2, 3)}, cv=10, reads="objects"),
    "svm-vectors(rbf)": Method(
        SVC(max_iter=100_000), {"C": powers(-1, 3), "gamma": powers(-2, 1)}, cv=10, reads="objects"
    ),
}

# [cazzanti2007] sec. 6.1: cross-validated, in how many folds is not said.
_EPSILONS = tuple(e / 10 for e in range(1, 11))
SIMULATION_PSVM = Method(
    PotentialSVM(normalize=True), {"C": tuple(map(float, range(1, 952, 50))), "epsilon": _EPSILONS}, cv=5
)
# Sec. 6.2: leave-one-out within leave-one-out, for which 1,900,000 machines would be trained on the votes alone. No
# coefficient comes near 51: the larger C of {1, 51, ..., 951} would give the same machines and never be chosen.
BENCHMARK_PSVM = Method(
    PotentialSVM(normalize=True, multiclass="ovr"), {"C": (1.0, 51.0), "epsilon": _EPSILONS[::3]}, cv=5, runs=1
)
