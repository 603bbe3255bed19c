"""The envs of a run on this host: built, and looked after while cells are measured in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from envmgr.app.building import Builder, Built
from envmgr.app.env_guard import Ended, EnvGuard, Room, Seen, Visitor
from envmgr.app.workplace import Workplace
from envmgr.model.env import Env
from envmgr.model.host import HostFacts
from envmgr.model.lock import Lock
from envmgr.model.manifest import Manifest
from envmgr.model.result import SetAside


class GuardedEnvs:
    """Builds the envs of a run on this host, and looks after them while cells are measured in them."""

    def __init__(self, workplace: Workplace, builder: Builder) -> None:
        self._builder = builder
        self._guard = EnvGuard(workplace)
        self._built: dict[str, Built] = {}

    def __getitem__(self, label: str) -> Built:
        return self._built[label]

    @property
    def facts(self) -> HostFacts:
        """The facts of the host on which they are built."""
        return self._builder.facts

    @property
    def all(self) -> Mapping[str, Built]:
        """The envs that were built, by the version set's label."""
        return self._built

    def build(self, manifest: Manifest, variant: str, lock: Lock | None = None) -> Built:
        """Return the env of a variant as it was built; one that has changed since is built again.

        With a lock it is that lock's env, whatever is locked now.
        """
        built = self._of(manifest, variant, lock)
        label = built.target.label

        def again() -> Env:
            return self._of(manifest, variant, built.lock).env

        env = self._guard.take(label, built.env, again, fresh=built.fresh)
        self._built[label] = replace(built, env=env)
        return self._built[label]

    def _of(self, manifest: Manifest, variant: str, lock: Lock | None) -> Built:
        return self._builder.rebuild(manifest, variant, lock) if lock else self._builder.build(manifest, variant)

    def accept(self, built: Built) -> None:
        """Take a fresh env as it is now, with the bytecode that envmgr's own probes have left, for what was built."""
        if built.fresh:
            self._guard.accept(built.target.label)

    def measure(self, label: str, visitor: Visitor, run: Callable[[Room], Ended]) -> tuple[Ended, Seen]:
        """Run a cell in an env and return what it came to, as `EnvGuard.measure` does."""
        return self._guard.measure(label, visitor, run)

    def late(self) -> tuple[SetAside, ...]:
        """Return, once, what was found to have changed only after results of cells in it had been given."""
        return self._guard.late()

    def close(self) -> None:
        """Look once more at every env in which cells have been since the last look."""
        self._guard.look_at_all()
