"""The dual perceptron's sweeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["perceptron"]


@kernel
def perceptron(columns: Any, max_iter: int, alpha: Any, total: Any) -> Any:
    """Sweep: where (Sigma alpha)_i <= 0, alpha_i += 1. Returns the number of sweeps and whether the last was clean.

    ``columns[i]`` is the i-th column of Sigma, so that an update of alpha_i adds a row of memory to Sigma alpha.
    `total` receives the mean of alpha over all steps.
    """
    n = len(alpha)
    margin = np.zeros(n)
    born = np.zeros(n)  # sum over the updates of alpha_i of the step at which they were made
    step = 0.0
    sweeps, clean = 0, False
    while sweeps < max_iter and not clean:
        sweeps += 1
        clean = True
        for i in range(n):
            step += 1.0
            if margin[i] <= 0.0:
                clean = False
                alpha[i] += 1.0
                born[i] += step - 1.0
                for j in range(n):
                    margin[j] += columns[i, j]
    for i in range(n):
        total[i] = alpha[i] - born[i] / step
    return sweeps, clean
