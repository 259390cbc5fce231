"""A C++ reader of snapshots and updates beside the daemon, and how fresh its answers are (recall/)."""

import itertools
import json
import subprocess

import paths
from contenders.process import Missing, cpu_s, memory_bytes
from places import wait_until

FIGURES = (
    "events",
    "fresh_p50_ms",
    "fresh_p99_ms",
    "fresh_max_ms",
    "age_p99_ms",
    "age_max_ms",
    "stale_ms",
    "false_claims",
    "given_up",
)
PROGRAM = paths.ROOT / "build" / "release" / "bench_recall"
seeds = itertools.count(1)


def new_items():
    """Of a generator. An item that its user was shown before is seen at once: such items must be few. With the
    same seed, users would be shown the same items again."""
    return ("--items", 1_000_000_000, "--item-skew", 0.01, "--seed", next(seeds))


def with_updates(output, **more):
    """The configuration of a daemon whose one filter has updates."""
    return {
        "filters": [{"name": "default", "snapshot": {"topic": output, "updates": True}, **more}],
        "updates": {"topic": f"{output}-updates"},
        "watermarks": {"topic": f"{output}-beats"},
    }


class RecallReader:
    """Use with `with`. It asks for one in eight events of partition 0 of the input."""

    def __init__(self, bench, topic, output):
        if not PROGRAM.exists():
            raise Missing("bench_recall isn't built: it needs librdkafka's C++ header and libcurl")
        names = [f"{output}-updates", f"{output}-beats"]
        wait_until(lambda: all(bench.topics.partitions(name) for name in names), "the daemon's topics", 60)
        self.process = subprocess.Popen(
            [
                str(PROGRAM),
                f"brokers={bench.brokers}",
                f"input={topic}",
                f"snapshots={output}",
                f"updates={names[0]}",
                f"watermarks={names[1]}",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    def row(self):
        """The FIGURES since the last call."""
        figures = self._figures()
        return {key: figures[key] for key in FIGURES}

    def _figures(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def wait_fresh(self, timeout_s):
        """Seconds from its start until its answers were at most a second old."""
        found = []

        def is_fresh():
            found.append(self._figures()["first_fresh_ms"])
            return found[-1] >= 0

        wait_until(is_fresh, "the reader is fresh", timeout_s)
        return found[-1] / 1000

    def cpu_s(self):
        return cpu_s(self.process.pid)

    def memory_bytes(self):
        return memory_bytes(self.process.pid)
