"""Algorithms on NumPy arrays that return a certificate of their accuracy; independent of the estimators."""

from similis.solvers._box_lasso import BoxLasso, BoxLassoFit, box_lasso
from similis.solvers._class_margin import ClassMargin, MarginWeights, nonnegative_margin
from similis.solvers._completion import (
    Completion,
    Infeasible,
    KernelFactor,
    conditional_completion,
    em_completion,
    frobenius_completion,
    infer_row,
    kernel_factor,
    mixture_completion,
    nearest_completion,
    nuclear_completion,
    wishart_completion,
)
from similis.solvers._completion_svm import CompletionMachine, completion_machine
from similis.solvers._indefinite import FullKernelFit, FullKernelMachine, IndefiniteFit, IndefiniteMachine
from similis.solvers._kernel_programs import signed_mkl, spectral_lp
from similis.solvers._local_svm import LPMargin, SVMPath, best_intercept, local_svm_scores, lp_margin, svm_path
from similis.solvers._local_weights import (
    BlockWeights,
    kri_weights,
    krr_weights,
    lime_weights,
    local_means,
    local_psd,
    local_scores,
    local_weights,
    psd_prefix,
    spectral_filter,
)
from similis.solvers._maxent import Exponentials, Omega, gamma_shape, maxent_exponents
from similis.solvers._medoids import (
    Medoids,
    RandomStarts,
    centroids_by_fold,
    class_centroids,
    farthest_first,
    k_medoids,
    total_proximity,
)
from similis.solvers._neighbors import class_sums, neighbor_means, top_k, vote_winners
from similis.solvers._ridge import RidgePath, ridge_path
from similis.solvers._spectral_kernel import LearntSpectrum, SpectralFit, SpectralMachine

__all__ = [
    # ranked neighbors, their weights, and repair of their block
    "top_k", "vote_winners", "class_sums", "neighbor_means", "local_weights", "local_scores", "local_means",
    "kri_weights", "krr_weights", "lime_weights", "BlockWeights", "local_psd", "psd_prefix", "spectral_filter",
    # medoids, class centroids, gamma and maximum-entropy distributions
    "k_medoids", "Medoids", "RandomStarts", "total_proximity", "farthest_first", "class_centroids", "centroids_by_fold",
    "gamma_shape", "maxent_exponents", "Omega", "Exponentials",
    # support vector machines, kernel ridge regression, smallest weights with a margin
    "svm_path", "SVMPath", "local_svm_scores", "box_lasso", "BoxLasso", "BoxLassoFit", "lp_margin", "LPMargin",
    "best_intercept", "ridge_path", "RidgePath", "nonnegative_margin", "ClassMargin", "MarginWeights",
    # kernels learned together with the SVM
    "SpectralMachine", "SpectralFit", "LearntSpectrum", "spectral_lp", "signed_mkl", "IndefiniteMachine",
    "IndefiniteFit", "FullKernelMachine", "FullKernelFit",
    # incomplete kernels
    "Completion", "conditional_completion", "em_completion", "mixture_completion", "wishart_completion",
    "frobenius_completion", "nearest_completion", "nuclear_completion", "Infeasible", "kernel_factor", "KernelFactor",
    "infer_row", "completion_machine", "CompletionMachine",
]  # fmt: skip
