"""The real process door: how a process ended is a value."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psutil
import pytest

from envmgr.ports import ProcessRequest
from envmgr.system.process import RealProcess

pytestmark = pytest.mark.integration


@pytest.fixture
def process():
    return RealProcess(os.environ)


def python(code, **options):
    return ProcessRequest((sys.executable, "-c", code), **options)


def test_output_and_exit_code(process):
    done = process.run(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"))
    assert (done.exit_code, done.signal, done.stdout, done.stderr) == (3, None, "out\n", "err\n")
    assert not done.good


def test_who_cannot_hear_does_not_stop_what_is_heard(process):
    def deaf(line):
        raise BrokenPipeError

    code = "import sys\nfor _ in range(40): print('x' * 10_000, file=sys.stderr, flush=True)"
    done = process.run(python(code, hear=deaf, timeout=30))
    assert done.good
    assert len(done.stderr) == 40 * 10_001


def test_what_cannot_start_is_a_value(process, tmp_path):
    done = process.run(ProcessRequest((str(tmp_path / "nonesuch"),)))
    assert not done.started
    assert "No such file" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_signal_is_told_apart_from_an_exit_code(process):
    done = process.run(python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))
    assert (done.exit_code, done.signal) == (None, signal.SIGSEGV)


def test_timeout_ends_the_whole_family(process, tmp_path):
    note = tmp_path / "pid"
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    done = process.run(python(code, timeout=1.5, grace=0.3))
    assert done.timed_out
    assert not done.good
    child = int(note.read_text())
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_what_is_left_in_the_group_ends_with_its_leader(process, tmp_path):
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
    )
    assert process.run(python(code)).exit_code == 0
    child = int(note.read_text())
    deadline = time.monotonic() + 5
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the child lives on"


def test_a_log_keeps_head_and_tail_of_endless_output(process, tmp_path):
    log = tmp_path / "log.txt"
    code = "print('first'); print('x' * 3_000_000); print('last')"
    done = process.run(python(code, log=log, log_limit=10_000))
    text = log.read_text()
    assert done.stdout == ""
    assert text.startswith("first\n")
    assert text.endswith("last\n")
    assert "bytes left out" in text
    assert len(text) < 11_000


@pytest.mark.parametrize("apart", [False, True], ids=["together", "with a thread each"])
def test_who_never_stops_talking_is_ended_at_the_time_limit(process, apart):
    chatter = "import sys\nwhile True: sys.stdout.write('x' * 4096)"
    completed = process.run(python(chatter, timeout=0.5, grace=0.2, hear=str.strip if apart else None))
    assert completed.timed_out
    assert completed.stdout.startswith("xxxx")


@pytest.mark.parametrize("apart", [False, True], ids=["together", "with a thread each"])
def test_both_streams_are_taken_to_their_end_however_much_they_say(process, apart):
    talk = "import sys\nfor _ in range(300): sys.stdout.write('o' * 1000); sys.stderr.write('e' * 1000)"
    completed = process.run(python(talk, hear=str.strip if apart else None))
    assert completed.exit_code == 0
    assert completed.stdout == "o" * 300_000
    assert completed.stderr == "e" * 300_000


def test_last_words_on_being_told_to_end_are_kept(process, tmp_path):
    last = "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit('x' * 200_000))\ntime.sleep(60)"
    log = tmp_path / "log"
    completed = process.run(python(last, timeout=1.0, grace=5.0, log=log))
    assert completed.timed_out
    assert completed.exit_code == 1
    assert log.stat().st_size > 200_000


def test_environment_is_exactly_what_was_asked(process):
    done = process.run(python("import os; print(sorted(os.environ))", env={"ONLY": "1"}))
    assert "ONLY" in done.stdout
    assert "HOME" not in done.stdout


def test_stdin_is_fed(process):
    done = process.run(python("import sys; print(sys.stdin.read()[::-1])", stdin="abc"))
    assert done.stdout == "cba\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the bound is Linux's")
def test_a_memory_limit_holds(process):
    done = process.run(python("data = bytearray(800_000_000)", memory_limit=300_000_000))
    assert done.exit_code == 1
    assert "MemoryError" in done.stderr


def test_a_stopped_door_starts_nothing(process):
    process.stop_all()
    with pytest.raises(KeyboardInterrupt):
        process.run(python("pass"))


def alive(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def soon(fact):
    deadline = time.monotonic() + 5
    while not fact():
        assert time.monotonic() < deadline
        time.sleep(0.01)


linux = pytest.mark.skipif(sys.platform != "linux", reason="keepers are Linux's")
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open({note!r} + '.part', 'w').write(str(os.getpid()))
        os.rename({note!r} + '.part', {note!r})
        time.sleep(60)
    os._exit(0)
while not os.path.exists({note!r}):
    time.sleep(0.01)
"""


