"""The package imports lightly and says truthfully what it offers."""

import importlib
import subprocess
import sys

import pytest

import similis


def _run(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_import_is_light():
    loaded = _run("import sys, similis; print(*sys.modules)").split()
    for heavy in ("numba", "numpy", "sklearn", "scipy", "matplotlib", "clarabel", "skops", "typer"):
        assert heavy not in loaded


@pytest.mark.slow
def test_packages_load_without_numba():
    packages = [package for package in similis._PACKAGES if package != "exceptions"]
    lines = ["import sys", *(f"import similis.{name}" for name in packages), "print('numba' in sys.modules)"]
    code = "\n".join(lines)
    assert _run(code).strip() == "False"


def test_public_names_are_those_of_the_packages():
    for package, names in similis._PACKAGES.items():
        module = importlib.import_module(f"similis.{package}")
        assert set(names) <= set(module.__all__), package
        for name in module.__all__:
            assert isinstance(name, str)
            assert hasattr(module, name)
    for name in similis.__all__:
        assert hasattr(similis, name)
    assert set(similis.__all__) <= set(dir(similis))


def test_unknown_name_is_an_attribute_error():
    assert not hasattr(similis, "no_such_name")
