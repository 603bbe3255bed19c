"""Files that several environments share: what it saves, and that a write in one environment reaches no other."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

INTRUDER = r"""# /// script
# requires-python = ">=3.6"
#
# [tool.envmgr]
# needs-device = false
# ///
import json, os, sys

request = json.load(open(sys.argv[sys.argv.index("--request") + 1]))
report = sys.argv[sys.argv.index("--report") + 1]
import demo

own, beside = os.path.expanduser("~/own.py"), os.path.join(os.path.dirname(demo.__file__), "__pycache__", "own.py")

def append(path):
    with open(path, "a") as file:
        file.write("ANSWER = 666\n")

def linked(place):
    os.link(demo.__file__, place)
    append(place)

def through(place):
    os.symlink(demo.__file__, place)
    append(place)

attempts = {
    "append": lambda: append(demo.__file__),
    "truncate": lambda: os.truncate(demo.__file__, 0),
    "link at home": lambda: linked(own),
    "link among bytecode": lambda: linked(beside),
    "symbolic link": lambda: through(own + ".symbolic"),
    "rename to home": lambda: os.rename(demo.__file__, own),
    "rename among bytecode": lambda: os.rename(demo.__file__, beside),
    "replace": lambda: os.replace(request_path, demo.__file__),
    "remove": lambda: os.remove(demo.__file__),
    "add": lambda: append(os.path.join(os.path.dirname(demo.__file__), "new.py")),
}
request_path = sys.argv[sys.argv.index("--request") + 1]
done = []
for name, attempt in attempts.items():
    try:
        attempt()
        done.append(name)
    except OSError:
        pass
json.dump({
    "protocol": 1, "cell": request["cell"], "status": "ok", "first_call": 0.1, "samples": [0.1],
    "outputs": {"answer": {"shape": [1], "values": [demo.ANSWER]}}, "notes": done,
}, open(report, "w"))
"""


@pytest.fixture
def world(project, index):
    """Two environments that have a wheel in common, linked: where this host cannot, there is nothing to test."""
    index.add("extra", "1.0", {"extra.py": "EXTRA = 1\n"})
    project.manifest("two", requirements=["demo==1.0", "extra==1.0"])
    code, answer = project.json("build", "one", "two")
    assert code == 0
    for built in answer["data"]["builds"]:
        if built["sharing"] != "hardlink":
            pytest.skip(f"no hard links here: {built['sharing_why'] or built['sharing']}")
    return project


def demo_of(project, name):
    """The shared module as it lies in an environment, without asking envmgr for the folder."""
    places = Path(project.environment["ENVMGR_CACHE_DIR"], "envs").glob("*/envmgr.json")
    (folder,) = [place.parent for place in places if json.loads(place.read_text())["manifest"] == name]
    return next(folder.glob("lib/*/site-packages/demo.py"))


def in_cache(project):
    """The shared module as it lies in uv's cache, where it has lain longest."""
    found = (project.root.parent / "uv-cache").rglob("demo.py")
    return min(found, key=lambda path: path.stat().st_ino)


def test_two_environments_are_names_of_the_same_files(world):
    one, two = demo_of(world, "one"), demo_of(world, "two")
    assert one.samefile(two)
    assert one.samefile(in_cache(world))
    assert "hard links into uv's cache" in world.run("doctor").stdout
    sizes = {each["manifest"]: each["size"] for each in world.json("clean", "--dry-run")[1]["data"]["items"]}
    for name, module in (("one", one), ("two", two)):
        files = [path.lstat() for path in module.parents[3].rglob("*") if path.is_file() and not path.is_symlink()]
        assert sizes[name] == sum(facts.st_size for facts in files if facts.st_nlink == 1), "links give nothing back"


def test_no_cell_writes_to_files_that_are_shared_and_bytecode_is_kept(world):
    world.write("runners/answer.py", INTRUDER)
    world.matrix(manifests=["one", "two"])
    before = demo_of(world, "one").stat()
    code, answer = world.json("matrix", "run")
    assert code == 0
    cells = answer["data"]["cells"]
    assert [(cell["outcome"], cell["notes"]) for cell in cells] == [("passed", [])] * 2
    after = demo_of(world, "one").stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)
    assert list((demo_of(world, "one").parent / "__pycache__").glob("demo.*.pyc"))
    assert not list((demo_of(world, "one").parent / "__pycache__").glob("own.py"))
    assert [world.json("verify", name, "--deep")[0] for name in ("one", "two")] == [0, 0]


