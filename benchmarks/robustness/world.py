"""The small world of `tests/e2e`, for scripts: tiny wheels in an index on disk, a project, envmgr as users start it."""

import base64
import csv
import hashlib
import importlib.util
import os
import sys
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

REPOSITORY = Path(__file__).resolve().parents[2]


def load_world():
    """Return the module in which the tests' world is written."""
    spec = importlib.util.spec_from_file_location("e2e_world", REPOSITORY / "tests" / "e2e" / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_world(folder, manifests=("one",), files=40):
    """Make an index and a project in an empty folder and return the project."""
    world = load_world()
    index = world.Index(folder / "index")
    modules = {f"demo_parts/part{number}.py": f"PART = {number}\n" * 200 for number in range(files)}
    index.add("demo", "1.0", {"demo.py": "__version__ = '1.0'\nANSWER = 42\n", **modules}, ["base>=1"])
    index.add("demo", "2.0", {"demo.py": "__version__ = '2.0'\nANSWER = 43\n"}, ["base>=1"])
    index.add("base", "1.5", {"base.py": "BASE = 1\n"})
    for number, _ in enumerate(manifests):
        index.add(f"extra{number}", "1.0", {f"extra{number}.py": "EXTRA = 1\n"})
    (folder / "project").mkdir()
    project = world.Project(folder / "project", index)
    project.write("runners/answer.py", world.RUNNER)
    for number, name in enumerate(manifests):
        project.manifest(name, requirements=["demo==1.0", f"extra{number}==1.0"])
    return project


def cache_of(project):
    """Return the folder that envmgr keeps its own things in."""
    return project.root.parent / "cache"


def elsewhere(project):
    """Return the folder of another project, which bundles are taken into."""
    return project.root.parent / "elsewhere"


def incomplete(project):
    """Return what is wrong with the envs that would be served: every file of every RECORD is hashed."""
    wrong = []
    for marker in (cache_of(project) / "envs").glob("*/envmgr.json"):
        records = list(marker.parent.glob("lib/*/site-packages/*.dist-info/RECORD"))
        if len(records) < 3:
            wrong.append(f"{marker.parent.name}: {len(records)} distributions")
        for record in records:
            root = record.parent.parent
            for name, digest, _ in csv.reader(record.read_text().splitlines()):
                if digest:
                    content = (root / name).read_bytes() if (root / name).is_file() else b""
                    found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                    if digest != f"sha256={found}":
                        wrong.append(f"{marker.parent.name}: {name}")
    return wrong


def held_locks(project):
    """Return locks that somebody still holds though nothing runs."""
    held = []
    for path in (*cache_of(project).rglob("*.lock"), *project.root.rglob(".lock")):
        try:
            with FileLock(path, timeout=0):
                pass
        except Timeout:
            held.append(str(path))
    return held


def leftovers(project):
    """Return temporary files and folders of processes that have ended."""
    roots = (cache_of(project), project.root, elsewhere(project))
    parts = [path for root in roots for path in root.rglob("*.part")]
    scratch = cache_of(project) / "scratch"
    return [str(path) for path in (*parts, *(scratch.iterdir() if scratch.is_dir() else ()))]


def processes_of(project):
    """Return what still runs for this project: anything that names one of its folders, or has its cache around it."""
    here = str(project.root.parent)
    found = []
    for process in psutil.process_iter():
        try:
            told = [
                *process.cmdline(),
                process.environ().get("ENVMGR_CACHE_DIR", ""),
                process.environ().get("HOME", ""),
            ]
            mine = process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE
        except psutil.Error:
            continue
        if not mine and any(here in part for part in told):
            found.append(process.pid)
    return found


def say(*parts):
    print(*parts, file=sys.stderr, flush=True)
