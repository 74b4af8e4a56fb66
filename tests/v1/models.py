"""Fitted models of the version 1 fixtures, with the outputs that they give for the queries."""

import tempfile
import zipfile
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC
from v1.data import N_TRAIN, make_matrices, make_plain_objects, read_objects, write_json

import similis
from similis import distributed

OUTPUTS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")


def classifiers():
    """Return one classifier or more per public class."""
    s = similis
    knn = {
        weights: (s.SimilarityKNN(n_neighbors=5, weights=weights, regularization=0.1), "kernel")
        for weights in ("uniform", "affinity", "kri", "krr", "lime")
    }
    return {
        **{f"knn-{weights}": model for weights, model in knn.items()},
        "knn-kri-flip": (s.SimilarityKNN(n_neighbors=4, weights="kri", spectrum="flip"), "similarity"),
        "knn-dissimilarity": (s.SimilarityKNN(n_neighbors=3, smoothing=0.5, kind="dissimilarity"), "dissimilarity"),
        "nc": (s.NearestCentroid(), "similarity"),
        "nc-adjusted": (s.NearestCentroid(adjusted=True), "kernel"),
        "local-nc": (s.LocalNearestCentroid(), "similarity"),
        "cnn": (s.CondensedNN(n_prototypes=2, random_state=0), "similarity"),
        "sda": (s.SDA(), "similarity"),
        "sda-statistics": (s.SDA(statistic=["centroid", "nearest"], costs=[[0, 1, 2], [1, 0, 1], [3, 1, 0]]), "kernel"),
        "sda-continuous": (s.SDA(domain="continuous", kind="dissimilarity"), "dissimilarity"),
        "sda-stack": (s.SDA(), "stack"),
        "nnsda": (s.NearestNeighborSDA(), "similarity"),
        "local-sda": (s.LocalSDA(n_neighbors=8), "similarity"),
        "mixture-sda": (s.MixtureSDA(n_components=2, max_iter=500, random_state=0), "similarity"),
        "mixed-sda": (s.MixedSDA(s.Counting(), regularization=0.1), "mixed"),
        "mixed-sda-dependent": (s.MixedSDA(s.VDM(), independent=False, regularization=0.1), "mixed"),
        "kernel-hlm": (s.KernelHLM(), "dissimilarity"),
        "mixture-hlm": (s.MixtureHLM(n_components=2, random_state=0), "dissimilarity"),
        "mixture-hlm-ward": (s.MixtureHLM(n_components=2, clustering="ward"), "dissimilarity"),
        "mixture-hlm-auto": (s.MixtureHLM(n_components="auto", random_state=0), "dissimilarity"),
        "incremental-hlm": (s.IncrementalHLM(n_components=2, random_state=0), "dissimilarity"),
        "incremental-hlm-resample": (
            s.IncrementalHLM(scheme="resample", n_components=2, random_state=0),
            "dissimilarity",
        ),
        "psvm": (s.PotentialSVM(), "similarity"),
        "lp-machine": (s.LPMachine(), "similarity"),
        "svm-knn": (s.SVMKNN(n_neighbors=10), "similarity"),
        "indefinite-svm": (s.IndefiniteSVM(), "two_classes"),
        "indefinite-svm-3": (s.IndefiniteSVM(), "similarity"),
        "simsvm": (s.SimSVM(), "two_classes"),
        "simsvm-3": (s.SimSVM(anchor="flip"), "similarity"),
        "simmkl": (s.SimMKL(), "stack"),
        "full-kernel-svm": (s.FullKernelSVM(), "two_classes"),
        "completion-svm": (s.CompletionSVM(), "hidden"),
        "rnlc": (s.NormalLinear(), "dissimilarity"),
        "rnqc": (s.NormalQuadratic(), "dissimilarity"),
        "pfld": (s.PseudoFisher(), "dissimilarity"),
        "parzen": (s.Parzen(), "dissimilarity"),
        "parzen-features": (s.Parzen(space="features"), "similarity"),
        "pseudo-nearest-mean": (s.PseudoNearestMean(), "dissimilarity"),
        "maxsim": (s.MaxSim(), "similarity"),
        "sbc": (s.SBC(C=1.0), "two_classes"),
        "similarity-perceptron": (s.SimilarityPerceptron(), "two_classes"),
    }


