"""Files that people have, in the shapes in which they write them."""

from pathlib import Path

import pytest

from envmgr.app.adopting import adopt_file
from envmgr.errors import UsageError
from envmgr.manifest.adopt import adopt
from envmgr.manifest.read import parse_manifest
from envmgr.system.files import RealFiles

FILES = Path(__file__).parent / "files"


@pytest.fixture
def adopted(tmp_path):
    def run(source, name=None):
        files = RealFiles(tmp_path / "scratch")
        found = adopt_file(tmp_path / "project", FILES / source, name, files)
        written = [path for path in found.written if path.suffix == ".toml"]
        return [parse_manifest(path.read_text(), path.name) for path in written], found.notes

    return run


EXPECTED = {
    "plain/requirements.txt": [
        ("plain", ">=3.8", ("numpy>=1.20,<2", "torch==2.1.0", "torchvision == 0.16.0", "matplotlib",
                            'scikit-learn[alldeps]~=1.3 ; python_version >= "3.9"')),
    ],
    "nested/requirements/dev.txt": [("dev", ">=3.8", ("keras==2.2.4", "h5py<3", "pytest>=7"))],
    "hashed/requirements.txt": [("hashed", ">=3.8", ("absl-py==0.15.0", 'six==1.15.0 ; python_version >= "2.7"'))],
    "freeze/freeze.txt": [
        ("freeze", ">=3.8", ("absl-py==2.1.0", "certifi", "numpy==1.24.4", "PyYAML==6.0.1", "torch==2.1.0+cpu", "zipp==3.17.0")),
    ],
    "pep621/pyproject.toml": [
        ("segmenter", ">=3.9,<3.13", ("jax[cpu]>=0.4.20", "keras>=3", "tomli>=2; python_version < '3.11'")),
    ],
    "poetry/pyproject.toml": [
        ("old-app", ">=3.8,<4", ("numpy>=1.19,<1.20", "pandas[excel]>=1.1.5,<2",
                                 "importlib-metadata>=4 ; python_version < '3.10'")),
    ],
    "conda/environment.yml": [("seg-train", "==3.8.*", ("torch==1.13.*", "numpy>=1.19,<1.24", "plaidml-keras==0.7.0"))],
    "conda-export/environment.yml": [("conda-export", "==3.10.*", ("numpy==1.24.3", "scipy==1.11.3"))],
    "tox/tox.ini": [
        ("tox-keras2", ">=3.8,<3.11", ("pytest>=7", "numpy<2", "keras==2.2.4", "h5py<3", "scipy>=1.5")),
        ("tox-keras3", ">=3.8,<3.11", ("pytest>=7", "numpy<2", "keras>=3", "scipy>=1.5")),
        ("tox-lint", "==3.11.*", ("ruff",)),
    ],
    "nox/noxfile.py": [
        ("nox-tests", ">=3.9,<3.12", ("pytest>=7", "hypothesis", "numpy<2", "scipy>=1.5")),
        ("nox-types", "==3.12.*", ("mypy",)),
    ],
    "asv/asv.conf.json": [("fastthing", ">=3.8,<3.11", ("numpy==1.24.4", "cython"))],
    "pylock/pylock.toml": [("pylock", ">=3.11", ("numpy==2.1.0", "colorama==0.4.6 ; sys_platform == 'win32'"))],
    "training/requirements.txt": [
        ("training", ">=3.8", ("pandas>=1.5", "scipy<1.12", "tqdm", "torch==2.1.0+cu118",
                               'jax[cuda11_pip]>=0.4,<0.5; sys_platform == "linux" and python_version >= "3.9"',
                               "numpy<2,==1.24.4", "tensorflow>=2.10,!=2.11.*", "protobuf<4")),
    ],
    "deep-learning/environment.yml": [
        ("deep-learning", "==3.9.*", ("numpy==1.21.*", "scipy==1.7.3", "pandas>=1.3,<1.5", "torch==1.12.1",
                                      "scikit-learn", "matplotlib==3.5.*", "h5py>=3,<4", "pillow!=8.3.0",
                                      "einops==0.6.0", "keras==2.9.0")),
    ],
    "uv-project/pyproject.toml": [("my_app", ">=3.9", ("numpy>=1.23", "torch>=2; platform_machine != 'arm64'"))],
    "legacy/pyproject.toml": [
        ("legacy", ">=3.8", ("numpy>=1.21,<2", "torch==1.13.1 ; sys_platform=='linux'",
                             "torch==1.13.0 ; sys_platform=='darwin'", "tensorflow[and-cuda]>=2.10,<2.11",
                             "dbl>=1.2.3,<1.3", "wild==1.*")),
    ],
    "factors/tox.ini": [
        *((f"factors-{keras}-{backend}", ">=3.9,<3.12",
           ("pytest", "hypothesis>=6", "numpy", version, library,
            "importlib-metadata ; python_version == '3.9'", "coverage"))
          for keras, version in (("keras2", "keras==2.13.1"), ("keras3", "keras>=3"))
          for backend, library in (("tf", "tensorflow"), ("jax", "jax[cpu]"))),
        ("factors-docs", "==3.11.*", ("sphinx", "furo")),
    ],
    "parametrized/noxfile.py": [
        *((f"parametrized-tests-django-{django}-numpy-{numpy}", ">=3.9,<3.11",
           (f"numpy=={numpy}", "pytest", f"django=={django}", "scipy"))
          for numpy in ("1.23.5", "1.26.0") for django in ("3.2", "4.2")),
        ("parametrized-cond", "==3.8.*", ("numpy==1.19.*", "plaidml-keras")),
        ("parametrized-lint", ">=3.8", ("ruff", "mypy==1.8")),
    ],
    "benchmarks/asv.conf.json": [("thing", ">=3.8,<3.12", ("numpy==1.24", "emcee", "cython"))],
    "pipfile/Pipfile": [
        ("pipfile", "==3.7.*", (
            "numpy", "keras==2.2.4", "h5py<3", "tensorflow>=1.13,<1.14",
            "requests[socks]~=2.25 ; (sys_platform != 'win32' or python_version >= '3.7') and os_name == 'posix'",
            "dataclasses ; python_version < '3.7'",
        )),
    ],
    "pipfile-lock/Pipfile.lock": [
        ("pipfile-lock", "==3.9.18", ("numpy==1.24.4 ; python_version >= '3.8'", "requests[socks]==2.31.0")),
    ],
    "setup-cfg/setup.cfg": [
        ("old_segmenter", ">=3.6,<3.8", ("h5py<3", "keras==2.2.4", 'importlib-metadata; python_version<"3.8"')),
    ],
    "setup-py/setup.py": [
        ("thing", ">=3.6,<3.10", ("numpy==1.19.5", "scipy>=1.4", "h5py>=2.10,<3", "six", "matplotlib>=3",
                                  "pandas<1.2")),
    ],
    "setup-files/setup.py": [("setup-files", ">=3.8,<3.10", ("keras==2.3.1", "h5py<3", "tensorflow>=2.2,<2.3"))],
    "setup-bare/setup.py": [("bare", ">=3.8", ("numpy<2",))],
    "frozen/frozen.txt": [("frozen", ">=3.8", ("absl-py==1.4.0", "numpy", "torch==2.0.1+cpu", "typing_extensions==4.7.1"))],
}  # fmt: skip


