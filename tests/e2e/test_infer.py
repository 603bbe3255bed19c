"""From a script to a manifest over an index of tiny wheels: no network, real environments."""

import json
import socket

import pytest

from .conftest import THIS_PYTHON

pytestmark = [pytest.mark.integration, pytest.mark.indexes, pytest.mark.timeout(300)]


@pytest.fixture
def infer(project):
    def run(script, *words, name="old.py", exit_code=0):
        project.write(name, script)
        code, answer = project.json("infer", name, "--python", THIS_PYTHON, *words)
        assert code == exit_code, answer["error"]
        return answer["error"] or answer["data"]["infer"]

    return run


def api(**names):
    return "".join(f"{name} = {value}\n" for name, value in names.items())


def test_a_script_gets_a_manifest_a_lock_and_a_proof(infer, project):
    found = infer("import demo\nprint(demo.ANSWER)\n")
    assert found["requirements"] == ["demo==2.0"]
    assert found["resolved"] == {"base": "1.5", "demo": "2.0"}
    assert found["proof"]["resolved"] == ["demo.ANSWER"]
    assert found["proof"]["locked"]
    text = (project.root / "manifests" / "old.toml").read_text()
    assert 'requirements = ["demo==2.0"]' in text
    assert project.run("build", "old").returncode == 0
    assert project.run("lock", "old", "--check").returncode == 0
    kept = (project.root / "manifests" / "proofs" / "old.json").read_text()
    proof = json.loads(kept)
    assert proof["proof"] == found["proof"]
    assert [str(project.root / each) for each in proof["written"]] == found["written"]
    assert str(project.root) not in kept


def test_a_proof_names_no_folder_of_this_machine(infer, index, project):
    index.add("careless", "1.0", {"careless.py": "from demo import NEVER\n"})
    infer("import demo\ndef later():\n    import careless\n")
    kept = (project.root / "manifests" / "proofs" / "old.json").read_text()
    (missing,) = json.loads(kept)["proof"]["missing"]
    assert "cannot import name 'NEVER' from 'demo' ({venv}" in missing["why"]
    assert str(project.root.parent) not in kept


def test_a_manifest_that_is_there_is_never_overwritten(infer, project):
    error = infer("import demo\n", "--name", "one", exit_code=2)
    assert "is there already" in error["what"]


def test_the_nearest_release_in_which_every_used_name_exists(infer, index):
    for minor in range(1, 9):
        names = {"kept": 1, **({"lost": 1} if minor < 6 else {}), **({"gained": 1} if minor > 2 else {})}
        index.add("shifting", f"1.{minor}", {"shifting.py": api(**names)})
    found = infer("import shifting\nshifting.kept, shifting.lost, shifting.gained\n")
    assert found["requirements"] == ["shifting==1.5"]
    assert any("shifting.lost" in line for line in found["why"])


def test_what_a_library_imports_and_does_not_require_is_added(infer, index):
    index.add("careless", "1.0", {"careless.py": "import hidden\nNAME = hidden.VALUE\n"})
    index.add("hidden", "0.3", {"hidden.py": "VALUE = 1\n"})
    found = infer("from careless import NAME\n")
    assert found["requirements"] == ["careless==1.0", "hidden==0.3"]


def test_what_a_name_needs_that_stands_behind_a_guarded_import_is_added(infer, index):
    package = {
        "pictures/__init__.py": "try:\n    from .files import *\nexcept ImportError:\n    pass\n",
        "pictures/files.py": "import painter\n\n\ndef imread():\n    return painter\n",
    }
    index.add("pictures", "1.0", package)
    index.add("painter", "1.0", {"painter.py": ""})
    found = infer("from pictures import imread\n")
    assert found["requirements"] == ["pictures==1.0", "painter==1.0"]


def test_what_no_index_has_is_told_and_the_rest_is_found(infer):
    found = infer("import demo\nimport of_an_application\nof_an_application.go()\n")
    assert found["proof"]["passed"]
    assert {module["module"]: module["kind"] for module in found["modules"]} == {
        "demo": "distribution",
        "of_an_application": "unreachable",
    }


def test_what_only_a_folder_of_this_host_has_is_locked_for_this_host(infer, index, project, tmp_path):
    index.add("only-here", "1.0+local", {"only_here.py": api(NAME=1)})
    folder = (tmp_path / "index" / "only-here").rename(tmp_path / "wheels-of-this-host")
    project.environment["PIP_FIND_LINKS"] = str(folder)
    found = infer("import only_here\nonly_here.NAME\n")
    assert found["requirements"] == ["only-here==1.0+local"]
    assert found["proof"]["locked"]
    assert any("only this host's settings" in line for line in found["why"])
    assert not (project.root / "manifests" / "locks").exists()


