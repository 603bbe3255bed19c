"""What an editor's check says of broken manifests and matrices: each fault at its key, and envmgr refuses each, too."""

import json
import re
import tomllib
from datetime import date

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envmgr.app.schemas import schema_of
from envmgr.backends import names
from envmgr.errors import ManifestError
from envmgr.manifest.check import check_manifest, check_matrix
from envmgr.manifest.read import parse_manifest, parse_matrix

RUNNERS = ("import_probe", "keras_inference")
GOOD = {
    "schema": "1",
    "name": '"a"',
    "python": '">=3.8"',
    "requirements": '["numpy>=1.20,<2"]',
}
MATRIX = {
    "schema": "1",
    "name": '"quick"',
    "manifests": '["a"]',
    "entry": '[{ runner = "import_probe" }]',
}


def written(good, changes, lines=""):
    """Return a file with some keys changed, added or (None) left out, and lines after them."""
    keys = {key: value for key, value in {**good, **changes}.items() if value is not None}
    return "".join(f"{key} = {value}\n" for key, value in keys.items()) + lines


def faults(what, text):
    """Return what a validator says: (path, message) of each fault, dates being texts as they are for editors."""
    plain = json.dumps(tomllib.loads(text), default=date.isoformat)
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = jsonschema.Draft202012Validator(schema_of(what), format_checker=checker)
    return [(list(error.absolute_path), error.message) for error in validator.iter_errors(json.loads(plain))]


def load_matrix(text):
    matrix = parse_matrix(text, "quick.toml")
    manifests = {"a": load(written(GOOD, {}))}
    check_matrix(matrix, text=text, source="quick.toml", runners=RUNNERS, manifests=manifests)


def load(text):
    manifest = parse_manifest(text, "a.toml")
    check_manifest(manifest, text=text, source="a.toml", runners=RUNNERS, backends=names())
    return manifest


BROKEN = {
    "a key that is nearly one": (
        {"requirments": '["numpy"]'}, "", [], "'requirments' was unexpected", "did you mean 'requirements'?",
    ),
    "a key of another file": (
        {"dependencies": '["numpy"]'}, "", [], "'dependencies' was unexpected", "unknown key",
    ),
    "a list that is a text": (
        {"requirements": '"numpy"'}, "", ["requirements"], "'numpy' is not of type 'array'", "wanted a list",
    ),
    "a runner alone": ({"runners": '"import_probe"'}, "", ["runners"], "not of type 'array'", "wanted a list"),
    "a runner that is a number": ({"runners": '["import_probe", 3]'}, "", ["runners", 1], "3 is not of type 'string'",
                                  "wanted a string"),
    "a version that is a number": ({"python": "3.8"}, "", ["python"], "3.8 is not of type 'string'", "wanted a string"),
    "a bare version of Python": ({"python": '"3.8"'}, "", ["python"], "'3.8' does not match", "not a PEP 440"),
    "Poetry's way to ask for a Python": ({"python": '"^3.8"'}, "", ["python"], "'^3.8' does not match", "not a PEP 440"),
    "no Python": ({"python": None}, "", [], "'python' is a required property", "python: this key is missing"),
    "no name": ({"name": None}, "", [], "'name' is a required property", "name: this key is missing"),
    "a name with a blank": ({"name": '"my set"'}, "", ["name"], "'my set' does not match", "bad value"),
    "no schema": ({"schema": None}, "", [], "'schema' is a required property", "the key 'schema' is missing"),
    "another schema": ({"schema": "2"}, "", ["schema"], "1 was expected", "written for a newer envmgr"),
    "one sign of equality": (
        {"requirements": '["keras", "numpy=1.20"]'}, "", ["requirements", 1], "'numpy=1.20' does not match",
        "not a PEP 508 requirement",
    ),
    "a version after a blank": (
        {"requirements": '["numpy 1.20"]'}, "", ["requirements", 0], "does not match", "not a PEP 508 requirement",
    ),
    "a requirement by address": (
        {"requirements": '["demo @ https://example.org/demo.whl"]'}, "", ["requirements", 0], "does not match",
        "asked for by URL",
    ),
    "an option of pip": (
        {"requirements": '["-r more.txt"]'}, "", ["requirements", 0], "does not match", "not a PEP 508 requirement",
    ),
    "nothing to install": ({"requirements": None}, "", [], "'requirements' is a required property", "nothing to install"),
    "requirements and steps": (
        {}, '[[step]]\ninstall = ["numpy"]\n', ["requirements"], "numpy", "both requirements and steps",
    ),
    "an override by half": ({"overrides": '["numpy=="]'}, "", ["overrides", 0], "does not match", "not a PEP 508"),
    "a platform that is not built for": (
        {"platforms": '["linux-sparc"]'}, "", ["platforms", 0], "'linux-sparc' is not one of", "unknown value",
    ),
    "an unknown backend": (
        {"backend": '"plaidmll"'}, "", ["backend"], "'plaidmll' is not one of", "did you mean 'plaidml'?",
    ),
    "a day that is none": (
        {"exclude-newer": '"last week"'}, "", ["exclude-newer"], "'last week' is not a 'date'", "wanted a date",
    ),
    "yes for true": ({"floating": '"yes"'}, "", ["floating"], "not of type 'boolean'", "wanted true or false"),
    "a variable that is a number": (
        {}, "[env]\nOMP_NUM_THREADS = 4\n", ["env", "OMP_NUM_THREADS"], "4 is not of type 'string'", "wanted a string",
    ),
    "a variant with its patch": (
        {}, '[variants]\npython = ["3.8.1"]\n', ["variants", "python", 0], "'3.8.1' does not match", "minor version",
    ),
    "no variant": ({}, "[variants]\npython = []\n", ["variants", "python"], "[]", "at least one item"),
    "an index without https": (
        {}, '[[index]]\nname = "own"\nurl = "mirror.example.org/simple"\npackages = ["numpy"]\n', ["index", 0, "url"],
        "'mirror.example.org/simple' does not match", "not the URL of an index",
    ),
    "a password in an index": (
        {}, '[[index]]\nname = "own"\nurl = "https://me:pw@example.org/"\npackages = ["numpy"]\n', ["index", 0, "url"],
        "does not match", "the URL holds a credential",
    ),
    "an index that serves nothing": (
        {}, '[[index]]\nname = "own"\nurl = "https://example.org/"\n', ["index", 0],
        "'packages' is a required property", "this key is missing",
    ),
    "an index for an unknown platform": (
        {}, '[[index]]\nname = "own"\nurl = "https://example.org/"\npackages = ["numpy"]\nplatforms = ["linux"]\n',
        ["index", 0, "platforms", 0], "'linux' is not one of", "unknown value",
    ),
    "an outcome that is none": (
        {}, '[[expect]]\noutcome = "fail"\nreason = "x"\n', ["expect", 0, "outcome"], "'fail' is not one of",
        "did you mean 'failed'?",
    ),
    "an outcome that is never seen": (
        {}, '[[expect]]\noutcome = "xfail"\nreason = "x"\n', ["expect", 0, "outcome"], "'xfail'", "cannot be expected",
    ),
    "an expectation without its reason": (
        {}, '[[expect]]\noutcome = "wrong"\n', ["expect", 0], "'reason' is a required property", "this key is missing",
    ),
    "an unknown installer": (
        {"requirements": None}, '[[step]]\ninstall = ["x"]\ninstaller = "conda"\n', ["step", 0, "installer"],
        "'conda' does not match", "bad value",
    ),
}  # fmt: skip

