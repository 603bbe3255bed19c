"""Machines of one name are told apart, and nothing of them is given away."""

import re

import pytest

from envmgr.host.identity import identity_of
from envmgr.host.machine import Machine

XEON = Machine(os_version="Debian 12", machine="x86_64", processor="Xeon", cores=2, memory=1 << 34)
ID = "0123456789abcdef0123456789abcdef"
MAC = '    "IOPlatformUUID" = "564D1234-0000-0000-0000-ABCDEF012345"\n'
WINDOWS = "HKEY_LOCAL_MACHINE\\SOFTWARE\n    MachineGuid    REG_SZ    a1b2c3d4-0000\n"


def of(machine, linux_id=ID, **facts):
    means, around = machine(files={"/etc/machine-id": f"{linux_id}\n"} if linux_id else {})
    return identity_of(means, around, Machine(**{"machine": "x86_64", "processor": "Xeon", **facts}))


def test_it_stays_the_same_through_updates_and_more_memory(machine):
    assert of(machine) == of(machine, os_version="Debian 13", memory=1 << 35, libc="glibc 2.41")
    assert re.fullmatch("[0-9a-f]{12}", of(machine))


def test_another_installation_and_another_processor_are_another_machine(machine):
    assert len({of(machine), of(machine, "f" * 32), of(machine, processor="EPYC"), of(machine, "")}) == 4


def test_nothing_of_it_can_be_read(machine):
    assert ID[:12] not in of(machine)


@pytest.mark.parametrize(
    ("system", "command", "said", "other"),
    [
        ("macos", "ioreg -rd1 -c IOPlatformExpertDevice", MAC, MAC.replace("564D", "0000")),
        ("windows", "reg query", WINDOWS, WINDOWS.replace("a1b2", "0000")),
    ],
)
def test_macos_and_windows_are_asked_for_theirs(machine, system, command, said, other):
    found = {identity_of(*machine(system, outputs={command: text}), XEON) for text in (said, other, "")}
    assert len(found) == 3
