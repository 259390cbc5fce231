"""Three daemons of one group under faults: no answer claims what it doesn't hold, no daemon ends by itself, and at rest
everything is there. SEEN_CHAOS_S says for how long; `make chaos` takes an hour."""

import json
import os
import time

import pytest
from chaos import Asker, Faults, LiveLoad
from oracle import Oracle
from places import SOURCE, wait_until

PARTITIONS = 12
SESSION = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"}


@pytest.mark.heavy
def test_no_answer_is_wrong_whatever_happens_to_daemons_and_brokers(kafka, topics, daemon, topic_name, chance):
    seconds = float(os.environ.get("SEEN_CHAOS_S", 75))
    topics.create(topic_name, partitions=PARTITIONS)
    members = [daemon(topic_name, {
        "kafka": {"instance_id": f"member-{number}", "client": SESSION},
        "state": {"topic": f"{topic_name}-state", "run_every_s": 2},
        "watermarks": {"topic": f"{topic_name}-beats"},
        "cluster": {"peers": "127.0.0.0/8", "token": "a-token-of-theirs"},
    }, name=f"member-{number}").start(ready=False) for number in range(3)]

    def owned():
        return [p for m in members for p, s in m.partition_status().items() if s["state"] == "ready"]

    wait_until(lambda: sorted(owned()) == list(range(PARTITIONS)), "each partition is owned", 60)
    faults, oracle = Faults(kafka, topics, members, topic_name, chance), Oracle()
    with LiveLoad(topics, topic_name, oracle, chance.random()) as load, \
            Asker(members, load, PARTITIONS, chance.random()) as asker:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            faults.one()
            assert not asker.wrong, asker.wrong[:5]
        wait_until(lambda: sorted(owned()) == list(range(PARTITIONS)), "each partition is owned again", 90)
    assert not load.failed, load.failed[:3]
    report = {"seconds": seconds, "faults": dict(faults.done), "events": load.sent, "answers": asker.answers,
              "items_checked": asker.checked, "without_an_answer": dict(asker.without.most_common(12)),
              "times_unanswered": asker.histogram(), "longest_s": max((g for gaps in asker.gaps.values() for g in gaps), default=0),
              "foreign_snapshots": sum(m.metric_sum("seen_snapshots_foreign_total") for m in members)}
    print(json.dumps(report, indent=1))
    logs = SOURCE / "build" / "test-logs"
    if logs.is_dir():
        (logs / "chaos.json").write_text(json.dumps(report, indent=1))
    assert not asker.wrong, asker.wrong[:5]
    assert asker.checked > 1000, "the answers were held to something"
    ends = {p: end for p, (_, end) in topics.ends(topic_name).items()}

    def at_rest():
        status = {p: s for m in members for p, s in m.partition_status().items() if s["state"] == "ready"}
        return len(status) == PARTITIONS and all(
            s["next_offset"] >= ends[p] and s["marks_outstanding"] == 0 for p, s in status.items())
    wait_until(at_rest, "all is read and published", 120)
    time.sleep(6)  # the guard looks twice
    wait_until(at_rest, "all is read and published", 60)
    for member in members:
        oracle.check_http(member, users=oracle.users()[:100], strangers=3)
        assert all(s["lost_ranges"] == [] for s in member.partition_status().values())
    oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)