def test_a_command_of_the_user_gets_files_of_its_own_once(world):
    write = "import demo; open(demo.__file__, 'a').write('ANSWER = 43\\n')"
    assert world.run("run", "one", "--", "python", "-c", write).returncode == 0
    one, two = demo_of(world, "one"), demo_of(world, "two")
    assert ("43" in one.read_text(), "43" in two.read_text(), "43" in in_cache(world).read_text()) == (
        True,
        False,
        False,
    )
    assert all(path.lstat().st_nlink == 1 for path in one.parent.rglob("*") if path.is_file())
    told = json.loads((one.parents[3] / "envmgr.json").read_text())
    assert (told["sharing"], "handed" in told["sharing_why"]) == ("copy", True)
    before = one.stat().st_ino
    assert world.run("run", "one", "--", "python", "-c", "pass").returncode == 0
    assert demo_of(world, "one").stat().st_ino == before
    assert world.run("path", "two").returncode == 0
    assert demo_of(world, "two").stat().st_nlink == in_cache(world).stat().st_nlink == 1
    assert world.json("verify", "two", "--deep")[0] == 0


def test_a_program_that_builds_by_the_library_gets_files_of_its_own(world):
    program = "import subprocess, envmgr; subprocess.run([envmgr.build('one').python, '-c', WRITE], check=True)"
    write = "import demo; open(demo.__file__, 'a').write('ANSWER = 43\\n')"
    done = subprocess.run(
        [sys.executable, "-c", program.replace("WRITE", repr(write))],
        cwd=world.root,
        env=world.environment,
        check=False,
    )
    assert done.returncode == 0
    assert "43" in demo_of(world, "one").read_text()
    assert "43" not in in_cache(world).read_text() + demo_of(world, "two").read_text()


def test_a_write_by_hand_is_noticed_everywhere_and_the_damaged_wheel_is_never_used_again(world):
    world.matrix(manifests=["one", "two"])
    with demo_of(world, "one").open("a") as file:
        file.write("ANSWER = 43\n")
    assert "43" in demo_of(world, "two").read_text(), "without this there is nothing to notice"
    code, answer = world.json("verify", "two")
    failed = [check for check in answer["data"]["checks"] if not check["passed"]]
    assert (code, [check["name"] for check in failed]) == (1, ["untouched"])
    assert "1 altered (lib/" in failed[0]["found"]
    code, answer = world.json("matrix", "run")
    cells = answer["data"]["cells"]
    assert (code, [cell["outcome"] for cell in cells]) == (0, ["passed", "passed"])
    assert all("rebuilt" in [mark["kind"] for mark in cell["marks"]] for cell in cells)
    world.manifest("three", requirements=["demo==1.0", "base==1.5", "extra==1.0"], summary="another key")
    for name in ("one", "two"):
        assert "43" not in demo_of(world, name).read_text()
        assert world.json("verify", name, "--deep")[0] == 0
        assert demo_of(world, name).stat().st_nlink > 1


