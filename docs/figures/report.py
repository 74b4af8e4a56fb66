"""Screenshot of a report for the README: report.png, its first screen.

    similis study --dataset votes --measure counting --method quick --splits 10 --save votes.json
    python docs/figures/report.py votes.json

Needs the browser extra and chromium (scripts/browser), and Pillow to make the files small.
"""

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image

from similis import StudyResult

HERE = Path(__file__).parent
WIDTH = 1180


def main(results):
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_file = Path(folder) / "report.html"
        StudyResult.load(results).to_html(page_file)
        chromium = shutil.which(os.environ.get("SIMILIS_CHROMIUM", "chromium"))
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.add_style_tag(content="nav { position: static !important }")
        top = page.locator("header").bounding_box()["y"]
        box = page.locator("#splits").bounding_box()
        area = {"x": 0, "y": max(0, top - 10), "width": WIDTH, "height": box["y"] + box["height"] - top + 30}
        shrink(page.screenshot(full_page=True, clip=area), HERE / "report.png")
        browser.close()


def shrink(data, path):
    """Save with 200 colors, which keeps the file small."""
    image = Image.open(io.BytesIO(data)).convert("RGB").quantize(200, dither=Image.Dither.NONE)
    image.save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size // 1000} kB, {image.width} x {image.height}")


if __name__ == "__main__":
    main(sys.argv[1])
