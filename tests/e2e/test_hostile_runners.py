"""Other people's code: thirty-odd ways to misbehave, what is said of each, and that nothing of theirs remains."""

import json
import sys
import time

import psutil
import pytest

pytestmark = [pytest.mark.integration, pytest.mark.skipif(sys.platform != "linux", reason="keepers are Linux's")]

RUNNER = r"""# /// script
# requires-python = ">=3.6"
#
# [tool.envmgr]
# needs-device = false
#
# [tool.envmgr.parameters]
# behaviour = "good"
# ///
import ctypes, json, os, signal, site, subprocess, sys, threading, time

request = json.load(open(sys.argv[sys.argv.index("--request") + 1]))
place = sys.argv[sys.argv.index("--report") + 1]
kind = request["parameters"]["behaviour"]
full = {
    "protocol": 1, "cell": request["cell"], "status": "ok", "first_call": 0.1, "samples": [0.1],
    "outputs": {"answer": {"shape": [2, 1], "values": [1.0, 2.0]}},
}

def report(**fields):
    with open(place, "w") as file:
        json.dump({**full, **fields}, file)

def write(text):
    with open(place, "w") as file:
        file.write(text)

def linger():
    time.sleep(600)

def daemon(levels):
    for _ in range(levels):
        if os.fork():
            return False
        os.setsid()
    for descriptor in range(3):
        os.close(descriptor)
    linger()

def overflow():
    recurse = ctypes.CFUNCTYPE(None)(lambda: recurse())
    sys.setrecursionlimit(10**9)
    recurse()

def take(megabytes):
    return [bytearray(b"x" * 1000000) for _ in range(megabytes)]

def ignore():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)

def plant(path, text="planted"):
    with open(path, "w") as file:
        file.write(text)

def attempt(path):
    try:
        plant(path)
    except OSError as error:
        return type(error).__name__
    return "written"

def library():
    import demo
    return demo.__file__

def hang_at_exit():
    report()
    import atexit
    atexit.register(linger)

def stop_parent():
    os.kill(os.getppid(), signal.SIGKILL)

def grandchild():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)

def own_clock():
    time.time = time.monotonic = time.perf_counter = lambda: 0.0
    report()

def spin():
    for _ in range(200):
        sys.stdout.write("x" * 1000000)
    report()

def many():
    for _ in range(40):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                linger()
            os._exit(0)
    report()

home = os.path.expanduser("~")
project = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
real_home = os.path.join(os.path.dirname(project), "home")

KINDS = {
    "good": lambda: report(),
    "no report": lambda: None,
    "half a report": lambda: write(json.dumps(full)[:40]),
    "garbage": lambda: open(place, "wb").write(bytes(range(256))),
    "nested": lambda: write("[" * 100000),
    "empty": lambda: write(""),
    "not finite": lambda: write(json.dumps({**full, "outputs": {"answer": {"shape": [2, 1], "values": ["nan", "inf"]}}})),
    "not JSON": lambda: write(json.dumps({**full, "outputs": {"answer": {"shape": [1], "values": [float("nan")]}}})),
    "wrong schema": lambda: report(protocol=2),
    "unknown key": lambda: report(outcome="passed"),
    "negative time": lambda: report(samples=[-1.0]),
    "another cell": lambda: report(cell="c0ffee"),
    "symlink": lambda: (plant("real.json", json.dumps(full)), os.symlink(os.path.abspath("real.json"), place)),
    "fifo": lambda: os.mkfifo(place),
    "folder": lambda: os.mkdir(place),
    "huge report": lambda: open(place, "w").truncate(10**11),
    "failed on purpose": lambda: report(status="failed", error={"phase": "run", "type": "ValueError", "message": "no"}),
    "fork": lambda: (report(), daemon(1)),
    "double fork": lambda: (report(), daemon(2)),
    "grandchild": lambda: (report(), grandchild()),
    "many": many,
    "ignores SIGTERM": lambda: (ignore(), linger()),
    "hangs at exit": hang_at_exit,
    "stops itself": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "segfault": lambda: ctypes.string_at(0),
    "illegal instruction": lambda: os.kill(os.getpid(), signal.SIGILL),
    "abort": lambda: os.abort(),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stack overflow": overflow,
    "out of memory": lambda: take(2000),
    "out of memory together": lambda: [os.fork() for _ in range(3)] and (take(100), linger()),
    "kills its parent": lambda: (report(), stop_parent()),
    "closes its descriptors": lambda: (os.closerange(0, 256), report()),
    "much output": spin,
    "not UTF-8": lambda: (os.write(1, b"\xff\xfe caf\xe9 \x00\n"), sys.exit(3)),
    "control sequences": lambda: (os.write(1, b"\x1b]0;owned\x07\x1b[31m<script>alert(1)</script>\n"), sys.exit(3)),
    "control sequences in the report": lambda: report(
        status="failed", error={"phase": "run", "type": "E", "message": "\x1b]0;owned\x07<script>alert(1)</script>"}),
    "needs a terminal": lambda: open("/dev/tty"),
    "asks": lambda: input("go on? "),
    "patches its clock": own_clock,
    "writes to its home": lambda: (plant(os.path.join(home, ".kerasrc")), report()),
    "writes to the user's home": lambda: report(notes=[attempt(os.path.join(real_home, "planted"))]),
    "writes to the project": lambda: report(notes=[attempt(os.path.join(project, "planted"))]),
    "writes to uv's cache": lambda: report(notes=[attempt(os.path.join(os.path.dirname(project), "uv-cache", "planted"))]),
    "alters the env": lambda: (plant(library(), "__version__ = '1.0'; ANSWER = 666\n"), report()),
    "adds to the env": lambda: (plant(os.path.join(os.path.dirname(library()), "evil.pth"), "import os\n"), report()),
    "removes from the env": lambda: (os.remove(library()), report()),
}
KINDS[kind]()
"""

