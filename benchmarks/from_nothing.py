"""What a first run of the quick matrix waits for: an empty home, empty caches, Pythons and this envmgr alone.

    python benchmarks/from_nothing.py [--matrix quick] [--place DIR] [--keep DIR]

Runs `envmgr matrix run MATRIX --timings` once with a home of its own below --place (some 5 GB, removed afterwards), and
looks meanwhile, five times a second, at what came over the network and how busy the processors were. Other programs that
use the network or the processors at the same time are seen as well: a machine at rest tells best. --keep keeps what the
run printed. Linux and macOS.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Self

import psutil

ENVMGR = str(Path(sys.executable).with_name("envmgr"))
NEEDED = 8_000_000_000
EVERY = 0.2
OF_THE_USER = ("XDG_", "UV_CACHE_DIR", "ENVMGR_", "PIP_CACHE_DIR")
"""Beginnings of the variables that name caches which are not empty."""


class Watch:
    """Looks at network and processors until it is told to stop."""

    def __init__(self) -> None:
        self.moments: list[tuple[float, float, float]] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        psutil.cpu_percent()
        before, then = received(), time.monotonic()
        while not self._end.wait(EVERY):
            now, bytes_now = time.monotonic(), received()
            self.moments.append((now - then, bytes_now - before, psutil.cpu_percent()))
            before, then = bytes_now, now


def received() -> float:
    """Return the bytes that came over all networks but this machine's own."""
    return sum(each.bytes_recv for name, each in psutil.net_io_counters(pernic=True).items() if name != "lo")


def surroundings(home: Path) -> dict[str, str]:
    """Return the variables of a run: a home of its own, the Pythons of pyenv that are here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OF_THE_USER)}
    pythons = os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))
    return {**kept, "HOME": str(home), "PYENV_ROOT": pythons, "NO_COLOR": "1"}


def account(text: str) -> dict[str, float]:
    """Return the seconds of each line of an account by its words."""
    told = text.rpartition("timings: ")[2]
    found = {"whole": float(told.split()[0])}
    for seconds, words in re.findall(r"^\s+([\d.]+) s  (.+?)(?:;.*| \(.*)?$", told, re.MULTILINE):
        found.setdefault(words, float(seconds))
    busy = re.search(r"processors were (\d+) % busy", told)
    return {**found, "busy": float(busy[1]) / 100 if busy else 0.0}


def show(found: dict[str, float], watch: Watch, size: int) -> None:
    whole = found["whole"]
    bound = found.get("network or a runner", 0.0)
    print(f"\n| | seconds | share |\n|---|---|---|\n| the whole run | {whole:.1f} | |")
    rows = (
        ("the network or a runner was waited for", bound),
        ("the network: indexes and downloads", found.get("the network: indexes and downloads", 0.0)),
        ("runners", found.get("runners", 0.0)),
        (f"neither (processors {found['busy']:.0%} busy)", found["neither"]),
    )
    for name, seconds in rows:
        print(f"| {name} | {seconds:.1f} | {seconds / whole:.0%} |")
    seconds = sum(each[0] for each in watch.moments)
    brought = sum(each[1] for each in watch.moments)
    busy = sum(each[0] * each[2] for each in watch.moments) / seconds
    idle = sum(each[0] for each in watch.moments if each[1] / each[0] < 1e6 and each[2] < 50)
    print(f"\n{brought / 1e6:.0f} MB came over the network, processors were {busy:.0f} % busy;", end=" ")
    print(f"for {idle:.1f} s neither brought the network 1 MB/s nor was half of the processors busy")
    print(f"the new home takes {size / 1e9:.1f} GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrix", default="quick")
    parser.add_argument("--place", type=Path, help="a folder in which to work (else: a temporary one)")
    parser.add_argument("--keep", type=Path, help="a folder for what the run prints")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.place, prefix="envmgr-from-nothing-") as folder:
        if shutil.disk_usage(folder).free < NEEDED:
            sys.exit(f"wanted {NEEDED / 1e9:.0f} GB free in {folder}")
        home = Path(folder, "home")
        home.mkdir()
        argv = (ENVMGR, "matrix", "run", asked.matrix, "--timings")
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}", flush=True)
        with Watch() as watch:
            done = subprocess.run(argv, env=surroundings(home), capture_output=True, text=True, check=False)
        if asked.keep:
            asked.keep.mkdir(parents=True, exist_ok=True)
            asked.keep.joinpath("stderr.txt").write_text(done.stderr)
            asked.keep.joinpath("stdout.txt").write_text(done.stdout)
            asked.keep.joinpath("moments.txt").write_text("\n".join(map(str, watch.moments)))
        if "timings: " not in done.stderr:
            sys.exit(f"envmgr ended with {done.returncode}:\n{done.stderr[-2000:]}")
        size = sum(each.lstat().st_blocks * 512 // each.lstat().st_nlink for each in home.rglob("*"))
        print(f"envmgr ended with {done.returncode}")
        show(account(done.stderr), watch, size)


if __name__ == "__main__":
    main()
