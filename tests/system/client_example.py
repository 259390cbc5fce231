"""The examples of clients/ as a user starts them. Each reads one question per line and writes one answer per
line."""

import fcntl
import json
import os
import queue
import subprocess
import threading

import pytest
from places import BUILD, SOURCE, now_ms, wait_until

CLIENTS = SOURCE / "clients"
HOUR_MS = 3_600_000


class Example:
    def __init__(self, command, flags, log_path):
        self.log_path = log_path
        for flag, value in flags.items():
            command = [*command, f"--{flag.replace('_', '-')}", value]
        with open(log_path, "wb") as errors:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                env={**os.environ, "PYTHONPATH": str(CLIENTS / "python/src"), "PYTHONDONTWRITEBYTECODE": "1"},
            )
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout])
        self.reader.start()

    def tell(self, question):
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        try:
            return self.lines.get(timeout=20)
        except queue.Empty:
            raise AssertionError(f"no answer to {question!r}: {self.log()}") from None

    def answer(self, user, items, also_seen=()):
        """(unseen items, source of the answer, daemon that answered)"""
        question = {"user": user, "items": items, "also_seen": list(also_seen)}
        answer = json.loads(self.tell(json.dumps(question)))
        return answer["unseen"], answer["from"], answer.get("by", "")

    def ask(self, user, items, also_seen=()):
        return self.answer(user, items, also_seen)[:2]

    def until_from(self, source, user, items, also_seen=(), before=lambda: None):
        """The unseen items, as soon as they are from this source. Calls `before` before each question."""

        def ask():
            before()
            unseen, by = self.ask(user, items, also_seen)
            return (unseen,) if by == source else None

        return wait_until(ask, f"answers about {user} from {source}", timeout_s=10)[0]

    def log(self):
        return self.log_path.read_text(errors="replace")[-4000:]

    def close(self):
        """Ends the input of the example and returns its exit status."""
        if self.process.returncode is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            finally:
                self.process.kill()  # has no effect if it has ended
                self.process.wait()
                self.reader.join()
                self.process.stdout.close()
        return self.process.returncode


class JavaExample(Example):
    """Its questions are words: user, items, and after a slash what was seen besides."""

    def answer(self, user, items, also_seen=()):
        line = self.tell(" ".join(map(str, [user, *items, *(["/", *also_seen] if also_seen else [])])))
        source, unseen = line.rstrip("\n").split("\t")
        source, _, daemon = source.partition(": ")
        return unseen.split(), source, daemon


@pytest.fixture(scope="session")
def go_examples(tmp_path_factory):
    directory = tmp_path_factory.mktemp("go")
    build = ["go", "build", "-buildvcs=false", "-o", str(directory), "./ask", "./tail"]
    folder = CLIENTS / "go" / "examples"
    built = subprocess.run(build, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stderr[-6000:]
    return directory


@pytest.fixture(scope="session")
def java_class_path():
    """The class path of the examples and their libraries. They are built if a source is newer than the last
    build."""
    java, target = CLIENTS / "java", CLIENTS / "java" / "examples" / "target"
    sources = [p for p in java.rglob("*") if p.suffix in (".java", ".xml") and "target" not in p.parts]
    newest = max(path.stat().st_mtime for path in sources)
    stamp = target / "built-for-system-tests"
    with open(SOURCE / "build" / "clients-java.lock", "w", encoding="ascii") as lock:  # of several workers
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.stat().st_mtime < newest:
            build = ["mvn", "-q", "-B", "-f", java / "pom.xml", "package", "-Dmaven.test.skip=true"]
            subprocess.run(build, check=True, timeout=600, stdin=subprocess.DEVNULL)
            stamp.touch()
    return f"{target}/*:{target}/libs/*"


@pytest.fixture
def example(request, tmp_path):
    """example(client, name, flag=value, ...) -> Example. Each must end with exit status 0."""
    made = []

    def start(client, name, **flags):
        if client == "cpp":
            command = [BUILD / f"client_cpp_{name}"]
            if not command[0].exists():
                pytest.skip(
                    f"{BUILD} was built without libcurl's and librdkafka's C++ headers, or without tests"
                )
        elif client == "go":
            command = [request.getfixturevalue("go_examples") / name]
        elif client == "java":
            java = "java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp".split()
            command = [*java, request.getfixturevalue("java_class_path"), f"io.seen.examples.{name}"]
        else:
            command = ["/usr/bin/python3", CLIENTS / "python" / "examples" / f"{name}.py"]
        kind = JavaExample if client == "java" else Example
        made.append(kind(command, flags, tmp_path / f"{client}-{name}-{len(made)}.log"))
        return made[-1]

    yield start
    assert [one.close() for one in made] == [0] * len(made)


# What each client's tail says of an answer that its own copy of the filter gave, and that is fresh.
FROM_THE_READER = {"python": "cache", "cpp": "cache", "go": "cache", "java": "snapshot"}


def tails_of(example, topics, topic, stale_ms):
    """By client, an example that follows the filter and the updates of the daemon of `topic`."""
    snapshots, watermarks = f"{topic}-filters", f"{topic}-beats"
    common = {"brokers": topics.bootstrap, "updates": f"{topic}-updates", "http": "http://127.0.0.1:1"}
    named = {"snapshots_topic": snapshots, "watermarks_topic": watermarks, "timeout_ms": 100}
    short = {"snapshots": snapshots, "watermarks": watermarks}
    flags = {
        "python": ("tail_snapshots", {**named, "stale_ms_max": stale_ms}),
        "cpp": ("tail_snapshots", {**named, "stale_ms_max": stale_ms}),
        "go": ("tail", {**short, "stale_max": f"{stale_ms}ms"}),
        "java": ("TailExample", {**short, "stale_ms": stale_ms}),
    }
    return {client: example(client, name, **common, **its) for client, (name, its) in flags.items()}


def beat(topics, topic, behind_ms=0, lag=0):
    """Writes watermarks of both partitions as the daemon does, so that a test can make them late. The stream
    itself has been quiet for an hour."""

    def watermark(partition):
        return {
            "version": 1,
            "partition": partition,
            "partition_time_ms": now_ms() - HOUR_MS,
            "next_offset": 5,
            "lag_messages": lag,
            "unpublished_users": 0,
            "of_a_later_daemon": {"is": ["skipped"]},
            "heartbeat_ms": now_ms() - behind_ms,
        }

    topics.produce(topic, [(str(partition), json.dumps(watermark(partition))) for partition in range(2)])
    return True
