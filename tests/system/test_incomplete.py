"""State is lost after retention has deleted a part of the window. Then incomplete snapshots never replace
published ones."""

import shutil
import struct

from http_json import user_path
from load import one_by_one
from oracle import Oracle, event
from places import now_ms, wait_until
from seend import one_filter
from snapshot_reader import might_contain, read_snapshot

DAY_MS = 86_400_000
USERS = [f"u{i}" for i in range(20)]


def published(topics, topic_name):
    """{user: value} as a reader of the topic holds it, without tombstones."""
    last = topics.newest(f"{topic_name}-filters")
    return {user: value for user, value in last.items() if value is not None}


def holds(value, item):
    return value is not None and might_contain(read_snapshot(value).payload, item)


def complete_since_of(value):
    """The field `complete_since` of a header of 64 or more bytes. None: the header is shorter."""
    return struct.unpack_from("<q", value, 56)[0] if struct.unpack_from("<I", value, 8)[0] >= 64 else None


def lose_state(kafka, topics, daemon, topic_name, since_ms):
    """A daemon that has published each user's "old" item and then lost its state. Its log begins at
    `since_ms`. After the loss, "u0" has seen "new"."""
    wait_until(
        lambda: now_ms() % DAY_MS < DAY_MS - 240_000, "midnight (UTC) doesn't fall into it", timeout_s=300
    )
    topics.create(topic_name, partitions=1)
    seend = daemon(
        topic_name,
        one_filter(topic_name, window_days=1),
    )
    seend.start()
    old = one_by_one(Oracle(), [(user, f"old-{user}") for user in USERS], since_ms - 10_000)
    topics.produce(topic_name, [(*record, {"timestamp": since_ms - 10_000}) for record in old])
    first_kept = topics.produce(
        topic_name, [("edge", event("edge", "x", since_ms), {"timestamp": since_ms})]
    )[0][1]
    seend.wait_at_rest()
    seend.stop()
    before = published(topics, topic_name)
    assert all(
        holds(before[user], f"old-{user}") and complete_since_of(before[user]) is None for user in USERS
    )
    shutil.rmtree(seend.store)
    kafka.delete_records(topic_name, {0: first_kept})
    topics.produce(topic_name, one_by_one(Oracle(), [("u0", "new")]))
    return seend, first_kept


def test_lost_state_is_merged_with_what_was_published_until_the_window_has_passed(
    kafka, topics, daemon, topic_name
):
    since_ms = now_ms() - DAY_MS + 50_000  # in 50 s it is older than the window of a day
    seend, first_kept = lose_state(kafka, topics, daemon, topic_name, since_ms)
    seend.start("--rebuild")
    seend.wait_at_rest()

    def filter_status():
        return seend.partition_status()[0]["filters"][0]

    assert filter_status() == {"filter": "default", "complete_since": since_ms}
    assert [(r["from_offset"], r["to_offset"]) for r in seend.partition_status()[0]["lost_ranges"]] == [
        (0, first_kept)
    ]
    assert seend.metric_sum("seen_incomplete_filters") == 1
    wait_until(lambda: seend.metric_sum("seen_snapshots_merged_total") > 0, "merged snapshots are counted")
    now = published(topics, topic_name)
    assert all(holds(now[user], f"old-{user}") for user in USERS), "nobody's snapshot lost what it held"
    assert holds(now["u0"], "new") and complete_since_of(now["u0"]) == since_ms
    for user in ("u0", "u1"):
        answer = seend.http.get(user_path(user))
        assert int(answer.headers["Seen-Complete-Since"]) == since_ms
        assert holds(answer.body, f"old-{user}"), "an answer over HTTP is the same union"
        assert seend.segments(user)["complete_since"] == since_ms
        assert seend.unseen(user, [f"old-{user}", "never"]) == ["never"]
    assert seend.unseen("u0", ["new", "never"]) == ["never"]

    assert seend.http.post("/v1/lost-ranges/acknowledge").status == 200
    wait_until(lambda: not seend.partition_status()[0]["lost_ranges"], "acknowledged")
    assert filter_status()["complete_since"] == since_ms, "knowing of it doesn't make it whole"
    seend.stop()
    topics.produce(topic_name, one_by_one(Oracle(), [("u1", "newer")]))
    seend.start()
    seend.wait_at_rest()
    after = published(topics, topic_name)
    assert holds(after["u1"], "old-u1") and holds(after["u1"], "newer"), "a restart goes on with what it kept"

    wait_until(
        lambda: filter_status()["complete_since"] is None, "the window has passed", timeout_s=90, every_s=0.5
    )
    topics.produce(
        topic_name, one_by_one(Oracle(), [("u2", "newest")])
    )  # moves partition time past the window, too
    wait_until(
        lambda: "u5" not in published(topics, topic_name), "who has nothing left has a tombstone", every_s=0.5
    )
    seend.wait_at_rest()
    whole = published(topics, topic_name)
    assert set(whole) == {"u0", "u1", "u2", "edge"}
    assert holds(whole["u0"], "new") and not holds(whole["u0"], "old-u0")
    assert complete_since_of(whole["u0"]) is None
    assert "Seen-Complete-Since" not in seend.http.get(user_path("u0")).headers
    assert seend.metric_sum("seen_incomplete_filters") == 0


def test_incomplete_state_is_published_as_it_is_where_that_is_asked_for(kafka, topics, daemon, topic_name):
    since_ms = now_ms() - DAY_MS // 2
    seend, _ = lose_state(kafka, topics, daemon, topic_name, since_ms)
    seend.start("--publish-incomplete")  # needs no --rebuild: the daemon reads missing state again anyway
    seend.wait_at_rest()
    assert "state is missing, and retention has deleted a part of the window" in seend.log()
    now = published(topics, topic_name)
    assert holds(now["u0"], "new") and not holds(now["u0"], "old-u0")
    assert complete_since_of(now["u0"]) == since_ms
    assert seend.metric_sum("seen_snapshots_merged_total") == 0


def test_a_retention_below_the_window_is_warned_of(started):
    seend = started(**{"retention.ms": str(7 * DAY_MS)})
    wait_until(lambda: "longest window of a filter is 30 days" in seend.log(), "it is warned of")
    assert "retention.ms to 2678400000 or more" in seend.log()
    wait_until(lambda: seend.metric_sum("seen_input_retention_seconds") == 7 * 86_400, "the metric has it")
    assert seend.metric_sum("seen_longest_window_seconds") == 30 * 86_400
