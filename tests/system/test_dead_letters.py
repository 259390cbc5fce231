"""A record that can't be decoded goes to the dead-letter topic with its reason. It never stops the
stream."""

import json

from load import one_by_one
from oracle import Oracle, event
from places import now_ms, wait_until
from seenctl_tool import run, run_json
from seend import one_filter
from topics import headers_of


NOW = now_ms()


def changed(**fields):
    whole = {"user_id": "u1", "item_id": "n1", "exposed_at": NOW, **fields}
    return json.dumps({k: v for k, v in whole.items() if v is not ...}).encode()


BAD = [  # value, reason, field
    (None, "null_value", ""),
    (b"", "not_json", ""),
    (b"exposure", "not_json", ""),
    (b'{"user_id":"u1","item_id":"n1","exposed_at":1763700000123', "not_json", ""),
    (b'{"user_id":"u1","item_id":"n1","exposed_at":%d} trailing' % NOW, "not_json", ""),
    (b"[1,2]", "not_json", ""),
    (changed(user_id=...), "missing_field", "user_id"),
    (changed(item_id=...), "missing_field", "item_id"),
    (changed(exposed_at=...), "missing_field", "exposed_at"),
    (changed(user_id=["u1"]), "wrong_type", "user_id"),
    (changed(item_id={"a": 1}), "wrong_type", "item_id"),
    (changed(exposed_at="yesterday"), "wrong_type", "exposed_at"),
    (changed(user_id=""), "empty_id", "user_id"),
    (changed(item_id=""), "empty_id", "item_id"),
    (changed(user_id="u" * 513), "id_too_long", "user_id"),
    (changed(item_id="商" * 171), "id_too_long", "item_id"),
    (changed(exposed_at=-1), "out_of_range", "exposed_at"),
    (b'{"user_id":"u\xff1","item_id":"n1","exposed_at":%d}' % NOW, "invalid_utf8", None),
    (changed(scene="x" * 5000), "too_large", ""),
    (changed(exposed_at=NOW + 3_600_000), "too_far_ahead", "exposed_at"),
]


def test_every_kind_of_bad_event_carries_its_reason_and_place(topics, started, topic_name):
    seend = started({"input": {"event_bytes_max": 4096}}, partitions=2)
    oracle, records = Oracle(), []
    for i, (value, _, _) in enumerate(BAD):  # good events before, between and after
        records += one_by_one(oracle, [("u1", f"good-{i}"), ("u2", f"good-{i}")], NOW) + [("u1", value)]
    records += one_by_one(oracle, [("u1", "last")], NOW)
    places = topics.produce(topic_name, records)
    is_bad = [False, False, True] * len(BAD) + [False]
    bad_places = [place for place, bad in zip(places, is_bad) if bad]
    seend.wait_at_rest()
    oracle.check_http(seend)
    oracle.check_published(topics, f"{topic_name}-filters", 2)

    letters = topics.letters(f"{topic_name}-dead", len(BAD))
    assert len(letters) == len(BAD)
    for place, (value, reason, field) in zip(bad_places, BAD):
        letter, headers = letters[place]
        assert headers["source-topic"] == topic_name
        assert (headers["reason"], letter.value()) == (reason, value), (headers, value)
        assert field is None or headers["field"] == (field or "value"), (headers, value)
        assert headers["message"].startswith(field or ""), headers
        assert letter.key() == b"u1"
    metrics = seend.metrics()
    for reason in {reason for _, reason, _ in BAD}:
        expected = sum(1 for _, r, _ in BAD if r == reason)
        assert metrics[f'seen_events_rejected_total{{reason="{reason}"}}'] == expected, reason
    assert seend.metric_sum("seen_events_total") == len(records) - len(BAD)


