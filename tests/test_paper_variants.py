"""Variants of the papers' methods: statistics of SDA, local weights, components per class, MKL, tightness."""

import numpy as np
import pytest

from similis import (
    SDA,
    CondensedNN,
    LocalNearestCentroid,
    LocalSDA,
    MaxSim,
    MixtureHLM,
    MixtureSDA,
    ProximityError,
    SimMKL,
    SimSVM,
    SpectrumClip,
    Tighten,
    make_stack,
)
from similis.maxsim import tightness
from similis.study import find_method, make_model


@pytest.fixture(scope="module")
def faces():
    """Counts of common features of objects in two or three classes."""
    rng = np.random.default_rng(3)
    X = rng.random((60, 12)) < np.repeat([0.2, 0.5, 0.8], 20)[:, None]
    return (X[:, None] == X[None]).sum(axis=2).astype(float), np.repeat([0, 1, 2], 20)


def test_squares_around_class_means(faces):
    S, y = faces
    model = SDA(statistic=["centered-squares", "cross-squares"]).fit(S, y)
    mu = model.centroids_
    mean = np.array([S[y == h, mu[h]].mean() for h in range(3)])
    expected = [(S[:, mu[h]] - mean[h]) ** 2 for h in range(3)]
    expected += [(S[:, mu[h]] - mean[g]) ** 2 for h in range(3) for g in range(3) if g != h]
    assert model.statistics(S) == pytest.approx(np.column_stack(expected))
    # the fitted exponentials have the class means of the statistics
    assert model.means_ == pytest.approx(np.array([model.statistics(S)[y == g].mean(axis=0) for g in range(3)]))
    assert model.score(S, y) > 0.5
    assert set(model.columns_) == set(mu)


def test_pseudocount_is_a_posterior_mode(faces):
    S, y = faces
    model = SDA(pseudocount=5.0).fit(S, y)
    omega, s = model.domain_, S[:, model.centroids_]
    prior_mean = s.mean(axis=0)

    def log_posterior(rate, g, h):
        log_z = np.log(np.exp(rate * omega).sum())
        return (rate * s[y == g, h] - log_z).sum() + 5.0 * (rate * prior_mean[h] - log_z)

    for g in range(3):
        for h in range(3):
            at = model.exponents_[g, h]
            best = log_posterior(at, g, h)
            assert best > max(log_posterior(at - 1e-3, g, h), log_posterior(at + 1e-3, g, h))


def test_affinity_weights_of_local_sda(faces):
    S, y = faces
    # a constant similarity to the object gives equal weights
    constant = np.full((1, 60), 5.0)
    plain = LocalSDA(n_neighbors=60, min_class_size=1).fit(S, y)
    weighted = LocalSDA(n_neighbors=60, min_class_size=1, weights="affinity").fit(S, y)
    assert weighted.predict_proba(constant) == pytest.approx(plain.predict_proba(constant))
    assert weighted.predict_proba(S) != pytest.approx(plain.predict_proba(S))
    with pytest.raises(ProximityError, match="at least zero"):
        LocalSDA(weights="affinity").fit(S - 6, y)
    with pytest.raises(ProximityError, match="need similarities"):
        LocalSDA(weights="affinity", kind="dissimilarity").fit(12 - S, y)


def test_weights_are_as_if_neighbors_were_repeated(faces):
    """Affinities of 1 and 2 count a neighbor once or twice."""
    S, y = faces
    rng = np.random.default_rng(0)
    S, y = S[:40, :40] + rng.random((40, 40)) * 1e-3, y[:40]
    row = np.where(rng.random(40) < 0.5, 1.0, 2.0)
    model = LocalSDA(n_neighbors=40, weights="affinity", domain=(0.0, 13.0), priors=[0.5, 0.5]).fit(S, y)
    twice = np.repeat(np.arange(40), row.astype(int))
    copied = LocalSDA(n_neighbors=len(twice), domain=(0.0, 13.0), priors=[0.5, 0.5])
    copied.fit(S[np.ix_(twice, twice)], y[twice])
    assert model.class_log_prob(row[None]) == pytest.approx(copied.class_log_prob(row[None, twice]), rel=1e-6)


def test_local_nearest_centroid_in_other_neighborhoods(faces):
    S, y = faces
    train, test = np.arange(60) % 3 != 0, np.arange(60) % 3 == 0
    block, rows = S[np.ix_(train, train)], S[np.ix_(test, train)]
    method = find_method("local-nc(per-class, n_neighbors=3)")
    model = method.make().fit(block, y[train])
    assert model.min_class_size > 60
    expected = []
    for row in rows:
        scores = []
        for h in range(3):
            mine = np.flatnonzero(y[train] == h)
            near = mine[np.argsort(-row[mine], kind="stable")[:3]]
            total = block[np.ix_(near, near)].sum(axis=0)
            scores.append(row[near[np.argmax(total)]])
        expected.append(scores)
    chosen = np.array([scores[int(label)] for scores, label in zip(expected, model.predict(rows))])
    assert chosen == pytest.approx(np.max(expected, axis=1))
    knn = LocalSDA(n_neighbors=7, min_class_size=10**9).fit(block, y[train])
    local = LocalNearestCentroid(n_neighbors=7).fit(block, y[train])
    assert (knn.predict(rows) == local.predict(rows)).all()
    for name in ("radius", "reciprocal", "natural", "enclosing"):
        assert make_model(f"local-nc({name})", cv=3).fit(block, y[train]).score(rows, y[test]) > 0.4


