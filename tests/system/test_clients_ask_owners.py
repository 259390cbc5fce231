"""Two daemons of one group, and a replica: the examples of all clients ask the daemon that owns the user's
partition."""

import concurrent.futures
import functools
import time

import pytest
from hashes import partition_of
from oracle import event
from places import free_port, now_ms, wait_until
from seend import wait_read_by, wait_routed

PARTITIONS = 6
TIMEOUT_MS = 2_000  # the time-out that the examples get
# Answers of the examples: (from, by, unseen).
HTTP, REQUEST = ("http", "member-0", ["new"]), ("request", "", ["shown", "new"])


class PairOfDaemons:
    """Two daemons. Two users of every partition have seen `shown` and nothing else."""

    def __init__(self, topics, member, topic_name):
        topics.create(topic_name, partitions=PARTITIONS)
        self.replica = member("replica", replica=True)
        self.members = [member(number).start(ready=False) for number in range(2)]
        self.addresses = ",".join(  # for `--http`: an address where nobody listens, then both daemons
            f"http://{address}"
            for address in (f"127.0.0.1:{free_port()}", *(m.address for m in self.members))
        )
        self.third = member(2)
        self.users = [user for partition in range(PARTITIONS) for user in self.users_of(partition)]
        topics.produce(topic_name, [(user, event(user, "shown", now_ms())) for user in self.users])
        self.wait_owned(self.members)
        wait_read_by(self.members, topics, topic_name)

    @staticmethod
    def users_of(partition):
        names = (f"user/{number}" for number in range(1_000))
        return [name for name in names if partition_of(name, PARTITIONS) == partition][:2]

    def wait_owned(self, members):
        self.owners = wait_routed(members)

    def start_replica(self):
        self.replica.start(ready=False)

        def known(member):
            return sum(route["state"] == "ready" for route in member.routes()) == 2 * PARTITIONS

        wait_until(lambda: all(known(m) for m in self.members), "everybody knows the replica", 60)

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
        by = {user: by for user, (_, by, _) in answers.items()}
        return by == {user: self.owner_of(user) for user in self.users} and self.forwards() == before

    def wait_asks_owners(self, asks, what):
        """Waits until each example asks the owners, and checks that it goes on so."""
        for name, ask in asks.items():
            wait_until(lambda: self.asks_owners(ask), f"{name}: {what}", 30)
            for _ in range(3):
                assert self.asks_owners(ask), f"{name}: {what}, and it goes on so"


@pytest.fixture
def asks(example, topics, member, topic_name):
    """(pair, {client: ask}). `ask(user)` asks the example about `shown` and `new`, and returns (source, daemon,
    unseen)."""
    pair = PairOfDaemons(topics, member, topic_name)
    http = {"http": pair.addresses}
    examples = {
        "cpp": example("cpp", "ask_over_http", **http, timeout_ms=TIMEOUT_MS),
        "go": example("go", "ask", **http, timeout=f"{TIMEOUT_MS}ms"),
        "java": example("java", "HttpExample", **http, timeout_ms=TIMEOUT_MS),
        "python": example("python", "ask_over_http", **http, timeout_ms=TIMEOUT_MS),
    }

    def ask(one, user):
        unseen, source, by = one.answer(user, ["shown", "new"])
        return {"own list": "request"}.get(source, source), by, unseen

    examples["java"].ask(pair.users[0], ["new"])  # the first takes longer, because it loads classes
    return pair, {name: functools.partial(ask, one) for name, one in examples.items()}


def test_every_client_asks_the_owner(asks):
    pair, asks = asks
    pair.wait_asks_owners(asks, "it knows the owners")

    stays, dies = pair.members
    theirs = {m.name: [u for u in pair.users if pair.owner_of(u) == m.name] for m in pair.members}

    def check_beside_one_that_stands(name):
        for user in [*theirs[dies.name][:2], *theirs[stays.name]]:
            began = time.monotonic()
            answer = asks[name](user)
            assert time.monotonic() - began < TIMEOUT_MS / 1000 + 1, "no longer than its time-out"
            assert answer == (HTTP if user in theirs[stays.name] else REQUEST), (name, user, answer)

    with dies.standing_still(), concurrent.futures.ThreadPoolExecutor() as pool:  # within a session
        list(pool.map(check_beside_one_that_stands, asks))
    pair.wait_asks_owners(asks, "it answers again")

    dies.kill9()
    for name, ask in asks.items():
        for user in theirs[stays.name]:
            assert ask(user) == HTTP, (name, "another one's death costs them nothing")
        for user in theirs[dies.name]:
            assert ask(user) in (REQUEST, HTTP), (name, user)
    pair.wait_owned([stays])
    pair.wait_asks_owners(asks, "it asks the one that is left")

    # Partitions move to a daemon that isn't in `--http`: only the routes name it.
    pair.members = stays, dies = stays, pair.third.start(ready=False)
    pair.wait_owned(pair.members)
    pair.wait_asks_owners(asks, "it finds the new owner")

    # With a replica, every user gets an answer.
    pair.start_replica()
    pair.wait_asks_owners(asks, "the owner is asked nevertheless")

    def check_answered():
        for name, ask in asks.items():
            for user in pair.users:
                source, by, unseen = answer = ask(user)
                assert (source, unseen) == ("http", ["new"]) and by in (stays.name, "replica"), (name, answer)

    with dies.standing_still():
        check_answered()
    pair.wait_asks_owners(asks, "it answers again")
    dies.kill9()
    for _ in range(5):
        check_answered()
