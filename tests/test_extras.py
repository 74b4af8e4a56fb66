"""A missing optional package is reported in one way: MissingExtraError with the command that installs it."""

import ast
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from similis import Alignment, CompletionSVM, Edit, Minkowski, read_proximity, write_proximity
from similis.datasets import load_votes
from similis.distributed import NeighborIndex, connect
from similis.exceptions import MissingExtraError, ProximityError
from similis.io import Proximity
from similis.measures import _point_sets
from similis.proximity import SpectrumDisplay, make_stack

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
FOR_DEVELOPERS = {"test", "all", "formats", "browser", "docs", "dev"}

S = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])


def partial_kernel():
    K = S.copy()
    K[2] = K[:, 2] = np.nan
    return make_stack([K, S])


def read_zst():
    Path("m.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    try:
        read_proximity("m.csv.zst")
    finally:
        Path("m.csv.zst").unlink()


# Extra, name of the package, modules to hide, a call that needs it.
CASES = [
    (
        "strings",
        "rapidfuzz",
        ["rapidfuzz", "rapidfuzz.process", "rapidfuzz.distance"],
        lambda: Edit().matrix(["a", "b"]),
    ),
    ("strings", "parasail", ["parasail"], lambda: Alignment().matrix(["A", "C"])),
    ("transport", "POT", ["ot"], lambda: _point_sets._by_pot(np.ones(1), np.ones(1), np.ones((1, 1)))),
    ("ann", "pynndescent", ["pynndescent"], lambda: NeighborIndex(Minkowski(), method="pynndescent").fit(S)),
    ("conic", "clarabel", ["clarabel"], lambda: CompletionSVM().fit(partial_kernel(), ["a", "b", "a"])),
    ("frame", "pandas", ["pandas"], lambda: Proximity(S).to_frame()),
    ("frame", "pandas", ["pandas"], lambda: load_votes(as_frame=True)),
    ("parquet", "pyarrow", ["pyarrow"], lambda: read_proximity("m.parquet")),
    ("parquet", "pyarrow", ["pyarrow.parquet"], lambda: write_proximity("m.parquet", S)),
    ("hdf5", "h5py", ["h5py"], lambda: read_proximity("m.h5ad")),
    ("r", "rdata", ["rdata"], lambda: read_proximity("m.rds")),
    ("excel", "openpyxl", ["openpyxl"], lambda: read_proximity("m.xlsx")),
    ("zst", "zstandard", ["zstandard"], read_zst),
    ("zarr", "zarr", ["zarr"], lambda: write_proximity("m.zarr", S)),
    ("dask", "distributed", ["distributed"], connect),
    ("report", "matplotlib", ["matplotlib"], lambda: SpectrumDisplay.from_proximity(S)),
]


@pytest.mark.parametrize(("extra", "package", "modules", "call"), CASES, ids=[f"{c[0]}-{c[1]}" for c in CASES])
def test_a_missing_package_is_reported_in_one_way(extra, package, modules, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught:
        call()
    assert isinstance(caught.value, (ImportError, ProximityError))
    assert str(caught.value).endswith(f" needs the library {package}. Install it with: pip install 'similis[{extra}]'")
    assert not list(tmp_path.iterdir())


def test_every_extra_is_tested():
    assert {case[0] for case in CASES} == EXTRAS.keys() - FOR_DEVELOPERS
    for extra, package, *_ in CASES:
        assert any(requirement.startswith(package) for requirement in EXTRAS[extra])


@pytest.mark.slow
def test_no_other_message_about_a_missing_package():
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and path.name != "environment.py":
                assert "pip install" not in ast.unparse(node), path


def test_every_extra_named_in_the_code_exists():
    named = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require_package":
                named |= {word.value.value for word in node.keywords if word.arg == "extra"}
    assert named <= EXTRAS.keys()
