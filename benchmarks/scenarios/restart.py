"""kill -9 in the middle of a backlog. How much longer do the remaining events take than without the kill?"""

import time

import alone
from broker import Workload


def run(bench, settings, say):
    s = alone.numbers(settings, events=5_000_000, runs=3)
    workload = bench.warm(bench.fill(Workload("single", s["events"])), 1)
    with alone.Seend(bench, workload.topic, publishing=False) as seend:
        whole, _ = alone.between(seend.wait_applied(s["events"], 300), 0, s["events"])
    rows = []
    for _ in range(s["runs"]):
        with alone.Seend(bench, workload.topic, publishing=False) as seend:
            seen = seend.wait_applied(s["events"] // 2, 300)
            seend.session.kill9()
            killed = time.monotonic()
            seend.again()
            after = seend.wait_applied(s["events"], 300)
            took = after[-1][0] - killed
            kept = next(applied for _, applied, _ in after if applied > 0)
            rows.append(
                {
                    "applied_before": seen[-1][1],
                    "seconds_to_caught_up": took,
                    "longer_than_the_rest_takes_s": took - (s["events"] - seen[-1][1]) / whole,
                    "first_seen_at": kept,
                }
            )
            say(str(rows[-1]))
    return {"events": s["events"], "events_per_s_undisturbed": whole, "runs": rows}