@pytest.mark.parametrize("source", EXPECTED)
def test_a_file_becomes_the_manifests_that_it_means(adopted, source):
    manifests, _ = adopted(source)
    assert [(each.name, each.python, each.requirements) for each in manifests] == EXPECTED[source]


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("plain/requirements.txt", "[[index]]"),
        ("plain/requirements.txt", "installed in place"),
        ("plain/requirements.txt", "comes from a folder or a repository"),
        ("freeze/freeze.txt", "certifi is asked for by the folder in which conda built it"),
        ("freeze/freeze.txt", "torch==2.1.0+cpu has a local version"),
        ("pep621/pyproject.toml", "extras and groups gpu, dev"),
        ("poetry/pyproject.toml", "model comes from"),
        ("conda/environment.yml", "cudatoolkit"),
        ("conda/environment.yml", "channels pytorch, nvidia"),
        ("conda-export/environment.yml", "Python 3.10.13"),
        ("nox/noxfile.py", "known only when it runs"),
        ("asv/asv.conf.json", "numpy is measured at"),
        ("training/requirements.txt", "left out: --pre"),
        ("deep-learning/environment.yml", "r-base is no distribution"),
        ("uv-project/pyproject.toml", "extras and groups gpu, test, all, dev, docs"),
        ("legacy/pyproject.toml", "fromgit comes from"),
        ("factors/tox.ini", "left out: pypy3"),
        ("factors/tox.ini", "not taken over: the commands"),
        ("benchmarks/asv.conf.json", "not taken over: exclude"),
        ("frozen/frozen.txt", "pkg-resources==0.0.0"),
        ("pipfile/Pipfile", "the packages of dev-packages, docs"),
        ("pipfile/Pipfile", "forked comes from"),
        ("pipfile/Pipfile", "the index https://spare.example.org/simple is not taken over"),
        ("pipfile-lock/Pipfile.lock", "the default index https://index.example.org/simple is not taken over"),
        ("setup-cfg/setup.cfg", "not taken over: the extras gpu, test"),
        ("setup-cfg/setup.cfg", "dep is asked for by address"),
        ("setup-py/setup.py", "line 14 adds 'pyobjc' only under a condition"),
        ("setup-py/setup.py", "os.environ.get('EXTRA', '') in line 30 is known only when it runs"),
        ("setup-files/setup.py", "taken from requirements/base.txt"),
        ("setup-bare/setup.py", "taken from setup.cfg"),
    ],
)
def test_what_a_manifest_cannot_say_is_told(adopted, source, word):
    _, notes = adopted(source)
    assert any(word in note for note in notes), notes


