"""The topics that a daemon uses: what is wrong with one is a trouble that names the topic and the command which
mends it, and ends when that is done."""

import shutil

import pytest

from hashes import partition_of
from load import Load, one_by_one
from oracle import Oracle, event
from places import now_ms, wait_until
from seend import CHECKS
from seenctl_tool import run

DAY_MS = 86_400_000


def problems_of(seend):
    """{(topic, problem)} as the status has them. Each is also a trouble."""
    status = seend.status() or {"topic_problems": [], "troubles": []}
    problems = {(p["topic"], p["problem"]): p["text"] for p in status["topic_problems"]}
    assert set(problems.values()) <= set(status["troubles"]), status["troubles"]
    return problems


def in_log(text):
    return text.replace('"', '\\"')


def wait_problems(seend, expected):
    """Waits until exactly these problems are shown. Returns their texts."""
    seend.wait(lambda: set(problems_of(seend)) == expected, f"{expected} are shown", 120, every_s=0.3)
    return problems_of(seend)


def test_a_mistyped_topic_is_named_with_what_was_meant_and_the_command_that_creates_it(
    kafka, topics, daemon, topic_name
):
    topics.create(topic_name)
    typo = topic_name.replace("mistyped", "mistypd")
    seend = daemon(typo).start(ready=False)
    wait_until(
        lambda: "there is no topic" in (seend.status() or {}).get("not_ready_reason", ""), "it says so", 120
    )
    said = seend.status()["not_ready_reason"]
    assert f'"{typo}" (input.topic)' in said and f'"{topic_name}"' in said, said
    command = f"kafka-topics.sh --bootstrap-server {kafka.bootstrap} --create --topic {typo} --partitions 16"
    assert f"{command} --config retention.ms={31 * DAY_MS}" in said, said
    wait_until(lambda: command in seend.log(), "the log has it, too", 120)
    assert seend.status()["brokers_reachable"]
    topics.create(typo)  # the remedy
    seend.wait_ready(60)


def test_wrong_settings_are_troubles_that_name_the_command_and_end_with_it(kafka, topics, daemon, topic_name):
    right = {
        topic_name: {"cleanup.policy": "delete", "retention.bytes": "-1"},
        f"{topic_name}-filters": {"cleanup.policy": "compact"},
        f"{topic_name}-beats": {"cleanup.policy": "compact"},
        f"{topic_name}-dead": {"cleanup.policy": "delete"},
        f"{topic_name}-state": {"cleanup.policy": "delete", "retention.ms": "-1"},
    }
    topics.create(topic_name, cleanup_policy="delete", retention_bytes=1 << 20)
    topics.create(f"{topic_name}-filters", cleanup_policy="delete")
    topics.create(f"{topic_name}-beats", partitions=1, cleanup_policy="delete")
    topics.create(f"{topic_name}-dead", cleanup_policy="compact")
    topics.create(f"{topic_name}-state", cleanup_policy="compact,delete", retention_ms=7 * DAY_MS)
    own = {"watermarks": {"topic": f"{topic_name}-beats"}, "state": {"topic": f"{topic_name}-state"}}
    seend = daemon(topic_name, own).start()
    wrong = {(topic, name) for topic, settings in right.items() for name in settings}
    texts = wait_problems(seend, wrong - {(topic_name, "cleanup.policy")})
    for (topic, name), text in texts.items():
        assert (
            f"Remedy: kafka-configs.sh --bootstrap-server {kafka.bootstrap} --alter --entity-type topics "
            f"--entity-name {topic} --add-config {name}={right[topic][name]}" in text
        ), text
        assert in_log(text) in seend.log()
    assert seend.metrics()[f'seen_topic_settings_wrong{{topic="{topic_name}-state"}}'] == 2
    for topic, settings in right.items():
        topics.alter(topic, settings)
    wait_problems(seend, set())


def test_filters_from_a_compacted_input_are_incomplete_also_after_a_fill(topics, started, topic_name, chance):
    seend = started(cleanup_policy="compact")
    assert "compact" in wait_problems(seend, {(topic_name, "cleanup.policy")})[topic_name, "cleanup.policy"]
    load = Load(chance, users=20)
    load.send(topics, topic_name, 100)
    seend.wait_at_rest()
    assert {s["filters"][0]["complete_since"] for s in seend.partition_status().values()} == {None}, (
        "all was read"
    )

    def incomplete():
        return all(s["filters"][0]["complete_since"] for s in seend.partition_status().values())

    seend.stop()
    shutil.rmtree(seend.store)
    seend.start("--rebuild")
    seend.wait_at_rest()
    assert incomplete(), seend.partition_status()
    assert "still holds the windows" not in seend.log()
    run("fill", http=seend.url, filter="default", quiet=True)
    wait_until(lambda: "a filter is filled and stays incomplete" in seend.log(), "the fill is done", 120)
    assert incomplete(), seend.partition_status()


