"""Simulated results of studies for the tests of reports, with any names."""

from html.parser import HTMLParser

import numpy as np

from similis.study import StudyResult
from similis.study._assemble import MatrixFacts
from similis.study._entry import Entry, MethodInfo
from similis.study._picture import Picture
from similis.study._problem import make_problem
from similis.study._protocol import Protocol

METHODS = {"knn": 0.25, "nc": 0.45, "svm-kernel(clip)": 0.05, "majority": 0.9}


def similarities(n, n_classes, rng, spread=1.0):
    """Similarities of points in clouds, made indefinite by noise, and the class codes."""
    codes = np.arange(n) % n_classes
    Z = 3 * rng.normal(size=(n_classes, 3))[codes] + spread * rng.normal(size=(n, 3))
    D = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    noise = rng.normal(size=(n, n))
    return np.exp(-D / 3) + 0.01 * (noise + noise.T), codes


def make_result(n=60, n_classes=3, methods=METHODS, n_splits=6, *, seed=0, ids=None, labels=None, matrix=True):
    """Result of a study with random predictions; `methods` maps each method to its error rate."""
    rng = np.random.default_rng(seed)
    S, codes = similarities(n if matrix else 30, n_classes, rng)
    codes = np.arange(n) % n_classes
    labels = np.array(labels if labels is not None else [f"class {g}" for g in range(n_classes)])
    protocol = Protocol("random", n_splits, 0.2, 3, 0)
    splits = protocol.splits(codes, None)
    entries = {}
    for split in splits:
        for name, error in methods.items():
            truth = codes[split.test]
            said = np.where(rng.random(len(truth)) < error, rng.integers(n_classes, size=len(truth)), truth)
            proba = 0.6 * np.eye(n_classes)[said] + 0.4 / n_classes
            entries[name, split.number] = Entry(
                name, split.number, predictions=said, proba=None if "svm" in name else proba, fit_seconds=error
            )
    source = make_problem(S, labels[codes], ids=ids) if matrix else None
    order = np.argsort(labels)  # classes are stored in sorted order
    place = np.argsort(order)
    for key, entry in entries.items():
        entries[key] = Entry(
            *key,
            predictions=place[entry.predictions],
            proba=None if entry.proba is None else entry.proba[:, order],
            fit_seconds=entry.fit_seconds,
        )
    infos = [
        MethodInfo(name, paper="chen2010 sec. 3", summary=f"what {name} is", baseline=name == "majority")
        for name in methods
    ]
    return StudyResult(
        classes=labels[order],
        codes=place[codes],
        splits=splits,
        methods=infos,
        entries=entries,
        protocol=protocol,
        situation=MatrixFacts(),
        ids=None if ids is None else tuple(ids),
        sessions=[{"started": "2024-01-01T00:00:00+00:00", "versions": {"similis": "0"}, "machine": {"cpu": "x"}}],
        source=source,
        name="toys",
    )


def noisy_picture(n, seed=0):
    """Summary of a matrix of `n` objects that compresses badly."""
    rng = np.random.default_rng(seed)
    m, p = min(n, 450), min(n, 1000)
    return Picture(
        objects=np.sort(rng.choice(n, m, replace=False)),
        levels=rng.integers(0, 256, size=(m, m), dtype=np.uint8),
        low=-1.0,
        high=1.0,
        nearness=rng.permutation(m),
        looked_at=np.sort(rng.choice(n, p, replace=False)),
        eigenvalues=np.sort(rng.normal(size=p))[::-1],
        points=rng.normal(size=(p, 2)),
        shares=(0.2, 0.1),
        signature=(1, -1),
        facts=(("symmetric", "yes"),),
        advice=("Look at it.",),
        suspects=((0, 1, 0.5, 0.1, 9.0),),
        n_suspects=1,
    )


class Outline(HTMLParser):
    """Count elements, and marks by plot; assert that elements are closed in order."""

    VOID = frozenset({"meta", "img", "input", "br", "wbr", "circle", "line", "path", "rect", "use"})

    def __init__(self, page):
        super().__init__()
        self.open, self.marks, self.ids, self.tags = [], {}, [], {}
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if "id" in given:
            self.ids.append(given["id"])
        css = given.get("class", "").split()
        if "m" in css:
            kind = next(c for _, c in reversed(self.open) if c)
            self.marks[kind] = self.marks.get(kind, 0) + 1
        if tag not in self.VOID:
            self.open.append((tag, css[-1] if "plot" in css else ""))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag
