"""The examples of clients/cpp as a user starts them: answers from the topics, over HTTP, and from the request
alone."""

import json
import queue
import subprocess
import threading
import time

import pytest

from load import one_by_one
from oracle import Oracle, event
from pair_of_daemons import TIMEOUT_MS, PairOfDaemons, check_owners_are_asked
from places import BUILD, now_ms, wait_until

HOUR_MS = 3_600_000
STALE_MS_MAX = 1_500
ITEMS = ["a", "shown", "b", "a", 7, "other", "9"]


class Example:
    """One of the examples as a process. It reads one question per line and writes one answer per line."""

    def __init__(self, name, log, flags):
        self.log_path = log
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                [
                    BUILD / f"client_cpp_{name}",
                    *(word for flag, value in flags.items() for word in (f"--{flag}", str(value))),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
            )
        self.answers = queue.Queue()
        self.reader = threading.Thread(
            target=lambda: [self.answers.put(line) for line in self.process.stdout]
        )
        self.reader.start()

    def ask(self, user, items, also_seen=()):
        """(unseen, from)"""
        answer = self.answer(user, items, also_seen)
        return answer["unseen"], answer["from"]

    def answer(self, user, items, also_seen=()):
        self.process.stdin.write(
            json.dumps({"user": user, "items": items, "also_seen": list(also_seen)}) + "\n"
        )
        self.process.stdin.flush()
        try:
            return json.loads(self.answers.get(timeout=20))
        except queue.Empty:
            raise AssertionError(f"no answer about {user!r}: {self.log()}") from None

    def until_from(self, source, user, items, also_seen=()):
        def ask():
            unseen, by = self.ask(user, items, also_seen)
            return (unseen,) if by == source else None

        return wait_until(ask, f"answers about {user} from {source}", timeout_s=10)[0]

    def log(self):
        return self.log_path.read_text(errors="replace")[-4000:]

    def close(self):
        """Ends the input of the example and returns its exit status."""
        if self.process.returncode is not None:
            return self.process.returncode
        self.process.stdin.close()
        try:
            return self.process.wait(10)
        finally:
            self.process.kill()  # has no effect if it has ended
            self.process.wait()
            self.reader.join()
            self.process.stdout.close()


@pytest.fixture
def example(tmp_path):
    """example(name, flag=value, ...) -> Example. Each example must end with exit status 0."""
    if not (BUILD / "client_cpp_tail_snapshots").exists():
        pytest.skip(f"{BUILD} was built without libcurl's and librdkafka's C++ headers, or without tests")
    made = []

    def start(name, **flags):
        log = tmp_path / f"{name}-{len(made)}.log"
        made.append(Example(name, log, {flag.replace("_", "-"): value for flag, value in flags.items()}))
        return made[-1]

    yield start
    assert [one.close() for one in made] == [0] * len(made)


class Beats:
    """Writes watermarks of both partitions as the daemon does. So a test can make them late."""

    def __init__(self, topics, topic):
        self.topics, self.topic = topics, topics.create(topic, partitions=1, cleanup_policy="compact")

    def write(self, at_ms=None, lag=0):
        at_ms = at_ms or now_ms()
        self.topics.produce(
            self.topic,
            [
                (
                    str(partition),
                    json.dumps(
                        {
                            "version": 1,
                            "partition": partition,
                            "partition_time_ms": now_ms() - HOUR_MS,
                            "next_offset": 5,
                            "lag_messages": lag,
                            "unpublished_users": 0,
                            "of_a_later_daemon": {"is": ["skipped"]},
                            "heartbeat_ms": at_ms,
                        }
                    ),
                )
                for partition in range(2)
            ],
        )