def test_a_replay_from_a_compacted_topic_is_refused_unless_that_is_meant(topics, started, topic_name):
    seend = started()
    source = topics.create(f"{topic_name}-source", cleanup_policy="compact")
    topics.produce(source, one_by_one(Oracle(), [("u1", "a"), ("u2", "b")]))
    said = run("replay", config=seend.config_path, from_topic=source, status=2)[1]
    assert source in said and "compacted" in said and "--compacted" in said, said
    run("replay", config=seend.config_path, from_topic=source, compacted=True)
    seend.wait_at_rest()
    assert seend.unseen("u1", ["a", "b"]) == ["b"]


def test_two_groups_with_default_names_run_side_by_side_by_a_prefix(topics, daemon, topic_name):
    topics.create(topic_name)
    names = [f"{topic_name}-{which}" for which in ("a", "b")]
    daemons = []
    for name in names:
        made = daemon(topic_name, {"kafka": {"group_id": name}, "topic_prefix": name}, name=name[-1])
        for own in ("watermarks", "state"):
            del made.config[own]
        del made.config["input"]["dead_letter_topic"], made.config["filters"][0]["snapshot"]["topic"]
        daemons.append(made.start())
    topics.produce(topic_name, [*one_by_one(Oracle(), [("u1", "a")]), ("u1", b"bad")])
    for name, seend in zip(names, daemons):
        seend.wait_at_rest()
        assert seend.unseen("u1", ["a", "b"]) == ["b"]
        wait_until(lambda name=name: "u1" in topics.newest(f"{name}-filters"), "it publishes", 120)
        assert len(topics.letters(f"{name}-dead-letters", 1)) == 1
        assert topics.partitions(f"{name}-state") == 2 and topics.partitions(f"{name}-watermarks") == 1
        assert seend.status()["state_topic"]["problem"] == ""
    stranger = daemon(topic_name, {"kafka": {"group_id": f"{topic_name}-c"}, "topic_prefix": names[0]}, "c")
    del stranger.config["watermarks"], stranger.config["filters"][0]["snapshot"]["topic"]
    assert "topic_prefix" in stranger.refuses()
    stranger.config["watermarks"], stranger.config["filters"][0]["snapshot"] = {"topic": None}, None
    del stranger.config["state"]
    stranger.start()
    problem = wait_until(
        lambda: (stranger.status()["state_topic"] or {}).get("problem"), "the state isn't its own", 120
    )
    assert names[0] in problem and "topic_prefix" in problem, problem


def test_deleted_topics_of_filters_and_watermarks_are_troubles_and_come_back(
    topics, member, topic_name, chance
):
    topics.create(topic_name)
    one, two = member(1), member(2)
    one.start()
    two.start()
    load = Load(chance, users=20)
    load.send(topics, topic_name, 100)
    filters, beats = f"{topic_name}-filters", f"{topic_name}-beats"
    wait_until(
        lambda: set(topics.newest(filters)) == set(load.oracle.users()), "all users are published", 120
    )
    settings = {filters: (2, {}), beats: (1, {})}
    for topic in settings:
        topics.delete(topic)
    texts = wait_problems(one, {(topic, "missing") for topic in settings})
    for topic, (partitions, _) in settings.items():
        assert (
            f"--create --topic {topic} --partitions {partitions} --config cleanup.policy=compact"
            in texts[topic, "missing"]
        )
    for topic, (partitions, config) in settings.items():
        topics.create(topic, partitions=partitions, cleanup_policy="compact", **config)
    wait_problems(one, set())
    wait_until(
        lambda: set(topics.newest(filters)) == set(load.oracle.users()),
        "all are published again",
        120,
        every_s=0.5,
    )
    wait_until(lambda: {r["partition"] for r in one.routes()} == {0, 1}, "the routes are known again", 120)

    def answered():
        return all(one.unseen(u, sorted(load.oracle.items(u))) == [] for u in load.oracle.users())

    wait_until(answered, "requests are passed on again", 60)


