from pathlib import Path

from envmgr.app.experiments.commands import Bench
from envmgr.app.experiments.variables import probe_environment
from envmgr.model.finding import Variables, World

FOLDERS = {"DATA": "{project}/data", "CACHE": "{home}/cache", "LIBRARY": "{venv}/lib"}


def test_the_folders_of_cells_stand_in_the_variables_of_a_world():
    bench = Bench(Path("uv"), {}, {}, Path("/me"), Path("/me"), {}, ("-c", ""), project=Path("/one"))
    world = World(python="3.11", variables=Variables(set=FOLDERS))
    found = probe_environment(bench, world, Path("/env"), Path("/apart"))
    assert found == {"DATA": "/one/data", "CACHE": "/apart/cache", "LIBRARY": "/env/lib", "HOME": "/apart"}
