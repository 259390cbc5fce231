#!/usr/bin/env python3
"""Writes dashboards/*.json from what stands here: deploy/grafana/make_dashboards.py [FOLDER].

Each row is a list of panels, which share its width as their `width` says. Every query keeps the label
`instance`, and its legend names it; the exceptions are numbers that sum up all instances (`stat`) and heat
maps."""

import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).with_name("dashboards")
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
I = 'instance=~"$instance"'  # noqa: E741: it stands in nearly every query
UP = f'up{{job="seend",{I}}}'
RATE = "$__rate_interval"
WIDTH = 24

# The objectives of deploy/prometheus/alerts.yml.
VISIBLE_S, PUBLISHED_S = 0.5, 2
OK, WARN, BAD = "green", "orange", "red"
INSTANCE = "{{instance}}"


def runbook(alert):
    return {"title": f"Runbook: {alert}", "url": f"${{runbook}}#{alert.lower()}", "targetBlank": True}


def rate(metric, by="", where=""):
    """Per second, by instance."""
    labels = f"{I},{where}" if where else I
    return f"sum by (instance{by and ', ' + by}) (rate({metric}{{{labels}}}[{RATE}]))"


def gauge(metric, where=""):
    return f"{metric}{{{I}{where and ',' + where}}}"


def quantile(q, metric, by="", where=""):
    labels = f"{I},{where}" if where else I
    return (
        f"histogram_quantile({q}, sum by (le, instance{by and ', ' + by}) "
        f"(rate({metric}_bucket{{{labels}}}[{RATE}])))"
    )


def steps(*pairs):
    """(value from which on, colour); the first value is None."""
    return {"mode": "absolute", "steps": [{"value": value, "color": color} for value, color in pairs]}


def base(kind, title, queries, about, alerts, width, unit, thresholds):
    targets = []
    for n, (expr, legend) in enumerate(queries):
        targets.append({"refId": "ABCDEFGHIJ"[n], "datasource": SOURCE, "expr": expr, "legendFormat": legend})
    defaults = {"unit": unit}
    if thresholds:
        defaults["thresholds"] = thresholds
    return {
        "type": kind,
        "title": title,
        "description": about,
        "datasource": SOURCE,
        "width": width,
        "targets": targets,
        "links": [runbook(alert) for alert in alerts],
        "fieldConfig": {"defaults": defaults, "overrides": []},
    }


def stat(title, queries, about, thresholds, alerts=(), width=3, unit="none", overrides=None):
    """A number of the latest values. `overrides`: {legend: thresholds}."""
    panel = base("stat", title, queries, about, alerts, width, unit, thresholds)
    for target in panel["targets"]:
        target["instant"] = True
    panel["fieldConfig"]["overrides"] = [
        {"matcher": {"id": "byName", "options": name}, "properties": [{"id": "thresholds", "value": of}]}
        for name, of in (overrides or {}).items()
    ]
    panel["options"] = {
        "reduceOptions": {"calcs": ["lastNotNull"]},
        "colorMode": "background",
        "graphMode": "none",
        "textMode": "value_and_name" if len(queries) > 1 else "value",
    }
    return panel


def series(
    title, queries, about="", unit="none", alerts=(), width=8, thresholds=None, stacked=False, least=None
):
    panel = base("timeseries", title, queries, about, alerts, width, unit, thresholds)
    custom = {"lineWidth": 1, "fillOpacity": 10, "spanNulls": False}
    if thresholds:
        custom["thresholdsStyle"] = {"mode": "line"}
    if stacked:
        custom["stacking"] = {"mode": "normal"}
    panel["fieldConfig"]["defaults"]["custom"] = custom
    if least is not None:
        panel["fieldConfig"]["defaults"]["min"] = least
    panel["options"] = {
        "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull", "max"]},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return panel


def heatmap(title, metric, about="", alerts=(), width=12):
    """All instances and partitions together."""
    panel = base(
        "heatmap",
        title,
        [(f"sum by (le) (increase({metric}_bucket{{{I}}}[{RATE}]))", "{{le}}")],
        about,
        alerts,
        width,
        "s",
        None,
    )
    panel["targets"][0]["format"] = "heatmap"
    panel["options"] = {
        "calculate": False,
        "yAxis": {"unit": "s"},
        "cellGap": 1,
        "color": {"mode": "scheme", "scheme": "Spectral", "steps": 64},
        "tooltip": {"mode": "single", "yHistogram": True},
    }
    return panel


def bars(title, queries, about, unit, thresholds, alerts=(), width=8, greatest=None):
    panel = base("bargauge", title, queries, about, alerts, width, unit, thresholds)
    for target in panel["targets"]:
        target["instant"] = True
    panel["fieldConfig"]["defaults"]["min"] = 0
    if greatest is not None:
        panel["fieldConfig"]["defaults"]["max"] = greatest
    panel["options"] = {
        "reduceOptions": {"calcs": ["lastNotNull"]},
        "orientation": "horizontal",
        "displayMode": "basic",
        "showUnfilled": True,
    }
    return panel


def timeline(title, queries, about, mappings, alerts=(), width=8):
    """`mappings`: {value: (text, colour)}"""
    panel = base("state-timeline", title, queries, about, alerts, width, "none", steps((None, WARN)))
    panel["fieldConfig"]["defaults"]["mappings"] = mapped(mappings)
    panel["options"] = {"mergeValues": True, "showValue": "auto", "legend": {"showLegend": False}}
    return panel


def mapped(mappings):
    return [
        {
            "type": "value",
            "options": {
                str(value): {"text": text, "color": color} for value, (text, color) in mappings.items()
            },
        }
    ]


