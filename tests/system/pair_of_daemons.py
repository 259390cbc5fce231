"""Two daemons of one group, and a replica: the clients' examples must ask the daemon that owns the user's
partition."""

import time

from hashes import partition_of
from oracle import event
from places import free_port, now_ms, wait_until
from seend import wait_read_by

PARTITIONS = 6
SESSION = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"}
TIMEOUT_MS = 2_000  # the time-out that the examples get
# Answers of the examples: (from, by, unseen).
HTTP, REQUEST = ("http", "member-0", ["new"]), ("request", "", ["shown", "new"])


class PairOfDaemons:
    """Two daemons. Two users of every partition have seen `shown` and nothing else."""

    def __init__(self, topics, daemon, topic_name):
        topics.create(topic_name, partitions=PARTITIONS)

        def make(name, kafka=None, **more):
            return daemon(
                topic_name,
                {
                    "kafka": {"instance_id": name, "client": SESSION, **(kafka or {})},
                    "state": {"topic": f"{topic_name}-state", "run_every_s": 1},
                    "watermarks": {"topic": f"{topic_name}-beats"},
                    "cluster": {"peers": "127.0.0.0/8", "token": "a-token-of-theirs"},
                    **more,
                },
                name=name,
            )

        self.replica = make(
            "replica", {"group_id": f"{topic_name}-zone-b"}, role="replica", replica_of=f"{topic_name}-group"
        )
        self.members = [make(f"member-{number}").start(ready=False) for number in range(2)]
        self.addresses = ",".join(  # for `--http`: an address where nobody listens, then both daemons
            f"http://{address}"
            for address in (f"127.0.0.1:{free_port()}", *(m.address for m in self.members))
        )
        self.third = make("member-2")
        self.users = [user for partition in range(PARTITIONS) for user in self.users_of(partition)]
        topics.produce(topic_name, [(user, event(user, "shown", now_ms())) for user in self.users])
        self.wait_owned(self.members)
        wait_read_by(self.members, topics, topic_name)

    @staticmethod
    def users_of(partition):
        names = (f"user/{number}" for number in range(1_000))
        return [name for name in names if partition_of(name, PARTITIONS) == partition][:2]

    def wait_owned(self, members):
        """Waits until each member owns a partition, every partition has one owner, and each member knows the
        owners."""

        def known():
            owned = [{p for p, s in m.partition_status().items() if s["state"] == "ready"} for m in members]
            if not all(owned) or sum(map(len, owned)) != PARTITIONS:
                return False
            owners = {
                p: m.config["kafka"]["instance_id"] for m, theirs in zip(members, owned) for p in theirs
            }
            return (
                all(
                    {r["partition"]: r["instance"] for r in m.http.get("/v1/routes").json()["routes"]}
                    == owners
                    for m in members
                )
                and owners
            )

        self.owners = wait_until(known, "each member knows every partition's owner", 60)

    def start_replica(self):
        self.replica.start(ready=False)
        wait_until(
            lambda: all(
                sum(r["state"] == "ready" for r in m.http.get("/v1/routes").json()["routes"])
                == 2 * PARTITIONS
                for m in self.members
            ),
            "everybody knows the replica",
            60,
        )

    def owner_of(self, user):
        return self.owners[partition_of(user, PARTITIONS)]

    def forwards(self):
        return sum(m.metric_sum("seen_forwarded_requests_total") for m in self.members if m.alive())

    def asks_owners(self, ask):
        """Asks about all users. True if each owner answers for its users and no daemon forwards a request."""
        before = self.forwards()
        answers = {user: ask(user) for user in self.users}
        assert {source for source, _, _ in answers.values()} <= {"http", "request"}, answers
        if any(source != "http" for source, _, _ in answers.values()):
            return False
        assert {tuple(unseen) for _, _, unseen in answers.values()} == {("new",)}, answers
        by_owners = {user: by for user, (_, by, _) in answers.items()} == {
            user: self.owner_of(user) for user in self.users
        }
        return by_owners and self.forwards() == before


def check_owners_are_asked(pair, ask):
    """`ask(user)` asks the example about `shown` and `new`, and returns (from, by, unseen)."""
    wait_until(lambda: pair.asks_owners(ask), "it knows the owners", 30)
    for _ in range(5):
        assert pair.asks_owners(ask), "and it goes on so"

    stays, dies = pair.members
    theirs = {name: [u for u in pair.users if pair.owner_of(u) == name] for name in ("member-0", "member-1")}
    with dies.standing_still():
        for user in [*theirs["member-1"][:2], *theirs["member-0"]]:
            began = time.monotonic()
            answer = ask(user)
            assert time.monotonic() - began < TIMEOUT_MS / 1000 + 1, "no longer than its time-out"
            assert answer == (HTTP if user in theirs["member-0"] else REQUEST), (user, answer)
    wait_until(lambda: pair.asks_owners(ask), "it answers again", 30)

    dies.kill9()
    for user in theirs["member-0"]:
        assert ask(user) == HTTP, "another one's death costs them nothing"
    for user in theirs["member-1"]:
        assert ask(user) in (REQUEST, HTTP), user
    pair.wait_owned([stays])
    wait_until(lambda: pair.asks_owners(ask), "it asks the one that is left", 30)

    # Partitions move to a daemon that isn't in `--http`: only the routes name it.
    pair.members = stays, dies = stays, pair.third.start(ready=False)
    pair.wait_owned(pair.members)
    wait_until(lambda: pair.asks_owners(ask), "it finds the new owner", 30)
    for _ in range(5):
        assert pair.asks_owners(ask), "and it goes on so"

    # With a replica, every user gets an answer.
    pair.start_replica()
    wait_until(lambda: pair.asks_owners(ask), "the owner is asked nevertheless", 30)

    def check_answered():
        for user in pair.users:
            source, by, unseen = ask(user)
            assert (source, unseen) == ("http", ["new"]) and by in ("member-0", "replica"), (
                user,
                source,
                by,
                unseen,
            )

    with dies.standing_still():
        check_answered()
    wait_until(lambda: pair.asks_owners(ask), "it answers again", 30)
    dies.kill9()
    for _ in range(5):
        check_answered()
