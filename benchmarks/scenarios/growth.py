"""How storage grows with users, 30 days of exposures each: bytes an item, bytes written for one kept, start-up."""

import time

import alone
from broker import Workload
from http_json import user_path
from oracle_sample import sample


def run(bench, settings, say):
    s = alone.numbers(settings, events=30_000_000, least=100_000, most=1_000_000)
    rows, users = [], s["least"]
    while users <= s["most"]:
        rows.append(one(bench, Workload("growth", s["events"], users=users, days=29, more=["--items", "1000000"])))
        say(str(rows[-1]))
        users *= 10
    # The next step isn't measured: bytes an item change by as much again, start-up does too.
    if len(rows) > 1:
        a, b = rows[-2], rows[-1]
        rows.append({"users": users, "measured": False, "items_a_user": None,
                     **{key: b[key] + (b[key] - a[key]) for key in ("bytes_an_item", "written_by_kept",
                                                                    "seconds_to_ready", "ms_to_first_answer")}})
    return {"events": s["events"], "rows": rows}


def one(bench, workload):
    bench.fill(workload)
    user = next(iter(sample(bench, workload, 10)))
    with alone.Seend(bench, workload.topic, publishing=False) as seend:
        seen = seend.wait_applied(workload.events, 60 + workload.events / 50_000)
        seend.contender.daemon.wait_at_rest(300)
        written = seend.written_bytes()
        size = seend.contender.state_bytes(seend.run)  # stopped and started again
        items = workload.events  # a session's items differ; over sessions few come twice
        seend.session.stop()
        begun = time.monotonic()
        seend.again()
        while not seend.session.ready():
            time.sleep(0.005)
        ready = time.monotonic() - begun
        begun = time.monotonic()
        seend.http().get(user_path(user))
        answer = time.monotonic() - begun
        rate, cpu = alone.between(seen, 0, workload.events)
        result = {"users": workload.users, "measured": True, "items_a_user": items / workload.users,
                  "bytes_an_item": size / items, "written_by_kept": written / size, "events_per_s": rate,
                  "cpu_us_an_event": cpu, "seconds_to_ready": ready, "ms_to_first_answer": 1000 * answer}
    bench.topics.delete(workload.topic)
    return result
