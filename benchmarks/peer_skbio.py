"""Tests of group differences by scikit-bio, for bench_group_tests.py: runs in its own environment.

Reads an archive with distances D, E and U, groups y and the number of permutations; prints statistics and
processor seconds as JSON.
"""

import json
import sys
import time

import numpy as np
from skbio.stats.distance import DistanceMatrix, anosim, mantel, permanova


def main():
    with np.load(sys.argv[1]) as data:
        y, permutations = data["y"], int(data["permutations"])
        first, second, unrelated = (DistanceMatrix(data[name]) for name in "DEU")
    tests = {
        "PERMANOVA": lambda: permanova(first, y, permutations=permutations)["test statistic"],
        "ANOSIM": lambda: anosim(first, y, permutations=permutations)["test statistic"],
        "Mantel": lambda: mantel(first, second, permutations=permutations)[0],
        "Mantel (unrelated)": lambda: mantel(first, unrelated, permutations=permutations)[0],
    }
    found = {}
    for name, test in tests.items():
        start = time.process_time()
        statistic = float(test())
        found[name] = {"statistic": statistic, "seconds": time.process_time() - start}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
