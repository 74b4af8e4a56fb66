"""Makers of simulated dissimilarity matrices of many sorts: symmetric, with a zero diagonal. NumPy only."""

import numpy as np


def _groups(rng, n, dims, n_classes, spread):
    y = np.sort(rng.integers(n_classes, size=n))
    return rng.normal(size=(n_classes, dims))[y] * spread + rng.normal(size=(n, dims))


def _minkowski(X, p):
    return sum(np.abs(a[:, None] - a[None]) ** p for a in X.T) ** (1 / p)


def _noise(rng, n, draw):
    E = np.triu(draw(rng, (n, n)), 1)
    return E + E.T


def _zero_diagonal(D):
    np.fill_diagonal(D, 0.0)
    return D


def vectors(p=2.0, power=1.0, dims=5, n_classes=3, spread=2.0):
    """Minkowski distances between Gaussian classes, to a power: squares break triangles, roots do not."""
    return lambda rng, n: _minkowski(_groups(rng, n, dims, n_classes, spread), p) ** power


def chebyshev(rng, n):
    X = _groups(rng, n, 10, 3, 2.0)
    return np.abs(X[:, None] - X[None]).max(axis=2)


def outlying(rng, n):
    """Three objects far from everybody: whole rows that are unlike their neighbors', and right."""
    X = _groups(rng, n, 5, 3, 2.0)
    X[:3] += 15 * rng.normal(size=(3, 5))
    return _minkowski(X, 2.0)


def twins(rng, n):
    """Near copies of a tenth of the objects, in many dimensions: pairs unlike their neighbors, and right."""
    X = rng.normal(size=(n, 100))
    m = n // 10
    X[:m] = X[m : 2 * m] + 0.05 * rng.normal(size=(m, 100))
    return _minkowski(X, 2.0)


def _votes(rng, n, d=16):
    party, line = rng.integers(2, size=n), rng.integers(2, size=d)
    loyal = rng.beta(6, 1, size=n)[:, None]
    stand = np.where(party[:, None] == 0, line, 1 - line)
    X = (rng.random((n, d)) < stand * loyal + (1 - loyal) / 2).astype(int)
    X[rng.random((n, d)) < 0.06] = 2
    return X, party


def votes_counting(rng, n):
    X, _ = _votes(rng, n)
    return (X[:, None] != X[None]).sum(axis=2).astype(float)


def vdm(q):
    """Value difference metric of simulated votes; q = 2 is a sum of squares."""

    def make(rng, n):
        X, y = _votes(rng, n)
        D = np.zeros((n, n))
        for a in X.T:
            P = np.array([y[a == v].mean() if (a == v).any() else 0.0 for v in range(3)])[a]
            D += np.abs(P[:, None] - P[None]) ** q
        return D

    return make


def counting(d, values, n_classes, flip):
    def make(rng, n):
        X = rng.integers(values, size=(n_classes, d))[rng.integers(n_classes, size=n)]
        X = np.where(rng.random((n, d)) < flip, rng.integers(values, size=(n, d)), X)
        return (X[:, None] != X[None]).sum(axis=2).astype(float)

    return make


def edit(rng, n, length=24):
    """Edit distances between mutated copies of four strings, all pairs of a row of the table at once."""
    ancestors = rng.integers(4, size=(4, length))
    words = []
    for _ in range(n):
        word = ancestors[rng.integers(4)][rng.random(length) > 0.1].copy()
        hit = rng.random(len(word)) < 0.2
        word[hit] = rng.integers(4, size=hit.sum())
        at = rng.integers(len(word), size=rng.integers(6))
        words.append(np.insert(word, at, rng.integers(4, size=len(at))))
    sizes = np.array([len(w) for w in words])
    A = np.full((n, sizes.max()), -1)
    for row, word in zip(A, words):
        row[: len(word)] = word
    i, j = np.triu_indices(n, 1)
    last = np.tile(np.arange(A.shape[1] + 1.0), (len(i), 1))
    found = np.zeros(len(i))
    for a in range(1, A.shape[1] + 1):
        now = np.empty_like(last)
        now[:, 0] = a
        unlike = A[i, a - 1][:, None] != A[j]
        for b in range(1, A.shape[1] + 1):
            now[:, b] = np.minimum(np.minimum(last[:, b], now[:, b - 1]) + 1, last[:, b - 1] + unlike[:, b - 1])
        done = sizes[i] == a
        found[done] = now[done, sizes[j][done]]
        last = now
    D = np.zeros((n, n))
    D[i, j] = found
    return D + D.T


def rbf(gamma):
    def make(rng, n):
        D = vectors()(rng, n)
        return 1 - np.exp(-gamma * (D / np.median(D)) ** 2)

    return make


def cosine(rng, n):
    X = _groups(rng, n, 20, 4, 1.5)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return _zero_diagonal(np.maximum(1 - X @ X.T, 0.0))


