"""Whether linked files are what their wheel says, and what is remembered of it."""

import base64
import hashlib
import os

import pytest

from envmgr.env.linked import trust
from envmgr.system.files import RealFiles

SITE = "lib/python3.8/site-packages"
GOOD = "ANSWER = 42\n"


def recorded(text):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


class Linked:
    """An env with one distribution, whose module is the name of a file in a cache."""

    def __init__(self, folder):
        self.files = RealFiles(folder / "scratch")
        self.env, self.cache, self.known = folder / "env", folder / "cache.py", folder / "known"
        self.module = self.env / SITE / "demo.py"
        self.info = self.env / SITE / "demo_kit-1.0.dist-info"
        self.info.mkdir(parents=True)
        self.put(GOOD)
        self.record(f"demo.py,{recorded(GOOD)},12\n")

    def record(self, text):
        (self.info / "RECORD").write_text(text)

    def put(self, text):
        """Bring the module anew, as an inode of its own."""
        fresh = self.cache.with_suffix(".fresh")
        fresh.write_text(text)
        fresh.replace(self.cache)
        self.module.unlink(missing_ok=True)
        self.module.hardlink_to(self.cache)

    def look(self, before=None):
        return trust(self.env, self.snapshot(), self.known, self.files, before)

    def snapshot(self):
        return self.files.snapshot(self.env)


@pytest.fixture
def linked(tmp_path):
    return Linked(tmp_path)


def test_a_sound_file_is_hashed_once(linked, monkeypatch):
    assert linked.look() == linked.look()
    assert linked.look().damaged == ()
    monkeypatch.setattr(RealFiles, "digest", lambda *_: "never asked")
    assert linked.look().damaged == ()


@pytest.mark.parametrize("seen_before", [False, True])
def test_a_changed_file_names_its_distribution(linked, seen_before):
    if seen_before:
        linked.look()
    linked.cache.write_text("ANSWER = 666\n")
    assert linked.look().damaged == ("demo-kit",)


def test_other_rights_are_a_change_and_another_time_is_none(linked):
    linked.look()
    os.utime(linked.cache, ns=(5, 5))
    assert linked.look().damaged == ()
    linked.cache.chmod(0o777)
    assert linked.look().damaged == ("demo-kit",)


def test_what_is_new_and_still_other_than_its_record_was_released_so(linked):
    linked.record(f"demo.py,{recorded('something else')},12\n")
    before = linked.snapshot()
    assert linked.look().damaged == ("demo-kit",)
    assert linked.look(before).damaged == ("demo-kit",), "the same file once more proves nothing"
    linked.put(GOOD)
    assert linked.look(before).damaged == ()
    assert linked.look().damaged == (), "that is remembered"


def test_a_path_that_is_recorded_twice_may_have_either_digest(linked):
    linked.record(f"demo.py,{recorded(GOOD)},12\ndemo.py,{recorded('other')},5\n")
    assert linked.look().damaged == ()


def test_two_distributions_may_claim_a_file_and_one_is_right(linked):
    other = linked.env / SITE / "other-2.0.dist-info"
    other.mkdir()
    (other / "RECORD").write_text(f"demo.py,{recorded('mine')},4\n")
    assert linked.look().damaged == ()


def test_files_of_no_digest_are_told_apart(linked):
    linked.record("demo.py,,\n")
    assert linked.look().unclaimed == (f"{SITE}/demo.py",)


def test_what_is_remembered_may_be_rubbish(linked):
    linked.look()
    (kept,) = linked.known.iterdir()
    kept.write_text("{")
    assert linked.look().damaged == ()
