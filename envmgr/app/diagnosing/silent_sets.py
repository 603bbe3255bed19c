"""A set of requirements that was built and passes its probe: does its backend list the device that was asked for?"""

from __future__ import annotations

from dataclasses import replace

from pydantic import ValidationError

from envmgr.app.diagnosing.cases import Asked, place_here, world_asked
from envmgr.app.diagnosing.good_end import laboratory_at
from envmgr.app.diagnosing.origin import own_at
from envmgr.app.diagnosing.runs import backend_of
from envmgr.app.hosting import facts_here
from envmgr.app.silent_failures import listed
from envmgr.app.workplace import Workplace
from envmgr.backends import attributed, backend_for
from envmgr.diagnose import silent
from envmgr.model.env import DeviceListing
from envmgr.model.finding import Finding, World

_MARK = "@@"
_SECONDS = 300.0
_CODE = """
import json, runpy, sys
with open("in.json", "w") as stream:
    json.dump({{"device": None}}, stream)
sys.argv = ["probe", "--request", "in.json", "--report", "out.json"]
try:
    runpy.run_path({script!r}, run_name="__main__")
except SystemExit:
    pass
with open("out.json") as stream:
    print("{mark}" + json.dumps(json.load(stream)))
"""


def set_without_device(workplace: Workplace, asked: Asked, device: str) -> Finding | None:
    """Return the finding on a set whose backend does not list a device that this host has, or is built without it.

    The set may be an environment that stands: then it is asked of that one.
    """
    facts = facts_here(workplace)
    name = backend_of(workplace, asked)
    if name is None:
        return None
    own = own_at(workplace, asked.source)
    code = _CODE.format(script=str(backend_for(name).probe), mark=_MARK)
    with workplace.files.scratch("device") as room:
        laboratory = laboratory_at(place_here(workplace, facts), room, asked.budget)
        if own is None:
            world = world_asked(workplace, asked, facts)
            built = laboratory.stand(world)
            said = laboratory.ask(world, built.folder, code, _SECONDS).stdout
            resolved = laboratory.resolved(built)
        else:
            world = World(python=own.version)
            laboratory.bench = replace(laboratory.bench, probe=("-c", code), kept=(own.prefix,))
            said = laboratory.observe_standing(world, own.prefix, own.python).text
            resolved = own.standing.resolved
    told = next((line.removeprefix(_MARK) for line in said.splitlines() if line.startswith(_MARK)), "")
    try:
        listing = attributed(DeviceListing.model_validate_json(told), facts)
    except ValidationError:
        return None
    if listing.error:
        return None
    check = listed(name, device, listing, facts)
    given = (f"--python {world.python}", *(f"--require {line}" for line in world.requirements))
    label = " ".join((*((f"--from {asked.source}",) if asked.source else given), f"--device {device}"))
    return silent.finding_of([check], silent.Asked(label, world.requirements, resolved, backend=name))
