"""Additions of the site to plain Markdown: navigation, API pages from `__all__`, links of names and papers, MathJax.

The pages stay readable on a git host: tables of contents are added while Sphinx reads them, and `SimilarityKNN` or
[chen2010] in the text become links here only.
"""

import inspect
import re
from pathlib import Path

from api_names import DATA, TOP, at_top_level, first_sentence, methods_to_show, names_by_package, public_object

PAPER = re.compile(r"\[((?:cazzanti|chen|qiao|pekalska|bernal)\d{4})\]")
GALLERY_LINK = re.compile(r"\]\((?:[./\w-]*gallery/)?(plot_\w+)\.py\)")
CALL = re.compile(r"((?:similis\.)?[A-Za-z_][\w.]*)(\(.*\))?", flags=re.DOTALL)
# First pages of a folder, in the order of reading; others follow by name.
FIRST = {
    "introduction": ["similarities", "does_it_work"],
    "guide": [
        "measures",
        "proximity",
        "diagnosis",
        "neighbors",
        "discriminant",
        "mixture",
        "svm",
        "learned_kernels",
        "duals",
        "completion",
        "normal",
        "maxsim",
        "study",
        "conformal",
        "scale",
    ],
    "how-to": [
        "bring_your_own_matrix",
        "from_other_tools",
        "from_blast",
        "from_qiime",
        "from_mash",
        "from_anndata",
        "from_precomputed",
        "from_distools",
        "rare_classes",
        "groups",
        "asymmetric",
        "missing_pairs",
        "several_matrices",
        "alignment_scores",
        "large_data",
        "study_time",
        "compare_groups",
        "clusters",
        "outliers",
        "regression",
        "prediction_sets",
        "explain",
        "trust_a_prediction",
        "deploy",
        "meta_estimators",
    ],
    "results/findings": ["index"],
}


def setup(app):
    app.connect("builder-inited", write_api_pages)
    app.connect("builder-inited", copy_mathjax)
    app.connect("builder-inited", write_versions)
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", plain_formulae, priority=600)  # after numpydoc
    app.connect("autodoc-process-signature", hide_internal_signature)
    app.connect("doctree-read", figure_first)
    app.connect("doctree-read", link_names)
    app.connect("missing-reference", find_public_name)
    app.connect("doctree-resolved", link_papers)
    app.connect("build-finished", make_accessible)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


# Navigation


def pages_of(source, folder):
    """Documents of a folder, those of FIRST first."""
    found = sorted(path.stem for path in (Path(source) / folder).glob("*.md") if path.stem != "command_line")
    first = [name for name in FIRST.get(folder, ()) if name in found]
    return [f"/{folder}/{name}" for name in first + [name for name in found if name not in first]]


def contents(caption, documents):
    option = f":caption: {caption}\n" if caption else ""
    return "\n\n```{toctree}\n:hidden:\n" + option + "\n" + "\n".join(documents) + "\n```\n" if documents else ""


def add_contents(app, name, text):
    """Hidden tables of contents at the end of the index pages."""
    source = app.srcdir
    text[0] = GALLERY_LINK.sub(r"](/examples/\1.rst)", text[0])  # the script on a git host, its page on the site
    if name == "index":
        text[0] += contents("Tutorial", ["/tutorial", *pages_of(source, "introduction")])
        text[0] += contents("How-to", ["/choose", *pages_of(source, "how-to")])
        text[0] += contents("User guide", [*pages_of(source, "guide"), "/gallery/index"])
        text[0] += contents("Reference", ["/methods", "/guide/command_line", "/formats", "/api/index", "/papers"])
        about = ["/results/index", "/leaderboard", "/benchmarks", "/reliability", "/design"]
        text[0] += contents("About", [*about, *pages_of(source, "results/findings")])
    elif name == "gallery/index":
        scripts = sorted((Path(source) / "gallery").glob("plot_*.py"))
        text[0] += gallery_cards(scripts) + contents("", [f"/examples/{path.stem}" for path in scripts])
    elif name == "results/index":
        text[0] += contents("", [page for page in pages_of(source, "results") if not page.endswith("/index")])
    elif name == "api/index":
        text[0] = re.sub(r"^\| `(similis\.\w+)`", r"| [`\1`](/api/generated/\1.rst)", text[0], flags=re.MULTILINE)
        text[0] += contents("", [f"/api/generated/{module}" for module in names_by_package()])


