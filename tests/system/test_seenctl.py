"""seenctl against a real Kafka and a real daemon."""

import collections
import gzip
import json
import signal
import subprocess
import time

import pytest

from load import Load, one_by_one
from oracle import Oracle, event
from places import SEENCTL, SOURCE, now_ms, wait_until

EXAMPLES = SOURCE / "examples" / "open_bandit_exposures.jsonl.gz"


def seenctl(*arguments, status=0, stdin=None, timeout_s=120):
    done = subprocess.run(
        [str(SEENCTL), *map(str, arguments)], capture_output=True, input=stdin, timeout=timeout_s
    )
    assert done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout.decode()


@pytest.fixture
def watched(topics, daemon, topic_name, chance):
    """A daemon at rest that has read 3,000 events of 200 users, and their load."""
    topics.create(topic_name)
    load = Load(chance, users=200)
    seend = daemon(topic_name).start()
    load.send(topics, topic_name, 3_000)
    seend.wait_at_rest()
    return seend, load


def verify(seend, kafka, *more, status=0):
    return json.loads(
        seenctl(
            "verify",
            "--brokers",
            kafka.bootstrap,
            "--topic",
            seend.topic,
            "--http",
            f"http://{seend.address}",
            "--snapshots",
            "--snapshot-topic",
            f"{seend.topic}-filters",
            "--json",
            "--quiet",
            *more,
            status=status,
        )
    )


def test_verify_passes_a_healthy_daemon_and_measures_its_error_rate(kafka, watched):
    seend, load = watched
    result = verify(seend, kafka)
    assert result["ok"] and result["false_negatives"] == 0
    assert result["users"] == len(load.oracle.users()) and result["records"] == 3_000
    assert result["items"] == sum(len(load.oracle.fingerprints(u)) for u in load.oracle.users())
    assert 0 < result["snapshot_false_positive_rate"] < 0.02


def test_verify_fails_a_daemon_that_forgot(kafka, topics, daemon, topic_name):
    """The daemon's window is one day, and verify expects a month: all older items are missing."""
    topics.create(topic_name)
    seend = daemon(
        topic_name,
        {
            "filters": [
                {
                    "name": "default",
                    "window_days": 1,
                    "snapshot": {"topic": f"{topic_name}-filters", "debounce_ms": 200},
                }
            ]
        },
    ).start()
    topics.produce(
        topic_name, one_by_one(Oracle(), [("u", f"i{n}") for n in range(50)], now_ms() - 5 * 86_400_000)
    )
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "fresh")]))
    seend.wait_at_rest()
    result = verify(seend, kafka, status=1)
    assert not result["ok"] and result["false_negatives"] > 0
    assert verify(seend, kafka, "--window-days", "1")["ok"]


