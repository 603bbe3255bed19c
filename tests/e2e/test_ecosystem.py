"""At home among other tools: exports and back, schemas, completion, kernels, bug reports."""

import contextlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from envmgr.app.schemas import schema_of

pytestmark = pytest.mark.integration


def test_an_export_comes_back_as_the_same_versions(project):
    project.run("build", "one")
    for form, file in (
        ("requirements", "requirements.txt"), ("conda", "environment.yml"), ("pylock", "pylock.toml"),
    ):  # fmt: skip
        assert project.run("export", "one", "--to", form, "--output", file).returncode == 0
        back = project.run("init", "--from", file, "--name", f"from-{form}")
        assert back.returncode == 0, back.stderr
        text = (project.root / "manifests" / f"from-{form}.toml").read_text()
        assert tomllib.loads(text)["requirements"] == ["base==1.5", "demo==1.0"], form
    code, answer = project.json("build", "from-requirements")
    assert (code, answer["data"]["builds"][0]["resolved"]) == (0, {"base": "1.5", "demo": "1.0"})


def test_an_exported_requirements_file_is_pips_own(project, tmp_path):
    project.run("lock", "one")
    project.run("export", "one", "--output", "requirements.txt")
    text = (project.root / "requirements.txt").read_text()
    assert text.count("--hash=sha256:") == 2
    target = tmp_path / "target"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--target", target]
    command += ["--index-url", project.index.url, "-r", "requirements.txt"]
    subprocess.run(command, cwd=project.root, check=True, env=project.environment)
    assert (target / "demo.py").is_file()


def test_an_exported_pylock_has_addresses_of_what_the_lock_admits(project):
    project.run("lock", "one")
    done = project.run("export", "one", "--to", "pylock")
    assert done.returncode == 0, done.stderr
    packages = {entry["name"]: entry for entry in tomllib.loads(done.stdout)["packages"]}
    assert packages["demo"]["version"] == "1.0"
    locked = next((project.root / "manifests" / "locks" / "one").iterdir()).read_text()
    for entry in packages.values():
        assert all(wheel["hashes"]["sha256"] in locked and "url" in wheel for wheel in entry["wheels"])


def test_what_is_not_locked_cannot_be_exported(project):
    done = project.run("export", "one")
    assert done.returncode == 3
    assert "envmgr lock one --platform" in done.stderr
    assert project.run("export", "one", "--platform", "beos").returncode == 2


def test_json_outputs_are_as_their_schemas_say(project):
    project.matrix(manifests=["one"])
    project.run("matrix", "run")
    for arguments in (
        ("build", "one"),
        ("verify", "one"),
        ("show", "one"),
        ("lock", "--check"),
        ("matrix", "show"),
        ("path", "nowhere"),
    ):
        _, answer = project.json(*arguments)
        jsonschema.validate(answer, schema_of(answer["command"]))


@pytest.mark.parametrize("line", [(), ("frobnicate",), ("matrix",), ("matrix", "frobnicate"), ("list", "--wrong")])
def test_a_line_that_names_no_command_is_answered_as_the_schema_of_all_says(project, line):
    code, answer = project.json(*line)
    assert (code, answer["error"]["code"]) == (2, "usage")
    jsonschema.validate(answer, schema_of("output"))


def test_nothing_but_the_envelope_is_on_stdout_with_json(project):
    project.matrix(manifests=["one"])
    project.run("matrix", "run")
    code, answer = project.json("matrix", "report", "--markdown", "-")
    assert (code, answer["error"]["why"]) == (2, "wanted one of them there; found --markdown -")
    code, answer = project.json("matrix", "report", "--markdown", "report.md")
    assert (code, answer["data"]["written"]) == (0, ["report.md"])


def test_schema_is_printed_and_written(project):
    done = project.run("schema", "matrix", "run")
    assert done.returncode == 0
    assert json.loads(done.stdout)["properties"]["command"] == {"const": "matrix run"}
    assert project.run("schema", "--output", "s.json").returncode == 0
    assert json.loads((project.root / "s.json").read_text())["title"] == "A version set of envmgr"
    assert project.run("schema", "nonsense").returncode == 2


