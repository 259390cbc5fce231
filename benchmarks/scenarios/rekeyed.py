"""What re-keying costs, publishing off: a topic partitioned by user as Java does it, and one that the daemon
re-keys first."""

import alone
from broker import Workload


def run(bench, settings, say):
    s = alone.numbers(settings, events=2_000_000, runs=3)
    # crc32: when re-keyed, each partition's events go to all partitions, as events with random keys do.
    workloads = {
        True: Workload("keyed", s["events"]),
        False: Workload("otherwise-keyed", s["events"], more=["--partitioner", "crc32"]),
    }
    rows = []
    for workload in workloads.values():
        bench.warm(bench.fill(workload), 1)
    for _ in range(s["runs"]):
        for keyed_by_user, workload in workloads.items():
            keyed = f"{workload.topic}-by-user"
            with alone.Seend(
                bench, workload.topic, publishing=False, input={"keyed_by_user": keyed_by_user}
            ) as seend:
                seen = seend.wait_applied(s["events"], 300)
                rate, cpu = alone.between(seen, 0, s["events"])
                rows.append(
                    {
                        "keyed_by_user": keyed_by_user,
                        "events_per_s": rate,
                        "cpu_us_an_event": cpu,
                        "peak_memory_MiB": seend.session.peak_bytes() / alone.MIB,
                    }
                )
            if not keyed_by_user:
                bench.topics.delete(keyed)
            say(str(rows[-1]))
    for workload in workloads.values():
        bench.topics.delete(workload.topic)
    return {"events": s["events"], "rows": rows}
