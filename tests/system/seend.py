"""The daemon under test as a process: a test configures, starts, asks and kills it."""

import contextlib
import copy
import json
import os
import pathlib
import re
import signal
import subprocess
import threading

import seenctl_tool
from http_json import Http, user_path
from places import SEEND, free_port, wait_until

SESSION = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"}  # the shortest that brokers accept
CHECKS = {"topic.metadata.refresh.interval.ms": "1000"}  # a changed topic is noticed within a second


def merged(base, changes):
    """`base` with `changes`. Nested objects are merged key by key."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        inner = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if inner else copy.deepcopy(value)
    return result


def one_filter(topic, debounce_ms=200, snapshot=None, **more):
    """`filters` of a configuration: the filter "default". `snapshot`: more settings of its snapshots."""
    snapshots = {"topic": f"{topic}-filters", "debounce_ms": debounce_ms, **(snapshot or {})}
    return {"filters": [{"name": "default", "snapshot": snapshots, **more}]}


def with_updates(topic, refresh_s=1_800, **more):
    """The configuration of a daemon whose filter "default" has updates."""
    return one_filter(topic, snapshot={"updates": True}, **more) | {
        "updates": {"topic": f"{topic}-updates", "refresh_s": refresh_s},
        "watermarks": {"topic": f"{topic}-beats"},
    }


def in_group(topic, name, replica=False, **more):
    """The configuration of one daemon of several: with state topic, routes and forwarding. `replica`: it
    belongs to a second group, of replicas."""
    role = {"role": "replica", "replica_of": f"{topic}-group"} if replica else {}
    kafka = {"instance_id": name, "client": SESSION}
    return merged(
        {
            **role,
            "kafka": kafka | ({"group_id": f"{topic}-zone-b"} if replica else {}),
            "state": {"topic": f"{topic}-state", "run_every_s": 1},
            "watermarks": {"topic": f"{topic}-beats"},
            "cluster": {"peers": "127.0.0.0/8", "token": "a-token-of-theirs"},
        },
        more,
    )


def wait_routed(daemons, timeout_s=60):
    """Waits until each of these daemons owns some partition, and every partition has one owner that every
    daemon knows. No former owner answers any more. Returns {partition: its owner's name}."""

    def routed():
        owned = {d.name: d.owned() for d in daemons}
        if any(not owned[d.name] or set(d.partition_status()) != owned[d.name] for d in daemons):
            return False
        owners = {p: name for name, of in owned.items() for p in of}
        return (
            len(owners) == daemons[0].status()["partitions_total"] == sum(map(len, owned.values()))
            and all({r["partition"]: r["instance"] for r in d.routes()} == owners for d in daemons)
            and owners
        )

    return wait_until(routed, "each daemon knows every partition's owner", timeout_s)


def wait_read_by(daemons, topics, topic, published=False, timeout_s=60):
    """Waits until these daemons have read their partitions of `topic` as far as it goes now, and no former owner
    answers from what it had read; `published`: and have published all of it. Returns the ends of all
    partitions."""
    ends = topics.end_offsets(topic)

    def read():
        states = [(p, s) for d in daemons for p, s in d.partition_status().items()]
        return {p for p, _ in states} == set(ends) and all(
            s["assigned"]
            and (s["next_offset"] or 0) >= ends[p]
            and not (published and s["marks_outstanding"])
            for p, s in states
        )

    wait_until(read, "all is read", timeout_s)
    return ends


def wait_streamed(daemons, ends):
    """Waits until the state topic has the state of these daemons. `ends`: {input partition: offset that the
    state reaches}."""

    def sent():
        streams = [stream for d in daemons for stream in d.status()["state_topic"]["streams"]]
        return {stream["partition"]: stream["sent_to"] for stream in streams} == ends

    wait_until(sent, "all state is in the state topic", 120)


def librdkafka():
    """(major, minor) of the librdkafka that the daemon runs with."""
    version = subprocess.run([SEEND, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.search(r"librdkafka (\d+)\.(\d+)", version).groups()))


class Seend:
    def __init__(self, directory, topics, topic, config=None, name="seend"):
        self.directory = pathlib.Path(directory)
        self.topics, self.topic = topics, topic  # the topic whose events it keeps
        self.address = f"127.0.0.1:{free_port()}"
        self.config = merged(
            {
                "kafka": {"brokers": topics.bootstrap, "group_id": f"{topic}-group"},
                "input": {"topic": topic, "dead_letter_topic": f"{topic}-dead"},
                **one_filter(topic),
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
        self.wrapper = []  # a command that becomes the program, as prlimit
        self.environment = {}  # in addition to the environment of the tests
        self.url = f"http://{self.address}"
        access = self.config.get("access", {})
        self.http = Http(self.address, ca=access.get("ca") if access.get("certificate") else None)
        self.log_path = self.directory / f"{name}.log"
        self.config_path = self.directory / f"{name}.json"
        self.store = pathlib.Path(self.config["store"]["directory"])
        self.group = self.config["kafka"]["group_id"]

    # --- start and stop

    def write_config(self):
        self.config_path.write_text(json.dumps(self.config, indent=1))
        return self.config_path

    def check_config(self):
        """What `seend --check-config` says of a configuration with mistakes."""
        command = [str(self.program), "--check-config", str(self.write_config())]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2, done
        return done.stdout + done.stderr

    def start(self, *arguments, ready=True, timeout_s=120):
        assert self.process is None, "still running"
        self.write_config()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, str(self.program), "--config", str(self.config_path), *arguments],
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

    def has_crashed(self):
        return self.process is not None and self.process.poll() in (-signal.SIGSEGV, -signal.SIGABRT)

    def get(self, path):
        """The answer, or None while nobody listens yet. Fails if the daemon has ended."""
        assert self.alive(), f"{self.name} ended with {self.process.returncode}:\n{self.log()[-3000:]}"
        try:
            return self.http.get(path)
        except OSError:
            return None

    def wait_ready(self, timeout_s=120):
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

    def stop(self, timeout_s=60):
        """Sends SIGTERM. Fails unless the daemon exits with status 0 in time. A test of how long that takes
        gives its own time."""
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
            status = self.partition_status()
            reasons = {p: s["reason"] for p, s in status.items() if s["state"] in ("refused", "stopped")}
            return reasons if sorted(reasons) == sorted(partitions) else None

        return " ".join(wait_until(refused, f"{self.name} refuses {partitions}").values())

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

    def owned(self):
        """The partitions that are ready here."""
        return {p for p, s in self.partition_status().items() if s["state"] == "ready"}

    def routes(self):
        return self.http.get("/v1/routes").json()["routes"]

    def seenctl(self, *arguments, **more):
        """What seenctl says of this daemon: (standard output, standard error)."""
        return seenctl_tool.run(*arguments, http=self.url, **more)

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

    @contextlib.contextmanager
    def peak_rss(self):
        """A list whose only number is the highest RSS inside the `with` block, in bytes."""
        peak, done = [self.rss_bytes()], threading.Event()

        def watch():
            while not done.wait(0.01):
                peak[0] = max(peak[0], self.rss_bytes())

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield peak
        finally:
            done.set()
            watcher.join()

    def page_faults(self):
        """Since the start, without those that read the disk."""
        return int(pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[7])

    # --- wait for the stream

    def wait(self, condition, what, timeout_s, every_s=0.05):
        """As wait_until. A failure shows the status, too."""
        try:
            return wait_until(condition, what, timeout_s, every_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{json.dumps(self.status(), indent=1)[:4000]}") from None

    def wait_rekeyed(self, timeout_s=60):
        """Waits until the keyed topic has acknowledged every record that the source topic has now."""
        ends = {p: end for p, end in self.topics.end_offsets(self.source).items() if end}

        def rekeyed():
            committed = self.topics.committed(f"{self.group}-rekey", self.source)
            return all(committed.get(p, -1) >= end for p, end in ends.items())

        wait_until(rekeyed, f"{self.name} re-keys up to {ends}", timeout_s, every_s=0.2)
        return ends

    def wait_caught_up(self, timeout_s=60):
        """Waits until every record that the topic has now is read and visible."""
        if self.source:
            self.wait_rekeyed(timeout_s)
        ends = self.topics.end_offsets(self.topic)

        def caught_up():
            at = {p: s["next_offset"] or 0 for p, s in self.partition_status().items()}
            return at if all(at.get(p, -1) >= end for p, end in ends.items()) else None

        return self.wait(caught_up, f"{self.name} reads up to {ends}", timeout_s)

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

        self.wait(at_rest, f"{self.name} has published and checkpointed all", timeout_s)
        return ends
