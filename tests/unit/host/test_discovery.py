"""Which Pythons are found, and what becomes of those that do not answer."""

import json
from pathlib import Path

import pytest

from envmgr.host.candidates import find_candidates
from envmgr.host.interpreters import PROBE, discover
from envmgr.host.managed import managed_folder
from envmgr.ports import Completed

CACHE = Path("/cache")
HOME = "/home/ada"


def found(means, around):
    return [(str(one.path), one.source) for one in find_candidates(means, around, managed_folder(means, around, CACHE))]


UV = "/opt/uv"
MANAGED = {"/data/uv/python/cpython-3.12.1-linux/bin/python3.12": "3.12", UV: "uv itself"}


def asked_uv(means):
    return sum(1 for request in means.process.requests if request.argv == (UV, "python", "dir"))


def test_uv_is_asked_once_for_its_folder_until_something_changes_that_decides_it(machine):
    def another(**variables):
        further, there = machine(files=files, outputs=told, environment=variables, uv=UV)
        further.files.texts = means.files.texts
        assert managed_folder(further, there, CACHE) == "/data/uv/python"
        return asked_uv(further)

    files, told = MANAGED, {f"{UV} python dir": "/data/uv/python\n"}
    means, around = machine(files=files, outputs=told, uv=UV)
    assert [managed_folder(means, around, CACHE) for _ in range(2)] == ["/data/uv/python"] * 2
    assert asked_uv(means) == 1
    assert another(LANG="C") == 0
    assert another(UV_PYTHON_INSTALL_DIR="/data/uv/python") == 1
    means.files.texts[UV] = "another uv"
    assert another() == 1


def test_a_folder_of_uv_that_is_gone_is_asked_for_again(machine):
    means, around = machine(files=MANAGED, outputs={f"{UV} python dir": "/data/uv/python\n"}, uv=UV)
    managed_folder(means, around, CACHE)
    means.files.texts = {path: text for path, text in means.files.texts.items() if not path.startswith("/data")}
    means.process.answers = {(UV, "python", "dir"): "/srv/python\n"}
    assert managed_folder(means, around, CACHE) == "/srv/python"


def answering(means, **changes):
    def answer(request):
        text = {
            "protocol": 1,
            "implementation": "CPython",
            "version": "3.8.18",
            "build": "(default) [GCC 12.2.0]",
            "system": "linux",
            "arch": "x86_64",
            "translated": False,
            "executable": request.argv[0],
            "base_prefix": "/opt/python",
            "virtual": False,
            "abi_flags": "",
            "libc": "glibc 2.36",
        } | changes
        means.files.write(Path(request.argv[-1]), json.dumps(text))
        return ""

    return answer


def test_shims_are_left_out_and_what_they_lead_to_is_found(machine):
    files = {
        f"{HOME}/.pyenv/shims/python": "shim",
        f"{HOME}/.asdf/shims/python3": "shim of asdf",
        f"{HOME}/.pyenv/versions/3.8.18/bin/python": "3.8.18",
        f"{HOME}/.pyenv/versions/3.8.18/bin/python3.8": "3.8.18",
        f"{HOME}/.pyenv/versions/3.8.18/bin/python3.8-config": "a script",
        f"{HOME}/.asdf/installs/python/3.9.1/bin/python3": "3.9.1",
    }
    path = f"{HOME}/.pyenv/shims:{HOME}/.asdf/shims"
    assert found(*machine(files=files, environment={"PATH": path})) == [
        (f"{HOME}/.pyenv/versions/3.8.18/bin/python", "pyenv"),
        (f"{HOME}/.asdf/installs/python/3.9.1/bin/python3", "asdf"),
    ]


def test_pyenv_root_moves_pyenv(machine):
    files = {"/srv/pyenv/versions/3.9.1/bin/python": "3.9", f"{HOME}/.pyenv/versions/3.8.18/bin/python": "3.8"}
    means, around = machine(files=files, environment={"PYENV_ROOT": "/srv/pyenv"})
    assert found(means, around) == [("/srv/pyenv/versions/3.9.1/bin/python", "pyenv")]


def test_a_virtual_environment_on_path_stands_for_its_base(machine):
    files = {
        "/proj/.venv/pyvenv.cfg": "home = /opt/python/bin\n",
        "/proj/.venv/bin/python": "a copy",
        "/opt/python/bin/python3.11": "3.11",
    }
    assert found(*machine(files=files, environment={"PATH": "/proj/.venv/bin"})) == [
        ("/opt/python/bin/python3.11", "path")
    ]


def test_uv_conda_and_environments_txt_are_looked_into(machine):
    files = {
        "/data/uv/python/cpython-3.12.1-linux/bin/python3.12": "3.12",
        f"{HOME}/miniforge3/bin/python": "base",
        f"{HOME}/miniforge3/envs/old/bin/python": "3.7",
        "/srv/env/bin/python": "3.10",
        f"{HOME}/.conda/environments.txt": "/srv/env\n\n",
    }
    assert found(*machine(files=files, outputs={"uv python dir": "/data/uv/python\n"})) == [
        ("/data/uv/python/cpython-3.12.1-linux/bin/python3.12", "uv"),
        (f"{HOME}/miniforge3/bin/python", "conda"),
        (f"{HOME}/miniforge3/envs/old/bin/python", "conda"),
        ("/srv/env/bin/python", "conda"),
    ]


