"""Leave-one-out errors on the votes, [cazzanti2007] table 6.10: every member of the House told by the others.

Ties between equally central objects make the last digits depend on the order of the rows, hence the tolerance.
"""

import numpy as np
import pytest

from similis import SDA, Counting, LocalSDA, NearestNeighborSDA
from similis.datasets import load_votes

KS = [*range(1, 21), *range(30, 101, 10), 150, 200]


@pytest.fixture(scope="module")
def votes():
    X, y = load_votes(return_X_y=True)
    return Counting().fit(X).matrix(X), y


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("model, errors", [(SDA(), 51), (NearestNeighborSDA(), 53)], ids=["SDA", "nnSDA"])
def test_leave_one_out_errors(votes, model, errors):
    S, y = votes
    said = model.predict_path_cv(S, y, np.arange(len(y)), [{}])[0]
    assert abs((said != y).sum() - errors) <= 4


def test_priors_with_laplace_correction_change_little(votes):
    S, y = votes
    a, b = SDA().fit(S, y), SDA(priors="laplace").fit(S, y)
    assert abs((a.predict(S) != y).sum() - (b.predict(S) != y).sum()) <= 2


def test_all_neighborhoods_leave_one_out_at_once(votes):
    """One sweep over the paper's thirty k equals leave-one-out by hand, for a few objects."""
    S, y = votes
    answers = LocalSDA().predict_path_cv(S, y, np.arange(len(y)), [{"n_neighbors": k} for k in KS])
    for i in (0, 5, 407):
        keep = np.arange(len(y)) != i
        for t in (0, 3, 12, 29):
            model = LocalSDA(n_neighbors=KS[t]).fit(S[np.ix_(keep, keep)], y[keep])
            assert model.predict(S[i : i + 1, keep]) == answers[t][i]


@pytest.mark.slow
def test_local_sda_with_k_chosen_within(votes):
    """The paper's protocol: k by leave-one-out within the other 434 objects, for each object anew."""
    S, y = votes
    n, errors = len(y), 0
    for i in range(n):
        keep = np.arange(n) != i
        inner, labels = S[np.ix_(keep, keep)], y[keep]
        answers = LocalSDA().predict_path_cv(inner, labels, np.arange(n - 1), [{"n_neighbors": k} for k in KS])
        k = KS[int(np.argmax([(said == labels).sum() for said in answers]))]
        errors += LocalSDA(n_neighbors=k).fit(inner, labels).predict(S[i : i + 1, keep])[0] != y[i]
    assert abs(errors - 42) <= 4
