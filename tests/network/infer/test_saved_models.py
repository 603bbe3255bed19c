"""What models and pickles tell that Keras and scikit-learn of their time really write, and what infer makes of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

from envmgr.infer.saved import of_saved
from envmgr.system.files import RealFiles

pytestmark = [pytest.mark.network, pytest.mark.timeout(900)]

WRITES = """
import pickle
from keras.layers import Dense, Lambda
from keras.models import Sequential
from sklearn.externals import joblib
from sklearn.linear_model import LogisticRegression

model = Sequential([Dense(4, input_shape=(3,)), Lambda(lambda x: x * 2)])
model.compile("sgd", "mse")
model.save("whole/model.h5")
model.save_weights("weights.h5")
fitted = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
for protocol in (0, 2, 4):
    with open("fitted-%d.pkl" % protocol, "wb") as file:
        pickle.dump(fitted, file, protocol)
joblib.dump(fitted, "fitted.joblib")
"""
WRITERS = ("keras==2.2.4", "tensorflow==1.13.1", "h5py<3", "scikit-learn==0.19.1", "scipy")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder in which libraries of 2019 on Python 3.6 have saved their models."""
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    python = next(iter(sorted(versions.glob("3.6.*/bin/python"))), None)
    if python is None:
        pytest.skip("there is no Python 3.6 here")
    folder = tmp_path_factory.mktemp("saved")
    venv = folder / "venv"
    (folder / "whole").mkdir()
    install = ("pip", "install", "-q", "-p", venv / "bin" / "python", "--exclude-newer", "2019-06-01", *WRITERS)
    for argv in (("venv", "-q", "-p", python, venv), install):
        subprocess.run([find_uv_bin(), *argv], check=True, capture_output=True)
    subprocess.run([venv / "bin" / "python", "-c", WRITES], cwd=folder, check=True, capture_output=True)
    return folder


def said(path, tmp_path):
    return [clock.says for clock in of_saved(path.name, RealFiles(tmp_path).read(path) or "")]


def test_a_model_tells_its_keras_its_backend_and_the_pythons_of_its_lambda(saved, tmp_path):
    told = said(saved / "whole" / "model.h5", tmp_path)
    assert told[:2] == ["keras_version 2.2.4", "backend tensorflow"]
    assert told[2].startswith("a Lambda layer, saved by Python 3.7 or older")
    assert said(saved / "weights.h5", tmp_path) == ["keras_version 2.2.4", "backend tensorflow"]


@pytest.mark.parametrize("name", ["fitted-0.pkl", "fitted-2.pkl", "fitted-4.pkl", "fitted.joblib"])
def test_a_pickle_of_any_protocol_tells_its_scikit_learn(saved, tmp_path, name):
    assert said(saved / name, tmp_path) == ["scikit-learn 0.19.1"]


def test_the_model_beside_a_script_sets_the_day(saved, tmp_path):
    script = saved / "whole" / "predict.py"
    script.write_text("from keras.models import load_model\nload_model\n")
    environment = {
        **os.environ,
        "ENVMGR_CACHE_DIR": str(tmp_path / "cache"),
        "ENVMGR_STATE_DIR": str(tmp_path / "state"),
    }
    argv = [Path(sys.executable).with_name("envmgr"), "infer", script.name, "--json"]
    done = subprocess.run(argv, cwd=script.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["data"]["infer"]
    assert found["clocks"][0]["kind"] == "model"
    assert found["resolved"]["keras"] == "2.2.4"
    assert any(line.endswith("read only by the Python minor that saved it") for line in found["open"])
