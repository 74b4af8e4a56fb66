"""k-medoids by enumeration and by the definition of an exchange; costs are to be minimized."""

from itertools import combinations

import numpy as np


def loss(D, medoids, weights=None):
    best = D[:, list(medoids)].min(axis=1)
    return float(best.sum() if weights is None else best @ weights)


def best_medoids(D, k, weights=None):
    """The least loss over all sets of k objects."""
    return min(loss(D, chosen, weights) for chosen in combinations(range(len(D)), k))


def exchange_losses(D, medoids, weights=None):
    """losses[m, j]: the loss when medoid m gives way to object j."""
    losses = np.empty((len(medoids), len(D)))
    for m in range(len(medoids)):
        for j in range(len(D)):
            changed = list(medoids)
            changed[m] = j
            losses[m, j] = loss(D, changed, weights)
    return losses


def vertex_substitution(D, medoids, weights=None):
    """Best exchange of each sweep until none improves; the list of losses on the way."""
    medoids, trail = list(medoids), []
    while True:
        now = loss(D, medoids, weights)
        trail.append(now)
        losses = exchange_losses(D, medoids, weights)
        if not losses.min() < now - 1e-12 * max(1.0, abs(now)):
            return medoids, trail
        m, j = np.unravel_index(losses.argmin(), losses.shape)
        medoids[m] = int(j)


def alternating(D, medoids, weights=None):
    """Assign, choose each cluster's best object, until nothing changes or nothing improves."""
    medoids = list(medoids)
    weights = np.ones(len(D)) if weights is None else weights
    while True:
        labels = D[:, medoids].argmin(axis=1)
        chosen = []
        for m in range(len(medoids)):
            members = np.flatnonzero(labels == m)
            totals = [weights[members] @ D[members, j] for j in members]
            chosen.append(int(members[np.argmin(totals)]) if len(members) else medoids[m])
        if chosen == medoids or not loss(D, chosen, weights) < loss(D, medoids, weights):
            return medoids
        medoids = chosen
