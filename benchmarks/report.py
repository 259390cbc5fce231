(
    """Writes docs/PERFORMANCE.md with its charts, and the settings in README.md, from results.json. Text
outside of the markers is written by hand."""
    """Writes docs/PERFORMANCE.md and its charts from results.json. Text outside of the markers is written by
hand."""
)

import re
import statistics

import charts
import paths
import results
from bystanders import quiet
from contenders import all_contenders
from pages import between_markers, table, wrapped

# Columns of scenarios that only results.json has.
ONLY_IN_RESULTS = {
    "behind_before_kill",
    "events_of_users_who_wait",
    "first_seen_at",
    "greatest_lag",
    "opened",
    "others_cores",
    "published_p50_ms_least",
    "snapshot_p50_ms",
    "snapshot_requests_per_s",
    "swept_users",
    "unseen_p50_ms",
    "unseen_requests_per_s",
    "visible_p50_ms_least",
    "visible_p99_ms_least",
}
FIRST_PAGE = """# Performance

What `make bench` measured last, and what was learnt on the way. The parts between markers are generated; the rest is written by
hand and stays.

<!-- generated: side-by-side -->
<!-- end -->

<!-- generated: scenarios -->
<!-- end -->

## What was tried and didn't pay

- The bare consumer (5 M events, three runs each, one after the other): 64 MiB of queue a partition took 1.3 to 1.5 s; 16 MiB 1.5 to 1.7 s;
  `fetch.message.max.bytes` of 4 MiB 1.7 to 1.9 s and twice the memory; one reading thread instead of two, no difference.
"""


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def spread(values, text):
    """The median, and the range if there are several values."""
    values = [value for value in values if value is not None]
    if not values:
        return ""
    return text(median(values)) + (f" ({text(min(values))}–{text(max(values))})" if len(values) > 1 else "")


def thousands(value):
    return (
        f"{value / 1e6:.2f} M"
        if value >= 1e6
        else f"{value / 1e3:,.0f} k"
        if value >= 10_000
        else f"{value:,.0f}"
    )


def thousands_or_nothing(value):
    return thousands(value) if value else "—"


def two_places(value):
    return f"{value:.2f}" if value else "—"


def ordered(known):
    """(name, entry) in the order of the registry."""
    names = [contender.name for contender in all_contenders()]
    return [(name, known[name]) for name in names if name in known]


def runs_of(entry, profile):
    """The runs that had the machine for themselves. If there are none, all runs."""
    runs = entry.get("ingest", {}).get(profile, {}).get("runs", [])
    return [run for run in runs if quiet(run)] or runs


def last(entry, profile, key):
    runs = entry.get("ingest", {}).get(profile, {}).get("runs", [])
    return next((run[key] for run in reversed(runs) if run.get(key) is not None), None)


def ingest_table(known, profile):
    rows, factor = [], items_an_event(known, profile)
    for _, entry in ordered(known):
        runs = runs_of(entry, profile)
        if not runs:
            if entry.get("missing") and profile == "single":
                rows.append([entry["title"], f"not run: {entry['missing']}", *[""] * 7])
            continue
        state, answers = last(entry, profile, "state_bytes"), last(entry, profile, "answers")
        events = runs[-1]["records"]
        rows.append(
            [
                entry["title"],
                spread([run["rate"] for run in runs], thousands),
                spread([run["cpu_us"] for run in runs], lambda us: f"{us:.2f}") + processes(runs[-1]),
                thousands_or_nothing(median([run.get("rate_warm") for run in runs])),
                two_places(median([run.get("cpu_us_warm") for run in runs])),
                f"{max(run['peak_bytes'] for run in runs) / 2**20:,.0f}",
                f"{state / events / factor:.1f}" if state else "—",
                "—" if not answers else "**wrong**" if answers["false_negatives"] else "none missing",
                f"{answers['false_positives'] / answers['probes']:.3%}"
                if answers and answers["probes"]
                else "—",
            ]
        )
    return table(
        [
            "",
            "events/s",
            "CPU s a million events",
            "last 3/5: events/s",
            "CPU s",
            "peak memory, MiB",
            "state, bytes " + ("an event" if profile == "single" else "an item"),
            "answers",
            "false positives",
        ],
        ["---", *["---:"] * 6, "---", "---:"],
        rows,
    )


