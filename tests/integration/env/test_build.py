"""An env is built at its final place, once, with what the lock admits and nothing else."""

import json
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from envmgr.env.accepted import MARKER
from envmgr.env.build import build, find_built
from envmgr.env.content import SourceBuilds
from envmgr.errors import BuildError

pytestmark = pytest.mark.integration


def run_python(built, code, **options):
    done = subprocess.run([built.python, "-c", code], capture_output=True, text=True, check=True, **options)
    assert done.stderr == ""
    return done.stdout.strip()


def test_a_second_build_starts_no_process(wheelhouse, tools, ask, each_interpreter):
    request = ask(wheelhouse.wheel("alpha", "1.0"), wheelhouse.wheel("beta", "2.0"), python=each_interpreter)
    env = build(request, tools)
    assert env.resolved == {"alpha": "1.0", "beta": "2.0"}
    assert env.path == str(request.places.envs / request.key)
    tools.process.requests.clear()
    assert build(request, tools) == env
    assert tools.process.requests == []


def test_an_env_starts_silently_and_sees_neither_user_nor_system_packages(
    wheelhouse, tools, ask, each_interpreter, tmp_path
):
    env = build(ask(wheelhouse.wheel("alpha", "1.0"), python=each_interpreter), tools)
    seen = json.loads(run_python(env, "import json, sys; print(json.dumps(sys.path[1:]))", env={"HOME": str(tmp_path)}))
    packages = [place for place in seen if place.endswith(("site-packages", "dist-packages"))]
    assert [Path(place).parents[2] for place in packages] == [Path(env.path)]
    assert list(Path(packages[0]).glob("_virtualenv*")) == []


def test_the_same_env_asked_for_by_another_manifest_is_the_same_folder(wheelhouse, tools, ask):
    request = ask(wheelhouse.wheel("alpha", "1.0"))
    env = build(request, tools)
    other = request.model_copy(update={"manifest": "another", "variant": "py3.8"})
    found = find_built(other, tools.files)
    assert (found.path, found.manifest, found.variant) == (env.path, "another", "py3.8")


def test_an_unmarked_folder_is_rubbish(wheelhouse, tools, ask):
    request = ask(wheelhouse.wheel("alpha", "1.0"))
    env = build(request, tools)
    rubbish = Path(env.path) / "rubbish.txt"
    rubbish.write_text("left by an interrupted build")
    (Path(env.path) / MARKER).unlink()
    assert find_built(request, tools.files) is None
    build(request, tools)
    assert not rubbish.exists()


@pytest.mark.parametrize("text", ["", "{", '{"schema": 99}'])
def test_a_damaged_marker_is_no_marker(wheelhouse, tools, ask, text):
    request = ask(wheelhouse.wheel("alpha", "1.0"))
    env = build(request, tools)
    (Path(env.path) / MARKER).write_text(text)
    assert find_built(request, tools.files) is None
    assert build(request, tools).resolved == env.resolved


def test_an_env_whose_interpreter_is_gone_is_built_again(wheelhouse, tools, ask):
    request = ask(wheelhouse.wheel("alpha", "1.0"))
    env = build(request, tools)
    shutil.rmtree(Path(env.python).parent)
    assert find_built(request, tools.files) is None


def test_a_failed_build_leaves_no_marker_and_a_log(wheelhouse, tools, ask):
    line = wheelhouse.wheel("alpha", "1.0")
    wrong = line.split("sha256:")[0] + "sha256:" + "0" * 64 + "\n"
    request = ask(wrong)
    with pytest.raises(BuildError) as caught:
        build(request, tools)
    assert "alpha==1.0" in caught.value.what
    assert "wanted sha256:0000" in caught.value.why
    assert caught.value.phase == "download"
    assert not (request.folder / MARKER).exists()
    assert "Hash mismatch" in (request.folder / "install.log").read_text()


def test_an_artefact_that_left_its_index_is_gone(wheelhouse, tools, ask):
    line = wheelhouse.wheel("alpha", "1.0")
    (wheelhouse.folder / "alpha-1.0-py3-none-any.whl").rename(wheelhouse.folder / "alpha-1.1-py3-none-any.whl")
    with pytest.raises(BuildError) as caught:
        build(ask(line), tools)
    assert (caught.value.gone, caught.value.phase) == (True, "download")
    assert "alpha" in caught.value.what


def test_many_threads_build_one_env_once(wheelhouse, tools, ask):
    request = ask(wheelhouse.wheel("alpha", "1.0"))
    start = threading.Barrier(4)

    def race(_):
        start.wait()
        return build(request, tools)

    with ThreadPoolExecutor(4) as pool:
        envs = list(pool.map(race, range(4)))
    assert len(set(map(repr, envs))) == 1
    installs = [each for each in tools.process.requests if each.argv[1:3] == ("pip", "install")]
    assert len(installs) == 1


