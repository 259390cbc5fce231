"""Seeded events, and a producer that keeps the oracle in step with what Kafka acknowledged."""

import threading
import time

from oracle import DAY_MS, Oracle, event
from places import now_ms


class Load:
    """`users` x `items`, times over the last `days` days (all of them inside a window of 30)."""

    def __init__(self, chance, users=2_000, items=20_000, days=20):
        self.chance, self.users, self.items, self.days = chance, users, items, days
        self.oracle = Oracle()

    def events(self, count):
        """(key, value) pairs, entered into the oracle as they are made."""
        now = now_ms()
        random, integer = self.chance.random, self.chance.randrange
        for _ in range(count):
            user = f"user-{int(self.users * random() ** 2)}"  # skewed: some are busy
            item = f"item-{integer(self.items)}"
            exposed_at = now - integer(self.days * DAY_MS)
            self.oracle.add(user, item, exposed_at)
            yield user, f'{{"user_id":"{user}","item_id":"{item}","exposed_at":{exposed_at},"scene":"s"}}'

    def send(self, topics, topic, count, rate=None, partitioner="murmur2_random"):
        """Produces `count` events and waits until Kafka has them. `rate`: events/s, None: as fast as it goes."""
        producer, failed, start = topics.producer(partitioner), [], time.monotonic()

        def report(error, _message):
            if error:
                failed.append(error)

        for sent, (user, value) in enumerate(self.events(count)):
            while True:
                try:
                    producer.produce(topic, value, user, on_delivery=report)
                    break
                except BufferError:
                    producer.poll(0.1)
            if sent % 1000 == 0:
                producer.poll(0)
                if rate:
                    time.sleep(max(0.0, sent / rate - (time.monotonic() - start)))
        assert producer.flush(120) == 0 and not failed, failed[:3]

    def send_aside(self, *arguments, **more):
        """The same on a thread; join it before the oracle is asked."""
        thread = threading.Thread(target=self.send, args=arguments, kwargs=more, daemon=True)
        thread.start()
        return thread


def one_by_one(oracle, pairs, exposed_at=None):
    """(user, item) pairs as records for Topics.produce, entered into the oracle."""
    at = exposed_at or now_ms()
    for user, item in pairs:
        oracle.add(user, item, at)
    return [(user, event(user, item, at)) for user, item in pairs]
