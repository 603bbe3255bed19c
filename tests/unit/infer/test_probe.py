"""The probe of an import surface, run by this Python on modules made on the spot."""

import ast
import subprocess
import sys

import pytest

from envmgr.infer.probe import make_probe, read_proof
from envmgr.infer.surface import surface_of

pytestmark = pytest.mark.integration


@pytest.fixture
def probed(tmp_path):
    def run(script, files, *, glance=False, local=()):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        code = make_probe([surface_of(ast.parse(script))], (), local=local, glance=glance).code
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
        )
        return read_proof(done.stdout, passed=done.returncode == 0), done

    return run


def lost(proof, *, required=True):
    return [each.name for each in proof.missing if each.required == required]


def test_what_is_there_is_told_by_name(probed):
    script = "import alpha.beta\nfrom alpha import GAMMA\nalpha.beta.delta, alpha.GAMMA"
    proof, _ = probed(script, {"alpha/__init__.py": "GAMMA = 1", "alpha/beta.py": "delta = 2"})
    assert proof.passed
    assert proof.imported == ("alpha.beta", "alpha")
    assert set(proof.resolved) == {"alpha.GAMMA", "alpha.beta.delta"}


def test_what_is_missing_is_told_and_the_first_failure_shown(probed):
    script = "import alpha, nowhere\nfrom alpha import gone\nalpha.lost.deeper"
    proof, done = probed(script, {"alpha.py": ""})
    assert done.returncode == 1
    assert lost(proof) == ["nowhere", "alpha.gone", "alpha.lost"]
    assert "ModuleNotFoundError: No module named 'nowhere'" in done.stderr


def test_optional_imports_are_told_and_do_not_fail(probed):
    script = "import alpha\ntry:\n    import nowhere\nexcept ImportError:\n    pass\ndef f():\n    import elsewhere"
    proof, _ = probed(script, {"alpha.py": ""})
    assert proof.passed
    assert lost(proof, required=False) == ["nowhere", "elsewhere"]


def test_of_alternatives_one_is_enough(probed):
    proof, _ = probed("try:\n    import nowhere as a\nexcept ImportError:\n    import alpha as a", {"alpha.py": ""})
    assert proof.passed
    assert proof.imported == ("alpha",)


def test_a_module_that_ends_the_process_is_a_failure_and_not_the_end(probed):
    proof, _ = probed("import rude\nimport alpha", {"rude.py": "raise SystemExit(3)", "alpha.py": ""})
    assert lost(proof) == ["rude"]
    assert proof.imported == ("alpha",)


def test_attributes_of_objects_are_left_to_a_run(probed):
    proof, _ = probed(
        "from alpha import thing, Kind\nthing.x.y\nKind.of_instances", {"alpha.py": "thing = 3\nclass Kind: pass"}
    )
    assert proof.passed


def test_a_script_that_uses_thousands_of_names_fits_into_a_command_line(probed):
    used = [f"name_{number}" for number in range(3000)]
    script = "import alpha\n" + "".join(f"alpha.{name}\n" for name in (*used, "gone"))
    assert len(make_probe([surface_of(ast.parse(script))], ()).code) < 32_000
    proof, _ = probed(script, {"alpha.py": "".join(f"{name} = 1\n" for name in used)})
    assert lost(proof) == ["alpha.gone"]
    assert len(proof.resolved) == len(used)


def test_nothing_of_the_script_is_run(probed, tmp_path):
    proof, _ = probed("import alpha\nopen('made', 'w')\nalpha.go()", {"alpha.py": "def go(): open('made', 'w')"})
    assert proof.passed
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("script", "package", "certain"),
    [
        ("import alpha.gone", "", ["alpha.gone"]),
        ("from alpha import gone", "kept = 1", ["alpha.gone"]),
        ("import alpha\nalpha.gone.x", "", ["alpha.gone"]),
        ("import alpha\nalpha.kept", "kept = 1", []),
        ("import alpha\nalpha.beta", "", []),
        ("from alpha import gone", "from other import *", []),
        ("from alpha import gone", "def __getattr__(name): return 1", []),
        ("from alpha import gone", "globals()['gone'] = 1", []),
        ("from alpha import gone", "locals()['gone'] = 1", []),
        ("from alpha import gone", "async def gone(): pass", []),
        ("from alpha import gone", "import other\nglobals().update(other.__dict__)", []),
        ("from alpha import gone", "import sys\nfor name in ['gone']: setattr(sys.modules[__name__], name, 1)", []),
        ("from alpha import gone", "import sys\nsetattr(sys.modules[__name__], 'kept', 1)", ["alpha.gone"]),
        ("import alpha.gone", "import sys, types\nsys.modules['alpha.gone'] = types.ModuleType('gone')", []),
        ("import alpha.beta.gone", "", []),
    ],
)
def test_a_glance_tells_only_what_is_certain_and_imports_nothing(probed, script, package, certain):
    files = {"alpha/__init__.py": package + "\nprint('was run')", "alpha/beta.py": "", "other.py": "gone = 1"}
    proof, done = probed(script, files, glance=True)
    assert proof.glanced == bool(certain)
    if certain:
        assert lost(proof) == certain
        assert "was run" not in done.stdout
        assert done.returncode == 1


def test_the_probe_obeys_the_oldest_python():
    vermin = pytest.importorskip("vermin")
    code = make_probe([surface_of(ast.parse("import os"))], ()).code
    third = vermin.visit(code).minimum_versions()[1]
    assert third is not None
    assert third <= (3, 6)


@pytest.mark.parametrize(
    ("script", "passes"),
    [
        ("try:\n    import own\nexcept ImportError:\n    import nowhere", True),
        ("try:\n    import own, alpha\nexcept ImportError:\n    import nowhere", True),
        ("try:\n    import own, elsewhere\nexcept ImportError:\n    import nowhere", False),
        ("import own, alpha", True),
    ],
)
def test_a_module_of_the_authors_own_is_there_for_alternatives_too(probed, script, passes):
    proof, _ = probed(script, {"alpha.py": ""}, local=("own",))
    assert proof.passed == passes
