#!/usr/bin/env python3
"""Shows the main job on one machine: seend with an embedded broker, real exposures, a live stream and
similar items.

It runs `seenctl` as a user would and checks each answer. The exit status is 0 only if all answers are right.
`make demo` builds first. KEEP=1 leaves seend running. BUILD=DIR takes the binaries from DIR."""

import gzip
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.request

BUILD = pathlib.Path(os.environ.get("BUILD") or "build/release")
WORK = pathlib.Path("build/demo")
LOG = WORK / "seend.log"
EXPOSURES, ITEMS = "examples/open_bandit_exposures.jsonl.gz", "examples/items.jsonl.gz"
PORTS = (8080, 8081, 8082, 8083, 8088, 8888, 18080, 18081, 28080, 0)
FILE_RATE, LIVE_RATE = 60_000, 20_000  # events a second
LIVE_S = 10  # verify reads all events again, and the embedded broker keeps about 320,000
USERS, CANDIDATES = 20_000, 20
PATIENCE_S = 30
VISIBLE, PUBLISHED = "seen_event_to_visible_seconds", "seen_event_to_published_seconds"


def say(text="", indent=0):
    for line in text.splitlines() or [""]:
        margin = " " * (indent + len(line) - len(line.lstrip()))
        print(textwrap.fill(line.strip(), 80, initial_indent=margin, subsequent_indent=margin))
    sys.stdout.flush()


def give_up(text):
    print(f"demo: {text}", file=sys.stderr)
    sys.exit(1)


def wait_until(is_there, what, patience_s=PATIENCE_S):
    deadline = time.monotonic() + patience_s
    while not is_there():
        if time.monotonic() > deadline:
            give_up(f"{what}: not within {patience_s} s; the log is {LOG}")
        time.sleep(0.05)


# --- the daemon


def start_seend(store):
    """Takes the first port on which nobody listens: seend ends at once if it can't have the port."""
    for port in PORTS:
        listen = ["--set", f"http.listen=127.0.0.1:{port}", "--set", f"store.directory={store}"]
        command = [BUILD / "seend", "--config", "config/demo.json", "--embedded-kafka", *listen]
        with open(LOG, "w", encoding="utf-8") as log:
            seend = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            wait_until(lambda: seend.poll() is not None or "seend started" in LOG.read_text(), "seend's start")
        except BaseException:
            seend.kill()
            raise
        log = LOG.read_text()
        if seend.poll() is None:
            return seend, re.search(r"seend started.* port=(\d+)", log)[1]
        if "http.listen" not in log:
            break
    return give_up("seend doesn't start; its log ends:\n" + "\n".join(log.splitlines()[-20:]))


def stop_seend(seend):
    seend.terminate()
    status = seend.wait(60)
    say("seend has stopped." if status == 0 else f"seend ended with status {status}: see {LOG}")
    return status == 0


# --- the figures of its page of metrics


def total(page, name):
    return sum(float(value) for value in re.findall(rf"(?m)^{name}(?:\{{.*\}})? (\S+)", page))


def histogram(page, name):
    """{upper bound in s: count up to it}, over all labels"""
    counts = {}
    for bound, count in re.findall(rf'(?m)^{name}_bucket\{{.*?le="(.*?)"\}} (\S+)', page):
        counts[float(bound)] = counts.get(float(bound), 0) + float(count)
    return counts


def latency(before, after, name, share):
    """The quantile of what happened between two pages: linear within a bucket, as Prometheus has it."""
    old, low, below = histogram(before, name), 0.0, 0.0
    counts = [(bound, count - old.get(bound, 0)) for bound, count in sorted(histogram(after, name).items())]
    if not counts or counts[-1][1] == 0:
        return "-"
    rank = share * counts[-1][1]
    for bound, count in counts:
        if count >= rank:
            break
        low, below = bound, count
    seconds = low if math.isinf(bound) else low + (bound - low) * (rank - below) / max(count - below, 1)
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.{0 if seconds >= 0.1 else 1}f} ms"


def latencies(before, after, name):
    return " / ".join(latency(before, after, name, share) for share in (0.5, 0.99))


