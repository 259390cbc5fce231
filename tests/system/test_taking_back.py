"""HTTP requests take items back and erase users. They become events in the topic, so every replica and
replay agrees."""

import concurrent.futures
import json
import time
import urllib.parse

import pytest
from faults import clock_ahead
from http_json import Http
from load import one_by_one
from oracle import Oracle, event
from places import now_ms, wait_until
from snapshot_reader import read_snapshot


def address(user):
    return "/v1/users/" + urllib.parse.quote(user, safe="")


def taken(seend, answer):
    """Checks the answer to a change, and waits until the change is in effect."""
    assert answer.status == 202, (answer.status, answer.body)
    place = answer.json()
    assert set(place) == {"partition", "offset"}
    wait_until(
        lambda: seend.partition_status()[place["partition"]]["next_offset"] > place["offset"],
        "the change is in effect",
    )
    return place


def last_published(topics, topic, user):
    """The value of the user's last record. None: a tombstone."""
    return [message.value() for message in topics.read_all(topic) if message.key() == user.encode()][-1]


def second_reading(daemon, topics, first, topic):
    """Another daemon, with its own store and group, that has read the whole topic."""
    second = daemon(
        topic,
        {
            "kafka": {"group_id": f"{topic}-again"},
            "input": {"dead_letter_topic": f"{topic}-again-dead"},
            "filters": [
                {**one, "snapshot": {"topic": f"{topic}-again-{one['name']}"}}
                for one in first.config["filters"]
            ],
        },
        name="again",
    ).start()
    second.wait_at_rest()
    return second


def test_items_taken_back_and_users_erased(topics, daemon, started, topic_name):
    seend = started(partitions=3)
    users = ["u1", "用户/2", 'quote"back\\slash', "u4"]
    items = ["a", "7", "商品/3", 'i"\\', "e"]
    topics.produce(topic_name, one_by_one(Oracle(), [(user, item) for user in users for item in items]))
    seend.wait_at_rest()

    for user in users[:3]:
        place = taken(
            seend, seend.http.post(address(user) + "/removed", {"items": [7, 'i"\\', "never shown"]})
        )
        message = next(
            m
            for m in topics.read_all(topic_name)
            if (m.partition(), m.offset()) == (place["partition"], place["offset"])
        )
        assert message.key().decode() == user  # so it is in the partition of the user's exposures
        assert seend.unseen(user, items) == ["7", 'i"\\']
    assert seend.unseen("u4", items) == []
    taken(seend, seend.http.delete(address("用户/2")))
    assert seend.unseen("用户/2", items) == items
    assert seend.segments("用户/2")["items"] == 0
    assert seend.metric_sum("seen_removed_items_total") == 9
    assert seend.metric_sum("seen_erased_users_total") == 1
    assert seend.metric_sum("seen_events_misrouted_total") == 0

    # Exposures after a removal or an erasure count again.
    topics.produce(topic_name, one_by_one(Oracle(), [("u1", "7"), ("用户/2", "new")]))
    seend.wait_at_rest()
    expected = {"u1": ['i"\\'], "用户/2": items, 'quote"back\\slash': ["7", 'i"\\'], "u4": []}

    def agrees(one):
        for user, unseen in expected.items():
            assert one.unseen(user, items) == unseen, user
        assert one.unseen("用户/2", ["new", "a"]) == ["a"]
        assert one.segments("用户/2")["items"] == 1

    agrees(seend)
    for user, unseen in expected.items():
        published = read_snapshot(last_published(topics, f"{topic_name}-filters", user))
        assert published.item_count == (1 if user == "用户/2" else len(items) - len(unseen)), user
    agrees(second_reading(daemon, topics, seend, topic_name))
    seend.kill9()
    seend.start()
    seend.wait_at_rest()
    agrees(seend)


