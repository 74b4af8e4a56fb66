"""Classes and parameters that version 1.0 wrote into files under other names: models, journals, unfinished matrices."""

from __future__ import annotations

from typing import Any

from similis._utils.messages import warn_user

DEPRECATED = "deprecated"  # default of a parameter that has another name now, as in scikit-learn

# By package: module in 1.0, module now, classes; old=new where the class was renamed too.
_MOVED = """
similis: _utils.folded base._compact FoldedSVC, measures._base base._measure Measure
similis: study._card io._models ModelCard TrainedModel
similis.datasets: _catalog _shipped DatasetInfo
similis.discriminant: _gaussian _mixed_sda ConditionalGaussians, _nn_sda _sda NearestNeighborSDA
similis.maxsim: _perceptron _maxsim SimilarityPerceptron
similis.measures: _codes _categorical Codebook, _compression _texts Compression, _dtw _sequences DTW
similis.measures: _edit _sequences Edit, _from_function _stored FromFunction, _from_matrix _stored FromMatrix
similis.measures: _hvdm _value_difference HVDM, _inner _vectors Cosine Polynomial, _lin _information Lin _Information
similis.measures: _minkowski _vectors Chebyshev Minkowski, _pairwise_landmarks _pairwise PairwiseLandmarks
similis.measures: _pyramid _point_sets PyramidMatch, _rbf _vectors RBF
similis.measures: _residual_entropy _information ResidualEntropy _Context, _set_ratios _sets Dice Jaccard Overlap
similis.measures: _tfidf _texts TfidfCosine, _tversky _sets TverskyContrast TverskyRatio, _vdm _value_difference VDM
similis.measures: _wasserstein _point_sets IRM Wasserstein, _weisfeiler_lehman _graphs WeisfeilerLehman _Labels
similis.mixture: _past _incremental_hlm Past=ClassHistory, _statistics _base Clusters
similis.mixture: _stream _incremental_hlm ObjectStream
similis.neighbors: _medoid_regressor _condensed MedoidRegressor
similis.normal: _fisher _linear PseudoFisher
similis.proximity: _boxcox _convert BoxCox, _complete_kernel _complete CompleteKernel
similis.proximity: _row_kernels _spaces RowRBF SpectrumSquare, _symmetrize _convert Symmetrize
similis.proximity: _tighten _convert Tighten, _unit_diagonal _convert UnitDiagonal
similis.solvers: _completion_rows _completion KernelFactor, _full_kernel _indefinite FullKernelFit FullKernelMachine
similis.solvers: _local_solves _local_weights BlockWeights, _scattered _completion Infeasible
similis.study: _display_reliability _displays Reliability, _report._compare _compare Comparison
similis.study: _significance _metrics Ranks Verdict
similis.svm: _lp_machine _potential LPMachine
"""
_NOW = {
    f"{package}.{old}.{name.partition('=')[0]}": f"{package}.{new}.{name.rpartition('=')[2]}"
    for package, moves in (line.split(": ") for line in _MOVED.strip().splitlines())
    for old, new, *names in map(str.split, moves.split(","))
    for name in names
}
_BEFORE = {new: old for old, new in _NOW.items()}


def former_name(old: str, new: str) -> property:
    """Attribute under the name that it had in 1.0, with a warning until 3.0."""

    def get(self: Any) -> Any:
        text = f"{type(self).__name__}.{old} is called {new} since similis 2.0; the old name works until 3.0."
        warn_user(text, FutureWarning)
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
