"""k-medoids of BanditPAM, scikit-learn-extra and pyclustering, for bench_medoids.py: runs in an environment of its own.

Reads an archive with distances D, the number of medoids k and a start; prints totals and
processor seconds as JSON.
"""

import json
import sys
import time

import numpy as np
from banditpam import KMedoids as BanditPAM
from pyclustering.cluster.kmedoids import kmedoids
from sklearn_extra.cluster import KMedoids


def banditpam(D, k, start):
    model = BanditPAM(k, parallelize=False)
    model.fit(D, "L2", dist_mat=D)
    return model.medoids


def scikit_learn_extra(D, k, start):
    return KMedoids(k, metric="precomputed", method="pam", init="random", random_state=0).fit(D).medoid_indices_


def pyclustering(D, k, start):
    model = kmedoids(D, start.tolist(), data_type="distance_matrix")
    return model.process().get_medoids()


def main():
    with np.load(sys.argv[1]) as data:
        D, k, start = data["D"], int(data["k"]), data["start"]
    found = {}
    for name, solve, matrix in (
        ("BanditPAM", banditpam, D.astype(np.float32)),
        ("scikit-learn-extra (pam)", scikit_learn_extra, D),
        ("pyclustering", pyclustering, D),
    ):
        begin = time.process_time()
        medoids = np.asarray(solve(matrix, k, start), dtype=int)
        seconds = time.process_time() - begin
        found[name] = {"total": float(D[:, medoids].min(axis=1).sum()), "seconds": seconds}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
