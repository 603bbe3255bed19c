"""Runners as real processes: what PROTOCOL.md promises of every one, shown without any library under test."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envmgr.model.result import Report

pytestmark = pytest.mark.integration

RUNNERS = Path(__file__).resolve().parents[2] / "runners"
NAMES = sorted(path.stem for path in RUNNERS.glob("*.py"))


@pytest.fixture
def start(tmp_path):
    """Start a runner in a scratch folder with a HOME of its own."""

    def start_runner(runner, *arguments):
        command = [sys.executable, "-I", "-S", RUNNERS / f"{runner}.py", *arguments]  # -S: no installed library
        environment = {"HOME": str(tmp_path), "PATH": os.defpath}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return start_runner


@pytest.fixture
def ask(start, tmp_path):
    """Send a request to a runner; its report, read as envmgr reads it."""

    def ask_runner(runner, parameters=None, device=None):
        request = {"protocol": 1, "cell": "a/b c", "device": device, "parameters": parameters or {}}
        (tmp_path / "in.json").write_text(json.dumps(request))
        done = start(runner, "--request", "in.json", "--report", "out.json")
        assert done.returncode == 0, done.stderr
        return Report.model_validate(json.loads((tmp_path / "out.json").read_text(), parse_constant=pytest.fail))

    return ask_runner


@pytest.mark.parametrize("runner", NAMES)
def test_a_missing_library_is_a_report_of_the_phase_import(ask, runner):
    report = ask(runner, {"modules": ["no_such_library"]} if runner == "import_probe" else {})
    assert (report.cell, report.status, report.error.phase) == ("a/b c", "failed", "import")
    assert report.error.type in {"ModuleNotFoundError", "ImportError"}
    assert report.error.traceback.startswith("Traceback")
    assert report.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert report.samples == ()


@pytest.mark.parametrize("runner", NAMES)
def test_an_unknown_parameter_is_a_report(ask, runner):
    report = ask(runner, {"colour": "red"})
    assert (report.status, report.error.phase, report.error.type) == ("failed", "run", "ValueError")
    assert report.error.message.startswith("unknown parameter 'colour'; known are ")


def test_a_probe_says_where_modules_came_from(ask):
    report = ask("import_probe", {"modules": "json, xml.dom,sys"})
    assert report.status == "ok"
    assert report.modules["json"]["file"] == json.__file__
    assert report.modules["json"]["version"] == json.__version__
    assert report.modules["sys"] == {"file": None, "version": None}
    assert list(report.modules) == ["json", "xml.dom", "sys"]
    assert report.first_call >= 0


def test_a_probe_executes_code_before_it_imports(ask):
    code = "import sys, types; sys.modules['made'] = types.ModuleType('made'); sys.modules['made'].__version__ = '7'"
    assert ask("import_probe", {"modules": ["made"], "code": code}).modules == {"made": {"file": None, "version": "7"}}


def test_a_failed_probe_keeps_the_whole_chain_and_what_was_there(ask):
    code = "import json\ntry:\n    import absent_one\nexcept ImportError as error:\n    raise RuntimeError('no') from error"
    report = ask("import_probe", {"modules": ["json"], "code": code})
    assert (report.error.phase, report.error.type, report.error.message) == ("import", "RuntimeError", "no")
    assert "No module named 'absent_one'" in report.error.traceback
    assert "direct cause" in report.error.traceback
    assert set(report.modules) == {"json"}


def test_a_library_that_exits_is_a_report_too(ask):
    report = ask("import_probe", {"code": "raise SystemExit('run setup first')"})
    assert (report.error.phase, report.error.type, report.error.message) == ("import", "SystemExit", "run setup first")


def test_a_crash_leaves_no_report_and_a_stack(start, tmp_path):
    done = start("import_probe", "--report", "out.json", "--code", "import faulthandler; faulthandler._sigsegv()")
    assert done.returncode != 0
    assert "Fatal Python error" in done.stderr
    assert list(tmp_path.glob("out*")) == []


def test_another_protocol_is_refused(start, tmp_path):
    (tmp_path / "in.json").write_text('{"protocol": 2}')
    done = start("import_probe", "--request", "in.json", "--report", "out.json")
    assert done.returncode == 2
    assert "protocol 2; wanted 1" in done.stderr
    assert not (tmp_path / "out.json").exists()


def test_the_report_takes_the_place_of_an_older_one_and_leaves_nothing_aside(ask, tmp_path):
    (tmp_path / "out.json").write_text("old")
    ask("import_probe", {"modules": "json"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.json", "out.json"]


def test_a_sibling_with_a_library_name_takes_no_part(ask, tmp_path):
    (tmp_path / "json.py").write_text("raise RuntimeError('the wrong json')")
    assert ask("import_probe", {"modules": "json"}).modules["json"]["file"] == json.__file__


def test_by_hand_a_table_comes_out(start):
    done = start("import_probe", "--modules", "json")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].split() == ["status", "ok"]
    assert json.__file__ in done.stdout


def test_by_hand_a_failure_shows_in_the_exit_status(start):
    done = start("import_probe", "--modules", "no_such_library")
    assert done.returncode == 1
    assert done.stdout.rstrip().endswith(
        "failed in phase import: ModuleNotFoundError: No module named 'no_such_library'"
    )


@pytest.mark.parametrize("runner", NAMES)
def test_every_parameter_is_an_option(start, runner):
    shown = start(runner, "--help").stdout
    head = (RUNNERS / f"{runner}.py").read_text().partition("# [tool.envmgr.parameters]\n")[2].partition("\n#\n")[0]
    names = [line.removeprefix("# ").partition(" = ")[0] for line in head.splitlines()]
    assert names
    assert [name for name in [*names, "device", "request", "report"] if f"--{name} " not in shown] == []
