"""Events in the formats that companies use, configured as docs/EVENTS.md says, through the real daemon."""

import json
import time

from places import now_ms, wait_until
from seenctl_tool import run
from topics import headers_of


def send(topics, topic, *events, user="u1"):
    return topics.produce(topic, [(user, json.dumps(one)) for one in events])


def skipped(seend, reason):
    return seend.metrics()[f'seen_events_skipped_total{{reason="{reason}"}}']


def test_nested_fields_with_seconds_as_the_page_shows_them(topics, daemon, topic_name):
    topics.create(topic_name)
    fields = {
        "user_id": "/data/uid",
        "items": "/data/pages/*/items",
        "item_id": "/item/id",
        "position": "/pos",
    }
    fields |= {"exposed_at": {"at": "/ts", "unit": "s"}, "kind": "/event"}
    kinds = {"item_show": "exposed", "item_send": "served", "item_undo": "removed", "ping": None}
    only_if = {"at": "/event", "in": ["item_show", "item_send", "item_undo"]}
    seend = daemon(topic_name, {"input": {"fields": fields, "kinds": kinds, "only_if": only_if}}).start()
    now_s = now_ms() // 1000

    def page(kind, *pages, at=now_s):
        listed = [
            {"items": [{"item": {"id": item}, "pos": i} for i, item in enumerate(items)]} for items in pages
        ]
        return {"event": kind, "ts": at, "data": {"uid": 42, "pages": listed}}

    send(
        topics,
        topic_name,
        page("item_show", ["n1", "n2"], ["n3"]),
        page("item_show", ["n4"], [], at=f"{now_s}"),  # digits in a string
        {**page("item_show", ["n5"]), "more": {"nested": [1.5, None]}},
        page("item_undo", ["n2"]),
        page("item_click", ["n6"]),  # the condition doesn't take it
        user="42",
    )
    seend.wait_at_rest()
    assert seend.unseen("42", [f"n{i}" for i in range(1, 8)]) == ["n2", "n6", "n7"]
    days = {segment["day"] for segment in seend.segments("42")["segments"]}
    assert len(days) == 1, "the seconds were taken as seconds"
    assert skipped(seend, "condition") == 1
    assert seend.metric_sum("seen_removed_items_total") == 1
    assert not topics.partitions(f"{topic_name}-dead") or not topics.read_all(f"{topic_name}-dead")
    send(topics, topic_name, page("item_show", [], ["n8", {}]), user="42")
    ((_, headers),) = topics.letters(f"{topic_name}-dead").values()
    assert headers["field"] == "item_id"
    assert headers["message"].startswith("item_id (/data/pages/1/items/1/item/id): an object")


def test_kinds_by_the_topics_own_names_and_null(topics, started, topic_name):
    seend = started(
        {
            "input": {
                "fields": {"kind": "/type"},
                "kinds": {"1": "exposed", "undo": "removed", "gone": "erased", "ping": None},
            }
        }
    )
    now = now_ms()

    def of(kind, item=None):
        one = {"user_id": "u1", "type": kind, "exposed_at": now}
        return one if item is None else {**one, "item_id": item}

    send(topics, topic_name, of(1, "a"), of("1", "b"), of("ping", "c"), of(None, "d"), of("undo", "a"))
    seend.wait_at_rest()
    assert seend.unseen("u1", ["a", "b", "c", "d"]) == ["a", "c"]
    assert skipped(seend, "kind") == 1
    send(topics, topic_name, of("gone"))
    seend.wait_at_rest()
    assert seend.unseen("u1", ["a", "b", "d"]) == ["a", "b", "d"]
    assert seend.metric_sum("seen_erased_users_total") == 1


def test_an_unknown_kind_is_a_dead_letter(topics, started, topic_name):
    seend = started(partitions=1)
    one = {"user_id": "u1", "item_id": "a", "exposed_at": now_ms()}
    places = send(
        topics,
        topic_name,
        {**one, "kind": "exposed"},
        {**one, "item_id": "b", "kind": "shown"},
        {**one, "kind": "erased"},
    )  # an erasure has no item: the producer may have meant `removed`
    seend.wait_at_rest()
    assert seend.unseen("u1", ["a", "b"]) == ["b"]
    letters = topics.letters(f"{topic_name}-dead", 2)
    assert {place: (headers["reason"], headers["field"]) for place, (_, headers) in letters.items()} == {
        places[1]: ("unknown_kind", "kind"),
        places[2]: ("wrong_type", "item_id"),
    }


