"""The bar of downloads, from what the network brings."""

import pytest

from envmgr.cli.bar import Bar

MIB = 1 << 20


class World:
    seconds, bytes = 100.0, 7 * MIB


@pytest.fixture
def bar():
    return Bar(lambda: World.seconds, lambda: World.bytes)


def after(monkeypatch, seconds, mib):
    monkeypatch.setattr(World, "seconds", 100.0 + seconds)
    monkeypatch.setattr(World, "bytes", (7 + mib) * MIB)


def test_one_large_download_moves_before_it_ends(bar, monkeypatch):
    bar.note("one", {"done": "0", "whole": str(24 * MIB)})
    assert bar.shown() == "[------------] 0 of 24 MiB"
    after(monkeypatch, 4, 8)
    assert bar.shown() == "[####--------] 8 of 24 MiB, about 8 s left"


def test_what_has_ended_counts_at_least_and_nothing_is_more_than_all(bar, monkeypatch):
    bar.note("one", {"done": "0", "whole": str(10 * MIB)})
    bar.note("two", {"done": str(15 * MIB), "whole": str(20 * MIB)})
    after(monkeypatch, 10, 3)
    assert bar.shown() == "[######------] 15 of 30 MiB, about 10 s left"
    after(monkeypatch, 20, 90)
    assert bar.shown() == "[############] 30 of 30 MiB"


def test_long_times_are_minutes_and_the_end_is_nothing(bar, monkeypatch):
    bar.note("one", {"done": "0", "whole": str(100 * MIB)})
    after(monkeypatch, 10, 1)
    assert bar.shown().endswith("about 16 min left")
    bar.note("one", {})
    assert bar.shown() == ""
