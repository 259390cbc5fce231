"""A daemon, and a Prometheus that evaluates the alerts of deploy/ for it. The alerts run 60 times as fast:
minutes become seconds, hours become minutes."""

import contextlib
import re

from oracle import event
from places import now_ms, wait_until
from prometheus_server import DEPLOYED, Prometheus
from seend import Seend, merged

FASTER = {"m": "s", "h": "m"}
# Figures that the expressions state in seconds.
SECONDS = {
    "seen_partition_age_seconds > 60": "seen_partition_age_seconds > 1",
    "seen_held_since_seconds > 60": "seen_held_since_seconds > 1",
    "[10s])) > 120": "[10s])) > 2",
    "4 * 3600": "4 * 60",
    "seen_checkpoint_last_time_seconds > 300": "seen_checkpoint_last_time_seconds > 5",
}
# These faults can't follow each other that fast: a lease ends no sooner than the shortest session that
# brokers allow.
SLOWER = {
    "leases_lapsed_total[5m]": "leases_lapsed_total[20m]",
    "visible_to_published_seconds_bucket[5m]": "visible_to_published_seconds_bucket[20m]",
}
USERS = [f"user-{number}" for number in range(100)]


def hastened(rules):
    for old, new in SLOWER.items():
        assert old in rules, old
        rules = rules.replace(old, new)
    rules = re.sub(r"\[(\d+)([mh])\]", lambda found: f"[{found[1]}{FASTER[found[2]]}]", rules)
    rules = re.sub(r"for: (\d+)([mh])", lambda found: f"for: {found[1]}{FASTER[found[2]]}", rules)
    for old, new in SECONDS.items():
        assert old in rules, old
        rules = rules.replace(old, new)
    return rules


class Watched:
    """A daemon, and a Prometheus that evaluates the hastened rules for it."""

    def __init__(self, directory, kafka, topics, topic, config=None, **topic_config):
        self.directory, self.kafka, self.topics, self.topic = directory, kafka, topics, topic
        topics.create(topic, **topic_config)
        window = {"input": {"loss": {"window_s": 10}}}  # hastened, too
        self.seend = Seend(directory, topics, topic, merged(window, config or {}))
        self.prometheus = None

    def start(self, **more):
        self.seend.start(**more)
        self.watch({"seend:8080": self.seend.address})

    def watch(self, targets, deployed="prometheus.yml", job=""):
        alerts = hastened((DEPLOYED / "alerts.yml").read_text())
        self.prometheus = Prometheus(self.directory, targets, deployed, alerts, job)
        wait_until(lambda: self.prometheus.query("up == 1"), "it is scraped", 120)

    def close(self):
        if self.prometheus:
            self.prometheus.close()
        self.seend.close()

    def firing(self, severity=None):
        return {
            alert["labels"]["alertname"]
            for alert in self.prometheus.ask("alerts")["alerts"]
            if alert["state"] == "firing" and severity in (None, alert["labels"]["severity"])
        }

    def send(self, values=(), count=100, late_ms=0, users=USERS, **more):
        """Sends `count` good events and the `values`. The good events are `late_ms` old, as if a producer had
        held them back."""
        at = now_ms() - late_ms
        good = ((users[i % len(users)], f"i{at}-{i // len(users)}") for i in range(count))
        self.topics.produce(
            self.topic,
            [
                *((user, event(user, item, at), {"timestamp": at}) for user, item in good),
                *(("u", value, more) for value in values),
            ],
        )

    @contextlib.contextmanager
    def fault(self, *names, meanwhile=lambda: None, timeout_s=120, severity=None):
        """Checks that the alerts are quiet before the block, fire during its fault, and end after it."""
        wait_until(lambda: not self.firing(severity) & set(names), f"{names} are quiet before", timeout_s)

        def loaded(condition):
            meanwhile()
            return condition()

        def all_fire():
            if quiet := set(names) - self.firing(severity):
                raise ValueError(f"{quiet} don't")
            return True

        def fire(cause=lambda: None):
            wait_until(lambda: cause() or all_fire(), f"{names} fire", timeout_s, every_s=0.3)

        yield fire
        wait_until(
            lambda: loaded(lambda: not self.firing(severity) & set(names)),
            f"{names} are over",
            timeout_s,
            every_s=0.3,
        )
