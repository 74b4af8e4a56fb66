"""Formats of files of proximities, and what it means that nothing was lost on the way."""

import numpy as np

FORMATS = ["m.npz", "m.npy", "m.csv", "m.tsv", "m.csv.gz", "m.parquet"]


def same(P, Q):
    assert np.array_equal(P.values, Q.values, equal_nan=True)
    assert (P.ids, P.column_ids, P.kind) == (Q.ids, Q.column_ids, Q.kind)
    assert (P.labels is None) == (Q.labels is None)
    if P.labels is not None:
        np.testing.assert_array_equal(P.labels, Q.labels)
