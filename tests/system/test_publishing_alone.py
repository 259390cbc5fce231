"""seend refuses snapshot topics into which another group publishes, and snapshot topics with another
partition count."""

from load import one_by_one
from oracle import Oracle
from places import wait_until


def own_topics(topic):
    return {"watermarks": {"topic": f"{topic}-watermarks"}}


def beats(topics, topic):
    wait_until(lambda: topics.read_all(f"{topic}-watermarks"), "the first one publishes")


def test_a_second_group_is_refused_while_the_first_one_publishes(topics, daemon, topic_name):
    topics.create(topic_name)
    first = daemon(topic_name, own_topics(topic_name), name="first").start()
    beats(topics, topic_name)
    second = daemon(
        topic_name,
        {
            **own_topics(topic_name),
            "kafka": {"group_id": f"{topic_name}-second"},
            "input": {"dead_letter_topic": f"{topic_name}-dead"},
        },
        name="second",
    )
    said = second.refuses()
    assert f"{topic_name}-group" in said and f"{topic_name}-second" in said and "--share-topics" in said
    topics.produce(topic_name, one_by_one(Oracle(), [("u1", "a")]))
    first.wait_at_rest()
    assert first.unseen("u1", ["a", "b"]) == ["b"], "the first one goes on"
    first.stop()
    # After the first group has stopped, the second may publish.
    second.start()
    second.wait_at_rest()
    assert second.unseen("u1", ["a", "b"]) == ["b"]


def test_two_groups_share_topics_where_an_operator_says_so(topics, daemon, topic_name):
    topics.create(topic_name)
    daemon(topic_name, own_topics(topic_name), name="first").start()
    beats(topics, topic_name)
    second = daemon(
        topic_name,
        {
            **own_topics(topic_name),
            "kafka": {"group_id": f"{topic_name}-second"},
            "input": {"dead_letter_topic": f"{topic_name}-dead"},
        },
        name="second",
    )
    second.start("--share-topics")


def test_a_snapshot_topic_of_another_partition_count_is_refused(topics, daemon, topic_name):
    topics.create(topic_name, partitions=2)
    topics.create(f"{topic_name}-filters", partitions=3)
    said = daemon(topic_name).refuses()
    assert f"{topic_name}-filters" in said and "3 partitions" in said and "Remedy" in said
