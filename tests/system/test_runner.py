"""tests/run.py itself: it ends and counts a task that hangs, skips a task without its build, and never waits
for ever."""

import json
import sys
import threading
import time

import pytest

from places import SOURCE

sys.path.insert(0, str(SOURCE / "tests"))

from running import counts, process, schedule  # noqa: E402
from running.counts import Counts  # noqa: E402
from running.schedule import Schedule, Task  # noqa: E402


@pytest.fixture
def said(monkeypatch):
    lines = []
    monkeypatch.setattr(schedule, "say", lines.append)
    return lines


def passes():
    return Counts(passed=1)


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path):
    log = tmp_path / "log"
    start = time.monotonic()
    status = process.run(
        ["sh", "-c", "echo begun; sh -c 'trap \"\" INT; sleep 60 & wait' & wait"], log, limit_s=0.5
    )
    assert status is None and time.monotonic() - start < 50
    assert log.read_text().splitlines() == ["begun", "", "ended: took longer than 0.5 s"]


@pytest.mark.parametrize(
    "command, status",
    [(["true"], 0), (["false"], 1), (["/no/such/program"], 127), (["sh", "-c", "kill -9 $$"], -9)],
)
def test_the_status_is_the_commands(command, status, tmp_path):
    assert process.run(command, tmp_path / "log", 30) == status


def test_a_command_has_no_input_and_its_processor_time_is_counted(tmp_path):
    process.cpu_seconds_spent()
    assert process.run(["sh", "-c", "read line || seq 1000000 | wc -l"], tmp_path / "log", 30) == 0
    assert (tmp_path / "log").read_text().split() == ["1000000"]
    assert process.cpu_seconds_spent() > 0
    assert process.cpu_seconds_spent() == 0


def test_what_needs_a_build_that_failed_is_left_out(said):
    done = []
    build = Task("build release", "build", lambda: Counts(failed=1))
    unit = Task("unit", "unit", lambda: done.append("unit") or passes(), (build,))
    after_unit = Task("more", "more", lambda: done.append("more") or passes(), (unit,))
    total = Schedule([after_unit, unit, build, Task("rules", "rules", passes)]).run()
    assert (total.passed, total.failed, done) == (1, 1, [])
    assert len([line for line in said if line.startswith("left out")]) == 2


def test_a_test_that_failed_keeps_nobody_from_running(said):
    clients = Task("clients", "clients", lambda: Counts(failed=1))
    total = Schedule([clients, Task("system", "system", passes, (clients,))]).run()
    assert (total.passed, total.failed, said) == (1, 1, [])


def test_a_task_that_breaks_is_counted(said):
    total = Schedule([Task("unit", "unit", lambda: 1 // 0), Task("rules", "rules", passes)]).run()
    assert (total.passed, total.failed) == (1, 1)
    assert "ZeroDivisionError" in said[0]


def test_no_more_run_at_once_than_there_are_processors(said):
    lock, now, most = threading.Lock(), 0, 0

    def action():
        nonlocal now, most
        with lock:
            now, most = now + 1, max(most, now + 1)
        time.sleep(0.02)
        with lock:
            now -= 1
        return passes()

    def expand():
        return [Task("unit", f"binary {i}", action) for i in range(4 * process.JOBS)]

    plan = Schedule([Task("unit", "binaries", expand, (), 0)])
    assert plan.run().passed == 4 * process.JOBS
    assert most <= process.JOBS
    assert [line.split()[0] for line in plan.times()] == ["part", "unit"]


def test_a_circle_is_named():
    one = Task("unit", "one", passes)
    one.after = (Task("unit", "other", passes, (one,)),)
    with pytest.raises(AssertionError, match="circle"):
        Schedule([one]).run()


def test_reports_are_counted(tmp_path):
    result = tmp_path / "result"
    result.write_text("<s><testcase/><testcase><skipped/></testcase><testcase><error/></testcase></s>")
    assert counts.of_junit(result) == Counts(1, 1, 1)
    case = {"status": "RUN", "result": "COMPLETED"}
    suite = [case, case | {"failures": [{}]}, case | {"result": "SKIPPED"}, {"status": "NOTRUN"}]
    result.write_text(json.dumps({"testsuites": [{"testsuite": suite}]}))
    assert counts.of_google_test(result) == Counts(1, 1, 1)
    assert counts.of_google_test(tmp_path / "none").or_failed(-11) == Counts(failed=1)
    assert counts.of_pytest(tmp_path / "none", 5, "no such name") == Counts()
    assert counts.of_pytest(tmp_path / "none", 5, "") == Counts(failed=1)