def processes(run):
    """If there are several processes, the CPU of each."""
    parts = run["cpu_by_process"]
    return (
        ""
        if len(parts) < 2
        else ": "
        + ", ".join(f"{name} {seconds / run['records'] * 1e6:.2f}" for name, seconds in parts.items())
    )


def items_an_event(known, profile):
    figures = figures_of(known, profile)
    return figures["exposures"] / figures["events"] if figures else 1


def figures_of(known, profile):
    return next(
        (
            entry["ingest"][profile]["workload"]
            for _, entry in ordered(known)
            if profile in entry.get("ingest", {})
        ),
        None,
    )


def latency_table(known):
    rates = sorted({int(rate) for _, entry in ordered(known) for rate in entry.get("latency", {})})
    rows = []
    for _, entry in ordered(known):
        if not entry.get("latency"):
            continue
        row = [entry["title"]]
        for rate in rates:
            one = entry["latency"].get(str(rate))
            if not one:
                row += ["", "", ""]
            elif not one["keeps_up"]:
                row += [f"keeps up with {thousands(one['applied_rate'])}", "", f"{one['cpu_cores']:.2f}"]
            else:
                row += [
                    "{p50_ms:,} / {p99_ms:,}".format(**one["all"]),
                    "{p50_ms:,} / {p99_ms:,}".format(**one["leading"]) if one["leading"]["count"] else "—",
                    f"{one['cpu_cores']:.2f}",
                ]
        rows.append(row)
    head = [""]
    for rate in rates:
        head += [f"all, at {rate:,}/s", f"leading edge, at {rate:,}/s", "cores"]
    return table(head, ["---"] + ["---:"] * (len(head) - 1), rows)


def restart_table(known):
    rows = [
        [
            entry["title"],
            spread([one["seconds"] or float("inf") for one in entry["restart"]], lambda s: f"{s:.1f}"),
        ]
        for _, entry in ordered(known)
        if entry.get("restart")
    ]
    return table(["", "seconds to caught up"], ["---", "---:"], rows) if rows else ""


def kind(name, entry):
    return "limit" if entry.get("limit") else "ours" if name.startswith("seend") else "theirs"


def draw(known):
    """Writes the charts for which there are figures. Returns the Markdown that shows them."""
    shown = []

    def add(name, title, note, value, text, behind=lambda entry: None):
        rows = [
            (entry["title"], kind(key, entry), value(entry), text(entry), behind(entry))
            for key, entry in ordered(known)
            if value(entry) is not None
        ]
        if rows:
            paths.CHARTS.mkdir(parents=True, exist_ok=True)
            (paths.CHARTS / f"{name}.svg").write_text(charts.bars(title, note, rows))
            shown.append(f"![{title}](performance/{name}.svg)")

    def of(key):
        return lambda entry: median([run[key] for run in runs_of(entry, "single")])

    def state(entry):
        size, runs = last(entry, "single", "state_bytes"), runs_of(entry, "single")
        return size / runs[-1]["records"] if size else None

    def at(share):
        def value(entry):
            one = entry.get("latency", {}).get("20000")
            return one["all"][share] if one and one["keeps_up"] else None

        return value

    add(
        "events",
        "Events a second",
        "from an empty state to the end of the topic; longer is better",
        of("rate"),
        lambda entry: thousands(of("rate")(entry)),
    )
    add(
        "cpu",
        "CPU seconds a million events",
        "user and system, all of the contender's processes; shorter is better",
        of("cpu_us"),
        lambda entry: f"{of('cpu_us')(entry):.2f}",
    )
    add(
        "state",
        "State, bytes an event",
        "on disk (Redis: in memory); shorter is better",
        state,
        lambda entry: f"{state(entry):.1f}",
    )
    add(
        "published",
        "Event to published at 20,000 events/s",
        "dark: half of the events, light: 99%; milliseconds, shorter is better",
        at("p50_ms"),
        lambda entry: f"{at('p50_ms')(entry):,.0f} / {at('p99_ms')(entry):,.0f} ms",
        at("p99_ms"),
    )
    return "\n\n".join(shown)


def workload_text(known):
    texts = []
    for profile in ("single", "batch"):
        figures = figures_of(known, profile)
        if figures:
            texts.append(
                f"{figures['events']:,} events of {figures['bytes'] / figures['events']:.0f} bytes with "
                f"{figures['exposures'] / figures['events']:.1f} item{'s' * (profile == 'batch')}"
            )
    return " (and, second table, ".join(texts) + (")" if len(texts) > 1 else "")


