"""Backups of a running daemon: each is complete or absent, later ones take only new files, and a daemon
continues from one."""

import json
import os
import pathlib
import random
import shutil
import time

import pytest
from load import Load
from places import wait_until
from seenctl_tool import begin, by_partition, digest, run, run_json

PARTITIONS = 3


@pytest.fixture
def loaded(topics, started, topic_name, chance):
    """A daemon at rest that has read some thousand events, and the load that sends more."""
    seend = started({"store": {"explain_days": 5}}, partitions=PARTITIONS)
    load = Load(chance, users=300)
    load.send(topics, topic_name, 3_000)
    seend.wait_at_rest()
    return seend, load


def http(seend):
    return ("--http", seend.url)


def back_up(seend, to, *more):
    return run_json("backup", *http(seend), "--to", to, *more)


def files(to):
    return {path.name: path.stat() for path in (pathlib.Path(to) / "files").iterdir()}


def restored(seend, daemon, topic, into, name="restored"):
    """A daemon on a restored directory, with its own group."""
    other = daemon(
        topic,
        {
            **seend.config,
            "store": {**seend.config["store"], "directory": str(into)},
            "kafka": {**seend.config["kafka"], "group_id": f"{topic}-{name}"},
        },
        name=name,
    )
    other.config["http"]["listen"] = other.address
    other.config["filters"][0]["snapshot"] = {"topic": f"{topic}-{name}-filters"}
    return other


def copies(seend):
    return list((seend.store / "incoming").glob("copy-*"))


def exposures(seend, users):
    """What the journal has of each user. A user who was last shown something before its days has nothing."""
    return {
        user: seend.http.get(f"/v1/filters/default/users/{user}/exposures").json()["exposures"]
        for user in users
    }


def test_a_backup_is_read_back_and_a_daemon_goes_on_from_it(topics, loaded, daemon, topic_name, tmp_path):
    seend, load = loaded
    first = back_up(seend, tmp_path / "backups")
    assert first["backup"] == 1 and first["partitions"] == PARTITIONS and first["verified"]
    assert first["new_files"] > 0
    assert not copies(seend), "the daemon keeps nothing for it"
    of_backup = run_json("digest", "--from", tmp_path / "backups")
    of_daemon = digest(seend, "--as-of", of_backup["as_of_ms"])
    assert by_partition(of_backup) == by_partition(of_daemon)
    load.send(topics, topic_name, 2_000)  # after the backup
    into = tmp_path / "into"
    positions = run_json("restore", "--from", tmp_path / "backups", "--into", into)["positions"]
    assert positions == {str(p["partition"]): p["next_offset"] for p in of_backup["partitions"]}
    assert by_partition(run_json("digest", "--dir", into, "--as-of", of_backup["as_of_ms"])) == by_partition(
        of_backup
    )
    seend.wait_at_rest()
    shown = exposures(seend, load.oracle.users())
    assert any(shown.values()), "the journal has something to bring back"
    seend.stop()
    other = restored(seend, daemon, topic_name, into).start()
    other.wait_at_rest()
    load.oracle.check_http(other)
    assert "partition opened" in other.log()
    for partition in other.partition_status().values():
        assert partition["lost_ranges"] == []
    assert exposures(other, load.oracle.users()) == shown, "the journal came back, too"


def test_users_are_exported_with_the_ids_that_the_journal_has(loaded, tmp_path):
    seend, load = loaded
    assert seend.http.delete("/v1/users/somebody").status == 202
    seend.wait_at_rest()
    back_up(seend, tmp_path / "backups")
    out, _ = run("export", "--from", tmp_path / "backups", "--quiet")
    lines = [json.loads(line) for line in out.splitlines()]
    users = {line["user_id"]: line for line in lines if line["segments"]}
    assert set(users) == set(load.oracle.users())
    for user, line in users.items():
        items = {item["fingerprint"]: item.get("item_id") for s in line["segments"] for item in s["items"]}
        assert set(items) == load.oracle.fingerprints(user)
        assert {i for i in items.values() if i} <= load.oracle.items(user)
    ids = [i.get("item_id") for line in lines for s in line["segments"] for i in s["items"]]
    assert any(ids) and not all(ids), "the journal keeps five days"
    (erased,) = [line for line in lines if not line["segments"]]
    assert erased["erased"] and erased["user_id"] in (None, "somebody"), "a mark may still name the user"
    seend.stop()
    run("export", "--dir", seend.store, "--out", tmp_path / "users.jsonl", "--quiet")
    later = [json.loads(line) for line in (tmp_path / "users.jsonl").read_text().splitlines()]

    def nameless(lines):  # an acknowledged tombstone removes the mark of an erased user, and the id with it
        return sorted(
            json.dumps({**line, "user_id": line["user_id"] if line["segments"] else None}) for line in lines
        )

    assert nameless(later) == nameless(lines)
    run("export", "--dir", seend.store, "--out", "/dev/full", "--quiet", status=1)
    run("export", "--quiet", status=2)
    none = ["--dir", seend.store, "--filter", "nope", "--out", tmp_path / "none.jsonl"]
    said = run("export", *none, status=2)[1]
    assert "--filter: nope: the state has default" in said and not (tmp_path / "none.jsonl").exists()


