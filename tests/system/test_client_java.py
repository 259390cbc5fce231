"""The Java examples: a recall service that holds snapshots or asks over HTTP. If both fail, it shows items
anyway."""

import http.server
import json
import pathlib
import queue
import subprocess
import threading
import time

import pytest

from oracle import event
from pair_of_daemons import TIMEOUT_MS, PairOfDaemons, check_owners_are_asked
from places import SOURCE, now_ms, wait_until

JAVA = SOURCE / "clients" / "java"
TARGET = JAVA / "examples" / "target"
HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def class_path():
    """The class path of the examples and their libraries. They are built if a source is newer than the last
    build."""
    sources = [
        path for path in JAVA.rglob("*") if path.suffix in (".java", ".xml") and "target" not in path.parts
    ]
    newest = max(path.stat().st_mtime for path in sources)
    stamp = TARGET / "built-for-system-tests"
    if not stamp.exists() or stamp.stat().st_mtime < newest:
        subprocess.run(
            ["mvn", "-q", "-B", "-f", JAVA / "pom.xml", "package", "-Dmaven.test.skip=true"],
            check=True,
            timeout=600,
            stdin=subprocess.DEVNULL,
        )
        stamp.touch()
    return f"{TARGET}/*:{TARGET}/libs/*"


class Example:
    """One of the examples as a process. It reads one question per line."""

    def __init__(self, class_path, name, log, flags):
        command = [
            "java",
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            class_path,
            f"io.seen.examples.{name}",
        ]
        self.log_path = log
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                [*command, *(word for flag, value in flags.items() for word in (f"--{flag}", str(value)))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
            )
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout])
        self.reader.start()

    def ask(self, line):
        """(source of the answer, unseen items)"""
        by, _, unseen = self.answer(line)
        return by, unseen

    def answer(self, line):
        """(source of the answer, daemon that answered, unseen items)"""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        try:
            by, unseen = self.lines.get(timeout=20).rstrip("\n").split("\t")
        except queue.Empty:
            raise AssertionError(f"no answer to {line!r}: {self.log()}") from None
        by, _, daemon = by.partition(": ")
        return by, daemon, unseen.split()

    def log(self):
        return pathlib.Path(self.log_path).read_text(errors="replace")[-4000:]

    def close(self):
        self.process.stdin.close()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.reader.join()
            self.process.stdout.close()


@pytest.fixture
def example(class_path, tmp_path):
    made = []

    def start(name, **flags):
        log = tmp_path / f"example-{len(made)}.log"
        made.append(Example(class_path, name, log, {k.replace("_", "-"): v for k, v in flags.items()}))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.close()


def watermark(partition, heartbeat_ms, lag=0):
    value = {
        "version": 1,
        "partition": partition,
        "partition_time_ms": heartbeat_ms,
        "next_offset": 5,
        "lag_messages": lag,
        "unpublished_users": 0,
        "heartbeat_ms": heartbeat_ms,
        "of_a_later_daemon": {"is": ["skipped"]},
    }
    return str(partition), json.dumps(value)


def flags_of(seend, topics, topic_name, **more):
    return {
        "brokers": topics.bootstrap,
        "snapshots": f"{topic_name}-filters",
        "watermarks": f"{topic_name}-marks",
        "http": f"http://{seend.address}",
        "timeout_ms": 5_000,
        **more,
    }


def test_the_cache_answers_while_it_is_fresh_then_http_then_what_it_has(topics, daemon, topic_name, example):
    """Uses watermarks that the test writes."""
    topics.create(topic_name, partitions=2)
    topics.create(f"{topic_name}-marks", partitions=1, cleanup_policy="compact")
    seend = daemon(topic_name, {"watermarks": {"topic": None}}).start()
    flags = flags_of(seend, topics, topic_name, stale_ms=60_000)
    held, one_user = example("TailExample", **flags), example("TailExample", **flags, users_max=1)
    then = now_ms() - HOUR_MS  # the stream has been quiet since then
    shown = [("u1", "n1"), ("u1", "42"), ("用户", "曝光")] + [(f"other-{i}", f"n{i}") for i in range(20)]
    topics.produce(topic_name, [(u, event(u, i, then), {"timestamp": then}) for u, i in shown])
    seend.wait_at_rest()

    assert held.ask("u1 n1 n2 42 n2 n3 / n3") == ("http", ["n2"]), "an hour old, and nobody says why"
    topics.produce(f"{topic_name}-marks", [watermark(0, now_ms()), watermark(1, now_ms())])
    wait_until(lambda: held.ask("u1 n9")[0] == "snapshot", "the watermarks vouch for the cache", timeout_s=10)
    assert held.ask("u1 n1 n2 42 n2 n3 / n3") == ("snapshot", ["n2"])
    assert held.ask("用户 n1 曝光") == ("snapshot", ["n1"])
    assert held.ask("nobody n1 n2 / n2") == ("snapshot", ["n1"]), (
        "who isn't in a whole topic has seen nothing"
    )

    users = sorted({user for user, _ in shown})
    by_user = wait_until(
        lambda: (by := [one_user.ask(f"{user} n777")[0] for user in users]).count("snapshot") and by,
        "the watermarks vouch for the one that is held",
        timeout_s=10,
    )
    assert sorted(by_user) == ["http"] * (len(users) - 1) + ["snapshot"]
    assert one_user.ask("nobody n1") == ("http", ["n1"]), (
        "a miss of a cache that left someone out says nothing"
    )

    # The cache follows the topic: a new snapshot, a tombstone, a damaged snapshot.
    topics.produce(topic_name, [("u1", event("u1", "n2", now_ms()))])
    wait_until(lambda: held.ask("u1 n2 n5") == ("snapshot", ["n5"]), "the next snapshot", timeout_s=10)
    topics.produce(f"{topic_name}-filters", [("用户", None), ("u1", b"damaged")])
    wait_until(
        lambda: held.ask("用户 n1 曝光") == ("snapshot", ["n1", "曝光"]), "a tombstone forgets", timeout_s=10
    )
    wait_until(lambda: "does not start with" in held.log(), "what is refused is told", timeout_s=10)
    assert held.ask("u1 n1 n5") == ("snapshot", ["n5"]), "and what was there before it is kept"

    # The daemon falls behind, then it is killed.
    topics.produce(f"{topic_name}-marks", [watermark(p, now_ms() - HOUR_MS, lag=3) for p in (0, 1)])
    wait_until(lambda: held.ask("other-1 n1 n5") == ("http", ["n5"]), "too old: HTTP", timeout_s=10)
    seend.kill9()
    assert held.ask("other-1 n1 n5 n6 / n6") == ("old snapshot", ["n5"])
    assert one_user.ask("nobody n1 n5 n6 / n6") == ("own list", ["n1", "n5"])
    assert held.close() == 0 and one_user.close() == 0