def gallery_cards(scripts):
    """A picture and a title per page."""
    cards = [
        f":::{{grid-item-card}} {path.read_text().splitlines()[1]}\n"
        f":link: /examples/{path.stem}\n:link-type: doc\n"
        f":img-top: ../examples/images/thumb/sphx_glr_{path.stem}_thumb.png\n"
        f":img-alt: First figure of the page\n:::\n"
        for path in scripts
    ]
    return "\n\n::::{grid} 1 2 2 3\n:gutter: 2\n\n" + "\n".join(cards) + "::::\n"


# API pages


def write_api_pages(app):
    """A page for each package and one for each public name, from `__all__`; unchanged files are not touched."""
    _TARGETS.update(public_targets())
    folder = Path(app.srcdir) / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    wanted, places = {}, documented_places()
    for module, names in names_by_package().items():
        wanted[f"{module}.rst"] = package_page(module, names)
        wanted |= {f"{module}.{name}.rst": name_page(module, name, places[f"{module}.{name}"]) for name in names}
    for path in folder.glob("*.rst"):
        if path.name not in wanted:
            path.unlink()
    for file, text in wanted.items():
        path = folder / file
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def documented_places():
    """Where each public name is documented: a class that two packages export has its page in the first."""
    places, first = {}, {}
    for module, names in names_by_package().items():
        for name in names:
            full, thing = f"{module}.{name}", public_object(module, name)
            places[full] = first.setdefault(id(thing), full) if inspect.isclass(thing) else full
    return places


def title(text):
    return f"{text}\n{'=' * len(text)}\n\n"


def package_page(module, names):
    rows = "".join(
        f"   * - :py:obj:`{name} <{module}.{name}>`\n     - {escape(first_sentence(module, name))}\n" for name in names
    )
    intro = "Names at the top level only." if module == TOP else first_sentence(module)
    return f"{title(module)}{intro}\n\n.. list-table::\n   :widths: 30 70\n   :class: names\n\n{rows}"


def name_page(module, name, place):
    """Page of one name, or a pointer to the `place` where it is documented."""
    thing = public_object(module, name)
    full = f"{module}.{name}"
    where = f"``from similis import {name}``" if at_top_level(name) else f"``from {module} import {name}``"
    head = f":orphan:\n\n{title(name)}:doc:`{module} <{module}>` · {where}\n\n.. py:currentmodule:: {module}\n\n"
    if place != full:
        return f"{head}{escape(first_sentence(module, name))} Documented as :py:obj:`{place}`.\n"
    if (module, name) in DATA:
        return f"{head}.. py:data:: {full}\n\n   {DATA[module, name]}\n"
    if not inspect.isclass(thing):
        return f"{head}.. autofunction:: {full}\n"
    members = methods_to_show(thing)
    shown = f"   :members: {', '.join(members)}\n" if members else ""
    return f"{head}.. autoclass:: {full}\n{shown}"


def escape(text):
    """Bars and trailing underscores of plain formulae, |x - z| and K_, which reStructuredText would take for markup."""
    parts = re.split(r"(``.+?``|`.+?`)", text)
    parts[::2] = [re.sub(r"(?<=\w)_(?!\w)", r"\\_", part.replace("|", r"\|")) for part in parts[::2]]
    return "".join(parts)


def plain_formulae(app, what, name, obj, options, lines):
    """Escape a docstring outside its examples and literal blocks."""
    verbatim = None  # indentation of the paragraph that opened a literal block
    example = False
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        example = line.strip() != "" and (example or line.lstrip().startswith(">>>"))
        if verbatim is not None and line.strip() and indent <= verbatim:
            verbatim = None
        if not example and verbatim is None:
            lines[i] = escape(line)
        if line.rstrip().endswith("::") and not line.lstrip().startswith(".."):
            verbatim = indent


def hide_internal_signature(app, what, name, obj, options, signature, returns):
    """Results are made by similis, not by the reader: a signature of 25 fields, some of them private, says nothing."""
    return ("", returns) if what == "class" and "<factory>" in (signature or "") else None


def figure_first(app, doctree):
    """The first figure of a gallery page follows its title; in the script and the notebook it follows its code."""
    from docutils import nodes
    from sphinx_gallery.directives import imgsgnode

    if not app.env.docname.startswith("examples/plot_"):
        return
    first = next(iter(doctree.findall(imgsgnode)), None)
    title = next(iter(doctree.findall(nodes.title)), None)
    if first is not None:
        first.parent.remove(first)
        title.parent.insert(title.parent.index(title) + 1, first)


