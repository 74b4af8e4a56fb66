"""Declarations of parameters, and constraints that reject booleans where numbers are expected."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import similis
from similis import MixtureSDA, SimilarityKNN
from similis.base import at_least, between, estimator, param, positive


@pytest.mark.parametrize("numbers", [at_least(0), positive(), between(0, 1)], ids=str)
def test_true_is_no_number(numbers):
    assert all(numbers.is_satisfied_by(one) for one in (1, np.int64(1)))
    assert not any(numbers.is_satisfied_by(one) for one in (True, False, np.True_, "1", None))


@pytest.mark.parametrize("model", [MixtureSDA(max_iter=True), SimilarityKNN(n_neighbors=True)], ids=str)
def test_true_is_refused_by_name(model):
    S = np.exp(-np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))))
    with pytest.raises(ValueError, match=r"parameter of .* Got True"):
        model.fit(S, [0, 0, 0, 1, 1, 1])


@estimator
class Base(BaseEstimator):
    k: int = param(1, at_least(1))
    free: object = param(None)


@estimator
class Changed(Base):
    k: int = param(5)
    q: float = param(0.5, between(0, 1))


def test_a_subclass_changes_a_default_and_keeps_the_constraints():
    assert Changed().get_params() == {"k": 5, "free": None, "q": 0.5}
    assert Changed._parameter_constraints["k"] == Base._parameter_constraints["k"]
    assert Base._parameter_constraints["free"] == "no_validation"
    with pytest.raises(TypeError, match="positional"):
        Changed(2)


def test_every_parameter_of_an_estimator_is_checked():
    """Only a label may have any value."""
    free = set()
    for name in similis.__all__:
        found = getattr(similis, name)
        if inspect.isclass(found) and issubclass(found, BaseEstimator):
            constraints = found._parameter_constraints
            assert constraints.keys() >= set(inspect.signature(found).parameters), name
            free |= {f"{name}.{key}" for key, value in constraints.items() if value == "no_validation"}
    assert free == {"SimilarityLabelSpreading.unlabeled"}
