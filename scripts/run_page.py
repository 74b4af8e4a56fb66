"""Run the commands and the code of a page in order, in the current folder, as its reader would.

    python scripts/run_page.py docs/tutorial.md          # stops at a command that fails
    python scripts/run_page.py docs/tutorial.md --exact  # also where something else is printed than the page shows

`similis` is the installation of this interpreter. `...` on the page stands for lines that it leaves out.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path


def blocks(page, kinds="python"):
    """Blocks of code with their language, doctests apart."""
    found = re.findall(rf"^```({kinds})\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [(kind, block) for kind, block in found if ">>>" not in block]


def commands(block):
    """Commands of a block, each with the output that the page shows."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE)


def run(command):
    """Output of a shell command."""
    environment = {**os.environ, "COLUMNS": "140", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    script = f'similis() {{ "{sys.executable}" -m similis "$@"; }}\n{command} 2>&1'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise AssertionError(f"{command}\nended with status {done.returncode} and printed\n{done.stdout}")
    return done.stdout


def without_times(text):
    """Text in one line without what depends on the machine: the column of seconds, estimates, number of processes."""
    end, lines = 0, []
    for line in text.splitlines():
        head = line.find("  fit s")
        end = head + 7 if head >= 0 else end if line.strip() else 0
        if end and head < 0:
            line = line[: line.rfind(" ", 0, end)] + " #" + line[end:]
        lines.append(line)
    text = re.sub(r"about [\d.]+ \w+ for", "about # for", " ".join(" ".join(lines).split()))
    return re.sub(r"in \d+ process(es)?", "in # processes", text)


def compare(command, shown, output):
    """Fail if the output lacks something that the page shows, or has it in another order."""
    printed = without_times(output)
    for part in shown.split("..."):
        place = printed.find(without_times(part))
        if place < 0:
            raise AssertionError(f"{command}\nthe page shows\n{part}\nbut it printed\n{output}")
        printed = printed[place:]


def run_page(page, names, exact=True, tell=lambda line: None):
    """Run a page; its code reads and sets the variables `names`."""
    for kind, block in blocks(page, "console|python"):
        if kind == "python":
            tell(f">>> {block}")
            exec(compile(block, page.name, "exec"), names)
            continue
        for command, shown in commands(block):
            if command.startswith(("pip install", "./scripts/")):
                continue
            tell(f"$ {command}")
            output = run(command)
            tell(output)
            if exact:
                compare(command, shown, output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--exact", action="store_true")
    given = parser.parse_args()
    run_page(given.page, {"__name__": "__main__"}, given.exact, tell=lambda line: print(line.rstrip(), flush=True))
