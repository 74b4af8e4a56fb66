"""Publish a built site beside earlier versions: python docs/_ext/publish.py SITE FOLDER VERSION

The site goes to FOLDER/VERSION, and FOLDER/index.html leads to the newest version. Every version gets the list of all
versions, from which its pages make a menu.
"""

import json
import re
import shutil
import sys
from pathlib import Path

LIST = Path("_static") / "versions.js"


def script(versions):
    """The list of versions for the pages."""
    return f"window.siteVersions = {json.dumps(versions)};\n"


def newest_first(versions):
    """2.10 before 2.9, and 2.0.0 before 2.0.0.dev0."""

    def key(version):
        return [int(n) for n in re.findall(r"\d+", version)[:3]], "dev" not in version, version

    return sorted(versions, key=key, reverse=True)


def publish(site, folder, version):
    """Copy `site` to `folder`, replacing the same version; update the lists of all versions."""
    folder = Path(folder)
    if (folder / version).exists():
        shutil.rmtree(folder / version)
    shutil.copytree(site, folder / version)
    versions = newest_first(path.parent.parent.name for path in folder.glob(f"*/{LIST}"))
    for name in versions:
        (folder / name / LIST).write_text(script(versions))
    target = f"{versions[0]}/index.html"
    lead = f'<meta http-equiv="refresh" content="0; url={target}"><a href="{target}">similis {versions[0]}</a>'
    (folder / "index.html").write_text(f'<!doctype html><meta charset="utf-8"><title>similis</title>{lead}\n')
    return versions


if __name__ == "__main__":
    print("similis: published; versions:", ", ".join(publish(*sys.argv[1:4])))
