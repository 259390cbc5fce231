"""The same events give the same state, whatever way they take: no false negatives, and equal digests of these
runs:

a  live events only, history sent as if it were live
b  history replayed through the topic, beside live events
c  history built into a directory, and live events; likewise into the state topic
d  as b, with five kills of the daemon and of the replay
e  as b, and then everything a second time
f  the directory of c resharded to another number of partitions

SEEN_EQUALITY_EVENTS is the number of events; `make equality` takes 5,000,000."""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time

import pytest

from equal_events import BOUGHT_DAYS, Events
from places import SEENCTL, SOURCE, now_ms, wait_until
from seenctl_tool import run, run_json

EVENTS = int(os.environ.get("SEEN_EQUALITY_EVENTS", 200_000))
PARTITIONS, RESHARDED = 4, 7
PATIENCE_S = 60 + EVENTS // 10_000
SPAN_S = max(4, EVENTS / 200_000)  # how long live events go on beside another step
FILTERS = [
    {"name": "default", "window_days": 30, "served_ttl_s": 86_400},
    {"name": "short", "window_days": 7, "snapshot": None},
    {"name": "often", "exposures_min": 3, "snapshot": None},
    {"name": "bought", "kinds": {"purchased": {"window_days": BOUGHT_DAYS}}, "snapshot": None},
]


class Producer:
    """Sends the lines of files, keyed by user, on a thread."""

    def __init__(self, topics, topic, paths, rate=None):
        self.topics, self.topic, self.paths, self.rate = topics, topic, paths, rate
        self.sent, self.failed = 0, []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def lines(self):
        for path in self.paths:
            with open(path, encoding="utf-8") as lines:
                for line in lines:
                    yield line[12 : line.index('"', 12)], line[:-1]

    def run(self):
        try:
            for number in self.topics.send(self.topic, self.lines(), rate=self.rate):
                self.sent = number + 1
        except AssertionError as error:
            self.failed.append(error)

    def join(self):
        self.thread.join(PATIENCE_S + 2 * SPAN_S)
        assert not self.thread.is_alive() and not self.failed, self.failed[:3]


