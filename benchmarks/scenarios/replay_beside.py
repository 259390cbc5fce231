"""Live latency with and without a replay beside it: a steady live load on one daemon; phases with nothing beside it, with
seenctl replay of millions of old events, and while what history alone touched is published, by turns."""

import bisect
import statistics
import subprocess
import time

import alone
import latency_join
import measure
import paths
from oracle_sample import each_message
from places import SEENCTL, now_ms

VISIBLE = "seen_event_to_visible_seconds"
CHECKPOINT_S = 5
QUIET_MS = 2_500  # a user's first event in a while is published at once
PHASES = ("quiet", "replay", "publishing")


def run(bench, settings, say):
    s = alone.numbers(settings, rate=10_000, history=4_000_000, history_users=300_000, seconds=15, warm=10, repeats=3,
                      max_lag_ms=0, replay_rate=0, nice=0)
    source = paths.WORK / "replay-beside.jsonl"
    topic = bench.scratch_topic(bench.name("live"), retention_ms=-1)
    try:
        with open(source, "wb") as file:
            subprocess.run([str(SEENCTL), "generate", "--stdout", "--quiet", "--events", str(s["history"]), "--users",
                            str(s["history_users"]), "--days", "25"], stdout=file, check=True)
        return beside(bench, s, topic, source, say)
    finally:
        source.unlink(missing_ok=True)
        bench.drop(topic)


def beside(bench, s, topic, source, say):
    beats = bench.scratch_topic(bench.name("beats"), 1, cleanup_policy="compact")
    with alone.Seend(bench, topic, publishing=True, watermarks={"topic": beats},
                     store={"checkpoint_interval_s": CHECKPOINT_S}, **__import__("json").loads(__import__("os").environ.get("XD","{}"))) as seend:
        measure.wait_ready(seend.session)
        # Few events a user, so that most of them are a user's first in a while.
        load = bench.generate(topic, "--users", 1_000_000, "--rate", s["rate"], "--sessions", 20 * s["rate"])
        rows, began_ms = [], now_ms()
        try:
            time.sleep(s["warm"])
            for number in range(s["repeats"]):
                rows.append(phase(seend, number, "quiet", lambda: time.sleep(s["seconds"])))
                rows.append(phase(seend, number, "replay", lambda: replay(seend, s, source)))
                rows.append(phase(seend, number, "publishing", lambda: wait_published(seend, s)))
                for row in rows[-3:]:
                    say(str({key: value for key, value in row.items() if not key.endswith("_at_ms")}))
        finally:
            load.process.terminate()
        sent = load.result()["events"]
        time.sleep(4)
        lateness(bench, topic, seend, began_ms, rows)
        for row in rows:
            say(str({key: value for key, value in row.items() if not key.endswith("_at_ms")}))
    bench.drop(beats)
    return {**s, "live_events": sent, "phases": rows, "summary": summary(rows)}


def phase(seend, number, name, wait):
    before, cpu, begun, from_ms = seend.histogram(VISIBLE), seend.session.cpu_s(), time.monotonic(), now_ms()
    replayed = seend.metric("seen_replayed_events_total")
    wait()
    took, after = time.monotonic() - begun, seend.histogram(VISIBLE)
    return {"repeat": number, "phase": name, "seconds": round(took, 1),
            "replayed_per_s": round((seend.metric("seen_replayed_events_total") - replayed) / took),
            "cores": round((seend.session.cpu_s() - cpu) / took, 2), "begun_at_ms": from_ms, "ended_at_ms": now_ms(),
            **{f"visible_p{int(100 * share)}_ms": round(alone.percentile_ms(before, after, share), 1) for share in (0.5, 0.99)}}


def replay(seend, s, source):
    pace = [f"--max-lag={s['max_lag_ms']}ms"] if s["max_lag_ms"] else []
    pace += [f"--rate={s['replay_rate']}"] if s["replay_rate"] else []
    subprocess.run(["nice", "-n", str(s["nice"]), str(SEENCTL), "replay", str(source), "--config", str(seend.contender.daemon.config_path), "--quiet",
                    *pace, *__import__("os").environ.get("XTOOL","").split()], check=True, timeout=600)


def wait_published(seend, s):
    """Until nearly all is published: live users are always under way. A checkpoint tells first who is left."""
    time.sleep(CHECKPOINT_S + 2)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        partitions = seend.session.partitions()
        if sum(p["marks_outstanding"] for p in partitions) < 2 * s["rate"] and not any(p["replays"] for p in partitions):
            return
        time.sleep(0.2)
    raise RuntimeError("the history's users aren't published in time")


def lateness(bench, topic, seend, began_ms, rows):
    """As a reader of the snapshot topic saw it, of live events that were their users' first in a while."""
    by_user, _ = latency_join.published(bench.topics, seend.published, seend.contender.covered)
    begins, waits = [row["begun_at_ms"] for row in rows], [[] for _ in rows]
    missing, last = [0] * len(rows), {}
    for message in each_message(bench.topics, topic):
        user, at = message.key(), message.timestamp()[1]
        if user is None or at < began_ms:
            continue  # history
        before, last[user] = last.get(user), at
        index = bisect.bisect_right(begins, at) - 1
        if index < 0 or at >= rows[index]["ended_at_ms"] or (before is not None and at - before <= QUIET_MS):
            continue
        held, times = by_user.get(user, ((), ()))
        place = bisect.bisect_left(held, message.offset())
        if place == len(held):
            missing[index] += 1
        else:
            waits[index].append(times[place] - at)
    for row, of_row, unpublished in zip(rows, waits, missing):
        found = latency_join.percentiles(of_row)
        row.update({"first_events": found["count"], "published_p50_ms": found["p50_ms"], "published_p99_ms": found["p99_ms"],
                    "unpublished": unpublished})


def summary(rows):
    """Of each phase the least and the median over the repeats; and the ratios to the quiet phase of the same repeat."""
    figures = ("visible_p50_ms", "visible_p99_ms", "published_p50_ms", "published_p99_ms")
    of = {name: [row for row in rows if row["phase"] == name] for name in PHASES}
    result = []
    for name in PHASES:
        line = {"phase": name, "replayed_per_s": round(statistics.median(row["replayed_per_s"] for row in of[name]))}
        for figure in figures:
            values = [row[figure] for row in of[name] if row[figure] is not None]
            line[f"{figure}_least"] = min(values, default=None)
            line[f"{figure}_median"] = statistics.median(values) if values else None
            ratios = [row[figure] / max(quiet[figure], 0.1) for row, quiet in zip(of[name], of["quiet"]) if row[figure] is not None]
            line[f"{figure}_ratio"] = round(statistics.median(ratios), 2) if ratios else None
        result.append(line)
    return result
