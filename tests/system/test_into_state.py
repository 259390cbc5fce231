"""seenctl replay --into-state builds history into a daemon's directory. Then the real daemon continues from
there."""

import gzip
import json
import signal
import time

import pytest

from load import Load
from oracle import Oracle, event
from places import now_ms
from seenctl_tool import begin
from test_replay import DAY_MS, replay


@pytest.fixture
def build(tmp_path):
    """build(seend, *arguments): builds into the daemon's directory, with its own configuration."""

    def make(seend, *arguments, status=0, **more):
        options = {"config": seend.write_config(), "into_state": seend.store, "json": True, "quiet": True}
        out, err = replay(*arguments, **options, **more, status=status)
        return json.loads(out) if status == 0 else err

    return make


def history(path, oracle, chance, events, days=20, users=300):
    now = now_ms()
    with open(path, "w") as file:
        for i in range(events):
            user, at = f"user-{int(users * chance.random() ** 2)}", now - chance.randrange(days * DAY_MS)
            item = f"old-{chance.randrange(5_000)}"
            oracle.add(user, item, at)
            file.write(event(user, item, at) + "\n")
    return path


def test_events_beyond_the_windows_are_counted_and_a_history_of_nothing_else_is_no_success(
    daemon, topic_name, build, tmp_path
):
    seend = daemon(topic_name)
    now = now_ms()
    seconds = [event(f"u{i}", "i", now // 1000) for i in range(50)]
    source = tmp_path / "history.jsonl"
    source.write_text("\n".join(seconds) + "\n")
    said = build(seend, source, partitions=1, status=None)
    assert (
        "nothing was written: 50 of 50 events are older than every window, so the state lacks them: 50 are before "
        "1971: is the unit of exposed_at right?"
    ) in said
    source.write_text("\n".join([*seconds, event("u", "i", now), event("u", "j", now - 90 * DAY_MS)]) + "\n")
    result = build(seend, source, partitions=1)
    assert (result["events"], result["beyond_windows"]) == (52, 51)


def test_the_daemon_goes_on_from_built_state_with_live_events(
    topics, daemon, topic_name, build, tmp_path, chance
):
    topics.create(topic_name, partitions=3)
    load = Load(chance, users=300)
    source = history(tmp_path / "history.jsonl", load.oracle, chance, 60_000)
    load.send(topics, topic_name, 5_000)  # live events before, during and after the build
    seend = daemon(topic_name)
    result = build(seend, source)
    assert result["events"] == result["items"] == 60_000 and result["partitions"] == 3
    assert result["live_offsets"] == {"0": 0, "1": 0, "2": 0}
    load.send(topics, topic_name, 5_000)
    seend.start()
    load.send(topics, topic_name, 5_000)
    seend.wait_at_rest()
    load.oracle.check_http(seend)
    load.oracle.check_published(topics, f"{topic_name}-filters", 3)
    since = {f["complete_since"] for s in seend.partition_status().values() for f in s["filters"]}
    assert all(abs(each - (now_ms() - 20 * DAY_MS)) < 3_600_000 for each in since), (
        "the history says since when"
    )


def counting(segments):
    """The segments that still count. A fold removes the others, at a time that the test doesn't know."""
    soon = now_ms() + 60_000
    return [s for s in segments if s["counts_until_ms"] is None or s["counts_until_ms"] > soon]


def test_the_state_is_what_the_daemon_makes_of_the_same_events(
    topics, daemon, topic_name, build, tmp_path, chance
):
    """Compares segment by segment: kinds, removals, erasures, served items and days beyond the window."""
    topics.create(topic_name, partitions=2, retention_ms=-1)
    filters = [
        {
            "name": "default",
            "window_days": 30,
            "served_ttl_s": 3600 * 24,
            "snapshot": {"topic": f"{topic_name}-filters", "debounce_ms": 200},
        },
        {"name": "often", "exposures_min": 3, "snapshot": None},
    ]
    now, lines = now_ms(), []
    for i in range(30_000):
        user, item = f"u{chance.randrange(60)}", f"n{chance.randrange(400)}"
        at = now - int(40 * DAY_MS * (1 - i / 30_000)) - 1
        kind = chance.choices(["exposed", "served", "removed", "erased"], [90, 5, 4, 0.1])[0]
        one = {"user_id": user, "exposed_at": at, "kind": kind}
        lines.append(json.dumps(one if kind == "erased" else {**one, "item_id": item}))
    source = tmp_path / "history.jsonl"
    source.write_text("\n".join(lines) + "\n")
    live = daemon(topic_name, {"filters": filters}, name="live").start()
    replay(source, "--config", live.config_path, "--quiet")
    live.wait_at_rest()
    built = daemon(
        topic_name, {"filters": filters, "kafka": {"group_id": f"{topic_name}-built"}}, name="built"
    )
    result = build(built, source, "--live-from", "end", "--memory-mib", "64", "--whole")
    assert result["rejected"] == result["skipped"] == 0
    built.start("--share-topics")
    built.wait_at_rest()
    compared = 0
    for user in {json.loads(line)["user_id"] for line in lines}:
        for name in ("default", "often"):
            a, b = (counting(seend.segments(user, name)["segments"]) for seend in (live, built))
            assert a == b, (user, name)
            compared += len(a)
    assert compared > 1_000
    assert all(f["complete_since"] is None for s in built.partition_status().values() for f in s["filters"])


def test_a_directory_that_is_in_use_or_full_of_state_is_refused(
    topics, daemon, topic_name, build, tmp_path, chance
):
    topics.create(topic_name)
    oracle = Oracle()
    source = history(tmp_path / "history.jsonl", oracle, chance, 1_000)
    seend = daemon(topic_name).start()
    assert "process" in build(seend, source, status=1)
    seend.stop()
    assert "--replace" in build(seend, source, status=1)
    build(seend, source, "--replace")
    seend.start()
    seend.wait_at_rest()
    oracle.check_http(seend)


def test_mistakes_are_named(topics, daemon, topic_name, build, tmp_path, chance):
    source = history(tmp_path / "history.jsonl", Oracle(), chance, 100)
    assert "--config" in replay(source, "--into-state", tmp_path / "x", status=2)[1]
    seend = daemon(topic_name)
    assert "--partitions" in build(seend, source, status=1), "the topic doesn't exist"
    build(seend, source, "--partitions", "4")
    assert "--progress" in build(seend, source, "--progress", tmp_path / "p", status=2)
    assert "--live-from" in build(seend, source, "--replace", "--live-from", "yesterday", status=2)
    topics.create(topic_name, partitions=2)
    assert "has 2" in build(seend, source, "--replace", "--partitions", "4", status=2)
    broken = tmp_path / "broken.jsonl"
    broken.write_text("nonsense\n" * 100)
    assert "not_json" in build(seend, broken, "--replace", status=3)


def test_a_damaged_file_gives_no_state_that_says_it_is_whole(
    topics, daemon, topic_name, build, tmp_path, chance
):
    topics.create(topic_name, partitions=2)
    oracle = Oracle()
    source = history(tmp_path / "history.jsonl", oracle, chance, 2_000)
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(source.read_bytes())[:-2_000])
    seend = daemon(topic_name)
    said = build(seend, source, cut, status=1)
    assert str(cut) in said and "nothing was written" in said, said
    build(seend, source)  # there is no state to replace
    assert "nothing was written" in build(seend, cut, "--replace", status=1)
    seend.start()
    seend.wait_at_rest()
    oracle.check_http(seend)  # the state before the refused build


def test_a_killed_build_leaves_nothing_and_the_same_command_builds_again(
    topics, daemon, topic_name, build, tmp_path, chance
):
    topics.create(topic_name)
    oracle = Oracle()
    source = history(tmp_path / "history.jsonl", oracle, chance, 200_000)
    seend = daemon(topic_name)
    seend.write_config()
    for _ in range(6):
        options = {"config": seend.config_path, "into_state": seend.store, "replace": True, "memory_mib": 64}
        running = begin("replay", source, **options)
        time.sleep(chance.random() * 0.6)
        running.send_signal(signal.SIGKILL)
        running.wait()
    build(seend, source, "--replace")
    assert not list((seend.store / "incoming").iterdir()), "nothing of the killed ones is left"
    seend.start()
    seend.wait_at_rest()
    oracle.check_http(seend)


def test_a_full_disk_ends_the_build_with_its_reason(small_disk, topics, daemon, topic_name, tmp_path, chance):
    topics.create(topic_name)
    oracle = Oracle()
    source = history(tmp_path / "history.jsonl", oracle, chance, 20_000)
    seend = daemon(topic_name, {"store": {"directory": str(small_disk.place / "store")}})
    seend.write_config()
    seend.store.mkdir(parents=True)
    small_disk.fill()
    options = {"environment": small_disk.environment, "into_state": seend.store, "config": seend.config_path}
    assert "o space left" in replay(source, **options, status=1)[1]
    small_disk.free()
    replay(source, **options)
    seend.start()
    seend.wait_at_rest()
    oracle.check_http(seend)
