"""Live load on users of 3,000 items each, publishing on. What is the greatest rate at which filters are still
in time?"""

import time

import alone
import measure
from broker import Workload


def run(bench, settings, say):
    s = alone.numbers(
        settings, users=20_000, items=3_000, least=1_000, most=64_000, seconds=8, warm=5, debounce_ms=1000
    )
    users = ["--users", s["users"], "--user-skew", "0.01"]
    workload = bench.fill(
        Workload(
            "heavy",
            s["users"] * s["items"],
            users=s["users"],
            days=29,
            more=["--items", "10000000", "--user-skew", "0.01", "--item-skew", "0.01"],
        )
    )
    rows, rate = [], s["least"]
    with alone.Seend(bench, workload.topic, publishing=True, debounce_ms=s["debounce_ms"]) as seend:
        seend.wait_applied(workload.events, 60 + workload.events / 50_000)
        seend.wait_finished(workload.events, 600)
        while rate <= s["most"] and (not rows or rows[-1]["in_time"]):
            load = bench.generate(
                workload.topic,
                *users,
                "--sessions",
                s["users"],
                "--rate",
                rate,
                "--seconds",
                s["warm"] + s["seconds"],
            )
            time.sleep(s["warm"])
            rows.append(one(seend, s, rate))
            load.result()
            say(str(rows[-1]))
            rate *= 2
        peak = seend.session.peak_bytes() / alone.MIB
    bench.topics.delete(workload.topic)
    return {
        "users": s["users"],
        "items_a_user": s["items"],
        "peak_memory_MiB": peak,
        "snapshots_per_s_in_time": max(
            (row["snapshots_per_s"] for row in rows if row["in_time"]), default=None
        ),
        "rows": rows,
    }


def one(seend, s, rate):
    name = "seen_event_to_published_seconds"
    before, snapshots, sent = (
        seend.histogram(name),
        seend.metric("seen_snapshots_total"),
        seend.metric("seen_snapshot_bytes_total"),
    )
    cpu, begun = seend.session.cpu_s(), time.monotonic()
    time.sleep(s["seconds"] - 1)
    took, after = time.monotonic() - begun, seend.histogram(name)
    snapshots, sent = (
        seend.metric("seen_snapshots_total") - snapshots,
        seend.metric("seen_snapshot_bytes_total") - sent,
    )
    p99 = alone.percentile_ms(before, after, 0.99)
    return {
        "events_per_s": rate,
        "snapshots_per_s": snapshots / took,
        "bytes_a_snapshot": sent / max(1, snapshots),
        "cores": (seend.session.cpu_s() - cpu) / took,
        "published_p50_ms_own": alone.percentile_ms(before, after, 0.5),
        "published_p99_ms_own": p99,
        "in_time": p99 is not None and p99 <= s["debounce_ms"] + 200,
    }
