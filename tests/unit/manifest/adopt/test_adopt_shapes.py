"""Single lines and settings in the shapes in which people write them: what is taken over, and what is told instead."""

import tomllib
from pathlib import Path

import pytest

from envmgr.app.adopting import adopt_file
from envmgr.errors import UsageError
from envmgr.manifest.adopt import adopt
from envmgr.manifest.read import parse_manifest
from envmgr.system.files import RealFiles

WHEEL = "numpy-1.24.4-cp310-cp310-linux_x86_64.whl"


@pytest.mark.parametrize(
    ("line", "requirements", "note"),
    [
        ("-rmore.txt", ("six",), None),
        ("-r https://own.example.org/more.txt", (), "https://own.example.org/more.txt is an address: fetch it"),
        ("-c https://me:pw@own.example.org/limits.txt", (), "https://own.example.org/limits.txt is an address"),
        ("foo-1.0.tar.gz", (), "foo-1.0.tar.gz comes from a folder"),
        ("wheels/bar-2.0-py3-none-any.whl", (), "bar-2.0-py3-none-any.whl comes from a folder"),
        (".[test]", (), ".[test] comes from a folder"),
        ("..", (), ".. comes from a folder"),
        ("-e git+ssh://git@own.example.org/x.git#egg=x", (), "git+ssh://own.example.org/x.git#egg=x comes from a rep"),
        ("-e .[dev]", (), "what it depends on into the requirements"),
        ('pyyaml>=6 --config-settings="--foo=bar baz" --hash sha256:ab', ("pyyaml>=6",), None),
        ("matplotlib>=3.7.*,<4.*", ("matplotlib>=3.7,<4",), None),
        ("pkg_resources==0.0.0", (), "no index has it"),
        ("cffi @ file:///croot/cffi_1659598650955/work", ("cffi",), "its version does not stand there"),
        (
            f"numpy @ file:///home/conda/feedstock_root/b/work/dist/{WHEEL}#sha256=ab",
            ("numpy==1.24.4",),
            "1.24.4 of the",
        ),
        (f"numpy @ file:///home/me/{WHEEL}", (), "numpy is asked for by address"),
    ],
)
def test_a_line_of_requirements(line, requirements, note):
    (draft,) = adopt("requirements.txt", f"{line}\nh5py\n", {"more.txt": "six\n"})
    assert draft.requirements == (*requirements, "h5py")
    assert any(note in each for each in draft.notes) if note else not draft.notes


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_what_windows_writes_is_read(tmp_path, encoding):
    (tmp_path / "requirements.txt").write_bytes("numpy==1.24.4\r\n-r more.txt\r\n".encode(encoding))
    (tmp_path / "more.txt").write_bytes("six==1.16.0\r\n".encode(encoding))
    found = adopt_file(tmp_path / "project", tmp_path / "requirements.txt", "x", RealFiles(tmp_path / "scratch"))
    assert tomllib.loads(found.written[0].read_text())["requirements"] == ["numpy==1.24.4", "six==1.16.0"]


@pytest.mark.parametrize(
    ("entry", "requirements", "note"),
    [
        ("zstd=1.5.5=hc292b87_0", (), "left out: zstd is no distribution"),
        ("scipy=1.10.1=py310h8deb116_3", ("scipy==1.10.1",), None),
        ("numpy-base=1.24", (), "left out: numpy-base"),
        ("six>=1.16|<2", ("six<2",), "the alternatives in six>=1.16|<2"),
    ],
)
def test_an_entry_of_conda(entry, requirements, note):
    (draft,) = adopt("environment.yml", f"dependencies:\n- python=3.10\n- h5py\n- {entry}\n", {})
    assert draft.requirements == ("h5py", *requirements)
    assert any(note in each for each in draft.notes) if note else not draft.notes


PROJECT = '[project]\nname = "p"\nrequires-python = ">=3.9"\n'


