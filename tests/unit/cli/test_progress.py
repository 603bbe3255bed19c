"""The last line that tells what is running."""

import io

import pytest

from envmgr.cli.lines import is_live
from envmgr.cli.progress import LiveListener, PlainListener, running
from envmgr.ports import Event


def test_the_last_line_never_wraps():
    now = ["keras-2.2.4-tensorflow-1.13 17 s", "keras-tensorflow 10 s", "keras-jax 9 s"]
    assert len(running(now, 80)) == 79
    assert "keras-jax 9 s" in running(now, 120)


def test_in_a_narrow_terminal_the_bar_is_what_is_left():
    told = running(["one 3 s (0 of 1 downloads, 0 of 24 MiB)"], 40, "[####--------] 8 of 24 MiB, about 8 s left")
    assert told == "[####--------] 8 of 24 MiB, about 8 s l"
    assert running(["one 3 s"], 100, "[----] 0 of 9 MiB") == "          [----] 0 of 9 MiB; running: one 3 s"


def test_what_is_fetched_stands_in_the_last_line_alone(capsys):
    live = LiveListener()
    live.on_event(Event("install", "one", "2 distributions"))
    live.on_event(Event("fetch", "one", "1 of 2 downloads, 16 of 50 MiB, about 4 s left"))
    assert live.now() == ["one 0 s (1 of 2 downloads, 16 of 50 MiB, about 4 s left)"]
    live.on_event(Event("install", "one", "everything is fetched"))
    assert live.now() == ["one 0 s"]
    live.close()
    assert "16 of 50 MiB" not in capsys.readouterr().err


def test_where_there_is_no_terminal_each_step_is_a_line(capsys):
    PlainListener().on_event(Event("fetch", "one", "0 of 1 downloads, 0 of 16 MiB"))
    assert capsys.readouterr().err.split("s  ")[1] == "fetch one 0 of 1 downloads, 0 of 16 MiB\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "variables", "live"),
    [
        (Terminal(), {"TERM": "xterm"}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (Terminal(), {"TERM": "xterm", "CI": "true"}, False),
        (io.StringIO(), {"TERM": "xterm"}, False),
    ],
)
def test_a_line_is_taken_back_only_where_somebody_looks_at_a_terminal_that_can(stream, variables, live, monkeypatch):
    for name in ("TERM", "CI"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert is_live(stream) is live


def test_nothing_is_wiped_out_that_is_not_the_last_line(capsys):
    live = LiveListener()
    live.on_event(Event("built", "one"))
    live.on_terminal_taken()
    live.close()
    assert "\x1b" not in capsys.readouterr().err