BROKEN_MATRICES = {
    "an effort that is none": ({"effort": '"fast"'}, ["effort"], "'fast' is not one of", "unknown value"),
    "a time that is a text": ({"timeout": '"10m"'}, ["timeout"], "'10m' is not of type 'number'", "wanted a number"),
    "no time at all": ({"timeout": "0"}, ["timeout"], "0 is less than or equal to", "greater than 0"),
    "nothing measured": ({"entry": "[]"}, ["entry"], "[]", "at least one item"),
    "an entry without runner": (
        {"entry": "[{ parameters = {} }]"}, ["entry", 0], "'runner' is a required property", "this key is missing",
    ),
    "a parameter beside the parameters": (
        {"entry": '[{ runner = "import_probe", modules = ["json"] }]'}, ["entry", 0], "'modules' was unexpected",
        "unknown key",
    ),
    "no manifests": ({"manifests": None}, [], "'manifests' is a required property", "this key is missing"),
    "devices alone": ({"devices": '"cpu"'}, ["devices"], "'cpu' is not of type 'array'", "wanted a list"),
}  # fmt: skip


def test_what_the_broken_ones_are_made_of_is_sound():
    assert faults("manifest", written(GOOD, {})) == []
    load(written(GOOD, {}))
    assert faults("matrix", written(MATRIX, {})) == []
    load_matrix(written(MATRIX, {}))


@pytest.mark.parametrize("kind", BROKEN)
def test_a_fault_of_a_manifest_is_named_where_it_stands_and_refused(kind):
    changes, lines, place, said, refused = BROKEN[kind]
    text = written(GOOD, changes, lines)
    ((path, message),) = faults("manifest", text)
    assert path == place
    assert said in message
    with pytest.raises(ManifestError) as caught:
        load(text)
    assert refused in str(caught.value)


@pytest.mark.parametrize("kind", BROKEN_MATRICES)
def test_a_fault_of_a_matrix_is_named_where_it_stands_and_refused(kind):
    changes, place, said, refused = BROKEN_MATRICES[kind]
    text = written(MATRIX, changes)
    ((path, message),) = faults("matrix", text)
    assert path == place
    assert said in message
    with pytest.raises(ManifestError) as caught:
        load_matrix(text)
    assert refused in str(caught.value)


PARTS = st.lists(
    st.sampled_from(
        ["numpy", "a.b-c_d", "9", "[x]", "[x, y-z]", "[]", "(", ")", "==", ">=", "~=", "!=", "===", "<", "1.20", "2.*",
         "1!3", "1.0+cpu", "1.0.dev0", ",", " ", "\t", "; python_version < '3.9'", ";", "=", "@", "-", "^"]
    ),
    max_size=9,
).map("".join)  # fmt: skip


@given(PARTS)
def test_editors_accept_whatever_envmgr_does(text):
    try:
        requirement = not Requirement(text).url
    except InvalidRequirement:
        requirement = False
    if requirement:
        assert faults("manifest", written(GOOD, {"requirements": json.dumps([text])})) == []
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return
    if re.search(r"===\s*(,|$)", text):
        return  # packaging 26.0 takes an operator without a version
    assert faults("manifest", written(GOOD, {"python": json.dumps(text)})) == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ["numpy" + ", " * 40 + "!", "numpy>=1" + " , " * 40 + "!", "numpy" + "===1," * 40 + "!"]
)
def test_editors_do_not_ponder_over_many_commas(text):
    assert faults("manifest", written(GOOD, {"requirements": json.dumps([text])}))
