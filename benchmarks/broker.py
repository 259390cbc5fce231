"""The one Kafka of all contenders: Apache's, with the JVM options of its own start script. Also fills its
topics."""

import json
import shutil
import subprocess
import time

import paths
from contenders.process import cpu_s
from kafka_broker import Kafka
from places import BUILD, SEENCTL
from topics import Topics

# The options of bin/kafka-server-start.sh.
JVM = [
    "-Xmx1g",
    "-Xms1g",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
]
DAY_S = 86_400
LIMIT = BUILD / "bench_limit"


class BenchKafka(Kafka):
    """Keeps its data in build/bench/kafka, so that a topic is filled once a day and not for every part."""

    def __init__(self, directory):
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(directory)

    def start(self, wait=True):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [
                    "java",
                    *JVM,
                    f"-Dlog4j.configuration=file:{self.directory}/log4j.properties",
                    "-cp",
                    f"{self.libs}/*",
                    "kafka.Kafka",
                    str(self.directory / "server.properties"),
                ],
                stdout=log,
                stderr=log,
                cwd=self.directory,
            )
        if wait:
            self.wait_ready()

    def version(self):
        return next(self.libs.glob("kafka_2*.jar")).stem.split("-")[-1]


class Workload:
    """A profile of events: the arguments of seenctl generate, and the topic that it fills."""

    def __init__(self, name, events, *, users=1_000_000, batch=1, partitions=4, days=0, more=()):
        self.name, self.events, self.users, self.batch = name, events, users, batch
        self.partitions, self.days, self.more = partitions, days, list(more)
        self.topic = f"events-{name}-{events}-{users}-{partitions}"
        self.figures = {}

    def arguments(self):
        days = ["--days", str(self.days)] if self.days else []
        return ["--users", str(self.users), "--batch", str(self.batch), *days, *self.more]


class Bench:
    """The broker and its filled topics. Use with `with`."""

    def __init__(self, fresh=False):
        self.topics_file = paths.WORK / "topics.json"
        if fresh:
            shutil.rmtree(paths.WORK / "kafka", ignore_errors=True)
            self.topics_file.unlink(missing_ok=True)
        self.kafka = BenchKafka(paths.WORK / "kafka")
        self.serial = int(time.time())
        self.scratch = []

    def __enter__(self):
        self.kafka.start()
        self.topics = Topics(self.kafka.bootstrap)
        self.brokers = self.kafka.bootstrap
        return self

    def __exit__(self, *_):
        for topic in self.scratch:
            self.topics.delete(topic)
        self.kafka.stop()

    def cpu_s(self):
        return cpu_s(self.kafka.process.pid)

    def name(self, *words):
        self.serial += 1
        return "-".join([*map(str, words), str(self.serial)])

    def scratch_topic(self, name, partitions=4, **config):
        self.scratch.append(self.topics.create(name, partitions, **config))
        return name

    def output_topic(self, name, partitions=4):
        """A compacted topic. It isn't compacted while the benchmark reads back when each record was
        published."""
        return self.scratch_topic(
            name,
            partitions,
            cleanup_policy="compact",
            message_timestamp_type="LogAppendTime",
            min_compaction_lag_ms=3_600_000,
        )

    def drop(self, *topics):
        for topic in topics:
            if topic in self.scratch:
                self.scratch.remove(topic)
                self.topics.delete(topic)

    def fill(self, workload):
        """Fills the workload's topic, unless a run filled it within a day. workload.figures gets the real
        figures."""
        known = json.loads(self.topics_file.read_text()) if self.topics_file.exists() else {}
        figures = known.get(workload.topic)
        there = self.topics.partitions(workload.topic)
        if not figures or not there or time.time() - figures["at"] > DAY_S:
            if there:
                self.topics.delete(workload.topic)
            self.topics.create(workload.topic, workload.partitions, retention_ms=-1)
            figures = self.generate(
                workload.topic, *workload.arguments(), "--events", str(workload.events)
            ).result()
            figures["at"] = time.time()
            known[workload.topic] = figures
            self.topics_file.write_text(json.dumps(known, indent=1))
        workload.figures = figures
        return workload

    def warm(self, workload, times=3):
        """Reads the topic some times before the measurement, so that the broker's code is compiled and its
        files are in memory."""
        for _ in range(times if LIMIT.exists() else 0):
            subprocess.run(
                [
                    str(LIMIT),
                    f"brokers={self.brokers}",
                    f"input={workload.topic}",
                    f"partitions={workload.partitions}",
                ],
                stdout=subprocess.DEVNULL,
                check=True,
                timeout=120,
            )
        return workload

    def generate(self, topic, *arguments):
        return Generator(self.brokers, topic, arguments)


class Generator:
    """A running seenctl generate."""

    def __init__(self, brokers, topic, arguments):
        self.process = subprocess.Popen(
            [
                str(SEENCTL),
                "generate",
                "--brokers",
                brokers,
                "--topic",
                topic,
                "--quiet",
                "--json",
                *map(str, arguments),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )

    def result(self, timeout_s=3600):
        """{"events", "exposures", "bytes", "seconds"}"""
        out, _ = self.process.communicate(timeout=timeout_s)
        if self.process.returncode != 0:
            raise RuntimeError(f"seenctl generate ended with {self.process.returncode}")
        figures = json.loads(out)
        return {key: figures[key] for key in ("events", "exposures", "bytes", "seconds")}