def test_a_tail_answers_from_its_cache_while_it_is_fresh(topics, daemon, topic_name, example):
    topics.create(topic_name)
    seend = daemon(topic_name).start()
    then = now_ms() - HOUR_MS  # the stream has been quiet since then
    shown = [("u", "shown"), ("u", 7), ("v", "other"), ("用户", "曝光")]
    topics.produce(topic_name, [(user, event(user, item, then), {"timestamp": then}) for user, item in shown])
    seend.wait_at_rest()
    filters, beats = f"{topic_name}-filters", Beats(topics, f"{topic_name}-beats")
    flags = {
        "brokers": topics.bootstrap,
        "snapshots_topic": filters,
        "watermarks_topic": beats.topic,
        "http": f"http://{seend.address}",
        "timeout_ms": 2_000,
    }
    tail = example("tail_snapshots", **flags, stale_ms_max=STALE_MS_MAX)
    one_user = example("tail_snapshots", **flags, stale_ms_max=60_000, users_max=1)

    assert tail.ask("u", ITEMS, ["9"]) == (["a", "b", "other"], "http"), "an hour old, and nobody says why"
    beats.write(lag=3)
    time.sleep(0.3)
    assert tail.ask("u", ["a"]) == (["a"], "http"), "behind: as old as what was read"

    beats.write(at_ms=now_ms() + 60_000 - STALE_MS_MAX)  # they count for a minute
    assert tail.until_from("cache", "u", ITEMS, ["9"]) == ["a", "b", "other"]
    assert tail.ask("用户", ["曝光", "other"]) == (["other"], "cache")
    assert tail.ask("nobody", ITEMS, ["b"]) == (["a", "shown", "7", "other", "9"], "cache"), (
        "not in a whole topic"
    )

    # A client that dropped users from its cache can't know who has seen nothing.
    wait_until(
        lambda: (
            sorted(one_user.ask(user, ["x"])[1] for user in ("u", "v", "用户")) == ["cache", "http", "http"]
        ),
        "one is held, two are asked for",
        timeout_s=10,
    )
    assert one_user.ask("nobody", ["x"]) == (["x"], "http")

    # The client follows the topic: a new snapshot, one that it refuses, a tombstone.
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "b")]))
    wait_until(lambda: tail.ask("u", ITEMS) == (["a", "other", "9"], "cache"), "the new snapshot is there")
    topics.produce(filters, [("u", b""), ("w", b"SEEN?")])
    wait_until(
        lambda: tail.log().count("not a snapshot") + tail.log().count("cut off") == 2, "both are reported"
    )
    assert tail.ask("u", ITEMS) == (["a", "other", "9"], "cache"), "the one before it stays"
    assert tail.ask("w", ["a"]) == (["a"], "http"), "unknown, not empty"
    assert tail.ask("v", ["other"]) == ([], "cache")
    topics.produce(filters, [("v", None)])
    wait_until(lambda: tail.ask("v", ["other"]) == (["other"], "cache"), "the tombstone is there")


def test_a_tail_falls_back_when_the_daemons_heartbeats_stop(topics, daemon, topic_name, example):
    topics.create(topic_name)
    marks = f"{topic_name}-watermarks"
    seend = daemon(topic_name, {"watermarks": {"topic": marks}}).start()
    then = now_ms() - HOUR_MS
    topics.produce(topic_name, [("u", event("u", item, then), {"timestamp": then}) for item in ("shown", 7)])
    seend.wait_at_rest()
    wait_until(lambda: topics.partitions(marks), "the daemon has made its topic")
    tail = example(
        "tail_snapshots",
        brokers=topics.bootstrap,
        snapshots_topic=f"{topic_name}-filters",
        watermarks_topic=marks,
        http=f"http://{seend.address}",
        timeout_ms=300,
        stale_ms_max=2_500,
    )
    assert tail.until_from("cache", "u", ITEMS) == ["a", "b", "other", "9"], "quiet, not stale"
    assert tail.until_from("cache", "nobody", ITEMS, ["9"]) == ["a", "shown", "b", "7", "other"]

    with seend.standing_still():
        by_request = tail.until_from("request", "u", ITEMS, ["9"])
        assert by_request == ["a", "b", "other"], "what the stale snapshot holds stays right"
        assert tail.ask("nobody", ITEMS, ["9"]) == (["a", "shown", "b", "7", "other"], "request")
    assert tail.until_from("cache", "u", ITEMS) == ["a", "b", "other", "9"], "its heart beats again"


def test_asking_over_http_shows_rather_than_fails(topics, daemon, topic_name, example):
    topics.create(topic_name)
    seend = daemon(topic_name).start()
    users = ["u", "用户/1", "..", "u%34"]
    topics.produce(topic_name, one_by_one(Oracle(), [(user, "shown") for user in users]))
    seend.wait_at_rest()
    asker = example("ask_over_http", http=f"http://{seend.address}", timeout_ms=300)
    for user in users:
        assert asker.ask(user, ITEMS, ["b"]) == (["a", "7", "other", "9"], "http"), user
    assert asker.ask("nobody", ["shown", "曝光", "shown"]) == (["shown", "曝光"], "http")

    with seend.standing_still():
        began = time.monotonic()
        assert asker.ask("u", ITEMS, ["b"]) == (["a", "shown", "7", "other", "9"], "request")
        assert time.monotonic() - began < 2, "no longer than its time-out"
    wait_until(lambda: asker.ask("u", ITEMS, ["b"]) == (["a", "7", "other", "9"], "http"), "it answers again")
    seend.stop()
    assert asker.ask("u", ITEMS, ["b"]) == (["a", "shown", "7", "other", "9"], "request")
    assert asker.close() == 0
    opened = int(asker.log().rsplit("connections opened: ", 1)[1])
    assert opened <= 4, "one until the time-out, few to come back"


def test_asking_over_http_asks_the_owner(topics, daemon, topic_name, example):
    pair = PairOfDaemons(topics, daemon, topic_name)
    asker = example("ask_over_http", http=pair.addresses, timeout_ms=TIMEOUT_MS)

    def ask(user):
        answer = asker.answer(user, ["shown", "new"])
        return answer["from"], answer.get("by", ""), answer["unseen"]

    check_owners_are_asked(pair, ask)