@pytest.mark.parametrize(
    ("tables", "requirements", "note"),
    [
        (
            'dependencies = ["six", "My.Lib"]\n[tool.uv.sources]\nmy-lib = { git = "https://own.example.org/m" }',
            ("six",),
            "my-lib comes from a folder, a repository or an address",
        ),
        (
            'dependencies = ["six"]\n[tool.uv.sources]\nsix = [{ path = "../six", marker = "os_name == \'nt\'" }]',
            ("six",),
            "left out: a source of six",
        ),
        ('dependencies = ["six"]\n[tool.uv]\nprerelease = "allow"', ("six",), "uv's settings prerelease"),
        ('dependencies = ["six"]\n[tool.uv]\nexclude-newer = "1 week"', ("six",), "uv's settings exclude-newer"),
        (
            'dependencies = ["six"]\n[tool.poetry.dependencies]\nsix = { source = "own" }',
            ("six",),
            "the index own of six has no address",
        ),
        (
            'dynamic = ["dependencies"]\n[tool.setuptools.dynamic]\ndependencies = { file = ["base.txt"] }',
            ("cffi", "six"),
            None,
        ),
    ],
)  # fmt: skip
def test_a_project_with_settings_of_other_tools(tables, requirements, note):
    (draft,) = adopt("pyproject.toml", PROJECT + tables, {"base.txt": "cffi\n-r more.txt\n", "more.txt": "six\n"})
    assert draft.requirements == requirements
    assert any(note in each for each in draft.notes) if note else not draft.notes


def test_dynamic_dependencies_that_stand_elsewhere_are_told_of_in_the_error():
    with pytest.raises(UsageError) as caught:
        adopt("pyproject.toml", PROJECT + 'dynamic = ["dependencies"]', {"setup.py": ""})
    assert "envmgr init --from setup.py" in caught.value.why


def test_the_day_the_builds_and_the_limits_of_uv_are_taken_over(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        PROJECT
        + """
dependencies = ["torch"]
[tool.uv]
exclude-newer = "2024-05-01T00:00:00Z"
build-constraint-dependencies = ["setuptools<70"]
[tool.uv.extra-build-dependencies]
flash-attn = ["torch", { requirement = "ninja" }]
[tool.uv.sources]
torch = { index = "own" }
[[tool.uv.index]]
name = "own"
url = "https://own.example.org/simple"
"""
    )
    found = adopt_file(tmp_path / "project", tmp_path / "pyproject.toml", None, RealFiles(tmp_path / "scratch"))
    manifest = parse_manifest(found.written[0].read_text(), "p.toml")
    assert str(manifest.exclude_newer) == "2024-05-01"
    assert manifest.build_constraints == ("setuptools<70",)
    assert manifest.build_requires == {"flash-attn": ("ninja",)}
    assert any("torch, which flash-attn needs to be built" in note for note in found.notes)


def test_poetry_says_its_sources_and_ranges_in_its_own_way():
    (draft,) = adopt("pyproject.toml", """
[tool.poetry.dependencies]
python = ">=3.9,<3.12"
torch = { version = "^2.0", source = "wheels" }
wheel = ">=0.38 <1.0"
cffi = "1.15.1 || >=1.16"
h5py = { version = "^3", optional = true }
[[tool.poetry.source]]
name = "wheels"
url = "https://me:pw@own.example.org/simple"
[[tool.poetry.source]]
name = "spare"
url = "https://spare.example.org/simple"
""", {})  # fmt: skip
    assert draft.requirements == ("torch>=2.0,<3", "wheel>=0.38,<1.0", "cffi>=1.16")
    assert [(each.name, each.url, each.packages) for each in draft.indexes] == [
        ("wheels", "https://own.example.org/simple", ("torch",))
    ]
    told = "\n".join(draft.notes)
    assert all(word in told for word in ("h5py is optional", "spare.example.org", "alternatives 1.15.1 || >=1.16"))