def test_seenctl_groups_them_and_sends_them_again_after_a_fix(topics, started, topic_name, tmp_path):
    """A producer renamed user_id to uid. After the configuration is changed, the dead letters are valid
    events."""
    seend = started({"input": {"event_bytes_max": 4096}}, partitions=2)
    renamed = [
        json.dumps({"uid": f"u{i % 5}", "item_id": f"n{i}", "exposed_at": NOW - i}).encode()
        for i in range(40)
    ]
    bad = [b"not json", changed(exposed_at="yesterday"), changed(scene="x" * 5000)]
    topics.produce(topic_name, [("u1", value) for value in [*renamed, *bad]])
    seend.wait_at_rest()
    assert len(topics.letters(f"{topic_name}-dead", 43)) == 43

    config = ["--config", seend.config_path]
    listed = run_json("dead-letters", *config)
    counts = {(group["reason"], group["field"]): group["records"] for group in listed["groups"]}
    assert counts == {
        ("missing_field", "user_id"): 40,
        ("not_json", "value"): 1,
        ("wrong_type", "exposed_at"): 1,
        ("too_large", "value"): 1,
    }
    (renamed_group,) = [group for group in listed["groups"] if group["field"] == "user_id"]
    assert len(renamed_group["examples"]) == 3 and renamed_group["examples"][0]["topic"] == topic_name
    shown = run("dead-letters", *config, "--reason", "missing_field", "--examples", "1", "--quiet")[0]
    assert shown.startswith("missing_field of user_id: 40 records") and '"uid":' in shown.replace(" ", "")
    assert ": user_id: missing\n" in shown and all(len(line) <= 80 for line in shown.splitlines()[:2])
    assert "40 dead letters" in shown and "not_json" not in shown
    assert "--progress" in run("dead-letters", *config, "--resend", status=2)[1]

    resend = ["dead-letters", *config, "--resend", "--progress"]
    before = run_json(*resend, tmp_path / "too-early", status=1)
    assert before["sent"] == 0 and before["still_rejected"] == 43, "nothing is fixed yet"
    tried = [*resend, tmp_path / "tried", "--reason", "missing_field"]
    assert run_json(*tried, status=1)["still_rejected"] == 40
    seend.stop()
    seend.config["input"]["fields"] = {"user_id": "/uid"}
    seend.start()
    again = run_json(*tried)
    assert (again["sent"], again["still_rejected"]) == (40, 0), "the next run tries them again"
    assert (again["sent"], again["still_rejected"], again["left_alone"]) == (40, 0, 3)
    seend.wait_at_rest()
    assert all(seend.unseen(f"u{i % 5}", [f"n{i}"]) == [] for i in range(40))
    topics.alter(f"{topic_name}-dead", {"cleanup.policy": "compact"})
    wait_until(lambda: topics.config(f"{topic_name}-dead")["cleanup.policy"] == "compact", "altered", 120)
    assert run_json(*tried)["sent"] == 40, "over all runs: no more than before"
    sent = [
        m
        for m in topics.read_all(topic_name)
        if m.value() in renamed and b"".join(v for _, v in m.headers() or [])
    ]
    assert len(sent) == 40 and not any(name == "reason" for m in sent for name, _ in m.headers())
    seend.wait_at_rest()
    assert len(topics.read_all(f"{topic_name}-dead")) == 43, "none became a letter again"


