"""The wiring: one place where ports get their real sides."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from envmgr.app.place import HostPlace
from envmgr.app.project import Shelf
from envmgr.app.whereabouts import Project, find_project
from envmgr.env.accepted import record_of
from envmgr.env.inside import PROBE
from envmgr.env.linked import known_wheels
from envmgr.env.recipe import Recipe
from envmgr.ports import Listener, Store
from envmgr.system.files import RealFiles
from envmgr.system.witness import Again, WitnessFiles


class Workplace(HostPlace):
    """Everything a use case works with: the caller, the project, the folders and the real sides of the ports."""

    def __init__(
        self, asked_project: Path | None = None, listener: Listener | None = None, *, witness: bool = False
    ) -> None:
        self._witness = witness
        super().__init__(listener)
        self._asked_project = asked_project
        self.recipes: dict[str, Recipe] = {}

    def keep_receipt(self, command: tuple[str, ...], answer: str) -> None:
        """Keep the answer to a command line until something changes that was looked at for it."""
        if isinstance(self.files, WitnessFiles):
            self.files.keep_receipt(self.folders.cache, command, self.caller, answer)

    def keep_recipe(self, command: tuple[str, ...], answer: str, recipe: Recipe) -> None:
        """Keep how a command line can build again what it built, until something changes that was looked at for it."""
        if isinstance(self.files, WitnessFiles):
            folder = Path(recipe.folder)
            tools = (Path(recipe.arguments[0]), Path(recipe.mark["interpreter"]["executable"]), PROBE)
            made = (folder, record_of(folder), known_wheels(folder.parent), Path(recipe.blank))
            again = Again(asdict(recipe), answer, tools, made)
            self.files.keep_recipe(self.folders.cache, command, self.caller, again)

    def _open_files(self) -> RealFiles:
        return WitnessFiles(self.folders.scratch) if self._witness else super()._open_files()

    @property
    def base(self) -> Path:
        """The project's folder, or that in which envmgr's own manifests lie."""
        return self.project.root or self.project.manifests.parent

    @cached_property
    def project(self) -> Project:
        """The project in view."""
        return find_project(self.caller.folder, self._asked_project, self.folders.state, self.files)

    @cached_property
    def shelf(self) -> Shelf:
        """The project's manifests, matrices and runners."""
        from envmgr.backends import names

        return Shelf(self.project, self.files, frozenset(names()))

    @cached_property
    def store(self) -> Store:
        """The results of this project."""
        from envmgr.store.results import FileStore

        return FileStore(self.project.runs, self.files)
