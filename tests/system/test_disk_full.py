"""A full disk stops consumption, not the daemon."""

import resource
import subprocess
import time

import pytest

from load import Load
from oracle import event
from places import now_ms, wait_until
from seenctl_tool import command


@pytest.fixture
def on_small(small_disk, topics, daemon, topic_name):
    """on_small() -> a daemon whose store is on the small disk; it isn't started."""
    topics.create(topic_name)

    def make(**more):
        seend = daemon(topic_name, {"store": {"directory": str(small_disk.place / "store")}, **more})
        seend.environment = small_disk.environment
        return seend

    return make


@pytest.fixture
def load(topics, topic_name, chance):
    """load(users, events) -> the load, after Kafka has the events."""

    def make(users, events):
        load = Load(chance, users=users)
        load.send(topics, topic_name, events)
        return load

    return make


def test_a_full_disk_stops_consumption_and_space_resumes_it(small_disk, topics, topic_name, on_small, load):
    seend, load = on_small(http={"ready_lag_messages": 1_000}).start(), load(500, 2_000)
    seend.wait_at_rest()
    before = load.oracle.users()[0]
    seen_before = sorted(load.oracle.items(before))

    small_disk.fill()
    load.send(topics, topic_name, 20_000)
    held = wait_until(
        lambda: (
            (all_of := list(seend.partition_status().values()))
            and all(s["state"] == "held" for s in all_of)
            and all_of
        ),
        "both partitions are held",
    )
    assert all("disk is full" in s["reason"] for s in held), held
    ready = seend.get("/readyz")
    assert ready.status == 503 or "disk is full" in ready.text, "it says so, and answers while the lag allows"
    assert seend.get("/healthz").status == 200
    assert seend.unseen(before, seen_before) == [], "goes on serving"

    def offsets():
        return {p: s["next_offset"] for p, s in seend.partition_status().items()}

    def stands():
        before = offsets()
        time.sleep(1)
        return before if offsets() == before else None

    stopped_at = wait_until(stands, "what a worker had begun to take is taken")
    load.send(topics, topic_name, 20_000)
    wait_until(lambda: seend.metric_sum("seen_flow_holds_total") > 0, "the hold is counted")

    def says(reason):
        """The cause stands before the lag that follows from it, for as long as the disk is full."""
        return 0 <= reason.find("disk is full") < reason.find("messages behind, more than")

    wait_until(lambda: says(seend.get("/readyz").text), "the lag is a trouble, and its cause comes first")
    troubles = [trouble for trouble in seend.status()["troubles"] if "messages behind" in trouble]
    assert troubles and all(says(trouble) for trouble in troubles), troubles
    assert seend.unseen(before, seen_before) == [], "its users get answers, as it says"
    time.sleep(2)
    assert offsets() == stopped_at, "nothing is consumed"

    small_disk.free()
    seend.wait_ready(60)
    seend.wait_at_rest()
    load.oracle.check_http(seend, users=load.oracle.users()[:200])
    load.oracle.check_published(topics, f"{topic_name}-filters", 2)
    seend.kill9()
    seend.start()
    load.oracle.check_http(seend, users=load.oracle.users()[:50])


def test_a_kill_on_a_full_disk_loses_nothing(small_disk, topics, topic_name, on_small, load):
    seend, load = on_small().start(), load(100, 1_000)
    seend.wait_at_rest()
    small_disk.fill()
    load.send(topics, topic_name, 10_000)
    wait_until(
        lambda: any(s["state"] == "held" for s in seend.partition_status().values()), "a partition is held"
    )
    seend.kill9()
    small_disk.free()
    seend.start()
    seend.wait_at_rest()
    load.oracle.check_http(seend)


def refused_for_space(seend):
    """Waits until /readyz says that the daemon waits for space. Returns the reason."""

    def said():
        answer = seend.get("/readyz")
        return answer if answer and answer.status == 503 and "waiting for space" in answer.text else None

    return wait_until(said, "it says that it waits for space").json()["detail"]


def check_wait_at_opening(seend, disk, path):
    reason = refused_for_space(seend)
    assert "no space left on" in reason.lower() and str(path) in reason and "Remedy: free space" in reason, (
        reason
    )
    wait_until(
        lambda: seend.metric_sum("seen_openings_without_space_total") >= 3, "it tries again and counts it"
    )
    assert seend.get("/healthz").status == 200
    assert seend.status()["ready"] is False
    assert seend.log().count("waiting for space") == 1, "one line, not one a try"
    disk.free()
    seend.wait_at_rest()
    seend.wait_ready()
    assert "there is space again" in seend.log()


