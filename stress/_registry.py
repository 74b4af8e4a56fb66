"""What is tried: every classifier of tests/test_contract.py, every transformer and measure, on small data."""

import sys
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import contract
    import test_contract

RESPONSES = ("predict", "predict_proba", "decision_function", "transform")
CLASSIFIERS = test_contract.CLASSIFIERS


def transformers():
    """One of every transformer of matrices, by name, with the kind of matrix it reads."""
    import similis as s

    similarity = [
        s.Symmetrize(),
        s.ToDissimilarity(),
        s.ToDissimilarity(method="root"),
        s.UnitDiagonal(),
        s.CombineMatrices(),
        s.Rescale(),
        s.SpectrumClip(),
        s.SpectrumFlip(),
        s.SpectrumShift(),
        s.SpectrumSquare(),
        s.SimilarityFeatures(),
        s.RowRBF(gamma=0.1),
        s.Landmarks(n_landmarks=10, random_state=0),
    ]
    dissimilarity = [
        s.ToSimilarity(),
        s.ToSimilarity(method="rbf"),
        s.BoxCox(p=0.5),
        s.DissimilaritySpace(n_prototypes=8, selection="kcenter", random_state=0),
        s.PseudoEuclidean(n_components=3),  # the toy has four; what is beyond is round-off, and less of it in float32
        s.PseudoEuclidean(n_components=3, positive_only=True),
    ]
    return [(model, "similarity") for model in similarity] + [(model, "dissimilarity") for model in dissimilarity]


def toy(estimator, kind=None, **options):
    """Training matrix, labels and new rows of the kind that the estimator reads."""
    if kind == "dissimilarity":
        estimator = type("", (), {"metric": "precomputed"})()
    return contract.toy(estimator, **options)


def responses(model, Q):
    """All that a fitted estimator answers for new rows, by method."""
    return {name: np.asarray(getattr(model, name)(Q)) for name in RESPONSES if hasattr(model, name)}
