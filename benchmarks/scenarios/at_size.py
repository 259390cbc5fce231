"""State ten times the memory: users of 3,000 items over 30 days. A memory cgroup bounds the process and its
page cache, so that a cold user is read from the disk. After cold look-ups and publications alone come phases
of load with 2,000 queries/s: users in sessions (20 events within five minutes); the same as all users are
published, beside a replay, and through a kill -9; users at random, as fast as they are taken in."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import threading
import time

import alone
import latency_join
import measure
import paths
from bystanders import Bystanders
from cgroup import Cgroup, forget_pages
from contenders.process import cpu_s, disk_bytes, memory_bytes
from http_json import Http, user_path
from places import SEENCTL, now_ms, wait_until
from recall_reader import RecallReader, new_items, with_updates
from scenarios import into_state
from scenarios.serving import need_wrk, wrk

PARTITIONS = 12
TOPIC = "at-size"  # of a state that is kept: a store is of one topic
KEPT_S = 86_400  # after a day, the state's days are others than the load's
SESSION_EVENTS = 20
LEADING_S = 6
SETTLED = ("published_all_in_s", "all_published_per_s", "all_published_us_a_user")
HISTOGRAMS = {"visible": "seen_event_to_visible_seconds", "published": "seen_event_to_published_seconds"}
COUNTERS = {
    "published": "seen_snapshots_total",
    "published_bytes": "seen_snapshot_bytes_total",
    "replayed": "seen_replayed_events_total",
    "checkpoint_bytes": "seen_checkpoint_bytes_total",
    "compaction_bytes": "seen_store_compaction_bytes_total",
    "cache_misses": "seen_store_block_cache_misses_total",
    "swept": "seen_swept_users_total",
    "lost": "seen_lost_messages_total",
    "updates": "seen_updates_total",
    "gaps": "seen_update_gaps_total",
}


def run(bench, settings, say):
    need_wrk()
    s = alone.numbers(
        settings,
        users=2_000_000,
        items=3_000,
        memory_mib=1024,
        page_cache_mib=128,
        seconds=600,
        rate=50_000,
        high_rate=100_000,
        queries=2_000,
        connections=8,
        cold=20_000,
        sampled=100_000,
        replay_users=100_000,
        debounce_ms=60_000,
        session_s=300,
        first_phase=0,
        phases=7,
        keep_state=0,
        updates=0,
        settle_rate=0,
    )
    topic = bench.scratch_topic(
        TOPIC if s["keep_state"] else bench.name("at-size"),
        PARTITIONS,
        retention_ms=-1,
        retention_bytes=1 << 30,
        segment_bytes=128 << 20,
    )
    output = bench.scratch_topic(
        f"{topic}-out",
        PARTITIONS,
        cleanup_policy="compact" if s["updates"] else "delete",
        message_timestamp_type="LogAppendTime",
        retention_bytes=256 << 20,
        segment_bytes=64 << 20,
    )
    publishing = {
        "filters": [
            {
                "name": "default",
                "items_max": 100_000,
                "snapshot": {"topic": output, "debounce_ms": s["debounce_ms"]},
            }
        ]
    }
    seend = alone.Seend(
        bench,
        topic,
        publishing=False,
        partitions=PARTITIONS,
        store={"memory_mib": s["memory_mib"], "checkpoint_interval_s": 10},
        **(with_updates(output, items_max=100_000) if s["updates"] else publishing),
    )
    built = build(seend, bench, s)
    say(str(built))
    users = some_users(s)
    with Cgroup("seen-at-size", s["memory_mib"] + 60 + s["page_cache_mib"]) as group:
        world = World(bench, seend, group, topic, output, users, s, say)
        try:
            if SETTLED[0] in built:
                world.settle_day()
            else:
                built |= world.settle()
            cold = world.cold() if s["cold"] else {}
            with world.reader() as reader:
                rows = world.hour(reader)
            size = world.stop()
        finally:
            seend.session.stop()
    bench.drop(topic, output)
    return {
        **{key: s[key] for key in ("users", "items", "memory_mib", "page_cache_mib", "seconds")},
        **built,
        **cold,
        **size,
        "phases": rows,
    }


def generator(s, *more):
    return [
        str(SEENCTL),
        "generate",
        "--stdout",
        "--quiet",
        "--users",
        str(s["users"]),
        "--user-skew",
        "0.01",
        *map(str, more),
    ]


def build(seend, bench, s):
    """Puts the state of `s` into the daemon's directory. With keep_state, the next run within a day begins with
    the same state, and does not build it again. Nothing of the state stays in the page cache."""
    config = seend.contender.config(seend.run)
    config["kafka"]["brokers"], config["input"] = bench.brokers, {"topic": seend.topic}
    directory = seend.run.directory
    directory.mkdir(parents=True, exist_ok=True)
    kept = kept_state(s) if s["keep_state"] else directory
    figures = kept / "built.json"
    if not figures.exists() or time.time() - figures.stat().st_mtime > KEPT_S:
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        path = kept / "build.json"
        path.write_text(json.dumps(config))
        built = into_state.piped(path, kept, {**s, "items": s["users"] * s["items"]}, s["users"])
        figures.write_text(json.dumps(built))
    built = json.loads(figures.read_text())
    if kept != directory:
        shutil.copytree(kept / "state", seend.run.state_dir, copy_function=link_or_copy)
    forget_pages(seend.run.state_dir)
    return {
        "state_items": built["items"],
        "built_in_s": round(built["read_s"] + built["write_s"]),
        "bytes_an_item_built": disk_bytes(seend.run.state_dir) / built["items"],
        **{key: built[key] for key in SETTLED if key in built},
    }


def kept_state(s):
    return paths.WORK / f"at-size-{s['users']}-{s['items']}"


def keep(state, s, settled):
    """The next run begins with `state`."""
    kept = kept_state(s)
    shutil.rmtree(kept / "state")
    shutil.copytree(state, kept / "state", copy_function=link_or_copy)
    figures = kept / "built.json"
    built_at = figures.stat().st_mtime
    figures.write_text(json.dumps(json.loads(figures.read_text()) | settled))
    os.utime(figures, (built_at, built_at))


def link_or_copy(source, target):
    """RocksDB writes an SST file once, and appends to others."""
    (os.link if source.endswith(".sst") else shutil.copy2)(source, target)


def some_users(s):
    made = subprocess.run(
        generator(s, "--events", s["sampled"] + s["sampled"] // 2, "--sessions", s["sampled"], "--seed", 1),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return list(dict.fromkeys(re.findall(rb'"user_id":"([^"]+)"', made)))


class World:
    """The daemon in its cgroup, and the programs beside it."""

    def __init__(self, bench, seend, group, topic, output, users, s, say):
        self.bench, self.seend, self.group, self.s, self.say = bench, seend, group, s, say
        self.topic, self.output = topic, output
        self.users = [user.decode() for user in users]
        self.start()

    def start(self):
        self.seend.again()
        self.group.add(self.seend.pid())
        measure.wait_ready(self.seend.session, 300)

    def stop(self):
        self.peak()
        self.seend.session.stop()
        return {
            "peak_memory_MiB": self.peak_mib,
            "store_bytes_at_the_end": disk_bytes(self.seend.run.state_dir),
        }

    peak_mib = 0

    def peak(self):
        self.peak_mib = max(self.peak_mib, round(memory_bytes(self.seend.pid()) / alone.MIB))

    # --- what a state that was built leaves to do

    def settle(self):
        """Waits until each user of the built state is published once. What comes is then measured alone."""
        load = self.load(self.s["settle_rate"], 3_600) if self.s["settle_rate"] else None
        begun, published = time.monotonic(), self.seend.metric(COUNTERS["published"])
        cpu = self.seend.session.cpu_s()
        wait_until(self.is_published, "the built state is published", 3_600)
        took, cpu = time.monotonic() - begun, self.seend.session.cpu_s() - cpu
        published = self.seend.metric(COUNTERS["published"]) - published
        if load:
            load.process.terminate()
            load.process.wait()
        settled = dict(
            zip(SETTLED, (round(took), round(published / took), round(cpu / published * 1e6)), strict=True)
        )
        self.say(str(settled))
        if self.s["keep_state"]:
            self.keep(settled)
        return settled

    def is_published(self):
        """With updates, marks of what comes meanwhile stand until the next round."""
        return not self.seend.metric("seen_refresh_hurries") if self.s["updates"] else not self.marks()

    def settle_day(self):
        """Waits for the sweep that follows if the state was kept the day before. It begins with the first
        checkpoint."""
        time.sleep(15)
        if self.sweeping():
            wait_until(lambda: not self.sweeping() and not self.marks(), "the day's sweep", 3_600)
            self.keep({})

    def keep(self, settled):
        self.seend.session.stop()
        keep(self.seend.run.state_dir, self.s, settled)
        self.start()

    # --- cold users, one at a time

    def cold(self):
        cold = self.s["cold"]
        first = self.cold_look_ups(
            self.users[:cold]
        )  # also brings the files' indexes and filters into the cache
        result = {
            "first_get_p99_ms": first["cold_get_p99_ms"],
            **self.cold_look_ups(self.users[cold : 2 * cold]),
        }
        self.say(str(result))
        result |= self.cold_publications()
        self.say(str(result))
        return result

    def cold_look_ups(self, users):
        http, times, bytes_answered = Http(self.seend.address()), [], 0
        read_bytes, misses = self.seend.read_bytes(), self.seend.metric(COUNTERS["cache_misses"])
        for user in users:
            before = time.perf_counter()
            answer = http.get(user_path(user))
            times.append(1000 * (time.perf_counter() - before))
            assert answer.status == 200, answer.body
            bytes_answered += len(answer.body)
        misses = self.seend.metric(COUNTERS["cache_misses"]) - misses
        read_bytes = self.seend.read_bytes() - read_bytes
        times.sort()
        return {
            "cold_get_p50_ms": times[len(times) // 2],
            "cold_get_p99_ms": times[len(times) * 99 // 100],
            "cold_get_blocks_missed": misses / len(users),
            "cold_get_read_bytes": read_bytes / len(users),
            "snapshot_bytes": bytes_answered / len(users),
        }

    def cold_publications(self, rate=2_000, seconds=8):
        """Sends fewer events than a checkpoint takes, so that the reads of compactions aren't counted."""
        published, misses = (
            self.seend.metric(COUNTERS["published"]),
            self.seend.metric(COUNTERS["cache_misses"]),
        )
        read_bytes = self.seend.read_bytes()
        self.load(rate, seconds, uniform=True).result()
        time.sleep(1.5)
        published = self.seend.metric(COUNTERS["published"]) - published
        misses = self.seend.metric(COUNTERS["cache_misses"]) - misses
        read_bytes = self.seend.read_bytes() - read_bytes
        return {
            "cold_publications": published,
            "cold_publication_blocks_missed": misses / max(1, published),
            "cold_publication_read_bytes": read_bytes / max(1, published),
        }

    # --- the hour

    def load(self, rate, seconds, uniform=False):
        sessions = (
            self.s["users"]
            if uniform
            else min(self.s["users"], max(1, rate * self.s["session_s"] // SESSION_EVENTS))
        )
        return self.bench.generate(
            self.topic,
            "--users",
            self.s["users"],
            "--user-skew",
            0.01 if uniform else 0.6,
            "--rate",
            rate,
            "--sessions",
            sessions,
            "--seconds",
            seconds,
            *(new_items() if self.s["updates"] else ()),
        )

    def reader(self):
        if not self.s["updates"]:
            return contextlib.nullcontext()
        reader = RecallReader(self.bench, self.topic, self.output)
        self.say(f"a reader that begins with nothing is fresh in {reader.wait_fresh(1_800)} s")
        return reader

    def hour(self, reader):
        rate, high, seconds = self.s["rate"], self.s["high_rate"], self.s["seconds"]
        phases = [
            (f"in sessions, {rate:,}/s", dict(rate=rate)),
            (f"in sessions, {high:,}/s", dict(rate=high)),
            (f"in sessions, {rate:,}/s", dict(rate=rate)),
            (f"end of the day, {rate:,}/s", dict(rate=rate, beside=self.end_of_day)),
            (f"replay beside, {rate:,}/s", dict(rate=rate, beside=self.replay)),
            (f"kill -9, {rate:,}/s", dict(rate=rate, killed=True)),
            ("uniform, unbounded", dict(rate=0, uniform=True)),
        ]
        rows = []
        for name, how in phases[self.s["first_phase"] : self.s["phases"]]:
            rows.append({"phase": name, **self.phase(reader, seconds, **how)})
            self.say(str(rows[-1]))
        return rows

    def phase(self, reader, seconds, rate, uniform=False, beside=None, killed=False):
        # Work that is left from the previous phase must not count in this phase.
        self.wait_caught_up(15)
        load = self.load(rate, seconds + 5, uniform)
        time.sleep(5)
        if reader:
            reader.row()
        queries = Queries(self.seend, self.users, self.s, seconds - 2)
        watch = Watch(self.seend, self.bench.topics, self.topic)
        before, counted, cpu, begun = (
            self.histograms(),
            self.counters(),
            self.seend.session.cpu_s(),
            time.monotonic(),
        )
        reads, written = self.seend.read_bytes(), self.seend.written_bytes()
        bystanders = Bystanders(self.bench.cpu_s, self.seend.session.cpu_s, lambda: cpu_s(load.process.pid))
        if killed:
            time.sleep(seconds / 2)
            row = self.kill(watch, seconds / 2)
            before, counted = {what: {} for what in HISTOGRAMS}, dict.fromkeys(COUNTERS, 0)
            cpu, begun, reads, written = 0, time.monotonic() - row["again_s"], 0, 0
            remaining = seconds / 2 - row.pop("again_s")
        else:
            row, remaining = {}, seconds
            if beside:
                beside(seconds)
        time.sleep(max(0, remaining - LEADING_S))
        end = Fresh(self, reader, LEADING_S) if reader else Leading(self, LEADING_S)
        took = time.monotonic() - begun
        self.peak()
        figures = {key: value - counted[key] for key, value in self.counters().items()}
        after, lag = self.histograms(), watch.stop()
        row |= {
            f"{what}_p{int(100 * share)}_ms": rounded(alone.percentile_ms(before[what], after[what], share))
            for what in HISTOGRAMS
            for share in (0.5, 0.99)
        }
        row |= {
            "applied_per_s": lag["applied_per_s"],
            "published_per_s": round(figures["published"] / took),
            "greatest_lag": lag["greatest_lag"],
            "unpublished_at_the_end": self.marks(),
            "standstill_s": lag["standstill_s"],
            "cores": round((self.seend.session.cpu_s() - cpu) / took, 2),
            "others_cores": round(sum(bystanders.cores()), 2),
            "read_MB_per_s": round((self.seend.read_bytes() - reads) / took / 1e6, 1),
            "written_MB_per_s": round((self.seend.written_bytes() - written) / took / 1e6, 1),
            "write_amplification": round(
                1 + figures["compaction_bytes"] / max(1, figures["checkpoint_bytes"]), 1
            ),
            "swept_users": round(figures["swept"]),
            "lost_to_retention": round(figures["lost"]),
            "replayed_per_s": round(figures["replayed"] / took),
            **queries.result(),
        }
        if reader:
            row |= {"updates_per_s": round(figures["updates"] / took), "gaps": round(figures["gaps"])}
        load.process.terminate()
        load.process.wait()
        return row | end.result()

    def wait_caught_up(self, timeout_s):
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            ends = sum(end for _, end in self.bench.topics.ends(self.topic).values())
            if (self.seend.session.applied() or 0) >= ends and (self.s["updates"] or self.marks() < 10_000):
                return
            time.sleep(0.5)

    def marks(self):
        return sum(p["marks_outstanding"] for p in self.seend.session.partitions())

    def sweeping(self):
        return any(p["republish"]["sweeping"] for p in self.seend.session.partitions())

    def counters(self):
        return {key: self.seend.metric(name) for key, name in COUNTERS.items()}

    def histograms(self):
        return {what: self.seend.histogram(name) for what, name in HISTOGRAMS.items()}

    # --- beside a phase

    def end_of_day(self, _):
        """Publishes all users at once, over HTTP. The daemon publishes them in the same way when a day leaves
        their windows."""
        answer = self.seend.http().post("/v1/publish")
        assert answer.status in (200, 202), answer.body

    def replay(self, seconds):
        """Replays three days of some users, for as long as the phase lasts."""

        def send():
            source = subprocess.Popen(
                [
                    str(SEENCTL),
                    "generate",
                    "--stdout",
                    "--quiet",
                    "--users",
                    str(self.s["replay_users"]),
                    "--days",
                    "3",
                    "--events",
                    str(self.s["replay_users"] * 300),
                ],
                stdout=subprocess.PIPE,
            )
            replay = subprocess.Popen(
                [
                    str(SEENCTL),
                    "replay",
                    "-",
                    "--config",
                    str(self.seend.contender.daemon.config_path),
                    "--quiet",
                ],
                stdin=source.stdout,
            )
            source.stdout.close()  # otherwise the generator would wait for this process to read
            try:
                replay.wait(seconds - 5)
            except subprocess.TimeoutExpired:
                replay.terminate()
                replay.wait()
            source.terminate()
            source.wait()

        threading.Thread(target=send).start()

    def kill(self, watch, timeout_s):
        self.peak()
        behind = sum(end for _, end in self.bench.topics.ends(self.topic).values()) - (
            self.seend.session.applied() or 0
        )
        with watch.paused():
            killed = time.monotonic()
            self.seend.session.kill9()
            self.start()
            again = time.monotonic() - killed
            caught_up = measure.caught_up_s(self.bench, self.seend.session, self.topic, killed, timeout_s)
        return {
            "behind_before_kill": behind,
            "ready_again_s": round(again, 1),
            "caught_up_s": round(caught_up or -1, 1),
            "again_s": again,
        }


class Leading:
    """Event to published of leading edges in the last seconds of a phase, joined from some partitions of the
    two topics. A leading edge is an event of a user without an event and without a publication within the
    debounce. If an earlier event of the user still waits, the event waits with it, and is counted apart."""

    PARTITIONS = (0, PARTITIONS // 2)
    DEBOUNCES = 4  # longer than the time between two events of nearly all sessions

    def __init__(self, world, seconds):
        self.world = world
        self.from_ms = now_ms()
        time.sleep(1)
        self.until_ms = now_ms()
        time.sleep(max(0, seconds - 1))

    def result(self):
        world, debounce_ms = self.world, self.world.s["debounce_ms"]
        topics = world.bench.topics
        begins = [
            latency_join.offsets_at(
                topics, topic, self.PARTITIONS, self.from_ms - self.DEBOUNCES * debounce_ms
            )
            for topic in (world.topic, world.output)
        ]
        joined = latency_join.join(
            topics,
            world.topic,
            world.output,
            world.seend.contender.covered,
            self.from_ms,
            self.until_ms,
            quiet_ms=debounce_ms,
            unpublished_ms=debounce_ms,
            begins=begins,
        )
        return {
            "leading_p50_ms": joined["leading"]["p50_ms"],
            "leading_p99_ms": joined["leading"]["p99_ms"],
            "leading_events": joined["leading"]["count"],
            "leading_unpublished_within_5_s": joined["leading_unpublished"],
            "events_of_users_who_wait": joined["waiting"],
        }


class Fresh:
    """In place of Leading, with updates: what the reader found in the phase."""

    def __init__(self, world, reader, seconds):
        time.sleep(seconds)
        age_s = world.seend.metric("seen_published_age_seconds") / PARTITIONS
        self.row = {**reader.row(), "published_age_s": round(age_s)}

    def result(self):
        return self.row


class Queries:
    """wrk at a fixed pace, for users at random: half of the requests are filters, half are `unseen` with 200
    candidates."""

    def __init__(self, seend, users, s, seconds):
        self.rows, self.threads = [], []
        pace = {**s, "seconds": int(seconds)}
        for what, candidates in (("snapshot", 0), ("unseen", 200)):
            self.threads.append(
                threading.Thread(
                    target=self.ask, args=(seend, users, pace, what, candidates, s["queries"] // 2)
                )
            )
            self.threads[-1].start()

    def ask(self, seend, users, s, what, candidates, pace):
        try:
            self.rows.append(wrk(seend, users, s, what, candidates, pace))
        except (
            OSError,
            subprocess.SubprocessError,
            AttributeError,
        ) as error:  # the daemon was killed meanwhile
            self.rows.append({"what": what, "error": repr(error)})

    def result(self):
        for thread in self.threads:
            thread.join()
        return {
            f"{row['what']}_{key}": rounded(row.get(key), 2)
            for row in self.rows
            for key in ("requests_per_s", "p50_ms", "p99_ms")
        }


class Watch:
    """Checks ten times a second how far the daemon is."""

    def __init__(self, seend, topics, topic):
        self.seend, self.topics, self.topic = seend, topics, topic
        self.ended, self.away = threading.Event(), threading.Event()
        self.looks, self.greatest_lag = [], 0
        self.http = Http(seend.address(), timeout_s=30)
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def paused(self):
        return Paused(self)

    def look(self):
        while not self.ended.wait(0.1):
            if self.away.is_set():
                continue
            try:
                partitions = self.http.get("/v1/status").json()["partitions"]
            except OSError:
                continue
            applied = sum(p["next_offset"] or 0 for p in partitions)
            self.looks.append((time.monotonic(), applied, 0))
            if len(self.looks) % 10 == 0:
                ends = sum(end for _, end in self.topics.ends(self.topic).values())
                self.greatest_lag = max(self.greatest_lag, ends - applied)

    def stop(self):
        self.ended.set()
        self.thread.join()
        (first, start, _), (last, end, _) = self.looks[0], self.looks[-1]
        return {
            "applied_per_s": round((end - start) / (last - first)),
            "greatest_lag": self.greatest_lag,
            "standstill_s": round(alone.longest_wait_s(self.looks), 2),
        }


class Paused:
    def __init__(self, watch):
        self.watch = watch

    def __enter__(self):
        self.watch.away.set()

    def __exit__(self, *_):
        self.watch.http.close()
        self.watch.http = Http(self.watch.seend.address(), timeout_s=30)
        self.watch.looks.clear()
        self.watch.away.clear()


def rounded(value, digits=1):
    return None if value is None else round(value, digits)