def test_a_start_without_space_for_the_directory_waits_and_goes_on_by_itself(small_disk, on_small, load):
    load = load(50, 500)
    small_disk.fill()
    seend = on_small().start(ready=False)
    check_wait_at_opening(seend, small_disk, seend.store)
    load.oracle.check_http(seend)


def test_a_start_without_space_for_the_lock_waits_and_ends_in_time_if_told_to(small_disk, on_small):
    seend = on_small()
    seend.store.mkdir()
    small_disk.fill()
    seend.start(ready=False)
    assert str(seend.store / "LOCK") in refused_for_space(seend)
    seend.stop(5)


def test_a_start_without_space_for_the_copy_of_groups_waits_and_goes_on_by_itself(
    small_disk, topics, topic_name, on_small, load
):
    topics.create(f"{topic_name}-items", 1)
    load = load(50, 500)
    seend = on_small(items={"topic": f"{topic_name}-items", "groups_topic": f"{topic_name}-groups"})
    seend.store.mkdir()
    (seend.store / "LOCK").touch()
    small_disk.fill()
    seend.start(ready=False)
    check_wait_at_opening(seend, small_disk, seend.store / "groups")
    load.oracle.check_http(seend)


def test_partitions_without_space_are_opened_once_there_is_some(small_disk, on_small, load):
    load, seend = load(50, 500), on_small()
    seend.store.mkdir()
    (seend.store / "LOCK").touch()
    small_disk.fill()
    seend.start(ready=False)
    wait_until(lambda: "no space left" in seend.wait_not_ready().text, "it names the reason")
    wait_until(
        lambda: seend.metric_sum("seen_openings_without_space_total") >= 2, "each opening in vain is counted"
    )
    small_disk.free()
    seend.wait_at_rest()
    load.oracle.check_http(seend)


def test_a_directory_that_cannot_be_made_is_refused_and_not_waited_for(tmp_path, daemon, topic_name):
    (tmp_path / "file").write_text("in the way")
    seend = daemon(topic_name, {"store": {"directory": str(tmp_path / "file" / "store")}})
    said = seend.refuses()
    assert "can't create" in said and str(tmp_path / "file") in said and "Remedy" in said, said


def test_a_limit_on_the_size_of_files_is_a_full_disk(started, topics, topic_name):
    """Otherwise a write beyond the limit ends the process by a signal (SIGXFSZ), without a line in the log."""
    seend = started(partitions=1)
    topics.produce(topic_name, [(f"u{i}", event(f"u{i}", "i1", now_ms())) for i in range(50)])
    seend.wait_at_rest()
    pid, unlimited = seend.process.pid, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (100_000, unlimited[1]))
    records = [(f"user-{i:06}", event(f"user-{i:06}", f"i{i}", now_ms())) for i in range(20_000)]
    topics.produce(topic_name, records)
    held = wait_until(
        lambda: (of := seend.partition_status()[0])["state"] == "held" and of,
        "the checkpoint finds no space for its file",
        120,
    )
    assert "disk is full" in held["reason"], held
    assert seend.unseen("u1", ["i1", "i2"]) == ["i2"], "it answers"
    wait_until(lambda: "File too large" in seend.log(), "the log has the error's text", 120)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
    seend.wait_at_rest()
    assert seend.unseen("user-000007", ["i7", "i8"]) == ["i8"]


def test_a_start_under_a_limit_on_the_size_of_files_waits_and_says_why(daemon, topics, topic_name):
    topics.create(topic_name, partitions=1)
    seend = daemon(topic_name)
    seend.wrapper = ["prlimit", "--fsize=0:"]
    seend.start(ready=False)
    wait_until(lambda: (answer := seend.get("/readyz")) and "space" in answer.text.lower(), "it says why", 60)
    resource.prlimit(seend.process.pid, resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE))
    seend.wait_ready(60)


def test_a_command_under_a_limit_on_the_size_of_files_names_it(daemon, topics, topic_name, tmp_path):
    topics.create(topic_name, partitions=1)
    seend = daemon(topic_name)
    history = tmp_path / "history.jsonl"
    history.write_text("".join(event(f"user-{i:06}", f"i{i}", now_ms()) + "\n" for i in range(20_000)))
    words = command("replay", history, config=seend.write_config(), into_state=seend.store, quiet=True)
    done = subprocess.run(["prlimit", "--fsize=100000", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "File too large" in done.stderr, done
