"""seenctl status and lost show a daemon on one screen. The status and the metrics show the users with the
most items, and those who reached the daily limit."""

import json
import re
import signal
import subprocess
import time

from load import Load, one_by_one
from oracle import Oracle
from places import SEENCTL, wait_until


def test_a_broker_without_the_topic_is_reachable(daemon, topic_name):
    seend = daemon(topic_name).start(ready=False)
    reason = wait_until(
        lambda: (
            (s := seend.get("/v1/status")) and "waiting for" in (why := s.json()["not_ready_reason"]) and why
        ),
        "it waits for the topic",
    )
    shown = seend.seenctl("status", status=1)[0]
    assert "there is no topic" in reason and ", reachable\n" in shown, shown


def test_one_screen_says_whether_all_is_well_and_why_not(topics, started, topic_name, chance):
    seend = started(partitions=3)
    Load(chance, users=20).send(topics, topic_name, 300)
    seend.wait_at_rest()
    shown = seend.seenctl("status")[0]
    assert shown.startswith("READY ") and f"topic       {topic_name}: 3 of 3 partitions here\n" in shown, (
        shown
    )
    rows = re.findall(r"^ +(\d)  ready +0 +\d\.\d s ", shown, re.M)
    assert rows == ["0", "1", "2"] and "\x1b[" not in shown
    assert len(shown.splitlines()) < 24, "one screen"
    assert json.loads(seend.seenctl("status", json=True)[0])["ready"] is True
    nothing = seend.seenctl("status", "--lost")[0]
    assert "no lost messages" in nothing

    command = [str(SEENCTL), "status", "--http", seend.url, "--watch", "0.2"]
    watched = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert watched.stdout.readline().startswith("READY")
    seend.stop()
    deadline = time.monotonic() + 30
    while not (line := watched.stdout.readline()).startswith("NO ANSWER"):
        assert time.monotonic() < deadline, line
    seend.start()
    while not (line := watched.stdout.readline()).startswith("READY  "):
        assert time.monotonic() < deadline + 60, line
    watched.send_signal(signal.SIGINT)
    assert watched.wait(10) == 0
    watched.stdout.close()
    seend.stop()
    assert seend.address in seend.seenctl("status", status=1)[1]


def test_the_screen_shows_the_rate_of_events_and_what_is_lost(topics, started, topic_name, chance):
    seend = started(partitions=1)
    command = [str(SEENCTL), "status", "--http", seend.url]
    screen = lambda: subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60).stdout  # noqa: E731
    shown = screen()
    assert (
        f"events      {topic_name}: -/s, newest -\n"
        "lost        old -, skipped -, no filter -, rejected -, misrouted -\n"
    ) in shown, "nothing was read since the start"
    Load(chance, users=20).send(topics, topic_name, 300)
    seend.wait_at_rest()
    shown = screen()
    assert re.search(
        rf"^events      {topic_name}: [\d.,]+/s, newest [\d.]+ (s|min|h|d) ago\n"
        r"lost        old 0%, skipped 0%, no filter 0%, rejected 0%, misrouted 0%\n",
        shown,
        re.M,
    ), shown


def test_a_daemon_that_does_not_get_on_says_so(topics, daemon, topic_name):
    seend = daemon(topic_name).start(ready=False)  # there is no such topic
    wait_until(lambda: seend.http.get("/v1/status").status == 200, "it answers")
    shown = seend.seenctl("status", status=1)[0]
    assert shown.startswith("NOT READY") and "  ! " in shown, shown


def test_heaviest_users_are_in_the_status(topics, started, topic_name):
    filters = [
        {"name": "default", "items_per_day_max": 100, "snapshot": {"topic": f"{topic_name}-filters"}},
        {"name": "unpublished", "items_per_day_max": 100_000, "snapshot": None},
    ]
    seend = started({"filters": filters}, partitions=1)
    counts = {f"user-{n}": n for n in range(1, 31)} | {"a-bot-with-a-very-long-name": 500, "another-bot": 100}
    topics.produce(
        topic_name, one_by_one(Oracle(), [(user, f"i{i}") for user, n in counts.items() for i in range(n)])
    )
    seend.wait_at_rest()

    def heaviest(name):
        return [
            (user["user_id_start"], user["items"])
            for user in seend.partition_status()[0]["heaviest_users"]
            if user["filter"] == name
        ]

    expected = sorted([("a-bot-with-a-ver", 100), ("another-bot", 100)]) + [
        (f"user-{n}", n) for n in range(30, 22, -1)
    ]
    wait_until(lambda: sorted(heaviest("default")) == sorted(expected), f"{expected} are shown")
    assert [items for _, items in heaviest("default")] == [items for _, items in expected]
    assert seend.partition_status()[0]["users_at_daily_limit"] == 2
    assert seend.metrics()['seen_users_at_daily_limit{partition="0"}'] == 2

    # The daemon doesn't read the sets of an unpublished filter until somebody asks.
    assert heaviest("unpublished") == []
    seend.unseen("a-bot-with-a-very-long-name", ["x"], filter_name="unpublished")
    assert heaviest("unpublished") == [("a-bot-with-a-ver", 500)]

    assert seend.http.delete("/v1/users/a-bot-with-a-very-long-name").status == 202
    wait_until(
        lambda: "a-bot-with-a-ver" not in [user for user, _ in heaviest("default")], "an erased user goes"
    )
    assert seend.partition_status()[0]["users_at_daily_limit"] == 1
