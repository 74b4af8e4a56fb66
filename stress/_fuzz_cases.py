"""Cases by the public name that they try. `CASES` and `LEFT_OUT` together hold all names of all packages."""

import functools
import tempfile
from importlib import import_module
from pathlib import Path

import _fuzz_calls as calls
import _fuzz_solvers
import _fuzz_study as studies
from _fuzz_calls import display, on_matrix, plainly
from _fuzz_estimators import classifier, clusterer, detector, measure, regressor, transformer
from _fuzz_law import demand, same
from _fuzz_study import on_numbers, ranks, result_display

import similis
from similis import base, datasets, distributed, io, neighbors, proximity, report, study, svm, testing

FOLDER = Path(tempfile.gettempdir())
PACKAGES = similis._MODULES


def public_names():
    """Every public name, as package.name."""
    return [f"{package}.{name}" for package in PACKAGES for name in import_module(f"similis.{package}").__all__]


_RECORD = "a record that another public function returns; tried through that function"
LEFT_OUT = {
    **dict.fromkeys(
        "solvers." + n
        for n in "BlockWeights Medoids Exponentials SVMPath BoxLassoFit LPMargin SpectralFit "
        "LearntSpectrum IndefiniteFit FullKernelFit Completion KernelFactor CompletionMachine MarginWeights "
        "RidgePath".split()
    ),
    **dict.fromkeys(
        "study." + n
        for n in "TrainedModel ModelCard Predictions Entry Row Recommendation Progress Verdict Ranks "
        "Reliability Comparison Difference Estimate Parameter".split()
    ),
    **dict.fromkeys(("inspection.Explanation", "inspection.SuspiciousLabel")),
    **dict.fromkeys(("io.ModelCard", "io.TrainedModel", "io.BlockFile", "report.write_page")),
    **dict.fromkeys(
        ("proximity.Diagnosis", "proximity.Suspects", "proximity.PermutationTest", "datasets.DatasetInfo", "io.Objects")
    ),
}
_BASE = "a base for extensions; tried through the estimators and measures built on it"
LEFT_OUT = {name: _RECORD for name in LEFT_OUT} | {
    **dict.fromkeys((f"base.{name}" for name in base.__all__ if name != "compact"), _BASE),
    **dict.fromkeys((f"testing.{name}" for name in testing.__all__), "a check for tests of extensions"),
    "solvers.Infeasible": "an exception",
    "exceptions.ProximityError": "an exception",
    **dict.fromkeys(
        (f"exceptions.{name}Warning" for name in ("Kind", "Asymmetry", "Diagonal", "Input", "CompilationCache")),
        "a warning",
    ),
    **dict.fromkeys(
        (f"exceptions.{name}Error" for name in ("DataNotFound", "MissingExtra", "Cluster")), "an exception"
    ),
    **dict.fromkeys(("io.align_labels", "io.check_classes", "io.decide_kind"), "tried by fuzz_input.py"),
    **dict.fromkeys(
        (f"io.{name}" for name in ("Format", "PairOptions", "ReadOptions", "formats", "read_pairs")),
        "tried by fuzz_readers.py",
    ),
    "solvers.RandomStarts": "random draws that k_medoids takes; tried through it",
    "study.JournalWarning": "a warning",
    "study.METRICS": "a table",
    "measures.Measure": "an abstract base",
    "distributed.cluster_jobs": "needs a Dask cluster",
    "distributed.connect": "needs a Dask cluster",
}

_MEASURES = {
    "numbers": "RBF Polynomial Sigmoid Cosine Minkowski Chebyshev",
    "votes": "Counting VDM Lin ResidualEntropy",
    "mixed": "HVDM",
    "sets": "TverskyContrast TverskyRatio Jaccard Dice Overlap",
    "words": "Edit Alignment Compression",
    "sentences": "TfidfCosine",
    "point sets": "Wasserstein IRM PyramidMatch",
    "series": "DTW",
    "graphs": "WeisfeilerLehman",
}
_CLASSIFIERS = {
    "discriminant": "SDA NearestNeighborSDA LocalSDA MixtureSDA",
    "maxsim": "MaxSim SBC SimilarityPerceptron",
    "mixture": "KernelHLM MixtureHLM IncrementalHLM",
    "neighbors": (
        "CondensedNN LocalNearestCentroid NearestCentroid RelationalGLVQ SimilarityForest SimilarityKNN "
        "SimilarityLabelSpreading"
    ),
    "normal": "NormalLinear NormalQuadratic PseudoFisher Parzen PseudoNearestMean",
    "svm": (
        "PotentialSVM LPMachine SVMKNN IndefiniteSVM SimSVM FullKernelSVM KreinSVM KreinRidgeClassifier KreinLogistic "
        "PCVM"
    ),
}
_TRANSFORMERS = (
    "Symmetrize ToDissimilarity ToSimilarity BoxCox UnitDiagonal CombineMatrices Rescale Tighten SpectrumClip "
    "SpectrumFlip SpectrumShift SpectrumSquare SimilarityFeatures RowRBF DissimilaritySpace PseudoEuclidean Whiten "
    "SMACOF Landmarks CompleteKernel"
)
_FLAGS = (False, True)