@pytest.mark.parametrize("hours", [6, 25])
def test_a_clock_that_is_behind_leaves_nothing_of_what_was_shown(topics, daemon, topic_name, hours):
    topics.create(topic_name, partitions=1)
    seend = daemon(topic_name)
    seend.environment = clock_ahead(seend.directory, -hours)
    seend.start()
    shown = [(user, item) for user in ("u1", "u2") for item in ("a", "b")]
    topics.produce(topic_name, one_by_one(Oracle(), shown))
    seend.wait_at_rest()
    taken(seend, seend.http.post("/v1/users/u2/removed", {"items": ["a"]}))
    assert seend.unseen("u2", ["a", "b"]) == ["a"]
    erased = seend.http.delete("/v1/users/u1")
    taken(seend, erased)
    assert abs(int(erased.headers["Seen-Changed-Until"]) - now_ms()) < 3_600_000, "it says how far it reaches"
    assert "age_ms=" in erased.headers["Seen-As-Of"]
    assert seend.unseen("u1", ["a", "b"]) == ["a", "b"]
    assert seend.segments("u1")["segments"] == []
    assert seend.segments("u1")["user_id"] == "u1"
    wait_until(lambda: last_published(topics, f"{topic_name}-filters", "u1") is None, "a tombstone", 60)
    # Nothing that is shown later is hidden.
    topics.produce(topic_name, one_by_one(Oracle(), [("u1", "a"), ("u2", "a")]))
    seend.wait_at_rest()
    assert seend.unseen("u1", ["a", "b"]) == ["b"]
    assert seend.unseen("u2", ["a", "b"]) == []
    again = read_snapshot(last_published(topics, f"{topic_name}-filters", "u1"))
    assert again.item_count == 1


def test_an_erased_user_is_published_as_nothing(topics, started, topic_name):
    seend = started(partitions=1)
    topics.produce(topic_name, one_by_one(Oracle(), [("u1", "a"), ("u2", "a")]))
    seend.wait_at_rest()
    assert last_published(topics, f"{topic_name}-filters", "u1") is not None
    taken(seend, seend.http.delete("/v1/users/u1"))
    seend.wait_at_rest()
    assert last_published(topics, f"{topic_name}-filters", "u1") is None
    assert read_snapshot(last_published(topics, f"{topic_name}-filters", "u2")).item_count == 1


def two_filters(topic_name):
    return [
        {"name": name, "snapshot": {"topic": f"{topic_name}-{name}", "debounce_ms": 200}}
        for name in ("home", "video")
    ]


def test_an_erasure_reaches_the_topic_of_a_filter_that_is_not_configured_any_more(
    topics, started, topic_name
):
    seend = started({"filters": two_filters(topic_name)}, partitions=2)
    users = [f"u{i}" for i in range(6)]
    topics.produce(topic_name, one_by_one(Oracle(), [(user, "a") for user in users]))
    seend.wait_at_rest()
    seend.stop()
    seend.config["filters"] = two_filters(topic_name)[:1]
    seend.start()
    seend.wait_at_rest()
    for user in users[:3]:
        taken(seend, seend.http.delete(address(user)))
    seend.wait_at_rest()
    for user in users:
        for name in ("home", "video"):
            gone = last_published(topics, f"{topic_name}-{name}", user) is None
            assert gone == (user in users[:3]), (user, name)
    assert seend.metrics()['seen_retired_tombstones_total{result="sent"}'] == 3
    # The store has also dropped the erased users' state of the retired filter. If the filter comes back, it
    # lacks them.
    seend.stop()
    seend.config["filters"] = two_filters(topic_name)
    seend.start()
    seend.wait_at_rest()
    for user in users:
        for name in ("home", "video"):
            assert seend.unseen(user, ["a"], filter_name=name) == (["a"] if user in users[:3] else []), (
                user,
                name,
            )


def test_a_retired_topic_that_was_deleted_holds_nothing_up(topics, daemon, topic_name):
    topics.create(topic_name, partitions=1)
    # The client of Kafka believes for half a minute that a topic may be new and not known yet, by default.
    client = {"topic.metadata.propagation.max.ms": "1000"}
    config = {"filters": two_filters(topic_name), "kafka": {"client": client}}
    seend = daemon(topic_name, config).start()
    topics.produce(topic_name, one_by_one(Oracle(), [(user, "a") for user in ("u1", "u2", "u3")]))
    seend.wait_at_rest()
    seend.stop()
    topics.delete(f"{topic_name}-video")
    seend.config["filters"] = two_filters(topic_name)[:1]
    seend.start()
    seend.wait_at_rest()
    taken(seend, seend.http.delete("/v1/users/u1"))
    taken(seend, seend.http.delete("/v1/users/u2"))
    wait_until(
        lambda: seend.metrics()['seen_retired_tombstones_total{result="topic_missing"}'] == 2,
        "the missing topic is counted",
        90,
    )
    seend.wait_at_rest()
    assert last_published(topics, f"{topic_name}-home", "u1") is None
    assert seend.log().count("doesn't exist: erased users get no tombstone there") == 1
    assert topics.partitions(f"{topic_name}-video") == 0


