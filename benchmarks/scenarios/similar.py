"""What the join of exposures with item groups costs: rate and CPU with filters[].similar off and on, by
turns."""

import json
import shutil
import statistics
import time

import alone
from broker import Workload

MODES = ("off", "drop")


def run(bench, settings, say):
    s = alone.numbers(settings, events=5_000_000, items=1_000_000, alike=20, near=3, runs=5)
    workload = bench.fill(Workload(f"similar-{s['items']}", s["events"], more=["--items", s["items"]]))
    bench.warm(workload)
    groups = bench.scratch_topic(bench.name("groups"), 4, cleanup_policy="compact")
    bench.topics.produce(groups, records(s), "murmur2_random")
    table = bench_table(bench, groups)
    say(f"the groups of {s['items']:,} items are there, {s['alike']}% of them with {s['near']} near ones")
    rows = []
    for number in range(s["runs"]):
        for mode in alone.in_turn(MODES, number):
            rows.append({"run": number, **one(bench, workload, groups, table, mode)})
            say(str(rows[-1]))
    shutil.rmtree(table.parent)
    rates = [
        [row["events_per_s"] for row in rows if row["run"] == number and row["similar"] == mode][0]
        for number in range(s["runs"])
        for mode in MODES
    ]
    ratios = [on / off for off, on in zip(rates[::2], rates[1::2])]
    return {
        "events": s["events"],
        "runs_of_each": s["runs"],
        "medians": [middle(rows, mode) for mode in MODES],
        "rate_on_by_off_median": statistics.median(ratios),
        "rate_on_by_off_min": min(ratios),
    }


def item_id(rank):
    """The id that seenctl generate gives to the item of this popularity."""
    return f"n{rank * 0x85EBCA6B % 2**32:08x}"


def records(s):
    """With `alike` at 20%, the third of each five items is similar to `near` other such items. The other
    items are alone. About a fifth of the exposures are of similar items."""
    every, size, now = 100 // s["alike"], s["near"] + 1, int(time.time() * 1000)
    for place in range(s["items"]):
        item, group = item_id(place + 1), place // every // size * size
        alike = place % every == every // 2
        mates = [item_id((group + i) * every + every // 2 + 1) for i in range(size)] if alike else [item]
        near = [
            {"item_id": mate, "similarity": 0.93, "distance": 2, "found_by": "both"}
            for mate in mates
            if mate != item
        ]
        value = {
            "item_id": item,
            "group_id": mates[0],
            "created_at": now,
            "found_by": "both" if mates[0] != item else "first",
            "similarity": 0.93 if mates[0] != item else 1,
            "distance": 2 if mates[0] != item else 0,
            "near": near,
            "moved_from": None,
        }
        yield item, json.dumps(value)


def config(groups, mode):
    if mode == "off":
        return {}
    return {
        "items": {"groups_topic": groups},
        "filters": [{"name": "default", "snapshot": None, "similar": mode}],
    }


def bench_table(bench, groups):
    """The daemon's copy of the groups, read once. Each run begins with this copy. A second start does the
    work that a daemon leaves for its next start, because that work isn't a cost of the exposures."""
    nothing, kept = bench.scratch_topic(bench.name("nothing")), None
    for _ in range(2):
        seend = alone.Seend(bench, nothing, publishing=False, **config(groups, "drop"))
        if kept:
            shutil.copytree(kept, seend.run.state_dir / "groups")
        with seend:
            wait_read(seend)
            used = -1.0
            while seend.session.cpu_s() - used > 0.1:
                used = seend.session.cpu_s()
                time.sleep(1)
            state = seend.run.state_dir
        kept = state.parent.parent.parent / "groups-table" / "groups"
        shutil.rmtree(kept.parent, ignore_errors=True)
        shutil.copytree(state / "groups", kept)
    return kept


def wait_read(seend):
    deadline = time.monotonic() + 300
    while True:
        answer = seend.contender.daemon.get("/v1/status")
        copy = ((answer.json() if answer else {}).get("items") or {}).get("groups") or {}
        if copy.get("rows") and copy["lag_messages"] == 0:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"the groups aren't read: {copy}")
        time.sleep(0.1)


def middle(rows, mode):
    of = [row for row in rows if row["similar"] == mode]
    return {
        "similar": mode,
        **{key: statistics.median(row[key] for row in of) for key in of[0] if key not in ("run", "similar")},
    }


def one(bench, workload, groups, table, mode):
    seend = alone.Seend(bench, workload.topic, publishing=False, **config(groups, mode))
    if mode != "off":
        shutil.copytree(table, seend.run.state_dir / "groups")
    with seend:
        seen = seend.wait_applied(workload.events, 60 + workload.events / 50_000)
        rate, cpu = alone.between(seen, workload.events // 5, workload.events)
        seend.contender.daemon.wait_at_rest(300)
        joined = seend.metric("seen_similar_joined_total") if mode != "off" else 0
        return {
            "similar": mode,
            "events_per_s": rate,
            "cpu_us_an_event": cpu,
            "cpu_us_an_event_with_all_compactions": seend.session.cpu_s() / workload.events * 1e6,
            "joined_share": joined / workload.events,
            "state_bytes_an_event": seend.metric("seen_store_bytes") / workload.events,
            "disk_reads": seend.metric("seen_item_groups_disk_reads_total") if mode != "off" else 0,
            "peak_memory_MiB": seend.session.peak_bytes() / alone.MIB,
        }