def test_variants_variables_and_constraints_are_taken_over(adopted):
    assert adopted("tox/tox.ini")[0][0].variants.python == ("3.8", "3.9", "3.10")
    assert adopted("conda/environment.yml")[0][0].env == {"KERAS_BACKEND": "plaidml.keras.backend"}
    assert adopted("nested/requirements/dev.txt")[0][0].overrides == ("numpy==1.19.5",)


def test_an_index_of_a_pipfile_serves_what_names_it_without_its_credentials(adopted):
    (manifest,), _ = adopted("pipfile/Pipfile")
    (index,) = manifest.index
    assert (index.name, index.url, index.packages) == (
        "own-wheels", "https://wheels.example.org/simple", ("tensorflow",),
    )  # fmt: skip


def test_what_a_pipfile_says_in_another_shape_says_nothing():
    (draft,) = adopt("Pipfile", "[packages]\nnumpy = 3.5\n[packages.x]\nextras = 1\nversion = []", {})
    assert draft.requirements == ("numpy==3.5", "x")


def test_the_password_of_a_source_is_told_nowhere(adopted):
    _, notes = adopted("pipfile-lock/Pipfile.lock")
    assert not any("pw" in note for note in notes)


@pytest.mark.parametrize(
    ("script", "requirements"),
    [
        ("setup(install_requires=['a'] + ['b'])", ("a", "b")),
        ("setup(install_requires='a\\nb<2')", ("a", "b<2")),
        ("import setuptools as s\ns.setup(**{'install_requires': ['a']})", ("a",)),
        ("config = dict(install_requires=('a', *more))\nmore = ['b']\nsetup(**config)", ("a", "b")),
        ("a = []\na.append('x')\na.extend(['y', 'z'])\nsetup(install_requires=a)", ("x", "y", "z")),
        ("V = '1.5'\nsetup(install_requires=['a=={}'.format(V), 'b{op}{v}'.format(op='<', v=V)])", ("a==1.5", "b<1.5")),
        ("def main():\n    wanted = ['a']\n    setup(install_requires=list(wanted))\nmain()", ("a",)),
        ("a = b\nb = a\nsetup(install_requires=['x'] + a)", ("x",)),
        ("setup(install_requires=(here / 'base.txt').read_text().split())", ("k",)),
        ("def read(n):\n    return open(n).readlines()\nsetup(install_requires=read('base.txt'))", ("k",)),
        ("def known():\n    return open('base.txt').readlines()\nsetup(install_requires=known())", ("k",)),
    ],
)  # fmt: skip
def test_a_setup_script_is_read_in_the_shapes_in_which_people_write_it(script, requirements):
    (draft,) = adopt("setup.py", script, {"base.txt": "k\n"})
    assert draft.requirements == requirements


def test_a_setup_script_is_never_run(tmp_path):
    sign = tmp_path / "it-ran"
    script = f"from pathlib import Path\nPath({str(sign)!r}).touch()\nsetup(install_requires=['a'])\n"
    adopt("setup.py", script, {})
    assert not sign.exists()


def test_what_setup_finds_beside_it_is_that_of_a_modern_project():
    others = {"pyproject.toml": '[project]\nname = "new"\ndependencies = ["numpy"]\n', "setup.cfg": "[flake8]\n"}
    (draft,) = adopt("setup.py", "from setuptools import setup\nsetup()\n", others)
    assert (draft.name, draft.requirements) == ("new", ("numpy",))


def test_a_constraint_on_what_is_asked_for_limits_it_and_one_on_others_overrides(adopted):
    (manifest,), _ = adopted("training/requirements.txt")
    assert manifest.overrides == ("urllib3<2",)


