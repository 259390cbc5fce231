"""A filter is added, or its window becomes longer. A fill reads its history from the log while the daemon
runs."""

import json
import random
import threading

import pytest
from oracle import DAY_MS, event
from places import now_ms, wait_until
from seenctl_tool import by_partition, digest, run_json, sums
from seend import in_group, wait_routed

PARTITIONS = 3
USERS = [f"u{i}" for i in range(120)]


def filters(topic, *names, days=30):
    """The configuration of these filters. "default" covers all events. "video" covers some scenes, and
    purchases for longer."""
    known = {
        "default": {"name": "default", "window_days": 30, "snapshot": {"topic": f"{topic}-filters"}},
        "video": {
            "name": "video",
            "scenes": ["video*"],
            "window_days": days,
            "kinds": {"purchased": {"window_days": 60}},
            "served_ttl_s": 3_600,
            "exposures_min": 2,
            "snapshot": {"topic": f"{topic}-video", "debounce_ms": 100},
        },
    }
    return {"filters": [known[name] for name in names]}


def history(seed, count, first_day=25, last_day=1):
    """Events of past days in the order of their times. The timestamp of a record is the time of its event.
    Items are shown several times, taken back, bought and served, and users are erased."""
    chance = random.Random(seed)
    now, records, shown = now_ms(), [], {}
    times = sorted(
        now - last_day * DAY_MS - chance.randrange((first_day - last_day) * DAY_MS) for _ in range(count)
    )
    for at in times:
        user, draw = chance.choice(USERS), chance.random()
        item, more = f"i{chance.randrange(200)}", {"scene": chance.choice(["video_1", "home"])}
        if draw < 0.04 and user in shown:
            item, more = shown[user], {"kind": "removed"}
        elif draw < 0.045:
            records.append(
                (user, json.dumps({"user_id": user, "kind": "erased", "exposed_at": at}), {"timestamp": at})
            )
            continue
        elif draw < 0.1:
            more["kind"] = "purchased"
        elif draw < 0.15:
            more["kind"] = "served"
        shown[user] = item
        records.append((user, event(user, item, at, **more), {"timestamp": at}))
    return records


def fill(seend, name, *more, status=0):
    return seend.seenctl("fill", *more, filter=name, quiet=True, timeout=90, status=status)


def whole(seend, name):
    filters = [f for p in seend.partition_status().values() for f in p["filters"] if f["filter"] == name]
    return all(f["complete_since"] is None for f in filters)


def equal(one, other):
    """Whether two daemons that have read the same topic have equal digests."""
    first = digest(one)
    second = digest(other, "--as-of", first["as_of_ms"])
    return by_partition(first) == by_partition(second) and sums(first) == sums(second)


@pytest.fixture
def added(topics, daemon, topic_name):
    """added(records) -> (daemon, control). The daemon gets the filter "video" only after it has read the
    records. The control daemon had it from the start."""

    def make(records, **config):
        topic = topics.create(topic_name, partitions=PARTITIONS, retention_ms=-1)
        kafka = {"kafka": {"group_id": f"{topic}-other"}}
        outputs = {
            "filters": [
                {**f, "snapshot": {"topic": f"{topic}-other-{f['name']}"}}
                for f in filters(topic, "default", "video")["filters"]
            ]
        }
        control = daemon(topic, {**kafka, **outputs}, name="control").start()
        topics.produce(topic, records)
        seend = daemon(topic, {**filters(topic, "default"), **config}).start()
        for each in (control, seend):
            each.wait_at_rest()
        seend.stop()
        seend.config["filters"] = filters(topic, "default", "video")["filters"]
        seend.start()
        return seend, control

    return make


