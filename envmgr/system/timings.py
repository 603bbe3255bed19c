"""Where the time of a command goes: to its start, to which programs, to which stages, to envmgr itself."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path, PurePath

import psutil

from envmgr.model.cell import Cell
from envmgr.ports import Completed, Event, Listener, ProcessRequest
from envmgr.system.process import RealProcess

Span = tuple[str, float, float]
"""A name, and when it began and ended, in seconds of the monotonic clock."""


Idle = tuple[float, float, float]
"""When a while began and ended, and the share of all processors' time that was idle in it."""


@dataclass
class Timings:
    """What is noted while a command runs; may be called from any thread."""

    begun: float = field(default_factory=time.monotonic)
    start: float = 0.0
    programs: list[Span] = field(default_factory=list)
    stages: list[Span] = field(default_factory=list)
    runners: set[str] = field(default_factory=set)
    idle: list[Idle] = field(default_factory=list)
    ahead: list[str] = field(default_factory=list)
    _open: dict[str, tuple[str, float]] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def note_start(self) -> None:
        """Note how long this process took to come here: its interpreter, and what was imported."""
        self.start = max(0.0, _age_of_this_process())
        threading.Thread(target=self._look_at_processors, daemon=True).start()

    def _look_at_processors(self) -> None:
        """Note again and again how idle the processors were, until this process ends."""
        begun, before = time.monotonic(), _idle_seconds()
        while True:
            time.sleep(_LOOK_EVERY)
            now, idle = time.monotonic(), _idle_seconds()
            share = (idle - before) / ((now - begun) * (psutil.cpu_count() or 1))
            with self._guard:
                self.idle.append((begun, now, min(1.0, max(0.0, share))))
            begun, before = now, idle

    def note_program(self, name: str, begun: float) -> None:
        """Note that a program which was begun then has ended now."""
        with self._guard:
            self.programs.append((name, begun, time.monotonic()))

    def note_runner(self, name: str) -> None:
        """Note that a program of this name is a runner, which is what a matrix is there for."""
        with self._guard:
            self.runners.add(name)

    def note_stage(self, subject: str, stage: str) -> None:
        """Note that a subject is in a stage from now on, and was in another one until now."""
        now = time.monotonic()
        with self._guard:
            before = self._open.pop(subject, None)
            if before is not None:
                self.stages.append((before[0], before[1], now))
            if stage not in _ENDS:
                self._open[subject] = (stage, now)

    def lines(self) -> list[str]:
        """Return the account for people: totals, then programs and stages by the time that they took."""
        whole = time.monotonic() - self.begun
        waited = covered(self.programs)
        return [
            f"timings: {self.start + whole:.3f} s",
            *self._bounds(whole),
            f"  {self.start:8.3f} s  start of the interpreter, imports",
            f"  {waited:8.3f} s  waiting for programs",
            *(f"      {line}" for line in _by_name(self.programs)),
            f"  {max(0.0, whole - waited):8.3f} s  envmgr itself",
            *(["  stages (several at a time overlap):"] if self.stages else []),
            *(f"      {line}" for line in _by_name(self.stages)),
            *(f"  experiments: {line}" for line in self.ahead),
        ]

    def _bounds(self, whole: float) -> list[str]:
        """Return for how long the network or a runner was waited for: no work of envmgr's own makes that shorter."""
        net = [span for span in self.stages if span[0] in _NETWORK_STAGES]
        net += [span for span in self.programs if span[0] in _NETWORK_PROGRAMS]
        runs = [span for span in self.programs if span[0] in self.runners]
        both, all_of_it = covered(net + runs), self.start + whole
        if not both:
            return []
        parts = ((covered(net), "the network: indexes and downloads"), (covered(runs), "runners"))
        return [
            f"  {both:8.3f} s  network or a runner ({100 * both / all_of_it:.0f} % of the time)",
            *(f"      {part:8.3f} s  {name}" for part, name in parts if part),
            f"  {all_of_it - both:8.3f} s  neither{self._busy_besides(net + runs)}",
        ]

    def _busy_besides(self, spans: list[Span]) -> str:
        """Return in words how busy the processors were while none of the spans was open."""
        with self._guard:
            looks = tuple(self.idle)
        merged = merge(spans)
        outside = [(ended - begun - overlap(merged, begun, ended), idle) for begun, ended, idle in looks]
        whole = sum(seconds for seconds, _ in outside)
        if not whole:
            return ""
        return f"; processors were {100 * (1 - sum(seconds * idle for seconds, idle in outside) / whole):.0f} % busy"


def _age_of_this_process() -> float:
    """Return the seconds since this process began; psutil would add to a boot time that is told in whole seconds."""
    if psutil.LINUX:
        uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
        fields = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return uptime - int(fields[_STARTED]) / os.sysconf("SC_CLK_TCK")
    return time.time() - psutil.Process().create_time()


_LOOK_EVERY = 0.25
"""Seconds between two looks at the processors."""

_STARTED = 19
"""Where the start of a process stands among the fields behind its name."""

