"""The table of methods. To add a family, add its methods here; names are those of the published tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from similis.study._methods import AtMost, Chain, Method, lazy

__all__ = ["ALIASES", "METHODS"]


def powers(low: int, high: int) -> list[float]:
    """Powers of ten from 10^low to 10^high."""
    return [10.0**p for p in range(low, high + 1)]


# [chen2010] table 4.2
K = AtMost((*range(1, 17), 32, 64, 128))
LAMBDA_KRI = [*powers(-6, 1), 1e6]
LAMBDA_KRR = powers(-3, 1)
C = powers(-3, 5)
C_RBF = powers(-3, 1)
GAMMA_RBF = powers(-5, 1)
GAMMA_ROWS = powers(-2, 0)  # the paper has 1; distances between rows grow with the number of objects
# [cazzanti2007] sec. 6.1, for CNN and mixture SDA
COMPONENTS = AtMost((2, 3, 4, 5, 7, 10))
C_SBC = powers(-1, 2)
# of a similarity, [bernal2003] sec. 3.2; 1 leaves it as it is
TIGHTNESS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
# [qiao2013] sec. 5.1
COMPONENTS_HLM = AtMost((*range(1, 11), 12, 14, 16))
# [pekalska2000] tried "a few" regularizers; the quadratic rule needs smaller ones.
R_LINEAR = [1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9]
R_QUADRATIC = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1]
# The more dimensions, the narrower the windows; the number of objects fits the published errors.
DIMENSION_PARZEN = [1, 2, 3, 5, 10, 20, 50, "objects"]

# libsvm may need millions of steps for a large C and never ends on some indefinite matrices.
_SVC = lazy("SVC", "sklearn.svm", kernel="precomputed", max_iter=100_000)
_SVC_LINEAR = lazy("SVC", "sklearn.svm", kernel="linear", max_iter=100_000)
_SVC_RAW = lazy("SVC", "sklearn.svm", kernel="precomputed", max_iter=10_000)


def _family(name: str, *methods: Method, **common: Any) -> list[Method]:
    return [replace(method, family=name, **common) for method in methods]


def _svm(*front: str) -> Chain:
    return Chain((*(lazy(name) for name in front), _SVC))


SUPPORT_VECTORS = _family(
    "support vectors",
    *(
        Method(
            f"svm-kernel({spectrum})",
            _svm(f"Spectrum{spectrum.title()}"),
            {"svc__C": C},
            symmetric=True,
            rescale=True,
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
        rescale=True,
        paper="chen2010 sec. 2.2",
        summary="SVM, rows as feature vectors, linear kernel; the same as spectrum square",
        quick=True,
    ),
    Method(
        "svm-features(rbf)",
        Chain((lazy("SimilarityFeatures"), lazy("Pairwise", measure=lazy("RBF")), _SVC)),
        {"pairwise__measure__gamma": GAMMA_RBF, "svc__C": C_RBF},
        rescale=True,
        paper="chen2010 sec. 2.2, 4.3",
        summary="SVM, rows as feature vectors, Gaussian kernel",
    ),
    Method(
        "svm-kernel(rbf-sim)",
        _svm("RowRBF"),
        {"rowrbf__gamma": GAMMA_ROWS, "svc__C": C},
        rescale=True,
        paper="chen2010 sec. 4.2",
        summary="SVM, exp(-gamma ||s - s'||) between whole rows as kernel",
    ),
    Method(
        "svc-d",
        Chain((lazy("SimilarityFeatures"), _SVC_LINEAR)),
        {"svc__C": C},
        reads="dissimilarity",
        rescale=True,
        paper="pekalska2000 sec. 2.2",
        summary="linear SVM on rows of dissimilarities",
        on_request=True,
    ),
    Method(
        "svc-d2",
        Chain((lazy("Whiten"), _SVC_LINEAR)),
        {"svc__C": C},
        reads="dissimilarity",
        rescale=True,
        paper="pekalska2000 sec. 2.2",
        summary="linear SVM on whitened dissimilarities: spectrum flip of a symmetric matrix",
    ),
    *(
        Method(
            f"svm-knn({spectrum})",
            lazy("SVMKNN", spectrum=spectrum),
            {"n_neighbors": K, "C": C},
            rescale=True,
            paper="chen2010 sec. 4.1",
            summary=f"an SVM on each object's neighbors, their block repaired by {spectrum}",
            on_request=spectrum == "shift",
        )
        for spectrum in ("clip", "flip", "shift")
    ),
    Method(
        "psvm",
        lazy("PotentialSVM"),
        {"C": powers(0, 4), "epsilon": powers(-4, 1)},
        rescale=True,
        paper="chen2010 eq. 2.8",
        summary="potential SVM: similarities as features, with a sparse solution",
    ),
    Method(
        "psvm(normalized)",
        lazy("PotentialSVM", normalize=True),
        {"C": powers(0, 4), "epsilon": powers(-4, 1)},
        paper="cazzanti2007 sec. 2.2.7",
        summary="potential SVM with centered columns of unit norm and an intercept",
        on_request=True,
    ),
    Method(
        "simsvm",
        lazy("SimSVM"),
        {"eta": powers(-4, 0), "gamma": powers(-3, 0)},  # those of sec. 5.3.2 that are chosen
        symmetric=True,
        rescale=True,
        paper="chen2010 eq. 5.20",
        summary="SVM that learns how to modify the spectrum, near clip",
    ),
    Method(
        "simsvm(flip)",
        lazy("SimSVM", anchor="flip"),
        {"eta": powers(-4, 0), "gamma": powers(-3, 0)},
        symmetric=True,
        rescale=True,
        paper="chen2010 eq. 5.20",
        summary="SVM that learns how to modify the spectrum, near flip",
        on_request=True,
    ),
    Method(
        "simsvm(lp)",
        lazy("SimSVM", norm=1, n_random=50, random_state=0),
        {"eta": powers(-4, 0), "gamma": powers(-3, 0)},
        symmetric=True,
        rescale=True,
        paper="chen2010 eq. 5.28",
        summary="SimSVM approximated by a linear program with random matrices",
        on_request=True,
    ),
    Method(
        "indefinite-svm",
        lazy("IndefiniteSVM"),
        {"C": powers(-3, 3), "rho": powers(-3, 3)},
        symmetric=True,
        rescale=True,
        paper="chen2010 eq. 5.8",
        summary="SVM that learns all of the kernel, by squared distance from the similarities",
        on_request=True,
    ),
    Method(
        "full-kernel-svm",
        lazy("FullKernelSVM"),
        {"eta": powers(-4, 0), "gamma": powers(-3, 1)},
        symmetric=True,
        rescale=True,
        paper="chen2010 eq. 5.2",
        summary="SVM that learns all of the kernel, by distance from the similarities",
        on_request=True,
    ),
    Method(
        "simmkl",
        lazy("SimMKL"),
        {"eta": powers(-4, 0), "gamma": powers(-3, 3)},  # of sec. 5.4.3
        symmetric=True,
        rescale=True,
        paper="chen2010 eq. 5.35",
        summary="SVM that learns weights of several similarities and how to modify their spectra",
        on_request=True,
    ),
    Method(
        "mkl",
        lazy("SimMKL", roles="kernels"),
        {"eta": powers(-4, 0)},
        symmetric=True,
        rescale=True,
        paper="chen2010 eq. 5.33",
        summary="SVM that learns weights of several similarities, each made a kernel by spectrum clip",
        on_request=True,
    ),
    Method(
        "mkl(signed)",
        lazy("SimMKL", roles="kernels", signed=True),
        {"eta": powers(-4, 0)},
        symmetric=True,
        rescale=True,
        paper="chen2010 eq. 5.32",
        summary="the same with weights of any sign, the optimum of a semidefinite program",
        on_request=True,
    ),
    Method(
        "completion-svm",
        lazy("CompletionSVM"),
        {"eta": powers(-3, -1), "gamma": powers(-2, 0)},
        symmetric=True,
        rescale=True,
        paper="chen2010 eq. 6.6",
        summary="SVM that completes a kernel with missing rows by an auxiliary kernel; reads a stack of both",
        needs="kernels of at most 100 objects per pair of classes, and the package clarabel",
        on_request=True,
    ),
    Method(
        "krein-svm",
        lazy("KreinSVM"),
        {"C": C},
        symmetric=True,
        rescale=True,
        paper="loosli2016",
        summary="SVM in the Krein space of the similarity: the same as svm-kernel(flip)",
        on_request=True,
    ),
    Method(
        "krein-ridge",
        lazy("KreinRidgeClassifier"),
        {"alpha": powers(-4, 2), "ratio": [1.0, 10.0, float("inf")]},
        reads="either",
        symmetric=True,
        paper="oglic2018",
        summary="ridge regression in the Krein space, one penalty for each part of the spectrum",
    ),
    Method(
        "krein-logistic",
        lazy("KreinLogistic"),
        {"alpha": powers(-4, 1), "ratio": [1.0, 10.0]},
        reads="either",
        symmetric=True,
        paper="oglic2018",
        summary="logistic regression in the Krein space, one penalty for each part of the spectrum",
        on_request=True,
    ),
    Method(
        "pcvm",
        Chain((lazy("Tighten"), lazy("PCVM"))),
        {"tighten__q": TIGHTNESS[::2]},
        paper="chen2009pcvm",
        summary="probabilistic classification vector machine: a sparse probit model on rows",
        on_request=True,
    ),
    Method(
        "lp-machine",
        lazy("LPMachine"),
        {"C": C},
        rescale=True,
        paper="chen2010 eq. 2.7",
        summary="linear program on rows as feature vectors",
        on_request=True,
    ),
)


NEIGHBORS = _family(
    "neighbors",
    Method(
        "knn",
        lazy("SimilarityKNN"),
        {"n_neighbors": K},
        reads="either",
        paper="cazzanti2007 sec. 2.2.1",
        summary="majority of the k nearest neighbors",
        quick=True,
    ),
    Method(
        "affinity-knn",
        lazy("SimilarityKNN", weights="affinity"),
        {"n_neighbors": K},
        paper="chen2010 sec. 3.1",
        summary="k nearest neighbors, each weighted by its similarity",
        needs="similarities that are not negative",
        quick=True,
    ),
    *(
        Method(
            f"kri-knn({spectrum})",
            lazy("SimilarityKNN", weights="kri", spectrum=spectrum),
            {"n_neighbors": K, "regularization": LAMBDA_KRI},
            rescale=True,
            paper="chen2010 eq. 3.5",
            summary=f"kernel ridge interpolation weights, neighbors' block repaired by {spectrum}",
            quick=spectrum == "clip",
            on_request=spectrum == "shift",
        )
        for spectrum in ("clip", "flip", "shift")
    ),
    *(
        Method(
            f"krr-knn({spectrum})",
            lazy("SimilarityKNN", weights="krr", spectrum=spectrum),
            {"n_neighbors": K, "regularization": LAMBDA_KRR},
            rescale=True,
            paper="chen2010 eq. 3.8",
            summary=f"kernel ridge regression weights, neighbors' block treated by {spectrum}",
            on_request=spectrum == "shift",
        )
        for spectrum in ("pinv", "clip", "flip", "shift")
    ),
    Method(
        "lime-knn",
        lazy("SimilarityKNN", weights="lime"),
        {"n_neighbors": K, "regularization": LAMBDA_KRR},
        rescale=True,
        paper="chen2010 eq. 3.3",
        summary="linear interpolation with maximum entropy",
    ),
    Method(
        "1nn-f",
        Chain((lazy("SimilarityFeatures"), lazy("KNeighborsClassifier", "sklearn.neighbors", n_neighbors=1))),
        reads="either",
        paper="pekalska2000 sec. 2.2",
        summary="nearest neighbor by the Euclidean distance between rows",
        on_request=True,
    ),
    Method(
        "label-spreading",
        lazy("SimilarityLabelSpreading"),
        {"alpha": [0.1, 0.5, 0.9], "n_neighbors": [3, 5, 10, 20, None]},
        symmetric=True,
        paper="zhou2004",
        summary="labels spread over the graph of the nearest neighbors",
        on_request=True,
    ),
    Method(
        "similarity-forest",
        lazy("SimilarityForest"),
        reads="either",
        paper="czekalski2021",
        summary="random forest whose splits compare the similarities to two objects",
    ),
)

CENTROIDS = _family(
    "centroids",
    Method(
        "nc",
        lazy("NearestCentroid"),
        reads="either",
        paper="cazzanti2007 eq. 2.9",
        summary="the most similar class centroid",
        quick=True,
    ),
    Method(
        "nc(adjusted)",
        lazy("NearestCentroid", adjusted=True),
        reads="either",
        paper="cazzanti2007 eq. 3.1",
        summary="nearest centroid, adjusted for the spread of the classes",
        needs="classes with a mean similarity to their centroid that is not negative",
    ),
    Method(
        "local-nc",
        lazy("LocalNearestCentroid"),
        {"n_neighbors": K},
        reads="either",
        paper="cazzanti2007 sec. 4.1",
        summary="nearest centroid within the neighborhood",
    ),
    *(
        Method(
            f"local-nc({neighborhood})",
            # Where no class is large enough for a model, local SDA decides by the nearest local centroid.
            lazy("LocalSDA", neighborhood=neighborhood, min_class_size=999_999),
            {} if neighborhood == "reciprocal" else {axis: grid},
            reads="similarity" if neighborhood == "enclosing" else "either",
            paper="cazzanti2007 sec. 4.1, 7.2.2",
            summary=f"nearest centroid within the neighborhood: {words}",
            on_request=True,
        )
        for neighborhood, axis, grid, words in (
            ("per-class", "n_neighbors", K, "the nearest of every class"),
            ("radius", "radius", [0.0, 0.05, 0.1, 0.2, 0.5, 1.0], "all within a factor of the best similarity"),
            ("reciprocal", "", K, "the nearest, and those whose nearest the object would be"),
            ("natural", "n_neighbors", K, "those with no nearer object between"),
            ("enclosing", "n_neighbors", K, "neighbors that enclose the object"),
        )
    ),
    Method(
        "cnn",
        lazy("CondensedNN"),
        {"n_prototypes": COMPONENTS},
        reads="either",
        paper="cazzanti2007 eq. 2.7",
        summary="condensed nearest neighbor: a few prototypes per class",
    ),
    Method(
        "relational-glvq",
        lazy("RelationalGLVQ"),
        {"n_prototypes": AtMost((1, 2, 4))},
        reads="either",
        symmetric=True,
        paper="hammer2014",
        summary="learning vector quantization: a few prototypes per class that are weighted means of objects",
        on_request=True,
    ),
)

DISCRIMINANT = _family(
    "discriminant analysis",
    Method(
        "sda",
        lazy("SDA"),
        reads="either",
        paper="cazzanti2007 sec. 3.1",
        summary="similarity discriminant analysis by class centroids",
    ),
    Method(
        "nnsda",
        lazy("NearestNeighborSDA"),
        reads="either",
        paper="cazzanti2007 sec. 3.2.1",
        summary="similarity discriminant analysis by nearest neighbors",
    ),
    Method(
        "local-sda",
        lazy("LocalSDA"),
        {"n_neighbors": K},
        reads="either",
        paper="cazzanti2007 sec. 4.1",
        summary="similarity discriminant analysis within the neighborhood",
    ),
    Method(
        "mixture-sda",
        lazy("MixtureSDA"),
        {"n_components": COMPONENTS},
        reads="either",
        paper="cazzanti2007 sec. 5.2",
        summary="similarity discriminant analysis with several centroids per class",
    ),
    Method(
        "mixed-sda",
        lazy("MixedSDA", measure=lazy("Counting")),
        reads="objects",
        paper="cazzanti2007 eq. 3.42",
        summary="similarity discriminant analysis of a table: similarities of categories, normal models of numbers",
        needs="a table of categories and numbers",
        on_request=True,
    ),
)

MIXTURES = _family(
    "mixtures",
    Method(
        "kernel-hlm",
        lazy("KernelHLM"),
        paper="qiao2013 sec. 3.2",
        summary="kernel density from distances alone, without tuning parameters",
    ),
    *(
        Method(
            f"hlm-{name}",
            lazy("MixtureHLM", clustering=clustering),
            {"n_components": COMPONENTS_HLM},
            paper="qiao2013 sec. 3.1",
            summary=f"a mixture model from distances alone, clusters by {words}",
        )
        for name, clustering, words in (
            ("vsh", "vsh", "vertex substitution"),
            ("gknn", "kmedoids", "k-medoids"),
            ("agg", "ward", "Ward's method"),
        )
    ),
    Method(
        "hlm-kernel-vsh",
        lazy("MixtureHLM", n_components="auto"),
        paper="qiao2013 sec. 5.3",
        summary="the better of the kernel density and the mixture model, by cross-validation",
    ),
    Method(
        "kernel-hlm(per-class)",
        lazy("KernelHLM", shared=False),
        paper="qiao2013 sec. 3.2",
        summary="kernel density from distances alone, shape and scale of each class",
        needs="distances in a natural unit, on which densities of different shapes depend",
        on_request=True,
    ),
    Method(
        "hlm-vsh(per-class)",
        lazy("MixtureHLM", shared_shape=False),
        {"n_components": COMPONENTS_HLM},
        paper="qiao2013 sec. 3.1",
        summary="a mixture model from distances alone, shape of each class, clusters by vertex substitution",
        needs="distances in a natural unit, on which densities of different shapes depend",
        on_request=True,
    ),
    reads="dissimilarity",
    symmetric=True,
)

SIMILARITY_BASED = _family(
    "similarity based",
    Method(
        "maxsim",
        Chain((lazy("Tighten"), lazy("MaxSim"))),
        {"tighten__q": TIGHTNESS},
        paper="bernal2003 eq. 6",
        summary="the class with the largest summed similarity, of chosen tightness",
    ),
    Method(
        "sbc",
        Chain((lazy("Tighten"), lazy("SBC"))),
        {"tighten__q": TIGHTNESS, "sbc__C": C_SBC, "sbc__strong": [True, False]},
        paper="bernal2003 sec. 5",
        summary="summed similarity with learned weights that are not negative",
    ),
    Method(
        "sbc(hard)",
        Chain((lazy("Tighten"), lazy("SBC"))),
        {"tighten__q": TIGHTNESS},
        paper="bernal2003 sec. 5",
        summary="summed similarity with weights of the largest margin that violate no constraint",
        needs="a similarity that becomes tight enough to classify all training objects",
        on_request=True,
    ),
    Method(
        "sbc(weak)",
        Chain((lazy("Tighten"), lazy("SBC", strong=False))),
        {"tighten__q": TIGHTNESS, "sbc__C": C_SBC},
        paper="bernal2003 sec. 5",
        summary="summed similarity with learned weights, one constraint for each other class",
        on_request=True,
    ),
    Method(
        "sbc(normalized)",
        Chain((lazy("Tighten"), lazy("SBC", normalize=True))),
        {"tighten__q": TIGHTNESS, "sbc__C": C_SBC, "sbc__strong": [True, False]},
        paper="bernal2003 sec. 5",
        summary="summed similarity with learned weights, constraints scaled to length one",
        on_request=True,
    ),
    Method(
        "perceptron",
        Chain((lazy("Tighten"), lazy("SimilarityPerceptron", average=True))),
        {"tighten__q": TIGHTNESS},
        paper="bernal2003 sec. 4.2",
        summary="summed similarity with the averaged weights of a perceptron",
        on_request=True,
    ),
)

NORMAL = _family(
    "normal",
    Method(
        "rnlc",
        lazy("NormalLinear"),
        {"regularization": R_LINEAR},
        reads="either",
        paper="pekalska2000 sec. 2.2",
        summary="rows as normal features, one regularized covariance",
    ),
    Method(
        "rnlc(box-cox)",
        Chain((lazy("BoxCox"), lazy("NormalLinear"))),
        {"normallinear__regularization": R_LINEAR},
        reads="dissimilarity",
        paper="pekalska2000 sec. 4.4",
        summary="the same on dissimilarities made more nearly normal",
    ),
    Method(
        "ikfd",
        lazy("NormalLinear", shrinkage_target="trace"),
        {"regularization": R_QUADRATIC},
        symmetric=True,
        paper="haasdonk2008",
        summary="indefinite kernel Fisher discriminant: rows as normal features, covariance plus a multiple of I",
    ),
    Method(
        "rnqc",
        lazy("NormalQuadratic"),
        {"regularization": R_QUADRATIC},
        reads="either",
        paper="pekalska2000 sec. 2.2",
        summary="rows as normal features, a regularized covariance per class",
    ),
    Method(
        "rnqc(box-cox)",
        Chain((lazy("BoxCox"), lazy("NormalQuadratic"))),
        {"normalquadratic__regularization": R_QUADRATIC},
        reads="dissimilarity",
        paper="pekalska2000 sec. 4.4",
        summary="the same on dissimilarities made more nearly normal",
        on_request=True,
    ),
    Method(
        "pfld",
        lazy("PseudoFisher"),
        reads="either",
        paper="pekalska2000 sec. 2.2",
        summary="Fisher's discriminant on rows, with a pseudo-inverse",
    ),
    Method(
        "parzen-r",
        lazy("Parzen"),
        {"dimension": DIMENSION_PARZEN},
        reads="dissimilarity",
        paper="pekalska2000 sec. 2.2",
        summary="Gaussian windows on the dissimilarities",
    ),
    Method(
        "parzen-f",
        lazy("Parzen", space="features"),
        {"dimension": DIMENSION_PARZEN},
        reads="either",
        paper="pekalska2000 sec. 2.2",
        summary="Gaussian windows between rows",
    ),
    Method(
        "pseudo-nearest-mean",
        lazy("PseudoNearestMean"),
        reads="dissimilarity",
        symmetric=True,
        paper="pekalska2000 sec. 2",
        summary="the nearest class mean in pseudo-Euclidean space",
    ),
    *(
        Method(
            f"dt-{name}",
            Chain((lazy("SimilarityFeatures"), lazy("DecisionTreeClassifier", "sklearn.tree", criterion=criterion))),
            reads="either",
            rescale=True,  # features that differ by less than 1e-7 count as constant
            paper="pekalska2000 sec. 2.2",
            summary=f"decision tree on rows, split by {words}",
            on_request=True,
        )
        for name, criterion, words in (("max", "entropy", "entropy"), ("gini", "gini", "the Gini index"))
    ),
)

BASELINES = _family(
    "baselines",
    Method(
        "svc-raw",
        _SVC_RAW,
        {"C": C},
        symmetric=True,
        rescale=True,
        summary="scikit-learn's SVC on the unmodified matrix, a kernel only if positive semi-definite",
    ),
    Method(
        "sklearn-knn",
        lazy("KNeighborsClassifier", "sklearn.neighbors", metric="precomputed"),
        {"n_neighbors": AtMost((1, 3, 5, 7, 9, 15, 25))},
        reads="dissimilarity",
        summary="scikit-learn's k-NN on precomputed dissimilarities",
    ),
    Method(
        "naive-bayes",
        Chain(
            (
                lazy("OneHotEncoder", "sklearn.preprocessing", handle_unknown="ignore"),
                lazy("MultinomialNB", "sklearn.naive_bayes"),
            )
        ),
        reads="objects",
        paper="cazzanti2007 sec. 6.1",
        summary="naive Bayes on the categories of the objects, counts with one added",
        needs="objects described by categories",
        on_request=True,
    ),
    Method(
        "majority",
        lazy("DummyClassifier", "sklearn.dummy", strategy="prior"),
        reads="either",
        summary="always the largest class",
        quick=True,
    ),
    baseline=True,
)

# The unit of the target must not matter: SVR's epsilon and C are relative to its standard deviation.
_SVR = lazy(
    "TransformedTargetRegressor",
    "sklearn.compose",
    regressor=lazy("SVR", "sklearn.svm", kernel="precomputed", max_iter=100_000),
    transformer=lazy("StandardScaler", "sklearn.preprocessing"),
)
_GRID_SVR = {
    "transformedtargetregressor__regressor__C": powers(-1, 3),
    "transformedtargetregressor__regressor__epsilon": [0.03, 0.1, 0.3],
}

REGRESSION = [
    replace(method, family="regression", task="regression")
    for method in (
        *(
            Method(
                f"ridge({spectrum})",
                lazy("ProximityRidge", spectrum=spectrum),
                symmetric=True,
                paper="chen2010 sec. 2.1, 3.4",
                summary=f"kernel ridge regression, kernel repaired by spectrum {spectrum}, lambda by leave-one-out",
                quick=spectrum == "clip",
                on_request=spectrum == "shift",
            )
            for spectrum in ("clip", "flip", "shift")
        ),
        Method(
            "ridge(euclidean)",
            lazy("ProximityRidge"),
            reads="dissimilarity",
            symmetric=True,
            paper="pekalska2000 sec. 2",
            summary="ridge regression on the coordinates of classical scaling, lambda by leave-one-out",
        ),
        *(
            Method(
                f"svr({name.lower()})",
                Chain((lazy(f"Spectrum{name}"), _SVR)),
                _GRID_SVR,
                symmetric=name != "Square",
                rescale=True,
                paper="chen2010 sec. 2.1",
                summary=f"support vector regression, similarities made a kernel by spectrum {name.lower()}",
                on_request=name != "Clip",
            )
            for name in ("Clip", "Flip", "Shift", "Square")
        ),
        Method(
            "knn-mean",
            lazy("SimilarityKNNRegressor"),
            {"n_neighbors": K},
            reads="either",
            paper="chen2010 eq. 3.1",
            summary="mean of the k nearest neighbors",
            quick=True,
        ),
        Method(
            "knn-mean(affinity)",
            lazy("SimilarityKNNRegressor", weights="affinity"),
            {"n_neighbors": K},
            paper="chen2010 sec. 3.1",
            summary="mean of the k nearest neighbors, weighted by similarity",
            needs="similarities that are not negative",
        ),
        *(
            Method(
                f"knn-mean({weights})",
                lazy("SimilarityKNNRegressor", weights=weights),
                {"n_neighbors": K, "regularization": LAMBDA_KRI if weights == "kri" else LAMBDA_KRR},
                rescale=True,
                paper=f"chen2010 eq. {equation}",
                summary=f"mean of the k nearest neighbors, weighted by {words}",
                quick=weights == "kri",
            )
            for weights, equation, words in (
                ("kri", "3.5", "kernel ridge interpolation"),
                ("krr", "3.8", "kernel ridge regression"),
                ("lime", "3.3", "linear interpolation with maximum entropy"),
            )
        ),
        Method(
            "medoid-mean",
            lazy("MedoidRegressor"),
            {"n_medoids": AtMost((2, 4, 8, 16, 32))},
            reads="either",
            paper="qiao2013 sec. 2.2",
            summary="mean of the objects around the nearest of a few medoids",
        ),
        Method(
            "sklearn-knn-mean",
            lazy("KNeighborsRegressor", "sklearn.neighbors", metric="precomputed"),
            {"n_neighbors": AtMost((1, 3, 5, 7, 9, 15, 25))},
            reads="dissimilarity",
            summary="scikit-learn's k-NN regression on precomputed dissimilarities",
            baseline=True,
        ),
        *(
            Method(
                name,
                lazy("DummyRegressor", "sklearn.dummy", strategy=name),
                reads="either",
                summary=f"always the {name} of the target",
                baseline=True,
                quick=name == "mean",
            )
            for name in ("mean", "median")
        ),
    )
]

METHODS: tuple[Method, ...] = (
    *NEIGHBORS,
    *CENTROIDS,
    *DISCRIMINANT,
    *MIXTURES,
    *SIMILARITY_BASED,
    *NORMAL,
    *SUPPORT_VECTORS,
    *BASELINES,
    *REGRESSION,
)

# [chen2010] sec. 2.1.6 -> S S' as a kernel is the linear kernel on rows as features
ALIASES = {
    "svm-kernel(square)": "svm-features(linear)",
    "parzen": "parzen-r",
    "k-nn": "knn",
    "1nn-r": "knn(n_neighbors=1)",  # [pekalska2000] table 2
    "nearest-centroid": "nc",
}
