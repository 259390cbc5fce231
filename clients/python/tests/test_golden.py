"""The golden files of schemas/snapshot.md: whatever tests/golden/snapshot/index.json names."""

import collections
import datetime
import json
import pathlib
import struct

import numpy as np
import pytest
import xxhash

from seen_client import Snapshot, SnapshotError, fingerprint
from seen_client.hashing import GROUP, NEAR, hash_of, hashes_of, in_domain, in_domain_each

GOLDEN = pathlib.Path(__file__).resolve().parents[3] / "tests" / "golden" / "snapshot"
INDEX = json.loads((GOLDEN / "index.json").read_text(encoding="utf-8"))
METADATA = ("item_count", "as_of_ms", "horizon_day", "partition", "input_offset", "false_positive_rate")


def by_file(entries):
    return pytest.mark.parametrize("entry", entries, ids=[entry["file"] for entry in entries])


@pytest.mark.parametrize("row", INDEX["hashes"], ids=[ascii(row["id"]) for row in INDEX["hashes"]])
def test_ids_are_hashed_as_everywhere(row):
    assert xxhash.xxh64_hexdigest(row["id"].encode()) == row["xxh64_of_id"]
    assert fingerprint(row["id"]) == row["fingerprint"]
    assert f"{hash_of(row['fingerprint']):016x}" == row["xxh64_of_fingerprint"]
    assert f"{hashes_of(np.array([row['fingerprint']], np.uint32))[0]:016x}" == row["xxh64_of_fingerprint"]


@pytest.mark.parametrize("row", INDEX["hashes"], ids=[ascii(row["id"]) for row in INDEX["hashes"]])
def test_what_is_similar_has_fingerprints_of_its_own(row):
    one = np.array([row["fingerprint"]], np.uint32)
    for name, domain in (("near_fingerprint", NEAR), ("group_fingerprint", GROUP)):
        assert in_domain(row["fingerprint"], domain) == row[name]
        assert in_domain_each(one, domain).tolist() == [row[name]]


@by_file(INDEX["snapshots"])
def test_an_accepted_file_answers_as_the_index_says(entry):
    snapshot = Snapshot((GOLDEN / entry["file"]).read_bytes())
    assert snapshot.kind.name.lower() == entry["format"]
    assert {name: getattr(snapshot, name) for name in METADATA} == {name: entry[name] for name in METADATA}
    assert [item for item in entry["seen"] if not snapshot.might_contain(item)] == []
    assert [item for item in entry["unseen"] if snapshot.might_contain(item)] == []
    assert snapshot.unseen(entry["seen"] + entry["unseen"]) == entry["unseen"]
    assert snapshot.as_of.tzinfo is not None and snapshot.horizon


@by_file([entry for entry in INDEX["snapshots"] if "recall_size" in entry])
def test_how_many_to_recall(entry):
    snapshot = Snapshot((GOLDEN / entry["file"]).read_bytes())
    assert {want: snapshot.recall_size(int(want)) for want in entry["recall_size"]} == entry["recall_size"]


@pytest.fixture(scope="module")
def random_texts():
    return [str(xxhash.xxh64_intdigest(struct.pack("<I", i))) for i in range(100_000)]


@pytest.fixture(scope="module")
def random_prints(random_texts):
    return [fingerprint(text) for text in random_texts]


@by_file([entry for entry in INDEX["snapshots"] if "random" in entry])
def test_random_ids(entry, random_prints):
    snapshot = Snapshot((GOLDEN / entry["file"]).read_bytes())
    prints = random_prints[:entry["random"]["count"]]
    assert len(prints) == entry["random"]["count"]
    answers = snapshot.might_contain_fingerprints(prints)
    assert np.count_nonzero(answers) == entry["random"]["might_contain"]
    assert xxhash.xxh64_hexdigest(answers.astype(np.uint8).tobytes()) == entry["random"]["xxh64_of_answers"]
    some = prints[:1_000]
    assert [snapshot.might_contain_fingerprint(p) for p in some] == answers[:1_000].tolist()


@by_file([entry for entry in INDEX["snapshots"] if "similar_format" in entry])
def test_what_is_similar(entry, random_texts):
    snapshot = Snapshot((GOLDEN / entry["file"]).read_bytes())
    assert snapshot.has_similar
    assert snapshot.similar_kind.name.lower() == entry["similar_format"]
    assert snapshot.similar_count == entry["similar_count"]
    for one, many, yes, no, expected in (
            (snapshot.might_be_near, snapshot.might_be_near_many, "near", "not_near", entry["random_near"]),
            (snapshot.might_hold_group, snapshot.might_hold_group_many, "groups", "not_groups", entry["random_groups"])):
        assert [item for item in entry[yes] if not one(item)] == []
        assert [item for item in entry[no] if one(item)] == []
        answers = many(random_texts)
        assert len(answers) == expected["count"]
        assert np.count_nonzero(answers) == expected["might_contain"]
        assert xxhash.xxh64_hexdigest(answers.astype(np.uint8).tobytes()) == expected["xxh64_of_answers"]
        assert [one(text) for text in random_texts[:500]] == answers[:500].tolist()


@by_file([entry for entry in INDEX["snapshots"] if "random_created" in entry])
def test_days_left_out_of_a_chain(entry, random_texts):
    snapshot = Snapshot((GOLDEN / entry["file"]).read_bytes())
    from_day = datetime.date(1970, 1, 1) + datetime.timedelta(days=entry["from_day"])
    created_ms = [entry["created_second"] * 1000] * len(random_texts)
    for expected, answers in ((entry["random_created"], snapshot.might_contain_many(random_texts, created_at_ms=created_ms)),
                              (entry["random_from"], snapshot.might_contain_many(random_texts, window_start=from_day))):
        assert np.count_nonzero(answers) == expected["might_contain"]
        assert xxhash.xxh64_hexdigest(answers.astype(np.uint8).tobytes()) == expected["xxh64_of_answers"]
    for day in entry["days"]:
        date = datetime.date(1970, 1, 1) + datetime.timedelta(days=day["day"])
        assert all(snapshot.might_contain(item, created_at_ms=day["last_second"] * 1000, window_start=date)
                   for item in day["seen"])


@by_file([entry for entry in INDEX["snapshots"] if "entries" in entry])
def test_entries_lead_to_number_day_and_rank(entry):
    snapshot = Snapshot((GOLDEN / entry["file"]).read_bytes())
    expected = collections.defaultdict(set)
    for row in entry["entries"]:
        date = datetime.date(1970, 1, 1) + datetime.timedelta(days=row["day"])
        expected[row["id"]].add((row["number"], date, row["rank"]))
    for item, rows in expected.items():
        assert {(found.number, found.day, found.rank) for found in snapshot.details(item)} == rows


@by_file(INDEX["refused"])
def test_a_refused_file_is_refused(entry):
    with pytest.raises(SnapshotError):
        Snapshot((GOLDEN / entry["file"]).read_bytes())


def test_every_file_is_in_the_index():
    named = {entry["file"] for entry in INDEX["snapshots"] + INDEX["refused"]}
    assert {path.name for path in GOLDEN.glob("*.bin")} == named
