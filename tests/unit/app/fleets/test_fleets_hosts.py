"""What the hosts of a fleet announce, and which do not fit."""

import pytest

from envmgr.app.fleets.hosts import Announced, hosts_of
from envmgr.app.version import version
from envmgr.errors import FleetError
from envmgr.model.host import HostFacts

FACTS = HostFacts(schema=1, name="box", system="linux", machine="x86_64")


def announced(number, identity=""):
    facts = FACTS.model_copy(update={"identity": identity})
    return Announced(envmgr=number, python="3.12.1", facts=facts).model_dump_json(by_alias=True)


def test_hosts_go_by_the_names_that_they_have_in_the_fleet():
    hosts = hosts_of([("b", announced(version())), ("a", announced(version()))])
    assert [(name, facts.name) for name, facts in hosts.items()] == [("a", "a"), ("b", "b")]


def test_another_envmgr_is_refused_with_the_remedy():
    with pytest.raises(FleetError, match="box-2 does not fit") as caught:
        hosts_of([("box", announced(version())), ("box-2", announced("0.0.9"))])
    assert "found envmgr 0.0.9" in caught.value.why
    assert f"envmgr[fleet]=={version()}" in caught.value.hint


@pytest.mark.parametrize("text", ["", "{}", '{"envmgr": 3}'])
def test_what_announces_itself_otherwise_is_refused(text):
    with pytest.raises(FleetError, match="does not fit"):
        hosts_of([("box", text)])


def test_a_fleet_without_hosts_is_an_error():
    with pytest.raises(FleetError, match="no host"):
        hosts_of([])


def test_two_workers_of_one_machine_are_one_host_and_two_machines_of_one_name_are_refused():
    one, other = announced(version(), "3f2a"), announced(version(), "77b1")
    assert list(hosts_of([("box", one), ("box", one)])) == ["box"]
    with pytest.raises(FleetError, match="two hosts of the fleet are called box") as caught:
        hosts_of([("box", one), ("box", other)])
    assert "--name box-2" in caught.value.hint