TABLE = {
    "good": ("passed", ""),
    "no report": ("crashed", "no report, exit code 0"),
    "half a report": ("failed", "cannot be read"),
    "garbage": ("failed", "cannot be read"),
    "nested": ("failed", "cannot be read"),
    "empty": ("failed", "cannot be read"),
    "not finite": ("wrong", "not finite: 2 of 2 numbers"),
    "not JSON": ("wrong", "not finite: 1 of 1"),
    "wrong schema": ("failed", "protocol"),
    "unknown key": ("failed", "outcome"),
    "negative time": ("failed", "a time that is none"),
    "another cell": ("failed", "of another cell"),
    "symlink": ("failed", "not a plain file"),
    "fifo": ("failed", "not a plain file"),
    "folder": ("failed", "not a plain file"),
    "huge report": ("failed", "too large"),
    "failed on purpose": ("failed", "ValueError: no"),
    "fork": ("passed", ""),
    "double fork": ("passed", ""),
    "grandchild": ("passed", ""),
    "many": ("passed", ""),
    "ignores SIGTERM": ("timeout", "did not end within"),
    "hangs at exit": ("passed", "after its report it did not end within"),
    "stops itself": ("timeout", "did not end within"),
    "segfault": ("crashed", "SIGSEGV"),
    "illegal instruction": ("crashed", "SIGILL"),
    "abort": ("crashed", "SIGABRT"),
    "killed": ("crashed", "SIGKILL"),
    "stack overflow": ("crashed", "SIGSEGV"),
    "out of memory": ("out-of-memory", "memory"),
    "out of memory together": ("out-of-memory", "took more than the memory limit"),
    "kills its parent": ("passed", ""),
    "closes its descriptors": ("passed", ""),
    "much output": ("passed", ""),
    "not UTF-8": ("crashed", "caf"),
    "control sequences": ("crashed", "exit code 3"),
    "control sequences in the report": ("failed", "alert(1)"),
    "needs a terminal": ("crashed", "/dev/tty"),
    "asks": ("crashed", "EOFError"),
    "patches its clock": ("passed", ""),
    "writes to its home": ("passed", ""),
    "writes to the user's home": ("passed", ""),
    "writes to the project": ("passed", ""),
    "writes to uv's cache": ("passed", ""),
    "alters the env": ("crashed", "PermissionError"),
    "adds to the env": ("crashed", "PermissionError"),
    "removes from the env": ("crashed", "PermissionError"),
}
"""What is to be said of each kind: outcome, and a part of the reason."""

WITHOUT_LANDLOCK = {
    "kills its parent": ("crashed", "SIGKILL"),
    "alters the env": ("failed", "1 altered"),
    "adds to the env": ("failed", "evil.pth"),
    "removes from the env": ("failed", "1 removed"),
}
"""What is said where the kernel cannot keep a cell from writing to its env and from signalling its keeper."""


