"""Users at random, without sessions: a million users, events of 150 bytes, uncompressed. By turns, seend
(publishing off) and a bare consumer that decodes (bench_limit) read the same events. Then seend alone reads
ten times as many."""

import statistics

import alone
import measure
from broker import Workload
from contenders.limit import Limit
from contenders.seend import SeendContender


def run(bench, settings, say):
    s = alone.numbers(
        settings,
        users=1_000_000,
        events=5_000_000,
        runs=5,
        long_events=50_000_000,
        first=5_000_000,
        last=10_000_000,
        event_bytes=150,
    )
    contenders = {
        "consumer": Limit("limit-decode", "", True, 2),
        "seend": SeendContender("seend-ingest", "", False),
    }
    rows = []
    short = bench.warm(bench.fill(workload("uniform", s, s["events"])))
    for number in range(s["runs"]):
        for what in alone.in_turn(contenders, number):
            took = measure.ingest(bench, contenders[what], short, closely=False)
            rows.append(
                {"run": number, "what": what, "events_per_s": took["rate"], "cpu_us_an_event": took["cpu_us"]}
            )
            say(str(rows[-1]))
    pairs = sorted(
        one["cpu_us_an_event"] / other["cpu_us_an_event"]
        for one, other in zip(
            *([row for row in rows if row["what"] == what] for what in ("seend", "consumer"))
        )
    )
    result = {
        "users": s["users"],
        "events": s["events"],
        "event_bytes": s["event_bytes"],
        "seend_by_consumer_cpu_median": statistics.median(pairs),
        "seend_by_consumer_cpu_min": pairs[0],
        "seend_by_consumer_cpu_max": pairs[-1],
        "rows": rows,
    }
    if s["long_events"]:
        result |= long(bench, s)
    return result


def workload(name, s, events):
    return Workload(
        name,
        events,
        users=s["users"],
        more=[
            "--user-skew",
            "0.01",
            "--sessions",
            str(s["users"]),
            "--event-bytes",
            str(s["event_bytes"]),
            "--client",
            "compression.codec=none",
        ],
    )


def long(bench, s):
    filled = bench.fill(workload("uniform-long", s, s["long_events"]))
    with alone.Seend(bench, filled.topic, publishing=False) as daemon:
        seen = daemon.wait_applied(filled.events, 600)
        first, last = (
            alone.between(seen, 0, s["first"]),
            alone.between(seen, filled.events - s["last"], filled.events),
        )
        result = {
            "long_events": filled.events,
            "first_per_s": first[0],
            "first_cpu_us": first[1],
            "last_per_s": last[0],
            "last_cpu_us": last[1],
            "last_by_first_rate": last[0] / first[0],
            "longest_standstill_s": alone.longest_wait_s(seen),
            "state_bytes": daemon.contender.state_bytes(daemon.run),
        }
    bench.topics.delete(filled.topic)
    return result
