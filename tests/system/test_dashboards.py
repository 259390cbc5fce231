"""The dashboards of deploy/ show every metric, and a real Prometheus answers each of their queries."""

import itertools
import json
import re
import subprocess
import time

import pytest

from http_json import user_path
from item_stream import Items, item, text_of
from oracle import event
from places import SOURCE, now_ms, wait_until
from prometheus_server import DEPLOYED, Prometheus
from seend import Seend, in_group, one_filter
from test_runbook import alerts, entries

GRAFANA = SOURCE / "deploy" / "grafana"
TITLES = {
    "is-it-working": "seend: Is it working",
    "latency": "seend: Latency",
    "store-and-memory": "seend: Store and memory",
    "meaning": "seend: Meaning",
}
DASHBOARDS = {name: json.loads((GRAFANA / "dashboards" / f"{name}.json").read_text()) for name in TITLES}
# These have series only while something is unread or is being restored, or with TLS.
QUIET = {"seen_retention_headroom_seconds", "seen_state_restore_share", "seen_certificate_not_after_seconds"}
GROUP = ["owner-1", "owner-2", "owner-3"]


def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


EVERY_PANEL = [(name, panel) for name, dashboard in DASHBOARDS.items() for panel in panels(dashboard)]


def metrics_in(text, known):
    """The metrics that the text names. The series of a histogram (_bucket, _sum, _count) count as the
    histogram in `known`."""
    words = set(re.findall(r"\b(?:seen|process)_[a-z0-9_]+", text))
    return {word if word in known else re.sub(r"_(bucket|sum|count)$", "", word) for word in words}


# --- checks that need the files alone


def test_every_documented_metric_is_on_a_dashboard_or_omitted_for_a_reason():
    """A unit test compares METRICS.md with the daemon's page."""
    known = set(re.findall(r"(?m)^\| `([a-z0-9_]+)` \|", (SOURCE / "docs" / "METRICS.md").read_text()))
    omitted = json.loads((GRAFANA / "omitted.json").read_text())
    asked = metrics_in(json.dumps(DASHBOARDS), known)
    assert len(known) > 100
    assert asked - known == set(), "the daemon doesn't have them"
    assert known - asked - set(omitted) == set(), "neither on a dashboard nor in omitted.json"
    assert set(omitted) & asked == set() and set(omitted) <= known, "omitted.json is out of date"
    assert all(len(reason) > 20 for reason in omitted.values())


@pytest.mark.parametrize("name", TITLES)
def test_a_dashboard_has_what_all_of_them_have(name):
    dashboard = DASHBOARDS[name]
    assert dashboard["title"] == TITLES[name]
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource" and {"instance", "runbook"} <= set(variables)
    sources = re.findall(r'"type": "prometheus",\s*"uid": "([^"]*)"', json.dumps(dashboard))
    assert set(sources) == {"${datasource}"}
    assert {"Starts", "Alerts"} <= {annotation["name"] for annotation in dashboard["annotations"]["list"]}
    assert any(
        "thresholds" in panel.get("fieldConfig", {}).get("defaults", {}) for panel in panels(dashboard)
    )
    assert any(link["url"] == "${runbook}" for link in dashboard["links"] if link["type"] == "link")
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    for one, other in itertools.combinations(places, 2):
        assert (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        ), (one, other)


def test_links_lead_into_the_runbook_and_every_alert_has_one():
    urls = {link["url"] for _, panel in EVERY_PANEL for link in panel["links"]} - {"${runbook}"}
    anchors = {f"${{runbook}}#{name.lower()}" for name in entries()}
    assert urls <= anchors, urls - anchors
    assert anchors <= urls, "an alert without a panel that links to it"


def test_the_objectives_of_the_panels_are_those_of_the_alerts():
    rules = (DEPLOYED / "alerts.yml").read_text()
    for way in ("visible", "published"):
        (bound,) = re.findall(rf'seen_event_to_{way}_seconds_bucket{{le="([0-9.]+)"}}', rules)
        for panel in panels(DASHBOARDS["is-it-working"]):
            if panel["title"] == f"Event to {way}, p99":
                assert panel["fieldConfig"]["defaults"]["thresholds"]["steps"][-1]["value"] == float(bound)
                assert f"{bound} s" in panel["description"]
                break
        else:
            raise AssertionError(f"no panel of {way}")


@pytest.mark.parametrize(
    "name, panel", EVERY_PANEL, ids=lambda of: of if isinstance(of, str) else of["title"]
)
def test_legends_name_the_instance(name, panel):
    if panel["type"] in ("stat", "heatmap", "alertlist"):  # they show all instances together
        return
    assert all("{{instance}}" in target["legendFormat"] for target in panel["targets"])


