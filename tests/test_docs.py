"""The code on the pages runs. Blocks with >>> are doctests; the others are run here, page by page."""

import json
import os
import re
import shutil
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from scripts.run_page import blocks, commands, run, run_page, without_times
from similis import make_similarity, write_proximity

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILES = {  # of the README, in the folder of real files
    "hits.m8": "promoters_blast.m8",
    "samples.tsv": "metadata.tsv",
    "distances.lsmat": "promoters_skbio.lsmat",
    "cells.h5ad": "promoters_anndata.h5ad",
}
WITH_REAL_FILES = ("from_blast", "from_qiime", "from_mash", "from_anndata")  # test_how_to.py runs these


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # classes of the page can be pickled,
    cloudpickle = pytest.importorskip("cloudpickle")  # with Dask and joblib; also for workers, which cannot import it
    cloudpickle.register_pickle_by_value(module)
    return module


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p) and p.stem != "tutorial"], ids=lambda p: str(p.relative_to(ROOT))
)  # the code of the tutorial needs its commands, see below
def test_code_on_the_page_runs(page, module):
    for _, block in blocks(page):
        exec(compile(block, page.name, "exec"), vars(module))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_inside_the_repository_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), target


def files_of_the_reader():
    """Files that some pages take as given, such as the reader's own matrix.csv."""
    S, y = make_similarity(60, 2, separation=1.2, indefinite=0.1, random_state=0)
    ids = [f"seq{i:02d}" for i in range(60)]
    names = np.where(y == 0, "healthy", "ill")
    labels = "id,label\n" + "".join(f"{i},{c}\n" for i, c in zip(ids, names))
    for name in ("matrix.csv", "sequence.csv", "structure.npz", "expression.csv"):
        write_proximity(name, S, ids=ids, kind="similarity")
    write_proximity("matrix.npz", S, ids=ids, labels=names, kind="similarity")
    write_proximity("sequences.npz", S @ S.T, ids=ids, kind="similarity")
    holes = S @ S.T
    holes[50:] = holes[:, 50:] = np.nan
    write_proximity("structures.npz", holes, ids=ids, kind="similarity")
    write_proximity("distances.csv", S.max() - S - np.diag(np.diag(S.max() - S)), ids=ids, kind="dissimilarity")
    Path("labels.csv").write_text(labels)
    Path("samples.csv").write_text("id,ph\n" + "".join(f"{i},{4 + 2 * v:.3f}\n" for i, v in zip(ids, S.mean(axis=0))))
    head, *rows = Path("matrix.csv").read_text().splitlines()
    Path("new-rows.csv").write_text("\n".join([head, *rows[:3]]) + "\n")
    head, *rows = Path("distances.csv").read_text().splitlines()
    Path("new-distances.csv").write_text("\n".join([head, *rows[:3]]) + "\n")
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list(letters), 12)) for letters in ("ACDEFGHIKL", "MNPQRSTVWY") for _ in range(12)]
    table = "word,class\n" + "".join(f"{w},{k // 12}\n" for k, w in enumerate(words))
    Path("words.csv").write_text(table)
    Path("proteins.csv").write_text(table)
    atoms = [{"label": k % 2, "edges": [[0, 1], [1, 2 + k % 2]], "node_labels": list("CCON")} for k in range(24)]
    Path("molecules.json").write_text(json.dumps(atoms))
    points = [{"label": k % 2, "object": (rng.normal(size=(3, 2)) + k % 2).tolist()} for k in range(8)]
    Path("signatures.json").write_text(json.dumps(points))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if p.stem not in WITH_REAL_FILES and any(commands(b) for _, b in blocks(p, "console"))],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_commands_on_the_page_print_what_it_shows(page, module):
    """Commands and code run in order in one folder; `...` stands for lines that the page leaves out."""
    if page.stem != "tutorial":
        files_of_the_reader()
    run_page(page, vars(module))


@pytest.mark.slow
def test_table_of_the_readme(module):
    source = Path(os.environ.get("SIMILIS_DATA", "")) / "formats"
    if not source.exists():
        pytest.skip("real files are not here")
    files_of_the_reader()
    for name, origin in FILES.items():
        shutil.copy(source / origin, name)
    rows = re.findall(r"^\| .*? \| `(similis .*?)` \| (.*) \|$", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert len(rows) == 5
    for command, shown in rows:
        printed = without_times(run(command))
        for line in re.findall(r"`(.*?)`", shown):
            assert without_times(line) in printed, (command, line)
