"""Measures of proximity between objects, and transformers from objects to proximity rows."""

from similis.base import Measure
from similis.measures._alignment import Alignment
from similis.measures._counting import Counting
from similis.measures._graphs import WeisfeilerLehman
from similis.measures._information import Lin, ResidualEntropy, Resnik
from similis.measures._pairwise import Pairwise, PairwiseLandmarks
from similis.measures._point_sets import IRM, PyramidMatch, Wasserstein
from similis.measures._sequences import DTW, Edit
from similis.measures._sets import Dice, Jaccard, Overlap, TverskyContrast, TverskyRatio
from similis.measures._stored import FromFunction, FromMatrix
from similis.measures._texts import Compression, TfidfCosine
from similis.measures._value_difference import HVDM, VDM
from similis.measures._vectors import RBF, Chebyshev, Cosine, Minkowski, Polynomial, Sigmoid

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
    "Resnik",
    "RBF",
    "Polynomial",
    "Sigmoid",
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
