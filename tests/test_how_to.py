"""What the how-to pages promise beyond their own code: the classifier keeps the contract, the commands run."""

import importlib.util
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import contract
import numpy as np
import pytest
from sklearn.utils._testing import ignore_warnings
from typer.testing import CliRunner

from similis import __version__, load, save
from similis.cli import app
from similis.testing import parametrize_with_checks

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "how-to"


def from_the_page():
    """The module whose only content is the first code of add_a_classifier.md, importable under its name."""
    text = (PAGES / "add_a_classifier.md").read_text()
    code = re.search(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL).group(1)
    spec = importlib.util.spec_from_loader("central_members_of_the_page", loader=None)
    module = importlib.util.module_from_spec(spec)
    exec(compile(code, "add_a_classifier.md", "exec"), module.__dict__)
    sys.modules[spec.name] = module
    return module


CentralMembers = from_the_page().CentralMembers
MODELS = [CentralMembers(), CentralMembers(n_prototypes=1, kind="dissimilarity")]


@parametrize_with_checks(MODELS)
def test_checks(estimator, check):
    with ignore_warnings(category=UserWarning):
        check(estimator)


def test_extremes_are_known_rules(rng):
    """One representative is the nearest centroid; all are the mean similarity."""
    from similis import NearestCentroid

    S, y, Q = contract.toy(CentralMembers())
    np.testing.assert_array_equal(
        CentralMembers(n_prototypes=1).fit(S, y).predict(Q), NearestCentroid().fit(S, y).predict(Q)
    )
    means = np.stack([Q[:, y == g].mean(axis=1) for g in range(3)], axis=1)
    np.testing.assert_array_equal(CentralMembers(n_prototypes=99).fit(S, y).predict(Q), means.argmax(axis=1))


def test_saved_and_loaded_as_the_page_says(tmp_path):
    S, y, Q = contract.toy(CentralMembers())
    model = CentralMembers().fit(S, y)
    save(model, tmp_path / "model.skops", trusted=[CentralMembers])
    again = load(tmp_path / "model.skops", trusted=[CentralMembers])
    np.testing.assert_array_equal(model.predict(Q), again.predict(Q))


FILES = {  # of the page: where they come from in the folder of real files
    "hits.m8": "promoters_blast.m8",
    "samples.tsv": "metadata.tsv",
    "distances.lsmat": "promoters_skbio.lsmat",
    "mash.tsv": "promoters_mash_edges.tsv",
    "comparison.npy": "promoters_sourmash.npy",
    "comparison.npy.labels.txt": "promoters_sourmash.npy.labels.txt",
    "cells.h5ad": "promoters_anndata.h5ad",
}


@pytest.mark.slow
@pytest.mark.parametrize("page", ["from_blast", "from_qiime", "from_mash", "from_anndata"])
def test_commands_on_real_files(tmp_path, monkeypatch, page):
    """Commands run in order and print what the page shows, `...` apart."""
    source = Path(os.environ.get("SIMILIS_DATA", "")) / "formats"
    if not (source / "metadata.tsv").exists():
        pytest.skip("real files are not here")
    monkeypatch.chdir(tmp_path)
    for name, origin in FILES.items():
        shutil.copy(source / origin, name)
    samples = [line.split("\t") for line in Path("samples.tsv").read_text().splitlines()]
    known = ["\t".join([i, "" if i in ("seq002", "seq003", "seq004") else label]) for i, label, _ in samples]
    Path("known.tsv").write_text("\n".join(known))
    held_out = [i for i, _, batch in samples if batch == "b0"]
    hits = [line for line in Path("hits.m8").read_text().splitlines() if line.split("\t")[1] not in held_out]
    Path("new.m8").write_text("\n".join(line for line in hits if line.split("\t")[0] in held_out[:4]))
    pairs = (source / "promoters_mash_dist.tsv").read_text().splitlines()
    if page == "from_mash":
        new = [line for line in pairs if line.split("\t")[1] in ("seq000", "seq001", "seq002")]
        Path("new.tsv").write_text("\n".join(new))
    for block in re.findall(r"^```console\n(.*?)^```", (PAGES / f"{page}.md").read_text(), re.MULTILINE | re.DOTALL):
        for command, shown in re.findall(r"^\$ similis (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
            result = CliRunner().invoke(app, shlex.split(command))
            assert result.exit_code == 0, (command, result.output)
            printed = " ".join(result.output.split())
            for part in shown.split("..."):
                assert " ".join(part.split()) in printed, (command, part)


def test_citation_is_of_this_version_and_of_the_papers():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {__version__}\n" in citation
    for title in re.findall(r"title  = \{(.*)\}", (ROOT / "PAPERS.bib").read_text()):
        assert title in citation
