"""The stream of items: groups of similar texts, through one partition or several; bad texts, kill -9,
another daemon, other settings."""

import json
import time

import pytest

from item_stream import NOW, Items, changed, item, many_items, seen_similar, text_of
from places import now_ms, wait_until


def near_ids(record):
    return {near["item_id"] for near in record["near"]}


def dead_letters(topics, name):
    return [
        {"value": m.value(), **{k: v.decode() for k, v in m.headers()}}
        for m in topics.read_all(f"{name}-dead")
    ]


@pytest.mark.parametrize("partitions", [1, 3])
def test_items_find_their_groups(partitions, topics, daemon, topic_name):
    items = Items(topics, topic_name, partitions)
    seend = daemon(topic_name, items.config(text_bytes_max=100_000)).start()
    one, two = text_of(1), text_of(2)
    items.send(
        item("n1", one),
        item("m1", two),
        item(7, text_of(3), lang="zh"),
        item("none"),
        item("blank", "  \n", title="..."),
    )
    items.wait_at_rest(seend)
    items.send(
        item("n2", "<p>" + one.upper() + "!</p>"),
        item("n3", changed(one, 40)),
        item("long", text_of(4, 200) + " " + "lorem " * 1_700_000),
        item("mixed", "新闻 今天 " + text_of(5, 30) + " новости дня"),
        item("emoji", "😀🎉 " * 40),
        item("zalgo", "".join(c + "\u0301\u0323\u0489" * 20 for c in "he comes he comes again")),
        item("rtl", "مرحبا بالعالم هذه تجربة قصيرة للنص العربي " * 5 + "\u202e"),
        b'{"item_id":"bad","text":"\xff\xfe"}',
        item("n4", 5),
        "[]",
        item("ahead", one, created_at=NOW + 86_400_000 * 30),
    )
    items.wait_at_rest(seend)

    groups = items.published()
    assert groups["n1"]["group_id"] == "n1" and groups["n1"]["found_by"] == "first"
    assert (groups["n2"]["group_id"], groups["n2"]["found_by"], groups["n2"]["similarity"]) == (
        "n1",
        "copy",
        1,
    )
    assert groups["n3"]["group_id"] == "n1" and 0.8 <= groups["n3"]["similarity"] < 1
    assert near_ids(groups["n1"]) == {"n2", "n3"} and near_ids(groups["n3"]) == {"n1", "n2"}
    for alone in ("m1", "7", "long", "mixed", "rtl"):
        assert groups[alone]["group_id"] == alone and groups[alone]["near"] == [], alone
    for empty in ("none", "blank"):
        assert groups[empty]["found_by"] == "no_text" and groups[empty]["group_id"] == empty
    assert {"emoji", "zalgo"} <= groups.keys() and not {"bad", "n4", "ahead"} & groups.keys()
    letters = dead_letters(topics, topic_name)
    assert sorted(letter["reason"] for letter in letters) == [
        "invalid_utf8",
        "not_json",
        "too_far_ahead",
        "wrong_type",
    ]
    assert {letter["source-topic"] for letter in letters} == {items.topic}
    assert seend.metric_sum("seen_items_cut_texts_total") == 1
    assert seend.metric_sum("seen_items_copies_total") == 1
    assert seend.metric_sum("seen_items_no_text_total") >= 2
    rejected = {k: v for k, v in seend.metrics().items() if k.startswith("seen_items_rejected_total") and v}
    assert len(rejected) == 4 and sum(rejected.values()) == 4

    # Ask for items similar to a text that isn't stored. Then send wrong requests.
    answer = seend.http.post("/v1/similar", {"text": changed(one, 10)})
    assert answer.status == 200, answer.body
    similar = answer.json()
    assert {s["item_id"] for s in similar["similar"]} == {"n1", "n2", "n3"} and similar["cut"] is False
    assert seend.http.post("/v1/similar", {"text": "x" * 200_000, "lang": "en"}).json()["cut"] is True
    but_one = seend.http.post("/v1/similar", {"text": one, "item_id": "n1", "limit": 1}).json()["similar"]
    assert [s["item_id"] for s in but_one] == ["n2"]
    for wrong, said in (
        ({}, "$.text: missing"),
        ({"text": 5}, "$.text: expected a string"),
        ({"text": "a", "limit": 101}, "$.limit: 101; expected"),
        ({"texts": ""}, "unknown key"),
    ):
        answer = seend.http.post("/v1/similar", wrong)
        assert answer.status == 400 and said in answer.json()["detail"], answer.body
    assert seend.http.post("/v1/similar", {"text": "y" * (16 << 20)}).status == 413

    # A new text moves an item to another group. After the first item is deleted, the group is named by its
    # next item.
    items.send(item("n3", changed(two, 20)))
    items.wait_at_rest(seend)
    groups = items.published()
    assert (groups["n3"]["group_id"], groups["n3"]["moved_from"]) == ("m1", "n1")
    assert near_ids(groups["n1"]) == {"n2"} and near_ids(groups["m1"]) == {"n3"}
    items.send(item("n1", deleted=True))
    items.wait_at_rest(seend)
    groups = items.published()
    assert "n1" not in groups
    assert (groups["n2"]["group_id"], groups["n2"]["moved_from"], groups["n2"]["near"]) == ("n2", "n1", [])
    seend.stop()


