"""Draws a dashboard's panels as a page of plain SVG, from the dashboard's JSON and the answers of Prometheus.
The page shows people what Grafana would draw. It needs no Grafana."""

import html
import json
import math
import re

COLORS = {"green": "#56a64b", "orange": "#ff9830", "red": "#e02f44", "blue": "#5794f2", "purple": "#b877d9"}
LINES = [
    "#7eb26d",
    "#eab839",
    "#6ed0e0",
    "#ef843c",
    "#e24d42",
    "#1f78c1",
    "#ba43a9",
    "#705da0",
    "#508642",
    "#cca300",
]
COLUMN, LINE = 58, 34  # pixels of one cell of Grafana's grid
HEAD = 26  # pixels of a panel's title

STYLE = """body{background:#111217;color:#ccccdc;font:12px sans-serif;margin:8px;position:relative}
.panel{position:absolute;background:#181b1f;border:1px solid #2c3235;border-radius:3px;overflow:hidden}
.panel h3{font-size:12px;margin:4px 6px;font-weight:500;white-space:nowrap}.row{position:absolute;font-weight:600}
table{border-collapse:collapse;width:100%}td,th{padding:2px 6px;border-bottom:1px solid #2c3235;text-align:left}
text{fill:#ccccdc;font:10px sans-serif}"""


class Answers:
    """Answers of Prometheus to the queries of a panel, over a range of time."""

    def __init__(self, prometheus, end, seconds, step=1, rate_interval="8s"):
        self.prometheus, self.start, self.end, self.step = prometheus, end - seconds, end, step
        self.rate_interval = rate_interval

    def filled_in(self, expression):
        filled = expression.replace("$__rate_interval", self.rate_interval).replace("$instance", ".*")
        assert "$" not in filled, filled
        return filled

    def series(self, expression):
        """[(labels, [(time, value)])], without NaN and infinite values."""
        result = self.prometheus.ask(
            "query_range", query=self.filled_in(expression), start=self.start, end=self.end, step=self.step
        )["result"]
        found = [
            (
                series["metric"],
                [
                    (at, float(value))
                    for at, value in series["values"]
                    if value not in ("NaN", "+Inf", "-Inf")
                ],
            )
            for series in result
        ]
        return [(labels, points) for labels, points in found if points]

    def alerts(self):
        return self.prometheus.ask("alerts")["alerts"]


def named(legend, labels):
    return re.sub(r"\{\{(\w+)\}\}", lambda match: labels.get(match[1], ""), legend).strip()


def shown(value, unit):
    """The value with its unit, as people read it."""
    if unit == "percentunit":
        return f"{value * 100:.3g}%"
    if unit == "s":
        for name, seconds in (("d", 86_400), ("h", 3_600), ("min", 60)):
            if abs(value) >= seconds:
                return f"{value / seconds:.3g} {name}"
        return f"{value * 1000:.3g} ms" if 0 < abs(value) < 1 else f"{value:.3g} s"
    step, names = (
        (1024, ["", " Ki", " Mi", " Gi", " Ti"])
        if unit in ("bytes", "Bps")
        else (1000, ["", " k", " M", " G"])
    )
    suffix = {"bytes": "B", "Bps": "B/s", "ops": "/s", "reqps": "/s"}.get(unit, "")
    place = 0
    while abs(value) >= step and place + 1 < len(names):
        value, place = value / step, place + 1
    return f"{value:.4g}{names[place]}{suffix}"


def color_of(value, thresholds):
    color = "#5794f2"
    for step in (thresholds or {}).get("steps", []):
        if step["value"] is None or value >= step["value"]:
            color = COLORS.get(step["color"], step["color"])
    return color


def override(panel, name, prop):
    for one in panel["fieldConfig"]["overrides"]:
        if one["matcher"]["options"] == name:
            for entry in one["properties"]:
                if entry["id"] == prop:
                    return entry["value"]
    return None


def mapping(mappings, value):
    for one in mappings or []:
        if f"{value:g}" in one["options"]:
            found = one["options"][f"{value:g}"]
            return found["text"], COLORS.get(found["color"], found["color"])
    return None


def text(x, y, what, size=10, anchor="start", fill="#ccccdc"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" style="font-size:{size}px;fill:{fill}" text-anchor="{anchor}">'
        f"{html.escape(str(what))}</text>"
    )


def rect(x, y, width, height, fill, title=""):
    return (
        f'<rect class="mark" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{max(height, 0.5):.1f}" '
        f'fill="{fill}"><title>{html.escape(title)}</title></rect>'
    )


def defaults(panel):
    return panel["fieldConfig"]["defaults"]


def all_series(panel, answers):
    return [
        (named(target["legendFormat"], labels), labels, points)
        for target in panel["targets"]
        for labels, points in answers.series(target["expr"])
    ]


