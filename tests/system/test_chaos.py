"""Three daemons and two replicas under faults, and readers of updates in four languages. No answer claims to
be newer than it is, no daemon ends by itself, and at rest nothing is missing. SEEN_CHAOS_S: seconds of the
run; `make chaos` takes an hour."""

import json
import os
import time

import pytest
from chaos import Asker, Faults, LiveLoad, Readers
from faults import Network, Preloaded
from oracle import Oracle
from places import SOURCE, wait_until
from seend import with_updates

PARTITIONS = 12
REFRESH_S = 5


def started(member, topics, topic, tmp_path, number, replica):
    name = f"{'replica' if replica else 'member'}-{number}"
    config = with_updates(topic, refresh_s=REFRESH_S)
    config["filters"].append({"name": "plain", "snapshot": {"topic": f"{topic}-plain", "debounce_ms": 200}})
    member = member(name, replica, state={"run_every_s": 2}, **config)
    member.disk = Preloaded(member.store)
    member.network = Network(tmp_path, member.name, topics.bootstrap)
    member.environment = {
        **member.disk.environment,
        **member.network.environment,
        "LD_PRELOAD": ":".join(given.environment["LD_PRELOAD"] for given in (member.disk, member.network)),
    }
    return member.start(ready=False)


@pytest.mark.heavy
def test_no_answer_is_wrong_whatever_happens_to_daemons_and_brokers(
    kafka, topics, member, topic_name, example, tmp_path, chance
):
    seconds = float(os.environ.get("SEEN_CHAOS_S", 75))
    topics.create(topic_name, partitions=PARTITIONS)
    members = [
        started(member, topics, topic_name, tmp_path, number, replica)
        for number, replica in enumerate((False, False, False, True, True))
    ]
    groups = {members[0].group: members[:3], members[3].group: members[3:]}

    def ready(group):
        return sorted(
            p for m in groups[group] for p, s in m.partition_status().items() if s["state"] == "ready"
        )

    def all_ready():
        return all(ready(group) == list(range(PARTITIONS)) for group in groups)

    wait_until(all_ready, "both groups have each partition", 90)
    faults, oracle = Faults(kafka, topics, members, topic_name, chance), Oracle()
    with (
        LiveLoad(topics, topic_name, oracle, chance.random(), PARTITIONS) as load,
        Asker(members, load, PARTITIONS, chance.random()) as asker,
        Readers(example, topics, topic_name, load, chance.random()) as readers,
    ):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            faults.one()
            assert all(aside.thread.is_alive() for aside in (load, asker, readers)), "each still works"
            assert not asker.wrong, asker.wrong[:5]
            assert not readers.wrong, readers.wrong[:5]
        wait_until(all_ready, "both groups have each partition again", 120)
    assert not load.failed, load.failed[:3]
    report = {
        "seconds": seconds,
        "faults": dict(faults.done),
        "events": load.sent,
        "answers": asker.answers,
        "items_checked": asker.checked,
        "without_an_answer": dict(asker.without.most_common(12)),
        "times_unanswered": asker.histogram(),
        "longest_s": max((g for gaps in asker.gaps.values() for g in gaps), default=0),
        "claims_of_readers": dict(readers.claims),
        "stale_answers_of_readers": dict(readers.others),
        "items_checked_of_readers": readers.checked,
        "foreign_snapshots": sum(m.metric_sum("seen_snapshots_foreign_total") for m in members),
    }
    print(json.dumps(report, indent=1))
    logs = SOURCE / "build" / "test-logs"
    if logs.is_dir():
        (logs / "chaos.json").write_text(json.dumps(report, indent=1))
    assert not asker.wrong, asker.wrong[:5]
    assert asker.checked > 1000, "the answers were held to something"
    assert not readers.wrong, readers.wrong[:5]
    assert readers.checked > 1000, "the readers were held to something"
    assert set(readers.claims) == set(readers.readers), "each reader claimed to be fresh at times"
    ends = topics.end_offsets(topic_name)

    def at_rest():
        owner = members[0].status()["owner_group"]
        if any(m.status()["owner_group"] != owner for m in members):
            return False
        for group in groups:
            states = [(p, s) for m in groups[group] for p, s in m.partition_status().items()]
            if not all(s["assigned"] for _, s in states):
                return False  # a former owner still answers
            status = {p: s for p, s in states if s["state"] == "ready"}
            if sorted(status) != list(range(PARTITIONS)) or any(
                s["next_offset"] < ends[p] for p, s in status.items()
            ):
                return False
            if group == owner and any(
                s["marks_outstanding"] or (s["published_to"] or 0) < ends[p] for p, s in status.items()
            ):
                return False
        return True

    wait_until(at_rest, "all is read and published", 120)
    time.sleep(6)  # long enough for two checks by the guard
    wait_until(at_rest, "all is read and published", 60)
    for member in members:
        oracle.check_http(member, users=oracle.users()[:100], strangers=3)
        assert all(s["lost_ranges"] == [] for p, s in member.partition_status().items() if p < PARTITIONS)
    for snapshots in (f"{topic_name}-filters", f"{topic_name}-plain"):
        oracle.check_published(topics, snapshots, PARTITIONS)
    readers.wait_fresh(oracle.users()[:50])
    assert not readers.wrong, readers.wrong[:5]
