"""scikit-learn's own checks on Pairwise, and what a transformer of objects owes beyond them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from similis import HVDM, RBF, VDM, Chebyshev, Cosine, Counting, Minkowski, Pairwise, Polynomial, Sigmoid

TRANSFORMERS = [
    Pairwise(RBF()),
    Pairwise(Minkowski()),
    Pairwise(Minkowski(p=0.5), symmetrize=True),
    Pairwise(Chebyshev()),
    Pairwise(Cosine()),
    Pairwise(Polynomial(lift=1.0)),
    Pairwise(Sigmoid()),
    Pairwise(Counting()),
    Pairwise(VDM()),
    Pairwise(HVDM()),
]


@parametrize_with_checks(TRANSFORMERS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
