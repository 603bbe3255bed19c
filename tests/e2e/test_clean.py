"""What `clean` takes away, and what it leaves because somebody uses it."""

import time

import pytest

pytestmark = pytest.mark.integration


def envs(project):
    return [path for path in (project.root.parent / "cache" / "envs").iterdir() if path.is_dir()]


def test_an_env_in_use_stays_and_goes_when_it_is_free(project):
    project.matrix(manifests=["one"], entries=[{"behaviour": "slow"}])
    with project.start("matrix", "run") as process:
        deadline = time.monotonic() + 60
        while not list((project.root.parent / "cache" / "scratch").glob("cell.*")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        code, answer = project.json("clean", "--yes")
        assert (code, answer["error"]["code"]) == (4, "nothing-selected")
        assert "in use" in answer["error"]["why"]
        process.kill()
    (env,) = envs(project)
    code, answer = project.json("clean", "--yes")
    assert code == 0
    assert str(env) in [item["path"] for item in answer["data"]["items"]]
    assert envs(project) == []
    left = list((project.root.parent / "cache" / "scratch").iterdir())
    assert left == [], "what the killed run left is gone as well"