# Links that a git host does not need


def public_targets():
    """Short names that mean one thing, and full names, with what they refer to."""
    found, double = {}, set()
    for full, place in documented_places().items():
        name = full.rpartition(".")[2]
        found[full] = place
        if at_top_level(name):
            found[f"{TOP}.{name}"] = place
        if found.setdefault(name, place) != place:
            double.add(name)
    return {name: target for name, target in found.items() if name not in double}


_TARGETS = {}


def find_public_name(app, env, node, contnode):
    """A docstring may say `PathSearchCV`, `similis.PathSearchCV` or `Study.run`; its page is that of the package."""
    name, *member = node.get("reftarget", "").split(".") if node.get("refdomain") == "py" else ("",)
    for known, rest in ((node.get("reftarget"), []), (name, member)):
        if known in _TARGETS:
            target = ".".join([_TARGETS[known], *rest])
            found = env.domains["py"].resolve_any_xref(env, node["refdoc"], app.builder, target, node, contnode)
            return found[0][1] if found else None
    return None


def link_names(app, doctree):
    """`SimilarityKNN` or `compact(model)` in the text leads to its API page."""
    from docutils import nodes
    from sphinx import addnodes

    for block in doctree.findall(nodes.literal_block):  # doctests end with an empty line for pytest's sake
        if block.rawsource == block.astext():  # else parsed
            block.rawsource = block.astext().rstrip("\n")
            block[:] = [nodes.Text(block.rawsource)]
    here = app.env.docname.rpartition("/")[2]
    for literal in list(doctree.findall(nodes.literal)):
        match = CALL.fullmatch(literal.astext())
        target = _TARGETS.get(match[1]) if match else None
        plain = match and match[1].islower() and "_" not in match[1] and "." not in match[1] and not match[2]
        if (
            target is None
            or plain
            or target == here
            or inside(literal, nodes.reference, nodes.title, addnodes.pending_xref)
        ):
            continue
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=target, refdoc=app.env.docname, refwarn=True, refexplicit=True
        )
        literal.replace_self(link)
        link += literal


def link_papers(app, doctree, docname):
    """[chen2010] in the text leads to the page of papers."""
    from docutils import nodes

    page = app.builder.get_relative_uri(docname, "papers")
    for text in list(doctree.findall(nodes.Text)):
        if not PAPER.search(text) or inside(text, nodes.reference, nodes.literal, nodes.literal_block, nodes.title):
            continue
        parts = PAPER.split(text.astext())
        made = [nodes.Text(parts[0])]
        for key, after in zip(parts[1::2], parts[2::2], strict=True):
            made += [nodes.reference("", f"[{key}]", refuri=f"{page}#{key}", internal=True), nodes.Text(after)]
        text.parent.replace(text, made)


def inside(node, *kinds):
    while node := node.parent:
        if isinstance(node, kinds):
            return True
    return False


def copy_mathjax(app):
    """MathJax 3 in one file without web fonts, out of the installed package sphinx-mathjax-offline."""
    from importlib.metadata import files
    from shutil import copyfile

    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    script = next(path for path in files("sphinx-mathjax-offline") if path.name == "tex-svg.js")
    copyfile(script.locate(), static / "tex-svg.js")


def write_versions(app):
    """The list of versions, here of this one only; `publish` writes it again."""
    from publish import LIST, script

    (Path(app.outdir) / LIST).write_text(script([app.config.version]))


# Accessibility

LABELS = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Site navigation">'),
    ('<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="On this page">'),
    ('<th class="head"><p></p></th>', '<td class="head"></td>'),
)
SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', flags=re.DOTALL)


def make_accessible(app, error):
    """Fix what theme and Sphinx leave open: levels of headings, names of landmarks, lists inside of signatures."""
    if error is not None or app.builder.name != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        fixed = SIGNATURE.sub(lambda found: lines_of_signature(found[0]), text)
        for plain, labeled in LABELS:
            fixed = fixed.replace(plain, labeled)
        if fixed != text:
            path.write_text(fixed, encoding="utf-8")


def lines_of_signature(text):
    """Parameters of a long signature as lines instead of a list of definitions without terms."""
    for tag, name in (("dl", "sig-params"), ("dd", "sig-line")):
        text = text.replace(f"<{tag}>", f'<span class="{name}">').replace(f"</{tag}>", "</span>")
    return text
