"""What the golden files demand of a reader: `client` is the package, as it is or changed (test_mutants.py).

A check fails with AssertionError, or with what a broken reader raises.
"""

import base64
import collections
import datetime
import functools
import json
import pathlib
import re
import struct

import numpy as np
import xxhash

GOLDEN = pathlib.Path(__file__).resolve().parents[3] / "tests" / "golden" / "snapshot"
INDEX, WATERMARKS, ALSO_SEEN = (
    json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    for name in ("index.json", "watermarks.json", "also_seen.json")
)
UPDATE_INDEX, SEQUENCES = (
    json.loads((GOLDEN.parent / "update" / name).read_text(encoding="utf-8"))
    for name in ("index.json", "sequences.json")
)
METADATA = ("item_count", "as_of_ms", "horizon_day", "partition", "input_offset", "false_positive_rate")
INTEGER = re.compile(r"-?[1-9][0-9]*|0")

# The step of "What to refuse" by what the reader says; the first that fits.
STEPS = [
    (r"^not a snapshot", 1),
    (r"cut off", 1),
    (r"^snapshot: version", 2),
    (r"with bit 0 of flags", 8),
    (r"^snapshot: header_bytes is", 3),
    (r"header_bytes \d+ and payload_bytes \d+ make", 4),
    (r"checksum", 5),
    (r"^snapshot: (format|hash|flags) ", 6),
    (r"^snapshot: false_positive_rate", 7),
    (r"^snapshot: similar_(bytes|format)", 8),
    (r"payload of kind", 9),
]
UPDATE_STEPS = [
    (r"^not an update", 1),
    (r"^update: cut off", 1),
    (r"^update: version", 2),
    (r"^update: header_bytes is", 3),
    (r"checksum", 4),
    (r"^update: (partition|generation|from|to|as_of_ms|filter_count) is", 5),
    (r"^update: (name \d|the name)", 6),
    (r"^update: section at", 7),
]


@functools.lru_cache(maxsize=None)
def read(file):
    return (GOLDEN / file).read_bytes()


def snapshot_of(client, entry):
    return client.Snapshot(read(entry["file"]))


def date_of(day):
    return None if day is None else datetime.date(1970, 1, 1) + datetime.timedelta(days=day)


def check_hash(client, row):
    hashing, one = client.hashing, np.array([row["fingerprint"]], np.uint32)
    assert xxhash.xxh64_hexdigest(row["id"].encode()) == row["xxh64_of_id"]
    assert client.fingerprint(row["id"]) == row["fingerprint"]
    assert hashing.fingerprints([row["id"]]).tolist() == [row["fingerprint"]]
    assert f"{hashing.hash_of(row['fingerprint']):016x}" == row["xxh64_of_fingerprint"]
    assert f"{hashing.hashes_of(one)[0]:016x}" == row["xxh64_of_fingerprint"]
    for name, domain in (("near_fingerprint", hashing.NEAR), ("group_fingerprint", hashing.GROUP)):
        assert hashing.in_domain(row["fingerprint"], domain) == row[name]
        assert hashing.in_domain_each(one, domain).tolist() == [row[name]]


def step_of(message, steps=STEPS):
    return next((step for pattern, step in steps if re.search(pattern, message)), 0)


def check_refused(client, entry):
    try:
        snapshot_of(client, entry)
    except client.SnapshotError as error:
        assert step_of(str(error)) == entry["step"], str(error)
        newer = entry["step"] in (2, 6) or "similar_format" in str(error)
        assert isinstance(error, client.UnsupportedSnapshotError) == newer
    else:
        raise AssertionError(f"{entry['file']} is read: {entry['why']}")


def check_accepted(client, entry):
    """Metadata, and the answers that are listed; those for random ids are `check_random`'s."""
    snapshot = snapshot_of(client, entry)
    assert snapshot.kind.name.lower() == entry["format"]
    assert {name: getattr(snapshot, name) for name in METADATA} == {name: entry[name] for name in METADATA}
    assert snapshot.as_of.tzinfo is not None and snapshot.horizon
    assert {want: snapshot.recall_size(int(want)) for want in entry["recall_size"]} == entry["recall_size"]
    seen, unseen = entry["seen"], entry["unseen"]
    assert [item for item in seen if not snapshot.might_contain(item)] == []
    assert [item for item in unseen if snapshot.might_contain(item)] == []
    assert snapshot.unseen(seen + unseen) == unseen
    integers = [int(item) for item in seen if INTEGER.fullmatch(item)]
    assert all(map(snapshot.might_contain, integers)) and snapshot.unseen(integers) == []
    prints = entry.get("seen_fingerprints", []) + entry.get("unseen_fingerprints", [])
    expected = [print32 in entry.get("seen_fingerprints", []) for print32 in prints]
    assert [snapshot.might_contain_fingerprint(print32) for print32 in prints] == expected
    assert snapshot.might_contain_fingerprints(prints).tolist() == expected
    check_entries(snapshot, entry)
    if "days" in entry:
        check_days(snapshot, entry)
    check_similar(snapshot, entry)


