import json
from pathlib import Path

import pytest

from envmgr.app.diagnosing.foreign_log import read_facts
from envmgr.diagnose.records.host_facts import facts_of_host
from envmgr.model.host import HostFacts

HOSTS = sorted((Path(__file__).resolve().parents[2] / "hosts").glob("*.json"))


@pytest.mark.parametrize("path", HOSTS, ids=lambda path: path.stem)
def test_facts_that_envmgr_gathers_can_be_judged(path):
    host = HostFacts.model_validate_json(path.read_text())
    facts = read_facts(path.read_text())
    assert facts == facts_of_host(host)
    assert facts.machine == host.machine
    assert len(facts.gpus) == sum(one.kind == "gpu" for one in host.accelerators)


def test_facts_of_an_envelope_are_found_in_it():
    assert read_facts(json.dumps({"data": {"facts": {"system": "Linux"}}})).system == "Linux"


def test_what_holds_no_facts_is_an_error():
    with pytest.raises(ValueError, match="Expecting"):
        read_facts("no json")