def test_sections_of_tox_may_be_generative_and_refer_to_lines_that_refer_on():
    drafts = adopt("tox.ini", """
[tox]
envlist = py{39,310}-x, {py310,py311}-docs
[testenv]
extras = test
deps =
    -r{toxinidir}/base.txt
    {env:EXTRA:}
    {env:OTHER:attrs}
[testenv:{py310,py311}-docs]
skip_install = true
deps =
    {[testenv]deps}
    pyyaml
""", {"base.txt": "six\n"})  # fmt: skip
    assert [(each.name, each.requirements, each.pythons) for each in drafts] == [
        ("x", ("six", "attrs"), ("3.9", "3.10")),
        ("docs", ("six", "attrs", "pyyaml"), ("3.10", "3.11")),
    ]
    assert "the project itself and what it depends on" in drafts[0].notes[0]
    assert drafts[0].notes[0].endswith("its extras test")
    assert not drafts[1].notes


TOX = """
env_list = ["3.12", "3.11", { product = [["old"], { prefix = "py3", start = 9, stop = 10 }] }, "pypy3.10"]
[env_run_base]
deps = ["numpy>=1.26", "-r more.txt"]
set_env = { A = "1", B = "{env_dir}" }
[env.lint]
skip_install = true
base_python = ["3.12"]
deps = ["ruff"]
[env.old-py39]
deps = ["numpy<2", { replace = "ref", of = ["env", "lint", "deps"] }, { replace = "posargs" }]
"""


def test_the_native_files_of_tox_are_read():
    drafts = adopt("tox.toml", TOX, {"more.txt": "six\n"})
    assert [(each.name, each.python, each.requirements) for each in drafts] == [
        ("", ">=3.11,<3.13", ("numpy>=1.26", "six")),
        ("old", ">=3.9,<3.11", ("numpy<2", "ruff")),
        ("lint", "==3.12.*", ("ruff",)),
    ]
    assert drafts[0].variables == {"A": "1"}
    assert "left out: the variable B" in drafts[0].notes


def test_tox_in_a_project_gives_manifests_beside_the_projects_own():
    settings = "".join(f"[tool.tox.{line[1:]}" if line[:1] == "[" else line for line in TOX.splitlines(True)[2:])
    text = PROJECT + f'dependencies = ["h5py"]\n[tool.tox]\nenv_list = ["3.12"]\n{settings}'
    drafts = adopt("pyproject.toml", text, {"more.txt": "six\n"})
    assert [(each.name, each.requirements) for each in drafts][:2] == [("", ("h5py",)), ("tox", ("numpy>=1.26", "six"))]
    old = '[tool.tox]\nlegacy_tox_ini = """\n[tox]\nenvlist = py311\n[testenv]\ndeps = six\n"""\n'
    assert [each.requirements for each in adopt("pyproject.toml", old, {})] == [("six",)]


NOX = """
import nox
PYTHONS = ["3.9", "3.10", "pypy3.10"]
@nox.session(python=PYTHONS[1])
def lint(session):
    session.install("-rmore.txt", "--index-url", "https://own.example.org/simple", "cffi", "--only-binary", ":all:")
@nox.session
@nox.parametrize("python,keras", [("3.9", "2.10.0"), ("3.11", "3.0.0")])
def both(session, keras):
    session.install("keras==" + keras)
@nox.session(python=PYTHONS[-1])
def conda(session):
    session.conda_install("--channel", "conda-forge", "h5py")
    session.run_install("uv", "sync")
@nox.session
def lost(session):
    session.install(WANTED)
"""


def test_sessions_of_nox_with_options_pythons_of_parameters_and_places_of_lists():
    drafts = adopt("noxfile.py", NOX, {"more.txt": "six\n"})
    assert [(each.name, each.python, each.requirements) for each in drafts] == [
        ("lint", "==3.10.*", ("six", "cffi")),
        ("both-py3.9-keras-2.10.0", "==3.9.*", ("keras==2.10.0",)),
        ("both-py3.11-keras-3.0.0", "==3.11.*", ("keras==3.0.0",)),
        ("conda", ">=3.8", ("h5py",)),
    ]
    told = "\n".join(note for draft in drafts for note in draft.notes)
    for word in ("--channel conda-forge", "Python pypy3.10", "session.run_install('uv', 'sync')", "install(WANTED)"):
        assert word in told
    assert ":all:" not in told


