"""Check the words of pages, docstrings, scripts and figures: plain American English.

    python scripts/words.py

Lists docstrings that open with a question word, British spellings, and figurative words for which there is a plain one.
A word in `backquotes` is the name of something and may stay, and so may the names in ALLOWED.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUESTION = re.compile(r"(what|where|whether|how|who|whom|which|whose|why|when)\b", re.IGNORECASE)
PICTURES = (
    r"nobody|somebody|everybody|anybody|whoever|whom|vouch\w*|doors?|rooms?|vices?|mend(?:s|ed|ing)?|dearer?|kin|"
    r"oftener|learnt|tomorrow"
)
BRITISH = (
    r"\w*(?:neighbour|colour|behaviour|favour|modell(?:ed|ing)|labell(?:ed|ing)|licence)\w*|\w*centre[ds]?|"
    r"\w*(?:normal|minim|maxim|regular|general|summar|standard|recogn|organ|initial|symmetr|vector|parametr|random|penal|"
    r"discret)is(?:e|ed|es|ing|ation)|optimis(?:e|ed|es|ing|ation)|analys(?:e|ed|es)"
)
WORDS = re.compile(rf"\b(?:{PICTURES}|{BRITISH})\b", re.IGNORECASE)
SCRIPTS = ("scripts/*", "benchmarks/*.py", "stress/*.*", "docs/**/*.py", "docs/figures/*.svg", "CITATION.cff")
ALLOWED = {"neighbour_error", "_centre", "ekman_colours"}  # in saved results and models; a data set


def main() -> int:
    """Print each finding with its place; return 1 if there is any."""
    findings = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text()
        findings += [f"{place(path, line)}: {first!r} opens with a question word" for line, first in questions(text)]
        findings += words(path, text)
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "papers").rglob("*.md")]
    for path in sorted(page for page in pages if not {"_build", "results", "examples"} & set(page.parts)):
        findings += words(path, re.sub(r"`[^`\n]*`", "``", path.read_text()))
    scripts = {path for pattern in SCRIPTS for path in ROOT.glob(pattern) if path.is_file()}
    for path in sorted(scripts - {Path(__file__).resolve()}):
        findings += words(path, path.read_text())
    print(*findings, sep="\n", end="\n" if findings else "")
    return int(bool(findings))


def questions(text: str) -> list[tuple[int, str]]:
    """Lines and openings of docstrings that start with a question word."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    opened = [(getattr(node, "lineno", 1), (ast.get_docstring(node) or "").splitlines()[:1]) for node in nodes]
    return [(line, first[0][:40]) for line, first in opened if first and QUESTION.match(first[0])]


def words(path: Path, text: str) -> list[str]:
    """Findings of single words."""
    lines = enumerate(text.splitlines(), 1)
    found = [(line, word) for line, content in lines for word in WORDS.findall(content) if word not in ALLOWED]
    return [f"{place(path, line)}: {word!r}; a plain American word is better" for line, word in found]


def place(path: Path, line: int) -> str:
    """Path in the repository and line."""
    return f"{path.relative_to(ROOT)}:{line}"


if __name__ == "__main__":
    sys.exit(main())
