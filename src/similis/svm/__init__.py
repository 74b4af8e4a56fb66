"""Support vector machines and kernel ridge regression on any similarity."""

from similis.svm._completion import CompletionSVM
from similis.svm._full_kernel import FullKernelSVM
from similis.svm._indefinite import IndefiniteSVM
from similis.svm._krein import KreinLogistic, KreinRidge, KreinRidgeClassifier, KreinSVM
from similis.svm._pcvm import PCVM
from similis.svm._potential import LPMachine, PotentialSVM
from similis.svm._ridge import ProximityRidge
from similis.svm._sim_mkl import SimMKL
from similis.svm._sim_svm import SimSVM
from similis.svm._svm_knn import SVMKNN

__all__ = [
    "PotentialSVM", "LPMachine", "SVMKNN", "IndefiniteSVM", "SimSVM", "SimMKL", "FullKernelSVM", "CompletionSVM",
    "ProximityRidge", "KreinSVM", "KreinRidge", "KreinRidgeClassifier", "KreinLogistic", "PCVM",
]  # fmt: skip
