#!/usr/bin/python3
"""The figures of the README, measured against a real Apache Kafka on this machine. No test: it judges nothing.

    /usr/bin/python3 tests/figures.py                    all (about two minutes; after `make test` has fetched Kafka)
    /usr/bin/python3 tests/figures.py --events 1000000   smaller
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "system"))

from kafka_broker import Kafka  # noqa: E402
from places import SEENCTL, wait_until  # noqa: E402
from seend import Seend  # noqa: E402
from topics import Topics  # noqa: E402

DEFAULTS = {"store": {"memory_mib": 512, "checkpoint_interval_s": 10},
            "filters": [{"name": "default", "snapshot": {"debounce_ms": 1000}}]}


def cpu_s(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def peak_mib(process):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) // 1024


def generate(kafka, topic, *arguments):
    return subprocess.Popen([str(SEENCTL), "generate", "--brokers", kafka.bootstrap, "--topic", topic, "--quiet",
                             *map(str, arguments)], stdout=subprocess.DEVNULL)


def configured(published, topic, group):
    config = {"kafka": {"group_id": group}, **DEFAULTS}
    snapshot = {"topic": f"{group}-filters", "debounce_ms": 1000} if published else None
    return {**config, "filters": [{"name": "default", "snapshot": snapshot}]}


def ingest(folder, topics, topic, events, published, run):
    """Events a second from the first one taken in to the last (published: to the last acknowledged snapshot)."""
    name = f"ingest-{'on' if published else 'off'}-{run}"
    seend = Seend(folder, topics, topic, configured(published, topic, name), name).start(ready=False)
    first = None
    while True:
        answer = seend.get("/v1/status")
        partitions = answer.json()["partitions"] if answer and answer.status == 200 else []
        done = sum(p["next_offset"] for p in partitions)
        now, used = time.monotonic(), cpu_s(seend.process)
        if first is None and done > 0:
            first = now, done, used
        if done >= events and (not published or not sum(p["marks_outstanding"] for p in partitions)):
            break
        time.sleep(0.02)
    rate = (events - first[1]) / (now - first[0])
    print(f"ingest, publishing {'on ' if published else 'off'}: {rate:,.0f} events/s, "
          f"{used / events * 1e6:.2f} us of CPU an event, peak {peak_mib(seend.process)} MiB", flush=True)
    seend.stop()


def histogram(seend, name):
    counts = {}
    for line in seend.http.get("/metrics").text.splitlines():
        if match := re.match(name + r'_bucket\{.*le="([^"]+)"\} (\d+)', line):
            bound = float(match[1].replace("+Inf", "inf"))
            counts[bound] = counts.get(bound, 0) + int(match[2])
    return counts


def percentile(before, after, share):
    counts = sorted((bound, count - before.get(bound, 0)) for bound, count in after.items())
    target, low, below = counts[-1][1] * share, 0.0, 0
    for bound, count in counts:
        if count >= target and count > below:
            return low if bound == float("inf") else low + (bound - low) * (target - below) / (count - below)
        low, below = bound, count
    return float("nan")


def latency(folder, kafka, topics, rate, seconds):
    topic = topics.create(f"latency-{rate}", partitions=4)
    seend = Seend(folder, topics, topic, configured(True, topic, topic), topic).start()
    load = generate(kafka, topic, "--users", 200_000, "--rate", rate, "--seconds", seconds + 5)
    time.sleep(3)
    names = ["seen_event_to_visible_seconds", "seen_visible_to_published_seconds", "seen_event_to_published_seconds"]
    before, used = {name: histogram(seend, name) for name in names}, cpu_s(seend.process)
    time.sleep(seconds)
    after, used = {name: histogram(seend, name) for name in names}, cpu_s(seend.process) - used
    for name in names:
        p50, p99 = (1000 * percentile(before[name], after[name], share) for share in (0.5, 0.99))
        print(f"{rate:,} events/s: {name} p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    print(f"{rate:,} events/s: {used / seconds:.2f} of a core", flush=True)
    load.wait()
    return seend, topic


def restart(seend, topics, topic):
    for _ in range(3):
        seend.kill9()
        begun = time.monotonic()
        seend.start(ready=False)
        wait_until(lambda: (a := seend.get("/readyz")) and a.status == 200, "ready", 30, 0.01)
        print(f"kill -9 to ready: {time.monotonic() - begun:.2f} s", flush=True)
    seend.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="seen-figures-") as folder:
        folder = pathlib.Path(folder)
        (folder / "kafka").mkdir()
        kafka = Kafka(folder / "kafka")
        kafka.start()
        try:
            topics = Topics(kafka.bootstrap)
            seend, topic = latency(folder, kafka, topics, 20_000, 12)
            restart(seend, topics, topic)
            filled = topics.create("ingest", partitions=4)
            generate(kafka, filled, "--users", options.users, "--events", options.events).wait()
            for run in range(options.runs):
                for published in (False, True):
                    ingest(folder, topics, filled, options.events, published, run)
        finally:
            kafka.stop()


if __name__ == "__main__":
    main()
