"""seenctl against a real Kafka and a real daemon. The estimates of `seenctl size` against the real size of
the store and the topic."""

import collections
import json
import time

import pytest

from http_json import user_path
from load import Load, one_by_one
from oracle import Oracle, event
from places import SOURCE, now_ms
from seenctl_tool import run
from seend import one_filter
from test_replay import DAY_MS, replay

EXAMPLES = SOURCE / "examples" / "open_bandit_exposures.jsonl.gz"


def seenctl(*arguments, **more):
    return run(*arguments, **more)[0]


@pytest.fixture
def watched(topics, started, topic_name, chance):
    """A daemon at rest that has read 3,000 events of 200 users, and their load."""
    load = Load(chance, users=200)
    seend = started()
    load.send(topics, topic_name, 3_000)
    seend.wait_at_rest()
    return seend, load


def verify(seend, kafka, *more, status=0):
    return json.loads(
        seenctl(
            "verify",
            *more,
            brokers=kafka.bootstrap,
            topic=seend.topic,
            http=seend.url,
            snapshots=True,
            snapshot_topic=f"{seend.topic}-filters",
            json=True,
            quiet=True,
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


def test_verify_fails_a_daemon_that_forgot(kafka, topics, started, topic_name):
    """The daemon's window is one day, and verify expects a month: all older items are missing."""
    seend = started(one_filter(topic_name, window_days=1))
    topics.produce(
        topic_name, one_by_one(Oracle(), [("u", f"i{n}") for n in range(50)], now_ms() - 5 * 86_400_000)
    )
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "fresh")]))
    seend.wait_at_rest()
    result = verify(seend, kafka, status=1)
    assert not result["ok"] and result["false_negatives"] > 0
    assert verify(seend, kafka, "--window-days", "1")["ok"]


