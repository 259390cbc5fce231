"""How much later other clients get their answers beside 1,000 hostile connections
(tests/system/hostile_clients.py): `unseen` with 200 candidates at a fixed pace, plain and over TLS."""

import statistics

import alone
import measure
import paths
from broker import Workload
from certificates import Authority
from hostile_clients import Crowd
from oracle_sample import sample
from scenarios.serving import wrk


def run(bench, settings, say):
    s = alone.numbers(
        settings,
        users=1000,
        items=300,
        seconds=15,
        connections=8,
        paced=400,
        hostile=1000,
        repeats=4,
        candidates=200,
    )
    workload = bench.fill(Workload("hostile", s["users"] * s["items"], users=s["users"], days=29))
    users = list(sample(bench, workload, 200))
    rows = [row for tls in (False, True) for row in by_turns(bench, workload, users, s, tls, say)]
    bench.topics.delete(workload.topic)

    def p99(tls, number, way):
        return next(r["p99_ms"] for r in rows if (r["tls"], r["run"], r["way"]) == (tls, number, way))

    def ratio(tls):
        ratios = [p99(tls, n, "among them") / p99(tls, n, "alone") for n in range(s["repeats"])]
        return {
            "tls": tls,
            "p99 ratio, median": statistics.median(ratios),
            "min": min(ratios),
            "max": max(ratios),
        }

    return {"hostile": s["hostile"], "rows": rows, "ratios": [ratio(False), ratio(True)]}


def by_turns(bench, workload, users, s, tls, say):
    access = {}
    if tls:
        paths.WORK.mkdir(parents=True, exist_ok=True)
        access = {"access": Authority(paths.WORK).access("seend")}
    with alone.Seend(bench, workload.topic, publishing=False, **access) as seend:
        seend.wait_applied(workload.events, 300)
        measure.wait_ready(seend.session)
        for number in range(s["repeats"]):
            for way in ("alone", "among them") if number % 2 == 0 else ("among them", "alone"):
                if way == "alone":
                    row = wrk(seend, users, s, "unseen", s["candidates"], s["paced"])
                else:
                    with Crowd(seend.address(), s["hostile"], tls, nice=19) as crowd:
                        row = {
                            **wrk(seend, users, s, "unseen", s["candidates"], s["paced"]),
                            "opened": crowd.opened,
                        }
                row = {"tls": tls, "run": number, "way": way, **row}
                say(str(row))
                yield row
