"""A probe in an env without its library reports that, and exits 0."""

import json
import subprocess
import sys

import pytest

from envmgr.backends import backend_for, names
from envmgr.backends.keras import PROBE
from envmgr.model.env import DeviceListing
from envmgr.model.outcome import Phase

pytestmark = pytest.mark.integration

PROBES = {name: backend_for(name).probe for name in names()} | {"keras": PROBE}


def ask(probe, folder, request, python=sys.executable, **variables):
    (folder / "in.json").write_text(json.dumps(request))
    command = [python, "-I", probe, "--request", folder / "in.json", "--report", folder / "out.json"]
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done, DeviceListing.model_validate_json((folder / "out.json").read_text())


@pytest.mark.parametrize("name", sorted(PROBES))
def test_a_missing_library_is_a_report(name, tmp_path):
    done, listing = ask(PROBES[name], tmp_path, {"device": None})
    assert done.returncode == 0, done.stderr
    assert (listing.backend, listing.devices) == (name, ())
    assert listing.error.startswith("ModuleNotFoundError: No module named")
    assert listing.error_phase is Phase.IMPORT
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["in.json", "out.json"]


def test_a_configuration_of_plaidml_that_is_not_there_is_told(tmp_path):
    missing = str(tmp_path / "no.json")
    _, listing = ask(PROBES["plaidml"], tmp_path, {"device": None}, PLAIDML_EXPERIMENTAL_CONFIG=missing)
    assert listing.error == f"RuntimeError: PLAIDML_EXPERIMENTAL_CONFIG names {missing}, and there is no such file"
    assert listing.error_phase is Phase.BACKEND


def test_without_a_request_a_probe_says_how_it_is_called(tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", PROBES["torch"]], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "--request" in done.stderr