def test_a_letter_that_the_daemon_rejects_again_is_sent_once(topics, started, topic_name, tmp_path):
    """The configuration of --resend is right, and the daemon still has the old one."""
    seend = started(partitions=2)
    renamed = [json.dumps({"uid": f"u{i}", "item_id": "n1", "exposed_at": NOW}).encode() for i in range(6)]
    topics.produce(topic_name, [(f"u{i}", value) for i, value in enumerate(renamed)])
    assert len(topics.letters(f"{topic_name}-dead", 6)) == 6

    fixed = {**seend.config, "input": {**seend.config["input"], "fields": {"user_id": "/uid"}}}
    config = tmp_path / "fixed.json"
    config.write_text(json.dumps(fixed))
    resend = ["dead-letters", "--config", config, "--resend", "--progress", tmp_path / "again"]
    first = run_json(*resend, status=1)
    assert (first["sent"], first["still_rejected"], first["rejected_again"]) == (6, 0, 6)
    letters = topics.read_all(f"{topic_name}-dead")
    assert sorted("resent" in headers_of(letter) for letter in letters) == [False] * 6 + [True] * 6

    def events():
        return [record for record in topics.read_all(topic_name) if record.value()]

    for _ in range(2):
        later = run_json(*resend, status=1)
        assert (later["sent"], later["still_rejected"], later["rejected_again"]) == (6, 6, 0)
    assert len(events()) == 12, "a letter that came back isn't sent again"
    shown = run(*resend, "--quiet", status=1)[0]
    assert "0 sent again, 6 left behind, 0 not selected; earlier runs sent 6" in shown
    assert "rejected_again: 6" in shown and "--again" in shown

    seend.stop()
    seend.config = fixed
    seend.start()
    forced = run_json(*resend, "--again")
    assert (forced["sent"], forced["still_rejected"], forced["rejected_again"]) == (12, 0, 0)
    assert all(seend.unseen(f"u{i}", ["n1"]) == [] for i in range(6))
    assert len(events()) == 18 and len(topics.read_all(f"{topic_name}-dead")) == 12


def test_events_older_than_the_window_are_counted_and_dropped(topics, started, topic_name):
    day = 86_400_000
    seend = started(one_filter(topic_name, window_days=7), partitions=1)
    oracle = Oracle()
    topics.produce(topic_name, [("u", event("u", f"old-{i}", NOW - 20 * day)) for i in range(5)])
    topics.produce(topic_name, one_by_one(oracle, [("u", "fresh")], NOW))
    seend.wait_at_rest()
    assert seend.unseen("u", ["old-1", "fresh"]) == ["old-1"]
    assert seend.metric_sum("seen_events_too_old_total") == 5
    oracle.check_http(seend)
    assert topics.partitions(f"{topic_name}-dead") == 0 or not topics.read_all(f"{topic_name}-dead")


def test_age_is_judged_by_the_record_not_by_the_clock(topics, started, topic_name):
    """The daemon reads a record of ten days ago. Its exposure was fresh then. An exposure of today is ahead
    of its record."""
    then = NOW - 10 * 86_400_000
    seend = started(partitions=1)
    oracle = Oracle()
    records = [(*record, {"timestamp": then}) for record in one_by_one(oracle, [("u", "a")], then - 1000)]
    records.append(("u", event("u", "ahead", NOW), {"timestamp": then}))
    topics.produce(topic_name, records)
    seend.wait_at_rest()
    oracle.check_http(seend)
    assert seend.metrics()['seen_events_rejected_total{reason="too_far_ahead"}'] == 1


def test_dead_letters_survive_a_kill(topics, started, topic_name):
    seend = started(partitions=1)
    for round_number in range(3):
        topics.produce(topic_name, [("u", f"bad {round_number} {i}") for i in range(200)])
        seend.kill9()
        seend.start()
    seend.wait_at_rest()
    letters = {m.value().decode() for m in topics.read_all(f"{topic_name}-dead")}
    assert letters == {f"bad {r} {i}" for r in range(3) for i in range(200)}


def test_a_letter_whose_key_is_too_long_for_its_topic_is_cut_and_holds_no_offset(topics, daemon, topic_name):
    topics.create(topic_name, partitions=1)
    topics.create(f"{topic_name}-dead", partitions=1, max_message_bytes=3000)
    seend = daemon(topic_name).start()
    oracle = Oracle()
    topics.produce(topic_name, [("k" * 20_000, b"no event")])
    topics.produce(topic_name, one_by_one(oracle, [("u1", "n1")], NOW))
    seend.wait_at_rest()
    oracle.check_http(seend)
    ((letter, headers),) = topics.letters(f"{topic_name}-dead").values()
    assert headers["truncated-key"] == "20000" and 0 < len(letter.key()) < 3000
    assert headers["source-offset"] == "0"
    wait_until(lambda: topics.committed(seend.group, topic_name) == {0: 2}, "the offset isn't held")
