"""What forwarding adds to `unseen` with 200 candidates. The client asks a daemon about its own users and about
another daemon's, by turns: at a fixed pace, then as fast as it gets answers."""

import shutil
import statistics

import alone
from hashes import partition_of
from places import wait_until
from scenarios.group import Member
from scenarios.serving import wrk

SESSION = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"}


def run(bench, settings, say):
    s = alone.numbers(
        settings,
        partitions=12,
        users=2_000,
        events=400_000,
        candidates=200,
        seconds=6,
        connections=8,
        paced=400,
        repeats=5,
    )
    directory = bench.kafka.directory.parent / "forwarding"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    topic = bench.scratch_topic(bench.name("forwarding"), s["partitions"], retention_ms=-1)
    bench.generate(topic, "--users", s["users"], "--events", s["events"]).result()
    members = [
        Member(
            directory,
            bench.topics,
            topic,
            {
                "kafka": {"instance_id": f"member-{number}", "client": SESSION},
                "state": {"topic": f"{topic}-state"},
                "watermarks": {"topic": f"{topic}-beats"},
                "cluster": {"peers": "127.0.0.0/8", "token": "a-token-of-theirs"},
            },
            f"member-{number}",
        ).start(ready=False)
        for number in range(2)
    ]
    try:
        wait_until(
            lambda: (
                sum(len(m.owned()) for m in members) == s["partitions"]
                and all(m.owned() for m in members)
                and all(len(m.routes()) == s["partitions"] for m in members)
            ),
            "the partitions are shared",
            120,
        )
        asked, other = members
        users = [f"u{number}" for number in range(1000)]
        of = {
            "direct": [u for u in users if partition_of(u, s["partitions"]) in asked.owned()],
            "passed_on": [u for u in users if partition_of(u, s["partitions"]) in other.owned()],
        }
        rows = []
        for number in range(s["repeats"]):
            for way in ("direct", "passed_on") if number % 2 == 0 else ("passed_on", "direct"):
                for pace in (s["paced"], 0):
                    rows.append(
                        {
                            "run": number,
                            "way": way,
                            **wrk(Asked(asked, directory), of[way], s, "unseen", s["candidates"], pace),
                        }
                    )
                    say(str(rows[-1]))
        return {"partitions": s["partitions"], "candidates": s["candidates"], "rows": rows, **summary(rows)}
    finally:
        for m in members:
            m.kill9()
        for suffix in ("-state", "-beats", "-filters", "-dead"):
            bench.topics.delete(topic + suffix)


class Asked:
    """A member, with the methods that `wrk` (scenarios/serving.py) needs of a daemon."""

    def __init__(self, member, directory):
        self.member, self.run, self.session = member, type("Run", (), {"directory": directory}), self

    def scheme(self):
        return "http"

    def address(self):
        return self.member.address

    def cpu_s(self):
        return self.member.metric_sum("process_cpu_seconds_total")


def summary(rows):
    def of(way, paced, key):
        return [row[key] for row in rows if row["way"] == way and row["paced"] == paced]

    added = [b - a for a, b in zip(of("direct", True, "p50_ms"), of("passed_on", True, "p50_ms"))]
    return {
        "added_p50_ms": {"median": statistics.median(added), "min": min(added), "max": max(added)},
        "passed_on_per_s": {
            "median": statistics.median(of("passed_on", False, "requests_per_s")),
            "max": max(of("passed_on", False, "requests_per_s")),
        },
        "not_answered_with_200": sum(row["not_answered_with_200"] for row in rows),
    }
