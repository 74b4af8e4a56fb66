"""Floors and goals that were set before anything was measured, with a peer for each kind of work.

A target names the script, the items of its record that it covers and their peer. Floors are ratios that every such
item has to reach; goals are the ratios of a first trial on a busy machine. Scripts may set a higher floor for an item,
never a lower one.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One target: items of ``results/<record>.json`` whose names start with `item` and whose peer holds `peer`."""

    work: str
    record: str
    item: str
    peer: str
    floor: float
    goal: float

    def items(self, found):
        """Those of `found` that it covers."""
        return [i for i in found if i["name"].startswith(self.item) and self.peer in i["peer"]]


@dataclass(frozen=True)
class OpenGoal(Target):
    """Goal of version 1.0 that is not reached and left as it is, with the reason."""

    why: str


def _same(work, record, *rows):
    return tuple(Target(work, record, *row) for row in rows)


TARGETS = (
    *_same("k-NN, 10 folds x 19 k", "knn", ("k-NN search", "GridSearchCV", 30, 60)),
    *_same("k-NN, predict with k = 16", "knn", ("k-NN predict", "KNeighborsClassifier", 2, 4)),
    *_same(
        "KRI, 19 k x 9 lambda",
        "kri",
        ("KRI sweep", "quadprog", 8, 19),
        ("KRI sweep", "daqp", 3, 8),
        ("KRI sweep", "cvxpy", 25, 50),
    ),
    *_same(
        "regression",
        "regression",
        ("ridge", "SVR", 10, 20),
        ("k-NN regression search", "GridSearchCV(KNeighborsRegressor)", 3, 10),
    ),
    *_same("KRR, 19 k x 5 lambda", "krr", ("KRR sweep", "loop", 3, 5), ("KRR sweep", "batched", 1.5, 2)),
    *_same(
        "SDA exponents",
        "sda",
        ("SDA exponents, 9 values", "brentq", 80, 170),
        ("SDA exponents, 200 values", "brentq", 20, 45),
        ("SDA exponents, 5000 values, newton", "brentq", 4, 9),
        ("SDA exponents, 5000 values, table", "brentq", 4, 100),
        ("SDA exponents, interval", "brentq", 50, 240),
    ),
    *_same("clip and flip SVM, 9 C x 10 folds", "svm", ("clip + SVC", "GridSearchCV(clip, SVC)", 4, 7)),
    *_same(
        "P-SVM",
        "psvm",
        ("P-SVM solve, n = 200", "clarabel", 5, 10),
        ("P-SVM solve, n = 800", "clarabel", 15, 30),
        ("P-SVM grid of 30", "single solves", 2, 2),
    ),
    *_same(
        "SimSVM",
        "learned_kernels",
        ("SimSVM, n = 80", "clarabel", 2.5, 7),
        ("SimSVM, n = 350", "clarabel", 4, 8),
        ("SimSVM, n = 800", "clarabel", 7, 14),
    ),
    *_same("SimMKL", "learned_kernels", ("SimMKL, n = 80", "SCS", 100, 600)),
    *_same(
        "indefinite SVM",
        "learned_kernels",
        ("Indefinite SVM, n = 80", "SCS", 4, 8),
        ("Indefinite SVM, value and gradient, n = 350", "decomposition", 3, 4),
        ("Indefinite SVM, value and gradient, n = 800", "decomposition", 3, 4),
        ("Indefinite SVM, value and gradient, n = 2000", "decomposition", 3, 4),
    ),
    *_same(
        "SBC",
        "maxsim",
        ("SBC, four C, n = 2000", "interior points", 50, 150),
        ("SBC, two-letter words", "SVC", 1, 3),
    ),
    *_same(
        "one split of the study, n = 2,000",
        "version_1",
        ("sbc(q=1, strong=true), one split", "1.0.0", 50, 150),
        ("simsvm, one split", "1.0.0", 4, 10),
        ("psvm, one split", "1.0.0", 1.3, 2),
        ("svm-features(rbf), one split", "1.0.0", 2.5, 3.2),
        ("svc-d2, one split", "1.0.0", 2, 3),
        ("parzen-f(dimension=none), one split", "1.0.0", 1.5, 2),
        ("rnlc, 8 regularizers", "1.0.0", 1.7, 2.2),
        ("Indefinite SVM", "1.0.0", 1.25, 2),
        ("SimMKL search", "one thread", 0.67, 1),
        ("all methods of 1.0", "1.0.0", 2, 4),
    ),
    *_same(
        "searches of the study, against the solvers of version 1.0",
        "searches",
        ("SimSVM grid of 20, n = 800", "interior points", 4, 10),
        ("P-SVM grid of 30, n = 800", "all coefficients", 1.3, 2),
        ("RNLC, 8 regularizers, n = 1440", "eigenvectors", 1.7, 2.2),
        ("Parzen, rank of the rows, n = 1440", "singular values", 1.5, 2),
        ("SVM on rows, Gaussian kernel, search, n = 1000", "every width", 1.5, 3.2),
        ("SVC-D2, search, n = 1000", "libsvm", 2, 3),
    ),
    *_same(
        "k-medoids",
        "medoids",
        ("k-medoids (vsh), n = 2500", "plain", 10, 24),
        ("k-medoids (eager), n = 2500", "fasterpam", 0.8, 1),
    ),
    *_same(
        "edit and alignment matrices",
        "objects",
        ("Levenshtein", "rapidfuzz", 0.9, 1),
        ("Smith-Waterman", "parasail", 0.9, 1),
        ("Levenshtein", "edist", 40, 96),
    ),
    *_same("earth mover's distance", "objects", ("earth mover's distance", "POT", 4, 11)),
    *_same("Tanimoto on bits", "measures", ("Tanimoto", "float32", 2, 5)),
    *_same("Tanimoto on bits", "objects", ("Tanimoto", "rdkit", 8, 17)),
    *_same(
        "counting and value differences",
        "measures",
        ("counting, d = 200", "cdist", 8, 18),
        ("VDM", "cdist", 3, 6),
    ),
    *_same("out of core", "scale_disk", ("k-NN pass over npy", "memmap", 0.5, 1)),
    *_same(
        "five million hits",
        "pairs",
        ("read 5000000 hits", "pandas", 0.2, 0.5),
        ("peak memory, 5000000 hits", "pandas", 1.2, 2),
    ),
    *_same(
        "methods after 2010",
        "field",
        ("Krein SVM", "SVC", 0.7, 1),
        ("Krein ridge", "KernelRidge", 0.5, 1),
        ("label spreading", "LabelSpreading", 0.2, 1),
        ("similarity forest", "RandomForestClassifier", 0.5, 1),
        ("relational GLVQ", "proto-dist-ml", 1, 3),
        ("PCVM", "sklearn-rvm", 1, 3),
    ),
    *_same("import", "import", ("import", "", 0.83, 1)),
)

