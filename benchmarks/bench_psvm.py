"""The potential SVM's problem: one solve against a conic solver, and a grid against as many single solves.

python benchmarks/bench_psvm.py          # writes benchmarks/results/psvm.json
"""

import cvxpy
import numpy as np
from _measure import Benchmark
from bench_svm import problem
from threadpoolctl import threadpool_limits

from similis.solvers import BoxLasso, box_lasso

# [chen2010] table 4.2
GRID = [(10.0**e, 10.0**c) for e in range(-4, 2) for c in range(5)]


def conic(S, y, epsilon, C):
    a = cvxpy.Variable(len(y))
    loss = cvxpy.sum_squares(y - S @ a) / 2 + epsilon * cvxpy.norm1(a)
    return cvxpy.Problem(cvxpy.Minimize(loss), [cvxpy.abs(a) <= C]).solve(solver=cvxpy.CLARABEL)


def relative(ours, theirs):
    error = abs(ours - theirs) / theirs
    assert error < 1e-6, error
    return error


def main():
    bench = Benchmark("psvm", packages=("cvxpy", "clarabel"))
    with threadpool_limits(1):
        for n, floor, goal, repeats, points in (
            (200, 5, 10, 3, ((1e-4, 1.0), (1e-2, 100.0), (1e-4, 1e4))),
            (800, 17, 35, 1, ((1e-2, 100.0),)),
        ):
            S, codes = problem(n, 2)
            y = np.where(codes == 0, 1.0, -1.0)
            for epsilon, C in points:
                bench.compare(
                    f"P-SVM solve, n = {n}, epsilon = {epsilon:g}, C = {C:g}",
                    lambda S=S, y=y, epsilon=epsilon, C=C: box_lasso(S, y, epsilon, C).objective,
                    lambda S=S, y=y, epsilon=epsilon, C=C: conic(S, y, epsilon, C),
                    peer_name="cvxpy + clarabel",
                    floor=floor,
                    goal=goal,
                    repeats=repeats,
                    check=relative,
                )

            def grid(S=S, y=y):
                problem = BoxLasso(S, y)
                return np.array([problem.solve(*point).objective for point in GRID])

            bench.compare(
                f"P-SVM grid of 30, n = {n}",
                grid,
                lambda S=S, y=y: np.array([box_lasso(S, y, *point).objective for point in GRID]),
                peer_name="30 single solves of ours",
                floor=2,
                repeats=repeats,
                check=lambda a, b: np.abs(a - b).max(),
            )
    print(bench.write())


if __name__ == "__main__":
    main()
