"""Folders that serve again, and those that must not."""

import sys

import pytest

from envmgr.system.files import RealFiles
from envmgr.system.rooms import Rooms

pytestmark = pytest.mark.integration


@pytest.fixture
def files(tmp_path):
    return RealFiles(tmp_path / "scratch")


@pytest.fixture
def rooms(files):
    return Rooms(files, ("home", "home/tmp", "work"), {"work": ("in", "out")}, again=True)


def what_next(rooms, change):
    """Return whether the room that follows one in which something changes is the same one, and what is in it."""
    with rooms.take("cell") as room:
        before = room.stat().st_ino, (room / "work").stat().st_ino
        change(room)
    with rooms.take("cell") as room:
        found = sorted(str(path.relative_to(room)) for path in room.rglob("*"))
        return (room.stat().st_ino, (room / "work").stat().st_ino) == before, found


CLEAN = ["home", "home/tmp", "work"]


@pytest.mark.parametrize("left", [(), ("in",), ("in", "out")])
def test_a_room_in_which_only_spent_files_are_left_serves_again_without_them(rooms, left):
    def change(room):
        for name in left:
            (room / "work" / name).write_text("x")

    assert what_next(rooms, change) == (True, CLEAN)


def replaced_by_a_link(room):
    (room / "work" / "out").symlink_to("/dev/null")


def replaced_folder(room):
    (room / "work").rename(room / "home" / "tmp" / "work")
    (room / "work").mkdir()


CHANGES = {
    "a file in the home": lambda room: (room / "home" / ".cache").write_text("x"),
    "a file in the temporary folder": lambda room: (room / "home" / "tmp" / "in").write_text("x"),
    "a file of another name": lambda room: (room / "work" / "weights").write_text("x"),
    "a folder under a spent name": lambda room: (room / "work" / "out").mkdir(),
    "a link under a spent name": replaced_by_a_link,
    "a file beside the folders": lambda room: (room / "in").write_text("x"),
    "other rights": lambda room: (room / "home").chmod(0o500),
    "a folder that is gone": lambda room: (room / "home" / "tmp").rmdir(),
    "a folder in the place of another": replaced_folder,
}


@pytest.mark.skipif(sys.platform == "win32", reason="rights and links are of POSIX")
@pytest.mark.parametrize("name", CHANGES)
def test_a_room_in_which_anything_else_has_changed_is_removed(rooms, files, tmp_path, name):
    _, found = what_next(rooms, CHANGES[name])
    assert found == CLEAN
    rooms.close()
    assert not list((tmp_path / "scratch").iterdir())


def test_a_room_that_is_in_use_is_nobody_elses(rooms):
    with rooms.take("cell") as one, rooms.take("cell") as other:
        assert one != other


def test_without_again_and_after_an_error_no_room_is_left(files, tmp_path):
    once = Rooms(files, ("work",), {}, again=False)
    with once.take("cell") as room:
        assert room.is_dir()
    assert not room.exists()
    again = Rooms(files, ("work",), {}, again=True)
    with pytest.raises(KeyboardInterrupt), again.take("cell"):
        raise KeyboardInterrupt
    assert not list((tmp_path / "scratch").iterdir())
