"""The report in a real browser: no errors, no requests, marks, hover, keys, touch, print and accessibility."""

import os
import re
import shutil

import numpy as np
import pytest
from reports import make_result

from similis.report import make_comparison, make_report
from similis.study import compare

pytestmark = pytest.mark.slow
EVIL = "<img src=x onerror=\"document.title='bad'\">"
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


@pytest.fixture(scope="module")
def result():
    ids = [f"{EVIL} no. {i}" if i % 7 == 0 else f"object no. {i}" for i in range(80)]
    return make_result(n=80, ids=ids, labels=["oak", "ash <b>", "elm"])


@pytest.fixture(scope="module")
def files(tmp_path_factory, result):
    folder = tmp_path_factory.mktemp("pages")
    others = {name: make_result(seed=k, matrix=False) for k, name in enumerate(("one", "two", EVIL), 1)}
    pages = {
        "report": make_report(result),
        "running": make_report(result, refresh=1),
        "comparison": make_comparison(compare(others)),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text)
    return {name: folder / f"{name}.html" for name in pages}


class Opened:
    """A page with its console messages and requests."""

    def __init__(self, browser, path, *, width=1200, height=900, scheme="light", **options):
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, **options
        )
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self):
        return self.page

    def __exit__(self, kind, error, trace):
        self.context.close()
        if kind is None:
            assert self.said == []
            assert [url for url in self.asked if not url.startswith(("file:", "data:"))] == []
            assert len([url for url in self.asked if url.startswith("file:")]) >= 1


LOOKS = [(1200, "light"), (1200, "dark"), (390, "light"), (390, "dark")]


