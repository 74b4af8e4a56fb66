"""Entry of a study: the raw predictions of one method on one split."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from similis._utils.arrays import Array, Floats, Indices
from similis.exceptions import ProximityError


@dataclass(frozen=True)
class MethodInfo:
    """Description of a method, stored with a result; see :class:`Method`."""

    name: str
    family: str = ""
    paper: str = ""
    summary: str = ""
    needs: str = ""
    baseline: bool = False
    conversion: str = ""  # steps that the study puts before the method, in words
    grid: dict[str, Any] = field(default_factory=dict)
    spec: str = ""  # fingerprint of pipeline and grid
    matrix: str = ""  # of several, the one that the method reads, or "mean"; empty for all of them


@dataclass(frozen=True, eq=False)
class Entry:
    """Predictions of one method on one split.

    Attributes
    ----------
    method, split, spec : str, int, str
        Name of the method, number of the split, and fingerprint of the method's pipeline and grid.
    status, reason : {"ok", "failed"}, str
        A failed run counts as completed; its error message.
    predictions : ndarray or None
        Predicted class codes of the test objects, integers; in a regression their predicted values.
    proba : ndarray of shape (m, G) or None
        Class probabilities, if the method has them.
    params, details : dict
        Parameters chosen on the training part; numbers of the method's own, see :class:`Method`.
    fit_seconds, predict_seconds : float
        Wall time of selection and fit, and of predicting the test part.
    notes : tuple of str
        Warnings raised during the run, each once.
    finished, session : str
        Time, in UTC, and id of the run that computed it.
    """

    method: str
    split: int
    spec: str = ""
    status: str = "ok"
    reason: str = ""
    predictions: Array | None = None
    proba: Floats | None = None
    params: dict[str, Any] = field(default_factory=dict)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    notes: tuple[str, ...] = ()
    finished: str = ""
    session: str = ""
    details: dict[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if there are predictions."""
        return self.status == "ok"

    @property
    def key(self) -> tuple[str, int]:
        """Method and split."""
        return self.method, self.split

    @property
    def journal_key(self) -> tuple[str, int, str]:
        """Method, split and fingerprint: the key in a journal."""
        return *self.key, self.spec

    def content(self) -> dict[str, Any]:
        """Everything but times and session: the part that does not depend on workers or interruptions."""
        return {k: v for k, v in self.to_record().items() if k not in ("seconds", "finished", "session")}

    def to_record(self) -> dict[str, Any]:
        """Convert to types of JSON."""
        return {
            **{name: getattr(self, name) for name in ("method", "split", "spec", "status", "reason")},
            **{name: to_json(getattr(self, name)) for name in ("predictions", "proba")},
            "params": {name: to_json(value) for name, value in self.params.items()},
            "seconds": [self.fit_seconds, self.predict_seconds],
            "notes": list(self.notes),
            **({"details": {name: to_json(value) for name, value in self.details.items()}} if self.details else {}),
            "finished": self.finished,
            "session": self.session,
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Entry:
        """Make an entry from a JSON record."""
        try:
            predictions, proba = record["predictions"], record["proba"]
            kind = np.float64 if any(isinstance(value, float) for value in predictions or ()) else np.intp
            return cls(
                **{name: str(record[name]) for name in ("method", "spec", "status", "reason", "finished", "session")},
                split=int(record["split"]),
                predictions=None if predictions is None else np.array(predictions, dtype=kind),
                proba=None if proba is None else np.array(proba, dtype=np.float64),
                params=dict(record["params"]),
                fit_seconds=float(record["seconds"][0]),
                predict_seconds=float(record["seconds"][1]),
                notes=tuple(map(str, record["notes"])),
                details={name: float(value) for name, value in record.get("details", {}).items()},
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ProximityError(f"A stored entry of the study is damaged: {str(error)[:80]}.") from None


def to_json(value: Any) -> Any:
    """Convert a parameter value to types of JSON; anything but finite numbers, text and lists of them as its repr."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    is_plain = value is None or isinstance(value, (int, str)) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else repr(value)


def as_indices(values: Any, n: int, what: str) -> Indices:
    """Convert stored indices of objects; raise where one is not between 0 and n - 1."""
    found = np.array(values, dtype=np.intp)
    if found.ndim != 1 or (found.size and (found.min() < 0 or found.max() >= n)):
        raise ValueError(f"{what} names objects outside 0 to {n - 1}")
    return found
