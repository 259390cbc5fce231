"""What every user has seen, kept in the simplest way, and checks of a daemon against it."""

import collections
import json

from hashes import fingerprint, partition_of
from snapshot_reader import read_snapshot, render

DAY_MS = 86_400_000


def event(user, item, exposed_at, **more):
    return json.dumps({"user_id": user, "item_id": item, "exposed_at": exposed_at, **more})


class Oracle:
    def __init__(self):
        self.days = collections.defaultdict(lambda: collections.defaultdict(set))  # user -> day -> item ids

    def add(self, user, item, exposed_at):
        self.days[user][exposed_at // DAY_MS].add(item)

    def users(self):
        return list(self.days)

    def items(self, user):
        return set().union(*self.days[user].values()) if user in self.days else set()

    def fingerprints(self, user):
        return {fingerprint(item) for item in self.items(user)}

    def check_http(self, seend, users=None, strangers=20):
        """Checks that the seen sets are exactly the expected ones, day by day: shown items are seen, and no
        others."""
        for user in users if users is not None else self.users():
            shown, prints = sorted(self.items(user)), self.fingerprints(user)
            other = [f"never-shown-{i}" for i in range(strangers)]
            other = [item for item in other if fingerprint(item) not in prints]
            missed = [item for item in seend.unseen(user, shown + other) if item not in set(other)]
            assert not missed, f"false negatives for {user}: {missed[:5]} ({len(missed)} of {len(shown)})"
            assert seend.unseen(user, shown[:3] + other) == other
            kept = seend.segments(user)
            expected = {day: len({fingerprint(i) for i in items}) for day, items in self.days[user].items()}
            actual = {
                s["first_at_ms"] // DAY_MS: s["items"] for s in kept["segments"] if s["kind"] == "exposed"
            }
            assert actual == expected, f"{user}: segments"
            assert kept["items"] == len(prints), user

    def check_snapshot(self, user, data, rate=0.01):
        snapshot = read_snapshot(data)
        prints = self.fingerprints(user)
        assert snapshot.item_count == len(prints), f"{user}: {snapshot.item_count} items, not {len(prints)}"
        assert snapshot.payload == render(prints, len(snapshot.payload) // 32), f"{user}: another payload"
        assert snapshot.false_positive_rate == rate
        return snapshot

    def check_published(self, topics, topic, input_partitions, partitioner="murmur2"):
        """Checks that the snapshot topic has exactly the expected filter of every user. The daemon must be at
        rest."""
        last = {}
        for message in topics.read_all(topic):
            user = message.key().decode()
            assert message.partition() == partition_of(user, input_partitions, partitioner), user
            if message.value() is not None:
                last[user] = message.value()
        assert set(last) == set(self.days), "users with a snapshot"
        for user, data in last.items():
            snapshot = self.check_snapshot(user, data)
            assert snapshot.partition == partition_of(user, input_partitions, partitioner)
        return last