def side_by_side(all_results):
    known = all_results.get("contenders", {})
    versions = {}
    for _, entry in ordered(known):
        versions.update(entry.get("versions") or {})
    about = (
        f"{runs_text(known)} Apache Kafka {all_results.get('kafka', '?')} on the same machine, one broker, "
        "`-Xmx1g`, otherwise as its start script has it; "
        + ", ".join(f"{what} {which}" for what, which in versions.items())
        + "."
    )
    parts = [
        "## Side by side",
        about,
        f"One topic of 4 partitions: {workload_text(known)}, keyed by user, of 1 M users (Zipf, exponent 0.6) in sessions "
        "of 10 to 20 items, 1,024 at a time, values as JSON, compressed with lz4. `make bench` runs all of it; why the workload is as it is, "
        "and the settings of each contender: [benchmarks/README.md](../benchmarks/README.md). Medians, and in parentheses the range of the runs.",
        draw(known),
        "### Ingest, from nothing to the end of the topic",
        ingest_table(known, "single"),
        "Rates count from the first event taken in, CPU from there as well; start-up stands in `results.json`. The last three "
        "fifths of the topic have columns of their own, for a JVM is still compiling before. Answers: "
        "1,000 users chosen evenly, every item they were shown and 200 that they weren't, against what the topic itself holds. (Most "
        "users have few items, and the smallest filters are better than the 1% asked for.)",
        "### Batch events, a page of up to 10 items each",
        ingest_table(known, "batch"),
        "### Event to published, milliseconds, p50 / p99",
        "Joined afterwards from the two topics: from the record's timestamp to the broker's append time of the first output "
        "record of the user that holds the event. As many sessions at a time as events a second, so an item a second for who is there. "
        "Leading edge: events of users who had none in the 2.5 s before.",
        latency_table(known),
        "### `kill -9` to caught up, at a live 20,000 events/s",
        "With the state of 1,000,000 events; within 0.3 s of the topic's end again, which is the least that can be seen.",
        restart_table(known),
    ]
    return "\n\n".join(part for part in parts if part)


def write_settings(known):
    settings = {entry["title"]: entry["settings"] for _, entry in ordered(known) if entry.get("settings")}
    page = paths.SETTINGS_PAGE.read_text()
    paths.SETTINGS_PAGE.write_text(between_markers(page, "settings", wrapped(settings_text(settings))))


def settings_text(settings):
    """A list item for each system's common settings, and one for each contender's own. `settings`: {title:
    parts, separated by semicolons}. The first word of a title names the system."""
    systems = {}
    for title, text in settings.items():
        systems.setdefault(title.split()[0].rstrip(","), {})[title] = text.split("; ")
    lines = []
    for system, contenders in systems.items():
        common = [
            part
            for part in next(iter(contenders.values()))
            if len(contenders) > 1 and all(part in parts for parts in contenders.values())
        ]
        if common:
            lines.append(f"**Each contender with {system}**: {'; '.join(common)}")
        shorter = {}
        for title, parts in contenders.items():
            own = [part for part in parts if part not in common]
            base = next((name for name, of in shorter.items() if of and set(of) <= set(own)), None)
            more = [part for part in own if part not in shorter.get(base, [])]
            shorter[title] = own
            if own:
                lines.append(f"**{title}**: " + "; ".join([f"as {base}"] * bool(base) + more))
    return "\n".join(f"- {line}" for line in lines)


def runs_text(known):
    """The runs of the contenders by day, commit and machine. If there are several, each with its contenders."""
    titles = {}
    for _, entry in ordered(known):
        if entry.get("stamp"):
            titles.setdefault(measured(entry["stamp"]), []).append(entry["title"])
    if len(titles) <= 1:
        return "".join(titles)
    return " ".join(f"{text.rstrip('.')} ({', '.join(of)})." for text, of in titles.items())


def scenarios_text(page, scenarios):
    """The scenarios' part. A scenario without results on this machine stays as the page has it."""
    before = re.search(r"<!-- generated: scenarios -->(.*?)<!-- end -->", page, re.S)
    texts = (
        {text.split("\n")[0]: f"### {text.strip()}" for text in re.split(r"^### ", before[1], flags=re.M)[1:]}
        if before
        else {}
    )
    texts.update({name: scenario_text(name, entry) for name, entry in scenarios.items()})
    return wrapped("\n\n".join(["## seend alone", *(texts[name] for name in sorted(texts))]))