def draw_stat(panel, answers, width, height):
    values = [(name, points[-1][1]) for name, _, points in all_series(panel, answers)]
    parts = []
    for n, (name, value) in enumerate(values):
        x, part = n * width / len(values), width / len(values)
        thresholds = override(panel, name, "thresholds") or defaults(panel).get("thresholds")
        parts += [
            rect(x, 0, part, height, color_of(value, thresholds), name),
            text(x + part / 2, height / 2 + 8, shown(value, defaults(panel)["unit"]), 20, "middle", "#fff"),
        ]
        if len(values) > 1:
            parts.append(text(x + part / 2, height / 2 + 24, name, 10, "middle", "#fff"))
    return svg(width, height, parts)


def scale(low, high, least, most):
    span = (high - low) or 1
    return lambda value: least + (value - low) / span * (most - least)


def draw_timeseries(panel, answers, width, height):
    found = all_series(panel, answers)
    if not found:
        return svg(width, height, [text(width / 2, height / 2, "no data", 12, "middle")])
    rows = min(len(found), 4)
    bottom = height - 14 * rows - 16
    values = [value for _, _, points in found for _, value in points]
    low, high = min([*values, defaults(panel).get("min", min(values))]), max(values)
    high = high if high > low else low + 1
    x, y = scale(answers.start, answers.end, 56, width - 6), scale(low, high, bottom, 6)
    parts = []
    for share in (0, 0.5, 1):
        at = low + share * (high - low)
        parts += [
            f'<line x1="56" x2="{width - 6}" y1="{y(at):.1f}" y2="{y(at):.1f}" stroke="#2c3235"/>',
            text(52, y(at) + 3, shown(at, defaults(panel)["unit"]), 9, "end"),
        ]
    if defaults(panel)["custom"].get("thresholdsStyle"):
        for step in defaults(panel)["thresholds"]["steps"]:
            if step["value"] is not None and low <= step["value"] <= high:
                parts.append(
                    f'<line x1="56" x2="{width - 6}" y1="{y(step["value"]):.1f}" y2="{y(step["value"]):.1f}" '
                    f'stroke="{COLORS[step["color"]]}" stroke-dasharray="4"/>'
                )
    for n, (name, _, points) in enumerate(found):
        line = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in points)
        parts.append(
            f'<polyline class="mark" points="{line}" fill="none" stroke="{LINES[n % len(LINES)]}" '
            f'stroke-width="1.3"><title>{html.escape(name)}</title></polyline>'
        )
        if len(points) == 1:
            parts.append(rect(x(points[0][0]) - 1, y(points[0][1]) - 1, 3, 3, LINES[n % len(LINES)], name))
        if n < rows:
            more = f"  (and {len(found) - rows} more)" if n == rows - 1 and len(found) > rows else ""
            parts.append(
                text(
                    8,
                    bottom + 24 + 14 * n,
                    f"{name}: {shown(points[-1][1], defaults(panel)['unit'])}{more}",
                    10,
                    fill=LINES[n % len(LINES)],
                )
            )
    return svg(width, height, parts)


def draw_heatmap(panel, answers, width, height):
    (target,) = panel["targets"]
    found = sorted(
        ((float(labels["le"]), dict(points)) for labels, points in answers.series(target["expr"])),
        key=lambda one: one[0],
    )
    times = sorted({at for _, points in found for at in points})
    parts = []
    if found and times:
        cell_w, cell_h = (width - 60) / len(times), (height - 16) / len(found)
        columns = {at: [points.get(at, 0) for _, points in found] for at in times}
        cells = {
            at: [now - before for now, before in zip(column, [0, *column])] for at, column in columns.items()
        }
        most = max((count for column in cells.values() for count in column), default=0)
        for i, at in enumerate(times):
            for j, count in enumerate(cells[at]):
                if count > 0 and most > 0:
                    hue = 240 - 240 * math.sqrt(count / most)
                    parts.append(
                        rect(
                            56 + i * cell_w,
                            height - 10 - (j + 1) * cell_h,
                            cell_w - 0.5,
                            cell_h - 0.5,
                            f"hsl({hue:.0f},70%,50%)",
                            f"{count:.3g}",
                        )
                    )
        for j in range(0, len(found), 3):
            bound = found[j][0]
            parts.append(
                text(
                    52, height - 10 - j * cell_h, "more" if math.isinf(bound) else shown(bound, "s"), 9, "end"
                )
            )
    return svg(width, height, parts)


def draw_bargauge(panel, answers, width, height):
    found = [(name, points[-1][1]) for name, _, points in all_series(panel, answers)]
    most = defaults(panel).get("max") or max([value for _, value in found], default=1) or 1
    parts, each = [], min(26, (height - 6) / max(len(found), 1))
    for n, (name, value) in enumerate(found):
        y = 4 + n * each
        parts += [
            f'<rect x="180" y="{y:.1f}" width="{width - 250}" height="{each - 4:.1f}" fill="#2c3235"/>',
            rect(
                180,
                y,
                (width - 250) * min(value / most, 1),
                each - 4,
                color_of(value, defaults(panel).get("thresholds")),
                name,
            ),
            text(6, y + each / 2 + 2, name),
            text(width - 62, y + each / 2 + 2, shown(value, defaults(panel)["unit"])),
        ]
    return svg(width, height, parts)