def searches():
    """Return searches over parameters."""
    s = similis
    clip = make_pipeline(s.SpectrumClip(), SVC(kernel="precomputed"))
    return {
        "search-knn": (
            s.PathSearchCV(s.SimilarityKNN(weights="kri"), {"n_neighbors": [2, 4], "regularization": [0.1, 1.0]}, cv=3),
            "kernel",
        ),
        "search-local-sda": (s.PathSearchCV(s.LocalSDA(), {"n_neighbors": [6, 9]}, cv=3), "similarity"),
        "search-svm": (s.PathSearchCV(clip, {"svc__C": [0.1, 1.0]}, cv=3), "similarity"),
        "search-rnlc": (
            s.PathSearchCV(s.NormalLinear(), {"regularization": [0.01, 0.1]}, cv=StratifiedKFold(3)),
            "dissimilarity",
        ),
        "grid-search": (GridSearchCV(clip, {"svc__C": [0.1, 1.0]}, cv=3), "similarity"),
    }


def transformer_pipelines():
    """Return every transformer of similis.proximity in front of a classifier."""
    s = similis
    kernel_svm, linear_svm = SVC(kernel="precomputed"), SVC(kernel="linear")
    pieces = {
        "symmetrize": (s.Symmetrize(), kernel_svm, "asymmetric"),
        "to-dissimilarity": (s.ToDissimilarity(), s.KernelHLM(), "similarity"),
        "to-dissimilarity-root": (s.ToDissimilarity(method="root"), s.Parzen(), "kernel"),
        "to-similarity": (s.ToSimilarity(), kernel_svm, "dissimilarity"),
        "to-similarity-rbf": (s.ToSimilarity(method="rbf", gamma=0.5), kernel_svm, "dissimilarity"),
        "box-cox": (s.BoxCox(), s.NormalLinear(), "dissimilarity"),
        "unit-diagonal": (s.UnitDiagonal(), kernel_svm, "kernel"),
        "clip": (s.SpectrumClip(), kernel_svm, "similarity"),
        "clip-truncated": (s.SpectrumClip(n_components=4), kernel_svm, "similarity"),
        "flip": (s.SpectrumFlip(), kernel_svm, "similarity"),
        "shift": (s.SpectrumShift(), kernel_svm, "similarity"),
        "square": (s.SpectrumSquare(), kernel_svm, "similarity"),
        "similarity-features": (s.SimilarityFeatures(), linear_svm, "similarity"),
        "row-rbf": (s.RowRBF(), kernel_svm, "similarity"),
        "dissimilarity-space": (s.DissimilaritySpace(), linear_svm, "dissimilarity"),
        "dissimilarity-space-4": (
            s.DissimilaritySpace(n_prototypes=4, selection="random", random_state=0),
            linear_svm,
            "dissimilarity",
        ),
        "pseudo-euclidean": (s.PseudoEuclidean(n_components=4), linear_svm, "dissimilarity"),
        "whiten": (s.Whiten(), linear_svm, "dissimilarity"),
        "landmarks": (s.Landmarks(n_landmarks=8, random_state=0), linear_svm, "similarity"),
        "complete-nuclear": (s.CompleteKernel(), s.NearestCentroid(), "missing"),
        "complete-em": (s.CompleteKernel(method="em"), kernel_svm, "hidden"),
        "complete-frobenius": (s.CompleteKernel(method="frobenius"), kernel_svm, "hidden"),
    }
    models = {f"pipe-{name}": (make_pipeline(front, last), data) for name, (front, last, data) in pieces.items()}
    rows = make_pipeline(s.SimilarityFeatures(), s.Pairwise(s.RBF(gamma=0.1)), kernel_svm)
    repaired = make_pipeline(s.Symmetrize(), s.SpectrumClip(), s.UnitDiagonal(), kernel_svm)
    return {**models, "pipe-rows-rbf": (rows, "similarity"), "pipe-repair": (repaired, "asymmetric")}


