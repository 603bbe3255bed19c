"""The real disk: whole or not at all."""

import pytest

from envmgr.errors import BuildError
from envmgr.system.files import RealFiles


@pytest.fixture
def files(tmp_path):
    return RealFiles(tmp_path / "scratch")


def test_what_is_absent_reads_as_none(files, tmp_path):
    assert files.read(tmp_path / "nothing") is None
    assert files.list(tmp_path / "nothing") == ()
    assert files.size(tmp_path / "nothing") == 0
    assert files.identity(tmp_path / "nothing") == ""


def test_a_write_leaves_nothing_beside_the_file(files, tmp_path):
    files.write(tmp_path / "folder" / "file.txt", "one")
    files.write(tmp_path / "folder" / "file.txt", "two")
    assert files.read(tmp_path / "folder" / "file.txt") == "two"
    assert files.list(tmp_path / "folder") == (tmp_path / "folder" / "file.txt",)


def test_a_failed_write_keeps_the_old_text(files, tmp_path):
    files.write(tmp_path / "file.txt", "old")
    with pytest.raises(UnicodeEncodeError):
        files.write(tmp_path / "file.txt", "\ud800")
    assert files.read(tmp_path / "file.txt") == "old"
    assert files.list(tmp_path) == (tmp_path / "file.txt",)


def test_identity_changes_when_a_file_is_replaced(files, tmp_path):
    files.write(tmp_path / "file.txt", "old")
    before = files.identity(tmp_path / "file.txt")
    files.write(tmp_path / "file.txt", "newer")
    assert files.identity(tmp_path / "file.txt") != before


def test_removing_a_link_leaves_what_it_points_to(files, tmp_path):
    files.write(tmp_path / "kept" / "file.txt", "kept")
    files.link(tmp_path / "kept", tmp_path / "link")
    files.remove(tmp_path / "link")
    assert files.read(tmp_path / "kept" / "file.txt") == "kept"


def test_removing_a_read_only_tree(files, tmp_path):
    files.write(tmp_path / "tree" / "inner" / "file.txt", "x")
    (tmp_path / "tree" / "inner").chmod(0o500)
    files.remove(tmp_path / "tree")
    assert not files.exists(tmp_path / "tree")


def test_size_counts_a_hard_linked_file_once(files, tmp_path):
    files.write(tmp_path / "tree" / "one", "12345")
    (tmp_path / "tree" / "two").hardlink_to(tmp_path / "tree" / "one")
    assert files.size(tmp_path / "tree") == 5


def test_scratch_is_gone_afterwards(files):
    with files.scratch("test") as folder:
        files.write(folder / "file.txt", "x")
    assert not files.exists(folder)


def test_a_held_lock_is_told(files, tmp_path):
    again = files.lock(tmp_path / "lock", timeout=0.05)
    with files.lock(tmp_path / "lock"), pytest.raises(BuildError, match="held by another process"), again:
        pass
