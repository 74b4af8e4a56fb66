"""The ``similis`` command: the only package that imports Typer, and the only one that prints.

Help and shell completion must respond at once, so other packages are imported inside the functions that use them.
"""

from similis.cli._app import app, main

__all__ = ["app", "main"]
