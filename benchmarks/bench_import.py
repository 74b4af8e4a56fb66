"""Importing similis against importing what it needs of NumPy, SciPy and scikit-learn.

    python benchmarks/bench_import.py          # writes benchmarks/results/import.json

Every time is a fresh process. The floor 0.83 says: at most 1.2 times the peer. The second line shows what naming
estimators of five rooms adds to the libraries below them.
"""

import subprocess
import sys

from _measure import Benchmark

PARTS = (
    "import numpy, scipy.linalg, scipy.stats, joblib, sklearn.base, sklearn.metrics, sklearn.model_selection, "
    "sklearn.pipeline, sklearn.svm"
)
ROOMS = "from similis import NearestCentroid, PathSearchCV, Pairwise, SimilarityKNN, SpectrumClip, VDM"


def run(code):
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def main():
    bench = Benchmark("import")
    for name, ours, peer, peer_name, floor, goal in (
        ("import similis", "import similis", "import numpy", "import numpy", 2, 3),
        ("import and name six estimators", ROOMS, PARTS, "the parts it needs", 0.83, 1),
    ):
        bench.compare(name, run(ours), run(peer), peer_name=peer_name, floor=floor, goal=goal, repeats=9)
    print(bench.write())


if __name__ == "__main__":
    main()