def test_only_some_events_whatever_the_others_look_like(topics, started, topic_name):
    seend = started(
        {"input": {"only_if": [{"at": "/event", "prefix": "item_"}, {"at": "/app/version", "in": [7, 8]}]}},
        partitions=1,
    )
    one = {"user_id": "u1", "exposed_at": now_ms(), "event": "item_show", "app": {"version": 7}}
    send(
        topics,
        topic_name,
        {**one, "item_id": "a"},
        {**one, "item_id": "b", "event": "page_show"},
        {**one, "item_id": "c", "app": {"version": "7"}},  # a string isn't a number
        {**one, "item_id": "d", "app": {}},
        {"event": "heartbeat"},
        {},
    )
    topics.produce(topic_name, [("u1", b"no JSON")])
    seend.wait_at_rest()
    assert seend.unseen("u1", ["a", "b", "c", "d"]) == ["b", "c", "d"]
    assert skipped(seend, "condition") == 5
    letters = wait_until(lambda: topics.read_all(f"{topic_name}-dead"), "the dead letter is there")
    assert [letter.value() for letter in letters] == [b"no JSON"]


def test_filters_cover_scenes_and_attributes(topics, daemon, topic_name):
    topics.create(topic_name)
    filters = [
        {"name": "home", "scenes": ["home", "index"]},
        {"name": "video", "scenes": ["video*"], "when": [{"at": "/item/type", "equals": "video"}]},
        {"name": "all", "window_days": 3},
    ]
    for one in filters:
        one["snapshot"] = {"topic": f"{topic_name}-{one['name']}", "debounce_ms": 200}
    seend = daemon(topic_name, {"filters": filters}).start()
    one = {"user_id": "u1", "exposed_at": now_ms()}
    old = now_ms() - 10 * 86_400_000
    send(
        topics,
        topic_name,
        {**one, "item_id": "a", "scene": "home"},
        {**one, "item_id": "b", "scene": "video_tab", "item": {"type": "video"}},
        {**one, "item_id": "c", "scene": "video_tab", "item": {"type": "image"}},
        {**one, "item_id": "d"},  # no scene
        {**one, "item_id": "e", "scene": "index", "exposed_at": old},
        {**one, "item_id": "b", "scene": "home"},
        {**one, "item_id": "b", "scene": "home", "kind": "removed"},
    )
    seend.wait_at_rest()
    items = ["a", "b", "c", "d", "e"]
    assert seend.unseen("u1", items, filter_name="home") == ["b", "c", "d"]
    assert seend.unseen("u1", items, filter_name="video") == ["a", "c", "d", "e"]
    assert seend.unseen("u1", items, filter_name="all") == [
        "b",
        "e",
    ]  # "all" covers the removal, too, although its scene is home
    counts = {one["name"]: len(topics.read_all(f"{topic_name}-{one['name']}")) for one in filters}
    assert all(counts.values()), "each publishes to a topic of its own"

    # An event that no filter covers.
    seend.stop()
    seend.config["filters"] = filters[:2]
    seend.start()
    send(topics, topic_name, {**one, "item_id": "f", "scene": "search"})
    seend.wait_at_rest()
    assert skipped(seend, "no_filter") == 1
    assert seend.unseen("u1", items + ["f"], filter_name="home") == ["b", "c", "d", "f"]


def letters_of(topics, topic, count):
    return wait_until(lambda: len(m := topics.read_all(topic)) >= count and m, f"{count} dead letters")