def check_entries(snapshot, entry):
    if "entries" not in entry:
        assert all(snapshot.details(item) == [] for item in entry["seen"][:3])
        return
    expected = collections.defaultdict(list)
    for row in entry["entries"]:
        expected[row["id"]].append((row["number"], date_of(row["day"]), row["rank"]))
    for item, rows in expected.items():
        found = [(one.number, one.day, one.rank) for one in snapshot.details(item)]
        assert sorted(found) == sorted(rows), item
    assert all(snapshot.details(item) == [] for item in entry["unseen"])


def check_days(snapshot, entry):
    for day in entry["days"]:
        last_ms, date, ids = day["last_second"] * 1000, date_of(day["day"]), day["seen"]
        assert all(snapshot.might_contain(item, created_at_ms=last_ms, window_start=date) for item in ids)
        assert snapshot.unseen(ids, created_at_ms=[last_ms + 999] * len(ids), window_start=date) == []
    if "unseen_created" in entry:
        ids, created_ms = entry["unseen_created"], entry["created_second"] * 1000
        assert not any(snapshot.might_contain(item, created_at_ms=created_ms) for item in ids)
        assert snapshot.unseen(ids, created_at_ms=[created_ms] * len(ids)) == ids
        ids, start = entry["unseen_from"], date_of(entry["from_day"])
        assert not any(snapshot.might_contain(item, window_start=start) for item in ids)
        assert snapshot.unseen(ids, window_start=start) == ids


def check_similar(snapshot, entry):
    assert snapshot.has_similar == ("similar_format" in entry)
    if not snapshot.has_similar:
        assert not snapshot.might_be_near("n1") and not snapshot.might_hold_group("n1")
        return
    assert snapshot.similar_kind.name.lower() == entry["similar_format"]
    assert snapshot.similar_count == entry["similar_count"]
    for one, many, yes, no in (
        (snapshot.might_be_near, snapshot.might_be_near_many, "near", "not_near"),
        (snapshot.might_hold_group, snapshot.might_hold_group_many, "groups", "not_groups"),
    ):
        expected = [True] * len(entry[yes]) + [False] * len(entry[no])
        assert [one(item) for item in entry[yes] + entry[no]] == expected
        assert many(entry[yes] + entry[no]).tolist() == expected


@functools.lru_cache(maxsize=None)
def random_texts():
    return [str(xxhash.xxh64_intdigest(struct.pack("<I", i))) for i in range(100_000)]


@functools.lru_cache(maxsize=None)
def random_prints():
    return [xxhash.xxh64_intdigest(text) >> 32 for text in random_texts()]


def check_answers(answers, expected):
    assert len(answers) == expected["count"]
    assert np.count_nonzero(answers) == expected["might_contain"]
    assert xxhash.xxh64_hexdigest(answers.astype(np.uint8).tobytes()) == expected["xxh64_of_answers"]


def check_random(client, entry, singles=1_000):
    snapshot = snapshot_of(client, entry)
    prints = random_prints()
    answers = snapshot.might_contain_fingerprints(prints)
    check_answers(answers, entry["random"])
    assert [snapshot.might_contain_fingerprint(p) for p in prints[:singles]] == answers[:singles].tolist()
    for many, one, name in (
        (snapshot.might_be_near_many, snapshot.might_be_near, "random_near"),
        (snapshot.might_hold_group_many, snapshot.might_hold_group, "random_groups"),
    ):
        if name in entry:
            answers = many(random_texts())
            check_answers(answers, entry[name])
            assert [one(text) for text in random_texts()[:singles]] == answers[:singles].tolist()
    if "random_created" in entry:
        created_ms = [entry["created_second"] * 1000] * len(prints)
        answers = snapshot.might_contain_many(random_texts(), created_at_ms=created_ms)
        check_answers(answers, entry["random_created"])
        answers = snapshot.might_contain_many(random_texts(), window_start=date_of(entry["from_day"]))
        check_answers(answers, entry["random_from"])


def encoded(text):
    return None if text is None else text.encode()


def check_watermarks(client, case):
    watermarks = client.Watermarks()
    for record in case["records"]:
        key, value = encoded(record["key"]), encoded(record["value"])
        value = value and value + b" " * record.get("spaces", 0)
        before = {partition: watermarks.get(partition) for partition in watermarks.partitions()}
        try:
            watermarks.update(key, value)
        except client.WatermarkError:
            assert record["refused"], record
            assert before == {partition: watermarks.get(partition) for partition in watermarks.partitions()}
        else:
            assert not record["refused"], record
    assert watermarks.partitions() == [row["partition"] for row in case["watermarks"]]
    for row in case["watermarks"]:
        watermark = watermarks.get(row["partition"])
        assert watermark.as_of_ms == row["as_of_ms"]
        assert watermark.stale_by_ms(case["now_ms"]) == row["stale_by_ms"]
    for row in case["snapshots"]:
        snapshot = snapshot_of(client, row)
        assert watermarks.as_of_ms(snapshot) == row["as_of_ms"]
        assert watermarks.stale_by_ms(snapshot, case["now_ms"]) == row["stale_by_ms"]


