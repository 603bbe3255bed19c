"""Which variables decide what: what an interpreter loads, what installers do, how libraries compute; the one list."""

from __future__ import annotations

import re

OF_LOADING = ("PYTHON", "LD_", "DYLD_")
"""Beginnings of variables that say where an interpreter and the loader look."""

OF_PYTHON = (*OF_LOADING, "VIRTUAL_ENV", "CONDA_")
"""Beginnings of variables that change what an interpreter imports: probes get them, installers do not."""

_OF_LIBRARIES = ("KERAS_", "PLAIDML_", "TF_", "XLA_", "JAX_", "CUDA_", "OMP_", "PROTOCOL_BUFFERS")
_OF_INSTALLERS = re.compile(
    r"^(PIP|UV|SETUPTOOLS|DISTUTILS|CIBW|MAX_JOBS|CMAKE|CARGO)|^(CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|AR|LD|RUSTFLAGS)$"
    r"|_PROXY$|^(no|https?|all)_proxy$"
)
_OF_TEXT = "LC_ALL"
_EVERYDAY = re.compile(
    r"^(PATH|HOME|USER|LOGNAME|SHELL|TERM(_.*)?|COLORTERM|PWD|OLDPWD|SHLVL|LANG|LANGUAGE|TMPDIR|TEMP|TMP|HOSTNAME|_|DISPLAY|WAYLAND.*|XDG_.*|DBUS.*"
    r"|SSH_.*|LS_COLORS|EDITOR|VISUAL|PAGER|LESS.*|MAIL|HIST.*|PS1|NO_COLOR|FORCE_COLOR|ENVMGR_.*|UV_CACHE_DIR|UV_PYTHON_INSTALL_DIR|RUSTUP_HOME"
    r"|CARGO_HOME|PYENV_ROOT|PYENV_SHELL|DEBIAN_FRONTEND|CI|GIT_.*|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|USERPROFILE|PROGRAM.*|GPG_.*"
    r"|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONSTARTUP|PYTHON_HISTORY)$"
)


def steers_loading(name: str) -> bool:
    """Tell whether a variable says where an interpreter or the loader looks, or how text is read.

    >>> steers_loading("PYTHONPATH"), steers_loading("KERAS_BACKEND")
    (True, False)
    """
    return name.startswith(OF_LOADING) or name == _OF_TEXT


def steers_installers(name: str) -> bool:
    """Tell whether a variable is read by installers, or by what they have built.

    >>> steers_installers("PIP_INDEX_URL"), steers_installers("https_proxy"), steers_installers("KERAS_BACKEND")
    (True, True, False)
    """
    return _OF_INSTALLERS.search(name) is not None


def steers_libraries(name: str) -> bool:
    """Tell whether a variable chooses how a library computes: its backend, its devices.

    >>> steers_libraries("KERAS_BACKEND"), steers_libraries("PATH")
    (True, False)
    """
    return name.startswith(_OF_LIBRARIES)


def is_everyday(name: str) -> bool:
    """Tell whether a variable is one that every session has, or a tool's own, and steers nothing here.

    >>> is_everyday("PATH"), is_everyday("PYTHONPATH")
    (True, False)
    """
    return _EVERYDAY.match(name) is not None
