"""Parameter constraints reject booleans where numbers are expected."""

import numpy as np
import pytest

from similis import MixtureSDA, SimilarityKNN
from similis.base import at_least, between, positive


@pytest.mark.parametrize("numbers", [at_least(0), positive(), between(0, 1)], ids=str)
def test_true_is_no_number(numbers):
    assert all(numbers.is_satisfied_by(one) for one in (1, np.int64(1)))
    assert not any(numbers.is_satisfied_by(one) for one in (True, False, np.True_, "1", None))


@pytest.mark.parametrize("model", [MixtureSDA(max_iter=True), SimilarityKNN(n_neighbors=True)], ids=str)
def test_true_is_refused_by_name(model):
    S = np.exp(-np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))))
    with pytest.raises(ValueError, match=r"parameter of .* Got True"):
        model.fit(S, [0, 0, 0, 1, 1, 1])
