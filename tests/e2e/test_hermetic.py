"""A cell sees none of its caller: the same report in a hostile environment as in a clean one."""

import sys

import pytest

pytestmark = pytest.mark.integration

RUNNER = """\
# /// script
# requires-python = ">=3.6"
#
# [tool.envmgr]
# needs-device = false
# ///
import json, os, site, sys

request = json.load(open(sys.argv[sys.argv.index("--request") + 1]))
seen = {
    "path": sys.path, "flags": str(sys.flags), "user site": site.ENABLE_USER_SITE, "prefix": sys.prefix,
    "argv": len(sys.argv), "modules": sorted(name for name in sys.modules if "planted" in name or "customize" in name),
    "environment": dict(os.environ), "folder": os.listdir("."), "umask": os.umask(0o22),
    "home": sorted(os.listdir(os.path.expanduser("~"))), "encoding": sys.stdout.encoding,
    "settings": [os.path.exists(os.path.expanduser(name)) for name in ("~/.keras", "~/.plaidml", "~/.pip", "~/.config")],
}
own = {os.environ["HOME"]: "{home}", os.getcwd(): "{folder}"}
text = json.dumps(seen, sort_keys=True)
for folder, name in own.items():
    text = text.replace(folder, name)
json.dump({"protocol": 1, "cell": request["cell"], "status": "ok", "notes": [text]},
          open(sys.argv[sys.argv.index("--report") + 1], "w"))
"""


def plant(project):
    """Fill the caller's home with everything that ever decided what a program did; return hostile variables."""
    files = {
        ".keras/keras.json": '{"backend": "theano"}',
        ".plaidml": "{}",
        ".config/pip/pip.conf": "[global]\nuser = true\n",
        ".config/matplotlib/matplotlibrc": "backend: planted\n",
        ".pdbrc": "planted",
        "modules/sitecustomize.py": "import sys; sys.modules['planted'] = sys\n",
        "modules/json.py": "raise ImportError('planted')\n",
        "venv/pyvenv.cfg": "home = /nowhere\n",
    }
    user_site = f".local/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    files[f"{user_site}/usercustomize.py"] = "import sys; sys.modules['planted_by_user'] = sys\n"
    files[f"{user_site}/planted.pth"] = "import sys; sys.modules['planted_by_pth'] = sys\n"
    for name, text in files.items():
        path = project.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    home = str(project.home)
    return {
        "PYTHONPATH": f"{home}/modules",
        "PYTHONSTARTUP": f"{home}/modules/json.py",
        "PYTHONHASHSEED": "1",
        "PYTHONOPTIMIZE": "2",
        "PYTHONWARNINGS": "error",
        "PYTHONUSERBASE": f"{home}/.local",
        "PYTHONDEVMODE": "1",
        "PIP_INDEX_URL": "https://nowhere.invalid/simple",
        "PIP_USER": "1",
        "VIRTUAL_ENV": f"{home}/venv",
        "CONDA_PREFIX": f"{home}/venv",
        "CONDA_DEFAULT_ENV": "planted",
        "KERAS_BACKEND": "theano",
        "PLAIDML_DEVICE_IDS": "planted.0",
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "CUDA_HOME": "/nowhere",
        "MPLBACKEND": "planted",
        "XDG_CONFIG_DIRS": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local",
        "AWS_SECRET_ACCESS_KEY": "planted",
        "GITHUB_TOKEN": "planted",
        "SSH_AUTH_SOCK": "/planted",
        "HF_TOKEN": "planted",
        "NETRC": f"{home}/planted",
    }


def test_a_hostile_caller_changes_nothing_in_a_cells_report(project):
    project.write("runners/answer.py", RUNNER)
    project.matrix(manifests=["one"])
    clean = project.json("matrix", "run")
    hostile = plant(project)
    code, answer = project.json("matrix", "run", **hostile)
    assert (clean[0], code) == (0, 0)
    (before,), (after,) = (run["data"]["cells"][0]["notes"] for run in (clean[1], answer))
    assert after == before
    assert "planted" not in after
    assert "invalid" not in after