def test_users_elements_and_times_as_companies_write_them(topics, daemon, topic_name):
    """The first user that is there, ids that are no users, ads among the items, items' own times, ISO 8601
    and JSON in a string."""
    topics.create(topic_name, partitions=1)
    fields = {
        "user_id": ["/message/userId", "/message/anonymousId"],
        "items": "/message/cards",
        "item_id": "/id",
        "items_exposed_at": {"at": "/shown", "unit": "s"},
        "exposed_at": {"at": "/message/at", "unit": "rfc3339"},
    }
    seend = daemon(
        topic_name,
        {
            "input": {
                "fields": fields,
                "ids_ignored": ["undefined", "0"],
                "items_skip_invalid": True,
                "items_only_if": {"not": {"at": "/visible", "equals": False}},
                "lenient": True,
            }
        },
    ).start()
    now_s = now_ms() // 1000
    at = time.strftime("%Y-%m-%d %H:%M+00", time.gmtime(now_s))

    def logged(cards, at=at, **user):
        return {"message": json.dumps({"cards": cards, "at": at, **user})}

    ten_days = now_s - 10 * 86_400
    cards = [{"id": "a"}, None, "", {"ad": 1}, {"id": "b", "visible": False}, {"id": "c", "shown": ten_days}]
    send(
        topics,
        topic_name,
        logged(cards, userId=None, anonymousId="u1"),
        logged([json.dumps({"id": "d"})], userId="undefined", anonymousId="u1"),
        logged(["e"], userId=0),
        logged([None], userId="u1"),
        logged(["f"], at=at.replace(" ", "T").replace("+00", ":00,5Z"), userId="u1"),
    )
    whole = json.dumps(logged(["g"], userId="u1"))
    topics.produce(
        topic_name, [("u1", whole[:-1] + r', "title": "C:\dir\ud83c"}'), ("u1", json.dumps(whole))]
    )
    topics.produce(topic_name, [("u1", whole[:-1] + ', "score": 1e400}')])
    seend.wait_at_rest()
    assert seend.unseen("u1", list("abcdefg")) == ["b", "e"]
    assert {segment["day"] for segment in seend.segments("u1")["segments"]} == {
        time.strftime("%Y-%m-%d", time.gmtime(second)) for second in (now_s // 60 * 60, ten_days)
    }
    assert (skipped(seend, "ignored_id"), skipped(seend, "no_id")) == (1, 1)
    assert seend.metric_sum("seen_items_without_id_total") == 4
    assert seend.metric_sum("seen_items_skipped_total") == 1
    assert seend.metric_sum("seen_events_rejected_total") == 0
    assert seend.seenctl("verify", config=seend.config_path, quiet=True)[0].endswith("all is well\n")


def test_several_events_in_a_record(topics, started, topic_name):
    seend = started(partitions=1)

    def one(item):
        return json.dumps({"user_id": "u1", "item_id": item, "exposed_at": now_ms()})

    bad = '{"user_id":"u1","exposed_at":1}'
    values = [
        f"[{one('a')},{bad},{one('b')},7]",
        f"{one('c')}\nno JSON\n{one('d')}\n",
        f"{one('e')}{one('f')} {one('g')[:20]}",
        json.dumps(one("h")),
        "[1,2]",
    ]
    topics.produce(topic_name, [("u1", value) for value in values])
    seend.wait_at_rest()
    assert seend.unseen("u1", list("abcdefghi")) == ["g", "i"]
    letters = letters_of(topics, f"{topic_name}-dead", 5)
    assert sorted(
        (int(headers["source-offset"]), headers.get("source-element"), letter.value().decode()[:20])
        for letter, headers in ((letter, headers_of(letter)) for letter in letters)
    ) == [
        (0, "1", bad[:20]),
        (0, "3", "7"),
        (1, "1", "no JSON"),
        (2, "2", one("g")[:20]),
        (4, None, "[1,2]"),
    ]
    assert all(letter.key() == b"u1" for letter in letters)
    assert seend.metric_sum("seen_events_total") == 7
    assert seend.metric_sum("seen_records_total") == 5
    topics.produce(topic_name, [("u1", value) for value in values])
    seend.kill9()  # the log is read again from the last checkpoint
    seend.start().wait_at_rest()
    assert seend.unseen("u1", list("abcdefghi")) == ["g", "i"]


def test_where_one_event_is_expected_several_are_named(topics, started, topic_name, tmp_path):
    seend = started(partitions=1)
    event = {"user_id": "u1", "item_id": "n1", "exposed_at": now_ms()}
    topics.produce(topic_name, [("u1", json.dumps(json.dumps([event, event])))])
    letters_of(topics, f"{topic_name}-dead", 1)
    words = ["dead-letters", "--resend", "--progress", tmp_path / "progress", "--quiet"]
    said = run(*words, config=seend.config_path, status=1)[0]
    assert "not an event: a string that holds several events; expected one in a string" in said


def test_several_users_in_a_record_are_keyed_anew(topics, daemon, topic_name):
    topics.create(topic_name, partitions=2)
    seend = daemon(topic_name, {"input": {"keyed_by_user": False}}).start()
    now = now_ms()
    events = [{"user_id": f"u{i}", "item_id": f"n{i}", "exposed_at": now} for i in range(20)]
    topics.produce(
        topic_name, [(None, json.dumps([*events, {}])), (None, "\n".join(map(json.dumps, events)))]
    )
    letters_of(topics, f"{topic_name}-dead", 1)
    wait_until(
        lambda: all(seend.unseen(f"u{i}", [f"n{i}", "x"]) == ["x"] for i in range(20)),
        "all users have theirs",
    )


def test_records_whose_time_is_missing_or_false(topics, started, topic_name):
    """Timestamps of -1 and of the year 2100: the event's own time decides whether it is too old. Without a
    timestamp it may not be ahead of the clock."""
    seend = started(partitions=1)
    now, year_2100 = now_ms(), 4_102_444_800_000

    def at(item, ms):
        return json.dumps({"user_id": "u1", "item_id": item, "exposed_at": ms})

    records = [(f"{name}{i}", age) for i in range(2) for name, age in (("now", 0), ("old", 5), ("ahead", -1))]
    topics.produce(
        topic_name,
        [
            ("u1", at(item, now - days * 86_400_000), {"timestamp": timestamp})
            for (item, days), timestamp in zip(records, [-1] * 3 + [year_2100] * 3)
        ],
    )
    seend.wait_at_rest()
    assert seend.unseen("u1", [item for item, _ in records]) == ["ahead0"]
    assert seend.metrics()['seen_events_rejected_total{reason="too_far_ahead"}'] == 1
    assert seend.metric_sum("seen_events_too_old_total") == 0


def test_a_condition_with_a_star_is_refused(daemon, topic_name):
    star = {"at": "/impressions/*/visible", "equals": True}
    for changes in ({"input": {"only_if": star}}, {"filters": [{"when": star}]}):
        assert "input.items_only_if" in daemon(topic_name, changes).check_config()