def object_pipelines(S):
    """Return a pipeline for every measure, and other models that read objects."""
    s = similis
    dna = {a: {b: (5 if a == b else -4) for b in "acgt"} for a in "acgt"}
    measures = {
        "table": [s.Counting(), s.VDM(), s.VDM(similarity=True), s.Lin(), s.ResidualEntropy()],
        "mixed": [s.HVDM()],
        "sets": [s.TverskyContrast(), s.TverskyRatio(), s.Jaccard(), s.Dice(), s.Overlap()],
        "vectors": [s.RBF(gamma=0.5), s.Polynomial(coef0=1.0), s.Cosine(), s.Minkowski(), s.Chebyshev()],
        "strings": [
            s.Edit(),
            s.Edit(gaps={"a": 0.3}, normalize=True),
            s.Alignment(matrix=dna),
            s.Compression(codec="bz2"),
        ],
        "texts": [s.TfidfCosine()],
        "point_sets": [s.Wasserstein(), s.IRM(), s.PyramidMatch()],
        "series": [s.DTW()],
        "graphs": [
            s.WeisfeilerLehman(n_iter=2),
            s.WeisfeilerLehman(n_iter=2, edge_labels=True, normalize=True),
        ],
        "positions": [s.FromMatrix(S)],
    }
    models = {}
    for data, listed in measures.items():
        for measure in listed:
            name = f"pairwise-{type(measure).__name__.lower()}"
            name += "-2" if name in models else ""
            models[name] = make_pipeline(s.Pairwise(measure), s.SimilarityKNN(n_neighbors=3, kind=measure.kind)), data
    landmarks = s.PairwiseLandmarks(s.Counting(), n_landmarks=6, random_state=0)
    nystrom = s.PairwiseLandmarks(
        s.RBF(gamma=0.5), n_landmarks=6, selection="kcenter", output="nystrom", random_state=0
    )
    # The pivot trees of an index (n_trees > 0) cannot be saved by version 1.0.
    index = distributed.NeighborIndex(s.Counting(), n_neighbors=8, n_trees=0, random_state=0)
    looked_up = make_pipeline(s.Pairwise(s.FromMatrix(S)), SVC(kernel="precomputed"))
    return {
        **models,
        "landmarks-counting": (make_pipeline(landmarks, SVC(kernel="linear")), "table"),
        "landmarks-nystrom": (make_pipeline(nystrom, LogisticRegression()), "vectors"),
        "pairwise-symmetrized": (
            make_pipeline(s.Pairwise(s.TverskyRatio(alpha=0.9, beta=0.1), symmetrize=True), s.NearestCentroid()),
            "sets",
        ),
        "pairwise-svm": (make_pipeline(s.Pairwise(s.Counting()), s.SpectrumFlip(), SVC(kernel="precomputed")), "table"),
        "calibrated": (CalibratedClassifierCV(looked_up, cv=2), "positions"),
        "on-neighbors": (distributed.OnNeighbors(s.SimilarityKNN(n_neighbors=4, weights="kri"), index), "table"),
    }


