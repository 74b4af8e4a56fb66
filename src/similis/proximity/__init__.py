"""Proximity matrices: validate, diagnose, convert, repair, embed. Each transformer has a rule for new rows."""

from similis.base import check_proximity
from similis.proximity._build import CombineMatrices, diffusion_kernel, make_stack
from similis.proximity._complete import CompleteKernel, complete_kernel
from similis.proximity._convert import (
    BoxCox,
    Rescale,
    Symmetrize,
    Tighten,
    ToDissimilarity,
    ToSimilarity,
    UnitDiagonal,
    symmetrize,
)
from similis.proximity._diagnosis import Diagnosis, diagnose
from similis.proximity._displays import (
    EmbeddingDisplay,
    HistogramDisplay,
    MatrixDisplay,
    NormalityDisplay,
    SpectrumDisplay,
    seriation,
)
from similis.proximity._embedding import PseudoEuclidean, Whiten
from similis.proximity._group_tests import PermutationTest, anosim, mantel, permanova, permdisp
from similis.proximity._landmarks import Landmarks
from similis.proximity._smacof import SMACOF
from similis.proximity._spaces import DissimilaritySpace, RowRBF, SimilarityFeatures, SpectrumSquare
from similis.proximity._spectrum import SpectrumClip, SpectrumFlip, SpectrumShift, augmented_rows
from similis.proximity._suspects import Suspects, suspects

__all__ = [
    "check_proximity",
    "Symmetrize",
    "symmetrize",
    "ToDissimilarity",
    "ToSimilarity",
    "BoxCox",
    "UnitDiagonal",
    "Rescale",
    "Tighten",
    "CombineMatrices",
    "SpectrumClip",
    "SpectrumFlip",
    "SpectrumShift",
    "SpectrumSquare",
    "SimilarityFeatures",
    "RowRBF",
    "DissimilaritySpace",
    "PseudoEuclidean",
    "SMACOF",
    "Whiten",
    "Landmarks",
    "complete_kernel",
    "CompleteKernel",
    "make_stack",
    "augmented_rows",
    "diffusion_kernel",
    "diagnose",
    "Diagnosis",
    "suspects",
    "Suspects",
    "permanova",
    "anosim",
    "permdisp",
    "mantel",
    "PermutationTest",
    "MatrixDisplay",
    "SpectrumDisplay",
    "EmbeddingDisplay",
    "HistogramDisplay",
    "NormalityDisplay",
    "seriation",
]
