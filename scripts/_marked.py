"""Parts of pages that are made: each stands between two markers, of which the first names the command that makes it."""

import re
import sys


def _split(path, name):
    """The page up to its first marker, what stands between the markers, and the page from the second on."""
    found = re.fullmatch(rf"(.*<!-- {name}: [^\n]* -->)(.*)(<!-- end of {name} -->.*)", path.read_text(), re.DOTALL)
    if found is None:
        sys.exit(f"{path.name} has no markers for {name}.")
    return found.groups()


def quoted(path, name):
    """What stands between the markers."""
    return _split(path, name)[1].strip()


def run(sections):
    """Print the parts, or with --write put them into their pages; `sections` are (path, name) and what makes it."""
    for (path, name), make in sections.items():
        if "--write" in sys.argv:
            before, _, after = _split(path, name)
            path.write_text(f"{before}\n\n{make()}\n\n{after}")
        else:
            print(f"{path.name}: {name}\n{make()}\n")
