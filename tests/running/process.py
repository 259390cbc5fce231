"""Commands with a time limit and a log, and what is printed about them."""

import os
import pathlib
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "test-logs"
JOBS = len(os.sched_getaffinity(0))
OUTPUT_LINES_MAX = 200
PYTHON = {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}

printing, cpu = threading.Lock(), threading.local()
stop = threading.Event()  # set: every running command is ended


def say(text):
    with printing:
        print(text, flush=True)


def cpu_seconds_spent():
    """CPU seconds of this thread's commands since it last asked."""
    spent, cpu.seconds = getattr(cpu, "seconds", 0.0), 0.0
    return spent


def run(command, log, limit_s, environment=None, on_line=None, folder=ROOT, first=False):
    """Runs a command with its output in `log`; returns its status, None if it was ended at the time limit.
    `first`: it waits often and must then not wait for a processor, so everything else is nice to it."""
    command = [str(word) for word in command]
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as output:
        try:
            process = subprocess.Popen(
                command if first else ["nice", "-n", "10", *command],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
        except OSError as error:
            output.write(f"{error}\n".encode())
            return 127
    deadline = time.monotonic() + limit_s
    try:
        with open(log, encoding="utf-8", errors="replace") as lines:
            while not (ended(process, 0.1) or stop.is_set()) and time.monotonic() < deadline:
                hand_on(lines, on_line)
            hand_on(lines, on_line)
        if process.returncode is not None:
            return process.returncode
        with open(log, "a", encoding="utf-8") as output:
            output.write(
                "\nended: by a signal\n" if stop.is_set() else f"\nended: took longer than {limit_s} s\n"
            )
        return None
    finally:
        end_group(process)


def ended(process, patience_s):
    """Whether the process has ended, after `patience_s` at most. Adds up its CPU time, with that of its
    children."""
    deadline = time.monotonic() + patience_s
    while process.returncode is None:
        found, status, usage = os.wait4(process.pid, os.WNOHANG)
        if found:
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu.seconds = getattr(cpu, "seconds", 0.0) + usage.ru_utime + usage.ru_stime
        elif time.monotonic() >= deadline:
            break
        else:
            time.sleep(0.02)
    return process.returncode is not None


def hand_on(lines, on_line):
    """Hands on the whole lines that a growing file has gained."""
    while on_line:
        at = lines.tell()
        line = lines.readline()
        if not line.endswith("\n"):
            lines.seek(at)
            return
        on_line(line)


def end_group(process):
    """Ends whatever the command left running, gently first (pytest then still writes its report)."""
    for number, patience_s in ((signal.SIGINT, 30), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            return
        if ended(process, patience_s) and number == signal.SIGINT:
            time.sleep(0.1)  # its children got the signal as well; SIGKILL is for those that stay


def report(name, counts, seconds, log):
    """Prints how a step ended, with the end of its log if it failed."""
    lines = []
    outcome = "" if (counts.passed, counts.failed, counts.skipped) == (0, 0, 0) else f": {counts}"
    lines.append(f"{'FAILED' if counts.failed else 'ok':<6} {name}{outcome} in {seconds:.1f} s")
    if counts.failed:
        output = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
        shown = output[-OUTPUT_LINES_MAX:]
        lines += [f"----- {log.relative_to(ROOT)}, last {len(shown)} of {len(output)} lines", *shown, "-----"]
    say("\n".join(lines))
    return counts
