"""Checks of scikit-learn that cannot pass on particular estimators, with the reason."""

import sklearn
from sklearn.base import is_classifier

from similis.testing import make_proximities as toy

__all__ = ["expected_failures", "toy"]


def expected_failures(estimator):
    """Reasons, by the name of the check, beyond those that similis.testing expects of any pairwise estimator."""
    failures = {}
    if type(estimator).__name__ == "MixedSDA" and sklearn.__version__.startswith("1.6."):
        failures["check_positive_only_tag_during_fit"] = "the check subtracts numbers from integers in place"
    if getattr(estimator, "weights", None) == "affinity":
        failures["check_classifiers_train"] = failures["check_regressors_train"] = (
            "the check's shifted inner products are largest for long vectors, not for similar ones"
        )
        if is_classifier(estimator):
            failures["check_fit2d_1feature"] = "for non-negative input the check makes labels of a single class"
    if type(estimator).__name__ == "NormalQuadratic":
        failures["check_classifiers_train"] = (
            "the check's 300 rows have rank two: 298 directions without variance decide by the determinants"
        )
    if getattr(estimator, "scheme", None) == "resample":
        failures["check_fit_score_takes_y"] = "the check passes the same square X again, without earlier columns"
    if getattr(estimator, "centroid", None) == "popular":
        reason = "a copy of an object is its nearest neighbor, so that copies change which object is popular"
        failures["check_weight_repeats_object"] = failures["check_zero_weight_removes_object"] = reason
    if type(estimator).__name__ == "SimilarityForest":
        failures["check_object_order"] = "the objects of a tree and its pairs are drawn by position"
    if type(estimator).__name__ == "CompletionSVM":
        failures["check_classifiers_train"] = "the check trains on more objects than max_samples"
        failures["check_estimators_pickle"] = "the check puts NaN into a matrix that comes without an auxiliary kernel"
        failures["check_positive_only_tag_during_fit"] = "the check's matrix is indefinite, which is rejected"
        failures["check_estimators_dtypes"] = "rounded to integers, the check's kernel is indefinite, which is rejected"
    return failures
