"""Maximum similarity: classify by the summed, weighted similarity to a class."""

from similis.maxsim._maxsim import MaxSim, SimilarityPerceptron, tightness
from similis.maxsim._sbc import SBC

__all__ = ["MaxSim", "SBC", "SimilarityPerceptron", "tightness"]
