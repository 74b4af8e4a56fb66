"""The damaged protein matrix: which entries are wrong, how, and what shows it. Counts and numbers only.

SIMILIS_DATA=... python benchmarks/finding_protein.py      # seconds; writes benchmarks/results/findings/protein.json

Both matrices are benchmark data that cannot ship: `protein_uw`, similarities as the papers used them, and `protein`,
the distances they were made from. What the damage costs each method comes from the committed reproduction.
"""

import numpy as np
from _finding import write_facts

from similis import NearestCentroid, SimilarityKNN, diagnose, load_benchmark


def leave_one_out_error(model, matrix, y):
    """Percent wrong when each object is answered from all others."""
    answers = model.predict_path_cv(matrix, y, np.arange(len(y)), [{}])[0]
    return round(100 * float(np.mean(answers != y)), 2)


def facts(S, y):
    """What a look at a matrix of similarities shows."""
    found = diagnose(S, y)
    return {
        "negative eigenvalues": int(found.spectrum.n_negative),
        "negative mass, percent": round(100 * float(found.spectrum.negative_mass), 1),
        "triangles broken, percent": round(100 * float(found.triangles.violated), 2),
        "1-NN, leave-one-out error": leave_one_out_error(SimilarityKNN(n_neighbors=1), S, y),
        "nearest centroid, leave-one-out error": leave_one_out_error(NearestCentroid(), S, y),
    }


def main():
    uw, hofmann = load_benchmark("protein_uw"), load_benchmark("protein")
    S, y = np.asarray(uw.proximity), np.asarray(uw.target)
    keep = hofmann.keep213
    D = np.asarray(hofmann.proximity)[np.ix_(keep, keep)]
    assert (np.asarray(hofmann.target)[keep] == y).all()

    largest = float(D.max())
    clean = np.round(1 - D / largest, 5)
    wrong = S != clean
    pairs = np.triu(np.ones_like(wrong), 1).astype(bool)
    # Every wrong entry is the distance less ten, and every distance of ten or more that is right stays so.
    explained = np.array_equal(S, np.round(1 - (D - 10 * wrong) / largest, 5))
    names = [str(name) for name in uw.target_names]
    codes = np.searchsorted(np.unique(y), y)
    between = {
        f"{names[g]}-{names[h]}": {
            "pairs": int((pairs & block).sum()),
            "wrong": int((pairs & block & wrong).sum()),
            "ten or more": int((pairs & block & (D >= 10)).sum()),
        }
        for g in range(len(names))
        for h in range(g, len(names))
        if (block := (codes[:, None] == g) & (codes[None] == h) | (codes[:, None] == h) & (codes[None] == g)).any()
    }
    touched = wrong.sum(axis=1)
    write_facts(
        "protein",
        objects=len(y),
        pairs=int(pairs.sum()),
        wrong_pairs=int((wrong & pairs).sum()),
        explained_by_a_lost_ten=bool(explained),
        largest_distance=largest,
        pairs_of_ten_or_more=int((pairs & (D >= 10)).sum()),
        range_of_wrong_distances=[float(D[wrong].min()), float(D[wrong].max())],
        objects_touched=int((touched > 0).sum()),
        median_wrong_entries_a_row=float(np.median(touched)),
        rows_whose_nearest_is_wrong=int(
            sum(wrong[i, np.argmax(np.where(np.arange(len(y)) == i, -np.inf, S[i]))] for i in range(len(y)))
        ),
        by_classes=between,
        damaged=facts(S, y),
        clean=facts(clean, y),
    )


if __name__ == "__main__":
    main()
