"""The reader of snapshots and updates: each rule of schemas/update.md by itself, and all against a naive
model."""

import json
import os
import pathlib
import random
import subprocess
import sys
import threading

import pytest

import encoders
from encoders import print_of, section, snapshot_of, update, user_hash, with_similar, with_updates
from reader_model import Model
from seen_client import (
    FilterReader,
    MalformedSnapshotError,
    Snapshot,
    SnapshotError,
    UnsupportedSnapshotError,
    UpdateError,
    WatermarkError,
    addition_log,
)
from seen_client.hashing import GROUP, NEAR, in_domain

SEED = int(os.environ.get("SEEN_SEED", 20260101))
NOW = 1_763_700_000_000


def beat(partition=0, **changes):
    """The key and the value of a record of the topic of watermarks."""
    value = {
        "version": 1,
        "partition": partition,
        "partition_time_ms": NOW,
        "next_offset": 9,
        "lag_messages": 0,
        "unpublished_users": 0,
        "heartbeat_ms": NOW,
        **changes,
    }
    return b"%d" % partition, json.dumps(value).encode()


def base(published_to, generation=1, snapshots_to=0, **changes):
    ends = {"default": snapshots_to, "other": 10**6}
    return beat(generation=generation, published_to=published_to, snapshots_to=ends, **changes)


def shown(user, *items, **fields):
    """An update with one section of seen items."""
    of_section = {name: fields.pop(name) for name in ("mask", "until_s") if name in fields}
    return update(section([(user_hash(user), list(map(print_of, items)))], **of_section), **fields)


def published(*items, **fields):
    return with_updates(snapshot_of("fingerprints", items), **fields)


def at_base(published_to=10, **named):
    """A reader that stands at the end of the snapshots, with a base."""
    reader = FilterReader("default", named.pop("partitions", [0]), **named)
    reader.snapshots_end(0, 5)
    reader.take_beat(*base(published_to, snapshots_to=5))
    return reader


def state(reader, partition=0):
    return reader.complete_to(partition), reader.as_of(partition), reader.additions


# --- how fresh it is


def test_without_a_beat_it_is_not_fresh_but_answers_with_what_it_has():
    reader = FilterReader("default", [0])
    reader.take_update(shown("u", "a"))
    reader.take_snapshot(0, "u", published("b"))
    assert state(reader) == (None, None, 1) and reader.as_of() is None
    assert reader.unseen("u", ["a", "b", "c"]) == ["c"] and reader.unseen("v", ["a", "b"]) == ["a", "b"]


def test_a_base_counts_once_the_reader_stands_at_the_end_beyond_it():
    reader = FilterReader("default", [0])
    reader.take_beat(*base(10, snapshots_to=5))
    assert state(reader) == (None, None, 0), "not at the end"
    reader.snapshots_end(0, 4)
    assert state(reader) == (None, None, 0), "a record that the base relies on may be missing"
    reader.snapshots_end(0, 5)
    assert state(reader) == (10, None, 0), "nothing says how late that is"
    reader.take_update(update(begin=10, end=12, as_of_ms=70))
    assert state(reader) == (12, 70, 0)
    reader.snapshots_restart(0)
    reader.take_beat(*base(20, snapshots_to=5))
    assert state(reader) == (None, None, 0), "it starts over"
    reader.snapshots_end(0, 6)
    assert state(reader) == (20, None, 0), "what it knew ends below the base"
    reader.take_update(update(begin=20, end=20, as_of_ms=80))
    assert state(reader) == (20, 80, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"published_to": 10},
        {"published_to": 10, "snapshots_to": {}},
        {"published_to": 10, "snapshots_to": {"other": 1}},
        {"snapshots_to": {"default": 1}},
    ],
)
def test_without_a_valid_base_nothing_is_complete(changes):
    reader = FilterReader("default", [0])
    reader.snapshots_end(0, 5)
    reader.take_beat(*beat(generation=1, **changes))
    reader.take_update(shown("u", "a", begin=5, end=9))
    assert state(reader) == (None, None, 1)


def test_only_the_newest_beat_counts():
    reader = FilterReader("default", [0])
    reader.take_beat(*base(10, snapshots_to=5))
    reader.take_beat(*beat(generation=1))
    reader.snapshots_end(0, 5)
    assert state(reader) == (None, None, 0), "what an older one said is taken back"
    reader.take_beat(*base(7, snapshots_to=5))
    assert state(reader) == (7, None, 0)


def test_a_base_never_takes_completeness_back():
    reader = at_base(10)
    reader.take_update(update(begin=10, end=20, as_of_ms=70))
    reader.take_beat(*base(15, snapshots_to=5))
    assert state(reader) == (20, 70, 0)


def test_records_go_on_where_the_last_ended_and_the_newest_time_counts():
    reader = at_base(10)
    for begin, end, as_of_ms, expected in [
        (8, 11, 50, (11, 50, 0)),
        (11, 11, 60, (11, 60, 0)),  # a quiet partition
        (11, 11, 55, (11, 55, 0)),  # the daemon's clock was ahead
        (5, 10, 90, (11, 55, 0)),  # ends before
        (0, 13, -1, (13, 55, 0)),  # it isn't known how late
        (14, 15, 80, (13, 55, 0)),  # a gap
    ]:
        reader.take_update(update(begin=begin, end=end, as_of_ms=as_of_ms))
        assert state(reader) == expected
    assert reader.as_of() == 55


