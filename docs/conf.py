"""How the site is built: `scripts/docs`. Importing this file needs no Sphinx; only `setup` does its work."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "similis"
author = "The similis developers"
project_copyright = author
version = re.search(r'__version__ = "(.+?)"', (HERE.parent / "src" / "similis" / "__init__.py").read_text())[1]
release = version

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "similis_site",
]
exclude_patterns = [
    "_build",
    "_ext",
    "**/README.md",
    "gallery/GALLERY_HEADER.rst",
    "examples/index.rst",
    "**/sg_execution_times.rst",
]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(numpy|scipy|sklearn|pandas|matplotlib|dask|distributed)\..*")]
default_role = "literal"  # `name` in a docstring
language = "en"

# Markdown: what a git host shows too, nothing more.
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# Docstrings: numpydoc's sections; types are words, not links.
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
python_maximum_signature_line_length = 88

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"similis {version}"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js", "site.js"]
html_theme_options = {"navigation_with_keys": True}
mathjax_path = "tex-svg.js"  # from the installed package, see similis_site: nothing is fetched from another host
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
suppress_warnings = ["config.cache"]

# The gallery: scripts that run while the site is built, each with a notebook to download.
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"plot_\w+\.py",
    "ignore_pattern": r"(build|problems)\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "plot_gallery": "True",
    "min_reported_time": 1e9,
    "capture_repr": (),
    "remove_config_comments": True,
}
