"""Balanced errors of the study's methods, with their defaults, on the bundled data: none is far behind k-NN."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from similis import VDM, Counting, Minkowski
from similis.datasets import load_promoters, load_sonar, load_votes
from similis.study import Study, list_methods

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of conversions, and solvers at the ends of grids

DATA = {
    "votes": (load_votes, VDM()),
    "promoters": (load_promoters, Counting()),
    "sonar": (load_sonar, Minkowski()),
    "iris": (load_iris, Minkowski()),
    "wine": (load_wine, Minkowski()),
}
CENTROID = "one centroid per class, and the echoes of one class form several groups"
# (data set, method) -> reason for a larger error.
EXCEPTIONS = {
    ("sonar", "nc"): CENTROID,
    ("sonar", "nc(adjusted)"): CENTROID,
    ("sonar", "sda"): CENTROID,
}
# The same with full grids. Squared distances give a linear kernel; least squares on class indicators then takes a third
# of the class that lies between the two others for one of them.
FULL_GRID_EXCEPTIONS = {("iris", "krein-ridge"): "least squares masks the class between two others"}


def thinned(values):
    """Every second value of a grid, and the last one."""
    return values if len(values) < 4 else [*values[:-1:2], values[-1]]


@cache
def balanced_errors(name, n, cv, thin):
    """Mean balanced errors in percent by method, over two splits of at most n objects."""
    load, measure = DATA[name]
    X, y = load(return_X_y=True)
    X = scale(X) if name == "wine" else X  # one of its columns is a hundred times larger than the others
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    methods = [method for method in list_methods() if not method.on_request]
    if thin:
        grids = [{key: thinned(values) for key, values in method.grid_for(n // 3).items()} for method in methods]
        methods = [replace(method, grid=grid) for method, grid in zip(methods, grids)]
    study = Study(methods, n_splits=2, test_size=0.4, cv=cv, random_state=0)
    result = study.run(X[chosen], y[chosen], measure=measure)
    assert all(entry.ok for entry in result.entries.values())
    return {method: 100 * float(np.mean(values)) for method, values in result.scores("balanced_error").items()}


def too_large(name, **settings):
    errors = balanced_errors(name, **settings)
    bound = min(errors["majority"], 2 * errors["knn"] + 5) + 1e-9
    return {method: round(error, 1) for method, error in errors.items() if error > bound and method != "majority"}


def check(name, **settings):
    excused = {method for data, method in EXCEPTIONS if data == name}
    assert {method: error for method, error in too_large(name, **settings).items() if method not in excused} == {}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", ["votes", "promoters", "sonar"])
def test_errors_within_bounds(name):
    check(name, n=120, cv=3, thin=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
def test_errors_within_bounds_full_grids(name):
    found = too_large(name, n=300, cv=5, thin=False).keys() - {method for data, method in EXCEPTIONS if data == name}
    assert found == {method for data, method in FULL_GRID_EXCEPTIONS if data == name}


@pytest.mark.slow
def test_exceptions_are_needed():
    for name in {name for name, _ in EXCEPTIONS}:
        listed = {method for data, method in EXCEPTIONS if data == name}
        assert listed <= too_large(name, n=120, cv=3, thin=True).keys(), f"{name}: remove the others from the list"
