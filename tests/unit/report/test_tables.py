"""Hosts, devices, manifests, checks and histories as text."""

from envmgr.model.env import Check, Device, DeviceListing, StepState, Verification
from envmgr.model.host import Accelerator, Driver, HostFacts, Interpreter, Lack, Match
from envmgr.model.outcome import Phase
from envmgr.report import tables
from envmgr.report.look import Look

LOOK = Look(80)
PYTHON = Interpreter(
    executable="/pythons/3.8/bin/python3.8",
    version="3.8.18",
    arch="x86_64",
    system="macos",
    translated=True,
    source="pyenv",
)
LACK = Lack(
    need="library",
    name="libOpenCL.so",
    why="PlaidML opens it by its unversioned name",
    minimum="2.3",
    how={"debian": "apt-get install ocl-icd-opencl-dev"},
)


def test_doctor(golden):
    facts = HostFacts(
        name="box",
        system="macos",
        os_version="12.3",
        machine="arm64",
        processor="Apple M1",
        cores=8,
        memory=16 * 1024**3,
        accelerators=(Accelerator(name="Apple M1", vendor="Apple", apis=("metal", "mps")), Accelerator(name="none")),
        drivers=(
            Driver(api="metal", name="Metal", version="2.4"),
            Driver(api="opencl", name="pocl", usable=False, detail="its library is not there"),
        ),
        interpreters=(PYTHON,),
        lacks=(LACK,),
    )
    possible = [
        ("plaidml-0.7.0@py3.8", Match(interpreter=PYTHON)),
        ("torch-1.13", Match(reason="wanted Python 3.8 on arm64, found \x1b[31mx86_64[/red] only")),
        ("keras-jax", Match(fetch="3.12")),
    ]
    golden("doctor.txt", tables.doctor(facts, possible, LOOK))


def test_manifests(golden):
    listed = [
        tables.Listed("plaidml-0.7.0", "PlaidML 0.7.0 under Keras 2.2.4", Match(), "built"),
        tables.Listed("torch-1.13", "the first settled MPS", Match(reason="no")),
    ]
    golden("manifests.txt", tables.manifests(listed, LOOK))


def test_devices(golden):
    listing = DeviceListing(
        backend="plaidml",
        version="0.6.4",
        devices=(
            Device(id="llvm_cpu.0", api="llvm", physical="Xeon"),
            Device(id="opencl_cpu.0", api="opencl", experimental=True, valid=False, detail="no entry for it"),
        ),
        built={"cuda": True, "mps": False},
        available={"cuda": True},
        reasons={"mps": "this is linux"},
    )
    golden("devices.txt", tables.devices("plaidml-0.6.4", listing, [("Radeon", "the host has it through Metal")], LOOK))


def test_devices_of_a_backend_that_cannot_be_asked():
    listing = DeviceListing(backend="plaidml", error="ImportError: x", error_phase=Phase.IMPORT)
    assert "the backend cannot be asked (import): ImportError: x" in tables.devices("p", listing, (), LOOK)


def test_verification(golden):
    checks = (
        Check(name="arch", passed=True, subject="python", wanted="x86_64", found="x86_64"),
        Check(name="installed", passed=False, subject="plaidml", wanted="0.6.4", found="0.7.0", hint="envmgr build m"),
        Check(name="opencl", passed=False, lacks=(LACK,)),
    )
    found = Verification(manifest="plaidml-0.6.4", variant="py3.8", checks=checks)
    golden("verification.txt", tables.verification(found, LOOK))
    good = Verification(manifest="m", variant="default", checks=checks[:1])
    assert "all 1 checks passed" in tables.verification(good, LOOK)


def state(number, version, core, exit_code=0, mismatches=()):
    return StepState(
        number=number,
        asked=f"install plaidml-keras=={version}",
        installer="pip",
        exit_code=exit_code,
        resolved={"plaidml-keras": version, "plaidml": core, "numpy": "1.21.6"},
        mismatches=mismatches,
    )


STATES = (
    state(1, "0.7.0", "0.7.0"),
    state(2, "0.6.4", "0.7.0", mismatches=("plaidml-keras 0.6.4 stands on plaidml 0.7.0",)),
    state(3, "0.7.0", "0.7.0", exit_code=1),
)


def test_steps(golden):
    golden("steps.txt", tables.steps(STATES, ("plaidml-keras", "plaidml"), LOOK))


def test_steps_show_what_changed_when_nothing_is_named():
    assert tables.steps(STATES, (), LOOK).splitlines()[0].split() == ["step", "asked", "plaidml-keras", "together"]


def test_steps_show_what_is_absent():
    removed = STATES[0].model_copy(update={"resolved": {}})
    assert "absent" in tables.steps((removed,), ("plaidml",), LOOK)