def test_a_second_backup_takes_only_what_is_new(topics, loaded, topic_name, tmp_path):
    seend, load = loaded
    to = tmp_path / "backups"
    first = back_up(seend, to)
    before = files(to)
    load.send(topics, topic_name, 200)
    seend.wait_at_rest()
    second = back_up(seend, to)
    after = files(to)
    assert set(before) <= set(after), "what a backup names stays"
    assert all(after[name].st_mtime_ns == before[name].st_mtime_ns for name in before), (
        "and isn't written again"
    )
    manifests = [json.loads((to / "backups" / f"{n}.json").read_text())["manifest"] for n in (1, 2)]
    tables = [
        {f["xxh3"] for p in m["files_of"] for f in p["files"] if f["name"].endswith(".sst")}
        for m in manifests
    ]
    assert tables[0] & tables[1] or first["files"] < 12, "most files are in both"
    assert second["new_files"] == len(after) - len(before) < second["files"]
    # On the same disk, backup and store share files (hard links).
    assert any(stat.st_nlink > 1 for stat in after.values())
    listed = run_json("backup", "--to", to, "--list")
    assert [backup["backup"] for backup in listed] == [1, 2]
    third = back_up(seend, to, "--keep", 1)
    assert third["backup"] == 3 and third["removed_backups"] == 2
    named = {
        f"{f['xxh3']}-{f['bytes']}"
        for p in json.loads((to / "backups" / "3.json").read_text())["manifest"]["files_of"]
        for f in p["files"]
    }
    assert set(files(to)) == named, "nothing superfluous is left"
    run_json("digest", "--from", to)


def test_backups_under_load_are_each_of_one_moment(topics, loaded, daemon, topic_name, tmp_path):
    seend, load = loaded
    sender = load.send_aside(topics, topic_name, 15_000, rate=3_000)
    to = tmp_path / "backups"
    made = []
    while sender.is_alive() or len(made) < 2:
        made.append(back_up(seend, to, "--copy")["backup"])
    sender.join()
    assert len(made) >= 2
    for number in made:
        run_json("digest", "--from", to, "--backup", number)
    into = tmp_path / "into"
    run("restore", "--from", to, "--backup", made[0], "--into", into)
    seend.stop()
    other = restored(seend, daemon, topic_name, into).start()
    other.wait_at_rest()
    load.oracle.check_http(other, users=random.Random(3).sample(load.oracle.users(), 100))


def test_a_killed_backup_leaves_earlier_ones_whole(topics, loaded, topic_name, tmp_path):
    seend, load = loaded
    to = tmp_path / "backups"
    back_up(seend, to)
    whole = by_partition(run_json("digest", "--from", to, "--backup", 1))
    as_of = run_json("digest", "--from", to, "--backup", 1)["as_of_ms"]
    begun = time.monotonic()
    back_up(seend, to)
    takes = time.monotonic() - begun
    shares = [0.2, 0.4, 0.6, 0.8]
    for _ in range(12):
        if not shares:
            break
        load.send(topics, topic_name, 300)
        seend.wait_at_rest()
        wait_until(lambda: not copies(seend), "the daemon gives the killed one's copy up", 30)
        process = begin("backup", *http(seend), "--to", to, "--copy", "--quiet")
        time.sleep(shares[0] * takes)
        process.kill()
        if process.wait() < 0:
            shares.pop(0)
        else:
            takes /= 2  # it was quicker than the measured one
        for backup in run_json("backup", "--to", to, "--list"):
            report = run_json("digest", "--from", to, "--backup", backup["backup"], "--as-of", as_of)
            if backup["backup"] == 1:
                assert by_partition(report) == whole
    assert not shares, "it was killed while it worked"
    assert back_up(seend, to)["verified"], "and the next one works, and cleans up"
    assert not list((to / "incoming").iterdir())


def test_a_directory_of_something_else_is_left_alone(loaded, daemon, topics, topic_name, tmp_path):
    seend, _ = loaded
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").write_text("1")
    _, said = run("backup", *http(seend), "--to", other, status=1)
    assert "--to" in said and "precious" in said and "Remedy" in said
    assert [p.name for p in other.iterdir()] == ["precious"]
    _, said = run("backup", *http(seend), "--to", seend.store / "backups", status=1)
    assert "store.directory" in said and not (seend.store / "backups").exists()
    to = tmp_path / "backups"
    back_up(seend, to)
    second = daemon(topics.create(f"{topic_name}-second", partitions=1), name="second").start()
    _, said = run("backup", *http(second), "--to", to, status=1)
    assert "a directory of its own" in said.replace("\n", " ")
    _, said = run("restore", "--from", to, "--into", seend.store, status=1)
    assert "isn't empty" in said
    _, said = run("restore", "--from", tmp_path, "--into", tmp_path / "new", status=1)
    assert "not a directory of backups" in said
    _, said = run("restore", "--from", to, "--backup", 9, "--into", tmp_path / "new", status=1)
    assert "no backup 9" in said and not (tmp_path / "new").exists()
    for file in (to / "backups" / "1.json", to / "seen-backups.json"):  # as a newer version would write it
        text = file.read_text()
        file.write_text(text.replace('"format": 1', '"format": 2'))
        _, said = run("restore", "--from", to, "--into", tmp_path / "new", status=1)
        assert "format 2" in said and "Remedy" in said
        file.write_text(text)


