"""The journal lists exposures exactly, and seend says why it drops an item. Kills and an erasure come in
between."""

import json
import time
import urllib.parse

from http_json import user_path
from places import now_ms, wait_until
from seend import one_filter

DAY_MS = 86_400_000
JOURNAL = {"store": {"explain_days": 30}}


def show(user, item, at, **more):
    return user, json.dumps({"user_id": user, "item_id": item, "exposed_at": at, **more})


def page(seend, user, status=200, what="exposures", filter_name="default", **query):
    answer = seend.http.get(user_path(user, filter_name) + f"/{what}?" + urllib.parse.urlencode(query))
    assert answer.status == status, (answer.status, answer.body)
    return answer.json()


def listed(seend, user, limit=1000, **query):
    """The exposures of all pages."""
    exposures, cursor = [], {}
    while True:
        answer = page(seend, user, limit=limit, **query, **cursor)
        assert len(answer["exposures"]) <= limit
        exposures += answer["exposures"]
        if answer["next"] is None:
            return exposures
        cursor = {"cursor": answer["next"]}


def test_every_exposure_is_listed_once_through_kills(topics, started, topic_name, chance):
    seend = started(JOURNAL)
    users = [f"u{i}" for i in range(40)]
    expected = {user: [] for user in users}
    start, number = now_ms() - 3 * DAY_MS, 0
    for _ in range(5):
        records = []
        for _ in range(1_500):
            user, at = chance.choice(users), start + number * 30_000  # two and a half days
            number += 1
            more = {"scene": chance.choice(["home", "视频"]), "request_id": f"r-{number}"}
            if number % 10 == 0:
                items = [{"item_id": f"i{number}-{i}", "position": i} for i in range(3)]
                records.append(
                    (user, json.dumps({"user_id": user, "items": items, "exposed_at": at, **more}))
                )
            else:
                items = [{"item_id": f"i{number}", "position": chance.randrange(50)}]
                records.append(show(user, items[0]["item_id"], at, position=items[0]["position"], **more))
            expected[user] += [{**item, "kind": "exposed", "at": at, **more} for item in items]
        topics.produce(topic_name, records)
        time.sleep(chance.random() * 1.5)  # between two checkpoints or during one
        seend.kill9()
        seend.start()
    seend.wait_caught_up()
    for user in users:
        # The newest come first. Items of one event keep their order.
        right = sorted(
            expected[user], key=lambda e: (-e["at"], e["position"] if e["item_id"].count("-") else 0)
        )
        assert listed(seend, user) == right, user
    busiest = max(users, key=lambda user: len(expected[user]))
    whole = listed(seend, busiest)
    assert listed(seend, busiest, limit=7) == whole
    since = whole[len(whole) // 2]["at"]
    assert listed(seend, busiest, since=since, limit=5) == [e for e in whole if e["at"] >= since]
    assert [e["at"] for e in listed(seend, busiest, item=whole[3]["item_id"])] == [whole[3]["at"]]
    cursor = page(seend, busiest, limit=1)["next"]
    assert (
        "cursor" in page(seend, users[0] if users[0] != busiest else users[1], 400, cursor=cursor)["detail"]
    )
    seend.wait_at_rest()
    assert seend.metric_sum("seen_journal_bytes") > 0
    assert seend.metric_sum("seen_journal_dates") >= 3


def test_why_an_item_is_dropped(topics, daemon, topic_name):
    topics.create(topic_name)
    # With a false-positive rate of 0.2, the test soon finds a false positive.
    seend = daemon(
        topic_name,
        {
            **JOURNAL,
            **one_filter(topic_name, snapshot={"false_positive_rate": 0.2}, window_days=7),
        },
    ).start()
    at = now_ms()
    topics.produce(
        topic_name,
        [show("u", f"i{i}", at - i, scene="home", position=i) for i in range(200)]
        + [
            show("u", "old", at - 9 * DAY_MS),
            show("v", "gone", at),
            ("v", json.dumps({"user_id": "v", "item_id": "gone", "exposed_at": at + 1, "kind": "removed"})),
        ],
    )
    seend.wait_at_rest()
    why = page(seend, "u", what="why", item="i3")
    assert (why["seen"], why["in_snapshot"], why["because"]) == (True, True, "exposed")
    assert why["exposures"] == [
        {"item_id": "i3", "kind": "exposed", "scene": "home", "position": 3, "at": at - 3, "request_id": None}
    ]
    assert all(s["counts"] and s["kind"] == "exposed" for s in why["segments"]) and why["segments"]
    # After the first checkpoint, the journal is complete from the first kept day on. The test may pass
    # midnight.
    days = {time.strftime("%Y-%m-%d", time.gmtime(ms / 1000 - 30 * 86_400)) for ms in (at, now_ms())}
    assert why["journal"]["whole_from"] in days

    strangers = {because: [] for because in ("not_seen", "false_positive")}
    for i in range(100):
        answer = page(seend, "u", what="why", item=f"s{i}")
        assert not answer["seen"] and answer["exposures"] == []
        strangers[answer["because"]].append(answer)
    assert all(a["in_snapshot"] and a["false_positive_of"] == "filter" for a in strangers["false_positive"])
    assert not any(a["in_snapshot"] for a in strangers["not_seen"])
    assert 5 <= len(strangers["false_positive"]) <= 40

    gone = page(seend, "v", what="why", item="gone")
    assert (gone["seen"], gone["because"], len(gone["exposures"])) == (False, gone["because"], 2)
    assert gone["because"] in ("not_seen", "false_positive") and gone["removed_until"] is not None
    assert [e["kind"] for e in gone["exposures"]] == ["removed", "exposed"]

    def seenctl(*arguments):
        return seend.seenctl("why", *arguments)[0]

    assert seenctl("u", "i3").startswith("i3: dropped, because it was seen\n")
    assert "exposed  in home  at position 3\n" in seenctl("u", "i3")
    assert json.loads(seenctl("u", "i3", "--json"))["because"] == "exposed"


def test_every_kind_explains_itself(topics, started, topic_name):
    clicked = {"clicked": {"window_days": 3}}
    filters = [
        {"name": "default", "served_ttl_s": 600, "kinds": clicked, "snapshot": None},
        {"name": "twice", "exposures_min": 2, "snapshot": None},
        {"name": "young", "window_by": "item_created_at", "window_days": 7, "snapshot": None},
    ]
    seend = started({**JOURNAL, "filters": filters})
    at = now_ms()
    topics.produce(
        topic_name,
        [
            show("u", "s", at, kind="served", request_id="r"),
            show("u", "c", at, kind="clicked"),
            show("u", "r", at - 5_000, item_created_at=at - 2 * DAY_MS),
            show("u", "r", at),
            show("u", "once", at),
            show("u", "aged", at, item_created_at=at - 30 * DAY_MS),
        ],
    )
    seend.wait_caught_up()
    for _ in range(2):
        served = page(seend, "u", what="why", item="s")
        assert (served["seen"], served["because"], served["in_snapshot"]) == (True, "served", None)
        assert [e["kind"] for e in served["exposures"]] == ["served"]
        assert at + 500_000 < served["segments"][0]["until_ms"] < at + 800_000
        clicked = page(seend, "u", what="why", item="c")
        assert (clicked["because"], clicked["segments"][0]["kind"]) == ("exposed", "clicked")
        assert clicked["exposures"][0]["kind"] == "clicked"
        repeated = page(seend, "u", what="why", item="r", filter_name="twice")
        first, last = (at - 5_000) // 1000 * 1000, at // 1000 * 1000
        days = [s for s in repeated["segments"] if s["counts"]]
        assert (repeated["because"], days[-1]["first_at_ms"], days[0]["last_at_ms"]) == (
            "exposed",
            first,
            last,
        )
        assert len(repeated["exposures"]) == 2
        once = page(seend, "u", what="why", item="once", filter_name="twice")
        assert (once["because"], len(once["exposures"])) == ("not_seen", 1)
        assert page(seend, "u", what="why", item="r", filter_name="young")["because"] == "exposed"
        assert page(seend, "u", what="why", item="aged", filter_name="young")["because"] == "not_seen"
        seend.wait_at_rest()


def test_an_erased_user_is_gone_from_it(topics, started, topic_name):
    seend = started(JOURNAL)
    at = now_ms()
    topics.produce(
        topic_name, [show(user, f"{user}-{i}", at - i * DAY_MS) for user in "uv" for i in range(3)]
    )
    seend.wait_at_rest()
    assert len(listed(seend, "u")) == 3
    topics.produce(
        topic_name,
        [
            ("u", json.dumps({"user_id": "u", "kind": "erased", "exposed_at": at})),
            show("u", "after", at + 5),
            show("u", "late", at - DAY_MS),
        ],
    )
    seend.wait_caught_up()
    for _ in range(2):
        assert [e["item_id"] for e in listed(seend, "u")] == ["after"]
        assert len(listed(seend, "v")) == 3
        seend.wait_at_rest()
        seend.kill9()
        seend.start()
        seend.wait_caught_up()


def test_without_a_journal_the_days_are_known(topics, started, topic_name):
    seend = started(JOURNAL)
    at = now_ms()
    topics.produce(topic_name, [show("u", "a", at, scene="home")])
    seend.wait_at_rest()
    seend.stop()
    seend.config["store"]["explain_days"] = 0
    seend.start()
    seend.wait_caught_up()
    assert "store.explain_days" in page(seend, "u", 404)["detail"]
    why = page(seend, "u", what="why", item="a")
    assert (why["because"], why["exposures"], why["journal"]) == ("exposed", None, None)
    assert why["segments"][0]["first_at_ms"] == at // 1000 * 1000
    assert not list(seend.store.glob("*/*journal*"))
    seend.wait_at_rest()
    assert seend.metric_sum("seen_journal_bytes") == 0
    # A journal that is kept again is complete from tomorrow on. For today, its silence proves nothing.
    seend.stop()
    seend.config["store"]["explain_days"] = 30
    seend.start()
    why = page(seend, "u", what="why", item="a")
    assert (why["because"], why["exposures"]) == ("exposed", [])
    assert why["journal"]["whole_from"] > time.strftime("%Y-%m-%d", time.gmtime(at / 1000))


def test_days_go_where_they_take_too_much(topics, started, topic_name):
    seend = started({"store": {"explain_days": 30, "explain_mib": 1}}, partitions=1)
    at = now_ms()
    blob = "".join(chr(0x4E00 + i * 7919 % 20000) for i in range(150))  # 450 bytes
    for day in (2, 1, 0):
        topics.produce(
            topic_name,
            [
                show(
                    f"u{i % 50}",
                    f"{day}-{i}",
                    at - day * DAY_MS - i,
                    request_id=f"{blob[i % 100 :]}{blob[: i % 100]}{i * 7919**7}",
                )
                for i in range(9_000)
            ],
        )
        seend.wait_at_rest()
    wait_until(lambda: seend.metric_sum("seen_journal_dates_dropped_total") >= 1, "a day is dropped")
    wait_until(lambda: seend.metric_sum("seen_journal_bytes") <= 2**20, "the journal is within its bound")
    days = {e["at"] // DAY_MS for e in listed(seend, "u1")}
    assert at // DAY_MS - 2 not in days, "the oldest day goes first"
