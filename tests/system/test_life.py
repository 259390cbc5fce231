"""A daemon starts, stops, and starts again where it stopped."""

import contextlib
import os
import pathlib
import signal
import time

import pytest

from load import Load
from places import wait_until
from seend import one_filter


def test_sigterm_checkpoints_and_the_next_start_goes_on_from_there(topics, started, topic_name, chance):
    load = Load(chance, users=200)
    seend = started({"store": {"checkpoint_interval_s": 600}}, partitions=3)
    load.send(topics, topic_name, 5_000)
    ends = seend.wait_caught_up()
    assert all(s["checkpoint_offset"] < ends[p] for p, s in seend.partition_status().items()), (
        "no checkpoint yet: the one at SIGTERM is what is tested"
    )
    seend.stop(timeout_s=10)
    assert topics.committed(seend.group, topic_name) == ends

    seend.start()
    resumed = {p: s["checkpoint_offset"] for p, s in seend.partition_status().items()}
    assert resumed == ends
    assert seend.metric_sum("seen_events_total") == 0, "nothing is read twice"
    load.oracle.check_http(seend)
    load.send(topics, topic_name, 500)
    seend.wait_caught_up()
    load.oracle.check_http(seend)


def test_sigterm_does_not_wait_for_the_debounce_and_leaves_marks(topics, started, topic_name, chance):
    load = Load(chance, users=100)
    seend = started(one_filter(topic_name, debounce_ms=60_000))
    for _ in range(2):  # the second time, the debounce waits for its trailing edge
        load.send(topics, topic_name, 400)
        seend.wait_caught_up()
    start = time.monotonic()
    seend.stop(timeout_s=10)
    print(f"SIGTERM to exit: {time.monotonic() - start:.2f} s")
    seend.config["filters"][0]["snapshot"]["debounce_ms"] = 200
    seend.start()
    seend.wait_at_rest()
    load.oracle.check_published(topics, f"{topic_name}-filters", 2)


def test_sigterm_during_load_exits_in_time(topics, started, topic_name, chance):
    load = Load(chance, users=2_000)
    seend = started(partitions=4)
    producing = load.send_aside(topics, topic_name, 100_000, rate=40_000)
    wait_until(lambda: seend.metric_sum("seen_events_total") > 10_000, "it is in the middle of the load")
    seend.stop(timeout_s=10)
    producing.join()
    seend.start()
    seend.wait_at_rest()
    load.oracle.check_http(seend, users=load.oracle.users()[:200])
    load.oracle.check_published(topics, f"{topic_name}-filters", 4)


def test_sigterm_before_it_is_ready_exits_in_time(topics, daemon, topic_name):
    seend = daemon(topic_name).start(ready=False)  # its topic doesn't exist
    seend.wait_not_ready()
    seend.stop(timeout_s=10)


def test_sighup_reloads_whatever_the_daemon_is_doing(topics, daemon, topic_name, chance):
    seend = daemon(topic_name, {"store": {"checkpoint_interval_s": 600}}).start(ready=False)  # no topic yet
    seend.wait_not_ready()

    def hang_up(times):
        seend.process.send_signal(signal.SIGHUP)
        wait_until(
            lambda: seend.log().count("configuration reloaded") == times, f"SIGHUP is logged {times} times"
        )
        assert seend.alive()

    hang_up(1)
    topics.create(topic_name)
    load = Load(chance, users=50)
    load.send(topics, topic_name, 1_000)
    seend.wait_ready(60)
    ends = seend.wait_caught_up()
    hang_up(2)
    load.oracle.check_http(seend)
    seend.sigterm()
    for _ in range(20):
        if seend.alive():
            seend.process.send_signal(signal.SIGHUP)
        time.sleep(0.02)
    assert seend.wait_exit(10) == 0
    assert topics.committed(seend.group, topic_name) == ends, "the last checkpoint was written"


def test_a_second_sigterm_exits_at_once(topics, started, topic_name, chance):
    load = Load(chance, users=2_000)
    seend = started({"store": {"checkpoint_interval_s": 600}})
    load.send(topics, topic_name, 50_000)
    seend.wait_caught_up()
    seend.process.send_signal(signal.SIGTERM)
    seend.process.send_signal(signal.SIGTERM)
    start = time.monotonic()
    seend.wait_exit(5)
    assert time.monotonic() - start < 2
    seend.start()
    seend.wait_caught_up()
    load.oracle.check_http(seend, users=load.oracle.users()[:100])


def test_a_late_duplicate_changes_nothing(topics, started, topic_name, chance):
    load = Load(chance, users=1)
    seend = started()
    records = list(load.events(300))
    topics.produce(topic_name, records)
    seend.wait_at_rest()
    first = seend.segments("user-0")
    topics.produce(topic_name, records[::-1] + records)
    seend.wait_at_rest()
    assert seend.segments("user-0")["segments"] == first["segments"]
    load.oracle.check_http(seend)


@pytest.mark.parametrize("workers, threads", [(1, 1), (2, 2), (16, 3)])
def test_events_are_taken_in_by_as_many_workers_as_configured_and_one_a_partition_at_most(
    workers, threads, topics, started, topic_name, chance
):
    load = Load(chance, users=50)
    seend = started({"input": {"workers": workers}}, partitions=3)
    load.send(topics, topic_name, 1_000)
    seend.wait_caught_up()
    load.oracle.check_http(seend)
    tasks = pathlib.Path(f"/proc/{seend.process.pid}/task")
    names = []
    for task in tasks.iterdir():
        with contextlib.suppress(OSError):  # it has ended
            names.append((task / "comm").read_text().strip())
    assert sorted(name for name in names if name.startswith("worker-") and name[7:].isdigit()) == [
        f"worker-{number}" for number in range(threads)
    ]


def clients_made(seend, seconds):
    """How many new clients of Kafka the daemon makes meanwhile. Each has a thread of this name."""
    tasks = pathlib.Path(f"/proc/{seend.process.pid}/task")
    before, made = set(os.listdir(tasks)), {}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for thread in set(os.listdir(tasks)) - before - set(made):
            with contextlib.suppress(OSError):  # it has ended
                made[thread] = (tasks / thread / "comm").read_text().strip()
        time.sleep(0.002)
    return list(made.values()).count("rdk:main")


def test_a_daemon_at_rest_keeps_to_the_clients_that_it_has(topics, started, topic_name, chance):
    """A new client costs connections and handshakes. Each owned partition's newest snapshots are looked at
    once. Then only the check of the input's log makes a client, every ten seconds."""
    load = Load(chance, users=50)
    seend = started({"watermarks": {"topic": f"{topic_name}-beats"}}, partitions=2)
    load.send(topics, topic_name, 500)
    seend.wait_at_rest()
    wait_until(lambda: clients_made(seend, 6) <= 1, "at most one new client in six seconds", 40)
