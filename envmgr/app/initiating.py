"""Start a project, or add to one what other tools' files ask for."""

from __future__ import annotations

import json
from pathlib import Path

from envmgr.app.schemas import schema_of
from envmgr.errors import UsageError
from envmgr.manifest.write import SCHEMA_LINE
from envmgr.ports import Files

_MANIFEST = f"""\
{SCHEMA_LINE}
schema = 1
name = "example"                        # = this file's name
summary = "numpy on a current Python: change it into what you want to measure"
python = ">=3.11"
requirements = ["numpy>=2"]
runners = ["import_probe"]              # envmgr's own, or a file in runners/
"""

_MATRIX = """\
#:schema ../schemas/matrix.json
schema = 1
name = "quick"
summary = "what `envmgr matrix run` measures when no other matrix is named"
manifests = ["example"]
effort = "quick"

[[entry]]
runner = "import_probe"
parameters = { modules = ["numpy"] }
"""

_IGNORED = ".envmgr/\n"


def start_project(folder: Path, files: Files) -> tuple[Path, ...]:
    """Write the first files of a project and return them; what is already there is never changed.

    Raises UsageError when the folder is a project already.
    """
    manifests = folder / "manifests"
    if any(path.suffix == ".toml" for path in files.list(manifests)):
        raise UsageError(
            f"{folder} is an envmgr project already",
            f"wanted a folder without manifests; found {manifests}",
            "envmgr list",
        )
    written = {
        manifests / "example.toml": _MANIFEST,
        manifests / "matrices" / "quick.toml": _MATRIX,
        folder / "runners" / "README.md": _RUNNERS,
    }
    made = []
    for path, text in written.items():
        if not files.exists(path):
            files.write(path, text)
            made.append(path)
    return (*made, *furnish(folder, files))


def furnish(folder: Path, files: Files) -> tuple[Path, ...]:
    """Give a project what is no choice of its user: schemas for editors, and results kept out of version control.

    Returns the files that were written. Schemas of another envmgr are renewed.
    """
    made = []
    for name in ("manifest", "matrix"):
        path = folder / "manifests" / "schemas" / f"{name}.json"
        text = schema_text(name)
        if files.read(path) != text:
            files.write(path, text)
            made.append(path)
    if _ignore_results(folder / ".gitignore", files):
        made.append(folder / ".gitignore")
    return tuple(made)


def schema_text(name: str) -> str:
    """Return a schema as the file that editors read."""
    return json.dumps(schema_of(name), indent=1, sort_keys=True) + "\n"


_RUNNERS = """\
Runners of this project: one Python file each, for the standard library of Python 3.6 plus the library under test.
envmgr's own (`keras_inference`, `torch_mnist`, `device_smoke`, `import_probe`) need not be copied here; a file of the
same name replaces them. `envmgr list --runners` shows what is in view.
"""


def _ignore_results(path: Path, files: Files) -> bool:
    text = files.read(path) or ""
    if _IGNORED.strip() in text.splitlines():
        return False
    separator = "" if not text or text.endswith("\n") else "\n"
    files.write(path, text + separator + _IGNORED)
    return True
