"""Ingest, publishing and `unseen` of this build beside another build of seend, by turns.
SEEN_OTHER_SEEND=PATH names the other binary."""

import os
import pathlib
import statistics

import alone
import measure
import seend as daemons
from broker import Workload
from oracle_sample import sample
from scenarios.serving import need_wrk, wrk

PUBLISHING = {"ingest": False, "published": True}
ASKED = {"connections": 8, "seconds": 5}


def run(bench, settings, say):
    need_wrk()
    s = alone.numbers(settings, events=5_000_000, users=1_000_000, runs=6)
    builds = {"this": daemons.SEEND, "other": other_binary()}
    workload = bench.fill(Workload(f"versions-{s['users']}", s["events"], users=s["users"]))
    bench.warm(workload)
    users = list(sample(bench, workload, 200))
    rows = []
    try:
        for number in range(s["runs"]):
            for build in alone.in_turn(builds, number):
                daemons.SEEND = builds[build]
                for mode in PUBLISHING:
                    rows.append(
                        {
                            "run": number,
                            "build": build,
                            "mode": mode,
                            **one(bench, workload, PUBLISHING[mode], users),
                        }
                    )
                    say(str(rows[-1]))
    finally:
        daemons.SEEND = builds["this"]
    return {
        "events": s["events"],
        "runs_of_each": s["runs"],
        "this_by_other": {mode: ratios(rows, mode) for mode in PUBLISHING},
    }


def other_binary():
    path = pathlib.Path(os.environ.get("SEEN_OTHER_SEEND", ""))
    if not path.is_file():
        raise SystemExit(f'SEEN_OTHER_SEEND: "{path}" is no file; it names the seend to compare with')
    return path


def one(bench, workload, publishing, users):
    with alone.Seend(bench, workload.topic, publishing=publishing) as seend:
        seen = seend.wait_applied(workload.events, 60 + workload.events / 20_000)
        rate, cpu = alone.between(seen, workload.events // 5, workload.events)
        if publishing:
            seend.wait_finished(workload.events, 300)
        figures = {
            "events_per_s": rate,
            "cpu_us_an_event": cpu,
            "cpu_us_an_event_in_all": seend.session.cpu_s() / workload.events * 1e6,
        }
        if not publishing:
            measure.wait_ready(seend.session)
            asked = wrk(seend, users, ASKED, "unseen", 2_000, 0)
            figures |= {f"unseen_{key}": asked[key] for key in ("requests_per_s", "server_cpu_us_a_request")}
        return figures


def ratios(rows, mode):
    """This build divided by the other, pair by pair: median and range."""
    result = {}
    of = {
        build: [row for row in rows if row["mode"] == mode and row["build"] == build]
        for build in ("this", "other")
    }
    for key in of["this"][0].keys() - {"run", "build", "mode"}:
        pairs = sorted(a[key] / b[key] for a, b in zip(of["this"], of["other"]))
        result[key] = {"median": statistics.median(pairs), "min": pairs[0], "max": pairs[-1]}
    return result