def test_a_kill_at_any_moment_changes_nothing(topics, daemon, topic_name, chance):
    items = Items(topics, topic_name)
    seend = daemon(topic_name, items.config(), name="killed")
    values = list(many_items(3_000))
    items.send(*values[:1_000])
    for part in range(4):
        seend.start(ready=False)
        if part == 1:
            items.send(*values[1_000:2_000])
        wait_until(
            lambda: (s := seend.status()) and s["items"] and s["items"]["partitions"], "it owns the items"
        )
        time.sleep(chance.random() * 1.5)
        if part == 2:
            items.send(*values[2_000:])
            time.sleep(chance.random() * 0.5)
        seend.kill9()
    seend.start(ready=False)
    items.wait_at_rest(seend)
    disturbed = items.published()
    seend.stop()
    other = f"{items.groups}-undisturbed"
    undisturbed = daemon(
        topic_name,
        {
            "kafka": {"group_id": f"{topic_name}-undisturbed"},
            "watermarks": {"topic": None},
            **items.config(groups_topic=other),
        },
        name="undisturbed",
    ).start(ready=False)
    items.wait_at_rest(undisturbed)
    assert disturbed == items.published(other)
    assert len(disturbed) > 2_000 and sum(len(r["near"]) > 0 for r in disturbed.values()) > 1_000
    undisturbed.stop()


def test_another_daemon_takes_over(topics, daemon, topic_name):
    items = Items(topics, topic_name)
    config = {"kafka": {"client": {"session.timeout.ms": 6000}}, **items.config()}
    first = daemon(topic_name, config, name="first").start()
    items.send(item("n1", text_of(1)))
    items.wait_at_rest(first)
    second = daemon(topic_name, config, name="second").start(
        "--rebuild", ready=False
    )  # it has no users' state yet

    def owned_by(seend):
        return ((seend.status() or {}).get("items") or {}).get("partitions")

    wait_until(
        lambda: (second.status() or {"items": None})["items"] and second.status()["items"]["ordered_topic"],
        "it is of the group",
    )
    time.sleep(1)  # a rebalance gives the index to one of the two
    wait_until(lambda: bool(owned_by(first)) != bool(owned_by(second)), "one owns the index")
    owner, other = (first, second) if owned_by(first) else (second, first)
    answer = other.http.post("/v1/similar", {"text": text_of(1)})
    assert answer.status == 503 and answer.headers["Retry-After"], answer.body
    owner.kill9()
    items.send(item("n2", changed(text_of(1), 5)))
    items.wait_at_rest(other)
    groups = items.published()
    assert groups["n2"]["group_id"] == "n1" and near_ids(groups["n1"]) == {"n2"}
    assert seen_similar(other, text_of(1)) == ["n1", "n2"]


