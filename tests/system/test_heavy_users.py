"""The status and the metrics show the users with the most items, and those who reached the daily limit."""

from load import one_by_one
from oracle import Oracle
from places import wait_until


def test_heaviest_users_are_in_the_status(topics, daemon, topic_name):
    topics.create(topic_name, partitions=1)
    filters = [
        {"name": "default", "items_per_day_max": 100, "snapshot": {"topic": f"{topic_name}-filters"}},
        {"name": "unpublished", "items_per_day_max": 100_000, "snapshot": None},
    ]
    seend = daemon(topic_name, {"filters": filters}).start()
    counts = {f"user-{n}": n for n in range(1, 31)} | {"a-bot-with-a-very-long-name": 500, "another-bot": 100}
    topics.produce(
        topic_name, one_by_one(Oracle(), [(user, f"i{i}") for user, n in counts.items() for i in range(n)])
    )
    seend.wait_at_rest()

    def heaviest(name):
        return [
            (user["user_id_start"], user["items"])
            for user in seend.partition_status()[0]["heaviest_users"]
            if user["filter"] == name
        ]

    expected = sorted([("a-bot-with-a-ver", 100), ("another-bot", 100)]) + [
        (f"user-{n}", n) for n in range(30, 22, -1)
    ]
    wait_until(lambda: sorted(heaviest("default")) == sorted(expected), f"{expected} are shown")
    assert [items for _, items in heaviest("default")] == [items for _, items in expected]
    assert seend.partition_status()[0]["users_at_daily_limit"] == 2
    assert seend.metrics()['seen_users_at_daily_limit{partition="0"}'] == 2

    # The daemon doesn't read the sets of an unpublished filter until somebody asks.
    assert heaviest("unpublished") == []
    seend.unseen("a-bot-with-a-very-long-name", ["x"], filter_name="unpublished")
    assert heaviest("unpublished") == [("a-bot-with-a-ver", 500)]

    assert seend.http.delete("/v1/users/a-bot-with-a-very-long-name").status == 202
    wait_until(
        lambda: "a-bot-with-a-ver" not in [user for user, _ in heaviest("default")], "an erased user goes"
    )
    assert seend.partition_status()[0]["users_at_daily_limit"] == 1
