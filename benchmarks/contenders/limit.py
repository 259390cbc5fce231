"""The most that the broker, librdkafka and the decoder allow, with queues that any consumer could have."""

import subprocess

from contenders.process import Contender, Missing
from places import BUILD

PROGRAM = BUILD / "bench_limit"


class Limit(Contender):
    limit = True

    def __init__(self, name, title, decode, parallelism):
        self.name, self.title, self.decode, self.parallelism = name, title, decode, parallelism
        self.settings = (
            f"librdkafka's simple consumer, {parallelism} queue{'s' * (parallelism > 1)} and reading "
            f"thread{'s' * (parallelism > 1)}, 64 MiB of queue a partition, CRCs checked, jemalloc"
            + (", seend's decoder over every event" if decode else ", a sum over every byte")
        )

    def prepare(self):
        if not PROGRAM.exists():
            raise Missing(f"{PROGRAM.name} isn't built (cmake -DSEEN_BENCHMARKS=ON)")

    def versions(self):
        linked = subprocess.run(["pkg-config", "--modversion", "rdkafka"], capture_output=True, text=True)
        return {"librdkafka": linked.stdout.strip()}

    def command(self, run):
        run.parallelism = self.parallelism
        return [PROGRAM, *run.arguments(), f"decode={str(self.decode).lower()}"]

    def state_bytes(self, run):
        return None


CONTENDERS = [
    Limit("limit", "librdkafka alone", False, 2),
    Limit("limit-decode", "librdkafka and decoding", True, 2),
]
