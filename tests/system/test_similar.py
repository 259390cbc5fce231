"""Items similar to seen ones: the daemon reads groups from their topic and joins exposures with them.
Answers and snapshots show the result."""

import json
import urllib.parse

import pytest

from http_json import user_path
from places import now_ms, wait_until
from seenctl_tool import run


def record(item, group, near=()):
    """A record of the topic of groups. `near`: ids of near items."""
    first = item == group
    value = {
        "item_id": item,
        "group_id": group,
        "created_at": now_ms(),
        "moved_from": None,
        "found_by": "first" if first else "both",
        "similarity": 1 if first else 0.9,
        "distance": 0 if first else 2,
        "near": [{"item_id": n, "similarity": 0.9, "distance": 2, "found_by": "both"} for n in near],
    }
    return item, json.dumps(value)


def shown(user, *items, **more):
    return [
        (user, json.dumps({"user_id": user, "item_id": item, "exposed_at": now_ms(), **more}))
        for item in items
    ]


class Groups:
    """Writes the topic of groups, as the daemon that owns the index would."""

    def __init__(self, topics, seend):
        self.topics, self.seend, self.topic = topics, seend, seend.config["items"]["groups_topic"]

    def put(self, *records):
        self.topics.produce(self.topic, records)
        for item, value in records:
            self.wait(item, json.loads(value) if value else None)

    def wait(self, item, value):
        def known():
            answer = self.seend.get(f"/v1/groups/{urllib.parse.quote(item, safe='')}")
            if value is None:
                return answer.status == 404
            return answer.status == 200 and answer.json()["item"] == value

        wait_until(known, f"the daemon knows of {item}: {value}")


class User:
    def __init__(self, seend, name, filter_name):
        self.seend, self.name, self.filter = seend, name, filter_name

    def asks(self, items, **more):
        """(unseen items, {similar item: (like, because)})"""
        answer = self.seend.http.post(user_path(self.name, self.filter) + "/unseen", {"items": items, **more})
        assert answer.status == 200, answer.body
        answer = answer.json()
        return answer["unseen"], {s["item_id"]: (s["like"], s["because"]) for s in answer["similar"]}

    def why(self, item):
        answer = self.seend.get(user_path(self.name, self.filter) + f"/why?item={item}")
        assert answer.status == 200, answer.body
        return answer.json()


def told_by(directory, data, *items):
    """seenctl's report about a snapshot: {item: (may have been seen, may be similar to a seen item)}"""
    path = directory / "snapshot"
    path.write_bytes(data)
    told = json.loads(run("snapshot", path, "--json", "--test", *items)[0])
    return {item: (told["tests"][item], told.get("near_tests", {}).get(item)) for item in items}


@pytest.fixture
def running(topics, daemon, topic_name):
    """A daemon with a filter of each kind of `similar`."""
    topics.create(topic_name)
    topics.create(f"{topic_name}-items", 1)
    topics.create(f"{topic_name}-groups", 2, cleanup_policy="compact")
    filters = [
        {"name": name, "similar": similar, "snapshot": {"topic": f"{topic_name}-{name}", "debounce_ms": 50}}
        for name, similar in (("drop", "drop"), ("demote", "demote"), ("off", "off"))
    ]
    return daemon(
        topic_name,
        {
            "filters": filters,
            "items": {"topic": f"{topic_name}-items", "groups_topic": f"{topic_name}-groups"},
        },
    ).start()


