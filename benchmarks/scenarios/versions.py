"""Ingest and publishing of this build beside another build of seend, by turns. SEEN_OTHER_SEEND=PATH names
the other binary."""

import os
import pathlib
import statistics

import alone
import seend as daemons
from broker import Workload

PUBLISHING = {"ingest": False, "published": True}


def run(bench, settings, say):
    s = alone.numbers(settings, events=5_000_000, users=1_000_000, runs=6)
    builds = {"this": daemons.SEEND, "other": other_binary()}
    workload = bench.fill(Workload(f"versions-{s['users']}", s["events"], users=s["users"]))
    bench.warm(workload)
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
                            **one(bench, workload, PUBLISHING[mode]),
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


def one(bench, workload, publishing):
    with alone.Seend(bench, workload.topic, publishing=publishing) as seend:
        seen = seend.wait_applied(workload.events, 60 + workload.events / 20_000)
        rate, cpu = alone.between(seen, workload.events // 5, workload.events)
        if publishing:
            seend.wait_finished(workload.events, 300)
        return {
            "events_per_s": rate,
            "cpu_us_an_event": cpu,
            "cpu_us_an_event_in_all": seend.session.cpu_s() / workload.events * 1e6,
        }


def ratios(rows, mode):
    """This build divided by the other, pair by pair: median and range."""
    result = {}
    for key in ("events_per_s", "cpu_us_an_event", "cpu_us_an_event_in_all"):
        of = {
            build: [row[key] for row in rows if row["mode"] == mode and row["build"] == build]
            for build in ("this", "other")
        }
        pairs = sorted(a / b for a, b in zip(of["this"], of["other"]))
        result[key] = {"median": statistics.median(pairs), "min": pairs[0], "max": pairs[-1]}
    return result
