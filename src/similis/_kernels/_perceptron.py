"""Dual perceptron on similarities, [bernal2003] sec. 4.2, with the average of its iterates."""

import numpy as np

from similis._kernels._jit import kernel


@kernel
def perceptron(columns, max_iter: int, alpha, total):
    """Sweep over the objects: where (Sigma alpha)_i <= 0, add 1 to alpha_i; ``columns[i]`` is a column of Sigma.

    `total` receives the mean of alpha over all steps ([freund1999]). Returns the number of sweeps, and True if the last
    one changed nothing.
    """
    n, step, sweeps, clean = len(alpha), 0.0, 0, False
    margin, born = np.zeros(n), np.zeros(n)  # Sigma alpha; sum of the step numbers at which alpha_i was raised
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
    # An update at step t is part of the iterates t..step: it contributes 1 - (t - 1) / step to the mean.
    total[:] = alpha - born / step
    return sweeps, clean
