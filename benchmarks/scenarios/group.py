"""Several daemons of one group: how long does a partition give no answer while one daemon is killed,
restarted, or joins?

A client asks a daemon that stays about one user of each partition in turn, and pauses for 5 ms after each
round. The daemon forwards the requests for users of other daemons' partitions."""

import re
import shutil
import statistics
import threading
import time

import alone
from confluent_kafka import Consumer, TopicPartition
from hashes import partition_of
from http_json import Http, user_path
from places import wait_until
from seend import Seend

SESSION = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"}
LAG = 60_000  # a partition with a smaller lag answers


def run(bench, settings, say):
    s = alone.numbers(settings, partitions=12, rate=20_000, users=1_000_000, history=4_000_000, repeats=3)
    group = Group(bench, s)
    try:
        rows = []
        group.start(3)
        for number in range(s["repeats"]):
            for what in (group.kill_with_copies, group.kill_without_copies, group.restart, group.join):
                group.settle()
                row = {"run": number, "what": what.__name__, **what()}
                say(str(row))
                rows.append(row)
        state = sum(m.state_mib() for m in group.live()) / len(group.live())
        return {
            "partitions": s["partitions"],
            "events": s["history"],
            "rate": s["rate"],
            "session_timeout_s": 6,
            "state_mib_a_daemon": round(state, 1),
            "rows": rows,
            "median_s": medians(rows),
        }
    finally:
        group.end()


def medians(rows):
    summary = {}
    for what in dict.fromkeys(row["what"] for row in rows):
        of = [row for row in rows if row["what"] == what]
        summary[what] = {
            key: {
                "median": round(statistics.median(row[key] for row in of), 2),
                "max": round(max(row[key] for row in of), 2),
            }
            for key in of[0]
            if key.endswith("_s") and all(row[key] is not None for row in of)
        }
    return summary


class Member(Seend):
    def owned(self):
        answer = self.get("/v1/status")
        partitions = answer.json()["partitions"] if answer and answer.status == 200 else []
        return {p["partition"] for p in partitions if p["state"] == "ready"}

    def streams(self):
        answer = self.get("/v1/status")
        topic = answer.json()["state_topic"] if answer and answer.status == 200 else None
        return topic["streams"] if topic else [{"base_at": None}]

    def routes(self):
        answer = self.get("/v1/routes")
        return answer.json()["routes"] if answer and answer.status == 200 else [{"state": "starting"}]

    def state_mib(self):
        return sum(f.stat().st_size for f in self.store.rglob("*") if f.is_file()) / alone.MIB

    def last_log_s(self, text, since):
        """Seconds from `since` (wall clock) to the first log line with `text` after it."""
        for line in self.log().splitlines():
            if text in line:
                at = re.match(r"(\S+)T(\S+)\.(\d+)Z", line)
                stamp = time.strptime(f"{at[1]} {at[2]}", "%Y-%m-%d %H:%M:%S")
                wall = __import__("calendar").timegm(stamp) + int(at[3]) / 1000
                if wall >= since:
                    return wall - since
        return None


class Asker:
    """Asks `member` about one user of each partition, in turn."""

    def __init__(self, member, users):
        self.member, self.users = member, users
        self.stop, self.thread = threading.Event(), threading.Thread(target=self.ask)
        self.answered = {p: [] for p in users}  # partition -> times of its answers

    def ask(self):
        http = Http(self.member.address, timeout_s=30)
        while not self.stop.is_set():
            for partition, user in self.users.items():
                try:
                    status = http.get(user_path(user)).status
                except OSError:
                    status = 0
                if status == 200:
                    self.answered[partition].append(time.monotonic())
            time.sleep(0.005)

    def gaps(self, since):
        """The longest time without an answer, by partition."""
        result = {}
        for partition, moments in self.answered.items():
            after = [m for m in moments if m >= since - 0.5]
            pairs = zip(after, after[1:])
            result[partition] = max((b - a for a, b in pairs), default=float("inf"))
        return result

    def __enter__(self):
        self.thread.start()
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