def test_as_of_minus_one_is_not_known():
    reader = at_base(10)
    reader.take_update(update(begin=10, end=11, as_of_ms=-1))
    assert state(reader) == (11, None, 0)
    reader.take_update(update(begin=11, end=11, as_of_ms=0))
    assert state(reader) == (11, 0, 0)


def test_one_run_beyond_a_gap_is_kept_and_joined():
    reader = at_base(10)
    for begin, end, as_of_ms in [
        (20, 25, 90),
        (25, 30, 70),  # the newest time counts
        (18, 22, 65),  # that isn't the newest one's
        (30, 30, -1),
        (5, 9, 99),
        (12, 17, 99),
    ]:
        reader.take_update(update(begin=begin, end=end, as_of_ms=as_of_ms))
    assert state(reader) == (10, None, 0)
    reader.take_beat(*base(17, snapshots_to=5))
    assert state(reader) == (17, None, 0), "the run begins at 18"
    reader.take_beat(*base(18, snapshots_to=5))
    assert state(reader) == (30, 70, 0)


def test_a_later_run_takes_the_place_of_the_one_before():
    reader = at_base(10)
    reader.take_update(update(begin=12, end=14, as_of_ms=50))
    reader.take_update(update(begin=20, end=22, as_of_ms=60))
    reader.take_update(update(begin=10, end=12, as_of_ms=40))
    assert state(reader) == (12, 40, 0)
    reader.take_beat(*base(25, snapshots_to=5))
    assert state(reader) == (25, 40, 0), "the run ended before: its time is no later than that"
    reader.take_update(update(begin=25, end=26, as_of_ms=70))
    assert state(reader) == (26, 70, 0)


def test_a_record_that_closes_the_gap_joins_the_run():
    reader = at_base(10)
    reader.take_update(update(begin=12, end=14, as_of_ms=50))
    reader.take_update(update(begin=10, end=12, as_of_ms=60))
    assert state(reader) == (14, 50, 0), "the run's time is the newest"
    reader.take_update(update(begin=15, end=16, as_of_ms=-1))
    reader.take_update(update(begin=14, end=15, as_of_ms=40))
    assert state(reader) == (16, 40, 0), "the run's time isn't known"


def test_several_partitions_are_as_fresh_as_the_oldest():
    reader = at_base(10, partitions=[0, 1])
    reader.take_update(update(begin=10, end=11, as_of_ms=70))
    assert reader.as_of(0) == 70 and reader.as_of(1) is None and reader.as_of() is None
    reader.snapshots_end(1, 0)
    reader.take_beat(*base(0, partition=1))
    reader.take_update(update(partition=1, begin=0, end=0, as_of_ms=60))
    assert reader.as_of() == reader.as_of(1) == 60


# --- another log, another topic


def of_topic(log=None, topic=None, published_to=20, **changes):
    """A beat with a base that names the log and the topic of the snapshots."""
    logs = {} if log is None else {"snapshots_log": {"default": log, "other": 99}}
    topics = {} if topic is None else {"snapshots_topic": {"default": topic, "other": "elsewhere"}}
    return base(published_to, snapshots_to=5, **logs, **topics, **changes)


def test_another_log_means_to_start_over_and_nothing_settles_before():
    reader = FilterReader("default", [0, 1])
    assert not reader.must_restart(0), "no beat yet"
    reader.snapshots_end(0, 5)
    reader.take_beat(*of_topic(7, published_to=10))
    assert state(reader) == (10, None, 0) and not reader.must_restart(0), "the first one is the one it reads"
    reader.take_update(shown("u", "a", begin=10, end=12))
    for log in (8, None, 6):
        reader.take_beat(*of_topic(log))
        reader.snapshots_end(0, 9)
        assert state(reader) == (12, 1_000, 1) and reader.must_restart(0), "a filter without a log has 0"
    reader.take_beat(*of_topic(7, published_to=11))
    assert not reader.must_restart(0), "it is the same again"
    reader.take_beat(*of_topic(8))
    reader.snapshots_restart(0)
    assert state(reader) == (None, None, 1) and not reader.must_restart(0)
    reader.snapshots_end(0, 5)
    assert state(reader) == (20, None, 0) and not reader.must_restart(1)


def test_a_beat_without_generation_says_nothing_of_the_log():
    reader = at_base(10)
    reader.take_beat(*of_topic(1))
    for silent in (beat(snapshots_log={"default": 0}), (b"0", None)):
        reader.take_beat(*silent)
        assert reader.must_restart(0)
    reader.snapshots_restart(0)
    for silent in (beat(), (b"0", None)):
        reader.take_beat(*silent)
        assert not reader.must_restart(0)
    other = FilterReader("default", [0])
    other.take_beat(*beat(snapshots_log={"default": 3}))
    other.snapshots_restart(0)
    other.take_beat(*of_topic(4))
    assert not other.must_restart(0), "the first log is that of the first beat with a generation"


def test_a_filter_that_moved_never_settles_until_it_is_back():
    reader = at_base(10, snapshots_topic="here")
    assert reader.moved_to(0) is None, "the beat names no topic"
    reader.take_beat(*of_topic(topic="there"))
    reader.snapshots_end(0, 9)
    assert reader.moved_to(0) == "there" and state(reader) == (10, None, 0)
    for silent in (beat(snapshots_topic={"default": "there"}), (b"0", None), of_topic(published_to=15)):
        reader.take_beat(*silent)
        assert reader.moved_to(0) is None, "only the newest beat counts"
    reader.take_beat(*of_topic(topic="there"))
    assert reader.moved_to(0) == "there" and state(reader) == (15, None, 0)
    reader.take_beat(*of_topic(topic="here"))
    assert reader.moved_to(0) is None and state(reader) == (20, None, 0)