_OWN_SCRIPTS = Path(__file__).parent.parent

_NETWORK_STAGES = frozenset({"look up", "fetch"})
"""The stages of a subject while indexes are asked or something is downloaded for it."""

_NETWORK_PROGRAMS = frozenset({"uv pip compile", "uv python install"})

AHEAD = "ahead"
"""The stage of an event that tells what was done before it was asked for."""

_ENDS = frozenset({"built", "ready", "failed", "done"})


def merge(spans: Iterable[Span]) -> list[tuple[float, float]]:
    """Return when at least one of the spans was open, in order.

    >>> merge([("a", 0.0, 2.0), ("b", 1.0, 3.0), ("c", 5.0, 6.0)])
    [(0.0, 3.0), (5.0, 6.0)]
    """
    merged: list[tuple[float, float]] = []
    for _, begun, ended in sorted(spans, key=lambda span: span[1]):
        if merged and begun <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], ended))
        else:
            merged.append((begun, ended))
    return merged


def overlap(merged: list[tuple[float, float]], begun: float, ended: float) -> float:
    """Return the seconds of a while in which one of what `merge` returns was open.

    >>> overlap([(0.0, 3.0), (5.0, 6.0)], 2.0, 5.5)
    1.5
    """
    total = 0.0
    for first, last in merged[max(0, bisect_right(merged, (begun, inf)) - 1) :]:
        if first >= ended:
            break
        total += max(0.0, min(last, ended) - max(first, begun))
    return total


def covered(spans: Iterable[Span]) -> float:
    """Return the seconds in which at least one of the spans was open.

    >>> covered([("a", 0.0, 2.0), ("b", 1.0, 3.0), ("c", 5.0, 6.0)])
    4.0
    """
    return sum(ended - begun for begun, ended in merge(spans))


def _idle_seconds() -> float:
    """Return for how long processors have had nothing to do, all taken together, since the machine was started."""
    told = psutil.cpu_times()
    return float(told.idle + getattr(told, "iowait", 0.0))


def _by_name(spans: Iterable[Span]) -> list[str]:
    sums: dict[str, list[float]] = {}
    for name, begun, ended in spans:
        sums.setdefault(name, []).append(ended - begun)
    ordered = sorted(sums.items(), key=lambda item: -sum(item[1]))
    return [
        f"{sum(each):8.3f} s  {name}" + (f" ({len(each)} times)" if len(each) > 1 else "") for name, each in ordered
    ]


class TimedProcess(RealProcess):
    """Runs processes and notes how long each took."""

    def __init__(self, environment: Mapping[str, str], timings: Timings) -> None:
        super().__init__(environment)
        self._timings = timings

    def _alike(self) -> TimedProcess:
        return TimedProcess(self._environment, self._timings)

    def run(self, request: ProcessRequest) -> Completed:
        """Run one process; its time is noted under the name of its program, or of the script that it runs."""
        begun = time.monotonic()
        try:
            return super().run(request)
        finally:
            self._timings.note_program(program_of(request.argv), begun)


class TimedListener(Listener):
    """Hears of stages for the timings, and passes all that it hears on."""

    def __init__(self, timings: Timings, other: Listener) -> None:
        self._timings = timings
        self.on_plan = other.on_plan  # type: ignore[method-assign]
        self.on_terminal_taken = other.on_terminal_taken  # type: ignore[method-assign]
        self.on_further = other.on_further  # type: ignore[method-assign]
        self.on_cell_finished = other.on_cell_finished  # type: ignore[method-assign]
        self._other = other

    def on_cell_started(self, cell: Cell, round_number: int) -> None:
        """Note what its runner is called and pass it on."""
        self._timings.note_runner(f"{cell.runner}.py")
        self._other.on_cell_started(cell, round_number)

    def on_event(self, event: Event) -> None:
        """Note the stage and pass the event on."""
        if event.stage == AHEAD:
            self._timings.ahead.append(event.detail)
            return
        if event.subject:
            self._timings.note_stage(event.subject, event.stage)
        self._other.on_event(event)


def program_of(argv: tuple[str, ...]) -> str:
    """Return what a process is called in the account: `uv pip install`, `inspect.py`, `uname`.

    Where a script of envmgr's own runs another one, it is the other.

    >>> program_of(("/x/uv", "pip", "install", "--no-deps")), program_of(("/e/bin/python3.8", "-I", "/p/inspect.py"))
    ('uv pip install', 'inspect.py')
    """
    name = PurePath(argv[0]).stem if argv[0].endswith(".exe") else PurePath(argv[0]).name
    if name == "uv":
        words = [word for word in argv[1:] if not word.startswith("-") and "/" not in word and "\\" not in word]
        return " ".join(["uv", *words[:2], *(("--dry-run",) if "--dry-run" in argv else ())])
    scripts = [PurePath(word) for word in argv[1:] if word.endswith(".py")]
    if len(scripts) > 1 and scripts[0].is_relative_to(_OWN_SCRIPTS):
        scripts = scripts[1:]
    return scripts[0].name if scripts else name
