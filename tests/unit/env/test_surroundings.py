"""A cell's variables: nothing that decides outcomes comes from the caller."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from envmgr.env.surroundings import CellPlace, CellWishes, cell_environment

LINUX = CellPlace(env=Path("/envs/a"), home=Path("/homes/a"), project=Path("/project"), system="linux")
WINDOWS = CellPlace(env=Path("C:/envs/a"), home=Path("C:/homes/a"), project=Path("C:/project"), system="windows")
MEDDLING = (
    "PYTHON",
    "PIP_",
    "UV_",
    "KERAS_",
    "PLAIDML_",
    "TF_",
    "JAX_",
    "XLA_",
    "TORCH_",
    "PYTORCH_",
    "LD_",
    "DYLD_",
    "CONDA_",
)


@given(st.sampled_from(MEDDLING), st.from_regex(r"[A-Z_]{1,12}", fullmatch=True))
def test_no_meddling_variable_of_the_caller_gets_in(prefix, rest):
    assert prefix + rest not in cell_environment({prefix + rest: "callers"}, LINUX, CellWishes()) or (
        cell_environment({prefix + rest: "callers"}, LINUX, CellWishes())[prefix + rest] != "callers"
    )


def test_harmless_variables_are_passed_on_and_the_home_is_its_own():
    caller = {
        "HOME": "/home/me",
        "PATH": "/home/me/bin:/usr/bin",
        "LANG": "de_DE.UTF-8",
        "LC_TIME": "C",
        "https_proxy": "http://proxy:1",
        "OMP_NUM_THREADS": "2",
        "SSL_CERT_FILE": "/etc/own.pem",
        "XDG_CACHE_HOME": "/home/me/.cache",
        "DISPLAY": ":0",
    }
    environment = cell_environment(caller, LINUX, CellWishes())
    for name in ("LANG", "LC_TIME", "https_proxy", "OMP_NUM_THREADS", "SSL_CERT_FILE"):
        assert environment[name] == caller[name]
    assert environment["HOME"] == str(Path("/homes/a"))
    assert environment["XDG_CACHE_HOME"] == str(Path("/homes/a/.cache"))
    assert environment["PYTHONNOUSERSITE"] == "1"
    assert "DISPLAY" not in environment
    assert environment["PATH"].split(":")[0] == str(Path("/envs/a/bin"))
    assert "/home/me/bin" not in environment["PATH"]


def test_unset_takes_out_of_what_is_passed_on_only():
    caller = {"OMP_NUM_THREADS": "2", "LANG": "C"}
    wishes = CellWishes(backend={"KERAS_BACKEND": "jax"}, unset=["omp_num_threads", "KERAS_BACKEND"])
    environment = cell_environment(caller, LINUX, wishes)
    assert "OMP_NUM_THREADS" not in environment
    assert (environment["LANG"], environment["KERAS_BACKEND"]) == ("C", "jax")


def test_the_manifest_has_the_last_word_and_folders_are_filled_in():
    wishes = CellWishes(
        backend={"KERAS_BACKEND": "jax", "PLAIDML_EXPERIMENTAL": "1"},
        manifest={"KERAS_BACKEND": "torch", "LD_LIBRARY_PATH": "{project}/lib", "X": "{home}:{venv}:{other}"},
    )
    environment = cell_environment({}, LINUX, wishes)
    assert (environment["KERAS_BACKEND"], environment["PLAIDML_EXPERIMENTAL"]) == ("torch", "1")
    assert environment["LD_LIBRARY_PATH"] == f"{Path('/project')}/lib"
    assert environment["X"] == f"{Path('/homes/a')}:{Path('/envs/a')}:{{other}}"


def test_windows_gets_what_it_cannot_start_without():
    environment = cell_environment({"SystemRoot": "C:\\Windows", "Path": "C:\\mine"}, WINDOWS, CellWishes())
    assert environment["SystemRoot"] == "C:\\Windows"
    assert environment["USERPROFILE"] == str(Path("C:/homes/a"))
    assert environment["PATH"].split(";")[0] == str(Path("C:/envs/a/Scripts"))
    assert "C:\\mine" not in environment["PATH"]
