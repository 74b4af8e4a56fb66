"""Leaderboard: every method of the study, and peers, on every matrix at hand by one protocol.

    SIMILIS_DATA=... python benchmarks/leaderboard.py run --out FOLDER --splits 10   # resumes where it was stopped
    python benchmarks/leaderboard.py run --out FOLDER --splits 10 --extra MATRICES   # with matrices of your own
    python benchmarks/leaderboard.py page                                            # docs/leaderboard.md, its pictures

Protocol: stratified random splits, a fifth of the objects held out; parameters are chosen by 5 folds inside the
training part; one thread. Journals in FOLDER hold the predictions; benchmarks/results/leaderboard.json holds errors and
times only, since most of the data may not be passed on. MATRICES is a folder of npz files, each with a matrix S
(similarities) or D (dissimilarities) and labels y. LightGBM is a peer where it is installed; proto-dist-ml and MKLpy
run in environments of their own (_peers.py).
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from _measure import RESULTS, compact_json, machine, versions
from _peers import ask
from sklearn.preprocessing import StandardScaler

from similis import Counting, Edit, Minkowski, Pairwise, Study, WeisfeilerLehman
from similis.datasets import has_dataset, load_benchmark
from similis.study import Method, list_methods

HERE = Path(__file__).parent
RECORD = RESULTS / "leaderboard.json"
N_FOLDS = 5
LARGE = 220  # objects; larger data sets may have fewer splits
LEFT_OUT = {
    "mixed-sda": "reads tables",
    "naive-bayes": "reads tables",
    "completion-svm": "reads a kernel with missing rows and an auxiliary kernel",
    "simmkl": "reads several matrices",
    "mkl": "reads several matrices",
    "mkl(signed)": "reads several matrices",
    "simsvm(lp)": "takes minutes for a hundred objects",
    "full-kernel-svm": "takes minutes for a hundred objects",
}


def matrix(name):
    data = load_benchmark(name)
    return data.proximity, data.target, data.kind


def vectors(name):
    """Euclidean distances between standardized features."""
    data = load_benchmark(name)
    return Pairwise(Minkowski()).fit_transform(StandardScaler().fit_transform(data.data)), data.target, "dissimilarity"


def votes(name):
    data = load_benchmark(name)
    return Pairwise(Counting()).fit_transform(data.data), data.target, "similarity"


def sequences(name):
    """Edit distances; 80 sequences of each class at most."""
    data = load_benchmark(name)
    rng = np.random.default_rng(0)
    classes = [np.flatnonzero(data.target == g) for g in np.unique(data.target)]
    some = np.sort(np.concatenate([rng.permutation(members)[:80] for members in classes]))
    return Pairwise(Edit()).fit_transform([data.sequences[i] for i in some]), data.target[some], "dissimilarity"


def graphs(name):
    data = load_benchmark(name)
    return Pairwise(WeisfeilerLehman()).fit_transform(data.graphs), data.target, "similarity"


# Name of the data set -> how its matrix is made, and its description on the page.
SETS = {
    "aural_sonar": (matrix, "sonar echoes, similarities judged by people"),
    "protein_uw": (matrix, "protein sequences, with 1509 damaged pairs"),
    "protein": (matrix, "protein sequences, evolutionary distances"),
    "voting_vdm": (matrix, "votes, value differences"),
    "yeast_7_12": (matrix, "yeast proteins, Smith-Waterman scores"),
    "chicken_pieces": (matrix, "silhouettes, asymmetric edit distances"),
    "morse": (matrix, "Morse signals, asymmetric confusions by people"),
    "votes": (votes, "votes, number of equal ones"),
    "promoters": (sequences, "DNA, edit distances"),
    "splice": (sequences, "DNA, edit distances, 80 of each class"),
    "mutag": (graphs, "molecules, Weisfeiler-Lehman kernel"),
    "sonar": (vectors, "60 measures, Euclidean distances"),
    "iris": (vectors, "4 measures, Euclidean distances"),
    "wine": (vectors, "13 measures, Euclidean distances"),
    "crabs": (vectors, "5 measures, Euclidean distances"),
    "bupa": (vectors, "6 measures, Euclidean distances"),
}


def problems(extra):
    """Yield name, proximities, codes and kind of each data set that is at hand."""
    for name, (make, _) in SETS.items():
        if has_dataset(name):
            yield name, *make(name)
    for path in sorted(Path(extra).glob("*.npz")) if extra else ():
        with np.load(path) as file:
            kind = "similarity" if "S" in file else "dissimilarity"
            yield path.stem, file["S" if "S" in file else "D"], np.unique(file["y"], return_inverse=True)[1], kind


def logistic_on_rows():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def lightgbm_on_rows():
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, min_child_samples=5, n_jobs=1, verbose=-1, random_state=0)


PEERS = [
    Method("logistic-rows", logistic_on_rows, {"logisticregression__C": [1e-4, 1e-3, 0.01, 0.1, 1]}, reads="either"),
    Method("lightgbm-rows", lightgbm_on_rows, {"num_leaves": [4, 16]}, reads="either"),
]


def methods():
    """Every method that reads one matrix, and the peers that are scikit-learn estimators."""
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        peers = PEERS[:1]
    else:
        peers = PEERS
    return [*(method for method in list_methods() if method.name not in LEFT_OUT), *peers]


def run(options):
    """Run every data set with one split more each round, so that a stopped run has compared all methods."""
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for last in range(options.first, options.splits + 1):
        results = []
        for name, P, y, kind in problems(options.extra):
            if (options.set and name not in options.set) or len(y) > (options.max_objects or len(y)):
                continue
            n_splits = min(last, options.large_splits or last) if len(y) > LARGE else last
            study = Study(
                methods(),
                protocol="stratified",
                n_splits=n_splits,
                cv=N_FOLDS,
                n_jobs=1,
                journal=folder / f"{name}.journal",
                metric="error",
                race=False,
                probabilities=False,
            )
            result = study.run(P, y, kind=kind)
            found = [
                {
                    "set": name,
                    "method": row.method,
                    "by": "peer" if row.baseline or row.method.endswith("-rows") else "similis",
                    "error": row.error,
                    "sd": row.error_sd,
                    "seconds": row.fit_seconds + row.predict_seconds,
                    "splits": row.n_splits,
                    **({"failed": row.reason[:120]} if row.status == "failed" else {}),
                }
                for row in result.table()
            ]
            if not options.no_peers:
                found += other_environments(name, P, y, kind, result, folder)
            results.append(({"set": name, "objects": len(y), "kind": kind, "splits": n_splits}, found))
            print(f"{n_splits} splits: {name}", flush=True)
        if not options.set:
            write(results)


def other_environments(name, P, y, kind, result, folder):
    """Lines of peers that need other versions of our dependencies, from the same splits."""
    path = folder / f"{name}.peers.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    D = np.asarray(P if kind == "dissimilarity" else P.max() - P, dtype=float)
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    problem = {"y": y, "n_folds": N_FOLDS}
    for number, split in list(enumerate(result.splits))[len(known.get("splits", [])) :]:
        tests = np.isin(np.arange(len(y)), split.test)[None]
        found = {}
        for peer, script, arrays in (
            ("proto-dist-ml", "peer_lvq.py", {"D": D}),
            ("MKLpy", "peer_mkl.py", {"S": D.max() - D}),
        ):
            try:
                found |= ask(peer, HERE / script, tests=tests, **arrays, **problem) or {}
            except Exception as error:  # the peer's own failure becomes a gap in the table
                print(f"{name}: {peer} fails on split {number}: {str(error)[:100]}", flush=True)
        known.setdefault("splits", []).append(found)
        path.write_text(json.dumps(known))
    lines = []
    splits = known["splits"][: len(result.splits)]
    for method in dict.fromkeys(key for found in splits for key in found):
        errors = [found[method]["errors"][0] for found in splits if "errors" in found.get(method, {})]
        seconds = [found[method]["seconds"][0] for found in splits if "seconds" in found.get(method, {})]
        if len(errors) == len(splits):
            lines.append(
                {
                    "set": name,
                    "method": {"RGLVQ": "proto-dist-ml RGLVQ", "MGLVQ": "proto-dist-ml MGLVQ"}.get(
                        method, f"MKLpy {method}"
                    ),
                    "by": "peer",
                    "error": float(np.mean(errors)),
                    "sd": float(np.std(errors, ddof=1)) if len(errors) > 1 else None,
                    "seconds": float(np.mean(seconds)),
                    "splits": len(errors),
                }
            )
    return lines


def write(results):
    """Write errors and times with versions and the kind of machine."""
    from datetime import UTC, datetime

    record = {
        "name": "leaderboard",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(("numpy", "scipy", "scikit-learn", "numba", "lightgbm"))
        | {"proto-dist-ml": "1.0.1", "MKLpy": "0.6"},
        "protocol": {"test_size": 0.2, "folds": N_FOLDS, "scheme": "stratified"},
        "sets": [one for one, _ in results],
        "rows": [row for _, rows in results for row in rows],
    }
    RECORD.write_text(compact_json(json.loads(json.dumps(record).replace("NaN", "null"))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "page"])
    parser.add_argument("--out", help="folder of journals; a run on the same folder resumes")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--first", type=int, default=1, help="number of splits of the first round")
    parser.add_argument("--large-splits", type=int, help=f"splits of data sets with more than {LARGE} objects")
    parser.add_argument(
        "--set", action="append", help="this data set only, without writing the record; may be repeated"
    )
    parser.add_argument("--max-objects", type=int, help="leave out larger data sets")
    parser.add_argument("--no-peers", action="store_true", help="leave out proto-dist-ml and MKLpy")
    parser.add_argument("--extra", help="folder of npz files with S or D, and y")
    options = parser.parse_args()
    if options.command == "page":
        from _leaderboard_page import write_page

        write_page(json.loads(RECORD.read_text()) if RECORD.exists() else None)
    elif not options.out:
        parser.error("run needs --out FOLDER")
    else:
        run(options)


if __name__ == "__main__":
    main()
