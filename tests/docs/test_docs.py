"""Documentation says what is so: every command is one, what can run here runs, what is generated is fresh."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from envmgr import api
from envmgr.cli import run
from envmgr.cli.application import application
from envmgr.cli.examples import BEGIN, EXAMPLES
from envmgr.cli.summaries import SUMMARIES

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "runners" / "PROTOCOL.md"])
OFFLINE = "<!-- runs offline -->"
OWN = "<!-- runs offline, with envmgr's own manifests -->"


def generator():
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands(page, marker=""):
    """Yield the envmgr commands that a page shows, or those alone that stand under a marker."""
    marked = f"{re.escape(marker)}\n" if marker else ""
    for block in re.findall(rf"{marked}```console\n(.*?)```", page.read_text(), re.DOTALL):
        for line in re.sub(r"\\\n(?:> )?", " ", block).splitlines():
            found = re.match(r"\$ (?:\.venv/bin/)?envmgr (.*?)(?:\s{2,}#.*)?$", line)
            if found:
                yield shlex.split(found[1])


ALL = [(page, words) for page in PAGES for words in commands(page)]


EXAMPLE_LINES = [(Path("help.md"), shlex.split(line)[1:]) for lines in EXAMPLES.values() for line in lines]


@pytest.mark.parametrize(
    ("page", "words"), ALL + EXAMPLE_LINES, ids=lambda value: " ".join(value) if isinstance(value, list) else value.stem
)
def test_every_command_in_the_docs_is_one(page, words):
    command = typer.main.get_command(application())
    left = list(words)
    while hasattr(command, "commands"):
        name = left.pop(0)
        assert name in command.commands, f"{page.name}: {name}"
        command = command.commands[name]
    command.make_context("envmgr", left)


def test_the_reference_of_the_library_has_every_name_with_its_signature():
    page = generator().python_page()
    headings = re.findall(r"^## (\w+)$", page, re.MULTILINE)
    assert headings == api.__all__
    assert "def measure(\n    matrix: str = 'quick'," in page
    assert "    *,\n    effort: str | None = None," in page


@pytest.mark.integration
def test_what_runs_offline_runs(tmp_path, monkeypatch, capsys):
    """In this process, as a start of the interpreter for each of them would take longer than the commands."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "PYENV", "XDG_"))]:
        monkeypatch.delenv(name)
    settings = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "ENVMGR_CACHE_DIR": str(tmp_path / "cache")}
    for name, value in (settings | {"UV_OFFLINE": "1", "NO_COLOR": "1"}).items():
        monkeypatch.setenv(name, value)
    places = [(page, marker) for page in PAGES for marker in (OFFLINE, OWN)]
    for number, (page, marker) in enumerate(places):
        folder = tmp_path / str(number)
        shutil.copytree(ROOT / "tests" / "hosts", folder / "tests" / "hosts")
        (folder / "requirements.txt").write_text("numpy==2.1.0\n")
        monkeypatch.chdir(folder)
        for words in commands(page, marker):
            assert run(words) == 0, f"{page.name}: {words}\n{capsys.readouterr().err}"


def test_the_reference_of_manifests_is_that_of_the_code():
    made = generator()
    assert made.PAGE.read_text() == made.manifest_page(), "python docs/generate.py"


def test_the_reference_of_commands_has_every_command():
    page = generator().commands_page()
    for name in ("envmgr build", "envmgr matrix run", "envmgr kernel install"):
        assert f"## {name}\n" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists() or target.split("/")[-1] in {"commands.md", "python.md"}, target


@pytest.mark.integration
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "how-to" / "compare.html").is_file()


def test_every_command_has_examples():
    def names(group, before=()):
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from names(command, (*before, name))
            elif not command.hidden:
                yield " ".join((*before, name))

    assert set(names(typer.main.get_command(application()))) == set(EXAMPLES)


def test_what_a_list_says_of_a_command_is_never_cut(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def lists(command, words):
        yield words, command.get_help(command.make_context("envmgr", [], resilient_parsing=True))
        for name, inner in command.commands.items():
            if hasattr(inner, "commands"):
                yield from lists(inner, (*words, name))

    for words, text in lists(typer.main.get_command(application()), ()):
        assert "..." not in text.split("Commands:")[1], words
    assert set(SUMMARIES) <= set(EXAMPLES)


def test_the_help_of_all_says_how_to_begin():
    text = typer.main.get_command(application())
    page = text.get_help(text.make_context("envmgr", [], resilient_parsing=True))
    assert all(line in page for line in BEGIN)


def test_examples_stand_under_the_help_of_their_command():
    page = generator().commands_page()
    for name, lines in EXAMPLES.items():
        part = page.split(f"## envmgr {name}\n")[1].split("\n## ")[0]
        assert all(line in " ".join(part.split()) for line in lines), name
