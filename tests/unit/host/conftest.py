"""A machine made of recorded texts: files by path, outputs by command; nothing real is touched."""

import contextlib
import hashlib
from pathlib import Path

import pytest

from envmgr.host.surroundings import Means, Surroundings
from envmgr.ports import Completed


class RecordedFiles:
    """Files by path; two of equal text are one file, as links are."""

    def __init__(self, texts):
        self.texts = {str(path): text for path, text in texts.items()}
        self.forbidden = set()

    def read(self, path):
        if str(path) in self.forbidden:
            raise PermissionError(13, "Permission denied", str(path))
        return self.texts.get(str(path))

    def write(self, path, text):
        self.texts[str(path)] = text

    def exists(self, path):
        return str(path) in self.texts or self.is_folder(path)

    def is_folder(self, path):
        return any(name.startswith(f"{path}/") for name in self.texts)

    def list(self, folder):
        below = (Path(name) for name in self.texts if name.startswith(f"{folder}/"))
        return tuple(sorted({Path(folder) / path.relative_to(folder).parts[0] for path in below}))

    def names(self, folder):
        return tuple(path.name for path in self.list(folder))

    def identity(self, path):
        text = self.texts.get(str(path))
        return "" if text is None else hashlib.sha256(text.encode()).hexdigest()[:16]

    @contextlib.contextmanager
    def scratch(self, purpose):
        yield Path("/scratch") / purpose


class RecordedProcess:
    """Answers by the beginning of the command line; what is not recorded cannot be started."""

    def __init__(self, answers):
        self.answers = {tuple(command.split()): answer for command, answer in answers.items()}
        self.requests = []

    def run(self, request):
        self.requests.append(request)
        for command, answer in sorted(self.answers.items(), key=lambda item: -len(item[0])):
            if request.argv[: len(command)] == command:
                said = answer(request) if callable(answer) else answer
                return said if isinstance(said, Completed) else Completed(request.argv, 0, stdout=said)
        return Completed(request.argv, None, started=False, stderr=f"{request.argv[0]}: No such file or directory")


class InOrder:
    def map(self, function, jobs):
        return map(function, jobs)


@pytest.fixture
def machine():
    """Make a recorded machine: ports and surroundings."""

    def make(system="linux", files=(), outputs=(), environment=(), home="/home/ada", **more):
        means = Means(RecordedProcess(dict(outputs)), RecordedFiles(dict(files)), InOrder())
        return means, Surroundings(system, dict(environment), Path(home), **more)

    return make


@pytest.fixture(scope="session")
def recorded():
    """Read a text recorded on a real system, or shaped as its tool prints it."""
    folder = Path(__file__).parent / "recorded"
    return lambda name: (folder / name).read_text()


@pytest.fixture(scope="session")
def hosts():
    """Read the six hosts that plans are tested with."""
    from envmgr.model.host import HostFacts

    folder = Path(__file__).parents[2] / "hosts"
    return {path.stem: HostFacts.model_validate_json(path.read_text()) for path in sorted(folder.glob("*.json"))}