@pytest.mark.parametrize("name", ["report", "comparison"])
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_quiet_and_no_wider_than_the_screen(browser, files, name, width, scheme):
    with Opened(browser, files[name], width=width, scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.title() != "bad"
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = np.mean([int(v) for v in re.findall(r"\d+", ground)[:3]])
        assert (light > 200) == (scheme == "light")


def test_marks_in_the_dom(browser, files, result):
    hard = min(30, len(result.predictions_by_object().hardest()))
    wanted = {
        "embedding": 80,
        "spectrum": 80,
        "time": 4,
        "agreement": 6,
        "confusion": 9,
        "objects": 3 * hard,
    }
    with Opened(browser, files["report"]) as page:
        for kind, count in wanted.items():
            assert page.locator(f".plot.{kind} .m").count() == count, kind
        assert page.locator(".plot.splits g[data-m]").count() == 4
        assert page.locator(".plot.splits circle.m").count() == 6 * page.locator(".splits .m.mean").count()
        assert page.locator(".plot.reliability").count() == 2
        assert page.locator("#methods tbody tr").count() == 4
        sizes = page.evaluate(
            "[...document.querySelectorAll('.plot > svg')].map(s => s.getBoundingClientRect().height)"
        )
        assert min(size for size in sizes if size) > 40
        size = page.evaluate(
            "(() => { const i = new Image(); i.src = document.querySelector('image.heat')"
            ".getAttribute('href'); return i.decode().then(() => [i.width, i.height]) })()"
        )
        assert size == [80, 80]


def test_hover_names_the_object(browser, files, result):
    with Opened(browser, files["report"]) as page:
        tip = page.locator("#tip")
        assert tip.is_hidden()
        mark = page.locator(".plot.embedding .m").first
        mark.scroll_into_view_if_needed()
        mark.hover(force=True)
        assert tip.is_visible()
        assert page.locator(".plot.embedding .m.on").count() == 1
        words = page.locator(".plot.embedding .m.on").get_attribute("data-t")
        assert tip.inner_text() == words
        assert words.split("\n")[0] in result.ids
        page.mouse.move(2, 2)
        assert tip.is_hidden()


def test_html_in_names_is_shown_as_text(browser, files):
    with Opened(browser, files["report"]) as page:
        assert page.locator("img[src=x]").count() == 0
        evil = page.locator(f'.plot.embedding .m[data-t^="{EVIL[:9]}"]').first
        evil.scroll_into_view_if_needed()
        svg = page.locator(".plot.embedding > svg")
        svg.focus()
        page.keyboard.press("Home")
        assert EVIL in page.locator("#tip").inner_text()
        assert page.locator("#tip *").count() == 0
        assert page.title() == "Which method for toys?"


def test_keys_walk_through_the_marks(browser, files):
    with Opened(browser, files["report"]) as page:
        svg = page.locator(".plot.splits > svg")
        svg.focus()
        seen = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home"):
            page.keyboard.press(key)
            seen.append(page.locator("#tip").inner_text())
        assert seen[0] == seen[2] == seen[4]
        assert len({seen[0], seen[1], seen[3]}) == 3
        page.keyboard.press("Escape")
        assert page.locator("#tip").is_hidden()
        page.locator(".plot.objects > svg").focus()
        for key in ("Home", "ArrowDown"):
            page.keyboard.press(key)
        first, below = (page.locator(".plot.objects .m").nth(k).get_attribute("data-t") for k in (0, 3))
        assert page.locator("#tip").inner_text() == below != first


def test_every_plot_is_reached_by_tab(browser, files):
    with Opened(browser, files["report"]) as page:
        page.keyboard.press("Tab")
        reached = set()
        for _ in range(150):
            reached.add(page.evaluate("document.activeElement.closest('.plot')?.className"))
            page.keyboard.press("Tab")
        kinds = {"splits", "time", "heatmap", "embedding", "spectrum", "agreement", "confusion", "objects"}
        assert kinds <= {name.split()[-1] for name in reached if name}


def test_heat_map_reads_values_and_orders(browser, files, result):
    picture = result.picture
    with Opened(browser, files["report"]) as page:
        svg = page.locator(".plot.heatmap > svg").first
        svg.scroll_into_view_if_needed()
        svg.focus()
        for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"):
            page.keyboard.press(key)
        page.wait_for_selector("#tip:not([hidden])")
        i, j = 3, 1
        names = [result.ids[picture.objects[k]] for k in (i, j)]
        page.wait_for_function("n => document.querySelector('#tip').textContent.includes(n)", arg=names[0])
        words = page.locator("#tip").inner_text()
        assert names[1] in words
        value = picture.low + (picture.levels[i, j] - 1.0) / 254 * (picture.high - picture.low)
        assert float(re.search(r"similarity (?:about|at most|at least) (-?[\d.e-]+)", words)[1]) == pytest.approx(
            value, rel=0.03
        )
        page.locator("label[for=order-near]").click()
        assert page.locator(".plot.heatmap > svg").first.is_hidden()
        assert page.locator(".plot.heatmap > svg").nth(1).is_visible()


def test_table_sorts(browser, files):
    with Opened(browser, files["report"]) as page:
        head = page.locator("#methods thead button", has_text="fit s")
        names = page.locator("#methods tbody th > span")
        head.click()
        first = names.all_inner_texts()
        assert first == ["svm-kernel(clip)", "knn", "nc", "majority"]
        head.click()
        assert names.all_inner_texts() == first[::-1]
        assert page.locator("#methods th[aria-sort=descending]").count() == 1


def test_touch_shows_what_a_mark_says(browser, files):
    with Opened(browser, files["report"], width=390, height=800, has_touch=True, is_mobile=True) as page:
        mark = page.locator(".plot.time .m").nth(1)
        mark.scroll_into_view_if_needed()
        mark.tap(force=True)
        assert page.locator("#tip").is_visible()
        box = page.locator("#tip").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_a_running_study_reloads_its_page(browser, files):
    with Opened(browser, files["running"]) as page:
        assert page.locator(".live").is_visible()
        page.wait_for_event("load", timeout=8000)
        page.locator(".live button").click()
        page.evaluate("window.here = true")
        page.wait_for_timeout(1500)
        assert page.evaluate("window.here")


def test_without_scripts_everything_is_there(browser, files):
    with Opened(browser, files["report"], java_script_enabled=False) as page:
        assert page.locator(".plot.embedding .m").count() == 80
        assert page.locator(".verdict").is_visible()


def test_print_is_on_paper(browser, files):
    with Opened(browser, files["report"], scheme="dark") as page:
        page.emulate_media(media="print")
        assert page.locator("nav").is_hidden()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator(".plot.heatmap > svg").nth(1).is_visible()
        assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("name", ["report", "comparison", "running"])
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_accessible(browser, files, name, width, scheme):
    """axe-core's rules for WCAG 2 A and AA and its best practices: contrast, labels, order, names."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed; run scripts/browser"
    )
    with Opened(browser, files[name], width=width, scheme=scheme, bypass_csp=True) as page:
        if name == "running":
            page.locator(".live button").click()
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
