"""`--timings` and `--quiet` belong to every command, wherever in the line they stand."""

import pytest
import typer.main

from envmgr.cli import run
from envmgr.cli.application import application

SMALLEST = {
    "init": [], "list": [], "show": ["nowhere"], "path": ["nowhere"], "doctor": ["--host", "nowhere"],
    "lock": ["nowhere"], "build": ["nowhere"], "verify": ["nowhere"], "devices": ["nowhere"],
    "run": ["nowhere", "--", "true", "--timings"], "shell": ["nowhere"],
    "diagnose": ["nowhere", "--probe", "pass"], "bisect": ["nowhere", "--date", "--good", "a", "--bad", "b"],
    "diff": ["a", "b"], "infer": ["nowhere.py"], "clean": ["--dry-run"], "schema": ["nowhere"],
    "export": ["nowhere"], "import": ["nowhere"], "bug-report": ["nowhere"],
    "matrix plan": ["nowhere"], "matrix run": ["nowhere"], "matrix show": ["nowhere"], "matrix logs": ["nowhere"],
    "matrix compare": ["nowhere", "nowhere"], "matrix report": ["nowhere"], "matrix import": ["nowhere"],
    "matrix watch": ["nowhere"], "python list": [], "python install": ["nonsense"], "kernel install": ["nowhere"],
    "kernel list": [], "kernel remove": ["nowhere"], "kernel start": ["nowhere", "x"],
    "fleet up": ["--address", "nonsense"], "fleet worker": ["nonsense"],
}  # fmt: skip
"""The shortest line of each command: most name what is not there, and end at once."""


def names(group, before=()):
    for name, command in group.commands.items():
        yield from names(command, (*before, name)) if hasattr(command, "commands") else [" ".join((*before, name))]


@pytest.fixture
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "ENVMGR_CACHE_DIR", "ENVMGR_STATE_DIR"):
        monkeypatch.setenv(name, str(tmp_path))


def test_every_command_has_its_line():
    assert set(names(typer.main.get_command(application()))) == set(SMALLEST)


@pytest.mark.parametrize("name", sorted(SMALLEST))
def test_each_command_accounts_for_its_time(name, in_an_empty_folder, capsys):
    words, rest = name.split(), SMALLEST[name]
    run([*words, "--timings", *rest])
    told = capsys.readouterr().err
    assert "start of the interpreter" in told, told
    assert "envmgr itself" in told


def test_a_quiet_command_still_tells_its_error(in_an_empty_folder, capsys):
    assert run(["--quiet", "build", "nowhere"]) == 2
    assert capsys.readouterr().err.startswith("error: there is no manifest")


@pytest.mark.parametrize(
    ("word", "hints"),
    [
        ("compare", ["envmgr matrix compare"]),
        ("install", ["envmgr python install", "envmgr kernel install"]),
        ("nonsense", ["envmgr --help"]),
    ],
)
def test_a_command_of_a_group_is_told_where_it_is_looked_for_alone(word, hints, capsys):
    assert run([word]) == 2
    told = [line.removeprefix("  try: ") for line in capsys.readouterr().err.splitlines() if line.startswith("  try: ")]
    assert told == hints


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["export", "one", "--to", "pylok"], "pylock"),
        (["matrix", "run", "--effort", "qick"], "quick"),
    ],
)
def test_the_value_that_is_meant_is_told(line, meant, in_an_empty_folder, capsys):
    assert run(line) == 2
    told = capsys.readouterr().err
    assert f"did you mean '{meant}'?" in told
    assert "Value error" not in told


@pytest.mark.integration
def test_a_cache_that_cannot_be_written_stops_nobody_who_only_looks(in_an_empty_folder, tmp_path, monkeypatch, capsys):
    """As with a read-only disk; a file in its place is the same for root, too."""
    cache = tmp_path / "file"
    cache.write_text("")
    monkeypatch.setenv("ENVMGR_CACHE_DIR", str(cache / "cache"))
    assert run(["list"]) == 0
    assert run(["show", "torch-cpu"]) == 0
    capsys.readouterr()
    assert run(["run", "torch-cpu", "--", "true"]) == 3
    told = capsys.readouterr().err
    assert f"error: {cache}" in told
    assert "ENVMGR_CACHE_DIR" in told


def test_what_cannot_be_written_elsewhere_is_told_by_its_own_name(in_an_empty_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ENVMGR_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "file").write_text("")
    assert run(["schema", "manifest", "--output", "file/schema.json"]) == 3
    told = capsys.readouterr().err
    assert "ENVMGR_CACHE_DIR" not in told
    assert ".part" not in told
