"""What the scenarios share: they start seend with a configuration, follow it closely, and read its own
histograms."""

import re
import time

import measure
from contenders.process import memory_bytes
from contenders.seend import SeendContender

MIB = 2**20


class Seend:
    """One daemon with a fresh store on `topic`. Use with `with`; `published`: its output topic, or None."""

    def __init__(
        self, bench, topic, *, publishing, debounce_ms=1000, partitions=4, environment=None, **config
    ):
        self.bench, self.topic = bench, topic
        self.contender = SeendContender("scenario", "", publishing, debounce_ms)
        self.run = measure.fresh_run(
            bench,
            self.contender,
            topic,
            partitions=partitions,
            options={"config": config, "environment": environment or {}},
            bounded=False,
        )
        self.published = self.run.output

    def __enter__(self):
        self.session = self.contender.start(self.run)
        return self

    def __exit__(self, *_):
        self.session.stop()
        if self.published:
            self.bench.drop(self.published)

    def again(self):
        """Starts the daemon again after kill9."""
        self.session = self.contender.start(self.run)

    def http(self):
        return self.contender.daemon.http

    def address(self):
        return self.contender.daemon.address

    def scheme(self):
        return "https" if self.http().context else "http"

    def metric(self, name):
        return self.contender.daemon.metric_sum(name)

    def pid(self):
        return self.session.processes["seend"].pid

    def written_bytes(self):
        """Bytes that the daemon sent to the disk, including files that were deleted before the page cache
        wrote them."""
        return self._io("write_bytes")

    def read_bytes(self):
        """Bytes that the disk delivered for the daemon."""
        return self._io("read_bytes")

    def _io(self, name):
        with open(f"/proc/{self.pid()}/io") as file:
            return int(re.search(rf"^{name}: (\d+)", file.read(), re.M)[1])

    def histogram(self, name):
        counts = {}
        for line in self.http().get("/metrics").text.splitlines():
            if match := re.match(name + r'_bucket\{.*le="([^"]+)"\} (\d+)', line):
                bound = float(match[1].replace("+Inf", "inf"))
                counts[bound] = counts.get(bound, 0) + int(match[2])
        return counts

    def wait_applied(self, records, timeout_s, watch=None):
        """Waits until `records` are visible. Returns [(time, applied, cpu)] on the way, and calls
        `watch(now)` each time."""
        seen, begun = [], time.monotonic()
        while True:
            applied, now = self.session.applied() or 0, time.monotonic()
            seen.append((now, applied, self.session.cpu_s()))
            self.session.peak_bytes()
            if watch:
                watch(now)
            if applied >= records:
                return seen
            if now - begun > timeout_s:
                raise RuntimeError(f"only {applied} of {records} within {timeout_s} s")
            time.sleep(0.05)

    def wait_finished(self, records, timeout_s):
        deadline = time.monotonic() + timeout_s
        while not self.session.finished(records):
            if time.monotonic() > deadline:
                raise RuntimeError(f"not all published within {timeout_s} s")
            time.sleep(0.05)


def between(seen, low, high):
    """(rate, CPU us an event) from the first sample with `low` or more applied to the first with `high` or
    more."""
    start = next(look for look in seen if look[1] >= low and look[1] > 0)
    end = next(look for look in seen if look[1] >= high)
    records = max(1, end[1] - start[1])
    return records / max(1e-3, end[0] - start[0]), (end[2] - start[2]) / records * 1e6


def longest_wait_s(seen):
    """The longest time in which nothing was applied."""
    longest, since, before = 0.0, seen[0][0], 0
    for now, applied, _ in seen:
        if applied > before or applied == 0:
            since, before = now, applied
        longest = max(longest, now - since)
    return longest


def percentile_ms(before, after, share):
    """The percentile of what was counted between `before` and `after`. Assumes an even spread within a
    bucket."""
    counts = sorted((bound, count - before.get(bound, 0)) for bound, count in after.items())
    if not counts or counts[-1][1] <= 0:
        return None
    target, low, below = counts[-1][1] * share, 0.0, 0
    for bound, count in counts:
        if count >= target and count > below:
            return 1000 * (
                low if bound == float("inf") else low + (bound - low) * (target - below) / (count - below)
            )
        low, below = bound, count
    return None


def numbers(settings, **defaults):
    """`--set KEY=VALUE` over the defaults, all of them whole numbers."""
    unknown = set(settings) - set(defaults)
    if unknown:
        raise SystemExit(f"unknown setting {', '.join(sorted(unknown))}; there are {', '.join(defaults)}")
    return {**defaults, **{key: int(value) for key, value in settings.items()}}


def in_turn(things, number):
    """The things in their order in every other round, and in reverse in the rounds between: none always runs
    first."""
    return list(things) if number % 2 == 0 else list(reversed(things))


def distinct_keys(bench, topic):
    from oracle_sample import each_message

    return len({message.key() for message in each_message(bench.topics, topic)})


def resident_mib(pid):
    return memory_bytes(pid, "VmRSS") / MIB
