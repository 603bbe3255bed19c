"""Ten scripts, one of a kind each, written for these tests: an environment is found with real releases."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.network, pytest.mark.timeout(900)]


@pytest.fixture
def infer(tmp_path):
    def run(files, *words, exit_code=0):
        folder = tmp_path / "folder"
        for name, text in {**files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / "home").mkdir(exist_ok=True)
        cache = os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))
        environment = {**os.environ, "HOME": str(tmp_path / "home"), "UV_CACHE_DIR": cache}
        environment |= {"PYENV_ROOT": os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))}
        argv = [Path(sys.executable).with_name("envmgr"), "infer", next(iter(files)), "--json", *words]
        done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == exit_code, done.stderr
        told = json.loads(done.stdout)
        if exit_code:
            return told["error"]
        found = told["data"]["infer"]
        assert found["proof"]["passed"], found["unreachable"]
        assert found["proof"]["locked"]
        for written in found["written"]:
            assert Path(written).exists()
        return found

    return run


def version(found, name):
    return tuple(int(part) for part in found["resolved"][name].split(".")[:2])


def test_calls_of_keras_1(infer):
    found = infer({"net.py": "from keras.layers import Convolution2D, Merge\nfrom keras.utils import np_utils\n"})
    assert version(found, "keras") < (2, 2)
    assert any(origin["module"] == "keras" and origin["distribution"] == "keras" for origin in found["modules"])


def test_placeholders_of_tensorflow_1(infer):
    found = infer({"net.py": "import tensorflow as tf\nx = tf.placeholder(tf.float32)\n"})
    assert version(found, next(name for name in found["resolved"] if name in {"tensorflow", "tensorflow-cpu"})) < (2, 0)


def test_cross_validation_of_scikit_learn(infer):
    found = infer({"fit.py": "from sklearn.cross_validation import train_test_split\n"})
    assert version(found, "scikit-learn") < (0, 20)


def test_imread_of_scipy_needs_pillow_besides(infer):
    found = infer({"image.py": "from scipy.misc import imread\nimread('x.png')\n"})
    assert version(found, "scipy") < (1, 3)
    assert "pillow" in found["resolved"]


def test_float_of_numpy(infer):
    found = infer({"sum.py": "import numpy as np\nprint(np.float(3), np.linalg.norm([1]))\n"}, "--run")
    assert version(found, "numpy") < (1, 24)
    assert "ran to its end" in found["proof"]["ran"]


def test_a_renamed_distribution(infer):
    found = infer({"page.py": "import yaml\nfrom bs4 import BeautifulSoup\n"})
    assert {"pyyaml", "beautifulsoup4"} <= set(found["resolved"])


def test_a_missing_backport(infer):
    script = (
        "try:\n    import configparser\nexcept ImportError:\n    import ConfigParser as configparser\n"
        "import mock\nfrom collections import Iterable\n"
    )
    found = infer({"old.py": script})
    assert set(found["resolved"]) >= {"mock"}
    assert "configparser" not in found["resolved"]
    assert tuple(int(part) for part in found["python"].split(".")) <= (3, 9)


def test_a_plug_in_of_an_application_is_told(infer):
    found = infer({"tool.py": "import sublime_plugin\nimport requests\nrequests.get\n"})
    kinds = {origin["module"]: origin["kind"] for origin in found["modules"]}
    assert kinds == {"sublime_plugin": "unreachable", "requests": "distribution"}
    assert any(line.startswith("sublime_plugin:") for line in found["unreachable"])


def test_a_module_of_the_authors_own_is_read_too(infer):
    files = {"main.py": "import helper\nhelper.go()\n", "helper.py": "import six\n\n\ndef go():\n    six.moves\n"}
    found = infer(files)
    assert {origin["module"]: origin["kind"] for origin in found["modules"]} == {
        "helper": "local",
        "six": "distribution",
    }


def test_a_notebook_with_its_kernel_and_what_it_installs(infer):
    cells = [
        {"cell_type": "code", "source": ["%matplotlib inline\n", "!pip install numpy==1.16.4\n"]},
        {"cell_type": "code", "source": ["import numpy as np\n", "np.float"]},
    ]
    metadata = {"language_info": {"name": "python", "version": "3.7.3"}}
    found = infer({"book.ipynb": json.dumps({"nbformat": 4, "cells": cells, "metadata": metadata})})
    assert found["resolved"]["numpy"] == "1.16.4"
    assert {clock["kind"] for clock in found["clocks"]} >= {"pin", "notebook"}


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("import os\nprint os.getcwd()\n", "is Python 2"),
        ("import urllib2\nurllib2.urlopen\n", "is Python 2"),
        ("import idaapi_of_no_index\n", "can be had"),
        ("import (\n", "no Python"),
    ],
)
def test_what_cannot_be_resolved_is_told_clearly(infer, script, says):
    error = infer({"lost.py": script}, exit_code=3)
    assert says in error["what"]
    assert error["why"]
    assert error["hint"]