def check_also_seen(client, case):
    snapshot = snapshot_of(client, case).with_also_seen(case["also_seen"])
    assert snapshot.unseen(case["candidates"]) == case["unseen"]
    unique = list(dict.fromkeys(case["candidates"]))
    assert [item for item in unique if not snapshot.might_contain(item)] == case["unseen"]
    answers = snapshot.might_contain_many(unique)
    assert [item for item, is_seen in zip(unique, answers) if not is_seen] == case["unseen"]
    assert {want: snapshot.recall_size(int(want)) for want in case["recall_size"]} == case["recall_size"]
    assert not any(map(snapshot.might_be_near, set(case["also_seen"]))) or snapshot.has_similar


def decoded(text):
    return None if text is None else base64.b64decode(text, validate=True)


def check_update(client, record):
    update = client.Update(decoded(record["bytes"]))
    names = ("part", "partition", "generation", "from_offset", "to_offset", "as_of_ms")
    for name in names:
        assert getattr(update, name) == record[name.replace("_offset", "")], name
    assert list(update.filters) == record["filters"]
    sections = []
    for section in update.sections:
        ends = np.cumsum(section.counts, dtype=np.int64)
        entries = [
            {"user": str(user), "fingerprints": prints.tolist()}
            for user, prints in zip(section.users.tolist(), np.split(section.fingerprints, ends[:-1]))
        ]
        mask, kind, until_s = section[:3]
        sections.append({"mask": mask, "kind": kind, "until_s": until_s, "entries": entries})
    assert sections == record["sections"]


def check_update_refused(client, record):
    try:
        client.Update(decoded(record["bytes"]))
    except client.UpdateError as error:
        assert step_of(str(error), UPDATE_STEPS) == record["step"], str(error)
        newer = record["step"] == 2 or ": kind " in str(error)
        assert isinstance(error, client.UnsupportedUpdateError) == newer
    else:
        raise AssertionError(f"{record['name']} is read: {record['why']}")


def check_sequence(client, sequence):
    """What a reader answers along the way."""
    reader = client.FilterReader(
        sequence["filter"],
        partitions_of(sequence),
        snapshots_topic=sequence.get("topic"),
        additions_max=sequence["additions_max"],
    )
    for number, step in enumerate(sequence["steps"]):
        where = f"{sequence['name']}: step {number}"
        try:
            take_step(reader, step)
        except (client.WatermarkError, client.UpdateError, client.SnapshotError) as error:
            assert step.get("refused", False), f"{where}: {error}"
        else:
            assert not step.get("refused", False), f"{where} is taken"
        if "expect" in step:
            check_expected(reader, step["expect"], where)


def partitions_of(sequence):
    """All that a sequence names."""
    named = set()
    for step in sequence["steps"]:
        rows = [step[name] for name in ("snapshot", "end") if name in step]
        named |= {row["partition"] for row in rows + step.get("expect", {}).get("partitions", [])}
        named |= {step["restart"]} if "restart" in step else set()
    return sorted(named)


def take_step(reader, step):
    if "beat" in step:
        reader.take_beat(encoded(step["beat"]["key"]), encoded(step["beat"]["value"]))
    if "update" in step:
        reader.take_update(decoded(step["update"]))
    if "snapshot" in step:
        snapshot = step["snapshot"]
        reader.take_snapshot(snapshot["partition"], snapshot["user"], decoded(snapshot["value"]))
    if "end" in step:
        reader.snapshots_end(step["end"]["partition"], step["end"]["position"])
    if "restart" in step:
        reader.snapshots_restart(step["restart"])


def check_expected(reader, expect, where):
    now_ms = expect["now_ms"]
    for row in expect["partitions"]:
        partition = row["partition"]
        assert reader.complete_to(partition) == row["complete_to"], where
        assert reader.as_of(partition) == row["as_of_ms"], where
        assert reader.must_restart(partition) == row.get("must_restart", False), where
        assert reader.moved_to(partition) == row.get("moved_to"), where
        assert reader.complete_since(partition) == row.get("complete_since_ms"), where
    assert reader.additions == expect["additions"], where
    for row in expect["users"]:
        user = row["user"]
        assert reader.is_refused(user) == row["refused"], where
        seen, unseen = row["seen"], row["unseen"]
        assert reader.unseen(user, seen + unseen, now_ms=now_ms) == unseen, where
        assert reader.might_contain_many(user, seen, now_ms=now_ms).all(), where
        for items, ask, answer in (
            (seen, reader.might_contain, True),
            (unseen, reader.might_contain, False),
            (row["near"], reader.might_be_near, True),
            (row["not_near"], reader.might_be_near, False),
            (row["groups"], reader.might_hold_group, True),
            (row["not_groups"], reader.might_hold_group, False),
        ):
            assert [item for item in items if ask(user, item, now_ms=now_ms) != answer] == [], where
