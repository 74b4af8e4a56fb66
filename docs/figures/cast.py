"""Draw docs/figures/cast.svg: a terminal in which a real study, fit and prediction run.

    python docs/figures/cast.py

The commands run on the bundled votes; their output is shown as it is, except that lines are cut at the width of the
terminal. Lines appear one after the other and stay; with reduced motion, or where styles are ignored, all are there.
"""

import shutil
import subprocess
import sys
import tempfile
import textwrap
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
WIDTH, LINE, CHARACTER = 100, 17, 7.23  # characters, pixels
PREPARE = [
    "similis datasets votes -o votes.csv",
    "(head -n 1 votes.csv; tail -n 4 votes.csv | sed 's/,[^,]*$/,/') > new.csv",
]
SHOWN = [
    "similis study votes.csv --measure counting --method quick --splits 10 --quiet",
    "similis fit votes.csv --measure counting --method 'kri-knn(clip)' --quiet",
    "similis predict model.skops new.csv",
]


def run(command, folder):
    """Output of a command of this installation."""
    here = f'similis() {{ "{sys.executable}" -m similis "$@"; }}; {command}'
    done = subprocess.run(["bash", "-c", here], cwd=folder, capture_output=True, text=True, check=True)
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]


def record():
    """Lines of the terminal, with the second at which each appears."""
    lines, second = [], 0.4
    with tempfile.TemporaryDirectory() as folder:
        for command in PREPARE:
            run(command, folder)
        for command in SHOWN:
            lines.append((second, f"$ {command}"))
            second += 0.8
            shown = run(command, folder)
            if "In Python:" in shown:
                shown = shown[: shown.index("In Python:")]
            for line in shown:
                table_row = line.startswith(("  ", "* "))  # cut; sentences are wrapped
                for part in [line[:WIDTH]] if table_row else textwrap.wrap(line, WIDTH):
                    lines.append((second, part))
                    second += 0.12
            lines.append((second, ""))
            second += 0.8
    return lines


def draw(lines):
    """The terminal as SVG; each line fades in by a style rule."""
    width, height = round(WIDTH * CHARACTER) + 32, LINE * len(lines) + 56
    texts = [
        f'<text x="16" y="{48 + LINE * i}" style="animation-delay:{second:.2f}s"'
        f"{' class=' + chr(34) + 'typed' + chr(34) if text.startswith('$ ') else ''}>{escape(text)}</text>"
        for i, (second, text) in enumerate(lines)
        if text
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            "<title>A terminal: similis study compares methods, fit fits one, predict labels new objects</title>",
            "<style>",
            "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#d8dee9;white-space:pre;"
            "animation:appear .15s both}",
            "text.typed{fill:#a3d9a5;font-weight:600}",
            "@keyframes appear{from{opacity:0}to{opacity:1}}",
            "@media(prefers-reduced-motion:reduce){text{animation:none}}",
            "</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#1f2430"/>',
            *(
                f'<circle cx="{20 + 18 * i}" cy="18" r="5" fill="{c}"/>'
                for i, c in enumerate(("#e06c75", "#e5c07b", "#98c379"))
            ),
            *texts,
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    if not shutil.which("bash"):
        sys.exit("bash is needed to run the commands")
    (HERE / "cast.svg").write_text(draw(record()), encoding="utf-8")