def test_changes_concern_every_filter_and_pass_every_condition(topics, daemon, topic_name):
    """The topic's own events have another format, a condition, and filters by scene. Changes over HTTP have
    none of these."""
    topics.create(topic_name, partitions=2)
    fields = {"user_id": "/uid", "exposed_at": {"at": "/ts", "unit": "s"}}
    of_input = {"fields": fields, "kinds": {"show": "exposed"}, "only_if": {"at": "/kind", "equals": "show"}}
    home, video = two_filters(topic_name)
    filters = [{**home, "scenes": ["home"]}, {**video, "scenes": ["video*"]}]
    seend = daemon(topic_name, {"input": of_input, "filters": filters}).start()
    shown = [
        json.dumps({"uid": "u1", "kind": "show", "ts": now_ms() // 1000, "scene": scene, "item_id": item})
        for scene in ("home", "video_tab")
        for item in ("a", "b", "c")
    ]
    topics.produce(topic_name, [("u1", value) for value in shown])
    seend.wait_at_rest()
    for name in ("home", "video"):
        assert seend.unseen("u1", ["a", "b", "c", "d"], filter_name=name) == ["d"]
    taken(seend, seend.http.post("/v1/users/u1/removed", {"items": ["b"]}))
    for name in ("home", "video"):
        assert seend.unseen("u1", ["a", "b", "c", "d"], filter_name=name) == ["b", "d"]
    taken(seend, seend.http.delete("/v1/users/u1"))
    for name in ("home", "video"):
        assert seend.unseen("u1", ["a", "b"], filter_name=name) == ["a", "b"]
    second = second_reading(daemon, topics, seend, topic_name)
    for name in ("home", "video"):
        assert second.unseen("u1", ["a", "b"], filter_name=name) == ["a", "b"]


def test_seenctl_takes_back_and_erases(topics, started, topic_name):
    seend = started(partitions=2)
    topics.produce(topic_name, one_by_one(Oracle(), [("u/1", item) for item in ("a", "b", "c")]))
    seend.wait_at_rest()

    said = seend.seenctl("remove", "u/1", "a", "c", json=True)[0]
    assert set(json.loads(said)) == {"partition", "offset"}
    seend.wait_caught_up()
    assert seend.unseen("u/1", ["a", "b", "c"]) == ["a", "c"]
    assert "partition" in "".join(seend.seenctl("erase", "u/1"))
    seend.wait_caught_up()
    assert seend.unseen("u/1", ["a", "b", "c"]) == ["a", "b", "c"]
    assert "512" in seend.seenctl("erase", "x" * 513, status=2)[1]


def test_bad_requests_write_nothing(topics, started, topic_name):
    seend = started(partitions=1)
    for body in (
        {},
        {"items": []},
        {"items": [""]},
        {"items": ["x" * 513]},
        {"items": ["a"], "scene": "home"},
        {"items": list(range(1001))},
        ["a"],
        {"items": [1.5]},
    ):
        answer = seend.http.post("/v1/users/u1/removed", body)
        assert answer.status == 400 and answer.headers["Content-Type"] == "application/problem+json", body
    answer = seend.http.request(
        "POST", "/v1/users/u1/removed", b'{"items":["a"]}', {"Content-Type": "text/plain"}
    )
    assert answer.status == 415
    assert seend.http.delete("/v1/users/" + "x" * 513).status == 400
    assert seend.http.get("/v1/users/u1").status == 405
    assert topics.ends(topic_name)[0] == (0, 0)


def test_without_brokers_changes_are_refused_in_time_and_hold_nobody_up(kafka, topics, started, topic_name):
    seend = started(partitions=1)
    topics.produce(topic_name, [("u1", event("u1", "a", now_ms()))])
    seend.wait_at_rest()
    with kafka.away():
        begun = time.monotonic()

        def erase(_):
            return Http(seend.address, timeout_s=20).delete("/v1/users/u1")

        with concurrent.futures.ThreadPoolExecutor(8) as pool:  # more requests than the daemon has threads
            waiting = [pool.submit(erase, i) for i in range(8)]
            time.sleep(0.5)
            for _ in range(20):
                asked = time.monotonic()
                assert seend.unseen("u1", ["a", "b"]) == ["b"]
                assert time.monotonic() - asked < 0.5
            assert not any(one.done() for one in waiting)
            answers = [one.result() for one in waiting]
        assert time.monotonic() - begun < 10
        for answer in answers:
            assert answer.status == 503 and int(answer.headers["Retry-After"]) > 0, answer.body
            assert "acknowledge" in answer.json()["detail"]
    answer = wait_until(
        lambda: (a := seend.http.delete("/v1/users/u1")).status == 202 and a, "brokers are back", 60
    )
    taken(seend, answer)
    assert seend.unseen("u1", ["a", "b"]) == ["a", "b"]