def test_who_is_not_told_the_topic_never_moves():
    reader = at_base(10)
    reader.take_beat(*of_topic(topic="there"))
    assert reader.moved_to(0) is None and state(reader) == (20, None, 0)


def test_an_incomplete_filter_says_since_when_nothing_is_missing():
    reader = FilterReader("default", [0, 1])

    def says(partition, **members):
        reader.take_beat(*beat(partition, **members))
        return reader.complete_since(partition), reader.complete_since()

    assert (reader.complete_since(0), reader.complete_since()) == (None, None)
    assert says(0, generation=1, complete_since_ms={"default": 70, "other": 99}) == (70, 70)
    assert says(1, generation=1, complete_since_ms={"default": 60}) == (60, 70)
    assert says(1, generation=1, complete_since_ms={"default": 80}) == (80, 80)
    assert says(1, generation=1, complete_since_ms={"default": None, "other": 99}) == (None, 70)
    assert says(0, complete_since_ms={"default": 70}) == (None, None), "a daemon without updates"
    assert says(0, generation=1, complete_since_ms={"default": 0}) == (0, 0)
    reader.take_beat(b"0", None)
    assert reader.complete_since() is None


# --- which additions it holds


def test_a_base_drops_the_additions_that_it_covers():
    reader = at_base(10)
    reader.take_update(shown("u", "a", begin=10, end=12))
    reader.take_update(shown("u", "b", "c", begin=12, end=14))
    assert reader.unseen("u", ["a", "b", "c"]) == [] and reader.additions == 3
    reader.take_beat(*base(13, snapshots_to=5))
    assert reader.unseen("u", ["a", "b", "c"]) == ["a"] and reader.additions == 2
    reader.take_update(shown("u", "d", begin=9, end=13))
    assert reader.unseen("u", ["d"]) == ["d"] and reader.additions == 2, "a record that came late"


def test_what_came_while_the_reader_started_over_goes_with_the_next_end():
    reader = at_base(10)
    reader.snapshots_restart(0)
    reader.take_update(shown("u", "a", begin=5, end=9))
    assert reader.unseen("u", ["a"]) == [] and reader.additions == 1
    reader.snapshots_end(0, 5)
    assert reader.unseen("u", ["a"]) == ["a"] and reader.additions == 0


def test_records_without_the_filter_and_sections_without_it_do_not_matter():
    reader = at_base(10)
    reader.take_update(shown("u", "a", begin=10, end=12, filters=("other",)))
    assert state(reader) == (10, None, 0)
    both = dict(begin=10, end=12, filters=("other", "default"))
    reader.take_update(shown("u", "a", mask=1, **both))
    assert state(reader) == (12, 1_000, 0)
    reader.take_update(shown("u", "b", mask=2, **both))
    reader.take_update(shown("u", "c", mask=3, **both))
    assert reader.unseen("u", ["a", "b", "c"]) == ["a"]


def test_an_addition_counts_unless_the_users_snapshot_has_it():
    reader = at_base(10)
    reader.take_update(shown("u", "a", begin=10, end=20))
    for fields, is_seen in [
        ({"input_offset": 19}, True),
        ({"input_offset": 20}, False),
        ({"input_offset": 99, "generation": 2}, True),
        ({"input_offset": 99, "partition": 1}, True),
    ]:
        reader.take_snapshot(0, "u", published("x", **fields))
        assert reader.might_contain("u", "a") == is_seen and reader.might_contain("u", "x")
    reader.take_snapshot(0, "u", snapshot_of("fingerprints", ["x"]))
    assert reader.might_contain("u", "a"), "a snapshot from before the updates has no generation"
    reader.take_snapshot(0, "u", published(input_offset=20))
    reader.take_snapshot(0, "u", None)
    assert reader.might_contain("u", "a") and not reader.might_contain("u", "x"), "a tombstone has no offset"
    assert reader.additions == 1


def test_served_items_count_until_their_second():
    reader = at_base(10)
    reader.take_update(shown("u", "a", until_s=2_000, begin=10, end=12))
    assert reader.might_contain("u", "a", now_ms=1_999_999)
    assert not reader.might_contain("u", "a", now_ms=2_000_000) and not reader.might_contain("u", "a")
    assert reader.unseen("u", ["a"], now_ms=0) == [] and reader.unseen("u", ["a"], now_ms=2_000_000) == ["a"]
    reader.take_update(shown("u", "b", until_s=2**32 - 1, begin=12, end=13))
    assert reader.might_contain("u", "b") and reader.additions == 2


