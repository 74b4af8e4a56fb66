"""Coordinate descent and SMO on the P-SVM's problem, beside the interior-point solver, by sweeps.

python benchmarks/finding_descent.py        # five minutes; writes benchmarks/results/findings/descent.json

min_a ||y - S a||^2 / 2 + epsilon ||a||_1, |a_i| <= C. A sweep is n coordinate updates (n / 2 of two at once), each of
which costs a column of S'S. Every distance from the optimum is counted from the certified lower bound of the solver.
"""

import numpy as np
from _finding import write_facts
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from similis import Counting, load_promoters, load_sonar, load_votes, make_similarity
from similis.solvers import box_lasso

SWEEPS = (10, 100, 1000)
POINTS = ((1e-4, 100.0), (1e-2, 100.0), (1.0, 100.0))


class Descent:
    """Coefficients a, and the gradient g = S'(S a - y) kept up to date."""

    def __init__(self, S, y, epsilon, C):
        self.S, self.y, self.epsilon, self.C = S, y, epsilon, C
        self.G = S.T @ S
        self.d = np.maximum(np.diag(self.G), 1e-300)
        self.a = np.zeros(S.shape[1])
        self.g = -S.T @ y

    def objective(self):
        """Computed through S, at the coefficients reached."""
        u = self.y - self.S @ self.a
        return u @ u / 2 + self.epsilon * np.abs(self.a).sum()

    def best(self, a, g, d):
        """Minimizer along each coordinate by itself, given gradients and curvatures."""
        z = a - g / d
        return np.clip(np.sign(z) * np.maximum(np.abs(z) - self.epsilon / d, 0), -self.C, self.C)

    def move(self, i, value):
        self.g += self.G[i] * (value - self.a[i])
        self.a[i] = value

    def gain(self, new):
        step = new - self.a
        return -(self.g * step + self.d * step**2 / 2 + self.epsilon * (np.abs(new) - np.abs(self.a)))


class Cyclic(Descent):
    """One coordinate after the other, as for the lasso."""

    def sweep(self):
        for i in range(len(self.a)):
            value = self.best(self.a[i], self.g[i], self.d[i])
            if value != self.a[i]:
                self.move(i, value)


class Single(Descent):
    """SMO on one coordinate at a time: the one that gains most."""

    def sweep(self):
        for _ in range(len(self.a)):
            new = self.best(self.a, self.g, self.d)
            i = int(np.argmax(self.gain(new)))
            self.move(i, new[i])


