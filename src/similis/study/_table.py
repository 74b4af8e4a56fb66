"""The table of methods, by family: how the study runs each, and below that what each is.

To add a method, add it to its family, and a line to ``ABOUT``. Names are those of the published tables.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from similis.study._methods import AtMost, Method, chain, lazy


def powers(low: int, high: int) -> list[float]:
    return [10.0**p for p in range(low, high + 1)]


# [chen2010] table 4.2
K_NEAREST = {"n_neighbors": AtMost((*range(1, 17), 32, 64, 128))}
KRI = {**K_NEAREST, "regularization": [*powers(-6, 1), 1e6]}
KRR = {**K_NEAREST, "regularization": powers(-3, 1)}
C = powers(-3, 5)
GRID_SVC = {"svc__C": C}
SVM_KNN = {**K_NEAREST, "C": C}
RBF = {"pairwise__measure__gamma": powers(-5, 1), "svc__C": powers(-3, 1)}
# the paper has gamma = 1; distances between rows grow with the number of objects
ROW_RBF = {"rowrbf__gamma": powers(-2, 0), **GRID_SVC}
ETA = powers(-4, 0)
PSVM = {"C": powers(0, 4), "epsilon": powers(-4, 1)}
SIMSVM = {"eta": ETA, "gamma": powers(-3, 0)}  # those of sec. 5.3.2 that are chosen
COMPLETION = {"eta": powers(-3, -1), "gamma": powers(-2, 0)}
KREIN_RIDGE = {"alpha": powers(-4, 2), "ratio": [1.0, 10.0, float("inf")]}
KREIN_LOGISTIC = {"alpha": powers(-4, 1), "ratio": [1.0, 10.0]}
SIMMKL = {"eta": ETA, "gamma": powers(-3, 3)}  # of sec. 5.4.3
# [cazzanti2007] sec. 6.1, for CNN and mixture SDA
COMPONENTS = {"n_components": AtMost((2, 3, 4, 5, 7, 10))}
PROTOTYPES = {"n_prototypes": COMPONENTS["n_components"]}
# of a similarity, [bernal2003] sec. 3.2; 1 leaves it as it is
TIGHTNESS = {"tighten__q": [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]}
TIGHTNESS_PCVM = {"tighten__q": [1.0, 4.0, 16.0, 64.0]}
SBC = {**TIGHTNESS, "sbc__C": powers(-1, 2)}
SBC_STRONG = {**SBC, "sbc__strong": [True, False]}
# [qiao2013] sec. 5.1
CLUSTERS = {"n_components": AtMost((*range(1, 11), 12, 14, 16))}
# [pekalska2000] tried "a few" regularizers; the quadratic rule needs smaller ones.
R_LINEAR = {"regularization": [1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9]}
R_QUADRATIC = {"regularization": [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1]}
BOX_COX_LINEAR = {"normallinear__regularization": R_LINEAR["regularization"]}
BOX_COX_QUADRATIC = {"normalquadratic__regularization": R_QUADRATIC["regularization"]}
# The more dimensions, the narrower the windows; the number of objects fits the published errors.
DIMENSION_PARZEN = {"dimension": [1, 2, 3, 5, 10, 20, 50, "objects"]}
K_SKLEARN = {"n_neighbors": AtMost((1, 3, 5, 7, 9, 15, 25))}
SPREADING = {"alpha": [0.1, 0.5, 0.9], "n_neighbors": [3, 5, 10, 20, None]}
RADIUS = {"radius": [0.0, 0.05, 0.1, 0.2, 0.5, 1.0]}
GLVQ = {"n_prototypes": AtMost((1, 2, 4))}
GRID_SVR = {
    "transformedtargetregressor__regressor__C": powers(-1, 3),
    "transformedtargetregressor__regressor__epsilon": [0.03, 0.1, 0.3],
}

# libsvm may need millions of steps for a large C and never ends on some indefinite matrices.
_SVC = lazy("SVC", "sklearn.svm", kernel="precomputed", max_iter=100_000)
_SVC_LINEAR = lazy("SVC", "sklearn.svm", kernel="linear", max_iter=100_000)
_SVC_RAW = lazy("SVC", "sklearn.svm", kernel="precomputed", max_iter=10_000)
# The unit of the target must not matter: SVR's epsilon and C are relative to its standard deviation.
_SVR_RAW = lazy("SVR", "sklearn.svm", kernel="precomputed", max_iter=100_000)
_SCALER = lazy("StandardScaler", "sklearn.preprocessing")
_SVR = lazy("TransformedTargetRegressor", "sklearn.compose", regressor=_SVR_RAW, transformer=_SCALER)
_ONE_HOT = lazy("OneHotEncoder", "sklearn.preprocessing", handle_unknown="ignore")
_RBF = lazy("Pairwise", measure=lazy("RBF"))
_ROWS = lazy("SimilarityFeatures")
_TIGHTEN = lazy("Tighten")
_BOX_COX = lazy("BoxCox")
_knn = partial(lazy, "SimilarityKNN")
_knn_mean = partial(lazy, "SimilarityKNNRegressor")
_sklearn_knn = partial(lazy, "KNeighborsClassifier", "sklearn.neighbors")
_sklearn_knn_mean = lazy("KNeighborsRegressor", "sklearn.neighbors", metric="precomputed")
_dummy = partial(lazy, "DummyRegressor", "sklearn.dummy")
_tree = partial(lazy, "DecisionTreeClassifier", "sklearn.tree")
# Where no class is large enough for a model, local SDA decides by the nearest local centroid.
_local_nc = partial(lazy, "LocalSDA", min_class_size=999_999)
_on_request = partial(Method, on_request=True)
_KERNEL: dict[str, Any] = {"symmetric": True, "rescale": True}
_DISTANCE: dict[str, Any] = {"reads": "dissimilarity", "symmetric": True}

_FAMILIES = {
    "neighbors": [
        Method("knn", _knn(), K_NEAREST, "either", quick=True),
        Method("affinity-knn", _knn(weights="affinity"), K_NEAREST, quick=True),
        Method("kri-knn(clip)", _knn(weights="kri", spectrum="clip"), KRI, rescale=True, quick=True),
        Method("kri-knn(flip)", _knn(weights="kri", spectrum="flip"), KRI, rescale=True),
        _on_request("kri-knn(shift)", _knn(weights="kri", spectrum="shift"), KRI, rescale=True),
        Method("krr-knn(pinv)", _knn(weights="krr", spectrum="pinv"), KRR, rescale=True),
        Method("krr-knn(clip)", _knn(weights="krr", spectrum="clip"), KRR, rescale=True),
        Method("krr-knn(flip)", _knn(weights="krr", spectrum="flip"), KRR, rescale=True),
        _on_request("krr-knn(shift)", _knn(weights="krr", spectrum="shift"), KRR, rescale=True),
        Method("lime-knn", _knn(weights="lime"), KRR, rescale=True),
        _on_request("1nn-f", chain(_ROWS, _sklearn_knn(n_neighbors=1)), reads="either"),
        _on_request("label-spreading", lazy("SimilarityLabelSpreading"), SPREADING, symmetric=True),
        Method("similarity-forest", lazy("SimilarityForest"), reads="either"),
    ],
    "centroids": [
        Method("nc", lazy("NearestCentroid"), reads="either", quick=True),
        Method("nc(adjusted)", lazy("NearestCentroid", adjusted=True), reads="either"),
        Method("local-nc", lazy("LocalNearestCentroid"), K_NEAREST, "either"),
        _on_request("local-nc(per-class)", _local_nc(neighborhood="per-class"), K_NEAREST, "either"),
        _on_request("local-nc(radius)", _local_nc(neighborhood="radius"), RADIUS, "either"),
        _on_request("local-nc(reciprocal)", _local_nc(neighborhood="reciprocal"), reads="either"),
        _on_request("local-nc(natural)", _local_nc(neighborhood="natural"), K_NEAREST, "either"),
        _on_request("local-nc(enclosing)", _local_nc(neighborhood="enclosing"), K_NEAREST),
        Method("cnn", lazy("CondensedNN"), PROTOTYPES, "either"),
        _on_request("relational-glvq", lazy("RelationalGLVQ"), GLVQ, "either", symmetric=True),
    ],
    "discriminant analysis": [
        Method("sda", lazy("SDA"), reads="either"),
        Method("nnsda", lazy("NearestNeighborSDA"), reads="either"),
        Method("local-sda", lazy("LocalSDA"), K_NEAREST, "either"),
        Method("mixture-sda", lazy("MixtureSDA"), COMPONENTS, "either"),
        _on_request("mixed-sda", lazy("MixedSDA", measure=lazy("Counting")), reads="objects"),
    ],
    "mixtures": [
        Method("kernel-hlm", lazy("KernelHLM"), **_DISTANCE),
        Method("hlm-vsh", lazy("MixtureHLM", clustering="vsh"), CLUSTERS, **_DISTANCE),
        Method("hlm-gknn", lazy("MixtureHLM", clustering="kmedoids"), CLUSTERS, **_DISTANCE),
        Method("hlm-agg", lazy("MixtureHLM", clustering="ward"), CLUSTERS, **_DISTANCE),
        Method("hlm-kernel-vsh", lazy("MixtureHLM", n_components="auto"), **_DISTANCE),
        _on_request("kernel-hlm(per-class)", lazy("KernelHLM", shared=False), **_DISTANCE),
        _on_request("hlm-vsh(per-class)", lazy("MixtureHLM", shared_shape=False), CLUSTERS, **_DISTANCE),
    ],
    "similarity based": [
        Method("maxsim", chain(_TIGHTEN, lazy("MaxSim")), TIGHTNESS),
        Method("sbc", chain(_TIGHTEN, lazy("SBC")), SBC_STRONG),
        _on_request("sbc(hard)", chain(_TIGHTEN, lazy("SBC")), TIGHTNESS),
        _on_request("sbc(weak)", chain(_TIGHTEN, lazy("SBC", strong=False)), SBC),
        _on_request("sbc(normalized)", chain(_TIGHTEN, lazy("SBC", normalize=True)), SBC_STRONG),
        _on_request("perceptron", chain(_TIGHTEN, lazy("SimilarityPerceptron", average=True)), TIGHTNESS),
    ],
    "normal": [
        Method("rnlc", lazy("NormalLinear"), R_LINEAR, "either"),
        Method("rnlc(box-cox)", chain(_BOX_COX, lazy("NormalLinear")), BOX_COX_LINEAR, "dissimilarity"),
        Method("ikfd", lazy("NormalLinear", shrinkage_target="trace"), R_QUADRATIC, symmetric=True),
        Method("rnqc", lazy("NormalQuadratic"), R_QUADRATIC, "either"),
        _on_request("rnqc(box-cox)", chain(_BOX_COX, lazy("NormalQuadratic")), BOX_COX_QUADRATIC, "dissimilarity"),
        Method("pfld", lazy("PseudoFisher"), reads="either"),
        Method("parzen-r", lazy("Parzen"), DIMENSION_PARZEN, "dissimilarity"),
        Method("parzen-f", lazy("Parzen", space="features"), DIMENSION_PARZEN, "either"),
        Method("pseudo-nearest-mean", lazy("PseudoNearestMean"), **_DISTANCE),
        # Trees need the range 1: features that differ by less than 1e-7 count as constant.
        _on_request("dt-max", chain(_ROWS, _tree(criterion="entropy")), reads="either", rescale=True),
        _on_request("dt-gini", chain(_ROWS, _tree(criterion="gini")), reads="either", rescale=True),
    ],
    "support vectors": [
        Method("svm-kernel(clip)", chain(lazy("SpectrumClip"), _SVC), GRID_SVC, **_KERNEL, quick=True),
        Method("svm-kernel(flip)", chain(lazy("SpectrumFlip"), _SVC), GRID_SVC, **_KERNEL),
        Method("svm-kernel(shift)", chain(lazy("SpectrumShift"), _SVC), GRID_SVC, **_KERNEL),
        Method("svm-features(linear)", chain(lazy("SpectrumSquare"), _SVC), GRID_SVC, rescale=True, quick=True),
        Method("svm-features(rbf)", chain(_ROWS, _RBF, _SVC), RBF, rescale=True),
        Method("svm-kernel(rbf-sim)", chain(lazy("RowRBF"), _SVC), ROW_RBF, rescale=True),
        _on_request("svc-d", chain(_ROWS, _SVC_LINEAR), GRID_SVC, "dissimilarity", rescale=True),
        Method("svc-d2", chain(lazy("Whiten"), _SVC_LINEAR), GRID_SVC, "dissimilarity", rescale=True),
        Method("svm-knn(clip)", lazy("SVMKNN", spectrum="clip"), SVM_KNN, rescale=True),
        Method("svm-knn(flip)", lazy("SVMKNN", spectrum="flip"), SVM_KNN, rescale=True),
        _on_request("svm-knn(shift)", lazy("SVMKNN", spectrum="shift"), SVM_KNN, rescale=True),
        Method("psvm", lazy("PotentialSVM"), PSVM, rescale=True),
        _on_request("psvm(normalized)", lazy("PotentialSVM", normalize=True), PSVM),
        Method("simsvm", lazy("SimSVM"), SIMSVM, **_KERNEL),
        _on_request("simsvm(flip)", lazy("SimSVM", anchor="flip"), SIMSVM, **_KERNEL),
        _on_request("simsvm(lp)", lazy("SimSVM", norm=1, n_random=50, random_state=0), SIMSVM, **_KERNEL),
        _on_request("indefinite-svm", lazy("IndefiniteSVM"), {"C": powers(-3, 3), "rho": powers(-3, 3)}, **_KERNEL),
        _on_request("full-kernel-svm", lazy("FullKernelSVM"), {"eta": ETA, "gamma": powers(-3, 1)}, **_KERNEL),
        _on_request("simmkl", lazy("SimMKL"), SIMMKL, **_KERNEL),
        _on_request("mkl", lazy("SimMKL", roles="kernels"), {"eta": ETA}, **_KERNEL),
        _on_request("mkl(signed)", lazy("SimMKL", roles="kernels", signed=True), {"eta": ETA}, **_KERNEL),
        _on_request("completion-svm", lazy("CompletionSVM"), COMPLETION, **_KERNEL),
        _on_request("krein-svm", lazy("KreinSVM"), {"C": C}, **_KERNEL),
        Method("krein-ridge", lazy("KreinRidgeClassifier"), KREIN_RIDGE, "either", symmetric=True),
        _on_request("krein-logistic", lazy("KreinLogistic"), KREIN_LOGISTIC, "either", symmetric=True),
        _on_request("pcvm", chain(_TIGHTEN, lazy("PCVM")), TIGHTNESS_PCVM),
        _on_request("lp-machine", lazy("LPMachine"), {"C": C}, rescale=True),
    ],
    "baselines": [
        Method("svc-raw", _SVC_RAW, {"C": C}, **_KERNEL),
        Method("sklearn-knn", _sklearn_knn(metric="precomputed"), K_SKLEARN, "dissimilarity"),
        _on_request("naive-bayes", chain(_ONE_HOT, lazy("MultinomialNB", "sklearn.naive_bayes")), reads="objects"),
        Method("majority", lazy("DummyClassifier", "sklearn.dummy", strategy="prior"), reads="either", quick=True),
    ],
    "regression": [
        Method("ridge(clip)", lazy("ProximityRidge", spectrum="clip"), symmetric=True, quick=True),
        Method("ridge(flip)", lazy("ProximityRidge", spectrum="flip"), symmetric=True),
        _on_request("ridge(shift)", lazy("ProximityRidge", spectrum="shift"), symmetric=True),
        Method("ridge(euclidean)", lazy("ProximityRidge"), **_DISTANCE),
        Method("svr(clip)", chain(lazy("SpectrumClip"), _SVR), GRID_SVR, **_KERNEL),
        _on_request("svr(flip)", chain(lazy("SpectrumFlip"), _SVR), GRID_SVR, **_KERNEL),
        _on_request("svr(shift)", chain(lazy("SpectrumShift"), _SVR), GRID_SVR, **_KERNEL),
        _on_request("svr(square)", chain(lazy("SpectrumSquare"), _SVR), GRID_SVR, rescale=True),
        Method("knn-mean", _knn_mean(), K_NEAREST, "either", quick=True),
        Method("knn-mean(affinity)", _knn_mean(weights="affinity"), K_NEAREST),
        Method("knn-mean(kri)", _knn_mean(weights="kri"), KRI, rescale=True, quick=True),
        Method("knn-mean(krr)", _knn_mean(weights="krr"), KRR, rescale=True),
        Method("knn-mean(lime)", _knn_mean(weights="lime"), KRR, rescale=True),
        Method("medoid-mean", lazy("MedoidRegressor"), {"n_medoids": AtMost((2, 4, 8, 16, 32))}, "either"),
        Method("sklearn-knn-mean", _sklearn_knn_mean, K_SKLEARN, "dissimilarity", baseline=True),
        Method("mean", _dummy(strategy="mean"), reads="either", quick=True, baseline=True),
        Method("median", _dummy(strategy="median"), reads="either", baseline=True),
    ],
}

# Name | reference | the method in one line | requirements on the matrix beyond its kind, if any
ABOUT = """
knn | cazzanti2007 sec. 2.2.1 | majority of the k nearest neighbors
affinity-knn | chen2010 sec. 3.1 | k nearest neighbors, each weighted by its similarity | similarities that are not \
negative
kri-knn(clip) | chen2010 eq. 3.5 | kernel ridge interpolation weights, neighbors' block repaired by clip
kri-knn(flip) | chen2010 eq. 3.5 | kernel ridge interpolation weights, neighbors' block repaired by flip
kri-knn(shift) | chen2010 eq. 3.5 | kernel ridge interpolation weights, neighbors' block repaired by shift
krr-knn(pinv) | chen2010 eq. 3.8 | kernel ridge regression weights, neighbors' block treated by pinv
krr-knn(clip) | chen2010 eq. 3.8 | kernel ridge regression weights, neighbors' block treated by clip
krr-knn(flip) | chen2010 eq. 3.8 | kernel ridge regression weights, neighbors' block treated by flip
krr-knn(shift) | chen2010 eq. 3.8 | kernel ridge regression weights, neighbors' block treated by shift
lime-knn | chen2010 eq. 3.3 | linear interpolation with maximum entropy
1nn-f | pekalska2000 sec. 2.2 | nearest neighbor by the Euclidean distance between rows
label-spreading | zhou2004 | labels spread over the graph of the nearest neighbors
similarity-forest | czekalski2021 | random forest whose splits compare the similarities to two objects
nc | cazzanti2007 eq. 2.9 | the most similar class centroid
nc(adjusted) | cazzanti2007 eq. 3.1 | nearest centroid, adjusted for the spread of the classes | classes with a mean \
similarity to their centroid that is not negative
local-nc | cazzanti2007 sec. 4.1 | nearest centroid within the neighborhood
local-nc(per-class) | cazzanti2007 sec. 4.1, 7.2.2 | nearest centroid within the neighborhood: the nearest of every \
class
local-nc(radius) | cazzanti2007 sec. 4.1, 7.2.2 | nearest centroid within the neighborhood: all within a factor of \
the best similarity
local-nc(reciprocal) | cazzanti2007 sec. 4.1, 7.2.2 | nearest centroid within the neighborhood: the nearest, and \
those whose nearest the object would be
local-nc(natural) | cazzanti2007 sec. 4.1, 7.2.2 | nearest centroid within the neighborhood: those with no nearer \
object between
local-nc(enclosing) | cazzanti2007 sec. 4.1, 7.2.2 | nearest centroid within the neighborhood: neighbors that enclose \
the object
cnn | cazzanti2007 eq. 2.7 | condensed nearest neighbor: a few prototypes per class
relational-glvq | hammer2014 | learning vector quantization: a few prototypes per class that are weighted means of \
objects
sda | cazzanti2007 sec. 3.1 | similarity discriminant analysis by class centroids
nnsda | cazzanti2007 sec. 3.2.1 | similarity discriminant analysis by nearest neighbors
local-sda | cazzanti2007 sec. 4.1 | similarity discriminant analysis within the neighborhood
mixture-sda | cazzanti2007 sec. 5.2 | similarity discriminant analysis with several centroids per class
mixed-sda | cazzanti2007 eq. 3.42 | similarity discriminant analysis of a table: similarities of categories, normal \
models of numbers | a table of categories and numbers
kernel-hlm | qiao2013 sec. 3.2 | kernel density from distances alone, without tuning parameters
hlm-vsh | qiao2013 sec. 3.1 | a mixture model from distances alone, clusters by vertex substitution
hlm-gknn | qiao2013 sec. 3.1 | a mixture model from distances alone, clusters by k-medoids
hlm-agg | qiao2013 sec. 3.1 | a mixture model from distances alone, clusters by Ward's method
hlm-kernel-vsh | qiao2013 sec. 5.3 | the better of the kernel density and the mixture model, by cross-validation
kernel-hlm(per-class) | qiao2013 sec. 3.2 | kernel density from distances alone, shape and scale of each class | \
distances in a natural unit, on which densities of different shapes depend
hlm-vsh(per-class) | qiao2013 sec. 3.1 | a mixture model from distances alone, shape of each class, clusters by \
vertex substitution | distances in a natural unit, on which densities of different shapes depend
maxsim | bernal2003 eq. 6 | the class with the largest summed similarity, of chosen tightness
sbc | bernal2003 sec. 5 | summed similarity with learned weights that are not negative
sbc(hard) | bernal2003 sec. 5 | summed similarity with weights of the largest margin that violate no constraint | a \
similarity that becomes tight enough to classify all training objects
sbc(weak) | bernal2003 sec. 5 | summed similarity with learned weights, one constraint for each other class
sbc(normalized) | bernal2003 sec. 5 | summed similarity with learned weights, constraints scaled to length one
perceptron | bernal2003 sec. 4.2 | summed similarity with the averaged weights of a perceptron
rnlc | pekalska2000 sec. 2.2 | rows as normal features, one regularized covariance
rnlc(box-cox) | pekalska2000 sec. 4.4 | the same on dissimilarities made more nearly normal
ikfd | haasdonk2008 | indefinite kernel Fisher discriminant: rows as normal features, covariance plus a multiple of I
rnqc | pekalska2000 sec. 2.2 | rows as normal features, a regularized covariance per class
rnqc(box-cox) | pekalska2000 sec. 4.4 | the same on dissimilarities made more nearly normal
pfld | pekalska2000 sec. 2.2 | Fisher's discriminant on rows, with a pseudo-inverse
parzen-r | pekalska2000 sec. 2.2 | Gaussian windows on the dissimilarities
parzen-f | pekalska2000 sec. 2.2 | Gaussian windows between rows
pseudo-nearest-mean | pekalska2000 sec. 2 | the nearest class mean in pseudo-Euclidean space
dt-max | pekalska2000 sec. 2.2 | decision tree on rows, split by entropy
dt-gini | pekalska2000 sec. 2.2 | decision tree on rows, split by the Gini index
svm-kernel(clip) | chen2010 sec. 2.1 | SVM, similarities made a kernel by spectrum clip
svm-kernel(flip) | chen2010 sec. 2.1 | SVM, similarities made a kernel by spectrum flip
svm-kernel(shift) | chen2010 sec. 2.1 | SVM, similarities made a kernel by spectrum shift
svm-features(linear) | chen2010 sec. 2.2 | SVM, rows as feature vectors, linear kernel; the same as spectrum square
svm-features(rbf) | chen2010 sec. 2.2, 4.3 | SVM, rows as feature vectors, Gaussian kernel
svm-kernel(rbf-sim) | chen2010 sec. 4.2 | SVM, exp(-gamma ||s - s'||) between whole rows as kernel
svc-d | pekalska2000 sec. 2.2 | linear SVM on rows of dissimilarities
svc-d2 | pekalska2000 sec. 2.2 | linear SVM on whitened dissimilarities: spectrum flip of a symmetric matrix
svm-knn(clip) | chen2010 sec. 4.1 | an SVM on each object's neighbors, their block repaired by clip
svm-knn(flip) | chen2010 sec. 4.1 | an SVM on each object's neighbors, their block repaired by flip
svm-knn(shift) | chen2010 sec. 4.1 | an SVM on each object's neighbors, their block repaired by shift
psvm | chen2010 eq. 2.8 | potential SVM: similarities as features, with a sparse solution
psvm(normalized) | cazzanti2007 sec. 2.2.7 | potential SVM with centered columns of unit norm and an intercept
simsvm | chen2010 eq. 5.20 | SVM that learns how to modify the spectrum, near clip
simsvm(flip) | chen2010 eq. 5.20 | SVM that learns how to modify the spectrum, near flip
simsvm(lp) | chen2010 eq. 5.28 | SimSVM approximated by a linear program with random matrices
indefinite-svm | chen2010 eq. 5.8 | SVM that learns all of the kernel, by squared distance from the similarities
full-kernel-svm | chen2010 eq. 5.2 | SVM that learns all of the kernel, by distance from the similarities
simmkl | chen2010 eq. 5.35 | SVM that learns weights of several similarities and how to modify their spectra
mkl | chen2010 eq. 5.33 | SVM that learns weights of several similarities, each made a kernel by spectrum clip
mkl(signed) | chen2010 eq. 5.32 | the same with weights of any sign, the optimum of a semidefinite program
completion-svm | chen2010 eq. 6.6 | SVM that completes a kernel with missing rows by an auxiliary kernel; reads a \
stack of both | kernels of at most 100 objects per pair of classes, and the package clarabel
krein-svm | loosli2016 | SVM in the Krein space of the similarity: the same as svm-kernel(flip)
krein-ridge | oglic2018 | ridge regression in the Krein space, one penalty for each part of the spectrum
krein-logistic | oglic2018 | logistic regression in the Krein space, one penalty for each part of the spectrum
pcvm | chen2009pcvm | probabilistic classification vector machine: a sparse probit model on rows
lp-machine | chen2010 eq. 2.7 | linear program on rows as feature vectors
svc-raw |  | scikit-learn's SVC on the unmodified matrix, a kernel only if positive semi-definite
sklearn-knn |  | scikit-learn's k-NN on precomputed dissimilarities
naive-bayes | cazzanti2007 sec. 6.1 | naive Bayes on the categories of the objects, counts with one added | objects \
described by categories
majority |  | always the largest class
ridge(clip) | chen2010 sec. 2.1, 3.4 | kernel ridge regression, kernel repaired by spectrum clip, lambda by \
leave-one-out
ridge(flip) | chen2010 sec. 2.1, 3.4 | kernel ridge regression, kernel repaired by spectrum flip, lambda by \
leave-one-out
ridge(shift) | chen2010 sec. 2.1, 3.4 | kernel ridge regression, kernel repaired by spectrum shift, lambda by \
leave-one-out
ridge(euclidean) | pekalska2000 sec. 2 | ridge regression on the coordinates of classical scaling, lambda by \
leave-one-out
svr(clip) | chen2010 sec. 2.1 | support vector regression, similarities made a kernel by spectrum clip
svr(flip) | chen2010 sec. 2.1 | support vector regression, similarities made a kernel by spectrum flip
svr(shift) | chen2010 sec. 2.1 | support vector regression, similarities made a kernel by spectrum shift
svr(square) | chen2010 sec. 2.1 | support vector regression, similarities made a kernel by spectrum square
knn-mean | chen2010 eq. 3.1 | mean of the k nearest neighbors
knn-mean(affinity) | chen2010 sec. 3.1 | mean of the k nearest neighbors, weighted by similarity | similarities that \
are not negative
knn-mean(kri) | chen2010 eq. 3.5 | mean of the k nearest neighbors, weighted by kernel ridge interpolation
knn-mean(krr) | chen2010 eq. 3.8 | mean of the k nearest neighbors, weighted by kernel ridge regression
knn-mean(lime) | chen2010 eq. 3.3 | mean of the k nearest neighbors, weighted by linear interpolation with maximum \
entropy
medoid-mean | qiao2013 sec. 2.2 | mean of the objects around the nearest of a few medoids
sklearn-knn-mean |  | scikit-learn's k-NN regression on precomputed dissimilarities
mean |  | always the mean of the target
median |  | always the median of the target
"""

_COLUMNS = ("paper", "summary", "needs")
_LINES = (line.split(" | ") for line in ABOUT.strip().splitlines())
_DESCRIPTIONS: dict[str, dict[str, Any]] = {name: dict(zip(_COLUMNS, words)) for name, *words in _LINES}
METHODS = tuple(
    replace(
        method,
        family=family,
        baseline=method.baseline or family == "baselines",
        task="regression" if family == "regression" else "classification",
        **_DESCRIPTIONS[method.name],
    )
    for family, methods in _FAMILIES.items()
    for method in methods
)

# [chen2010] sec. 2.1.6 -> S S' as a kernel is the linear kernel on rows as features
ALIASES = {
    "svm-kernel(square)": "svm-features(linear)",
    "parzen": "parzen-r",
    "k-nn": "knn",
    "1nn-r": "knn(n_neighbors=1)",  # [pekalska2000] table 2
    "nearest-centroid": "nc",
}
