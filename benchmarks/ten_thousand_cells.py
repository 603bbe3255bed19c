"""How long a run of 10,000 cells takes to show and how much memory, and its page to open and to filter.

    python benchmarks/ten_thousand_cells.py [--cells 10000] [--chromium /usr/bin/chromium]

Every time is the best of three: what the machine can do when nothing else asks for it.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from envmgr.app.workplace import Workplace
from envmgr.model.cell import Cell, Plan
from envmgr.model.conditions import Conditions
from envmgr.model.env import Device
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Output, Report, RunRecord

RUN = "20260101T000000Z-made"
DEVICES = ("cpu:0", "gpu:0", "llvm_cpu.0", "mps")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync")


def cell_of(number: int) -> Cell:
    device, runner = DEVICES[number % 4], ("keras_inference", "torch_mnist")[number // 4 % 2]
    absent = device == "mps"
    return Cell(
        id=f"c{number:06d}",
        manifest=f"stack-{number // 8:04d}",
        variant="default",
        python="3.11.7",
        runner=runner,
        device=Device(id=device, api=device.partition(":")[0]),
        parameters={"batch-size": 8},
        host="box",
        group=runner,
        reference_rank=number if device == "cpu:0" else None,
        refusal=Outcome.UNAVAILABLE if absent else None,
        reason="MPS wants macOS" if absent else "",
    )


def result_of(cell: Cell, draw: random.Random) -> CellResult:
    seconds = 10 ** draw.uniform(-3, 0)
    report = Report(
        protocol=1,
        cell=cell.id,
        status="ok",
        first_call=9 * seconds,
        warmup=(seconds, seconds),
        samples=tuple(seconds * draw.uniform(1, 1.1) for _ in range(10)),
        items_per_sample=8,
        outputs={"logits": Output(shape=(2, 10), values=tuple(number / 10 for number in range(20)))},
    )
    conditions = Conditions(cores=2, others=0.01)
    return CellResult(cell=cell.id, outcome=Outcome.PASSED, report=report, peak_memory=10**8, conditions=conditions)


def store_run(project: Path, count: int) -> None:
    """Write the run as the store does, but all results in one go."""
    (project / "manifests").mkdir()
    workplace, draw = Workplace(project), random.Random(1)
    cells = tuple(cell_of(number) for number in range(count))
    plan = Plan(matrix="quick", effort="quick", processes=1, host="box", cells=cells)
    record = RunRecord(id=RUN, started_at="2026-01-01T00:00:00+00:00", host="box", envmgr="0.1.0", plan=plan)
    workplace.store.begin(record)
    folder = workplace.project.runs / RUN / "results"
    folder.mkdir()
    for cell in cells:
        if cell.refusal is None:
            text = result_of(cell, draw).model_dump_json(by_alias=True)
            (folder / f"{cell.id}-0.json").write_text(text, encoding="utf-8")
    workplace.store.finish(RUN)


def cost_of(*command: str) -> tuple[float, float]:
    """Return the seconds that a command took and the most memory that it had, in MiB."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return seconds, used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def page_seconds(page_file: Path, chromium: str) -> tuple[float, float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        opened, filtered = [], []
        for _ in range(3):
            page = browser.new_page()
            begun = time.perf_counter()
            page.goto(page_file.as_uri())
            page.wait_for_function("document.getElementById('status').textContent !== ''")
            opened.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            page.fill("#words", "gpu")
            page.wait_for_function("document.getElementById('status').textContent.includes(' of ')")
            page.evaluate("document.body.offsetHeight")
            filtered.append(time.perf_counter() - begun)
            page.close()
        browser.close()
    return min(opened), min(filtered)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        project, page_file = Path(place) / "project", Path(place) / "report.html"
        project.mkdir()
        store_run(project, options.cells)
        envmgr = (sys.executable, "-m", "envmgr", "matrix")
        at_project = ("--project", str(project))
        shown = min(cost_of(*envmgr, "show", *at_project) for _ in range(3))
        told = min(cost_of(*envmgr, "show", "--json", *at_project) for _ in range(3))
        written = min(cost_of(*envmgr, "report", *at_project, "--html", str(page_file)) for _ in range(3))
        opened, filtered = page_seconds(page_file, options.chromium)
        size = page_file.stat().st_size / 1e6
    for name, (seconds, memory) in (("show", shown), ("show --json", told), ("write the page", written)):
        print(f"{options.cells} cells, {name}: {seconds:.2f} s, {memory:.0f} MiB of memory")
    print(f"the page has {size:.1f} MB")
    print(f"in Chromium: page opens in {opened:.2f} s, filters in {filtered:.2f} s")


if __name__ == "__main__":
    main()
