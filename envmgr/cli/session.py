"""One command's life: do, show, exit; an error in three parts, never a traceback unless asked for."""

from __future__ import annotations

import json
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

from envmgr.errors import EnvmgrError

INTERRUPTED = 130
INTERNAL = 70


@dataclass(frozen=True, slots=True)
class Options:
    """What every command was told."""

    command: str
    json: bool
    project: Path | None
    debug: bool
