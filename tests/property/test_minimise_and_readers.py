"""Minimising on oracles that are monotone, flaky, full of holes or arbitrary; readers of evidence on any bytes."""

import contextlib
import itertools
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from envmgr.app.contents import read_contents
from envmgr.app.diagnosing.foreign_log import read_facts
from envmgr.diagnose.contents import Contents, Distribution
from envmgr.diagnose.evidence import evidence
from envmgr.diagnose.mechanisms import ALL
from envmgr.diagnose.mechanisms.surroundings import values_listed
from envmgr.diagnose.minimise import smallest
from envmgr.diagnose.observation import Observation, phase_of_probe
from envmgr.diagnose.records import judge
from envmgr.diagnose.records.record import Facts, PythonFacts, Record
from envmgr.diagnose.situation import HostBrief, Situation, Sources, Surroundings
from envmgr.model.finding import World
from envmgr.model.outcome import Phase
from envmgr.system.files import RealFiles

SETS = st.integers(1, 30).flatmap(
    lambda size: st.tuples(st.just(size), st.sets(st.integers(0, size - 1), min_size=1, max_size=3))
)
WORDS = st.sampled_from(
    [
        "Traceback (most recent call last):\n",
        '  File "/v/site-packages/alpha/core.py", line 3, in <module>\n',
        "ModuleNotFoundError: No module named 'beta'",
        "ImportError: cannot import name 'x' from 'alpha.core'",
        "ALPHA_MODE must be one of: ",
        "Because alpha depends on beta>=2 ",
        "libalpha.so.1: cannot open shared object file",
        "mach-o, but wrong architecture (have 'x86_64', need 'arm64')",
        "requires macOS 99.9",
        "CUDA driver version 9",
        "Failed to build `alpha==1`",
        "GLIBC_2.99 not found",
        "No matching distribution found for alpha==1",
        "\x00",
        "\r",
        "[",
        "((((",
        "==",
        "9" * 40,
        "\n",
        " ",
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=6), max_size=30).map("".join)


@given(SETS, st.lists(st.booleans(), max_size=200))
def test_an_oracle_that_sometimes_fails_what_holds_costs_no_culprit(case, slips):
    """A slip may leave innocents in, never take a culprit out; what is returned was seen to hold."""
    size, culprits = case
    seen, slipping = [tuple(range(size))], iter(slips)

    def holds(chosen):
        answer = culprits <= set(chosen) and not next(slipping, False)
        seen.extend([tuple(chosen)] if answer else [])
        return answer

    left = smallest(range(size), holds)
    assert culprits <= set(left)
    assert left in seen


@given(SETS, st.data())
def test_holes_leave_what_cannot_be_judged_beside_the_culprits(case, data):
    """A subset without some item cannot be built: that item stays, and nothing else does."""
    size, culprits = case
    needed = data.draw(st.sets(st.integers(0, size - 1), max_size=4))
    left = smallest(range(size), lambda chosen: culprits <= set(chosen) and needed <= set(chosen))
    assert set(left) == culprits | needed


@given(st.integers(1, 6), st.data())
def test_of_any_oracle_nothing_can_be_taken_from_what_is_left(size, data):
    subsets = [frozenset(c) for n in range(size) for c in itertools.combinations(range(size), n)]
    good = data.draw(st.sets(st.sampled_from(subsets))) | {frozenset(range(size))}
    left = smallest(range(size), lambda chosen: frozenset(chosen) in good)
    assert frozenset(left) in good
    if len(left) > 1:
        assert not any(frozenset(left) - {one} in good for one in left)


@given(SETS)
def test_questions_stay_below_the_square(case):
    size, culprits = case
    asked = []
    smallest(range(size), lambda chosen: asked.append(chosen) or culprits <= set(chosen))
    assert len(asked) <= size * size + 3 * size


@given(st.binary(max_size=300) | TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_upset_the_judge_of_records(data):
    text = data.decode("utf-8", "replace")
    finding = judge(Record(text, Facts(), (text[:40], "alpha==1.0"), {"ALPHA": text[:20]}))
    assert finding.cause.kind
    assert not finding.confirmed


@given(TEXTS, st.sampled_from(["Darwin", "Linux", "Windows", None]), st.text(max_size=8), st.text(max_size=8))
def test_no_text_on_any_machine_upsets_the_judge_of_records(text, system, version, arch):
    facts = Facts(
        system=system, os_version=version, machine=arch, python=PythonFacts(version=version, arch=arch), gpus=()
    )
    assert judge(Record(text, facts, ("alpha==1.0",), {})).causes


@settings(max_examples=50)
@given(TEXTS, st.sampled_from([Phase.RESOLVE, Phase.BUILD, Phase.IMPORT, Phase.RUN]), st.text(max_size=30))
def test_no_text_upsets_evidence_or_mechanisms(text, phase, probe):
    seen = Observation(False, phase, text, {"alpha": "1.0", "gamma": text[:9]}, signal=text.count("9"))
    installed = Distribution(
        "alpha", "1.0", (text[:60], "beta; extra == 'x'"), ("x",), frozenset({"alpha", "alpha.core"})
    )
    around = Surroundings({"ALPHA_MODE": text[:30]}, {"home/.alpha/alpha.json": text, "cwd/alpha.py": text})
    world = World(python="3.10", requirements=("alpha==1.0", text[:30]))
    situation = Situation(
        world, world, seen, probe, around, HostBrief("linux", "x86_64", (), ("linux_x86_64",)), ("3.9", "3.10"),
        Sources(lambda _: (), lambda *_: (), lambda _: Contents((installed,))),
    )  # fmt: skip
    assert all(item.where for item in evidence(situation))
    for mechanism in ALL:
        assert all(0 < hypothesis.likelihood <= 1 for hypothesis in mechanism(situation))


@given(st.text(max_size=200) | TEXTS)
def test_any_text_has_a_phase_and_lists_values_or_none(text):
    assert phase_of_probe(text)
    assert len(values_listed(text, "ALPHA_MODE")) != 1


@settings(max_examples=50)
@given(metadata=st.binary(max_size=200), record=st.binary(max_size=200))
@example(metadata=b"Name: alpha\nVersion: 1\n", record=b'"' + b"x" * 200_000 + b'",,\n')
@example(metadata=b"Name: alpha\nVersion: 1\n", record=b"alpha.py,,\r\r\n\x00,,\n,,,\n")
@example(metadata=b"Name: =?utf-8?q?\xff?=\n\n", record=b"/,,\n.,,\n")
def test_any_bytes_in_metadata_and_record_can_be_read(tmp_path_factory, metadata, record):
    folder = tmp_path_factory.mktemp("site") / "alpha-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_bytes(metadata)
    (folder / "RECORD").write_bytes(record)
    contents = read_contents(RealFiles(Path(folder)), [folder])
    assert contents.unmet({"python_version": "3.10"}) is not None
    contents.shared()


@given(
    st.text(max_size=60)
    | st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5).map(repr)
)
def test_any_facts_are_read_or_refused_with_a_reason(text):
    with contextlib.suppress(ValueError):
        assert read_facts(text)
