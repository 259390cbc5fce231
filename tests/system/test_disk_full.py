"""A full disk stops consumption, not the daemon."""

import subprocess
import time

import pytest

from load import Load
from places import wait_until


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 24 MiB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)],
                           capture_output=True, text=True)
    if mount.returncode != 0:
        pytest.skip(f"needs a small file system, and mount isn't permitted here: {mount.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place):
    """Takes what is left, and returns the file whose removal gives it back."""
    ballast = place / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        for size in (65_536, 4_096):
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue
    return ballast


def test_a_full_disk_stops_consumption_and_space_resumes_it(small_disk, topics, daemon, topic_name, chance):
    topics.create(topic_name)
    load = Load(chance, users=500)
    seend = daemon(topic_name, {"store": {"directory": str(small_disk / "store")}}).start()
    load.send(topics, topic_name, 2_000)
    seend.wait_at_rest()
    before = load.oracle.users()[0]
    seen_before = sorted(load.oracle.items(before))

    ballast = fill(small_disk)
    load.send(topics, topic_name, 20_000)
    held = wait_until(lambda: (all_of := list(seend.partition_status().values())) and all(
        s["state"] == "held" for s in all_of) and all_of, "both partitions are held")
    assert all("disk is full" in s["reason"] for s in held), held
    ready = seend.get("/readyz")
    assert ready.status == 503 or "disk is full" in ready.text, "it says so, and answers while the lag allows"
    assert seend.get("/healthz").status == 200
    assert seend.unseen(before, seen_before) == [], "goes on serving"
    stopped_at = {p: s["next_offset"] for p, s in seend.partition_status().items()}
    load.send(topics, topic_name, 20_000)
    wait_until(lambda: seend.metric_sum("seen_flow_holds_total") > 0, "the hold is counted")
    time.sleep(2)
    assert {p: s["next_offset"] for p, s in seend.partition_status().items()} == stopped_at, "nothing is consumed"

    ballast.unlink()
    seend.wait_ready(60)
    seend.wait_at_rest()
    load.oracle.check_http(seend, users=load.oracle.users()[:200])
    load.oracle.check_published(topics, f"{topic_name}-filters", 2)
    seend.kill9()
    seend.start()
    load.oracle.check_http(seend, users=load.oracle.users()[:50])


def test_a_kill_on_a_full_disk_loses_nothing(small_disk, topics, daemon, topic_name, chance):
    topics.create(topic_name)
    load = Load(chance, users=100)
    seend = daemon(topic_name, {"store": {"directory": str(small_disk / "store")}}).start()
    load.send(topics, topic_name, 1_000)
    seend.wait_at_rest()
    ballast = fill(small_disk)
    load.send(topics, topic_name, 10_000)
    wait_until(lambda: any(s["state"] == "held" for s in seend.partition_status().values()), "a partition is held")
    seend.kill9()
    ballast.unlink()
    seend.start()
    seend.wait_at_rest()
    load.oracle.check_http(seend)
