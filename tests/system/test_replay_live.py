"""A replay sends history through the input topic beside live traffic. The tests check the daemon's counts,
snapshots and answers during the replay."""

import contextlib
import os
import signal
import time

from load import one_by_one
from oracle import Oracle, event
from places import now_ms, wait_until
from seenctl_tool import begin, run
from test_replay import DAY_MS, replay


def history(path, oracle, users, events):
    now = now_ms()
    with open(path, "w") as file:
        for i in range(events):
            user, item, at = f"old-{i % users}", f"n{i}", now - DAY_MS - i
            oracle.add(user, item, at)
            file.write(event(user, item, at) + "\n")
    return path


def latencies(seend):
    return sum(
        seend.metric_sum(f"{name}_count")
        for name in ("seen_event_to_visible_seconds", "seen_exposed_to_visible_seconds")
    )


@contextlib.contextmanager
def interrupted(tool, seend):
    """Pauses the replay after the daemon has read some of its events, and resumes it at the end. So the
    replay is under way inside the `with` block, however slow the machine is."""
    wait_until(lambda: seend.metric_sum("seen_replayed_events_total") > 2_000, "the replay is under way")
    tool.send_signal(signal.SIGSTOP)
    try:
        assert tool.poll() is None
        yield
    finally:
        tool.send_signal(signal.SIGCONT)


def published(topics, topic):
    """{user: number of published snapshots}"""
    counts = {}
    for message in topics.read_all(topic):
        counts[message.key().decode()] = counts.get(message.key().decode(), 0) + 1
    return counts


def test_history_is_published_once_at_its_end_and_live_users_at_once(
    topics, started, topic_name, kafka, tmp_path
):
    seend = started()
    oracle, snapshots = Oracle(), f"{topic_name}-filters"
    source = history(tmp_path / "history.jsonl", oracle, users=50, events=20_000)
    before = latencies(seend)
    running = begin("replay", source, brokers=kafka.bootstrap, topic=topic_name, quiet=True, rate=4000)
    try:
        with interrupted(running, seend):
            assert all(len(s["replays"]) == 1 for s in seend.partition_status().values())
            topics.produce(topic_name, one_by_one(oracle, [(f"live-{i}", "fresh") for i in range(20)]))
            wait_until(
                lambda: len([u for u in published(topics, snapshots) if u.startswith("live-")]) == 20,
                "live users are published while it goes on",
            )
            assert not [u for u in published(topics, snapshots) if u.startswith("old-")]
    finally:
        running.wait(60)
    assert running.returncode == 0
    seend.wait_at_rest()
    oracle.check_http(seend)
    counts = published(topics, snapshots)
    assert {u for u in counts if u.startswith("old-")} == {f"old-{i}" for i in range(50)}
    assert all(counts[f"old-{i}"] == 1 for i in range(50)), "once each"
    assert all(not s["replays"] for s in seend.partition_status().values())
    assert seend.metric_sum("seen_replayed_events_total") == 20_000
    assert latencies(seend) - before == 2 * 20, "the live ones alone"
    assert seend.metrics()['seen_events_skipped_total{reason="replay_mark"}'] == 2 * 2
    assert not topics.read_all(f"{topic_name}-dead"), "marks are no dead letters"


def test_a_replay_that_stops_is_published_after_a_while(topics, started, topic_name, kafka, tmp_path):
    seend = started({"input": {"replay_idle_s": 3}})
    oracle = Oracle()
    source = history(tmp_path / "history.jsonl", oracle, users=20, events=20_000)
    progress = tmp_path / "progress"
    command = ["replay", source, "--brokers", kafka.bootstrap, "--topic", topic_name, "--quiet"]
    command += ["--progress", progress]
    running = begin(*command, rate=3000)
    wait_until(lambda: seend.metric_sum("seen_replayed_events_total") > 2_000, "the replay is under way")
    running.kill()
    running.wait()
    assert not published(topics, f"{topic_name}-filters")
    wait_until(lambda: len(published(topics, f"{topic_name}-filters")) == 20, "it counts as ended", 20)
    run(*command)
    seend.wait_at_rest()
    oracle.check_http(seend)
    oracle.check_published(topics, f"{topic_name}-filters", 2)


