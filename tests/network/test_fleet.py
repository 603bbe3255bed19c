"""One matrix over three hosts, PlaidML really measured on the one that is real; the two others are planted."""

import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from envmgr.api import facts as facts_of_this_machine

ROOT = Path(__file__).resolve().parents[2]
E2E = ROOT / "tests" / "e2e"
PLAIDML = "plaidml-0.7.0"

pytestmark = [
    pytest.mark.network,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="the outcomes of Linux x86-64"),
]


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"fleet_{name}", E2E / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path):
    """A project with the shipped PlaidML set, and two sets for the planted hosts from an index on disk."""
    world = loaded("conftest")
    index = world.Index(tmp_path / "index")
    index.add("torch", "2.9", {"torch.py": loaded("test_fleet").TORCH})
    (tmp_path / "project").mkdir()
    made = world.Project(tmp_path / "project", index)
    for name in ("UV_DEFAULT_INDEX", "PIP_CONFIG_FILE", "UV_CACHE_DIR"):
        made.environment.pop(name)
    made.environment |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_"))}
    real = Path.home()
    made.environment |= {
        "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR") or str(real / ".cache" / "uv"),
        "PYENV_ROOT": os.environ.get("PYENV_ROOT") or str(real / ".pyenv"),
    }
    shutil.copy(ROOT / "manifests" / f"{PLAIDML}.toml", made.root / "manifests")
    shutil.copytree(ROOT / "manifests" / "locks" / PLAIDML, made.root / "manifests" / "locks" / PLAIDML)
    own_index = f'[[index]]\nname = "own"\nurl = "{index.url}"\npackages = ["torch"]\n'
    torch = {"requirements": ["torch==2.9"], "backend": "torch", "runners": ["answer"], "tables": own_index}
    made.manifest("on-metal", python="==3.11.*", platforms=["macos-arm64"], **torch)
    made.manifest("on-cuda", python="==3.12.*", platforms=["linux-x86_64"], device="cuda", **torch)
    made.write("runners/answer.py", world.RUNNER.replace("needs-device = false", "needs-device = true"))
    made.write("manifests/matrices/quick.toml", MATRIX)
    return made


MATRIX = f"""\
schema = 1
name = "quick"
effort = "quick"
manifests = ["{PLAIDML}", "on-metal", "on-cuda"]
timeout = 180
[[entry]]
runner = "keras_inference"
parameters = {{ model = "mobilenet", batch-size = 8, batches = 1 }}
[[entry]]
runner = "device_smoke"
manifests = ["{PLAIDML}"]
parameters = {{ size = 256, repeats = 3 }}
[[entry]]
runner = "answer"
manifests = ["on-metal"]
devices = ["mps"]
[[entry]]
runner = "answer"
manifests = ["on-cuda"]
devices = ["cuda"]
"""


def planted(tmp_path, name):
    """Write the facts of another machine, which has no Python that PlaidML could run on."""
    facts = json.loads((ROOT / "tests" / "hosts" / f"{name}.json").read_text())
    facts["interpreters"] = [one for one in facts["interpreters"] if not one["version"].startswith("3.8")]
    facts["fetchable_pythons"] = []
    place = tmp_path / f"{name}.json"
    place.write_text(json.dumps(facts))
    return str(place)


def test_each_cell_of_one_matrix_is_measured_at_its_host_and_plaidml_really(project, tmp_path):
    if not any(one.minor == "3.8" and one.arch == "x86_64" for one in facts_of_this_machine().interpreters):
        pytest.skip("wants a Python 3.8 on this machine: a host of a fleet fetches none")
    module = loaded("test_fleet")
    fleet = module.Fleet(project)
    try:
        for name, facts, device in (("m1", "m1-arm64-py38", "mps"), ("rack", "linux-cuda", "cuda")):
            stand_in = module.stand_in(tmp_path, name, device)
            fleet.worker(name, "--facts", planted(tmp_path, facts), "--stand-in", stand_in)
        fleet.worker("real")
        fleet.wait(3)
        with project.start("matrix", "run", "--fleet", fleet.address, "--json") as run:
            stdout, stderr = run.communicate(timeout=800)
        shown = project.run("matrix", "show", "--wide").stdout
    finally:
        fleet.end()
    assert run.returncode == 0, stderr + stdout[-3000:]
    cells = json.loads(stdout)["data"]["cells"]
    found = {cell["name"]: cell for cell in cells}
    assert all(word in shown for word in ("m1", "rack", "real"))
    assert (found["on-metal/answer/mps"]["host"], found["on-metal/answer/mps"]["outcome"]) == ("m1", "passed")
    assert (found["on-cuda/answer/cuda"]["host"], found["on-cuda/answer/cuda"]["outcome"]) == ("rack", "passed")
    for runner in ("keras_inference", "device_smoke"):
        cell = found[f"{PLAIDML}@py3.8/{runner}/llvm_cpu.0"]
        assert (cell["host"], cell["outcome"], cell["resolved"]["plaidml"]) == ("real", "passed", "0.7.0")
        assert cell["samples"][0]
        assert cell["device"]["api"] == "llvm"
    assert not [cell["name"] for cell in cells if cell["host"] in {"m1", "rack"} and cell["manifest"] == PLAIDML]
