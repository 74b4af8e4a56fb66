"""The built site in a real browser: nothing wider than the screen, no errors, accessible, and the menu of versions.

Needs scripts/docs and scripts/browser. All pages are opened at two widths, some in the dark scheme. The page of search
results is left out, because a script writes its heading.
"""

import os
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "_build" / "html"
PAGES = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts and path.name != "search.html")
BROWSER = shutil.which(os.environ.get("SIMILIS_CHROMIUM", "chromium"))


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run scripts/browser")
    if BROWSER is None:
        pytest.skip("there is no chromium here; run scripts/browser")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


def missing(url):
    """The address if it is no file of the site; a page that is closed early cancels requests of files."""
    return [] if Path(unquote(urlsplit(url).path)).is_file() else [f"failed: {url}"]


def problems(browser, paths, width, scheme):
    """What is wrong with each page; pages without a problem are left out."""
    from axe_playwright_python.sync_playwright import Axe

    found, said = {}, []
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page = context.new_page()  # one for all: a new page starts a process
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("requestfailed", lambda request: said.extend(missing(request.url)))
    for path in paths:
        said.clear()
        page.goto(path.as_uri())
        if page.evaluate("document.documentElement.scrollWidth") > width:
            said.append("wider than the screen")
        violations = Axe().run(page).response["violations"]
        said += [f"{found['id']}: {found['nodes'][0]['html'][:100]}" for found in violations]
        if said:
            found[str(path.relative_to(SITE))] = list(said)
    context.close()
    return found


def without_api(paths):
    """Pages that people write, and some of those made from docstrings."""
    made = [path for path in paths if "generated" in path.parts]
    return [path for path in paths if path not in made] + made[::15]


@pytest.mark.skipif(not PAGES, reason="the site is not built; run scripts/docs")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1020, "light"), (390, "light"), (1280, "dark")])
def test_pages_are_accessible_and_fit_the_screen(browser, width, scheme):
    pytest.importorskip("axe_playwright_python")
    pages = PAGES if (width, scheme) == (1280, "light") else without_api(PAGES)
    assert problems(browser, pages, width, scheme) == {}


@pytest.mark.skipif(not PAGES, reason="the site is not built; run scripts/docs")
def test_menu_of_versions(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "docs" / "_ext")])
    from publish import publish

    small = tmp_path / "site"
    (small / "guide").mkdir(parents=True)
    shutil.copytree(SITE / "_static", small / "_static")
    for name in ("index.html", "guide/study.html"):
        shutil.copy(SITE / name, small / name)
    publish(small, tmp_path / "www", "1.9.0")
    publish(small, tmp_path / "www", "1.10.0.dev0")
    assert publish(small, tmp_path / "www", "1.10.0") == ["1.10.0", "1.10.0.dev0", "1.9.0"]
    assert "1.10.0/index.html" in (tmp_path / "www" / "index.html").read_text()
    page = browser.new_page()
    page.goto((tmp_path / "www" / "1.9.0" / "guide" / "study.html").as_uri())
    menu = page.get_by_label("Version of the documentation")
    assert menu.input_value() == "1.9.0"
    menu.select_option("1.10.0")
    page.wait_for_url("**/1.10.0/index.html")
    page.close()