def test_an_optional_import_neither_fails_nor_keeps_the_rest_from_being_built(infer, index):
    index.add("greedy", "1.0", {"greedy.py": ""}, ["demo<1"])
    found = infer("import demo\ntry:\n    import greedy\nexcept ImportError:\n    greedy = None\n")
    assert found["requirements"] == ["demo==2.0"]
    assert any(line.startswith("greedy is not there") for line in found["open"])


def test_what_no_index_has_and_the_script_can_do_without_stops_nothing(infer):
    found = infer("try:\n    import of_an_application as json\nexcept ImportError:\n    import json\njson.dumps\n")
    assert found["proof"]["passed"]
    assert found["requirements"] == []


def test_a_distribution_that_does_not_install_what_it_is_named_for_is_unreachable(infer, index):
    index.add("misnamed", "1.0", {"something_else.py": ""})
    found = infer("import demo\nimport misnamed\n")
    assert found["proof"]["passed"]
    assert [line.split(":")[0] for line in found["unreachable"]] == ["misnamed"]


def test_a_name_that_no_release_has_leaves_the_nearest_and_is_told(infer):
    found = infer("import demo\ndemo.ANSWER, demo.never_there\n", "--budget", "40s", exit_code=1)
    assert not found["proof"]["passed"]
    assert found["requirements"] == ["demo==2.0"]
    assert [line.split(":")[0] for line in found["unreachable"]] == ["demo.never_there"]


def test_pins_beside_the_script_are_kept(infer, project):
    project.write("requirements.txt", "demo==1.0\n")
    found = infer("import demo\n")
    assert found["requirements"] == ["demo==1.0"]
    assert found["clocks"][0]["says"] == "demo==1.0"


def test_a_script_is_run_only_when_asked_and_where_it_cannot_harm(infer, project):
    script = "import demo, pathlib\npathlib.Path('made').write_text('x')\nprint(pathlib.Path('data').read_text())\n"
    project.write("data", "text")
    assert not infer(script, "--name", "first")["proof"]["ran"]
    ran = infer(script, "--name", "second", "--run")["proof"]["ran"]
    assert ran.startswith("old.py ran to its end")
    assert not (project.root / "made").exists()
    ran = infer("raise ValueError('no good')\n", "--name", "third", "--run")["proof"]["ran"]
    assert ran.startswith("old.py ended with: ValueError: no good")


def test_a_run_that_never_ends_is_ended_with_what_it_started(infer):
    script = (
        "import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', 'while True: pass'])\ntime.sleep(600)\n"
    )
    assert infer(script, "--run", "--time-limit", "2s")["proof"]["ran"].startswith("old.py ran for 2 s and was ended")


def test_a_run_has_no_network_where_the_system_can_see_to_that(infer):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ran = infer(f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)\n", "--run")["proof"]["ran"]
    if "with the network" in ran:
        pytest.skip("this system does not let the network be taken away")
    assert ran.startswith("old.py ended with: ")
    assert ran.endswith("(without a network)")


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("print 'x'\n", "old.py is Python 2"),
        ("import urllib2\n", "old.py is Python 2"),
        ("import nowhere_at_all\n", "nothing that old.py imports can be had"),
        ("def (:\n", "old.py is no Python that is known here"),
    ],
)
def test_what_cannot_be_resolved_is_told_clearly(infer, script, says):
    error = infer(script, exit_code=3)
    assert error["what"] == says
    assert error["why"]
    assert error["hint"]


def test_wrong_uses_are_told(infer, project):
    assert infer("import demo\n", "--date", "yesterday", exit_code=2)["what"] == "--date yesterday is no day"
    code, answer = project.json("infer", "nowhere.py")
    assert (code, answer["error"]["code"]) == (2, "usage")


def test_a_library_that_is_nothing_without_a_backend_gets_its_default_one_at_once(infer, index):
    index.add("keras", "2.0", {"keras.py": "import tensorflow\nlayers = tensorflow.layers\n"})
    index.add("tensorflow", "1.0", {"tensorflow.py": "layers = 1\n"})
    found = infer("import keras\nkeras.layers\n")
    assert sorted(found["requirements"]) == ["keras==2.0", "tensorflow==1.0"]
    assert len(found["experiments"]) == 1
