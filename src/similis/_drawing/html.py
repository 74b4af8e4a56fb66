"""Markup that escapes its content: Jinja2 templates with autoescape, and single elements."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from similis._utils.messages import escape_controls

__all__ = ["Markup", "read_template", "render", "tag"]


def tag(name: str, /, *content: Any, **attributes: Any) -> Markup:
    """Build an element of escaped text; empty attributes are left out, an underscore in a name stands for a hyphen."""
    given = ""
    for key, value in attributes.items():
        if isinstance(value, (float, np.floating)):
            value = f"{round(float(value), 2) + 0.0:g}"  # the sum has no sign at zero
        if value is not None and value != "":
            given += f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
    return Markup(f"<{name}{given}>{Markup().join(content)}</{name}>" if content else f"<{name}{given}/>")


def render(package: str, template: str, /, **context: Any) -> Markup:
    """Render a template in the folder ``templates`` of a package; control characters become visible."""
    return Markup(escape_controls(_environment(package).get_template(template).render(context)))


def read_template(package: str, name: str) -> Markup:
    """Read a style sheet or script in the folder ``templates`` of a package, as it is."""
    return Markup(files(package).joinpath("templates", name).read_text(encoding="utf-8"))


@cache
def _environment(package: str) -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    how: dict[str, Any] = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=PackageLoader(package), undefined=StrictUndefined, **how)
    environment.filters["visible"] = escape_controls
    return environment
