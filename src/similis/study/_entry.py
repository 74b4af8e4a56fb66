"""One finished (split, method): its raw predictions, and the method that made them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis.exceptions import ProximityError

__all__ = ["MethodInfo", "Entry", "plain"]


@dataclass(frozen=True)
class MethodInfo:
    """What a result remembers of a method.

    Attributes
    ----------
    name, family, paper, summary, needs, baseline
        As in :class:`Method`.
    conversion : str
        What the study put in front of it, in words.
    grid : dict
        The grid it chose from.
    spec : str
        Fingerprint of pipeline and grid.
    """

    name: str
    family: str = ""
    paper: str = ""
    summary: str = ""
    needs: str = ""
    baseline: bool = False
    conversion: str = ""
    grid: dict[str, Any] = field(default_factory=dict)
    spec: str = ""


@dataclass(frozen=True, eq=False)
class Entry:
    """One method on one split.

    Attributes
    ----------
    method : str
        Name of the method.
    split : int
        Number of the split.
    spec : str
        Fingerprint of the method's pipeline and grid.
    status : {"ok", "failed"}
        A failure is an entry like any other.
    reason : str
        Why it failed; empty otherwise.
    predictions : ndarray of int or None
        Predicted class codes of the test objects.
    proba : ndarray of shape (m, G) or None
        Class probabilities, where the method has them.
    params : dict
        Parameters chosen on the training part.
    fit_seconds, predict_seconds : float
        Wall time of selection and fit, and of predicting the test part.
    notes : tuple of str
        Warnings met on the way, each once.
    details : dict
        Numbers of the method's own, see :class:`Method`.
    finished : str
        When, in UTC.
    session : str
        Which run computed it.
    """

    method: str
    split: int
    spec: str = ""
    status: str = "ok"
    reason: str = ""
    predictions: NDArray[np.intp] | None = None
    proba: NDArray[np.float64] | None = None
    params: dict[str, Any] = field(default_factory=dict)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    notes: tuple[str, ...] = ()
    finished: str = ""
    session: str = ""
    details: dict[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether there are predictions."""
        return self.status == "ok"

    @property
    def key(self) -> tuple[str, int]:
        """What it is an entry for."""
        return self.method, self.split

    @property
    def journal_key(self) -> tuple[str, int, str]:
        """What names it in a journal."""
        return *self.key, self.spec

    def content(self) -> dict[str, Any]:
        """Everything but times and provenance: what must not depend on workers, interruptions or the day."""
        record = self.to_record()
        return {k: v for k, v in record.items() if k not in ("seconds", "finished", "session")}

    def to_record(self) -> dict[str, Any]:
        """As plain data for a line of JSON."""
        return {
            "method": self.method,
            "split": self.split,
            "spec": self.spec,
            "status": self.status,
            "reason": self.reason,
            "predictions": None if self.predictions is None else self.predictions.tolist(),
            "proba": None if self.proba is None else self.proba.tolist(),
            "params": {name: plain(value) for name, value in self.params.items()},
            "seconds": [self.fit_seconds, self.predict_seconds],
            "notes": list(self.notes),
            **({"details": dict(self.details)} if self.details else {}),
            "finished": self.finished,
            "session": self.session,
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Entry:
        """Back from plain data."""
        try:
            predictions, proba = record["predictions"], record["proba"]
            return cls(
                method=str(record["method"]),
                split=int(record["split"]),
                spec=str(record["spec"]),
                status=str(record["status"]),
                reason=str(record["reason"]),
                predictions=None if predictions is None else np.array(predictions, dtype=np.intp),
                proba=None if proba is None else np.array(proba, dtype=np.float64),
                params=dict(record["params"]),
                fit_seconds=float(record["seconds"][0]),
                predict_seconds=float(record["seconds"][1]),
                notes=tuple(map(str, record["notes"])),
                details=dict(record.get("details", {})),
                finished=str(record["finished"]),
                session=str(record["session"]),
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ProximityError(f"A stored entry of the study is damaged: {str(error)[:80]}.") from None


def plain(value: Any) -> Any:
    """A parameter value as JSON can hold it; anything but numbers, text and lists of them as its repr."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return repr(value)