def test_letters_of_a_deleted_topic_are_dropped_and_counted_and_hold_no_partition(
    topics, started, topic_name
):
    seend = started(partitions=1)
    topics.produce(topic_name, [("u1", b"bad")])
    assert len(topics.letters(f"{topic_name}-dead", 1)) == 1
    topics.delete(f"{topic_name}-dead")
    wait_problems(seend, {(f"{topic_name}-dead", "missing")})
    topics.produce(topic_name, [("u1", b"bad"), *one_by_one(Oracle(), [("u1", "a")])])

    def refused():
        return any("takes no letters" in t for t in seend.status()["troubles"])

    wait_until(refused, "the cause is named", 120)
    wait_until(lambda: seend.metric_sum("seen_dead_letters_dropped_total") >= 1, "it is dropped", 120)
    seend.wait_at_rest()
    assert seend.unseen("u1", ["a", "b"]) == ["b"]
    topics.create(f"{topic_name}-dead", partitions=1)
    wait_problems(seend, set())
    seend.wait(lambda: not refused(), "the refusal is over", 120, every_s=0.3)
    topics.produce(topic_name, [("u1", b"worse")])
    assert [m.value() for m, _ in topics.letters(f"{topic_name}-dead", 1).values()] == [b"worse"]


def test_a_letter_whose_time_the_topic_refuses_goes_with_the_present_time(topics, started, topic_name):
    topics.create(f"{topic_name}-dead", partitions=1, message_timestamp_before_max_ms=60_000)
    seend = started(partitions=1, retention_ms=-1)
    old = now_ms() - 3_600_000
    topics.produce(topic_name, [("u1", b"bad", {"timestamp": old})])
    ((letter, headers),) = topics.letters(f"{topic_name}-dead", 1).values()
    assert headers["source-timestamp"] == str(old) and letter.timestamp()[1] > old
    seend.wait_at_rest()


def test_a_snapshot_topic_that_grows_is_named_and_tombstones_go_where_the_snapshots_are(
    topics, started, topic_name
):
    seend = started({"kafka": {"client": CHECKS}}, partitions=2)
    users = [f"user-{i}" for i in range(30)]
    topics.produce(topic_name, one_by_one(Oracle(), [(u, "a") for u in users]))
    seend.wait_at_rest()
    published = f"{topic_name}-filters"
    topics.add_partitions(published, 5)
    texts = wait_problems(seend, {(published, "partitions")})
    assert "5 partitions" in texts[published, "partitions"]
    assert any(partition_of(u, 5) >= 2 for u in users)
    for user in users:
        assert seend.http.delete(f"/v1/users/{user}").status == 202
    seend.wait_at_rest()
    wait_until(lambda: all(m.partition() < 2 for m in topics.read_all(published)), "none is elsewhere")

    def kept():
        newest = {(m.partition(), m.key()): m.value() for m in topics.read_all(published)}
        return [key for key, value in newest.items() if value is not None]

    wait_until(lambda: kept() == [], "no erased user's snapshot stays", 60, every_s=0.3)
    seend.stop()
    seend.start()  # with its state, it is never refused
    wait_problems(seend, {(published, "partitions")})


@pytest.mark.parametrize("fault", ["refuses-timestamps", "is-deleted"])
def test_a_keyed_topic_that_takes_nothing_is_a_trouble(fault, topics, started, topic_name):
    keyed = f"{topic_name}-by-user"
    config = {"input": {"keyed_by_user": False}, "kafka": {"client": CHECKS}}
    seend = started(config, partitions=1, retention_ms=-1)
    if fault == "is-deleted":
        topics.delete(keyed)
        problem, at = (keyed, "missing"), now_ms()
    else:
        topics.alter(keyed, {"message.timestamp.before.max.ms": "60000"})
        problem, at = (keyed, "message.timestamp.before.max.ms"), now_ms() - 3_600_000
    wait_until(lambda: problem in problems_of(seend), f"{problem} is shown", 120, every_s=0.3)
    topics.produce(topic_name, [(None, event("u1", "a", at), {"timestamp": at})])

    def refused():
        return any(f'"{keyed}" takes no records' in t for t in seend.status()["troubles"])

    wait_until(refused, "the refusal is a trouble", 120, every_s=0.3)
    if fault == "refuses-timestamps":
        topics.alter(keyed, {"message.timestamp.before.max.ms": str((1 << 63) - 1)})
        seend.wait(
            lambda: not refused() and problem not in problems_of(seend),
            "the refusal is over",
            120,
            every_s=0.3,
        )
        wait_until(lambda: seend.unseen("u1", ["a", "b"]) == ["b"], "it is read", 120)
