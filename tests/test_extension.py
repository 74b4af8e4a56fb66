"""A separate package extends similis through public names: it is installed and used in a process of its own."""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import numpy as np
import pytest

PACKAGE = Path(__file__).parent / "extension"


def install(target):
    """Install the package into a folder: by pip where it can build offline, else by writing what pip would write."""
    if importlib.util.find_spec("setuptools") and importlib.util.find_spec("wheel"):
        source = shutil.copytree(PACKAGE, target.parent / "source")  # a build leaves files behind
        options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--target", str(target)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
        return
    shutil.copytree(PACKAGE / "src", target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    info = target / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    header = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(header)
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Environment variables of a process in which the package is installed, and a folder for files."""
    target = tmp_path_factory.mktemp("extension") / "site"
    install(target)
    paths = [str(target), str(Path(__file__).parents[1] / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def run(environment, *command):
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def run_code(environment, code):
    return run(environment, "-c", textwrap.dedent(code))


def test_package_is_small_and_imports_public_names_only():
    files = [PACKAGE / "pyproject.toml", *(PACKAGE / "src").rglob("*.py")]
    assert sum(len(file.read_text().splitlines()) for file in files) < 150
    for node in ast.walk(ast.parse((PACKAGE / "src" / "similis_example" / "__init__.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("similis"):
            assert "._" not in node.module
            package = importlib.import_module(node.module)
            assert all(alias.name in package.__all__ for alias in node.names)


def test_estimators_pass_the_published_checks(environment):
    run_code(
        environment,
        """
        from similis.testing import check_estimator, check_measure
        from similis_example import LetterOverlap, MeanOfNearest, Power

        check_estimator(MeanOfNearest())
        check_estimator(MeanOfNearest(k=1, kind="dissimilarity"))
        check_estimator(Power())
        check_measure(LetterOverlap(), ["spam", "spot", "eggs", "ham"])
        """,
    )


def test_fast_path_is_used_and_equals_grid_search(environment):
    run_code(
        environment,
        """
        import numpy as np
        from sklearn.model_selection import GridSearchCV, LeaveOneOut
        from sklearn.pipeline import make_pipeline
        from similis import Pairwise, PathSearchCV, make_similarity
        from similis_example import LetterOverlap, MeanOfNearest, Power

        S, y = make_similarity(60, 3, separation=1.0, random_state=0)
        fits = []
        fit = MeanOfNearest.fit
        MeanOfNearest.fit = lambda self, X, y: fits.append(1) or fit(self, X, y)
        for model, prefix in ((MeanOfNearest(), ""), (make_pipeline(Power(), MeanOfNearest()), "meanofnearest__")):
            for cv in (5, LeaveOneOut()):
                grid = {prefix + "k": [1, 2, 3, 5, 8]}
                fits.clear()
                fast = PathSearchCV(model, grid, cv=cv).fit(S, y)
                assert len(fits) == 1, fits  # the refit
                plain = GridSearchCV(model, grid, cv=cv).fit(S, y)
                assert fast.best_params_ == plain.best_params_
                for key in plain.cv_results_:
                    if "_test_" in key:
                        assert (fast.cv_results_[key] == plain.cv_results_[key]).all(), key

        words = ["spam", "spams", "maps", "amps", "egg", "eggs", "gegs", "segg"]
        model = make_pipeline(Pairwise(LetterOverlap()), Power(), MeanOfNearest())
        assert model.fit(words, [0] * 4 + [1] * 4).predict(["pams", "gegg"]).tolist() == [0, 1]
        """,
    )


@pytest.mark.slow
def test_study_lists_and_runs_the_method(environment, tmp_path):
    from similis import make_similarity, write_proximity

    listed = json.loads(run(environment, "-m", "similis", "study", "--list", "--json"))["methods"]
    assert "mean-of-nearest" in [method["name"] for method in listed]
    S, y = make_similarity(40, 2, separation=2.0, random_state=0)
    matrix = tmp_path / "matrix.npz"
    write_proximity(matrix, S, labels=np.asarray(y), kind="similarity")
    options = ["--method", "mean-of-nearest", "--method", "knn", "--splits", "2", "--json"]
    out = json.loads(run(environment, "-m", "similis", "study", str(matrix), *options))
    assert {row["method"]: row["status"] for row in out["table"]} == {"mean-of-nearest": "ok", "knn": "ok"}


def test_commands_read_the_format(environment, tmp_path):
    (tmp_path / "m.upper").write_text("0 1 2\n0 3\n0\n")
    out = json.loads(run(environment, "-m", "similis", "inspect", str(tmp_path / "m.upper"), "--json"))
    assert out["read"]["format"] == "upper triangle of a distance matrix"
    assert out["read"]["pairs"] == 6


@pytest.mark.slow
def test_broken_entry_point_gives_one_warning(environment, tmp_path):
    info = tmp_path / "broken-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[similis.methods]\nbroken = no_such_module:METHODS\n")
    environment = {**environment, "PYTHONPATH": os.pathsep.join([str(tmp_path), environment["PYTHONPATH"]])}
    out = run_code(
        environment,
        """
        import warnings
        from similis.study import list_methods

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            names = [method.name for method in list_methods() + list_methods()]
        print([str(warning.message) for warning in caught if "broken" in str(warning.message)])
        assert "mean-of-nearest" in names
        """,
    )
    assert len(ast.literal_eval(out)) == 1