def compact_models(fitted):
    """Return the compact forms of fitted models: name -> (model, data, columns of the query or None)."""
    found = {}
    for name, data in {
        "pipe-clip": "similarity",
        "pipe-flip": "similarity",
        "pipe-square": "similarity",
        "pipe-rows-rbf": "similarity",
        "nc": "similarity",
        "cnn": "similarity",
        "psvm": "similarity",
        "kernel-hlm": "dissimilarity",
        "mixture-hlm": "dissimilarity",
        "pairwise-svm": "table",
        "pairwise-symmetrized": "sets",
    }.items():
        small = similis.compact(fitted[name])
        last = small.steps[0][1] if isinstance(small, Pipeline) else small
        columns = getattr(last, "columns_", None)
        found[f"compact-{name}"] = small, data, None if columns is None else columns.tolist()
    return found


def write_models(out):
    """Write every model, the queries and the expected outputs."""
    matrices, plain = make_matrices(), make_plain_objects()
    queries = {name: S[N_TRAIN:, :N_TRAIN] for name, (S, _) in matrices.items()}
    queries |= {name: read_objects(name, plain[name][N_TRAIN:]) for name in plain if name != "labels"}
    train = {name: (S[:N_TRAIN, :N_TRAIN], y[:N_TRAIN]) for name, (S, y) in matrices.items()}
    labels = np.array(plain["labels"][:N_TRAIN])
    train |= {name: (read_objects(name, plain[name][:N_TRAIN]), labels) for name in plain if name != "labels"}
    arrays = {name: np.asarray(S) for name, (S, _) in matrices.items()}
    np.savez_compressed(out / "matrices.npz", **arrays, **{f"{name}/labels": y for name, (_, y) in matrices.items()})
    write_json(out / "objects.json", plain)

    S = matrices["similarity"][0]
    listed = {**classifiers(), **searches(), **transformer_pipelines(), **object_pipelines(S)}
    models = {name: (clone(estimator).fit(*train[data]), data, None) for name, (estimator, data) in listed.items()}
    models |= compact_models({name: model for name, (model, *_) in models.items()})
    models |= incremental_models(train)
    table, expected = {}, {}
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(out / "models.zip", "w") as archive:
        for name, (model, data, columns) in models.items():
            file = Path(folder) / f"{name}.skops"
            similis.save(model, file)
            # Model files are text for the most part; the archive is a tenth of their size.
            archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED, 9)
            table[name] = {"data": data, "columns": columns}
            for output, values in outputs(model, queries[data], columns).items():
                expected[f"{name}/{output}"] = values
    objects = read_objects("table", plain["table"]), plain["labels"]
    for name, data in (("stream", objects), ("incremental-hlm-batches", matrices["dissimilarity"])):
        expected[f"{name}/continued"] = continue_learning(models[name][0], *data)
    write_json(out / "models.json", table)
    np.savez_compressed(out / "expected.npz", **expected)


def incremental_models(train):
    """Return models that learned from two batches."""
    half = N_TRAIN // 2
    X, y = train["table"]
    batches = [(X[:half], y[:half]), (X[half:], y[half:])]
    stream = similis.stream_fit(similis.IncrementalHLM(n_components=2, random_state=0), similis.VDM(), batches)
    D, y = train["dissimilarity"]
    learner = similis.IncrementalHLM(scheme="resample", n_components=2, sample_size=2, random_state=0)
    learner.partial_fit(D[:half, :half], y[:half]).partial_fit(D[half:], y[half:])
    return {"stream": (stream, "table", None), "incremental-hlm-batches": (learner, "dissimilarity", None)}


def continue_learning(model, X, y):
    """Fit the queries as a third batch and return the class probabilities of all objects."""
    return model.partial_fit(X[N_TRAIN:], y[N_TRAIN:]).predict_proba(X)


def outputs(model, X, columns=None):
    """Return what the methods of a fitted model give for X, and for a pipeline what its last step reads."""
    X = X if columns is None else X[:, columns]
    found = {name: np.asarray(getattr(model, name)(X)) for name in OUTPUTS if hasattr(model, name)}
    if isinstance(model, Pipeline) and len(model) > 1:
        found["front"] = np.asarray(model[:-1].transform(X))
    return found
