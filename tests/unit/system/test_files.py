"""The real disk: whole or not at all."""

import contextlib
import os
import sys
import threading

import pytest
from filelock import FileLock, Timeout

from envmgr.errors import BuildError
from envmgr.system import placing
from envmgr.system.files import RealFiles
from envmgr.system.owned import owned_name


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
    assert files.list(tmp_path) == (tmp_path / "file.txt", tmp_path / "scratch")
    assert files.list(tmp_path / "scratch") == ()


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


NOBODY = 4_194_305
"""A process number above every system's highest."""


def of_another(name, pid):
    """The name of a file or folder as the process of that number would have it."""
    return ".".join(str(pid) if part == str(os.getpid()) else part for part in name.split("."))


def test_what_a_killed_process_left_in_scratch_goes_with_the_next_use(files, tmp_path):
    with files.scratch("cell") as folder:
        pass
    orphan, alive = (folder.with_name(of_another(folder.name, pid)) for pid in (NOBODY, os.getppid()))
    for each in (orphan, alive):
        files.write(each / "file.txt", "x")
    with RealFiles(tmp_path / "scratch").scratch("cell"):
        assert not orphan.exists()
        assert alive.exists()


def test_what_a_killed_writer_left_goes_with_the_next_write(files, tmp_path):
    left = tmp_path / "results" / of_another(owned_name(".one.json", ".part"), NOBODY)
    other = tmp_path / "results" / f".one.json.otherhost.{NOBODY}.0123abcd.part"
    for each in (left, other):
        each.parent.mkdir(exist_ok=True)
        each.write_text("half")
    files.write(tmp_path / "results" / "two.json", "{}")
    assert not left.exists()
    assert other.exists(), "of another host's processes nobody here can tell"


def test_a_long_name_can_be_written(files, tmp_path):
    files.write(tmp_path / "long" / ("n" * 250), "x")
    assert files.list(tmp_path / "long") == (tmp_path / "long" / ("n" * 250),)


def test_a_claim_holds_against_others_as_long_as_its_process_runs(files, tmp_path):
    env = tmp_path / "envs" / "key"
    files.claim(env)
    files.claim(env)
    assert len(files.list(tmp_path / "envs")) == 1
    assert not files.is_claimed(env), "one's own claim hinders nobody but others"
    (own,) = files.list(tmp_path / "envs")
    other = own.rename(own.with_name(of_another(own.name, os.getppid())))
    assert files.is_claimed(env)
    assert not files.is_claimed(tmp_path / "envs" / "key2")
    stale = other.rename(own.with_name(of_another(own.name, NOBODY)))
    assert not files.is_claimed(env)
    files.claim(env)
    assert not stale.exists()


