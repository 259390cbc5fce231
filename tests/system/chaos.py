"""Several daemons under faults: a load with acknowledged events, askers that hold each answer to what it claims, and
the faults."""

import collections
import random
import re
import shutil
import signal
import threading
import time

from hashes import partition_of
from http_json import Http, user_path
from oracle import event
from places import now_ms

MARGIN_S = 0.05  # between the clocks of a process and of this one


class LiveLoad:
    """One-item events at a steady rate. What Kafka has acknowledged is in the oracle, with the moment."""

    def __init__(self, topics, topic, oracle, seed, partitions, users=300, rate=400):
        self.topics, self.topic, self.oracle, self.rate, self.partitions = topics, topic, oracle, rate, partitions
        self.chance = random.Random(seed)
        self.users = [f"user-{i}" for i in range(users)]
        self.acknowledged = collections.defaultdict(list)  # user -> [(monotonic, item)]
        self.lock = threading.Lock()
        self.sent, self.failed = 0, []
        self.stop, self.thread = threading.Event(), threading.Thread(target=self.run)

    def run(self):
        # Brokers may be away for a while: nothing is given up meanwhile. Not idempotent: where a leader changes, such a
        # producer may end with OUT_OF_ORDER_SEQUENCE_NUMBER for good, and an exposure that comes twice is one.
        producer = self.topics.producer("murmur2_random", **{"message.timeout.ms": 300_000, "linger.ms": 5,
                                                             "enable.idempotence": False, "acks": "all"})
        while not self.stop.is_set():
            for _ in range(max(1, self.rate // 100)):
                user, item, at = self.chance.choice(self.users), f"item-{self.sent}", now_ms()
                self.sent += 1
                producer.produce(self.topic, event(user, item, at), user, on_delivery=self.report(user, item, at),
                                 partition=partition_of(user, self.partitions))
            producer.poll(0.01)
        assert producer.flush(300) == 0

    def report(self, user, item, at):
        def done(error, _message):
            if error:
                self.failed.append(error)
                return
            with self.lock:
                self.acknowledged[user].append((time.monotonic(), item))
                self.oracle.add(user, item, at)
        return done

    def known_at(self, user, moment, most=200):
        """Items of the user that Kafka had by then, the newest."""
        with self.lock:
            return [item for at, item in self.acknowledged[user] if at <= moment][-most:]

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


class Asker:
    """Asks daemons about users, any daemon about any user. An answer claims an age: what Kafka had that long before the
    question must be seen."""

    def __init__(self, members, load, partitions, seed):
        self.members, self.load, self.partitions = members, load, partitions
        self.chance = random.Random(seed)
        self.answers, self.checked, self.wrong = 0, 0, []
        self.without = collections.Counter()  # why there was no answer
        self.last = {}  # partition -> moment of the last answer
        self.gaps = collections.defaultdict(list)  # partition -> seconds without one
        self.stop, self.thread = threading.Event(), threading.Thread(target=self.run)

    def run(self):
        doors = {}
        while not self.stop.is_set():
            user = self.chance.choice(self.load.users)
            partition = partition_of(user, self.partitions)
            alive = [m for m in self.members if m.process is not None and not getattr(m, "stands_still", False)]
            if not alive:
                time.sleep(0.01)
                continue
            member = self.chance.choice(alive)
            door = doors.setdefault(member.name, Http(member.address, timeout_s=5))
            asked = time.monotonic()
            some = [item for _, item in self.load.acknowledged[user][-200:]]
            try:
                answer = door.post(user_path(user) + "/unseen", {"items": some or ["none"]})
            except OSError as error:
                self.without[type(error).__name__] += 1
                continue
            if answer.status != 200:
                self.without[f"{answer.status} {answer.json().get('detail', '')[:60]}"] += 1
                continue
            self.note(partition)
            age_ms = re.search(r"age_ms=(\d+)", answer.headers["Seen-As-Of"])
            if age_ms is None:
                continue
            unseen = set(answer.json()["unseen"])
            held = set(self.load.known_at(user, asked - int(age_ms[1]) / 1000 - MARGIN_S)) & set(some)
            self.checked += len(held)
            missed = [item for item in held if item in unseen]
            if missed:
                self.wrong.append((member.name, answer.headers["Seen-Answered-By"], answer.headers["Seen-As-Of"], user,
                                   partition, missed[:3], len(missed), len(held)))

    def note(self, partition):
        now = time.monotonic()
        self.answers += 1
        if partition in self.last and now - self.last[partition] > 0.5:
            self.gaps[partition].append(round(now - self.last[partition], 2))
        self.last[partition] = now

    def histogram(self):
        """How often a partition went unanswered for how long."""
        bounds = (1, 2, 5, 9, 15, 30, float("inf"))
        counts = collections.Counter(next(b for b in bounds if gap <= b) for gaps in self.gaps.values() for gap in gaps)
        return {f"<= {bound} s": counts[bound] for bound in bounds if counts[bound]}

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


class Faults:
    """One fault after the other, drawn from `chance`; at most one daemon is away at a time."""

    def __init__(self, kafka, topics, members, topic, chance):
        self.kafka, self.topics, self.members, self.topic, self.chance = kafka, topics, members, topic, chance
        self.done = collections.Counter()

    def one(self):
        fault = self.chance.choice([self.kill, self.kill, self.stand_still, self.terminate, self.lose_disk,
                                    self.lose_partition, self.fill_disk, self.cut_from_brokers, self.cut_from_others,
                                    self.promote, self.restart_broker, self.truncate_snapshots, self.add_partition,
                                    self.nothing])
        self.done[fault.__name__] += 1
        print(f"{time.strftime('%H:%M:%S')} {fault.__name__}", flush=True)
        fault(self.chance.choice(self.members))
        time.sleep(self.chance.uniform(0.5, 8))
        for member in self.members:
            assert member.alive(), f"{member.name} ended by itself with {member.process.poll()}:\n{member.log()[-2000:]}"

    def away(self):
        time.sleep(self.chance.choice([0.1, 1, 4, 10]))

    def kill(self, member):
        member.kill9()
        self.away()
        member.start(ready=False)

    def terminate(self, member):
        member.stop(30)
        self.away()
        member.start(ready=False)

    def lose_disk(self, member):
        member.kill9()
        shutil.rmtree(member.store)
        self.away()
        member.start(ready=False)

    def lose_partition(self, member):
        member.kill9()
        stores = sorted(p for p in member.store.glob("partition-*") if p.is_dir())
        if stores:
            shutil.rmtree(self.chance.choice(stores))
        self.away()
        member.start(ready=False)

    def stand_still(self, member):
        member.stands_still = True
        member.process.send_signal(signal.SIGSTOP)
        time.sleep(self.chance.choice([1, 5, 8, 18]))
        member.process.send_signal(signal.SIGCONT)
        member.stands_still = False

    def fill_disk(self, member):
        member.disk.fill()
        time.sleep(self.chance.choice([3, 10]))
        member.disk.free()

    def cut_from_brokers(self, member):
        member.network.cut("brokers")
        time.sleep(self.chance.choice([2, 9, 18]))
        member.network.mend("brokers")

    def cut_from_others(self, member):
        member.stands_still = True  # as askers see it
        member.network.cut("others")
        time.sleep(self.chance.choice([2, 9]))
        member.network.mend("others")
        member.stands_still = False

    def promote(self, member):
        """To the member's group, which may be the one that owns."""
        try:
            answer = member.http.post("/v1/promote")
        except OSError:
            return  # it has just been started
        assert answer.status in (202, 503), answer.text

    def add_partition(self, _member):
        """Users stay where they are; the daemons refuse it, and say so."""
        if not self.done["added"]:
            self.done["added"] += 1
            self.topics.add_partitions(self.topic, len(self.topics.ends(self.topic)) + 1)

    def restart_broker(self, _member):
        self.kafka.restart(down_s=self.chance.choice([0, 3]))

    def truncate_snapshots(self, _member):
        ends = {p: end for p, (_, end) in self.topics.ends(f"{self.topic}-filters").items()}
        self.kafka.delete_records(f"{self.topic}-filters", {p: end // 2 for p, end in ends.items() if end})

    def nothing(self, _member):
        pass
