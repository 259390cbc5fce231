"""The Flink job that a daemon replaces (benchmarks/flink): one process with a local cluster in it."""

from contenders.jvm import JEMALLOC, JvmContender, Project, java_version
from contenders.process import disk_bytes

PROJECT = Project("flink")

COMMON = (
    "one JVM with a local cluster, parallelism 2; exactly-once checkpoints every 10 s, retained; keyed by user; "
    "pipeline.object-reuse, execution.buffer-timeout 5 ms, network memory 64 MB, partition discovery off, "
    "max.poll.records 5,000; JSON by Jackson's streaming parser, item ids hashed (XXH64) before the shuffle, a "
    "serializer written by hand between the tasks; StateTtlConfig of the window"
)
ROCKSDB = (
    "EmbeddedRocksDB, incremental checkpoints, managed memory 512 MB (half of it write buffers), FLASH_SSD_OPTIMIZED, "
    "Bloom filters on, timers on the heap, TTL in the compaction filter; -Xmx1500m, ParallelGC, jemalloc"
)
FORST = (
    "ForSt, its files on the local disk, the job's synchronous state as with RocksDB; incremental checkpoints, managed "
    "memory 512 MB (half of it write buffers), Bloom filters on, timers on the heap, TTL in the compaction filter; "
    "-Xmx1500m, ParallelGC, jemalloc"
)
HEAP = "HashMapStateBackend, full checkpoints; -Xmx2g, ParallelGC"
VARIANTS = {
    "A": "a Bloom filter a user-day (MapState), 16 items at first, growing fourfold, 1% over the window's days; read, "
    "changed and written back for each event",
    "B": "exact: MapState of item hash to time, written without a read",
}
OUTPUT = {
    "A": "each change sends the user's filters (the scan that collects them is also the read)",
    "B": "a timer a second and changed user renders a Bloom filter at 1% from a scan, each user at its own phase",
}
PRODUCER = "KafkaSink at least once, acks=all, idempotent, linger 5 ms, batches of 128 KiB"

BACKENDS = {"rocksdb": ROCKSDB, "forst": FORST, "hashmap": HEAP}
# The packages that Flink's own start scripts open on Java 17.
OPENED = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in (
        "java.lang",
        "java.net",
        "java.io",
        "java.nio",
        "sun.nio.ch",
        "java.lang.reflect",
        "java.text",
        "java.time",
        "java.util",
        "java.util.concurrent",
        "java.util.concurrent.atomic",
        "java.util.concurrent.locks",
    )
]


class Flink(JvmContender):
    project = PROJECT

    def __init__(self, name, title, variant, backend="rocksdb", publishes=False):
        self.name, self.title, self.variant, self.backend = name, title, variant, backend
        self.publishes = publishes
        self.answers_exactly = variant == "B" and not publishes
        parts = [VARIANTS[variant], BACKENDS[backend], COMMON]
        if publishes:
            parts += [OUTPUT[variant], PRODUCER]
        self.settings = "; ".join(parts)

    def versions(self):
        return {
            "Flink": PROJECT.version("flink.version"),
            "flink-connector-kafka": PROJECT.version("flink.kafka.version"),
            "Java": java_version(),
        }

    def command(self, run):
        run.state_dir.mkdir(parents=True, exist_ok=True)
        run.checkpoint_dir.mkdir(parents=True, exist_ok=True)
        return [
            *JEMALLOC,
            "java",
            *(f"-X{end}{'2g' if self.backend == 'hashmap' else '1500m'}" for end in ("ms", "mx")),
            "-XX:+UseParallelGC",
            *OPENED,
            "-cp",
            PROJECT.class_path(),
            "seen.bench.flink.SeenJob",
            *run.arguments(),
            f"variant={self.variant}",
            f"backend={self.backend}",
        ]

    def state_bytes(self, run):
        """Bytes of the savepoint with which the job was stopped: RocksDB's files as they are. Other files on
        disk are copies."""
        self.wait_ended()
        savepoint = run.checkpoint_dir / "savepoint"
        return disk_bytes(savepoint if savepoint.exists() else run.checkpoint_dir)


CONTENDERS = [
    Flink("flink-a", "Flink A, a Bloom filter a user-day", "A"),
    Flink("flink-a-published", "Flink A, sent on each change", "A", publishes=True),
    Flink("flink-b", "Flink B, exact items", "B"),
    Flink("flink-b-published", "Flink B, rendered every second", "B", publishes=True),
    Flink("flink-a-forst", "Flink A, state in ForSt", "A", "forst"),
    Flink("flink-a-forst-published", "Flink A in ForSt, sent on each change", "A", "forst", publishes=True),
    Flink("flink-a-heap", "Flink A, state on the heap", "A", "hashmap"),
    Flink(
        "flink-a-heap-published", "Flink A on the heap, sent on each change", "A", "hashmap", publishes=True
    ),
]
