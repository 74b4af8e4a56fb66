"""The support vector machines of the table of methods: scikit-learn's on repaired matrices, and our own."""

from __future__ import annotations

from similis.study._grids import C_RBF, GAMMA_RBF, C, K, powers
from similis.study._methods import Chain, Method, lazy

__all__ = ["RAW_MACHINE", "SUPPORT_VECTORS"]

# libsvm may need millions of steps for a large C and never ends on some indefinite matrices.
_SVC = lazy("SVC", "sklearn.svm", kernel="precomputed", max_iter=100_000)
_SVC_LINEAR = lazy("SVC", "sklearn.svm", kernel="linear", max_iter=100_000)
RAW_MACHINE = lazy("SVC", "sklearn.svm", kernel="precomputed", max_iter=10_000)


def _svm(*front: str) -> Chain:
    return Chain((*(lazy(name) for name in front), _SVC))


SUPPORT_VECTORS = [
    *(
        Method(
            f"svm-kernel({spectrum})",
            _svm(f"Spectrum{spectrum.title()}"),
            {"svc__C": C},
            symmetric=True,
            family="support vectors",
            paper="chen2010 sec. 2.1",
            summary=f"SVM, similarities made a kernel by spectrum {spectrum}",
            quick=spectrum == "clip",
        )
        for spectrum in ("clip", "flip", "shift")
    ),
    Method(
        "svm-features(linear)",
        _svm("SpectrumSquare"),
        {"svc__C": C},
        family="support vectors",
        paper="chen2010 sec. 2.2",
        summary="SVM, rows as feature vectors, linear kernel: the same as spectrum square",
        quick=True,
    ),
    Method(
        "svm-features(rbf)",
        Chain((lazy("SimilarityFeatures"), lazy("Pairwise", measure=lazy("RBF")), _SVC)),
        {"pairwise__measure__gamma": GAMMA_RBF, "svc__C": C_RBF},
        family="support vectors",
        paper="chen2010 sec. 2.2, 4.3",
        summary="SVM, rows as feature vectors, Gaussian kernel",
    ),
    Method(
        "svm-kernel(rbf-sim)",
        _svm("RowRBF"),
        {"svc__C": C},
        family="support vectors",
        paper="chen2010 sec. 4.2",
        summary="SVM, objects alike whose rows are alike: exp(-||s - s'||) as kernel",
    ),
    Method(
        "svc-d2",
        Chain((lazy("Whiten"), _SVC_LINEAR)),
        {"svc__C": C_RBF},
        reads="dissimilarity",
        family="support vectors",
        paper="pekalska2000 sec. 2.2",
        summary="linear SVM on whitened dissimilarities: spectrum flip of a symmetric matrix",
    ),
    *(
        Method(
            f"svm-knn({spectrum})",
            lazy("SVMKNN", spectrum=spectrum),
            {"n_neighbors": K, "C": C},
            family="support vectors",
            paper="chen2010 sec. 4.1",
            summary=f"an SVM on each object's neighbours, their block repaired by {spectrum}",
            on_request=spectrum == "shift",
        )
        for spectrum in ("clip", "flip", "shift")
    ),
    Method(
        "psvm",
        lazy("PotentialSVM"),
        {"C": powers(0, 4), "epsilon": powers(-4, 1)},
        family="support vectors",
        paper="chen2010 eq. 2.8",
        summary="potential SVM: similarities as features, few of them used",
    ),
    Method(
        "simsvm",
        lazy("SimSVM"),
        {"eta": powers(-4, 0), "gamma": powers(-3, 0)},  # those of sec. 5.3.2 that are chosen
        symmetric=True,
        family="support vectors",
        paper="chen2010 eq. 5.20",
        summary="SVM that learns how to modify the spectrum, near clip",
    ),
    Method(
        "simsvm(flip)",
        lazy("SimSVM", anchor="flip"),
        {"eta": powers(-4, 0), "gamma": powers(-3, 0)},
        symmetric=True,
        family="support vectors",
        paper="chen2010 eq. 5.20",
        summary="SVM that learns how to modify the spectrum, near flip",
        on_request=True,
    ),
    Method(
        "indefinite-svm",
        lazy("IndefiniteSVM"),
        {"C": powers(-3, 3), "rho": powers(-3, 3)},
        symmetric=True,
        family="support vectors",
        paper="chen2010 eq. 5.8",
        summary="SVM that learns all of the kernel, by squared distance from the similarities",
        on_request=True,
    ),
    Method(
        "full-kernel-svm",
        lazy("FullKernelSVM"),
        {"eta": powers(-4, 0), "gamma": powers(-3, 1)},
        symmetric=True,
        family="support vectors",
        paper="chen2010 eq. 5.2",
        summary="SVM that learns all of the kernel, by distance from the similarities",
        on_request=True,
    ),
    Method(
        "lp-machine",
        lazy("LPMachine"),
        {"C": C},
        family="support vectors",
        paper="chen2010 eq. 2.7",
        summary="linear programme on rows as feature vectors",
        on_request=True,
    ),
]
