"""A few of the worlds of `benchmarks/unseen_worlds.py`, with the fix applied by hand; the script makes hundreds."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
PYTHON = f"3.{sys.version_info.minor}"
NUMBERS = {0: "removed name", 4: "shared file", 17: "extra", 20: "variable"}

pytestmark = [pytest.mark.integration, pytest.mark.indexes]


@pytest.fixture(scope="module")
def unseen():
    """The generator and the judge, as the script imports them."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from unseen import judge, shelf, worlds
    finally:
        sys.path.remove(str(BENCHMARKS))
    return worlds, judge, shelf


@pytest.fixture(scope="module")
def bench(unseen, tmp_path_factory):
    """Return the worlds of one seed by number, and a judge of them."""
    worlds, judge, shelf = unseen
    room = tmp_path_factory.mktemp("unseen")
    with shelf.served(room / "index") as address:
        wanted = {**NUMBERS, 8: "build tool"}
        cases = [worlds.world(room / "index", 1, number, (PYTHON,), kind) for number, kind in wanted.items()]
        command = [sys.executable, "-P", "-m", "envmgr"]
        yield cases, judge.Judge(address, room / "cache", {PYTHON: sys.executable}, command, 100)


@pytest.mark.parametrize("at", range(len(NUMBERS)), ids=list(NUMBERS.values()))
def test_an_unseen_world_is_explained_and_mended(bench, at):
    cases, judge = bench
    assert judge.honest(cases[at]) == ""
    row = judge.judge(cases[at])
    assert row["cause"], row["words"]
    assert row["fix"], row["words"]
    assert not row["false"]


def test_a_mended_world_gets_no_finding(bench, unseen):
    cases, judge = bench
    sound = unseen[0].mended(cases[0])
    assert judge.honest(sound) == ""
    assert judge.judge(sound)["finding"] is None


def test_a_fix_that_is_applied_to_the_manifest_builds_and_passes(bench, tmp_path):
    cases, judge = bench
    passes, words = judge.applied(cases[-1], tmp_path)
    assert passes, words
