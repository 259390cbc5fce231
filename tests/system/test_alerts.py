"""Each fault that a test can cause here makes its alert fire in a real Prometheus, and the alert ends with the fault.

The rules are those of deploy/, in a world that runs 60 times as fast: minutes are seconds, hours are minutes."""

import contextlib
import re

import pytest

import prometheus_server
from hashes import partition_of
from oracle import event
from places import now_ms, wait_until
from prometheus_server import DEPLOYED, Prometheus
from seenctl_tool import run
from seend import Seend
from small_disks import Tmpfs

FASTER = {"m": "s", "h": "m"}
# What the expressions state in seconds.
SECONDS = {"seen_partition_age_seconds > 60": "seen_partition_age_seconds > 1",
           "seen_held_since_seconds > 60": "seen_held_since_seconds > 1",
           "[10s])) > 120": "[10s])) > 2", "4 * 3600": "4 * 60"}
USERS = [f"user-{number}" for number in range(100)]


def hastened(rules):
    rules = re.sub(r"\[(\d+)([mh])\]", lambda found: f"[{found[1]}{FASTER[found[2]]}]", rules)
    rules = re.sub(r"for: (\d+)([mh])", lambda found: f"for: {found[1]}{FASTER[found[2]]}", rules)
    for old, new in SECONDS.items():
        assert old in rules, old
        rules = rules.replace(old, new)
    return rules


class Watched:
    """A daemon, and a Prometheus that judges it by the hastened rules."""

    def __init__(self, directory, kafka, topics, topic, config=None, **topic_config):
        self.directory, self.kafka, self.topics, self.topic = directory, kafka, topics, topic
        topics.create(topic, **topic_config)
        self.seend = Seend(directory, topics, topic, config)
        self.prometheus = None

    def start(self, targets=None, deployed="prometheus.yml", **more):
        self.seend.start(**more)
        self.watch(targets or {"seend:8080": self.seend.address}, deployed)

    def watch(self, targets, deployed="prometheus.yml"):
        rules = self.directory / "rules"
        rules.mkdir()
        (rules / "alerts.yml").write_text(hastened((DEPLOYED / "alerts.yml").read_text()))
        for name in ("prometheus.yml", "cluster.yml"):
            (rules / name).write_text((DEPLOYED / name).read_text())
        prometheus_server.DEPLOYED = rules
        try:
            self.prometheus = Prometheus(self.directory, targets, deployed)
        finally:
            prometheus_server.DEPLOYED = DEPLOYED
        wait_until(lambda: self.prometheus.query("up == 1"), "it is scraped")

    def close(self):
        if self.prometheus:
            self.prometheus.close()
        self.seend.close()

    def firing(self, severity=None):
        return {alert["labels"]["alertname"] for alert in self.prometheus.ask("alerts")["alerts"]
                if alert["state"] == "firing" and severity in (None, alert["labels"]["severity"])}

    def send(self, values=(), count=100, late_ms=0, **more):
        """So many good events, which stood in their producer's queue for so long, and these."""
        at = now_ms() - late_ms
        self.topics.produce(self.topic, [*((USERS[i % 100], event(USERS[i % 100], f"i{at}-{i // 100}", at), {"timestamp": at})
                                           for i in range(count)), *(("u", value, more) for value in values)])

    @contextlib.contextmanager
    def fault(self, *names, meanwhile=lambda: None, timeout_s=60, severity=None):
        """The alerts are quiet before, fire during the block's fault, and are over after the block."""
        assert not self.firing(severity) & set(names)

        def loaded(condition):
            meanwhile()
            return condition()

        def fire(cause=lambda: None):
            wait_until(lambda: cause() or self.firing(severity) >= set(names), f"{names} fire", timeout_s, every_s=0.3)
        yield fire
        wait_until(lambda: loaded(lambda: not self.firing(severity) & set(names)), f"{names} are over", timeout_s,
                   every_s=0.3)


@pytest.fixture(scope="module")
def watched(kafka, topics, tmp_path_factory):
    made = Watched(tmp_path_factory.mktemp("alerts"), kafka, topics, "alerts")
    try:
        made.start()
        made.send()
        made.seend.wait_at_rest()
        yield made
    finally:
        made.close()


def test_rejected_events(watched):
    with watched.fault("SeendEventsRejected", meanwhile=watched.send) as fire:
        fire(lambda: watched.send(["bad"] * 20))


def test_misrouted_events(watched):
    elsewhere = 1 - partition_of("u", 2)
    with watched.fault("SeendEventsMisrouted") as fire:
        fire(lambda: watched.send([event("u", "i", now_ms())], partition=elsewhere))


def test_timestamps_of_the_future(watched):
    with watched.fault("SeendClockDisagrees") as fire:
        fire(lambda: watched.send([event("u", "i", now_ms())], timestamp=now_ms() + 40 * 60_000))


def test_foreign_snapshots(watched):
    watched.seend.wait_at_rest()
    topic = "alerts-filters"
    with watched.fault("SeendForeignSnapshots") as fire:
        old = {message.key(): message.value() for message in watched.topics.read_all(topic)}
        fire(lambda: watched.topics.produce(topic, list(old.items())[:5], partitioner="murmur2"))