def test_a_copy_leaves_out_links_that_lead_nowhere(files, tmp_path):
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "here.h5").write_text("numbers")
    (tmp_path / "weights" / "gone.h5").symlink_to(tmp_path / "nowhere")
    files.copy(tmp_path / "weights", tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["here.h5"]


def test_what_is_delivered_leaves_nothing_beside_it(files, tmp_path):
    (tmp_path / "user").mkdir()
    files.write(tmp_path / "user" / "report.csv", "one")
    files.write(tmp_path / "user" / "report.csv", "two")
    assert files.read(tmp_path / "user" / "report.csv") == "two"
    assert files.list(tmp_path / "user") == (tmp_path / "user" / "report.csv",)


def test_a_lock_that_is_held_is_not_dropped(files, tmp_path):
    path = tmp_path / "one.lock"
    with files.lock(path):
        assert files.drop_lock(path) is False
        assert path.exists()
    assert files.drop_lock(path) is True
    assert not path.exists()
    assert files.drop_lock(path) is False


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
def test_a_lock_that_is_dropped_while_another_opens_it_is_not_mistaken_for_its_own(files, tmp_path, monkeypatch):
    path = tmp_path / "one.lock"
    tries = []

    class Overtaken(FileLock):
        def acquire(self):
            made = super().acquire()
            tries.append(path.stat().st_ino)
            if len(tries) == 1:
                path.unlink()
            return made

    monkeypatch.setattr("envmgr.system.locks.FileLock", Overtaken)
    with files.lock(path):
        assert path.exists()
        with pytest.raises(Timeout):
            FileLock(path, timeout=0).acquire()
    assert len(tries) == 2


def test_scratch_sweeps_what_killed_writers_left_in_the_folders_around_it(files, tmp_path):
    host = owned_name("x").split(".")[1]
    left = [tmp_path / name / f".one.json.{host}.999999999.0123abcd.part" for name in ("", "receipts", "envs")]
    kept = [tmp_path / "receipts" / "one.json", tmp_path / "envs" / owned_name(".one", ".part")]
    for path in (*left, *kept):
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    with files.scratch("anything"):
        assert [path.exists() for path in (*left, *kept)] == [False, False, False, True, True]


def test_what_is_written_is_made_in_scratch_where_the_next_one_finds_it(files, tmp_path, monkeypatch):
    """As a kill between the two leaves it: in the user's folder there is nothing."""
    with monkeypatch.context() as killed:
        killed.setattr(placing, "bring", lambda *_: pytest.fail("killed"))
        killed.setattr("os.unlink", lambda _: None)
        with pytest.raises(BaseException, match="killed"):
            files.write(tmp_path / "user" / "one.txt", "half")
    assert list((tmp_path / "user").iterdir()) == []
    (left,) = (tmp_path / "scratch").iterdir()
    assert left.read_text() == "half"


def test_what_is_written_to_another_file_system_is_made_beside_its_place(files, tmp_path, monkeypatch):
    monkeypatch.setattr(RealFiles, "_workshop", lambda _, folder: folder)
    files.write(tmp_path / "user" / "one.txt", "whole")
    assert (files.read(tmp_path / "user" / "one.txt"), files.list(tmp_path / "scratch")) == ("whole", ())


@pytest.fixture(params=["links", "no links"])
def adding(request, tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    if request.param == "no links":
        monkeypatch.setattr(os, "link", refused)
    return RealFiles(tmp_path / "scratch")


def test_a_file_is_added_where_none_is_and_never_over_another(adding, tmp_path):
    place = tmp_path / "new" / "one.json"
    adding.add(place, "first")
    with pytest.raises(FileExistsError):
        adding.add(place, "second", durable=False)
    assert place.read_text() == "first"
    assert [path.name for path in place.parent.iterdir()] == ["one.json"]
    assert not list((tmp_path / "scratch").iterdir())


def test_of_many_that_add_the_same_file_one_succeeds(tmp_path):
    files, place, done = RealFiles(tmp_path / "scratch"), tmp_path / "one.json", []

    def add(number):
        with contextlib.suppress(FileExistsError):
            files.add(place, str(number))
            done.append(number)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [place.read_text()] == [str(number) for number in done]


def test_no_reader_finds_an_empty_file_where_one_is_added_without_links(files, tmp_path, monkeypatch):
    """What is at the place is looked at each time that something is opened or renamed."""
    place, found = tmp_path / "folder" / "one.json", set()

    def look(event, arguments):
        if event in {"open", "os.rename"} and looking and place.exists():
            found.add(place.stat().st_size)

    def refused(source, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    looking = [True]
    sys.addaudithook(look)
    files.add(place, "whole")
    looking.clear()
    assert place.read_text() == "whole"
    assert found <= {len("whole")}


def test_what_vanishes_while_a_folder_is_looked_at_is_not_there(files, tmp_path, monkeypatch):
    for name in ("goes", "stays"):
        (tmp_path / "env" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "env" / name).touch()
    look = os.scandir

    class Late(list):
        def __enter__(self):
            (tmp_path / "env" / "goes").unlink()
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(os, "scandir", lambda folder: Late(look(folder)))
    assert list(files.snapshot(tmp_path / "env")) == ["stays"]


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_of_many_that_add_a_file_at_once_one_does(files, tmp_path, monkeypatch, links):
    def refused(source, target):
        raise PermissionError

    if not links:
        monkeypatch.setattr(os, "link", refused)
    ready, done = threading.Barrier(8), []

    def add(number):
        ready.wait()
        with contextlib.suppress(FileExistsError):
            files.add(tmp_path / "folder" / "result.json", f"{number}", durable=False)
            done.append(number)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [files.read(tmp_path / "folder" / "result.json")] == [str(number) for number in done]
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["result.json"]