def test_a_daemon_that_restarts_within_a_replay_publishes_everything(
    topics, started, topic_name, kafka, tmp_path
):
    seend = started()
    oracle = Oracle()
    source = history(tmp_path / "history.jsonl", oracle, users=100, events=30_000)
    running = begin("replay", source, brokers=kafka.bootstrap, topic=topic_name, quiet=True, rate=8000)
    wait_until(lambda: seend.metric_sum("seen_replayed_events_total") > 4_000, "the replay is under way")
    seend.kill9()
    seend.start()
    assert running.wait(60) == 0
    seend.wait_at_rest()
    oracle.check_http(seend)
    oracle.check_published(topics, f"{topic_name}-filters", 2)


def test_published_live_if_asked(topics, started, topic_name, kafka, tmp_path):
    seend = started()
    source = history(tmp_path / "history.jsonl", Oracle(), users=20, events=40_000)
    running = begin(
        "replay", source, brokers=kafka.bootstrap, topic=topic_name, quiet=True, rate=4000, publish="live"
    )
    with interrupted(running, seend):
        wait_until(
            lambda: len(published(topics, f"{topic_name}-filters")) == 20,
            "users are published while it goes on",
        )
        assert all(len(s["replays"]) == 1 for s in seend.partition_status().values())
    assert running.wait(60) == 0


def test_the_daemons_lag_sets_the_pace(topics, daemon, topic_name, kafka, tmp_path):
    topics.create(topic_name)
    beats = topics.create(f"{topic_name}-beats", partitions=1, cleanup_policy="compact")
    seend = daemon(topic_name, {"watermarks": {"topic": beats}}).start()
    source = history(tmp_path / "history.jsonl", Oracle(), users=500, events=250_000)
    running = begin("replay", source, config=seend.config_path, quiet=True, max_lag="500ms")
    wait_until(lambda: seend.metric_sum("seen_replayed_events_total") > 30_000, "it is under way")
    with seend.standing_still():

        def slow():
            before = topics.total(topic_name)
            time.sleep(3)
            return topics.total(topic_name) - before < 3 * 10_000

        wait_until(slow, "nobody reads: it slows down from 20,000 a second and more", 20)
        assert running.poll() is None, "it waits, and has not sent all"
    assert running.wait(120) == 0
    seend.wait_at_rest()
    assert seend.metric_sum("seen_replayed_events_total") == 250_000
    seend.config["watermarks"] = {"topic": None}
    seend.write_config()
    assert "--rate" in replay(source, "--config", seend.config_path, "--max-lag", "2s", status=2)[1]
    assert "such as 2s" in replay(source, "--config", seend.config_path, "--max-lag", "2", status=2)[1]


def test_live_events_go_first_unless_told_otherwise(started, topic_name, kafka, tmp_path):
    seend = started()
    source = history(tmp_path / "history.jsonl", Oracle(), users=500, events=30_000)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    for number, (pace, priority) in enumerate(
        [([], max(own, 10)), (["--pace", "live"], max(own, 10)), (["--pace", "none"], own)], 1
    ):
        running = begin(
            "replay", source, *pace, brokers=kafka.bootstrap, topic=topic_name, quiet=True, rate=20000
        )
        wait_until(
            lambda: seend.metric_sum("seen_replayed_events_total") > 30_000 * (number - 1), "it is under way"
        )
        of_threads = {
            os.getpriority(os.PRIO_PROCESS, int(thread)) for thread in os.listdir(f"/proc/{running.pid}/task")
        }
        assert of_threads == {priority}, "the client's threads too"
        assert running.wait(60) == 0
        wait_until(
            lambda: seend.metric_sum("seen_replayed_events_total") == 30_000 * number, "all of it has come"
        )
    assert (
        "PACE"
        in replay(source, "--brokers", kafka.bootstrap, "--topic", topic_name, "--pace", "PACE", status=2)[1]
    )
