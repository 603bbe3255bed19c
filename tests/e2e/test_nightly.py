"""The matrix of a nightly beside a release, against an index on loopback that lives, drops what is old, and dies."""

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from .conftest import Index

pytestmark = [pytest.mark.integration, pytest.mark.indexes]


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and keeps what was asked for."""

    def log_message(self, *arguments):
        self.server.asked.append(self.path)


@pytest.fixture
def dated(project, tmp_path):
    """An index of dated wheels on loopback, which the manifest `nightly` follows beside the release `one`."""
    index = Index(tmp_path / "dated")
    index.folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(index.folder)))
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    index.server = server
    index.address = f"http://127.0.0.1:{server.server_port}"
    table = f'[[index]]\nname = "dated"\nurl = "{index.address}"\npackages = ["demo"]\n'
    project.manifest("nightly", requirements=["demo>=3.0.dev0", "base"], floating=True, tables=table)
    project.matrix("nightly", manifests=["nightly", "one"], reference=["one"], entries=[{"answer": 42}])
    yield index
    server.shutdown()
    server.server_close()


def add(index, day, answer=42):
    version = f"3.0.dev202611{day:02}+cpu"
    index.add("demo", version, {"demo.py": f"__version__ = {version!r}\nANSWER = {answer}\n"})
    return version


def cells_of(answer):
    return {cell["manifest"]: cell for cell in answer["data"]["cells"]}


def test_a_living_index_is_resolved_at_each_build_and_its_result_recorded(project, dated):
    old = add(dated, 1)
    code, answer = project.json("matrix", "run", "nightly")
    assert (code, cells_of(answer)["nightly"]["resolved"]) == (0, {"base": "1.5", "demo": old}), answer
    new = add(dated, 2)
    code, answer = project.json("matrix", "run", "nightly")
    assert (code, cells_of(answer)["nightly"]["resolved"]["demo"]) == (0, new)
    assert list((project.root / "manifests").glob("locks/nightly/*")) == []
    assert f"the last time to base 1.5, demo {new}" in project.run("lock", "--check", "nightly").stdout


def test_a_nightly_whose_numbers_changed_is_wrong_beside_the_release(project, dated):
    add(dated, 1, answer=44)
    project.matrix("nightly", manifests=["nightly", "one"], reference=["one"], entries=[{"answer": 44}, {"answer": 42}])
    code, answer = project.json("matrix", "run", "nightly")
    assert code == 1
    assert {(cell["manifest"], cell["outcome"]) for cell in answer["data"]["cells"]} == {
        ("nightly", "passed"),
        ("nightly", "wrong"),
        ("one", "passed"),
        ("one", "wrong"),
    }


def test_a_dead_index_is_one_clear_error_and_the_release_is_measured(project, dated):
    add(dated, 1)
    dated.server.shutdown()
    dated.server.server_close()
    code, answer = project.json("matrix", "run", "nightly")
    cells = cells_of(answer)
    assert (code, cells["one"]["outcome"]) == (1, "passed")
    assert (cells["nightly"]["outcome"], cells["nightly"]["phase"]) == ("build-failed", "resolve")
    assert "the index 'dated' does not answer" in cells["nightly"]["reason"]


def test_a_build_that_its_index_dropped_comes_back_from_the_run(project, dated):
    old = add(dated, 1)
    code, answer = project.json("matrix", "run", "nightly")
    run, cell = answer["data"]["run"]["id"], cells_of(answer)["nightly"]["id"]
    for wheel in (dated.folder / "demo").glob("*.whl"):
        wheel.unlink()
    new = add(dated, 9, answer=0)
    for name in ("cache", "uv-cache"):
        shutil.rmtree(project.root.parent / name)
    assert cells_of(project.json("matrix", "run", "nightly")[1])["nightly"]["resolved"]["demo"] == new
    code, answer = project.json("build", "--from-run", f"{run}#{cell}")
    assert (code, answer["data"]["builds"][0]["resolved"]["demo"]) == (0, old), answer


def test_a_build_that_was_not_kept_and_has_left_its_index_is_gone(project, dated):
    add(dated, 1)
    code, answer = project.json("matrix", "run", "nightly")
    run, cell = answer["data"]["run"]["id"], cells_of(answer)["nightly"]["id"]
    for wheel in (dated.folder / "demo").glob("*.whl"):
        wheel.unlink()
    add(dated, 9)
    for place in (project.root.parent / "cache", project.root.parent / "uv-cache", project.root / ".envmgr" / "kept"):
        shutil.rmtree(place)
    code, answer = project.json("build", "--from-run", f"{run}#{cell}")
    failure = answer["data"]["builds"][0]["failure"]
    assert code == 3
    assert "gone from the index since 20" in failure["why"], failure
    assert f"in run {run}" in failure["why"]
    assert "vendored copy: no" in failure["why"]
