"""Put the quick matrix of this machine into README, from a real run: run it on a quiet machine.

python benchmarks/readme.py            measure, then rewrite README's block
python benchmarks/readme.py --latest   rewrite it from the latest run
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = "100"
BLOCK = re.compile(r"(<!-- quick matrix -->\n).*?(<!-- end of quick matrix -->)", re.DOTALL)


def shown() -> str:
    """Return what the command prints, without what names this machine's folders."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": COLUMNS}
    show = [sys.executable, "-m", "envmgr", "matrix", "show"]
    done = subprocess.run(show, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    text = re.sub(r"\s*\(/\S+/collections/__init__\.py\)", "", done.stdout)
    return re.sub(r"run \S+ on \S+,", "on this machine,", text)


def main() -> None:
    """Measure unless told otherwise, and rewrite the block."""
    if "--latest" not in sys.argv:
        subprocess.run([sys.executable, "-m", "envmgr", "matrix", "run"], cwd=ROOT, check=True)
    readme = ROOT / "README.md"
    block = f"```\n{shown().strip()}\n```\n"
    readme.write_text(BLOCK.sub(lambda found: found[1] + block + found[2], readme.read_text()))


if __name__ == "__main__":
    main()
