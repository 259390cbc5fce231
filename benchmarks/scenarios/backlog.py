"""A long backlog into one store that is empty at first, publishing off. The exposure times spread over 30
days."""

import alone
from broker import Workload


def run(bench, settings, say):
    s = alone.numbers(settings, events=50_000_000, users=1_000_000, last=10_000_000, keep=0)
    workload = bench.fill(Workload("backlog", s["events"], users=s["users"], days=29))
    say(f"{s['events']:,} events are there")
    with alone.Seend(bench, workload.topic, publishing=False) as seend:
        seen = seend.wait_applied(s["events"], 60 + s["events"] / 100_000)
        rate, cpu = alone.between(seen, 0, s["events"])
        rate_last, cpu_last = alone.between(seen, s["events"] - s["last"], s["events"])
        waits = alone.longest_wait_s(seen)
        result = {
            "events": s["events"],
            "events_per_s": rate,
            "cpu_us_an_event": cpu,
            "last_events": s["last"],
            "events_per_s_over_the_last": rate_last,
            "cpu_us_an_event_over_the_last": cpu_last,
            "peak_memory_MiB": seend.session.peak_bytes() / alone.MIB,
            "longest_standstill_s": waits,
            "held_back_s": seend.metric("seen_flow_held_seconds_total"),
            "state_bytes_an_event": seend.contender.state_bytes(seend.run) / s["events"],
        }
    if not s["keep"]:
        bench.topics.delete(workload.topic)
    return result