def test_what_is_similar_comes_from_both():
    reader = at_base(10)
    near, group = in_domain(print_of("n"), NEAR), in_domain(print_of("g"), GROUP)
    reader.take_update(update(section([(user_hash("u"), [near, group])], kind=1), begin=10, end=12))
    assert reader.might_be_near("u", "n") and reader.might_hold_group("u", "g")
    assert not reader.might_be_near("u", "g") and not reader.might_hold_group("u", "n")
    assert not reader.might_contain("u", "n") and not reader.might_be_near("v", "n")
    reader.take_update(update(section([(user_hash("v"), [print_of("x")])], kind=1), begin=12, end=13))
    reader.take_update(update(section([(user_hash("v"), [near])]), begin=13, end=14))
    assert not reader.might_contain("v", "x") and not reader.might_be_near("v", "n"), "each by its kind"
    payload = encoders.fingerprints([in_domain(print_of("m"), NEAR), in_domain(print_of("h"), GROUP)])
    old = with_updates(with_similar(snapshot_of("fingerprints", ["s"]), payload, 11), input_offset=11)
    reader.take_snapshot(0, "u", old)
    assert reader.might_be_near_many("u", ["m", "n", "o"]).tolist() == [True, True, False]
    assert reader.might_hold_group("u", "h") and reader.might_contain("u", "s")
    reader.take_snapshot(0, "u", published(input_offset=12))
    assert not reader.might_be_near("u", "n"), "the snapshot has it, and says what is near"


def test_candidates_keep_their_order_and_come_once():
    reader = at_base(10)
    reader.take_update(shown(7, "n1", 7, begin=10, end=12))
    assert reader.unseen("7", ["b", "n1", "a", "b", 8, "8", 7, "7"], [9, "a"]) == ["b", 8]
    assert reader.unseen(7, [9], ["9"]) == [] and reader.unseen(7, iter([])) == []
    assert reader.might_contain_many(7, ["n1", "b", 7]).tolist() == [True, False, True]
    for ask in (reader.unseen, reader.might_contain_many):
        with pytest.raises(TypeError, match="single 'n1'"):
            ask("u", "n1")
    with pytest.raises(TypeError, match="item id"):
        reader.unseen(None, ["a"])


def test_a_user_in_two_partitions_has_both_snapshots():
    """A producer that maps users by another rule."""
    reader = at_base(10, partitions=[0, 1])
    reader.take_snapshot(0, "u", published("a", partition=0, input_offset=50))
    reader.take_snapshot(1, "u", published("b", partition=1, input_offset=50))
    reader.take_update(shown("u", "c", partition=1, begin=50, end=51))
    assert reader.unseen("u", ["a", "b", "c", "d"]) == ["d"]
    reader.take_snapshot(1, "u", None)
    assert reader.unseen("u", ["a", "b", "c", "d"]) == ["b", "d"]


def test_a_record_that_ends_at_its_begin_belongs_to_the_event_there():
    """An event of several records: only the last of them ends beyond it."""
    reader = at_base(10)
    reader.take_update(shown("u", "a", begin=10, end=10))
    reader.take_beat(*base(10, snapshots_to=5))
    reader.take_snapshot(0, "u", published(input_offset=10))
    assert state(reader) == (10, 1_000, 1) and reader.might_contain("u", "a")
    reader.take_snapshot(0, "u", published(input_offset=11))
    assert not reader.might_contain("u", "a")
    reader.take_beat(*base(11, snapshots_to=5))
    assert state(reader) == (11, 1_000, 0)


def test_a_part_that_is_missing_is_a_gap_of_its_event():
    for lost in (0, 1, 2, None):
        reader = at_base(10)
        for part, end in enumerate((10, 10, 13)):
            if part != lost:
                reader.take_update(shown("u", "abc"[part], begin=10, end=end, part=part, as_of_ms=end))
        assert state(reader) == ((13, 13, 3) if lost is None else (10, 10 if lost else None, 2))
        reader.take_beat(*base(11, snapshots_to=5))
        assert state(reader) == ((11, 10, 0) if lost == 2 else (13, 13, 1))


def test_offsets_and_times_far_out_are_no_error():
    reader = at_base(10)
    reader.take_update(shown("u", "a", begin=2**63 - 1, end=2**63 - 1, as_of_ms=2**63 - 1))
    reader.take_update(shown("u", "b", generation=2**63 - 1, begin=0, end=2**63 - 1, until_s=2**32 - 1))
    for now_ms in (0, -1, 2**80):
        assert reader.might_contain("u", "a", now_ms=now_ms)
        assert reader.might_contain("u", "b", now_ms=now_ms) == (now_ms < 2**80)
    reader.take_beat(*base(2**63 - 1, snapshots_to=5))
    assert state(reader) == (2**63 - 1, 2**63 - 1, 1)


def test_memory_is_shown():
    reader = at_base(10)
    before = reader.memory_bytes
    for _ in range(2):
        reader.take_snapshot(0, "u", published("a"))
    assert 0 < reader.memory_bytes - before < 1_000
    reader.take_snapshot(0, "u", None)
    assert reader.memory_bytes == before
    many = section([(user_hash("u"), list(range(60_000)))])
    for end in range(11, 51):
        reader.take_update(update(many, begin=end - 1, end=end))
    assert 16 * reader.additions <= reader.memory_bytes < 18 * reader.additions
    reader.take_beat(*base(45, snapshots_to=5))
    assert reader.additions == 300_000 and reader.memory_bytes - before < 36 * reader.additions
    reader.take_beat(*base(50, snapshots_to=5))
    assert reader.additions == 0 and reader.memory_bytes == before


# --- generations


def test_a_new_generation_forgets_the_old_one_once_it_has_a_base():
    reader = at_base(10)
    reader.take_update(shown("u", "a", begin=10, end=12))
    reader.take_update(shown("u", "b", generation=2, begin=3, end=5, as_of_ms=90))
    reader.take_beat(*beat(generation=2))
    assert state(reader) == (None, None, 2) and reader.unseen("u", ["a", "b"]) == []
    reader.take_beat(*base(3, generation=2, snapshots_to=5))
    assert state(reader) == (5, 90, 1) and reader.unseen("u", ["a", "b"]) == ["a"]
    reader.take_update(shown("u", "c", begin=12, end=13))
    assert state(reader) == (5, 90, 1), "a zombie's record of a past generation"
    reader.take_beat(*base(30, generation=1, snapshots_to=5))
    assert state(reader) == (30, None, 0), "the old one is back"


