import pytest

pytestmark = pytest.mark.integration


def test_a_sound_environment_gets_no_finding(user):
    user.wheel("alpha", "1.0", "value = 1\n")
    user.variables["ALPHA_UNUSED"] = "1"
    (user.folder / "alpha_notes.py").write_text("")
    assert user.diagnose(["alpha==1.0"], "import alpha; assert alpha.value == 1") is None


def test_a_variable_that_breaks_it_is_found_and_the_user_keeps_every_file(user):
    user.wheel("alpha", "1.0", "import os\nif os.environ.get('ALPHA_MODE'): raise ValueError('bad mode')\n")
    user.variables |= {"ALPHA_MODE": "odd", "BETA_MODE": "x"}
    (user.home / ".alpha").mkdir()
    (user.home / ".alpha" / "settings.json").write_text("{}")
    before = user.digest()
    finding = user.diagnose(["alpha==1.0"], "import alpha")
    assert (finding.cause.kind, finding.cause.name) == ("env-state", "ALPHA_MODE")
    assert finding.fix.model_dump(exclude_none=True)["env"] == {"unset": ("ALPHA_MODE",)}
    assert finding.confirmed
    assert user.digest() == before


def test_a_file_of_the_users_that_shadows_a_library_is_found_and_left_where_it_is(user):
    user.wheel("alpha", "1.0", "value = 1\n")
    (user.folder / "alpha.py").write_text("import alpha\n")
    finding = user.diagnose(["alpha==1.0"], "import alpha; alpha.value")
    assert finding.cause.name == "alpha.py"
    assert finding.fix.files.remove == ("cwd/alpha.py",)
    assert finding.confirmed
    assert (user.folder / "alpha.py").exists()


def test_a_release_that_lost_a_name_is_capped_below_it(user):
    user.wheel("alpha", "1.0", "from beta import old\n", requires=["beta"])
    user.wheel("beta", "1.0", "old = 1\n")
    user.wheel("beta", "2.0", "new = 1\n")
    finding = user.diagnose(["alpha==1.0"], "import alpha")
    assert finding.cause.name == "beta"
    assert "alpha==1.0" in finding.fix.requirements
    assert finding.confirmed


def test_a_mistyped_extra_is_repaired(user):
    user.wheel("alpha", "1.0", "", requires=["beta; extra == 'i18n'"], extras=["i18n"])
    user.wheel("beta", "1.0", "")
    finding = user.diagnose(["alpha[i18]==1.0"], "import beta")
    assert finding.fix.requirements == ("alpha[i18n]==1.0",)


def test_what_one_run_writes_is_seen_by_no_other(user):
    code = (
        "import os\nmark = os.path.expanduser('~/.alpha-mark')\n"
        "seen = os.path.exists(mark)\nopen(mark, 'w').close()\n"
        "if seen: raise RuntimeError('ran before')\nif 'ALPHA_MODE' in os.environ: raise ValueError('bad mode')\n"
    )
    user.wheel("alpha", "1.0", code)
    user.variables["ALPHA_MODE"] = "odd"
    finding = user.diagnose(["alpha==1.0"], "import alpha")
    assert finding.cause.name == "ALPHA_MODE"
    assert finding.confirmed


def test_exit_codes_alone_lead_to_a_working_change(user):
    user.wheel("alpha", "1.0", "import os\nif os.environ.get('ALPHA_MODE'): raise SystemExit(3)\n")
    user.variables |= {"ALPHA_MODE": "odd", "OTHER_ONE": "x", "OTHER_TWO": "y"}
    finding = user.diagnose(["alpha==1.0"], "import alpha", blind=True)
    assert finding.fix.env.unset == ("ALPHA_MODE",)
    assert all(item.where != "the probe's output" for item in finding.evidence)


def test_what_nothing_here_can_mend_is_not_claimed_to_be_mended(user):
    user.wheel("alpha", "1.0", "raise RuntimeError('no')\n")
    finding = user.diagnose(["alpha==1.0"], "import alpha")
    assert finding.fix is None
    assert not finding.confirmed


def test_a_command_is_run_with_the_environments_own_python(user):
    user.wheel("alpha", "1.0", "value = 1\n")
    (user.folder / "script.py").write_text("import os, alpha\nassert 'ALPHA_MODE' not in os.environ\n")
    assert user.diagnose(["alpha==1.0"], ("python", "script.py")) is None
    user.variables["ALPHA_MODE"] = "odd"
    assert user.diagnose(["alpha==1.0"], ("python3", "script.py")).cause.name == "ALPHA_MODE"
