"""envmgr is not bound to POSIX where it need not be: it can be imported where POSIX's modules are lacking."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "envmgr"
PLACES = {"env/content.py", "app/installed.py"}
"""Where it stands how systems lay out an environment."""

WITHOUT_POSIX = """
import asyncio, importlib, multiprocessing.popen_fork, os, pkgutil, signal, subprocess, sys
import filelock, psutil, rich.console, typer, virtualenv
try:
    import distributed
except ImportError:
    pass

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name in {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Hidden())
for name in ("fork", "geteuid", "getpgid", "getuid", "killpg", "register_at_fork", "sched_getaffinity", "setpgid",
             "setsid", "statvfs", "sync", "uname", "wait4", "waitid", "WNOHANG", "O_NOFOLLOW", "O_DIRECTORY"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGSTOP", "SIGTTOU", "SIGXFSZ", "alarm",
             "pthread_sigmask", "setitimer"):
    if hasattr(signal, name):
        delattr(signal, name)
import envmgr
for module in pkgutil.walk_packages(envmgr.__path__, "envmgr."):
    if ".probes." in module.name or module.name.endswith(("__main__", *sys.argv[1:])):
        continue
    try:
        importlib.import_module(module.name)
    except Exception as error:
        print(f"{module.name}: {type(error).__name__}: {error}")
"""


@pytest.mark.integration
def test_every_module_can_be_imported_without_posix():
    optional = [] if _has("distributed") else ["fleet.cluster", "fleet.remote"]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX, *optional], capture_output=True, text=True, check=False, cwd=ROOT.parent
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_where_an_environment_has_its_interpreter_is_known_in_one_place():
    spelt = re.compile(r"""["']bin["']\s*/\s*["']python|["'](?:bin/python|Scripts["/'])""")
    found = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if _says(path, spelt)}
    assert found - PLACES == {"env/surroundings.py"}, "take python_of, or python_in of a folder of the user's"


def _says(path, spelt):
    code = re.sub(r'"""(?s:.*?)"""', "", path.read_text(encoding="utf-8"))
    return spelt.search(code) is not None


def _has(name):
    from importlib.util import find_spec

    return find_spec(name) is not None
