import os

import nox

raise_if_run = os.environ["DOES_NOT_EXIST"]
PY = ["3.9", "3.10"]
nox.options.sessions = ["tests"]


@nox.session(python=PY)
@nox.parametrize("django", ["3.2", "4.2"])
@nox.parametrize("numpy", ["1.23.5", nox.param("1.26.0", id="new")])
def tests(session, django, numpy):
    session.install(f"numpy=={numpy}", "-r", "req/test.txt")
    session.install("django==" + django)
    session.install("scipy")
    session.install("-e", ".[test]")
    session.run("pytest")


@nox.session(venv_backend="none")
def nothing(session):
    session.run("echo")


@nox.session(venv_backend="conda", python="3.8")
def cond(session):
    session.conda_install("numpy=1.19", "--channel=conda-forge")
    session.install("plaidml-keras")


@nox.session
def lint(session: nox.Session) -> None:
    session.install("ruff", "mypy==1.8")