def test_components_per_class(faces):
    S, y = faces
    D = S.max() - S
    model = MixtureSDA(n_components=[1, 3, 2], random_state=0).fit(S, y)
    assert model.n_components_.tolist() == [1, 3, 2]
    same = MixtureSDA(n_components=2, random_state=0).fit(S, y)
    assert (MixtureSDA(n_components=[2, 2, 2], random_state=0).fit(S, y).centroids_ == same.centroids_).all()
    hlm = MixtureHLM(n_components=[1, 3, 2], random_state=0).fit(D, y)
    assert np.bincount(hlm.component_classes_).tolist() == [1, 3, 2]
    assert np.bincount(CondensedNN(n_prototypes=[1, 3, 2]).fit(S, y).prototype_classes_).tolist() == [1, 3, 2]
    assert find_method("hlm-vsh(n_components=[1,3,2])").make().n_components == [1, 3, 2]
    for wrong in ([1, 2], [1, 2, 0], [1.5, 2, 3]):
        with pytest.raises(ProximityError, match="one for each of the 3 classes"):
            MixtureSDA(n_components=wrong).fit(S, y)


def test_information_criteria_of_mixture_sda(faces):
    S, y = faces
    fits = {k: MixtureSDA(n_components=k, random_state=0).fit(S, y) for k in (1, 2, 3, 4, 5, 7, 10)}
    for name, cost in (("bic", np.log(60)), ("aic", 2.0)):
        model = MixtureSDA(n_components=name, random_state=0).fit(S, y)
        for h in range(3):
            found = {
                k: cost * 3 * (2 * k - 1) - 2 * fit.log_likelihood_path_[:, h, -1].sum() for k, fit in fits.items()
            }
            assert found[model.n_components_[h]] == min(found.values())


def test_multiple_kernel_learning_clips(faces):
    S, y = faces
    S, y = S[:40, :40], y[:40]
    rng = np.random.default_rng(1)
    noise = np.triu(rng.normal(size=S.shape), 1)
    stack = make_stack([S / 12 + 0.3 * (noise + noise.T), S / 12])
    model = SimMKL(roles="kernels").fit(stack, y)
    assert model.roles_ == ("kernel", "kernel")
    clips = [SpectrumClip().fit(stack[:, :, k]) for k in range(2)]
    clipped = make_stack([clip.transform(stack[:, :, k]) for k, clip in enumerate(clips)])
    same = SimMKL().fit(clipped, y)
    assert model.weights_ == pytest.approx(same.weights_, rel=1e-4)
    rows = stack[:5] + 0.01
    new = make_stack([clip.transform(np.asarray(rows[:, :, k])) for k, clip in enumerate(clips)])
    assert model.decision_function(rows) == pytest.approx(same.decision_function(new), abs=1e-4)
    # weights share the trace
    traces = np.array([np.trace(clipped[:, :, k]) for k in range(2)])
    assert model.weights_ @ traces == pytest.approx(model.trace_)
    assert find_method("mkl").reads_stack()


def test_one_norm_of_simmkl(faces):
    S, y = faces
    S, y = S[:40, :40] / 12 - 0.5, y[:40]
    one = SimMKL(norm=1, gamma=0.01, roles=["similarity"]).fit(S[:, :, None], y)
    alone = SimSVM(norm=1, gamma=0.01).fit(S, y)
    assert one.objective_ == pytest.approx(alone.objective_, rel=1e-5)
    two = SimMKL(gamma=0.01, roles=["similarity"]).fit(S[:, :, None], y)
    assert two.objective_ <= one.objective_ + 1e-9  # ||.||_2 <= ||.||_1


def test_tightness(faces):
    S, y = faces
    for method in ("power", "exponential"):
        q = tightness(S, y, method=method)
        assert MaxSim().fit(Tighten(q=q, method=method).fit_transform(S), y).tight_
        assert not MaxSim().fit(Tighten(q=0.98 * q, method=method).fit_transform(S), y).tight_
    assert tightness(np.ones((4, 4)), [0, 0, 1, 1]) == np.inf
    assert tightness(np.kron(np.eye(2), np.ones((2, 2))), [0, 0, 1, 1]) == 2.0**-10