class Pairs(Descent):
    """SMO on two coordinates at a time: the one that gains most, and the partner with which it gains most."""

    def sweep(self):
        for _ in range(len(self.a) // 2):
            i = int(np.argmax(self.gain(self.best(self.a, self.g, self.d))))
            first, second = self.together(i, np.arange(len(self.a)), 10)
            j = int(np.argmax(self.gain_together(i, first, second)))
            first, second = self.together(i, np.array([j]), 25)
            self.move(i, float(first[0]))
            if j != i:
                self.move(j, float(second[0]))

    def together(self, i, partners, rounds):
        """Minimizers over (i, j) for each partner j, by turns."""
        cross, d = self.G[i, partners], self.d[partners]
        start, first, second = self.a[partners], np.full(len(partners), self.a[i]), self.a[partners].copy()
        for _ in range(rounds):
            first = self.best(first, self.g[i] + self.d[i] * (first - self.a[i]) + cross * (second - start), self.d[i])
            second = self.best(second, self.g[partners] + d * (second - start) + cross * (first - self.a[i]), d)
        return first, second

    def gain_together(self, i, first, second):
        s, t = first - self.a[i], second - self.a
        gain = -(self.g[i] * s + self.g * t + self.d[i] * s**2 / 2 + self.d * t**2 / 2 + self.G[i] * s * t)
        gain -= self.epsilon * (np.abs(first) - abs(self.a[i]) + np.abs(second) - np.abs(self.a))
        gain[i] = -np.inf
        return gain


class Annealed(Pairs):
    """The same with epsilon lowered to its value in twenty stages of two sweeps."""

    def __init__(self, S, y, epsilon, C):
        super().__init__(S, y, epsilon, C)
        self.stages = np.geomspace(max(np.abs(self.g).max() / 10, epsilon), epsilon, 20).repeat(2).tolist()

    def sweep(self):
        target = self.epsilon
        self.epsilon = self.stages.pop(0) if self.stages else target
        super().sweep()
        self.epsilon = target


METHODS = {
    "cyclic coordinate descent": Cyclic,
    "SMO, single": Single,
    "SMO, pairs": Pairs,
    "SMO, pairs, annealed": Annealed,
}


def problems():
    """Names, square similarities and labels +-1."""
    votes, party = load_votes(return_X_y=True)
    dna, promoter = load_promoters(return_X_y=True)
    sonar, mine = load_sonar(return_X_y=True)
    D = cdist(sonar, sonar)
    S, y = make_similarity(200, 2, indefinite=0.2, random_state=0)
    for name, matrix, labels in (
        ("votes, counting", Counting().matrix(votes), party),
        ("promoters, counting", Counting().matrix(dna), promoter),
        ("sonar, exp(-d / median)", np.exp(-D / np.median(D)), mine),
        ("simulated, 20 % negative mass", S, y),
    ):
        matrix = np.asarray(matrix, dtype=float)
        yield name, matrix, np.where(labels == np.unique(labels)[0], 1.0, -1.0)
        if name.startswith("promoters"):  # what [cazzanti2007] seems to have done
            centered = matrix - matrix.mean(axis=0)
            labels = np.where(labels == np.unique(labels)[0], 1.0, -1.0)
            yield f"{name}, columns normalized", centered / np.linalg.norm(centered, axis=0), labels


def condition(A):
    values = np.linalg.svd(A, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 1e-12 * values[0] else np.inf


def compare(name, S, y, epsilon, C):
    """Distances from the optimum after so many sweeps, in shares of the objective at zero."""
    n = len(y)
    test = np.random.default_rng(0).permutation(n) < n // 5
    T, y_train = S[np.ix_(~test, ~test)], y[~test]
    fit = box_lasso(T, y_train, epsilon, C)
    start = y_train @ y_train / 2
    answers = np.sign(S[np.ix_(test, ~test)] @ fit.coef)
    support = fit.coef != 0
    item = {
        "matrix": name,
        "n": int((~test).sum()),
        "epsilon": epsilon,
        "C": C,
        "optimum": float(fit.objective),
        "certified gap": float(fit.gap / start),
        "interior-point steps": fit.n_iter,
        "support": int(support.sum()),
        "condition of S": condition(T),
        "condition of S'S on the support": condition(T[:, support]) ** 2,
        "error of the optimum": float(np.mean(answers != y[test])),
        "methods": {},
    }
    for method, make in METHODS.items():
        state, rows = make(T, y_train, epsilon, C), []
        for sweep in range(1, SWEEPS[-1] + 1):
            state.sweep()
            if sweep in SWEEPS:
                predicted = np.sign(S[np.ix_(test, ~test)] @ state.a)
                rows.append(
                    {
                        "sweeps": sweep,
                        "above the optimum": float((state.objective() - fit.objective) / start),
                        "answers that differ": float(np.mean(predicted != answers)),
                    }
                )
            if issubclass(make, Pairs) and sweep == 100:
                break
        item["methods"][method] = rows
    print(name, epsilon, flush=True)
    return item


def by_condition(n=100):
    """Sweeps until 99.9 % of what can be gained is gained, for matrices of known condition."""
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.normal(size=(n, n)))[0]
    y, signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0), np.where(rng.random(n) < 0.2, -1.0, 1.0)
    rows = []
    for kappa in (1, 3, 10, 30, 100):
        S = (U * (signs * np.geomspace(1, 1 / kappa, n))) @ U.T
        fit = box_lasso(S, y, 1e-6)
        target = fit.objective + 1e-3 * (y @ y / 2 - fit.objective)
        row = {"condition of S": kappa, "interior-point steps": fit.n_iter}
        for method in ("cyclic coordinate descent", "SMO, single"):
            state, sweeps = METHODS[method](S, y, 1e-6, np.inf), 0
            while state.objective() > target and sweeps < 30_000:
                state.sweep()
                sweeps += 1
            row[method] = sweeps
        rows.append(row)
        print(row, flush=True)
    return rows


def main():
    with threadpool_limits(1):
        law = by_condition()
        items = [compare(name, S, y, *point) for name, S, y in problems() for point in POINTS]
    write_facts("descent", items=items, by_condition=law)


if __name__ == "__main__":
    main()
