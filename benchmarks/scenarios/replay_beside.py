"""Live latency with and without a replay beside it. Phases take turns: nothing else (quiet); a replay of old
events at full speed; publication of the users that only history touches; a replay that follows the daemon's
lag; a replay that leaves live events no room (`--pace none`). `ratio`: a phase divided by the quiet phase of
the same repeat, median."""

import resource
import statistics
import subprocess
import time

import alone
import measure
import paths
from bystanders import Bystanders
from contenders.process import cpu_s
from places import SEENCTL

# The daemon's own histograms, which leave out replayed events.
HISTOGRAMS = {"visible": "seen_event_to_visible_seconds", "published": "seen_event_to_published_seconds"}
PHASES = ("quiet", "full speed", "publishing", "by lag", "no pace")
SHARES = (0.5, 0.99)


def run(bench, settings, say):
    s = alone.numbers(
        settings,
        rate=10_000,
        history=2_000_000,
        history_users=300_000,
        seconds=15,
        warm=20,
        repeats=5,
        max_lag_ms=2_000,
        checkpoint_s=5,
    )
    source = paths.WORK / "replay-beside.jsonl"
    topic = bench.scratch_topic(bench.name("live"), retention_ms=-1)
    try:
        with open(source, "wb") as file:
            subprocess.run(
                [
                    str(SEENCTL),
                    "generate",
                    "--stdout",
                    "--quiet",
                    "--events",
                    str(s["history"]),
                    "--users",
                    str(s["history_users"]),
                    "--days",
                    "25",
                ],
                stdout=file,
                check=True,
            )
        return beside(bench, s, topic, source, say)
    finally:
        source.unlink(missing_ok=True)
        bench.drop(topic)


def beside(bench, s, topic, source, say):
    beats = bench.scratch_topic(bench.name("beats"), 1, cleanup_policy="compact")
    with alone.Seend(
        bench,
        topic,
        publishing=True,
        watermarks={"topic": beats},
        store={"checkpoint_interval_s": s["checkpoint_s"]},
    ) as seend:
        measure.wait_ready(seend.session)
        # There are few events a user, so that most events are a user's first in a while.
        load = bench.generate(topic, "--users", 1_000_000, "--rate", s["rate"], "--sessions", 20 * s["rate"])
        try:
            time.sleep(s["warm"])
            rows = Phases(bench, seend, load, s, source, say).run()
        finally:
            load.process.terminate()
        sent = load.result()["events"]
    bench.drop(beats)
    return {**s, "live_events": sent, "summary": summary(rows), "phases": rows}


class Phases:
    """Runs all phases by turns while the live load goes on."""

    def __init__(self, bench, seend, load, s, source, say):
        self.bench, self.seend, self.load, self.s, self.source, self.say = bench, seend, load, s, source, say

    def run(self):
        rows = []
        for repeat in range(self.s["repeats"]):
            rows.append(self.phase(repeat, "quiet", lambda: time.sleep(self.s["seconds"])))
            replays = [
                ("full speed", []),
                ("by lag", [f"--max-lag={self.s['max_lag_ms']}ms"]),
                ("no pace", ["--pace=none"]),
            ]
            for name, pace in alone.in_turn(replays, repeat):
                rows.append(self.phase(repeat, name, lambda pace=pace: self.replay(pace)))
                published = self.phase(repeat, "publishing", self.wait_published)
                if name == "full speed":
                    rows.append(published)
            for row in rows[-len(PHASES) :]:
                self.say(str(row))
        return rows

    def phase(self, repeat, name, wait):
        before, counted = self.histograms(), self.figures()
        bystanders = Bystanders(self.bench.cpu_s, self.seend.session.cpu_s, self.live_cpu_s, tools_cpu_s)
        begun = time.monotonic()
        wait()
        took, after = time.monotonic() - begun, self.histograms()
        others = sum(bystanders.cores())
        per_s = {key: (value - counted[key]) / took for key, value in self.figures().items()}
        return {
            "repeat": repeat,
            "phase": name,
            "seconds": round(took, 1),
            "replayed_per_s": round(per_s.pop("replayed")),
            **{f"{key}_cores": round(cores, 2) for key, cores in per_s.items()},
            "others_cores": round(max(0, others), 2),
            **{
                f"{what}_p{int(100 * share)}_ms": rounded(
                    alone.percentile_ms(before[what], after[what], share)
                )
                for what in HISTOGRAMS
                for share in SHARES
            },
        }

    def histograms(self):
        return {what: self.seend.histogram(name) for what, name in HISTOGRAMS.items()}

    def figures(self):
        return {
            "replayed": self.seend.metric("seen_replayed_events_total"),
            "seend": self.seend.session.cpu_s(),
            "replay": tools_cpu_s(),
            "broker": self.bench.cpu_s(),
        }

    def live_cpu_s(self):
        return cpu_s(self.load.process.pid)

    def replay(self, pace):
        subprocess.run(
            [
                str(SEENCTL),
                "replay",
                str(self.source),
                "--config",
                str(self.seend.contender.daemon.config_path),
                "--quiet",
                *pace,
            ],
            check=True,
            timeout=1200,
        )

    def wait_published(self):
        """Waits until nearly all users are published. Some live users are always waiting. The first
        checkpoint shows who is left."""
        time.sleep(self.s["checkpoint_s"] + 2)
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            partitions = self.seend.session.partitions()
            few = sum(p["marks_outstanding"] for p in partitions) < 2 * self.s["rate"]
            if few and not any(p["replays"] for p in partitions):
                return
            time.sleep(0.2)
        raise RuntimeError("the history's users aren't published in time")


def tools_cpu_s():
    """CPU seconds of the child processes that have ended: the replays."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rounded(value):
    return None if value is None else round(value, 1)


def summary(rows):
    """The least and the median of each phase over the repeats, and the ratios to the quiet phase of the same
    repeat. The p99 of event to published is left out: it is that of users who wait for their debounce, with
    or without a replay."""
    quiet = {row["repeat"]: row for row in rows if row["phase"] == "quiet"}
    result = []
    for name in PHASES:
        of = [row for row in rows if row["phase"] == name]
        line = {
            "phase": name,
            "replayed_per_s": round(statistics.median(row["replayed_per_s"] for row in of)),
        }
        for figure in ("visible_p50_ms", "visible_p99_ms", "published_p50_ms"):
            found = [row for row in of if None not in (row[figure], quiet[row["repeat"]][figure])]
            values = [row[figure] for row in found]
            ratios = [row[figure] / max(quiet[row["repeat"]][figure], 0.1) for row in found]
            line[f"{figure}_least"] = min(values, default=None)
            line[f"{figure}_median"] = statistics.median(values) if values else None
            line[f"{figure}_ratio"] = round(statistics.median(ratios), 2) if ratios else None
        result.append(line)
    return result
