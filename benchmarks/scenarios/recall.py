"""Freshness at recall: from an event's Kafka timestamp until a C++ reader beside the daemon answers "seen". Each
rate runs with publishing off, with updates, and with one and two readers more. What updates cost the daemon
and the broker are the differences. Then a backlog with publishing off and with updates, by turns; and a reader
that begins with nothing behind many additions."""

import contextlib
import statistics
import time

import alone
import measure
from broker import Workload
from bystanders import Bystanders
from contenders.process import cpu_s
from recall_reader import RecallReader, new_items, with_updates

READERS = {"publishing off": 0, "updates": 0, "updates, a reader": 1, "updates, two readers": 2}
COUNTERS = {
    "updates": "seen_updates_total",
    "bytes": "seen_update_bytes_total",
    "items": "seen_update_items_total",
    "gaps": "seen_update_gaps_total",
    "snapshots": "seen_snapshots_total",
}


def run(bench, settings, say):
    s = alone.numbers(
        settings,
        rate=20_000,
        high_rate=100_000,
        highest_rate=300_000,
        seconds=30,
        warm=15,
        repeats=3,
        backlog=20_000_000,
        begin_items=190_000_000,
        begin_rate=80_000,
    )
    rows = []
    for rate in dict.fromkeys((s["rate"], s["high_rate"], s["highest_rate"])):
        for number in range(s["repeats"]):
            for how in alone.in_turn(list(READERS), number):
                rows.append({"events/s": rate, "how": how, **live(bench, s, rate, how)})
                say(str(rows[-1]))
    backlogs = []
    workload = bench.fill(Workload("recall", s["backlog"], more=new_items())) if s["backlog"] else None
    for number in range(s["repeats"] if workload else 0):
        for how in alone.in_turn(["publishing off", "updates"], number):
            backlogs.append({"how": how, **backlog(bench, workload, how)})
            say(str(backlogs[-1]))
    begun = begin(bench, s) if s["begin_items"] else {}
    say(str(begun))
    return {
        "seconds": s["seconds"],
        "runs of each": s["repeats"],
        **begun,
        "medians": medians(rows),
        "backlog": medians(backlogs),
    }


def medians(rows):
    of = {}
    for row in rows:
        of.setdefault((row.get("events/s"), row["how"]), []).append(row)
    return [median(group) for group in of.values()]


def median(rows):
    """And the least of what costs CPU."""
    result = {}
    for key, value in rows[0].items():
        result[key] = value if isinstance(value, str) else statistics.median(row[key] for row in rows)
        if "_us_an_event" in key:
            result[f"{key}_least"] = min(row[key] for row in rows)
    return result


class Updates:
    """A daemon with updates, or with publishing off."""

    def __init__(self, bench, topic, how):
        self.bench, self.topic = bench, topic
        self.output = bench.scratch_topic(f"{bench.name('recall')}-out", cleanup_policy="compact")
        config = {} if how == "publishing off" else with_updates(self.output)
        self.seend = alone.Seend(bench, topic, publishing=False, **config)

    def __enter__(self):
        self.seend.__enter__()
        measure.wait_ready(self.seend.session)
        return self

    def __exit__(self, *_):
        self.seend.__exit__()
        self.bench.drop(self.output)
        for name in (f"{self.output}-updates", f"{self.output}-beats"):
            if self.bench.topics.partitions(name):
                self.bench.topics.delete(name)

    def reader(self):
        return RecallReader(self.bench, self.topic, self.output)

    def counted(self):
        return {key: self.seend.metric(name) for key, name in COUNTERS.items()}


def live(bench, s, rate, how):
    topic = bench.scratch_topic(bench.name("live"))
    with Updates(bench, topic, how) as updates, contextlib.ExitStack() as stack:
        readers = [stack.enter_context(updates.reader()) for _ in range(READERS[how])]
        load = bench.generate(
            topic, *measure.live_arguments(rate), *new_items(), "--seconds", s["warm"] + s["seconds"]
        )
        time.sleep(s["warm"])
        for reader in readers:
            reader.row()
        session = updates.seend.session
        watched = {"daemon": session.cpu_s, "broker": bench.cpu_s}
        watched |= {f"reader {i}": reader.cpu_s for i, reader in enumerate(readers)}
        bystanders = Bystanders(*watched.values(), lambda: cpu_s(load.process.pid))
        cpu = {name: read() for name, read in watched.items()}
        applied, counted, begun = session.applied(), updates.counted(), time.monotonic()
        written = updates.seend.written_bytes()
        time.sleep(s["seconds"] - 2)
        took, applied = time.monotonic() - begun, session.applied() - applied
        cpu = {name: read() - cpu[name] for name, read in watched.items()}
        others, stolen = bystanders.cores()
        counted = {key: value - counted[key] for key, value in updates.counted().items()}
        row = {
            "applied_per_s": round(applied / took),
            "daemon_us_an_event": round(cpu["daemon"] / applied * 1e6, 3),
            "broker_us_an_event": round(cpu["broker"] / applied * 1e6, 3),
            "written_bytes_an_event": round((updates.seend.written_bytes() - written) / applied, 1),
            "reader_cores": round(cpu.get("reader 0", 0) / took, 3),
            "updates_per_s": round(counted["updates"] / took),
            "bytes_an_item": round(counted["bytes"] / max(1, counted["items"]), 2),
            "snapshots_per_s": round(counted["snapshots"] / took),
            "gaps": round(counted["gaps"]),
            "others_cores": round(others, 2),
            "stolen_cores": round(stolen, 2),
        }
        if readers:
            row |= readers[0].row()
        load.process.terminate()
        load.process.wait()
    bench.drop(topic)
    return row


def backlog(bench, workload, how):
    """With updates, all that it publishes counts too: what is new, and each user's snapshot."""
    with Updates(bench, workload.topic, how) as updates:
        updates.seend.wait_applied(workload.events, 60 + workload.events / 50_000)
        updates.seend.contender.daemon.wait_at_rest(600)
        return {
            "cpu_us_an_event": round(updates.seend.session.cpu_s() / workload.events * 1e6, 3),
            "snapshots": updates.counted()["snapshots"],
            "gaps": updates.counted()["gaps"],
        }


def begin(bench, s):
    """Pages of ten items, one generation, and no round of the refresh but the first."""
    topic = bench.scratch_topic(bench.name("begin"))
    with Updates(bench, topic, "updates") as updates:
        load = bench.generate(
            topic,
            *("--users", 1_000_000, "--batch", 10, "--rate", s["begin_rate"], "--sessions", s["begin_rate"]),
            *("--events", s["begin_items"] // 10),
        )
        load.result()
        counted = updates.counted()
        with updates.reader() as reader:
            fresh_s = reader.wait_fresh(600)
            row = {
                "begin_items": round(counted["items"]),
                "begin_bytes_an_item": round(counted["bytes"] / counted["items"], 2),
                "begin_snapshots": round(counted["snapshots"]),
                "begin_fresh_s": round(fresh_s, 1),
                "begin_reader_MiB": round(reader.memory_bytes() / alone.MIB),
            }
    bench.drop(topic)
    return row
