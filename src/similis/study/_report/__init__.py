"""Pages of a study that stand by themselves: a pure function of the results, nothing loaded from elsewhere."""

from similis.study._report._compare import Comparison, compare
from similis.study._report._page import notebook_page, report_page, write_page

__all__ = ["Comparison", "compare", "notebook_page", "report_page", "write_page"]
