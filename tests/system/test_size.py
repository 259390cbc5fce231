"""Compares the estimates of `seenctl size` with the real size of the store and the topic."""

import json

import pytest

from oracle import event
from places import now_ms
from seenctl_tool import run
from test_replay import DAY_MS, replay

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
    seend.config_path.write_text(json.dumps(seend.config))
    replay("--config", seend.config_path, "--into-state", seend.store, "--quiet", source)
    stored = sum(path.stat().st_size for path in seend.store.rglob("*.sst"))
    said = json.loads(
        run(
            "size",
            "--users",
            USERS,
            "--items-a-day",
            ITEMS_A_DAY,
            "--days",
            DAYS,
            "--partitions",
            2,
            "--json",
            *arguments,
        )[0]
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