def test_the_settings_of_uv_are_taken_over(adopted):
    (manifest,), _ = adopted("uv-project/pyproject.toml")
    assert manifest.overrides == ("protobuf<4", "urllib3<2")
    (index,) = manifest.index
    assert (index.name, index.url, index.packages) == ("pytorch", "https://download.example.org/whl/cpu", ("torch",))


def test_the_variables_of_a_factor_are_those_of_its_environments(adopted):
    found = {each.name: each.env for each in adopted("factors/tox.ini")[0]}
    assert found["factors-keras2-tf"] == {"KERAS_BACKEND": "tensorflow", "TF": "1"}
    assert found["factors-keras2-jax"] == {"KERAS_BACKEND": "tensorflow"}


def test_a_manifest_that_is_there_is_never_overwritten(adopted):
    adopted("plain/requirements.txt")
    with pytest.raises(UsageError, match="is there already"):
        adopted("plain/requirements.txt")
    assert adopted("plain/requirements.txt", "other")[0][0].name == "other"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("notes.md", "# numpy", "of no form that is known"),
        ("requirements.txt", "# nothing\n", "asks for no distribution"),
        ("pyproject.toml", "[project\n", "is no TOML"),
        ("environment.yml", "a: [", "is no YAML"),
        ("environment.yml", "- numpy", "holds no table"),
        ("environment.yml", "name: 2020-13-45", "is no YAML"),
        ("environment.yml", "[" * 3000, "is no YAML"),
        ("environment.yml", "variables: [A]\ndependencies: [numpy]", "variables are no table"),
        ("noxfile.py", "def", "is no Python"),
        ("asv.conf.json", "{", "is no JSON"),
        ("tox.ini", "envlist", "cannot be read"),
        ("Pipfile", "[packages\n", "is no TOML"),
        ("Pipfile.lock", "{", "is no JSON"),
        ("Pipfile.lock", "[]", "holds no table"),
        ("Pipfile", 'packages = "numpy"\nsource = "x"\nrequires = 3', "asks for no distribution"),
        ("Pipfile.lock", '{"_meta": 3, "default": []}', "asks for no distribution"),
        ("setup.py", "a\0b", "is no Python"),
        ("setup.cfg", "install_requires = numpy", "cannot be read"),
        ("setup.cfg", "[flake8]\nmax-line-length = 100", "asks for no distribution"),
        ("setup.py", "def", "is no Python"),
        ("setup.py", "print('numpy')", "calls no setup()"),
        ("setup.py", "setup(name='a')", "asks for no distribution"),
        ("setup.py", "setup(install_requires=wanted())", "known only when it runs"),
        ("setup.py", "if new:\n a = ['x']\nelse:\n a = ['y']\nsetup(install_requires=a)", "known only when it runs"),
        ("setup.py", "setup(install_requires=open('gone.txt').read())", "known only when it runs"),
        ("pyproject.toml", '[project]\ndependencies = ["numpy"]\nrequires-python = "three"', "range of Pythons"),
    ],
)
def test_what_is_of_no_form_is_said_in_one_error(name, text, said):
    with pytest.raises(UsageError) as caught:
        adopt(name, text, {})
    assert said in caught.value.what
    assert caught.value.why


@pytest.mark.parametrize("channels", ["3", "[3]", "[{3: }]", "nowhere"])
def test_channels_of_any_shape_are_told(channels):
    (draft,) = adopt("environment.yml", f"channels: {channels}\ndependencies: [numpy=1.19]", {})
    assert draft.requirements == ("numpy==1.19.*",)
    assert any("channels" in note and channels.strip("[{: }]") in note for note in draft.notes)


@pytest.mark.parametrize(
    ("source", "what", "why"),
    [
        (FILES / "setup-bare", "is a folder", "found in it: requirements.txt, setup.cfg, setup.py"),
        (FILES / "nested", "is a folder", "none that is known"),
        (
            Path("/home") / "https://example.org/requirements.txt",
            "https://example.org/requirements.txt is an address",
            "wanted a file of this machine",
        ),
        (FILES / "gone.txt", "cannot be read", "found none"),
    ],
)
def test_what_is_no_file_is_told_with_what_to_name_instead(tmp_path, source, what, why):
    with pytest.raises(UsageError) as caught:
        adopt_file(tmp_path, source, None, RealFiles(tmp_path / "scratch"))
    assert what in caught.value.what
    assert why in caught.value.why


def test_a_file_that_includes_itself_ends():
    (draft,) = adopt("requirements.txt", "-r requirements.txt\nnumpy\n", {"requirements.txt": "-r requirements.txt\n"})
    assert draft.requirements == ("numpy",)
