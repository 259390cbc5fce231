"""Each alert fires under a real fault in a real Prometheus, and ends with the fault."""

import contextlib
import shutil

import pytest

from certificates import Authority
from hashes import partition_of
from item_stream import Items, item, text_of
from load import Load
from oracle import event
from places import now_ms, wait_until
from seenctl_tool import run
from seend import Seend, one_filter, wait_streamed, with_updates
from faults import SlowCompaction, Tmpfs
from watched_daemon import Watched

SESSION = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "1000"}
MANY_USERS = [f"user-{number}" for number in range(30_000)]


@pytest.fixture
def own(request, kafka, topics, topic_name, tmp_path):
    """own(config) -> Watched for this test alone, not started."""
    request.node.seen_daemons = daemons = []
    with contextlib.ExitStack() as stack:

        def make(config=None, **topic_config):
            made = Watched(tmp_path, kafka, topics, topic_name, config, **topic_config)
            stack.callback(made.close)
            daemons.append(made.seend)
            return made

        yield make


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


def test_events_that_do_not_reach_the_state(own, topic_name):
    """Each cause is an alert of its own. They end when the window has passed, or with one event for a filter
    without any; the log has both."""
    limits = {"skipped_share_max": 0.05, "no_filter_share_max": 0.05, "unreached_events_min": 100}
    scenes = one_filter(topic_name, scenes=["home"])
    scenes["filters"].append({"name": "rare", "scenes": ["rare"], "snapshot": None})
    watched = own({"input": {"kinds": {"ping": None}, "loss": limits}} | scenes, partitions=2)
    watched.start()
    elsewhere = 1 - partition_of("u", 2)

    def lose():
        at = now_ms()
        watched.send(
            [
                *[event("u", "i", at // 1000, scene="home")] * 30,
                *[event("u", "i", at, kind="ping")] * 30,
                *[event("u", "i", at, scene="search")] * 30,
                *["bad"] * 30,
            ],
            count=0,
            partition=elsewhere,
        )

    def causes():
        return {
            alert["labels"]["cause"]
            for alert in watched.prometheus.ask("alerts")["alerts"]
            if alert["labels"]["alertname"] == "SeendEventsLost" and alert["state"] == "firing"
        }

    with watched.fault("SeendEventsLost", "SeendEventsMisrouted", severity="page") as fire:
        fire(lose)
        all_of_them = {"too_old", "skipped", "no_filter", "rejected", "unreached"}
        wait_until(lambda: lose() or causes() == all_of_them, "each cause fires", 120, every_s=0.3)
        watched.send([event("u", "i", now_ms(), scene=scene) for scene in ("home", "rare")])
    wait_until(
        lambda: watched.seend.log().count("is within input.loss again") >= 5,
        "the log has the end of each trouble",
        120,
    )


def test_items_of_a_newsroom_with_another_time_zone(own, topics, topic_name):
    items = Items(topics, f"{topic_name}-of")
    watched = own(items.config())
    watched.start()
    # More than input.loss.events_min in each round: on a busy machine, few rounds fall into the window.
    ahead = [item(f"n{i}", created_at=now_ms() + 8 * 3_600_000) for i in range(150)]
    with watched.fault("SeendEventsLost", severity="page") as fire:
        fire(lambda: items.send(*ahead))
        zone = "is the producer's time zone or clock wrong?): seenctl dead-letters"
        wait_until(
            lambda: items.send(*ahead) or any(zone in t for t in watched.seend.status()["troubles"]),
            "the trouble asks for the time zone",
            120,
            every_s=0.3,
        )


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
        # The daemon retries refused snapshots within a minute. A new start publishes them at once.
        watched.seend.stop()
        watched.seend.start()
        watched.seend.wait_at_rest()


def test_updates_and_snapshots_that_their_topics_refuse(own, topic_name):
    """After a minute the daemon gives additions up. No round of the refresh ends without its snapshots."""
    watched = own(with_updates(topic_name, refresh_s=1))
    watched.start()
    watched.send()
    watched.seend.wait_at_rest()
    refusing = [f"{topic_name}-updates", f"{topic_name}-filters"]
    before = {topic: watched.topics.config(topic)["max.message.bytes"] for topic in refusing}
    with watched.fault("SeendRefreshLate", "SeendUpdateGaps", timeout_s=240) as fire:
        for topic in refusing:
            watched.topics.alter(topic, {"max.message.bytes": "90"})
        try:
            fire(watched.send)
        finally:
            for topic, limit in before.items():
                watched.topics.alter(topic, {"max.message.bytes": limit})


def test_late_events(watched):
    """A producer holds events back. Then it sends them, and new events are in time."""
    with watched.fault(
        "SeendVisibleLate", "SeendPublishedLate", meanwhile=watched.send, severity="page"
    ) as fire:
        fire(lambda: watched.send(count=1_000, late_ms=5_000))


def test_brokers_that_are_away(kafka, watched):
    with watched.fault("SeendBrokersUnreachable", "SeendStateOld") as fire:
        with kafka.away():
            fire()
    watched.seend.wait_ready(60)


def test_a_start_without_brokers(kafka, watched):
    """The daemon isn't ready and answers 503."""
    with watched.fault(
        "SeendNotReady", "SeendHttpErrors", meanwhile=lambda: watched.seend.get("/healthz")
    ) as fire:
        watched.seend.stop()
        with kafka.away():
            watched.seend.start(ready=False)
            ask = lambda path: watched.seend.get(path) and None  # noqa: E731
            fire(lambda: ask("/readyz") or ask("/v1/filters/default/users/u"))
        watched.seend.wait_ready(60)


def test_lost_messages(kafka, watched):
    watched.seend.wait_at_rest()
    with watched.fault("SeendLostMessages") as fire:
        watched.seend.stop()
        watched.send()
        kafka.delete_records("alerts", watched.topics.end_offsets("alerts"))
        watched.send()
        watched.seend.start()
        fire()
        # Filters stay incomplete for the length of their window. An operator acknowledges the loss.
        wait_until(lambda: "SeendFiltersIncomplete" in watched.firing(), "filters are incomplete", 120)
        run("status", "--lost", "--http", watched.seend.url, "--acknowledge")


def test_a_transaction_that_stays_open(own, topics, topic_name):
    watched = own()
    watched.start()
    watched.send()
    watched.seend.wait_at_rest()
    with watched.fault("SeendOpenTransaction") as fire:
        with topics.open_transaction(topic_name, [("u", event("u", "i", now_ms()))]):
            fire()


def test_a_state_topic_that_lacks_partitions(own, topics, topic_name):
    state = f"{topic_name}-state"
    watched = own({"state": {"topic": state, "run_every_s": 1}})
    watched.start()
    watched.send()
    watched.seend.wait_at_rest()
    with watched.fault("SeendStateTopicNotWritten") as fire:
        topics.delete(state)
        topics.create(state, partitions=1)
        fire(watched.send)
        topics.add_partitions(state, 2)


def test_a_prometheus_that_scrapes_nothing(watched):
    with watched.fault("SeendAbsent") as fire:
        watched.prometheus.reconfigure(f'["{watched.seend.address}"]', "[]")
        fire()
        watched.prometheus.reconfigure("[]", f'["{watched.seend.address}"]')


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


def test_a_disk_that_fills_up_and_is_full(small, own, chance):
    # With a full disk the daemon consumes nothing. So the lag grows, and unread records come near the end of
    # retention. The disk fills up amid a stream of events, so the checkpoint that fails has events.
    watched = own({"store": {"directory": str(small.place / "store")}}, retention_ms=5 * 3_600_000)
    watched.start()
    watched.send()
    watched.seend.wait_at_rest()
    names = (
        "SeendDiskFillsUp",
        "SeendHeld",
        "SeendCheckpointsFail",
        "SeendCheckpointOverdue",
        "SeendConsumerLagGrows",
        "SeendRetentionHeadroomLow",
    )
    with watched.fault(*names) as fire:
        stream = Load(chance).send_aside(watched.topics, watched.topic, 100_000, rate=20_000)
        wait_until(lambda: watched.seend.partition_status()[0]["tail_bytes"], "it takes events")
        small.fill()
        fire(lambda: watched.send(count=1_000))
        stream.join()
        small.free()
    watched.seend.wait_at_rest()
    with watched.fault("SeendWaitsForSpace") as fire:
        watched.seend.stop()
        small.fill()
        watched.seend.start(ready=False)
        fire()
        small.free()
        watched.seend.wait_ready(60)


def test_a_disk_that_compaction_is_too_slow_for(own, tmp_path):
    watched = own()
    disk = SlowCompaction(watched.seend.store)
    watched.seend.environment = disk.environment
    watched.start()
    with watched.fault("SeendStoreStalled") as fire:
        disk.begin()
        fire(watched.send)
        disk.end()


def test_partitions_of_a_member_that_is_dead(own, topics, topic_name, tmp_path):
    """Until the member's session ends, nobody owns its partitions."""
    session = SESSION | {"session.timeout.ms": "20000"}

    def config(number):
        return {"kafka": {"instance_id": f"member-{number}", "client": session}}

    watched = own(config(0), partitions=4)
    other = Seend(tmp_path, topics, topic_name, config(1), "other")
    try:
        watched.seend.start(ready=False)
        other.start(ready=False)
        watched.watch(
            {
                "owner-1:8080": watched.seend.address,
                **{
                    f"{name}:8080": other.address for name in ("owner-2", "owner-3", "replica-1", "replica-2")
                },
            },
            deployed="cluster.yml",
        )
        wait_until(
            lambda: watched.prometheus.query("sum(seen_partition_owned) == 4 and count(seen_ready) == 2"),
            "both share them",
            60,
        )
        wait_until(lambda: not watched.firing(), "nothing fires", 120)
        with watched.fault("SeendPartitionsOrphaned") as fire:
            other.kill9()
            fire()
    finally:
        other.close()


def test_partitions_that_were_added(own, topics, topic_name):
    """The daemon refuses added partitions until --rebuild builds the state again."""
    watched = own()
    watched.start()
    watched.send()
    watched.seend.wait_at_rest()
    with watched.fault("SeendPartitionsRefused") as fire:
        topics.add_partitions(topic_name, 3)
        fire()
        watched.seend.stop()
        topics.add_partitions(f"{topic_name}-filters", 3)
        watched.seend.start("--rebuild")


def test_partitions_that_the_leader_of_the_group_leaves_out(own, kafka, topic_name):
    """Another program leads the consumer group and assigns partitions wrongly."""
    watched = own({"kafka": {"client": SESSION}})
    leader = kafka.java_program("LeavesPartitionsOut.java", kafka.bootstrap, watched.seend.group, topic_name)
    try:
        said = next((line for line in leader.stdout if line.startswith("assigned")), None)
        assert said == f"assigned [{topic_name}-0]\n", "it leads, and reads alone"
        watched.start(ready=False)
        with watched.fault("SeendPartitionsUnowned") as fire:
            fire()
            leader.kill()
    finally:
        leader.kill()
        leader.wait()


def test_a_restore_that_brokers_slow_down(own, kafka, topic_name):
    state = f"{topic_name}-state"
    watched = own(
        {"kafka": {"client": {"client.id": topic_name}}, "state": {"topic": state, "run_every_s": 1}}
    )
    watched.start()
    watched.send(count=30_000, users=MANY_USERS)
    ends = watched.seend.wait_at_rest()
    wait_streamed([watched.seend], ends)
    watched.seend.stop()
    shutil.rmtree(watched.seend.store)
    with watched.fault("SeendRestoreSlow") as fire:
        with kafka.quota(topic_name, consumer=4_000):
            watched.seend.start(ready=False)
            fire()
        watched.seend.wait_ready(60)


def test_a_topic_that_refuses_snapshots_for_a_while(own, topics, topic_name):
    """The topic refuses the snapshots because of their timestamps. When it accepts them again, they are
    late."""
    watched = own()
    watched.start()
    watched.send()
    watched.seend.wait_at_rest()
    limit = "message.timestamp.before.max.ms"
    usual = topics.config(f"{topic_name}-filters")[limit]
    with watched.fault("SeendPublishSlow") as late:
        with watched.fault("SeendMarksGrow", "SeendPublicationFails") as fire:
            topics.alter(f"{topic_name}-filters", {limit: "0"})
            watched.send(count=30_000, users=MANY_USERS)
            numbers = iter(range(1_000_000))
            fire(lambda: watched.send(count=100, users=[f"late-{next(numbers)}" for _ in range(100)]))
            topics.alter(f"{topic_name}-filters", {limit: usual})
        late()


def test_offsets_that_brokers_do_not_take(own, topics):
    """The fault repeats, because a lease is valid again as soon as the brokers take offsets."""
    watched = own({"kafka": {"client": SESSION}})
    watched.start()
    watched.send()
    watched.seend.wait_at_rest()

    usual = topics.config("__consumer_offsets")["max.message.bytes"]

    def lapsed():
        return watched.seend.metric_sum("seen_publish_leases_lapsed_total")

    def lapse():
        before = lapsed()
        topics.alter("__consumer_offsets", {"max.message.bytes": "60"})
        try:
            wait_until(lambda: watched.send(count=10) or lapsed() > before, "the lease ends", 30)
        finally:
            topics.alter("__consumer_offsets", {"max.message.bytes": usual})
        watched.send()
        watched.seend.wait_at_rest()

    with watched.fault("SeendLeaseLapses") as fire:
        fire(lapse)


def test_groups_of_items_that_somebody_else_writes(own, topics, topic_name):
    items = Items(topics, f"{topic_name}-of")
    watched = own(items.config())
    topics.create(items.groups, partitions=3, cleanup_policy="compact")
    watched.start()
    items.send(*(item(f"n{i}", text_of(i)) for i in range(20)))
    items.wait_at_rest(watched.seend)
    with watched.fault("SeendForeignGroups") as fire:
        fire(lambda: topics.produce(items.groups, [("n1", b"{")], partitioner="murmur2_random"))


def test_events_that_were_deleted_before_they_were_re_keyed(own, kafka, topics, topic_name):
    watched = own({"input": {"keyed_by_user": False}})
    watched.start()
    watched.send()
    watched.seend.wait_at_rest()
    with watched.fault("SeendRekeyingLost") as fire:
        watched.seend.stop()
        watched.send()
        kafka.delete_records(topic_name, topics.end_offsets(topic_name))
        watched.send()
        watched.seend.start()
        fire()
        watched.seend.wait_at_rest()
        watched.seend.stop()
        watched.seend.start()


def test_a_certificate_that_runs_out(own, tmp_path):
    """The daemon loads a new certificate while it runs."""
    authority = Authority(tmp_path)
    watched = own({"access": authority.access("seend", days=10)})
    watched.seend.start()
    watched.watch(
        {"seend:8080": watched.seend.address},
        job=f"scheme: https\ntls_config: {{ca_file: {authority.certificate}}}",
    )
    with watched.fault("SeendCertificateExpires") as fire:
        fire()
        authority.sign("seend")


def test_a_topic_with_wrong_settings_and_one_that_is_missing(own, topics, topic_name):
    watched = own()
    watched.start()
    published = f"{topic_name}-filters"
    with watched.fault("SeendTopicSettings") as fire:
        topics.alter(published, {"cleanup.policy": "delete"})
        fire()
        topics.alter(published, {"cleanup.policy": "compact"})
    with watched.fault("SeendTopicMissing") as fire:
        topics.delete(published)
        fire()
        topics.create(published, cleanup_policy="compact")


def test_a_retention_below_the_window(own, topics, topic_name):
    watched = own(retention_ms=86_400_000)
    watched.start()
    with watched.fault("SeendRetentionBelowWindow") as fire:
        fire()
        topics.alter(topic_name, {"retention.ms": str(60 * 86_400_000)})
        watched.seend.stop()
        watched.seend.start()