def test_what_asv_builds_and_takes_from_repositories_is_told():
    text = '{"matrix": {"req": {"pip+git+https://own.example.org/a/b": [""], "numpy": [""]}}, "conda_channels": ["x"]}'
    (draft,) = adopt("asv.conf.json", text, {})
    assert draft.requirements == ("numpy",)
    told = "\n".join(draft.notes)
    for word in ("git+https://own.example.org/a/b comes from", "conda_channels", "the project itself"):
        assert word in told


def test_an_index_that_a_pipfile_names_and_does_not_have_is_told():
    (draft,) = adopt("Pipfile", '[packages]\ntorch = { version = "*", index = "wheels", extras = [] }', {})
    assert draft.requirements == ("torch",)
    assert draft.notes == ("the index wheels of torch has no address: name it under [[index]]",)


@pytest.mark.parametrize("name", ["uv.lock", "poetry.lock", "pdm.lock"])
def test_the_lock_of_another_tool_is_left_to_that_tool(name):
    with pytest.raises(UsageError) as caught:
        adopt(name, "version = 1\n", {})
    assert f"{name.partition('.')[0]} export" in caught.value.hint


def test_a_script_of_pep_723_asks_for_what_its_block_says():
    text = """# /// script
# requires-python = ">=3.10"
# dependencies = ["six", "numpy<2", "own"]
#
# [tool.uv]
# exclude-newer = "2024-05-01"
# [tool.uv.sources]
# own = { path = "../own" }
# ///
raise SystemExit("this was run")
"""
    (draft,) = adopt("mine.py", text, {})
    assert (draft.python, draft.requirements, draft.exclude_newer) == (">=3.10", ("six", "numpy<2"), "2024-05-01")
    assert draft.notes == ("left out: own comes from a folder, a repository or an address",)


@pytest.mark.parametrize(
    ("text", "said"),
    [("import numpy\n", "says nothing of what it needs"), ("# /// script\n# [\n# ///\n", "is no TOML")],
)
def test_a_script_without_a_block_is_told_of(text, said):
    with pytest.raises(UsageError) as caught:
        adopt("mine.py", text, {})
    assert said in caught.value.what


GROUPED = (
    PROJECT
    + """
dependencies = ["six"]
[project.optional-dependencies]
plot_all = ["p[small]", "cffi"]
small = ["attrs"]
[dependency-groups]
test = ["pytest", { include-group = "Typing" }]
typing = ["mypy", { include-group = "test" }]
"""
)
POETRY = """
[tool.poetry.dependencies]
six = "*"
h5py = { version = "^3", optional = true }
[tool.poetry.extras]
hdf = ["h5py"]
[tool.poetry.group.test.dependencies]
pytest = "^8"
[tool.poetry.dev-dependencies]
ruff = "*"
"""


@pytest.mark.parametrize(
    ("text", "wanted", "requirements", "left"),
    [
        (GROUPED, ("plot-all",), ("six", "attrs", "cffi"), "small, test, typing"),
        (GROUPED, ("test", "small"), ("six", "pytest", "mypy", "attrs"), "plot_all, typing"),
        (POETRY, ("hdf", "test", "dev"), ("six", "h5py>=3,<4", "pytest>=8,<9", "ruff"), ""),
    ],
)
def test_extras_and_groups_are_taken_over_where_they_are_asked_for(text, wanted, requirements, left):
    (draft,) = adopt("pyproject.toml", text, {}, wanted)
    assert draft.requirements == requirements
    assert any(f"extras and groups {left} (" in note for note in draft.notes) if left else not draft.notes