class Group:
    def __init__(self, bench, s):
        self.bench, self.s = bench, s
        self.topic = bench.scratch_topic(bench.name("group"), s["partitions"], retention_ms=-1)
        self.directory = bench.kafka.directory.parent / "group"
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        self.members = {}
        self.load = None
        self.users = {}
        for number in range(10_000):
            self.users.setdefault(partition_of(f"asked-{number}", s["partitions"]), f"asked-{number}")

    def live(self):
        return [m for m in self.members.values() if m.process is not None]

    def member(self, number):
        if number not in self.members:
            self.members[number] = Member(
                self.directory,
                self.bench.topics,
                self.topic,
                {
                    "kafka": {"instance_id": f"member-{number}", "client": SESSION},
                    "state": {"topic": f"{self.topic}-state", "run_every_s": 60},
                    "watermarks": {"topic": f"{self.topic}-beats"},
                    "cluster": {"peers": "127.0.0.0/8", "token": "a-token-of-theirs"},
                    "http": {"ready_lag_messages": LAG},
                    "store": {"checkpoint_interval_s": 10},
                },
                f"member-{number}",
            )
        return self.members[number]

    def start(self, count):
        self.bench.generate(self.topic, "--users", self.s["users"], "--events", self.s["history"]).result()
        for number in range(count):
            self.member(number).start(ready=False)
        self.settle(600)
        self.load = self.bench.generate(self.topic, "--users", self.s["users"], "--rate", self.s["rate"])

    def settle(self, timeout_s=180):
        """Waits until each partition has an owner that all daemons know, is read to its end, and is in the
        state topic."""

        def done():
            live = self.live()
            owners = {p: m for m in live for p in m.owned()}
            return (
                len(owners) == self.s["partitions"]
                and all(r["state"] == "ready" for m in live for r in m.routes())
                and all(s["base_at"] is not None for m in live for s in m.streams())
                and all((a := m.get("/readyz")) and a.status == 200 for m in live)
            )

        wait_until(done, "the group is at rest", timeout_s)
        time.sleep(3)

    def kill_with_copies(self):
        return self.kill(copies=True)

    def kill_without_copies(self):
        return self.kill(copies=False)

    def kill(self, copies):
        dead, stays = self.live()[-1], self.live()[0]
        moved = dead.owned()
        survivors = [m for m in self.live() if m is not dead]
        if not copies:
            for m in survivors:
                for partition in moved:
                    shutil.rmtree(m.store / f"partition-{partition}", ignore_errors=True)
        had = {p: sum((m.store / f"partition-{p}").exists() for m in survivors) for p in moved}
        with Asker(stays, self.users) as asker:
            begun, wall = time.monotonic(), time.time()
            dead.kill9()
            wait_until(
                lambda: moved <= set().union(*(m.owned() for m in survivors)), "all is owned again", 240
            )
            time.sleep(2)
        published = self.published_again(moved, wall)
        assigned = max((m.last_log_s("partitions assigned", wall) or 0) for m in survivors)
        gaps = asker.gaps(begun)
        dead.start(ready=False)
        return {
            "moved": len(moved),
            "copies": sum(1 for n in had.values() if n),
            "reassigned_s": round(assigned, 2),
            "first_unanswered_s": round(min(gaps[p] for p in moved), 2),
            "last_unanswered_s": round(max(gaps[p] for p in moved), 2),
            "last_after_reassignment_s": round(max(gaps[p] for p in moved) - assigned, 2),
            "last_published_after_reassignment_s": round(max(published.values()) - wall - assigned, 2),
            "others_unanswered_s": round(max((g for p, g in gaps.items() if p not in moved), default=0), 2),
        }

    def published_again(self, partitions, killed_at):
        """{partition: time of its first snapshot later than a second after the kill}. The time is that of the
        record."""
        consumer = Consumer({"bootstrap.servers": self.bench.brokers, "group.id": "benchmark-group"})
        since = [TopicPartition(f"{self.topic}-filters", p, int((killed_at + 1) * 1000)) for p in partitions]
        consumer.assign(consumer.offsets_for_times(since, timeout=10))
        first, deadline = {}, time.monotonic() + 60
        while len(first) < len(partitions) and time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is not None and message.error() is None:
                first.setdefault(message.partition(), message.timestamp()[1] / 1000)
        consumer.close()
        return {p: first.get(p, float("inf")) for p in partitions}

    def restart(self):
        one, stays = self.live()[-1], self.live()[0]
        with Asker(stays, self.users) as asker:
            begun, wall = time.monotonic(), time.time()
            one.stop(30)
            one.start(ready=False)
            self.settle()
        rebalanced = stays.last_log_s("partitions revoked", wall)
        return {
            "rebalanced": rebalanced is not None,
            "longest_unanswered_s": round(max(asker.gaps(begun).values()), 2),
        }

    def join(self):
        stays = self.live()[0]
        number = max(self.members) + 1
        with Asker(stays, self.users) as asker:
            begun = time.monotonic()
            joined = self.member(number).start(ready=False)
            wait_until(lambda: joined.owned(), "the new one owns some", 120)
            self.settle()
        gaps = asker.gaps(begun)
        leaving = self.members.pop(number)
        leaving.kill9()  # a static member that stops stays in the group until its session ends
        wait_until(
            lambda: sum(len(m.owned()) for m in self.live()) == self.s["partitions"],
            "the others own all",
            120,
        )
        shutil.rmtree(leaving.store, ignore_errors=True)
        return {"longest_unanswered_s": round(max(gaps.values()), 2)}

    def end(self):
        if self.load is not None:
            self.load.process.kill()
            self.load.process.wait()
        for m in self.live():
            m.kill9()
        for suffix in ("-state", "-beats", "-filters", "-dead"):
            self.bench.topics.delete(self.topic + suffix)
