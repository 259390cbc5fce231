"""`segments` and `seenctl show` describe every kind of segment of a real daemon."""

import json

import pytest

from oracle import DAY_MS, event
from places import now_ms, wait_until
from test_seenctl import seenctl


@pytest.fixture
def kinds(topics, daemon, topic_name):
    topics.create(topic_name)
    snapshot = {"topic": f"{topic_name}-filters", "debounce_ms": 200}
    filters = [
        {
            "name": "default",
            "served_ttl_s": 18,
            "kinds": {"clicked": {"window_days": 7}},
            "snapshot": snapshot,
        },
        {"name": "twice", "exposures_min": 2, "cooldown_days": 3, "snapshot": None},
        {"name": "young", "window_days": 10, "window_by": "item_created_at", "snapshot": None},
    ]
    return daemon(topic_name, {"filters": filters}).start()


def test_every_kind_says_what_it_holds_and_until_when(kinds, topics):
    now = now_ms()
    today = now - now % DAY_MS
    events = [
        event("u", "a", now),
        event("u", "a", now - 5_000),
        event("u", "b", now - 2 * DAY_MS),
        event("u", "c", now, kind="served"),
        event("u", "d", now - DAY_MS, kind="clicked"),
        event("u", "e", now, item_created_at=now - 4 * DAY_MS),
    ]
    topics.produce(kinds.topic, [("u", one) for one in events])
    kinds.wait_caught_up()

    def of(filter_name, kind):
        return [s for s in kinds.segments("u", filter_name)["segments"] if s["kind"] == kind]

    def check():
        shown = of("default", "exposed")
        assert [s["from_ms"] for s in shown] == sorted((s["from_ms"] for s in shown), reverse=True)
        assert all(s["counts_until_ms"] == s["from_ms"] + 31 * DAY_MS and s["in_window"] for s in shown)
        assert sum(s["items"] for s in shown) == 3
        (served,) = of("default", "served")
        assert served["to_ms"] - served["from_ms"] == 3_000 and served["items"] == 1
        assert served["from_ms"] <= now // 1000 * 1000 == served["first_at_ms"] < served["to_ms"]
        assert served["counts_until_ms"] == served["to_ms"] + 18_000
        (clicked,) = of("default", "clicked")
        assert clicked["from_ms"] == today - DAY_MS and clicked["counts_until_ms"] == today + 7 * DAY_MS
        repeated = of("twice", "repeated")
        assert sum(s["exposures"] for s in repeated) == 4 and not of("twice", "exposed")
        assert kinds.segments("u", "twice")["items"] == 2, "a twice, c served"
        created = {s["from_ms"]: s for s in of("young", "by_creation")}
        assert created[today - 4 * DAY_MS]["items"] == 1
        assert created[today - 4 * DAY_MS]["counts_until_ms"] == today + 7 * DAY_MS

    check()
    kinds.stop()
    kinds.start()
    kinds.wait_caught_up()
    check()
    lines = seenctl("show", "--http", kinds.url, "u").splitlines()
    rows = {line.split()[1]: line for line in lines[2:]}
    assert set(rows) == {"exposed", "served", "clicked"}
    assert "past the window" not in rows["clicked"]
    assert json.loads(seenctl("show", "--http", kinds.url, "--json", "u"))["items"] == 5
    assert "exposures" in seenctl("show", "--http", kinds.url, "--filter", "twice", "u")
    wait_until(lambda: not any(s["in_window"] for s in of("default", "served")), "served items end", 90, 1)
    assert kinds.unseen("u", ["a", "b", "c", "d", "e"]) == ["c"]
