"""Files that share their bytes: told, undone, counted."""

import os
from pathlib import Path

import pytest

from envmgr.env.guard import changes_between
from envmgr.system.files import RealFiles


@pytest.fixture
def files(tmp_path):
    return RealFiles(tmp_path / "scratch")


@pytest.fixture
def pair(tmp_path):
    """A file in a cache and its other name in an env."""
    cache, env = tmp_path / "cache" / "module.py", tmp_path / "env" / "lib" / "module.py"
    for path in (cache, env):
        path.parent.mkdir(parents=True)
    cache.write_text("ANSWER = 42\n")
    cache.chmod(0o640)
    env.hardlink_to(cache)
    return cache, env


def test_a_detached_file_is_a_copy_that_is_written_to_alone(files, pair, tmp_path):
    cache, env = pair
    before = env.stat()
    assert files.detach(tmp_path / "env") == 1
    after = env.stat()
    assert (after.st_nlink, cache.stat().st_nlink) == (1, 1)
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    env.write_text("ANSWER = 43\n")
    assert cache.read_text() == "ANSWER = 42\n"
    assert files.detach(tmp_path / "env") == 0


def test_a_symbolic_link_is_no_name_of_its_file(files, pair, tmp_path):
    cache, env = pair
    (env.parent / "link.py").symlink_to(cache)
    files.detach(tmp_path / "env")
    assert (env.parent / "link.py").is_symlink()


def test_a_new_name_elsewhere_is_no_change_and_a_write_is_one(files, pair, tmp_path):
    cache, _ = pair
    before = files.snapshot(tmp_path / "env")
    (tmp_path / "third").hardlink_to(cache)
    assert changes_between(before, files.snapshot(tmp_path / "env")).sentence == ""
    (tmp_path / "third").unlink()
    cache.unlink()
    assert changes_between(before, files.snapshot(tmp_path / "env")).sentence == "", (
        "the last name left is the same file"
    )
    os.utime(tmp_path / "env" / "lib" / "module.py", ns=(1, 1))
    assert "1 altered" in changes_between(before, files.snapshot(tmp_path / "env")).sentence


def test_bytecode_has_folders_that_share_nothing(files, pair, tmp_path):
    cache, env = pair
    shipped = env.parent / "__pycache__" / "module.cpython-38.pyc"
    shipped.parent.mkdir()
    shipped.hardlink_to(cache)
    (env.parent / "package").mkdir()
    (env.parent / "package" / "__init__.py").write_text("")
    (env.parent / "data").mkdir()
    (env.parent / "data" / "weights.bin").write_text("")
    (env.parent / "led").mkdir()
    (env.parent / "led" / "astray.py").write_text("")
    (env.parent / "led" / "__pycache__").symlink_to(cache.parent)
    found = files.places_of_bytecode(tmp_path / "env")
    assert sorted(found) == [env.parent / "__pycache__", env.parent / "package" / "__pycache__"]
    assert shipped.stat().st_nlink == 1
    assert env.stat().st_nlink == 2


def test_removing_gives_back_what_has_no_other_name(files, pair, tmp_path):
    _, env = pair
    (env.parent / "own.py").write_text("1234567890")
    assert files.given_back([tmp_path / "env", tmp_path / "cache"]) == (10, 12)
    assert files.given_back([tmp_path / "cache", tmp_path / "env"]) == (0, 22)
    assert files.given_back([tmp_path / "nowhere"]) == (0,)


def test_a_cache_on_another_file_system_is_told(files, tmp_path):
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no other file system at hand")
    sharing, why = files.ways_to_share(other, tmp_path)
    assert (sharing, "another file system" in why) == ("copy", True)