def table(title, columns, about, alerts=(), width=16, sort=None):
    """`columns`: (name, query, unit, mappings or None); the rows are partitions of instances."""
    panel = base(
        "table", title, [(query, INSTANCE) for _, query, _, _ in columns], about, alerts, width, "none", None
    )
    for target in panel["targets"]:
        target |= {"instant": True, "format": "table"}
    names = {f"Value #{target['refId']}": name for target, (name, _, _, _) in zip(panel["targets"], columns)}
    panel["transformations"] = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": {"Time": True}, "renameByName": names}},
    ]
    for name, _, unit, mappings in columns:
        properties = [{"id": "unit", "value": unit}]
        if mappings:
            properties += [
                {"id": "mappings", "value": mapped(mappings)},
                {"id": "custom.cellOptions", "value": {"type": "color-text"}},
            ]
        panel["fieldConfig"]["overrides"].append(
            {"matcher": {"id": "byName", "options": name}, "properties": properties}
        )
    panel["options"] = {"showHeader": True, "sortBy": [{"displayName": sort, "desc": False}] if sort else []}
    return panel


def alert_list(title, about, width=8):
    return {
        "type": "alertlist",
        "title": title,
        "description": about,
        "datasource": SOURCE,
        "width": width,
        "links": [{"title": "Runbook", "url": "${runbook}", "targetBlank": True}],
        "options": {
            "viewMode": "list",
            "groupMode": "default",
            "groupBy": [],
            "maxItems": 20,
            "sortOrder": 1,
            "alertName": "Seend",
            "alertInstanceLabelFilter": "",
            "dashboardAlerts": False,
            "stateFilter": {"firing": True, "pending": True, "noData": False, "normal": False, "error": True},
        },
    }


def placed(rows):
    """(title, height, panels) of each row, as Grafana's flat list."""
    flat, y = [], 0
    for title, height, panels in rows:
        assert sum(panel["width"] for panel in panels) % WIDTH == 0, title
        flat.append(
            {
                "type": "row",
                "title": title,
                "collapsed": False,
                "panels": [],
                "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1},
            }
        )
        y += 1
        x = 0
        for panel in panels:
            width = panel.pop("width")
            flat.append(panel | {"gridPos": {"x": x, "y": y, "w": width, "h": height}})
            x += width
            if x == WIDTH:
                x, y = 0, y + height
    return [{"id": n} | panel for n, panel in enumerate(flat, 1)]


VARIABLES = [
    {
        "name": "datasource",
        "label": "data source",
        "type": "datasource",
        "query": "prometheus",
        "refresh": 1,
        "includeAll": False,
        "multi": False,
        "regex": "",
        "hide": 0,
        "current": {"selected": True, "text": "Prometheus", "value": "prometheus"},
    },
    {
        "name": "instance",
        "label": "instance",
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": 'label_values(up{job="seend"}, instance)', "refId": "instance"},
        "definition": 'label_values(up{job="seend"}, instance)',
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "refresh": 2,
        "sort": 1,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    },
    # docker-compose.yml puts docs/ there; elsewhere set it to where your copy of the runbook stands.
    {
        "name": "runbook",
        "label": "runbook",
        "type": "constant",
        "query": "/public/seen-docs/RUNBOOK.md",
        "hide": 2,
        "current": {
            "selected": True,
            "text": "/public/seen-docs/RUNBOOK.md",
            "value": "/public/seen-docs/RUNBOOK.md",
        },
    },
]

ANNOTATIONS = [
    {
        "name": "Starts",
        "datasource": SOURCE,
        "enable": True,
        "iconColor": "blue",
        "step": "15s",
        "expr": f'process_start_time_seconds{{job="seend",{I}}} * 1000',
        "useValueForTime": True,
        "titleFormat": "seend starts",
        "textFormat": INSTANCE,
        "tagKeys": "instance",
    },
    {
        "name": "Alerts",
        "datasource": SOURCE,
        "enable": True,
        "iconColor": "red",
        "step": "15s",
        "expr": 'ALERTS{alertname=~"Seend.*",alertstate="firing"}',
        "titleFormat": "{{alertname}}",
        "textFormat": "{{instance}} {{partition}} {{filter}} {{reason}}",
        "tagKeys": "alertname,instance",
    },
]


def dashboard(uid, title, about, rows):
    return {
        "uid": uid,
        "title": title,
        "description": about,
        "tags": ["seen"],
        "timezone": "browser",
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "graphTooltip": 1,
        "links": [
            {
                "title": "seend",
                "type": "dashboards",
                "tags": ["seen"],
                "asDropdown": False,
                "keepTime": True,
                "includeVars": True,
            },
            {"title": "Runbook", "type": "link", "url": "${runbook}", "targetBlank": True},
        ],
        "templating": {"list": VARIABLES},
        "annotations": {"list": ANNOTATIONS},
        "panels": placed(rows),
    }


# --- Is it working

# The look back knows whole minutes alone: nothing in a Prometheus's first one, and not who came since the
# last.
MISSING = f"clamp_min((max_over_time(count({UP})[1h:1m]) or count({UP}) or vector(0)) - (sum({UP}) or vector(0)), 0)"
OWNED = f"sum(max by (job, partition) ({gauge('seen_partition_owned')})) or vector(0)"
PARTITIONS = f"sum(max by (job) ({gauge('seen_input_partitions')})) or vector(0)"
NONE_OR_SOME = {
    "instances missing": steps((None, OK), (1, BAD)),
    "without owner": steps((None, OK), (1, BAD)),
}
ROLES = {0: ("former owner", WARN), 1: ("owner", OK), 2: ("replica", "blue")}
READY = {0: ("no", BAD), 1: ("yes", OK)}


def of_partition(metric):
    return f"max by (partition, instance) ({gauge(metric)})"