def test_generate_is_a_function_of_its_seed():
    arguments = [
        "generate",
        "--stdout",
        "--events",
        "2000",
        "--users",
        "100",
        "--until",
        "2026-11-01T00:00:00Z",
        "--quiet",
    ]
    first = seenctl(*arguments, "--seed", "7")
    assert first == seenctl(*arguments, "--seed", "7") != seenctl(*arguments, "--seed", "8")
    events = [json.loads(line) for line in first.splitlines()]
    assert len(events) == 2_000 and all({"user_id", "item_id", "exposed_at"} <= set(e) for e in events)
    by_user = [count for _, count in collections.Counter(e["user_id"] for e in events).most_common()]
    assert by_user[0] > 3 * by_user[len(by_user) // 2], "users are skewed"


def test_generate_keeps_its_rate_and_keys_by_user(kafka, topics, daemon, topic_name):
    topics.create(topic_name, partitions=4)
    seend = daemon(topic_name).start()
    start = time.monotonic()
    sent = json.loads(
        seenctl(
            "generate",
            "--brokers",
            kafka.bootstrap,
            "--topic",
            topic_name,
            "--rate",
            "5000",
            "--seconds",
            "3",
            "--users",
            "500",
            "--batch",
            "1",
            "--json",
            "--quiet",
        )
    )
    assert 2.9 < time.monotonic() - start < 8
    assert 12_000 < sent["events"] < 17_000
    ends = seend.wait_at_rest()
    assert sum(ends.values()) == sent["events"]
    assert seend.metric_sum("seen_events_misrouted_total") == 0


def test_the_real_exposures_come_in_whole(kafka, topics, daemon, topic_name):
    topics.create(topic_name, partitions=4)
    seend = daemon(topic_name).start()
    seenctl(
        "generate",
        "--brokers",
        kafka.bootstrap,
        "--topic",
        topic_name,
        "--from",
        EXAMPLES,
        "--shift-to-now",
        "--quiet",
    )
    seend.wait_at_rest()
    result = verify(seend, kafka)
    assert result["records"] == 60_000 and result["users"] == 337 and result["items"] == 13_055


def test_replay_goes_on_after_a_kill_and_leaves_nothing_out(
    kafka, topics, daemon, topic_name, tmp_path, chance
):
    topics.create(topic_name)
    seend = daemon(topic_name).start()
    oracle, now = Oracle(), now_ms()
    lines = []
    for i in range(40_000):
        user, item = f"user-{chance.randrange(300)}", f"item-{i}"
        oracle.add(user, item, now)
        lines.append(event(user, item, now))
    source = tmp_path / "exposures.jsonl.gz"
    with gzip.open(source, "wt", compresslevel=1) as file:
        file.write("\n".join(lines) + "\n")
    progress = tmp_path / "replay.progress"
    command = [
        "replay",
        str(source),
        "--brokers",
        kafka.bootstrap,
        "--topic",
        topic_name,
        "--progress",
        str(progress),
        "--quiet",
    ]
    for _ in range(2):
        before = progress.read_bytes() if progress.exists() else b""
        running = subprocess.Popen([str(SEENCTL), *command, "--rate", "8000"], stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: progress.exists() and progress.read_bytes() != before, "progress is written")
            time.sleep(0.3 + chance.random() * 0.5)
        finally:
            running.send_signal(signal.SIGKILL)
            running.wait()
    sent_before = sum(end for _, end in topics.ends(topic_name).values())
    assert 0 < sent_before < 40_000, "the kills came in the middle"
    seenctl(*command)
    sent = sum(end for _, end in topics.ends(topic_name).values())
    assert 40_000 <= sent < sent_before + 40_000, "it went on, not from the start"
    seend.wait_at_rest()
    oracle.check_http(seend)
    seenctl(*command)
    assert sum(end for _, end in topics.ends(topic_name).values()) == sent, (
        "a finished replay sends nothing more"
    )


def test_replay_reads_a_topics_time_range(kafka, topics, daemon, topic_name):
    source = topics.create(f"{topic_name}-archive", partitions=3)
    topics.create(topic_name)
    now, oracle = now_ms(), Oracle()
    old = [("u", event("u", f"old-{i}", now - 7_200_000), {"timestamp": now - 7_200_000}) for i in range(10)]
    fresh = [
        (*r, {"timestamp": now - 60_000})
        for r in one_by_one(oracle, [(f"u{i % 7}", f"n{i}") for i in range(100)])
    ]
    topics.produce(source, old + fresh)
    seend = daemon(topic_name).start()
    seenctl(
        "replay",
        "--from-topic",
        source,
        "--since",
        "1h",
        "--brokers",
        kafka.bootstrap,
        "--topic",
        topic_name,
        "--quiet",
    )
    assert sum(seend.wait_at_rest().values()) == 100 + 2 * 2, "with the marks of the replay"
    oracle.check_http(seend)
    assert seend.unseen("u", ["old-1"]) == ["old-1"]


def test_one_user_is_shown_asked_and_described(kafka, watched, tmp_path):
    seend, load = watched
    user = max(load.oracle.users(), key=lambda u: len(load.oracle.items(u)))
    items = sorted(load.oracle.items(user))
    at = ["--http", f"http://{seend.address}"]
    assert json.loads(seenctl("unseen", *at, user, items[0], "new", "--json"))["unseen"] == ["new"]
    assert seenctl("unseen", *at, user, items[0], "new", "--created-at", "2020-01-01").split() == ["new"]
    later = ["--created-at", str(now_ms() + 86_400_000)]  # later than any exposure
    assert seenctl("unseen", *at, user, items[0], "new", *later).split() == [items[0], "new"]
    shown = json.loads(seenctl("show", *at, user, "--json"))
    assert shown["items"] == len(load.oracle.fingerprints(user)) and shown["segments"]
    saved = tmp_path / "user.snapshot"
    described = json.loads(
        seenctl("snapshot", *at, "--user", user, "--save", saved, "--test", items[0], "--json")
    )
    assert described["items"] == len(load.oracle.fingerprints(user))
    load.oracle.check_snapshot(user, saved.read_bytes())
    seenctl("snapshot", saved)
    whole = saved.read_bytes()
    saved.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    seenctl("snapshot", saved, status=1)


def test_what_is_out_of_reach_is_named():
    done = subprocess.run(
        [str(SEENCTL), "unseen", "--http", "http://127.0.0.1:9", "u", "i"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 1 and "127.0.0.1:9" in done.stderr
