"""Redis with a sorted set a user: item hash -> second shown. The loader is C++ (benchmarks/redis)."""

import shutil
import socket
import subprocess
import time

from contenders.process import Contender, Lines, Missing, disk_bytes
from hashes import fingerprint
from places import BUILD, free_port, wait_until

LOADER = BUILD / "bench_redis"


class Client:
    """The part of the protocol that this module needs."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.file = self.socket.makefile("rb")

    def send(self, *words):
        parts = [str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))

    def read(self):
        line = self.file.readline()[:-2]
        if line[:1] == b"$":
            size = int(line[1:])
            return None if size < 0 else self.file.read(size + 2)[:-2]
        if line[:1] == b"*":
            return [self.read() for _ in range(int(line[1:]))]
        if line[:1] == b"-":
            raise OSError(line.decode())
        return line[1:]

    def ask(self, *words):
        self.send(*words)
        return self.read()

    def info(self, name):
        text = self.ask("INFO").decode()
        return next(
            line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith(name + ":")
        )


class Redis(Contender):
    answers_exactly = True

    def __init__(self, name, title, append_only):
        self.name, self.title, self.append_only = name, title, append_only
        self.recovers = append_only
        self.settings = (
            "one ZADD a user of each 4,096 records read, three such pipelines under way, over loopback; "
            "member: 32-bit hash of the item, decimal; nothing is ever trimmed or expired; "
            + ("append-only file, fsync every second, no RDB" if append_only else "no persistence")
        )
        self.server = self.port = None

    def prepare(self):
        if not shutil.which("redis-server"):
            raise Missing("redis-server isn't installed (scripts/setup.sh --bench)")
        if not LOADER.exists():
            raise Missing(f"{LOADER.name} isn't built (cmake -DSEEN_BENCHMARKS=ON, with hiredis)")

    def versions(self):
        said = subprocess.run(["redis-server", "--version"], capture_output=True, text=True).stdout
        return {"redis": next(word[2:] for word in said.split() if word.startswith("v="))}

    def start(self, run):
        run.state_dir.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        with open(run.log, "ab") as log:
            self.server = subprocess.Popen(
                [
                    "redis-server",
                    "--bind",
                    "127.0.0.1",
                    "--port",
                    str(self.port),
                    "--save",
                    "",
                    "--dir",
                    str(run.state_dir),
                    "--appendonly",
                    "yes" if self.append_only else "no",
                    "--appendfsync",
                    "everysec",
                    "--daemonize",
                    "no",
                ],
                stdout=log,
                stderr=log,
            )
        wait_until(self._answers, "Redis answers", 120, 0.01)
        self.empty_bytes = int(self.client.info("used_memory"))
        command = [LOADER, *run.arguments(), f"redis_port={self.port}"]
        self.session = Lines(command, run, "loader", {"redis-server": self.server})
        return self.session

    def _answers(self):
        self.client = Client(self.port)
        return self.client.ask("PING") == b"PONG"

    def state_bytes(self, run):
        time.sleep(self.settle_s)
        return int(self.client.info("used_memory")) - self.empty_bytes

    def more(self, run):
        """More figures for the results."""
        return {
            "resident_bytes": int(self.client.info("used_memory_rss")),
            "disk_bytes": disk_bytes(run.state_dir),
        }

    def answers(self, run, users):
        """Whether a member exists, as ZSCORE would say. One request gets all members of a user."""

        def ask(user):
            members = {int(member) for member in self.client.ask("ZRANGE", user, 0, -1)}
            return lambda item: fingerprint(item) in members

        return {user: ask(user) for user in users}


CONTENDERS = [
    Redis("redis", "Redis, sorted sets", False),
    Redis("redis-aof", "Redis, sorted sets, append-only file", True),
]
