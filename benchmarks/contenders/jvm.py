"""What the contenders on the JVM share: the build by Maven, and the format of answers, which src/common/java
writes."""

import base64
import functools
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess

import paths
from contenders.process import Contender, Missing
from hashes import xxh64
from places import wait_until

M32 = 0xFFFFFFFF
PART = struct.Struct("<HHIB")  # capacity, items, bytes of bits, hashes

# RocksDB's allocations fragment glibc's heap. Flink's own images use jemalloc, so both contenders do.
JEMALLOC = ["env", "LD_PRELOAD=libjemalloc.so.2"]


class Project:
    """A Maven project under benchmarks/. It is built once: the stamp is the digest of its sources."""

    def __init__(self, name, *more_sources):
        self.source = paths.BENCHMARKS / name
        self.out = paths.ROOT / "build" / "benchmarks" / name
        self.folders = [self.source, *(paths.BENCHMARKS / more for more in more_sources)]

    def build(self):
        for program in ("javac", "mvn"):
            if not shutil.which(program):
                raise Missing(f"{program} isn't installed (scripts/setup.sh --bench)")
        digest = hashlib.sha256()
        for path in sorted(path for folder in self.folders for path in folder.rglob("*") if path.is_file()):
            digest.update(str(path.relative_to(paths.BENCHMARKS)).encode() + b"\0" + path.read_bytes())
        stamp = self.out / "stamp"
        if stamp.exists() and stamp.read_text() == digest.hexdigest():
            return
        shutil.rmtree(self.out, ignore_errors=True)
        command = ["mvn", "-q", "-B", "-f", str(self.source / "pom.xml"), "package", f"-Dout={self.out}"]
        built = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if built.returncode != 0:
            raise Missing("Maven: " + (built.stdout + built.stderr)[-1000:])
        stamp.write_text(digest.hexdigest())

    def class_path(self):
        return f"{self.out}/*:{self.out}/libs/*"

    def version(self, name):
        return re.search(rf"<{name}>(.*)</{name}>", (self.source / "pom.xml").read_text())[1]


@functools.lru_cache(maxsize=None)
def java_version():
    said = subprocess.run(["java", "-version"], capture_output=True, text=True)
    return re.search(r'"(.*?)"', said.stderr)[1]


@functools.lru_cache(maxsize=1_000_000)
def item_hash(item_id):
    return xxh64(item_id.encode())


def part_contains(bits, hashes, item):
    h1, h2 = item & M32, item >> 32
    for i in range(1, hashes + 1):
        bit = h1 * (len(bits) * 8) >> 32
        if not bits[bit >> 3] >> (bit & 7) & 1:
            return False
        h1 = (h1 + h2) & M32
        h2 = (h2 + i) & M32
    return True


def bloom_parts(value):
    """[(bits, hashes)] of all days of a published value (DayChains, BloomChain)."""
    parts, at, end = [], 0, len(value) - 12
    while at < end:
        _, size = struct.unpack_from("<iI", value, at)
        at, day_end = at + 8, at + 8 + size
        while at < day_end:
            _, _, count, hashes = PART.unpack_from(value, at)
            at += PART.size
            parts.append((value[at : at + count], hashes))
            at += count
    return parts


def might_contain(line, item_id):
    """The answer of a line of the answers file for one item."""
    return reader(line)(item_id)


def reader(line):
    answer = json.loads(line)
    value = base64.b64decode(answer["filter"])
    if answer["kind"] == "exact":
        items = set(struct.unpack(f"<{len(value) // 8}Q", value))
        return lambda item_id: item_hash(item_id) in items
    parts = bloom_parts(value)
    return lambda item_id: any(part_contains(bits, hashes, item_hash(item_id)) for bits, hashes in parts)


class JvmContender(Contender):
    project = None

    def prepare(self):
        self.project.build()

    def wait_ended(self):
        """Waits until the process has ended, because answers and files are written after `done`. Its CPU
        times stay readable."""
        if self.session is not None and self.session.done and self.session.process.returncode is None:
            wait_until(
                lambda: os.waitid(os.P_PID, self.session.process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG),
                f"{self.name} ended",
                120,
            )

    def state_bytes(self, run):
        self.wait_ended()
        return super().state_bytes(run)

    def answers(self, run, users):
        self.wait_ended()
        found = {user: lambda item_id: False for user in users}
        if run.answers.exists():
            for line in run.answers.read_text().splitlines():
                user = json.loads(line)["user"]
                if user in found:
                    found[user] = reader(line)
        return found