def completed(project, words, number):
    done = project.run(
        _ENVMGR_COMPLETE="complete_bash", _TYPER_COMPLETE_ARGS=" ".join(words), COMP_WORDS=" ".join(words),
        COMP_CWORD=str(number),
    )  # fmt: skip
    return done.stdout.split()


def test_tab_completes_names_variants_and_matrices(project):
    project.manifest("two", tables='[variants]\npython = ["3.11", "3.12"]\n', python=">=3.11,<3.13")
    project.matrix(manifests=["one"], name="nightly")
    assert completed(project, ["envmgr", "build", ""], 2) == ["one", "two"]
    assert completed(project, ["envmgr", "build", "t"], 2) == ["two"]
    assert completed(project, ["envmgr", "verify", "two@"], 2) == ["two@py3.11", "two@py3.12"]
    assert "nightly" in completed(project, ["envmgr", "matrix", "run", "n"], 3)


def test_a_runner_of_ours_is_a_script_for_uv(repository, project):
    probe = repository / "runners" / "import_probe.py"
    command = ["uv", "run", "--offline", "--no-project", "--python", sys.executable, probe, "--modules", "json,decimal"]
    environment = {**project.environment, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=project.root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "module decimal" in done.stdout


LAUNCH = """\
import os, sys
def launch_new_instance():
    import demo, json
    print(sys.argv, demo.ANSWER, os.environ["HOME"], os.environ["JPY_PARENT_PID"] == str(os.getppid()), json.__file__)
"""


def started(kernel, project):
    """Start a kernel as Jupyter does, from a folder with a file that is called like one of the standard library."""
    argv = [word.replace("{connection_file}", "connection.json") for word in kernel["argv"]]
    folder = project.write("../notebooks/json.py", "raise SystemExit('hidden')\n").parent
    environment = {**project.environment, "JPY_PARENT_PID": str(os.getpid())}
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)


PLAIN = """\
# /// script
# dependencies = ["demo"]
# ///
import argparse
import sys

import demo

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=1)
parser.add_argument("--names", nargs="*", default=[])
parser.add_argument("--how", default="well")
asked = parser.parse_args()
print("size", asked.size, asked.names, demo.ANSWER, __name__)
if asked.how == "badly":
    raise ValueError("too bad")
if asked.how == "lacking":
    import nowhere
sys.exit(3 if asked.how == "status" else None)
"""


def test_any_script_of_pep_723_is_a_runner(project):
    project.write("runners/plain.py", PLAIN)
    project.manifest("one", runners=["plain"])
    entries = [{"runner": "plain", "parameters": {"size": 7, "names": ["a", "b c"]}}]
    entries += [{"runner": "plain", "parameters": {"how": how}} for how in ("badly", "lacking", "status")]
    inline = "".join(
        f"[[entry]]\nrunner = {json.dumps(each['runner'])}\n[entry.parameters]\n"
        + "".join(f"{key} = {json.dumps(value)}\n" for key, value in each["parameters"].items())
        for each in entries
    )
    project.write(
        "manifests/matrices/quick.toml",
        f'schema = 1\nname = "quick"\nmanifests = ["one"]\neffort = "quick"\n{inline}',
    )
    code, answer = project.json("matrix", "run")
    told = [(cell["outcome"], cell["phase"], cell["reason"]) for cell in answer["data"]["cells"]]
    assert (code, told) == (1, [
        ("passed", None, ""),
        ("failed", "run", "ValueError: too bad"),
        ("failed", "import", "ModuleNotFoundError: No module named 'nowhere'"),
        ("failed", "run", "SystemExit: exit status 3"),
    ])  # fmt: skip
    first = answer["data"]["cells"][0]
    assert first["first_call"] > 0
    assert first["resolved"]["demo"] == "1.0"
    assert "size 7 ['a', 'b c'] 42 __main__" in project.run("matrix", "logs", first["id"]).stdout


