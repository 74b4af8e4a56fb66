"""Package layout: imports go down only, other packages' private modules stay private, loops compile in one package."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "similis"
FILES = sorted(SOURCE.rglob("*.py"))
FAMILIES = {"neighbors", "discriminant", "mixture", "svm", "normal", "maxsim", "cluster"}

# Packages by level, the lowest first; a package imports from lower levels only.
LEVELS = (
    {"_kernels", "exceptions"},
    {"_utils", "_drawing"},
    {"base", "solvers"},
    {"io", "measures", "proximity"},
    {*FAMILIES, "datasets"},
    {"model_selection", "inspection", "distributed"},
    {"study"},
    {"report", "testing"},
    {"cli"},
    {"__main__"},
)
LEVEL = {package: level for level, packages in enumerate(LEVELS) for package in packages}
# Imports within a level or upwards; each is deliberate.
EXCEPTIONS = {
    ("_drawing", "_utils"),  # pictures are drawn with helpers for packages and files
    ("_kernels", "exceptions"),  # the warning that compiled code cannot be stored; exceptions import nothing
}
# Lazy upward imports, by file: the classes with a method `to_html` call the package that makes the pages.
UPWARD = {
    ("study/_result.py", "report"),  # StudyResult and Comparison
}
PRIVATE_PACKAGES = {"_kernels", "_utils", "_drawing"}
THIRD_PARTY = {
    "_kernels": {"numpy", "numba"},
    "exceptions": set(),
    "_utils": {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl", "rich"},
    "_drawing": {"numpy", "matplotlib", "jinja2", "markupsafe"},
    "solvers": {"numpy", "scipy", "sklearn", "clarabel"},
    "io": {"numpy", "scipy", "sklearn", "skops", "pandas", "pyarrow", "zarr"},
}


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Modules imported in a file with the names taken from each, also inside functions and TYPE_CHECKING blocks."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = tuple(alias.name for alias in node.names)
            if node.module == "similis":
                found += [(f"similis.{name}", ()) for name in names]
            else:
                found.append((node.module, names))
    return found


every_file = pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))


@every_file
def test_imports_go_down_only(path):
    here = package_of(path)
    if here == "__init__":
        return
    assert here in LEVEL, f"package {here!r} is not in the table"
    for module, names in imports(path):
        parts = module.split(".")
        if parts[0] != "similis":
            allowed = THIRD_PARTY.get(here)
            if allowed is not None:
                assert parts[0] in allowed | set(sys.stdlib_module_names), f"{here} may not import {parts[0]}"
            continue
        if len(parts) == 1 or parts[1] in ("__version__", here):
            continue
        there = parts[1]
        allowed = (here, there) in EXCEPTIONS or (str(path.relative_to(SOURCE)), there) in UPWARD
        assert LEVEL[there] < LEVEL[here] or allowed, f"{here} may not import similis.{there}"
        if there not in PRIVATE_PACKAGES:
            private = [name for name in (*parts[2:], *names) if name.startswith("_")]
            assert not private, f"{here} imports {private[0]}, which is private to similis.{there}"


@every_file
def test_rules_of_the_source(path):
    text = path.read_text()
    if package_of(path) != "_kernels":
        assert not re.search(r"\bn?jit\b", text), "compiled loops live in _kernels"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            assert package_of(path) == "cli", f"print outside the command line, line {node.lineno}"
        if isinstance(node, ast.Name) and node.id in ("pickle", "eval", "exec"):
            pytest.fail(f"line {node.lineno} uses {node.id}")


def test_only_one_file_touches_private_scikit_learn():
    users = {str(p.relative_to(SOURCE)) for p in FILES if "sklearn.utils._param_validation" in p.read_text()}
    assert users == {"base/_params.py"}


@every_file
def test_cited_papers_exist(path):
    texts = [(SOURCE.parents[1] / name).read_text() for name in ("PAPERS.bib", "REFERENCES.bib")]
    keys = set(re.findall(r"@\w+\{(\w+),", "".join(texts)))
    cited = set(re.findall(r"\[([a-z]+(?:19|20)\d\d)\]", path.read_text()))
    assert cited <= keys, f"not in PAPERS.bib or REFERENCES.bib: {cited - keys}"


def test_every_reference_is_cited():
    root, source = SOURCE.parents[1], "".join(path.read_text() for path in FILES)
    keys = re.findall(r"@\w+\{(\w+),", (root / "REFERENCES.bib").read_text())
    assert not [key for key in keys if key not in source]
    pages = "".join(path.read_text() for path in (root / "docs").rglob("*.md"))
    papers = re.findall(r"@\w+\{(\w+),", (root / "PAPERS.bib").read_text())
    assert set(re.findall(r"\[([a-z]+(?:19|20)\d\d[a-z]*)\]", pages)) <= {*keys, *papers}


def test_every_process_collects_the_same_tests(request):
    """An object's address in the name of a test makes processes disagree about which tests there are."""
    named = [item.nodeid for item in request.session.items if " at 0x" in item.nodeid]
    assert not named, named[:3]
