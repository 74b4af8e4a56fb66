"""Classes and parameters that version 1.0 wrote into files under other names: models, journals, unfinished matrices."""

from __future__ import annotations

from typing import Any

from similis._utils.messages import warn_user

DEPRECATED = "deprecated"  # default of a parameter that has another name now, as in scikit-learn

# Module in 1.0, module now, classes; old=new where the class was renamed too.
_MOVED = """
_utils.folded base._compact FoldedSVC
datasets._catalog datasets._shipped DatasetInfo
discriminant._gaussian discriminant._mixed_sda ConditionalGaussians
discriminant._nn_sda discriminant._sda NearestNeighborSDA
maxsim._perceptron maxsim._maxsim SimilarityPerceptron
measures._base base._measure Measure
measures._codes measures._categorical Codebook
measures._compression measures._texts Compression
measures._dtw measures._sequences DTW
measures._edit measures._sequences Edit
measures._from_function measures._stored FromFunction
measures._from_matrix measures._stored FromMatrix
measures._hvdm measures._value_difference HVDM
measures._inner measures._vectors Cosine Polynomial
measures._lin measures._information Lin _Information
measures._minkowski measures._vectors Chebyshev Minkowski
measures._pairwise_landmarks measures._pairwise PairwiseLandmarks
measures._pyramid measures._point_sets PyramidMatch
measures._rbf measures._vectors RBF
measures._residual_entropy measures._information ResidualEntropy _Context
measures._set_ratios measures._sets Dice Jaccard Overlap
measures._tfidf measures._texts TfidfCosine
measures._tversky measures._sets TverskyContrast TverskyRatio
measures._vdm measures._value_difference VDM
measures._wasserstein measures._point_sets IRM Wasserstein
measures._weisfeiler_lehman measures._graphs WeisfeilerLehman _Labels
mixture._past mixture._incremental_hlm Past=ClassHistory
mixture._statistics mixture._base Clusters
mixture._stream mixture._incremental_hlm ObjectStream
neighbors._medoid_regressor neighbors._condensed MedoidRegressor
normal._fisher normal._linear PseudoFisher
proximity._boxcox proximity._convert BoxCox
proximity._complete_kernel proximity._complete CompleteKernel
proximity._row_kernels proximity._spaces RowRBF SpectrumSquare
proximity._symmetrize proximity._convert Symmetrize
proximity._tighten proximity._convert Tighten
proximity._unit_diagonal proximity._convert UnitDiagonal
solvers._completion_rows solvers._completion KernelFactor
solvers._full_kernel solvers._indefinite FullKernelFit FullKernelMachine
solvers._local_solves solvers._local_weights BlockWeights
solvers._scattered solvers._completion Infeasible
study._card io._models ModelCard TrainedModel
study._display_reliability study._displays Reliability
study._measured study._problem MeasuredObjects MeasureStep
study._predict study._trained Predictions
study._progress study._plan Progress
study._report._compare study._result Comparison
study._rows study._entry Row
study._significance study._metrics Ranks Verdict
svm._lp_machine svm._potential LPMachine
"""


_NOW = {
    f"similis.{old_module}.{name.partition('=')[0]}": f"similis.{new_module}.{name.rpartition('=')[2]}"
    for old_module, new_module, *names in map(str.split, _MOVED.strip().splitlines())
    for name in names
}
_BEFORE = {new: old for old, new in _NOW.items()}


def former_name(old: str, new: str) -> property:
    """Attribute under the name that it had in 1.0, with a warning until 3.0."""

    def get(self: Any) -> Any:
        warn_user(
            f"{type(self).__name__}.{old} is called {new} since similis 2.0; the old name works until 3.0.",
            FutureWarning,
        )
        return getattr(self, new)

    return property(get)


def current_name(name: str) -> str:
    """Return the qualified name that a class from a file has now."""
    return _NOW.get(name, name)


def name_in_files(cls: type) -> str:
    """Return the qualified name under which files know a class: that of 1.0 where it had one."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    return _BEFORE.get(name, name)


def params_in_files(estimator: Any) -> dict[str, Any]:
    """Return the parameters by the names and values that 1.0 wrote, so that its journals are resumed."""
    params: dict[str, Any] = estimator.get_params(deep=False)
    for old, (new, values) in getattr(estimator, "_renamed_params", {}).items():
        if old in params and new in params:  # a subclass may have other parameters
            value = params.pop(new)
            if params[old] == DEPRECATED:
                params[old] = {now: before for before, now in values.items()}.get(value, value)
    for name in getattr(estimator, "_added_params", ()):
        if name in params and params[name] == getattr(type(estimator), name):  # the default
            del params[name]
    return params
