"""The ``similis`` command. The only room that imports Typer, and the only one that prints.

Help and shell completion must come at once, so the other rooms are imported inside the functions that need them.
"""

from similis.cli._app import app, main

__all__ = ["app", "main"]
