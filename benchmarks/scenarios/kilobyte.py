"""What longer events cost: 1 KB instead of about 140 bytes, publishing off."""

import alone
from broker import Workload


def run(bench, settings, say):
    s = alone.numbers(settings, events=1_000_000, runs=3)
    rows = []
    for size in (0, 1000):
        workload = bench.warm(
            bench.fill(
                Workload(f"bytes{size}", s["events"], more=["--event-bytes", str(size)] if size else [])
            ),
            1,
        )
        for run in range(s["runs"]):
            with alone.Seend(bench, workload.topic, publishing=False) as seend:
                rate, cpu = alone.between(seend.wait_applied(s["events"], 300), 0, s["events"])
                mean = workload.figures["bytes"] / workload.events
                rows.append(
                    {
                        "run": run,
                        "bytes_an_event": mean,
                        "events_per_s": rate,
                        "MB_per_s": rate * mean / 1e6,
                        "cpu_us_an_event": cpu,
                        "peak_memory_MiB": seend.session.peak_bytes() / alone.MIB,
                    }
                )
            say(str(rows[-1]))
        bench.topics.delete(workload.topic)
    return {"events": s["events"], "rows": rows}
