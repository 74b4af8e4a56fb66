"""Similarity discriminant analysis from its equations, in plain loops; point masses by one very large exponent."""

from functools import cache

import numpy as np

from oracles.centroids import max_sum_centroid
from oracles.maxent import exponent

LARGE = 1e9  # stands for the infinite exponent, on a domain scaled to width one


@cache
def fitted(mean, domain):
    """lambda for a domain scaled to width one, the end it favors, and the log partition function seen from there."""
    low, high = min(domain), max(domain)
    lam = float(np.clip(exponent(list(domain), mean) * (high - low), -LARGE, LARGE))
    end = high if lam > 0 else low
    return lam, end, np.log(sum(np.exp(lam * (v - end) / (high - low)) for v in domain))


def log_p(value, mean, domain):
    """log of gamma exp(lambda v) on a finite set `domain` at `value`, lambda fixed by the mean."""
    width = max(domain) - min(domain)
    if width == 0:
        return 0.0
    lam, end, log_z = fitted(float(mean), tuple(domain))
    return lam * (value - end) / width - log_z


def posterior(log_likelihoods, priors):
    scores = np.array([ll + np.log(p) if p > 0 else -np.inf for ll, p in zip(log_likelihoods, priors)])
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def mean_near(values, domain):
    """The mean, put on an end of the domain when all values are there."""
    values = list(values)
    return values[0] if len(set(values)) == 1 else float(np.mean(values))


def statistics(S, codes, row, name, centroids, own=None, sign=1.0):
    """T(x) of a row; `own` is the row's own index in training, left out of nearest neighbors."""
    classes = sorted(set(codes))
    if name == "centroid":
        return [row[mu] for mu in centroids]
    if name == "nearest":
        return [
            sign * max(sign * row[z] for z in range(len(row)) if codes[z] == h and z != own)
            if any(codes[z] == h and z != own for z in range(len(row)))
            else None
            for h in classes
        ]
    if name == "total":
        return [sum(row[z] for z in range(len(row)) if codes[z] == h) for h in classes]
    if name == "rows":
        return list(row)
    s = [row[mu] for mu in centroids]
    pairs = [(a, b) for a in range(len(s)) for b in range(a + 1, len(s))]
    return [*s, *(s[a] * s[b] for a, b in pairs), *(v * v for v in s)]


def sda(S, codes, Q, name="centroid", sign=1.0, pseudocount=0.0, domain=None):
    """Probabilities of the rows of Q, with Omega the distinct values of S (or of the statistic itself)."""
    classes, n = sorted(set(codes)), len(S)
    centroids = [max_sum_centroid(S, [i for i in range(n) if codes[i] == h], sign) for h in classes]
    T = [statistics(S, codes, S[i], name, centroids, i, sign) for i in range(n)]
    M, G = len(T[0]), len(classes)
    entries = sorted(set(np.asarray(S).ravel().tolist()))
    omegas = []
    for m in range(M):
        of_matrix = name in ("centroid", "nearest", "rows") or (name == "quadratic" and m < G)
        omegas.append(domain or (entries if of_matrix else sorted({t[m] for t in T})))
    priors = [sum(c == h for c in codes) / n for h in classes]
    answers = []
    for row in Q:
        t = statistics(S, codes, row, name, centroids, None, sign)
        scores = []
        for h in classes:
            total = 0.0
            for m in range(M):
                known = [T[i][m] for i in range(n) if codes[i] == h and T[i][m] is not None]
                if not known:
                    total += -np.log(len(omegas[m]))
                    continue
                mean = mean_near(known, omegas[m])
                if pseudocount:
                    pooled = np.mean([T[i][m] for i in range(n) if T[i][m] is not None])
                    mean = (len(known) * mean + pseudocount * pooled) / (len(known) + pseudocount)
                total += log_p(t[m], mean, omegas[m])
            scores.append(total)
        answers.append(posterior(scores, priors))
    return np.array(answers)


def ranked(row, sign, candidates):
    return sorted(candidates, key=lambda j: (-sign * row[j], j))


def local_sda(S, codes, row, members, domain, n_classes, sign=1.0, smallest=3, smoothing=0.0, weights=None):
    """Probabilities of one row from ranked neighbors `members`."""
    counts = [sum(codes[j] == h for j in members) for h in range(n_classes)]
    w = dict(zip(members, weights)) if weights is not None else dict.fromkeys(members, 1.0)
    present = [h for h in range(n_classes) if counts[h]]
    for h in present:
        if sum(w[j] for j in members if codes[j] == h) == 0:
            w.update({j: 1.0 for j in members if codes[j] == h})
    centroids = {}
    for h in present:
        own = [j for j in members if codes[j] == h]
        sums = [sign * sum(w[z] * S[z, mu] for z in own) / sum(w[z] for z in own) for mu in own]
        centroids[h] = next(mu for mu, s in zip(own, sums) if s >= max(sums) - 1e-12 * max(1.0, abs(max(sums))))
    if any(counts[h] < smallest for h in present):
        winner = max(present, key=lambda h: (sign * row[centroids[h]], counts[h], -h))
        return (1 - smoothing) * np.eye(n_classes)[winner] + smoothing / n_classes
    scores = np.full(n_classes, -np.inf)
    for g in present:
        own = [j for j in members if codes[j] == g]
        total = 0.0
        for h in present:
            values = [S[z, centroids[h]] for z in own]
            at_end = len({v for v, z in zip(values, own) if w[z] > 0}) == 1
            mean = next(v for v, z in zip(values, own) if w[z] > 0) if at_end else None
            if mean is None:
                mean = sum(w[z] * v for z, v in zip(own, values)) / sum(w[z] for z in own)
            lp = log_p(row[centroids[h]], mean, domain)
            if smoothing:
                lp = np.log((1 - smoothing) * np.exp(lp) + smoothing / len(domain))
            total += lp
        scores[g] = total
    return posterior(scores, [c / len(members) for c in counts])


def mixture_em(T, domain, n_iter):
    """EM for sum_l w_l gamma_l exp(lambda_l s_l), eq. (5.9)-(5.12), from uniform responsibilities."""
    n, c = T.shape
    share = np.full((n, c), 1.0 / c)
    path = []
    for _ in range(n_iter):
        weights = share.mean(axis=0)
        means = [float(share[:, k] @ T[:, k] / share[:, k].sum()) for k in range(c)]
        densities = np.exp([[log_p(float(t), means[k], domain) for k, t in enumerate(row)] for row in T])
        joint = weights * densities
        path.append(np.log(joint.sum(axis=1)).sum())
        share = joint / joint.sum(axis=1, keepdims=True)
    exponents = [fitted(mean, tuple(domain))[0] / (max(domain) - min(domain)) for mean in means]
    return np.array(exponents), weights, np.array(path)
