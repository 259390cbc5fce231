"""Several daemons under faults: a load of acknowledged events, clients that check what each answer claims,
and the faults."""

import collections
import random
import re
import shutil
import signal
import threading
import time

from hashes import partition_of
from http_json import Http, user_path
from load import Aside
from oracle import event
from places import now_ms, wait_until

MARGIN_S = 0.05  # allows for a difference between this process's clock and a daemon's


class LiveLoad(Aside):
    """Sends one-item events at a steady rate. An event that Kafka acknowledges goes into the oracle, with its
    moment."""

    def __init__(self, topics, topic, oracle, seed, partitions, users=300, rate=400):
        self.topics, self.topic, self.oracle = topics, topic, oracle
        self.rate, self.partitions = rate, partitions
        self.chance = random.Random(seed)
        self.users = [f"user-{i}" for i in range(users)]
        self.acknowledged = collections.defaultdict(list)  # user -> [(monotonic, item)]
        self.lock = threading.Lock()
        self.sent, self.failed = 0, []
        super().__init__()

    def run(self):
        # Brokers may be away for a while, so the timeout is long: no event is given up. The producer isn't
        # idempotent. After a change of leader an idempotent producer may fail for good with
        # OUT_OF_ORDER_SEQUENCE_NUMBER. An exposure that arrives twice counts once.
        producer = self.topics.producer(
            "murmur2_random",
            **{"message.timeout.ms": 300_000, "linger.ms": 5, "enable.idempotence": False, "acks": "all"},
        )
        while not self.stop.is_set():
            for _ in range(max(1, self.rate // 100)):
                user, item, at = self.chance.choice(self.users), f"item-{self.sent}", now_ms()
                self.sent += 1
                producer.produce(
                    self.topic,
                    event(user, item, at),
                    user,
                    on_delivery=self.report(user, item, at),
                    partition=partition_of(user, self.partitions),
                )
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

    def newest(self, user, most=200):
        """Of the user's items that Kafka has acknowledged."""
        return [item for _, item in self.acknowledged[user][-most:]]

    def held_at(self, user, moment, items, most=200):
        """Those of `items` that Kafka had acknowledged by this moment, among its newest `most` then."""
        with self.lock:
            return set([item for at, item in self.acknowledged[user] if at <= moment][-most:]) & set(items)


class Asker(Aside):
    """Asks any daemon about any user. An answer states its age. All that Kafka had acknowledged that long
    before the question must be seen."""

    def __init__(self, members, load, partitions, seed):
        self.members, self.load, self.partitions = members, load, partitions
        self.chance = random.Random(seed)
        self.answers, self.checked, self.wrong = 0, 0, []
        self.without = collections.Counter()  # why there was no answer
        self.last = {}  # partition -> moment of the last answer
        self.gaps = collections.defaultdict(list)  # partition -> seconds without an answer
        super().__init__()

    def run(self):
        doors = {}
        while not self.stop.is_set():
            user = self.chance.choice(self.load.users)
            partition = partition_of(user, self.partitions)
            alive = [
                m for m in self.members if m.process is not None and not getattr(m, "stands_still", False)
            ]
            if not alive:
                time.sleep(0.01)
                continue
            member = self.chance.choice(alive)
            door = doors.setdefault(member.name, Http(member.address, timeout_s=5))
            asked = time.monotonic()
            some = self.load.newest(user)
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
            held = self.load.held_at(user, asked - int(age_ms[1]) / 1000 - MARGIN_S, some)
            self.checked += len(held)
            missed = [item for item in held if item in unseen]
            if missed:
                as_of, by = answer.headers["Seen-As-Of"], answer.headers["Seen-Answered-By"]
                figures = (missed[:3], len(missed), len(held))
                self.wrong.append((member.name, by, as_of, user, partition, *figures))

    def note(self, partition):
        now = time.monotonic()
        self.answers += 1
        if partition in self.last and now - self.last[partition] > 0.5:
            self.gaps[partition].append(round(now - self.last[partition], 2))
        self.last[partition] = now

    def histogram(self):
        """Counts of the gaps without an answer, by length."""
        bounds = (1, 2, 5, 9, 15, 30, float("inf"))
        counts = collections.Counter(
            next(b for b in bounds if gap <= b) for gaps in self.gaps.values() for gap in gaps
        )
        return {f"<= {bound} s": counts[bound] for bound in bounds if counts[bound]}


class Readers(Aside):
    """Asks readers of snapshots and updates about any user: the tails of clients/, each in its language. An
    answer from what a reader holds claims to be at most STALE_S old."""

    STALE_S = 2
    CLAIMS = ("cache", "snapshot")

    def __init__(self, example, topics, topic, load, seed):
        names = {"brokers": topics.bootstrap, "updates": f"{topic}-updates", "http": "http://127.0.0.1:1"}
        marks, filters, stale_ms = f"{topic}-beats", f"{topic}-filters", 1000 * self.STALE_S
        long = {**names, "snapshots_topic": filters, "watermarks_topic": marks, "stale_ms_max": stale_ms}
        short = {**names, "snapshots": filters, "watermarks": marks}
        self.readers = {
            "C++": example("cpp", "tail_snapshots", **long),
            "Python": example("python", "tail_snapshots", **long),
            "Go": example("go", "tail", **short, stale_max=f"{self.STALE_S}s"),
            "Java": example("java", "TailExample", **short, stale_ms=stale_ms),
        }
        self.load, self.chance = load, random.Random(seed)
        self.claims, self.others = collections.Counter(), collections.Counter()
        self.checked, self.wrong = 0, []
        super().__init__()

    def __enter__(self):
        self.wait_fresh(self.load.users[:1])  # the examples begin only while brokers are there
        return super().__enter__()

    def run(self):
        while not self.stop.is_set():
            self.ask(self.chance.choice(list(self.readers)), self.chance.choice(self.load.users))

    def wait_fresh(self, users):
        for name in self.readers:
            for user in users:
                wait_until(lambda n=name, u=user: self.ask(n, u), f"{name} is fresh", 60)

    def ask(self, name, user):
        """Whether the reader claimed to be fresh."""
        asked = time.monotonic()
        some = self.load.newest(user)
        unseen, source = self.readers[name].ask(user, some or ["none"])
        if source not in self.CLAIMS:
            self.others[name] += 1
            return False
        self.claims[name] += 1
        held = self.load.held_at(user, asked - self.STALE_S - MARGIN_S, some)
        self.checked += len(held)
        missed = held & set(unseen)
        if missed:
            self.wrong.append((name, user, sorted(missed)[:3], len(missed), len(held)))
        return True


class Faults:
    """One fault after the other, drawn from `chance`. At most one daemon is away at a time."""

    def __init__(self, kafka, topics, members, topic, chance):
        self.kafka, self.topics, self.members, self.topic, self.chance = kafka, topics, members, topic, chance
        self.done = collections.Counter()

    def one(self):
        daemons = [
            self.kill,
            self.kill,
            self.stand_still,
            self.terminate,
            self.lose_disk,
            self.lose_partition,
        ]
        network = [self.fill_disk, self.cut_from_brokers, self.cut_from_others]
        cluster = [self.promote, self.restart_broker, self.truncate_snapshots, self.add_partition]
        fault = self.chance.choice([*daemons, *network, *cluster, self.nothing])
        self.done[fault.__name__] += 1
        print(f"{time.strftime('%H:%M:%S')} {fault.__name__}", flush=True)
        fault(self.chance.choice(self.members))
        time.sleep(self.chance.uniform(0.5, 8))
        for member in self.members:
            assert member.alive(), (
                f"{member.name} ended by itself with {member.process.poll()}:\n{member.log()[-2000:]}"
            )

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
        member.stands_still = True  # so that the askers leave it out
        member.network.cut("others")
        time.sleep(self.chance.choice([2, 9]))
        member.network.mend("others")
        member.stands_still = False

    def promote(self, member):
        """Promotes the member's group, which may already be the group of the owners."""
        try:
            answer = member.http.post("/v1/promote")
        except OSError:
            return  # it has just been started
        assert answer.status in (202, 503), answer.text

    def add_partition(self, _member):
        """Users keep their partitions. The daemons refuse the added partition and report it."""
        if not self.done["added"]:
            self.done["added"] += 1
            self.topics.add_partitions(self.topic, len(self.topics.ends(self.topic)) + 1)

    def restart_broker(self, _member):
        self.kafka.restart(down_s=self.chance.choice([0, 3]))

    def truncate_snapshots(self, _member):
        ends = self.topics.end_offsets(f"{self.topic}-filters")
        self.kafka.delete_records(f"{self.topic}-filters", {p: end // 2 for p, end in ends.items() if end})

    def nothing(self, _member):
        pass
