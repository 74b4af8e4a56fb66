"""Importing similis against importing what it needs of NumPy, SciPy and scikit-learn.

    python benchmarks/bench_import.py          # writes benchmarks/results/import.json

Every time is a fresh process that finds everything compiled to bytecode, as after an installation. The floor 0.83 says:
at most 1.2 times the peer. The second line shows what naming estimators of five packages adds to the libraries below
them.
"""

import os
import subprocess
import sys
import tempfile

from _measure import Benchmark

PARTS = (
    "import numpy, scipy.linalg, scipy.stats, joblib, sklearn.base, sklearn.metrics, sklearn.model_selection, "
    "sklearn.pipeline, sklearn.svm"
)
ESTIMATORS = "from similis import NearestCentroid, PathSearchCV, Pairwise, SimilarityKNN, SpectrumClip, VDM"


def main():
    bench = Benchmark("import")
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}

        def run(code):
            command = [sys.executable, "-c", code]
            subprocess.run(command, check=True, env=environment)  # writes the bytecode
            return lambda: subprocess.run(command, check=True, env=environment)

        for name, ours, peer, peer_name, floor, goal in (
            ("import similis", "import similis", "import numpy", "import numpy", 2, 3),
            ("import and name six estimators", ESTIMATORS, PARTS, "the parts it needs", 0.83, 1),
        ):
            bench.compare(name, run(ours), run(peer), peer_name=peer_name, floor=floor, goal=goal, repeats=9)
    print(bench.write())


if __name__ == "__main__":
    main()
