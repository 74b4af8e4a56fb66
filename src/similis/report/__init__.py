"""HTML pages of a study's result, or of several results side by side."""

from similis.report._pages import make_comparison, make_notebook_view, make_report, write_page

__all__ = ["make_comparison", "make_notebook_view", "make_report", "write_page"]
