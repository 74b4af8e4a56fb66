"""Centroid classifiers from their definitions, in plain loops."""

import numpy as np

TIE = 1e-12


def _first_best(pairs):
    """Key of the largest value; the first of those equal to it up to round-off."""
    best = max(value for _, value in pairs)
    return next(key for key, value in pairs if value >= best - TIE * max(1.0, abs(best)))


def max_sum_centroid(S, members, sign=1.0):
    """mu = argmax over members of the mean over known entries of s(z, mu)."""
    means = []
    for mu in members:
        known = [sign * S[z, mu] for z in members if not np.isnan(S[z, mu])]
        means.append((mu, sum(known) / len(known) if known else -np.inf))
    return _first_best(means)


def any_class_centroid(S, members, sign=1.0):
    """[cazzanti2007] Eq. (3.10) over all training objects mu: argmax of the mean of s(z, mu) over members z."""
    return _first_best([(mu, sum(sign * S[z, mu] for z in members) / len(members)) for mu in range(len(S))])


def popular_centroid(S, members, sign=1.0):
    """The member that is the nearest neighbor of most objects; ties by total similarity to those objects."""
    n = len(S)
    admirers = {z: [] for z in range(n)}
    for i in range(n):
        others = [(j, sign * S[i, j]) for j in range(n) if j != i and not np.isnan(S[i, j])]
        if others:
            best = max(value for _, value in others)
            admirers[next(j for j, value in others if value == best)].append(i)
    most = max(len(admirers[z]) for z in members)
    leaders = [z for z in members if len(admirers[z]) == most]
    return _first_best([(z, sum(sign * S[i, z] for i in admirers[z])) for z in leaders])


def nearest_centroid(S, codes, Q, rule="max-sum", adjusted=False, sign=1.0):
    choose = {"max-sum": max_sum_centroid, "popular": popular_centroid, "any-class": any_class_centroid}[rule]
    classes = sorted(set(codes))
    centroids = [choose(S, [i for i, c in enumerate(codes) if c == h], sign) for h in classes]
    answers = []
    for row in Q:
        scores = []
        for h, mu in zip(classes, centroids):
            score = row[mu]
            if adjusted:
                members = [i for i, c in enumerate(codes) if c == h]
                score = score / (sum(S[z, mu] for z in members) / len(members))
            scores.append(sign * score)
        answers.append(classes[int(np.argmax(scores))])
    return centroids, np.array(answers)


def local_nearest_centroid(S, codes, Q, k, sign=1.0):
    answers = []
    for row in Q:
        order = sorted((j for j in range(len(row)) if not np.isnan(row[j])), key=lambda j: (-sign * row[j], j))[:k]
        best = None
        for h in sorted({codes[j] for j in order}):
            members = [j for j in order if codes[j] == h]
            mu = max_sum_centroid(S, members, sign)
            rank = (sign * row[mu], len(members))
            if best is None or rank > best[0]:
                best = (rank, h)
        answers.append(best[1])
    return np.array(answers)