class Demo:
    """The steps, in the order in which they are shown."""

    def __init__(self, http):
        self.http, self.well, self.sent = http, True, 0
        wait_until(lambda: self.get("/readyz") is not None, "a ready daemon")
        self.brokers = json.loads(self.get("/v1/status"))["brokers"]

    def get(self, path):
        try:
            with urllib.request.urlopen(self.http + path, timeout=10) as answer:
                return answer.read().decode()
        except OSError:
            return None

    def seenctl(self, *words, **more):
        command = [str(BUILD / "seenctl"), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
        if done.returncode not in (0, 1) or (done.returncode == 1 and not done.stdout):
            give_up(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def generate(self, *words, **more):
        """Sends, and returns how many records."""
        done = self.seenctl("generate", "--brokers", self.brokers, "--quiet", "--json", *words, **more)
        return json.loads(done)["events"]

    def holds(self, is_true, what):
        self.well &= bool(is_true)
        say(what if is_true else f"WRONG: this isn't true: {what}", 4)

    def taken_in(self):
        return total(self.get("/metrics"), "seen_events_total")

    def is_published(self):
        partitions = json.loads(self.get("/v1/status"))["partitions"]
        return all(partition["marks_outstanding"] == 0 for partition in partitions)

    def wait_for_all(self):
        wait_until(lambda: self.taken_in() >= self.sent, "all events taken in")
        wait_until(self.is_published, "all users published")

    # --- real exposures

    def real_exposures(self):
        say(f"1. The real exposures of {EXPOSURES}, with their times shifted to now")
        self.sent += self.generate("--from", EXPOSURES, "--shift-to-now", "--rate", FILE_RATE)
        self.wait_for_all()
        say(f"{self.sent:,} events are sent, taken in and published.", 4)
        seen = {}
        with gzip.open(EXPOSURES, "rt", encoding="utf-8") as lines:
            for line in lines:
                event = json.loads(line)
                seen.setdefault(event["user_id"], []).append(event["item_id"])
        known = {item for items in seen.values() for item in items}
        users = [user for user, items in seen.items() if len(known - set(items)) >= CANDIDATES]
        user = max(users, key=lambda user: len(seen[user]))
        sent, unsent = sorted(set(seen[user])), sorted(known - set(seen[user]))[:CANDIDATES:2]
        candidates = [item for pair in zip(sent[:: len(sent) // len(unsent)], unsent) for item in pair]
        say(f"\nA busy user has {len(seen[user]):,} exposures of {len(sent)} of the {len(known)} items.")
        say(f"Which of {len(candidates)} candidates has this user not seen?")
        say(f"$ seenctl unseen {user} {' '.join(candidates)}", 2)
        unseen = self.seenctl("unseen", "--http", self.http, user, *candidates).split()
        say(" ".join(unseen), 4)
        self.holds(unseen == unsent, "These are the ten that were never sent. No seen item comes back.")
        self.published_snapshot(user, candidates, unsent)

    def published_snapshot(self, user, candidates, unsent):
        """What a recommender holds that reads the topic of snapshots instead of asking."""
        words = ("snapshot", "--user", user, "--from-topic", "--brokers", self.brokers)
        snapshot = json.loads(self.seenctl(*words, "--json", "--test", *candidates))
        free = [item for item, held in snapshot["tests"].items() if not held]
        say(f"\n  $ seenctl snapshot --user {user} --from-topic --test ...")
        self.holds(set(free) <= set(unsent), "The snapshot on the topic holds all seen items back.")
        self.holds(len(free) >= len(unsent) - 3, f"It lets {len(free)} of the ten others pass (99% on average).")

    # --- a live stream

    def live_stream(self):
        say(f"\n2. A live stream: {LIVE_RATE:,} events a second of {USERS:,} users for {LIVE_S} s\n")
        print("time      events  events/s   lag  event to visible   to published (p50 / p99)")
        first = before = self.get("/metrics")
        words = ("--rate", LIVE_RATE, "--seconds", LIVE_S, "--users", USERS, "--items", USERS)
        command = [BUILD / "seenctl", "generate", "--brokers", self.brokers, "--quiet", "--json", *words]
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as stream:
            start = at = time.monotonic()
            while stream.poll() is None:
                time.sleep(1)
                before, at = self.line(before, at, start)
            self.sent += json.loads(stream.stdout.read())["events"]
        self.wait_for_all()
        after = self.get("/metrics")
        say(f"\n    {self.sent:,} events sent, {total(after, 'seen_events_total'):,.0f} taken in")
        say(f"event to visible   {latencies(first, after, VISIBLE)} (p50 / p99)", 4)
        say(f"event to published {latencies(first, after, PUBLISHED)}", 4)
        rejected = total(after, "seen_events_rejected_total")
        self.holds(total(after, "seen_events_total") == self.sent, "The daemon took in all that was sent.")
        self.holds(rejected == 0, "It rejected nothing.")
        say("\n  $ seenctl status")
        print(textwrap.indent(self.seenctl("status", "--http", self.http), "    "), end="")

    def line(self, before, at, start):
        after, now = self.get("/metrics"), time.monotonic()
        events = total(after, "seen_events_total")
        rate = (events - total(before, "seen_events_total")) / (now - at)
        print(
            f"{now - start:>3.0f} s {events:>11,.0f} {rate:>9,.0f} "
            f"{total(after, 'seen_consumer_lag_messages'):>5,.0f}  "
            f"{latencies(before, after, VISIBLE):<18} {latencies(before, after, PUBLISHED)}",
            flush=True,
        )
        return after, now

    # --- the daemon against its log

    def verify(self):
        say("\n3. Every user's answers, compared with what the topic of exposures says")
        say("$ seenctl verify", 2)
        said = self.seenctl("verify", "--brokers", self.brokers, "--http", self.http, "--quiet")
        say(said, 4)
        self.holds(said.endswith("all is well\n"), "No user gets a seen item again.")

    # --- similar items

    def similar_items(self):
        say(f"\n4. Similar items: the {ITEMS} have texts, and some are copies")
        with gzip.open(ITEMS, "rt", encoding="utf-8") as lines:
            items = [json.loads(line) for line in lines]
        count = self.generate("--from", ITEMS, "--key", "item_id", "--topic", "items")
        copies = {}
        for item in items:
            if "copy_of" in item:
                copies.setdefault(item["copy_of"], {}).setdefault(item["edit"], item["item_id"])
        original = next(
            item["item_id"]
            for item in items
            if item["lang"] == "en" and {"verbatim", "words"} <= set(copies.get(item["item_id"], ()))
        )
        verbatim, edited = copies[original]["verbatim"], copies[original]["words"]
        others = [i["item_id"] for i in items if "copy_of" not in i and i["item_id"] not in copies][:3]
        for item in {original, verbatim, edited, items[-1]["item_id"]}:
            wait_until(lambda item=item: self.get(f"/v1/groups/{item}"), f"the group of {item}")
        reader = "reader-1"
        event = {"user_id": reader, "item_id": original, "exposed_at": int(time.time() * 1000)}
        self.sent += self.generate("--from", "-", input=json.dumps(event) + "\n")
        self.wait_for_all()
        asked = [original, verbatim, edited, *others]
        say(
            f"{count} items are sent, and {reader} has seen {original}. A verbatim copy of it is {verbatim}. A "
            f"copy with other words is {edited}. Which of these and of three others are unseen?",
            4,
        )
        say(f"$ seenctl unseen {reader} {' '.join(asked)}", 2)
        answer = json.loads(self.seenctl("unseen", "--http", self.http, "--json", reader, *asked))
        say(" ".join(answer["unseen"]), 4)
        like = {similar["item_id"]: similar["like"] for similar in answer.get("similar", [])}
        self.holds(answer["unseen"] == others, "The seen item and both its copies are dropped.")
        self.holds(like == {verbatim: original, edited: original}, "The JSON says which item they are like.")
        say(f"$ seenctl similar {original} {edited}", 2)
        words = ("--brokers", self.brokers, "--quiet", "--tokens", 2, original, edited)
        explained = self.seenctl("similar", *words)
        say(explained, 4)
        self.holds(explained.startswith("alike"), "The explanation agrees with the daemon.")

    def where_to_look(self):
        say("\nTo look at while seend runs (make demo KEEP=1 leaves seend running):")
        say(f"  {self.http}/v1/status\n  {self.http}/metrics")
        print(f"  curl -s {self.http}/v1/filters/default/users/USER/unseen \\")
        print('    -d \'{"items":["a","b"]}\'')
        say(f"  kcat -b {self.brokers} -C -t exposures -o -5 -e")
        print(f"  kcat -b {self.brokers} -C -t seen-filters -o -5 -e -f '%k: %S bytes\\n'")


def main():
    os.chdir(pathlib.Path(__file__).resolve().parents[1])
    for program in ("seend", "seenctl"):
        if not os.access(BUILD / program, os.X_OK):
            missing = f"demo: {BUILD / program} is missing: run 'make demo', or 'make build' first"
            print(missing, file=sys.stderr)
            return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    WORK.mkdir(parents=True, exist_ok=True)
    store, seend, well = tempfile.mkdtemp(prefix="store.", dir=WORK), None, False
    try:
        seend, port = start_seend(store)
        demo = Demo(f"http://127.0.0.1:{port}")
        demo.real_exposures()
        demo.live_stream()
        demo.verify()
        demo.similar_items()
        demo.where_to_look()
        well = demo.well
        say("\nEvery check held." if well else "\nA check FAILED: see WRONG above.")
    except KeyboardInterrupt:
        return 130
    finally:
        if seend and well and os.environ.get("KEEP") == "1":
            say(f"seend is still running (KEEP=1): its log is {LOG}; stop it with: kill {seend.pid}")
        else:
            well = (seend is None or stop_seend(seend)) and well
            shutil.rmtree(store, ignore_errors=True)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