def is_it_working():
    first = [
        stat(
            "Instances up",
            [(f"sum({UP}) or vector(0)", "up"), (MISSING, "instances missing")],
            "Instances that answer Prometheus. Missing: instances of the last hour that don't answer now, even if "
            "service discovery has lost them.",
            steps((None, BAD), (1, OK)),
            ["SeendDown", "SeendAbsent"],
            4,
            overrides=NONE_OR_SOME,
        ),
        stat(
            "Partitions owned",
            [
                (OWNED, "owned"),
                (PARTITIONS, "of the topic"),
                (f"({PARTITIONS}) - ({OWNED})", "without owner"),
            ],
            "Partitions of the input topic that a daemon owns, and all partitions of the topic.",
            steps((None, "blue")),
            ["SeendPartitionsOrphaned", "SeendPartitionsUnowned"],
            5,
            overrides=NONE_OR_SOME,
        ),
        stat(
            "Staleness",
            [(f"max(time() - ({gauge('seen_partition_time_seconds')} > 0))", "")],
            "Time since the newest record of the partition that is furthest behind. It also grows if nobody writes.",
            steps((None, OK), (60, WARN), (600, BAD)),
            ["SeendStateOld"],
            3,
            "s",
        ),
        stat(
            "Event to visible, p99",
            [(f"max({quantile(0.99, 'seen_event_to_visible_seconds')})", "")],
            f"Of the worst instance. Objective: {VISIBLE_S} s.",
            steps((None, OK), (VISIBLE_S, BAD)),
            ["SeendVisibleLate"],
            3,
            "s",
        ),
        stat(
            "Event to published, p99",
            [(f"max({quantile(0.99, 'seen_event_to_published_seconds', 'filter')})", "")],
            f"Of the worst instance and filter. Objective: {PUBLISHED_S} s.",
            steps((None, OK), (PUBLISHED_S, BAD)),
            ["SeendPublishedLate"],
            3,
            "s",
        ),
        stat(
            "Error budget left",
            [
                (
                    f"min by (way) (1 - (1 - increase(seen:events_in_time:sum{{{I}}}[30d]) "
                    f"/ increase(seen:events_timed:sum{{{I}}}[30d])) / scalar(seen:error_budget:ratio))",
                    "{{way}}",
                )
            ],
            "Over 30 days, or as many as Prometheus keeps, for the worst instance. Below 0, the objective is missed.",
            steps((None, BAD), (0, WARN), (0.25, OK)),
            ["SeendVisibleLate", "SeendPublishedLate"],
            3,
            "percentunit",
        ),
        stat(
            "Publications/s",
            [(f"sum(rate({gauge('seen_snapshots_total')}[{RATE}]))", "")],
            "Snapshots that the publisher hands to the producer.",
            steps((None, "blue")),
            ["SeendPublicationFails"],
            3,
            "ops",
        ),
    ]
    who = [
        alert_list("Alerts", "Alerts that fire or are pending. Each links to its entry in the runbook."),
        table(
            "Owner, epoch and role of each partition",
            [
                (
                    "role",
                    f"max by (partition, instance) ({gauge('seen_partition_owned')} + on (instance) group_left () "
                    f"2 * {gauge('seen_replica')})",
                    "none",
                    ROLES,
                ),
                ("answers", of_partition("seen_partition_answers"), "none", READY),
                ("ready", of_partition("seen_partition_ready"), "none", READY),
                ("epoch", of_partition("seen_state_stream_epoch"), "none", None),
                ("age", of_partition("seen_partition_age_seconds"), "s", None),
                ("lag", of_partition("seen_consumer_lag_messages"), "short", None),
                ("lost", of_partition("seen_lost_messages_unacknowledged"), "short", None),
            ],
            "The epoch rises when a partition changes its owner. It is empty without a state topic.",
            ["SeendNoOwner", "SeendPartitionsRefused", "SeendLostMessages"],
            16,
            "partition",
        ),
    ]
    health = [
        timeline(
            "Up, ready, brokers",
            [
                (UP, "{{instance}} up"),
                (gauge("seen_ready"), "{{instance}} ready"),
                (gauge("seen_brokers_reachable"), "{{instance}} reaches brokers"),
            ],
            "An instance that vanishes leaves a gap.",
            READY,
            ["SeendNotReady", "SeendBrokersUnreachable"],
        ),
        timeline(
            "Role",
            [(gauge("seen_replica"), INSTANCE)],
            "",
            {0: ("owner", OK), 1: ("replica", "blue")},
            ["SeendNoOwner"],
        ),
        series(
            "Burn rate",
            [(f'seen:burn_rate:ratio{{{I},window=~"5m|1h|6h"}}', "{{instance}} {{way}} {{window}}")],
            "How many times faster than allowed the error budget is used up. At 1 it lasts exactly 30 days.",
            alerts=["SeendVisibleLate"],
            thresholds=steps((None, OK), (6, WARN), (14.4, BAD)),
            least=0,
        ),
    ]
    flow = [
        series(
            "Exposures taken in",
            [(rate("seen_events_total"), INSTANCE)],
            "Batch events count each item.",
            "ops",
        ),
        series(
            "Records and bytes read",
            [
                (rate("seen_records_total"), "{{instance}} records/s"),
                (rate("seen_input_bytes_total") + " / 1024", "{{instance}} KiB/s"),
            ],
            unit="short",
        ),
        series(
            "Lag",
            [(gauge("seen_consumer_lag_messages"), "{{instance}} {{partition}}")],
            "Messages that the daemon has not read yet.",
            "short",
            ["SeendConsumerLagGrows"],
            thresholds=steps((None, OK), (10_000, BAD)),
        ),
        series(
            "Unowned and refused partitions",
            [
                (gauge("seen_partitions_unowned"), "{{instance}} {{topic}} unowned"),
                (gauge("seen_partitions_refused"), "{{instance}} {{topic}} refused"),
                (gauge("seen_open_transactions"), "{{instance}} {{topic}} open transactions"),
            ],
            alerts=["SeendPartitionsUnowned", "SeendPartitionsRefused", "SeendOpenTransaction"],
            thresholds=steps((None, OK), (1, BAD)),
            least=0,
        ),
        series(
            "Messages lost to retention",
            [
                (gauge("seen_lost_messages_unacknowledged"), "{{instance}} {{partition}} unacknowledged"),
                (gauge("seen_lost_messages_total"), "{{instance}} {{partition}} since the start"),
            ],
            alerts=["SeendLostMessages"],
            thresholds=steps((None, OK), (1, BAD)),
            least=0,
        ),
        series(
            "Age of the answers",
            [(gauge("seen_partition_age_seconds"), "{{instance}} {{partition}}")],
            "Time since the state last held everything in the partition.",
            "s",
            ["SeendStateOld"],
            thresholds=steps((None, OK), (60, BAD)),
        ),
    ]
    out = [
        series(
            "Snapshots",
            [
                (rate("seen_snapshots_total", "filter"), "{{instance}} {{filter}}"),
                (rate("seen_snapshots_failed_total", "filter"), "{{instance}} {{filter}} failed"),
            ],
            "The publisher sends failed snapshots again.",
            "ops",
            ["SeendPublicationFails"],
        ),
        series(
            "Users that wait for their snapshot",
            [(gauge("seen_snapshot_marks_outstanding"), "{{instance}} {{partition}}")],
            "An upper bound.",
            "short",
            ["SeendMarksGrow"],
        ),
        series(
            "Guard repairs and lapsed leases",
            [
                (rate("seen_snapshots_foreign_total"), "{{instance}} foreign snapshots"),
                (rate("seen_snapshot_partitions_cut_total"), "{{instance}} partitions cut"),
                (rate("seen_publish_leases_lapsed_total"), "{{instance}} leases lapsed"),
                (rate("seen_publisher_errors_total", "step"), "{{instance}} {{step}} failed"),
                (rate("seen_snapshots_too_large_total"), "{{instance}} too large"),
            ],
            "Snapshots of other writers that the publisher replaces, and other problems of the publisher.",
            "ops",
            ["SeendForeignSnapshots", "SeendLeaseLapses", "SeendSnapshotsTooLarge"],
        ),
        series(
            "HTTP answers",
            [(rate("seen_http_requests_total", "code"), "{{instance}} {{code}}")],
            "",
            "reqps",
            ["SeendHttpErrors"],
            width=6,
        ),
        series(
            "Requests passed on",
            [(rate("seen_forwarded_requests_total", "result"), "{{instance}} {{result}}")],
            "To the daemon that owns the user's partition.",
            "reqps",
            width=6,
        ),
        series(
            "Certificate expires in",
            [
                (f'seen_certificate_not_after_seconds{{job="seend",{I}}} - time()', "{{instance}}"),
                (rate("seen_access_reloads_failed_total"), "{{instance}} files refused"),
            ],
            "The file access.certificate. The daemon reads a new one within a second.",
            "s",
            ["SeendCertificateExpires"],
            width=6,
        ),
        series(
            "CPU and files",
            [
                (f'rate(process_cpu_seconds_total{{job="seend",{I}}}[{RATE}])', "{{instance}} CPUs"),
                (
                    f'process_open_fds{{job="seend",{I}}} / process_max_fds{{job="seend",{I}}}',
                    "{{instance}} share of open files",
                ),
            ],
            least=0,
            width=6,
        ),
    ]
    return dashboard(
        "seend-working",
        "seend: Is it working",
        "What an operator looks at first.",
        [
            ("At a glance", 5, first),
            ("Who does what", 9, who),
            ("Health", 8, health),
            ("Input", 8, flow),
            ("Output", 8, out),
        ],
    )