def test_a_beat_without_generation_is_of_a_daemon_without_updates():
    reader = at_base(10)
    reader.take_update(shown("u", "a", begin=10, end=12))
    assert state(reader) == (12, 1_000, 1)
    reader.take_beat(*beat(published_to=50))
    assert state(reader) == (None, None, 1)
    reader.take_beat(*base(10, snapshots_to=5))
    assert state(reader) == (12, 1_000, 1)
    reader.take_beat(b"0", None)
    assert state(reader) == (None, None, 1), "nor does a tombstone say anything"


def test_a_generation_that_sixty_beats_do_not_name_is_forgotten():
    reader = at_base(10)
    reader.take_update(shown("u", "a", generation=9, begin=3, end=5))
    for _ in range(59):
        reader.take_beat(*base(10, snapshots_to=5))
    assert reader.additions == 1
    reader.take_update(shown("u", "b", generation=9, begin=5, end=6))
    for _ in range(58):
        reader.take_beat(*base(10, snapshots_to=5))
    reader.take_beat(b"0", None)
    assert reader.additions == 2
    reader.take_beat(b"0", None)
    assert reader.additions == 0, "a tombstone is a beat, too"
    reader.take_beat(*base(4, generation=9, snapshots_to=5))
    assert state(reader) == (4, None, 0), "its run is forgotten too"


def test_a_generation_that_a_beat_once_named_is_not_forgotten():
    reader = at_base(10)
    reader.take_update(shown("u", "a", begin=10, end=12))
    for _ in range(61):
        reader.take_beat(*beat(generation=2))
    assert reader.unseen("u", ["a", "b"]) == ["b"]
    reader.take_beat(*base(10, snapshots_to=5))
    assert state(reader) == (12, 1_000, 1)


def test_a_past_generation_stays_one_until_a_beat_names_it_again():
    reader = at_base(10)
    reader.take_update(shown("u", "a", begin=10, end=12))
    for _ in range(61):
        reader.take_beat(*base(0, generation=2, snapshots_to=5))
    reader.take_update(shown("u", "b", begin=12, end=13))
    assert state(reader) == (0, None, 0), "a zombie's record"
    reader.take_beat(*base(12, generation=1, snapshots_to=5))
    reader.take_update(shown("u", "b", begin=12, end=13))
    assert state(reader) == (13, 1_000, 1) and reader.unseen("u", ["a", "b"]) == ["a"]


# --- the limit


def test_beyond_the_limit_the_oldest_record_goes_and_with_it_the_freshness():
    reader = at_base(10, additions_max=3)
    reader.take_update(update(begin=10, end=11, as_of_ms=50))
    reader.take_update(shown("u", "a", "b", begin=11, end=12, as_of_ms=60))
    reader.take_update(shown("u", "c", begin=12, end=13, as_of_ms=70))
    assert state(reader) == (13, 70, 3)
    reader.take_update(shown("u", "d", begin=13, end=14, as_of_ms=80))
    assert state(reader) == (14, 50, 2) and reader.unseen("u", ["a", "b", "c", "d"]) == ["a", "b"]
    reader.take_update(shown("u", "e", "f", begin=14, end=15, as_of_ms=90))
    assert state(reader) == (15, 50, 3), "the oldest of those that were dropped counts"
    reader.take_beat(*base(12, snapshots_to=5))
    assert state(reader) == (15, 50, 3), "the record that ended at 13 is missing"
    reader.take_beat(*base(13, snapshots_to=5))
    assert state(reader) == (15, 90, 3)


def test_a_record_larger_than_the_limit_is_not_kept():
    reader = at_base(10, additions_max=2)
    reader.take_update(update(begin=10, end=11, as_of_ms=50))
    reader.take_update(shown("u", "a", begin=11, end=12, as_of_ms=60))
    sections = (section([(user_hash("u"), [1])]), section([(user_hash("u"), [2, 3])], kind=1))
    reader.take_update(update(*sections, begin=12, end=13, as_of_ms=70))
    assert state(reader) == (13, 50, 0), "the sections of a record go together"
    nothing = at_base(10, additions_max=0)
    nothing.take_update(shown("u", "a", begin=10, end=12, as_of_ms=60))
    assert state(nothing) == (12, None, 0)


def test_the_limit_is_of_all_partitions_and_only_they_are_late_that_lost_something():
    reader = at_base(10, partitions=[0, 1], additions_max=2)
    reader.snapshots_end(1, 5)
    reader.take_beat(*base(0, partition=1, snapshots_to=5))
    reader.take_update(update(begin=10, end=10, as_of_ms=50))
    reader.take_update(shown("u", "a", begin=10, end=11, as_of_ms=60))
    for end in (1, 2):
        reader.take_update(shown("u", "b", partition=1, begin=0, end=end, as_of_ms=70))
    assert reader.as_of(0) == 50 and reader.as_of(1) == 70 and reader.as_of() == 50


# --- what is refused


def test_a_refused_update_changes_nothing():
    reader = at_base(10)
    good = shown("u", "a", begin=10, end=12)
    for bad in (good[:-1], b"", None):
        with pytest.raises(UpdateError):
            reader.take_update(bad)
    assert state(reader) == (10, None, 0)


