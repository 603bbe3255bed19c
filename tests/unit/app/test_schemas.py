"""Schemas say what is accepted and what is printed, and editors have the same ones."""

import json
import tomllib
from datetime import date
from pathlib import Path

import jsonschema
import pytest
import typer.main

from envmgr.app.initiating import schema_text
from envmgr.app.outputs import OUTPUTS
from envmgr.app.schemas import schema_of
from envmgr.cli.application import application
from envmgr.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = sorted((ROOT / "manifests").glob("*.toml"))
MATRICES = sorted((ROOT / "manifests" / "matrices").glob("*.toml"))


def as_json(path_or_text):
    text = path_or_text.read_text() if isinstance(path_or_text, Path) else path_or_text
    plain = json.dumps(
        tomllib.loads(text), default=lambda value: value.isoformat() if isinstance(value, date) else None
    )
    return json.loads(plain)


@pytest.fixture(scope="module")
def manifest():
    return jsonschema.Draft202012Validator(schema_of("manifest"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_manifest_is_accepted_and_names_its_schema(path, manifest):
    assert [error.message for error in manifest.iter_errors(as_json(path))] == []
    line = path.read_text().splitlines()[0]
    assert (path.parent / line.removeprefix("#:schema ")).is_file()


@pytest.mark.parametrize("path", MATRICES, ids=lambda path: path.stem)
def test_every_shipped_matrix_is_accepted_and_names_its_schema(path):
    errors = jsonschema.Draft202012Validator(schema_of("matrix")).iter_errors(as_json(path))
    assert [error.message for error in errors] == []
    assert (path.parent / path.read_text().splitlines()[0].removeprefix("#:schema ")).is_file()


@pytest.mark.parametrize("name", ["manifest", "matrix"])
def test_the_shipped_schema_is_that_of_the_code(name):
    assert (ROOT / "manifests" / "schemas" / f"{name}.json").read_text() == schema_text(name)


@pytest.mark.parametrize("command", ["manifest", "matrix", "output", *OUTPUTS])
def test_every_schema_is_one(command):
    jsonschema.Draft202012Validator.check_schema(schema_of(command))


def test_every_command_has_its_shape_and_every_shape_its_command():
    def names(group, before=()):
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from names(command, (*before, name))
            elif not command.hidden:
                yield " ".join((*before, name))

    assert set(names(typer.main.get_command(application()))) == set(OUTPUTS)


def test_numbers_that_are_not_finite_are_named():
    envelope = {"schema": 1, "command": "diagnose", "data": {"finding": None}, "error": None}
    jsonschema.validate(envelope, schema_of("diagnose"))
    assert {"enum": ["nan", "inf", "-inf"]} in schema_of("matrix show")["$defs"]["ParityFigures"]["properties"][
        "max_abs"
    ]["anyOf"]


def test_an_unknown_schema_is_an_error_with_a_suggestion():
    with pytest.raises(UsageError) as caught:
        schema_of("manifesto")
    assert "'manifest'" in caught.value.why
