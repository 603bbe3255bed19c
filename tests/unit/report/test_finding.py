from envmgr.model.difference import Difference, Differences
from envmgr.model.finding import Cause, Evidence, Experiment, Finding
from envmgr.model.inference import Inference
from envmgr.model.outcome import Phase
from envmgr.report import difference, finding, findings, inference
from envmgr.report.look import Look

STEERING = "\x1b[2Jgone"


def hostile():
    cause = Cause(kind="package", name=STEERING, why=STEERING)
    return Finding(
        phase=Phase.RUN,
        cause=cause,
        causes=(cause,),
        check="the probe",
        evidence=(Evidence(quote=STEERING, where=STEERING),),
        experiments=(Experiment(change=STEERING, outcome="failed", reason=STEERING, seconds=1.0),),
        impossible=STEERING,
    )


def test_a_finding_cannot_steer_the_terminal(capsys):
    finding.show(hostile(), applied=STEERING)
    findings.show([((STEERING,), hostile())], {STEERING: STEERING}, STEERING)
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert "\\x1b[2Jgone" in told


def test_an_inference_cannot_steer_the_terminal(capsys):
    inference.show(Inference(scripts=(), syntax="", imports=(), modules=(), why=(STEERING,), unreachable=(STEERING,)))
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert "because    \\x1b[2Jgone" in told


def test_a_difference_cannot_steer_the_terminal():
    one = Difference(kind="distribution", name=STEERING, first="1", second="2", why=STEERING, telling=True)
    told = difference.text(Differences(first="a", second="b", differences=(one,)), Look(width=80, color=False))
    assert "\x1b" not in told


def test_of_many_cells_the_first_are_named(capsys):
    findings.show([([f"c{number}" for number in range(10)], hostile())], {})
    assert "cells      c0, c1, c2, c3, c4, c5, c6, c7, and 2 more" in capsys.readouterr().out


def test_an_unknown_cause_has_no_name_to_tell():
    cause = Cause(kind="unknown", name="", why="nothing is accused")
    found = Finding(phase=Phase.RUN, cause=cause, causes=(cause,))
    assert finding.lines_of(found)[0] == "cause      unknown: nothing is accused"
