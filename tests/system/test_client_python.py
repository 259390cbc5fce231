"""The examples of clients/python as a user starts them: answers from the topic, over HTTP, and from the
request alone."""

import json
import os
import queue
import subprocess
import threading
import time

import pytest

from load import one_by_one
from oracle import Oracle
from pair_of_daemons import TIMEOUT_MS, PairOfDaemons, check_owners_are_asked
from places import SOURCE, now_ms, wait_until

CLIENT = SOURCE / "clients" / "python"
STALE_MS_MAX = 1_500


class Example:
    """One of the examples as a process. It reads one question per line and writes one answer per line."""

    def __init__(self, python, name, *arguments):
        self.process = subprocess.Popen(
            [python, str(CLIENT / "examples" / name), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env={**os.environ, "PYTHONPATH": str(CLIENT / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        )
        self.answers = queue.Queue()
        self.reader = threading.Thread(
            target=lambda: [self.answers.put(line) for line in self.process.stdout]
        )
        self.reader.start()

    def ask(self, user, items, also_seen=(), timeout_s=20):
        """(unseen, from)"""
        answer = self.answer(user, items, also_seen, timeout_s)
        return answer["unseen"], answer["from"]

    def answer(self, user, items, also_seen=(), timeout_s=20):
        self.process.stdin.write(
            json.dumps({"user": user, "items": items, "also_seen": list(also_seen)}) + "\n"
        )
        return json.loads(self.answers.get(timeout=timeout_s))

    def close(self):
        self.process.stdin.close()
        try:
            assert self.process.wait(10) == 0
        finally:
            self.process.kill()
            self.process.wait()
            self.reader.join()
            self.process.stdout.close()


@pytest.fixture
def example():
    """example(name, *arguments) -> Example. It must end with exit status 0 when its input ends."""
    started = []

    def start(name, *arguments):
        started.append(Example("/usr/bin/python3", name, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def seen(topics, daemon, topic_name):
    """A daemon that has read the users' events and published their snapshots."""
    topics.create(topic_name)
    seend = daemon(topic_name).start()
    topics.produce(
        topic_name, one_by_one(Oracle(), [("u", "shown"), ("u", 7), ("v", "other"), ("用户", "曝光")])
    )
    seend.wait_at_rest()
    return seend


def test_a_tail_of_the_topic_answers_and_falls_back_when_it_is_stale(seen, topics, topic_name, example):
    marks = topics.create(f"{topic_name}-watermarks", partitions=1, cleanup_policy="compact")

    def beat(behind_ms=0):
        """Writes watermarks, as the daemon does once a second."""
        topics.produce(
            marks,
            [
                (
                    str(p),
                    json.dumps(
                        {
                            "version": 1,
                            "partition": p,
                            "partition_time_ms": now_ms() - behind_ms,
                            "next_offset": 5,
                            "lag_messages": 0,
                            "unpublished_users": 0,
                            "heartbeat_ms": now_ms() - behind_ms,
                        }
                    ),
                )
                for p in range(2)
            ],
        )

    beat(behind_ms=3_600_000)
    tail = example(
        "tail_snapshots.py",
        "--brokers",
        topics.bootstrap,
        "--snapshots-topic",
        f"{topic_name}-filters",
        "--watermarks-topic",
        marks,
        "--http",
        f"http://{seen.address}",
        "--stale-ms-max",
        STALE_MS_MAX,
        "--timeout-ms",
        2_000,
    )
    items = ["a", "shown", "b", "a", 7, "other", "9"]

    def when_from(source, user, *question):
        def ask():
            if source == "cache":
                beat()
            answer = tail.ask(user, *question)
            return answer if answer[1] == source else None

        return wait_until(ask, f"answers from {source}", timeout_s=10)[0]

    assert when_from("cache", "u", items, ["9"]) == ["a", "b", "other"]
    assert when_from("cache", "用户", ["曝光", "other"]) == ["other"]

    # The topic doesn't have this user. The client asks over HTTP and keeps the answer.
    assert tail.ask("nobody", items) == (["a", "shown", "b", "7", "other", "9"], "http")
    assert when_from("cache", "nobody", items, ["b", 9]) == ["a", "shown", "7", "other"]

    # The client follows the topic.
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "b"), ("nobody", "a")]))
    wait_until(lambda: when_from("cache", "u", items) == ["a", "other", "9"], "the new snapshot is there")
    wait_until(
        lambda: when_from("cache", "nobody", ["a", "b"]) == ["b"],
        "the first snapshot replaces what was asked for",
    )

    # A tombstone makes the client forget the user.
    topics.produce(f"{topic_name}-filters", [("v", None)])
    wait_until(
        lambda: (beat(), tail.ask("v", ["other"]))[1] == ([], "http"), "the tombstone is there: HTTP is asked"
    )

    # Without heartbeats the cache becomes stale, and the client asks over HTTP. Then the daemon stops, too.
    assert when_from("http", "u", items, ["9"]) == ["a", "other"]
    seen.stop()
    assert tail.ask("u", items, ["9"]) == (["a", "other"], "request"), (
        "what the stale snapshot has stays right"
    )
    assert tail.ask("w", items, ["9"]) == (["a", "shown", "b", "7", "other"], "request")


def test_asking_over_http_shows_rather_than_fails(seen, example):
    ask = example("ask_over_http.py", "--http", f"http://{seen.address}", "--timeout-ms", 300).ask
    items = ["a", "shown", "b", "a", 7]
    assert ask("u", items, ["b"]) == (["a"], "http")
    assert ask("用户", ["曝光", "x"]) == (["x"], "http")
    assert ask("nobody", items) == (["a", "shown", "b", "7"], "http")

    with seen.standing_still():
        began = time.monotonic()
        assert ask("u", items, ["b"]) == (["a", "shown", "7"], "request")
        assert time.monotonic() - began < 2, "no longer than its time-out"
    wait_until(lambda: ask("u", items, ["b"]) == (["a"], "http"), "it answers again")
    seen.stop()
    assert ask("u", items, ["b"]) == (["a", "shown", "7"], "request")


def test_asking_over_http_asks_the_owner(topics, daemon, topic_name, example):
    pair = PairOfDaemons(topics, daemon, topic_name)
    asker = example("ask_over_http.py", "--http", pair.addresses, "--timeout-ms", TIMEOUT_MS)

    def ask(user):
        answer = asker.answer(user, ["shown", "new"])
        return answer["from"], answer.get("by", ""), answer["unseen"]

    check_owners_are_asked(pair, ask)
