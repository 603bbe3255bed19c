"""The pictures in README: a stored run in a terminal (SVG) and as the HTML page (PNG: light, dark, on a phone).

    python benchmarks/pictures.py [--run RUN] [--project DIR] [--to docs/pictures]

Needs the extra `dev` (Playwright) and a Chromium.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

COLUMNS = 120
PICTURES = {"light": ("light", 1280, 900), "dark": ("dark", 1280, 900), "phone": ("light", 390, 844)}
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync")


def envmgr(*arguments: str, project: Path) -> str:
    command = [sys.executable, "-m", "envmgr", *arguments, "--project", str(project)]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if not done.stdout:
        sys.exit(done.stderr)
    return done.stdout


def draw_terminal(text: str, place: Path) -> None:
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    console.print(Text.from_ansi(text))
    place.write_text(console.export_svg(title="envmgr matrix show", unique_id="matrix"), encoding="utf-8")


def photograph(page_file: Path, folder: Path, chromium: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for name, (scheme, width, height) in PICTURES.items():
            page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": height})
            page.goto(page_file.as_uri())
            page.screenshot(path=str(folder / f"report-{name}.png"))
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="latest")
    parser.add_argument("--project", type=Path, default=Path.cwd())
    parser.add_argument("--to", type=Path, default=Path("docs/pictures"))
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    draw_terminal(envmgr("matrix", "show", options.run, project=options.project), options.to / "matrix.svg")
    with tempfile.TemporaryDirectory() as place:
        page_file = Path(place) / "report.html"
        envmgr("matrix", "report", options.run, "--html", str(page_file), project=options.project)
        photograph(page_file, options.to, options.chromium)


if __name__ == "__main__":
    main()