def scenario_text(name, entry):
    result = entry["result"]
    figures = {key: value for key, value in result.items() if not isinstance(value, (list, dict))}
    text = [f"### {name}", entry["what"], measured(entry, short=True), sentence("", figures)]
    if "summary" in result:
        result = {key: value for key, value in result.items() if key != "phases"}
    for value in result.values():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            text.append(rows_text(value))
    if result.get("curve"):
        paths.CHARTS.mkdir(parents=True, exist_ok=True)
        curve = result["curve"]
        (paths.CHARTS / f"{name}.svg").write_text(
            charts.lines(curve["title"], "", curve["points"], curve["unit"], "seconds")
        )
        text.append(f"![{curve['title']}](performance/{name}.svg)")
    return "\n\n".join(part for part in text if part)


def sentence(start, figures):
    return start + "; ".join(f"{words(key)}: {shown(value)}" for key, value in figures.items())


def rows_text(rows):
    """A table of the rows, below a line of what all of them share. Runs of one case share a row. A table
    of more than ten columns is turned, so that it has a column for each case."""
    rows = cases(rows)
    head = list(dict.fromkeys(key for row in rows for key in row))
    values = {key: [row.get(key) for row in rows] for key in head}
    shared = {key: of[0] for key, of in values.items() if len(rows) > 1 and of.count(of[0]) == len(of)}
    hidden = ONLY_IN_RESULTS | ({"cores"} if "server_cpu_us_a_request" in head else set())
    head = [key for key in head if key not in shared and key not in hidden]
    lines = [[words(key), *map(shown, values[key])] for key in head]
    if not head:
        drawn = ""
    elif len(head) > 10:
        drawn = table(lines[0], ["---", *["---:"] * len(rows)], lines[1:])
    else:
        cells = [list(cell) for cell in zip(*lines)]
        drawn = table(cells[0], ["---:"] * len(head), cells[1:])
    return "\n\n".join(part for part in (shared and sentence("All rows: ", shared), drawn) if part)


def cases(rows):
    """The rows, with one for all runs of a case: medians and, in parentheses, the least and the most. The
    first column, and the others before the first that was measured, name the case."""
    if not {"run", "repeat"} & set(rows[0]):
        return rows
    keys = [key for key in dict.fromkeys(key for row in rows for key in row) if key not in ("run", "repeat")]
    measured_keys = (at for at, key in enumerate(keys) if at and is_measured(key, rows[0].get(key)))
    first = next(measured_keys, len(keys))
    of_case = {}
    for row in rows:
        of_case.setdefault(tuple(row.get(key) for key in keys[:first]), []).append(row)
    return [
        dict(zip(keys[:first], case)) | {key: of_runs([row.get(key) for row in runs]) for key in keys[first:]}
        for case, runs in of_case.items()
    ]


def is_measured(key, value):
    return isinstance(value, float) or key.endswith(("_s", "_ms", "_us"))


def of_runs(values):
    return values[0] if values.count(values[0]) == len(values) else spread(values, shown)


def measured(stamp, short=False):
    """The day, commit and machine of a run (results.stamp). Short: the machine by its processor alone."""
    machine = stamp["machine"]
    text = f"{machine['day']} at commit {stamp['commit']}: {machine['cpu']}"
    if short:
        return f"{text}."
    return (
        f"Measured on {text}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}, "
        f"Linux {machine['kernel']}."
    )


def words(key):
    """events_per_s -> events/s, cpu_us_an_event -> CPU µs an event"""
    return (
        key.replace("_per_", "/")
        .replace("cpu_us", "CPU µs")
        .replace("ms_own", "ms (own histogram)")
        .replace("_", " ")
    )


def shown(value):
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "—"}[value]
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def write():
    all_results = results.load()
    page = paths.PAGE.read_text() if paths.PAGE.exists() else FIRST_PAGE
    if all_results.get("contenders"):
        page = between_markers(page, "side-by-side", wrapped(side_by_side(all_results)))
        write_settings(all_results["contenders"])
    if all_results.get("scenarios"):
        page = between_markers(page, "scenarios", scenarios_text(page, all_results["scenarios"]))
    paths.PAGE.write_text(page)
    return 0
