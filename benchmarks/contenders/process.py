"""A contender as the harness sees it: a process that prints how far it is. Every contender's module builds on
this.

A contender is a class with
  name        as given to `run.py --only`, and the key of its results
  title       as the tables say it
  settings    the tuning, for the page
  publishes   True: the contender writes each changed user's filter to the topic `run.output`
  answers_exactly  True: only hash collisions cause false positives
  versions()  {"what": "version"}
  prepare()   builds or fetches what the contender needs, once; raises Missing(reason) if this machine can't run it
  command(run)            the program's arguments (or, instead, start(run), returning a Session)
  state_bytes(run)        bytes on disk (or in memory) that hold the state, when it has settled
  answers(run, users)     {user: callable(item_id) -> bool}, called before the session is stopped
"""

import dataclasses
import os
import pathlib
import re
import signal
import struct
import subprocess
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


class Missing(Exception):
    """Why a contender can't run here."""


@dataclasses.dataclass
class Run:
    """One start of a contender. `directory` is new and for this run only. It stays for the start after a kill
    -9."""

    brokers: str
    input: str
    group: str
    directory: pathlib.Path
    output: str | None = None  # topic, created by the harness; None: publish nothing
    sample: pathlib.Path | None = None
    bounded: bool = True  # up to the end offsets at the start
    resume: bool = False  # go on from the state that kill -9 left
    partitions: int = 4
    parallelism: int = 2
    window_days: int = 30
    fpr: float = 0.01
    options: dict = dataclasses.field(default_factory=dict)  # of the contender or of the scenario

    @property
    def state_dir(self):
        return self.directory / "state"

    @property
    def checkpoint_dir(self):
        return self.directory / "checkpoints"

    @property
    def answers(self):
        return self.directory / "answers.jsonl"

    @property
    def log(self):
        return self.directory / "log.txt"

    def arguments(self):
        """The arguments that every program of ours takes."""
        pairs = {
            "brokers": self.brokers,
            "input": self.input,
            "group": self.group,
            "partitions": self.partitions,
            "parallelism": self.parallelism,
            "state_dir": self.state_dir,
            "checkpoint_dir": self.checkpoint_dir,
            "answers": self.answers,
            "bounded": str(self.bounded).lower(),
            "resume": str(self.resume).lower(),
            "window_days": self.window_days,
            "fpr": self.fpr,
            **self.options,
        }
        if self.sample:
            pairs["sample"] = self.sample
        if self.output:
            pairs["output"] = self.output
        return [f"{key}={value}" for key, value in pairs.items()]


def cpu_s(pid):
    """User and system time of all threads. /proc still has these times when a process has ended but wasn't
    waited for."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_bytes(pid, what="VmHWM"):
    try:
        found = re.search(what + r":\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def disk_bytes(directory):
    """Bytes that the files take on disk, as du counts them."""
    total = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:
                pass
    return total


class Session:
    """A started contender. A subclass says how far it is. `processes`: {name: subprocess.Popen}."""

    def __init__(self, processes):
        self.processes = processes
        self._peaks = {}

    def applied(self):
        """How many input records are in the state, over all partitions. None: not known yet."""
        raise NotImplementedError

    def finished(self, records):
        """Whether `records` are applied, and all that the contender publishes of them is acknowledged."""
        raise NotImplementedError

    def ready(self):
        """Whether the contender has started and would apply a record at once."""
        return self.applied() is not None

    def check_alive(self):
        for name, process in self.processes.items():
            if process.poll() not in (None, 0):
                raise RuntimeError(f"{name} ended with {process.returncode}")

    def cpu_s(self):
        return sum(cpu_s(process.pid) for process in self.processes.values())

    def cpu_by_process(self):
        return {name: cpu_s(process.pid) for name, process in self.processes.items()}

    def peak_bytes(self):
        """Sum of the processes' memory peaks so far. Call it while the processes run: a process that has
        ended has no peak."""
        for name, process in self.processes.items():
            self._peaks[name] = max(self._peaks.get(name, 0), memory_bytes(process.pid))
        return sum(self._peaks.values())

    def resident_bytes(self):
        return sum(memory_bytes(process.pid, "VmRSS") for process in self.processes.values())

    def kill9(self):
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()

    def stop(self):
        """Ends the processes in order. Kills those that still run after a minute."""
        for process in self.processes.values():
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Lines(Session):
    """A process that prints `progress EVENTS OFFSET,OFFSET,...` and at last `done EVENTS`."""

    def __init__(self, command, run, name="process", more=None):
        run.directory.mkdir(parents=True, exist_ok=True)
        self.log = open(run.log, "ab")
        self.process = subprocess.Popen(
            [str(c) for c in command], stdout=subprocess.PIPE, stderr=self.log, cwd=run.directory
        )
        super().__init__({**(more or {}), name: self.process})
        self.partitions = run.partitions
        self.offsets, self.events, self.done, self.ended_at = None, 0, False, None
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for line in self.process.stdout:
            words = line.split()
            if len(words) == 3 and words[0] == b"progress":
                offsets = [int(offset) for offset in words[2].split(b",")]
                self.offsets, self.events = offsets, int(words[1])
            elif words and words[0] == b"done":
                self.done, self.ended_at = True, time.monotonic()
            else:
                self.log.write(line)
        self.log.flush()

    def check_alive(self):
        for name, process in self.processes.items():
            # waitpid comes only at the end: until then /proc has the times of a process that has ended.
            state = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            if state == "Z" and not self.done:
                self.log.flush()
                raise RuntimeError(
                    f"{name} ended: " + pathlib.Path(self.log.name).read_text(errors="replace")[-2000:]
                )

    def applied(self):
        offsets = self.offsets
        return None if offsets is None else sum(max(0, offset) for offset in offsets)

    def finished(self, records):
        return self.done


class Contender:
    name = title = settings = ""
    publishes = False
    answers_exactly = False
    limit = False  # no state, no answers: the most that the machine can do
    recovers = True  # a start after kill -9 goes on from the kept state
    session = None
    settle_s = 5  # until background writes are done

    def versions(self):
        return {}

    def prepare(self):
        pass

    def command(self, run):
        raise NotImplementedError

    def start(self, run):
        self.session = Lines(self.command(run), run, self.name)
        return self.session

    def output_name(self, group):
        """The name of the topic to publish to. Some contenders can't choose it."""
        return f"{group}-out"

    def covered(self, message):
        """(input partition, offset of the user's newest record in the filter) of a published
        confluent_kafka.Message. By default from the header "covered", or else from the last 12 bytes of the
        value (i32 and i64, little-endian)."""
        headers = dict(message.headers() or [])
        return struct.unpack("<iq", headers.get("covered") or message.value()[-12:])

    def state_bytes(self, run):
        return disk_bytes(run.state_dir)

    def answers(self, run, users):
        return {}
