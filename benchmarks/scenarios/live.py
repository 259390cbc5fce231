"""Live load, publishing on. Each user in session is shown about an item a second. Does the daemon keep up,
and how late are filters?"""

import time

import alone
import latency_join
import measure
from places import now_ms


def run(bench, settings, say):
    s = alone.numbers(
        settings,
        rate=300_000,
        users=1_000_000,
        seconds=30,
        warm=15,
        debounce_ms=1000,
        memory_mib=512,
        more_mib=1024,
    )
    rows = []
    for memory_mib in (s["memory_mib"], s["more_mib"]):
        rows.append(one(bench, s, memory_mib))
        say(str(rows[-1]))
    return {
        "asked_rate": s["rate"],
        "debounce_ms": s["debounce_ms"],
        "users_in_session": s["users"],
        "rows": rows,
    }


def one(bench, s, memory_mib):
    topic = bench.scratch_topic(bench.name("live"))
    with alone.Seend(
        bench, topic, publishing=True, debounce_ms=s["debounce_ms"], store={"memory_mib": memory_mib}
    ) as seend:
        measure.wait_ready(seend.session)
        load = bench.generate(
            topic, *measure.live_arguments(s["rate"], s["users"]), "--seconds", s["warm"] + s["seconds"]
        )
        time.sleep(s["warm"])
        name = "seen_event_to_published_seconds"
        from_ms, begun, cpu, before = now_ms(), time.monotonic(), seend.session.cpu_s(), seend.histogram(name)
        snapshots, applied, marks_most, lag_most = (
            seend.metric("seen_snapshots_total"),
            seend.session.applied(),
            0,
            0,
        )
        while load.process.poll() is None:
            partitions = seend.session.partitions()
            ends = {p: end for p, (_, end) in bench.topics.ends(topic).items()}
            lag_most = max(lag_most, sum(ends.values()) - sum(p["next_offset"] for p in partitions))
            marks_most = max(marks_most, sum(p["marks_outstanding"] for p in partitions))
            seend.session.peak_bytes()
            time.sleep(0.5)
        until_ms, took = now_ms(), time.monotonic() - begun
        cpu, after = seend.session.cpu_s() - cpu, seend.histogram(name)
        result = {
            "budget_MiB": memory_mib,
            "sent_per_s": load.result()["events"] / (s["warm"] + s["seconds"]),
            "applied_per_s": ((seend.session.applied() or 0) - applied) / took,
            "greatest_lag_events": lag_most,
            "snapshots_per_s": (seend.metric("seen_snapshots_total") - snapshots) / took,
            "most_marks_outstanding": marks_most,
            "cores": cpu / took,
            "peak_memory_MiB": seend.session.peak_bytes() / alone.MIB,
            "published_p50_ms_own": alone.percentile_ms(before, after, 0.5),
            "published_p99_ms_own": alone.percentile_ms(before, after, 0.99),
        }
        time.sleep(5)
        joined = latency_join.join(
            bench.topics, topic, seend.published, seend.contender.covered, from_ms, until_ms
        )
        result.update(
            {
                "published_p50_ms": joined["all"]["p50_ms"],
                "published_p99_ms": joined["all"]["p99_ms"],
                "published_max_ms": joined["all"]["max_ms"],
                "unpublished_after_5_s": joined["unpublished"],
            }
        )
    bench.drop(topic)
    return result
