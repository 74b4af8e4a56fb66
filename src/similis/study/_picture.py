"""Summary of the matrix for a report: a bounded number of objects, classes in proportion, and rounded numbers."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.arrays import Array, Floats, Indices
from similis.distributed import choose_landmarks
from similis.exceptions import ProximityError
from similis.proximity import EmbeddingDisplay, MatrixDisplay, SpectrumDisplay, ToSimilarity, diagnose
from similis.study._entry import as_indices, to_json
from similis.study._problem import MeasureStep

if TYPE_CHECKING:
    from similis.study._assemble import MatrixFacts
    from similis.study._problem import Problem

HEAT = 450  # objects of the heat map
POINTS = 1000  # objects of embedding, spectrum and diagnosis
SUSPECTS = 12  # pairs listed


@dataclass(frozen=True, eq=False)
class Picture:
    """Summary of the matrix of a study, as a report shows it."""

    objects: Indices  # of the heat map, by class, similar ones adjacent
    levels: NDArray[np.uint8]  # their proximities in 255 levels from `low` to `high`; 0 is a missing entry
    low: float
    high: float
    nearness: Indices  # positions in `objects`, ordered by similarity alone
    looked_at: Indices  # objects behind spectrum, embedding and facts
    eigenvalues: Floats | None  # of their similarities, descending; None where entries are missing
    points: Floats | None  # their embedding in a plane; None where missing entries leave objects unconnected
    shares: tuple[float, ...]  # of the two axes of the embedding; 0 where entries are missing
    signature: tuple[int, ...]  # signs of the axes; 1 where entries are missing
    facts: tuple[tuple[str, str], ...]  # the diagnosis, line by line
    advice: tuple[str, ...]  # recommendations from the papers
    suspects: tuple[tuple[int, int, float, float, float], ...]  # pairs: two objects, value, expected value, deviation
    n_suspects: int
    note: str = ""  # on the choice of objects or matrix

    def to_record(self) -> dict[str, Any]:
        arrays = ("nearness", "looked_at", "eigenvalues", "points")
        return {
            "objects": to_json(self.objects),
            "levels": b64encode(zlib.compress(self.levels.tobytes(), 9)).decode(),
            "limits": [self.low, self.high],
            **{name: to_json(getattr(self, name)) for name in arrays},
            "axes": [list(self.shares), list(self.signature)],
            **{name: to_json(getattr(self, name)) for name in ("facts", "advice", "suspects", "n_suspects", "note")},
        }

    @classmethod
    def from_record(cls, record: dict[str, Any], n: int) -> Picture:
        """Restore from plain data about `n` objects; raise ValueError where it is inconsistent."""
        what = "the picture of the matrix"
        objects, looked_at = (as_indices(record[name], n, what) for name in ("objects", "looked_at"))
        m = len(objects)
        data = zlib.decompressobj().decompress(b64decode(record["levels"], validate=True), m * m + 1)
        low, high = map(float, record["limits"])
        optional, fits = {}, low < high
        for name, shape in (("eigenvalues", (len(looked_at),)), ("points", (len(looked_at), 2))):
            found = optional[name] = None if record[name] is None else np.array(record[name], dtype=np.float64)
            fits &= found is None or (found.shape == shape and bool(np.isfinite(found).all()))
        nearness = as_indices(record["nearness"], m, what)
        shares, signature = record["axes"]
        if not fits or (len(data), len(nearness), len(shares), len(signature)) != (m * m, m, 2, 2):
            raise ValueError(f"{what} is inconsistent")
        suspects = [(int(i), int(j), float(v), float(e), float(s)) for i, j, v, e, s in record["suspects"]]
        as_indices([k for pair in suspects for k in pair[:2]], n, what)
        return cls(
            objects=objects,
            levels=np.frombuffer(data, dtype=np.uint8).reshape(m, m),
            low=low,
            high=high,
            nearness=nearness,
            looked_at=looked_at,
            shares=tuple(map(float, shares)),
            signature=tuple(map(int, signature)),
            facts=tuple((str(name), str(text)) for name, text in record["facts"]),
            advice=tuple(map(str, record["advice"])),
            suspects=tuple(suspects),
            n_suspects=int(record["n_suspects"]),
            note=str(record["note"]),
            **optional,
        )


def make_picture(problem: Problem, situation: MatrixFacts) -> Picture:
    """Summarize the matrix of a study, or a sample of a large one."""
    part = choose_landmarks(problem.codes, POINTS, 0)
    A, note = _matrix(problem, part)
    codes, kind = problem.codes[part], problem.kind
    names = [problem.ids[i] if problem.ids else f"object {i + 1}" for i in part]
    some = choose_landmarks(codes, HEAT, 0)
    heat = MatrixDisplay.from_proximity(A[np.ix_(some, some)], codes[some], kind=kind, plot=False)
    near = MatrixDisplay.from_proximity(A[np.ix_(some, some)], kind=kind, order="seriation", plot=False)
    place = np.empty(len(some), dtype=np.intp)
    place[heat.order] = np.arange(len(some))
    found = diagnose(A, problem.classes[codes] if problem.target is None else None, kind, ids=names)
    try:
        embedded = EmbeddingDisplay.from_proximity(A, codes, kind=kind, plot=False)
    except ProximityError:  # no chain of known pairs connects some objects
        embedded = None
    shown = found.suspects
    return Picture(
        objects=part[some[heat.order]],
        levels=heat.levels(),
        low=heat.limits[0],
        high=heat.limits[1],
        nearness=place[near.order],
        looked_at=part,
        eigenvalues=None if np.isnan(A).any() else _spectrum(A, situation),
        points=None if embedded is None else _fix_signs(embedded.points),
        shares=(0.0, 0.0) if embedded is None else tuple(_rounded(embedded.shares)),
        signature=(1, 1) if embedded is None else tuple(int(s) for s in embedded.signature),
        facts=tuple((name, text) for name, text in found.rows() if name != "objects"),
        advice=tuple(map(str, found.advice)),
        suspects=tuple(
            (int(part[i]), int(part[j]), _brief(v), _brief(e), _brief(s))
            for (i, j), v, e, s in list(zip(shown.pairs, shown.values, shown.expected, shown.scores))[:SUSPECTS]
            if np.isfinite([v, e, s]).all()
        ),
        n_suspects=len(shown),
        note=note,
    )


def _matrix(problem: Problem, part: Indices) -> tuple[Array, str]:
    """Proximities of a sample of the objects, and a remark on them."""
    if problem.matrix is None:
        assert problem.objects is not None
        square = MeasureStep(problem.objects).fit_transform(part, problem.codes[part])
        note = "For these pictures the measure was fitted to the labels of all objects shown."
        return square, note if problem.objects.learns == "labels" else ""
    if problem.matrix.ndim == 3:
        note = f"The first of {problem.matrix.shape[2]} matrices is shown."
        return problem.matrix[..., 0][np.ix_(part, part)], note
    return problem.matrix[np.ix_(part, part)], ""


def _spectrum(A: Array, situation: MatrixFacts) -> Floats:
    """Eigenvalues of the similarities, converted as for the methods of this study."""
    if situation.kind == "dissimilarity":
        try:
            A = ToSimilarity(method=situation.to_similarity).fit_transform(A)
        except ValueError:  # the rule does not allow these dissimilarities; the linear one always works
            A = ToSimilarity().fit_transform(A)
    return np.array(_rounded(SpectrumDisplay.from_proximity(A, plot=False).eigenvalues))


def _fix_signs(points: Array) -> Floats:
    """Flip axes so that the coordinate farthest from zero is positive: signs of eigenvectors are arbitrary."""
    X = np.asarray(points, dtype=np.float64)
    far = X[np.abs(np.round(X, 9)).argmax(axis=0), [0, 1]]
    return np.array(_rounded((X * np.where(far < 0, -1.0, 1.0)).ravel())).reshape(X.shape)


def _rounded(values: Any) -> list[float]:
    """Round to five digits; numbers below 1e-9 of the largest become zero."""
    V = np.asarray(values, dtype=np.float64)
    floor = 1e-9 * float(np.abs(V).max(initial=0.0))
    return [0.0 if abs(v) <= floor else _brief(v) for v in V.tolist()]


def _brief(value: float) -> float:
    return float(f"{value:.5g}")
