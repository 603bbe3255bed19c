"""Is an env what was asked, as far as its record tells: the checks, and the finding that they come to."""

from __future__ import annotations

from collections.abc import Iterable

from envmgr.app.building import Built
from envmgr.backends import api_of, backend_for
from envmgr.backends.keras import plain_name
from envmgr.model.env import Check, DeviceListing
from envmgr.model.finding import Finding
from envmgr.model.host import HostFacts
from envmgr.model.outcome import Outcome

_CPU_LABELS = ("cpu",)


def static_checks(built: Built) -> tuple[Check, ...]:
    """Return what can be told of backend and device without a look into the env."""
    return (*_keras_variable(built), *_cpu_build(built))


def device_check(built: Built, listing: DeviceListing, facts: HostFacts) -> tuple[Check, ...]:
    """Return whether the device that the manifest asks for is listed, unless it is the host that lacks it."""
    manifest = built.target.manifest
    if not manifest.device or not manifest.backend or listing.error:
        return ()
    return (listed(manifest.backend, manifest.device, listing, facts),)


def listed(name: str, device: str, listing: DeviceListing, facts: HostFacts) -> Check:
    """Return whether a backend lists a device; what only the host lacks is not amiss."""
    backend = backend_for(name)
    subject = f"{name} {listing.version}".strip()
    if any(each.valid and backend.matches(device, each) for each in listing.devices):
        return Check(name="device", passed=True, subject=subject, wanted=device, found="listed")
    api = api_of(device)
    if listing.built.get(api) is False:
        here = any(api in card.apis for card in facts.accelerators)
        return _without(subject, device, api, "" if here else "; this host has no such card either")
    outcome, why = backend.absent(device, listing, facts)
    return Check(name="device", passed=outcome is not Outcome.NOT_OFFERED, subject=subject, wanted=device, found=why)


def finding_on(built: Built, checks: Iterable[Check], facts: HostFacts) -> Finding | None:
    """Return the finding on an env that installs and is not what was asked for, None if it is."""
    wrong = [check for check in checks if not check.passed]
    if not wrong:
        return None
    from envmgr.diagnose.silent import Asked, finding_of

    manifest, interpreter = built.target.manifest, built.env.interpreter
    arch = {"arm64": "aarch64"}.get(facts.machine.lower(), facts.machine.lower())
    backend = manifest.backend or ""
    asked = Asked(
        label=built.target.label,
        requirements=manifest.requirements,
        resolved=built.env.resolved,
        backend=backend,
        backend_value=backend_for(backend).base_environment().get("KERAS_BACKEND", "") if backend else "",
        native_python=f"cpython-{interpreter.minor}-{facts.system}-{arch}",
    )
    return finding_of(wrong, asked)


def _keras_variable(built: Built) -> tuple[Check, ...]:
    """A manifest that names one backend and sets Keras to another."""
    manifest = built.target.manifest
    named = manifest.env.get("KERAS_BACKEND", "")
    if not named or not manifest.backend or plain_name(named) == plain_name(manifest.backend):
        return ()
    version = built.env.resolved.get("keras", "")
    return (
        Check(
            name="keras",
            passed=False,
            subject=f"keras {version}".strip(),
            wanted=f"the backend {manifest.backend}",
            found=f"{named}, from KERAS_BACKEND",
            hint=f"take KERAS_BACKEND out of the manifest's [env], or name {plain_name(named)} as its backend",
        ),
    )


def _cpu_build(built: Built) -> tuple[Check, ...]:
    """A build for processors alone where a device was asked for, told by its local version."""
    manifest = built.target.manifest
    api = api_of(manifest.device or "")
    if api not in {"cuda", "rocm"} or not manifest.backend:
        return ()
    version = built.env.resolved.get(manifest.backend, "")
    if version.partition("+")[2] not in _CPU_LABELS:
        return ()
    return (_without(f"{manifest.backend} {version}", manifest.device or "", api),)


def _without(subject: str, device: str, api: str, more: str = "") -> Check:
    name = subject.partition(" ")[0]
    return Check(
        name="device",
        passed=False,
        subject=subject,
        wanted=device,
        found=f"is a build without {api} (for processors alone){more}",
        hint=f"take a build of {name} that has {api}: name its index under [[index]]",
    )