def noisy(level, relative=False):
    """Euclidean distances with noise on every pair: indefinite, triangles broken everywhere."""

    def make(rng, n):
        D = vectors()(rng, n)
        E = _noise(rng, n, lambda r, size: r.normal(size=size))
        scale = level * D[np.triu_indices(n, 1)].std()
        return _zero_diagonal(D * np.exp(level * E) if relative else np.abs(D + scale * E))

    return make


def judged(levels, noise=0.2):
    """Human judgments: ranks of distances with noise, on a scale of a few steps."""

    def make(rng, n):
        D = vectors(dims=3, n_classes=2, spread=1.0)(rng, n)
        rank = np.argsort(np.argsort(D, axis=None)).reshape(D.shape) / D.size
        steps = np.clip(np.round((rank + noise * rng.normal(size=D.shape)) * (levels - 1)), 0, levels - 1)
        return np.triu(steps, 1) + np.triu(steps, 1).T

    return make


def families(n_classes, noise):
    """Tight classes at distances of their own, objects with rates of their own, relative noise."""

    def make(rng, n):
        y = np.sort(rng.integers(n_classes, size=n))
        C = np.triu(rng.uniform(3, 10, size=(n_classes, n_classes)), 1)
        C = C + C.T
        rate = 0.7 * rng.gamma(8, 1 / 8, size=n)
        within = _minkowski(0.6 * rng.normal(size=(n, 4)), 2.0) * (1 + 0.5 * (y[:, None] == y[None]))
        D = C[y[:, None], y[None]] + within + rate[:, None] + rate[None]
        return _zero_diagonal(D * np.exp(noise * _noise(rng, n, lambda r, size: r.normal(size=size))))

    return make


def tree(rng, n, rate=0.3, noise=0.05):
    """Path lengths in a random tree whose branches run at different rates, with relative noise."""
    D, speed = np.zeros((n, n)), rng.gamma(1 / rate**2, rate**2, size=n)
    clades, age = [[i] for i in range(n)], 0.0
    while len(clades) > 1:
        age += rng.exponential(1 / len(clades))
        a, b = sorted(rng.choice(len(clades), 2, replace=False))
        B, A = clades.pop(b), clades.pop(a)
        D[np.ix_(A, B)] = age * (speed[A][:, None] + speed[B][None])
        D[np.ix_(B, A)] = D[np.ix_(A, B)].T
        clades.append(A + B)
    return D * np.exp(noise * _noise(rng, n, lambda r, size: r.normal(size=size)))


def clades(n_clades, rate, noise):
    """A few old clades, a young tree within each."""

    def make(rng, n):
        y = np.sort(rng.integers(n_clades, size=n))
        top = tree(rng, n_clades, rate, 0.0)
        top = 6 + 6 * top / top.max()
        D = top[y[:, None], y[None]]
        for c in range(n_clades):
            m = np.flatnonzero(y == c)
            if len(m):
                D[np.ix_(m, m)] = tree(rng, len(m), rate, 0.0) / 2
        speed = rng.gamma(1 / rate**2, rate**2, size=n)
        D = D * (speed[:, None] + speed[None]) / 2
        return _zero_diagonal(D * np.exp(noise * _noise(rng, n, lambda r, size: r.normal(size=size))))

    return make


def alignment(rng, n):
    """Scores that grow with the lengths of both objects, largest score minus score."""
    X, size = _groups(rng, n, 6, 4, 2.0), rng.lognormal(0, 0.4, size=n)
    S = 100 * np.exp(-_minkowski(X, 2.0) / 4) * np.sqrt(size[:, None] * size[None])
    S = S + _noise(rng, n, lambda r, shape: np.abs(r.normal(size=shape)))
    return _zero_diagonal(S.max() - S)


def warped(rng, n):
    """The best of several shifts of a curve: not metric."""
    X = np.cumsum(rng.normal(size=(n, 12)), axis=1) + _groups(rng, n, 12, 5, 2.0)
    shifts = [np.sqrt(((X[:, None, s:] - X[None, :, : 12 - s]) ** 2).sum(axis=2)) for s in range(4)]
    D = np.min(shifts, axis=0)
    return np.minimum(D, D.T)


def sparse_links(rng, n):
    """Four links an object, everything else at the same distance."""
    S = np.zeros((n, n))
    for row in S:
        row[rng.choice(n, 4, replace=False)] = rng.random(4)
    return _zero_diagonal(1 - (S + S.T) / 2)


def _uneven(rng, n, n_classes):
    """Classes of very unequal sizes."""
    return np.sort(rng.choice(n_classes, size=n, p=rng.dirichlet(np.full(n_classes, 0.8))))


def _student(df):
    return lambda r, size: r.standard_t(df, size=size)


def heavy_noise(level, df=8, relative=False):
    """Noise on every pair whose tails are heavier than a normal's."""

    def make(rng, n):
        D, E = vectors()(rng, n), level * _noise(rng, n, _student(df))
        return _zero_diagonal(D * np.exp(E) if relative else np.abs(D + D.std() * E))

    return make


