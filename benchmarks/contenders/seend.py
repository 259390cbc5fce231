"""The daemon, as shipped except for its settings."""

import struct
import subprocess
import time

from contenders.process import Contender, Missing, Session, disk_bytes
from http_json import user_path
from places import SEEND
from seend import Seend as Daemon, merged
from snapshot_reader import might_contain, read_snapshot
from topics import Topics

MEMORY_MIB = 512


class SeendSession(Session):
    def __init__(self, daemon, publishes):
        super().__init__({"seend": daemon.process})
        self.daemon, self.publishes = daemon, publishes

    def partitions(self):
        answer = self.daemon.get("/v1/status")
        return answer.json()["partitions"] if answer and answer.status == 200 else []

    def applied(self):
        partitions = self.partitions()
        is_known = partitions and all(p["next_offset"] is not None for p in partitions)
        return sum(p["next_offset"] for p in partitions) if is_known else None

    def finished(self, records):
        partitions = self.partitions()
        return sum(p["next_offset"] for p in partitions) >= records and not (
            self.publishes and sum(p["marks_outstanding"] for p in partitions)
        )

    def ready(self):
        answer = self.daemon.get("/readyz")
        return bool(answer) and answer.status == 200

    def stop(self):
        if self.daemon.process is not None:
            self.daemon.stop(timeout_s=60)

    def kill9(self):
        self.daemon.kill9()


class SeendContender(Contender):
    answers_exactly = False

    def __init__(self, name, title, publishes, debounce_ms=1000):
        self.name, self.title, self.publishes, self.debounce_ms = name, title, publishes, debounce_ms
        published = (
            f"each changed user published, debounce {debounce_ms} ms" if publishes else "publishing off"
        )
        self.settings = f"defaults; store.memory_mib {MEMORY_MIB}, {published}"
        self.daemon = None

    def prepare(self):
        if not SEEND.exists():
            raise Missing("seend isn't built")

    def versions(self):
        said = subprocess.run([str(SEEND), "--version"], capture_output=True, text=True)
        return {"seend": (said.stdout or said.stderr).strip().splitlines()[0].removeprefix("seend ")}

    def config(self, run):
        snapshot = {"topic": run.output, "debounce_ms": self.debounce_ms} if run.output else None
        changes = {
            "kafka": {"group_id": run.group, "instance_id": run.group},
            "filters": [{"name": "default", "snapshot": snapshot}],
            "store": {"memory_mib": MEMORY_MIB, "checkpoint_interval_s": 10, "directory": str(run.state_dir)},
        }
        return merged(changes, run.options.get("config", {}))

    def start(self, run):
        run.directory.mkdir(parents=True, exist_ok=True)
        self.daemon = Daemon(run.directory, Topics(run.brokers), run.input, self.config(run), "seend")
        self.daemon.environment = run.options.get("environment", {})
        self.daemon.start(ready=False)
        self.session = SeendSession(self.daemon, bool(run.output))
        return self.session

    def covered(self, message):
        partition, next_offset = struct.unpack_from("<iq", message.value(), 28)
        return partition, next_offset - 1

    def state_bytes(self, run):
        """Stops the daemon in order, so that all state is in the store. Starts it again afterwards."""
        time.sleep(self.settle_s)
        self.session.stop()
        size = disk_bytes(run.state_dir)
        self.daemon.start(ready=True, timeout_s=60)
        self.session.processes["seend"] = self.daemon.process
        return size

    def answers(self, run, users):
        """Answers from the filter itself, read over HTTP."""

        def ask(user):
            payload = read_snapshot(self.daemon.http.get(user_path(user)).body).payload
            return lambda item: might_contain(payload, item)

        return {user: ask(user) for user in users}


CONTENDERS = [
    SeendContender("seend", "seend, publishing off", False),
    SeendContender("seend-published", "seend, publishing on", True),
    SeendContender("seend-at-once", "seend, publishing on, no debounce", True, debounce_ms=0),
]
