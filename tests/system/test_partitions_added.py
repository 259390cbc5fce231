"""The daemon consumes added partitions, even if the group would give a member its old assignment back."""

from hashes import partition_of
from load import one_by_one
from oracle import Oracle, event
from places import now_ms, wait_until

CLIENT = {"topic.metadata.refresh.interval.ms": "1000"}


def test_added_partitions_of_a_source_are_consumed_after_a_restart_within_the_session(
    topics, daemon, topic_name
):
    topics.create(topic_name, partitions=2)
    seend = daemon(topic_name, {"kafka": {"client": CLIENT}, "input": {"keyed_by_user": False}}).start()
    oracle = Oracle()
    topics.produce(topic_name, one_by_one(oracle, [("u1", "n1")]))
    seend.wait_rekeyed()
    seend.stop()  # a static member: the group keeps its assignment for the session
    topics.add_partitions(topic_name, 5)
    seend.start(ready=False)
    at = now_ms()
    records = []
    for partition in range(5):
        oracle.add(f"user-{partition}", "item", at)
        records.append(
            (f"user-{partition}", event(f"user-{partition}", "item", at), {"partition": partition})
        )
    topics.produce(topic_name, records)
    wait_until(
        lambda: set(topics.committed(f"{seend.group}-rekey", topic_name)) == set(range(5)),
        "all partitions of the source are read",
        60,
        every_s=0.5,
    )
    seend.wait_at_rest()
    oracle.check_http(seend)


def test_a_partition_that_is_added_while_a_daemon_opens_its_partitions(topics, daemon, topic_name):
    """librdkafka then joins the group again and revokes nothing. The second assignment must replace the
    first."""
    kept = 48  # opening so many takes longer than adding one
    topics.create(topic_name, partitions=kept)
    seend = daemon(topic_name, {"kafka": {"client": {"topic.metadata.refresh.interval.ms": "20"}}}).start(
        ready=False
    )
    wait_until(lambda: "partitions assigned" in seend.log(), "the daemon opens its partitions", every_s=0.002)
    topics.add_partitions(topic_name, kept + 1)
    seend.wait_refused([kept])
    at = now_ms()
    topics.produce(
        topic_name,
        [
            (f"user-{i}", event(f"user-{i}", "item", at), {"partition": partition_of(f"user-{i}", kept)})
            for i in range(500)
        ],
    )
    seend.wait_caught_up()
    assert "partition can't be opened yet" not in seend.log(), "nothing is open twice"
    assert {p: s["state"] for p, s in seend.partition_status().items() if p < kept} == dict.fromkeys(
        range(kept), "ready"
    )