@pytest.mark.parametrize("hidden", [False, True])
def test_a_new_environment_is_not_built_from_a_damaged_cache(world, hidden):
    """A change of size under the old time is told by the size; one that keeps both is what --deep is for."""
    facts = in_cache(world).stat()
    with in_cache(world).open("a") as file:
        file.write("ANSWER = 43\n")
    if hidden:
        os.utime(in_cache(world), ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert world.run("clean", "one", "--yes").returncode == 0
    done = world.run("build", "one")
    assert done.returncode == 0
    assert "uv's cache holds a changed demo" in done.stderr
    assert "43" not in demo_of(world, "one").read_text()
    assert world.json("verify", "one", "--deep")[0] == 0
    assert world.run("clean", "one", "--yes").returncode == 0
    assert "changed" not in world.run("build", "one", "--offline").stderr, (
        "the cache serves the wheel as it was released"
    )
    assert "43" not in demo_of(world, "one").read_text()


def test_a_cache_that_was_damaged_before_envmgr_saw_it_is_found_out(world):
    assert world.run("clean", "--yes").returncode == 0
    known = world.root.parent / "cache" / "known-wheels"
    assert not known.exists()
    path = in_cache(world)
    facts = path.stat()
    path.write_text(path.read_text().replace("42", "43"))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert world.run("build", "two").returncode == 0
    assert "42" in demo_of(world, "two").read_text()


def test_without_the_wheel_a_damaged_cache_is_an_error(world, index):
    with in_cache(world).open("a") as file:
        file.write("ANSWER = 43\n")
    assert world.run("clean", "--yes").returncode == 0
    for wheel in (index.folder / "demo").iterdir():
        wheel.unlink()
    code, answer = world.json("build", "one", "--offline")
    assert (code, bool(answer["data"]["builds"][0]["failure"])) == (3, True)


def test_changed_rights_of_a_shared_file_are_noticed(world):
    demo_of(world, "one").chmod(0o777)
    assert world.json("verify", "two")[0] == 1
    assert world.run("clean", "--yes").returncode == 0
    assert world.run("build", "one").returncode == 0


def test_a_half_made_copy_is_finished_by_the_next_command(world):
    one = demo_of(world, "one")
    aside = one.with_name("aside")
    aside.write_bytes(one.read_bytes())
    aside.replace(one)
    assert world.run("run", "one", "--", "python", "-c", "import demo; assert demo.ANSWER == 42").returncode == 0
    assert all(path.lstat().st_nlink == 1 for path in one.parent.rglob("*") if path.is_file())
    world.matrix(manifests=["one"])
    code, answer = world.json("matrix", "run")
    assert (code, answer["data"]["cells"][0]["outcome"]) == (0, "passed")


def test_a_copying_that_was_killed_is_no_change(world, monkeypatch, tmp_path):
    """It is killed by its own tool here, after the first file."""
    killer = tmp_path / "killed.py"
    killer.write_text(
        "import os, sys\n"
        "from envmgr.system import sharing\n"
        "replace = sharing.Path.replace\n"
        "def killed(self, target):\n"
        "    replace(self, target)\n"
        "    if self.parent.name.startswith('detach'):\n"
        "        os._exit(9)\n"
        "sharing.Path.replace = killed\n"
        "from envmgr.cli import run\n"
        "sys.exit(run(['path', 'one']))\n"
    )
    done = subprocess.run([sys.executable, killer], cwd=world.root, env=world.environment, check=False)
    files = [path for path in demo_of(world, "one").parents[1].rglob("*") if path.is_file()]
    assert done.returncode == 9
    assert len({path.lstat().st_nlink for path in files}) > 1, "some have bytes of their own, some not yet"
    world.matrix(manifests=["one"])
    code, answer = world.json("matrix", "run")
    assert (code, answer["data"]["cells"][0]["outcome"]) == (0, "passed")
    assert "rebuilt" not in [mark["kind"] for mark in answer["data"]["cells"][0]["marks"]]
    assert world.run("path", "one").returncode == 0
    assert {path.lstat().st_nlink for path in files} == {1}
    with demo_of(world, "one").open("a") as file:
        file.write("ANSWER = 43\n")
    code, answer = world.json("matrix", "run")
    assert "rebuilt" in [mark["kind"] for mark in answer["data"]["cells"][0]["marks"]]


def test_of_builds_that_meet_a_damaged_wheel_one_brings_it_anew(world):
    with in_cache(world).open("a") as file:
        file.write("ANSWER = 43\n")
    assert world.run("clean", "one", "two", "--yes").returncode == 0
    done = world.run("build", "one", "two")
    assert done.returncode == 0
    told = [name for name in ("one", "two") if f"warning {name} uv's cache holds a changed demo" in done.stderr]
    assert len(told) == 1
    for name in ("one", "two"):
        assert "43" not in demo_of(world, name).read_text()
        assert demo_of(world, name).stat().st_nlink > 1


def test_the_users_own_wish_for_copies_is_heeded(project):
    code, answer = project.json("build", "one", UV_LINK_MODE="copy")
    (built,) = answer["data"]["builds"]
    assert (code, built["sharing"]) == (0, "clone" if built["sharing"] == "clone" else "copy")
    assert demo_of(project, "one").stat().st_nlink == 1


def test_a_history_gets_copies(project):
    steps = '[[step]]\ninstall = ["demo==1.0"]\ninstaller = "uv"\n'
    text = f'schema = 1\nname = "past"\npython = "=={sys.version_info[0]}.{sys.version_info[1]}.*"\n{steps}'
    project.write("manifests/past.toml", text)
    code, answer = project.json("build", "past")
    assert code == 0
    assert answer["data"]["builds"][0]["sharing"] != "hardlink"
    assert demo_of(project, "past").stat().st_nlink == 1