class Runs:
    """One event set, and a daemon and topic for each run."""

    def __init__(self, topics, daemon, topic_name, tmp_path, events):
        self.topics, self.make_daemon, self.name = topics, daemon, topic_name
        self.tmp_path, self.events = tmp_path, events
        self.as_of, self.digests, self.report = now_ms(), {}, {}

    def daemon(self, name, partitions=PARTITIONS, **more):
        topic = self.topics.create(f"{self.name}-{name}", partitions=partitions, retention_ms=-1)
        filters = json.loads(json.dumps(FILTERS))
        filters[0]["snapshot"] = {"topic": f"{topic}-filters", "debounce_ms": 500}
        seend = self.make_daemon(topic, {"filters": filters, "store": {"memory_mib": 512}, **more}, name=name)
        seend.write_config()
        return seend

    def live(self, seend, rate=None):
        return Producer(self.topics, seend.topic, [self.events.live], rate)

    def live_beside(self, seend):
        """Starts live events and waits until some are sent. They continue beside the next step."""
        producer = self.live(seend, self.events.live_count / SPAN_S)
        wait_until(lambda: producer.sent > self.events.live_count // 20, "live events are under way")
        return producer

    @staticmethod
    def command(seend, *arguments):
        return [str(SEENCTL), "replay", "--config", str(seend.config_path), "--quiet", *map(str, arguments)]

    def replay(self, seend, *arguments):
        subprocess.run(
            self.command(seend, self.events.history, *arguments), check=True, timeout=PATIENCE_S + 2 * SPAN_S
        )

    def finish(self, name, seend, started):
        """Checks that the run has no false negatives, and keeps its digest."""
        seend.wait_at_rest(PATIENCE_S)
        seconds = time.monotonic() - started
        missed, asked = self.events.check(seend)
        assert not missed, f"run {name}: {len(missed)} false negatives of {asked}: {missed[:5]}"
        assert asked > 1_000
        assert all(s["lost_ranges"] == [] for s in seend.partition_status().values()), name
        self.digests[name] = run_json(
            "digest", http=seend.url, wait=True, timeout=PATIENCE_S, as_of=self.as_of
        )
        self.report[name] = {
            "seconds": round(seconds, 1),
            "items_checked": asked,
            "false_negatives": len(missed),
        }
        print(name, self.report[name], flush=True)

    def drop(self, seend):
        """Stops the daemon and deletes its topics, to save disk space."""
        seend.stop(60)
        for topic in (seend.topic, f"{seend.topic}-filters"):
            self.topics.delete(topic)


@pytest.fixture
def runs(topics, daemon, topic_name, tmp_path, chance):
    events = Events(tmp_path, chance, EVENTS, now_ms())
    assert min(events.counts[kind] for kind in ("exposed", "purchased", "served", "removed", "erased")) > 20
    return Runs(topics, daemon, topic_name, tmp_path, events)


def run_a(runs):
    seend, started = runs.daemon("a").start(), time.monotonic()
    # One stream: history, and live events as soon as half of the history is sent.
    history = Producer(runs.topics, seend.topic, sorted(runs.events.history.iterdir()))
    wait_until(
        lambda: history.sent > runs.events.history_count // 2 or not history.thread.is_alive(),
        "half",
        PATIENCE_S,
    )
    live = runs.live(seend)
    history.join()
    live.join()
    runs.finish("a", seend, started)
    runs.drop(seend)


def run_b_and_e(runs):
    seend, started = runs.daemon("b").start(), time.monotonic()
    live = runs.live_beside(seend)
    runs.replay(seend)
    assert seend.metric_sum("seen_replayed_events_total") > 0
    live.join()
    runs.finish("b", seend, started)
    started = time.monotonic()
    live = runs.live_beside(seend)
    runs.replay(seend)
    live.join()
    runs.finish("e", seend, started)
    runs.drop(seend)


def run_d(runs):
    seend, started = runs.daemon("d").start(), time.monotonic()
    span = 2 * SPAN_S
    live = runs.live(seend, runs.events.live_count / span)
    command = runs.command(
        seend,
        runs.events.history,
        "--progress",
        runs.tmp_path / "progress",
        "--rate",
        int(runs.events.history_count / span),
    )
    replay = subprocess.Popen(command)
    try:
        for number in range(5):
            time.sleep(span / 7)
            assert replay.poll() is None, "it is still under way"
            if number % 2 == 0:
                seend.kill9()
                seend.start(ready=False)
            else:
                replay.send_signal(signal.SIGKILL)
                replay.wait()
                replay = subprocess.Popen(command)
        assert live.thread.is_alive(), "live events came all the while"
        assert replay.wait(PATIENCE_S + 2 * span) == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            replay.kill()
        replay.wait()
    live.join()
    seend.wait_ready(PATIENCE_S)
    runs.finish("d", seend, started)
    runs.drop(seend)


def run_c(runs):
    """Builds the state in a directory. Returns the daemon, because run f needs its directory."""
    seend, started = runs.daemon("c"), time.monotonic()
    live = runs.live_beside(seend)
    runs.replay(seend, "--into-state", seend.store)
    assert live.thread.is_alive(), "the build ends before the live events do"
    seend.start(timeout_s=PATIENCE_S)
    live.join()
    runs.finish("c", seend, started)
    return seend


def run_c_by_topic(runs):
    state = f"{runs.name}-t-state"
    seend, started = runs.daemon("t", state={"topic": state}), time.monotonic()
    live = runs.live_beside(seend)
    runs.replay(seend, "--into-state-topic", "--scratch", runs.tmp_path)
    seend.start(timeout_s=PATIENCE_S)
    assert seend.log().count("state restored from the state topic") == PARTITIONS
    live.join()
    runs.finish("t", seend, started)
    runs.drop(seend)
    runs.topics.delete(state)


def run_f(runs, of):
    of.stop(60)
    state = f"{runs.name}-f-state"
    seend, started = runs.daemon("f", RESHARDED, state={"topic": state}), time.monotonic()
    run(
        "reshard",
        dir=of.store,
        brokers=runs.topics.bootstrap,
        topic=seend.topic,
        partitions=RESHARDED,
        state_topic=state,
        group=seend.group,
        quiet=True,
        timeout_s=PATIENCE_S,
    )
    seend.start(timeout_s=PATIENCE_S)
    runs.finish("f", seend, started)


def ids_of(digest):
    """The part of a digest that covers users whose id is known, by partition and filter."""
    return {
        (p["partition"], f["filter"]): [f[key] for key in ("digest", "items", "removals")]
        for p in digest["partitions"]
        for f in p["filters"]
    }


def gone_of(digest):
    """The part of a digest that covers rows whose user id is gone."""
    return {
        (p["partition"], f["filter"]): [f["without_id"], f["users_without_id"]]
        for p in digest["partitions"]
        for f in p["filters"]
    }


@pytest.mark.heavy
def test_every_way_into_the_state_comes_to_the_same(runs):
    run_a(runs)
    run_b_and_e(runs)
    run_d(runs)
    run_c_by_topic(runs)
    run_f(runs, run_c(runs))
    a, f = runs.digests["a"], runs.digests["f"]
    rows = {name: {one["filter"]: one for one in digest["sum"]} for name, digest in runs.digests.items()}
    report = {
        "events": EVENTS,
        "by_kind": dict(runs.events.counts),
        "live": runs.events.live_count,
        "as_of_ms": runs.as_of,
        "runs": runs.report,
        "sums": rows,
    }
    print(json.dumps(report, indent=1))
    logs = SOURCE / "build" / "test-logs"
    if logs.is_dir():
        (logs / "equality.json").write_text(json.dumps(report, indent=1))
    assert all(
        one["items"] > 0 and one["users"] > 0 and one["users_without_id"] > 0 for one in rows["a"].values()
    )
    for name in "bcdet":
        assert ids_of(runs.digests[name]) == ids_of(a), f"run {name}"
        assert gone_of(runs.digests[name]) == gone_of(a), f"run {name}: rows whose id is gone"
    for name, one in rows["f"].items():
        assert [one[key] for key in ("digest", "items")] == [
            rows["a"][name][key] for key in ("digest", "items")
        ], name
    # Each new partition has all rows whose user id is gone, because nobody knows their partition.
    for name, one in rows["f"].items():
        of_a = rows["a"][name]
        assert one["users_without_id"] == RESHARDED * of_a["users_without_id"]
        assert int(one["without_id"], 16) == RESHARDED * int(of_a["without_id"], 16) % (1 << 128)
    assert {p["partition"] for p in f["partitions"]} == set(range(RESHARDED))
