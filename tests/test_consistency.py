"""Local methods are consistent on a finite space: their error tends to the Bayes error. [cazzanti2007] sec. 4.2.

Objects are the 16 binary words of length 4, the similarity counts equal bits, P(x) and P(Y = 1 | x) are known, so
the error of a fitted classifier and the Bayes error are both exact sums over 16 words: nothing is sampled but the
training set.
"""

import itertools

import numpy as np
import pytest

from similis import LocalNearestCentroid, LocalSDA, SimilarityKNN

WORDS = np.array(list(itertools.product([0, 1], repeat=4)), dtype=np.float32)
SIZES = (100, 1_000, 10_000)


def counting(A, B):
    return (A[:, None, :] == B[None, :, :]).sum(axis=2, dtype=np.float32) if len(A) < 99 else _big(A, B)


def _big(A, B):
    return A @ B.T + (1 - A) @ (1 - B).T


@pytest.fixture(scope="module")
def law():
    rng = np.random.default_rng(7)
    P = rng.dirichlet(np.full(16, 4.0))
    P1 = np.clip(0.5 + rng.choice([-1, 1], 16) * rng.uniform(0.005, 0.4, 16), 0, 1)
    return P, P1


def excess_errors(make, law, n, repeats, seed):
    P, P1 = law
    bayes = (P * np.minimum(P1, 1 - P1)).sum()
    out = []
    for rng in np.random.default_rng(seed).spawn(repeats):
        words = rng.choice(16, size=n, p=P)
        y = (rng.random(n) < P1[words]).astype(int)
        model = make(max(1, round(n**0.5))).fit(counting(WORDS[words], WORDS[words]), y)
        said = model.predict(counting(WORDS, WORDS[words]))
        out.append((P * np.where(said == 1, 1 - P1, P1)).sum() - bayes)
    return np.array(out)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda k: SimilarityKNN(n_neighbors=k),
        lambda k: LocalNearestCentroid(n_neighbors=k),
        lambda k: LocalSDA(n_neighbors=k),
    ],
    ids=["k-nn", "local centroid", "local SDA"],
)
def test_error_tends_to_the_bayes_error(make, law, capsys):
    excess = [excess_errors(make, law, n, repeats, 3) for n, repeats in zip(SIZES, (60, 30, 6))]
    means = np.array([e.mean() for e in excess])
    rng = np.random.default_rng(0)
    slopes = [
        np.polyfit(np.log10(SIZES), np.log10([max(rng.choice(e, len(e)).mean(), 1e-6) for e in excess]), 1)[0]
        for _ in range(500)
    ]
    low, high = np.quantile(slopes, [0.025, 0.975])
    with capsys.disabled():
        print(f"\nexcess error at n = {SIZES}: {means.round(4)}; slope {np.median(slopes):.2f} [{low:.2f}, {high:.2f}]")
    assert means[0] > means[1] > means[2] >= 0
    assert means[2] < 0.01
    assert high < 0