def test_a_quiet_stream_is_fresh_until_the_daemon_dies_and_http_falls_back_to_showing(
    topics, daemon, topic_name, example
):
    """Uses the daemon's own watermarks."""
    topics.create(topic_name, partitions=2)
    seend = daemon(topic_name, {"watermarks": {"topic": f"{topic_name}-marks"}}).start()
    flags = flags_of(seend, topics, topic_name)
    asking = example("HttpExample", http=flags["http"], timeout_ms=5_000)
    then = now_ms() - HOUR_MS
    topics.produce(topic_name, [(u, event(u, "n1", then), {"timestamp": then}) for u in ("u1", "用户/1")])
    seend.wait_caught_up()
    held = example("TailExample", **flags, stale_ms=2_500)
    assert asking.ask("用户/1 n3 n1 n2 n3 / n2") == ("http", ["n3"])
    assert asking.ask("u2 n1") == ("http", ["n1"])
    wait_until(
        lambda: held.ask("u1 n1 n2") == ("snapshot", ["n2"]), "heartbeats tell it from a stream that stopped"
    )
    seend.kill9()
    assert asking.ask("u1 n3 n1 n2 n3 / n2") == ("own list", ["n3", "n1"])
    assert "shown without asking" in asking.log()
    wait_until(
        lambda: held.ask("u1 n1 n2") == ("old snapshot", ["n2"]), "no heartbeats any more", timeout_s=10
    )


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers at once, except for the user `slow`, who gets no answer. Closes the connection after an answer
    for `last`."""

    protocol_version = "HTTP/1.1"
    connections = 0

    def setup(self):
        Slow.connections += 1
        super().setup()

    def do_GET(self):
        Slow.connections -= 1  # count only connections that ask questions
        self.send_error(404)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if "/slow/" in self.path:
            time.sleep(3)
            self.close_connection = True
            return
        body = json.dumps({"unseen": ["n1"]}).encode()
        self.send_response(503 if "/early/" in self.path else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = "/last/" in self.path

    def log_message(self, *_):
        pass


def test_one_connection_serves_many_requests_and_none_waits_for_long(example):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        asking = example("HttpExample", http=f"http://127.0.0.1:{server.server_port}", timeout_ms=1_000)
        wait_until(
            lambda: asking.ask("u1 n1 n2")[0] == "http",
            "the first takes longer: classes are loaded",
            timeout_s=10,
        )
        Slow.connections = 0
        assert asking.ask("last n1 n2") == ("http", ["n1"])
        for i in range(50):
            assert asking.ask(f"u{i} n1 n2") == ("http", ["n1"])
        assert Slow.connections == 1, "kept alive, and opened again once closed"
        assert asking.ask("early n1 n2 / n1") == ("own list", ["n2"]), "503: still catching up"
        assert asking.ask("slow n1 n2 / n1") == ("own list", ["n2"]), "no answer in time"
        assert "no answer within 1000 ms" in asking.log()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_owner_is_asked(topics, daemon, topic_name, example):
    pair = PairOfDaemons(topics, daemon, topic_name)
    asking = example("HttpExample", http=pair.addresses, timeout_ms=TIMEOUT_MS)
    asking.ask(f"{pair.users[0]} new")  # the first takes longer, because it loads classes

    def ask(user):
        by, daemon, unseen = asking.answer(f"{user} shown new")
        return {"own list": "request"}.get(by, by), daemon, unseen

    check_owners_are_asked(pair, ask)
