"""A real Prometheus scrapes a loaded daemon, and what deploy/ says about it is true."""

import json
import re
import subprocess
import time

import pytest

from http_json import user_path
from load import Load
from oracle import event
from places import SOURCE, now_ms, wait_until
from prometheus_server import DEPLOYED, Prometheus

DASHBOARD = SOURCE / "deploy" / "grafana" / "dashboards" / "seend.json"
QUIET = {"seen_retention_headroom_seconds", "seen_state_restore_share"}  # shown while something is unread, is restored


def of_a_group(topic):
    """What a daemon among several has beside the tests' defaults."""
    return {"state": {"topic": f"{topic}-state", "run_every_s": 1}, "watermarks": {"topic": f"{topic}-beats"},
            "cluster": {"peers": "127.0.0.0/8", "token": "a-token-of-theirs"}}


@pytest.fixture
def loaded(topics, daemon, topic_name, chance, tmp_path):
    """A daemon under every kind of load there is, and a Prometheus that has watched it for a while."""
    topics.create(topic_name)
    seend = daemon(topic_name, of_a_group(topic_name)).start()
    prometheus = Prometheus(tmp_path, {"seend:8080": seend.address})
    try:
        load = Load(chance, users=500)
        producing = load.send_aside(topics, topic_name, 120_000, rate=10_000)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            now = now_ms()
            topics.produce(topic_name, [("u", "bad"), ("u", event("u", "old", now - 90 * 86_400_000)),
                                        ("u", event("u", "i", now), {"partition": 0}),
                                        ("u", event("u", "i", now), {"partition": 1})])
            for path in (user_path("user-1"), user_path("user-1") + "/segments", "/v1/status", "/nothing"):
                seend.http.get(path)
            seend.unseen("user-1", ["a", "b"])
            time.sleep(0.2)
        prometheus.wait_scraped(8)
        yield seend, prometheus
        producing.join()
    finally:
        prometheus.close()


@pytest.mark.heavy
def test_every_query_of_the_dashboard_finds_data_and_the_metrics_are_sound(loaded):
    seend, prometheus = loaded
    check_page(seend)
    panels = [p for p in json.loads(DASHBOARD.read_text())["panels"] if p["type"] != "row"]
    assert len(panels) > 20
    empty = prometheus.empty_panels(panels, QUIET)
    assert not empty, "\n".join(empty)
    check_alerts(prometheus)
    check_values(seend, prometheus)


def check_page(seend):
    """promtool finds nothing to object to, and the names that others rely on are there."""
    page = seend.http.get("/metrics")
    assert page.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lint = subprocess.run(["promtool", "check", "metrics"], input=page.body, capture_output=True, timeout=20)
    assert lint.returncode == 0 and not lint.stderr.strip(), lint.stderr.decode()
    for name in ("seen_events_total", 'seen_events_rejected_total{reason="not_json"}', "seen_events_too_old_total",
                 "seen_events_misrouted_total", 'seen_snapshots_total{filter="default"}',
                 'seen_snapshot_bytes_total{filter="default"}', 'seen_snapshot_marks_outstanding{partition="0"}',
                 "seen_checkpoint_duration_seconds_bucket", 'seen_tail_bytes{partition="0"}',
                 'seen_consumer_lag_messages{partition="0"}', 'seen_lost_messages_total{partition="0"}',
                 "seen_event_to_visible_seconds_bucket", "seen_exposed_to_visible_seconds_bucket",
                 "seen_visible_to_published_seconds_bucket", 'seen_event_to_published_seconds_bucket{filter="default"',
                 'seen_http_requests_total{', "seen_http_request_duration_seconds_bucket{",
                 'seen_store_bytes{partition="0"}', "seen_build_info{"):
        assert name in page.text, name


def check_alerts(prometheus):
    """Every rule of deploy/ was evaluated without an error."""
    rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    assert len(rules) >= 10
    assert all(rule["health"] == "ok" for rule in rules), [r for r in rules if r["health"] != "ok"]


def check_values(seend, prometheus):
    """The figures mean what they say."""
    assert float(prometheus.query("sum(rate(seen_events_total[8s]))")[0]["value"][1]) > 1_000
    p99 = float(prometheus.query(
        "histogram_quantile(0.99, sum by (le) (rate(seen_event_to_visible_seconds_bucket[8s])))")[0]["value"][1])
    assert 0 < p99 < 5, p99
    on_disk = float(prometheus.query("sum(seen_store_bytes)")[0]["value"][1])
    assert on_disk > 10_000
    assert float(prometheus.query("seen_events_misrouted_total")[0]["value"][1]) > 0
    assert float(prometheus.query("seen_events_too_old_total")[0]["value"][1]) > 0


@pytest.mark.parametrize("check", [["config", "prometheus.yml"], ["config", "cluster.yml"],
                                   ["rules", "alerts.yml"]], ids=lambda c: c[1])
def test_promtool_accepts_what_is_deployed(check):
    done = subprocess.run(["promtool", "check", *check], cwd=DEPLOYED, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_alerts_fire_when_they_should_and_only_then():
    done = subprocess.run(["promtool", "test", "rules", "alerts_test.yml"], cwd=DEPLOYED, capture_output=True,
                          text=True, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_metric_that_deploy_asks_for_is_one_the_daemon_has(topics, daemon, topic_name, chance):
    topics.create(topic_name)
    seend = daemon(topic_name, of_a_group(topic_name)).start()
    Load(chance, users=10).send(topics, topic_name, 100)
    seend.wait_at_rest()
    wait_until(lambda: "seen_state_stream_epoch" in seend.http.get("/metrics").text, "its stream of state has begun")
    page = seend.http.get("/metrics").text
    names = set(re.findall(r"^# TYPE (\S+)", page, re.M))
    asked = set(re.findall(r"\bseen_[a-z0-9_]+", DASHBOARD.read_text() + (DEPLOYED / "alerts.yml").read_text()))
    asked = {re.sub(r"_bucket$", "", name) for name in asked}
    unknown = asked - names - QUIET
    # These appear with what they count.
    assert unknown <= {"seen_rekeying_lost_messages_total", "seen_item_groups_foreign_total",
                       "seen_items_leases_lapsed_total"}, unknown
