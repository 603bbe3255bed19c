"""An env looked after: writes are seen, bytecode that others compiled is compiled anew."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envmgr.env.guard import Guard
from envmgr.model.env import Env
from envmgr.model.host import Interpreter
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess

pytestmark = pytest.mark.integration


@pytest.fixture
def library(tmp_path):
    folder = tmp_path / "envs" / "key" / "lib"
    folder.mkdir(parents=True)
    (folder / "demo.py").write_text("ANSWER = 42\n")
    return folder


@pytest.fixture
def env(library):
    interpreter = Interpreter(
        executable=sys.executable, implementation="CPython", version="3.11.7", arch="x86_64", system="linux"
    )
    return Env(
        key="key",
        manifest="m",
        variant="default",
        path=str(library.parent),
        python=sys.executable,
        interpreter=interpreter,
        lock_digest="",
        resolved={},
    )


@pytest.fixture
def guard(tmp_path):
    return Guard(RealFiles(tmp_path / "scratch"), RealProcess({}))


def test_an_untouched_env_has_no_changes(guard, env):
    guard.accept(env)
    assert guard.changes(env) == ""


def test_a_write_that_hides_its_time_is_seen(guard, env, library):
    guard.accept(env)
    facts = (library / "demo.py").stat()
    (library / "demo.py").write_text("ANSWER = 43\n")
    os.utime(library / "demo.py", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert guard.changes(env) == "1 altered (lib/demo.py)"


def test_a_write_through_a_link_from_outside_is_seen(guard, env, library, tmp_path):
    guard.accept(env)
    (tmp_path / "link").hardlink_to(library / "demo.py")
    (tmp_path / "link").write_text("ANSWER = 43\n")
    (tmp_path / "link").unlink()
    assert guard.changes(env) == "1 altered (lib/demo.py)"


def test_another_process_knows_what_was_accepted(guard, env, library, tmp_path):
    guard.accept(env)
    (library / "evil.py").write_text("")
    other = Guard(RealFiles(tmp_path / "scratch"), RealProcess({}))
    assert other.changes(env) == "1 added (lib/evil.py)"


def answer(library):
    code = "import sys; sys.path.insert(0, sys.argv[1]); import demo; print(demo.ANSWER)"
    done = subprocess.run([sys.executable, "-I", "-c", code, library], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_bytecode_is_no_change_but_is_not_trusted(guard, env, library):
    guard.accept(env)
    other = library.parent.parent / "other.py"
    facts = (library / "demo.py").stat()
    other.write_text("ANSWER = 43\n")
    os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    poisoned = Path(importlib.util.cache_from_source(str(library / "demo.py")))
    subprocess.run([sys.executable, "-m", "py_compile", other], check=True)
    poisoned.parent.mkdir()
    Path(importlib.util.cache_from_source(str(other))).rename(poisoned)
    assert answer(library) == "43", "the poison works"
    assert guard.changes(env) == ""
    assert answer(library) == "42"
    assert poisoned.exists()
    assert guard.changes(env) == ""


def test_bytecode_that_is_none_is_removed(guard, env, library):
    guard.accept(env)
    foreign = library / "__pycache__" / "demo.cpython-301.pyc"
    foreign.parent.mkdir()
    foreign.write_bytes(b"no bytecode")
    assert guard.changes(env) == ""
    assert not foreign.exists()


def test_of_much_bytecode_all_is_compiled_anew(guard, env, library):
    """More than one process does on its own, where there are processors for several."""
    names = [f"many{number}" for number in range(230)]
    for name in names:
        (library / f"{name}.py").write_text("ANSWER = 42\n")
    guard.accept(env)
    bytecode = [Path(importlib.util.cache_from_source(str(library / f"{name}.py"))) for name in names]
    bytecode[0].parent.mkdir()
    for number, path in enumerate(bytecode):
        path.write_bytes(b"poison" if number % 2 else b"")
    foreign = bytecode[0].with_name("many7.cpython-301.pyc")
    foreign.write_bytes(b"no bytecode")
    assert guard.changes(env) == ""
    for path in bytecode:
        loader = importlib.machinery.SourcelessFileLoader("one", str(path))
        assert 42 in loader.get_code("one").co_consts
    assert not foreign.exists()
    assert guard.changes(env) == ""