def processes_of(project):
    found = []
    for process in psutil.process_iter():
        try:
            if str(project.root.parent / "cache") in " ".join((*process.cmdline(), *process.environ().values())):
                found.append(process)
        except psutil.Error:
            continue
    return [process for process in found if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def test_each_kind_gets_its_true_outcome_and_nothing_of_it_remains(project):
    project.write("runners/answer.py", RUNNER)
    entries = [{"behaviour": kind} for kind in TABLE]
    project.matrix(manifests=["one"], entries=entries, timeout=4.0, memory=0.25)
    project.run("build", "one")
    before = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}
    cached = sorted((project.root.parent / "uv-cache").rglob("*"))

    code, answer = project.json("matrix", "run", "--jobs", "3")

    assert code == 1
    cells = {cell["parameters"]["behaviour"]: cell for cell in answer["data"]["cells"]}
    landlock = "written" not in cells["writes to the project"]["notes"]
    table = TABLE if landlock else {**TABLE, **WITHOUT_LANDLOCK}
    wrong = {
        kind: (cells[kind]["outcome"], cells[kind]["reason"])
        for kind, (outcome, reason) in table.items()
        if cells[kind]["outcome"] != outcome or reason not in cells[kind]["reason"]
    }
    assert wrong == {}
    assert processes_of(project) == []
    after = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file() and path in before}
    assert after == before
    of_drivers = project.home / ".cache" / "pocl"  # an OpenCL driver that envmgr asks what there is
    assert [path for path in project.home.rglob("*") if path.is_file() and not path.is_relative_to(of_drivers)] == []
    scratch = project.root.parent / "cache" / "scratch"
    assert list(scratch.iterdir()) == []
    if landlock:
        assert not (project.root / "planted").exists()
        assert sorted((project.root.parent / "uv-cache").rglob("*")) == cached

    shown = project.run("matrix", "show", "--wide").stdout
    shown += "".join(project.run("matrix", "logs", cells[kind]["id"]).stdout for kind in cells if "control" in kind)
    assert "alert(1)" in shown
    assert not {"\x1b", "\x07"} & set(shown)
    project.run("matrix", "report", "--html", "page.html", "--markdown", "page.md", "--junit", "page.xml")
    page = (project.root / "page.html").read_text()
    assert "alert(1)" in page
    assert "<script>alert(1)" not in page + (project.root / "page.xml").read_text()
    assert not {"\x1b", "\x07"} & set(page + (project.root / "page.md").read_text())
    assert project.json("verify", "one", "--deep")[0] == 0, "the env that is served is what was built"


@pytest.mark.parametrize(
    "kind",
    [
        "alters the env",
        pytest.param("adds to the env", marks=pytest.mark.robustness),
        pytest.param("removes from the env", marks=pytest.mark.robustness),
    ],
)
def test_a_changed_env_is_told_set_aside_and_built_again(project, kind):
    """Where files are links, a cell cannot change them (see test_links); copies it may write to, the first time."""
    project.environment["UV_LINK_MODE"] = "copy"
    project.write("runners/answer.py", RUNNER)
    project.matrix(manifests=["one"], entries=[{"behaviour": kind}, {"behaviour": "good"}])
    code, answer = project.json("matrix", "run")
    first, second = answer["data"]["cells"]
    assert (code, first["outcome"], second["outcome"]) == (1, "failed", "passed")
    assert "while it ran its environment was changed: 1 " in first["reason"]
    assert project.json("verify", "one", "--deep")[0] == 0
    assert project.json("build", "one")[1]["data"]["builds"][0]["fresh"] is False
    assert list((project.root.parent / "cache" / "set-aside").iterdir())


@pytest.mark.robustness
def test_an_env_changed_by_hand_is_built_again_before_it_is_measured(project):
    project.matrix(manifests=["one"])
    project.json("matrix", "run")
    library = next((project.root.parent / "cache" / "envs").glob("*/lib/*/site-packages/demo.py"))
    library.write_text("__version__ = '1.0'\nANSWER = 43\n")
    code, answer = project.json("matrix", "run")
    (cell,) = answer["data"]["cells"]
    assert (code, cell["outcome"]) == (0, "passed")
    assert "42" in library.read_text()
    assert "rebuilt" in [mark["kind"] for mark in cell["marks"]]
    assert "its environment was found changed (1 altered" in " ".join(project.run("matrix", "show").stdout.split())


@pytest.mark.robustness
def test_memory_stays_flat_and_logs_bounded_whatever_is_written(project):
    runner = RUNNER.replace("range(200)", "range(int(request['parameters'].get('megabytes', 200)))")
    project.write("runners/answer.py", runner)
    peaks = {}
    for megabytes in (1, 2000):
        project.matrix(manifests=["one"], entries=[{"behaviour": "much output", "megabytes": megabytes}], timeout=120.0)
        project.run("build", "one")
        with project.start("matrix", "run", "--json") as process:
            peak = 0
            while process.poll() is None:
                try:
                    peak = max(peak, psutil.Process(process.pid).memory_info().rss)
                except psutil.Error:
                    break
                time.sleep(0.02)
            cells = json.loads(process.stdout.read())["data"]["cells"]
        assert [cell["outcome"] for cell in cells] == ["passed"]
        peaks[megabytes] = peak
    assert peaks[2000] - peaks[1] < 30_000_000
    assert max(path.stat().st_size for path in project.root.glob(".envmgr/runs/*/logs/*")) < 4_100_000
