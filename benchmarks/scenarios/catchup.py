"""The daemon catches up from far behind, publishing on. How often is each user published on the way?"""

import time

import alone
from broker import Workload


def run(bench, settings, say):
    s = alone.numbers(settings, events=100_000_000, users=1_000_000)
    workload = bench.fill(Workload("backlog", s["events"], users=s["users"], days=29))
    say(f"{s['events']:,} events are there")
    with alone.Seend(bench, workload.topic, publishing=True) as seend:
        seen = seend.wait_applied(s["events"], 60 + s["events"] / 50_000)
        rate, cpu = alone.between(seen, 0, s["events"])
        at_end = seend.metric("seen_snapshots_total")
        seend.wait_finished(s["events"], 600)
        sent = seend.metric("seen_snapshots_total")
        begun = next(now for now, applied, _ in seen if applied > 0)
        took = time.monotonic() - begun
        users = alone.distinct_keys(bench, seend.published)
        result = {
            "events": s["events"],
            "users": users,
            "snapshots_sent": sent,
            "snapshots_a_user": sent / users,
            "of_them_before_the_end_of_the_topic": at_end,
            "events_per_s": rate,
            "cpu_us_an_event": cpu,
            "seconds_to_all_published": took,
            "peak_memory_MiB": seend.session.peak_bytes() / alone.MIB,
        }
    bench.topics.delete(workload.topic)
    return result
