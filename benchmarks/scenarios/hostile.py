"""What 1,000 hostile connections (tests/system/hostile_clients.py) add to the answers that others get: `unseen` with 200
candidates, paced, without them and among them by turns."""

import statistics

import alone
import measure
from broker import Workload
from hostile_clients import Crowd
from oracle_sample import sample
from scenarios.serving import wrk


def run(bench, settings, say):
    s = alone.numbers(settings, users=1000, items=300, seconds=15, connections=8, paced=400, hostile=1000, repeats=4,
                      candidates=200)
    workload = bench.fill(Workload("hostile", s["users"] * s["items"], users=s["users"], days=29))
    users = list(sample(bench, workload, 200))
    rows = []
    with alone.Seend(bench, workload.topic, publishing=False) as seend:
        seend.wait_applied(workload.events, 300)
        measure.wait_ready(seend.session)
        for number in range(s["repeats"]):
            for way in ("alone", "among them") if number % 2 == 0 else ("among them", "alone"):
                if way == "alone":
                    row = wrk(seend, users, s, "unseen", s["candidates"], s["paced"])
                else:
                    with Crowd(seend.address(), s["hostile"]) as crowd:
                        row = {**wrk(seend, users, s, "unseen", s["candidates"], s["paced"]), "opened": crowd.opened}
                rows.append({"run": number, "way": way, **row})
                say(str(rows[-1]))
    bench.topics.delete(workload.topic)
    ratios = [next(r["p99_ms"] for r in rows if r["run"] == n and r["way"] == "among them") /
              next(r["p99_ms"] for r in rows if r["run"] == n and r["way"] == "alone") for n in range(s["repeats"])]
    return {"hostile": s["hostile"], "rows": rows,
            "p99_ratio": {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)}}
