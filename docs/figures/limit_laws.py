"""The limit laws of [bernal2003] over a path of widths, on balanced classes of the sonar data.

python docs/figures/limit_laws.py          # writes docs/figures/limit_laws.svg
"""

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from similis import SBC, MaxSim, SimilarityPerceptron, load_sonar

WIDTHS = np.geomspace(0.7, 10, 18)


def balanced_splits(n_splits=10, per_class=60):
    """Standardized sonar returns, as many training objects of each class; the rest, new."""
    X, y = load_sonar(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng(0)
    for _ in range(n_splits):
        train = np.concatenate([rng.permutation(np.flatnonzero(y == g))[:per_class] for g in range(2)])
        test = np.setdiff1d(np.arange(len(y)), train)
        yield X[train], y[train], X[test]


def decisions(S, y, Q):
    """Predictions for new rows by the methods that tend to MaxSim."""
    svm = SVC(kernel="precomputed", C=100.0, tol=1e-8).fit(S, y)
    value = Q[:, svm.support_] @ svm.dual_coef_[0]
    return {
        "SBC": SBC(C=100.0).fit(S, y).predict(Q),
        "perceptron": SimilarityPerceptron().fit(S, y).predict(Q),
        "SVM without intercept": (value > 0).astype(int),
        "SVM": (value + svm.intercept_ > 0).astype(int),
    }


def law_curves():
    """By width: least eigenvalue of Sigma, share of objects that the unit vector fits, agreement with MaxSim."""
    splits = list(balanced_splits())
    eigenvalue, fit = np.zeros(len(WIDTHS)), np.zeros(len(WIDTHS))
    agreement = {}
    for k, sigma in enumerate(WIDTHS):
        for X, y, new in splits:
            gamma = 1 / (2 * sigma**2)
            S, Q = rbf_kernel(X, gamma=gamma), rbf_kernel(new, X, gamma=gamma)
            Sigma = np.where(y[:, None] == y, S, -S)
            eigenvalue[k] += np.linalg.eigvalsh(Sigma)[0] / len(splits)
            fit[k] += np.mean(Sigma.sum(axis=1) > 0) / len(splits)
            maxsim = MaxSim().fit(S, y).predict(Q)
            for name, predicted in decisions(S, y, Q).items():
                agreement.setdefault(name, np.zeros(len(WIDTHS)))[k] += np.mean(predicted == maxsim) / len(splits)
    return eigenvalue, fit, agreement


def main():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        eigenvalue, fit, agreement = law_curves()
    plt.rcParams["svg.hashsalt"] = "similis"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    left.plot(WIDTHS, eigenvalue, "o-", ms=3, label="least eigenvalue of Σ")
    left.plot(WIDTHS, fit, "s-", ms=3, label="objects that the unit vector fits")
    left.set_ylim(0, 1.05)
    for (name, curve), mark in zip(agreement.items(), "o^ds"):
        right.plot(WIDTHS, curve, f"{mark}-", ms=3, label=name)
    right.set_ylabel("new objects decided as by MaxSim")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.invert_xaxis()
        axes.set_xlabel("width of the RBF, tighter to the right")
        axes.set_xticks([10, 5, 2, 1], ["10", "5", "2", "1"])
        axes.minorticks_off()
        axes.legend(frameon=False, fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
