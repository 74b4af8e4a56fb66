"""Warnings point at the line of the user, through estimators, wrappers and pipelines."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from similis.exceptions import AsymmetryWarning, KindWarning
from similis.proximity import SimilarityFeatures, SpectrumClip, diffusion_kernel


@pytest.mark.parametrize(
    ("call", "category"),
    [
        (lambda A: SpectrumClip().fit(A), AsymmetryWarning),
        (lambda A: SpectrumClip().fit_transform(A), AsymmetryWarning),
        (lambda A: make_pipeline(SimilarityFeatures(), SpectrumClip()).fit(A), AsymmetryWarning),
        (lambda A: diffusion_kernel(A), AsymmetryWarning),
        (lambda A: SpectrumClip().fit(1 - np.eye(4)), KindWarning),
    ],
)
def test_the_users_line(call, category):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        call(np.triu(np.ones((4, 4))))
    assert [(w.category, w.filename) for w in record] == [(category, __file__)]
