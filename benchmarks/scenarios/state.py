"""What the state topic costs: ingest with and without the topic, by turns. The scenario `state_bytes` has its
bytes an event."""

import statistics
import time

import alone
from broker import Workload


def run(bench, settings, say):
    s = alone.numbers(settings, events=5_000_000, users=1_000_000, runs=6)
    workload = bench.fill(Workload(f"state-{s['users']}", s["events"], users=s["users"]))
    bench.warm(workload)
    rows = []
    for number in range(s["runs"]):
        for streams in (True, False) if number % 2 == 0 else (False, True):
            rows.append({"run": number, "streams": streams, **one(bench, workload, streams, number)})
            say(str(rows[-1]))
    return {
        "events": s["events"],
        "users": s["users"],
        "runs_of_each": s["runs"],
        "with_by_without": {
            key: ratios(rows, key) for key in ("events_per_s", "cpu_us_an_event", "cpu_us_an_event_in_all")
        },
    }


def one(bench, workload, streams, number):
    topic = f"{workload.topic}-state-{number}-{time.time_ns()}"  # a new topic, so that it is empty
    config = {"state": {"topic": topic if streams else None, "run_every_s": 60}}
    with alone.Seend(bench, workload.topic, publishing=False, **config) as seend:
        seen = seend.wait_applied(workload.events, 60 + workload.events / 20_000)
        rate, cpu = alone.between(seen, workload.events // 5, workload.events)
        row = {"events_per_s": rate, "cpu_us_an_event": cpu}
        row["cpu_us_an_event_in_all"] = seend.session.cpu_s() / workload.events * 1e6
    if streams:
        bench.drop(topic)
    return row


def ratios(rows, key):
    """Runs with the topic divided by runs without, pair by pair: median and range."""
    of = {streams: [row[key] for row in rows if row["streams"] == streams] for streams in (True, False)}
    pairs = sorted(a / b for a, b in zip(of[True], of[False]))
    return {"median": statistics.median(pairs), "min": pairs[0], "max": pairs[-1]}