@pytest.mark.parametrize(
    ("name", "text", "what", "why"),
    [
        ("pyproject.toml", GROUPED, "'tests' is no extra and no group", "wanted one of: plot_all, small, test, typing"),
        ("pyproject.toml", PROJECT + 'dependencies = ["six"]', "'tests' is no extra", "it has none"),
        ("requirements.txt", "six", "has no extras and groups", "--with tests; found requirements.txt"),
    ],
)
def test_a_group_that_is_not_there_is_told_of(name, text, what, why):
    with pytest.raises(UsageError) as caught:
        adopt(name, text, {}, ("tests",))
    assert what in caught.value.what
    assert why in caught.value.why


def test_what_no_comment_may_hold_is_left_out_of_the_notes(tmp_path):
    (tmp_path / "requirements.txt").write_bytes(b"six\n-e ./old\x00fo\x0clder\x1b\n")
    found = adopt_file(tmp_path / "project", tmp_path / "requirements.txt", "x", RealFiles(tmp_path / "scratch"))
    assert parse_manifest(found.written[0].read_text(), "x.toml").requirements == ("six",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.py", "PATTERN = '\\d'\nsetup(install_requires=['six'])\n"),
        ("noxfile.py", "import nox\nP = '\\d'\n@nox.session\ndef a(session):\n    session.install('six')\n"),
    ],
)
def test_what_a_parser_warns_of_is_not_said(name, text, recwarn):
    assert adopt(name, text, {})[0].requirements == ("six",)
    assert not recwarn.list


HATCH = """[project]
name = "segmenter"
requires-python = ">=3.9"
dependencies = ["numpy>=1.20"]
optional-dependencies = { gpu = ["torch"] }
[dependency-groups]
cov = ["coverage"]
[tool.hatch.envs.default]
dependencies = ["pytest>=7"]
env-vars = { KERAS_BACKEND = "jax", WHERE = "{root}/x" }
[tool.hatch.envs.test]
extra-dependencies = ["hypothesis"]
features = ["gpu"]
dependency-groups = ["cov"]
[[tool.hatch.envs.test.matrix]]
python = ["3.9", "3.12"]
keras = ["2", "3"]
[tool.hatch.envs.lint]
detached = true
python = "3.11"
dependencies = ["ruff", "mine @ {root:uri}/mine"]
[tool.hatch.envs.docs]
template = "docs"
skip-install = true
dependencies = ["mkdocs"]
[tool.hatch.envs.types.scripts]
check = "mypy"
"""


def test_environments_of_hatch_inherit_and_stand_beside_the_project():
    project, default, test, lint, docs = adopt("pyproject.toml", HATCH, {})
    assert (project.name, project.requirements) == ("", ("numpy>=1.20",))
    assert (default.name, default.requirements) == ("hatch-default", ("numpy>=1.20", "pytest>=7"))
    assert default.variables == {"KERAS_BACKEND": "jax"}
    assert test.requirements == ("numpy>=1.20", "pytest>=7", "hypothesis", "coverage", "torch")
    assert (test.python, test.pythons) == (">=3.9,<3.13", ("3.9", "3.12"))
    assert "not taken over: the keras of a matrix" in test.notes
    assert (lint.name, lint.python, lint.requirements) == ("hatch-lint", "==3.11.*", ("ruff",))
    assert "left out: mine @ {root:uri}/mine comes from a folder" in lint.notes
    assert (docs.python, docs.requirements) == (">=3.9", ("mkdocs",))


@pytest.mark.parametrize("template", ["x", "y", "default", "nowhere"])
def test_templates_of_hatch_that_go_round_end(template):
    tables = (
        f'[tool.hatch.envs.x]\ntemplate = "{template}"\ndependencies = ["six"]\n[tool.hatch.envs.y]\ntemplate = "x"\n'
    )
    (draft,) = adopt("pyproject.toml", tables, {})
    assert (draft.name, draft.requirements) == ("hatch-x", ("six",))


