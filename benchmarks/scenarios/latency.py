"""Latency: event to visible at 100,000 events/s (publishing off), event to published on the leading edge at
10,000 events/s."""

import time

import alone
import latency_join
import measure
from places import now_ms


def run(bench, settings, say):
    s = alone.numbers(
        settings, visible_rate=100_000, published_rate=10_000, seconds=20, warm=8, debounce_ms=1000
    )
    result = {}
    topic = bench.scratch_topic(bench.name("live"))
    with alone.Seend(bench, topic, publishing=False) as seend:
        measure.wait_ready(seend.session)
        load = bench.generate(
            topic, *measure.live_arguments(s["visible_rate"]), "--seconds", s["warm"] + s["seconds"]
        )
        time.sleep(s["warm"])
        name = "seen_event_to_visible_seconds"
        before, cpu, begun = seend.histogram(name), seend.session.cpu_s(), time.monotonic()
        time.sleep(s["seconds"] - 1)
        after = seend.histogram(name)
        result.update(
            {
                f"visible_p{int(100 * share)}_ms": alone.percentile_ms(before, after, share)
                for share in (0.5, 0.99)
            }
        )
        result["visible_cores"] = (seend.session.cpu_s() - cpu) / (time.monotonic() - begun)
        load.result()
    bench.drop(topic)
    topic = bench.scratch_topic(bench.name("live"))
    with alone.Seend(bench, topic, publishing=True, debounce_ms=s["debounce_ms"]) as seend:
        measure.wait_ready(seend.session)
        # There are few events a user, so that most events are a user's first in a while.
        load = bench.generate(
            topic,
            "--users",
            1_000_000,
            "--rate",
            s["published_rate"],
            "--sessions",
            20 * s["published_rate"],
            "--seconds",
            s["warm"] + s["seconds"],
        )
        time.sleep(s["warm"])
        from_ms = now_ms()
        load.result()
        until_ms = now_ms()
        time.sleep(3)
        joined = latency_join.join(
            bench.topics, topic, seend.published, seend.contender.covered, from_ms, until_ms
        )
        result.update(
            {
                "leading_events": joined["leading"]["count"],
                "leading_p50_ms": joined["leading"]["p50_ms"],
                "leading_p99_ms": joined["leading"]["p99_ms"],
                "all_p50_ms": joined["all"]["p50_ms"],
                "all_p99_ms": joined["all"]["p99_ms"],
                "unpublished": joined["unpublished"],
            }
        )
    bench.drop(topic)
    return result
