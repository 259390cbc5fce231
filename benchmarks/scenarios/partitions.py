"""How cost grows with the number of partitions, publishing off."""

import alone
from broker import Workload


def run(bench, settings, say):
    s = alone.numbers(settings, events=3_000_000, most=64)
    rows = []
    for partitions in (1, 2, 4, 8, 16, 64):
        if partitions > s["most"]:
            break
        workload = bench.warm(bench.fill(Workload("partitions", s["events"], partitions=partitions)), 1)
        with alone.Seend(bench, workload.topic, publishing=False, partitions=partitions) as seend:
            rate, cpu = alone.between(seend.wait_applied(s["events"], 300), 0, s["events"])
            rows.append(
                {
                    "partitions": partitions,
                    "events_per_s": rate,
                    "cpu_us_an_event": cpu,
                    "peak_memory_MiB": seend.session.peak_bytes() / alone.MIB,
                }
            )
        say(str(rows[-1]))
        bench.topics.delete(workload.topic)
    return {"events": s["events"], "rows": rows}