# --- Latency


def two_quantiles(metric, by="", name=""):
    label = f" {{{{{by}}}}}" if by else ""
    return [
        (quantile(q, metric, by), f"{{{{instance}}}}{label} {name}p{round(q * 100)}") for q in (0.5, 0.99)
    ]


def latency():
    visible = steps((None, OK), (VISIBLE_S, BAD))
    published = steps((None, OK), (PUBLISHED_S, BAD))
    maps = [
        heatmap(
            "Event to visible",
            "seen_event_to_visible_seconds",
            "From the Kafka timestamp until look-ups see the event. Replayed events don't count.",
            ["SeendVisibleLate"],
        ),
        heatmap(
            "Event to published",
            "seen_event_to_published_seconds",
            "From the Kafka timestamp until Kafka acknowledges the snapshot.",
            ["SeendPublishedLate"],
        ),
    ]
    percentiles = [
        series(
            "Event to visible",
            two_quantiles("seen_event_to_visible_seconds"),
            f"Objective: {VISIBLE_S} s.",
            "s",
            ["SeendVisibleLate"],
            thresholds=visible,
        ),
        series(
            "Event to visible, by partition",
            [
                (
                    quantile(0.99, "seen_event_to_visible_seconds", "partition"),
                    "{{instance}} {{partition}} p99",
                )
            ],
            "If one partition is slow, the cause is a heavy user or a compaction.",
            "s",
            thresholds=visible,
        ),
        series(
            "Median to visible, by partition",
            [(quantile(0.5, "seen_event_to_visible_seconds", "partition"), "{{instance}} {{partition}} p50")],
            "",
            "s",
        ),
        series(
            "Event to published",
            two_quantiles("seen_event_to_published_seconds", "filter"),
            f"Objective: {PUBLISHED_S} s. A debounce is part of it.",
            "s",
            ["SeendPublishedLate"],
            thresholds=published,
        ),
        series(
            "Visible to published",
            two_quantiles("seen_visible_to_published_seconds", "filter"),
            "The publisher's part of event to published.",
            "s",
            ["SeendPublishSlow"],
        ),
        series(
            "Events within the objective",
            [
                (
                    f"rate(seen:events_in_time:sum{{{I}}}[{RATE}]) / rate(seen:events_timed:sum{{{I}}}[{RATE}])",
                    "{{instance}} {{way}}",
                )
            ],
            "99% is the objective.",
            "percentunit",
            ["SeendVisibleLate"],
            thresholds=steps((None, BAD), (0.99, OK)),
        ),
    ]
    exposed = [
        heatmap(
            "Exposed to visible",
            "seen_exposed_to_visible_seconds",
            "From the event's own exposed_at. It includes the delay of clients and gateways.",
        ),
        series(
            "Exposed to visible",
            two_quantiles("seen_exposed_to_visible_seconds"),
            "If it is high while event to visible is low, the delay is before Kafka.",
            "s",
            width=12,
        ),
    ]
    replay = [
        series(
            "Replayed events",
            [(rate("seen_replayed_events_total"), INSTANCE)],
            "Events of replayed histories. The latencies don't include them.",
            "ops",
        ),
        series(
            "Live events",
            [(f"{rate('seen_events_total')} - {rate('seen_replayed_events_total')}", INSTANCE)],
            "",
            "ops",
        ),
        series(
            "Fills",
            [
                (gauge("seen_fill_partitions_left"), "{{instance}} partitions left"),
                (rate("seen_fill_records_total"), "{{instance}} records/s"),
                (rate("seen_fill_users_total"), "{{instance}} users/s"),
            ],
            "Partitions that the daemon reads again for a new filter.",
            "short",
        ),
    ]
    http = [
        heatmap(
            "Look-ups",
            "seen_http_request_duration_seconds",
            "From a request's last byte to its finished answer, over all routes.",
            ["SeendHttpErrors"],
            8,
        ),
        series(
            "Look-ups by route, p99",
            [(quantile(0.99, "seen_http_request_duration_seconds", "route"), "{{instance}} {{route}}")],
            "",
            "s",
            ["SeendHttpErrors"],
        ),
        series(
            "Requests by route",
            [(rate("seen_http_requests_total", "route, code"), "{{instance}} {{route}} {{code}}")],
            "",
            "reqps",
            ["SeendHttpErrors"],
        ),
    ]
    behind = [
        series(
            "Staleness",
            [(f"time() - ({gauge('seen_partition_time_seconds')} > 0)", "{{instance}} {{partition}}")],
            "It also grows if nobody writes.",
            "s",
            ["SeendStateOld"],
        ),
        series(
            "Clocks",
            [(rate("seen_timestamps_ahead_total", "partition"), "{{instance}} {{partition}}")],
            "Records whose timestamp is ahead of this machine's clock.",
            "ops",
            ["SeendClockDisagrees"],
        ),
        series(
            "Checks of the log",
            [(rate("seen_log_checks_total"), INSTANCE)],
            "The daemon reads the last record again and finds the same record. None: brokers don't answer.",
            "ops",
        ),
    ]
    return dashboard(
        "seend-latency",
        "seend: Latency",
        "How late events are visible and published, and why.",
        [
            ("Heat maps", 8, maps),
            ("Percentiles", 8, percentiles),
            ("From the exposure on", 8, exposed),
            ("Replays and fills", 7, replay),
            ("Look-ups over HTTP", 8, http),
            ("Behind", 7, behind),
        ],
    )


