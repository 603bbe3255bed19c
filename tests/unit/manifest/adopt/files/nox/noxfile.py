import nox

PYTHONS = ["3.9", "3.10", "3.11"]
TESTING = ("pytest>=7", "hypothesis")


@nox.session(python=PYTHONS)
def tests(session):
    session.install(*TESTING, "numpy<2")
    session.install("-r", "extra.txt")
    session.install("-e", ".")
    session.run("pytest", *session.posargs)


@nox.session(python="3.12", name="types")
def mypy(session: nox.Session) -> None:
    session.install("mypy", f"torch=={session.posargs[0]}")
    session.run("mypy")


@nox.session
def clean(session):
    session.run("rm", "-rf", "build", external=True)
