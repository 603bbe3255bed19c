import pytest

from envmgr.diagnose.records import judge
from envmgr.diagnose.records.record import Facts, Record

MAC = {"system": "Darwin", "machine": "arm64", "python": {"version": "3.10.1", "arch": "arm64", "translated": False}}
TRANSLATED = MAC | {"python": {"version": "3.10.1", "arch": "x86_64", "translated": True}}
LINUX = {"system": "Linux", "machine": "x86_64", "python": {"version": "3.10.1", "arch": "x86_64"}}
TOO_OLD = "RuntimeError: The MPS backend is supported on MacOS 12.3+."
NO_CUDA = "AssertionError: Torch not compiled with CUDA enabled"
NVIDIA = {"gpus": [{"name": "A100", "vendor": "NVIDIA", "api": ["cuda"]}], "drivers": {"nvidia": "550"}}
WRONG = "ImportError: dlopen(env/lib/python3.9/site-packages/acme/_c.so, 2): mach-o, but wrong architecture"


def found(text, facts, *requirements, **variables):
    return judge(Record(text, Facts.model_validate(facts), requirements, variables))


@pytest.mark.parametrize(
    ("text", "facts", "kind"),
    [
        (TOO_OLD, MAC | {"os_version": "12.1"}, "platform"),
        (TOO_OLD, TRANSLATED | {"os_version": "14.4"}, "python"),
        (WRONG, MAC, "package"),
        (WRONG, TRANSLATED, "python"),
        (NO_CUDA, LINUX | {"gpus": []}, "hardware"),
        (NO_CUDA, LINUX | NVIDIA, "package"),
        ("Illegal instruction (core dumped)", LINUX | {"cpu_features": ["sse4_2"]}, "hardware"),
        (
            "Illegal instruction (core dumped)",
            LINUX | {"cpu_features": ["sse4_1", "sse4_2", "avx", "avx2", "fma"]},
            "package",
        ),
        ("x.so: undefined symbol: f_1, version libfoo.so.2", LINUX | {"env": {"LD_LIBRARY_PATH": "/old"}}, "env-state"),
        ("x.so: undefined symbol: f_1, version libfoo.so.2", LINUX | {"env": {"LD_LIBRARY_PATH": ""}}, "package"),
        ("version `GLIBC_2.34' not found", LINUX | {"libc": {"name": "glibc", "version": "2.28"}}, "platform"),
    ],
)
def test_twins_with_one_text_are_told_apart_by_the_facts(text, facts, kind):
    assert found(text, facts, "acme==1").cause.kind == kind


def test_nothing_is_ever_confirmed():
    assert not found(TOO_OLD, MAC | {"os_version": "12.1"}).confirmed


def test_what_says_nothing_is_unknown_rather_than_guessed():
    assert found("it stopped", {}).cause.kind == "unknown"


def test_the_environments_own_library_is_not_missing_when_it_loads():
    text = (
        "CDLL('libOpenCL.so.1')\" && echo loads\nloads\n"
        "OSError: libOpenCL.so: cannot open shared object file: No such file or directory"
    )
    cause = found(text, LINUX).cause
    assert (cause.kind, cause.name) == ("missing", "libOpenCL.so")


def test_facts_that_nobody_foresaw_are_passed_over():
    assert Facts.model_validate({"system": "Linux", "weather": "fine"}).system == "Linux"


def test_a_variable_that_is_named_as_a_secret_is_accused_without_its_value():
    told = found("ValueError: HUB_TOKEN is not valid", {}, HUB_TOKEN="abcdefgh")
    assert (told.cause.name, told.cause.why) == ("HUB_TOKEN", "HUB_TOKEN=(not shown) takes part")
    assert "abcdefgh" not in told.model_dump_json()


def test_a_family_that_lies_apart_is_drawn_to_its_oldest_version():
    told = found("ImportError: no", {"installed": {"plaidml": "0.10.0", "plaidml-keras": "0.9.0"}})
    assert told.fix.requirements == ("plaidml==0.9.0", "plaidml-keras==0.9.0")


def test_a_distribution_of_unknown_version_is_told_by_its_name():
    told = found("AttributeError: module 'numpy' has no attribute 'float'", {})
    assert told.cause.why == "numpy of numpy has no float"