def test_what_is_like_the_seen_is_held_back(topics, running, tmp_path):
    seend, groups = running, Groups(topics, running)
    dropping, demoting, off = (User(seend, "u", name) for name in ("drop", "demote", "off"))
    groups.put(
        record("a", "a", ["b", "c"]),
        record("b", "a", ["a"]),
        record("c", "a", ["a", "y"]),
        record("x", "x", ["y"]),
        record("y", "x", ["x", "c"]),
    )
    topics.produce(seend.topic, shown("u", "b", "z"))
    seend.wait_caught_up()
    candidates = ["c", "y", "a", "new", "b", "z"]

    def check():
        # a is near b. c is in b's group. y is near c only. "new" has no group.
        told = {"c": ("b", "group"), "a": ("b", "near")}
        assert dropping.asks(candidates) == (["y", "new"], told)
        assert demoting.asks(candidates) == (["y", "new", "c", "a"], told)
        assert seend.unseen("u", candidates, filter_name="off") == ["c", "y", "a", "new"]
        why = dropping.why("a")
        assert (why["seen"], why["because"], why["similar"]) == (
            False,
            "similar",
            {"like": "b", "because": "near", "similarity": 0.9},
        )
        assert dropping.why("b")["similar"] is None and off.why("a")["similar"] is None
        assert dropping.why("new")["because"] == "not_seen"
        for name in ("drop", "demote"):
            assert told_by(tmp_path, seend.snapshot("u", name), "b", "a", "new") == {
                "b": (True, False),
                "a": (False, True),
                "new": (False, False),
            }
        assert told_by(tmp_path, seend.snapshot("u", "off"), "b", "a") == {
            "b": (True, None),
            "a": (False, None),
        }

    check()
    seend.wait_at_rest()
    published = topics.newest(f"{seend.topic}-drop")["u"]
    assert told_by(tmp_path, published, "b", "a", "new") == {
        "b": (True, False),
        "a": (False, True),
        "new": (False, False),
    }
    seend.kill9()
    seend.start()
    for item in "abcxy":
        wait_until(lambda: seend.get(f"/v1/groups/{item}").status == 200, f"{item} is known again")
    check()
    at = ("--http", f"http://{seend.address}")
    assert json.loads(run("similar", "c", *at, "--json")[0]) == seend.get("/v1/groups/c").json()
    assert "the group of " in run("similar", "c", *at)[0]

    # One item per group: within the page, and also against seen items.
    assert off.asks(["c", "x", "b2", "a", "y"], one_per_group=True) == (
        ["c", "x", "b2"],
        {"a": ("c", "page"), "y": ("x", "page")},
    )
    assert demoting.asks(["c", "x", "a", "y"], one_per_group=True) == (
        ["x", "c"],
        {"c": ("b", "group"), "a": ("c", "page"), "y": ("x", "page")},
    )
    assert dropping.asks(["x", "y", "new"], also_seen=["y"]) == (["new"], {"x": ("y", "near")})
    assert "it is near b (similarity 0.90), which was" in seend.seenctl("why", "u", "a", filter="drop")[0]

    # b is taken back. Items similar to b return, because no other seen item is similar to them.
    assert seend.http.post("/v1/users/u/removed", {"items": ["b"]}).status == 202
    seend.wait_caught_up()
    assert dropping.asks(candidates) == (["c", "y", "a", "new", "b"], {})
    wait_until(
        lambda: (
            told_by(tmp_path, topics.newest(f"{seend.topic}-drop")["u"], "a", "z")
            == {"a": (False, False), "z": (True, False)}
        ),
        "the snapshot has forgotten it",
    )


def test_a_group_that_becomes_known_after_the_exposure_counts_all_the_same(topics, running):
    seend, groups, user = running, Groups(topics, running), User(running, "u", "drop")
    topics.produce(seend.topic, shown("u", "a"))
    seend.wait_caught_up()
    assert user.asks(["b", "c"]) == (["b", "c"], {})
    groups.put(record("a", "a", ["b"]), record("b", "a", ["a"]))
    assert user.asks(["b", "c"]) == (["c"], {"b": ("a", "near")})
    # n is near b, which wasn't seen. It isn't near a, the seen first item of b's group.
    groups.put(record("m", "m", ["n"]), record("n", "m", ["m", "b"]), record("b", "a", ["a", "n"]))
    assert user.asks(["n", "m"]) == (["n", "m"], {})
    topics.produce(seend.topic, shown("u", "n"))
    seend.wait_caught_up()
    assert user.asks(["b", "m"]) == ([], {"b": ("a", "near"), "m": ("n", "near")})
    groups.put(("a", None))
    assert seend.get("/v1/groups/a").status == 404


def test_an_items_group_page_by_page(topics, running):
    seend, groups = running, Groups(topics, running)
    records = [record("first", "first")] + [record(f"m{i:04}", "first", ["first"]) for i in range(1_004)]
    topics.produce(groups.topic, records)
    wait_until(
        lambda: len(seend.get("/v1/groups/first?after=m0998").json()["members"]) == 5, "all have been read"
    )
    answer = seend.get("/v1/groups/first").json()
    assert answer["group_id"] == "first" and answer["item"]["found_by"] == "first"
    assert answer["members"][:2] == [
        {"item_id": "first", "similarity": 1.0},
        {"item_id": "m0000", "similarity": 0.9},
    ]
    assert len(answer["members"]) == 1_000 and answer["next"] == "m0998"
    answer = seend.get("/v1/groups/m0007?after=m0998").json()
    assert [m["item_id"] for m in answer["members"]] == ["m0999", "m1000", "m1001", "m1002", "m1003"]
    assert answer["next"] is None
    assert seend.get("/v1/groups/nobody").status == 404


def test_without_items_a_page_of_one_per_group_is_refused(started):
    seend = started()
    answer = seend.http.post(user_path("u") + "/unseen", {"items": ["a"], "one_per_group": True})
    assert answer.status == 400 and "$.one_per_group" in answer.json()["detail"]
    assert seend.http.post(user_path("u") + "/unseen", {"items": ["a"]}).body == b'{"unseen":["a"]}\n'
    assert seend.get("/v1/groups/a").status == 404
