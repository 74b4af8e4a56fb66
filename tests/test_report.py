"""Text of the report: content, dependence on the results alone, escaping of names, size of the file."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from reports import Outline, make_result, noisy_picture, similarities

from similis import ProximityError, Study, StudyResult, make_similarity
from similis._drawing.html import Markup, render, tag
from similis.report import make_comparison, make_report
from similis.report._pages import PAPERS
from similis.study import average_ranks, compare

EVIL = "<img src=x onerror=\"document.title='bad'\">&amp;'\"</script>"


@pytest.fixture(scope="module")
def result():
    return make_result()


@pytest.fixture(scope="module")
def page(result):
    return make_report(result)


# Content


def test_every_section_is_there(page):
    sections = re.findall(r'<section id="(\w+)"', page)
    assert sections == "methods splits race time matrix answers hard reliability suspects train cite made".split()
    outline = Outline(page)
    assert len(outline.ids) == len(set(outline.ids))
    for anchor in re.findall(r'href="#(\w+)"', page):
        assert anchor in outline.ids


def test_number_of_marks(page, result):
    marks = Outline(page).marks
    hard = min(30, len(result.predictions_by_object().hardest()))
    beyond = page.count("\N{RIGHTWARDS ARROW}</text>")  # methods far off the scale have one mark: an arrow
    assert marks["splits"] == (4 - beyond) * (6 + 1) + beyond
    assert marks["race"] == 4
    assert marks["time"] == 4
    assert marks["embedding"] == 60
    assert marks["spectrum"] == 60
    assert marks["agreement"] == 3 * 2
    assert marks["confusion"] == 9
    assert marks["objects"] == 3 * hard


def test_long_times_have_no_exponent():
    found = make_result(methods={"a": 0.2, "b": 0.2}, matrix=False)
    best = found.best()
    for key, entry in found.entries.items():
        found.entries[key] = replace(entry, fit_seconds=1234.5 if key[0] == best else 12.3)
    found = replace(found)  # without what is computed already
    assert found.best() == best
    page = make_report(found)
    assert "<dt>time to fit</dt><dd><b>1234 s</b>" in page
    assert "(12 s instead of 1,234 s)" in page


def test_verdict_is_a_few_sentences(page):
    verdict = re.search(r'<p class="verdict">(.*?)</p>', page)[1]
    assert verdict.startswith("Use <strong>svm-kernel(clip)</strong>: expect an error of")
    assert len(re.findall(r"[^\d]\.(?: |$)", verdict)) == 3


def test_the_tile_counts_dropped_methods_too():
    S, y = make_similarity(60, 2, separation=1.0, random_state=2)
    result = Study(["knn", "nc", "sda", "affinity-knn", "majority"], n_splits=8).run(S, y)
    verdicts = [row.verdict for row in result.table() if not row.baseline]
    assert any(row.method in result.dropped and row.verdict == "undecided" for row in result.table())
    n_worse, n_undecided = (verdicts.count(one) for one in ("clearly worse", "undecided"))
    text = unescape(make_report(result))
    assert f"{n_worse} of {len(verdicts) - 1}" in text
    assert f"{verdicts.count('possibly worse')} possibly worse, {n_undecided} undecided" in text


def test_how_to_train_and_cite(page, result):
    advice = result.recommend()
    assert advice.python in unescape(page)
    assert advice.command in unescape(page)
    assert PAPERS["chen2010"] in page


@pytest.mark.slow
def test_candidates_for_relabeling_are_the_wrong_labels():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 2)) + 8 * truth[:, None]
    S = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    y = np.array(["left", "right"])[truth]
    ids = [f"<{i}>" for i in range(40)]
    clean = Study(["knn", "nc"], n_splits=10, cv=2).run(S, y, kind="similarity", ids=ids)
    assert clean.relabeling_candidates() == []
    assert "Candidates for relabeling" not in make_report(clean)
    y[[3, 30]] = ["right", "left"]
    found = Study(["knn", "nc", "majority"], n_splits=10, cv=2).run(S, y, kind="similarity", ids=ids)
    good = [row.method for row in found.table() if row.leading and not row.baseline]
    candidates = found.relabeling_candidates()
    assert {(c.name, c.label, c.suggested) for c in candidates} == {("<3>", "right", "left"), ("<30>", "left", "right")}
    for c in candidates:  # every prediction of the good methods
        held_out = [(split.number, np.flatnonzero(split.test == c.object)) for split in found.splits]
        said = [found.entries[m, k].predictions[place] for k, place in held_out for m in good if len(place)]
        assert len(said) == c.n_tests
        assert set(found.classes[np.concatenate(said)]) == {c.suggested}
    page = unescape(make_report(found))
    table = page.partition("Candidates for relabeling")[2].partition("</table>")[0]
    assert all(name in table for name in ("<3>", "<30>"))


def test_divided_or_unsure_methods_suggest_no_label():
    result = make_result(methods={"knn": 0.3, "nc": 0.3})  # probabilities of 0.73 at most
    assert result.relabeling_candidates() == []
    assert make_result(n_classes=2, methods={"svm": 1.0}, n_splits=1).relabeling_candidates() == []  # one test each


def test_papers_are_those_of_the_bibliography():
    text = (Path(__file__).parents[1] / "PAPERS.bib").read_text()
    assert set(re.findall(r"@\w+\{(\w+),", text)) == set(PAPERS)
    for entry in text.split("@")[1:]:
        key = re.match(r"\w+\{(\w+),", entry)[1]
        assert re.search(r"title\s*=\s*\{(.*?)\},", entry)[1] in PAPERS[key]
        assert re.search(r"year\s*=\s*\{(\d+)\}", entry)[1] in PAPERS[key]


# A pure function of the results


def test_results_file_gives_the_same_page(tmp_path, result, page):
    result.save(tmp_path / "result.json")
    again = StudyResult.load(tmp_path / "result.json")
    again.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == page


def test_compressed_results_file(tmp_path, result, page):
    for name in ("a.json.gz", "b.json.gz"):
        result.save(tmp_path / name)
    data = (tmp_path / "a.json.gz").read_bytes()
    assert data == (tmp_path / "b.json.gz").read_bytes()
    assert make_report(StudyResult.load(tmp_path / "a.json.gz")) == page
    (tmp_path / "a.json.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(ProximityError, match=r"not a results file .*; give one that `similis study --save`"):
        StudyResult.load(tmp_path / "a.json.gz")


def test_objects_and_a_measure_give_the_same_page(tmp_path):
    from similis import VDM, load_votes

    votes = load_votes()
    some = np.r_[:25, 200:225]
    found = Study(["nc", "knn"], n_splits=2, cv=2).run(votes.data[some], votes.target[some], measure=VDM())
    found.save(tmp_path / "result.json")
    again = make_report(StudyResult.load(tmp_path / "result.json"))
    assert again == make_report(found)
    assert "fitted to the labels of all objects shown" in again
    assert "Pairwise(VDM())" in unescape(again)


def test_old_results_files_still_give_a_report(tmp_path, result):
    result.save(tmp_path / "result.json")
    record = json.loads((tmp_path / "result.json").read_text())
    for key in ("name", "arguments", "training", "picture"):
        del record[key]
    (tmp_path / "old.json").write_text(json.dumps(record))
    page = make_report(StudyResult.load(tmp_path / "old.json"))
    assert "without a picture" in page
    assert Outline(page).marks["splits"] > 4


def test_interrupted_study():
    found = make_result()
    for key in list(found.entries)[3:]:
        del found.entries[key]
    found.partial = True
    page = make_report(found)
    assert "3 of 24 entries" in page
    Outline(page)
    found.entries.clear()
    assert "none can be recommended" in make_report(found)


@pytest.mark.parametrize("change", ["one method", "two objects a class", "leave one out", "one class right"])
def test_small_and_strange_studies(change):
    if change == "one method":
        found = make_result(methods={"nc": 0.1})
        assert "No other method was compared." in make_report(found)
    elif change == "two objects a class":
        found = make_result(n=6, n_splits=2)
    elif change == "leave one out":
        x = np.linspace(0, 1, 12)
        found = Study(["nc", "knn"], protocol="loo", cv=2).run(1 - abs(x[:, None] - x), x > 0.5)
    else:
        found = make_result(methods={"nc": 0.0, "knn": 0.0})
    Outline(make_report(found))
    Outline(found._repr_html_())


def test_many_classes():
    found = make_result(n=120, n_classes=40, n_splits=3)
    page = make_report(found)
    assert "confusion" not in Outline(page).marks
    assert "and 16 more" in page


# Escaping


def test_names_are_shown_as_text():
    ids = [f"{EVIL}{i}" for i in range(60)]
    found = make_result(methods={EVIL: 0.1, "nc": 0.2}, ids=ids, labels=[f"{EVIL}{g}" for g in "abc"])
    found.name = EVIL
    page = make_report(found)
    outline = Outline(page)
    assert outline.tags["script"] == 1
    assert "onerror" not in {name for name in re.findall(r"<img[^>]*?(\w+)=", page)}
    assert page.count("<img src=x") == 0
    assert EVIL in unescape(page)
    Outline(found._repr_html_())


def test_markup_escapes_what_is_not_markup():
    assert tag("p", "<b>", class_='"x"') == '<p class="&#34;x&#34;">&lt;b&gt;</p>'
    assert tag("p", tag("b", "&"), None_=None) == "<p><b>&amp;</b></p>"
    assert tag("p", "<", Markup("<br>")) == "<p>&lt;<br></p>"
    assert "&lt;b&gt;<br>" in render("similis._drawing", "notebook.html", style="", parts=["<b>", Markup("<br>")])


def test_nothing_is_loaded(page):
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in unescape(page)


def test_notebook_is_left_alone():
    """Every style rule of the notebook view begins with the class of similis."""
    style = "".join(re.findall(r"<style>(.*?)</style>", make_result(matrix=False)._repr_html_(), flags=re.DOTALL))
    style = re.sub(r"@media[^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*\}", r"\1", style)
    for rule in re.findall(r"([^{}]+)\{", style):
        for selector in rule.split(","):
            assert selector.strip().startswith(".similis"), selector


# Size


@pytest.mark.slow
def test_three_thousand_objects_stay_below_three_megabytes():
    methods = {f"method number {k}": 0.05 + 0.01 * k for k in range(45)}
    found = make_result(
        3000, 5, methods, 20, ids=[f"specimen {i} of the collection" for i in range(3000)], matrix=False
    )
    found._picture = noisy_picture(3000)
    page = make_report(found)
    assert len(page.encode()) < 3_000_000
    assert "450 of the 3,000 objects" in page
    assert "1,000 of the 3,000 objects" in page
    assert "21 are left out" in page


# Several studies


def test_make_comparison(tmp_path):
    results = {name: make_result(seed=k, matrix=False) for k, name in enumerate(("one", "two", f"three {EVIL}"))}
    found = compare(results)
    page = make_comparison(found)
    outline = Outline(page)
    assert outline.marks["ranks"] == 4
    assert outline.tags["script"] == 1
    assert found.ranks.methods == average_ranks(results).methods
    assert f"critical difference {found.ranks.critical_difference:.2f}" in page
    assert page.count('clique"') == len(found.ranks.groups)
    Outline(found._repr_html_())
    assert "average ranks" in str(found)
    found.to_html(tmp_path / "comparison.html")
    assert (tmp_path / "comparison.html").read_text() == page
    found.to_html(tmp_path / "comparison.html", links={"one": "one.html"})
    assert '<a href="one.html">one</a>' in (tmp_path / "comparison.html").read_text()


def test_comparison_of_regressions_shows_values_in_the_unit_of_the_target():
    results = {}
    for name, unit in (("meters", 1.0), ("kilometers", 1e-3)):
        A, y = similarities(40, 2, np.random.default_rng(0))[0], unit * np.linspace(3.0, 9.0, 40)
        results[name] = Study(["knn-mean", "mean", "median"], n_splits=3, cv=3, task="regression").run(A, y)
    page = make_comparison(compare(results))
    assert "Root mean squared error over all tests" in page
    assert "Test error in %" not in page
    cells = re.findall(r'--share:([\d.]+)">(?:<b>)?([\d.e-]+)(?:</b>)? ± ([\d.e-]+)</td>', page)
    assert len(cells) == 6
    for (share, error, sd), (same_share, small, small_sd) in zip(cells[::2], cells[1::2]):
        assert same_share == share
        assert float(small) == pytest.approx(float(error) / 1000, rel=1e-3)
        assert float(small_sd) == pytest.approx(float(sd) / 1000, rel=1e-3)
    row = results["meters"].table()[0]
    assert cells[0][1:] == (f"{row.error:.4g}", f"{row.error_sd:.4g}")


def test_report_command(tmp_path):
    from typer.testing import CliRunner

    from similis.cli import app

    for k, name in enumerate(("a", "b")):
        found = make_result(seed=k, matrix=False)
        found.name = ""
        found.save(tmp_path / f"{name}.json")
    run = CliRunner().invoke
    one = run(app, ["report", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.html")])
    assert one.exit_code == 0, one.output
    assert "Which method for a?" in (tmp_path / "a.html").read_text()
    files = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    both = run(app, ["report", *files, "-o", str(tmp_path / "both.html"), "--name", "x", "--name", "y"])
    assert both.exit_code == 0, both.output
    assert "Which method for x, y?" in (tmp_path / "both.html").read_text()
    assert run(app, ["report", *files, "--name", "x"]).exit_code == 2
    assert run(app, ["report", str(tmp_path / "none.json")]).exit_code == 2


# Running studies


def test_watch_sees_results_grow(rng):
    S, y = similarities(30, 2, rng)
    seen = []

    def look(found):
        seen.append((len(found.entries), found.partial))
        assert 'data-fresh="10"' in make_report(found, refresh=10)

    found = Study(["nc", "knn"], n_splits=2, cv=2).run(S, y, watch=look)
    assert seen[0] == (1, True)
    assert not found.partial
    assert "data-fresh" not in make_report(found)


def test_watcher_keeps_its_pace(monkeypatch):
    from similis.study import _plan

    now, told = [0.0], []
    monkeypatch.setattr(_plan.time, "monotonic", lambda: now[0])
    watch = _plan.Watcher(lambda: (told.append(now[0]), now.__setitem__(0, now[0] + 2)), pause=5)
    for _ in range(100):
        watch()
        now[0] += 1
    assert told[0] == 0
    assert min(np.diff(told)) >= 20  # a tenth of the time at most


def test_watch_on_the_command_line(tmp_path, monkeypatch, rng):
    from typer.testing import CliRunner

    from similis import write_proximity
    from similis.cli import app

    monkeypatch.chdir(tmp_path)
    S, y = similarities(20, 2, rng)
    write_proximity("toys.npz", S, labels=y.astype(str), kind="similarity")
    arguments = ["study", "toys.npz", "--method", "nc", "--method", "knn", "--splits", "2", "--folds", "2", "--watch"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "report.html").read_text()
    assert "Which method for toys?" in page
    assert "data-fresh" not in page
    assert "similis fit toys.npz --method" in page


def test_command_refuses_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        make_result(matrix=False).to_html(tmp_path / "nowhere" / "report.html")
    with pytest.raises(ProximityError):
        StudyResult.load(__file__)


@pytest.mark.slow
def test_report_needs_no_matplotlib(tmp_path):
    """matplotlib is an extra; pages are SVG."""
    import subprocess
    import sys

    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.path.insert(0, sys.argv[1])\n"
        "from reports import make_result\n"
        "make_result().to_html(sys.argv[2])"
    )
    path = tmp_path / "report.html"
    subprocess.run([sys.executable, "-c", code, str(Path(__file__).parent), str(path)], check=True)
    assert path.stat().st_size > 10_000


def test_templates_escape_by_default():
    from similis._drawing.html import _environment

    for package in ("similis._drawing", "similis.report"):
        environment = _environment(package)
        assert environment.autoescape is True
        for name in environment.list_templates(extensions=["html"]):
            assert not re.search(r"\|\s*safe\b", environment.loader.get_source(environment, name)[0]), name
