"""Measures on objects, and the transformer that turns objects into proximity rows."""

from similis.measures._base import Measure
from similis.measures._counting import Counting
from similis.measures._from_function import FromFunction
from similis.measures._from_matrix import FromMatrix
from similis.measures._hvdm import HVDM
from similis.measures._inner import Cosine, Polynomial
from similis.measures._minkowski import Chebyshev, Minkowski
from similis.measures._pairwise import Pairwise
from similis.measures._rbf import RBF
from similis.measures._set_ratios import Dice, Jaccard, Overlap
from similis.measures._tversky import TverskyContrast, TverskyRatio
from similis.measures._vdm import VDM

__all__ = [
    "Measure",
    "Pairwise",
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
    "RBF",
    "Polynomial",
    "Cosine",
    "Minkowski",
    "Chebyshev",
]
