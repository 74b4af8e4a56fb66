"""Normal-based and density classifiers on the rows of a proximity matrix as features ([pekalska2000])."""

from similis.normal._linear import NormalLinear, PseudoFisher
from similis.normal._nearest_mean import PseudoNearestMean
from similis.normal._parzen import Parzen
from similis.normal._quadratic import NormalQuadratic

__all__ = ["NormalLinear", "NormalQuadratic", "PseudoFisher", "Parzen", "PseudoNearestMean"]