def test_a_topic_of_dead_letters_and_one_of_snapshots_that_take_little(watched):
    limits = {"alerts-dead": "SeendDeadLettersDropped", "alerts-filters": "SeendSnapshotsTooLarge"}
    before = {topic: watched.topics.config(topic)["max.message.bytes"] for topic in limits}
    with watched.fault(*limits.values()) as fire:
        for topic in limits:
            watched.topics.alter(topic, {"max.message.bytes": "90"})
        try:
            fire(lambda: watched.send(["bad"], count=100))
        finally:
            for topic, limit in before.items():
                watched.topics.alter(topic, {"max.message.bytes": limit})
        watched.send()
    watched.seend.wait_at_rest(150)  # what the topic refused comes again within a minute


def test_late_events(watched):
    """A producer holds events back; then it goes on, and new ones are in time."""
    with watched.fault("SeendVisibleLate", "SeendPublishedLate", meanwhile=watched.send, severity="page") as fire:
        fire(lambda: watched.send(count=1_000, late_ms=5_000))


def test_brokers_that_are_away(kafka, watched):
    with watched.fault("SeendBrokersUnreachable", "SeendStateOld") as fire:
        kafka.stop()
        try:
            fire()
        finally:
            kafka.start()
    watched.seend.wait_ready(60)


def test_a_start_without_brokers(kafka, watched):
    """It isn't ready, and answers 503."""
    with watched.fault("SeendNotReady", "SeendHttpErrors", meanwhile=lambda: watched.seend.get("/healthz")) as fire:
        watched.seend.stop()
        kafka.stop()
        try:
            watched.seend.start(ready=False)
            fire(lambda: watched.seend.get("/readyz") and watched.seend.get("/v1/filters/default/users/u") and None)
        finally:
            kafka.start()
        watched.seend.wait_ready(60)


def test_lost_messages(kafka, watched):
    watched.seend.wait_at_rest()
    with watched.fault("SeendLostMessages") as fire:
        watched.seend.stop()
        watched.send()
        kafka.delete_records("alerts", {p: end for p, (_, end) in watched.topics.ends("alerts").items()})
        watched.send()
        watched.seend.start()
        fire()
        # It lasts for as long as the window.
        wait_until(lambda: "SeendFiltersIncomplete" in watched.firing(), "filters are incomplete", 60)
        run("lost", "--http", f"http://{watched.seend.address}", "--acknowledge")


def test_a_daemon_that_is_dead(watched):
    with watched.fault("SeendDown") as fire:
        watched.seend.kill9()
        fire()
        watched.seend.start()


@pytest.fixture
def small(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    disk = Tmpfs(place)
    yield disk
    disk.close()


def test_a_disk_that_fills_up_and_is_full(small, kafka, topics, topic_name, tmp_path):
    watched = Watched(tmp_path, kafka, topics, topic_name, {"store": {"directory": str(small.place / "store")}})
    try:
        watched.start()
        watched.send()
        watched.seend.wait_at_rest()
        # Consumption is held, so that the lag grows.
        names = ("SeendDiskFillsUp", "SeendHeld", "SeendCheckpointsFail", "SeendConsumerLagGrows")
        with watched.fault(*names, timeout_s=90) as fire:
            small.fill()
            watched.send(count=15_000)
            fire(lambda: watched.send(count=1_000))
            small.free()
        watched.seend.wait_at_rest()
        with watched.fault("SeendWaitsForSpace") as fire:
            watched.seend.stop()
            small.fill()
            watched.seend.start(ready=False)
            fire()
            small.free()
            watched.seend.wait_ready(60)
    finally:
        watched.close()


def test_partitions_of_a_member_that_is_dead(kafka, topics, topic_name, tmp_path):
    """Until its session ends nobody owns them."""
    session = {"session.timeout.ms": "20000", "heartbeat.interval.ms": "1000"}

    def config(number):
        return {"kafka": {"instance_id": f"member-{number}", "client": session}}
    watched = Watched(tmp_path, kafka, topics, topic_name, config(0), partitions=4)
    other = Seend(tmp_path, topics, topic_name, config(1), "other")
    try:
        watched.seend.start(ready=False)
        other.start(ready=False)
        watched.watch({"owner-1:8080": watched.seend.address, **{
            f"{name}:8080": other.address for name in ("owner-2", "owner-3", "replica-1", "replica-2")}}, "cluster.yml")
        wait_until(lambda: watched.prometheus.query("sum(seen_partition_owned) == 4 and count(seen_ready) == 2"),
                   "both share them", 60)
        wait_until(lambda: not watched.firing(), "nothing fires")
        with watched.fault("SeendPartitionsOrphaned") as fire:
            other.kill9()
            fire()
    finally:
        other.close()
        watched.close()


def test_partitions_that_were_added(kafka, topics, topic_name, tmp_path):
    """They are refused, until the state is built anew."""
    watched = Watched(tmp_path, kafka, topics, topic_name)
    try:
        watched.start()
        watched.send()
        watched.seend.wait_at_rest()
        with watched.fault("SeendPartitionsRefused", timeout_s=90) as fire:
            topics.add_partitions(topic_name, 3)
            fire()
            watched.seend.stop()
            topics.add_partitions(f"{topic_name}-filters", 3)
            watched.seend.start("--rebuild")
    finally:
        watched.close()


def test_a_retention_below_the_window(kafka, topics, topic_name, tmp_path):
    watched = Watched(tmp_path, kafka, topics, topic_name, retention_ms=86_400_000)
    try:
        watched.start()
        with watched.fault("SeendRetentionBelowWindow") as fire:
            fire()
            topics.alter(topic_name, {"retention.ms": str(60 * 86_400_000)})
            watched.seend.stop()
            watched.seend.start()
    finally:
        watched.close()

