"""The last line that tells what is running."""

from envmgr.cli.progress import running


def test_the_last_line_never_wraps():
    now = ["keras-2.2.4-tensorflow-1.13 17 s", "keras-tensorflow 10 s", "keras-jax 9 s"]
    assert len(running(now, 80)) == 79
    assert "keras-jax 9 s" in running(now, 120)
