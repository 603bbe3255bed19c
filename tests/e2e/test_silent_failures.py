"""What installs and imports and is not what was asked for has a finding, whoever looks."""

import pytest

from .conftest import THIS_PYTHON

pytestmark = [pytest.mark.integration, pytest.mark.indexes]


@pytest.fixture
def apart(project, index):
    index.add("plaidml", "0.7.0", {"plaidml/__init__.py": "__version__ = '0.7.0'\n"})
    index.add("plaidml", "0.6.4", {"plaidml/__init__.py": "__version__ = '0.6.4'\n"})
    index.add("plaidml-keras", "0.6.4", {"plaidml_bridge.py": "import plaidml\n"}, ["plaidml"])
    project.manifest("apart", requirements=["plaidml-keras==0.6.4"])
    return project


def told(finding):
    return (finding["cause"]["kind"], finding["cause"]["name"], finding["confirmed"])


def test_build_and_verify_say_that_core_and_bridge_are_apart(apart):
    code, answer = apart.json("build", "apart")
    (build,) = answer["data"]["builds"]
    assert (code, told(build["finding"])) == (0, ("package", "plaidml", False))
    assert sorted(build["finding"]["fix"]["requirements"]) == ["plaidml-keras==0.6.4", "plaidml==0.6.4"]
    assert (
        "finding: package plaidml: plaidml 0.7.0 lies under plaidml-keras 0.6.4" in apart.run("build", "apart").stdout
    )
    code, answer = apart.json("verify", "apart")
    assert (code, told(answer["data"]["finding"])) == (1, ("package", "plaidml", False))


def test_diagnose_says_the_same_and_proves_it(apart):
    code, answer = apart.json("diagnose", "apart", "--probe", "import plaidml_bridge")
    assert (code, told(answer["data"]["finding"])) == (1, ("package", "plaidml", True))


def test_a_sound_env_has_none(project):
    code, answer = project.json("build", "one")
    assert (code, answer["data"]["builds"][0]["finding"]) == (0, None)
    assert project.json("verify", "one")[1]["data"]["finding"] is None
    assert project.json("diagnose", "one", "--probe", "import demo") == (
        0,
        {**answer, "command": "diagnose", "data": {"finding": None}},
    )


def test_a_build_for_processors_alone_where_a_card_was_asked_for(project, index):
    index.add("torch", "2.0+cpu", {"torch/__init__.py": "__version__ = '2.0+cpu'\n"})
    project.manifest("card", requirements=["torch==2.0+cpu"], backend="torch", device="cuda:0", runners=[])
    _, answer = project.json("build", "card")
    finding = answer["data"]["builds"][0]["finding"]
    assert told(finding) == ("package", "torch", False)
    assert "without cuda" in finding["cause"]["why"]
    assert project.json("diagnose", "card", "--probe", "import torch")[1]["data"]["finding"]["cause"]["name"] == "torch"


TORCH = """\
__version__ = "2.0+cpu"
class version:
    cuda = None
def device(name):
    raise RuntimeError("Expected one of cpu, cuda device type at start of device string: " + name)
def get_num_threads():
    return 1
"""


def test_a_set_whose_backend_has_no_such_device_is_told_though_its_probe_passes(project, index):
    index.add("torch", "2.0+cpu", {"torch/__init__.py": TORCH})
    options = ("--python", THIS_PYTHON, "--require", "torch", "--probe", "import torch")
    assert project.json("diagnose", *options)[1]["data"]["finding"] is None
    code, answer = project.json("diagnose", *options, "--device", "cuda:0")
    finding = answer["data"]["finding"]
    assert (code, told(finding)) == (1, ("package", "torch", False))
    assert finding["next"].endswith("--require torch --device cuda:0 --probe 'import torch'")
    assert project.json("diagnose", *options, "--device", "cpu")[1]["data"]["finding"] is None


def test_an_environment_of_ones_own_is_asked_for_the_device_too(project, index):
    index.add("torch", "2.0+cpu", {"torch/__init__.py": TORCH})
    project.manifest("own", requirements=["torch"], runners=[])
    assert project.run("build", "own").returncode == 0
    place = project.json("path", "own")[1]["data"]["path"]
    options = ("--from", place, "--probe", "import torch")
    code, answer = project.json("diagnose", *options, "--device", "cuda:0")
    assert (code, answer["error"], told(answer["data"]["finding"])) == (1, None, ("package", "torch", False))
    assert f"--from {place} --device cuda:0" in answer["data"]["finding"]["next"]
    assert project.json("diagnose", *options, "--device", "cpu")[1]["data"]["finding"] is None