def test_a_user_whose_snapshot_is_refused_is_not_fresh_until_the_next():
    reader = at_base(10)
    reader.take_snapshot(0, "u", published("a"))
    for bad in (published("b")[:-1], b""):
        with pytest.raises(SnapshotError):
            reader.take_snapshot(0, "u", bad)
        assert reader.is_refused("u") and not reader.is_refused("v")
    assert reader.might_contain("u", "a"), "the one before stays"
    reader.take_snapshot(0, "u", published("c"))
    assert not reader.is_refused("u") and reader.unseen("u", ["a", "c"]) == ["a"]
    with pytest.raises(SnapshotError):
        reader.take_snapshot(0, 7, b"SEEN")
    assert reader.is_refused("7")
    reader.take_snapshot(0, "7", None)
    assert not reader.is_refused(7)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"generation": 0}, "generation is 0"),
        ({"generation": "1"}, "generation: not an integer"),
        ({"generation": 1, "published_to": -1}, "published_to is -1"),
        ({"generation": 1, "published_to": 1.5}, "published_to: not an integer"),
        ({"generation": 1, "published_to": 1, "snapshots_to": [1]}, "snapshots_to: not an object"),
        ({"generation": 1, "published_to": 1, "snapshots_to": {"default": "x"}}, "default: not an integer"),
        ({"generation": 1, "snapshots_to": {"default": 5, "other": -1}}, "other is -1"),
        ({"generation": 1, "updates_from": True}, "updates_from: not an integer"),
        ({"published_to": "x"}, "published_to: not an integer"),
        ({"generation": 1, "snapshots_topic": "here"}, "snapshots_topic: not an object"),
        ({"generation": 1, "snapshots_topic": {"other": 1}}, "snapshots_topic of other: not a string"),
        ({"generation": 1, "snapshots_log": 1}, "snapshots_log: not an object"),
        ({"generation": 1, "snapshots_log": {"other": "1"}}, "other: not an integer"),
        ({"generation": 1, "snapshots_log": {"default": -1}}, "default is -1"),
        ({"generation": 1, "complete_since_ms": [1]}, "complete_since_ms: not an object"),
        ({"generation": 1, "complete_since_ms": {"other": 1.5}}, "other: not an integer"),
        ({"complete_since_ms": {"default": -1}}, "default is -1"),
        ({"version": 2}, "version 2"),
    ],
)
def test_a_refused_beat_changes_nothing(changes, words):
    reader = at_base(10)
    with pytest.raises(WatermarkError, match=words):
        reader.take_beat(*beat(**changes))
    with pytest.raises(WatermarkError, match="the key is 1"):
        reader.take_beat(b"1", beat(generation=2)[1])
    assert state(reader) == (10, None, 0)
    assert not reader.must_restart(0) and reader.complete_since() is None


@pytest.mark.parametrize(
    "changes",
    [
        {"snapshots_topic": None, "snapshots_log": None, "complete_since_ms": None},
        {name: {"default": None} for name in ("snapshots_topic", "snapshots_log", "complete_since_ms")},
        {"published_to": None, "snapshots_to": {"default": 5, "other": None}},
        {"published_to": 20, "snapshots_to": None, "updates_from": None},
        {"published_to": 20, "snapshots_to": {"default": None}},
    ],
)
def test_a_member_of_a_beat_that_is_null_is_absent(changes):
    reader = at_base(10, snapshots_topic="here")
    reader.take_update(shown("u", "a", begin=10, end=12))
    reader.take_beat(*beat(generation=1, **changes))
    assert state(reader) == (12, 1_000, 1)
    assert not reader.must_restart(0) and reader.moved_to(0) is reader.complete_since(0) is None
    reader.take_beat(*beat(generation=None, published_to=20, snapshots_to={"default": 5}))
    assert state(reader) == (None, None, 1), "a beat of a daemon without updates"


def test_partitions_of_others_do_not_matter():
    reader = at_base(10)
    reader.take_update(shown("u", "a", partition=1, begin=10, end=12))
    reader.take_beat(*base(50, partition=1))
    assert state(reader) == (10, None, 0)
    for wrong in (
        *(lambda: reader.as_of(1), lambda: reader.snapshots_end(1, 5), lambda: reader.complete_to(1)),
        *(lambda: reader.must_restart(1), lambda: reader.moved_to(1), lambda: reader.complete_since(1)),
    ):
        with pytest.raises(ValueError, match="partition 1; this reader follows"):
            wrong()
    with pytest.raises(ValueError, match="partitions"):
        FilterReader("default", [])
    with pytest.raises(ValueError, match="additions_max"):
        FilterReader("default", [0], additions_max=-1)


def test_where_to_begin():
    reader = FilterReader("default", [0])
    assert reader.updates_from(0) is None
    reader.take_beat(*beat(generation=1, updates_from=77))
    assert reader.updates_from(0) == 77


# --- snapshots of such filters


def test_snapshot_refuses_those_of_filters_with_updates():
    similar = with_similar(snapshot_of("bloom", ["a"]), encoders.fingerprints([1]), 11)
    for plain in (snapshot_of("bloom", ["a"]), similar):
        data = with_updates(plain, generation=2**40, input_offset=7, partition=3)
        with pytest.raises(
            UnsupportedSnapshotError, match="read them as well .FilterReader, schemas/update.md"
        ):
            Snapshot(data)
        read = Snapshot(data, with_updates=True)
        assert (read.generation, read.input_offset, read.partition) == (2**40, 7, 3)
        assert read.might_contain("a") and Snapshot(plain, with_updates=True).generation == 0
        assert read.has_similar == (plain is similar)


