"""seend beside the Flink job that it replaces (variant B on RocksDB, rendered every second). Both read a topic
of 29 days from an empty state to its end, and publish each changed user once a second."""

import alone
import measure
from broker import Workload
from contenders import flink, seend


def run(bench, settings, say):
    s = alone.numbers(settings, users=2_500, items=2_000, runs=2)
    contenders = [
        next(c for c in module.CONTENDERS if c.name == name)
        for module, name in ((seend, "seend-published"), (flink, "flink-b-published"))
    ]
    filled = bench.warm(
        bench.fill(
            Workload(
                "beside-flink",
                s["users"] * s["items"],
                users=s["users"],
                days=29,
                more=["--items", "1000000", "--user-skew", "0.01"],
            )
        )
    )
    rows = []
    for number in range(s["runs"]):
        for contender in alone.in_turn(contenders, number):
            contender.prepare()
            took = measure.ingest(bench, contender, filled, closely=False)
            rows.append(
                {
                    "run": number,
                    "what": contender.title,
                    "events_per_s": took["rate"],
                    "cpu_s_a_million_events": took["cpu_us"],
                    "published": took["published"],
                    "peak_memory_MiB": took["peak_bytes"] / alone.MIB,
                }
            )
            say(str(rows[-1]))
    return {"users": s["users"], "items_a_user": s["items"], "rows": rows}
