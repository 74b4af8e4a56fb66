"""Support vectors on any similarity."""

from similis.svm._lp_machine import LPMachine
from similis.svm._potential import PotentialSVM
from similis.svm._svm_knn import SVMKNN

__all__ = ["PotentialSVM", "LPMachine", "SVMKNN"]
