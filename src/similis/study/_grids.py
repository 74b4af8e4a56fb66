"""The values that methods choose from: those of [chen2010] table 4.2 where it has them, else of the paper named."""

from __future__ import annotations

from similis.study._methods import AtMost

__all__ = [
    "C",
    "COMPONENTS",
    "COMPONENTS_HLM",
    "C_RBF",
    "C_SBC",
    "GAMMA_RBF",
    "K",
    "LAMBDA_KRI",
    "LAMBDA_KRR",
    "R_LINEAR",
    "R_QUADRATIC",
    "powers",
]


def powers(low: int, high: int) -> list[float]:
    """Powers of ten from 10^low to 10^high."""
    return [10.0**p for p in range(low, high + 1)]


# [chen2010] table 4.2
K = AtMost((*range(1, 17), 32, 64, 128))
LAMBDA_KRI = [*powers(-6, 1), 1e6]
LAMBDA_KRR = powers(-3, 1)
C = powers(-3, 5)
C_RBF = powers(-3, 1)
GAMMA_RBF = powers(-5, 1)
# [cazzanti2007] sec. 6.1, for CNN and mixture SDA
COMPONENTS = AtMost((2, 3, 4, 5, 7, 10))
C_SBC = powers(-1, 2)
# [qiao2013] sec. 5.1
COMPONENTS_HLM = AtMost((*range(1, 11), 12, 14, 16))
# [pekalska2000] tried "a few" regularisers; the quadratic rule wants smaller ones.
R_LINEAR = [1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9]
R_QUADRATIC = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1]