# --- Store and memory


def store_and_memory():
    written = rate("seen_checkpoint_bytes_total")
    rewritten = rate("seen_store_compaction_bytes_total")
    free, size = gauge("seen_store_disk_free_bytes"), gauge("seen_store_disk_bytes")
    held = f"(time() - {gauge('seen_held_since_seconds')}) * ({gauge('seen_held_since_seconds')} > bool 0)"
    store = [
        series(
            "State on disk",
            [(gauge("seen_store_bytes"), "{{instance}} {{partition}}")],
            "",
            "bytes",
            stacked=True,
        ),
        series(
            "Write amplification",
            [(f"({written} + {rewritten}) / ({written} > 0)", INSTANCE)],
            "Bytes that checkpoints and compactions write, for each byte that a checkpoint writes.",
            "none",
            least=0,
        ),
        series(
            "Bytes written",
            [(written, "{{instance}} checkpoints"), (rewritten, "{{instance}} compactions")],
            "",
            "Bps",
        ),
        series(
            "Level 0",
            [(gauge("seen_store_level0_files"), "{{instance}} {{partition}}")],
            "Compaction begins at 8 files. Over 16, consumption waits.",
            alerts=["SeendStoreStalled"],
            thresholds=steps((None, OK), (10, WARN), (16, BAD)),
            least=0,
        ),
        series(
            "To be compacted",
            [(gauge("seen_store_compaction_pending_bytes"), "{{instance}} {{partition}}")],
            "An estimate.",
            "bytes",
            ["SeendStoreStalled"],
            least=0,
        ),
        series(
            "Stalls",
            [
                (rate("seen_flow_held_seconds_total", "reason"), "{{instance}} {{reason}} share of time"),
                (rate("seen_flow_holds_total", "reason"), "{{instance}} {{reason}} times/s"),
                (held, "{{instance}} {{reason}} held for, s"),
            ],
            "Consumption waits for the disk, for space, for checkpoints or for the dead-letter topic.",
            alerts=["SeendHeld"],
            least=0,
        ),
    ]
    checkpoints = [
        series(
            "Age of the last checkpoint",
            [(f"time() - {gauge('seen_checkpoint_last_time_seconds')}", "{{instance}} {{partition}}")],
            "A restart reads that much again. Without changes there is nothing to write.",
            "s",
            ["SeendCheckpointOverdue"],
            thresholds=steps((None, OK), (300, BAD)),
        ),
        series(
            "Duration",
            two_quantiles("seen_checkpoint_duration_seconds"),
            "From freezing a tail until it is durable.",
            "s",
        ),
        heatmap("Durations", "seen_checkpoint_duration_seconds", "", width=8),
        series(
            "Checkpoints",
            [(rate("seen_checkpoints_total", "result"), "{{instance}} {{result}}")],
            "",
            "ops",
            ["SeendCheckpointsFail"],
        ),
        series(
            "Users written",
            [(rate("seen_checkpoint_users_total"), INSTANCE)],
            "Users whose state checkpoints write.",
            "ops",
        ),
        series(
            "Openings that wait for space",
            [(rate("seen_openings_without_space_total"), INSTANCE)],
            "",
            "ops",
            ["SeendWaitsForSpace"],
        ),
    ]
    disk = [
        series(
            "Free disk space",
            [(free, "{{instance}} free"), (size, "{{instance}} size")],
            "",
            "bytes",
            ["SeendDiskFillsUp"],
            least=0,
        ),
        bars(
            "Share of the disk in use",
            [(f"1 - {free} / {size}", INSTANCE)],
            "",
            "percentunit",
            steps((None, OK), (0.8, WARN), (0.95, BAD)),
            ["SeendDiskFillsUp"],
            greatest=1,
        ),
        series(
            "Time to full",
            [(f"clamp_max({free} / clamp_min(-deriv({free}[1h]), 1), 30 * 86400)", INSTANCE)],
            "At the rate of the last hour. 30 days means 30 days or more.",
            "s",
            ["SeendDiskFillsUp"],
            thresholds=steps((None, BAD), (4 * 3600, WARN), (86_400, OK)),
            least=0,
        ),
    ]
    memory = [
        series(
            "Memory",
            [
                (f'process_resident_memory_bytes{{job="seend",{I}}}', "{{instance}} resident"),
                (f"sum by (instance) ({gauge('seen_memory_budget_bytes')})", "{{instance}} budget"),
            ],
            "The budget is store.memory_mib. Code, stacks and libraries take about 60 MB more.",
            "bytes",
            least=0,
        ),
        bars(
            "Share of the budget in use",
            [
                (
                    f"{gauge('seen_memory_used_bytes')} / {gauge('seen_memory_budget_bytes')}",
                    "{{instance}} {{share}}",
                )
            ],
            "Only the shares that the daemon measures.",
            "percentunit",
            steps((None, OK), (0.9, WARN), (1.1, BAD)),
            greatest=1,
        ),
        series(
            "Budget by share",
            [(gauge("seen_memory_budget_bytes"), "{{instance}} {{share}}")],
            "How the daemon divides store.memory_mib into shares.",
            "bytes",
        ),
        series(
            "Used by share",
            [(gauge("seen_memory_used_bytes"), "{{instance}} {{share}}")],
            "",
            "bytes",
            least=0,
        ),
        series(
            "Tails",
            [(gauge("seen_tail_bytes"), "{{instance}} {{partition}}")],
            "Changes since the last checkpoint.",
            "bytes",
            ["SeendCheckpointsFail"],
            least=0,
        ),
        series(
            "Blocks found in the cache",
            [
                (
                    f"{rate('seen_store_block_cache_hits_total')} / clamp_min({rate('seen_store_block_cache_hits_total')} + "
                    f"{rate('seen_store_block_cache_misses_total')}, 1e-9)",
                    INSTANCE,
                )
            ],
            "If it is low while look-ups are slow, raise store.memory_mib.",
            "percentunit",
            least=0,
        ),
    ]
    state = [
        series(
            "State topic: runs and bases",
            [
                (rate("seen_state_stream_runs_total"), "{{instance}} runs"),
                (rate("seen_state_stream_bases_total"), "{{instance}} bases"),
                (rate("seen_state_stream_dropped_total"), "{{instance}} dropped"),
                (rate("seen_state_stream_foreign_records_total"), "{{instance}} records of others"),
                (rate("seen_state_stream_refused_records_total"), "{{instance}} refused"),
            ],
            "",
            "ops",
        ),
        series("State topic: bytes", [(rate("seen_state_stream_bytes_total"), INSTANCE)], "", "Bps"),
        series(
            "State topic: position",
            [(gauge("seen_state_stream_position"), "{{instance}} {{partition}}")],
            "Input offset below which the topic has everything. It should rise with the events.",
            "none",
        ),
        series(
            "Epoch",
            [(gauge("seen_state_stream_epoch"), "{{instance}} {{partition}}")],
            "It rises when a partition changes its owner.",
            "none",
            width=4,
        ),
        series(
            "Partitions not in the topic",
            [(gauge("seen_state_topic_problems"), INSTANCE)],
            "State that a lost disk would lose. GET /v1/status has the reasons.",
            "none",
            ["SeendStateTopicNotWritten"],
            width=4,
            thresholds=steps((None, OK), (1, BAD)),
            least=0,
        ),
        series(
            "Restores",
            [(gauge("seen_state_restore_share"), "{{instance}} {{partition}}")],
            "How much of a partition's state has come from the state topic. Empty: the daemon restores no partition.",
            "percentunit",
            ["SeendRestoreSlow"],
            width=4,
            least=0,
        ),
        series(
            "Retention",
            [
                (gauge("seen_retention_headroom_seconds"), "{{instance}} {{partition}} headroom"),
                (gauge("seen_input_retention_seconds"), "{{instance}} retention"),
                (gauge("seen_longest_window_seconds"), "{{instance}} longest window"),
            ],
            "Headroom: time until retention deletes the oldest unread message. If the retention is below the window, "
            "the daemon can't rebuild lost state completely.",
            "s",
            ["SeendRetentionHeadroomLow", "SeendRetentionBelowWindow"],
            width=6,
        ),
        series(
            "Topics",
            [
                (gauge("seen_topic_missing"), "{{instance}} {{topic}} missing"),
                (gauge("seen_topic_settings_wrong"), "{{instance}} {{topic}} settings"),
            ],
            "Topics that are missing or have wrong settings. topic_problems in GET /v1/status has the command that "
            "mends each.",
            "short",
            ["SeendTopicMissing", "SeendTopicSettings"],
            width=6,
        ),
    ]
    return dashboard(
        "seend-store",
        "seend: Store and memory",
        "State, checkpoints, disk, memory and the state topic.",
        [
            ("Store", 8, store),
            ("Checkpoints", 8, checkpoints),
            ("Disk", 7, disk),
            ("Memory", 8, memory),
            ("State topic and restores", 8, state),
        ],
    )