def draw_timeline(panel, answers, width, height):
    found = all_series(panel, answers)
    parts, each = [], min(26, (height - 6) / max(len(found), 1))
    x = scale(answers.start, answers.end + answers.step, 200, width - 6)
    for n, (name, _, points) in enumerate(found):
        y = 4 + n * each
        parts.append(text(6, y + each / 2 + 2, name))
        for at, value in points:
            text_of, color = mapping(defaults(panel)["mappings"], value) or (f"{value:g}", COLORS["orange"])
            parts.append(rect(x(at), y, x(at + answers.step) - x(at) + 0.5, each - 4, color, text_of))
    return svg(width, height, parts)


def draw_table(panel, answers, width, height):
    names = next(t["options"]["renameByName"] for t in panel["transformations"] if t["id"] == "organize")
    rows, labels_seen = {}, []
    for target in panel["targets"]:
        column = names[f"Value #{target['refId']}"]
        for labels, points in answers.series(target["expr"]):
            rows.setdefault(tuple(sorted(labels.items())), {})[column] = points[-1][1]
            labels_seen += [name for name in labels if name not in labels_seen]
    columns = [names[f"Value #{target['refId']}"] for target in panel["targets"]]
    lines = ["<tr>" + "".join(f"<th>{name}</th>" for name in [*labels_seen, *columns]) + "</tr>"]
    for labels, values in sorted(rows.items()):
        cells = [f"<td>{html.escape(dict(labels).get(name, ''))}</td>" for name in labels_seen]
        for column in columns:
            value = values.get(column)
            unit = override(panel, column, "unit")
            found = mapping(override(panel, column, "mappings"), value) if value is not None else None
            what, color = found or (
                "" if value is None else f"{value:g}" if unit == "none" else shown(value, unit),
                "inherit",
            )
            cells.append(f'<td style="color:{color}">{html.escape(what)}</td>')
        lines.append(f'<tr class="mark">{"".join(cells)}</tr>')
    return f'<div style="overflow:auto;height:{height}px"><table>{"".join(lines)}</table></div>'


def draw_alerts(panel, answers, width, height):
    lines = []
    for alert in answers.alerts():
        if panel["options"]["stateFilter"].get(alert["state"]):
            labels = ", ".join(f"{k}={v}" for k, v in alert["labels"].items() if k != "alertname")
            color = COLORS["red" if alert["state"] == "firing" else "orange"]
            lines.append(
                f'<tr class="mark"><td style="color:{color}">{alert["state"]}</td>'
                f"<td>{html.escape(alert['labels']['alertname'])}<br>{html.escape(labels)}</td></tr>"
            )
    return f'<div style="overflow:auto;height:{height}px"><table>{"".join(lines) or "<tr><td>none</td></tr>"}</table></div>'


DRAW = {
    "stat": draw_stat,
    "timeseries": draw_timeseries,
    "heatmap": draw_heatmap,
    "bargauge": draw_bargauge,
    "state-timeline": draw_timeline,
    "table": draw_table,
    "alertlist": draw_alerts,
}


def svg(width, height, parts):
    return f'<svg width="{width}" height="{height}">{"".join(parts)}</svg>'


def render(dashboard, answers):
    """(the page, the titles of the panels that are empty)"""
    parts, empty, bottom = [], [], 0
    for panel in dashboard["panels"]:
        grid = panel["gridPos"]
        x, y, width, height = (
            grid["x"] * COLUMN,
            grid["y"] * LINE + 30,
            grid["w"] * COLUMN - 6,
            grid["h"] * LINE - 6,
        )
        bottom = max(bottom, y + height)
        if panel["type"] == "row":
            parts.append(
                f'<div class="row" style="left:{x + 8}px;top:{y + 8}px">{html.escape(panel["title"])}</div>'
            )
            continue
        inner = DRAW[panel["type"]](panel, answers, width - 2, height - HEAD)
        if 'class="mark"' not in inner:
            empty.append(panel["title"])
        parts.append(
            f'<div class="panel" style="left:{x + 8}px;top:{y + 8}px;width:{width}px;height:{height}px">'
            f'<h3 title="{html.escape(panel["description"])}">{html.escape(panel["title"])}</h3>{inner}</div>'
        )
    return (
        f'<!doctype html><meta charset="utf-8"><title>{html.escape(dashboard["title"])}</title><style>{STYLE}</style>'
        f'<body style="height:{bottom + 20}px"><h2 style="margin:0 0 8px">{html.escape(dashboard["title"])}</h2>'
        f"{''.join(parts)}</body>"
    ), empty


def read(path):
    return json.loads(path.read_text())