def test_what_does_not_fit_is_refused(topics, daemon, topic_name, tmp_path):
    items = Items(topics, topic_name)
    wrong = daemon(topic_name, items.config(idf_file="/no/such/idf.tsv"), name="idf")
    wrong.start(ready=False)
    assert wrong.wait_exit() != 0
    assert "items.idf_file: /no/such/idf.tsv: No such file" in wrong.log() and "seen_idf" in wrong.log()
    broken = tmp_path / "idf.tsv"
    broken.write_text("# documents 10\nword\tten\n")
    wrong.config["items"]["idf_file"] = str(broken)
    wrong.start(ready=False)
    assert wrong.wait_exit() != 0
    assert f"{broken}: line 2" in wrong.log(), wrong.log()[-1000:]

    seend = daemon(topic_name, items.config()).start()
    items.send(item("n1", text_of(1)), item("n2", changed(text_of(1), 5)))
    items.wait_at_rest(seend)
    seend.stop()
    seend.config["items"]["similarity_min"] = 0.9
    seend.start()
    said = refusal(seend)
    assert "similarity_min" in said and "0.8" in said and "0.9" in said and "--rebuild" in said
    seend.stop()
    seend.start("--rebuild")
    items.wait_at_rest(seend)
    assert seen_similar(seend, text_of(1)) == ["n1", "n2"]
    seend.stop()


@pytest.mark.parametrize("rules", [{}, {"numbers": "ignored", "tokens_min": 3}], ids=["default", "set"])
def test_numbers_and_short_texts_go_by_the_configuration(rules, topics, daemon, topic_name):
    items = Items(topics, topic_name)
    seend = daemon(topic_name, items.config(**rules)).start()
    text = text_of(1)
    sent = {
        "e1": text + " episode 01",
        "e2": text + " episode 02",
        "t3": "one two three four " + "test " * 9,
        "t9": "one two three four " + "test " * 19,
    }
    items.send(*(item(name, words) for name, words in sent.items()))
    items.wait_at_rest(seend)
    groups = {name: record["group_id"] for name, record in items.published().items()}
    assert groups == ({"e1": "e1", "e2": "e1", "t3": "t3", "t9": "t3"} if rules else {n: n for n in sent})
    seend.stop()
    if not rules:
        return
    seend.config["items"]["numbers"] = "distinct"
    seend.start()
    assert "items.numbers: the index of items was built with ignored" in refusal(seend)
    seend.stop()
    seend.config["items"] |= {"numbers": "ignored", "tokens_min": 4}
    seend.start()
    assert "items.tokens_min: the index of items was built with 3" in refusal(seend)
    seend.stop()


def test_an_index_keeps_its_method_until_it_is_rebuilt(topics, daemon, topic_name):
    def found_by(text):
        similar = seend.http.post("/v1/similar", {"text": changed(text, 77)}).json()["similar"]
        return {near["found_by"] for near in similar}

    items = Items(topics, topic_name)
    seend = daemon(topic_name, items.config(method="both")).start()
    items.send(item("n1", text_of(1)), item("n2", changed(text_of(1), 79)))
    items.wait_at_rest(seend)
    assert found_by(text_of(1)) == {"both"}
    seend.stop()
    del seend.config["items"]["method"]
    seend.start()
    items.send(item("n3", changed(text_of(1), 78)))
    items.wait_at_rest(seend)
    assert seen_similar(seend, text_of(1)) == ["n1", "n2", "n3"] and found_by(text_of(1)) == {"both"}
    assert "method=both" in seend.log()
    seend.stop()
    seend.config["items"]["method"] = "minhash"
    seend.start()
    assert "items.method: the index of items was built with both, configured is minhash" in refusal(seend)
    seend.stop()
    del seend.config["items"]["method"]
    seend.start("--rebuild")
    items.wait_at_rest(seend)
    assert seen_similar(seend, text_of(1)) == ["n1", "n2", "n3"] and found_by(text_of(1)) == {"minhash"}
    seend.stop()