def test_tables_name_their_columns():
    for name, panel in EVERY_PANEL:
        if panel["type"] == "table":
            (organize,) = [t["options"] for t in panel["transformations"] if t["id"] == "organize"]
            named_here = organize["renameByName"]
            assert {f"Value #{target['refId']}" for target in panel["targets"]} <= set(named_here), name
            overridden = {one["matcher"]["options"] for one in panel["fieldConfig"]["overrides"]}
            assert overridden <= set(named_here.values()), (name, panel["title"])


# --- checks of what Prometheus answers


def named(legend, labels):
    return re.sub(r"\{\{(\w+)\}\}", lambda match: labels.get(match[1], ""), legend).strip()


class World:
    """A daemon that re-keys, groups items, keeps a journal and reports items never shown; a group of three
    daemons; load on all of them; and the Prometheus that scrapes them."""

    def __init__(self, directory, topics):
        self.topics, self.chunk = topics, itertools.count()
        self.seend = self.loaded(directory)
        topics.create("dash-group", partitions=3)
        self.members = [self.member(directory, number) for number in range(3)]
        addresses = dict(zip(GROUP, (member.address for member in self.members)))
        self.daemons = [self.seend, *self.members]
        for one in self.daemons:
            one.start(ready=False)
        self.prometheus = Prometheus(
            directory,
            {
                **{f"{name}:8080": address for name, address in addresses.items()},
                "replica-1:8080": self.seend.address,
                "replica-2:8080": self.seend.address,
            },
            "cluster.yml",
        )

    def loaded(self, directory):
        topic = "dash-loaded"
        self.items = Items(self.topics, topic, partitions=2)
        return Seend(
            directory,
            self.topics,
            topic,
            {
                **self.items.config(),
                "input": {"keyed_by_user": False},
                "filters": [
                    *one_filter(topic, snapshot={"updates": True}, similar="demote")["filters"],
                    # Served items of a filter with updates have no endings.
                    {"name": "plain", "snapshot": {"topic": f"{topic}-plain"}, "served_ttl_s": 6},
                ],
                "watermarks": {"topic": f"{topic}-beats"},
                "unexposed": {"topic": f"{topic}-unexposed", "grace_s": 0},
                "updates": {"topic": f"{topic}-updates"},
                "store": {"explain_days": 30},
                "state": {"topic": f"{topic}-state", "run_every_s": 1},
            },
            "loaded",
        )

    def member(self, directory, number):
        return Seend(
            directory,
            self.topics,
            "dash-group",
            in_group("dash-group", f"member-{number}"),
            f"member-{number}",
        )

    def load(self):
        """Sends some events and requests of every kind."""
        now, n = now_ms(), next(self.chunk)
        users = [f"user-{(n * 60 + i) % 500}" for i in range(60)]
        shown = [event(user, f"item-{n}-{i % 7}", now) for i, user in enumerate(users)]
        served = json.dumps(
            {
                "kind": "served",
                "user_id": users[0],
                "exposed_at": now,
                "request_id": f"r{n}",
                "items": [{"item_id": f"served-{n}-{i}", "position": i} for i in range(5)],
            }
        )
        removed = json.dumps(
            {"kind": "removed", "user_id": users[1], "item_id": f"item-{n}-1", "exposed_at": now}
        )
        rejected = ["bad", json.dumps({"user_id": "u"}), event("u", "old", now - 90 * 86_400_000)]
        history = [
            (None, event(f"old-{i}", f"item-{n}", now - 86_400_000), {"headers": {"seen-replay": "run-1"}})
            for i in range(5)
        ]
        self.topics.produce(
            "dash-loaded", [(None, value) for value in [*shown, served, removed, *rejected]] + history
        )
        self.topics.produce(
            "dash-group",
            [
                *zip(users, shown),
                ("u", "bad"),
                *(("u", event("u", "i", now), {"partition": partition}) for partition in range(3)),
            ],
        )
        self.items.send(*(item(f"item-{n}-{i}", text_of(n * 7 + i // 2)) for i in range(7)), "no item")
        for one in self.daemons:
            for path in (user_path("user-1"), user_path("user-2") + "/segments", "/v1/status", "/nothing"):
                one.get(path)

    def load_until(self, condition, what, timeout_s=60):
        def loaded():
            self.load()
            return condition()

        wait_until(loaded, what, timeout_s, every_s=0.1)

    def scraped(self, times):
        counts = self.prometheus.query('sum by (instance) (sum_over_time(up{job="seend"}[5m]))')
        return len(counts) == 4 and all(float(count["value"][1]) >= times for count in counts)

    def close(self):
        self.prometheus.close()
        for one in self.daemons:
            one.close()


@pytest.fixture(scope="module")
def world(topics, tmp_path_factory):
    made = World(tmp_path_factory.mktemp("dashboards"), topics)
    try:
        for one in made.daemons:
            one.wait_ready(60)
        made.load_until(
            lambda: (
                made.scraped(3) and all(one.metric_sum("seen_snapshots_total") > 0 for one in made.daemons)
            ),
            "all are scraped and publish",
        )
        began = time.time()
        # Endings and groups of items take the longest: a served item ends after six seconds.
        made.load_until(
            lambda: time.time() > began + 10 and made.seend.metric_sum("seen_endings_total") > 0,
            "served items have ended",
        )
        made.end = time.time() - 1  # of the time for which queries are asked
        yield made
    finally:
        made.close()


def test_every_query_finds_data_and_legends_tell_series_apart(world):
    wrong = []
    for name, panel in EVERY_PANEL:
        for target in panel.get("targets", []):
            found = world.prometheus.series(target["expr"], world.end, 8)
            if not found and not any(metric in target["expr"] for metric in QUIET):
                wrong.append(f"{name}: {panel['title']}: nothing: {target['expr']}")
            names = {named(target["legendFormat"], labels) for labels in found}
            if panel["type"] not in ("table", "heatmap") and len(names) < len(found):
                wrong.append(f"{name}: {panel['title']}: one legend for several series: {sorted(names)[:3]}")
            if (
                panel["type"] != "stat"
                and panel["type"] != "heatmap"
                and any("instance" not in labels for labels in found)
            ):
                wrong.append(f"{name}: {panel['title']}: no instance")
    assert not wrong, "\n".join(wrong)


def test_annotations_and_variables_find_data(world):
    for annotation in DASHBOARDS["latency"]["annotations"]["list"]:
        assert world.prometheus.ask(
            "query_range",
            query=world.prometheus.filled_in(annotation["expr"]),
            start=world.end - 40,
            end=world.end,
            step=1,
        )["result"], annotation["name"]
    (query,) = {
        variable["definition"]
        for dashboard in DASHBOARDS.values()
        for variable in dashboard["templating"]["list"]
        if variable["type"] == "query"
    }
    selector, label = re.fullmatch(r"label_values\((.+), (\w+)\)", query).groups()
    assert len({series["metric"][label] for series in world.prometheus.query(selector)}) == 4


def test_the_page_of_a_loaded_daemon_is_sound(world):
    """promtool reports nothing. The dashboards, or omitted.json, name every metric of the page."""
    omitted = json.loads((GRAFANA / "omitted.json").read_text())
    shown = json.dumps(DASHBOARDS)
    for one in world.daemons:
        page = one.http.get("/metrics")
        assert page.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        lint = subprocess.run(
            ["promtool", "check", "metrics"], input=page.body, capture_output=True, timeout=20
        )
        assert lint.returncode == 0 and not lint.stderr.strip(), lint.stderr.decode()
        names = set(re.findall(r"(?m)^# TYPE (\S+)", page.text))
        assert {name for name in names if name not in shown} <= set(omitted)


def test_the_figures_mean_what_they_say(world):
    assert (
        0
        < world.prometheus.value(
            "max(seen_event_to_visible_seconds_sum) / max(seen_event_to_visible_seconds_count)"
        )
        < 10
    )
    assert world.prometheus.value("sum(seen_store_bytes)") > 5_000
    assert world.prometheus.value("sum(seen_events_misrouted_total)") > 0
    assert world.prometheus.value("sum(seen_events_too_old_total)") > 0
    assert world.prometheus.value("sum(seen_replayed_events_total)") > 0
    assert world.prometheus.value("sum(seen_snapshot_probes_total)") > 0
    assert world.prometheus.value("min(seen_store_disk_bytes - seen_store_disk_free_bytes)") >= 0
    assert 0 <= world.prometheus.value("max(seen_memory_used_bytes / seen_memory_budget_bytes)") < 1.5
    (rate,) = {
        series["value"][1]
        for series in world.prometheus.query("seen_snapshot_false_positive_ratio_requested")
    }
    assert float(rate) == 0.01


def test_every_rule_was_evaluated_without_an_error(world):
    rules = [rule for group in world.prometheus.ask("rules")["groups"] for rule in group["rules"]]
    assert {rule["name"] for rule in rules if rule["type"] == "alerting"} == set(alerts())
    assert all(rule["health"] == "ok" for rule in rules), [rule for rule in rules if rule["health"] != "ok"]


def row(world, title):
    """{legend: current value} of a panel that shows numbers on the first row."""
    (panel,) = [panel for panel in panels(DASHBOARDS["is-it-working"]) if panel["title"] == title]
    return {
        target["legendFormat"]: world.prometheus.value(world.prometheus.filled_in(target["expr"]))
        for target in panel["targets"]
    }


def test_an_instance_that_vanishes_is_missed(world):
    """This must be the last test, because it kills one daemon of the group."""
    assert row(world, "Instances up") == {"up": 4, "instances missing": 0}
    assert row(world, "Partitions owned") == {"owned": 3, "of the topic": 3, "without owner": 0}
    world.members[2].kill9()
    wait_until(lambda: row(world, "Instances up") == {"up": 3, "instances missing": 1}, "it is missed")
