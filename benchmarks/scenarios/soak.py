"""Full speed over many users for ten minutes, publishing on. The topic is cut to 2 GB a partition. Does
memory stay flat?"""

import time

import alone
import measure


def run(bench, settings, say):
    s = alone.numbers(settings, seconds=600, users=10_000_000, rate=0, memory_mib=512, retention_mb=2000)
    topic = bench.scratch_topic(
        bench.name("soak"), retention_bytes=s["retention_mb"] * 10**6, segment_bytes=256 * 10**6
    )
    with alone.Seend(bench, topic, publishing=True, store={"memory_mib": s["memory_mib"]}) as seend:
        measure.wait_ready(seend.session)
        load = bench.generate(
            topic,
            "--users",
            s["users"],
            "--sessions",
            300_000,
            "--rate",
            s["rate"],
            "--seconds",
            s["seconds"],
        )
        points, begun, cpu, told = [], time.monotonic(), seend.session.cpu_s(), 0
        while load.process.poll() is None:
            now = time.monotonic() - begun
            points.append((round(now, 1), round(alone.resident_mib(seend.pid()), 1)))
            if now - told > 60:
                told = now
                say(f"{now:.0f} s: {points[-1][1]:.0f} MiB, {seend.session.applied():,} events")
            time.sleep(1)
        took = time.monotonic() - begun
        sent, applied, ends = load.result()["events"], seend.session.applied() or 0, bench.topics.ends(topic)
        late = [mib for second, mib in points if second > took / 3]
        result = {
            "seconds": took,
            "users": s["users"],
            "budget_MiB": s["memory_mib"],
            "sent_per_s": sent / took,
            "applied_per_s": applied / took,
            "behind_at_the_end": sum(end for _, end in ends.values()) - applied,
            "lost_to_retention": seend.metric("seen_lost_messages_total"),
            "cores": (seend.session.cpu_s() - cpu) / took,
            "peak_memory_MiB": seend.session.peak_bytes() / alone.MIB,
            "least_MiB_after_a_third": min(late),
            "most_MiB_after_a_third": max(late),
            "curve": {"title": "Resident memory at full speed, MiB", "unit": "MiB", "points": points},
        }
    bench.drop(topic)
    return result
