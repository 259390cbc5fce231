"""What would stop a daemon with many cores? Two and sixteen workers take turns to read a topic of 64
partitions. Then the CPU by thread, and the locks (count_locks.c), calls of futex and switches between threads
(perf stat) of a thousand events."""

import collections
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import time

import alone
import paths
from broker import Workload
from faults import compiled

EVENTS = {"futex_calls": "syscalls:sys_enter_futex", "switches": "context-switches"}


def run(bench, settings, say):
    s = alone.numbers(settings, users=1_000_000, events=10_000_000, partitions=64, runs=5, few=2, many=16)
    filled = bench.warm(
        bench.fill(Workload("cores", s["events"], users=s["users"], partitions=s["partitions"]))
    )
    rows, took = [], {s["few"]: [], s["many"]: []}
    for number in range(s["runs"]):
        for workers in alone.in_turn(took, number):
            rate, cpu_us = ingest(bench, s, filled, workers)
            took[workers].append((rate, cpu_us))
            rows.append({"run": number, "workers": workers, "events_per_s": rate, "cpu_us_an_event": cpu_us})
            say(str(rows[-1]))
    result = {key: s[key] for key in ("users", "events", "partitions", "few", "many")}
    for what, index in (("rate", 0), ("cpu", 1)):
        ratios = sorted(many[index] / few[index] for few, many in zip(*took.values()))
        result |= {
            f"many_by_few_{what}_median": statistics.median(ratios),
            f"many_by_few_{what}_min": ratios[0],
            f"many_by_few_{what}_max": ratios[-1],
        }
    threads = by_thread(bench, s, filled)
    counts = [counted(bench, s, filled, workers) for workers in took]
    for row in counts:
        say(str(row))
    return result | {"rows": rows, "threads": threads, "counts": counts}


def ingest(bench, s, filled, workers):
    """Events/s and microseconds of CPU an event, without the first tenth of the events."""
    with started(bench, s, filled, workers) as daemon:
        return alone.between(daemon.wait_applied(filled.events, 600), filled.events // 10, filled.events)


def started(bench, s, filled, workers, environment=None):
    return alone.Seend(
        bench,
        filled.topic,
        publishing=False,
        partitions=s["partitions"],
        environment=environment,
        input={"workers": workers},
    )


def by_thread(bench, s, filled):
    """Microseconds of CPU an event, by the name of the thread. More cores don't help the busiest single
    thread."""
    with started(bench, s, filled, s["few"]) as daemon:
        daemon.wait_applied(filled.events, 600)
        used = collections.Counter()
        for task in pathlib.Path(f"/proc/{daemon.pid()}/task").iterdir():
            fields = (task / "stat").read_text()
            name, numbers = (
                fields[fields.index("(") + 1 : fields.rindex(")")],
                fields[fields.rindex(")") + 2 :].split(),
            )
            used[name] += int(numbers[11]) + int(numbers[12])
    second = os.sysconf("SC_CLK_TCK")
    return [
        {"thread": name, "cpu_us_an_event": ticks / second / filled.events * 1e6}
        for name, ticks in used.most_common(6)
    ]


def counted(bench, s, filled, workers):
    """Counts for a thousand events. Locks are counted from start to end, by the object whose code takes them;
    kernel events since the first event."""
    locks, kernel = paths.WORK / "locks.txt", paths.WORK / "perf.txt"
    environment = {
        "LD_PRELOAD": str(compiled("count_locks", paths.WORK, paths.BENCHMARKS)),
        "SEEN_LOCKS": str(locks),
    }
    row = {}
    with started(bench, s, filled, workers, environment) as daemon:
        while not (before := daemon.session.applied() or 0):
            time.sleep(0.01)
        perf = shutil.which("perf") and subprocess.Popen(
            [
                "perf",
                "stat",
                "-x;",
                "-o",
                str(kernel),
                "-e",
                ",".join(EVENTS.values()),
                "-p",
                str(daemon.pid()),
            ]
        )
        daemon.wait_applied(filled.events, 600)
        if perf:
            perf.send_signal(signal.SIGINT)
            perf.wait()
            for what, event in EVENTS.items():
                if counted_events := re.search(rf"^(\d+);;{event};", kernel.read_text(), re.M):
                    row[what] = int(counted_events[1]) / (filled.events - before) * 1000
    by_object = collections.Counter()
    for line in locks.read_text().splitlines():
        count, name = line.split(" ")[:2]
        by_object[name] += int(count)
    return {
        "workers": workers,
        "locks": by_object.total() / filled.events * 1000,
        **{f"locks of {name}": count / filled.events * 1000 for name, count in by_object.most_common(4)},
        **row,
    }