def test_a_kernel_starts_in_its_environment_and_leaves_it_as_it_was(project):
    project.index.add("ipykernel", "6.0", {"ipykernel/__init__.py": "", "ipykernel/kernelapp.py": LAUNCH}, ["base"])
    code, answer = project.json("kernel", "install", "one")
    assert code == 0, answer
    kernel = json.loads((Path(answer["data"]["path"]) / "kernel.json").read_text())
    assert kernel["display_name"] == "one (envmgr)"
    assert Path(answer["data"]["path"]).is_relative_to(project.home)
    done = started(kernel, project)
    assert "['-c', '-f', 'connection.json'] 42" in done.stdout, done.stderr
    assert (" True " in done.stdout) == (sys.platform != "win32"), "it ends with Jupyter, whose child it is"
    assert str(project.home) + "'" not in done.stdout
    assert "notebooks" not in done.stdout, "a file of the notebook's folder hides nothing"
    _, after = project.json("build", "one")
    assert after["data"]["builds"][0]["resolved"] == {"base": "1.5", "demo": "1.0"}
    _, checked = project.json("verify", "one", "--deep")
    assert all(check["passed"] for check in checked["data"]["checks"])


def test_a_kernel_goes_on_working_when_its_environment_is_built_anew_and_can_be_removed(project):
    project.index.add("ipykernel", "6.0", {"ipykernel/__init__.py": "", "ipykernel/kernelapp.py": LAUNCH}, ["base"])
    _, answer = project.json("kernel", "install", "one")
    kernel = json.loads((Path(answer["data"]["path"]) / "kernel.json").read_text())
    project.run("clean", "--yes")
    assert " 42 " in started(kernel, project).stdout
    project.manifest("one", requirements=["demo==2.0"])
    told = started(kernel, project)
    assert (told.returncode, told.stdout) == (3, "")
    assert "envmgr lock one" in told.stderr
    project.run("lock", "one")
    assert " 43 " in started(kernel, project).stdout

    assert [each["label"] for each in project.json("kernel", "list")[1]["data"]["kernels"]] == ["one"]
    wrong = project.run("kernel", "remove", "on")
    assert (wrong.returncode, "did you mean 'one'?" in wrong.stderr) == (2, True)
    assert project.run("kernel", "remove", "one").returncode == 0
    assert not Path(answer["data"]["path"]).exists()
    assert project.json("kernel", "list")[1]["data"]["kernels"] == []


def test_version_sets_of_one_name_in_two_projects_have_a_kernel_each(project):
    project.index.add("ipykernel", "6.0", {"ipykernel/__init__.py": "", "ipykernel/kernelapp.py": LAUNCH}, ["base"])
    other = project.root.parent / "other"
    (other / "manifests").mkdir(parents=True)
    (other / "manifests" / "one.toml").write_text(
        (project.root / "manifests" / "one.toml").read_text().replace('runners = ["answer"]\n', "")
    )
    first = project.json("kernel", "install", "one")[1]["data"]
    second = project.json("kernel", "install", "one", "--project", str(other))[1]["data"]
    again = project.json("kernel", "install", "one", "--project", str(other))[1]["data"]
    assert (first["display_name"], second["display_name"]) == ("one (envmgr)", "one (envmgr, other)")
    assert first["path"] != second["path"] == again["path"]
    project.run("kernel", "remove", "one", "--project", str(other))
    assert Path(first["path"]).exists()
    assert not Path(second["path"]).exists()


def test_a_kernel_that_cannot_be_says_what_is_missing(project):
    done = project.run("kernel", "install", "one")
    assert done.returncode == 3
    assert "it has no ipykernel" in done.stderr
    assert 'try: give the manifest of one "ipykernel" among its requirements' in done.stderr


