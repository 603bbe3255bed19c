"""Facts about one machine, as data: what can be gathered there can be planned with elsewhere."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from envmgr.model.lacking import Lacking
from envmgr.model.noun import Noun
from envmgr.model.platform import Platform

System = Literal["linux", "macos", "windows"]


class Interpreter(Noun):
    """One Python that can serve as the base of an env.

    `executable` is the real file (shims and links resolved). `version` is full (`3.8.18`), `build` what `sys.version`
    says of its build, `arch` the interpreter's own architecture; `translated` tells that it runs through Rosetta or
    the like. `identity` is a digest of the file's size, time and inode. `source` tells who found it (`pyenv`, `path`,
    `uv`, `conda`, `py-launcher`, `option`).
    """

    executable: str
    implementation: str = "CPython"
    version: str
    build: str = ""
    arch: str
    system: System
    translated: bool = False
    base_prefix: str = ""
    identity: str = ""
    abi_flags: str = ""
    libc: str = ""
    source: str = "path"

    @property
    def minor(self) -> str:
        """The version's first two numbers."""
        return ".".join(self.version.split(".")[:2])


class RejectedInterpreter(Noun):
    """A Python that was found and cannot serve as a base: what is wrong with it."""

    executable: str
    source: str
    reason: str


class Accelerator(Noun):
    """One physical device besides the processor; `apis` are those by which it can be reached on this host now."""

    name: str
    vendor: str = ""
    kind: Literal["gpu", "cpu", "npu"] = "gpu"
    apis: tuple[str, ...] = ()
    detail: str = ""


class Driver(Noun):
    """A driver or library that an API needs: Metal, CUDA, ROCm, an OpenCL ICD or loader."""

    api: str
    name: str
    version: str = ""
    path: str = ""
    usable: bool = True
    detail: str = ""


class Lack(Noun):
    """Something that this host lacks, and how to get it for each package manager (`debian`, `brew`, `windows`)."""

    need: Literal["library", "driver", "os", "toolkit", "hardware", "installer", "interpreter", "setting"]
    name: str
    why: str
    minimum: str = ""
    how: dict[str, str] = Field(default_factory=dict)


class InstallerSettings(Noun):
    """What pip's and uv's own configuration on this host says; URLs are shown without credentials.

    `native_tls` tells that the system's own certificate store is asked for, `keyring` that passwords are asked of the
    program `keyring`, `netrc` the file that has passwords for hosts, `insecure_hosts` the hosts whose certificates
    are not checked, `index_strategy` in uv's words which index counts where several have a name (None: the best version
    of all). `origins` names for each setting the file
    or variable that it came from.
    """

    index_url: str | None = None
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    certificate: str | None = None
    native_tls: bool = False
    keyring: bool = False
    netrc: str | None = None
    proxies: dict[str, str] = Field(default_factory=dict)
    no_index: bool = False
    insecure_hosts: tuple[str, ...] = ()
    index_strategy: str | None = None
    origins: dict[str, str] = Field(default_factory=dict)


class HostFacts(Noun):
    """One machine: system, processor, accelerators, drivers, interpreters, installer settings.

    `identity` is a digest that tells machines of one name apart; facts that are older than it have none.
    `libc` is `glibc 2.36` or `musl 1.2` on Linux, empty elsewhere. `memory` is in bytes. `fetchable_pythons` are the
    Pythons that uv can fetch: `3.8` for the machine itself, `3.8-macos-x86_64` where it would run translated. `tools`
    maps the programs that were looked for and found to their paths.
    """

    schema_: Literal[1] = Field(default=1, alias="schema", serialization_alias="schema")
    name: str
    identity: str = ""
    system: System
    os_version: str = ""
    machine: str
    libc: str = ""
    processor: str = ""
    cores: int = 0
    memory: int = 0
    cpu_features: tuple[str, ...] = ()
    accelerators: tuple[Accelerator, ...] = ()
    drivers: tuple[Driver, ...] = ()
    interpreters: tuple[Interpreter, ...] = ()
    rejected_interpreters: tuple[RejectedInterpreter, ...] = ()
    fetchable_pythons: tuple[str, ...] = ()
    settings: InstallerSettings = InstallerSettings()
    lacks: tuple[Lack, ...] = ()
    tools: dict[str, str] = Field(default_factory=dict)


class Match(Noun):
    """Whether a host can have a target: with which interpreter, or why not.

    `fetch` is the Python request that uv can fetch when no interpreter is there yet. `reason` is empty when it fits;
    when it does not, `lacking` names what is not there.
    """

    platform: Platform | None = None
    interpreter: Interpreter | None = None
    fetch: str | None = None
    reason: str = ""
    lacking: Lacking | None = None
    considered: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """True when an interpreter is there or can be fetched."""
        return not self.reason
