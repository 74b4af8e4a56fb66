"""similis: learning from pairwise similarities.

Measure similarities, diagnose and repair them, and classify from them. Every public name is importable from here;
sub-packages load when one of their names is first used.
"""

from importlib import import_module
from typing import Any

__version__ = "2.0.0"

# Public names by package; a test compares them with each package's own __all__.
_NAMES = {
    "exceptions": "ProximityError",
    "io": "Proximity read_proximity write_proximity save load",
    "base": "compact",
    "measures": """
        Measure Pairwise PairwiseLandmarks FromMatrix FromFunction Counting VDM HVDM TverskyContrast TverskyRatio
        Jaccard Dice Overlap Lin ResidualEntropy Resnik RBF Polynomial Sigmoid Cosine Minkowski Chebyshev Edit Alignment
        Compression TfidfCosine Wasserstein IRM PyramidMatch DTW WeisfeilerLehman
    """,
    "proximity": """
        check_proximity diagnose Symmetrize symmetrize ToDissimilarity ToSimilarity BoxCox UnitDiagonal CombineMatrices
        Rescale Tighten SpectrumClip SpectrumFlip SpectrumShift SpectrumSquare SimilarityFeatures RowRBF
        DissimilaritySpace PseudoEuclidean SMACOF Whiten Landmarks complete_kernel CompleteKernel make_stack
        diffusion_kernel permanova anosim permdisp mantel
    """,
    "cluster": "KMedoids",
    "discriminant": "SDA NearestNeighborSDA LocalSDA MixtureSDA MixedSDA",
    "neighbors": """
        CondensedNN LocalNearestCentroid MedoidRegressor NearestCentroid ProximityOutlier RelationalGLVQ
        SimilarityForest SimilarityKNN SimilarityKNNRegressor SimilarityLabelSpreading
    """,
    "datasets": """
        make_perturbed_centroids make_similarity load_votes load_sonar load_promoters load_benchmark list_datasets
    """,
    "maxsim": "MaxSim SBC SimilarityPerceptron tightness",
    "mixture": "KernelHLM MixtureHLM IncrementalHLM stream_fit",
    "normal": "NormalLinear NormalQuadratic PseudoFisher Parzen PseudoNearestMean",
    "svm": """
        PotentialSVM LPMachine SVMKNN IndefiniteSVM SimSVM SimMKL FullKernelSVM CompletionSVM ProximityRidge KreinSVM
        KreinRidge KreinRidgeClassifier KreinLogistic PCVM
    """,
    "model_selection": "PathSearchCV ConformalClassifier ConformalRegressor calibrate",
    "inspection": "explain influence suspicious_labels",
    "study": "Study StudyResult",
}
_MODULES = """
    base cluster datasets discriminant distributed exceptions inspection io measures maxsim mixture model_selection
    neighbors normal proximity report solvers study svm testing
""".split()
_PACKAGES = {package: tuple(names.split()) for package, names in _NAMES.items()}
_HOME = {name: package for package, names in _PACKAGES.items() for name in names}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"similis.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"similis.{name}")
    raise AttributeError(f"module 'similis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