def test_damage_is_found(loaded, tmp_path):
    seend, _ = loaded
    to = tmp_path / "backups"
    back_up(seend, to, "--copy")
    # Flip one bit of the largest file of the state.
    manifest = json.loads((to / "backups" / "1.json").read_text())["manifest"]
    largest = max(
        (f for p in manifest["files_of"] for f in p["files"] if f["name"].endswith(".sst")),
        key=lambda f: f["bytes"],
    )
    place = to / "files" / f"{largest['xxh3']}-{largest['bytes']}"
    data = bytearray(place.read_bytes())
    data[100] ^= 1
    place.write_bytes(data)
    _, said = run("restore", "--from", to, "--into", tmp_path / "into", status=1)
    assert place.name in said and "Remedy" in said
    assert not list((tmp_path / "into").glob("partition-*")), "nothing that is damaged is in its place"
    _, said = run("backup", *http(seend), "--to", to, "--copy", status=1)
    assert place.name in said and "delete the file" in said
    assert len(run_json("backup", "--to", to, "--list")) == 1
    place.unlink()
    back_up(seend, to, "--copy")
    run_json("digest", "--from", to)
    text = (to / "backups" / "2.json").read_text()
    (to / "backups" / "2.json").write_text(text.replace('"number": 2', '"number": 3'))
    assert "checksum" in run("digest", "--from", to, status=1)[1]


def test_the_daemon_gives_up_a_copy_that_nobody_uses(loaded):
    seend, _ = loaded
    answer = seend.http.post("/v1/copies", {})
    assert answer.status == 200
    copy = answer.json()
    assert {p["partition"] for p in copy["partitions"]} == set(range(PARTITIONS))
    assert (pathlib.Path(copy["folder"]) / "partition-0" / "CURRENT").exists()
    assert seend.http.post("/v1/copies", {}).status == 503, "one at a time"
    assert seend.http.request("POST", "/v1/copies").status == 415
    wait_until(lambda: not copies(seend), "it is gone", 40)
    assert "abandoned" in seend.log()
    copy = seend.http.post("/v1/copies", {}).json()
    assert seend.http.delete(f"/v1/copies/{copy['copy']}").status == 200
    assert seend.http.delete(f"/v1/copies/{copy['copy']}").status == 404
    assert not copies(seend)


def test_a_second_process_waits_its_turn(loaded, tmp_path):
    seend, _ = loaded
    to = tmp_path / "backups"
    running = [begin("backup", *http(seend), "--to", to, "--quiet") for _ in range(3)]
    ended = [process.wait(120) for process in running]
    assert 0 in ended
    whole = run_json("backup", "--to", to, "--list")
    assert len(whole) == ended.count(0)
    run_json("digest", "--from", to)


def test_a_full_disk_ends_a_backup_and_spares_the_others(loaded, small_disk):
    seend, _ = loaded
    to = small_disk.place / "backups"
    back_up(seend, to, "--copy")
    os.environ.update(small_disk.environment)
    try:
        small_disk.fill()
        _, said = run("backup", *http(seend), "--to", to, "--copy", status=1)
        assert "No space left" in said or "no space" in said.lower(), said
        small_disk.free()
        assert back_up(seend, to, "--copy")["verified"]
    finally:
        for name in small_disk.environment:
            os.environ.pop(name, None)
    run_json("digest", "--from", to)
    shutil.rmtree(to)


def test_a_killed_restore_leaves_nothing_that_looks_like_state(loaded, tmp_path):
    seend, _ = loaded
    to = tmp_path / "backups"
    back_up(seend, to)
    begun = time.monotonic()
    run("restore", "--from", to, "--into", tmp_path / "whole", "--copy", "--quiet")
    takes = time.monotonic() - begun
    whole = by_partition(run_json("digest", "--dir", tmp_path / "whole", "--as-of", 1763700000000))
    for step in range(8):
        into = tmp_path / f"into-{step}"
        process = begin("restore", "--from", to, "--into", into, "--copy", "--quiet")
        time.sleep(takes * step / 8)
        process.kill()
        process.wait()
        if list(into.glob("partition-*")):
            found = run_json("digest", "--dir", into, "--as-of", 1763700000000)
            assert by_partition(found).items() <= whole.items(), "a partition that is there is whole"
        elif into.exists() and any(into.iterdir()):
            assert "isn't empty" in run("restore", "--from", to, "--into", into, status=1)[1]
