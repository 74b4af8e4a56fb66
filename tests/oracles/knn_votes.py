"""k-NN with k chosen by leave-one-out, in plain loops."""

import numpy as np

__all__ = ["leave_one_out_knn"]


def vote(S, y, query, allowed, k):
    """Majority of the k most similar; equal similarities by lower index, tied votes to the smaller label."""
    ranked = sorted(allowed, key=lambda j: (-S[query, j], j))[:k]
    counts = {label: sum(y[j] == label for j in ranked) for label in sorted(set(y[ranked].tolist()))}
    return max(counts, key=lambda label: (counts[label], -label))


def leave_one_out_knn(S, y, i, ks):
    """The k that errs least among the others (the smallest on a tie), and the label it gives object i."""
    others = [j for j in range(len(y)) if j != i]
    wrong = [sum(vote(S, y, j, [m for m in others if m != j], k) != y[j] for j in others) for k in ks]
    k = ks[int(np.argmin(wrong))]
    return k, vote(S, y, i, others, k)
