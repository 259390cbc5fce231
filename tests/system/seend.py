"""The daemon under test as a process: a test configures, starts, asks and kills it."""

import copy
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess

from http_json import Http, user_path
from places import SEEND, free_port, wait_until


def merged(base, changes):
    """`base` with `changes`. Nested objects are merged key by key."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        inner = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if inner else copy.deepcopy(value)
    return result


def wait_read_by(daemons, topics, topic):
    """Waits until these daemons have read their partitions of `topic` as far as it goes now. Returns the ends of
    all partitions."""
    ends = {p: end for p, (_, end) in topics.ends(topic).items()}
    wait_until(
        lambda: all(s["next_offset"] >= ends[p] for d in daemons for p, s in d.partition_status().items()),
        "all is read",
    )
    return ends


def wait_streamed(daemons, ends):
    """Waits until the state topic has the state of these daemons. `ends`: {input partition: offset that the
    state reaches}."""
    wait_until(
        lambda: (
            {
                stream["partition"]: stream["sent_to"]
                for daemon in daemons
                for stream in daemon.status()["state_topic"]["streams"]
            }
            == ends
        ),
        "all state is in the state topic",
    )


class Seend:
    def __init__(self, directory, topics, topic, config=None, name="seend"):
        self.directory = pathlib.Path(directory)
        self.topics, self.topic = topics, topic  # the topic whose events it keeps
        self.address = f"127.0.0.1:{free_port()}"
        self.config = merged(
            {
                "kafka": {"brokers": topics.bootstrap, "group_id": f"{topic}-group"},
                "input": {"topic": topic, "dead_letter_topic": f"{topic}-dead"},
                "filters": [
                    {"name": "default", "snapshot": {"topic": f"{topic}-filters", "debounce_ms": 200}}
                ],
                "store": {
                    "directory": str(self.directory / f"{name}-store"),
                    "memory_mib": 256,
                    "checkpoint_interval_s": 1,
                },
                "watermarks": {"topic": None},
                "state": {"topic": None},
                "http": {"listen": self.address},
            },
            config or {},
        )
        self.source = None  # the topic that it re-keys into `topic`
        if not self.config["input"].get("keyed_by_user", True):
            self.source, self.topic = topic, self.config["input"].get("keyed_topic") or f"{topic}-by-user"
        self.name, self.process = name, None
        self.program = SEEND  # or another version of it
        self.environment = {}  # in addition to the environment of the tests
        access = self.config.get("access", {})
        self.http = Http(self.address, ca=access.get("ca") if access.get("certificate") else None)
        self.log_path = self.directory / f"{name}.log"
        self.config_path = self.directory / f"{name}.json"
        self.store = pathlib.Path(self.config["store"]["directory"])
        self.group = self.config["kafka"]["group_id"]

    # --- start and stop

    def start(self, *arguments, ready=True, timeout_s=30):
        assert self.process is None, "still running"
        self.config_path.write_text(json.dumps(self.config, indent=1))
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [str(self.program), "--config", str(self.config_path), *arguments],
                stdout=log,
                stderr=log,
                cwd=self.directory,
                env={**os.environ, **self.environment},
            )
        if ready:
            self.wait_ready(timeout_s)
        return self

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def get(self, path):
        """The answer, or None while nobody listens yet. Fails if the daemon has ended."""
        assert self.alive(), f"{self.name} ended with {self.process.returncode}:\n{self.log()[-3000:]}"
        try:
            return self.http.get(path)
        except OSError:
            return None

    def wait_ready(self, timeout_s=30):
        wait_until(lambda: (a := self.get("/readyz")) and a.status == 200, f"{self.name} is ready", timeout_s)

    def wait_not_ready(self, timeout_s=30):
        def red():
            answer = self.get("/readyz")
            return answer if answer and answer.status == 503 else None

        return wait_until(red, f"{self.name} says that it isn't ready", timeout_s)

    def wait_exit(self, timeout_s=30):
        status = self.process.wait(timeout_s)
        self.process = None
        self.http.close()
        return status

    def kill9(self):
        self.process.kill()
        return self.wait_exit()

    @contextlib.contextmanager
    def standing_still(self):
        """Pauses the process (SIGSTOP) and waits until it has stopped. The end of the `with` block resumes
        it."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat")
        self.process.send_signal(signal.SIGSTOP)
        try:
            wait_until(
                lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", f"{self.name} stands still"
            )
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def sigterm(self):
        self.process.send_signal(signal.SIGTERM)

    def stop(self, timeout_s=10):
        """Sends SIGTERM. Fails unless the daemon exits with status 0 in time."""
        self.sigterm()
        status = self.wait_exit(timeout_s)
        assert status == 0, f"exit status {status}\n{self.log()[-3000:]}"

    def refuses(self, *arguments, timeout_s=30):
        """Starts the daemon, expects exit status 3, and returns the log of this start."""
        before = len(self.log())
        self.start(*arguments, ready=False)
        status = self.wait_exit(timeout_s)
        said = self.log()[before:]
        assert status == 3, f"exit status {status}\n{said[-3000:]}"
        return said

    def wait_refused(self, partitions):
        """Waits until exactly these partitions are refused or stopped. Returns their reasons as one text."""

        def refused():
            states = {
                p: s for p, s in self.partition_status().items() if s["state"] in ("refused", "stopped")
            }
            return states if sorted(states) == sorted(partitions) else None

        return " ".join(
            s["reason"] for s in wait_until(refused, f"{self.name} refuses {partitions}").values()
        )

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
        self.http.close()

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    # --- questions

    def status(self):
        answer = self.get("/v1/status")
        if answer is None:
            return None
        assert answer.status == 200, answer.body
        return answer.json()

    def partition_status(self):
        return {p["partition"]: p for p in (self.status() or {"partitions": []})["partitions"]}

    def unseen(self, user, items, also_seen=None, filter_name="default"):
        question = {"items": items} if also_seen is None else {"items": items, "also_seen": also_seen}
        answer = self.http.post(user_path(user, filter_name) + "/unseen", question)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json()["unseen"]

    def snapshot(self, user, filter_name="default"):
        answer = self.http.get(user_path(user, filter_name))
        assert answer.status == 200, (answer.status, answer.body)
        return answer.body

    def segments(self, user, filter_name="default"):
        answer = self.http.get(user_path(user, filter_name) + "/segments")
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json()

    def metrics(self):
        """{'name{labels}': value}"""
        page = self.http.get("/metrics")
        assert page.status == 200
        return {
            name: float(value)
            for name, value in re.findall(r"^([a-z_]+(?:\{[^}]*\})?) (\S+)$", page.text, re.M)
        }

    def metric_sum(self, name):
        return sum(value for key, value in self.metrics().items() if key.split("{")[0] == name)

    def rss_bytes(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) * 1024

    def page_faults(self):
        """Since the start, without those that read the disk."""
        return int(pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[7])

    # --- wait for the stream

    def wait_rekeyed(self, timeout_s=60):
        """Waits until the keyed topic has acknowledged every record that the source topic has now."""
        ends = {p: end for p, (_, end) in self.topics.ends(self.source).items() if end}
        group = f"{self.group}-rekey"
        wait_until(
            lambda: all(
                self.topics.committed(group, self.source).get(p, -1) >= end for p, end in ends.items()
            ),
            f"{self.name} re-keys up to {ends}",
            timeout_s,
            every_s=0.2,
        )
        return ends

    def wait_caught_up(self, timeout_s=60):
        """Waits until every record that the topic has now is read and visible."""
        if self.source:
            self.wait_rekeyed(timeout_s)
        ends = {p: end for p, (_, end) in self.topics.ends(self.topic).items()}

        def caught_up():
            at = {p: s["next_offset"] or 0 for p, s in self.partition_status().items()}
            return at if all(at.get(p, -1) >= end for p, end in ends.items()) else None

        try:
            return wait_until(caught_up, f"{self.name} reads up to {ends}", timeout_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{json.dumps(self.status(), indent=1)[:4000]}") from None

    def wait_at_rest(self, timeout_s=60):
        """Waits until the daemon has caught up, every snapshot is acknowledged, and a checkpoint has all of
        it."""
        ends = self.wait_caught_up(timeout_s)

        def at_rest():
            partitions = self.partition_status().values()
            return partitions and all(
                s["marks_outstanding"] == 0 and s["checkpoint_offset"] >= ends[s["partition"]]
                for s in partitions
            )

        try:
            wait_until(at_rest, f"{self.name} has published and checkpointed all", timeout_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{json.dumps(self.status(), indent=1)[:4000]}") from None
        return ends