@pytest.mark.parametrize(
    "data, words",
    [
        (with_updates(snapshot_of("bloom", ["a"]), generation=0), "generation is 0"),
        (with_updates(snapshot_of("bloom", ["a"]), generation=-5), "generation is -5"),
        (encoders.seal(b"\7\0", 2, flags=2), "header_bytes is 56; with bit 1 of flags it is 64"),
        (encoders.seal(encoders.bloom([1]), 2, header_bytes=72, flags=3), "with bit 1 of flags it is 80"),
    ],
)
def test_a_generation_that_is_none_is_refused(data, words):
    with pytest.raises(MalformedSnapshotError, match=words):
        Snapshot(data if "80" not in words else similar_fields(data), with_updates=True)


def similar_fields(data):
    data = bytearray(data)
    data[60] = 2
    data[56:60] = (2).to_bytes(4, "little")
    sealed = encoders.xxhash.xxh64_intdigest(bytes(data[:52] + data[56:])) & encoders.M32
    return bytes(data[:52]) + sealed.to_bytes(4, "little") + bytes(data[56:])


# --- all of it


USERS, ITEMS = ("u", "v", "w"), ("a", "b", "c", "d", "e")
DOMAINS = {0: None, 1: NEAR}


def prints_of(kind, item):
    return in_domain(print_of(item), NEAR) if kind else print_of(item)


class World:
    """The same random records to a reader and to the model."""

    def __init__(self, seed, steps, additions_max):
        self.chance = random.Random(f"{SEED} {seed}")
        self.additions_max = additions_max
        topic = self.chance.choice((None, "here"))
        self.reader = FilterReader("default", [0, 1], snapshots_topic=topic, additions_max=self.additions_max)
        self.model = Model("default", [0, 1], self.additions_max, topic)
        self.log = {0: 0, 1: 0}
        self.offset = {0: 0, 1: 0}
        self.parts = {0: 0, 1: 0}  # of the event at the offset
        self.reached = set()
        for self.step in range(steps):
            self.chance.choices(
                (
                    *(self.update, self.snapshot, self.beat, self.beats, self.end, self.restart),
                    self.restart_if_it_must,
                ),
                (50, 20, 15, 1, 12, 2, 10),
            )[0](self.chance.choice((0, 0, 1)))
            self.compare(f"seed {seed} of SEEN_SEED={SEED}, step {self.step}")

    def generation(self):
        return self.chance.choice((1, 1, 1, 1, 2, 3))

    def update(self, partition):
        chance = self.chance
        begin = max(0, self.offset[partition] + chance.choice((0, 0, 0, 0, 0, -2, -6, 3)))
        end = begin + chance.choice((0, 0, 0, 1, 2, 3))
        part = self.parts[partition] if begin == self.offset[partition] else 0
        part = chance.choice((part,) * 9 + (chance.randrange(4),))
        self.offset[partition] = max(end, self.offset[partition] - 2)
        filters = chance.choice((("default",), ("default",), ("other", "default"), ("other",)))
        sections = [
            (
                chance.randrange(1, 1 << len(filters)),
                chance.randrange(2),
                chance.choice((0, 0, 5, 9)),
                [
                    (chance.choice(USERS), chance.choices(ITEMS, k=chance.randrange(1, 4)))
                    for _ in range(chance.randrange(1, 4))
                ],
            )
            for _ in range(chance.choice((0, 1, 1, 2)))
        ]
        self.parts[partition] = part + 1 if begin == end and sections else 0
        if chance.random() < 0.08:
            return  # lost
        generation = self.generation()
        as_of_ms = chance.choice((-1, self.step, self.step, max(0, self.step - 9)))
        self.reader.take_update(
            update(
                *(
                    section(
                        [(user_hash(u), [prints_of(kind, i) for i in items]) for u, items in entries],
                        mask=mask,
                        kind=kind,
                        until_s=until_s,
                    )
                    for mask, kind, until_s, entries in sections
                ),
                partition=partition,
                generation=generation,
                begin=begin,
                end=end,
                part=part,
                as_of_ms=as_of_ms,
                filters=filters,
            )
        )
        self.model.update(partition, generation, begin, end, part, as_of_ms, filters, sections)

    def snapshot(self, partition):
        chance, user = self.chance, self.chance.choice(USERS)
        items = [chance.sample(ITEMS, chance.randrange(3)) for _ in range(2)]
        fields = {
            "generation": self.generation(),
            "partition": chance.choice((partition, partition, partition, 0, 1)),
            "input_offset": max(0, self.offset[partition] + chance.randrange(-5, 3)),
        }
        kind = chance.randrange(10)
        if kind == 0:
            with pytest.raises(SnapshotError):
                self.reader.take_snapshot(partition, user, b"SEEN")
            self.model.snapshot(partition, user, "refused")
        elif kind == 1:
            self.reader.take_snapshot(partition, user, None)
            self.model.snapshot(partition, user, None)
        else:
            near = encoders.fingerprints([prints_of(1, item) for item in items[1]])
            plain = with_similar(snapshot_of("fingerprints", items[0]), near, 11)
            self.reader.take_snapshot(partition, user, with_updates(plain, **fields))
            self.model.snapshot(partition, user, {"prints": items, **fields})

    def beat(self, partition, times=1):
        chance, value = self.chance, {}
        if chance.random() < 0.95:
            value["generation"] = self.generation()
            if chance.random() < 0.8:
                value["published_to"] = max(0, self.offset[partition] + chance.randrange(-8, 1))
            if chance.random() < 0.95:
                value["snapshots_to"] = {chance.choice(("default",) * 9 + ("other",)): chance.randrange(6)}
        value.update(self.of_topic(partition))
        for _ in range(times):
            self.reader.take_beat(*beat(partition, **value))
            self.model.beat(partition, {"version": 1, **value})

    def of_topic(self, partition):
        """The members of a beat that say where the snapshots are, and since when they are complete."""
        chance, members = self.chance, {}
        if chance.random() < 0.1:
            self.log[partition] = chance.randrange(3)
        for name, value in (
            ("snapshots_log", self.log[partition]),
            ("snapshots_topic", "there" if chance.random() < 0.1 else "here"),
            ("complete_since_ms", chance.choice((0, self.step, None))),
        ):
            if chance.random() < 0.9:
                members[name] = chance.choice(({"default": value},) * 9 + ({"other": value}, None))
        return members

    def beats(self, partition):
        if self.chance.random() < 0.2:
            self.reader.take_beat(b"%d" % partition, None)
            self.model.beat(partition, None)
        self.beat(partition, self.chance.choice((59, 60, 61)))

    def end(self, partition):
        position = self.chance.randrange(2, 7)
        self.reader.snapshots_end(partition, position)
        self.model.end(partition, position)

    def restart(self, partition):
        self.reader.snapshots_restart(partition)
        self.model.restart(partition)

    def restart_if_it_must(self, partition):
        if self.model.must_restart(partition):
            self.restart(partition)

    def compare(self, where):
        reader, model = self.reader, self.model
        assert reader.additions == len(model.additions), where
        for partition in (0, 1):
            assert reader.as_of(partition) == model.as_of(partition), where
            assert reader.complete_to(partition) == model.complete_to(partition), where
            assert reader.must_restart(partition) == model.must_restart(partition), where
            assert reader.moved_to(partition) == model.moved_to(partition), where
            assert reader.complete_since(partition) == model.complete_since([partition]), where
            if model.must_restart(partition):
                self.reached.add("another log")
            if model.moved_to(partition):
                self.reached.add("moved")
            if any(model.partitions[partition].lost.values()):
                self.reached.add("lost")
            elif model.as_of(partition) is not None:
                self.reached.add("fresh")
        assert reader.complete_since() == model.complete_since([0, 1]), where
        if reader.additions > 30:
            self.reached.add("many")
        now_ms = self.chance.choice((4_999, 5_000, 20_000))
        for user in USERS:
            assert reader.is_refused(user) == model.is_refused(user), where
            seen, near = (
                [item for item in ITEMS if model.holds(user, kind, item, now_ms)] for kind in (0, 1)
            )
            unseen = [item for item in ITEMS if item not in seen]
            assert reader.unseen(user, ITEMS, now_ms=now_ms) == unseen, where
            is_near = reader.might_be_near_many(user, ITEMS, now_ms=now_ms).tolist()
            assert [item for item, one in zip(ITEMS, is_near) if one] == near, where