def test_a_bug_report_tells_tools_settings_and_variables_without_what_is_private(project):
    project.write("runners/answer.py", (project.root / "runners" / "answer.py").read_text().replace(
        "import demo\n", "print('sent netrcpassword9 to ann-of-netrc as opensesame!')\n"
        "print('aGk=', 'YW5uLW9mLW5ldHJjOm5ldHJjcGFzc3dvcmQ5', 'p%40ssw0rd', '10.0.0.17', 'git@forge:team/x.git')\nimport gone\n"
    ))  # fmt: skip
    project.matrix(manifests=["one"])
    project.run("matrix", "run")
    (project.home / ".netrc").write_text("machine wheels.example.org login ann-of-netrc password netrcpassword9\n")
    configuration = project.write(
        "../pip.conf",
        "[global]\nextra-index-url = https://ann:p%40ssw0rd@more.example.org/3f9Kd02LmQxV77aZ/simple?key=q1w2e3\n",
    )
    given = {
        "PIP_CONFIG_FILE": str(configuration), "UV_DEFAULT_INDEX": "https://ann:hunter22@own.example.org/simple",
        "UV_INDEX_MORE_USERNAME": "ann.of.uv", "UV_INDEX_MORE_PASSWORD": "uvpassword1",
        "HTTPS_PROXY": "http://me:proxypw77@proxy.example.org:8080", "MY_TOKEN": "opensesame!",
        "PLAIDML_DEVICE_IDS": "llvm_cpu.0", "PYTHONPATH": str(project.home / "lib"), "USER": "annette",
    }  # fmt: skip
    code, answer = project.json("bug-report", "one", **given)
    assert code == 0, answer
    text = answer["data"]["text"]
    for told in (
        f"| runs on | cpython {sys.version.split()[0]} (", "| uv | ", "| envmgr | ", "pydantic ",
        "| index | https://own.example.org/simple (from UV_DEFAULT_INDEX) |",
        "| further indexes | https://more.example.org/***/simple (from ", "| proxy for https | http://proxy.example.org:8080",
        "| passwords | for the hosts that it names (from ~/.netrc) |", "| PLAIDML_DEVICE_IDS | llvm_cpu.0 |",
        "| PYTHONPATH | ~/lib |", "| UV_INDEX_MORE_PASSWORD | (not shown) |", "sent *** to *** as ***",
    ):  # fmt: skip
        assert told in text, told
    for private in (
        "p%40ssw0rd", "p@ssw0rd", "3f9Kd02LmQxV77aZ", "q1w2e3", "hunter22", "annette", "ann-of", "ann.of", "uvpassword1", "proxypw77", "opensesame",
        "netrcpassword9", str(project.home), str(project.root), "YW5uLW9m", "10.0.0.17", "git@forge",
    ):  # fmt: skip
        assert private not in text, private


def test_a_bug_report_says_what_a_maintainer_needs_and_nothing_private(project):
    project.write("runners/answer.py", (project.root / "runners" / "answer.py").read_text().replace(
        "import demo\n", "print('mail ann@example.org'); print('API_TOKEN=s3cr3t', os.path.abspath(report))\nimport gone\n"
    ))  # fmt: skip
    project.matrix(manifests=["one"])
    project.run("matrix", "run")
    done = project.run("bug-report", "one", USER="annette")
    assert done.returncode == 0, done.stderr
    text = done.stdout
    for word in ("envmgr build one", "envmgr matrix run -e one", "demo==1.0", 'name = "one"', "sha256:", "gone"):
        assert word in text, word
    for private in (str(project.home), "s3cr3t", "ann@example.org", str(project.root)):
        assert private not in text, private


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of its own, as POSIX has it")
def test_a_shell_shows_where_one_is_and_gives_its_exit_code(project):
    import pty

    project.run("build", "one")
    main, side = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "envmgr", "shell", "one"], cwd=project.root, stdin=side, stdout=side, stderr=side,
        env={**project.environment, "SHELL": "/bin/bash", "TERM": "xterm"}, start_new_session=True,
    ) as shell:  # fmt: skip
        os.close(side)
        os.write(main, b'python -c "import demo; print(demo.ANSWER + 1)"\nexit 7\n')
        shown = b""
        with contextlib.suppress(OSError):
            while block := os.read(main, 4096):
                shown += block
        assert shell.wait(timeout=60) == 7
    assert b"(one) " in shown
    assert b"43" in shown
