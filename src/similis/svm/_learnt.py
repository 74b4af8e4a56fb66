"""What machines that learn their kernel share: one matrix in, one machine for two classes at every grid point out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similis._utils.linalg import EigenSystem, eigen_symmetric, symmetric_part, take_symmetric_part
from similis._utils.params import validated
from similis._utils.warn import warn_user
from similis.svm._machines import Machine, RowMachine, square_block

__all__ = ["LearntMachine", "LearntSVM", "eigen_system"]


@dataclass(frozen=True)
class LearntMachine(Machine):
    """A machine with what was learnt beside its coefficients, by attribute name."""

    learnt: dict[str, Any] = field(default_factory=dict)
    worth: float = 0.0  # the part of the objective that the gap is compared with


class LearntSVM(RowMachine):
    """Machines that learn a kernel from a similarity and decide by f(s) = s'coef + b on a row s.

    A subclass writes ``_solve``, which returns a :class:`LearntMachine` a grid point.
    """

    _reads = "similarity"

    @validated
    def fit(self, X, y):
        """Learn the kernel and the machine, or a pair of them for each pair of classes.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training similarities; the symmetric part of an asymmetric matrix is used, with a warning.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
        """
        S, codes = self._check_fit_labels(X, y)
        self._fit_machines(self._open(S), codes)
        return self

    def _open(self, S):
        """Look at the whole matrix before it is split into pairs of classes."""
        return take_symmetric_part(S, self)

    def _fit_machines(self, S, codes):
        point = {name: getattr(self, name) for name in self._path_params}
        tasks = list(self._tasks(codes, np.ones(len(codes))))
        machines = [self._solve(square_block(S, members), sign, None, [point])[0] for members, sign in tasks]
        self._keep(tasks, machines, len(codes))
        self._warn_of_gaps(machines)

    def _warn_of_gaps(self, machines):
        worst = max(machines, key=lambda machine: machine.gap / machine.worth)
        if worst.gap > 1e-5 * worst.worth:
            warn_user(
                f"{type(self).__name__} ended {worst.gap:.1e} from the optimum it can vouch for (objective "
                f"{worst.objective:.3g}); scale the similarities to entries about 1, or change its parameters.",
                ConvergenceWarning,
            )

    def _keep(self, tasks, machines, n):
        for name in [name for name in vars(self) if name in self._names]:
            delattr(self, name)
        super()._keep(tasks, machines, n)
        if len(self.classes_) == 2:
            for name, value in machines[0].learnt.items():
                setattr(self, name, value)

    # Attributes of a machine for two classes, beyond those of RowMachine.
    _names: tuple[str, ...] = ()


def eigen_system(S) -> EigenSystem:
    """Eigen-system of the symmetric part in float64."""
    return eigen_symmetric(np.asarray(symmetric_part(np.asarray(S)), dtype=np.float64))