@pytest.mark.parametrize("tail_rows", [3, 16, 1 << 16])
def test_random_records_are_answered_as_the_page_says(tail_rows, monkeypatch):
    """With small chunks, so that they are sealed, merged and written again all the time."""
    monkeypatch.setattr(addition_log, "TAIL_ROWS", tail_rows)
    monkeypatch.setattr(addition_log, "CHUNK_ROWS_MAX", 40)
    monkeypatch.setattr(addition_log, "CHUNKS_A_MERGE", 3)
    reached = set()
    for seed in range(8):
        reached |= World(f"{tail_rows} {seed}", 120, (0, 5, 15, 10**6)[seed % 4]).reached
    assert reached == {"another log", "fresh", "lost", "many", "moved"}, "the worlds are too tame"


def test_other_threads_never_miss_what_was_shown(monkeypatch):
    """Each item moves from an addition into the snapshot, while others ask about it."""
    monkeypatch.setattr(addition_log, "TAIL_ROWS", 8)
    reader, shown_to, wrong, asked = at_base(0), [0], [], [0, 0]

    def ask(thread):
        last = 0
        while last < 300:
            last = shown_to[0]
            items = [f"i{i}" for i in range(max(0, last - 9), last)]
            wrong.extend(reader.unseen("u", items))
            asked[thread] += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for offset in range(300):
        for _ in range(offset % 3 + 1):  # the same one may come again
            reader.take_update(shown("u", f"i{offset}", begin=offset, end=offset + 1))
        shown_to[0] = offset + 1
        if offset % 4 == 3:
            items = [f"i{i}" for i in range(offset + 1)]
            reader.take_snapshot(0, "u", published(*items, input_offset=offset + 1))
            reader.take_beat(*base(offset + 1, snapshots_to=5))
    for thread in threads:
        thread.join()
    assert wrong == [] and all(asked) and reader.additions == 0


def test_the_benchmark_runs():
    program = pathlib.Path(__file__).resolve().parents[1] / "benchmarks" / "updates.py"
    run = subprocess.run(
        [sys.executable, program, "--smoke"], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0 and run.stdout.count("\n") == 4, run.stderr
