from pathlib import Path

import pytest

from envmgr.app.experiments.commands import Bench
from envmgr.app.experiments.variables import caches, probe_environment
from envmgr.model.finding import Variables, World

FOLDERS = {"DATA": "{project}/data", "CACHE": "{home}/cache", "LIBRARY": "{venv}/lib"}


def test_the_folders_of_cells_stand_in_the_variables_of_a_world():
    bench = Bench(Path("uv"), {}, {}, Path("/me"), Path("/me"), {}, ("-c", ""), project=Path("/one"))
    world = World(python="3.11", variables=Variables(set=FOLDERS))
    found = probe_environment(bench, world, Path("/env"), Path("/apart"))
    assert found == {"DATA": "/one/data", "CACHE": "/apart/cache", "LIBRARY": "/env/lib", "HOME": "/apart"}


@pytest.mark.parametrize(
    ("environment", "system", "cache"),
    [
        ({}, "linux", "/me/.cache/uv"),
        ({"XDG_CACHE_HOME": "/c"}, "macos", "/c/uv"),
        ({}, "windows", "/me/AppData/Local/uv/cache"),
        ({"LOCALAPPDATA": "/local", "XDG_CACHE_HOME": "/c"}, "windows", "/local/uv/cache"),
        ({"UV_CACHE_DIR": "/named"}, "windows", "/named"),
    ],
)
def test_the_cache_of_uv_is_where_the_system_has_it(environment, system, cache):
    assert Path(caches(environment, Path("/me"), system)["UV_CACHE_DIR"]) == Path(cache)
