"""The same job on Kafka Streams (benchmarks/kafka-streams). It publishes the changelog of its store."""

from contenders.jvm import JEMALLOC, JvmContender, Project, java_version

PROJECT = Project("kafka-streams", "flink/src/common")
STORE = "seen"

SETTINGS = (
    "num.stream.threads 2, at least once; persistent RocksDB store (user -> a Bloom filter a day, 16 items at first, "
    "growing fourfold, 1% over the window's days), changelog on; commit every {commit_s} s, {cache}; RocksDB in one "
    "shared cache of 512 MiB, half of it write buffers, Bloom filters on; producer linger 5 ms, batches of 128 KiB, "
    "acks=all, idempotent; max.poll.records 5,000; static membership; topology.optimization all; JSON by Jackson's "
    "streaming parser; -Xmx1g, ParallelGC, jemalloc"
)


class KafkaStreams(JvmContender):
    """A value of the changelog is a user's whole filter, and ends with the offset that it covers. So the
    changelog, compacted and keyed by user, is the published topic. `output_name` gives the topic's required
    name."""

    project = PROJECT
    publishes = True

    def __init__(self, name, title, cache_bytes, commit_ms):
        self.name, self.title = name, title
        self.options = [f"cache_bytes={cache_bytes}", f"commit_ms={commit_ms}"]
        cache = (
            f"store cache {cache_bytes >> 20} MiB, so that a user is written once a commit"
            if cache_bytes
            else "no store cache, so that each change is sent at once"
        )
        self.settings = SETTINGS.format(commit_s=commit_ms // 1000, cache=cache)

    def versions(self):
        return {"Kafka Streams": PROJECT.version("kafka.version"), "Java": java_version()}

    @staticmethod
    def output_name(group):
        return f"{group}-{STORE}-changelog"

    def command(self, run):
        run.state_dir.mkdir(parents=True, exist_ok=True)
        if run.output:
            run.output = self.output_name(run.group)
        return [
            *JEMALLOC,
            "java",
            "-Xms1g",
            "-Xmx1g",
            "-XX:+UseParallelGC",
            "-cp",
            PROJECT.class_path(),
            "seen.bench.streams.SeenStreams",
            f"instance={run.group}",
            *self.options,
            *run.arguments(),
        ]


CONTENDERS = [
    KafkaStreams("kafka-streams", "Kafka Streams A, each change in the changelog", 0, 10_000),
    KafkaStreams("kafka-streams-cached", "Kafka Streams A, cached, changelog every second", 256 << 20, 1_000),
]
