"""Kafka Streams with three instances: how long does a partition give no answer after one is killed, without a
copy and with one?

The events are those of the scenario `group`. Kafka Streams forwards no requests, so a partition answers if its
own instance does."""

import dataclasses
import shutil
import time

import alone
from contenders.kafka_streams import KafkaStreams
from contenders.process import Lines, Run
from places import wait_until

INSTANCES = 3


def run(bench, settings, say):
    s = alone.numbers(
        settings, partitions=12, rate=20_000, users=1_000_000, history=4_000_000, repeats=1, standbys=0
    )
    contender = KafkaStreams("kafka-streams-cached", "", 256 << 20, 1_000)
    contender.prepare()
    topic = bench.scratch_topic(bench.name("group-streams"), s["partitions"], retention_ms=-1)
    directory = bench.kafka.directory.parent / "group-streams"
    shutil.rmtree(directory, ignore_errors=True)
    group = bench.name("group-streams")
    instances = [
        Instance(
            contender,
            Run(
                bench.kafka.bootstrap,
                topic,
                group,
                directory / f"instance-{number}",
                bounded=False,
                partitions=s["partitions"],
                options={
                    "instance": f"instance-{number}",
                    "session_ms": 6000,
                    "heartbeat_ms": 500,
                    "watched": "true",
                    "standbys": s["standbys"],
                },
            ),
        )
        for number in range(INSTANCES)
    ]
    load, rows = None, []
    try:
        # Before there are events, the instances share the partitions at once. Later, each instance first
        # warms up its share.
        wait_until(
            lambda: all(len(i.answering) == s["partitions"] // INSTANCES for i in instances),
            "each has its share",
            300,
        )
        bench.generate(topic, "--users", s["users"], "--events", s["history"]).result()
        wait_until(lambda: read(instances, s["partitions"]) >= s["history"], "the history is read", 3000)
        load = bench.generate(topic, "--users", s["users"], "--rate", s["rate"])
        for number in range(s["repeats"]):
            wait_until(lambda: answering(instances) == set(range(s["partitions"])), "all answer", 900)
            time.sleep(10)
            rows.append({"run": number, "standbys": s["standbys"], **kill(instances)})
            say(str(rows[-1]))
        return {
            "partitions": s["partitions"],
            "events": s["history"],
            "rate": s["rate"],
            "session_timeout_s": 6,
            "rows": rows,
        }
    finally:
        if load is not None:
            load.process.kill()
            load.process.wait()
        for instance in instances:
            instance.kill9()


def read(instances, partitions):
    """How many events the instances have read. A partition counts as far as any instance has read it."""
    return sum(max((i.offsets[p] for i in instances if i.offsets), default=0) for p in range(partitions))


def answering(instances):
    return set().union(*(i.answering for i in instances))


def kill(instances):
    dead = max(
        instances, key=lambda i: len(i.answering)
    )  # an instance that came back owns nothing for some minutes
    survivors = [i for i in instances if i is not dead]
    moved, begun = set(dead.answering), time.monotonic()
    dead.kill9()
    dead.answering = set()
    back = {}
    while len(back) < len(moved):
        for partition in moved & answering(survivors) - set(back):
            back[partition] = round(time.monotonic() - begun, 2)
        if time.monotonic() - begun > 900:
            raise RuntimeError(f"of {moved}, only {set(back)} answer after 900 s")
        time.sleep(0.02)
    instances[instances.index(dead)] = Instance(dead.contender, dead.run)
    return {
        "moved": len(moved),
        "first_unanswered_s": min(back.values()),
        "last_unanswered_s": max(back.values()),
    }


class Instance(Lines):
    """A started instance. `answering`: the partitions for which it answers."""

    def __init__(self, contender, run):
        self.contender, self.run, self.answering = contender, run, set()
        super().__init__(contender.command(dataclasses.replace(run)), run)

    def _read(self):
        for line in self.process.stdout:
            words = line.split()
            if words[0] == b"answers":
                self.answering = {int(p) for p in words[1].split(b",") if p} if len(words) > 1 else set()
            elif words[0] == b"progress":
                self.offsets = [int(offset) for offset in words[2].split(b",")]