def test_generate_is_a_function_of_its_seed():
    arguments = ["generate", "--stdout", "--quiet", "--events", 2000, "--users", 100]
    arguments += ["--until", "2026-11-01T00:00:00Z"]
    first = seenctl(*arguments, "--seed", "7")
    assert first == seenctl(*arguments, "--seed", "7") != seenctl(*arguments, "--seed", "8")
    events = [json.loads(line) for line in first.splitlines()]
    assert len(events) == 2_000 and all({"user_id", "item_id", "exposed_at"} <= set(e) for e in events)
    by_user = [count for _, count in collections.Counter(e["user_id"] for e in events).most_common()]
    assert by_user[0] > 3 * by_user[len(by_user) // 2], "users are skewed"


def test_generate_refuses_times_before_1970():
    for span in (("--days", "1e9"), ("--until", "2026-11-01", "--rate", "1e-9")):
        said = run("generate", "--stdout", "--events", 5, *span, status=2)[1]
        assert "back to 1970" in said, said


def test_generate_keeps_its_rate_and_keys_by_user(kafka, started, topic_name):
    seend = started(partitions=4)
    start = time.monotonic()
    sent = json.loads(
        seenctl(
            "generate",
            brokers=kafka.bootstrap,
            topic=topic_name,
            rate=5000,
            seconds=3,
            users=500,
            batch=1,
            json=True,
            quiet=True,
        )
    )
    assert 2.9 < time.monotonic() - start < 8
    assert 12_000 < sent["events"] < 17_000
    ends = seend.wait_at_rest()
    assert sum(ends.values()) == sent["events"]
    assert seend.metric_sum("seen_events_misrouted_total") == 0


def test_the_real_exposures_come_in_whole(kafka, started, topic_name):
    seend = started(partitions=4)
    seenctl(
        "generate", brokers=kafka.bootstrap, topic=topic_name, from_=EXAMPLES, shift_to_now=True, quiet=True
    )
    seend.wait_at_rest()
    result = verify(seend, kafka)
    assert result["records"] == 60_000 and result["users"] == 337 and result["items"] == 13_055


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
    seenctl("replay", from_topic=source, since="1h", brokers=kafka.bootstrap, topic=topic_name, quiet=True)
    assert sum(seend.wait_at_rest().values()) == 100 + 2 * 2, "with the marks of the replay"
    oracle.check_http(seend)
    assert seend.unseen("u", ["old-1"]) == ["old-1"]


def test_one_user_is_shown_asked_and_described(kafka, watched, tmp_path):
    seend, load = watched
    user = max(load.oracle.users(), key=lambda u: len(load.oracle.items(u)))
    items = sorted(load.oracle.items(user))
    at = ["--http", seend.url]
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


def test_a_user_with_many_days_is_shown_in_pages(topics, started, topic_name):
    """A client that knows no pages never takes a part for the whole."""
    seend = started({"filters": [{"name": "default", "window_days": 3650, "snapshot": None}]})
    now, days = now_ms(), 2_100
    topics.produce(topic_name, [("u", event("u", f"n{d}", now - d * DAY_MS)) for d in range(days)])
    seend.wait_caught_up(120)
    refused = seend.http.get(user_path("u") + "/segments")
    assert refused.status == 400
    assert "there are 2100 segments; an answer has at most 2000" in refused.json()["detail"]
    assert "ask with ?limit=2000" in refused.json()["detail"]
    shown = json.loads(seenctl("show", "--http", seend.url, "u", "--json"))
    assert "next" not in shown and shown["items"] == days
    today = now // DAY_MS
    assert [s["first_at_ms"] // DAY_MS for s in shown["segments"]] == [today - d for d in range(days)]
    assert seenctl("show", "--http", seend.url, "u").count("exposed") == days


def test_what_is_out_of_reach_is_named():
    assert "127.0.0.1:9" in run("unseen", "u", "i", http="http://127.0.0.1:9", status=1)[1]


USERS, ITEMS_A_DAY, DAYS = 400, 40, 10


@pytest.mark.parametrize("arguments", [[], ["--format", "bloom", "--fpr", 0.001]])
def test_it_says_what_a_built_state_takes(arguments, topics, daemon, topic_name, tmp_path):
    topics.create(topic_name, partitions=2)
    now, source = now_ms(), tmp_path / "history.jsonl"
    with open(source, "w") as file:
        for day in range(1, DAYS + 1):
            for user in range(USERS):
                for item in range(ITEMS_A_DAY):
                    file.write(
                        event(f"user-{user:010}", f"item-{user}-{day}-{item}", now - day * DAY_MS) + "\n"
                    )
    snapshot = {"format": "split_block_bloom", "false_positive_rate": 0.01}
    snapshot |= {"format": arguments[1], "false_positive_rate": arguments[3]} if arguments else {}
    seend = daemon(topic_name)
    seend.config["filters"][0]["snapshot"] |= snapshot
    seend.write_config()
    replay("--config", seend.config_path, "--into-state", seend.store, "--quiet", source)
    stored = sum(path.stat().st_size for path in seend.store.rglob("*.sst"))
    said = json.loads(
        run("size", *arguments, users=USERS, items_a_day=ITEMS_A_DAY, days=DAYS, partitions=2, json=True)[0]
    )
    assert said["items_a_user"] == ITEMS_A_DAY * DAYS
    assert 0.8 < stored / said["state_bytes"] < 1.25, (stored, said)
    seend.start()
    seend.wait_at_rest()
    newest = {m.key(): m.value() for m in topics.read_all(f"{topic_name}-filters")}
    assert len(newest) == USERS
    published = sum(len(value) for value in newest.values())
    assert 0.9 < published / said["snapshot_topic_bytes"] < 1.1, (published, said)


@pytest.mark.parametrize(
    "arguments, said",
    [
        ([], "--users"),
        (["--users", 5], "--items-a-day"),
        (["--users", 0, "--items-a-day", 1], "--users"),
        (["--users", 5, "--items-a-day", 1, "--format", "sieve"], "--format"),
        (["--users", 5, "--items-a-day", 1, "--fpr", 2], "--fpr"),
    ],
)
def test_a_mistake_is_named(arguments, said):
    assert said in run("size", *arguments, status=2)[1]
