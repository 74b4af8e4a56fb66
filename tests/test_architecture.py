"""The rooms and their doors: imports go down only, loops compile in one room, only the command prints."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "similis"
FILES = sorted(SOURCE.rglob("*.py"))
BESIDE = sorted(path for name in ("tests", "benchmarks", "stress", "scripts") for path in (ROOT / name).rglob("*.py"))
FAMILIES = ("neighbors", "discriminant", "mixture", "svm", "normal", "maxsim")

LEVEL_0 = {"_kernels", "exceptions"}
LEVEL_1 = {"_utils"}
LEVEL_2 = {"io", "solvers"}
LEVEL_3 = {"measures", "proximity"}
LEVEL_4 = {*FAMILIES, "datasets"}
LEVEL_5 = {"model_selection"}
PUBLIC = LEVEL_3 | LEVEL_4 | LEVEL_5 | LEVEL_2 | {"exceptions"}

# What each room may import of similis; the standard library is free, other packages are in THIRD_PARTY.
MAY_IMPORT = {
    "_kernels": set(),
    "exceptions": set(),
    "_utils": LEVEL_0,
    "io": LEVEL_0 | LEVEL_1,
    "solvers": LEVEL_0 | LEVEL_1,
    "measures": LEVEL_0 | LEVEL_1 | LEVEL_2,
    "proximity": LEVEL_0 | LEVEL_1 | LEVEL_2,
    **{family: LEVEL_0 | LEVEL_1 | LEVEL_2 | {"proximity"} for family in FAMILIES},
    "datasets": LEVEL_0 | LEVEL_1 | LEVEL_2 | LEVEL_3,
    "model_selection": LEVEL_0 | LEVEL_1,
    "study": PUBLIC | LEVEL_1,
    "distributed": PUBLIC | LEVEL_1,
    "reproduce": PUBLIC | LEVEL_1 | {"study"},
    "cli": PUBLIC | LEVEL_1 | {"study", "distributed", "reproduce"},
    "__main__": {"cli"},
}
THIRD_PARTY = {
    "_kernels": {"numpy", "numba"},
    "exceptions": set(),
    "_utils": {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl", "rich", "matplotlib"},
    "solvers": {"numpy", "scipy", "sklearn", "clarabel"},
    "io": {"numpy", "scipy", "sklearn", "skops", "pandas", "pyarrow", "zarr"},
}


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Dotted names of every import in a file, also inside functions; TYPE_CHECKING blocks count too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "similis":
                found |= {f"similis.{alias.name}" for alias in node.names}
            else:
                found.add(node.module)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_down_only(path):
    here = room(path)
    if here == "__init__":
        return
    assert here in MAY_IMPORT, f"room {here!r} is not in the table"
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "similis" and len(parts) > 1 and parts[1] not in ("__version__", here):
            assert parts[1] in MAY_IMPORT[here], f"{here} may not import similis.{parts[1]}"
        elif parts[0] != "similis" and here in THIRD_PARTY:
            import sys

            assert parts[0] in THIRD_PARTY[here] | set(sys.stdlib_module_names), f"{here} may not import {parts[0]}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_house_rules(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 400, "a file above 400 lines is several rooms"
    tree = ast.parse(text)
    if room(path) != "_kernels":
        assert not re.search(r"\bn?jit\b", text), "compiled loops live in _kernels"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            assert room(path) == "cli", f"print outside the command line, line {node.lineno}"
        if isinstance(node, ast.Name) and node.id in ("pickle", "eval", "exec"):
            pytest.fail(f"line {node.lineno} uses {node.id}")


def test_only_one_file_touches_private_scikit_learn():
    users = {p.name for p in FILES if "sklearn.utils._param_validation" in p.read_text()}
    assert users <= {"params.py"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_cited_papers_exist(path):
    keys = set(re.findall(r"@\w+\{(\w+),", (SOURCE.parents[1] / "PAPERS.bib").read_text()))
    cited = set(re.findall(r"\[([a-z]+(?:19|20)\d\d)\]", path.read_text()))
    assert cited <= keys, f"not in PAPERS.bib: {cited - keys}"


def test_files_beside_the_source_stay_short():
    long = [str(path.relative_to(ROOT)) for path in BESIDE if len(path.read_text().splitlines()) > 400]
    assert not long, long


def test_functions_stay_short():
    """Sixty lines without signature and docstring; above that a function is several."""
    long = []
    for path in FILES + BESIDE:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if body and node.end_lineno - body[0].lineno + 1 > 60:
                    long.append(f"{path.relative_to(ROOT)}:{node.name}")
    assert not long, long


def test_every_process_collects_the_same_tests(request):
    """An object's address in the name of a test makes processes disagree about which tests there are."""
    named = [item.nodeid for item in request.session.items if " at 0x" in item.nodeid]
    assert not named, named[:3]
