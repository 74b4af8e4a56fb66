"""Measures on objects, and the transformer that turns objects into proximity rows."""

from similis.measures._alignment import Alignment
from similis.measures._base import Measure
from similis.measures._compression import Compression
from similis.measures._counting import Counting
from similis.measures._dtw import DTW
from similis.measures._edit import Edit
from similis.measures._from_function import FromFunction
from similis.measures._from_matrix import FromMatrix
from similis.measures._hvdm import HVDM
from similis.measures._inner import Cosine, Polynomial
from similis.measures._lin import Lin
from similis.measures._minkowski import Chebyshev, Minkowski
from similis.measures._pairwise import Pairwise
from similis.measures._pairwise_landmarks import PairwiseLandmarks
from similis.measures._pyramid import PyramidMatch
from similis.measures._rbf import RBF
from similis.measures._residual_entropy import ResidualEntropy
from similis.measures._set_ratios import Dice, Jaccard, Overlap
from similis.measures._tfidf import TfidfCosine
from similis.measures._tversky import TverskyContrast, TverskyRatio
from similis.measures._vdm import VDM
from similis.measures._wasserstein import IRM, Wasserstein
from similis.measures._weisfeiler_lehman import WeisfeilerLehman

__all__ = [
    "Measure",
    "Pairwise",
    "PairwiseLandmarks",
    "FromMatrix",
    "FromFunction",
    "Counting",
    "VDM",
    "HVDM",
    "TverskyContrast",
    "TverskyRatio",
    "Jaccard",
    "Dice",
    "Overlap",
    "Lin",
    "ResidualEntropy",
    "RBF",
    "Polynomial",
    "Cosine",
    "Minkowski",
    "Chebyshev",
    "Edit",
    "Alignment",
    "Compression",
    "TfidfCosine",
    "Wasserstein",
    "IRM",
    "PyramidMatch",
    "DTW",
    "WeisfeilerLehman",
]
