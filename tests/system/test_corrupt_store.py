"""The disk has damaged a store. The store's partition stops, the other partition continues, and --rebuild
reads the damaged one again."""

import pytest

from hashes import partition_of
from http_json import user_path
from load import Load, one_by_one
from places import wait_until

BAD, GOOD = 0, 1


def cut_manifest(folder):
    """Keeps only the first bytes of the manifest, which names all other files. (A longer rest would be a
    valid older state.)"""
    manifest = folder / (folder / "CURRENT").read_text().strip()
    manifest.write_bytes(manifest.read_bytes()[:20])


def flip_a_byte(folder):
    """Inverts a byte of users' state in each file. It lies before the part that RocksDB reads when it opens
    the file."""
    files = list(folder.glob("*.sst"))
    assert files
    for file in files:
        content = bytearray(file.read_bytes())
        content[len(content) // 4] ^= 0xFF
        file.write_bytes(content)


def users_of(oracle, partition):
    return [user for user in oracle.users() if partition_of(user, 2, "murmur2") == partition]


def look_up_all(seend, users):
    """Reads all state of these users. The daemon may answer 500 or 503 for some of them."""
    codes = {seend.http.get(user_path(user, "default")).status for user in users}
    assert codes <= {200, 500, 503}, codes


@pytest.mark.parametrize("damage", [cut_manifest, flip_a_byte])
def test_a_damaged_partition_stops_alone_and_is_read_again(damage, topics, started, topic_name, chance):
    load = Load(chance, users=300)
    seend = started()
    load.send(topics, topic_name, 6_000)
    seend.wait_at_rest()
    seend.stop()
    damage(seend.store / f"partition-{BAD}")

    seend.start(ready=False)
    wait_until(
        lambda: seend.partition_status().get(GOOD, {}).get("state") == "ready", "the whole partition is ready"
    )
    bad_users, good_users = users_of(load.oracle, BAD), users_of(load.oracle, GOOD)
    look_up_all(seend, bad_users)
    said = seend.wait_refused([BAD])
    assert "--rebuild" in said and f"partition {BAD}" in said.lower().replace("partition-", "partition "), (
        said
    )
    refused = seend.http.get(user_path(bad_users[0], "default"))
    assert refused.status == 503 and "--rebuild" in refused.text, refused.text
    ready = seend.get("/readyz")
    assert ready.status == 200 and f'partition {BAD} of "{topic_name}" is refused' in ready.text, ready.text
    assert seend.metrics()[f'seen_partitions_refused{{topic="{topic_name}"}}'] == 1

    more = one_by_one(load.oracle, [(user, "shown-meanwhile") for user in good_users])
    topics.produce(topic_name, more)
    end = topics.ends(topic_name)[GOOD][1]
    wait_until(
        lambda: (
            (good := seend.partition_status()[GOOD])["next_offset"] >= end and good["marks_outstanding"] == 0
        ),
        "the other partition reads and publishes",
    )
    load.oracle.check_http(seend, users=good_users)
    last = topics.newest(f"{topic_name}-filters")
    for user in good_users:
        load.oracle.check_snapshot(user, last[user])
    seend.wait_refused([BAD])
    seend.stop()

    seend.start("--rebuild", ready=False)
    wait_until(
        lambda: seend.partition_status().get(GOOD, {}).get("state") == "ready", "the whole partition is ready"
    )
    look_up_all(seend, bad_users)  # the daemon finds a flipped byte only when it reads it
    seend.wait_at_rest()
    assert "state dropped" in seend.log()
    load.oracle.check_http(seend)
    load.oracle.check_published(topics, f"{topic_name}-filters", 2)
    seend.stop()
    seend.start()
    assert seend.metrics()[f'seen_partitions_refused{{topic="{topic_name}"}}'] == 0
    load.oracle.check_http(seend)