def test_one_interpreter_under_two_names_is_found_once(machine):
    files = {"/usr/bin/python3": "3.11", "/usr/bin/python3.11": "3.11", "/bin/python3": "3.11"}
    assert found(*machine(files=files, environment={"PATH": "/usr/bin:/bin"})) == [("/usr/bin/python3", "path")]


def test_the_python_that_is_asked_for_comes_first(machine):
    files = {"/opt/python3.9/bin/python": "3.9"}
    means, around = machine(files=files, environment={"PATH": "/opt/python3.9/bin"}, python_request="~/py")
    assert found(means, around) == [(f"{HOME}/py", "option"), ("/opt/python3.9/bin/python", "path")]


def test_an_asked_python_that_is_not_there_is_rejected(machine):
    discovery = discover(*machine(python_request="/nowhere/python"), CACHE)
    (rejected,) = discovery.rejected
    assert (rejected.executable, rejected.source, rejected.reason) == (
        "/nowhere/python",
        "option",
        "there is no such file",
    )


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (Completed((), 66, stderr="Python 2.7.18 is too old: 3.6 or newer is needed\n"), "2.7.18 is too old"),
        (Completed((), 127, stderr="x: error while loading shared libraries: libssl.so.1.1\n"), "exit code 127"),
        (Completed((), None, signal=11), "signal 11"),
        (Completed((), None, timed_out=True), "does not answer within 30 s"),
        (Completed((), None, started=False, stderr="python: Permission denied"), "Permission denied"),
        (Completed((), 0), "does not work"),
    ],
)
def test_a_broken_candidate_is_recorded_and_the_others_are_found(machine, end, reason):
    files = {"/a/python": "broken", "/b/python": "good"}
    means, around = machine(files=files, environment={"PATH": "/a:/b"}, outputs={"/a/python": end})
    means.process.answers[("/b/python",)] = answering(means)
    discovery = discover(means, around, CACHE)
    assert [one.executable for one in discovery.interpreters] == ["/b/python"]
    (rejected,) = discovery.rejected
    assert rejected.executable == "/a/python"
    assert reason in rejected.reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"virtual": True}, "virtual environment"), ({"system": "cygwin"}, "built for cygwin")],
)
def test_an_answer_can_disqualify(machine, changes, reason):
    means, around = machine(files={"/a/python": "x"}, environment={"PATH": "/a"})
    means.process.answers[("/a/python",)] = answering(means, **changes)
    discovery = discover(means, around, CACHE)
    assert discovery.interpreters == ()
    assert reason in discovery.rejected[0].reason


def test_nonsense_instead_of_an_answer_is_a_reason(machine):
    means, around = machine(files={"/a/python": "x"}, environment={"PATH": "/a"})
    means.process.answers[("/a/python",)] = lambda request: means.files.write(Path(request.argv[-1]), "{}") or ""
    assert "as the probe expects" in discover(means, around, CACHE).rejected[0].reason


def test_variables_that_steer_python_do_not_reach_the_probe(machine):
    environment = {
        "PATH": "/a",
        "PYTHONPATH": "/evil",
        "PYTHONHOME": "/evil",
        "_PYTHON_HOST_PLATFORM": "x",
        "LANG": "C",
    }
    means, around = machine(files={"/a/python": "x"}, environment=environment)
    discover(means, around, CACHE)
    (request,) = [request for request in means.process.requests if request.argv[0] == "/a/python"]
    assert set(request.env) == {"PATH", "LANG"}
    assert request.argv[1:5] == ("-E", "-s", "-S", str(PROBE))


def asked(means):
    return [request.argv[0] for request in means.process.requests if str(PROBE) in request.argv]


def test_answers_are_kept_until_the_file_changes(machine):
    means, around = machine(files={"/a/python": "x", str(PROBE): "probe"}, environment={"PATH": "/a"})
    means.process.answers[("/a/python",)] = answering(means)
    first = discover(means, around, CACHE)
    assert discover(means, around, CACHE) == first
    assert asked(means) == ["/a/python"]
    means.files.write(Path("/a/python"), "another build")
    discover(means, around, CACHE)
    assert len(asked(means)) == 2
    means.files.write(PROBE, "another probe")
    discover(means, around, CACHE)
    assert len(asked(means)) == 3


@pytest.mark.parametrize("text", ["", "{", '{"state": 1}', "[]"])
def test_a_damaged_cache_is_rebuilt(machine, text):
    means, around = machine(files={"/a/python": "x", "/cache/interpreters.json": text}, environment={"PATH": "/a"})
    means.process.answers[("/a/python",)] = answering(means)
    assert len(discover(means, around, CACHE).interpreters) == 1
    assert json.loads(means.files.read(CACHE / "interpreters.json"))["answers"]


def test_the_newest_comes_first(machine):
    files = {"/a/python3.9": "9", "/a/python3.10": "10"}
    means, around = machine(files=files, environment={"PATH": "/a"})
    means.process.answers[("/a/python3.9",)] = answering(means, version="3.9.18")
    means.process.answers[("/a/python3.10",)] = answering(means, version="3.10.13")
    assert [one.minor for one in discover(means, around, CACHE).interpreters] == ["3.10", "3.9"]