CASES = {
    **{f"solvers.{name}": case for name, case in _fuzz_solvers.CASES.items()},
    **{
        f"{package}.{name}": classifier(getattr(similis, name))
        for package, names in _CLASSIFIERS.items()
        for name in names.split()
    },
    "svm.SimMKL": classifier(similis.SimMKL, stacked=0.7),
    "svm.CompletionSVM": classifier(similis.CompletionSVM, stacked=0.8),
    **{f"proximity.{name}": transformer(getattr(similis, name)) for name in _TRANSFORMERS.split()},
    **{
        f"measures.{name}": measure(getattr(similis, name), kind)
        for kind, names in _MEASURES.items()
        for name in names.split()
    },
    "measures.FromFunction": measure(similis.FromFunction, "numbers", f=lambda x, z: 1.0),
    "measures.Resnik": measure(similis.Resnik, "words", taxonomy={"cat": "animal", "dog": ["animal", "pet"]}),
    "measures.FromMatrix": calls.from_matrix,
    "measures.Pairwise": calls.pairwise,
    "measures.PairwiseLandmarks": calls.landmarks,
    "discriminant.MixedSDA": calls.mixed,
    "discriminant.SDADisplay": calls.sda_display,
    "mixture.stream_fit": calls.stream,
    "model_selection.PathSearchCV": calls.search,
    "model_selection.calibrate": calls.calibrated,
    "inspection.explain": calls.explained,
    "inspection.influence": calls.influenced,
    "inspection.suspicious_labels": calls.suspicious,
    "model_selection.ConformalClassifier": calls.conformal(similis.ConformalClassifier, similis.SimilarityKNN()),
    "model_selection.ConformalRegressor": calls.conformal(similis.ConformalRegressor, similis.ProximityRidge()),
    "proximity.check_proximity": on_matrix(
        similis.check_proximity,
        lambda A, S: demand(A.dtype.kind == "f", "no floats"),
        kind=("similarity", "dissimilarity"),
        allow_missing=_FLAGS,
        allow_stack=_FLAGS,
        accept_sparse=_FLAGS,
    ),
    "proximity.symmetrize": on_matrix(similis.symmetrize, lambda A, S: demand(same(A, A.T), "not symmetric")),
    "proximity.diffusion_kernel": on_matrix(similis.diffusion_kernel, sigma2=(1.0, 0.1, 10.0)),
    "proximity.augmented_rows": on_matrix(lambda S, **options: proximity.augmented_rows(S, S, 1.0, **options)),
    "proximity.seriation": on_matrix(proximity.seriation),
    "proximity.complete_kernel": calls.complete,
    "proximity.make_stack": calls.make_stack,
    "proximity.diagnose": calls.diagnose,
    "proximity.suspects": calls.find_suspects,
    "proximity.MatrixDisplay": display(proximity.MatrixDisplay.from_proximity),
    "proximity.SpectrumDisplay": display(proximity.SpectrumDisplay.from_proximity, labeled=False),
    "proximity.EmbeddingDisplay": display(proximity.EmbeddingDisplay.from_proximity),
    "proximity.NormalityDisplay": display(proximity.NormalityDisplay.from_proximity),
    "proximity.HistogramDisplay": display(proximity.HistogramDisplay.from_proximity),
    **{
        f"proximity.{test.__name__}": calls.group_test(test)
        for test in (proximity.permanova, proximity.anosim, proximity.permdisp)
    },
    "proximity.mantel": calls.mantel,
    "maxsim.tightness": calls.find_tightness,
    "cluster.KMedoids": clusterer(similis.KMedoids),
    "neighbors.ProximityOutlier": detector(neighbors.ProximityOutlier),
    "neighbors.MedoidRegressor": regressor(neighbors.MedoidRegressor),
    "neighbors.SimilarityKNNRegressor": regressor(neighbors.SimilarityKNNRegressor),
    "svm.KreinRidge": regressor(svm.KreinRidge),
    "svm.ProximityRidge": regressor(svm.ProximityRidge),
    "cluster.silhouette_samples": calls.silhouettes,
    "datasets.make_similarity": calls.similarity,
    "datasets.make_perturbed_centroids": calls.centroids,
    **{
        f"datasets.{n}": plainly(getattr(datasets, n), return_X_y=_FLAGS, as_frame=_FLAGS)
        for n in ("load_votes", "load_sonar", "load_promoters")
    },
    "datasets.load_benchmark": plainly(datasets.load_benchmark, ("votes", "no such"), data_home=(FOLDER,)),
    "datasets.has_dataset": plainly(datasets.has_dataset, ("votes", "no such"), data_home=(FOLDER,)),
    "datasets.list_datasets": plainly(datasets.list_datasets),
    "io.Proximity": calls.a_proximity,
    "io.read_proximity": calls.write_and_read,
    "io.write_proximity": calls.write_and_read,
    "io.save": calls.save_and_load,
    "io.load": calls.save_and_load,
    "io.read_objects": plainly(io.read_objects, ("no.csv", "no.json"), id_column=("id",), columns=(["a"],)),
    "io.read_labels": plainly(io.read_labels, (Path("no.csv"),), (None, ["a"]), (1, 2)),
    "io.files_beside": plainly(io.files_beside, (Path("m.csv"), Path("m.npy"))),
    "io.file_format": plainly(io.file_format, (Path("m.csv"), Path("m"), Path("m.csv.gz"), Path(".npz"))),
    "distributed.NeighborIndex": calls.neighbor_index,
    "distributed.OnNeighbors": calls.on_neighbors,
    "distributed.OnLandmarks": calls.on_landmarks,
    "distributed.choose_landmarks": plainly(
        distributed.choose_landmarks, ([0, 1, 1, 0], ["a"] * 9), (1, 3, 20), (0, None)
    ),
    "distributed.measure_to_disk": calls.to_disk,
    "distributed.predict_blocks": calls.predict_blocks,
    "study.Study": studies.fresh_result,
    "study.StudyResult": studies.study_result,
    "study.Method": plainly(study.Method, ("m",), (similis.NearestCentroid,), grid=({"a": [1]}, {})),
    "study.AtMost": plainly(study.AtMost, ((1, 2), (5,))),
    "study.list_methods": plainly(study.list_methods),
    "study.find_method": plainly(study.find_method, ("knn", "knn(n_neighbors=3)", "svm-kernel(clip, C=1|10)", "knn(")),
    "study.list_parameters": lambda draw, note: calls.call(study.list_parameters, study.find_method("local-sda")),
    "study.make_model": studies.make_model,
    "study.train_model": studies.train,
    "study.write_model": studies.train,
    "io.write_model": studies.train,
    "io.read_model": studies.train,
    "io.card_path": plainly(io.card_path, ("m.skops", Path("m"), "a/b.c.skops")),
    "io.matrix_card": plainly(io.matrix_card, ((2, 2), (0, 0)), kind=("similarity", None), ids=(["a", "b"], None)),
    "report.make_report": studies.result_page(report.make_report),
    "report.make_notebook_view": studies.result_page(report.make_notebook_view),
    "report.make_comparison": ranks(study.compare),
    "study.read_model": studies.train,
    "study.predict_rows": studies.train,
    "study.signed_rank": on_numbers(study.signed_rank),
    "study.choose_task": on_numbers(study.choose_task),
    "study.holm": on_numbers(study.holm),
    "study.average_ranks": ranks(study.average_ranks),
    "study.compare": ranks(study.compare),
    "study.RanksDisplay": ranks(functools.partial(study.RanksDisplay.from_results, plot=False)),
    **{
        f"study.{n}": result_display(getattr(study, n).from_result)
        for n in (
            "SplitsDisplay",
            "RaceDisplay",
            "TimeErrorDisplay",
            "ReliabilityDisplay",
            "AgreementDisplay",
            "ConfusionDisplay",
            "ObjectsDisplay",
            "ValuesDisplay",
        )
    },
    "base.compact": calls.compact_model,
}
