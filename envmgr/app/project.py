"""What a project holds: manifests, matrices, runners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from envmgr.app.whereabouts import Project
from envmgr.errors import ManifestError, UsageError
from envmgr.manifest import check, read
from envmgr.manifest.faults import suggest
from envmgr.model.manifest import Manifest, Matrix
from envmgr.ports import Files


class Shelf(Mapping[str, Manifest]):
    """The project's manifests by name, each read and checked when it is first asked for.

    So a fault in one manifest stops nobody who does not use it.
    """

    def __init__(self, project: Project, files: Files, backends: frozenset[str]) -> None:
        self._project = project
        self._files = files
        self._backends = backends
        self._read: dict[str, Manifest] = {}
        self._alone: set[str] = set()

    @cached_property
    def paths(self) -> dict[str, Path]:
        """The manifests' files by name."""
        return {path.stem: path for path in self._files.list(self._project.manifests) if path.suffix == ".toml"}

    @property
    def hint(self) -> str:
        """What to do about a name that is not here: without a project in view, all that is here is envmgr's own."""
        if self._project.root is not None:
            return "envmgr list"
        return "go to your project, or name it with --project DIR: no manifests/*.toml is here or above\nenvmgr list"

    @cached_property
    def runners(self) -> dict[str, Path]:
        """The runners' files by name; a project's own hides a shipped one of the same name."""
        found: dict[str, Path] = {}
        for folder in reversed(self._project.runner_folders):
            found.update({path.stem: path for path in self._files.list(folder) if path.suffix == ".py"})
        return dict(sorted(found.items()))

    def __getitem__(self, name: str) -> Manifest:
        if name not in self._alone:
            folded = name.casefold()
            twins = [self._project.shown(path) for each, path in self.paths.items() if each.casefold() == folded]
            if len(twins) > 1:
                raise check.same_name(name, *twins[:2])
            self._alone.add(name)
        return self._loaded(name)

    def _loaded(self, name: str) -> Manifest:
        if name not in self._read:
            self._read[name] = self._load(self.paths[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __contains__(self, name: object) -> bool:
        return name in self.paths

    def stand_in(self, manifest: Manifest) -> None:
        """Let another manifest stand for the one of its name, until that one is put back."""
        self._read[manifest.name] = manifest

    def sound(self) -> tuple[dict[str, Manifest], tuple[ManifestError, ...]]:
        """Return every manifest that can be read, and the errors of those that cannot."""
        manifests: dict[str, Manifest] = {}
        errors: list[ManifestError] = []
        for name in self:
            try:
                manifests[name] = self._loaded(name)
            except ManifestError as error:
                errors.append(error)
        try:
            check.check_collection([(self._project.shown(self.paths[name]), each) for name, each in manifests.items()])
        except ManifestError as error:
            errors.append(error)
        return manifests, tuple(errors)

    def matrix(self, name: str) -> Matrix:
        """Read one matrix by name, the project's own first, then the shipped one."""
        for folder in self._project.matrix_folders:
            path = folder / f"{name}.toml"
            text = self._files.read(path)
            if text is not None:
                source = self._project.shown(path)
                matrix = read.parse_matrix(text, source)
                if folder != self._project.matrix_folders[0]:
                    self._refuse_of_others(matrix)
                check.check_matrix(matrix, text=text, source=source, runners=self.runners, manifests=self)
                return matrix
        raise UsageError(
            f"there is no matrix {name!r}",
            suggest(name, self.matrix_names()),
            "name one of them, or write manifests/matrices/NAME.toml",
        )

    def _refuse_of_others(self, shipped: Matrix) -> None:
        """Raise a UsageError if a shipped matrix is about manifests that this project does not have."""
        if not all(name.partition("@")[0] in self for name in shipped.manifests):
            raise UsageError(
                f"this project has no matrix {shipped.name!r}",
                f"envmgr's own of that name is for envmgr's own manifests; this project has: {', '.join(self)}",
                f"write {self._project.shown(self._project.matrix_folders[0] / shipped.name)}.toml, "
                "with manifests = [...] and an [[entry]] for each runner",
            )

    def matrix_names(self) -> tuple[str, ...]:
        """Return the names of the project's matrices and of the shipped ones."""
        return tuple(
            sorted({path.stem for folder in self._project.matrix_folders for path in self._files.list(folder)})
        )

    def _load(self, path: Path) -> Manifest:
        text = self._files.read(path)
        source = self._project.shown(path)
        if text is None:
            raise ManifestError(f"{source} cannot be read", "wanted a TOML file", "look at its permissions")
        manifest = read.parse_manifest(text, source)
        check.check_manifest(manifest, text=text, source=source, runners=self.runners, backends=self._backends)
        return manifest
