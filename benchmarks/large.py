"""How long a large environment takes to be built again, and how that grows with its bytes: made wheels, no network.

    python benchmarks/large.py [--gigabytes 1 5] [--rounds 5] [--place DIR]

Each wheel holds files of 100 MB that compress to nearly nothing; unpacked they take their whole room in a uv cache of its
own below --place, which is removed afterwards. "Nothing known" is a build for which no file of uv's cache has been found
good before: then all bytes are hashed, once. Figures are medians, all in turns.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ENVMGR = str(Path(sys.executable).with_name("envmgr"))
PIECE = 100_000_000


def make_wheel(folder: Path, gigabytes: int) -> None:
    """Write the wheel of a distribution `large` whose version is its size in GB."""
    content = bytes(PIECE)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    info = f"large-{gigabytes}.dist-info"
    texts = {
        "large/__init__.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: large\nVersion: {gigabytes}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: benchmark\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(
        folder / f"large-{gigabytes}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=1
    ) as wheel:
        for number in range(gigabytes * 1_000_000_000 // PIECE):
            wheel.writestr(f"large/part{number:03}.bin", content)
            rows.append(f"large/part{number:03}.bin,sha256={digest},{PIECE}\n")
        for name, text in texts.items():
            wheel.writestr(name, text)
            told = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
            rows.append(f"{name},sha256={told},{len(text)}\n")
        wheel.writestr(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n")


def run(argv: tuple[str, ...], folder: Path, environment: dict[str, str]) -> float:
    begun = time.perf_counter()
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.perf_counter() - begun


def measure(place: Path, gigabytes: int, rounds: int) -> None:
    """Build one environment again and again, and print a row of medians."""
    environment = {
        **os.environ,
        "ENVMGR_CACHE_DIR": str(place / "cache"),
        "UV_CACHE_DIR": str(place / "uv-cache"),
        "PIP_FIND_LINKS": str(place / "wheels"),
        "NO_COLOR": "1",
    }
    make_wheel(place / "wheels", gigabytes)
    project = place / f"project-{gigabytes}"
    project.joinpath("manifests").mkdir(parents=True)
    minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
    text = f'schema = 1\nname = "large"\npython = "=={minor}.*"\nrequirements = ["large=={gigabytes}"]\n'
    project.joinpath("manifests", "large.toml").write_text(text)
    build = (ENVMGR, "build", "--offline", "large")
    first = run(build, project, environment)
    kinds = {
        "after its recipe": ("envs",),
        "decided anew": ("envs", "recipes"),
        "nothing known": ("envs", "recipes", "known-wheels"),
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for number in range(rounds + 1):
        for name in random.sample(list(kinds), len(kinds)):
            for kind in kinds[name]:
                shutil.rmtree(place / "cache" / kind, ignore_errors=True)
            took = run(build, project, environment)
            if number:  # the first round warms all caches
                times[name].append(took)
    middle = [statistics.median(each) for each in times.values()]
    print(f"| {gigabytes} GB | {first:.1f} s | " + " | ".join(f"{each:.2f} s" for each in middle) + " |", flush=True)
    shutil.rmtree(place / "uv-cache")
    shutil.rmtree(place / "cache")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--place", type=Path, help="a folder in which to work (else: a temporary one)")
    asked = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}\n")
    print("| environment | first build | after its recipe | decided anew | nothing known |\n|---|---|---|---|---|")
    for gigabytes in asked.gigabytes:
        with tempfile.TemporaryDirectory(dir=asked.place, prefix="envmgr-large-") as folder:
            measure(Path(folder), gigabytes, asked.rounds)


if __name__ == "__main__":
    main()
