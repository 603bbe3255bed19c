"""What envmgr knows of the libraries that compute: one module each."""

from __future__ import annotations

from collections.abc import Mapping

from envmgr.backends.backend import Backend, api_of, attributed, operation_check
from envmgr.backends.jax import Jax
from envmgr.backends.plaidml import PlaidML, core_and_bridge
from envmgr.backends.tensorflow import TensorFlow
from envmgr.backends.torch import Torch
from envmgr.errors import ManifestError

__all__ = ["Backend", "api_of", "attributed", "backend_for", "invariants", "names", "operation_check"]

_BACKENDS: tuple[Backend, ...] = (PlaidML(), TensorFlow(), Jax(), Torch())


def names() -> tuple[str, ...]:
    """Return the names that a manifest may give as its backend."""
    return tuple(backend.name for backend in _BACKENDS)


def backend_for(name: str) -> Backend:
    """Return the backend of that name; raises ManifestError for one that envmgr does not know."""
    for backend in _BACKENDS:
        if backend.name == name:
            return backend
    raise ManifestError(f"unknown backend {name}", f"wanted one of {', '.join(names())}; found {name}")


def invariants(resolved: Mapping[str, str]) -> tuple[str, ...]:
    """Return what does not belong together among installed versions (by normalised name), one sentence each."""
    check = core_and_bridge(resolved)
    if check is None or check.passed:
        return ()
    return (f"core and bridge apart: plaidml {resolved['plaidml']} under plaidml-keras {resolved['plaidml-keras']}",)