def test_a_filter_that_is_added_has_its_history_after_a_fill(topics, added):
    seend, control = added(history(1, 4_000))
    assert not equal(seend, control), "before, it lacks what the new filter covers"
    assert not whole(seend, "video") and whole(seend, "default")
    before = topics.ends(seend.topic)
    stop, live = threading.Event(), []

    def load():  # runs beside the fill
        chance = random.Random(2)
        while not stop.is_set():
            records = [
                (u, event(u, f"i{chance.randrange(200)}", now_ms(), scene="video_2"))
                for u in chance.sample(USERS, 5)
            ]
            live.extend(topics.produce(seend.topic, records))

    loading = threading.Thread(target=load)
    loading.start()
    try:
        said = fill(seend, "video")[0]
    finally:
        stop.set()
        loading.join()
    assert f"{PARTITIONS} of {PARTITIONS} partitions of filter video are filled" in said
    after = topics.ends(seend.topic)
    assert sum(end for _, end in after.values()) == sum(end for _, end in before.values()) + len(live), (
        "nothing goes into the input topic"
    )
    for each in (seend, control):
        each.wait_at_rest()
    assert whole(seend, "video") and whole(seend, "default")
    assert equal(seend, control)
    for user in USERS:
        items = [f"i{i}" for i in range(200)]
        assert seend.unseen(user, items, filter_name="video") == control.unseen(
            user, items, filter_name="video"
        )

    # Users who have no live events are published, too.
    def published(topic):
        return {m.key() for m in topics.read_all(topic)}

    wait_until(
        lambda: published(f"{seend.topic}-video") >= published(f"{control.topic}-other-video"),
        "every user of the filter is published",
        30,
    )
    metrics = seend.metrics()
    assert metrics["seen_fill_partitions_left"] == 0
    assert metrics["seen_fill_users_total"] > 0 and metrics["seen_fill_records_total"] >= 4_000

    # A second fill changes nothing, and neither does a restart.
    fill(seend, "video")
    assert equal(seend, control)
    seend.stop()
    seend.start()
    seend.wait_at_rest()
    assert equal(seend, control) and whole(seend, "video")


def test_a_longer_window_has_what_the_shorter_one_let_go(topics, daemon, topic_name):
    topic = topics.create(topic_name, partitions=PARTITIONS, retention_ms=-1)
    control = daemon(
        topic,
        {
            "kafka": {"group_id": f"{topic}-other"},
            "filters": [{"name": "default", "window_days": 30, "snapshot": None}],
        },
        name="control",
    ).start()
    seend = daemon(topic, {"filters": [{"name": "default", "window_days": 3, "snapshot": None}]}).start()
    # The records have the current time. So the daemon drops events that the short window doesn't cover.
    topics.produce(topic, [r[:2] for r in history(3, 1_500) if '"kind"' not in r[1] or '"removed"' in r[1]])
    for each in (control, seend):
        each.wait_at_rest()
    seend.stop()
    seend.config["filters"][0]["window_days"] = 30
    seend.start()
    items = [f"i{i}" for i in range(200)]
    assert any(seend.unseen(u, items) != control.unseen(u, items) for u in USERS)
    assert not whole(seend, "default")
    fill(seend, "default")
    assert whole(seend, "default")
    assert equal(seend, control)
    assert all(seend.unseen(u, items) == control.unseen(u, items) for u in USERS)


def test_a_fill_goes_on_after_kill_9_without_being_asked_again(topics, added):
    seend, control = added(history(4, 60_000))
    for _ in range(3):
        fill(seend, "video", "--no-wait", "--id", "survives")
        wait_until(lambda: seend.metric_sum("seen_fill_records_total") > 0, "it reads")
        seend.kill9()
        seend.start()
    wait_until(lambda: whole(seend, "video"), "it is filled", 60)
    assert "a fill goes on" in seend.log()
    seend.wait_at_rest()
    assert equal(seend, control)
    said = run_json("fill", "--status", http=seend.url, filter="video")
    assert said["done"] and said["daemons"][0]["fill"]["id"] == "survives"


def test_a_fill_is_stopped_and_mistakes_are_named(topics, added):
    seend, _ = added(history(5, 60_000))
    assert "filter: viedo isn't configured" in fill(seend, "viedo", status=1)[1]
    assert "no daemon has a fill of video" in fill(seend, "video", "--status", status=1)[1]
    assert "no daemon has a fill of video" in fill(seend, "video", "--stop", status=1)[1]
    fill(seend, "video", "--no-wait")
    assert "stopped in 1 daemons" in fill(seend, "video", "--stop")[0]
    assert seend.metrics()["seen_fill_partitions_left"] == 0
    assert not whole(seend, "video")
    seend.stop()
    seend.start()
    assert seend.http.get("/v1/fills").json() == {"fills": []}, "it stays stopped"
    answer = seend.http.post("/v1/filters/video/fill", {"idd": "x"})
    assert answer.status == 400 and 'unknown key \\"idd\\"' in answer.text
    assert seend.http.get("/v1/filters/video/fill").status == 405