PDM = """[project]
name = "segmenter"
dependencies = ["torch"]
[tool.pdm.dev-dependencies]
test = ["pytest>=7", "-e git+https://ann:pw@own.example/m#egg=m"]
lint = ["ruff"]
[[tool.pdm.source]]
name = "pypi"
url = "https://mirror.example/simple"
[[tool.pdm.source]]
name = "own"
url = "https://ann:pw@own.example/simple"
include_packages = ["torch", "torch*"]
[[tool.pdm.source]]
name = "wheels"
type = "find_links"
url = "file:///wheels"
[tool.pdm.resolution.overrides]
six = "1.16"
numpy = ">=1,<2"
"""


def test_groups_sources_and_overrides_of_pdm():
    (draft,) = adopt("pyproject.toml", PDM, {}, ("test",))
    assert draft.requirements == ("torch", "pytest>=7")
    assert [(each.name, each.url, each.packages) for each in draft.indexes] == [
        ("own", "https://own.example/simple", ("torch",))
    ]
    assert draft.overrides == ("six==1.16", "numpy>=1,<2")
    assert "not taken over: the extras and groups lint (--with NAME does)" in draft.notes
    assert "left out: torch* of the index own" in draft.notes
    assert "not taken over: the folder of wheels wheels" in draft.notes
    assert not any("pw" in note for note in draft.notes)


PIXI = (Path(__file__).parent / "files" / "pixi" / "pixi.toml").read_text()


def test_environments_of_pixi_are_what_their_features_add_up_to():
    default, test, older, lint = adopt("pixi.toml", PIXI, {})
    shared = (
        "numpy==1.26.*", "torch>=2.1,<3", "scipy==1.11.*", "keras>=3", "jax[cpu]", "triton==2.1",
        "tensorflow-metal ; sys_platform == 'darwin' and platform_machine == 'arm64'",
    )  # fmt: skip
    assert [each.name for each in (default, test, older, lint)] == ["", "test", "py311", "lint"]
    assert (default.python, default.requirements) == (">=3.10,<3.13", shared)
    assert default.variables == {"KERAS_BACKEND": "jax"}
    assert [(each.name, each.url, each.packages) for each in default.indexes] == [
        ("own.example-whl-cu121", "https://own.example/whl/cu121", ("triton",))
    ]
    assert test.requirements == (*shared, "pytest")
    assert (older.python, older.requirements) == (">=3.10,<3.13,==3.11.*", (*shared, "pytest"))
    assert lint.requirements == ("ruff",)
    told = "\n".join(default.notes)
    for what in ("cmake is no", "cuda-version is no", "mine comes from", "variable WHERE", "the channels pytorch"):
        assert what in told
    assert "pw" not in told


def test_a_pixi_file_of_one_environment_gives_its_name():
    (draft,) = adopt("pixi.toml", '[project]\nname = "one"\n[dependencies]\npython = "3.11"\nnumpy = "*"\n', {})
    assert (draft.name, draft.python, draft.requirements) == ("one", "==3.11.*", ("numpy",))


def test_pixi_in_a_project_adds_to_it_and_takes_its_groups_for_features():
    text = (
        PROJECT
        + 'dependencies = ["six"]\n[dependency-groups]\ntest = ["pytest"]\n[tool.pixi.workspace]\nchannels = []\n'
        + '[tool.pixi.dependencies]\nscipy = ">=1.10"\n[tool.pixi.environments]\ntest = ["test"]\n'
    )
    project, test = adopt("pyproject.toml", text, {})
    assert (project.name, project.requirements) == ("", ("six", "scipy>=1.10"))
    assert (test.name, test.requirements) == ("pixi-test", ("six", "scipy>=1.10", "pytest"))


@pytest.mark.parametrize("odd", ["dependencies = 3", "environments = [1]", "[target]\nosx = 3"])
def test_a_pixi_file_of_another_shape_is_told_of(odd):
    with pytest.raises(UsageError):
        adopt("pixi.toml", odd, {})
