"""Names made to do harm stay names: in pages, in a browser, on a terminal."""

import json
import os
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest
from reports import make_result

from similis import write_proximity
from similis.io import read_objects
from similis.report import make_comparison, make_report
from similis.study import compare

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
BROWSER = shutil.which(os.environ.get("SIMILIS_CHROMIUM", "chromium"))


# Names in pages


EVILS = [
    "<script>document.title='bad'</script>",
    "</script><script>document.title='bad'</script>",
    "<img src=x onerror=\"document.title='bad'\">",
    "\"><svg onload=document.title='bad'>",
    "' onmouseover='document.title=\"bad\"' x='",
    "javascript:document.title='bad'",
    "</title><script>document.title='bad'</script>",
    "</style><style>body{display:none}</style>",
    "<iframe srcdoc=\"<script>parent.document.title='bad'</script>\">",
    "\u2028document.title='bad'\u2029",
    "\u202egnp.exe\u202c",
    "]]><!--<script>",
    "{{7*7}}${7*7}",
    "\x1b]0;bad\x07\x1b[31m",
    "&lt;script&gt;",
]


class Seen(HTMLParser):
    """Every element, its attributes, and the text."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.text = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text.append(data)


def evil_result(**options):
    n = 60
    result = make_result(
        n=n,
        ids=[f"{EVILS[i % len(EVILS)]} {i}" for i in range(n)],
        labels=EVILS[:3],
        methods={EVILS[2]: 0.2, EVILS[3]: 0.3, "nc": 0.1},
        **options,
    )
    result.name = EVILS[1]
    result.arguments = EVILS[4]
    result.sessions[0]["machine"] = {"cpu": EVILS[0], EVILS[2]: "x"}
    return result


@pytest.fixture(scope="module")
def pages():
    results = {evil: make_result(seed=k, matrix=False) for k, evil in enumerate(EVILS[:4])}
    links = dict(zip(EVILS, ["javascript:alert(1)", " java\nscript:alert(1)", "data:text/html,x", "report.html"]))
    return {"report": make_report(evil_result()), "comparison": make_comparison(compare(results), links)}


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_names_stay_text_in_pages(pages, name):
    seen = Seen(pages[name])
    tags = {tag for tag, _ in seen.elements}
    assert not tags & {"iframe", "object", "embed", "form", "base", "foreignobject", "animate", "set"}
    assert [tag for tag, _ in seen.elements].count("script") == 1
    for _, attributes in seen.elements:
        assert not [key for key in attributes if key.startswith("on") or key in ("srcdoc", "formaction")]
        for key in ("href", "src", "xlink:href"):
            value = attributes.get(key) or ""
            assert re.match(r"#|data:image/png;base64,|https://|report\.html", value) or not value, value
        assert "expression" not in attributes.get("style", "")
    said = "".join(seen.text)
    assert any(evil in said for evil in EVILS[:4])


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_pages_have_no_control_characters(pages, name):
    """U+202E reverses the text after it: a name could look like another one. The page shows its number instead."""
    assert not CONTROL.search(pages[name])
    assert not CONTROL.search("".join(Seen(pages[name]).text))
    assert (r"\u202egnp.exe\u202c" in pages[name]) == (name == "report")
    for _, attributes in Seen(pages[name]).elements:
        if "data-heat" in attributes:
            assert not CONTROL.search("".join(json.loads(attributes["data-heat"])["names"]))


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_only_the_pages_own_script_may_run(pages, name):
    from base64 import b64encode
    from hashlib import sha256

    script = re.search(r"<script>(.*?)</script>", pages[name], re.S)[1]
    allowed = f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
    policy = next(a["content"] for tag, a in Seen(pages[name]).elements if tag == "meta" and "http-equiv" in a)
    assert allowed in policy
    assert "script-src 'unsafe" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.slow
@pytest.mark.parametrize("name", ["report", "comparison"])
def test_nothing_injected_runs_in_a_browser(tmp_path, pages, name):
    """As it is; and where a script did get in, it is not run while the page's own is."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run scripts/browser")
    if BROWSER is None:
        pytest.skip("there is no chromium here; run scripts/browser")
    script = "<script>document.title='bad'</script><img src=x onerror=\"document.title='bad'\">"
    injected = pages[name].replace("<main>", f"<main>{script}", 1)
    assert injected != pages[name]
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        for text in (pages[name], injected):
            (tmp_path / "p.html").write_text(text)
            page = browser.new_context(offline=True).new_page()
            page.goto((tmp_path / "p.html").as_uri())
            for box in page.locator(".m").all()[:20]:
                box.dispatch_event("pointermove")
                assert not CONTROL.search(page.locator("#tip").text_content())
            page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
            for heat in [heat for heat in page.locator("image.heat").all() if heat.is_visible()]:
                heat.scroll_into_view_if_needed()
                for x in (0.2, 0.5, 0.8):
                    area = heat.bounding_box()
                    page.mouse.move(area["x"] + x * area["width"], area["y"] + x * area["height"])
                    assert not CONTROL.search(page.locator("#tip").text_content())
            assert not CONTROL.search(page.evaluate("document.documentElement.textContent + document.title"))
            assert page.title() != "bad"
            page.locator("thead button").first.click()
            assert page.locator("th[aria-sort]").count() == 1  # the page's own script is at work
        browser.close()


# Names on a terminal


def test_control_characters_are_printed_by_their_numbers(tmp_path):
    from typer.testing import CliRunner

    from similis.cli import app

    ids = ["\x1b]0;owned\x07a", "b\x1b[2J", "c\x9b31m", "d\u202eexe", "e\r", "f\x08", "g\x7f", "h"]
    x = np.arange(8.0)
    S = np.exp(-np.abs(x[:, None] - x))
    write_proximity(tmp_path / "m.npz", S, ids=ids, kind="similarity", labels=["\x1b[31mred", "blue"] * 4)
    runner = CliRunner()
    for command in (
        ["inspect", str(tmp_path / "m.npz")],
        ["study", str(tmp_path / "m.npz"), "--methods", "nc", "--splits", "2"],
        ["inspect", str(tmp_path / "no\x1b[31m.npz")],
    ):
        found = runner.invoke(app, command)
        said = found.output + (found.stderr if found.stderr_bytes is not None else "")
        assert said
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", said), command


def test_text_of_objects_is_text(tmp_path):
    """Formulas of spreadsheets are data here and come back as they were; docs say what to do before opening them."""
    (tmp_path / "x.csv").write_text("id,word\n=1+1,\"=cmd|' /C calc'!A0\"\n@SUM(1),tree\n")
    assert read_objects(tmp_path / "x.csv").ids == ("=1+1", "@SUM(1)")