def test_a_broken_list_of_fills_is_dropped_with_a_word_and_harms_nothing_else(topics, added):
    seend, control = added(history(9, 500))
    seend.stop()
    (seend.store / "fills.json").write_text('{"fills": [{"filter":')
    seend.start()
    assert "the list of fills can't be read, and is dropped" in seend.log()
    assert seend.http.get("/v1/fills").json() == {"fills": []}
    fill(seend, "video")
    assert whole(seend, "video") and equal(seend, control)


def test_what_retention_has_deleted_stays_incomplete_and_says_since_when(kafka, topics, added):
    records = history(6, 2_000)
    seend, _ = added(records)
    places = topics.ends(seend.topic)
    cut = {p: end - 50 for p, (_, end) in places.items()}
    kafka.delete_records(seend.topic, cut)
    fill(seend, "video")
    for partition in seend.partition_status().values():
        (video,) = [f for f in partition["filters"] if f["filter"] == "video"]
        assert video["complete_since"] is not None
    filled = seend.http.get("/v1/fills").json()["fills"][0]["partitions"]
    assert {p["partition"]: p["from_offset"] for p in filled} == cut
    assert all(now_ms() - 25 * DAY_MS < p["complete_since_ms"] < now_ms() for p in filled)


@pytest.fixture
def group(topics, daemon, topic_name):
    """group(records) -> (a daemon that had "video" from the start, two members of a group that have just got
    it)."""

    def make(records):
        return make_group(topics, daemon, topic_name, records)

    return make


def make_group(topics, daemon, topic_name, records):
    topic = topics.create(topic_name, partitions=PARTITIONS, retention_ms=-1)
    control = daemon(
        topic,
        {
            "kafka": {"group_id": f"{topic}-other"},
            "filters": [{**f, "snapshot": None} for f in filters(topic, "default", "video")["filters"]],
        },
        name="control",
    ).start()
    topics.produce(topic, records)
    control.wait_at_rest()

    config = filters(topic, "default")
    names = ("member-0", "member-1")
    members = [daemon(topic, in_group(topic, n, **config), n).start(ready=False) for n in names]
    wait_routed(members)
    for each in members:
        wait_until(
            lambda each=each: all(s["lag_messages"] == 0 for s in each.partition_status().values()),
            "all is read",
            60,
        )
        each.stop()
    for each in members:
        each.config["filters"] = filters(topic, "default", "video")["filters"]
        each.start(ready=False)
    wait_routed(members)
    return control, members


def test_a_group_is_filled_by_one_command_though_a_member_dies(group):
    control, members = group(history(7, 20_000))
    fill(members[0], "video", "--no-wait", "--id", "moves")
    members[1].kill9()  # no matter how much it has filled by now
    wait_until(lambda: members[0].owned() == set(range(PARTITIONS)), "the other one owns all", 60)
    wait_until(lambda: all(r["here"] for r in members[0].routes()), "routes forget it", 30)
    fill(members[0], "video", "--id", "moves")
    members[0].wait_at_rest()
    assert whole(members[0], "video")
    assert equal(members[0], control)


def test_a_partition_that_moved_within_a_fill_is_filled_where_it_is(group):
    _, members = group(history(8, 3_000))
    members[0].stop()
    # The file as it looks after a daemon that had all partitions was killed before it filled any of them.
    asked = {
        "filter": "video",
        "id": "joined",
        "asked_at_ms": now_ms(),
        "partitions": list(range(PARTITIONS)),
    }
    (members[0].store / "fills.json").write_text(json.dumps({"fills": [asked]}))
    members[0].start(ready=False)
    wait_routed(members)
    fill(members[0], "video", "--id", "joined")
    assert all(whole(m, "video") for m in members)
    for member in members:
        (one,) = member.http.get("/v1/fills").json()["fills"]
        assert one["done"] and {p["partition"] for p in one["partitions"]} == member.owned()
    assert "is another daemon's now" in members[0].log()
