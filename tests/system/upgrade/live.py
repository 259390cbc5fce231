"""Events and questions that continue while daemons stop and start. They prove that no answer lacks an item
that was read."""

import collections
import json
import random
import re
import threading
import time

from http_json import Http, user_path
from load import Aside
from places import now_ms

STRANGERS = ["never-shown-1", "never-shown-2"]
ASKED_MAX = 300  # items per question: the newest and a sample of the others


class Sender(Aside):
    """Sends a Load's events inside its `with` block, and keeps the record timestamp of each item that Kafka
    acknowledged."""

    def __init__(self, load, topics, topic, rate):
        self.load, self.topics, self.topic, self.rate = load, topics, topic, rate
        self.mutex = threading.Lock()
        self.got = collections.defaultdict(dict)  # user -> item -> timestamp of its first record
        self.sent, self.failed = 0, []
        super().__init__()

    def run(self):
        producer, start, events = self.topics.producer(), time.monotonic(), self.load.events(1 << 62)
        while not self.stop.is_set():
            user, value = next(events)
            producer.produce(
                self.topic, value, user, on_delivery=self.report_of(user, json.loads(value)["item_id"])
            )
            self.sent += 1
            if self.sent % 20 == 0:
                producer.poll(0)
                time.sleep(max(0.0, self.sent / self.rate - (time.monotonic() - start)))
        if producer.flush(60) != 0:
            self.failed.append("not delivered within 60 s")

    def report_of(self, user, item):
        def report(error, message):
            if error:
                self.failed.append(error)
                return
            with self.mutex:
                self.got[user].setdefault(item, message.timestamp()[1])

        return report

    def of(self, user):
        with self.mutex:
            return list(self.got[user].items())

    def __exit__(self, *_):
        super().__exit__()
        assert not self.failed, self.failed[:3]


class Figures:
    """What a client saw from one call of `step` to the next."""

    def __init__(self):
        self.asked = self.turned_away = self.unanswered = self.proven = 0
        self.longest_s = self.stale_s = 0.0
        self.stale_by = ""
        self.reasons = collections.Counter()

    def line(self):
        reasons = "".join(f"\n      {n} x {reason}" for reason, n in self.reasons.most_common(4))
        return (
            f"{self.asked} questions, {self.proven} items proven seen; {self.turned_away} answered by another daemon than "
            f"the last time or by none, {self.unanswered} by none; a user at most {self.longest_s:.2f} s without an "
            f"answer; no answer lacked an item older than {self.stale_s:.1f} s{self.stale_by}{reasons}"
        )


class Asker(Aside):
    """Asks about every user in turn: first the daemon that gave the last answer about the user, then the
    others.

    An answer says how far its partition was read (Seen-As-Of: the greatest record timestamp). Each item whose
    record has a smaller timestamp must be seen, whichever daemon answers and however far behind it is."""

    def __init__(self, members, sender):
        self.members, self.sender = members, sender
        self.figures, self.came_back = Figures(), []
        super().__init__()

    def run(self):
        connections = {m.name: Http(m.address, timeout_s=3) for m in self.members}
        last, answered_at, chance = {}, {}, random.Random(1)
        while not self.stop.is_set():
            for user in [f"user-{i}" for i in range(self.sender.load.users)]:
                got = self.sender.of(user)
                if not got:
                    continue
                asked = dict(got[-ASKED_MAX // 3 :] + chance.sample(got, min(len(got), 2 * ASKED_MAX // 3)))
                order = sorted(connections, key=lambda name: name != last.get(user))
                self.figures.asked += 1
                for name in order:
                    asked_at = now_ms()
                    answer, reason = self.ask(connections[name], user, asked)
                    if answer is not None:
                        break
                    if name == last.get(user):
                        self.figures.reasons[f"{name}: {reason}"] += 1
                now = time.monotonic()
                self.figures.turned_away += last.get(user, name) != name or answer is None
                if answer is None:
                    self.figures.unanswered += 1
                    continue
                self.figures.longest_s = max(self.figures.longest_s, now - answered_at.get(user, now))
                last[user], answered_at[user] = name, now
                self.judge(name, user, asked, asked_at, answer)
            time.sleep(0.005)

    @staticmethod
    def ask(connection, user, asked):
        """(the answer, None) or (None, the reason why there is no answer)"""
        try:
            answer = connection.post(user_path(user) + "/unseen", {"items": [*asked, *STRANGERS]})
        except OSError:
            return None, "no connection"
        if answer.status == 200:
            return answer, None
        return None, f"{answer.status} " + re.sub(r"\d+", "N", answer.json()["detail"])

    def judge(self, name, user, asked, asked_at, answer):
        as_of = int(re.match(r"-?\d+", answer.headers["Seen-As-Of"])[0])
        read = {item for item, at in asked.items() if at < as_of}
        unseen = set(answer.json()["unseen"])
        self.figures.proven += len(read)
        stale_s = max((asked_at - at for item, at in asked.items() if item in unseen), default=0) / 1000
        if stale_s > self.figures.stale_s:
            self.figures.stale_s, self.figures.stale_by = (
                stale_s,
                f" ({name}, {answer.headers['Seen-As-Of']})",
            )
        if unseen & read or not unseen.issuperset(STRANGERS):
            self.came_back.append(
                (name, user, answer.headers["Seen-As-Of"], sorted(unseen & read)[:5], len(read))
            )

    def step(self):
        """Returns the figures since the last call. Fails if a seen item came back."""
        assert self.thread.is_alive(), "the asker ended"
        assert not self.came_back, (
            f"seen items came back: {self.came_back[:5]} ({len(self.came_back)} answers)"
        )
        done, self.figures = self.figures, Figures()
        return done