def heavy_vectors(rng, n):
    """Objects from a heavy-tailed distribution: a center and stragglers in every direction."""
    return _minkowski(rng.standard_t(3, size=(n, 6)), 2.0)


def uneven_classes(power):
    """Classes of unequal sizes, each as wide as it likes."""

    def make(rng, n):
        y = _uneven(rng, n, 6)
        X = 3 * rng.normal(size=(6, 5))[y] + rng.lognormal(0, 0.7, size=6)[y][:, None] * rng.normal(size=(n, 5))
        return _minkowski(X, 2.0) ** power

    return make


def uneven_families(singles, noise=0.05):
    """Families of unequal sizes, widths and rates, and objects that belong to none, at distances of their own."""

    def make(rng, n):
        y = _uneven(rng, n, 7)
        y[rng.choice(n, singles, replace=False)] = 7 + np.arange(singles)
        k = 7 + singles
        P = _minkowski(rng.normal(size=(k, 6)), 2.0) + 0.3 * np.abs(_noise(rng, k, _student(5)))
        rate, width = rng.lognormal(0, 0.3, size=n), rng.lognormal(-0.5, 0.5, size=k)
        within = _minkowski(width[y][:, None] * rng.normal(size=(n, 4)), 2.0)
        D = 2 * P[y[:, None], y[None]] + within * (1 + (y[:, None] == y[None])) + rate[:, None] + rate[None]
        loud = noise * rng.lognormal(0, 0.4, size=n)
        E = np.sqrt(loud[:, None] * loud[None]) * _noise(rng, n, _student(8))
        return _zero_diagonal(D * np.exp(E))

    return make


def _paths(rng, n, rate):
    """Path lengths in a random tree, every branch at a rate of its own, and how deep its leaves lie."""
    D, depth, age = np.zeros((n, n)), np.zeros(n), 0.0
    clades = [([i], 0.0) for i in range(n)]
    while len(clades) > 1:
        age += rng.exponential(2 / (len(clades) * (len(clades) - 1)))
        a, b = sorted(rng.choice(len(clades), 2, replace=False))
        (B, since_b), (A, since_a) = clades.pop(b), clades.pop(a)
        depth[A] += (age - since_a) * rng.gamma(1 / rate**2, rate**2)
        depth[B] += (age - since_b) * rng.gamma(1 / rate**2, rate**2)
        D[np.ix_(A, B)] = depth[A][:, None] + depth[B][None]
        D[np.ix_(B, A)] = D[np.ix_(A, B)].T
        clades.append((A + B, age))
    return D, depth


def uneven_clades(rng, n):
    """Clades of unequal sizes, from very young to as old as the tree, every branch at a rate of its own."""
    y = _uneven(rng, n, 6)
    D = 4 * (0.5 + _paths(rng, 6, 0.5)[0])[y[:, None], y[None]]
    within, h = np.zeros((n, n)), np.zeros(n)
    for c in np.unique(y):
        m, scale = np.flatnonzero(y == c), 4 * rng.beta(0.7, 1)
        within[np.ix_(m, m)], h[m] = (scale * x for x in _paths(rng, len(m), 0.5))
    D = np.where(y[:, None] == y[None], within, D + h[:, None] + h[None])
    return _zero_diagonal(D * np.exp(0.05 * _noise(rng, n, _student(8))))


def identities(rng, n):
    """Percent of unlike places along a tree: distances saturate, and are whole numbers."""
    D = _paths(rng, n, 0.7)[0] * np.exp(0.05 * _noise(rng, n, _student(8)))
    return np.round(95 * (1 - np.exp(-2 * D / np.median(D))))


def duplicates(power, noise=0.01):
    """Blocks of near copies, two to nine of each, amid objects that have none."""

    def make(rng, n):
        X, at = _groups(rng, n, 6, 4, 2.0), 0
        while at < n // 3:
            m = int(rng.integers(2, 10))
            X[at : at + m] = X[at] + 0.03 * rng.normal(size=X[at : at + m].shape)
            at += m
        E = noise * _noise(rng, n, lambda r, size: r.normal(size=size))
        return _minkowski(X, 2.0) ** power * np.exp(E)

    return make


def clipped(low, high, noise):
    """A scale that ends: what is nearer or farther than its ends is put there, almost exactly."""

    def make(rng, n):
        D = uneven_classes(1.0)(rng, n)
        i, j = np.triu_indices(n, 1)
        D = np.clip(D, *np.quantile(D[i, j], [low, high]))
        return _zero_diagonal(np.abs(D + noise * D[i, j].std() * _noise(rng, n, lambda r, size: r.normal(size=size))))

    return make


def sized(rng, n):
    """Costs that grow with both objects, sizes very unequal; the best of several shifts: not metric."""
    size = rng.lognormal(0, 0.5, size=n)
    D = warped(rng, n) * np.sqrt(size[:, None] * size[None]) + np.abs(size[:, None] - size[None])
    return _zero_diagonal(D * np.exp(0.03 * _noise(rng, n, _student(8))))
