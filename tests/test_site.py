"""The site: every public name has its page, lists made from the code are up to date, the introduction stays honest."""

import ast
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import similis

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def module_from(path):
    spec = importlib.util.spec_from_file_location(f"site_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    found = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = found
    return module


API = module_from(DOCS / "_ext" / "api_names.py")
PAGES = module_from(ROOT / "scripts" / "pages.py")
NAMES = [(module, name) for module, names in API.names_by_package().items() for name in names]
CLASSES = [(m, n) for m, n in NAMES if inspect.isclass(API.public_object(m, n))]


def test_every_package_is_documented():
    assert {*similis._MODULES} == {*API.PACKAGES}


def test_every_public_name_has_one_place():
    top = [name for name in similis.__all__ if not name.startswith("__")]
    assert set(top) <= {name for _, name in NAMES}
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize(("page", "name"), list(PAGES.SECTIONS))
def test_lists_are_what_the_code_gives(page, name):
    """Times, in the last column of the methods, come from a results file that may be newer than the page."""
    quoted, made = PAGES.quoted(page, name), PAGES.SECTIONS[page, name]()
    if name == "methods":
        quoted, made = (re.sub(r"\| [^|]*\|$", "|", text, flags=re.MULTILINE) for text in (quoted, made))
    assert quoted == made, "run: python scripts/pages.py --write"


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda value: value)
def test_docstring_has_its_sections(module, name):
    if (module, name) in API.DATA:
        return
    thing = API.public_object(module, name)
    text = inspect.getdoc(thing) or ""
    assert len(text) > 20
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return
    signature = inspect.signature(thing)
    given = [p for p in signature.parameters if p not in ("self", "args", "kwargs")]
    elsewhere = re.search(r"parameters\s(and\sshapes\s)?(as\sin|are\sthose\sof)\s+:func:", text, re.IGNORECASE)
    if given and not elsewhere:
        assert re.search(r"^(Parameters|Attributes)\n-+$", text, flags=re.MULTILINE), "no Parameters"
    if inspect.isclass(thing) and issubclass(thing, BaseEstimator) and name != "Measure":
        assert re.search(r"^Examples\n-+$", text, flags=re.MULTILINE), "no Examples"


def test_choosing_quotes_the_diagnosis():
    """The page says what `diagnose` says, word for word."""
    page = " ".join((DOCS / "choose.md").read_text().split())
    tree = ast.parse((ROOT / "src" / "similis" / "proximity" / "_diagnosis.py").read_text())
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "Advice"]
    said = [c.value for call in calls for c in ast.walk(call.args[0]) if isinstance(c, ast.Constant)]
    said = [text.strip() for text in said if isinstance(text, str) and len(text) > 20]
    assert len(said) >= 10
    for text in said:
        assert text in page


def test_methods_named_on_the_page_exist():
    from similis.study import list_methods

    known = {m.name for m in list_methods()}
    page = (DOCS / "choose.md").read_text()
    families = {name.partition("(")[0] for name in known}
    named = {text for text in re.findall(r"`([a-z0-9-]+(?:\([a-z-]+\))?)`", page) if text.partition("(")[0] in families}
    assert named <= known
    assert known <= named


@pytest.mark.parametrize("page", sorted((DOCS / "guide").glob("*.md")), ids=lambda page: page.stem)
def test_guide_pages_are_complete(page):
    """Problem, equation, call, figure; the command has no equation, derivations have no figure."""
    text = page.read_text()
    assert len(re.split(r"^## ", text, flags=re.MULTILINE)[0]) > 150, "says what the problem is"
    assert re.search(r"^```(python|console|bash)", text, flags=re.MULTILINE) or page.stem in ("duals", "conformal")
    if page.stem not in ("command_line", "study", "scale"):
        assert "$" in text, "no equation"
    if page.stem not in ("command_line", "conformal", "duals"):
        assert re.search(r"!\[[^\]]{30,}\]\(\.\./figures/", text), "no figure with a description"


FIGURES = sorted((DOCS / "figures").glob("*.svg"))


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.stem)
def test_figures_are_small_shown_and_made_by_a_script(figure):
    assert figure.stat().st_size < 150_000
    assert any(f"figures/{figure.name}" in page.read_text() for page in DOCS.rglob("*.md")), "on no page"
    scripts = [*(DOCS / "figures").glob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    assert any(figure.stem in script.read_text() for script in scripts), "made by no script"


@pytest.mark.parametrize("folder", ["introduction", "guide", "how-to"])
def test_index_leads_to_every_page(folder):
    index = (DOCS / "index.md").read_text()
    for page in (DOCS / folder).glob("*.md"):
        assert f"({folder}/{page.name})" in index
