"""A daemon has each metric that deploy/prometheus uses. test_dashboards.py queries a Prometheus that scrapes
loaded daemons."""

import re
import subprocess

import pytest

from load import Load
from places import wait_until
from prometheus_server import DEPLOYED

QUIET = {
    "seen_retention_headroom_seconds",
    "seen_state_restore_share",
}  # shown only while something is unread or is restored


def of_a_group(topic):
    """The settings that a daemon among several has in addition to the tests' defaults."""
    return {
        "state": {"topic": f"{topic}-state", "run_every_s": 1},
        "watermarks": {"topic": f"{topic}-beats"},
        "cluster": {"peers": "127.0.0.0/8", "token": "a-token-of-theirs"},
    }


@pytest.mark.parametrize(
    "check",
    [["config", "prometheus.yml"], ["config", "cluster.yml"], ["rules", "alerts.yml"]],
    ids=lambda c: c[1],
)
def test_promtool_accepts_what_is_deployed(check):
    done = subprocess.run(
        ["promtool", "check", *check], cwd=DEPLOYED, capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_alerts_fire_when_they_should_and_only_then():
    done = subprocess.run(
        ["promtool", "test", "rules", "alerts_test.yml"],
        cwd=DEPLOYED,
        capture_output=True,
        text=True,
        timeout=180,
    )  # the test simulates hours of rules
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_metric_that_an_alert_asks_for_is_one_the_daemon_has(topics, daemon, topic_name, chance):
    topics.create(topic_name)
    seend = daemon(topic_name, of_a_group(topic_name)).start()
    Load(chance, users=10).send(topics, topic_name, 100)
    seend.wait_at_rest()
    wait_until(
        lambda: "seen_state_stream_epoch" in seend.http.get("/metrics").text, "its stream of state has begun"
    )
    page = seend.http.get("/metrics").text
    names = set(re.findall(r"^# TYPE (\S+)", page, re.M))
    asked = set(re.findall(r"\bseen_[a-z0-9_]+", (DEPLOYED / "alerts.yml").read_text()))
    asked = {re.sub(r"_(bucket|count)$", "", name) for name in asked}
    unknown = asked - names - QUIET
    # These metrics appear only when there is something to count.
    assert unknown <= {
        "seen_rekeying_lost_messages_total",
        "seen_item_groups_foreign_total",
        "seen_items_leases_lapsed_total",
        "seen_certificate_not_after_seconds",
    }, unknown
