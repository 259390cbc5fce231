"""How storage grows with the number of users, 30 items each over 30 days: bytes an item, bytes written for
each byte kept, start-up, longest standstill."""

import time

import alone
from broker import Workload
from http_json import user_path
from oracle_sample import each_message

GROWS = ("bytes_an_item", "written_by_kept", "seconds_to_ready", "ms_to_first_answer")


def run(bench, settings, say):
    s = alone.numbers(settings, least=100_000, most=10_000_000, items_a_user=30, events_max=120_000_000)
    rows, users = [], s["least"]
    while users <= s["most"]:
        for items in sorted({min(s["items_a_user"], s["events_max"] // most) for most in (users, s["most"])}):
            # The second largest also runs with a shorter history, to show how the largest would go on.
            if users * 10 >= s["most"] or items == s["items_a_user"]:
                rows.append(one(bench, users, items))
                say(str(rows[-1]))
        users *= 10
    if rows[-1]["items_a_user"] < s["items_a_user"]:
        rows.append(extrapolated(rows, s))
    return {"rows": rows}


def extrapolated(rows, s):
    """The largest with all its items, extrapolated as the second largest grew from its short history to its
    whole one."""
    largest = rows[-1]
    short, whole = rows[-3:-1]
    return {
        **largest,
        "items_a_user": s["items_a_user"],
        "measured": "extrapolated",
        "events_per_s": None,
        "cpu_us_an_event": None,
        "longest_standstill_s": None,
        "held_back_s": None,
        "state_MiB": None,
        "peak_memory_MiB": None,
        **{key: largest[key] * whole[key] / short[key] for key in GROWS},
    }


def one(bench, users, items):
    workload = bench.fill(
        Workload("growth", users * items, users=users, days=29, more=["--items", "1000000"])
    )
    user = next(each_message(bench.topics, workload.topic)).key().decode()
    with alone.Seend(bench, workload.topic, publishing=False) as seend:
        seen = seend.wait_applied(workload.events, 60 + workload.events / 50_000)
        held = seend.metric("seen_flow_held_seconds_total")
        seend.contender.daemon.wait_at_rest(300)
        written, peak = seend.written_bytes(), seend.session.peak_bytes()
        size = seend.contender.state_bytes(seend.run)  # stopped and started again
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
        result = {
            "users": users,
            "items_a_user": items,
            "measured": "measured",
            "bytes_an_item": size / workload.events,
            "written_by_kept": written / size,
            "state_MiB": size / alone.MIB,
            "events_per_s": rate,
            "cpu_us_an_event": cpu,
            "peak_memory_MiB": peak / alone.MIB,
            "longest_standstill_s": alone.longest_wait_s(seen),
            "held_back_s": held,
            "seconds_to_ready": ready,
            "ms_to_first_answer": 1000 * answer,
        }
    bench.topics.delete(workload.topic)
    return result
