"""The stream of items of a test: its topics, similar texts, and the groups that the daemon publishes."""

import json
import random

from places import now_ms

NOW = now_ms()
WORDS = [
    a + b + c
    for a in ("ka", "lo", "mi", "ru", "te", "so")
    for b in ("ba", "du", "fe", "gi", "no")
    for c in ("n", "rt", "sk", "lm", "x", "p", "st")
]


def text_of(seed, words=80):
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(words))


def changed(text, at, word="zzyzx"):
    words = text.split()
    words[at] = word
    return " ".join(words)


def item(item_id, text=None, **more):
    return json.dumps(
        {"item_id": item_id, "created_at": NOW, **({} if text is None else {"text": text}), **more}
    )


class Items:
    """The topics of one test, and their records."""

    def __init__(self, topics, name, partitions=1, exists=True):
        self.topics, self.name, self.partitions = topics, name, partitions
        self.topic, self.groups = f"{name}-items", f"{name}-groups"
        topics.create(name, partitions=1)  # the topic of exposures
        if exists:
            topics.create(self.topic, partitions=partitions, max_message_bytes=20_000_000)
        self.ordered = self.topic if partitions == 1 else f"{self.topic}-in-order"

    def config(self, **more):
        return {"items": {"topic": self.topic, "groups_topic": self.groups, **more}}

    def send(self, *values):
        """Sends each value with its item's id as the key, as producers do."""

        def key(value):
            try:
                return str(json.loads(value)["item_id"])
            except (ValueError, KeyError, TypeError):
                return "?"

        producer = self.topics.producer(**{"message.max.bytes": 20_000_000})
        for value in values:
            producer.produce(self.topic, value, key(value))
            producer.poll(0)
        assert producer.flush(60) == 0

    def wait_at_rest(self, seend, timeout_s=60):
        def at_rest():
            items = (seend.status() or {}).get("items")
            if not items or not items["partitions"] or items["problem"]:
                return None
            if self.partitions > 1 and not self.ordered_all(seend):
                return None
            ends = self.topics.end_offsets(self.ordered)
            at = {p["partition"]: p["checkpoint_offset"] for p in items["partitions"]}
            return all(at.get(p, -1) >= end for p, end in ends.items())

        seend.wait(at_rest, "all items are grouped and in a checkpoint", timeout_s, 0.2)

    def ordered_all(self, seend):
        ends = {p: end for p, (_, end) in self.topics.ends(self.topic).items() if end}
        committed = self.topics.committed(f"{seend.group}-items-rekey", self.topic)
        return all(committed.get(p, -1) >= end for p, end in ends.items())

    def published(self, topic=None):
        """{item id: its newest record}, without the items that were removed (a tombstone)."""
        records = {k: json.loads(v) for k, v in self.newest(topic).items() if v is not None}
        assert all(v["item_id"] == k for k, v in records.items())
        return records

    def newest(self, topic=None):
        """{item id: the value of its newest record}"""
        return self.topics.newest(topic or self.groups)


def many_items(count):
    """Copies, near-copies, new texts for old items and deletions, in random order."""
    chance = random.Random(count)
    for n in range(count):
        seed = chance.randrange(count // 3)
        text = text_of(seed, 60)
        if chance.random() < 0.5:
            text = changed(text, chance.randrange(60))
        if n > 10 and chance.random() < 0.05:
            yield item(f"i{chance.randrange(n)}", deleted=True)
        elif n > 10 and chance.random() < 0.1:
            yield item(f"i{chance.randrange(n)}", text)
        else:
            yield item(f"i{n}", text)


def seen_similar(seend, text):
    answer = seend.http.post("/v1/similar", {"text": text})
    assert answer.status == 200, answer.body
    return sorted(s["item_id"] for s in answer.json()["similar"])