@linux
def test_a_daemon_does_not_outlive_the_process_it_came_from(process, tmp_path):
    note = tmp_path / "pid"
    assert process.run(python(DAEMON.format(note=str(note)))).exit_code == 0
    assert not alive(int(note.read_text()))


@linux
def test_a_daemon_does_not_survive_that_its_keeper_is_killed(process, tmp_path):
    note = tmp_path / "pid"
    done = process.run(python(DAEMON.format(note=str(note)) + "os.kill(os.getppid(), 9); time.sleep(60)"))
    assert (done.exit_code, done.signal) == (None, signal.SIGKILL)
    soon(lambda: not alive(int(note.read_text())))
    assert process.run(python("print(1)")).stdout == "1\n", "the next process has another keeper"


@linux
def test_nothing_outlives_an_envmgr_that_is_killed(tmp_path):
    note = tmp_path / "pid"
    code = (
        "import os, sys\n"
        "from envmgr.ports import ProcessRequest\nfrom envmgr.system.process import RealProcess\n"
        f"RealProcess(os.environ).run(ProcessRequest((sys.executable, '-c', {DAEMON.format(note=str(note)) + 'time.sleep(60)'!r})))"
    )
    with subprocess.Popen((sys.executable, "-c", code)) as killed:
        soon(note.exists)
        killed.kill()
    soon(lambda: not alive(int(note.read_text())))


@linux
def test_memory_is_bounded_for_all_descendants_together(process):
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n    data = b'x' * 100_000_000\n    time.sleep(60)\n"
        "data = b'x' * 100_000_000\ntime.sleep(60)"
    )
    done = process.run(python(code, memory_limit=150_000_000, timeout=30))
    assert done.over_memory
    assert not done.timed_out


@linux
def test_a_wild_growth_of_processes_is_ended(process):
    code = (
        "import os, time\nend = time.monotonic() + 20\nfor _ in range(30):\n"
        "    if os.fork() == 0:\n        os.setsid()\n"
        "        while time.monotonic() < end:\n            if os.fork() != 0: os._exit(0)\n        os._exit(0)\n"
    )
    before = set(psutil.pids())
    assert process.run(python(code)).exit_code == 0
    strays = [pid for pid in set(psutil.pids()) - before if alive(pid) and "while time.monotonic" in told(pid)]
    assert strays == []


def told(pid):
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""


def test_processes_run_side_by_side(process):
    begun = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        codes = [f"import time; time.sleep(0.5); print({number})" for number in range(4)]
        done = list(pool.map(lambda code: process.run(python(code)).stdout, codes))
    assert done == [f"{number}\n" for number in range(4)]
    assert time.monotonic() - begun < 30


@linux
def test_stopping_all_is_quick_while_others_wait(process):
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(process.run, python(code))
        time.sleep(0.5)
        begun = time.monotonic()
        process.stop_all()
        assert time.monotonic() - begun < 8
        with pytest.raises(KeyboardInterrupt):
            waiting.result()


@pytest.mark.parametrize("kept", [True, False])
def test_a_process_runs_within_its_turn_and_no_time_before_it_counts(process, tmp_path, kept):
    note, seen = tmp_path / "note", []

    @contextmanager
    def turn(start):
        time.sleep(1.0)
        seen.append(note.exists())
        start()
        yield
        seen.append(note.exists())

    code = f"open({str(note)!r}, 'w').close()"
    done = process.run(python(code, kept=kept, turn=turn, timeout=0.9 if kept else 30))
    assert (done.good, seen) == (True, [False, True])
    assert done.elapsed < 1.0


@pytest.mark.parametrize("kept", [True, False])
def test_a_turn_that_fails_lets_nothing_start_and_holds_nothing_up(process, tmp_path, kept):
    note = tmp_path / "note"

    @contextmanager
    def turn(_start):
        raise LookupError("no turn")
        yield

    with pytest.raises(LookupError):
        process.run(python(f"open({str(note)!r}, 'w').close()", kept=kept, turn=turn))
    assert process.run(python("print(1)")).stdout == "1\n"
    assert not note.exists()


def test_what_waits_for_its_turn_when_all_is_stopped_never_starts(process, tmp_path):
    note, waiting, stopped = tmp_path / "note", threading.Event(), threading.Event()

    @contextmanager
    def turn(start):
        waiting.set()
        assert stopped.wait(10)
        start()
        yield

    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(process.run, python(f"open({str(note)!r}, 'w').close()", turn=turn))
        assert waiting.wait(10)
        process.stop_all()
        stopped.set()
        with pytest.raises(KeyboardInterrupt):
            run.result(10)
    assert not note.exists()
