"""What a journal of all exposures costs: CPU, disk and rate with store.explain_days 0 and 30, by turns."""

import statistics
import time
import urllib.parse

import alone
from broker import Workload
from http_json import user_path
from oracle_sample import each_message

DAYS = (0, 30)


def run(bench, settings, say):
    s = alone.numbers(settings, events=5_000_000, runs=3)
    workload = bench.fill(Workload("single", s["events"]))
    bench.warm(workload)
    user = next(each_message(bench.topics, workload.topic)).key().decode()
    rows = []
    for number in range(s["runs"]):
        for days in alone.in_turn(DAYS, number):
            rows.append(one(bench, workload, user, days))
            say(str(rows[-1]))
    return {
        "events": s["events"],
        "runs_of_each": s["runs"],
        "medians": [middle(rows, days) for days in DAYS],
    }


def middle(rows, days):
    of = [row for row in rows if row["explain_days"] == days]
    return {key: None if of[0][key] is None else statistics.median(row[key] for row in of) for key in of[0]}


def one(bench, workload, user, days):
    with alone.Seend(
        bench, workload.topic, publishing=False, store={"explain_days": days, "explain_mib": 65536}
    ) as seend:
        seen = seend.wait_applied(workload.events, 60 + workload.events / 50_000)
        rate, cpu = alone.between(seen, 0, workload.events)
        seend.contender.daemon.wait_at_rest(300)
        time.sleep(15)  # until the running compactions end
        rows = seend.metric("seen_journal_rows_total")
        raw = seend.metric("seen_journal_row_bytes_total")
        listing_ms = None
        if days:
            begun = time.monotonic()
            answer = (
                seend.http()
                .get(user_path(user) + "/exposures?" + urllib.parse.urlencode({"limit": 100}))
                .json()
            )
            listing_ms = 1000 * (time.monotonic() - begun) if answer["exposures"] else None
        return {
            "explain_days": days,
            "events_per_s": rate,
            "cpu_us_an_event": cpu,
            "cpu_us_an_event_with_all_compactions": seend.session.cpu_s() / workload.events * 1e6,
            "journal_bytes_an_event": seend.metric("seen_journal_bytes") / workload.events,
            "row_bytes_before_compression": raw / max(1, rows),
            "state_bytes_an_event": seend.metric("seen_store_bytes") / workload.events,
            "written_bytes_an_event": seend.written_bytes() / workload.events,
            "peak_memory_MiB": seend.session.peak_bytes() / alone.MIB,
            "ms_to_list_100": listing_ms,
        }