def test_threads_build_different_envs_side_by_side(wheelhouse, tools, ask):
    requests = [ask(wheelhouse.wheel("alpha", f"1.{number}")) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        envs = list(pool.map(lambda request: build(request, tools), requests))
    assert [env.resolved for env in envs] == [{"alpha": f"1.{number}"} for number in range(4)]
    assert [run_python(env, "import alpha; print(alpha.version)") for env in envs] == ["1.0", "1.1", "1.2", "1.3"]


def test_a_source_distribution_is_built_for_the_named_ones_alone(wheelhouse, tools, ask):
    line = wheelhouse.source("gamma", "3.0")
    with pytest.raises(BuildError, match=r"gamma==3\.0 has no wheel"):
        build(ask(line), tools)
    env = build(ask(line, sources=SourceBuilds(names=("gamma",))), tools)
    assert run_python(env, "import gamma; print(gamma.built)") == "True"


def test_a_failing_source_build_names_distribution_and_last_lines(wheelhouse, tools, ask):
    line = wheelhouse.source("gamma", "3.0", build='raise SystemExit("no compiler here")')
    with pytest.raises(BuildError) as caught:
        build(ask(line, sources=SourceBuilds(names=("gamma",))), tools)
    assert caught.value.phase == "build"
    assert "gamma==3.0" in caught.value.what
    assert "no compiler here" in caught.value.why


def test_an_undeclared_build_requirement_comes_from_the_manifest_with_its_hash(wheelhouse, tools, ask):
    line = wheelhouse.source("gamma", "3.0", build="import delta")
    delta = wheelhouse.wheel("delta", "4.0")
    with pytest.raises(BuildError, match="delta"):
        build(ask(line, sources=SourceBuilds(names=("gamma",))), tools)
    sources = SourceBuilds(names=("gamma",), constraints=delta, requires={"gamma": ("delta",)})
    env = build(ask(line, sources=sources), tools)
    assert env.resolved == {"gamma": "3.0"}


def test_a_build_requirement_with_a_wrong_hash_is_refused(wheelhouse, tools, ask):
    line = wheelhouse.source("gamma", "3.0", requires=["delta"])
    wheelhouse.wheel("delta", "4.0")
    wrong = "delta==4.0 --hash=sha256:" + "0" * 64 + "\n"
    with pytest.raises(BuildError, match=r"delta==4\.0"):
        build(ask(line, sources=SourceBuilds(names=("gamma",), constraints=wrong)), tools)


def test_a_write_in_one_env_is_not_seen_in_the_next(wheelhouse, tools, ask):
    alpha = wheelhouse.wheel("alpha", "1.0")
    first = build(ask(alpha), tools)
    module = Path(run_python(first, "import alpha; print(alpha.__file__)"))
    with module.open("a") as stream:
        stream.write("version = 'meddled with'\n")
    second = build(ask(alpha, wheelhouse.wheel("beta", "1.0")), tools)
    assert run_python(second, "import alpha; print(alpha.version)") == "1.0"


def test_settings_of_the_caller_do_not_reach_the_installer(wheelhouse, tools, ask, tmp_path):
    (tmp_path / "uv.toml").write_text("offline = nonsense")
    caller = {"PATH": "", "UV_CONFIG_FILE": str(tmp_path / "uv.toml"), "UV_CONSTRAINT": str(tmp_path / "none.txt")}
    caller |= {"VIRTUALENV_SYSTEM_SITE_PACKAGES": "1", "PYTHONPATH": str(tmp_path)}
    env = build(ask(wheelhouse.wheel("alpha", "1.0"), caller=caller), tools)
    assert "include-system-site-packages = false" in (Path(env.path) / "pyvenv.cfg").read_text()


def test_a_python_that_does_not_start_is_told(wheelhouse, tools, ask, own_interpreter, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    request = ask(
        wheelhouse.wheel("alpha", "1.0"), python=own_interpreter.model_copy(update={"executable": str(broken)})
    )
    with pytest.raises(BuildError) as caught:
        build(request, tools)
    assert str(broken) in caught.value.what
    assert caught.value.phase == "interpreter"


def test_too_little_space_is_found_before_anything_is_fetched(wheelhouse, tools, ask):
    with pytest.raises(BuildError, match="not enough space"):
        build(ask(wheelhouse.wheel("alpha", "1.0"), expected_bytes=10**18), tools)
    assert tools.process.requests == []