OPEN_GOALS = (
    OpenGoal("k-NN predict", "knn", "k-NN predict", "", 2, 10, "less than 2 ms for 2,500 training objects"),
    OpenGoal("KRR sweep", "krr", "KRR sweep", "loop", 3, 8, "less than 10 ms; `krr-knn` mostly decomposes blocks"),
    OpenGoal("KRR sweep", "krr", "KRR sweep", "batched", 1.5, 3, "as above"),
    OpenGoal("local SDA path", "sda", "local SDA", "", 30, 300, "less than 0.1 s for ten folds and 19 k"),
    OpenGoal("SDA exponents on a continuum", "sda", "SDA exponents, interval", "", 50, 240, "less than 10 ms"),
    OpenGoal("Tanimoto", "measures", "Tanimoto", "", 2, 5, "less than 0.2 s for 5,000 fingerprints"),
    OpenGoal("Levenshtein", "objects", "Levenshtein, length", "rapidfuzz", 0.9, 1.9, "similis uses rapidfuzz too"),
    OpenGoal("VDM, d = 50", "measures", "VDM, d = 50", "", 3, 13, "less than 0.2 s for 5,000 objects"),
    OpenGoal(
        "SimSVM, n = 80", "learned_kernels", "SimSVM, n = 80,", "", 2.5, 20, "4 ms; searches gain more (`version_1`)"
    ),
    OpenGoal("P-SVM", "psvm", "P-SVM solve", "", 5, 40, "4-10 ms at n = 200; searches gain more (`version_1`)"),
)
