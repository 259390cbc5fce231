"""Seeded events, and a producer that also enters them into the oracle."""

import threading

from oracle import DAY_MS, Oracle, event
from places import now_ms


class Load:
    """Events of `users` users and `items` items, in the last `days` days. A window of 30 days covers all of
    them."""

    def __init__(self, chance, users=2_000, items=20_000, days=20):
        self.chance, self.users, self.items, self.days = chance, users, items, days
        self.oracle = Oracle()

    def events(self, count):
        """Yields (key, value) pairs and enters each event into the oracle."""
        now = now_ms()
        random, integer = self.chance.random, self.chance.randrange
        for _ in range(count):
            user = f"user-{int(self.users * random() ** 2)}"  # skewed: some users are busy
            item = f"item-{integer(self.items)}"
            exposed_at = now - integer(self.days * DAY_MS)
            self.oracle.add(user, item, exposed_at)
            yield user, f'{{"user_id":"{user}","item_id":"{item}","exposed_at":{exposed_at},"scene":"s"}}'

    def send(self, topics, topic, count, rate=None):
        """Produces `count` events and waits until Kafka has them. `rate`: events/s; None: as fast as
        possible."""
        topics.produce(topic, self.events(count), rate=rate)

    def send_aside(self, *arguments, **more):
        """Runs `send` on a thread and returns the thread. Join it before you ask the oracle."""
        thread = threading.Thread(target=self.send, args=arguments, kwargs=more, daemon=True)
        thread.start()
        return thread


def one_by_one(oracle, pairs, exposed_at=None):
    """Turns (user, item) pairs into records for Topics.produce, and enters them into the oracle."""
    at = exposed_at or now_ms()
    for user, item in pairs:
        oracle.add(user, item, at)
    return [(user, event(user, item, at)) for user, item in pairs]


class Aside:
    """Runs `run` on a thread inside its `with` block. `run` ends soon after `stop` is set."""

    def __init__(self):
        self.stop, self.thread = threading.Event(), threading.Thread(target=self.run)

    def run(self):
        raise NotImplementedError

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
