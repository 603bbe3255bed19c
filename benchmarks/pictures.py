"""The pictures in README: a stored run in a terminal (SVG) and as the HTML page (PNG: light, dark, a cell, on a phone).

    python benchmarks/pictures.py [--run RUN] [--project DIR] [--cell CELL] [--to docs/pictures]

Needs the extra `dev` (Playwright) and a Chromium. What names this machine's folders is shortened: HOME is `~`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.text import Text

COLUMNS = 84
LINES = 30
"""So many lines of the terminal are drawn, up to the next empty one: the page shows the rest."""
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync")


class Picture(NamedTuple):
    """One view of the page: in which colours, how large, and where it has been scrolled to."""

    name: str
    scheme: Literal["light", "dark"]
    width: int
    height: int
    place: str = ""


def shortened(text: str) -> str:
    """Return a text without what names this machine's folders."""
    cache = os.environ.get("ENVMGR_CACHE_DIR")
    text = text.replace(cache, "~/.cache/envmgr") if cache else text
    text = re.sub(r"\s*\(/\S+\.py\)", "", text)  # where a module lies that a message names
    return text.replace(str(Path.home()), "~")


def envmgr(*arguments: str, project: Path) -> str:
    command = [sys.executable, "-m", "envmgr", *arguments, "--project", str(project)]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if not done.stdout:
        sys.exit(done.stderr)
    return shortened(done.stdout)


def draw_terminal(text: str, place: Path) -> None:
    """Draw the beginning of a text as a terminal shows it, with the fonts that the reader has."""
    lines = text.rstrip().splitlines()
    end = next((number for number, line in enumerate(lines) if number >= LINES and not line.strip()), len(lines))
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    console.print(Text.from_ansi("\n".join([*lines[:end], "…"] if end < len(lines) else lines)))
    drawn = console.export_svg(title="envmgr matrix run", unique_id="matrix")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    place.write_text(
        drawn.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace"), encoding="utf-8"
    )


def photograph(browser: Browser, page_file: Path, picture: Picture, folder: Path) -> None:
    page = browser.new_page(color_scheme=picture.scheme, viewport={"width": picture.width, "height": picture.height})
    page.goto(page_file.as_uri() + picture.place)
    page.wait_for_function("document.getElementById('status').textContent !== ''")
    page.screenshot(path=str(folder / f"report-{picture.name}.png"))
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="latest")
    parser.add_argument("--project", type=Path, default=Path.cwd())
    parser.add_argument("--cell", default="", help="the id of the cell whose part of the page is shown")
    parser.add_argument("--to", type=Path, default=Path("docs/pictures"))
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    draw_terminal(envmgr("matrix", "show", options.run, project=options.project), options.to / "matrix.svg")
    pictures = [Picture("light", "light", 1280, 900), Picture("dark", "dark", 1280, 900)]
    pictures += [Picture("phone", "light", 390, 844)]
    pictures += [Picture("cell", "light", 1280, 900, f"#cell-{options.cell}")] if options.cell else []
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        page_file = Path(place) / "report.html"
        page_file.write_text(
            envmgr("matrix", "report", options.run, "--html", "-", project=options.project), encoding="utf-8"
        )
        browser = playwright.chromium.launch(executable_path=options.chromium, args=list(FLAGS))
        for picture in pictures:
            photograph(browser, page_file, picture, options.to)
        browser.close()


if __name__ == "__main__":
    main()