# --- Meaning


def items_rates(*names):
    return [
        (
            rate(f"seen_items_{name}_total", "partition"),
            f"{{{{instance}}}} {{{{partition}}}} {name.replace('_', ' ')}",
        )
        for name in names
    ]


def meaning():
    filters = [
        series(
            "Bytes a snapshot",
            [
                (
                    f"{rate('seen_snapshot_bytes_total', 'filter')} / ({rate('seen_snapshots_total', 'filter')} > 0)",
                    "{{instance}} {{filter}}",
                )
            ],
            "The mean of the snapshots that the publisher sends now.",
            "bytes",
            least=0,
        ),
        series(
            "False positives",
            [
                (
                    f"{rate('seen_snapshot_false_positives_total', 'filter')} / "
                    f"({rate('seen_snapshot_probes_total', 'filter')} > 0)",
                    "{{instance}} {{filter}} sampled",
                ),
                (gauge("seen_snapshot_false_positive_ratio_requested"), "{{instance}} {{filter}} requested"),
            ],
            "The daemon looks up 64 random items in every 32nd snapshot. Small filters have lower rates than requested.",
            "percentunit",
            least=0,
        ),
        series(
            "Bytes published",
            [(rate("seen_snapshot_bytes_total", "filter"), "{{instance}} {{filter}}")],
            "",
            "Bps",
        ),
        series(
            "Incomplete filters",
            [
                (gauge("seen_incomplete_filters"), "{{instance}} {{partition}}"),
                (rate("seen_snapshots_merged_total", "filter"), "{{instance}} {{filter}} merged/s"),
                (rate("seen_snapshots_withheld_total", "filter"), "{{instance}} {{filter}} withheld/s"),
            ],
            "Filters that lack a part of their window. The publisher merges or withholds their snapshots.",
            alerts=["SeendFiltersIncomplete"],
            least=0,
        ),
        series(
            "Users at the daily limit",
            [(gauge("seen_users_at_daily_limit"), "{{instance}} {{partition}}")],
            "The cause is bots, or items_per_day_max is too low.",
            "short",
            least=0,
        ),
        series(
            "Made due by the window",
            [(rate("seen_swept_users_total"), INSTANCE)],
            "Users whose window moved on. The publisher republishes their snapshots.",
            "ops",
        ),
    ]
    counts = [
        series(
            "Served, exposed, recycled, unexposed",
            [
                (rate("seen_served_items_total"), "{{instance}} served"),
                (rate("seen_events_total"), "{{instance}} exposed"),
                (rate("seen_endings_total"), "{{instance}} recycled: served items ended"),
                (rate("seen_unexposed_published_total"), "{{instance}} unexposed: never shown"),
                (rate("seen_unexposed_resolved_total"), "{{instance}} shown in time"),
            ],
            "A served item that isn't shown ends, and may come back.",
            "ops",
        ),
        series(
            "Updates",
            [
                (rate("seen_updates_total"), "{{instance}} records"),
                (rate("seen_update_items_total"), "{{instance}} additions"),
                (rate("seen_update_gaps_total"), "{{instance}} gaps"),
                (rate("seen_updates_foreign_total"), "{{instance}} records of other writers"),
            ],
            "What is new, for readers of the published filters. A gap makes them stale until snapshots are out.",
            "ops",
            ["SeendUpdateGaps"],
        ),
        series(
            "Bytes of updates",
            [
                (rate("seen_update_bytes_total"), "{{instance}} sent"),
                (gauge("seen_update_outstanding_bytes"), "{{instance}} {{partition}} waiting"),
            ],
            "Bytes a second that the brokers have, and bytes that no broker has yet.",
            "bytes",
        ),
        series(
            "Refresh",
            [
                (gauge("seen_published_age_seconds"), "{{instance}} {{partition}} in snapshots"),
                (gauge("seen_refresh_hurries"), "{{instance}} {{partition}} hurries"),
                (gauge("seen_refresh_late"), "{{instance}} {{partition}} is late"),
            ],
            "How long ago that was read which snapshots hold for sure. Updates tell readers the rest.",
            "s",
            ["SeendRefreshLate"],
        ),
        series(
            "Users of the refresh",
            [
                (rate("seen_refresh_users_total"), "{{instance}} users"),
                (rate("seen_refresh_rounds_total"), "{{instance}} rounds"),
            ],
            "Changed users whose snapshots the refresh rendered.",
            "ops",
        ),
        series(
            "Unexposed items that wait",
            [(gauge("seen_unexposed_outstanding"), "{{instance}} {{partition}}")],
            "Unexposed items that their topic has not acknowledged yet.",
            "short",
            least=0,
        ),
        series(
            "Similar",
            [
                (rate("seen_similar_lookups_total"), "{{instance}} looked up"),
                (rate("seen_similar_joined_total"), "{{instance}} with similar items"),
            ],
            "",
            "ops",
        ),
        series(
            "Taken back, erased, declared",
            [
                (rate("seen_removed_items_total"), "{{instance}} items taken back"),
                (rate("seen_erased_users_total"), "{{instance}} users erased"),
                (rate("seen_declared_items_total"), "{{instance}} items of declared kinds"),
                (
                    rate("seen_retired_tombstones_total", "result"),
                    "{{instance}} tombstones to retired topics {{result}}",
                ),
            ],
            "",
            "ops",
        ),
    ]
    for panel in counts:
        panel["width"] = 12
    rejects = [
        series(
            "Rejects by reason",
            [(rate("seen_events_rejected_total", "reason"), "{{instance}} {{reason}}")],
            "Records that the daemon can't decode. They go to the dead-letter topic.",
            "ops",
            ["SeendEventsRejected"],
        ),
        series(
            "Skips by reason",
            [
                (rate("seen_events_skipped_total", "reason"), "{{instance}} {{reason}}"),
                (rate("seen_items_without_id_total"), "{{instance}} elements without an id"),
                (rate("seen_items_skipped_total"), "{{instance}} elements by condition"),
            ],
            "Events and elements of items that the configuration excludes, and marks of replays.",
            "ops",
        ),
        series(
            "Dead letters",
            [
                (rate("seen_events_rejected_total"), "{{instance}} sent"),
                (rate("seen_dead_letters_dropped_total"), "{{instance}} dropped"),
            ],
            "The daemon drops the dead letters that their topic refuses.",
            "ops",
            ["SeendDeadLettersDropped"],
        ),
        bars(
            "Share of records rejected",
            [
                (
                    f"{rate('seen_events_rejected_total')} / clamp_min({rate('seen_records_total')}, 1e-9)",
                    INSTANCE,
                )
            ],
            "",
            "percentunit",
            steps((None, OK), (0.005, WARN), (0.01, BAD)),
            ["SeendEventsRejected"],
            greatest=0.05,
        ),
        series(
            "Too old, misrouted",
            [
                (rate("seen_events_too_old_total"), "{{instance}} too old"),
                (rate("seen_events_misrouted_total"), "{{instance}} misrouted"),
            ],
            "Events beyond every window, or in another partition than their user's.",
            "ops",
            ["SeendEventsMisrouted"],
        ),
        series(
            "Items rejected",
            [(rate("seen_items_rejected_total", "reason"), "{{instance}} {{reason}}")],
            "",
            "ops",
        ),
        series(
            "Share of events lost",
            [
                (gauge("seen_lost_share"), "{{instance}} {{topic}} {{cause}}"),
            ],
            "Of the events within input.loss.window_s, without replays. A share over its limit is a trouble in "
            "GET /v1/status.",
            "percentunit",
            ["SeendEventsLost", "SeendEventsMisrouted"],
            width=12,
            least=0,
        ),
        series(
            "Shares over their limit",
            [
                (gauge("seen_lost_share_excessive"), "{{instance}} {{topic}} {{cause}}"),
            ],
            "1: the share is over its limit in input.loss.",
            alerts=["SeendEventsLost"],
            width=12,
            least=0,
        ),
    ]
    journal = [
        series(
            "Journal on disk",
            [(gauge("seen_journal_bytes"), "{{instance}} {{partition}}")],
            "",
            "bytes",
            stacked=True,
        ),
        series(
            "Days in the journal",
            [(gauge("seen_journal_dates"), "{{instance}} {{partition}}")],
            "If it is below store.explain_days while the daemon drops days, raise store.explain_mib.",
            least=0,
        ),
        series(
            "Journal: rows and bytes",
            [
                (rate("seen_journal_rows_total"), "{{instance}} rows/s"),
                (rate("seen_journal_row_bytes_total"), "{{instance}} B/s"),
                (rate("seen_journal_dates_dropped_total"), "{{instance}} days dropped/s"),
            ],
            "Bytes before compression.",
            "short",
        ),
    ]
    rekeying = [
        series(
            "Re-keyed",
            [
                (rate("seen_rekeyed_total"), "{{instance}} records"),
                (rate("seen_rekeying_rewinds_total"), "{{instance}} rewinds"),
            ],
            "",
            "ops",
        ),
        series(
            "Lag of re-keying",
            [(gauge("seen_rekeying_lag_messages"), "{{instance}} {{partition}}")],
            "Look-ups are that far behind.",
            "short",
            least=0,
        ),
        series(
            "Lost before they were re-keyed",
            [(gauge("seen_rekeying_lost_messages_total"), "{{instance}} {{partition}}")],
            "",
            "short",
            ["SeendRekeyingLost"],
            least=0,
        ),
    ]
    items = [
        series(
            "Items",
            items_rates("copies", "grouped", "moved", "deleted")
            + [(rate("seen_items_total", "partition"), "{{instance}} {{partition}} read")],
            "",
            "ops",
        ),
        series(
            "Items to check", items_rates("no_text", "cut_texts", "too_old", "times_corrected"), "", "ops"
        ),
        series(
            "Work of grouping",
            items_rates("compared", "candidates", "lists_cut", "candidates_cut"),
            "",
            "ops",
        ),
        series(
            "Lag of items",
            [
                (gauge("seen_items_lag_messages"), "{{instance}} {{partition}}"),
                (gauge("seen_items_ordering_lag_messages"), "{{instance}} to be put in order"),
                (gauge("seen_items_lost_messages_total"), "{{instance}} {{partition}} lost"),
            ],
            "",
            "short",
        ),
        series(
            "Index of items",
            [
                (gauge("seen_items_index_items"), "{{instance}} {{partition}} items"),
                (gauge("seen_items_index_bytes") + " / 1024", "{{instance}} {{partition}} KiB"),
            ],
            "",
            "short",
        ),
        series(
            "Checkpoints of the index",
            [
                (
                    f"{rate('seen_items_checkpoint_seconds_total', 'partition')} / "
                    f"({rate('seen_items_checkpoints_total', 'partition')} > 0)",
                    "{{instance}} {{partition}}",
                )
            ],
            "The mean duration.",
            "s",
            least=0,
        ),
        series(
            "Groups sent, read",
            [
                (rate("seen_items_groups_sent_total"), "{{instance}} sent"),
                (rate("seen_item_groups_records_total"), "{{instance}} read"),
                (rate("seen_item_groups_unreadable_total"), "{{instance}} unreadable"),
                (rate("seen_item_groups_foreign_total"), "{{instance}} of others"),
                (rate("seen_item_groups_too_far_ahead_total"), "{{instance}} too far ahead"),
                (rate("seen_items_leases_lapsed_total"), "{{instance}} leases lapsed"),
            ],
            "",
            "ops",
            ["SeendForeignGroups"],
        ),
        series(
            "Copy of the groups",
            [
                (gauge("seen_item_groups_rows"), "{{instance}} rows"),
                (gauge("seen_item_groups_bytes") + " / 1024", "{{instance}} KiB"),
                (gauge("seen_item_groups_lag_messages"), "{{instance}} lag"),
            ],
            "",
            "short",
        ),
        series(
            "Look-ups of groups",
            [
                (rate("seen_item_groups_disk_reads_total"), "{{instance}} from disk"),
                (rate("seen_item_groups_errors_total"), "{{instance}} errors"),
            ],
            "",
            "ops",
        ),
    ]
    return dashboard(
        "seend-meaning",
        "seend: Meaning",
        "What the events contain, and what the filters keep of them.",
        [
            ("Filters", 8, filters),
            ("What is shown", 8, counts),
            ("What is left out", 8, rejects),
            ("Journal", 7, journal),
            ("Re-keying", 7, rekeying),
            ("Items", 8, items),
        ],
    )


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, made in (
        ("is-it-working", is_it_working()),
        ("latency", latency()),
        ("store-and-memory", store_and_memory()),
        ("meaning", meaning()),
    ):
        (folder / f"{name}.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