def test_a_repost_with_additions_is_found_once_the_index_is_rebuilt(topics, daemon, topic_name):
    items = Items(topics, topic_name)
    seend = daemon(topic_name, items.config(containment_min=0)).start()
    article, comments = text_of(1), " Comments of 3 May 2026: " + text_of(9, 50)
    items.send(item("n1", article), item("n2", article + comments))
    items.wait_at_rest(seend)
    assert seen_similar(seend, article) == ["n1"]
    seend.stop()
    seend.config["items"]["containment_min"] = 0.9
    seend.start()
    assert "items.containment_min: the index of items was built with 0, configured is 0.9" in refusal(seend)
    seend.stop()
    del seend.config["items"]["containment_min"]
    seend.start("--rebuild")
    items.wait_at_rest(seend)
    repost = items.published()["n2"]
    assert (repost["group_id"], repost["found_by"]) == ("n1", "minhash")
    assert repost["similarity"] < 0.8 and repost["containment"] >= 0.97
    asked = seend.http.post("/v1/similar", {"text": article, "item_id": "n1"}).json()["similar"]
    assert [(near["item_id"], near["containment"]) for near in asked] == [("n2", repost["containment"])]
    seend.stop()


def refusal(seend):
    """The reason why the daemon doesn't read the only partition of items."""
    refused = wait_until(
        lambda: (i := (seend.status() or {}).get("items")) and i["partitions_refused"],
        "the partition of items is refused",
    )
    assert [r["partition"] for r in refused] == [0]
    return refused[0]["reason"]


@pytest.mark.parametrize("damage", ["a manifest cut short", "a lost CURRENT", "a damaged list of settings"])
def test_a_damaged_index_stops_its_partition_alone(damage, topics, daemon, topic_name):
    items = Items(topics, topic_name)
    seend = daemon(topic_name, items.config()).start()
    items.send(item("n1", text_of(1)), item("n2", changed(text_of(1), 5)))
    items.wait_at_rest(seend)
    seend.stop()
    index = next(seend.store.glob("**/item-index-0"))
    if damage == "a manifest cut short":
        manifest = next(index.glob("rocks/MANIFEST-*"))
        manifest.write_bytes(manifest.read_bytes()[:20])
    elif damage == "a lost CURRENT":
        (index / "rocks" / "CURRENT").unlink()
    else:
        (index / "generation").write_text("nothing of it")

    seend.start()  # it becomes ready, because questions about exposures are answered
    assert "Remedy: " in refusal(seend)
    assert seend.metric_sum("seen_partitions_refused") == 1
    assert any(items.topic in trouble for trouble in seend.status()["troubles"])
    assert seend.http.get("/readyz").status == 200
    answer = seend.http.post("/v1/similar", {"text": text_of(1)})
    assert answer.status == 503 and "Remedy: " in answer.json()["detail"], answer.body
    exposure = json.dumps({"user_id": "u", "item_id": "n1", "exposed_at": now_ms()})
    topics.produce(topic_name, [("u", exposure)])
    wait_until(lambda: "n1" not in seend.unseen("u", ["n1", "n9"]), "exposures go on")
    seend.stop()
    seend.start("--rebuild")
    items.wait_at_rest(seend)
    assert seen_similar(seend, text_of(1)) == ["n1", "n2"]
    seend.stop()


def test_it_waits_for_the_topic_of_items(topics, daemon, topic_name):
    items = Items(topics, topic_name, exists=False)
    seend = daemon(topic_name, items.config()).start()
    assert f'no topic "{items.topic}"' in wait_until(
        lambda: (p := seend.status()["items"]["problem"]) and "no topic" in p and p,
        "it says what it waits for",
    )
    topics.create(items.topic, partitions=1)
    items.send(item("n1", text_of(1)))
    items.wait_at_rest(seend)
    assert items.published().keys() == {"n1"}
    seend.stop()
