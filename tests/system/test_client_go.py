"""The examples of clients/go against a real daemon and a real Kafka."""

import json
import subprocess
import time

import pytest

from oracle import event
from pair_of_daemons import TIMEOUT_MS, PairOfDaemons, check_owners_are_asked
from places import SOURCE, now_ms, wait_until

EXAMPLES = SOURCE / "clients" / "go" / "examples"
CANDIDATES = ["a", "b", "c", "b", 7]


@pytest.fixture(scope="module")
def binaries(tmp_path_factory):
    directory = tmp_path_factory.mktemp("go")
    built = subprocess.run(
        ["go", "build", "-buildvcs=false", "-o", str(directory), "./ask", "./tail"],
        cwd=EXAMPLES,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr[-6000:]
    return directory


class Example:
    """A running example. It reads one JSON object per line and writes one per line."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            [str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, user, items=CANDIDATES, also_seen=()):
        answer = self.answer(user, items, also_seen)
        return answer["from"], answer["unseen"]

    def answer(self, user, items, also_seen=()):
        request = {"user": user, "items": items, "also_seen": list(also_seen)}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        try:
            self.process.stdin.close()
            assert self.process.wait(10) == 0
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


@pytest.fixture
def example(binaries):
    running = []

    def start(name, *arguments):
        running.append(Example(binaries / name, *arguments))
        return running[-1]

    yield start
    for one in running:
        one.close()


@pytest.fixture
def seend(topics, daemon, topic_name):
    """A daemon. Users u0 to u19, and one user in another alphabet, have each seen the items a and 7."""
    topics.create(topic_name)
    seend = daemon(topic_name, {"watermarks": {"topic": f"{topic_name}-watermarks"}}).start()
    see(topics, topic_name, [*(f"u{i}" for i in range(20)), "用户/1"], ["a", 7])
    seend.wait_at_rest()
    return seend


def see(topics, topic, users, items):
    topics.produce(topic, [(user, event(user, item, now_ms())) for user in users for item in items])


def test_asking_over_http(seend, example):
    ask = example("ask", "-http", f"http://{seend.address}", "-timeout", "5s")
    assert ask.ask("u1") == ("http", ["b", "c"])
    assert ask.ask("用户/1", also_seen=["c"]) == ("http", ["b"])
    assert ask.ask("never") == ("http", ["a", "b", "c", "7"])
    assert ask.ask("") == ("request", ["a", "b", "c", "7"]), "what seend refuses is shown"
    seend.sigterm()
    seend.wait_exit()
    assert ask.ask("u1", also_seen=["c"]) == ("request", ["a", "b", "7"]), "rather shown again than failing"


def test_asking_over_http_asks_the_owner(topics, daemon, topic_name, example):
    pair = PairOfDaemons(topics, daemon, topic_name)
    asker = example("ask", "-http", pair.addresses, "-timeout", f"{TIMEOUT_MS}ms")

    def ask(user):
        answer = asker.answer(user, ["shown", "new"])
        return answer["from"], answer.get("by", ""), answer["unseen"]

    check_owners_are_asked(pair, ask)


def test_tailing_the_topic(seend, example, topics, topic_name):
    marks = topics.create(f"{topic_name}-marks", 1, cleanup_policy="compact")

    def heartbeat():
        """Writes watermarks as the daemon does. They say that both partitions are read to their ends."""
        topics.produce(
            marks,
            [
                (
                    str(p),
                    json.dumps(
                        {
                            "version": 1,
                            "partition": p,
                            "partition_time_ms": 1,
                            "next_offset": 1,
                            "lag_messages": 0,
                            "unpublished_users": 0,
                            "heartbeat_ms": now_ms(),
                        }
                    ),
                )
                for p in range(2)
            ],
        )
        return True

    arguments = [
        "-brokers",
        topics.bootstrap,
        "-snapshots",
        f"{topic_name}-filters",
        "-watermarks",
        marks,
        "-http",
        f"http://{seend.address}",
        "-timeout",
        "5s",
        "-stale-max",
    ]
    tail = example("tail", *arguments, "3s")
    small = example("tail", *arguments, "1m", "-users-max", "3")

    wait_until(
        lambda: heartbeat() and tail.ask("u1") == ("cache", ["b", "c"]), "it has read the topic", every_s=0.2
    )
    assert tail.ask("用户/1", also_seen=["c"]) == ("cache", ["b"])

    see(topics, topic_name, ["u1"], ["b"])
    wait_until(
        lambda: heartbeat() and tail.ask("u1") == ("cache", ["c"]), "what is new comes by itself", every_s=0.2
    )

    # The topic doesn't have this user. The client asks seend and keeps the answer.
    assert tail.ask("never") == ("http", ["a", "b", "c", "7"])
    wait_until(
        lambda: heartbeat() and tail.ask("never") == ("cache", ["a", "b", "c", "7"]),
        "it is kept",
        every_s=0.2,
    )
    see(topics, topic_name, ["never"], ["c"])
    wait_until(
        lambda: heartbeat() and tail.ask("never") == ("cache", ["a", "b", "7"]),
        "the topic's is later",
        every_s=0.2,
    )

    # The small cache keeps 3 of the 21 users.
    heartbeat()
    wait_until(lambda: small.ask("u5") == ("cache", ["b", "c"]), "it has read the topic")
    first = [small.ask(f"u{i}") for i in (6, 7, 8, 9)]
    assert sum(source == "http" for source, _ in first) >= 1 and all(
        unseen == ["b", "c"] for _, unseen in first
    )
    assert [small.ask(f"u{i}") for i in (7, 8, 9)] == [("cache", ["b", "c"])] * 3

    # An erased user's record is a tombstone.
    assert seend.http.request("DELETE", "/v1/users/u1").status == 202
    wait_until(
        lambda: heartbeat() and tail.ask("u1")[1] == ["a", "b", "c", "7"], "u1 is forgotten", every_s=0.2
    )

    # Without heartbeats the cache is too old to use. New heartbeats make it usable again.
    wait_until(lambda: tail.ask("u2") == ("http", ["b", "c"]), "it asks seend", timeout_s=10)
    seend.kill9()
    assert tail.ask("u2", also_seen=["c"]) == ("stale cache", ["b"]), "what was known then is still right"
    assert tail.ask("nobody", also_seen=["c"]) == ("request", ["a", "b", "7"])
    wait_until(
        lambda: heartbeat() and tail.ask("u2") == ("cache", ["b", "c"]),
        "fresh again, without HTTP",
        every_s=0.2,
    )


def test_a_quiet_stream_is_not_a_stale_one(seend, example, topics, topic_name):
    """Uses the daemon's own watermarks."""
    tail = example(
        "tail",
        "-brokers",
        topics.bootstrap,
        "-snapshots",
        f"{topic_name}-filters",
        "-watermarks",
        f"{topic_name}-watermarks",
        "-http",
        f"http://{seend.address}",
        "-timeout",
        "5s",
        "-stale-max",
        "3s",
    )
    wait_until(lambda: tail.ask("u1") == ("cache", ["b", "c"]), "it has read the topic", every_s=0.2)
    time.sleep(3.5)  # nothing happens for longer than an answer's age may be
    assert tail.ask("u1") == ("cache", ["b", "c"]), "quiet, and up to date"
    seend.kill9()
    wait_until(lambda: tail.ask("u1") == ("stale cache", ["b", "c"]), "heartbeats ended", timeout_s=10)
